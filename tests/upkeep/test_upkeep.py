"""Consolidation by itself: it only reports until it may write, comes once in an interval, and fails in words."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from fakes import Notes
from summarising import FOLDER, days, summarised, tree, write

from openclaw_memory import Memory
from openclaw_memory.errors import RequestError, StoreError
from openclaw_memory.model import ConsolidateReport, Grain
from openclaw_memory.system import atomic

MONDAY = date(2026, 2, 16)
NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)


@pytest.fixture
def week(notes: Notes) -> Notes:
    for day in days(MONDAY, MONDAY + timedelta(days=6)):
        write(notes, day)
    return notes


def beat(memory: Memory, now: datetime) -> list[ConsolidateReport]:
    return [one for one in memory.heartbeat(now) if isinstance(one, ConsolidateReport)]


def test_the_first_run_only_reports(week: Notes) -> None:
    with summarised(week) as memory:
        assert not memory.upkeep.enabled
        assert "has not run yet" in memory.upkeep.remark()
        (report,) = beat(memory, NOW)
        wanted = memory.consolidate(now=NOW, dry_run=True)
        assert report.dry_run and report.complete and report.created == wanted.created != ()
        assert tree(week) == {}
        assert "reports only; to let it write: openclaw-memory consolidate --enable" in memory.upkeep.remark()
        assert "last run 2026-06-01 09:00: would write 10 files" in memory.upkeep.remark()
        assert memory.status().consolidation == memory.upkeep.remark()
        assert beat(memory, NOW + timedelta(hours=1))[0].dry_run  # and so do those after it
        assert tree(week) == {}


def test_enabled_it_writes_from_then_on_in_every_process(week: Notes) -> None:
    with summarised(week) as memory:
        memory.upkeep.enable(True)
        memory.ingest()
    (week.root.parent / "index.duckdb").unlink()
    with summarised(week) as memory:
        assert memory.upkeep.enabled
        (report,) = beat(memory, NOW)
        assert not report.dry_run and set(report.created) == set(tree(week))
        assert "on; last run 2026-06-01 09:00: wrote 10 files" in memory.upkeep.remark()
        memory.upkeep.enable(False)
        week.remove("memory/2026-02-16.md")
        (report,) = beat(memory, NOW + timedelta(hours=2))
        assert report.dry_run and report.removed == (f"{FOLDER}/daily/2026-02-16.md",)
        assert f"{FOLDER}/daily/2026-02-16.md" in tree(week)


@pytest.mark.parametrize(
    ("setting", "runs", "writes"), [("on", True, True), ("ask", True, False), ("off", False, False)]
)
def test_the_setting_decides(week: Notes, setting: str, runs: bool, writes: bool) -> None:
    with summarised(week, consolidate__automatic=setting) as memory:
        if setting == "off":
            memory.upkeep.enable(True)  # the setting is above it
            assert memory.upkeep.remark() == "off (consolidate.automatic)"
        assert bool(beat(memory, NOW)) is runs
    assert bool(tree(week)) is writes


def test_once_in_an_interval_whoever_asks(week: Notes) -> None:
    with (
        summarised(week, consolidate__automatic="on") as memory,
        summarised(week, consolidate__automatic="on") as other,
    ):
        assert len(beat(memory, NOW)) == 1
        assert beat(memory, NOW + timedelta(minutes=59)) == [] == beat(other, NOW + timedelta(minutes=59))
        assert len(beat(other, NOW + timedelta(minutes=60))) == 1
        assert beat(memory, NOW + timedelta(minutes=119)) == []
        assert len(beat(memory, NOW - timedelta(days=1))) == 1  # the clock was put back


def test_a_memory_without_a_zone_in_its_clock(week: Notes) -> None:
    with summarised(week, consolidate__automatic="on") as memory:
        assert memory.upkeep.automatic(datetime(2026, 6, 1, 9)) is not None
        assert memory.upkeep.automatic(datetime(2026, 6, 1, 9, 30).astimezone()) is None


def test_a_run_that_is_cut_short_is_gone_on_with(week: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_memory.upkeep.schedule._SLICE", 0.05)
    with summarised(week, consolidate__automatic="on") as memory:
        created: list[str] = []
        for hour in range(40):
            (report,) = beat(memory, NOW + timedelta(hours=hour))
            created += report.created
            if report.complete:
                break
            assert "the next run goes on" in memory.upkeep.remark()
        assert sorted(created) == sorted(tree(week)) and len(created) == 10


def test_nothing_is_made_of_an_index_that_is_read_by_half(week: Notes) -> None:
    with summarised(week, consolidate__automatic="on", retention__plan="free") as memory:
        memory.consolidate(now=NOW)
        before = tree(week)
        for path in list(memory.store.documents().by_path):
            assert path.startswith(FOLDER)
        write(week, MONDAY, salt=1)
        real, asked = memory.upkeep._ingest, []

        def half(**options: Any) -> None:
            asked.append(options["deadline"])
            real(**options)

        memory.upkeep._ingest = half
        (report,) = beat(memory, NOW + timedelta(hours=1))
        assert not report.complete and (report.created, report.removed, report.retired) == ((), (), ())
        assert tree(week) == before and "the next run goes on" in memory.upkeep.remark()
        assert len(asked) == 1 and 0 <= asked[0] <= 10  # half of a run's time
        memory.upkeep._ingest = real
        (report,) = beat(memory, NOW + timedelta(hours=2))
        assert report.complete and report.created != ()


def test_one_of_many_threads_that_come_at_once_does_it(week: Notes) -> None:
    reports: list[ConsolidateReport | None] = []
    with summarised(week, consolidate__automatic="on") as memory:
        real, met = memory.upkeep._is_due, threading.Barrier(4)

        def due(now: datetime, last: Any) -> bool:
            found = real(now, last)
            if not met.broken and threading.get_ident() not in seen:
                seen.add(threading.get_ident())
                met.wait(30)  # everybody has looked before anybody notes it
            return found

        seen: set[int] = set()
        memory.upkeep._is_due = due  # type: ignore[method-assign]
        threads = [threading.Thread(target=lambda: reports.append(memory.upkeep.automatic(NOW))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(reports) == 4 and len([report for report in reports if report is not None]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"grain": Grain.WORKING}, "notes are not summaries"), ({"older_than_days": -1}, "must be at least 0, not -1")],
)
def test_what_cannot_be_meant_is_refused(week: Notes, options: dict[str, Any], message: str) -> None:
    with summarised(week) as memory, pytest.raises(RequestError, match=message):
        memory.consolidate(now=NOW, **options)


def test_a_failure_is_a_remark(week: Notes) -> None:
    (week.root / "memory/consolidated").write_text("in the way")
    with summarised(week, consolidate__automatic="on") as memory:
        (report,) = beat(memory, NOW)
        assert report.skipped is not None and "is no folder" in report.skipped and not report.complete
        assert "failed: " in memory.upkeep.remark()
        assert beat(memory, NOW) == []


def test_another_process_at_work_is_a_remark_for_a_heartbeat(week: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_memory.summarise.consolidator._LOCK_TIMEOUT", 0.05)
    with summarised(week, consolidate__automatic="on") as memory:
        with atomic.locked(week.root / FOLDER, root=week.root):
            (report,) = beat(memory, NOW)
        assert report.skipped is not None and "another process has been writing it" in report.skipped
        assert tree(week) == {}


def test_a_heartbeat_without_notes(notes: Notes) -> None:
    with summarised(notes, consolidate__automatic="on") as memory:
        (report,) = beat(memory, NOW)
        assert report.complete and report.created == ()
    assert not (notes.root / "memory").exists()


def test_what_a_report_would_retire_is_listed(week: Notes) -> None:
    with summarised(week, retention__plan="free") as memory:
        (report,) = beat(memory, NOW)
        wanted = memory.consolidate(now=NOW, dry_run=True)
        assert report.retired == wanted.retired and len(report.retired) == 7
        assert "would retire 7" in memory.upkeep.remark()


def test_a_busy_index_does_not_fail_a_run_that_is_in_a_hurry(week: Notes) -> None:
    with summarised(week) as memory:
        calls: list[dict[str, Any]] = []
        real = memory.upkeep._ingest

        def ingest(**options: Any) -> object:
            calls.append(options)
            if len(calls) % 2 == 0:
                raise StoreError("busy")
            return real(**options)

        memory.upkeep._ingest = ingest
        assert len(memory.consolidate(now=NOW, deadline=60).created) == 10
        assert [call.get("embed") for call in calls] == ["lazy", None] and calls[1]["deadline"] == 60
        week.remove("memory/2026-02-16.md")
        with pytest.raises(StoreError, match="busy"):
            memory.consolidate(now=NOW)
        assert f"{FOLDER}/daily/2026-02-16.md" not in tree(week)


def test_threads_of_one_process_take_turns(week: Notes) -> None:
    reports: list[ConsolidateReport] = []
    with summarised(week) as memory:
        threads = [threading.Thread(target=lambda: reports.append(memory.consolidate(now=NOW))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(len(report.created) for report in reports) == [0, 0, 0, 10]
        hits = memory.search("we item", mode="keyword").results
        assert hits
