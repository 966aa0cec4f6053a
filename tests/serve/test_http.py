"""The server over HTTP: many clients at once, who is refused, every way to end, and those that join it on stdio."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psutil
import pytest
from fakes import Notes
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from serving import LOCK_TIMEOUT, command, serving, started

from openclaw_memory.config.settings import data_dir
from openclaw_memory.serve.endpoint import Endpoint

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
CALLER = [sys.executable, "-W", "error", "-m", "openclaw_memory", "call"]


class HttpClient:
    """Speaks streamable HTTP with the standard library alone."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.headers = {
            "Authorization": f"Bearer {record['token']}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def post(self, body: Any, **headers: str) -> tuple[int, list[dict[str, Any]]]:
        """Status and messages of the answer."""
        data = body if isinstance(body, bytes) else json.dumps({"jsonrpc": "2.0", **body}).encode()
        request = urllib.request.Request(self.record["url"], data, self.headers | headers)
        try:
            with urllib.request.urlopen(request, timeout=LOCK_TIMEOUT) as answer:
                if session := answer.headers.get("Mcp-Session-Id"):
                    self.headers["Mcp-Session-Id"] = session
                lines = answer.read().decode().splitlines()
                return answer.status, [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        except urllib.error.HTTPError as error:
            error.read()
            return error.code, []

    def handshake(self) -> HttpClient:
        assert self.post({"id": 0, "method": "initialize", "params": HELLO})[0] == 200
        assert self.post({"method": "notifications/initialized"})[0] == 202
        return self

    def call(self, tool: str, number: int = 1, **arguments: Any) -> list[dict[str, Any]]:
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": number}}
        status, messages = self.post({"id": number, "method": "tools/call", "params": params})
        assert status == 200
        return messages


def endpoint(notes: Notes) -> Endpoint:
    return Endpoint(data_dir(), "main", str(notes.root.resolve()), "")


@contextmanager
def listening(notes: Notes, tmp_path: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server over HTTP that answers."""
    arguments = ("serve", "--http", "--workspace", str(notes.root), *arguments)
    with started(tmp_path, *arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        wait_until(lambda: endpoint(notes).read().get("pid") == process.pid and endpoint(notes).running)
        yield process


def wait_until(done: Any) -> None:
    until = time.monotonic() + LOCK_TIMEOUT
    while not done():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def lamps(notes: Notes) -> Notes:
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp by the door\n")
    return notes


@pytest.fixture
def server(lamps: Notes, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with listening(lamps, tmp_path) as process:
        yield process


@pytest.fixture
def client(lamps: Notes, server: subprocess.Popen[bytes]) -> HttpClient:
    return HttpClient(endpoint(lamps).read())


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Where a server listens, for tests that leave it and its notes as they are."""
    notes = Notes(tmp_path_factory.mktemp("shared") / "workspace")
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp by the door\n")
    with listening(notes, notes.root.parent):
        yield endpoint(notes).read()


@pytest.fixture
def guest(record: dict[str, Any]) -> HttpClient:
    return HttpClient(record)


def test_clients_have_sessions_of_their_own_and_are_answered_at_once(guest: HttpClient) -> None:
    def ask(number: int) -> str:
        mine = HttpClient(guest.record).handshake()
        (answer,) = mine.call("memory_search", number, query="lamp")
        assert answer["id"] == number
        return f"{mine.headers['Mcp-Session-Id']} {answer['result']['structuredContent']['results'][0]['path']}"

    guest.handshake().call("memory_search", query="lamp")  # reads the notes, for which others wait only so long
    with ThreadPoolExecutor(8) as several:
        answers = set(several.map(ask, range(8)))
    assert len(answers) == 8 and all(answer.endswith(" MEMORY.md") for answer in answers)


def test_who_is_not_a_client_of_this_machine_with_the_token_is_refused(guest: HttpClient) -> None:
    for headers, status in (
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer \xff"}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Mcp-Session-Id": "nobody's"}, 404),
    ):
        assert guest.post({"id": 1, "method": "tools/list"}, **headers) == (status, []), headers


