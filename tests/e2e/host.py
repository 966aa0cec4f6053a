"""An OpenClaw of its own: home, configuration, workspaces, gateway, and an account of its processes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil
from model import NAME as MODEL
from model import ScriptedModel

T = TypeVar("T")

#: Without what the environment says, and without reading certificates for each request, as there are none.
HTTP: Any = {"trust_env": False, "verify": False}

#: A compaction that keeps one turn, and asks no model whether it is good.
COMPACTION = {
    "mode": "default",
    "keepRecentTokens": 1,
    "recentTurnsPreserve": 0,
    "qualityGuard": {"enabled": False},
    "memoryFlush": {"enabled": False},
}

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "openclaw-memory"
EXECUTABLE = Path(sys.executable).parent / PLUGIN  # of the Python package under test
ENVIRON = dict(os.environ)  # before the fixtures of all tests give each test an environment of its own
TOKEN = "only-for-tests"
COMMAND_TIMEOUT = 300.0  # seconds; a bound for what hangs, far above what anything takes
# What programs need of the tests' environment to reach the package indexes.
KEPT_VARIABLES = tuple("LANG LC_ TERM PIP_ UV_ SSL_ REQUESTS_ CURL_ NODE_EXTRA_ HTTPS_PROXY https_proxy".split())


def wait_for(look: Callable[[], T | None], what: str, seconds: float = 60.0) -> T:
    """Look until there is something to see, and return it; fail in words after the given time."""
    until = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < until, f"waited {seconds:g} s for {what}"
        time.sleep(0.2)  # looking at all processes takes a tenth of that
    return seen


class Host:
    """OpenClaw in a folder that is its whole world, talking to a scripted model.

    ``openclaw`` is the folder of the installation's executables.
    """

    def __init__(self, folder: Path, model: ScriptedModel, openclaw: Path) -> None:
        self.folder = folder
        self.model = model
        self.openclaw = openclaw / "openclaw"
        self.home = folder / "home"
        self.state = self.home / ".openclaw"
        self.workspace = folder / "workspace"
        self.gateway: subprocess.Popen[bytes] | None = None
        self._client: subprocess.Popen[str] | None = None
        self.log = folder / "gateway.log"
        self._port = _free_port()
        for made in (self.state, self.workspace, folder / "tmp", folder / "bin"):
            made.mkdir(parents=True, exist_ok=True)
        # OpenClaw keeps compiled code among temporary files, so that each host would compile it anew.
        compiled = openclaw.parent.parent / "compiled"
        compiled.mkdir(exist_ok=True)
        (folder / "tmp" / "node-compile-cache").symlink_to(compiled)
        (folder / "bin" / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
        self.env = {
            **{name: value for name, value in ENVIRON.items() if name.startswith(KEPT_VARIABLES)},
            **_pip(),
            "HOME": str(self.home),
            "TMPDIR": str(folder / "tmp"),
            "PATH": os.pathsep.join(map(str, self._path(openclaw))),
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_EXEC_SHELL_SNAPSHOT": "0",
            "OPENCLAW_SKIP_CHANNELS": "1",
        }

    def _path(self, openclaw: Path) -> list[Path]:
        """PATH with OpenClaw and its Node first, and without any installed openclaw-memory."""
        others = [Path(part) for part in ENVIRON["PATH"].split(os.pathsep) if part]
        return [openclaw, self.folder / "bin", *(path for path in others if not shutil.which(PLUGIN, path=str(path)))]

    # -- configuration ------------------------------------------------------------------------------------------------

    def configure(self, *changes: Mapping[str, Any], agents: Mapping[str, Path] | None = None) -> None:
        """Write the configuration: what every test needs, then the changes; ``agents`` names their workspaces."""
        provider = {
            "baseUrl": self.model.url,
            "apiKey": "none",
            "api": "openai-completions",
            "models": [{"id": MODEL, "name": MODEL, "contextWindow": 200_000, "maxTokens": 1000}],
        }
        base: dict[str, Any] = {
            "gateway": {
                "mode": "local",
                "bind": "loopback",
                "port": self._port,
                "auth": {"mode": "token", "token": TOKEN},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
                "controlUi": {"enabled": False},
            },
            "agents": {
                "defaults": {
                    "workspace": str(self.workspace),
                    "skipBootstrap": True,
                    "model": {"primary": f"{MODEL}/{MODEL}"},
                    "heartbeat": {"every": "24h", "target": "none"},
                }
            },
            "models": {"mode": "replace", "providers": {MODEL: provider}},
            "browser": {"enabled": False},
            "discovery": {"mdns": {"mode": "off"}},
            "logging": {"file": str(self.folder / "openclaw.log")},
            # Else each turn has threads look for old sessions, which compute as much as the turn itself.
            "session": {"maintenance": {"mode": "warn", "maxDiskBytes": False}},
            "update": {"checkOnStart": False},
        }
        if agents:
            base["agents"]["entries"] = {name: {"workspace": str(path)} for name, path in agents.items()}
            base["agents"]["defaults"]["systemAgent"] = {"agentId": next(iter(agents))}
        for change in changes:
            base = _merged(base, change)
        self._write(base)

    def change(self, change: Mapping[str, Any]) -> None:
        """Merge a change into the configuration file as it is now; a running gateway has taken it on return.

        A turn that starts while the gateway replaces a plugin fails with the plugin that was there.
        """
        before = self._reloads()
        self._write(_merged(json.loads(self.config_file.read_text()), change))
        if self.gateway is not None:
            wait_for(lambda: self._reloads() > before, "the gateway to take the change")

    def _reloads(self) -> int:
        return self.events().count("config hot reload applied")

    @property
    def config_file(self) -> Path:
        """OpenClaw's configuration."""
        return self.state / "openclaw.json"

    def _write(self, config: Mapping[str, Any]) -> None:
        # In one step, as a running gateway watches the file.
        new = self.config_file.with_suffix(".new")
        new.write_text(json.dumps(config, indent=2))
        new.replace(self.config_file)

    # -- the command line ---------------------------------------------------------------------------------------------

    def run(self, *arguments: str, timeout: float = COMMAND_TIMEOUT) -> str:
        """Run ``openclaw`` with these arguments; what it printed."""
        return self.execute(self.openclaw, *arguments, timeout=timeout)

    def ends(self, *arguments: str, code: int, given: str = "") -> str:
        """Run ``openclaw`` with these arguments and this input where it must end with ``code``; all that it said."""
        command = [self.openclaw, *arguments]
        done = subprocess.run(
            command, env=self.env, cwd=self.folder, input=given, capture_output=True, text=True,
            timeout=COMMAND_TIMEOUT, check=False,
        )  # fmt: skip
        said = f"{done.stdout}\n{done.stderr}"
        assert done.returncode == code, self._report(f"openclaw {arguments} ended with {done.returncode}\n{said}")
        return said

    def execute(self, command: str | Path, *arguments: str, timeout: float = COMMAND_TIMEOUT) -> str:
        """Run a program as a person at this host would; what it printed.  It must succeed."""
        try:
            done = subprocess.run(
                [command, *arguments],
                env=self.env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise AssertionError(
                self._report(f"{command} {arguments} took over {timeout:g} s\n{late.stderr!r}")
            ) from late
        said = f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert done.returncode == 0, self._report(f"{command} {arguments} ended with {done.returncode}\n{said}")
        return done.stdout

    def run_json(self, *arguments: str) -> Any:
        """Run ``openclaw … --json`` and parse what it printed."""
        printed = self.run(*arguments, "--json")
        try:
            return json.loads(printed)
        except ValueError:
            raise AssertionError(f"openclaw {arguments} --json printed\n{printed}") from None

    def local_turn(self, message: str, agent: str = "main") -> str:
        """One turn without a gateway; the agent's answer."""
        answer = self.run_json("agent", "--local", "--agent", agent, "--message", message)
        return _answer(answer)

    def cli_turn(self, message: str) -> str:
        """One turn of the main session as a person types it, through the gateway; the agent's answer."""
        return _answer(self.run_json("agent", "--session-key", "agent:main:main", "--message", message)["result"])

    # -- the gateway --------------------------------------------------------------------------------------------------

    def start_gateway(self) -> None:
        """Start the gateway and wait until it says that it is ready."""
        assert self.gateway is None
        with self.log.open("ab") as log:
            self.gateway = subprocess.Popen(
                [self.openclaw, "gateway", "run"],
                env=self.env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_for(self._ready, "the gateway to be ready", 120)

        assert self.gateway.pid in [process.pid for process in self.processes()]

    def _ready(self) -> bool:
        assert self.gateway is not None
        if self.gateway.poll() is not None:
            raise AssertionError(self._report(f"the gateway ended with {self.gateway.returncode}"))
        try:
            return httpx.get(f"{self._url}/ready", timeout=5, **HTTP).status_code == 200
        except httpx.HTTPError:
            return False

    def stop_gateway(self) -> None:
        """Stop the gateway as a service manager would; nothing that it started may be left."""
        if self.gateway is None:
            return
        self._end_client()
        self.gateway.terminate()
        try:
            self.gateway.wait(60)
        except subprocess.TimeoutExpired:
            raise AssertionError(self._report("the gateway did not end within 60 s after SIGTERM")) from None
        finally:
            self.gateway = None
        self.assert_nothing_runs()

    def kill_gateway(self) -> None:
        """End the gateway as a crash would, with no chance to clean up."""
        assert self.gateway is not None
        self._end_client()
        self.gateway.kill()
        self.gateway.wait(10)
        self.gateway = None

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _post(self, path: str, body: Mapping[str, Any], **headers: str) -> Any:
        sent = {
            "authorization": f"Bearer {TOKEN}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        answer = httpx.post(f"{self._url}{path}", json=body, headers=sent, timeout=COMMAND_TIMEOUT, **HTTP)
        if answer.status_code != 200:
            raise AssertionError(self._report(f"{path} answered {answer.status_code}: {answer.text}"))
        return answer.json()

    def turn(self, message: str, agent: str = "main", session: str = "main") -> str:
        """One turn through the gateway's HTTP endpoint, which is faster; the agent's answer.  No session event is sent."""
        body = {"model": f"openclaw/{agent}", "messages": [{"role": "user", "content": message}]}
        answer = self._post("/v1/chat/completions", body, x_openclaw_session_key=f"agent:{agent}:{session}")
        return str(answer["choices"][0]["message"]["content"])

    def call(self, method: str, *, scopes: Sequence[str] | None = None, final: bool = False, **params: object) -> Any:
        """Call a method of the gateway as OpenClaw's commands do; its result, the final one of a turn.

        One process makes all calls, as each command takes seconds to start.
        """
        if self._client is None:
            client = [self.openclaw.parent / "node", Path(__file__).with_name("client.mjs"), self.openclaw.parents[1]]
            self._client = subprocess.Popen(
                client, env=self.env, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._client.stdin is not None and self._client.stdout is not None
        asked = {"method": method, "params": params, "expectFinal": final, **({"scopes": scopes} if scopes else {})}
        print(json.dumps(asked), file=self._client.stdin, flush=True)
        answer = json.loads(self._client.stdout.readline())
        assert "error" not in answer, self._report(f"{method} answered {answer}")
        return answer["result"]

    def _end_client(self) -> None:
        if self._client is not None:
            self._client.kill()
            self._client.communicate()
            self._client = None

    def client_turn(self, message: str, session: str = "main") -> str:
        """One turn as :meth:`cli_turn` makes one; the host tells plugins of a new session."""
        sent = {"message": message, "agentId": "main", "sessionKey": f"agent:main:{session}", "deliver": False}
        turn = {**sent, "idempotencyKey": str(uuid.uuid4())}
        return _answer(self.call("agent", scopes=["operator.admin"], final=True, **turn)["result"])

    def heartbeat(self, text: str) -> None:
        """Have a heartbeat now, with this text."""
        self.call("wake", mode="now", text=text)

    def tool(self, name: str, agent: str = "main", **arguments: object) -> dict[str, Any]:
        """Call a tool through the gateway, without a model; its result."""
        body = {"tool": name, "args": arguments, "sessionKey": f"agent:{agent}:main"}
        details: dict[str, Any] = self._post("/tools/invoke", body)["result"]["details"]
        return details

    def page(self, path: str, token: str = TOKEN) -> httpx.Response:
        """Get a page of the gateway."""
        return httpx.get(f"{self._url}{path}", headers={"authorization": f"Bearer {token}"}, timeout=60, **HTTP)

    def events(self) -> str:
        """What the gateway has written so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def waits_for(self, look: Callable[[], T | None], what: str, seconds: float = 60.0) -> T:
        """Wait as :func:`wait_for` does; a failure shows what the gateway has written last."""
        try:
            return wait_for(look, what, seconds)
        except AssertionError as late:
            raise AssertionError(self._report(str(late))) from None

    def _report(self, message: str) -> str:
        lines = self.events().splitlines()[-60:]
        return f"{message}\n--- end of the gateway's log\n" + "\n".join(lines) if lines else message

    # -- processes ----------------------------------------------------------------------------------------------------

    def processes(self) -> list[psutil.Process]:
        """Every process that runs in this host's home, or names this host's folder, whoever is its parent."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                return False
            named = any(str(self.folder) in part for part in process.cmdline())
            return named or process.environ().get("HOME") == str(self.home)
        except psutil.Error:
            return False

    def servers(self) -> list[psutil.Process]:
        """The running Python processes of the plugin."""
        return [process for process in self.processes() if "serve" in _cmdline(process)]

    def assert_nothing_runs(self, seconds: float = 20) -> None:
        """Fail if anything that this host started is still there after a while."""
        try:
            wait_for(lambda: not self.processes(), "everything to end", seconds)
        except AssertionError:
            left = [" ".join(_cmdline(process)) for process in self.processes()]
            self.kill_all()
            raise AssertionError(self._report("left running:\n" + "\n".join(left))) from None

    def kill_all(self) -> None:
        """End whatever is left, after a failure."""
        self._end_client()
        left = self.processes()
        for process in left:
            _kill(process)
        psutil.wait_procs(left, timeout=10)
        if self.gateway is not None:
            self.gateway.wait(10)
            self.gateway = None


def cache_folder() -> Path:
    """Where whoever runs the tests keeps what can be had again."""
    return Path(ENVIRON.get("XDG_CACHE_HOME") or Path(ENVIRON["HOME"], ".cache"))


def _pip() -> dict[str, str]:
    """Where pip and uv of whoever runs the tests find configuration and caches, which another HOME would hide.

    pip compiles nothing (so this odd setting says): what is used is compiled when it is first imported.
    """
    config = Path(ENVIRON.get("XDG_CONFIG_HOME") or Path(ENVIRON["HOME"], ".config"), "pip", "pip.conf")
    found = {
        "PIP_CACHE_DIR": str(cache_folder() / "pip"),
        "PIP_NO_COMPILE": "0",
        "UV_CACHE_DIR": str(cache_folder() / "uv"),
        **({"PIP_CONFIG_FILE": str(config)} if config.is_file() else {}),
    }
    return {name: value for name, value in found.items() if name not in ENVIRON}


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill()


def _answer(result: Mapping[str, Any]) -> str:
    return "\n".join(payload["text"] for payload in result["payloads"])


def _merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in change.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(host: Host) -> Iterator[Host]:
    """The host with a gateway, which is stopped, or in any case ended, afterwards."""
    try:
        host.start_gateway()
        yield host
        host.stop_gateway()
    finally:
        host.kill_all()
