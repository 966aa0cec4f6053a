"""Watching: real files, a report after changes."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.errors import LeaseTimeout, WorkspaceError
from openclaw_memory.ingest import freshness as watching_files
from openclaw_memory.model import IngestReport


class Watching:
    """``memory.watch`` in a thread; what it yields or raises comes out of :meth:`next`."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        self.stop = threading.Event()
        self._out: queue.Queue[IngestReport | BaseException | None] = queue.Queue()
        self._memory = memory
        self._options = options
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            for report in self._memory.watch(self.stop, **self._options):
                self._out.put(report)
            self._out.put(None)
        except BaseException as error:
            self._out.put(error)

    def next(self) -> Any:
        """The next report, error, or ``None`` at the end."""
        return self._out.get(timeout=20)

    def until(self, wanted: Callable[[IngestReport], bool]) -> IngestReport:
        """The first report that is as wanted; a burst may be split in two."""
        while not wanted(report := self.next()):
            pass
        return report

    def end(self) -> None:
        self.stop.set()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.fixture
def watch() -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(memory: Memory, **options: Any) -> Watching:
        started.append(Watching(memory, **options))
        return started[-1]

    yield start
    for watching in started:
        watching.end()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_LOOK", 0.05), ("_PAUSE", 0), ("_TICK", 0.02)):
        monkeypatch.setattr(watching_files, name, value)


def test_changes_additions_renames_and_deletions_are_ingested(
    notes: Notes, embedder: CountingEmbedder, watch: Callable[..., Watching]
) -> None:
    notes.write("MEMORY.md", "- one\n")
    with open_memory(notes, embedder) as memory:
        watching = watch(memory)
        first = watching.next()
        assert (first.added, first.embedded) == (1, 1)
        notes.write("MEMORY.md", "- two\n")
        assert watching.until(lambda r: r.updated == 1).chunks == 1
        notes.write("memory/deep/a.md", "- three\n")  # in a folder that was not there
        assert watching.until(lambda r: r.added == 1).chunks == 2
        (notes.root / "memory").rename(notes.root / "elsewhere")
        assert watching.until(lambda r: r.deleted == 1).chunks == 1
        (notes.root / "elsewhere").rename(notes.root / "memory")
        assert watching.until(lambda r: r.added == 1).chunks == 2
        notes.write(".memoryignore", "deep\n")
        assert watching.until(lambda r: r.deleted == 1).chunks == 1
        watching.stop.set()
        assert watching.next() is None


def test_what_is_no_note_wakes_nobody(notes: Notes, watch: Callable[..., Watching]) -> None:
    notes.write("MEMORY.md", "- one\n")
    runs: list[int] = []
    # The index beside the notes must not wake its own watcher.
    with open_memory(notes, idle=0.0, db=notes.root / "memory" / "index.duckdb") as memory:
        real = memory.ingest
        memory.ingest = lambda *a, **k: runs.append(1) or real(*a, **k)  # type: ignore[method-assign,func-returns-value]
        watching = watch(memory)
        watching.next()
        for name in ("memory/picture.png", ".git/objects/ab/cdef", "memory/.obsidian/a.md", "notes.txt"):
            notes.write(name, "x")
        notes.write("memory/a.md", "- last\n")
        watching.until(lambda r: r.chunks == 2)
        assert len(runs) == 2


def test_paths_and_the_mode_hold_for_every_round(
    notes: Notes, embedder: CountingEmbedder, watch: Callable[..., Watching]
) -> None:
    notes.write("MEMORY.md", "- one\n")
    notes.write("memory/a.md", "- two\n")
    with open_memory(notes, embedder) as memory:
        watching = watch(memory, paths=["memory"], embed="lazy")
        first = watching.next()
        assert (first.files, first.embedded, first.pending) == (1, 0, 1)
        notes.write("MEMORY.md", "- one and a half\n")
        notes.write("memory/b.md", "- three\n")
        report = watching.until(lambda r: r.added == 1)
        assert (report.files, report.embedded, report.pending) == (2, 0, 2)
        assert embedder.taken() == []


def test_extra_paths_are_watched_relative_to_the_workspace(
    notes: Notes, watch: Callable[..., Watching], tmp_path: Path
) -> None:
    wiki = Notes(tmp_path / "wiki")
    wiki.write("a.md", "- one\n")
    extras = [{"path": "../wiki", "name": "wiki"}, {"path": "../late", "name": "late"}]
    with open_memory(notes, ingest__extra_paths=extras) as memory:
        watching = watch(memory)
        assert watching.next().added == 1
        wiki.write("b.md", "- two\n")
        assert watching.until(lambda r: r.added == 1).chunks == 2
        Notes(tmp_path / "late").write("c.md", "- in a folder that was not there\n")
        assert watching.until(lambda r: r.added == 1).chunks == 3


def test_a_workspace_that_vanishes_ends_the_watch_in_words(notes: Notes, watch: Callable[..., Watching]) -> None:
    notes.write("MEMORY.md", "- one\n")
    with open_memory(notes) as memory:
        watching = watch(memory)
        watching.next()
        shutil.rmtree(notes.root)
        error = watching.next()
        assert isinstance(error, WorkspaceError)
        assert str(notes.root) in str(error)
        notes.root.mkdir()
        assert memory.status().chunks == 1  # nothing is forgotten


def test_closing_the_memory_ends_the_watch(notes: Notes, watch: Callable[..., Watching]) -> None:
    notes.write("MEMORY.md", "- one\n")
    memory = open_memory(notes)
    watching = watch(memory)
    watching.next()
    memory.close()
    assert watching.next() is None


def test_a_locked_index_is_tried_again(
    notes: Notes, watch: Callable[..., Watching], caplog: pytest.LogCaptureFixture
) -> None:
    notes.write("MEMORY.md", "- one\n")
    with open_memory(notes) as memory:
        real, failures = memory.ingest, [LeaseTimeout("the index is in use by PID 1"), None]

        def ingest(*args: Any, **options: Any) -> IngestReport:
            if failures and (error := failures.pop(0)) is not None:
                raise error
            return real(*args, **options)

        memory.ingest = ingest  # type: ignore[method-assign]
        assert watch(memory).next().added == 1
        assert "in use by PID 1" in caplog.text
