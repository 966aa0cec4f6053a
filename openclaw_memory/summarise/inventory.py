"""What summaries are made of: the notes of each day as the index, or the record of retired ones, knows them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from ..model import CHARS_PER_TOKEN, TRUSTED, Grain, Kind, Origin, ScanResult
from ..store.api import Store, SummaryInfo
from ..text import calendar
from ..text.dates import date_in_name
from .document import FORMAT
from .retired import Retired

#: Grains of summaries, finest first.
GRAINS = tuple(Grain)[1:]
FINER = {coarse: fine for fine, coarse in calendar.COARSER.items()}

#: What the name of a note may not hold to be cited: ends of lines and other controls, and the end of a citation.
_UNCITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]|\] \[")

#: A grain and a period of it.
Key = tuple[Grain, str]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A note of a day; ``units`` are those in the index, ``size`` is in bytes."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    day: date
    origin: Origin
    units: int = 0
    retired: bool = False


class Leaves:
    """The notes of every day, the summaries that there are, and the tree of periods above them.

    ``fingerprints`` say for each grain what of the settings decides how its summaries read; a day whose notes have
    no more than ``short`` characters is kept as it is; ``origins`` are those of the summaries, by path.
    """

    def __init__(
        self,
        leaves: Iterable[Leaf],
        summaries: Iterable[SummaryInfo],
        fingerprints: Mapping[Grain, str],
        short: float = 0.0,
        origins: Mapping[str, Origin] | None = None,
    ) -> None:
        self.by_day: defaultdict[str, list[Leaf]] = defaultdict(list)
        for leaf in sorted(leaves, key=lambda leaf: leaf.path):
            self.by_day[calendar.period_of(leaf.day, Grain.DAILY)].append(leaf)
        #: By grain and period; a file with another name is no summary.
        self.summaries: dict[Key, SummaryInfo] = {}
        for info in summaries:
            if (where := calendar.parse_path(info.path)) is not None:
                self.summaries[where] = info
        self._fingerprints = fingerprints
        self._short = short
        self._origins = origins or {}
        self._digests: dict[Key, str] = {}
        self._children: dict[Key, list[str]] = {}
        #: Periods with a note, or with a summary below that a person has edited, in order of time.
        self.periods: dict[Grain, list[str]] = {}
        below: list[str] = []
        for grain in GRAINS:
            here: dict[str, list[str]] = {day: [] for day in self.by_day} if grain is Grain.DAILY else {}
            for child in below:
                for above in self._above(FINER[grain], child):
                    here.setdefault(above, []).append(child)
            for (one, period), info in self.summaries.items():
                if one is grain and info.edited:
                    here.setdefault(period, [])
            below = self.periods[grain] = sorted(here)
            self._children |= {(grain, period): here[period] for period in below}

    def _above(self, grain: Grain, period: str) -> list[str]:
        """The periods of the next grain that a period has notes of; a person's summary may be of any of its days."""
        every = [name for _, name in calendar.parents(grain, period)]
        if len(every) == 1 or self.is_edited(grain, period):
            return every
        days = self._children[grain, period]
        return [
            name
            for name in every
            if any(name == calendar.period_of(date.fromisoformat(day), Grain.MONTHLY) for day in days)
        ]

    def of(self, day: str) -> Sequence[Leaf]:
        """The notes of a day, by path."""
        return self.by_day.get(day, ())

    def children(self, grain: Grain, period: str) -> Sequence[str]:
        """The finer periods that a period is made of, in order."""
        return self._children.get((grain, period), ())

    def is_there(self, grain: Grain, period: str) -> bool:
        """Whether anything belongs to a period."""
        return (grain, period) in self._children

    def is_edited(self, grain: Grain, period: str) -> bool:
        """Whether there is a summary of the period that a person has edited."""
        info = self.summaries.get((grain, period))
        return info is not None and info.edited

    def stands(self, grain: Grain, period: str) -> bool:
        """Whether the summary of the period is a person's, and counts as it is for what is coarser.

        One of less trust does not, where there are notes of the period that can be trusted.
        """
        info = self.summaries.get((grain, period))
        if info is None or not info.edited:
            return False
        if self._origins.get(info.path, Origin.AGENT) in TRUSTED:
            return True
        days = (day.isoformat() for day in calendar.days(grain, period))
        return not any(leaf.origin in TRUSTED for day in days for leaf in self.of(day))

    def is_short(self, day: str) -> bool:
        """Whether a day's notes are no longer than their summary might be; then they are kept as they are."""
        if self.stands(Grain.DAILY, day):
            return False
        return sum(leaf.size for leaf in self.of(day)) <= self._short

    def is_current(self, grain: Grain, period: str) -> bool:
        """Whether the summary of the period is there and was made of what there is now."""
        info = self.summaries.get((grain, period))
        if info is None or (info.edited and not self.stands(grain, period)):
            return False
        return info.digest == self.digest(grain, period)

    def is_known_empty(self, grain: Grain, period: str) -> bool:
        """Whether the making of coarser summaries has shown that there is nothing to say of a period."""
        above = [key for key in calendar.parents(grain, period) if period in self.children(*key)]
        return bool(above) and all(self._leaves_out(key, (grain, period)) for key in above)

    def _leaves_out(self, above: Key, key: Key) -> bool:
        """Whether the summary of ``above``, or of what is above it, was made and says nothing of ``key``."""
        info = self.summaries.get(above)
        if info is None:
            return self.is_known_empty(*above)
        told = info.edited or any(path == calendar.path_of(*key) for path, _ in info.sources)
        return not told and self.is_current(*above)

    def digest(self, grain: Grain, period: str) -> str:
        """SHA-256 of all that a summary follows from; one that a person edited stands for what is below it."""
        key = grain, period
        if key not in self._digests:
            below: list[tuple[str, str]] = []
            if grain is Grain.DAILY:
                below = [(leaf.path, leaf.sha256) for leaf in self.of(period)]
            else:
                fine = FINER[grain]
                for child in self.children(grain, period):
                    stands = self.stands(fine, child)
                    below.append((child, self.summaries[fine, child].sha256 if stands else self.digest(fine, child)))
            self._digests[key] = _digest(self._fingerprints[grain], grain, period, tuple(below))
        return self._digests[key]


