"""Ingest: the index follows the files, and only what is new is read, embedded and written."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fakes import CountingEmbedder, Notes, everything, ingested, open_memory, snippets
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory import Memory, hookimpl
from openclaw_memory.cli.checks import examine
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.ingest import notes as notes_reader
from openclaw_memory.ingest import sidecars
from openclaw_memory.model import Grain, Kind, Origin, SourceFile, Unit
from openclaw_memory.store.api import DocumentChange
from openclaw_memory.store.tables import writing

GARDEN = "# Garden\n\n- plant tulips in the autumn\n- water the ferns on Monday\n"
HOUSE = "# House\n\n- the boiler was serviced in March\n- the attic key hangs behind the door\n"


@pytest.fixture
def memory(notes: Notes, embedder: CountingEmbedder) -> Iterator[Memory]:
    with open_memory(notes, embedder) as memory:
        yield memory


def counts(report: Any) -> tuple[int, int, int, int, int]:
    return report.chunks, report.added, report.updated, report.deleted, report.unchanged


def tables(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the index, read by DuckDB itself."""
    memory.store.close()
    path = memory.store.statistics().path
    memory.store.close()
    with duckdb.connect(path, read_only=True) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}


# -- first and second time --------------------------------------------------------------------------


def test_a_first_ingest_counts_units_and_embeds_each(memory: Memory, notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/2026-02-13.md", HOUSE)
    report = memory.ingest()
    assert (report.files, *counts(report)) == (2, 6, 6, 0, 0, 0)
    assert (report.embedded, report.pending, report.skipped, report.warning) == (6, 0, (), None)
    assert sorted(embedder.taken()) == [
        "- plant tulips in the autumn",
        "- the attic key hangs behind the door",
        "- the boiler was serviced in March",
        "- water the ferns on Monday",
        "Garden",
        "House",
    ]


def test_nothing_changed_means_nothing_is_read(
    memory: Memory, notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", GARDEN)
    memory.ingest()
    generation = memory.store.state().generation
    embedder.taken()
    monkeypatch.setattr(notes_reader, "read_note", lambda *_: pytest.fail("a file was opened"))
    report = memory.ingest()
    assert counts(report) == (3, 0, 0, 0, 3)
    assert (report.embedded, embedder.taken(), memory.store.state().generation) == (0, [], generation)


def test_a_touched_file_is_read_once_and_not_embedded(
    memory: Memory, notes: Notes, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", GARDEN)
    memory.ingest()
    embedder.taken()
    opened: list[str] = []
    real = notes_reader.read_note
    monkeypatch.setattr(notes_reader, "read_note", lambda file, most: opened.append(file.path) or real(file, most))
    notes.touch("MEMORY.md")
    assert counts(memory.ingest()) == (3, 0, 0, 0, 3)
    assert counts(memory.ingest()) == (3, 0, 0, 0, 3)
    assert (opened, embedder.taken()) == (["MEMORY.md"], [])


def test_a_touched_file_without_a_date_has_no_day(memory: Memory, notes: Notes) -> None:
    path = notes.write("memory/tulips.md", GARDEN)
    memory.ingest()
    os.utime(path, (1_500_000_000, 1_500_000_000))
    memory.ingest()
    assert {hit.date for hit in memory.search("tulips").results} == {None}
    assert not memory.search("tulips", until=date(2020, 1, 1)).results
    assert not memory.search("tulips", since=date(2017, 1, 1)).results


# -- changes ----------------------------------------------------------------------------------------


def test_only_the_changed_line_is_embedded_again(memory: Memory, notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("MEMORY.md", GARDEN)
    memory.ingest()
    embedder.taken()
    notes.write("MEMORY.md", GARDEN.replace("Monday", "Friday"))
    report = memory.ingest()
    assert counts(report) == (3, 0, 1, 0, 2)
    assert embedder.taken() == ["- water the ferns on Friday"]
    assert "Monday" not in "".join(snippets(memory, "Monday"))
    assert "Friday" in snippets(memory, "Friday")[0]


def test_lines_pushed_down_keep_their_vectors_and_get_their_new_numbers(
    memory: Memory, notes: Notes, embedder: CountingEmbedder
) -> None:
    notes.write("MEMORY.md", GARDEN)
    memory.ingest()
    before = {hit.id for hit in memory.search("ferns").results}
    embedder.taken()
    notes.write("MEMORY.md", "# New\n\nsomething on top\n\n" + GARDEN)
    report = memory.ingest()
    assert (report.added, report.updated, report.deleted, report.embedded) == (2, 0, 0, 2)
    assert sorted(embedder.taken()) == ["New", "something on top"]
    hits = memory.search("water the ferns", max_results=1, mode="keyword").results
    assert hits[0].end_line == 8
    assert before & {hit.id for hit in hits}


def test_a_section_moved_to_another_file_is_not_embedded_again(
    memory: Memory, notes: Notes, embedder: CountingEmbedder
) -> None:
    notes.write("MEMORY.md", GARDEN + "\n" + HOUSE)
    notes.write("memory/house.md", "# Old\n")
    memory.ingest()
    embedder.taken()
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/house.md", "# Old\n\n" + HOUSE)
    report = memory.ingest()
    assert (report.added, report.updated, report.deleted, report.embedded) == (3, 0, 3, 0)
    assert embedder.taken() == []
    assert {row[0] for row in everything(memory, "boiler")} == {"memory/house.md"}
    assert memory.status().vectors["ready"] == report.chunks


@pytest.mark.parametrize("new", ["memory/a.md", "memory/z.md", "memory/deep/er/b.md"])
def test_a_renamed_file_is_not_embedded_again(
    memory: Memory, notes: Notes, embedder: CountingEmbedder, new: str
) -> None:
    notes.write("memory/m.md", HOUSE)
    memory.ingest()
    embedder.taken()
    notes.move("memory/m.md", new)
    report = memory.ingest()
    assert (*counts(report), report.embedded, embedder.taken()) == (3, 3, 0, 3, 0, 0, [])
    assert {row[0] for row in everything(memory, "boiler")} == {new}


def test_equal_lines_count_apart_and_one_of_them_can_go(memory: Memory, notes: Notes) -> None:
    notes.write("MEMORY.md", "- buy milk\n- feed the cat\n- buy milk\n")
    assert memory.ingest().added == 3
    notes.write("MEMORY.md", "- buy milk\n- feed the cat\n")
    report = memory.ingest()
    assert counts(report) == (2, 0, 0, 1, 2)


def test_a_deleted_file_leaves_nothing_behind(memory: Memory, notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/house.md", HOUSE)
    memory.ingest()
    notes.remove("memory/house.md")
    report = memory.ingest()
    assert (report.files, *counts(report)) == (1, 3, 0, 0, 3, 3)
    assert not snippets(memory, "boiler attic")
    memory.maintain(force=True)
    rows = tables(memory)
    assert {row[1] for row in rows["documents"]} == {"MEMORY.md"}
    living = {row[0] for row in rows["units"]}
    assert len(living) == len(rows["vectors"]) == 3
    assert {row[1] for row in rows["postings"]} <= living
    assert not [row for name, found in rows.items() for row in found if "boiler" in str(row)]


def test_files_with_next_to_nothing_in_them_are_harmless(memory: Memory, notes: Notes) -> None:
    notes.write("memory/house.md", HOUSE)
    for text in ("", "\n\n\n", "---\n", "# Only\n## headings\n", "---\ntitle: t\n---\n", "\ufeff", "```\n```\n"):
        notes.write("MEMORY.md", text)
        first = memory.ingest()
        assert first.files == 2 and not first.skipped, text
        assert memory.ingest().unchanged == first.chunks
        assert snippets(memory, "boiler")
        assert memory.get("MEMORY.md").status == "ok"
        notes.write("MEMORY.md", GARDEN)
        assert memory.ingest().chunks == 6, text


# -- files that cannot be read ----------------------------------------------------------------------


def test_a_file_deleted_while_ingest_runs_is_reported_and_goes_with_the_next_run(
    memory: Memory, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("memory/a.md", GARDEN)
    notes.write("memory/b.md", HOUSE)
    memory.ingest()
    real = notes_reader.read_note

    def read(file: SourceFile, most: int) -> str:
        if file.path == "memory/a.md":
            Path(file.absolute).unlink()
        return real(file, most)

    notes.write("memory/a.md", GARDEN + "- and roses\n")
    monkeypatch.setattr(notes_reader, "read_note", read)
    report = memory.ingest()
    assert [skip.path for skip in report.skipped] == ["memory/a.md"]
    assert "vanished" in report.skipped[0].reason
    assert memory.ingest().deleted == 3
    assert snippets(memory, "boiler")


@pytest.mark.parametrize(
    ("data", "word"),
    [(b"GIF89a\0\0 tulips", "NUL"), (b"tulips \xff\xfe\x01", "binary"), ("tulips".encode("utf-16"), "UTF-16")],
)
def test_a_note_that_becomes_binary_leaves_the_index(memory: Memory, notes: Notes, data: bytes, word: str) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/house.md", HOUSE)
    memory.ingest()
    notes.write("MEMORY.md", data)
    report = memory.ingest()
    assert report.skipped[0].path == "MEMORY.md" and word in report.skipped[0].reason
    assert (report.deleted, report.chunks) == (3, 3)
    assert not snippets(memory, "tulips")  # its lines are no longer what they were
    assert memory.get("MEMORY.md").status == "error"
    notes.write("MEMORY.md", GARDEN)
    assert memory.ingest().added == 3
    assert snippets(memory, "tulips")


def test_a_note_that_grows_too_large_leaves_the_index(notes: Notes, embedder: CountingEmbedder) -> None:
    with open_memory(notes, embedder, ingest__max_file_mb=0.001) as memory:
        notes.write("MEMORY.md", GARDEN)
        assert memory.ingest().added == 3
        notes.write("MEMORY.md", GARDEN + "- more\n" * 500)
        report = memory.ingest()
        assert (report.deleted, report.chunks) == (3, 0)
        assert "ingest.max_file_mb" in report.skipped[0].reason


def test_a_folder_that_cannot_be_listed_keeps_what_the_index_has_of_it(
    memory: Memory, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/far/house.md", HOUSE)
    memory.ingest()
    real = os.open

    def opening(path: str, *options: Any, **named: Any) -> Any:
        if str(path).endswith("far"):
            raise PermissionError(13, "Permission denied")
        return real(path, *options, **named)

    monkeypatch.setattr(os, "open", opening)
    report = memory.ingest()
    assert report.deleted == 0 and report.skipped[0].path == "memory/far/"
    assert snippets(memory, "boiler")


def test_a_time_that_no_calendar_has_stops_nothing() -> None:
    found = SourceFile("memory/a.md", "/a.md", 1, 10**30, Kind.NOTE, Grain.WORKING, Origin.AGENT)
    assert found.day == date.today()
    assert replace(found, mtime_ns=0).day in (date(1970, 1, 1), date(1969, 12, 31))


# -- what is read -----------------------------------------------------------------------------------


def test_extra_paths_are_named_and_trusted_as_configured(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", GARDEN)
    wiki = Notes(tmp_path / "wiki")
    wiki.write("deep/a.md", HOUSE)
    log = Notes(tmp_path / "log")
    log.write("one.md", "# Log\n\n- the boiler was loud\n")
    extras = [
        {"path": str(wiki.root), "name": "wiki", "origin": "agent"},
        {"path": str(log.root / "one.md"), "name": "log"},
    ]
    with open_memory(notes, ingest__extra_paths=extras) as memory:
        assert memory.ingest().files == 3
        found = {hit.path: hit.origin for hit in memory.search("boiler").results}
        assert found == {"@wiki/deep/a.md": Origin.AGENT, "@log/one.md": Origin.UNTRUSTED}
        assert memory.get("@wiki/deep/a.md", 3, 1).text == "- the boiler was serviced in March"
        assert memory.ingest(["@wiki"]).files == 1
        shutil.rmtree(log.root)
        report = memory.ingest()
        assert report.deleted == 0 and report.skipped[0].path == "@log/"  # perhaps a disk that is not mounted
    with open_memory(notes) as memory:
        assert memory.ingest().deleted == 5  # no longer configured


def test_a_changed_ignore_file_removes_and_restores_files(memory: Memory, notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/private/house.md", HOUSE)
    memory.ingest()
    notes.write(".memoryignore", "private/\n")
    assert memory.ingest().deleted == 3
    assert not snippets(memory, "boiler")
    assert memory.get("memory/private/house.md").status == "not_found"
    notes.remove(".memoryignore")
    assert memory.ingest().added == 3


def test_front_matter_lowers_the_origin_and_never_raises_it(memory: Memory, notes: Notes) -> None:
    def origins() -> dict[str, Origin]:
        return {hit.path: hit.origin for hit in memory.search("tulips boiler").results}

    notes.write("MEMORY.md", "---\norigin: untrusted\n---\n" + GARDEN)
    notes.write("memory/house.md", "---\norigin: owner\n---\n" + HOUSE)
    memory.ingest()
    assert origins() == {"MEMORY.md": Origin.UNTRUSTED, "memory/house.md": Origin.AGENT}
    notes.write("MEMORY.md", GARDEN)
    memory.ingest()
    assert origins() == {"MEMORY.md": Origin.OWNER, "memory/house.md": Origin.AGENT}


def test_what_is_taken_out_of_a_note_does_not_raise_the_trust_in_it(memory: Memory, notes: Notes) -> None:
    notes.write("memory/a.md", "---\norigin: untrusted\n\n- plant tulips in the autumn\n")
    memory.ingest()
    memory.forget(query="origin untrusted", dry_run=False)
    assert [hit.origin for hit in memory.search("tulips autumn").results] == [Origin.UNTRUSTED]


def test_kinds_grains_and_dates_reach_hits_and_filters(memory: Memory, notes: Notes) -> None:
    word = "- the kettle whistles\n"
    notes.write("MEMORY.md", word)
    notes.write("memory/2026-02-13.md", word)
    notes.write("memory/kitchen.md", "## 2026-01-05\n\n" + word)
    notes.write("memory/consolidated/weekly/2026-W07.md", word)
    memory.ingest()
    found = {hit.path: hit for hit in memory.search("kettle").results}
    assert {path: (hit.kind, hit.grain) for path, hit in found.items()} == {
        "MEMORY.md": (Kind.CURATED, Grain.WORKING),
        "memory/2026-02-13.md": (Kind.DAILY, Grain.WORKING),
        "memory/kitchen.md": (Kind.NOTE, Grain.WORKING),
        "memory/consolidated/weekly/2026-W07.md": (Kind.NOTE, Grain.WEEKLY),
    }
    assert found["memory/2026-02-13.md"].date == date(2026, 2, 13)
    assert found["memory/kitchen.md"].date == date(2026, 1, 5)

    def paths(**options: Any) -> set[str]:
        return {hit.path for hit in memory.search("kettle", **options).results}

    assert paths(kinds=(Kind.DAILY, Kind.CURATED)) == {"MEMORY.md", "memory/2026-02-13.md"}
    assert paths(grains=(Grain.WEEKLY,)) == {"memory/consolidated/weekly/2026-W07.md"}
    day = date(2026, 1, 5)
    assert paths(since=day, until=day) == {"memory/kitchen.md"}
    assert "memory/kitchen.md" not in paths(since=date(2026, 1, 6))
    assert paths(since=date(2030, 1, 1), until=date(2030, 1, 1)) == set()


# -- PATH -------------------------------------------------------------------------------------------


def test_paths_restrict_what_is_read_and_what_is_deleted(memory: Memory, notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/a/one.md", HOUSE)
    notes.write("memory/a/two.md", "the second note\n")
    notes.write("memory/ab.md", "a neighbour in name\n")
    memory.ingest()
    for name in ("MEMORY.md", "memory/a/one.md", "memory/ab.md"):
        notes.remove(name)
    notes.write("memory/new.md", "not asked for\n")
    report = memory.ingest(["memory/a"])
    assert (report.files, report.deleted, report.added) == (1, 3, 0)
    assert {row[1] for row in tables(memory)["documents"]} == {"MEMORY.md", "memory/a/two.md", "memory/ab.md"}
    assert memory.ingest(["memory/ab.md"]).deleted == 1
    assert (memory.ingest().deleted, memory.ingest().files) == (3, 2)


def test_paths_are_understood_from_here_from_the_workspace_and_through_a_link(
    memory: Memory, notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/a.md", HOUSE)
    link = tmp_path / "link"
    link.symlink_to(notes.root)
    monkeypatch.chdir(notes.root / "memory")
    for name in (
        "a.md",
        "./a.md",
        "../memory/a.md",
        "memory/a.md",
        str(link / "memory" / "a.md"),
        str(notes.root / "memory" / ".." / "memory" / "a.md"),
    ):
        assert memory.ingest([name]).files == 1, name
    for name in ("..", str(link), str(notes.root), "../."):
        assert memory.ingest([name, "memory/a.md"]).files == 2, name
    monkeypatch.chdir(tmp_path)
    assert memory.ingest(["memory"]).files == 1
    with open_memory(Notes(link), name="other") as other:
        assert other.ingest([str(notes.root / "memory")]).files == 1


def test_a_link_inside_the_workspace_is_named_as_it_is_written(memory: Memory, notes: Notes, tmp_path: Path) -> None:
    notes.write("docs/plan.md", HOUSE)
    (notes.root / "memory").mkdir()
    (notes.root / "memory" / "plan.md").symlink_to("../docs/plan.md")
    (tmp_path / "link").symlink_to(notes.root)
    assert memory.ingest().files == 1
    assert memory.ingest([str(tmp_path / "link" / "memory" / "plan.md")]).files == 1


def test_a_path_that_names_nothing_is_an_error(memory: Memory, notes: Notes) -> None:
    for path in ("nope.md", "memory/nope", "@nope/a.md", "*.md", "MEMORY.md/x"):
        notes.write("MEMORY.md", GARDEN)
        with pytest.raises(WorkspaceError, match="no memory file is there"):
            memory.ingest(["MEMORY.md", path])
        assert memory.status().chunks == 0


@pytest.mark.parametrize("given", ["../elsewhere.md", "/etc/passwd", "~nobody-has-this-name/../../x", "a\0b"])
def test_a_path_outside_the_workspace_is_refused(memory: Memory, notes: Notes, given: str) -> None:
    notes.write("MEMORY.md", GARDEN)
    with pytest.raises(WorkspaceError):
        memory.ingest([given])


# -- plugins ----------------------------------------------------------------------------------------

SECRET = "ghp_" + "aB3dE6gH9" * 4


def test_a_secret_never_reaches_the_index(memory: Memory, notes: Notes) -> None:
    text = f"---\ntoken: {SECRET}\n---\n# Key {SECRET}\n\n- use {SECRET} for the deploy\n\n| a | b |\n|---|---|\n| deploy | {SECRET} |\n"
    notes.write("MEMORY.md", text)
    notes.write("memory/a.md", f"Anna: {SECRET} is for the deploy\n\n```\nTOKEN={SECRET}\n```\n")
    memory.ingest()
    result = memory.search("deploy token key", max_results=20, explain=True)
    assert result.results and SECRET not in repr(result)
    assert "[redacted:github-token]" in repr(result)
    memory.maintain(force=True)
    rows = tables(memory)
    assert SECRET not in repr(rows) and SECRET.lower() not in repr(rows)
    for file in notes.root.parent.glob("index.duckdb*"):
        assert SECRET.encode() not in file.read_bytes(), file


class Censor:
    """Changes one unit and drops another."""

    @hookimpl
    def openclaw_memory_prepare_unit(self, unit: Unit) -> Unit | bool | None:
        if "ferns" in unit.text:
            return False
        if "tulips" in unit.text:
            return replace(unit, text=unit.text.replace("tulips", "flowers"))
        return None


def test_hooks_change_and_drop_units_and_their_lines_in_snippets(notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN + "- mow the lawn\n")
    with open_memory(notes, plugins=[Censor()]) as memory:
        assert memory.ingest().chunks == 3
        (hit,) = memory.search("garden lawn", max_results=1).results
        assert hit.snippet == "# Garden\n\n- plant flowers in the autumn\n\n- mow the lawn"
        assert (hit.start_line, hit.end_line) == (1, 5)
        assert not snippets(memory, "ferns tulips")
        assert "ferns" not in repr(tables(memory))


class Broken:
    """Fails in every hook that keeps nothing out."""

    @hookimpl
    def openclaw_memory_rerank(self, query: str) -> list[Any]:
        raise OSError("no disk")

    @hookimpl
    def openclaw_memory_search(self) -> None:
        raise WorkspaceError("nothing here")


def test_a_plugin_that_raises_is_named_in_the_log_and_breaks_nothing(
    notes: Notes, caplog: pytest.LogCaptureFixture
) -> None:
    notes.write("MEMORY.md", GARDEN)
    with (
        open_memory(notes, plugins=[Broken()]) as memory,
        caplog.at_level(logging.WARNING, "openclaw_memory.plugins.manager"),
    ):
        assert memory.ingest().added == 3
        assert snippets(memory, "tulips")
        for hook in ("rerank", "search"):
            assert f"plugin Broken failed in openclaw_memory_{hook}" in caplog.text
        assert memory.status().plugin_failures["Broken"].startswith("openclaw_memory_")


@pytest.mark.parametrize("note", ["- ANALYSIS\n", "- STORE\n"])
@pytest.mark.parametrize("known", [False, True])
def test_whatever_a_file_does_the_others_are_read_and_it_is_named(
    memory: Memory, notes: Notes, monkeypatch: pytest.MonkeyPatch, note: str, known: bool
) -> None:
    """Nobody knows what a note can break: in parsing, in analysis or in the store."""
    write = writing.apply

    def apply(db: Any, c: Any, changes: Sequence[DocumentChange]) -> object:
        if any("STORE" in unit.unit.text for change in changes for unit in change.units):
            c.execute("DELETE FROM units")  # a write that is cut short is undone
            raise RuntimeError("cannot be cast")
        return write(db, c, changes)

    monkeypatch.setattr(writing, "apply", apply)
    monkeypatch.setattr(notes_reader, "tokens_of", lambda text: 1 // ("ANALYSIS" not in text) + len(text) // 4)
    notes.write("memory/a.md", GARDEN)
    notes.write("memory/b.md", GARDEN if known else note)
    memory.ingest()
    notes.write("memory/b.md", note)
    notes.write("memory/c.md", HOUSE)
    report = memory.ingest()
    assert [skip.path for skip in report.skipped] == ["memory/b.md"]
    assert "a defect of openclaw-memory" in report.skipped[0].reason
    assert snippets(memory, "boiler") and {hit.path for hit in memory.search("tulips").results} >= {"memory/a.md"}
    memory.consolidate(dry_run=True)
    assert [check for check in examine(memory) if "memory/b.md" in check.detail]
    notes.write("memory/b.md", "- mended\n")
    assert not memory.ingest().skipped and snippets(memory, "mended")


@pytest.mark.parametrize("name", ["concepts.yaml", "facts.yaml"])
def test_whatever_a_file_of_ours_does_the_notes_are_read(
    memory: Memory, notes: Notes, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for take in ("take_concepts", "take_facts"):
        monkeypatch.setattr(sidecars, take, lambda *_: 1 / 0)
    notes.write(name, "[]\n")
    notes.write("MEMORY.md", GARDEN)
    report = memory.ingest()
    assert [skip.path for skip in report.skipped] == [name] and "ZeroDivisionError" in report.skipped[0].reason
    assert snippets(memory, "tulips")


# -- edit histories ---------------------------------------------------------------------------------

_LINES = st.sampled_from(
    [
        "- plant tulips",
        "- plant roses",
        "# Garden",
        "## House",
        "the boiler hums. It is old.",
        "",
        "Anna: tulips?",
        "| a | b |",
        "|---|---|",
        "| tulips | 1 |",
    ]
)
_TEXT = st.lists(_LINES, max_size=6).map("\n".join)
_NAMES = st.sampled_from(["MEMORY.md", "memory/a.md", "memory/b.md", "memory/2026-02-13.md"])
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _NAMES, _TEXT),
        st.tuples(st.just("remove"), _NAMES, st.just("")),
        st.tuples(st.just("move"), _NAMES, _NAMES),
        st.tuples(st.just("ingest"), _NAMES, st.just("")),
    ),
    min_size=1,
    max_size=8,
)


def _state(memory: Memory) -> tuple[Any, ...]:
    rows = tables(memory)
    documents = {row[0]: row[1:9] for row in rows["documents"]}
    sections = {row[0]: (documents[row[1]], row[2:]) for row in rows["sections"]}
    units = sorted((sections[row[2]], row[3:]) for row in rows["units"])
    living = {row[0] for row in rows["units"]}
    vectors = sum(row[0] in living for row in rows["vectors"])
    terms = sorted(
        (row[0], row[2]) for name in ("postings", "postings_delta") for row in rows[name] if row[1] in living
    )
    hits = [everything(memory, query) for query in ("plant tulips", "boiler", "Anna roses garden")]
    similar = [(hit.citation, hit.score) for hit in memory.search("old flowers").results]
    return units, vectors, terms, hits, similar


@examples(8)
@given(steps=_STEPS)
def test_an_index_with_a_history_equals_a_fresh_one(
    steps: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    notes = Notes(tmp_path_factory.mktemp("history") / "workspace")
    with open_memory(notes, CountingEmbedder(), name="old") as old:
        for what, name, other in steps:
            here = (notes.root / name).exists()
            if what == "write":
                notes.write(name, other)
            elif what == "remove" and here:
                notes.remove(name)
            elif what == "move" and here:
                notes.move(name, other)
                notes.touch(other)
            elif what == "ingest":
                old.ingest()
        old.ingest()
        with ingested(notes, CountingEmbedder(), name="new") as new:
            assert _state(old) == _state(new)


def test_a_note_that_another_process_read_meanwhile_is_not_taken_for_gone(notes: Notes) -> None:
    notes.write("MEMORY.md", GARDEN)
    with open_memory(notes) as other:
        other.ingest()

        class Meanwhile:
            """Lets the other one read both files after this one has looked which there are."""

            @hookimpl
            def openclaw_memory_prepare_lines(self, path: str, lines: list[str]) -> None:
                if "memory/new.md" not in other.store.documents().by_path:
                    notes.write("memory/new.md", HOUSE)
                    other.ingest()

        notes.write("MEMORY.md", GARDEN + "- the shed is painted green\n")
        with ingested(notes, plugins=[Meanwhile()]) as memory:
            assert sorted(memory.store.documents().by_path) == ["MEMORY.md", "memory/new.md"]


def test_curated_files_are_read_first_then_daily_notes_from_the_newest(notes: Notes) -> None:
    for path in ("memory/2024-06-30.md", "memory/2026-03-02.md", "USER.md", "memory/2025-12-31.md", "MEMORY.md"):
        notes.write(path, f"- a line of {path}")
    with open_memory(notes) as memory:
        paths: list[str] = []
        for _ in range(5):
            memory.ingest(deadline=0.0)  # reads one file
            paths += memory.store.documents().by_path.keys() - paths
    assert paths == ["USER.md", "MEMORY.md", "memory/2026-03-02.md", "memory/2025-12-31.md", "memory/2024-06-30.md"]
