"""Consolidation from notes to the year's summary, on a simulated clock: what is written, kept, rebuilt and when."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from fakes import Notes
from summarising import (
    BUDGETS,
    FOLDER,
    GRAINS,
    LATER,
    MONDAY,
    check,
    days,
    diary,
    front,
    length,
    names,
    sentences,
    stamps,
    summarised,
    tree,
    week,
    write,
)
from tables import table

from openclaw_memory.model import Grain
from openclaw_memory.text import calendar

# -- the whole way ------------------------------------------------------------------------------------


def test_a_year_becomes_one_summary_of_each_period(notes: Notes) -> None:
    written = {*days(date(2025, 12, 29), date(2026, 12, 28), 7), date(2026, 2, 17), date(2027, 1, 2)}
    for day in sorted(written):
        write(notes, day)
    notes.write("memory/captures/2026-02-17.md", diary(date(2026, 2, 17), salt=5))
    notes.write("memory/agents/scout/2026-02-17-evening.md", diary(date(2026, 2, 17), salt=6))
    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER)
    assert report.complete and report.warning is None
    assert names(notes, "yearly") == ["2025", "2026", "2027"]
    assert names(notes, "quarterly") == ["2025-Q4", "2026-Q1", "2026-Q2", "2026-Q3", "2026-Q4", "2027-Q1"]
    assert names(notes, "monthly") == ["2025-12", *(f"2026-{month:02}" for month in range(1, 13)), "2027-01"]
    assert names(notes, "weekly") == [f"2026-W{week:02}" for week in range(1, 54)]
    assert names(notes, "daily") == sorted(map(str, written))
    assert list(report.created) == [plan.path for plan in report.summaries]
    assert set(report.created) == set(tree(notes))
    sources = front(tree(notes)[f"{FOLDER}/daily/2026-02-17.md"].decode())["sources"]
    assert [source.split()[0] for source in sources] == [
        "memory/2026-02-17.md", "memory/agents/scout/2026-02-17-evening.md", "memory/captures/2026-02-17.md"
    ]  # fmt: skip


def test_every_sentence_is_in_the_lines_it_cites_and_each_grain_is_shorter_than_its_sources(notes: Notes) -> None:
    for day in days(date(2026, 1, 1), date(2026, 4, 30), 5):
        write(notes, day)
    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER)
        plans = {plan.path: plan for plan in report.summaries}
        files = {path: data.decode() for path, data in tree(notes).items()}
        assert set(plans) == set(files)
        for path, text in files.items():
            lines = check(notes.root, text)
            plan, stated = plans[path], front(text)
            assert plan.sentences == len(lines)
            assert plan.tokens == length(text) < plan.source_tokens
            assert plan.tokens <= max(BUDGETS[plan.grain], max(len(line) // 4 + 1 for line in text.splitlines()))
            assert stated["grain"] == plan.grain and str(stated["period"]) == plan.period
            below = [source.split()[0] for source in stated["sources"]]
            assert len(below) == plan.sources
            if plan.grain is not Grain.DAILY:
                assert length(text) < sum(length(files[source]) for source in below)
                finer = {
                    (sentence.text, sentence.path, sentence.first, sentence.last)
                    for source in below
                    for sentence in sentences(files[source])
                }
                assert {(sentence.text, sentence.path, sentence.first, sentence.last) for sentence in lines} <= finer
            first, last = calendar.bounds(plan.grain, plan.period)
            for quote in lines:
                day = date.fromisoformat(Path(quote.path).stem)
                assert first <= day <= last
                assert quote.day in (None, str(day))
                assert plan.grain is not Grain.WEEKLY or quote.heading == str(day)
        # What ingest makes of a summary's sentence is the sentence, of its day.
        hits = memory.search("the", mode="keyword", grains=(Grain.YEARLY,), max_results=50).results
        assert {hit.path for hit in hits} <= {f"{FOLDER}/yearly/2026.md"}


# -- when ---------------------------------------------------------------------------------------------


def test_a_period_is_summarised_when_it_ended_more_than_three_days_ago(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        assert memory.consolidate(now=MONDAY + timedelta(days=3)).created == ()
        memory.consolidate(now=MONDAY + timedelta(days=4))
        assert names(notes, "daily") == [str(MONDAY)]
        memory.consolidate(now=MONDAY + timedelta(days=9))
        assert len(names(notes, "daily")) == 6 and names(notes, "weekly") == []
        memory.consolidate(now=MONDAY + timedelta(days=10))
        assert len(names(notes, "daily")) == 7 and names(notes, "weekly") == ["2026-W08"]
        assert names(notes, "monthly") == []
        memory.consolidate(now=date(2026, 3, 4))
        assert names(notes, "monthly") == []
        memory.consolidate(now=date(2026, 3, 5))  # the last week of February ends on the first of March
        assert names(notes, "monthly") == ["2026-02"]


def test_how_long_ago_is_an_option_and_a_setting(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        assert len(memory.consolidate(now=MONDAY + timedelta(days=2), older_than_days=0, dry_run=True).created) == 2
    with summarised(notes, consolidate__older_than_days=1) as memory:
        assert len(memory.consolidate(now=MONDAY + timedelta(days=2)).created) == 1


@pytest.mark.parametrize(
    ("zone", "hour", "closed"),
    [("UTC", 0, True), ("Pacific/Kiritimati", 0, True), ("America/Los_Angeles", 0, False), ("America/Los_Angeles", 9, True)],
)  # fmt: skip
def test_days_are_those_of_the_time_zone(notes: Notes, zone: str, hour: int, closed: bool) -> None:
    write(notes, MONDAY)
    with summarised(notes, consolidate__time_zone=zone) as memory:
        report = memory.consolidate(now=datetime(2026, 2, 20, hour, tzinfo=UTC))
    assert bool(report.created) is closed


@pytest.mark.parametrize(("day", "above"), table("periods.tsv", "a day and the periods above it"))
def test_a_day_is_told_in_its_own_week_month_quarter_and_year(notes: Notes, day: str, above: str) -> None:
    write(notes, date.fromisoformat(day))
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
    assert [names(notes, grain) for grain in GRAINS] == [[day], *([name] for name in above.split())]


def test_a_week_of_two_months_is_told_in_both_each_its_own_days(notes: Notes) -> None:
    for day in (march := date(2026, 3, 30)), (april := date(2026, 4, 2)):
        write(notes, day)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        assert [names(notes, grain) for grain in ("weekly", "monthly")] == [["2026-W14"], ["2026-03", "2026-04"]]
        for month, mine, other in ("2026-03", march, april), ("2026-04", april, march):
            text = tree(notes)[f"{FOLDER}/monthly/{month}.md"].decode()
            assert f"- {mine}: " in text and f"memory/{mine}.md#L" in text
            assert str(other) not in text
        assert memory.consolidate(now=LATER).created == ()


def test_what_a_person_wrote_into_a_week_is_told_in_the_month_of_its_day(notes: Notes) -> None:
    write(notes, date(2026, 3, 30))
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        week = f"{FOLDER}/weekly/2026-W14.md"
        mine = "\n## 2026-04-01\n- We decided to sell the boat in the harbour\n"
        notes.write(week, tree(notes)[week].decode() + mine)
        memory.consolidate(now=LATER)
        march, april = (tree(notes)[f"{FOLDER}/monthly/{month}.md"].decode() for month in ("2026-03", "2026-04"))
        assert "2026-03-30: " in march and "boat" not in march
        assert (
            f"2026-04-01: We decided to sell the boat in the harbour [{week}#L" in april and "2026-03-30" not in april
        )
        assert memory.consolidate(now=LATER).created == ()


def test_one_grain_alone_reads_as_it_does_among_all(notes: Notes) -> None:
    for day in days(date(2026, 1, 1), date(2026, 4, 30), 9):
        write(notes, day)
    with summarised(notes) as memory:
        only = memory.consolidate(now=LATER, grain=Grain.MONTHLY)
        assert [plan.grain for plan in only.summaries] == [Grain.MONTHLY] * len(only.created)
        alone = tree(notes)
        assert set(alone) == set(only.created) and len(alone) == 4
        memory.consolidate(now=LATER)
    everything = tree(notes)
    assert {path: everything[path] for path in alone} == alone
    assert names(notes, "weekly") and names(notes, "yearly") == ["2026"]


# -- days that need none ------------------------------------------------------------------------------


def test_a_short_day_stands_for_itself(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", "- We sold the blue piano.\n- The harbour is closed.\n")
    write(notes, MONDAY + timedelta(days=1))
    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER)
        assert names(notes, "daily") == ["2026-02-17"]
        assert report.archived == memory.store.documents().by_path["memory/2026-02-17.md"].units
        text = tree(notes)[f"{FOLDER}/weekly/2026-W08.md"].decode()
        assert front(text)["sources"][0].split()[0] == "memory/2026-02-16.md"
        assert front(text)["sources"][1] == f"{FOLDER}/daily/2026-02-17.md"
        check(notes.root, text)
        write(notes, MONDAY)  # it has grown
        memory.consolidate(now=LATER)
        assert names(notes, "daily") == ["2026-02-16", "2026-02-17"]
        notes.write("memory/2026-02-16.md", "- We sold the blue piano.\n")
        report = memory.consolidate(now=LATER)
        assert report.removed == (f"{FOLDER}/daily/2026-02-16.md",)
        assert names(notes, "daily") == ["2026-02-17"]


def test_a_day_that_cannot_be_shortened_stands_for_itself(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", "- We sold the blue piano to " + "a very, " * 60 + "old friend\n")
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        assert names(notes, "daily") == []
        lines = sentences(tree(notes)[f"{FOLDER}/weekly/2026-W08.md"].decode())
        assert [sentence.path for sentence in lines] == ["memory/2026-02-16.md"]
        before = stamps(notes)
        assert memory.consolidate(now=LATER).created == ()
        assert stamps(notes) == before


def test_a_day_that_says_nothing_has_no_summary_and_is_not_tried_again(notes: Notes) -> None:
    code = "```\n" + "x = 1\n" * 200 + "```\n"
    for day in days(MONDAY, MONDAY + timedelta(days=13)):
        notes.write(f"memory/{day}.md", code)
    notes.write("memory/2026-02-10.md", diary(date(2026, 2, 10)))
    with summarised(notes) as memory:
        first = memory.consolidate(now=LATER)
        assert first.complete and first.warning is None
        assert names(notes, "daily") == ["2026-02-10"] and names(notes, "weekly") == ["2026-W07"]
        seen: list[tuple[str, int, int]] = []
        again = memory.consolidate(now=LATER, progress=lambda *step: seen.append(step))
        assert again.created == () and not [step for step in seen if step[0] == "consolidated"]


def test_a_summary_whose_notes_say_nothing_any_more_goes(notes: Notes) -> None:
    week(notes, count=2)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        assert names(notes, "yearly") == ["2026"]
        for day in days(MONDAY, MONDAY + timedelta(days=1)):
            notes.write(f"memory/{day}.md", "```\n" + "x = 1\n" * 200 + "```\n")
        report = memory.consolidate(now=LATER)
        assert tree(notes) == {}
        assert len(report.removed) == 6 and report.created == ()


# -- what changes -------------------------------------------------------------------------------------


def test_a_changed_note_has_its_summaries_rebuilt_and_no_other(notes: Notes) -> None:
    for day in (*days(date(2026, 1, 5), date(2026, 4, 26), 9), MONDAY, MONDAY + timedelta(days=1)):
        write(notes, day)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        before = stamps(notes)
        write(notes, MONDAY, salt=3)
        report = memory.consolidate(now=LATER)
        after = stamps(notes)
    touched = {
        f"{FOLDER}/{name}.md"
        for name in ("daily/2026-02-16", "weekly/2026-W08", "monthly/2026-02", "quarterly/2026-Q1", "yearly/2026")
    }
    assert {path for path in after if after[path] != before.get(path)} == touched == set(report.created)
    assert set(report.rebuilt) == touched and set(after) == set(before)
    check(notes.root, tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())


def test_a_deleted_note_goes_from_all_summaries(notes: Notes) -> None:
    week(notes, count=3)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        notes.remove("memory/2026-02-17.md")
        report = memory.consolidate(now=LATER)
        assert report.removed == (f"{FOLDER}/daily/2026-02-17.md",)
        assert not [path for path, text in tree(notes).items() if b"2026-02-17" in text]
        for day in (MONDAY, MONDAY + timedelta(days=2)):
            notes.remove(f"memory/{day}.md")
        memory.consolidate(now=LATER)
    assert tree(notes) == {}


def test_a_touch_rebuilds_nothing_and_other_settings_what_they_concern(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        before = stamps(notes)
        for day in days(MONDAY, MONDAY + timedelta(days=6)):
            notes.touch(f"memory/{day}.md")
        assert memory.consolidate(now=LATER).created == () and stamps(notes) == before
    with summarised(notes, consolidate__budgets={**BUDGETS, "yearly": 400}) as memory:
        report = memory.consolidate(now=LATER)
    assert report.created == (f"{FOLDER}/yearly/2026.md",)
    with summarised(notes, consolidate__budgets={**BUDGETS, "yearly": 400}, redaction__allow=["letmein"]) as memory:
        memory.consolidate(now=LATER)
    assert all(stamp != before[path] for path, stamp in stamps(notes).items())


def test_summaries_that_somebody_deleted_come_back(notes: Notes) -> None:
    for day in days(date(2026, 1, 5), date(2026, 3, 29), 6):
        write(notes, day)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        before = tree(notes)
        for grain in ("daily", "monthly"):
            shutil.rmtree(notes.root / FOLDER / grain)
        memory.consolidate(now=LATER)
        assert tree(notes) == before
        shutil.rmtree(notes.root / FOLDER)
        memory.consolidate(now=LATER)
    assert tree(notes) == before


# -- what people write --------------------------------------------------------------------------------


def test_an_edited_summary_is_kept_named_and_used_as_it_stands(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        path = notes.root / FOLDER / "weekly/2026-W08.md"
        mine = path.read_text().split("\n## ")[0] + "\n\n## 2026-02-18\n- The zeppelin was decided and shipped.\n"
        notes.write(f"{FOLDER}/weekly/2026-W08.md", mine)
        report = memory.consolidate(now=LATER)
        assert report.kept == (f"{FOLDER}/weekly/2026-W08.md",)
        assert path.read_text() == mine
        for name in ("monthly/2026-02", "quarterly/2026-Q1", "yearly/2026"):
            text = tree(notes)[f"{FOLDER}/{name}.md"].decode()
            lines = sentences(text)
            assert [(sentence.text, sentence.day, sentence.path) for sentence in lines] == [
                ("The zeppelin was decided and shipped.", "2026-02-18", f"{FOLDER}/weekly/2026-W08.md")
            ]
            check(notes.root, text)
        write(notes, MONDAY, salt=1)  # below the edited one: nothing above it changes
        before = stamps(notes)
        report = memory.consolidate(now=LATER)
        assert report.created == (f"{FOLDER}/daily/2026-02-16.md",)
        assert {p: s for p, s in stamps(notes).items() if "/daily/" not in p} == {
            p: s for p, s in before.items() if "/daily/" not in p
        }
        notes.remove(f"{FOLDER}/weekly/2026-W08.md")  # theirs no more: ours again
        report = memory.consolidate(now=LATER)
        assert report.kept == ()
        check(notes.root, tree(notes)[f"{FOLDER}/weekly/2026-W08.md"].decode())


def test_an_edited_summary_outlives_its_notes_and_counts_for_coarser_ones(notes: Notes) -> None:
    week(notes)
    with summarised(notes) as memory:
        memory.consolidate(now=LATER)
        mine = tree(notes)[f"{FOLDER}/weekly/2026-W08.md"].decode() + "- The zeppelin was decided and shipped.\n"
        notes.write(f"{FOLDER}/weekly/2026-W08.md", mine)
        for day in days(MONDAY, MONDAY + timedelta(days=6)):
            notes.remove(f"memory/{day}.md")
        report = memory.consolidate(now=LATER)
        assert report.kept == (f"{FOLDER}/weekly/2026-W08.md",)
        assert [names(notes, grain) for grain in GRAINS] == [[], ["2026-W08"], ["2026-02"], ["2026-Q1"], ["2026"]]
        assert memory.consolidate(now=LATER).created == ()


def test_a_file_of_a_person_among_the_summaries_is_never_touched(notes: Notes) -> None:
    theirs = {
        f"{FOLDER}/weekly/2026-W08.md": "# My week\n\n- We flew the zeppelin.\n",
        f"{FOLDER}/weekly/plans.md": "# Plans\n\n- Fly the zeppelin.\n",
        f"{FOLDER}/2026-02-16.md": diary(MONDAY, 1),
        f"{FOLDER}/letters/2026-02-16.md": diary(MONDAY, 2),
        f"{FOLDER}/working/2026-02-16.md": diary(MONDAY, 3),
        f"{FOLDER}/daily/old/2026-02-16.md": diary(MONDAY, 4),
        f"{FOLDER}/daily/2026-02-30.md": diary(MONDAY, 5),
        f"{FOLDER}/notes.txt": "mine",
    }
    for path, text in theirs.items():
        notes.write(path, text)
    before = stamps(notes)
    week(notes)
    week(notes, MONDAY + timedelta(days=7))
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=MONDAY + timedelta(days=20))
        report = memory.consolidate(now=MONDAY + timedelta(days=20))
        assert f"{FOLDER}/weekly/2026-W08.md" in report.kept
        lines = sentences(tree(notes)[f"{FOLDER}/daily/2026-02-16.md"].decode())
        assert {sentence.path for sentence in lines} == {"memory/2026-02-16.md"}
        assert {path: stamps(notes)[path] for path in theirs} == before
        for year in range(2027, 2032):
            memory.consolidate(now=date(year, 1, 1))
        left = tree(notes)
    # What a person wrote does not stand for the days of its week, so these stay; those of the next one are gone.
    assert set(left) == set(theirs) | {f"{FOLDER}/daily/{day}.md" for day in days(MONDAY, MONDAY + timedelta(days=6))}
    assert {path: stamps(notes)[path] for path in theirs} == before


def test_a_person_who_edits_while_it_runs_is_not_overwritten(notes: Notes) -> None:
    week(notes)
    path = f"{FOLDER}/weekly/2026-W08.md"
    mine = "# Mine\n\n- The zeppelin.\n"

    def edit(stage: str, done: int, total: int) -> None:
        if stage == "consolidated":
            (notes.root / path).parent.mkdir(parents=True, exist_ok=True)
            (notes.root / path).write_text(mine)

    with summarised(notes) as memory:
        report = memory.consolidate(now=LATER, progress=edit)
        assert report.kept == (path,) and path not in report.created
        assert (notes.root / path).read_text() == mine
        memory.consolidate(now=LATER)
        lines = sentences(tree(notes)[f"{FOLDER}/monthly/2026-02.md"].decode())
    assert [sentence.text for sentence in lines] == ["The zeppelin."]