@lru_cache(maxsize=4096)  # those of a few years
def _digest(fingerprint: str, grain: Grain, period: str, below: tuple[tuple[str, str], ...]) -> str:
    text = json.dumps([FORMAT, fingerprint, grain.value, period, below])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def gather(
    store: Store, retired: Retired, found: ScanResult, fingerprints: Mapping[Grain, str], budget: float
) -> Leaves:
    """The leaves as of now: what the index holds, and retired notes that are on disk as they were.

    ``found`` is what there is on disk; ``budget`` that of a day's summary, in tokens.
    """
    with store.session():
        infos = store.document_infos()
        rows = store.documents().by_path
        summaries = store.summaries()
    leaves: list[Leaf] = []
    indexed: set[str] = set()
    for info in infos:
        if info.kind is not Kind.DAILY or info.grain is not Grain.WORKING or not _counts(info.path):
            continue
        row, day = rows.get(info.path), date_in_name(info.path)
        if row is not None and day is not None:
            indexed.add(info.path)
            leaves.append(Leaf(info.path, row.sha256, row.size, row.mtime_ns, day, info.origin, row.units))
    files = {file.path: file for file in found.files}
    for note in retired.notes():
        file, day = files.get(note.path), date_in_name(note.path)
        if note.path in indexed or day is None:
            continue
        # What cannot be looked at now is not gone.
        same = file is not None and (file.size, file.mtime_ns) == (note.size, note.mtime_ns)
        hidden = any(note.path == one or (one.endswith("/") and note.path.startswith(one)) for one in found.unreadable)
        if same or (file is None and hidden):
            leaves.append(Leaf(note.path, note.sha256, note.size, note.mtime_ns, day, note.origin, 0, True))
    origins = {info.path: info.origin for info in infos if info.grain is not Grain.WORKING}
    return Leaves(leaves, summaries, fingerprints, budget * CHARS_PER_TOKEN, origins)


def _counts(path: str) -> bool:
    """Whether a note can be summarised: not one that lies among the summaries, nor one that no line can name."""
    return not path.startswith(f"{calendar.FOLDER}/") and _UNCITABLE.search(path) is None
