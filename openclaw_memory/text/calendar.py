"""Map days to the periods of summaries, and periods to their files.

A week is one of ISO 8601, Monday to Sunday, and may have days of two months; every other period is a part of one
coarser period.  Days are those that ``datetime.date`` knows, 0001-01-01 to 9999-12-31.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from types import MappingProxyType

from .. import patterns as re
from ..errors import SettingsError
from ..model import Grain

#: The grain that is made from each; the coarsest is not among the keys.
COARSER: Mapping[Grain, Grain] = MappingProxyType(dict(zip(list(Grain)[:-1], list(Grain)[1:], strict=True)))

#: Folder of the summaries in a workspace.
FOLDER = "memory/consolidated"

#: A year, or a week, quarter, month or day of it.
_PERIOD = re.compile(r"([0-9]{4})(?:-(?:W([0-9]{2})|Q([1-4])|(0[1-9]|1[0-2])(?:-([0-9]{2}))?))?")


def period_of(day: date, grain: Grain) -> str:
    """Return the name of the period of ``grain`` that contains ``day``; working notes have days as periods."""
    if grain in (Grain.WORKING, Grain.DAILY):
        return f"{day.year:04}-{day.month:02}-{day.day:02}"
    if grain is Grain.WEEKLY:
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    if grain is Grain.MONTHLY:
        return f"{day.year:04}-{day.month:02}"
    if grain is Grain.QUARTERLY:
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}"


def bounds(grain: Grain, period: str) -> tuple[date, date]:
    """Return the first and the last day of a period; raises ``ValueError`` for a name of no period of ``grain``."""
    match = _PERIOD.fullmatch(period)
    if match is None or _grain(match) is not (Grain.DAILY if grain is Grain.WORKING else grain):
        raise ValueError(
            f"'{period}' is no {grain.value} period; one is called like {period_of(date(2026, 2, 16), grain)}"
        )
    year, week, quarter, month, day = (int(part or 0) for part in match.groups())
    if match[5]:
        return date(year, month, day), date(year, month, day)
    if match[2]:
        thursday = date.fromisocalendar(year, week, 4)
        return thursday - timedelta(days=3), _after(thursday, 3)
    first = month or max(1, 3 * quarter - 2)
    last = month or 3 * quarter or 12
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


def last_day(period: str) -> date | None:
    """Return the last day of a year, or of a week, quarter, month or day of it; ``None`` for another text."""
    match = _PERIOD.fullmatch(period)
    try:
        return bounds(_grain(match), period)[1] if match else None
    except ValueError:
        return None


def parents(grain: Grain, period: str) -> tuple[tuple[Grain, str], ...]:
    """Return the coarser periods that share days with this one; raises as :func:`bounds`.

    A week at the end of a month has two, a year none.
    """
    ends = bounds(grain, period)
    coarser = COARSER.get(grain)
    return () if coarser is None else tuple(dict.fromkeys((coarser, period_of(day, coarser)) for day in ends))


def is_closed(grain: Grain, period: str, today: date, older_than_days: int = 0) -> bool:
    """Return true if a period, with its last week, ended more than ``older_than_days`` days before ``today``.

    Raises as :func:`bounds`.
    """
    last = bounds(grain, period)[1]
    if grain not in (Grain.WORKING, Grain.DAILY):
        last = _after(last, 6 - last.weekday())
    return today.toordinal() - last.toordinal() > older_than_days


def path_of(grain: Grain, period: str) -> str:
    """Return the file of a period's summary, relative to the workspace; raises as :func:`bounds`, also for notes."""
    if grain is Grain.WORKING:
        raise ValueError("working notes have no summary; a summary's grain is daily or coarser")
    bounds(grain, period)
    return f"{FOLDER}/{grain.value}/{period}.md"


def parse_path(path: str) -> tuple[Grain, str] | None:
    """Return the grain and period of the summary at ``path``; ``None`` for every other path."""
    folder, _, name = path.rpartition("/")
    above, _, grain_name = folder.rpartition("/")
    if above != FOLDER or grain_name not in COARSER.values() or not name.endswith(".md"):
        return None
    grain, period = Grain(grain_name), name.removesuffix(".md")
    try:
        bounds(grain, period)
    except ValueError:
        return None
    return grain, period


def now_in(zone: str, now: datetime | None = None) -> datetime:
    """Return the moment ``now``, by default the present one, by the clocks of ``zone``.

    ``zone`` is an IANA name, or empty for the system's zone; a ``now`` without a zone is in the system's.  Raises
    :class:`~openclaw_memory.errors.SettingsError` for an unknown name.
    """
    where = _zone(zone) if zone else None
    return (datetime.now() if now is None else now).astimezone(where)


def today(zone: str) -> date:
    """Return the present day in ``zone``, as for :func:`now_in`; in the system's zone where there is no such zone."""
    try:
        return now_in(zone).date()
    except SettingsError:
        return now_in("").date()


def noon_in(zone: str, day: date, clock: time = time(12)) -> datetime:
    """Return noon of ``day``, or another time by the ``clock``, in ``zone``, which is as for :func:`now_in`.

    On the first and last days of the calendar, which no zone can shift, the time is in UTC.
    """
    noon = datetime.combine(day, clock)
    try:
        return noon.replace(tzinfo=_zone(zone)) if zone else noon.astimezone()
    except (OverflowError, ValueError):
        return noon.replace(tzinfo=UTC)


def _grain(match: re.Match[str]) -> Grain:
    """Return the grain of a period, by the parts of :data:`_PERIOD` that it has."""
    by_part = {None: Grain.YEARLY, 2: Grain.WEEKLY, 3: Grain.QUARTERLY, 4: Grain.MONTHLY, 5: Grain.DAILY}
    return by_part[max((part for part in range(2, 6) if match[part]), default=None)]


def _after(day: date, count: int) -> date:
    """Return the day ``count`` days later, at most the last one of the calendar."""
    return date.fromordinal(min(day.toordinal() + count, date.max.toordinal()))


def _zone(name: str) -> tzinfo:
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (OSError, ValueError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise SettingsError(
            f"consolidate.time_zone: there is no time zone '{name}'; give an IANA name such as Europe/Berlin, "
            "or leave it empty for the system's (where no zone is found, install the Python package tzdata)"
        ) from error
