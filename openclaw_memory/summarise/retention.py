"""How long each grain is kept: the plans, and whether a period has outlived its plan."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any

from ..model import Grain

#: For how many hours (working), days (daily), weeks, months, quarters or years a grain is kept, counted from the end of
#: a period's last day; one that is not among them is kept for good.
Limits = Mapping[Grain, int]

#: The limits of the plans by name; those of 'custom' are in the settings.
PLANS: Mapping[str, Limits] = MappingProxyType(
    {
        "keep": {},
        "free": dict(zip(Grain, (48, 30, 6, 6, 4, 2), strict=True)),
        "starter": dict(zip(Grain, (120, 60, 12, 12, 8, 4), strict=True)),
        "pro": dict(zip(Grain, (240, 120, 24, 24, 16, 8), strict=True)),
    }
)
#: Calendar months in a unit of the coarser grains.
_MONTHS = {Grain.MONTHLY: 1, Grain.QUARTERLY: 3, Grain.YEARLY: 12}


def limits_of(retention: Mapping[str, Any]) -> Limits:
    """The limits of the plan that the setting ``retention`` names; in 'custom' a limit of 0 keeps for good."""
    if retention["plan"] != "custom":
        return PLANS[retention["plan"]]
    names = ("working_hours", "daily_days", "weekly_weeks", "monthly_months", "quarterly_quarters", "yearly_years")
    return {grain: limit for grain, name in zip(Grain, names, strict=True) if (limit := retention.get(name))}


def expired(limits: Limits, grain: Grain, last_day: date, now: datetime) -> bool:
    """Whether a period of ``grain`` that ended with ``last_day`` is no longer kept at ``now``, which has a zone.

    The limit is counted from the midnight after ``last_day`` in that zone, for working notes in hours that really
    pass, else in days, weeks or calendar months (where a month lacks the day, its last one).
    """
    limit = limits.get(grain)
    if limit is None:
        return False
    try:
        ended = last_day + timedelta(days=1)
        if grain is Grain.WORKING:
            midnight = datetime.combine(ended, time(), now.tzinfo).astimezone(UTC)
            return now.astimezone(UTC) >= midnight + timedelta(hours=limit)
        if grain is Grain.DAILY:
            due = ended + timedelta(days=limit)
        elif grain is Grain.WEEKLY:
            due = ended + timedelta(weeks=limit)
        else:
            due = _months_later(ended, limit * _MONTHS[grain])
    except (OverflowError, ValueError):
        return False  # later than the calendar goes
    return now.date() >= due


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
