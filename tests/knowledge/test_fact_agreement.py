"""What the facts of one file say of each other."""

from __future__ import annotations

import pytest

from openclaw_memory.knowledge.fact_agreement import agreeing
from openclaw_memory.model import FoundFact


def _key(heading: str, subject: str, predicate: str, thing: str) -> tuple[str, FoundFact]:
    return heading, FoundFact(subject, predicate, thing, "key", 0.9)


def _decided(subject: str, thing: str) -> tuple[str, FoundFact]:
    return f"Log > {subject}", FoundFact(subject, "decided", thing, "decision", 0.9)


def test_two_values_below_headings_that_name_nothing_are_about_what_nobody_named() -> None:
    found = [
        _key("Log > Tide Watch > Review Setup", "Tide Watch", "workspace", "~/tide-review"),
        _key("Log > Tide Watch > Test Setup", "Tide Watch", "workspace", "~/tide-test"),
        _key("Log > Tide Watch > Test Setup", "Tide Watch", "owner", "Wren"),
        _key("Log > Heron > Setup", "Heron", "workspace", "~/heron"),
    ]
    assert agreeing(found) == [False, False, True, True]


def test_what_stands_directly_below_its_subject_is_about_it() -> None:
    found = [
        _key("Log > Tide Watch", "Tide Watch", "status", "running"),
        _key("Log > Tide Watch > Review", "Tide Watch", "status", "waiting for Wren"),
    ]
    assert agreeing(found) == [True, False]


@pytest.mark.parametrize("heading", ["Log > Heron > {} Survey", "Log > Heron > Survey {}"])
def test_days_in_headings_tell_two_states_apart(heading: str) -> None:
    found = [
        _key(heading.format(day), "Heron", "status", state)
        for day, state in (("2026-03-01", "ashore"), ("2026-04-01", "afloat"))
    ]
    assert agreeing(found) == [True, True]


def test_days_tell_no_addresses_apart() -> None:
    found = [
        _key(f"Log > 2026-03-0{day} tide report", "Log Book", "link", f"https://example.org/{day}") for day in (1, 2)
    ]
    assert agreeing(found) == [False, False]


def test_the_same_value_twice_agrees() -> None:
    found = [_key(f"Log > Heron > {part}", "Heron", "status", "Ashore") for part in ("Survey", "Paint")]
    assert agreeing(found) == [True, True]


def test_verdicts_of_a_review_are_no_decisions() -> None:
    found = [
        _decided("Tide report", "Promoted as a weekly signal"),
        _decided("Wind report", "Not promoted; the entry stands"),
        _decided("Moon report", "Not promoted (a duplicate)"),
        _decided("Gauge", "Keep the brass one"),
    ]
    assert agreeing(found) == [False, False, False, True]
    german = [_decided("Flut", "Nicht übernommen; doppelt"), _decided("Wind", "Nicht übernommen (alt)")]
    assert agreeing(german) == [False, False]


def test_a_decision_and_its_opposite_are_both_decisions() -> None:
    found = [
        _decided("Store", "Use the shed for the sails"),
        _decided("Varnish", "Use two coats"),
        _decided("Rope", "Don't use hemp any more"),
        _decided("Winch", "Not repaired (too old)"),
    ]
    assert agreeing(found) == [True] * 4
