"""What a person picks in a client: notes and hits as resources, and prompts; asked by the SDK's own client."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from fakes import Notes
from mcp.client.client import Client
from mcp.client.extension import advertise
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from serving import LOCK_TIMEOUT, command

from openclaw_memory.config.settings import Settings
from openclaw_memory.errors import RequestError
from openclaw_memory.serve.pool import Pool
from openclaw_memory.serve.resources import APPS, PAGE, link_hits, parse_uri, write_prompt
from openclaw_memory.serve.server import MemoryServer

LAMPS = "# Lamps\n\n- a green lamp by the gate\n- ein blaues Licht im Hof"


@pytest.fixture
def notes(notes: Notes) -> Notes:
    notes.write("MEMORY.md", f"{LAMPS}\n")
    notes.write("memory/日記 #1.md", "# 三月\n\n- 赤いランプが壊れた\n")
    return notes


@pytest.fixture
def pool(notes: Notes) -> Iterator[Pool]:
    pool = Pool(Settings().with_values({"embedding.model": "none"}), workspace=notes.root)
    with pool.use(pool.key()) as memory:
        memory.ingest()
    yield pool
    pool.close(LOCK_TIMEOUT)


def ask(server: Any, question: Any, mode: Any = "auto", **options: Any) -> Any:
    """What ``question`` returns of a client."""

    async def session() -> Any:
        with anyio.fail_after(LOCK_TIMEOUT):
            async with Client(server, mode=mode, **options) as client:
                return await question(client)

    return anyio.run(session)


async def follow(client: Client) -> tuple[list[str], list[str], list[str]]:
    """Names of the notes, the texts that the links of a search lead to, and the names of the prompts."""
    listed = (await client.list_resources()).resources
    hits = await client.call_tool("memory_search", {"query": "lamp"})
    links = [part for part in hits.content if part.type == "resource_link"]
    assert [link.name for link in links] == [hit["citation"] for hit in hits.structured_content["results"]]
    texts = [(await client.read_resource(link.uri)).contents[0].text for link in links]
    return [note.name for note in listed], texts, [prompt.name for prompt in (await client.list_prompts()).prompts]


EXPECTED = (["MEMORY.md", "memory/日記 #1.md"], [LAMPS], ["remember", "what_changed"])


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_that_shows_pages_has_the_map(pool: Pool, era: str) -> None:
    async def look(client: Client) -> Any:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        if "memory_map" not in listed:
            return None
        drawn = (await client.call_tool("memory_map", {})).structured_content
        [page] = (await client.read_resource(listed["memory_map"].meta["ui"]["resourceUri"])).contents
        return drawn["lines"], page.mime_type, b64decode(page.blob).decode()

    lines, kind, html = ask(MemoryServer(pool).sdk, look, era, extensions=[advertise(APPS, {"mimeTypes": [PAGE]})])
    assert (lines, kind) == (3, PAGE) and html.startswith("<!doctype html>") and "赤いランプ" in html
    assert ask(MemoryServer(pool).sdk, look, era) is None


def test_a_hit_links_to_its_lines_over_stdio(notes: Notes, pool: Pool) -> None:
    args = command("serve", "--workspace", str(notes.root))
    listed, texts, prompts = ask(
        StdioServerParameters(command=args[0], args=args[1:], env=dict(os.environ)), follow, "auto"
    )
    assert (sorted(listed), texts, prompts) == EXPECTED


def test_every_listed_note_can_be_read(pool: Pool) -> None:
    async def read(client: Client) -> dict[str, str]:
        template = (await client.list_resource_templates()).resource_templates[0]
        assert template.uri_template == "memory:///{+citation}"
        notes = (await client.list_resources()).resources
        assert (await client.read_resource("memory:///MEMORY.md#L4")).contents[0].text == "- ein blaues Licht im Hof"
        return {note.name: (await client.read_resource(note.uri)).contents[0].text for note in notes}

    texts = ask(MemoryServer(pool).sdk, read)
    assert texts["memory/日記 #1.md"] == "# 三月\n\n- 赤いランプが壊れた"
    assert sorted(texts) == EXPECTED[0]


def test_what_is_private_or_no_note_cannot_be_read(notes: Notes, pool: Pool) -> None:
    notes.write("memory/a.md", "- a lamp\n- the code is 4711 <!-- private -->\n")

    async def read(client: Client) -> list[str]:
        refused = []
        for uri in ("memory:///no.md", "memory:///../secret.md", "memory:///", "file:///etc/passwd"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            refused.append(str(caught.value))
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="x")
        return refused

    refused = ask(MemoryServer(pool).sdk, read)
    assert len(refused) == 4 and all("\n" not in reason for reason in refused)


def test_many_notes_are_listed_by_pages(notes: Notes, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_memory.serve.resources._PAGE", 1)

    async def turn(client: Client) -> list[str]:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert second.next_cursor is None
        return [note.name for page in (first, second) for note in page.resources]

    assert sorted(ask(MemoryServer(pool).sdk, turn)) == EXPECTED[0]


def test_a_long_note_says_where_it_goes_on(notes: Notes, pool: Pool) -> None:
    notes.write("memory/long.md", "".join(f"- line {n} of a long list of lamps\n" for n in range(5000)))

    async def read(client: Client) -> str:
        return (await client.read_resource("memory:///memory/long.md")).contents[0].text

    assert ask(MemoryServer(pool).sdk, read).rstrip().endswith("memory_get reads from there]")


def test_a_host_gets_no_links(pool: Pool) -> None:
    async def search(client: Client) -> int:
        return len((await client.call_tool("memory_search", {"query": "lamp"})).content)

    assert ask(MemoryServer(pool, for_host=True).sdk, search) == 1
    assert ask(MemoryServer(pool).sdk, search) == 2


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/日記 #1.md", "a b/100% #L3.md", "ü?x=1.md"])
def test_a_uri_and_a_citation_are_the_same(path: str) -> None:
    for lines in ("", "#L3", "#L3-L9"):
        [link] = link_hits({"results": [{"path": path, "citation": path + lines, "heading": ""}]})
        assert parse_uri(link.uri) == path + lines


def test_a_prompt_says_what_to_do() -> None:
    [message] = write_prompt("remember", {"text": "Das {Tor} ist grün."}).messages
    assert message.content.text.endswith("\n\nDas {Tor} ist grün.")
    assert "since 2026-03-01?" in write_prompt("what_changed", {"since": "2026-03-01"}).messages[0].content.text
    assert "since a week ago?" in write_prompt("what_changed", {}).messages[0].content.text
    for name, arguments in (("remember", {}), ("remember", {"text": " "}), ("forget", {})):
        with pytest.raises(RequestError):
            write_prompt(name, arguments)
