"""``doctor`` reads every note once and ``status`` none, and both say the same of them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory

from openclaw_memory import Memory, hookimpl
from openclaw_memory.cli.checks import examine
from openclaw_memory.cli.status import status_checks
from openclaw_memory.ingest.scan import scan

OPENED: Counter[str] | None = None


def _count(event: str, args: tuple[object, ...]) -> None:
    if OPENED is not None and event == "open" and str(args[0]).endswith(".md"):
        OPENED[str(args[0]).replace("\\", "/").rpartition("/")[2]] += 1


sys.addaudithook(_count)


@contextmanager
def opened() -> Iterator[Counter[str]]:
    """Count the opens of notes in the block by their names."""
    global OPENED
    OPENED = counted = Counter()
    try:
        yield counted
    finally:
        OPENED = None


class Refuse:
    @hookimpl
    def openclaw_memory_prepare_lines(self, path: str, lines: list[str]) -> None:
        if path == "memory/refused.md":
            raise ValueError("no")


@pytest.fixture
def memory(notes: Notes, embedder: CountingEmbedder) -> Iterator[Memory]:
    notes.write("MEMORY.md", "- the lamp is green\n<!-- private -->\n- 4711\n<!-- /private -->\n")
    notes.write("memory/front.md", "---\norigin: a: b\n---\n- the lamp is blue\n")
    notes.write("memory/latin.md", "- the café is open\n".encode("latin-1"))
    notes.write("memory/binary.md", b"\x00" * 100)
    notes.write("memory/refused.md", "- the lamp is red\n")
    with ingested(notes, embedder, plugins=[Refuse()]) as memory:
        yield memory


def test_doctor_reads_every_note_once(notes: Notes, memory: Memory) -> None:
    notes.write("memory/new.md", "- the chair is new\n")
    notes.write("MEMORY.md", "- the lamp is green again\n")
    with opened() as counted:
        checks = examine(memory)
    assert counted == dict.fromkeys(["MEMORY.md", "front.md", "latin.md", "binary.md", "refused.md", "new.md"], 1)
    (fresh,) = [check for check in checks if check.name == "freshness"]
    assert fresh.detail == "2 files to be read again: MEMORY.md, memory/new.md"


def test_status_opens_no_note_and_says_what_doctor_says(notes: Notes, memory: Memory) -> None:
    notes.write("memory/new.md", "- the chair is new\n")
    with opened() as counted:
        scanned = scan(memory.workspace, memory.settings.ingest)
        status = memory.status(scanned)
        checks = status_checks(memory, status, scanned)
    assert not counted
    assert (status.private_files, status.private_lines) == (1, 3)
    assert [file.path for file in status.unread_front_matter] == ["memory/front.md"]
    by_doctor = {(check.name, check.detail) for check in examine(memory)}
    mine = {(check.name, check.detail) for check in checks if check.name in ("trust", "file", "freshness")}
    assert {name for name, _ in mine} == {"trust", "file", "freshness"}
    assert mine <= by_doctor


def test_what_was_noted_outlives_the_process(notes: Notes, memory: Memory) -> None:
    memory.close()
    with open_memory(notes, CountingEmbedder(), plugins=[Refuse()]) as again, opened() as counted:
        status = again.status()
    assert status.private_lines == 3 and status.languages == {"english": 1.0} and not counted


def test_a_note_that_is_gone_is_no_longer_told_of(notes: Notes, memory: Memory) -> None:
    kept = memory.store.sidecar(".notes.json")
    assert kept is not None and "front.md" in kept.read_text()
    notes.remove("memory/front.md")
    memory.ingest()
    assert memory.status().unread_front_matter == () and "front.md" not in kept.read_text()
