"""The calendar of summaries."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.errors import SettingsError
from openclaw_memory.model import Grain
from openclaw_memory.text import calendar

DAYS = st.dates()
GRAINS = st.sampled_from(list(Grain))
SUMMARY_GRAINS = st.sampled_from(list(Grain)[1:])
MONDAY = date(2026, 2, 16)


@pytest.mark.parametrize(
    ("grain", "day", "period", "first", "last"), table("periods.tsv", "a day has a period of each grain")
)
def test_a_day_has_a_period_of_each_grain(grain: str, day: str, period: str, first: str, last: str) -> None:
    assert calendar.period_of(date.fromisoformat(day), Grain(grain)) == period
    assert calendar.bounds(Grain(grain), period) == (date.fromisoformat(first), date.fromisoformat(last))


@given(DAYS, GRAINS)
@example(date.min, Grain.YEARLY)
@example(date.max, Grain.QUARTERLY)
def test_every_day_of_a_period_belongs_to_it_and_the_days_beside_it_do_not(day: date, grain: Grain) -> None:
    period = calendar.period_of(day, grain)
    first, last = calendar.bounds(grain, period)
    assert first <= day <= last
    inside = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    assert {calendar.period_of(one, grain) for one in inside} == {period}
    if first > date.min:
        before = calendar.period_of(first - timedelta(days=1), grain)
        assert before != period
        assert calendar.bounds(grain, before)[1] == first - timedelta(days=1)
    if last < date.max:
        after = calendar.period_of(last + timedelta(days=1), grain)
        assert after != period
        assert calendar.bounds(grain, after)[0] == last + timedelta(days=1)


@given(DAYS, GRAINS)
@example(date.min, Grain.WEEKLY)
@example(date.max, Grain.WEEKLY)
@example(date(2026, 3, 1), Grain.WEEKLY)
def test_a_period_lies_within_its_parents(day: date, grain: Grain) -> None:
    period = calendar.period_of(day, grain)
    above = calendar.parents(grain, period)
    if grain is Grain.YEARLY:
        assert above == ()
        return
    assert len(above) == 1 or (grain is Grain.WEEKLY and len(above) == 2)
    assert (calendar.COARSER[grain], calendar.period_of(day, calendar.COARSER[grain])) in above
    first, last = calendar.bounds(grain, period)
    assert calendar.bounds(*above[0])[0] <= first <= last <= calendar.bounds(*above[-1])[1]
    if len(above) == 2:
        assert calendar.bounds(*above[0])[1] + timedelta(days=1) == calendar.bounds(*above[1])[0]


@given(DAYS, DAYS, GRAINS)
def test_names_of_periods_sort_as_the_periods_do(first: date, other: date, grain: Grain) -> None:
    earlier, later = sorted((first, other))
    assert calendar.period_of(earlier, grain) <= calendar.period_of(later, grain)


@pytest.mark.parametrize(("grain", "period"), table("periods.tsv", "a text that is no period of a grain"))
def test_a_text_that_is_no_period_is_refused(grain: str, period: str) -> None:
    for function in (calendar.bounds, calendar.parents, calendar.path_of):
        with pytest.raises(ValueError, match=r"."):
            function(Grain(grain), period)
    with pytest.raises(ValueError, match=r"."):
        calendar.is_closed(Grain(grain), period, MONDAY, 0)
    assert calendar.parse_path(f"memory/consolidated/{grain}/{period}.md") is None


@pytest.mark.parametrize(("today", "older_than_days", "closed"), table("periods.tsv", "a week is closed or not"))
def test_a_period_is_closed_when_its_last_day_is_long_enough_ago(today: str, older_than_days: str, closed: str) -> None:
    day = date.fromisoformat(today)
    assert calendar.is_closed(Grain.WEEKLY, "2026-W08", day, int(older_than_days)) is (closed == "1")


def test_a_month_is_closed_with_its_last_week() -> None:
    assert not calendar.is_closed(Grain.MONTHLY, "2026-02", date(2026, 3, 1))
    assert calendar.is_closed(Grain.MONTHLY, "2026-02", date(2026, 3, 2))


@given(DAYS, SUMMARY_GRAINS)
def test_a_path_leads_back_to_its_period(day: date, grain: Grain) -> None:
    period = calendar.period_of(day, grain)
    path = calendar.path_of(grain, period)
    assert path == f"memory/consolidated/{grain.value}/{period}.md"
    assert calendar.parse_path(path) == (grain, period)


@pytest.mark.parametrize("path", table("periods.tsv", "other paths are no summaries"))
def test_other_paths_are_no_summaries(path: str) -> None:
    assert calendar.parse_path(path) is None


def test_working_notes_have_no_summary() -> None:
    with pytest.raises(ValueError, match="no summary"):
        calendar.path_of(Grain.WORKING, "2026-02-16")


@pytest.mark.parametrize(("zone", "day"), table("periods.tsv", "the day of an evening in a zone"))
def test_the_day_is_that_of_the_zone(zone: str, day: str) -> None:
    evening = datetime(2026, 2, 16, 20, 30, tzinfo=UTC)
    assert str(calendar.now_in(zone, evening).date()) == day
    elsewhere = evening.astimezone(timezone(timedelta(hours=-9)))
    assert str(calendar.now_in(zone, elsewhere).date()) == day
    assert calendar.now_in(zone, elsewhere) == evening


def test_without_a_moment_it_is_the_present_one() -> None:
    before = datetime.now(UTC)
    now = calendar.now_in("Asia/Tokyo")
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(hours=9)
    assert before.date() <= calendar.now_in("UTC").date() <= datetime.now(UTC).date()


@pytest.mark.parametrize(
    "zone", ["Atlantis/Capital", "Europe", "../etc/passwd", "/etc/passwd", "a\0b", "tzdata.zi", " "]
)
def test_an_unknown_zone_is_named_with_its_setting(zone: str) -> None:
    with pytest.raises(SettingsError, match=r"consolidate\.time_zone: there is no time zone"):
        calendar.now_in(zone, datetime(2026, 2, 16, tzinfo=UTC))


@pytest.mark.parametrize("zone", ["", "America/St_Johns", "Pacific/Auckland"])
@pytest.mark.parametrize("day", [date.min, date(2026, 2, 16), date.max])
def test_noon_is_on_its_day_at_the_ends_of_the_calendar_too(zone: str, day: date) -> None:
    noon = calendar.noon_in(zone, day)
    assert (noon.date(), noon.hour) == (day, 12) and noon.tzinfo is not None
