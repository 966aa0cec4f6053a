"""How long each grain is kept: the plans, and whether a period has outlived its plan."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any

from ..model import Grain

#: Calendar months in a unit of the coarser grains.
_MONTHS = {Grain.MONTHLY: 1, Grain.QUARTERLY: 3, Grain.YEARLY: 12}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long each grain is kept, counted from the end of a period's last day; ``None`` keeps for good."""

    name: str
    working_hours: int | None = None
    daily_days: int | None = None
    weekly_weeks: int | None = None
    monthly_months: int | None = None
    quarterly_quarters: int | None = None
    yearly_years: int | None = None

    def limit(self, grain: Grain) -> int | None:
        """How many hours (working), days (daily), weeks, months, quarters or years ``grain`` is kept."""
        limits: dict[Grain, int | None] = {
            Grain.WORKING: self.working_hours,
            Grain.DAILY: self.daily_days,
            Grain.WEEKLY: self.weekly_weeks,
            Grain.MONTHLY: self.monthly_months,
            Grain.QUARTERLY: self.quarterly_quarters,
            Grain.YEARLY: self.yearly_years,
        }
        return limits[grain]

    @property
    def keeps_all(self) -> bool:
        """Whether nothing ever expires."""
        return all(self.limit(grain) is None for grain in Grain)


#: The plans by name; 'custom' is made from the settings by :func:`plan_of`.
PLANS: Mapping[str, Plan] = MappingProxyType(
    {
        plan.name: plan
        for plan in (
            Plan("keep"),
            Plan("free", 48, 30, 6, 6, 4, 2),
            Plan("starter", 120, 60, 12, 12, 8, 4),
            Plan("pro", 240, 120, 24, 24, 16, 8),
        )
    }
)


def plan_of(retention: Mapping[str, Any]) -> Plan:
    """The plan that the setting ``retention`` names; in 'custom' a limit of 0 keeps for good."""
    if retention["plan"] != "custom":
        return PLANS[retention["plan"]]
    return Plan("custom", **{name: limit or None for name, limit in retention.items() if name != "plan"})


def expired(plan: Plan, grain: Grain, last_day: date, now: date | datetime) -> bool:
    """Whether the plan no longer keeps, at ``now``, a period of ``grain`` that ended with ``last_day``.

    The limit is counted from the midnight after ``last_day``, for working notes in hours that really pass, else in
    days, weeks or calendar months (where a month lacks the day, its last one).  Midnight is that of the zone of
    ``now``; a ``now`` that is a mere day stands for its first moment.
    """
    limit = plan.limit(grain)
    if limit is None:
        return False
    try:
        ended = last_day + timedelta(days=1)
        if grain is Grain.WORKING:
            return _hours_passed(ended, limit, now)
        if grain is Grain.DAILY:
            due = ended + timedelta(days=limit)
        elif grain is Grain.WEEKLY:
            due = ended + timedelta(weeks=limit)
        else:
            due = _months_later(ended, limit * _MONTHS[grain])
    except OverflowError:
        return False  # later than the calendar goes
    return (now.date() if isinstance(now, datetime) else now) >= due


def _hours_passed(ended: date, hours: int, now: date | datetime) -> bool:
    if not isinstance(now, datetime):
        now = datetime.combine(now, time())
    begin = datetime.combine(ended, time(), now.tzinfo)
    if now.tzinfo is not None:
        begin, now = begin.astimezone(UTC), now.astimezone(UTC)
    return now >= begin + timedelta(hours=hours)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if year > date.max.year:
        raise OverflowError("no such year")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
