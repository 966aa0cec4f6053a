"""Inventory for consolidation: the notes of each day, indexed or retired, the summaries, and the periods above them.

Retention takes notes out of the index: their files stay, and a changed one is read again.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from .. import patterns as re
from ..errors import OpenClawMemoryError
from ..model import CHARS_PER_TOKEN, TRUSTED, Grain, Kind, Origin, ScanResult, SourceFile
from ..records import NamedTuple
from ..store.api import Store, SummaryInfo
from ..store.state import State
from ..text import calendar
from ..text.dates import date_in_name

log = logging.getLogger("openclaw_memory.consolidate")

#: Version of the summary files; a new one has every summary written again.
FORMAT = 3
#: Grains of summaries, finest first.
GRAINS = tuple(Grain)[1:]

#: A grain and the name of one of its periods.
PeriodKey = tuple[Grain, str]

#: Name of the record of retired notes in the state, under which its changes are counted.
_RETIRED = "retired"


class DayNote(NamedTuple):
    """A note of a day as it was when it was indexed; ``units`` counts those in the index, ``size`` is in bytes."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    day: date
    origin: Origin
    units: int = 0
    retired: bool = False

    def is_unchanged(self, file: SourceFile) -> bool:
        """Return true if ``file`` is the note as it was."""
        return (file.size, file.mtime_ns) == (self.size, self.mtime_ns)


class RetiredNotes:
    """The retired notes in the state; unless ``active``, as under a plan that keeps everything, there are none."""

    def __init__(self, state: State, active: bool) -> None:
        self._state = state
        self._active = active
        self._version = ""
        self._notes: dict[str, DayNote] = {}

    def notes(self) -> Iterable[DayNote]:
        """Return all of them, by path."""
        return self._by_path().values()

    def holds(self, file: SourceFile) -> bool:
        """Return true if ``file`` is a retired note that has not changed since."""
        note = self._by_path().get(file.path)
        return note is not None and note.is_unchanged(file)

    def add(self, notes: Iterable[DayNote]) -> None:
        """Record notes as retired.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(note.path, note.size, note.mtime_ns, note.sha256, note.origin.value) for note in notes]
        if rows:
            with self._state.writing(_RETIRED) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", [row[:1] for row in rows])
                connection.executemany("INSERT INTO retired VALUES (?, ?, ?, ?, ?)", rows)

    def release(self, paths: Iterable[str]) -> None:
        """Record notes as no longer retired.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        rows = [(path,) for path in paths]
        if rows:
            with self._state.writing(_RETIRED) as connection:
                connection.executemany("DELETE FROM retired WHERE path = ?", rows)

    def _by_path(self) -> dict[str, DayNote]:
        """Read the record if it has changed; while the state cannot be read, return it as it was last read."""
        if not self._active:
            return {}
        try:
            version = self._state.version(_RETIRED)
            if self._version != version:
                rows = self._state.read("SELECT path, size, mtime_ns, sha256, origin FROM retired ORDER BY path")
                self._notes = {
                    path: DayNote(path, sha256, size, mtime_ns, day, Origin(origin), retired=True)
                    for path, size, mtime_ns, sha256, origin in rows
                    if origin in list(Origin) and (day := date_in_name(path)) is not None
                }
                self._version = version
        except OpenClawMemoryError as problem:
            log.debug("retired notes are not known: %s", problem)
        return self._notes


