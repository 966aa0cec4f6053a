"""Search over several grains: notes that a summary covers, sentences that stand once, and where they came from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run_command
from fakes import CountingEmbedder, Notes, ingested, open_memory
from grains import sha256, write_summary
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory import Memory
from openclaw_memory.index.archive import Archive
from openclaw_memory.index.corpus import Corpus
from openclaw_memory.model import Grain

MONDAY, TUESDAY, FRIDAY = "memory/2026-02-16.md", "memory/2026-02-17.md", "memory/2026-02-20.md"
DAILY = "memory/consolidated/daily/2026-02-16.md"
WEEKLY = "memory/consolidated/weekly/2026-W08.md"
FIXED, LIVES = "Zorblatt fixed the pump with Marlowe", "JR lives in Delft"
SOLD, BROKE = "Zorblatt sold the ladder", "the pump of Zorblatt broke again"

MONTHLY = "memory/consolidated/monthly/2026-02.md"


def fill(notes: Notes) -> None:
    """A long Monday that has a summary, a short Tuesday, their week, and a Friday that is too young."""
    notes.write("MEMORY.md", "- the key hangs in the hall\n")
    notes.write(MONDAY, f"# Monday\n\n- {FIXED}\n- {LIVES}\n- tea with Marlowe was nice\n")
    notes.write(TUESDAY, f"# Tuesday\n\n- {SOLD}\n")
    notes.write(FRIDAY, f"# Friday\n\n- {BROKE}\n")
    write_daily(notes)
    write_summary(
        notes,
        "weekly",
        "2026-W08",
        f"# 2026-W08\n\n## 2026-02-16\n- {FIXED} [{MONDAY}#L3]\n\n## 2026-02-17\n- {SOLD} [{TUESDAY}#L3]\n",
        [DAILY, TUESDAY],
        "2026-02-17",
    )
    write_summary(
        notes,
        "monthly",
        "2026-02",
        f"# 2026-02\n\n## Milestones\n- 2026-02-16: {FIXED} [{MONDAY}#L3]\n- 2026-02-17: {SOLD} [{TUESDAY}#L3]\n",
        [WEEKLY],
        "2026-02-17",
    )


def write_daily(notes: Notes, **options: Any) -> None:
    body = f"# 2026-02-16\n\n## Notes\nTags: #pump\n\n- {FIXED} [{MONDAY}#L3]\n- {LIVES} [{MONDAY}#L4]\n"
    write_summary(notes, "daily", "2026-02-16", body, [MONDAY], "2026-02-16", **options)


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    fill(notes)
    with ingested(notes, CountingEmbedder()) as memory:
        yield memory


def citations(memory: Memory, query: str = "Zorblatt pump", **options: Any) -> list[str]:
    """Citations of the hits, each of one unit."""
    return [hit.citation for hit in memory.search(query, max_results=50, **options).results]


def lines(memory: Memory, query: str, **options: Any) -> list[str]:
    """Every line that the hits show, without headings."""
    return [
        line
        for hit in memory.search(query, max_results=50, **options).results
        for line in hit.snippet.split("\n")
        if line.startswith("-")
    ]


# -- what is found ------------------------------------------------------------------------------------


def test_a_summary_stands_for_its_note_and_shows_where_it_is_from(memory: Memory) -> None:
    shown = lines(memory, "who fixed the pump")
    assert shown[0] == f"- {FIXED} [{MONDAY}#L3]"
    assert sum(FIXED in line for line in shown) == 1
    assert not any("tea" in line for line in shown)
    result = memory.search("who fixed the pump").results
    assert result[0].path == DAILY and result[0].grain is Grain.DAILY and str(result[0].date) == "2026-02-16"
    assert not any(hit.archived for hit in result)
    cited = result[0].snippet.partition("[")[2].partition("]")[0]
    assert FIXED in memory.get(cited).text


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector", "graph"])
@pytest.mark.parametrize("how", [{"max_results": 50}, {"budget": 1000}])
def test_each_sentence_stands_once(memory: Memory, mode: str, how: dict[str, int]) -> None:
    shown = Counter(
        line.removeprefix("- ").partition(" [")[0]
        for hit in memory.search("Zorblatt pump ladder Delft", mode=mode, **how).results
        for line in hit.snippet.split("\n")
        if line.startswith("- ")
    )
    assert shown and set(shown.values()) == {1}
    assert set(shown) <= {FIXED, LIVES, SOLD, BROKE, "the key hangs in the hall"}
    if mode != "graph":
        assert FIXED in shown and SOLD in shown


def test_summaries_that_come_change_and_go_are_told_apart_as_if_all_were_read_at_once(notes: Notes) -> None:
    fill(notes)
    with open_memory(notes) as memory:
        corpus, kept = Corpus(), Archive()

        def same() -> None:
            memory.ingest()
            corpus.refresh(memory.store)
            kept.refresh(memory.store, corpus)
            anew = Archive()
            anew.refresh(memory.store, corpus)
            for mask in ("archived", "hidden", "copies", "shown"):
                masks = [
                    None if archive.masks is None else getattr(archive.masks, mask).tolist() for archive in (kept, anew)
                ]
                assert masks[0] == masks[1]
            pairs = [
                sorted(zip(*(rows.tolist() for rows in archive.originals()), strict=True)) for archive in (kept, anew)
            ]
            assert pairs[0] == pairs[1]

        same()
        notes.write(FRIDAY, f"# Friday\n\n- {BROKE}\n- {FIXED}\n")
        same()
        write_summary(
            notes, "daily", "2026-02-17", f"# 2026-02-17\n\n- {SOLD} [{TUESDAY}#L3]\n", [TUESDAY], "2026-02-17"
        )
        same()
        (notes.root / WEEKLY).write_text((notes.root / WEEKLY).read_text() + f"- {LIVES} [{MONDAY}#L4]\n")
        same()
        notes.remove(DAILY)
        same()
        for path in (notes.root / "memory/consolidated").rglob("*.md"):
            path.unlink()
        same()
        assert kept.masks is None
        write_daily(notes)
        same()
        assert kept.masks is not None and kept.masks.archived.any()


def test_archived_notes_come_behind_their_summary_when_they_are_asked_for(memory: Memory) -> None:
    for options in ({"mode": "hybrid"}, {"mode": "keyword"}, {"mode": "vector"}, {"fusion": "rrf"}):
        hits = memory.search("fixed the pump with Marlowe", include_archived=True, max_results=50, **options).results
        order = [hit.path for hit in hits]
        assert order.index(DAILY) < order.index(MONDAY)
        assert {hit.path: hit.archived for hit in hits}[MONDAY] and not hits[order.index(DAILY)].archived
    # What the summary left out is not behind anything.
    assert memory.search("tea was nice", include_archived=True).results[0].path == MONDAY


@pytest.mark.parametrize("how", [{"mode": "hybrid"}, {"mode": "keyword"}, {"mode": "vector"}, {"budget": 1000}])
def test_what_a_summary_left_out_is_found_where_nothing_else_answers(memory: Memory, how: dict[str, Any]) -> None:
    first = memory.search("tea was nice", **how).results[0]
    assert first.path == MONDAY and first.archived and "tea with Marlowe was nice" in first.snippet
    # With a budget each line is paid for once, whether its note or its summary says it.
    if "budget" in how:
        shown = "\n".join(hit.snippet for hit in memory.search("tea was nice", **how).results)
        assert shown.count(FIXED) == shown.count(LIVES) == 1
    # A question that the summary answers, and one for a grain, get nothing of the note.
    answered = {key: value for key, value in how.items() if key != "budget"}
    assert MONDAY not in [hit.path for hit in memory.search("who fixed the pump", **answered).results]
    assert MONDAY not in [hit.path for hit in memory.search("tea was nice", grains=(Grain.DAILY,), **how).results]


def test_a_grain_is_shown_as_it_is(memory: Memory) -> None:
    assert {hit.grain for hit in memory.search("pump ladder", grains=(Grain.WEEKLY,)).results} == {Grain.WEEKLY}
    assert {FIXED, SOLD} == {
        line[2:].partition(" [")[0] for line in lines(memory, "pump ladder", grains=(Grain.WEEKLY,))
    }
    assert lines(memory, "pump", grains=(Grain.MONTHLY,))[0] == f"- 2026-02-16: {FIXED} [{MONDAY}#L3]"
    working = memory.search("pump tea", grains=(Grain.WORKING,)).results
    assert {hit.path: hit.archived for hit in working}[MONDAY]
    hits = memory.search("fixed pump Marlowe", grains=(Grain.WORKING, Grain.DAILY), max_results=20).results
    assert [hit.path for hit in hits][:2] == [DAILY, MONDAY]
    assert memory.search("pump", grains=(Grain.YEARLY,)).results == ()


def told_sentences(memory: Memory, query: str, **options: Any) -> set[str]:
    """What is said of the sentences of the notes."""
    shown = lines(memory, query, now=date(2026, 2, 28), **options)
    return {sentence for sentence in (FIXED, LIVES, SOLD, BROKE) for line in shown if sentence in line}


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_what_was_done_in_a_week_is_what_its_summary_says(memory: Memory, mode: str) -> None:
    for query in ("what happened last week?", "was war letzte Woche los?", "总结一下上周"):
        assert told_sentences(memory, query, mode=mode) == {FIXED, SOLD, BROKE}  # the last was noted after the summary
    assert LIVES in told_sentences(memory, "what happened last week?", mode=mode, include_archived=True)
    assert told_sentences(memory, "what happened on 2026-02-16?", mode=mode) >= {FIXED, LIVES}
    given = memory.context("what happened last week?", now=date(2026, 2, 28)).text
    assert FIXED in given and SOLD in given and LIVES not in given


def test_a_note_that_changes_stands_for_itself_again(memory: Memory, notes: Notes) -> None:
    notes.write(MONDAY, f"# Monday\n\n- {FIXED}\n- {LIVES}\n- tea with Marlowe was terrible\n")
    shown = lines(memory, "tea pump Delft", mode="keyword")
    assert "- tea with Marlowe was terrible" in shown and f"- {FIXED}" in shown
    assert sum(FIXED in line for line in shown) == 1 and sum(LIVES in line for line in shown) == 1
    write_daily(notes)
    assert f"- {FIXED} [{MONDAY}#L3]" in lines(memory, "pump", mode="keyword")


def test_a_coarser_summary_shows_what_has_no_finer_form_any_more(memory: Memory, notes: Notes) -> None:
    for gone, path, prefix in (
        ((MONDAY, TUESDAY), DAILY, "- "),
        ((DAILY,), WEEKLY, "- "),
        ((WEEKLY,), MONTHLY, "- 2026-02-16: "),
    ):
        for name in gone:
            notes.remove(name)
        (hit,) = [hit for hit in memory.search("fixed the pump", max_results=50).results if FIXED in hit.snippet]
        assert hit.path == path and f"{prefix}{FIXED} [{MONDAY}#L3]" in hit.snippet
        assert str(hit.date) == "2026-02-16"


def test_what_a_person_wrote_into_a_summary_is_found(memory: Memory, notes: Notes) -> None:
    body = (
        f"# 2026-W08\n\n## 2026-02-16\nTags: #pump\n\n- {FIXED} [{MONDAY}#L3]\n- Zorblatt mended the boiler "
        f"[{MONDAY}#L4]\n\n## 2026-02-17\n- {SOLD} [{TUESDAY}#L3]\n- Zorblatt sold a boiler [{TUESDAY}#L3]\n- a boiler of mine\n"
    )
    write_summary(notes, "weekly", "2026-W08", body, [DAILY, TUESDAY], "2026-02-17", edited=True)
    shown = lines(memory, "boiler Zorblatt ladder pump", mode="keyword")
    assert f"- Zorblatt mended the boiler [{MONDAY}#L4]" in shown
    assert f"- Zorblatt sold a boiler [{TUESDAY}#L3]" in shown and "- a boiler of mine" in shown
    assert sum(FIXED in line for line in shown) == 1 and sum(SOLD in line for line in shown) == 1
    # A coarser summary that cites the line is a copy of it, as long as it is there.
    write_summary(
        notes, "monthly", "2026-02",
        f"# 2026-02\n\n## Other\n- 2026-02-17: a boiler of mine [{WEEKLY}#L24]\n", [WEEKLY], "2026-02-17",
    )  # fmt: skip
    assert sum("boiler of mine" in line for line in lines(memory, "boiler of mine", mode="keyword")) == 1


def test_headings_and_tags_of_a_summary_are_no_answer_by_themselves(memory: Memory) -> None:
    hits = memory.search("#pump Tags", max_results=50, mode="keyword").results
    assert not [hit for hit in hits if hit.start_line == hit.end_line and "Tags" in hit.snippet]
    assert not [hit for hit in memory.search("2026-W08", max_results=50).results if hit.path == WEEKLY]


def test_a_listing_shows_the_finest_that_there_is(memory: Memory) -> None:
    shown = [hit.path for hit in memory.timeline(max_results=50).results]
    assert shown == [DAILY, TUESDAY, FRIDAY, "MEMORY.md"]
    assert MONDAY in [hit.path for hit in memory.timeline(max_results=50, include_archived=True).results]
    assert [hit.path for hit in memory.timeline(grains=(Grain.MONTHLY,)).results] == [MONTHLY, MONTHLY]
    assert [str(hit.date) for hit in memory.timeline(grains=(Grain.MONTHLY,)).results] == ["2026-02-16", "2026-02-17"]
    assert MONDAY in [hit.path for hit in memory.timeline(grains=(Grain.WORKING,), since=date(2026, 2, 1)).results]


def test_a_budget_counts_lines_as_they_are_shown(memory: Memory) -> None:
    for budget in (10, 20, 40, 80):
        for options in ({}, {"grains": (Grain.MONTHLY,)}, {"grains": (Grain.DAILY,)}):
            shown = memory.search("Zorblatt pump Delft", budget=budget, **options).results
            assert sum(len(hit.snippet) + 1 for hit in shown) / 4 <= budget


def test_context_says_each_sentence_once_and_in_plain_words(memory: Memory) -> None:
    text = memory.context("What do you know about Zorblatt and Marlowe and the pump?", budget=400).text
    assert text.count(FIXED) == 1 and "#L" not in text and "tea" not in text


def test_grains_are_counted(memory: Memory, notes: Notes) -> None:
    def grain_counts() -> dict[Grain, tuple[int, int, int, int]]:
        return {
            counts.grain: (counts.files, counts.units, counts.archived, counts.hidden)
            for counts in memory._questions.grains()
        }

    before = grain_counts()
    assert before == {
        Grain.WORKING: (4, 9, 4, 0), Grain.DAILY: (1, 5, 0, 1), Grain.WEEKLY: (1, 5, 0, 5), Grain.MONTHLY: (1, 4, 0, 4),
    }  # fmt: skip
    memory.search("pump")
    assert grain_counts() == before
    (working, *_) = memory._questions.grains()
    assert str(working.first) == "2026-02-16" and str(working.last) == "2026-02-20"
    assert working.bytes == sum((notes.root / name).stat().st_size for name in ("MEMORY.md", MONDAY, TUESDAY, FRIDAY))


# -- who may stand for what ---------------------------------------------------------------------------


@pytest.mark.parametrize("period", ["2026-02-17", "extra", "2026-02-16-extra"])
def test_only_the_summary_of_its_day_stands_for_a_note(notes: Notes, period: str) -> None:
    notes.write("MEMORY.md", "- the key hangs in the hall\n")
    notes.write(MONDAY, f"# Monday\n\n- {FIXED}\n")
    notes.write("memory/pumps.md", "- pumps leak\n")
    sources = ["MEMORY.md", MONDAY, "memory/pumps.md"]
    write_summary(notes, "daily", period, "# Elsewhere\n\n- unrelated words\n", sources, "2026-02-17")
    with open_memory(notes) as memory:
        for query, path in (("fixed the pump", MONDAY), ("key in the hall", "MEMORY.md"), ("leak", "memory/pumps.md")):
            hit = memory.search(query, mode="keyword").results[0]
            assert hit.path == path and not hit.archived


@pytest.mark.parametrize("name", ["USER.md", "memory/consolidated/2026-02-16.md"])
def test_a_summary_stands_for_notes_of_days_alone(notes: Notes, name: str) -> None:
    notes.write(name, f"# Monday\n\n- {FIXED}\n")
    path = write_summary(notes, "daily", "2026-02-16", "# Elsewhere\n\n- unrelated words\n", [], "2026-02-16")
    text = (notes.root / path).read_text()
    notes.write(path, text.replace("sources:\n", f"sources:\n  - {name} {sha256(notes, name)}\n"))
    with open_memory(notes) as memory:
        assert memory.search("fixed the pump", mode="keyword").results[0].path == name


@pytest.mark.parametrize("edited", [False, True])
def test_a_stranger_stands_for_no_better_trusted_note(notes: Notes, edited: bool) -> None:
    notes.write(MONDAY, f"# Monday\n\n- {FIXED}\n")
    write_daily(notes, origin="untrusted", edited=edited)
    with open_memory(notes) as memory:
        assert not {h.path: h.archived for h in memory.search("fixed the pump", mode="keyword").results}[MONDAY]
        notes.write(MONDAY, f"---\norigin: untrusted\n---\n# Monday\n\n- {FIXED}\n")
        write_daily(notes, origin="untrusted", edited=edited)
        assert {h.path: h.archived for h in memory.search("fixed the pump", mode="keyword").results}[MONDAY]


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize(("words", "origin"), [("unrelated words", "agent"), (FIXED, "untrusted")])
def test_only_the_same_sentence_of_a_trusted_hand_hides_another(
    memory: Memory, notes: Notes, words: str, origin: str, edited: bool
) -> None:
    for name in (MONDAY, DAILY, WEEKLY):
        notes.remove(name)
    body = f"# 2026-02-17\n\n- {words} [{MONDAY}#L3]\n"
    write_summary(notes, "daily", "2026-02-17", body, [], "2026-02-17", origin=origin, edited=edited)
    assert f"- 2026-02-16: {FIXED} [{MONDAY}#L3]" in lines(memory, "fixed the pump", mode="keyword")


# -- what follows from it -----------------------------------------------------------------------------


def without_summaries(memory: Memory, notes: Notes) -> None:
    for name in (DAILY, WEEKLY, MONTHLY):
        notes.remove(name)
    memory.ingest()


def test_what_is_said_again_makes_no_concept_and_counts_for_none(memory: Memory, notes: Notes) -> None:
    def concepts() -> dict[str, tuple[int, tuple[str, ...]]]:
        return {row.slug: (row.units, row.related) for row in memory.concepts.list().rows}

    consolidated = concepts()
    with memory._questions.graph() as view:
        place = view.concept("Zorblatt")
        assert len(view.index.rows_of([place])) > view.index.references.units[place] == 3
        rarity = float(view.index.rarity[place])
    without_summaries(memory, notes)
    assert concepts() == consolidated
    with memory._questions.graph() as view:
        assert float(view.index.rarity[view.concept("Zorblatt")]) == pytest.approx(rarity)


def test_threads_lead_over_what_is_shown(memory: Memory) -> None:
    hits = memory.recall("who fixed the pump with Marlowe", max_results=20).results
    shown = {hit.path for hit in hits if not hit.archived}
    assert shown <= {"MEMORY.md", DAILY, TUESDAY, FRIDAY} and DAILY in shown
    # What the summary left out is told too, and is said to be archived.
    assert {hit.path for hit in hits if hit.archived} <= {MONDAY}
    assert not any(WEEKLY in edge.source for hit in hits for edge in hit.via)
    follows = {(e.source, e.target) for hit in hits for e in hit.via if e.kind == "follows"}
    assert (f"{TUESDAY}#L3", f"{DAILY}#L17") in follows


def test_a_thread_leads_from_a_summary_to_what_it_was_taken_from(memory: Memory) -> None:
    hits = memory.recall("Delft", max_results=20, include_archived=True, mode="keyword").results
    edges = {edge for hit in hits for edge in hit.via if edge.kind == "derived_from"}
    assert {(e.source.partition("#")[0], e.target.partition("#")[0], e.weight) for e in edges} == {(DAILY, MONDAY, 1.0)}
    (edge,) = edges
    assert edge.text == f"{edge.source} summarises {edge.target}"
    assert {hit.path: hit.archived for hit in hits}[MONDAY]
    assert MONDAY not in {hit.path for hit in memory.recall("Delft", max_results=20, mode="keyword").results}


def test_edges_tell_what_each_sentence_was_taken_from(memory: Memory, notes: Notes, tmp_path: Path) -> None:
    query = (
        "SELECT e.source, e.target, m.citation AS there, e.weight, e.curated, e.via, s.text FROM edges e "
        "JOIN memories s ON s.id = e.source_id LEFT JOIN memories m ON m.id = e.target_id "
        "WHERE e.kind = 'derived_from' AND e.target LIKE '%02-16%' ORDER BY ALL"
    )
    rows = memory.sql(query).rows
    assert [(row[0].partition("#")[0], row[1]) for row in rows] == [
        (DAILY, f"{MONDAY}#L3"), (DAILY, f"{MONDAY}#L4"), (MONTHLY, f"{MONDAY}#L3"), (WEEKLY, f"{MONDAY}#L3"),
    ]  # fmt: skip
    assert all(row[2] == row[1] and row[3:6] == (1.0, False, None) for row in rows)
    assert rows[0][6] == f"- {FIXED} [{MONDAY}#L3]"
    memory.export(tmp_path / "out")
    there = memory.sql("SELECT count(*) FROM edges WHERE kind = 'derived_from'").rows[0][0]
    import duckdb

    exported = f"SELECT count(*) FROM '{tmp_path / 'out' / 'edges.parquet'}' WHERE kind = 'derived_from'"
    assert duckdb.sql(exported).fetchone() == (there,) == (6,)
    notes.remove(MONDAY)
    assert next((row[1], row[2]) for row in memory.sql(query).rows) == (f"{MONDAY}#L3", None)


@pytest.mark.parametrize("apart", [" ", "\n"])
def test_a_sentence_that_was_cut_into_units_is_taken_from_all_of_them(
    notes: Notes, apart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        f"Zorblatt said about the {thing} that it had to be mended soon." for thing in ("pump", "ladder", "boiler")
    ]
    notes.write(MONDAY, f"# Monday\n\n{apart.join(texts)}\n")
    cited = f"{MONDAY}#L3" if apart == " " else f"{MONDAY}#L3-L5"
    body = f"# 2026-02-16\n\n## Notes\n- {' '.join(texts)} [{cited}]\n"
    write_summary(notes, "daily", "2026-02-16", body, [MONDAY], "2026-02-16")
    monkeypatch.setattr("openclaw_memory.ingest.notes.UNIT_TOKENS", 10)
    with open_memory(notes) as memory:
        query = "SELECT m.text FROM edges e JOIN memories m ON m.id = e.target_id WHERE e.kind = 'derived_from'"
        assert sorted(text for (text,) in memory.sql(query).rows) == sorted(texts)
        for thing in ("pump", "ladder", "boiler"):
            hits = memory.search(
                f"what had Zorblatt said about the {thing}", include_archived=True, mode="keyword"
            ).results
            assert hits[0].path == DAILY and MONDAY in [hit.path for hit in hits]


# -- facts ----------------------------------------------------------------------------------------------


def facts(memory: Memory) -> list[tuple[Any, ...]]:
    rows = memory.facts.query(history=True).rows
    return sorted(
        (row.subject, row.predicate, row.object, str(row.valid_from), row.source, row.id, row.current) for row in rows
    )


def test_a_fact_stays_as_it_is_whatever_becomes_of_its_note(memory: Memory, notes: Notes) -> None:
    consolidated = facts(memory)
    assert [(row[0], row[2], row[3], row[4]) for row in consolidated] == [("JR", "Delft", "2026-02-16", f"{MONDAY}#L4")]
    notes.remove(MONDAY)  # as when it is retired from the index
    assert facts(memory) == consolidated
    without_summaries(memory, notes)
    assert facts(memory) == []
    notes.write(MONDAY, f"# Monday\n\n- {FIXED}\n- {LIVES}\n- tea with Marlowe was nice\n")
    assert facts(memory) == consolidated


def test_a_summary_of_what_no_longer_holds_is_put_behind_too(memory: Memory, notes: Notes) -> None:
    notes.write(FRIDAY, "# Friday\n\n- JR lives in Utrecht\n")
    hits = memory.search("where does JR lives in Delft", max_results=10).results
    daily = next(hit for hit in hits if hit.path == DAILY)
    assert daily.superseded == (f"lives in of JR: now Utrecht (since 2026-02-20, {FRIDAY}#L3)",)
    assert [hit.path for hit in hits].index(FRIDAY) < [hit.path for hit in hits].index(DAILY)
    rows = facts(memory)
    assert [(row[2], row[3], row[6]) for row in rows] == [
        ("Delft", "2026-02-16", False),
        ("Utrecht", "2026-02-20", True),
    ]


def test_a_stated_fact_marks_the_summaries_of_its_source_when_it_ends(memory: Memory, notes: Notes) -> None:
    memory.facts.add("Zorblatt", "works with", "Marlowe", source=f"{MONDAY}#L3")
    (row,) = [row for row in memory.facts.query(subject="Zorblatt").rows if row.rule == "stated"]
    memory.facts.remove(row.id)
    daily = next(hit for hit in memory.search("fixed the pump", max_results=10).results if hit.path == DAILY)
    assert any("no longer Marlowe" in words for words in daily.superseded)
    notes.remove(MONDAY)
    daily = next(hit for hit in memory.search("fixed the pump", max_results=10).results if hit.path == DAILY)
    assert any("no longer Marlowe" in words for words in daily.superseded)


def test_what_a_person_corrects_in_a_summary_is_known(memory: Memory, notes: Notes) -> None:
    body = f"# 2026-02-16\n\n## Notes\n- {FIXED} [{MONDAY}#L3]\n- JR lives in Rotterdam [{MONDAY}#L4]\n"
    write_summary(notes, "daily", "2026-02-16", body, [MONDAY], "2026-02-16", edited=True)
    current = [(row.object, row.source) for row in memory.facts.query(subject="JR").rows]
    assert current == [("Rotterdam", f"{DAILY}#L16")]


# -- each sentence once, whatever there is -----------------------------------------------------------------

GRAINS = ("daily", "weekly", "monthly")


@examples(25)
@given(data=st.data())
def test_every_sentence_that_is_in_the_index_is_shown_exactly_once(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    notes = Notes(tmp_path_factory.mktemp("any") / "workspace")
    days = [f"2026-02-{n:02}" for n in range(16, 16 + data.draw(st.integers(1, 3)))]
    day_texts = [(day, f"word{day[-2:]}{n} of that day") for day in days for n in range(data.draw(st.integers(1, 3)))]
    place = {
        text: f"memory/{day}.md#L{[other for d, other in day_texts if d == day].index(text) + 1}"
        for day, text in day_texts
    }
    for day in days:
        notes.write(f"memory/{day}.md", "".join(f"- {text}\n" for d, text in day_texts if d == day))
    below, present_days = {text for _, text in day_texts}, set(days)
    kept = {"working": set(days)}
    for grain in GRAINS:
        chosen = sorted(data.draw(st.sets(st.sampled_from(sorted(below)), min_size=1)))
        groups = {text: next(day for day, other in day_texts if other == text) for text in chosen}
        for day in sorted(set(groups.values())) if grain == "daily" else ["all"]:
            own = [text for text in chosen if day in ("all", groups[text])]
            period = {"daily": day, "weekly": "2026-W08", "monthly": "2026-02"}[grain]
            sources = [f"memory/{day}.md"] if grain == "daily" else []
            body = "# Title\n\n## Notes\n" + "".join(f"- {text} [{place[text]}]\n" for text in own)
            write_summary(notes, grain, period, body, sources, days[-1])
        below = set(chosen)
    for path in sorted(path for path in notes.root.rglob("*.md")):
        if data.draw(st.booleans()):
            notes.remove(str(path.relative_to(notes.root)))
        elif data.draw(st.integers(0, 3)) == 0 and "consolidated" not in str(path):
            path.write_text(path.read_text() + "- a later remark\n")
    assert present_days and kept
    present: dict[str, set[str]] = {}
    for path in notes.root.rglob("*.md"):
        for text in place:
            if text in path.read_text():
                present.setdefault(text, set()).add(str(path.relative_to(notes.root)))
    with ingested(notes) as memory:
        corpus, archive = Corpus(), Archive()
        corpus.refresh(memory.store)
        archive.refresh(memory.store, corpus)
        shown = np.ones(len(corpus), bool) if archive.masks is None else archive.masks.shown
        texts = Counter[str]()
        for row in np.flatnonzero(shown).tolist():
            section = memory.store.section_texts([int(corpus.rows.section_id[row])])
            (part,) = section.values()
            line = part.lines[int(corpus.rows.start_line[row]) - part.start_line]
            texts += Counter(text for text in place if text in line)
        for text, paths in present.items():
            day = next(d for d, other in day_texts if other == text)
            raw, daily = f"memory/{day}.md", f"memory/consolidated/daily/{day}.md"
            stood_for = (
                raw in paths
                and (notes.root / daily).exists()
                and sha256(notes, raw) in (notes.root / daily).read_text()
            )
            # A sentence that the daily summary left out stands in no coarser one either: it is archived.
            assert texts[text] == (0 if stood_for and paths == {raw} else 1), (text, paths)


# -- the command -----------------------------------------------------------------------------------------


def test_commands_take_grains_days_and_the_archive(memory: Memory, notes: Notes) -> None:
    def results(*arguments: str) -> list[dict[str, Any]]:
        return list(json.loads(run_command(notes, *arguments, "--json").stdout)["results"])

    memory.close()
    assert {hit["path"] for hit in results("search", "pump")} >= {DAILY, FRIDAY}
    archived = results("search", "pump", "--include-archived")
    assert {hit["path"]: hit["archived"] for hit in archived}[MONDAY]
    assert "a summary covers this note" in run_command(notes, "search", "pump", "--include-archived").output
    assert {hit["grain"] for hit in results("search", "pump", "--grain", "weekly")} == {"weekly"}
    days = ("--now", "2026-02-21", "--min-days-ago", "4", "--max-days-ago", "5")
    assert {hit["date"] for hit in results("search", "Zorblatt", *days)} == {"2026-02-16", "2026-02-17"}
    assert {hit["date"] for hit in results("recall", "Zorblatt", *days)} == {"2026-02-16", "2026-02-17"}
    assert {hit["date"] for hit in results("timeline", *days)} == {"2026-02-16", "2026-02-17"}
    assert MONDAY in {hit["path"] for hit in results("timeline", "--include-archived")}
    assert MONDAY in {hit["path"] for hit in results("recall", "pump", "--include-archived", "-n", "20")}
    assert {hit["grain"] for hit in results("recall", "pump", "--grain", "monthly")} == {"monthly"}
    wrong = run_command(notes, "search", "pump", "--min-days-ago", "9", "--max-days-ago", "2", code=2)
    assert "swap the two numbers" in wrong.output
    run_command(notes, "search", "pump", "--since", "2026-02-20", "--until", "2026-02-01", code=2)
