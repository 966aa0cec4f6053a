"""Retention: how long each grain is kept, and the notes and summaries that have outlived their limit."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any

from ..model import Grain, SourceFile
from ..records import dataclass
from ..text import calendar
from .inventory import GRAINS, DayNote, Inventory, PeriodKey

#: Hours (working), days (daily), weeks, months, quarters or years for which a grain is kept, counted from the end of a
#: period's last day.  A grain without a limit is kept for good.
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


def limits_for(retention: Mapping[str, Any]) -> Limits:
    """Return the limits of the plan in the setting ``retention``; in 'custom' a limit of 0 keeps for good."""
    if retention["plan"] != "custom":
        return PLANS[retention["plan"]]
    names = ("working_hours", "daily_days", "weekly_weeks", "monthly_months", "quarterly_quarters", "yearly_years")
    return {grain: limit for grain, name in zip(Grain, names, strict=True) if (limit := retention.get(name))}


def is_expired(limits: Limits, grain: Grain, last_day: date, now: datetime) -> bool:
    """Return true if a period of ``grain`` that ended with ``last_day`` is no longer kept at ``now``, which has a zone.

    The limit is counted from the midnight after ``last_day`` in that zone: for working notes in hours that really
    pass, else in days, weeks or calendar months (where a month lacks the day, its last one).
    """
    limit = limits.get(grain)
    if limit is None:
        return False
    try:
        end = last_day + timedelta(days=1)
        if grain is Grain.WORKING:
            midnight = datetime.combine(end, time(), now.tzinfo).astimezone(UTC)
            return now.astimezone(UTC) >= midnight + timedelta(hours=limit)
        if grain is Grain.DAILY:
            due = end + timedelta(days=limit)
        elif grain is Grain.WEEKLY:
            due = end + timedelta(weeks=limit)
        else:
            year, month = divmod(end.year * 12 + end.month - 1 + limit * _MONTHS[grain], 12)
            due = date(year, month + 1, min(end.day, monthrange(year, month + 1)[1]))
    except (OverflowError, ValueError):
        return False  # later than the calendar goes
    return now.date() >= due


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """Notes to retire, paths of retired notes to read again, and periods whose summaries to delete, finest first."""

    retire: list[DayNote] = field(default_factory=list)
    release: list[str] = field(default_factory=list)
    delete: list[PeriodKey] = field(default_factory=list)


def plan_retention(
    inventory: Inventory,
    files: Mapping[str, SourceFile],
    limits: Limits,
    now: datetime,
    written: Collection[PeriodKey],
    dropped: Collection[PeriodKey],
) -> RetentionPlan:
    """Find what has outlived its limit and is covered by a coarser summary.

    ``files`` are those on disk by path; a note that has changed since it was indexed is left to the next run.
    ``written`` are periods whose summaries count as current though the inventory lacks them, ``dropped`` those whose
    summaries are gone though it has them.
    """

    def expired(key: PeriodKey) -> bool:
        return is_expired(limits, key[0], calendar.bounds(*key)[1], now)

    def covers(key: PeriodKey) -> bool:
        return key not in dropped and (key in written or inventory.is_current(key))

    def covered(key: PeriodKey) -> bool:
        """Return true if current coarser summaries cover the period, or none of them would be kept either."""
        ends = calendar.bounds(*key)
        coarser = GRAINS if key[0] is Grain.WORKING else GRAINS[GRAINS.index(key[0]) + 1 :]
        levels = [tuple(dict.fromkeys((grain, calendar.period_of(day, grain)) for day in ends)) for grain in coarser]
        for level in levels:
            parents = [parent for parent in level if parent in inventory.children] or level
            if all(map(covers, parents)):
                return True
            if any(map(inventory.is_edited, parents)):
                return False  # the summaries above it follow from what a person wrote about other notes
        return all(expired(parent) for level in levels for parent in level)

    plan = RetentionPlan()
    for day, notes in sorted(inventory.by_day.items()):
        key = (Grain.DAILY if inventory.is_short((Grain.DAILY, day)) else Grain.WORKING, day)
        if not expired(key):
            plan.release.extend(note.path for note in notes if note.retired)
        elif covered(key):
            plan.retire.extend(
                note
                for note in notes
                if not note.retired and note.path in files and note.is_unchanged(files[note.path])
            )
    ours = {key for key, info in inventory.summaries.items() if not info.edited} | set(written)
    for key in sorted(ours - set(dropped), key=lambda key: (GRAINS.index(key[0]), key[1])):
        if expired(key) and covered(key):
            plan.delete.append(key)
    return plan
