"""How long each grain is kept."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_memory.model import Grain
from openclaw_memory.summarise.retention import PLANS, Plan, expired, plan_of

DAYS = st.dates()
USUAL = st.dates(date(1990, 1, 1), date(2090, 12, 31))
GRAINS = st.sampled_from(list(Grain))
LIMITS = st.none() | st.integers(1, 10**9)
ANY_PLAN = st.builds(Plan, st.just("custom"), LIMITS, LIMITS, LIMITS, LIMITS, LIMITS, LIMITS)
NAMED = st.sampled_from(list(PLANS.values()))


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("keep", [None] * 6),
        ("free", [48, 30, 6, 6, 4, 2]),
        ("starter", [120, 60, 12, 12, 8, 4]),
        ("pro", [240, 120, 24, 24, 16, 8]),
    ],
)
def test_the_plans(name: str, limits: list[int | None]) -> None:
    plan = plan_of({"plan": name})
    assert plan.name == name
    assert [plan.limit(grain) for grain in Grain] == limits
    assert plan.keeps_all is (name == "keep")


def test_the_limits_of_the_settings_count_with_the_custom_plan_only() -> None:
    limits = {"working_hours": 5, "weekly_weeks": 3, "yearly_years": 1}
    custom = plan_of({"plan": "custom", **limits})
    assert [custom.limit(grain) for grain in Grain] == [5, None, 3, None, None, 1]
    assert plan_of({"plan": "free", **limits}) == PLANS["free"]
    assert plan_of({"plan": "keep", **limits}) == PLANS["keep"]
    assert plan_of({"plan": "custom"}).keeps_all


@pytest.mark.parametrize(
    ("grain", "limit", "last_day", "due"),
    [
        (Grain.WORKING, 48, date(2026, 2, 16), date(2026, 2, 19)),
        (Grain.DAILY, 30, date(2026, 2, 16), date(2026, 3, 19)),
        (Grain.WEEKLY, 6, date(2026, 2, 22), date(2026, 4, 6)),
        (Grain.MONTHLY, 6, date(2026, 2, 28), date(2026, 9, 1)),
        (Grain.MONTHLY, 6, date(2026, 3, 1), date(2026, 9, 2)),
        (Grain.MONTHLY, 1, date(2026, 1, 30), date(2026, 2, 28)),
        (Grain.MONTHLY, 1, date(2024, 1, 30), date(2024, 2, 29)),
        (Grain.MONTHLY, 12, date(2026, 12, 31), date(2028, 1, 1)),
        (Grain.QUARTERLY, 4, date(2026, 3, 29), date(2027, 3, 30)),
        (Grain.QUARTERLY, 1, date(2025, 11, 29), date(2026, 2, 28)),
        (Grain.YEARLY, 2, date(2025, 12, 28), date(2027, 12, 29)),
        (Grain.YEARLY, 1, date(2024, 2, 28), date(2025, 2, 28)),
    ],
)
def test_a_period_expires_on_the_day_that_its_time_is_over(grain: Grain, limit: int, last_day: date, due: date) -> None:
    limits = [limit if one is grain else None for one in Grain]
    plan = Plan("custom", *limits)
    eve = due - timedelta(days=1)
    assert not expired(plan, grain, last_day, eve)
    assert expired(plan, grain, last_day, due)
    assert not expired(plan, grain, last_day, datetime(eve.year, eve.month, eve.day, 23, 59, 59))
    assert expired(plan, grain, last_day, datetime(due.year, due.month, due.day, tzinfo=UTC))
    assert not any(expired(plan, other, last_day, date.max) for other in Grain if other is not grain)


def test_working_notes_are_kept_for_hours_after_the_day() -> None:
    plan = Plan("custom", working_hours=5)
    assert not expired(plan, Grain.WORKING, date(2026, 2, 16), datetime(2026, 2, 17, 4, 59))
    assert expired(plan, Grain.WORKING, date(2026, 2, 16), datetime(2026, 2, 17, 5))


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
    plan = Plan("custom", working_hours=5)
    assert expired(plan, Grain.WORKING, last_day, moment)
    assert not expired(plan, Grain.WORKING, last_day, moment - timedelta(minutes=1))


@given(ANY_PLAN | NAMED, GRAINS, DAYS, DAYS, DAYS, DAYS)
@example(PLANS["free"], Grain.MONTHLY, date(2026, 8, 31), date(2026, 8, 30), date(2027, 2, 28), date(2027, 3, 1))
@example(PLANS["free"], Grain.YEARLY, date.max, date.min, date.max, date.max)
def test_what_has_expired_stays_so_and_what_is_older_has_too(
    plan: Plan, grain: Grain, one: date, other: date, now: date, then: date
) -> None:
    older, newer = sorted((one, other))
    earlier, later = sorted((now, then))
    if expired(plan, grain, newer, earlier):
        assert expired(plan, grain, newer, later)
        assert expired(plan, grain, older, earlier)
        assert newer < earlier


@given(
    st.integers(1, 1000),
    USUAL,
    st.datetimes(
        datetime(1990, 1, 1),
        datetime(2090, 12, 31),
        timezones=st.sampled_from(
            [UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/St_Johns"), ZoneInfo("Asia/Tokyo")]
        ),
    ),
    st.timedeltas(timedelta(0), timedelta(days=100)),
)
def test_hours_never_run_backwards_in_any_zone(hours: int, last_day: date, now: datetime, more: timedelta) -> None:
    plan = Plan("custom", working_hours=hours)
    later = (now.astimezone(UTC) + more).astimezone(now.tzinfo)
    assert expired(plan, Grain.WORKING, last_day, now) <= expired(plan, Grain.WORKING, last_day, later)


@given(GRAINS, DAYS, DAYS)
def test_a_larger_plan_keeps_what_a_smaller_one_keeps(grain: Grain, last_day: date, now: date) -> None:
    gone = [expired(PLANS[name], grain, last_day, now) for name in ("free", "starter", "pro", "keep")]
    assert gone == sorted(gone, reverse=True)
    assert not gone[-1]


@given(NAMED, USUAL, USUAL)
def test_the_plans_keep_coarser_grains_longer(plan: Plan, last_day: date, now: date) -> None:
    gone = [expired(plan, grain, last_day, now) for grain in Grain]
    assert gone == sorted(gone, reverse=True)
