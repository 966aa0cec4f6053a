"""Deadlines: what is left of them, on a clock that the test turns."""

import math
import time

import pytest

from openclaw_memory.system.deadline import NEVER, Deadline


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_what_is_left_shrinks_to_nothing_and_no_further(clock: list[float]) -> None:
    until = Deadline.after(8.0)
    assert (until.left(), until.left(0.5), until.within(3.0), until.passed) == (8.0, 4.0, 3.0, False)
    clock[0] += 6
    assert (until.left(), until.within(3.0), until.within(3.0, 0.5), until.passed) == (2.0, 2.0, 1.0, False)
    clock[0] += 2
    assert (until.left(), until.within(3.0), until.passed) == (0.0, 0.0, True)
    clock[0] += 5
    assert (until.left(), until.within(3.0), until.passed) == (0.0, 0.0, True)


def test_none_is_never(clock: list[float]) -> None:
    until = Deadline.after(None)
    assert until == NEVER and until.left(0.5) is None and until.within(3.0, 0.5) == 3.0 and not until.passed
    assert until.within() == math.inf


def test_the_sooner_of_two_is_the_smaller(clock: list[float]) -> None:
    assert min(NEVER, Deadline.after(5), Deadline.after(2)).left() == 2


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_time_has_passed_at_once(clock: list[float], seconds: float) -> None:
    assert Deadline.after(seconds).passed and Deadline.after(seconds).left() == 0
