"""Periods of facts against what the rules say of each day on its own."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.facts.history import as_of, build_history
from openclaw_memory.model import FactRow, Kind, Origin
from openclaw_memory.store.api import FactObservation, StatedFact

FIRST = date(2026, 1, 1)
DAYS = range(-1, 16)
ORIGINS = st.sampled_from([Origin.OWNER, Origin.AGENT, Origin.UNTRUSTED])


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def line(at: int, start: int, stop: int | None = None, origin: Origin = Origin.AGENT, what: str = "") -> StatedFact:
    until = None if stop is None else day(stop)
    return StatedFact(f"f-{at}", "JR", "lives in", what or f"town {at}", 1.0, origin, None, day(start), until, "")


def end(at: int, on: int | None) -> StatedFact:
    until = None if on is None else day(on)
    return StatedFact(f"e-{at}", "", "", "", 1.0, Origin.AGENT, None, None, until, "", retracts=f"f-{at}")


def note(at: int, on: int, origin: Origin = Origin.AGENT) -> FactObservation:
    return FactObservation(
        at, f"memory/{day(on)}.md", at, at, Kind.DAILY, origin, day(on), True, at, 0, "JR", "lives in", f"village {at}",
        "says", 0.8,
    )  # fmt: skip


def resolve(*known: Any, **values: Any) -> list[FactRow]:
    return list(build_history(*known, **values).rows)


def holding(rows: list[FactRow], number: int) -> set[str]:
    return {row.object for row in as_of(rows, day(number))}


LINES = st.lists(st.tuples(st.integers(0, 12), st.none() | st.integers(0, 14), ORIGINS), max_size=7)


@examples(300)
@given(lines=LINES, ends=st.dictionaries(st.integers(0, 6), st.none() | st.integers(0, 14), max_size=3))
def test_on_each_day_the_last_line_that_covers_it_counts(
    lines: list[tuple[int, int | None, Origin]], ends: dict[int, int | None]
) -> None:
    """What is ended stays away with what it had displaced; what never held displaces nothing."""
    entries = [line(at, *each) for at, each in enumerate(lines)]
    gone = {at: -1 if on is None else on for at, on in ends.items()}
    rows = resolve([], [*entries, *(end(at, on) for at, on in ends.items() if at < len(lines))], today=FIRST)
    for number in DAYS:
        covering = [
            (at, origin)
            for at, (start, stop, origin) in enumerate(lines)
            if start <= number and (stop is None or number < stop) and gone.get(at, start + 1) > start
        ]
        expected = {
            f"town {at}"
            for at, origin in covering
            if number < gone.get(at, number + 1)
            and not any(
                later > at and (above != Origin.UNTRUSTED or origin == Origin.UNTRUSTED) for later, above in covering
            )
        }
        assert holding(rows, number) == expected


@examples(300)
@given(lines=LINES, notes=st.lists(st.integers(0, 12), unique=True, max_size=5), origin=ORIGINS)
def test_on_each_day_the_newest_note_counts_where_no_line_does(
    lines: list[tuple[int, int | None, Origin]], notes: list[int], origin: Origin
) -> None:
    observations = [note(at, on, origin) for at, on in enumerate(notes, 1)]
    rows = resolve(observations, [line(at, *each) for at, each in enumerate(lines)], today=FIRST)
    for number in DAYS:
        covered = any(
            start <= number and (stop is None or number < stop)
            for start, stop, above in lines
            if above != Origin.UNTRUSTED or origin == Origin.UNTRUSTED
        )
        earlier = [(on, at) for at, on in enumerate(notes, 1) if on <= number]
        expected = set() if covered or not earlier else {f"village {max(earlier)[1]}"}
        assert {what for what in holding(rows, number) if what.startswith("village")} == expected


@examples(100)
@given(lines=LINES, values=st.lists(st.sampled_from("ab"), min_size=7, max_size=7))
def test_parts_of_one_fact_do_not_overlap(lines: list[tuple[int, int | None, Origin]], values: list[str]) -> None:
    history = build_history([], [line(at, *each, what=values[at]) for at, each in enumerate(lines)], today=FIRST)
    for number in DAYS:
        ids = [row.id for row in as_of(history.rows, day(number))]
        assert len(ids) == len(set(ids))
    assert set(history.ids) == {f"f-{at}" for at in range(len(lines))}


def test_parts_of_a_fact_say_what_ended_each() -> None:
    rows = resolve([], [line(0, 1), line(1, 3, 5), line(2, 7, 9), line(3, 12)], today=FIRST)
    spans = [(row.valid_from, row.valid_to, row.superseded_by) for row in rows if row.id == "f-0"]
    assert spans == [(day(1), day(3), "f-1"), (day(5), day(7), "f-2"), (day(9), day(12), "f-3")]


def test_the_same_value_goes_on_and_takes_the_end_that_was_said_last() -> None:
    rows = resolve([], [line(0, 1, 4, what="a"), line(1, 4, what="a"), line(2, 3, 9, what="a")], today=FIRST)
    assert [(row.id, row.valid_from, row.valid_to) for row in rows] == [("f-0", day(1), day(9))]
    # After a day without it the same value is a fact of its own.
    rows = resolve([], [line(0, 1, 4, what="a"), line(1, 5, what="a")], today=FIRST)
    assert [(row.id, row.valid_from, row.valid_to) for row in rows] == [("f-0", day(1), day(4)), ("f-1", day(5), None)]


def test_the_same_value_for_earlier_days_takes_nothing_from_later_ones() -> None:
    rows = resolve([], [line(0, 20, what="a"), line(1, 1, 10, what="a")], today=FIRST)
    assert [(row.valid_from, row.valid_to) for row in rows] == [(day(1), day(10)), (day(20), None)]
