"""Consolidation where something is in the way: files that cannot be read or written, strangers, odd names."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from fakes import Notes
from summarising import (
    FOLDER,
    GRAINS,
    LATER,
    MONDAY,
    check,
    diary,
    front,
    names,
    sentences,
    stamps,
    summarised,
    tree,
    week,
    write,
)

from openclaw_memory.errors import WorkspaceError
from openclaw_memory.model import Origin
from openclaw_memory.system.atomic import OWN_FOLDER


def test_only_notes_of_a_day_below_memory_are_summarised(notes: Notes, tmp_path: Path) -> None:
    text = diary(MONDAY)
    for path in (
        "MEMORY.md", "USER.md", "memory/people.md", "memory/2026-02-30.md", "memory/2026-13-01.md",
        "memory/2026-02.md", "memory/2026.md",
    ):  # fmt: skip
        notes.write(path, text)
    elsewhere = Notes(tmp_path / "elsewhere")
    elsewhere.write("2026-02-16.md", text)
    elsewhere.write("memory/2026-02-16.md", text)
    extra = [{"name": "team", "path": str(elsewhere.root), "origin": "agent"}]
    with summarised(notes, ingest__extra_paths=extra) as memory:
        report = memory.consolidate(now=LATER)
        assert (report.created, tree(notes)) == ((), {})
        assert not (notes.root / FOLDER).exists()
        assert "@team/2026-02-16.md" in memory.store.documents().by_path


def test_notes_of_a_day_are_taken_from_everywhere_below_memory(notes: Notes) -> None:
    paths = [
        "memory/2026-02-16.md", "memory/2026-02-16-talk.md", "memory/2026-02-16 [draft] #2: it's.md", "memory/deep/er/2026-02-16.md",
        "memory/captures/2026-02-16.md", "memory/Zoë ☃/2026-02-16.MD", "memory/2026-02-16T10.md",
    ]  # fmt: skip
    for number, path in enumerate(paths):
        notes.write(path, diary(MONDAY, salt=number, lines=3))
    notes.write("memory/2026-02-16\nline.md", diary(MONDAY, salt=77))
    with summarised(notes, consolidate__budgets={"daily": 200}) as memory:
        memory.consolidate(now=LATER)
        stated = front(tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())
        sources = [source.rpartition(" ")[0] for source in stated["sources"]]
        assert sources == sorted(paths)
        infos = {info.path: info for info in memory.store.summaries()}
        assert [path for path, _ in infos[f"{FOLDER}/daily/2026-02-16.md"].sources] == sorted(paths)
        assert set(memory.store.summary_citations().path) <= set(paths)
        before = stamps(notes)
        assert memory.consolidate(now=LATER).created == ()
        assert stamps(notes) == before


def test_a_workspace_without_memory(notes: Notes) -> None:
    notes.write("MEMORY.md", "- The harbour is ours.\n")
    with summarised(notes, retention__plan="free") as memory:
        for dry in (True, False):
            report = memory.consolidate(now=LATER, dry_run=dry)
            assert report.complete and report.created == ()
    assert sorted(path.name for path in notes.root.iterdir()) == [OWN_FOLDER, "MEMORY.md"]


def test_a_stranger_s_sentences_are_left_out_where_there_are_others(notes: Notes) -> None:
    write(notes, MONDAY)
    notes.write(
        "memory/captures/2026-02-16-untrusted.md", f"---\norigin: untrusted\n---\n{diary(MONDAY, salt=7, lines=30)}"
    )
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        for grain, name in zip(GRAINS, ("2026-02-16", "2026-W08", "2026-02", "2026-Q1", "2026"), strict=True):
            text = tree(notes)[f"{FOLDER}/{grain}/{name}.md"].decode()
            assert front(text)["origin"] == "agent"
            assert {sentence.path for sentence in check(notes.root, text)} == {"memory/2026-02-16.md"}
        sources = front(tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())["sources"]
        assert len(sources) == 1  # so the stranger's file is not archived


def test_a_summary_of_strangers_alone_is_untrusted(notes: Notes) -> None:
    notes.write("memory/captures/2026-02-16-untrusted.md", f"---\norigin: untrusted\n---\n{diary(MONDAY, salt=7)}")
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        for path, text in tree(notes).items():
            assert front(text.decode())["origin"] == "untrusted", path
            check(notes.root, text.decode())
        hits = memory.search("we item", mode="keyword").results
        assert hits and {hit.origin for hit in hits} == {Origin.UNTRUSTED}
        # One day of the agent's own: what is coarser speaks of that alone.
        write(notes, MONDAY + timedelta(days=1))
        memory.consolidate(now=LATER)
        assert front(tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())["origin"] == "untrusted"
        text = tree(notes)[f"{FOLDER}/weekly/2026-W08.md"].decode()
        assert front(text)["origin"] == "agent" and front(text)["sources"] == [f"{FOLDER}/daily/2026-02-17.md"]
        before = stamps(notes)
        assert memory.consolidate(now=LATER).created == ()
        assert stamps(notes) == before


@pytest.mark.parametrize("grain", ["daily", "weekly"])
def test_a_stranger_s_summary_stands_for_no_notes_that_can_be_trusted(notes: Notes, grain: str) -> None:
    week(notes, count=2)
    with summarised(notes, retention__plan="custom", retention__working_hours=24) as memory:
        memory.consolidate(now=LATER, dry_run=True)
        period = {"daily": "2026-02-16", "weekly": "2026-W08"}[grain]
        notes.write(f"{FOLDER}/{grain}/{period}.md", "---\norigin: untrusted\n---\n- We flew the zeppelin away.\n")
        report = memory.consolidate(now=LATER)
        assert report.kept == (f"{FOLDER}/{grain}/{period}.md",)
        paths = [sentence.path for sentence in check(notes.root, tree(notes)[f"{FOLDER}/monthly/2026-02.md"].decode())]
        assert set(paths) <= {"memory/2026-02-16.md", "memory/2026-02-17.md"}
        before = stamps(notes)
        assert memory.consolidate(now=LATER).created == () and stamps(notes) == before
        write(notes, MONDAY, salt=3)
        assert f"{FOLDER}/monthly/2026-02.md" in memory.consolidate(now=LATER).rebuilt


def test_strangers_words_are_retired_with_their_day_and_their_file_stays(notes: Notes) -> None:
    write(notes, MONDAY)
    theirs = "memory/captures/2026-02-16-untrusted.md"
    notes.write(theirs, f"---\norigin: untrusted\n---\n{diary(MONDAY, salt=7)}")
    with summarised(notes, retention__plan="free") as memory:
        report = memory.consolidate(now=MONDAY + timedelta(days=10))
        assert report.retired == ("memory/2026-02-16.md", theirs) and (notes.root / theirs).exists()
    with summarised(notes) as memory:
        memory.ingest()
        assert theirs in memory.store.documents().by_path


def test_a_note_that_cannot_be_read_holds_up_only_what_needs_it(notes: Notes) -> None:
    week(notes)
    week(notes, MONDAY + timedelta(days=14), 2)

    def vanish(stage: str, done: int, total: int) -> None:
        if stage == "consolidated" and done == 1:
            (notes.root / "memory/2026-02-17.md").rename(notes.root / "elsewhere")

    with summarised(notes, retention__plan="free") as memory:
        report = memory.consolidate(now=date(2026, 3, 16), progress=vanish)
        assert report.complete and report.warning is not None
        assert re.fullmatch("3 summaries wait for memory/2026-02-17.md: it has vanished since the scan", report.warning)
        assert len(names(notes, "daily")) == 8 and names(notes, "weekly") == ["2026-W10"]
        # What no summary says is not retired.
        assert set(report.retired) == {f"memory/{name}.md" for name in names(notes, "daily")}
        (notes.root / "elsewhere").rename(notes.root / "memory/2026-02-17.md")
        report = memory.consolidate(now=date(2026, 3, 16))
        assert report.warning is None and report.retired == ("memory/2026-02-17.md",)
        assert names(notes, "weekly") == ["2026-W08", "2026-W10"] and names(notes, "monthly") == ["2026-02"]


def test_a_note_that_changes_meanwhile_is_for_the_next_run(notes: Notes) -> None:
    week(notes)

    def change(stage: str, done: int, total: int) -> None:
        if stage == "consolidated" and done == 1:
            write(notes, MONDAY + timedelta(days=1), salt=1)

    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER, progress=change)
        assert not report.complete and len(report.created) == 6
        report = memory.consolidate(now=LATER)
        assert report.complete and len(tree(notes)) == 11
    for text in tree(notes).values():
        check(notes.root, text.decode())


@pytest.mark.parametrize("way", ["memory/consolidated", "memory/consolidated/daily", "memory/consolidated/monthly"])
def test_a_file_in_the_place_of_a_folder_is_an_error_that_says_so(notes: Notes, way: str) -> None:
    week(notes)
    notes.write(way, "in the way")
    with summarised(notes) as memory:
        with pytest.raises(WorkspaceError, match="is no folder"):
            memory.consolidate(now=LATER)
        notes.remove(way)
        assert memory.consolidate(now=LATER).complete
        assert names(notes, "monthly") == ["2026-02"]


def test_a_link_in_the_place_of_a_summary_is_left_alone(notes: Notes, tmp_path: Path) -> None:
    week(notes)
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    (notes.root / FOLDER / "weekly").mkdir(parents=True)
    os.symlink(outside, notes.root / FOLDER / "weekly/2026-W08.md")
    os.symlink(notes.root / "memory/2026-02-16.md", notes.root / FOLDER / "weekly/2026-W09.md")
    with summarised(notes, retention__plan="free") as memory:
        for now in (date(2026, 3, 10), LATER):
            memory.consolidate(now=now)
    assert outside.read_text() == "mine"
    assert (notes.root / "memory/2026-02-16.md").read_text() == diary(MONDAY)
    assert os.path.islink(notes.root / FOLDER / "weekly/2026-W08.md")


@pytest.mark.parametrize("link", ["memory/consolidated", "memory/consolidated/weekly"])
def test_nothing_is_written_outside_the_workspace(notes: Notes, tmp_path: Path, link: str) -> None:
    week(notes)
    (tmp_path / "outside").mkdir()
    (notes.root / link).parent.mkdir(parents=True, exist_ok=True)
    os.symlink(tmp_path / "outside", notes.root / link)
    with summarised(notes) as memory, pytest.raises(WorkspaceError, match="a link that leads out of the workspace"):
        memory.consolidate(now=LATER)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_workspace_behind_a_link_is_one(notes: Notes, tmp_path: Path) -> None:
    week(notes, count=1)
    os.symlink(notes.root, tmp_path / "link")
    with summarised(Notes(tmp_path / "link"), db=tmp_path / "x.duckdb") as memory:
        assert len(memory.consolidate(now=LATER).created) == 5


@pytest.mark.parametrize("pattern", ["memory/consolidated/", "memory/", "*.md", "memory/consolidated/**/20*"])
def test_nothing_is_summarised_or_retired_where_summaries_are_not_read(notes: Notes, pattern: str) -> None:
    week(notes, count=2)
    with summarised(notes, retention__plan="free") as memory:
        memory.ingest()
        before = set(memory.store.documents().by_path)
        notes.write(".memoryignore", f"{pattern}\n")
        for dry in (True, False):
            report = memory.consolidate(now=LATER, dry_run=dry)
            assert report.complete and (report.created, report.retired) == ((), ())
            assert report.skipped == ".memoryignore leaves memory/consolidated/ out, so nothing is summarised"
        assert tree(notes) == {} and set(memory.store.documents().by_path) == before


def test_a_grain_that_is_not_read_is_not_written_and_covers_nothing(notes: Notes) -> None:
    week(notes, count=2)
    notes.write(".memoryignore", "memory/consolidated/daily/\n")
    with summarised(notes, retention__plan="custom", retention__working_hours=24) as memory:
        report = memory.consolidate(now=MONDAY + timedelta(days=5))
        assert report.complete and tree(notes) == {} and report.retired == ()
        assert report.warning == "2 summaries wait for memory/consolidated/daily/, which .memoryignore leaves out"
        report = memory.consolidate(now=LATER)
        assert {path.split("/")[2] for path in report.created} == set(GRAINS) - {"daily"}
        assert len(report.retired) == 2  # by the week


def test_a_summary_that_cannot_be_read_covers_nothing(notes: Notes) -> None:
    week(notes, count=1)
    path = f"{FOLDER}/daily/2026-02-16.md"
    notes.write(".memoryignore", f"{path}\n")
    with summarised(notes, retention__plan="custom", retention__working_hours=24) as memory:
        report = memory.consolidate(now=MONDAY + timedelta(days=5))
        assert report.created == (path,) and report.retired == ()
        before = stamps(notes)
        report = memory.consolidate(now=MONDAY + timedelta(days=5))
        assert report.created == () and report.retired == () and stamps(notes) == before
        assert report.warning is not None and f"1 summary waits for {path}, which is not read" in report.warning
        assert "memory/2026-02-16.md" in memory.store.documents().by_path


def test_a_summary_of_what_is_not_over_goes(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        now = MONDAY + timedelta(days=5)
        report = memory.consolidate(now=now, older_than_days=0)
        assert report.created == () and len(report.removed) == 6  # Saturday, Sunday, and all above
        assert names(notes, "daily") == [f"2026-02-{day}" for day in range(16, 21)]
        write(notes, now)
        assert memory.consolidate(now=now, older_than_days=0).complete
        assert sorted({path.split("/")[2] for path in tree(notes)}) == ["daily"]


def test_a_note_whose_name_no_citation_can_hold_is_left_out(notes: Notes) -> None:
    for number, mark in enumerate(("\x85", "\u2028", "\u2029", "\x9b", "] [x")):
        notes.write(f"memory/2026-02-16{mark}.md", diary(MONDAY, salt=number))
    with summarised(notes) as memory:
        assert memory.consolidate(now=LATER).created == ()


def test_front_matter_that_is_broken_makes_it_a_person_s(notes: Notes) -> None:
    week(notes, count=2)
    path = f"{FOLDER}/daily/2026-02-16.md"
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        for broken in (b"---\n: [\n---\n", b"---\ngrain: daily\n", b"", b"---\n---\n"):
            mine = broken + b"\n- We flew the zeppelin.\n"
            notes.write(path, mine)
            report = memory.consolidate(now=LATER)
            assert report.kept == (path,) and tree(notes)[path] == mine
        lines = sentences(tree(notes)[f"{FOLDER}/yearly/2026.md"].decode())
        assert lines


def test_notes_that_are_odd(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", diary(MONDAY).replace("\n", "\r\n"))
    notes.write("memory/2026-02-17.md", "\ufeff" + diary(MONDAY + timedelta(days=1)))
    notes.write("memory/2026-02-18.md", "---\nbroken: [\n---\n" + diary(MONDAY + timedelta(days=2)))
    notes.write(
        "memory/2026-02-19.md", "---\ntags: [harbour]\ndate: 1999-01-01\n---\n" + diary(MONDAY + timedelta(days=3))
    )
    notes.write("memory/2026-02-20.md", "")
    notes.write("memory/2026-02-21.md", "x" * 5000)
    notes.write("memory/2026-02-22.md", "# A heading\n\n" * 100)
    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER)
        assert report.complete and report.warning is None
        assert names(notes, "daily")[:4] == [f"2026-02-{day}" for day in range(16, 20)]
        for text in tree(notes).values():
            check(notes.root, text.decode("utf-8"))
        before = stamps(notes)
        assert memory.consolidate(now=LATER).created == ()
        assert stamps(notes) == before