class Inventory:
    """The notes of every day, the existing summaries, and the tree of periods above them.

    ``fingerprints`` identify for each grain the settings and versions that its summaries depend on.  A day whose notes
    have at most ``short`` characters is kept without a summary.  ``origins`` are those of the summaries, by path.
    """

    def __init__(
        self,
        notes: Iterable[DayNote],
        summaries: Iterable[SummaryInfo],
        fingerprints: Mapping[Grain, str],
        short: float,
        origins: Mapping[str, Origin],
    ) -> None:
        self.by_day: defaultdict[str, list[DayNote]] = defaultdict(list)
        for note in sorted(notes, key=lambda note: note.path):
            self.by_day[calendar.period_of(note.day, Grain.DAILY)].append(note)
        #: By period; a file with another name is no summary.
        self.summaries: dict[PeriodKey, SummaryInfo] = {}
        for info in summaries:
            if (key := calendar.parse_path(info.path)) is not None:
                self.summaries[key] = info
        self._fingerprints = fingerprints
        self._short = short
        self._origins = origins
        self._digests: dict[PeriodKey, str] = {}
        #: The finer periods that each period consists of, in order; periods without a note or an edited summary are
        #: left out.
        self.children: dict[PeriodKey, list[PeriodKey]] = {}
        #: Periods with a note, or with a summary below that a person has edited, in order of time.
        self.periods: dict[Grain, list[PeriodKey]] = {}
        finer: list[PeriodKey] = []
        for grain in GRAINS:
            children: dict[PeriodKey, list[PeriodKey]] = {}
            if grain is Grain.DAILY:
                children = {(grain, day): [] for day in self.by_day}
            for child in finer:
                for parent in self._parents(child):
                    children.setdefault(parent, []).append(child)
            for key, info in self.summaries.items():
                if key[0] is grain and info.edited:
                    children.setdefault(key, [])
            finer = self.periods[grain] = sorted(children, key=lambda key: key[1])
            self.children |= children

    def _parents(self, key: PeriodKey) -> list[PeriodKey]:
        """Return the coarser periods that ``key`` has notes of; an edited summary may be about any of its days."""
        parents = list(calendar.parents(*key))
        if len(parents) == 1 or self.is_edited(key):
            return parents
        months = {calendar.period_of(date.fromisoformat(day), Grain.MONTHLY) for _, day in self.children[key]}
        return [parent for parent in parents if parent[1] in months]

    def notes_of(self, day: str) -> Sequence[DayNote]:
        """Return the notes of a day, by path."""
        return self.by_day.get(day, ())

    def is_edited(self, key: PeriodKey) -> bool:
        """Return true if a person has edited the summary of the period."""
        info = self.summaries.get(key)
        return info is not None and info.edited

    def is_authoritative(self, key: PeriodKey) -> bool:
        """Return true if a person's summary of the period replaces everything below it.

        An untrusted one does not where the period has trusted notes.
        """
        info = self.summaries.get(key)
        if info is None or not info.edited:
            return False
        if self._origins.get(info.path, Origin.AGENT) in TRUSTED:
            return True
        first, last = map(str, calendar.bounds(*key))
        noted = (notes for day, notes in self.by_day.items() if first <= day <= last)
        return not any(note.origin in TRUSTED for notes in noted for note in notes)

    def is_short(self, key: PeriodKey) -> bool:
        """Return true for a day whose notes are no longer than their summary might be; such a day gets none."""
        if key[0] is not Grain.DAILY or self.is_authoritative(key):
            return False
        return sum(note.size for note in self.notes_of(key[1])) <= self._short

    def is_current(self, key: PeriodKey) -> bool:
        """Return true if the summary of the period exists and follows from the present notes and settings."""
        info = self.summaries.get(key)
        if info is None or (info.edited and not self.is_authoritative(key)):
            return False
        return info.digest == self.digest(key)

    def is_known_empty(self, key: PeriodKey) -> bool:
        """Return true if current coarser summaries show that the period has nothing to summarise."""
        parents = [parent for parent in calendar.parents(*key) if key in self.children.get(parent, ())]
        return bool(parents) and all(self._omits(parent, key) for parent in parents)

    def _omits(self, parent: PeriodKey, key: PeriodKey) -> bool:
        """Return true if the current summary of ``parent``, or the one above it, uses nothing of ``key``."""
        info = self.summaries.get(parent)
        if info is None:
            return self.is_known_empty(parent)
        used = info.edited or any(path == calendar.path_of(*key) for path, _ in info.sources)
        return not used and self.is_current(parent)

    def digest(self, key: PeriodKey) -> str:
        """Return the SHA-256 of everything that a summary depends on; an edited summary stands for what is below it."""
        if key not in self._digests:
            sources = [(note.path, note.sha256) for note in self.notes_of(key[1])] if key[0] is Grain.DAILY else []
            for child in self.children.get(key, ()):
                sha256 = self.summaries[child].sha256 if self.is_authoritative(child) else self.digest(child)
                sources.append((child[1], sha256))
            text = json.dumps([FORMAT, self._fingerprints[key[0]], key[0].value, key[1], sources])
            self._digests[key] = hashlib.sha256(text.encode("utf-8")).hexdigest()
        return self._digests[key]


def take_inventory(
    store: Store,
    retired: Iterable[DayNote],
    scan: ScanResult,
    fingerprints: Mapping[Grain, str],
    daily_budget: float,
) -> Inventory:
    """Collect the indexed notes and the retired ones that are unchanged on disk; ``daily_budget`` is in tokens."""
    with store.session():
        infos = store.document_infos()
        rows = store.documents().by_path
        summaries = store.summaries()
    notes: dict[str, DayNote] = {}
    for info in infos:
        if info.kind is not Kind.DAILY or info.grain is not Grain.WORKING:
            continue
        # A note among the summaries is not summarised, nor is one that cannot be cited: whose name has controls, line
        # ends or the end of a citation.
        if info.path.startswith(f"{calendar.FOLDER}/") or re.search(
            r"[\x00-\x1f\x7f-\x9f\u2028\u2029]|\] \[", info.path
        ):
            continue
        row, day = rows.get(info.path), date_in_name(info.path)
        if row is not None and day is not None:
            notes[info.path] = DayNote(info.path, row.sha256, row.size, row.mtime_ns, day, info.origin, row.units)
    files = {file.path: file for file in scan.files}
    for note in retired:
        file = files.get(note.path)
        # A file that is not there, in a folder that cannot be read now, may be unchanged all the same.
        hidden = any(
            note.path == path or (path.endswith("/") and note.path.startswith(path)) for path in scan.unreadable
        )
        if note.path not in notes and (hidden if file is None else note.is_unchanged(file)):
            notes[note.path] = note
    origins = {info.path: info.origin for info in infos if info.grain is not Grain.WORKING}
    return Inventory(notes.values(), summaries, fingerprints, daily_budget * CHARS_PER_TOKEN, origins)
