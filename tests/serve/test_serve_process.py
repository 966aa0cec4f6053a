"""The server as a process: the protocol, several agents, deadlines, cancellation, and every way to end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from fakes import Notes
from jsonschema import Draft202012Validator
from mcp import ClientSession
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from serving import LOCK_TIMEOUT, RawClient, command, serving

from docs.schema import json_schema
from openclaw_memory.serve.registry import callable_tools

MODELS = [
    "memory_search", "graph_recall", "memory_timeline", "memory_context", "memory_facts", "memory_feedback",
    "memory_capture", "memory_get",
]  # fmt: skip


WRITING = ("memory_facts", "memory_feedback", "memory_capture")


@pytest.fixture
def client(notes: Notes, tmp_path: Path) -> Iterator[RawClient]:
    """A server for a host, with a workspace of its own."""
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp by the door\n")
    notes.write("memory/2026-03-01.md", "- a red lamp broke\n")
    with serving(tmp_path, "--for-host", "--workspace", str(notes.root)) as client:
        client.handshake()
        yield client


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[RawClient]:
    """A server that knows of no workspace."""
    with serving(tmp_path, "--for-host") as client:
        client.handshake()
        yield client


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """A server that knows of no workspace, for tests that leave nothing behind in it."""
    with serving(tmp_path_factory.mktemp("shared"), "--for-host") as client:
        client.handshake()
        yield client


@pytest.fixture
def guest(shared: RawClient, notes: Notes) -> Iterator[RawClient]:
    """That server, asked about a workspace of its own."""
    notes.write("MEMORY.md", "# Lamps\n\n- a green lamp by the door\n")
    notes.write("memory/2026-03-01.md", "- a red lamp broke\n")
    shared.meta = {"workspace": str(notes.root)}
    yield shared
    shared.meta = {}


def text(result: dict[str, Any]) -> str:
    """The words of a failed call."""
    assert result["isError"] is True and "structuredContent" not in result, result
    (content,) = result["content"]
    assert "\n" not in content["text"]
    return str(content["text"])


# -- the SDK's own client ---------------------------------------------------------------------------


def parameters(notes: Notes, *arguments: str) -> StdioServerParameters:
    args = command("serve", "--workspace", str(notes.root), *arguments)
    return StdioServerParameters(command=args[0], args=args[1:], env=dict(os.environ))


EVERY_CALL: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "lamp", "maxResults": 1, "minScore": 0.1}),
    ("memory_search", {"query": "red lamp", "budget": 50, "since": "2026-01-01", "now": "2026-03-02"}),
    ("graph_recall", {"query": "lamp", "hops": 3, "maxResults": 2}),
    ("memory_context", {"message": "is the lamp by the door green?", "budget": 100, "session": "s1"}),
    ("memory_facts", {"action": "add", "subject": "lamp", "predicate": "colour", "object": "green"}),
    ("memory_facts", {"action": "query", "subject": "lamp"}),
    ("memory_feedback", {"id": "MEMORY.md#L1", "verdict": "useful"}),
    ("memory_timeline", {}),
    ("memory_timeline", {"query": "lamp", "since": "2020-01-01", "maxResults": 3}),
    ("memory_get", {"path": "MEMORY.md", "from": 1, "lines": 1}),
    ("memory_get", {"path": "no.md"}),
    ("memory_get", {"path": "MEMORY.md", "from": 99}),
    ("memory_ingest", {}),
    ("memory_ingest", {"paths": ["memory"]}),
    ("memory_map", {}),
    ("memory_status", {}),
    ("memory_session_start", {"sessionId": "s1", "reason": "new"}),
    ("memory_heartbeat", {}),
    ("memory_consolidate", {"dryRun": True, "olderThanDays": 1, "grain": "daily"}),
    ("memory_capture", {"text": "Decision: the lamp by the door is green from 2026-03-04 on."}),
    ("memory_turn", {"messages": [{"role": "user", "text": "We decided to buy a lamp on 2026-03-05."}]}),
    ("memory_replied", {"text": "The lamp by the door is green."}),
    ("memory_page", {"view": "status"}),
]


@pytest.mark.parametrize(
    ("options", "told"),
    [((), True), (("--for-host",), False)],
)
def test_a_client_that_does_not_show_the_curated_files_is_told_from_them(
    notes: Notes, tmp_path: Path, options: tuple[str, ...], told: bool
) -> None:
    patient = ("--set", f"context.deadline_ms={1000 * LOCK_TIMEOUT}")
    notes.write("MEMORY.md", "# Lamps\n\n- The lamp by the harbour door burns oil of juniper.\n")
    notes.write("concepts.yaml", "concepts:\n  lamp: {name: lamp, kind: thing}\n")
    with serving(tmp_path, *options, "--workspace", str(notes.root), before=patient) as client:
        client.handshake()
        assert client.found("juniper")
        message = {"message": "What does the lamp by the harbour door burn?"}
        context = client.call("memory_context", message, deadlineMs=1000 * LOCK_TIMEOUT)
    assert ("juniper" in context["structuredContent"]["text"]) is told


def test_the_sdks_client_lists_and_calls_every_tool(notes: Notes) -> None:
    notes.write("MEMORY.md", "- a green lamp by the door\n")
    notes.write("memory/2026-03-01.md", "- a red lamp broke\n")
    notes.write("concepts.yaml", "concepts:\n  lamp: {name: lamp, kind: thing}\n")
    (notes.root / "memory" / "b.md").write_bytes(b"\0")  # a skipped file is in the report

    async def session() -> None:
        with anyio.fail_after(LOCK_TIMEOUT):
            async with Client(parameters(notes, "--for-host"), mode="auto") as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert set(tools) == {name for name, _ in EVERY_CALL}
                for name, arguments in EVERY_CALL:
                    result = await client.call_tool(name, arguments)
                    assert not result.is_error, result
                    Draft202012Validator(json_schema(callable_tools(for_host=True)[name].result)).validate(
                        result.structured_content
                    )
                    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]

    anyio.run(session)


def test_the_sdks_session_gets_progress_and_what_a_tool_is_like(notes: Notes) -> None:
    for n in range(20):
        notes.write(f"memory/n{n}.md", f"- note {n}\n")
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def session() -> None:
        with anyio.fail_after(LOCK_TIMEOUT):
            async with stdio_client(parameters(notes)) as (read, write), ClientSession(read, write) as client:
                hello = await client.initialize()
                assert hello.server_info.name == "openclaw-memory" and hello.instructions
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert list(tools) == MODELS
                for tool in tools.values():
                    hints = tool.annotations
                    assert hints is not None
                    assert hints.read_only_hint == (tool.name not in WRITING)
                    assert (
                        bool(hints.destructive_hint) == (tool.name == "memory_facts") and hints.open_world_hint is False
                    )
                    assert bool(hints.idempotent_hint) == (tool.name == "memory_capture")
                for n in range(20):
                    notes.write(f"memory/n{n}.md", f"- changed note {n}\n")
                report = await client.call_tool("memory_ingest", progress_callback=progress)
                assert report.structured_content["files"] == 20

    anyio.run(session)
    assert told, "no progress"
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert told[-1][1] is not None and told[-1][2] is not None and "files read" in told[-1][2]


# -- a hand-written client --------------------------------------------------------------------------


def test_a_failed_call_says_whose_fault_it_was(shared: RawClient, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    wrong = shared.call("memory_timeline", {"since": "last week"})
    nowhere = shared.call("memory_search", {"query": "x"}, workspace=str(tmp_path / "none"))
    both = {"query": "x", "maxResults": 1, "budget": 9}
    contradicting = shared.call("memory_search", both, workspace=str(tmp_path / "here"))
    kinds = [result["_meta"]["openclaw-memory/error"] for result in (wrong, nowhere, contradicting)]
    assert kinds == ["request", "workspace", "request"], [text(result) for result in (wrong, nowhere, contradicting)]


def test_tools_of_the_host_cannot_be_called_by_others(notes: Notes, tmp_path: Path) -> None:
    with serving(tmp_path, "--workspace", str(notes.root)) as client:
        client.handshake()
        error = client.answer(client.begin("memory_heartbeat"))["error"]
        assert error["code"] == -32602 and "there is no tool memory_heartbeat" in error["message"]


def test_what_the_host_tells_is_done(guest: RawClient) -> None:
    started = guest.call("memory_session_start", {"sessionId": "s"})["structuredContent"]
    assert started["report"]["files"] == 2 and started["took_ms"] >= 0
    ran = guest.call("memory_heartbeat", agent="magpie")["structuredContent"]["ran"]
    (noisy,) = (one for one in ran if "odd" in one)
    (told,) = (one for one in ran if "odd" not in one)
    assert told["dryRun"] is True  # nobody has enabled it yet
    assert noisy["agent"] == "magpie" and noisy["odd"] == "<class 'object'>"


def test_nothing_else_gets_into_the_protocol(client: RawClient, tmp_path: Path) -> None:
    client.call("memory_ingest")
    client.call("memory_heartbeat")  # the plugin prints in three ways; a line of it on stdout is no JSON
    assert client.found("green lamp")
    errors = (tmp_path / "stderr").read_text()
    for line in ("the plugin prints MEMORY.md", "written to descriptor 1", "printed by a child"):
        assert line in errors


@pytest.mark.parametrize(
    ("tool", "arguments", "meta", "message"),
    [
        ("memory_search", {"querry": "a"}, {}, "memory_search: there is no argument 'querry'; did you mean 'query'?"),
        ("memory_search", {"query": "a", "maxResults": 3, "budget": 3}, {}, "give maxResults or budget, not both"),
        ("memory_search", {"query": "a", "since": "2026-02-02", "until": "2026-02-01"}, {}, "is after until"),
        ("memory_ingest", {"paths": ["../secret"]}, {}, "not inside the workspace"),
        ("memory_search", {"query": "a"}, {"workspace": "notes"}, "must be an absolute folder"),
        ("memory_search", {"query": "a"}, {"workspace": "/no/such/folder"}, "/no/such/folder: no such folder"),
        ("memory_search", {"query": "a"}, {"workspace": 3}, "_meta openclaw-memory/workspace must be text, not 3"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_answered_says_why(
    shared: RawClient, notes: Notes, tool: str, arguments: dict[str, Any], meta: dict[str, Any], message: str
) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    assert message in text(shared.call(tool, arguments, **{"workspace": str(notes.root), **meta}))
    assert shared.found("lamp", workspace=str(notes.root)) == ["- a lamp"]


def test_without_a_workspace_it_starts_and_says_what_is_missing(shared: RawClient) -> None:
    assert "start it with --workspace DIR" in text(shared.call("memory_search", {"query": "a"}))


def test_wrong_messages_are_answered_and_change_nothing(guest: RawClient) -> None:
    guest.write(b"")
    guest.write(b"no json")
    assert guest.answer(None)["error"]["code"] == -32700
    guest.write(b'{"id": 4711}')
    assert guest.answer(4711)["error"]["code"] == -32600
    assert guest.answer(guest.request("no/such/method"))["error"]["code"] == -32601
    guest.notify("notifications/cancelled", requestId=12345)
    guest.notify("notifications/nonsense")
    error = guest.answer(guest.begin("memory_serch", {"query": "lamp"}))["error"]
    assert error["code"] == -32602 and "did you mean memory_search?" in error["message"]
    assert guest.found("green lamp")


def test_a_path_that_is_no_utf8_does_no_harm(guest: RawClient, notes: Notes) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(notes.root) + b"/memory/l\xe4mp.md"))).write_text("- a latin lamp\n")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    guest.call("memory_ingest")
    assert guest.call("memory_search", {"query": "latin lamp"})["isError"] is False


def test_fifty_calls_at_once_are_all_answered(guest: RawClient) -> None:
    guest.call("memory_ingest")
    numbers = [guest.begin("memory_search", {"query": f"lamp number {n}"}) for n in range(50)]
    for number in numbers:
        result = guest.answer(number)["result"]
        assert len(result["structuredContent"]["results"]) == 2 and "stale" not in result["structuredContent"]


def test_with_a_model_it_answers_by_meaning(notes: Notes, tmp_path: Path, tiny_gguf: Path) -> None:
    notes.write("MEMORY.md", "- a green lamp by the door\n")
    before = ("--set", f"embedding.model={tiny_gguf}")
    with serving(tmp_path, "--workspace", str(notes.root), before=before) as client:
        client.handshake()
        result = client.call("memory_search", {"query": "green lamp"})["structuredContent"]
        assert (result["mode"], result["provider"]) == ("hybrid", "llama.cpp")
        assert result["results"][0]["vectorScore"] is not None
        other = Notes(tmp_path / "other")
        other.write("MEMORY.md", "- a red lamp\n")
        hits = client.call("memory_search", {"query": "lamp"}, workspace=str(other.root))["structuredContent"][
            "results"
        ]
        assert hits[0]["vectorScore"] is not None


# -- several agents and workspaces ------------------------------------------------------------------


def test_agents_and_workspaces_never_see_each_others_notes(client: RawClient, notes: Notes, tmp_path: Path) -> None:
    mine, other = {"agent": "magpie"}, Notes(tmp_path / "other workspace ä")
    other.write("MEMORY.md", "- a blue lamp\n")
    theirs = {"agent": "magpie", "workspace": str(other.root)}
    assert client.found("blue") == client.found("blue", **mine) == []
    assert client.found("blue", **theirs) == ["- a blue lamp"]
    assert client.found("green lamp", **theirs) == ["- a blue lamp"]
    assert "- a green lamp by the door" in client.found("green lamp")[0]
    databases = {client.call("memory_status", **who)["structuredContent"]["database"] for who in ({}, mine, theirs)}
    assert len(databases) == 3
    for tool, arguments in (("memory_timeline", {}), ("memory_get", {"path": "memory/2026-03-01.md"})):
        assert "red lamp" in json.dumps(client.call(tool, arguments))
        assert "red lamp" not in json.dumps(client.call(tool, arguments, **theirs))


def test_a_named_index_file_holds_one_memory_only(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", "- a green lamp\n")
    other = Notes(tmp_path / "other")
    other.write("MEMORY.md", "- a blue lamp\n")
    db = tmp_path / "named.duckdb"
    with serving(tmp_path, "--workspace", str(notes.root), before=("--db", str(db))) as client:
        client.handshake()
        assert client.found("lamp") == ["- a green lamp"]
        assert client.found("lamp", workspace=str(other.root)) == ["- a blue lamp"]
        assert client.call("memory_status")["structuredContent"]["database"] == str(db)
        assert client.call("memory_status", agent="b")["structuredContent"]["database"] != str(db)


def test_a_workspace_that_vanishes_is_said_and_comes_back(guest: RawClient, notes: Notes, tmp_path: Path) -> None:
    guest.call("memory_ingest")
    away = notes.root.rename(tmp_path / "away")
    for tool, arguments in (("memory_ingest", {}), ("memory_get", {"path": "MEMORY.md"})):
        assert str(notes.root) in text(guest.call(tool, arguments))
    assert "green lamp" in guest.found("green lamp")[0]
    away.rename(notes.root)
    assert guest.call("memory_get", {"path": "MEMORY.md"})["structuredContent"]["status"] == "ok"
    assert guest.found("green lamp")


# -- deadlines and cancellation ---------------------------------------------------------------------


def long_work(notes: Notes) -> None:
    """A workspace whose last 250 files, more than a transaction takes, are read first in no time, the others slowly."""
    for n in range(650):
        lines = 1 if n < 400 else 10
        text = "".join(f"- note {n} about lamp {at}\n" for at in range(lines))
        notes.write(f"memory/n{n:03}{'-slow' if n < 400 else ''}.md", text)


def test_a_cancelled_ingest_stops_and_keeps_what_was_committed(bare: RawClient, notes: Notes) -> None:
    long_work(notes)
    where = {"workspace": str(notes.root)}
    number = bare.begin("memory_ingest", progressToken="t", **where)
    told = []
    while not told or told[-1]["progress"] < 260:
        message = bare.next()
        assert message["method"] == "notifications/progress" and message["params"]["progressToken"] == "t"
        told.append(message["params"])
    assert [one["progress"] for one in told] == sorted({one["progress"] for one in told})
    bare.notify("notifications/cancelled", requestId=number)
    # The answer to the next ingest of the same memory comes when the first has stopped.
    report = bare.call("memory_ingest", {"paths": ["memory/n649.md"]}, **where)["structuredContent"]
    assert report["unchanged"] == 10
    files = bare.call("memory_status", **where)["structuredContent"]["files"]
    assert 200 <= files < 650
    assert not [one for one in bare.aside if one.get("id") == number]  # a cancelled call is not answered


def test_an_ingest_ends_at_its_deadline_and_says_what_is_left(bare: RawClient, notes: Notes) -> None:
    long_work(notes)
    report = bare.call("memory_ingest", workspace=str(notes.root), deadlineMs=3000)
    said = report["content"][0]["text"]
    assert "not all changed files were read in time" in said or "goes on in the background" in said


def test_what_is_not_done_by_its_deadline_is_answered_and_goes_on(
    bare: RawClient, notes: Notes, tmp_path: Path
) -> None:
    bare.call("memory_status", workspace=str(tmp_path))  # by then all is loaded
    notes.write("memory/stuck.md", "- a stuck lamp\n")
    where = {"workspace": str(notes.root)}
    assert "goes on in the background" in text(bare.call("memory_search", {"query": "lamp"}, deadlineMs=200, **where))
    assert "another ingest" in text(bare.call("memory_ingest", deadlineMs=200, **where))
    other = Notes(tmp_path / "other")
    other.write("MEMORY.md", "- a blue lamp\n")
    assert bare.found("lamp", workspace=str(other.root)) == ["- a blue lamp"]
    (tmp_path / "release").touch()
    until = time.monotonic() + LOCK_TIMEOUT
    while bare.found("lamp", **where) != ["- a stuck lamp"]:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_ingests_do_not_keep_searches_waiting(bare: RawClient, tmp_path: Path) -> None:
    numbers = []
    for n in range(6):
        stuck = Notes(tmp_path / f"stuck{n}")
        stuck.write("memory/stuck.md", "- a stuck lamp\n")
        numbers.append(bare.begin("memory_ingest", workspace=str(stuck.root)))
    other = Notes(tmp_path / "other")
    other.write("MEMORY.md", "- a blue lamp\n")
    assert bare.found("lamp", workspace=str(other.root)) == ["- a blue lamp"]
    busy = text(bare.call("memory_ingest", workspace=str(other.root), deadlineMs=200))
    assert "did not begin" in busy
    (tmp_path / "release").touch()
    for number in numbers:
        assert bare.answer(number)["result"]["structuredContent"]["files"] == 1


# -- the end ----------------------------------------------------------------------------------------


def ended(client: RawClient) -> int:
    """Exit status, once the process and all it started are gone."""
    return client.process.wait(LOCK_TIMEOUT)


def family(client: RawClient) -> list[psutil.Process]:
    parent = psutil.Process(client.process.pid)
    return [parent, *parent.children(recursive=True)]


def test_when_stdin_closes_it_answers_what_was_asked_before_and_ends_with_all_it_started(
    notes: Notes, tmp_path: Path
) -> None:
    notes.write("MEMORY.md", "- a green lamp\n")
    with serving(tmp_path, "--workspace", str(notes.root)) as client:
        hello = client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}})  # fmt: skip
        client.notify("notifications/initialized")
        assert "result" in client.answer(hello)
        client.answer(client.begin("memory_get", {"path": "MEMORY.md"}))  # the server has loaded what answers
        processes = family(client)
        got = client.begin("memory_get", {"path": "MEMORY.md"})
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.answer(got)["result"]["structuredContent"]["text"] == "- a green lamp"
        assert ended(client) == 0
        assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_it_ends_on_a_signal(bare: RawClient, number: signal.Signals) -> None:
    bare.process.send_signal(number)
    assert ended(bare) == 0


def test_it_ends_during_a_long_ingest_and_keeps_what_is_committed(notes: Notes, tmp_path: Path) -> None:
    long_work(notes)
    with serving(tmp_path) as client:
        client.handshake()
        client.begin("memory_ingest", progressToken=1, workspace=str(notes.root))
        while client.next()["params"]["progress"] < 260:
            pass
        client.process.terminate()
        assert ended(client) == 0
    with serving(tmp_path) as client:
        client.handshake()
        assert client.call("memory_status", workspace=str(notes.root))["structuredContent"]["files"] >= 200


def test_it_ends_although_a_thread_stands_still(notes: Notes, tmp_path: Path) -> None:
    notes.write("memory/stuck.md", "- a stuck lamp\n")
    with serving(tmp_path, "--workspace", str(notes.root)) as client:
        client.handshake()
        client.begin("memory_search", {"query": "lamp"})
        until = time.monotonic() + LOCK_TIMEOUT
        while not (tmp_path / "release.stuck").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        client.process.terminate()
        assert ended(client) == 0


def test_a_client_that_reads_nothing_is_not_read_either(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}).encode() + b"\n"
        )
        process.stdin.flush()
        process.stdout.readline()
        os.set_blocking(process.stdin.fileno(), False)
        line = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"_meta":{"x":"%s"}}}\n'
        asked, quiet = 0, 0
        while quiet < 20 and asked < 5000:  # until nothing more is taken for a second
            try:
                os.write(process.stdin.fileno(), line % (asked + 1, b"x" * 4000))  # a pipe takes it as a whole
                asked, quiet = asked + 1, 0
            except BlockingIOError:
                quiet += 1
                time.sleep(0.05)
        assert asked < 500
        answers = [json.loads(process.stdout.readline()) for _ in range(asked)]
        assert {answer["id"] for answer in answers} == set(range(1, asked + 1))
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", ["SIGTERM", "stdin"])
def test_it_ends_when_nobody_reads_its_answers(tmp_path: Path, how: str) -> None:
    unread, pipe = os.pipe()
    with (tmp_path / "stderr").open("wb") as errors:
        process = subprocess.Popen(command("serve"), stdin=subprocess.PIPE, stdout=pipe, stderr=errors, cwd=tmp_path)
    os.close(pipe)
    assert process.stdin is not None
    try:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        messages = [{"method": "initialize", "params": client}, *({"method": "tools/list"} for _ in range(200))]
        for number, message in enumerate(messages):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **message}).encode() + b"\n")
        process.stdin.flush()
        while not os.read(unread, 1):  # it has begun to answer, and 30 lists are more than a pipe holds
            pass
        if how == "SIGTERM":
            process.terminate()
        else:
            process.stdin.close()
        assert process.wait(LOCK_TIMEOUT) == 0
    finally:
        process.kill()
        process.wait(LOCK_TIMEOUT)
        process.stdin.close()
        os.close(unread)


# -- starting ---------------------------------------------------------------------------------------


def test_a_named_index_file_without_a_workspace_is_wrong_usage(tmp_path: Path) -> None:
    done = subprocess.run(
        command("--db", str(tmp_path / "x.duckdb"), "serve"), cwd=tmp_path, capture_output=True, text=True, timeout=LOCK_TIMEOUT,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == "" and "an index file holds one memory" in done.stderr


def test_a_workspace_may_come_later(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    with serving(tmp_path, "--workspace", str(folder)) as client:
        client.handshake()
        assert "no such folder" in text(client.call("memory_search", {"query": "lamp"}))
        Notes(folder).write("MEMORY.md", "- a lamp\n")
        assert client.found("lamp") == ["- a lamp"]
