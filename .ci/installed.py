"""Use an installed openclaw-memory, outside of the clone: python3 .ci/installed.py COMMAND

It is this build, connects a host, and the server answers that server.json has MCP clients start, by uvx.
"""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent


def main(command: str) -> None:
    """Raise what does not hold."""
    build_id = runpy.run_path(str(ROOT / "openclaw_memory" / "version.py"))["build_id"]
    installed = json.loads(_run(command, "--version", "--json"))
    assert installed["build"] == build_id(ROOT / "openclaw_memory"), f"another build was installed: {installed}"
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"][0]
    with TemporaryDirectory() as workspace:
        Path(workspace, "MEMORY.md").write_text("- The ferry leaves at 06:40.\n", encoding="utf-8")
        assert "nothing was changed" in _run(command, "--workspace", workspace, "setup", "cursor", "--dry-run")
        started = [
            server["runtimeHint"],
            *_words(server["runtimeArguments"], workspace),
            f"{server['identifier']}@{server['version']}",
            *_words(server["packageArguments"], workspace),
        ]
        get = {"name": "memory_get", "arguments": {"path": "MEMORY.md"}}
        with subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
            greeting = _answer(running, id=1, method="initialize", params=_CLIENT)
            _send(running, method="notifications/initialized")
            # As a model does, on a machine too busy for the deadline.
            while "ask again" in (answer := _answer(running, id=2, method="tools/call", params=get)):
                pass
            assert running.stdin is not None
            running.stdin.close()
    assert "openclaw-memory" in greeting and "06:40" in answer, (greeting, answer)
    print(f"{installed['name']} {installed['version']}: build, setup and server are as they are here")


_CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "ci", "version": "1"}}


def _send(running: subprocess.Popen[str], **message: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), file=running.stdin, flush=True)


def _answer(running: subprocess.Popen[str], **message: object) -> str:
    """Return the line that answers a request; empty when the server has ended."""
    _send(running, **message)
    assert running.stdout is not None
    return next((line for line in running.stdout if '"id"' in line and '"method"' not in line), "")


def _words(arguments: list[dict[str, str]], path: str) -> list[str]:
    """Return arguments as a client types them; what a person must choose is ``path``."""
    return [word for each in arguments for word in (each.get("name"), each.get("value", path)) if word]


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
