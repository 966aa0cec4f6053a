"""Retention as consolidation carries it out: what leaves the index and the disk, when, and what comes back."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from fakes import Notes
from states import state_file
from summarising import FOLDER, GRAINS, MONDAY, check, days, diary, names, stamps, summarised, tree, week, write

from openclaw_memory import Memory
from openclaw_memory.model import Grain
from openclaw_memory.summarise.retention import PLANS, is_expired
from openclaw_memory.text import calendar

FIRST, LAST = date(2025, 12, 30), date(2027, 1, 6)


def indexed(memory: Memory) -> set[str]:
    """Notes in the index."""
    return {path for path in memory.store.documents().by_path if not path.startswith(FOLDER)}


def kept(plan: str, grain: Grain, noted: list[date], now: date) -> list[str]:
    """Periods of a grain that ought to have a summary: over for more than three days, and not too old."""
    periods = set()
    for day in noted:
        period = calendar.period_of(day, grain)
        last = calendar.bounds(grain, period)[1]
        if (now - last).days > 3 and not is_expired(PLANS[plan], grain, last, datetime.combine(now, time(), UTC)):
            periods.add(period)
    return sorted(periods)


@pytest.mark.parametrize("plan", ["keep", "pro"])
def test_each_grain_is_there_for_as_long_as_the_plan_says(notes: Notes, plan: str) -> None:
    noted = list(days(FIRST, LAST, 37))
    notes.write("MEMORY.md", diary(FIRST, salt=8))
    notes.write("memory/people.md", diary(FIRST, salt=9))
    years = [date(year, 1, 5) for year in (2031, 2038)]
    clock = [*days(FIRST, LAST + timedelta(days=40), 118), *years]
    with summarised(notes, retention__plan=plan) as memory:
        for now in clock:
            for day in noted:
                if day <= now and not (notes.root / f"memory/{day}.md").exists():
                    write(notes, day)
                    if day.day % 2:
                        notes.write(f"memory/captures/{day}.md", diary(day, salt=1, lines=4))
            written = [day for day in noted if day <= now]
            wanted = memory.consolidate(now=now, dry_run=True) if now in clock[::2] else None
            report = memory.consolidate(now=now)
            done = report.created, report.retired, report.removed
            assert wanted is None or (wanted.created, wanted.retired, wanted.removed) == done
            for grain in list(Grain)[1:]:
                assert names(notes, grain) == kept(plan, grain, written, now), (now, grain)
                hits = memory.search("we item", mode="keyword", grains=(grain,), max_results=20).results
                assert {hit.grain for hit in hits} == ({grain} if names(notes, grain) else set())
            young = [day for day in written if (now - day).days <= 3]
            raw = {
                f"memory/{day}.md"
                for day in written
                if day in young or not is_expired(PLANS[plan], Grain.WORKING, day, datetime.combine(now, time(), UTC))
            }
            assert {path for path in indexed(memory) if path.startswith("memory/20")} == raw
            assert {"MEMORY.md", "memory/people.md"} <= indexed(memory)
            for path, text in tree(notes).items():
                if str(now.year) in path:
                    check(notes.root, text.decode())
        assert memory.consolidate(now=clock[-1]).retired == ()
        assert all((notes.root / f"memory/{day}.md").read_text() == diary(day) for day in noted)
        assert [len(names(notes, grain)) > 0 for grain in GRAINS] == [plan == "keep"] * 5


def test_nothing_is_retired_before_a_coarser_summary_is_there(notes: Notes) -> None:
    week(notes)
    plan: dict[str, Any] = {"retention__plan": "custom", "retention__working_hours": 1, "retention__daily_days": 1}
    with summarised(notes, **plan) as memory:
        report = memory.consolidate(now=MONDAY + timedelta(days=9))  # no week is over, and no day is to be kept
        assert report.retired == () and tree(notes) == {}
        assert len(indexed(memory)) == 7
        report = memory.consolidate(now=MONDAY + timedelta(days=10))
        assert names(notes, "weekly") == ["2026-W08"] and names(notes, "daily") == []
        assert len(report.retired) == 7 and indexed(memory) == set()


def test_a_summary_that_is_out_of_date_covers_nothing(notes: Notes) -> None:
    write(notes, MONDAY)
    plan: dict[str, Any] = {"retention__plan": "custom", "retention__working_hours": 24 * 30}
    with summarised(notes, **plan) as memory:
        memory.consolidate(now=MONDAY + timedelta(days=20))
        memory.consolidate(now=MONDAY + timedelta(days=20), grain=Grain.WEEKLY)
        for grain in GRAINS[2:]:
            shutil.rmtree(notes.root / FOLDER / grain, ignore_errors=True)
        # The day, and the week as a person made it, are of an older note; the month is not over.
        path = f"{FOLDER}/weekly/2026-W08.md"
        notes.write(path, tree(notes)[path].decode() + "- And the zeppelin.\n")
        write(notes, MONDAY + timedelta(days=1), salt=1)
        notes.write(f"{FOLDER}/daily/2026-02-17.md", "# Mine\n\n- Nothing.\n")
        report = memory.consolidate(now=MONDAY + timedelta(days=60), older_than_days=40)
        assert report.retired == ("memory/2026-02-16.md",)  # by its day, which is as it was
        assert indexed(memory) == {"memory/2026-02-17.md"}


def test_a_short_day_is_kept_as_long_as_a_day(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", "- We sold the blue piano.\n")
    write(notes, MONDAY + timedelta(days=1))
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=MONDAY + timedelta(days=20))
        assert indexed(memory) == {"memory/2026-02-16.md"}
        assert names(notes, "daily") == ["2026-02-17"]
        memory.consolidate(now=MONDAY + timedelta(days=40))
        assert indexed(memory) == set() and names(notes, "daily") == []
        assert names(notes, "weekly") == ["2026-W08"]


def test_files_of_a_person_and_edited_summaries_are_never_deleted(notes: Notes) -> None:
    week(notes)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=MONDAY + timedelta(days=15))
        theirs = {
            f"{FOLDER}/daily/2026-02-18.md": tree(notes)[f"{FOLDER}/daily/2026-02-18.md"].decode() + "- Mine.\n",
            f"{FOLDER}/weekly/2026-W01.md": "# Mine\n\n- The zeppelin.\n",
        }
        for path, text in theirs.items():
            notes.write(path, text)
        before = stamps(notes)
        for now in (date(2026, 4, 1), date(2027, 1, 1), date(2035, 1, 1)):
            report = memory.consolidate(now=now)
            assert set(report.kept) == set(theirs)
            assert not set(theirs) & {*report.retired, *report.removed}
        assert {path: stamps(notes)[path] for path in theirs} == {path: before[path] for path in theirs}
        assert [path for path in tree(notes) if path not in theirs and "/2026-02-18" not in path] == []


def test_a_retired_note_comes_back_when_it_changes(notes: Notes) -> None:
    week(notes)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=MONDAY + timedelta(days=15))
        assert indexed(memory) == set()
        write(notes, MONDAY, salt=1)
        memory.ingest()
        assert indexed(memory) == {"memory/2026-02-16.md"}
        report = memory.consolidate(now=MONDAY + timedelta(days=15))
        assert f"{FOLDER}/daily/2026-02-16.md" in report.rebuilt
        assert report.retired == ("memory/2026-02-16.md",) and indexed(memory) == set()
        check(notes.root, tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())
        notes.remove("memory/2026-02-16.md")
        report = memory.consolidate(now=MONDAY + timedelta(days=15))
        assert report.removed == (f"{FOLDER}/daily/2026-02-16.md",)


def test_retired_notes_come_back_with_a_plan_that_keeps_them(notes: Notes) -> None:
    week(notes)
    everything = {f"memory/{day}.md" for day in days(MONDAY, MONDAY + timedelta(days=6))}
    now = MONDAY + timedelta(days=12)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=now)
        assert indexed(memory) == set()
    with summarised(notes, retention__plan="pro") as memory:  # ten days instead of two
        memory.consolidate(now=now)
        assert indexed(memory) == everything - {"memory/2026-02-16.md", "memory/2026-02-17.md"}
    with summarised(notes, retention__plan="keep") as memory:
        memory.ingest()
        assert indexed(memory) == everything
    with summarised(notes, retention__plan="free") as memory:
        memory.ingest()
        before = tree(notes)
        report = memory.consolidate(now=now)
        assert indexed(memory) == set() and report.created == ()
    assert tree(notes) == before


def test_what_is_retired_survives_the_loss_of_the_index(notes: Notes) -> None:
    week(notes)
    now = MONDAY + timedelta(days=45)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=now)
        before = stamps(notes)
    (notes.root.parent / "index.duckdb").unlink()
    with summarised(notes, retention__plan="free") as memory:
        memory.ingest()
        assert indexed(memory) == set()
        report = memory.consolidate(now=now)
        assert (report.created, report.removed, report.retired) == ((), (), ())
    (notes.root.parent / "index.duckdb").unlink()
    state_file().unlink()
    with summarised(notes, retention__plan="free") as memory:
        report = memory.consolidate(now=now)
        assert len(report.retired) == 7 and indexed(memory) == set()
    assert stamps(notes) == before


def test_a_note_that_changed_since_it_was_indexed_is_not_retired(notes: Notes) -> None:
    week(notes)

    def change(stage: str, done: int, total: int) -> None:
        if stage == "consolidated" and done == total:
            write(notes, MONDAY, salt=1)

    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=MONDAY + timedelta(days=15), progress=change)
        memory.ingest()
        assert indexed(memory) == {"memory/2026-02-16.md"}
        memory.consolidate(now=MONDAY + timedelta(days=15))
        assert indexed(memory) == set()
    check(notes.root, tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())


def test_raising_the_budget_of_a_day_brings_its_notes_back(notes: Notes) -> None:
    week(notes)
    now = MONDAY + timedelta(days=15)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=now)
        assert indexed(memory) == set() and len(names(notes, "daily")) == 7
    with summarised(notes, retention__plan="free", consolidate__budgets={"daily": 1000}) as memory:
        report = memory.consolidate(now=now)  # now each day is short enough for itself
        assert len(report.removed) == 7 and names(notes, "daily") == []
        assert len(indexed(memory)) == 7
