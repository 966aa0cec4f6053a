"""The server and lines that nobody should send: each is answered, and the next one too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes
from serving import LOCK_TIMEOUT, RawClient, serving

from openclaw_memory.serve import transport


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """One server for all lines: what one of them breaks, the next test tells."""
    folder = tmp_path_factory.mktemp("lines")
    notes = Notes(folder / "workspace")
    notes.write("MEMORY.md", "- a green lamp\n")
    with serving(folder, "--for-host", "--workspace", str(notes.root)) as client:
        client.handshake()
        yield client


def nested(depth: int, inside: str = "1") -> str:
    return '{"a":' * depth + inside + "}" * depth


def called(params: str, number: str = '"odd"') -> bytes:
    return f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'.encode()


NO_MESSAGES = {
    "a list nested 990 deep": b"[" * 990 + b"]" * 990,
    "a list nested 100,000 deep": b"[" * 100_000,
    "an object nested 100,000 deep": nested(100_000).encode(),
    "a message nested 990 deep": called(nested(990)),
    "a message nested 100,000 deep": called(nested(100_000)),
    "a number of 5,000 digits": called(f'{{"name":"memory_status","arguments":{{"a":{"9" * 5000}}}}}'),
    "an id of 5,000 digits": called("{}", "9" * 5000),
    "an id of half a surrogate pair": called("{}", '"\\ud800"'),
    "a NUL": b"\0",
    "no UTF-8": b'"\xff"',
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    "an empty batch": b"[]",
    "a fraction as id": called("{}", "1.5"),
    "null as id": called("{}", "null"),
    "a list as id": called("{}", "[1]"),
    "a long line": b'"' + b"x" * 3_000_000 + b'"',
    "no version of the protocol": b'{"id":7,"method":"tools/call","params":{"arguments":{"text":"quiet-heron"}}}',
}


@pytest.mark.parametrize("line", NO_MESSAGES.values(), ids=NO_MESSAGES)
def test_a_line_that_is_no_message_is_answered_with_an_error(client: RawClient, line: bytes) -> None:
    client.write(line)
    message = client.next()
    assert message["error"]["code"] in (-32700, -32600) and "\n" not in message["error"]["message"]
    assert client.found("lamp") == ["- a green lamp"]


def test_what_a_line_holds_that_is_no_message_is_in_no_log(
    client: RawClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client.write(NO_MESSAGES["no version of the protocol"])
    assert "error" in client.next()
    written = "".join(path.read_text() for path in tmp_path_factory.getbasetemp().glob("lines*/stderr"))
    assert "no JSON-RPC 2.0 message: " in written and "quiet-heron" not in written


ODD_CALLS = {
    "arguments nested 150 deep": f'{{"name":"memory_search","arguments":{nested(150)}}}',
    "a query nested 150 deep": f'{{"name":"memory_search","arguments":{{"query":{nested(150)}}}}}',
    "a number of 400 digits": f'{{"name":"memory_search","arguments":{{"query":"lamp","maxResults":{"9" * 400}}}}}',
    "a number that is none": '{"name":"memory_search","arguments":{"query":"lamp","maxResults":NaN}}',
    "a share of 400 digits": f'{{"name":"memory_search","arguments":{{"query":"x","minScore":{"9" * 400}}}}}',
    "a deadline of 400 digits": f'{{"name":"memory_status","_meta":{{"openclaw-memory/deadlineMs":{"9" * 400}}}}}',
    "an agent with a NUL": '{"name":"memory_status","_meta":{"openclaw-memory/agent":"a\\u0000"}}',
    "a workspace with a NUL": '{"name":"memory_status","_meta":{"openclaw-memory/workspace":"/a\\u0000"}}',
    "a very long workspace": f'{{"name":"memory_status","_meta":{{"openclaw-memory/workspace":"/{"x" * 70_000}"}}}}',
    "a path with a NUL": '{"name":"memory_get","arguments":{"path":"memory/\\u0000.md"}}',
    "a very long path": f'{{"name":"memory_get","arguments":{{"path":"memory/{"x" * 70_000}.md"}}}}',
    "paths with a NUL": '{"name":"memory_ingest","arguments":{"paths":["memory/\\u0000"]}}',
    "very long paths": f'{{"name":"memory_ingest","arguments":{{"paths":["{"x" * 70_000}"]}}}}',
    "a name of half a surrogate pair": '{"name":"\\ud800"}',
    "a name with a NUL": '{"name":"memory\\u0000"}',
    "no name": "{}",
    "no object": "[]",
    "no arguments": '{"name":"memory_search","arguments":[1]}',
    "a query with a NUL": '{"name":"memory_search","arguments":{"query":"lamp\\u0000"}}',
    "a long query": f'{{"name":"memory_search","arguments":{{"query":"{"lamp " * 20_000}"}}}}',
}


@pytest.mark.parametrize("params", ODD_CALLS.values(), ids=ODD_CALLS)
def test_an_odd_call_is_answered_and_is_no_defect_of_ours(client: RawClient, params: str) -> None:
    client.write(called(params))
    answer: dict[str, Any] = client.next()
    while answer.get("id") != "odd":
        answer = client.next()
    assert answer.get("error", {"code": -32600})["code"] in (-32602, -32600), answer
    assert "defect" not in json.dumps(answer)
    assert client.found("lamp") == ["- a green lamp"]


def test_a_text_that_was_cut_within_a_character_is_read(client: RawClient) -> None:
    client.write(called('{"name":"memory_search","arguments":{"query":"green \\ud83c"}}', '"cut"'))
    assert "a green lamp" in json.dumps(client.answer("cut")["result"])


def test_it_ends_with_its_input_whatever_came_before(notes: Notes, tmp_path: Path) -> None:
    with serving(tmp_path, "--workspace", str(notes.root)) as client:
        client.handshake()
        for line in NO_MESSAGES.values():
            client.write(line)
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(LOCK_TIMEOUT) == 0
        assert [client.next()["error"]["code"] for _ in NO_MESSAGES]
        assert client.messages.get(timeout=LOCK_TIMEOUT) is None


def test_a_line_without_end_is_answered_and_not_kept(notes: Notes, tmp_path: Path) -> None:
    with serving(tmp_path, "--workspace", str(notes.root)) as client:
        client.handshake()
        assert client.process.stdin is not None
        for _ in range(transport.LONGEST_LINE // 2**20 + 3):
            client.process.stdin.write(b"x" * 2**20)
        client.write(b'"')
        assert "longer than" in client.next()["error"]["message"]
        assert "tools" in client.answer(client.request("tools/list"))["result"]


BROKEN = """
import sys
from openclaw_memory.cli.main import main
from openclaw_memory.serve.transport import LineTransport

async def breaks(*_):
    raise KeyError("a defect")

LineTransport._take = breaks
sys.argv[1:] = ["--set", "embedding.model=none", "serve"]
main()
"""


def test_it_ends_when_its_reader_ends_for_any_reason(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", BROKEN],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=tmp_path,
        )
    assert process.stdin is not None
    try:
        process.stdin.write(b"{}\n")
        process.stdin.flush()
        assert process.wait(LOCK_TIMEOUT) == 0
    finally:
        process.kill()
        process.wait(LOCK_TIMEOUT)
        process.stdin.close()
