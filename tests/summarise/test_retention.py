"""How long each grain is kept."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.model import Grain
from openclaw_memory.summarise.retention import PLANS, Limits, is_expired, limits_for

DAYS = st.dates()
GRAINS = st.sampled_from(list(Grain))
NAMED = st.sampled_from(list(PLANS.values()))


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def test_the_limits_of_the_settings_count_with_the_custom_plan_only() -> None:
    limits = {"working_hours": 5, "weekly_weeks": 3, "yearly_years": 1, "daily_days": 0}
    assert limits_for({"plan": "custom", **limits}) == {Grain.WORKING: 5, Grain.WEEKLY: 3, Grain.YEARLY: 1}
    assert limits_for({"plan": "free", **limits}) == PLANS["free"]
    assert limits_for({"plan": "keep", **limits}) == limits_for({"plan": "custom"}) == {}


@pytest.mark.parametrize(("grain", "limit", "last_day", "due"), table("retention.tsv", "a period expires"))
def test_a_period_expires_on_the_day_that_its_time_is_over(grain: str, limit: str, last_day: str, due: str) -> None:
    limits, last, begins = {Grain(grain): int(limit)}, date.fromisoformat(last_day), midnight(date.fromisoformat(due))
    assert not is_expired(limits, Grain(grain), last, begins - timedelta(seconds=1))
    assert is_expired(limits, Grain(grain), last, begins)
    assert not any(is_expired(limits, other, last, midnight(date.max)) for other in Grain if other != grain)


@pytest.mark.parametrize(
    ("last_day", "due"),
    [
        (date(2026, 3, 28), datetime(2026, 3, 29, 6, 0)),  # the night that loses an hour
        (date(2026, 10, 24), datetime(2026, 10, 25, 4, 0)),  # the night that has one twice
        (date(2026, 2, 16), datetime(2026, 2, 17, 5, 0)),
    ],
)
def test_hours_are_those_that_pass(last_day: date, due: datetime) -> None:
    moment = due.replace(tzinfo=ZoneInfo("Europe/Berlin"))
    assert is_expired({Grain.WORKING: 5}, Grain.WORKING, last_day, moment)
    assert not is_expired({Grain.WORKING: 5}, Grain.WORKING, last_day, moment - timedelta(minutes=1))


@given(st.dictionaries(GRAINS, st.integers(1, 10**9)) | NAMED, GRAINS, DAYS, DAYS, DAYS, DAYS)
@example(PLANS["free"], Grain.MONTHLY, date(2026, 8, 31), date(2026, 8, 30), date(2027, 2, 28), date(2027, 3, 1))
@example(PLANS["free"], Grain.YEARLY, date.max, date.min, date.max, date.max)
def test_what_has_expired_stays_so_and_what_is_older_has_too(
    limits: Limits, grain: Grain, first: date, other: date, now: date, then: date
) -> None:
    older, newer = sorted((first, other))
    earlier, later = sorted((now, then))
    if is_expired(limits, grain, newer, midnight(earlier)):
        assert is_expired(limits, grain, newer, midnight(later))
        assert is_expired(limits, grain, older, midnight(earlier))
        assert newer < earlier


@given(GRAINS, DAYS, DAYS)
def test_a_larger_plan_keeps_what_a_smaller_one_keeps(grain: Grain, last_day: date, now: date) -> None:
    gone = [is_expired(PLANS[name], grain, last_day, midnight(now)) for name in ("free", "starter", "pro", "keep")]
    assert gone == sorted(gone, reverse=True)
    assert not gone[-1]
