"""Which fact holds when: what replaces what, in every order, and what became of the old."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from fakes import Notes, open_memory
from hypothesis import example, given
from hypothesis import strategies as st
from properties import examples
from tables import parts, table

from openclaw_memory import Memory
from openclaw_memory.errors import RequestError
from openclaw_memory.facts.history import as_of, build_history, lasting_id, superseded_units
from openclaw_memory.facts.periods import name_key
from openclaw_memory.facts.service import FactService
from openclaw_memory.knowledge.facts_file import FactFileError
from openclaw_memory.knowledge.predicates import _relations, is_single, normalise
from openclaw_memory.knowledge.values import fold_value
from openclaw_memory.model import FactRow, FactsResult, Kind, Origin
from openclaw_memory.serve.registry import memory_facts
from openclaw_memory.serve.tool import Call, check_arguments
from openclaw_memory.store.api import FactObservation, StatedFact

TODAY = date(2026, 6, 1)


def day(number: int) -> date:
    return date(2026, 1, 1) + timedelta(days=number)


def stated(id: str, object: str, since: int | None, **values: Any) -> StatedFact:
    given = {
        "id": id, "subject": "JR", "predicate": "lives in", "object": object, "confidence": 1.0, "origin": Origin.AGENT,
        "source": None, "valid_from": None if since is None else day(since), "valid_to": None, "recorded": "",
    }  # fmt: skip
    return StatedFact(**{**given, **values})


def removed(id: str, target: str, on: int | None) -> StatedFact:
    return stated(id, "", None, subject="", predicate="", retracts=target, valid_to=None if on is None else day(on))


def seen(object: str, on: int, **values: Any) -> FactObservation:
    given = {
        "unit_id": on, "path": f"memory/{day(on)}.md", "start_line": 3, "end_line": 3, "kind": Kind.DAILY,
        "origin": Origin.AGENT, "day": day(on), "dated": True, "hash": on, "occurrence": 0, "subject": "JR",
        "predicate": "lives in", "object": object, "rule": "says", "confidence": 0.85,
    }  # fmt: skip
    return FactObservation(**{**given, **values})


def resolve(*known: Any, **values: Any) -> list[FactRow]:
    return list(build_history(*known, **values).rows)


def current(rows: list[FactRow]) -> list[str]:
    return [row.object for row in rows if row.current]


def on(rows: list[FactRow], number: int) -> list[str]:
    return [row.object for row in as_of(rows, day(number))]


# -- predicates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kept", "others"), table("facts.tsv", "one name of many wordings"))
def test_one_relation_has_one_name(kept: str, others: str) -> None:
    assert {normalise(other) for other in (kept, *others.split("|"))} == {kept}


def test_relations_with_one_value() -> None:
    named = "lives in|works at|located in|timezone|status|version|email|phone|birthday|is called".split("|")
    assert all(is_single(name) for name in named)
    assert is_single("favorite color") and is_single("preferred shell")
    assert not any(
        is_single(name) for name in ("likes", "prefers", "decided to", "knows", "owes", "uses", "is", "about")
    )
    assert is_single("Owes", ["owes"]) and not is_single("owns", ["owes"])


@given(st.text())
@example("A\r:0")
@example("works" + " is" * 3000)
def test_a_relation_has_one_form(text: str) -> None:
    kept = normalise(text)
    assert normalise(kept) == kept
    assert kept == kept.strip()
    assert all(normalise(name) == name for name in _relations().flags)


# -- what is stated -------------------------------------------------------------------------------

#: Subject, relation, old and new value, and another name of the relation.
PAIRS = table("facts.tsv", "old and new values of a relation with one value")


@pytest.mark.parametrize(
    ("subject", "predicate", "old", "new", "other"), PAIRS, ids=lambda value: re.sub(r"\W+", "-", value)
)
def test_a_new_value_takes_the_place_of_the_old(subject: str, predicate: str, old: str, new: str, other: str) -> None:
    noise = [
        stated(f"f-n{at}", a, 5, subject=s, predicate=p)
        for at, (s, p, a, _, _) in enumerate(PAIRS)
        if (s, p) != (subject, predicate)
    ]
    entries = [
        *noise,
        stated("f-old", old, 10, subject=subject, predicate=predicate),
        stated("f-new", new, 40, subject=subject.upper(), predicate=other),
    ]
    rows = [
        row
        for row in resolve([], entries, today=TODAY)
        if name_key(row.subject) == name_key(subject) and normalise(row.predicate) == normalise(predicate)
    ]
    first, second = rows
    assert (first.id, first.current, first.valid_to, first.superseded_by) == ("f-old", False, day(40), "f-new")
    assert (second.id, second.current, second.valid_from, second.valid_to) == ("f-new", True, day(40), None)
    assert on(rows, 9) == [] and on(rows, 10) == on(rows, 39) == [old] and on(rows, 40) == [new]


def test_other_values_stand_beside() -> None:
    entries = [stated("f-1", "tea", 1, predicate="likes"), stated("f-2", "rain", 2, predicate="likes")]
    assert sorted(current(resolve([], entries, today=TODAY))) == ["rain", "tea"]
    rows = resolve([], [*entries, stated("f-3", "snow", 9, predicate="likes", replaces=("f-2",))], today=TODAY)
    assert sorted(current(rows)) == ["snow", "tea"] and sorted(on(rows, 5)) == ["rain", "tea"]
    assert [row.superseded_by for row in rows if row.id == "f-2"] == ["f-3"]
    likes_rows = resolve([], entries, ["Likes"], TODAY)
    assert current(likes_rows) == ["rain"]


def test_the_same_value_again_continues() -> None:
    entries = [stated("f-1", "Utrecht", 1), stated("f-2", "utrecht.", 9, confidence=0.5), stated("f-3", "Leiden", 20)]
    first, second = resolve([], entries, today=TODAY)
    assert (first.id, first.valid_from, first.valid_to, first.confidence, first.superseded_by) == (
        "f-1",
        day(1),
        day(20),
        0.5,
        "f-3",
    )
    assert second.id == "f-3"
    history = build_history([], entries, today=TODAY)
    assert history.ids["f-2"] == history.ids["f-1"] == (first,)
    back = resolve([], [*entries, stated("f-4", "Utrecht", 30)], today=TODAY)
    assert [row.id for row in back if row.current] == ["f-4"] and on(back, 25) == ["Leiden"]


def test_a_later_line_corrects_an_earlier_one() -> None:
    rows = resolve([], [stated("f-1", "Utrecht", 30), stated("f-2", "Leiden", 1)], today=TODAY)
    assert current(rows) == ["Leiden"] and on(rows, 2) == on(rows, 40) == ["Leiden"]
    same_day = resolve([], [stated("f-1", "Utrecht", 30), stated("f-2", "Leiden", 30)], today=TODAY)
    assert current(same_day) == on(same_day, 30) == ["Leiden"] and len(same_day) == 2


def test_what_was_so_for_a_while() -> None:
    past = [stated("f-1", "Utrecht", 30), stated("f-2", "Leiden", 1, valid_to=day(30))]
    rows = resolve([], past, today=TODAY)
    assert current(rows) == ["Utrecht"] and on(rows, 29) == ["Leiden"] and on(rows, 30) == ["Utrecht"]
    within = resolve([], [stated("f-1", "Utrecht", 1), stated("f-2", "Rome", 10, valid_to=day(20))], today=TODAY)
    assert [on(within, at) for at in (9, 10, 19, 20)] == [["Utrecht"], ["Rome"], ["Rome"], ["Utrecht"]]
    assert current(within) == ["Utrecht"]
    ahead = resolve([], [stated("f-1", "Utrecht", 1), stated("f-2", "Rome", 400)], today=TODAY)
    assert current(ahead) == ["Utrecht"] and on(ahead, 400) == ["Rome"]


def test_a_value_that_is_continued_backwards_does_not_replace_itself() -> None:
    entries = [stated("f-1", "Utrecht", 1), stated("f-2", "Leiden", 5, valid_to=day(7)), stated("f-3", "Utrecht", 0)]
    rows = resolve([], entries, today=TODAY)
    assert all(row.superseded_by != row.id for row in rows) and [on(rows, at) for at in (0, 6, 8)] == [["Utrecht"]] * 3


def test_what_is_removed_ends_and_brings_nothing_back() -> None:
    entries = [stated("f-1", "Utrecht", 1), stated("f-2", "Leiden", 10), removed("f-3", "f-2", 20)]
    rows = resolve([], entries, today=TODAY)
    assert current(rows) == [] and on(rows, 9) == ["Utrecht"] and on(rows, 19) == ["Leiden"] and on(rows, 20) == []
    again = resolve([], [*entries, stated("f-4", "Leiden", 20)], today=TODAY)
    assert [row.id for row in again if row.current] == ["f-4"]


def test_what_is_removed_on_its_first_day_changed_nothing() -> None:
    for on_day in (10, 5, None):
        entries = [stated("f-1", "Utrecht", 1), stated("f-2", "Leiden", 10), removed("f-3", "f-2", on_day)]
        rows = resolve([], entries, today=TODAY)
        assert current(rows) == ["Utrecht"] and on(rows, 15) == ["Utrecht"] and len(rows) == 2


def test_untrusted_statements_end_nothing_of_the_owner() -> None:
    entries = [stated("f-1", "Utrecht", 1, origin=Origin.OWNER), stated("f-2", "Rome", 9, origin=Origin.UNTRUSTED)]
    assert sorted(current(resolve([seen("Porto", 2, origin=Origin.UNTRUSTED)], entries, today=TODAY))) == [
        "Rome",
        "Utrecht",
    ]
    assert current(resolve([], entries[::-1], today=TODAY)) == ["Utrecht"]


def test_entries_without_days() -> None:
    rows = resolve([], [stated("f-1", "Utrecht", None), stated("f-2", "Leiden", None)], today=TODAY)
    assert current(rows) == ["Leiden"] and on(rows, 0) == ["Leiden"] and rows[1].valid_from is None
    (row,) = resolve([], [stated("f-1", "Utrecht", None, recorded="2026-01-05T10:00:00Z")], today=TODAY)
    assert row.valid_from == day(4)


# -- what is found --------------------------------------------------------------------------------


def test_a_later_note_replaces_an_earlier_one_by_the_same_rule() -> None:
    notes = [seen("Utrecht", 1), seen("Utrecht", 5), seen("Leiden", 9), seen("Leiden", 12)]
    first, second = resolve(notes, [], today=TODAY)
    assert (first.object, first.valid_from, first.valid_to, first.source) == (
        "Utrecht",
        day(1),
        day(9),
        f"memory/{day(1)}.md#L3",
    )
    assert (second.object, second.current, first.superseded_by) == ("Leiden", True, second.id)
    assert current(resolve([*notes, seen("Utrecht", 20)], [], today=TODAY)) == ["Utrecht"]


def test_another_rule_replaces_nothing() -> None:
    assert sorted(current(resolve([seen("Utrecht", 1), seen("Leiden", 9, rule="key")], [], today=TODAY))) == [
        "Leiden",
        "Utrecht",
    ]


def test_only_what_is_declared_to_have_one_value_ends_by_itself() -> None:
    for predicate, rule in (("hobby", "key"), ("allergy", "key"), ("allergic to", "says"), ("likes", "says")):
        observations = [
            seen("cats", 1, predicate=predicate, rule=rule),
            seen("peanuts", 9, predicate=predicate, rule=rule),
        ]
        rows = resolve(observations, [], today=TODAY)
        assert sorted(current(rows)) == ["cats", "peanuts"]
        # Of two values of a key the older one names the newer one; of a verb that takes several, neither.
        (older, newer) = sorted(rows, key=lambda row: row.object)
        assert (older.newer, newer.newer) == ((newer.id, None) if rule == "key" else (None, None))
    assert resolve([seen("chess", 1, predicate="hobby", rule="key")], [], today=TODAY)[0].recorded_at == str(day(1))


def test_nothing_ends_on_the_day_on_which_it_was_seen() -> None:
    # Neither of two files nor of two lines of one is it known which was written later.
    notes = [
        seen("Utrecht", 1, start_line=9), seen("Leiden", 1, start_line=4), seen("Rome", 1, path="memory/0.md")
    ]  # fmt: skip
    rows = resolve(notes, [], today=TODAY)
    assert sorted(current(rows)) == ["Leiden", "Rome", "Utrecht"] and all(row.newer is None for row in rows)
    assert current(resolve([*notes, seen("Porto", 2)], [], today=TODAY)) == ["Porto"]
    # What was seen again on the later day still holds on it.
    again = [seen("Utrecht", 1), seen("Leiden", 2, start_line=2), seen("Utrecht", 2, start_line=5)]
    assert current(resolve(again, [], today=TODAY)) == ["Leiden", "Utrecht"]


@pytest.mark.parametrize(("predicate", "rule", "ends"), table("facts.tsv", "a newer value of a rule ends the older"))
def test_a_value_ends_another_only_where_both_are_surely_of_one_thing(predicate: str, rule: str, ends: str) -> None:
    notes = [seen("Utrecht 4", 1, predicate=predicate, rule=rule), seen("Leiden 9", 5, predicate=predicate, rule=rule)]
    older, newer = sorted(resolve(notes, [], today=TODAY), key=lambda row: str(row.valid_from))
    assert newer.current and older.current is (ends == "no")
    assert (older.superseded_by, older.newer) == ((newer.id, None) if ends == "yes" else (None, newer.id))


@pytest.mark.parametrize(("old", "new", "ends"), table("facts.tsv", "a newer state is news"))
def test_the_same_with_a_sign_or_a_remark_is_no_news(old: str, new: str, ends: str) -> None:
    for predicate in ("status", "hobby"):
        first, second = resolve(
            [seen(old, 1, predicate=predicate, rule="key"), seen(new, 9, predicate=predicate, rule="key")],
            [],
            today=TODAY,
        )
        first, second = sorted((first, second), key=lambda row: str(row.valid_from))
        assert second.current
        assert (not first.current if predicate == "status" else first.newer is not None) == (ends == "yes")


def test_a_file_without_a_date_holds_always() -> None:
    (row,) = resolve([seen("Utrecht", 50, dated=False)], [], today=TODAY)
    assert row.valid_from is None and row.current
    # When it was saved says nothing: it ends nothing, and nothing that is found ends it.
    for saved in (5, 50):
        rows = resolve([seen("Utrecht", saved, dated=False), seen("Leiden", 10)], [], today=TODAY)
        assert sorted(current(rows)) == ["Leiden", "Utrecht"] and on(rows, 5) == ["Utrecht"]
        assert [row.newer for row in rows] == [None, None]  # nor does it say which of them is newer
    # What dated notes say has ended, it does not bring back.
    notes = [seen("Utrecht", 1), seen("Leiden", 10), seen("Utrecht", 50, dated=False)]
    assert current(resolve(notes, [], today=TODAY)) == ["Leiden"]


def test_what_is_stated_stands_above_what_is_found() -> None:
    entries = [stated("f-1", "Leiden", 20)]
    for observation in (seen("Utrecht", 1), seen("Utrecht", 30), seen("Utrecht", 90, dated=False)):
        rows = resolve([observation], entries, today=TODAY)
        assert current(rows) == ["Leiden"] and on(rows, 40) == ["Leiden"]
        assert [row.superseded_by for row in rows if row.rule == "says"] == ["f-1"]
    assert on(resolve([seen("Utrecht", 1)], entries, today=TODAY), 10) == ["Utrecht"]
    # Of what may have several values nothing is ended.
    likes = [replace(entries[0], predicate="likes")]
    assert len(current(resolve([seen("tea", 1, predicate="likes")], likes, today=TODAY))) == 2


def test_notes_count_again_once_a_statement_has_ended() -> None:
    entries = [stated("f-1", "Leiden", 20), removed("f-2", "f-1", 50)]
    notes = [seen("Utrecht", 10), seen("Rome", 30)]
    rows = resolve(notes, entries, today=TODAY)
    assert current(rows) == [] and on(rows, 15) == ["Utrecht"] and on(rows, 40) == ["Leiden"]
    assert current(resolve([*notes, seen("Rome", 60)], entries, today=TODAY)) == ["Rome"]
    undated = resolve([seen("Oslo", 70, dated=False)], entries, today=TODAY)
    assert current(undated) == ["Oslo"] and on(undated, 30) == ["Leiden"]


def test_notes_count_again_after_what_was_stated_for_a_while() -> None:
    passing = stated("f-1", "Leiden", 20, valid_to=day(50))
    for note in (seen("Utrecht", 10), seen("Utrecht", 30), seen("Utrecht", 5, dated=False)):
        history = build_history([note], [passing], today=TODAY)
        rows = list(history.rows)
        assert current(rows) == on(rows, 50) == ["Utrecht"] and on(rows, 49) == on(rows, 20) == ["Leiden"]
        (back,) = [row for row in rows if row.current]
        assert history.ids[lasting_id(back)] == history.ids[back.id] and back in history.units[note.unit_id]
        assert (back.valid_from, back.valid_to, back.superseded_by) == (day(50), None, None)
        assert superseded_units(history) == {}
        # It can be removed and replaced like any other.
        assert current(resolve([note], [passing, removed("f-2", lasting_id(back), 60)], today=TODAY)) == []
        better = stated("f-2", "Rome", 60, replaces=(lasting_id(back),))
        rows = resolve([note], [passing, better], today=TODAY)
        assert current(rows) == ["Rome"] and on(rows, 55) == ["Utrecht"]
    notes = [seen("Utrecht", 10), seen("Rome", 60)]
    rows = resolve(notes, [passing], today=TODAY)
    assert on(rows, 55) == ["Utrecht"] and current(rows) == ["Rome"]
    # A passing value within a passing one, one after the other, and one that another without end follows.
    within = [passing, stated("f-2", "Oslo", 30, valid_to=day(40))]
    rows = resolve(notes[:1], within, today=TODAY)
    assert [on(rows, at) for at in (19, 25, 35, 45, 50)] == [["Utrecht"], ["Leiden"], ["Oslo"], ["Leiden"], ["Utrecht"]]
    rows = resolve(notes[:1], [passing, stated("f-2", "Oslo", 50, valid_to=day(60))], today=TODAY)
    assert [on(rows, at) for at in (49, 55, 60)] == [["Leiden"], ["Oslo"], ["Utrecht"]]
    rows = resolve(notes[:1], [passing, stated("f-2", "Oslo", 70)], today=TODAY)
    assert on(rows, 60) == ["Utrecht"] and current(rows) == ["Oslo"]


def test_other_names_of_a_subject_are_one() -> None:
    aliases = {name_key("M. Jansen"): name_key("Mira")}
    notes = [seen("Utrecht", 1, subject="Mira"), seen("Leiden", 5, subject="M. Jansen")]
    apart = resolve(notes, [], today=TODAY)
    together = build_history(notes, [], today=TODAY, aliases=aliases)
    assert sorted(current(apart)) == ["Leiden", "Utrecht"] and current(list(together.rows)) == ["Leiden"]
    assert {row.id for row in apart} == {row.id for row in together.rows}
    bonn = [stated("f-1", "Bonn", 20, subject="M. Jansen")]
    history = build_history(notes[:1], bonn, today=TODAY, aliases=aliases)
    assert current(list(history.rows)) == ["Bonn"]
    assert superseded_units(history) == {1: (f"lives in of Mira: now Bonn (since {day(20)})",)}
    rows = [stated("f-0", "Utrecht", 1, subject="Mira"), *bonn]
    assert current(resolve([], rows, today=TODAY, aliases=aliases)) == ["Bonn"]
    # What one name's fact was removed by still holds when the other says the same.
    observations = [notes[0], seen("Utrecht", 3, subject="M. Jansen")]
    for row in apart[:1] + resolve(observations[1:], [], today=TODAY):
        if row.object == "Utrecht":
            assert (
                current(resolve(observations, [removed("f-2", lasting_id(row), 9)], today=TODAY, aliases=aliases)) == []
            )


def test_a_found_fact_can_be_removed_and_replaced() -> None:
    notes = [seen("tea", 1, predicate="likes"), seen("rain", 1, predicate="likes")]
    (tea,) = [row for row in resolve(notes, [], today=TODAY) if row.object == "tea"]
    gone = [removed("f-1", lasting_id(tea), 20)]
    assert current(resolve(notes, gone, today=TODAY)) == ["rain"]
    # Neither a renamed file nor the same in an older note brings it back, but a newer note does.
    moved = [replace(note, path="memory/old/a.md", unit_id=77) for note in notes]
    assert current(resolve(moved, gone, today=TODAY)) == ["rain"]
    assert current(resolve([*notes, seen("tea", 15, predicate="likes")], gone, today=TODAY)) == ["rain"]
    assert sorted(current(resolve([*notes, seen("tea", 30, predicate="likes")], gone, today=TODAY))) == ["rain", "tea"]
    # A file without a date says it still, whenever it was saved; and what never held does not come back at all.
    curated = [seen("tea", 90, predicate="likes", dated=False)]
    assert current(resolve(curated, gone, today=TODAY)) == []
    assert current(
        resolve([*notes, seen("tea", 30, predicate="likes")], [removed("f-1", lasting_id(tea), None)], today=TODAY)
    ) == ["rain"]
    better = [stated("f-2", "green tea", 20, predicate="likes", replaces=(lasting_id(tea),))]
    rows = resolve(notes, better, today=TODAY)
    assert sorted(current(rows)) == ["green tea", "rain"]
    assert [row.superseded_by for row in rows if row.object == "tea"] == ["f-2"]


def test_what_untrusted_notes_say_ends_nothing() -> None:
    notes = [seen("Utrecht", 1, origin=Origin.OWNER), seen("Rome", 9, origin=Origin.UNTRUSTED)]
    assert sorted(current(resolve(notes, [], today=TODAY))) == ["Rome", "Utrecht"]


def test_units_that_say_what_no_longer_holds() -> None:
    notes = [
        seen("Utrecht", 1),
        seen("Leiden", 9),
        seen("Rome", 12, start_line=4, end_line=5),
        seen("tea", 2, predicate="likes"),
    ]
    words = superseded_units(build_history(notes, [], today=TODAY))
    now = f"lives in of JR: now Rome (since {day(12)}, memory/{day(12)}.md#L4-L5)"
    assert words == {1: (now,), 9: (now,)}
    entries = [stated("f-1", "Porto", 20), removed("f-2", "f-1", 30)]
    assert superseded_units(build_history(notes[:1], entries[:1], today=TODAY)) == {
        1: (f"lives in of JR: now Porto (since {day(20)})",)
    }
    assert superseded_units(build_history(notes[:1], entries, today=TODAY)) == {
        1: (f"lives in of JR: no longer Utrecht (since {day(20)})",)
    }
    # Who comes back is not outdated.
    assert superseded_units(build_history([*notes[:2], seen("Utrecht", 30)], [], today=TODAY)) == {
        9: (f"lives in of JR: now Utrecht (since {day(30)}, memory/{day(30)}.md#L3)",)
    }


# -- in any order ---------------------------------------------------------------------------------

SUBJECTS, RELATIONS, VALUES = ["JR", "jr", "Mira"], ["lives in", "resides in", "likes", "hobby"], ["a", "b", "B.", "c"]
ORIGINS = st.sampled_from([Origin.OWNER, Origin.AGENT, Origin.UNTRUSTED])
SEEN = st.builds(
    lambda unit, subject, predicate, value, at, path, line, rule, dated, origin: seen(
        value, at, unit_id=unit, subject=subject, predicate=predicate, path=path, start_line=line, end_line=line,
        rule=rule, dated=dated, origin=origin,
    ),
    st.integers(1, 9), st.sampled_from(SUBJECTS), st.sampled_from(RELATIONS), st.sampled_from(VALUES), st.integers(0, 12),
    st.sampled_from(["a.md", "b.md"]), st.integers(1, 3), st.sampled_from(["key", "says"]), st.booleans(), ORIGINS,
)  # fmt: skip


@st.composite
def files(draw: st.DrawFn, notes: list[FactObservation] | None = None) -> list[StatedFact]:
    """What a ``facts.yaml`` may say: later lines replace and end earlier ones, or what was found."""
    found_ids = [lasting_id(row) for row in resolve(notes or [], [], today=TODAY)]
    entries: list[StatedFact] = []
    for at in range(draw(st.integers(0, 8))):
        known_ids = [entry.id for entry in entries if entry.retracts is None] + found_ids
        if known_ids and draw(st.integers(0, 3)) == 0:
            entries.append(removed(f"f-{at}", draw(st.sampled_from(known_ids)), draw(st.none() | st.integers(0, 12))))
            continue
        start = draw(st.none() | st.integers(0, 12))
        entries.append(
            stated(
                f"f-{at}", draw(st.sampled_from(VALUES)), start,
                subject=draw(st.sampled_from(SUBJECTS)), predicate=draw(st.sampled_from(RELATIONS)),
                valid_to=draw(st.none() | st.integers(0, 14).map(day)), origin=draw(ORIGINS),
                replaces=tuple(draw(st.lists(st.sampled_from(known_ids), max_size=1))) if known_ids else (),
            )
        )  # fmt: skip
    return entries


@examples(250)
@given(data=st.data(), notes=st.lists(SEEN, max_size=12), seed=st.integers(0, 9))
def test_facts_do_not_depend_on_the_order_of_the_notes(
    data: st.DataObject, notes: list[FactObservation], seed: int
) -> None:
    entries = data.draw(files(notes))
    shuffled = list(notes)
    random.Random(seed).shuffle(shuffled)
    first, other = build_history(notes, entries, ["likes"], TODAY), build_history(shuffled, entries, ["likes"], TODAY)
    assert first.rows == other.rows
    assert superseded_units(first) == superseded_units(other)


@examples(400)
@given(data=st.data(), notes=st.lists(SEEN, max_size=12))
def test_on_every_day_a_relation_with_one_value_has_one(data: st.DataObject, notes: list[FactObservation]) -> None:
    # Others have no place in time, and neither have two files of one day or two values of one line.
    by_line = {(note.day, note.start_line): replace(note, path=f"{note.day}.md") for note in notes if note.dated}
    notes = list(by_line.values())
    entries = data.draw(files(notes))
    history = build_history(notes, entries, today=TODAY)
    trusted = {Origin.OWNER, Origin.AGENT}
    for number in range(-2, 16):
        stated_values, found_values = defaultdict(set), defaultdict(set)
        for row in as_of(history.rows, day(number)):
            if is_single(row.predicate):
                key = (name_key(row.subject), normalise(row.predicate), row.origin in trusted)
                if row.rule == "stated":
                    stated_values[key].add(fold_value(row.object))
                else:
                    found_values[key, row.rule].add(fold_value(row.object))
        assert all(len(values) == 1 for values in stated_values.values())
        assert all(len(values) == 1 for values in found_values.values())
        for (key, _), values in found_values.items():
            if key in stated_values:
                assert values == stated_values[key]


@examples(250)
@given(data=st.data(), notes=st.lists(SEEN, max_size=12))
def test_nothing_is_lost(data: st.DataObject, notes: list[FactObservation]) -> None:
    entries = data.draw(files(notes))
    history = build_history(notes, entries, today=TODAY)
    triples = {(name_key(row.subject), normalise(row.predicate), fold_value(row.object)) for row in history.rows}
    for claim in (*notes, *(entry for entry in entries if entry.retracts is None)):
        assert (
            name_key(claim.subject),
            normalise(claim.predicate),
            fold_value(claim.object),
        ) in triples
    assert {entry.id for entry in entries if entry.retracts is None} <= set(history.ids)
    assert {note.unit_id for note in notes} == set(history.units)
    for row in history.rows:
        assert row in history.ids[row.id]
        assert row.current == bool(as_of([row], TODAY))
        assert row.valid_to is None or row.valid_from is None or row.valid_from <= row.valid_to
        assert row.superseded_by is None or (row.superseded_by in history.ids and row.superseded_by != row.id)
    assert all(words for words in superseded_units(history).values())


# -- the book -------------------------------------------------------------------------------------


@pytest.fixture
def memory(notes: Notes) -> Any:
    notes.write("USER.md", "# USER.md\n\n## Who JR is\n\n- **Timezone:** Europe/Amsterdam\n")
    notes.write("memory/2026-02-01.md", "# 2026-02-01\n\n- JR lives in Utrecht.\n- Mira prefers tea.\n")
    notes.write("memory/2026-03-01.md", "# 2026-03-01\n\n- JR lives in Leiden.\n- The flat in Porto is small.\n")
    with open_memory(notes) as made:
        yield made


def objects(result: FactsResult) -> list[str]:
    return [row.object for row in result.rows]


def test_facts_of_notes(memory: Memory, notes: Notes) -> None:
    book = memory.facts
    assert objects(book.query("jr", "resides in")) == ["Leiden"]
    assert objects(book.query("JR", "lives in", history=True)) == ["Utrecht", "Leiden"]
    assert objects(book.query("JR", "lives in", as_of=date(2026, 2, 15))) == ["Utrecht"]
    assert objects(book.query(object="leid")) == ["Leiden"] and objects(book.query(object="nothing")) == []
    assert len(book.query(limit=1).rows) == 1
    notes.remove("memory/2026-03-01.md")
    assert objects(book.query("JR", "lives in")) == ["Utrecht"]


def test_below_one_heading_no_value_ends_another(memory: Memory, notes: Notes) -> None:
    """Two rows, or two sides of one thing, are no news of each other; a later heading of the day is."""
    plans = "| Service | Plan | Price |\n|---|---|---|\n| Buoy Mail | Small | $4 |\n| Buoy Mail | Large | $9 |\n"
    notes.write("memory/2026-03-01.md", f"# Day\n\n## Prices\n\n{plans}\n## Heron\n- Status: ashore\n")
    notes.write(
        "memory/2026-03-02.md", "# Day\n\n## Heron (morning)\n- Status: afloat\n\n## Heron (later)\n- Status: moored\n"
    )
    memory.ingest()
    now = [(row.subject, row.object, row.current) for row in memory.facts.query(history=True).rows]
    assert {("Buoy Mail", "$4", True), ("Buoy Mail", "$9", True)} <= set(now)
    assert {("Heron", "ashore", False), ("Heron", "moored", True)} <= set(now)


def test_facts_are_stated_and_change(memory: Memory, notes: Notes) -> None:
    book = memory.facts
    added = book.add("JR", "lives in", "Porto", source="memory/2026-03-01.md#L4")
    assert (
        added.added == 1
        and added.rows[0].valid_from == date(2026, 3, 1)
        and added.rows[0].source == "memory/2026-03-01.md#L4"
    )
    assert objects(book.query("JR", "lives in")) == ["Porto"]
    assert book.add("JR", "lives in", "porto").added == 0
    changed = book.update(added.rows[0].id, object="Rome")
    assert changed.updated == 1 and objects(book.query("JR", "lives in")) == ["Rome"]
    assert objects(book.query("JR", "lives in", as_of=date(2026, 3, 2))) == ["Porto"]
    unsure = book.update(changed.rows[0].id, confidence=0.5)
    assert (unsure.rows[0].confidence, unsure.rows[0].object, unsure.rows[0].valid_from) == (
        0.5,
        "Rome",
        changed.rows[0].valid_from,
    )
    gone = book.remove(unsure.rows[0].id)
    assert gone.removed == 1 and not gone.rows[0].current
    with pytest.raises(RequestError, match="holds no longer"):
        book.remove(unsure.rows[0].id)
    with pytest.raises(RequestError, match="there is no fact f-none"):
        book.update("f-none", object="x")
    (tea,) = book.query("Mira").rows
    book.update(tea.id, object="green tea")
    assert objects(book.query("Mira", "prefers")) == ["green tea"]
    text = (notes.root / "facts.yaml").read_text()
    assert len(text.splitlines()) == 2 + 5 and "replaces: [" in text and "retracts: " in text


def test_a_rejected_fact_stays_rejected(memory: Memory, notes: Notes) -> None:
    (tea,) = memory.facts.query("Mira").rows
    memory.facts.remove(tea.id)
    notes.write("memory/2026-02-01.md", "# 2026-02-01\n\nA line more.\n\n- Mira prefers tea.\n- Mira lives in Porto.\n")
    assert objects(memory.facts.query("Mira")) == ["Porto"]
    with open_memory(notes, name="another") as fresh:
        assert objects(fresh.facts.query("Mira")) == ["Porto"]


@pytest.mark.parametrize(
    "again", ["Mira prefers TEA.", "Mira prefers ｔｅａ.", "Mira prefers teas.", "**Mira** prefers `tea`."]
)
def test_a_rejected_fact_stays_rejected_in_any_spelling(memory: Memory, notes: Notes, again: str) -> None:
    memory.facts.remove(memory.facts.query("Mira").rows[0].id)
    notes.write("memory/2026-02-01.md", f"# 2026-02-01\n\n- {again}\n")
    assert objects(memory.facts.query("Mira")) == []


def test_a_rejected_fact_stays_rejected_when_another_rule_finds_it_elsewhere(notes: Notes, tmp_path: Path) -> None:
    notes.write("memory/2026-02-01.md", "# 2026-02-01\n\n- Mira lives in Porto.\n")
    with open_memory(notes) as memory:
        memory.facts.remove(memory.facts.query("Mira").rows[0].id)
        assert objects(memory.facts.query("Mira")) == []
    # An upgrade of the rules reads the same from a key, and the workspace has moved; the file of facts went along.
    moved = Notes(tmp_path / "moved")
    moved.write("facts.yaml", (notes.root / "facts.yaml").read_text(encoding="utf-8"))
    moved.write("memory/mira.md", "# Mira\n\n- **Lives in:** PORTO\n- **Timezone:** Europe/Lisbon\n")
    with open_memory(moved) as memory:
        assert objects(memory.facts.query("Mira")) == ["Europe/Lisbon"]


def test_each_fact_says_why_it_is_there(memory: Memory, notes: Notes) -> None:
    memory.facts.add("Wren", "likes", "pastry", source="memory/2026-03-01.md#L3")
    assert all(row.why is None for row in memory.facts.query().rows)
    why = {(row.subject, row.object): row.why or "" for row in memory.facts.query(history=True, explain=True).rows}
    assert (
        why["Mira", "tea"] == "rule 'sentence' (a sentence of a name, a verb and an object) in memory/2026-02-01.md#L4"
    )
    assert why["Wren", "pastry"].startswith("stated in facts.yaml on ")
    assert why["JR", "Europe/Amsterdam"].endswith("in USER.md#L5; the note has no date")
    assert "; ended by f-" in why["JR", "Utrecht"]
    assert not any("\n" in line for line in why.values())


def test_the_index_follows_what_is_changed_in_the_file(memory: Memory, notes: Notes) -> None:
    file = notes.root / "facts.yaml"
    for at in range(3):
        memory.facts.add("Wren", "likes", f"pastry {at}")
    text = file.read_text()
    # A line by hand behind them, one changed in the middle, one taken out: the index follows each.
    file.write_text(text + "- {subject: Wren, predicate: likes, object: rain}\n")
    assert sorted(objects(memory.facts.query("Wren"))) == ["pastry 0", "pastry 1", "pastry 2", "rain"]
    memory.facts.add("Wren", "likes", "snow")
    file.write_text(file.read_text().replace("pastry 1", "cake"))
    memory.facts.add("Wren", "likes", "fog")
    assert sorted(objects(memory.facts.query("Wren"))) == ["cake", "fog", "pastry 0", "pastry 2", "rain", "snow"]
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if "pastry 0" not in line))
    assert sorted(objects(memory.facts.query("Wren"))) == ["cake", "fog", "pastry 2", "rain", "snow"]
    with open_memory(notes, name="another") as fresh:
        assert fresh.facts.query(history=True).rows == memory.facts.query(history=True).rows
    notes.remove("facts.yaml")
    assert objects(memory.facts.query("Wren")) == []


def test_a_batch_is_all_or_nothing(memory: Memory, notes: Notes) -> None:
    book = memory.facts
    (tea,) = book.query("Mira").rows
    good = [
        {
            "action": "add",
            "subject": "Wren",
            "predicate": "timezone",
            "object": "Asia/Tokyo",
            "since": "2026-01-01",
            "until": None,
        },
        {"action": "update", "id": tea.id, "object": "milk"},
        {"action": "add", "subject": "Wren", "predicate": "likes", "object": "pastry", "confidence": 1},
    ]
    for wrong, message in (
        ({"action": "remove", "id": tea.id}, "changed twice"),
        ({"action": "remove", "id": "f-none"}, "operation 4: there is no fact"),
        ({"action": "put"}, "operation 4: action must be one of add, update, remove"),
        ({"action": "add", "subject": "a", "predicate": "b"}, "add needs 'object'"),
        ({"action": "add", "subject": " ", "predicate": "b", "object": "c"}, "subject is empty"),
        ({"action": "add", "subject": "a", "predicate": "?", "object": "c"}, "predicate has no letter"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c" * 3000}, "at most 2000"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": 3}, "object must be text"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c", "sincee": "2026-01-01"}, "did you mean 'since'"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c", "since": "soon"}, "since must be a day"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c", "since": "2026-02-01", "until": "2026-02-01"}, "must be later"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c", "confidence": 2}, "from 0 to 1"),
        ({"action": "add", "subject": "a", "predicate": "b", "object": "c", "origin": "me"}, "origin must be one of"),
        ({"action": "update", "id": book.query("JR").rows[0].id}, "nothing to change"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=message):
            book.batch([*good, wrong])
        assert not (notes.root / "facts.yaml").exists()
    result = book.batch(good)
    assert (result.added, result.updated, result.removed) == (2, 1, 0)
    assert objects(result) == ["Asia/Tokyo", "milk", "pastry"]
    assert book.batch([]).rows == ()


def test_a_broken_file_stops_changes_and_keeps_what_is_known(memory: Memory, notes: Notes) -> None:
    memory.facts.add("JR", "likes", "rain")
    broken = (notes.root / "facts.yaml").read_text() + "- {subject: JR\n- \n"
    notes.write("facts.yaml", broken)
    shown = memory.facts.query("JR", "likes")
    assert objects(shown) == ["rain"] and "line " in (shown.warning or "")
    with pytest.raises(FactFileError, match=r"facts\.yaml, line"):
        memory.facts.add("JR", "likes", "snow")
    assert (notes.root / "facts.yaml").read_text() == broken


def test_a_planned_fact_is_changed_from_its_day_on(memory: Memory) -> None:
    book, today = memory.facts, date.today()
    soon = today + timedelta(days=30)
    plan = book.add("JR", "lives in", "Porto", since=soon).rows[0]
    changed = book.update(plan.id, object="Faro").rows[0]
    assert changed.valid_from == soon and objects(book.query("JR", "lives in")) == ["Leiden"]
    assert objects(book.query("JR", "lives in", as_of=soon)) == ["Faro"]
    assert book.update(changed.id, object="Lagos", since=today).rows[0].valid_from == today
    assert objects(book.query("JR", "lives in")) == ["Lagos"]
    other = book.add("JR", "timezone", "UTC", since=soon).rows[0]
    assert book.remove(other.id).removed == 1
    with pytest.raises(RequestError, match="holds no longer"):
        book.remove(other.id)


def test_an_alias_is_the_same_subject(memory: Memory, notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n- Mira lives in Utrecht.\n")
    book = memory.facts
    rows = book.query("Mira", "lives in").rows
    memory.concepts.add("Mira", aliases=["M. Jansen"])
    assert book.query("M. Jansen", "lives in").rows == rows
    added = book.add("M. Jansen", "lives in", "Bonn")
    assert objects(book.query("Mira", "lives in")) == ["Bonn"] and added.rows[0].subject == "M. Jansen"
    assert [row.id for row in book.query("Mira", "lives in", history=True).rows if not row.current] == [rows[0].id]
    assert book.add("Mira", "lives in", "Bonn").added == 0


def test_a_statement_is_trusted_no_more_than_what_it_cites(memory: Memory, notes: Notes) -> None:
    notes.write("memory/web.md", "---\norigin: untrusted\n---\n\n# Web\n\n- JR lives in Rome.\n")
    book = memory.facts
    for source in ("memory/web.md#L7", "memory/web.md", "./memory/web.md:7", str(notes.root / "memory/web.md"),
                   "memory/2026-03-01.md#L3, memory/web.md#L7"):  # fmt: skip
        (row,) = book.add("JR", "likes", f"what {source} says", source=source).rows
        assert row.origin == Origin.UNTRUSTED, source
        assert book.update(row.id, confidence=0.5).rows[0].origin == Origin.UNTRUSTED
    book.add("JR", "lives in", "Rome", source="memory/web.md#L7")
    assert "Leiden" in objects(book.query("JR", "lives in"))
    (row,) = book.add("JR", "likes", "rain", source="memory/2026-03-01.md#L3").rows
    assert row.origin == Origin.AGENT
    (row,) = book.add("JR", "likes", "snow", source="memory/web.md#L7", origin=Origin.SYSTEM).rows
    assert row.origin == Origin.SYSTEM
    assert "origin: untrusted" in (notes.root / "facts.yaml").read_text()
    # What was cited in good faith is not kept as trusted once the file is known not to be.
    (row,) = book.add("JR", "likes", "hail", source="memory/2026-02-01.md#L3").rows
    notes.write("memory/2026-02-01.md", "---\norigin: untrusted\n---\n\n- JR lives in Utrecht.\n")
    assert book.update(row.id, confidence=0.5).rows[0].origin == Origin.UNTRUSTED


def test_a_secret_in_a_source_is_not_written(memory: Memory, notes: Notes) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    memory.facts.add("JR", "likes", "tea", source=f"memory/{secret}.md#L1")
    assert secret not in (notes.root / "facts.yaml").read_text()
    assert all(secret not in (row.source or "") for row in memory.facts.query().rows)


def test_what_is_removed_on_the_day_it_was_stated_is_undone(memory: Memory, notes: Notes) -> None:
    book, today = memory.facts, date.today()
    for since in (today, today - timedelta(days=20)):
        (wrong,) = book.add("JR", "lives in", "Porto", since=since).rows
        # Said twice on one day, it is undone all the same.
        book.add("JR", "lives in", "Porto", confidence=0.5)
        assert objects(book.query("JR", "lives in")) == ["Porto"]
        assert book.remove(wrong.id).removed == 1
        assert objects(book.query("JR", "lives in")) == ["Leiden"]
        assert objects(book.query("JR", "lives in", as_of=today - timedelta(days=5))) == ["Leiden"]
        assert any(row.id == wrong.id for row in book.query("JR", "lives in", history=True).rows)
    # What was stated earlier ends.
    line = "- {id: f-old, subject: JR, predicate: lives in, object: Rome, from: 2026-04-01, recorded: 2026-04-01T09:00:00Z}\n"
    notes.write("facts.yaml", line)
    book.remove("f-old")
    assert objects(book.query("JR", "lives in")) == []
    assert objects(book.query("JR", "lives in", as_of=today - timedelta(days=1))) == ["Rome"]


def test_a_batch_states_the_same_once(memory: Memory, notes: Notes) -> None:
    book = memory.facts

    def add(predicate: str, object: str, **values: Any) -> dict[str, Any]:
        return {"action": "add", "subject": "JR", "predicate": predicate, "object": object, **values}

    result = book.batch([add("likes", "tea"), add("likes", "rain"), add("likes", " Tea. ")])
    assert result.added == 2 and objects(result) == ["tea", "rain"]
    assert len((notes.root / "facts.yaml").read_text().splitlines()) == 2 + 2
    until = {"since": "2026-04-01", "until": "2999-01-01"}
    assert book.batch([add("owns", "a boat", **until)] * 2).added == 1
    assert book.batch([add("owns", "a van"), add("owns", "a van", confidence=0.5)]).added == 2
    # Of one value at a time the last one counts, also when it was there before.
    assert book.batch([add("status", "away"), add("status", "here"), add("status", "away")]).added == 3
    assert objects(book.query("JR", "status")) == ["away"]
    assert book.batch([add("status", "here"), add("status", "away")]).added == 2
    assert objects(book.query("JR", "status")) == ["away"]
    (tea,) = book.query("JR", "likes", "tea").rows
    assert book.batch([{"action": "remove", "id": tea.id}, add("likes", "tea")]).added == 1
    assert len(book.query("JR", "likes", "tea").rows) == 1


def test_about_names(memory: Memory) -> None:
    book = memory.facts
    book.add("Mira", "sister of", "JR")
    book.query()
    rows = [(row.subject, row.object) for row in book.about(["jr"], 9)]
    assert rows == [("JR", "Europe/Amsterdam"), ("JR", "Leiden"), ("Mira", "JR")]
    assert len(book.about(["jr", "Mira"], 2)) == 2 and book.about(["nobody"], 5) == [] and book.about([], 5) == []


def test_units_are_marked(memory: Memory) -> None:
    book = memory.facts
    memory.ingest()
    units = {fact.object: fact.unit_id for fact in memory.store.extracted_facts()}
    words = book.superseded()
    assert words == {units["Utrecht"]: ("lives in of JR: now Leiden (since 2026-03-01, memory/2026-03-01.md#L3)",)}
    book.add("JR", "lives in", "Porto", source="memory/2026-03-01.md#L4")
    book.add("JR", "lives in", "Rome")
    words = book.superseded()
    today = date.today()
    assert set(words.values()) == {(f"lives in of JR: now Rome (since {today})",)} and len(words) == 3
    assert book.superseded()[units["Leiden"]] == (f"lives in of JR: now Rome (since {today})",)


def test_several_writers_lose_nothing(memory: Memory, notes: Notes) -> None:
    memory.ingest()
    books = [memory.facts, FactService(notes.root, memory.store, lambda: None)]

    def work(book: FactService, name: str) -> None:
        for number in range(5):
            book.add("JR", "likes", f"{name} {number}")

    threads = [threading.Thread(target=work, args=(book, f"thing {at}")) for at, book in enumerate(books)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.facts.query("JR", "likes").rows) == 10


# -- the tool and the command ---------------------------------------------------------------------


def tool(memory: Memory, **arguments: Any) -> FactsResult:
    made = check_arguments(memory_facts.name, memory_facts.input_schema, arguments)
    result: FactsResult = memory_facts.run(Call(memory, made, 1e12, lambda *_: None))
    return result


def test_the_tool(memory: Memory) -> None:
    added = tool(memory, action="add", subject="JR", predicate="lives in", object="Rome", since="2026-04-01")
    assert objects(tool(memory, action="query", subject="JR", predicate="lives in")) == ["Rome"]
    assert objects(tool(memory, action="query", subject="JR", predicate="lives in", asOf="2026-03-02")) == ["Leiden"]
    assert len(tool(memory, action="query", predicate="lives in", history=True).rows) >= 2
    assert tool(memory, action="update", id=added.rows[0].id, object="Oslo").updated == 1
    assert tool(memory, action="add", subject="JR", predicate="likes", object="snow").added == 1
    assert tool(memory, action="remove", id=tool(memory, action="query", object="snow").rows[0].id).removed == 1
    for wrong, message in (
        ({"action": "query", "source": "MEMORY.md#L1"}, "query takes no 'source'"),
        ({"action": "add", "subject": "JR", "asOf": "2026-03-02"}, "add takes no"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=message):
            tool(memory, **wrong)


@pytest.fixture
def run(notes: Notes) -> Callable[..., Any]:
    notes.write("memory/2026-02-01.md", "# 2026-02-01\n\n- JR lives in Utrecht.\n")
    return partial(run_command, notes, "facts")


def test_the_command(run: Callable[..., Any], notes: Notes) -> None:
    shown = run("query").stdout
    assert re.fullmatch(
        r"JR · lives in · Utrecht  \[f-\w+, since 2026-02-01, memory/2026-02-01.md#L3, found by 'sentence', confidence 0.85\]\n",
        shown,
    )
    added = json.loads(run("add", "JR", "lives in", "Leiden", "--since", "2026-04-01", "--json").stdout)
    assert (added["added"], added["rows"][0]["validFrom"], added["rows"][0]["rule"]) == (1, "2026-04-01", "stated")
    rows = json.loads(run("query", "--subject", "JR", "--json").stdout)["rows"]
    assert [row["object"] for row in rows] == ["Leiden"]
    assert json.loads(run("query", "--as-of", "2026-03-01", "--json").stdout)["rows"][0]["object"] == "Utrecht"
    printed = run("query", "--history").stdout
    assert printed.startswith("(old) JR · lives in · Utrecht") and f"replaced by {rows[0]['id']}" in printed
    assert run("add", "JR", "lives in", "Leiden").stdout.endswith("nothing to do: that is known already\n")
    assert run("update", rows[0]["id"], "--object", "Rome").stdout.endswith("1 updated\n")
    mira = json.loads(run("add", "Mira", "likes", "snow", "--json").stdout)["rows"][0]["id"]
    assert run("remove", mira).stdout.endswith("1 removed\n")
    assert run("query", "--subject", "nobody").stdout == "no facts\n"


def test_wrong_usage_is_said_in_one_line(run: Callable[..., Any]) -> None:
    for arguments, message in table("facts.tsv", "wrong usage is said in one line", parts, str):
        result = run(*arguments, code=2)
        assert message in result.stderr and result.stderr.count("\n") == 1


def test_a_subject_that_is_not_known_is_answered_by_those_that_are_near(notes: Notes) -> None:
    notes.write("USER.md", "# User\n\n- **Name:** Mira Osgood\n- **Timezone:** Europe/Lisbon\n")
    with open_memory(notes) as memory:
        assert memory.facts.query("Mira").warning == "no fact is about 'Mira'; there are facts about 'Mira Osgood'"
        assert memory.facts.query("Mira Osgood", predicate="likes").warning is None
        assert memory.facts.query("Wren").warning is None
        assert memory.facts.query("Mira Osgood").rows[0].object == "Europe/Lisbon"


def test_facts_are_computed_again_only_where_one_has_changed_or_moved(memory: Memory, notes: Notes) -> None:
    def changes(path: str, text: str) -> bool:
        before = memory.store.facts_version()
        notes.write(path, text)
        memory.ingest()
        return memory.store.facts_version() != before

    path, text = "memory/2026-03-01.md", "# 王さん\n\n- Wohnort: Köln\n"
    assert changes(path, text)
    assert not changes(path, f"{text}- Regen am Abend.\n")
    assert not changes("memory/2026-03-02.md", "- Regen am Morgen.\n")
    assert changes(path, f"\n{text}- Regen am Abend.\n")
    assert changes(path, f"\n{text.replace('Köln', 'Bonn')}- Regen am Abend.\n")
    assert objects(memory.facts.query("王さん")) == ["Bonn"]
    assert changes("memory/2026-03-02.md", "# 王さん\n\n- Telefon: 0228 5550142\n")
    notes.remove("memory/2026-03-02.md")
    assert changes(path, "- Regen.\n") and not memory.facts.query("王さん").rows