def test_a_body_too_large_is_refused_and_a_torn_connection_costs_nobody_else(guest: HttpClient) -> None:
    port = int(guest.record["url"].split(":")[2].split("/")[0])
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: {guest.headers['Authorization']}\r\n"
    with closing(socket.create_connection(("127.0.0.1", port), LOCK_TIMEOUT)) as large:
        large.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n".encode())
        assert large.recv(99).startswith(b"HTTP/1.1 413 ")
    for end in ("", "Content-Length: 999\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
        with closing(socket.create_connection(("127.0.0.1", port))) as torn:
            torn.sendall((head + end).encode())
    for greeting in (b"GET / HTTP/1.1\r\n\r\n", b"[]\n", b'{"token": "wrong"}\n', b"\xff" * 9000):
        stranger = socket.create_connection(("127.0.0.1", guest.record["lines"]), LOCK_TIMEOUT)
        with closing(stranger), suppress(ConnectionError):
            stranger.sendall(greeting)
            assert stranger.recv(1) == b""
    (answer,) = guest.handshake().call("memory_get", path="MEMORY.md")
    assert "green lamp" in answer["result"]["structuredContent"]["text"]


def test_an_ingest_tells_its_progress_and_keeps_no_search_waiting(
    client: HttpClient, lamps: Notes, tmp_path: Path
) -> None:
    client.handshake().call("memory_ingest")
    for n in range(60):
        lamps.write(f"memory/n{n}-slow.md", "- a red lamp\n")
    ingest = ThreadPoolExecutor(1).submit(HttpClient(client.record).handshake().call, "memory_ingest")
    assert "result" in HttpClient(client.record).handshake().call("memory_get", path="MEMORY.md")[-1]
    *progress, answer = ingest.result(LOCK_TIMEOUT)
    assert answer["result"]["structuredContent"]["files"] == 61
    assert progress and {message["method"] for message in progress} == {"notifications/progress"}


def test_a_cancelled_call_is_over(client: HttpClient, lamps: Notes, tmp_path: Path) -> None:
    client.handshake().call("memory_ingest")
    lamps.write("memory/stuck.md", "- a stuck lamp\n")
    stuck = ThreadPoolExecutor(1).submit(client.call, "memory_ingest", 7)
    wait_until((tmp_path / "release.stuck").exists)
    assert client.post({"method": "notifications/cancelled", "params": {"requestId": 7}})[0] == 202
    assert "error" in stuck.result(LOCK_TIMEOUT)[-1]
    (tmp_path / "release").touch()
    assert "result" in client.call("memory_get", 8, path="MEMORY.md")[-1]


def test_the_sdk_is_a_client_with_and_without_a_session(guest: HttpClient) -> None:
    guest.handshake().call("memory_ingest")

    async def ask(mode: Any) -> tuple[int, Any]:
        headers = {"Authorization": guest.headers["Authorization"]}
        async with httpx2.AsyncClient(headers=headers, timeout=LOCK_TIMEOUT) as http:
            transport = streamable_http_client(guest.record["url"], http_client=http)
            async with Client(transport, mode=mode) as sdk:
                found = await sdk.call_tool("memory_search", {"query": "lamp"})
                note = await sdk.read_resource(found.content[1].uri)  # type: ignore[union-attr]
                assert note.contents[0].text == "# Lamps\n\n- a green lamp by the door"  # type: ignore[union-attr]
                return len((await sdk.list_tools()).tools), found.structured_content

    for mode in ("legacy", "auto"):
        listed, found = anyio.run(ask, mode)
        assert listed == 8 and found["results"][0]["path"] == "MEMORY.md"


def test_the_file_is_private_and_the_token_is_nowhere_else(
    client: HttpClient, server: subprocess.Popen[bytes], lamps: Notes
) -> None:
    client.handshake().call("memory_search", query="lamp")
    file, token = endpoint(lamps).file, client.record["token"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert token not in " ".join(psutil.Process(server.pid).cmdline())
    addresses = {each.laddr.ip for each in psutil.Process(server.pid).net_connections() if each.status == "LISTEN"}
    assert addresses == {"127.0.0.1"}
    server.terminate()
    printed = b"".join(server.communicate(timeout=LOCK_TIMEOUT))
    assert client.record["url"].encode() in printed and token.encode() not in printed


def test_a_second_server_says_where_the_first_one_listens(
    server: subprocess.Popen[bytes], client: HttpClient, lamps: Notes, tmp_path: Path
) -> None:
    again = command("serve", "--http", "--workspace", str(lamps.root))
    done = subprocess.run(again, capture_output=True, text=True, timeout=LOCK_TIMEOUT, cwd=tmp_path)
    assert done.returncode == 1 and client.record["url"] in done.stderr and str(server.pid) in done.stderr
    server.kill()
    server.wait(LOCK_TIMEOUT)
    assert not endpoint(lamps).running
    with listening(lamps, tmp_path):
        assert {key: endpoint(lamps).read()[key] for key in ("url", "token")} == {
            key: client.record[key] for key in ("url", "token")
        }


def test_it_ends_on_a_signal_also_within_a_call(
    client: HttpClient, server: subprocess.Popen[bytes], lamps: Notes, tmp_path: Path
) -> None:
    lamps.write("memory/stuck.md", "- a stuck lamp\n")
    client.handshake()
    stuck = ThreadPoolExecutor(1).submit(client.call, "memory_ingest")
    wait_until((tmp_path / "release.stuck").exists)
    server.send_signal(signal.SIGINT)
    assert server.wait(LOCK_TIMEOUT) == 0
    assert stuck.exception(LOCK_TIMEOUT) is not None or "result" not in stuck.result()[-1]
    assert server.stderr is not None and b"Traceback" not in server.stderr.read()


# -- clients on stdio -------------------------------------------------------------------------------


def modules(pid: int) -> str:
    return " ".join(region.path for region in psutil.Process(pid).memory_maps())


def test_a_client_on_stdio_joins_the_server_and_goes_on_without_it(
    server: subprocess.Popen[bytes], lamps: Notes, tmp_path: Path
) -> None:
    with serving(tmp_path, "--workspace", str(lamps.root)) as client:
        assert client.handshake()["serverInfo"]["name"] == "openclaw-memory"
        assert client.found("lamp")
        assert "_duckdb" not in modules(client.process.pid) and "numpy" not in modules(client.process.pid)
        client.write(b"no json")
        assert client.answer(None)["error"]["code"] == -32700
        lamps.write("memory/stuck.md", "- a stuck lamp\n")
        number = client.begin("memory_ingest")
        wait_until((tmp_path / "release.stuck").exists)
        server.kill()
        assert "ended" in client.answer(number)["error"]["message"]
        (tmp_path / "release").touch()
        assert "- a stuck lamp" in client.found("stuck lamp")
        assert "_duckdb" in modules(client.process.pid)
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.process.wait(LOCK_TIMEOUT) == 0
        assert not [message for message in client.aside if message.get("id") == "openclaw-memory/repeated"]


@pytest.mark.parametrize("how", ["SIGTERM", "stdin"])
def test_a_client_that_has_joined_ends_as_others_do(
    server: subprocess.Popen[bytes], lamps: Notes, tmp_path: Path, how: str
) -> None:
    with serving(tmp_path, "--workspace", str(lamps.root)) as client:
        client.handshake()
        assert client.found("lamp")  # so that the memory is open: the last answers have a second
        number = client.begin("memory_get", {"path": "MEMORY.md"})
        if how == "stdin":
            client.process.stdin.close()  # type: ignore[union-attr]
            assert "result" in client.answer(number)
        else:
            client.process.terminate()
        assert client.process.wait(LOCK_TIMEOUT) == 0
    assert server.poll() is None


def test_other_settings_have_a_process_of_their_own(
    server: subprocess.Popen[bytes], lamps: Notes, tmp_path: Path
) -> None:
    other = ("--set", "search.max_results=3")
    with serving(tmp_path, "--workspace", str(lamps.root), before=other) as client:
        client.handshake()
        assert client.found("lamp")
        assert "_duckdb" in modules(client.process.pid)


# -- hooks ------------------------------------------------------------------------------------------


def called(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*CALLER, *arguments], input=given, capture_output=True, text=True, timeout=LOCK_TIMEOUT)
    assert done.returncode == 0
    return done


def test_a_hook_asks_the_running_server(server: subprocess.Popen[bytes], lamps: Notes) -> None:
    where = ("-w", str(lamps.root), "--deadline", str(LOCK_TIMEOUT))
    assert "green lamp" in json.loads(called(*where, "memory_get", '{"path": "MEMORY.md"}').stdout)["text"]
    turn = json.dumps({"messages": [{"role": "user", "text": "a lamp"}]})
    assert "skipped" in json.loads(called(*where, "memory_turn", "-", given=turn).stdout)


def test_who_says_nothing_keeps_nobody_waiting(client: HttpClient, lamps: Notes) -> None:
    with ExitStack() as silent:
        for _ in range(60):
            silent.enter_context(closing(socket.create_connection(("127.0.0.1", client.record["lines"]))))
        where = ("-w", str(lamps.root), "--deadline", str(LOCK_TIMEOUT))
        assert "green lamp" in json.loads(called(*where, "memory_get", '{"path": "MEMORY.md"}').stdout)["text"]


def test_a_hook_never_fails(server: subprocess.Popen[bytes], lamps: Notes) -> None:
    for arguments in ((), ("nope",), ("memory_search", "{"), ("memory_search",), ("--deadline", "x")):
        done = called("-w", str(lamps.root), *arguments)
        assert done.stdout == "" and done.stderr, arguments


def test_a_hook_starts_no_server_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    done = called("-w", str(missing), "memory_status")
    assert not done.stdout and f"{missing}: no such folder" in done.stderr
    assert not Endpoint(data_dir(), "main", str(missing), "").file.parent.exists()


def test_a_hook_starts_the_server_and_waits_no_longer_than_its_deadline(
    lamps: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_EMBEDDING_MODEL", "none")
    assert "is starting" in called("-w", str(lamps.root), "--deadline", "0.01", "memory_status").stderr
    try:
        answer = called("-w", str(lamps.root), "--deadline", str(LOCK_TIMEOUT), "memory_status")
        assert json.loads(answer.stdout)["workspace"] == str(lamps.root)
    finally:
        # Each call may have started one, of which the second waits for the first.
        servers = [each for each in psutil.process_iter(["cmdline"]) if str(lamps.root) in (each.info["cmdline"] or [])]
        for each in servers:
            each.kill()
        psutil.wait_procs(servers, LOCK_TIMEOUT)
    assert servers and not endpoint(lamps).running
