"""Consolidation of one workspace: which summaries are due, writing them, and taking out what retention says."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from ..config.settings import Settings
from ..ingest.notes import NoteReader
from ..ingest.scan import IGNORE_FILE, leaves_out
from ..model import ConsolidateReport, Grain, Progress, ScanResult, SourceFile, SummaryPlan, joined, silent
from ..plugins.manager import Plugins
from ..store.api import Store
from ..system import atomic
from ..system.deadline import NEVER, Deadline
from ..text import calendar
from . import retention
from .inventory import GRAINS, Key, Leaves, gather
from .maker import Blocked, Changed, Made, Maker, budget_of, fingerprints
from .retired import Retired, RetiredNote
from .writer import SummaryFiles

log = logging.getLogger("openclaw_memory.consolidate")

#: Seconds that a run with a deadline waits for another process.
_IN_A_HURRY = 5.0


@dataclass
class _Run:
    """One run: what is known of the workspace, and what has been done."""

    leaves: Leaves
    files: dict[str, SourceFile]
    maker: Maker
    now: datetime
    dry: bool
    #: Grains whose summaries the ignore file leaves out.
    unread: frozenset[Grain] = frozenset()
    made: list[SummaryPlan] = field(default_factory=list)
    #: Periods whose summary is being written, or taken away, in this run.
    written: set[Key] = field(default_factory=set)
    dropped: set[Key] = field(default_factory=set)
    kept: dict[str, None] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    #: Why a summary could not be made: how many wait for it.
    waiting: dict[str, int] = field(default_factory=dict)
    archived: int = 0
    complete: bool = True
    #: Whether anything on disk or in the record of retired notes is not as it was.
    changed: bool = False

    def wait(self, why: str) -> None:
        """Count a summary that cannot be made."""
        self.waiting[why] = self.waiting.get(why, 0) + 1

    def report(self) -> ConsolidateReport:
        """What was done, or would be."""
        return ConsolidateReport(
            groups=sum(plan.groups for plan in self.made),
            created=tuple(plan.path for plan in self.made),
            archived=self.archived,
            rebuilt=tuple(plan.path for plan in self.made if plan.rebuilt),
            kept=tuple(self.kept),
            retired=tuple(self.retired),
            removed=tuple(self.removed),
            summaries=tuple(self.made),
            dry_run=self.dry,
            complete=self.complete,
            warning=joined(
                [
                    f"{'1 summary waits' if count == 1 else f'{count} summaries wait'} for {why}"
                    for why, count in self.waiting.items()
                ]
            ),
        )


class Consolidator:
    """Makes the summaries of one workspace."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        store: Store,
        reader: NoteReader,
        plugins: Plugins,
        retired: Retired,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._store = store
        self._reader = reader
        self._plugins = plugins
        self._retired = retired
        self._limits = retention.limits_of(settings.retention)
        self._files = SummaryFiles(workspace)

    def run(
        self,
        now: datetime,
        refresh: Callable[[], ScanResult | None],
        *,
        older_than_days: int | None = None,
        grain: Grain | None = None,
        dry_run: bool = False,
        listing: bool = False,
        until: Deadline = NEVER,
        progress: Progress = silent,
    ) -> tuple[ConsolidateReport, bool]:
        """Write the summaries that are due, finest grain first, and retire what the plan does not keep.

        Also says whether the index has to be brought up to date for it.  ``refresh`` does that and says which files
        there are, before anything is looked at; ``None`` says that the index is half read, which is not looked at.
        What ``until`` leaves no time for is left to the next run; at least one summary is written.  With ``listing`` a
        dry run names what is due and makes nothing.
        Raises :class:`~openclaw_memory.errors.WorkspaceError` when files cannot be written, or another process has
        been consolidating for too long.
        """
        started = time.monotonic()
        dry = dry_run or listing  # writes nothing, a lock neither
        patience = atomic.LOCK_TIMEOUT if until == NEVER else _IN_A_HURRY
        with nullcontext() if dry else atomic.locked(self._files.folder, patience, self._workspace):
            if not dry:
                self._files.sweep()
            there = calendar.now_in(self._settings.consolidate.time_zone, now)
            unread = self._unread(there.date())
            if len(unread) == len(GRAINS):
                why = f"{IGNORE_FILE} leaves {calendar.FOLDER}/ out, so nothing is summarised"
                return ConsolidateReport(dry_run=dry, seconds=time.monotonic() - started, skipped=why), False
            found = refresh()
            if found is None:
                return ConsolidateReport(dry_run=dry, complete=False, seconds=time.monotonic() - started), False
            leaves, files = self._look(found)
            maker = Maker(self._settings, self._reader, self._plugins, leaves, files)
            run = _Run(leaves, files, maker, there, dry, unread)
            least = self._settings.consolidate.older_than_days if older_than_days is None else older_than_days
            due = list(self._due(run, GRAINS if grain is None else (grain,), least))
            if listing:
                run.written.update(due)
                run.made += [SummaryPlan(calendar.path_of(*key), *key, 0, 0, 0, 0) for key in due]
            else:
                self._write(run, due, until, progress)
            if run.complete:
                self._remove_orphans(run, grain)
                if grain is None and (self._limits or any(self._retired.notes())):
                    self._retire(run, refresh)
        return replace(run.report(), seconds=time.monotonic() - started), run.changed

    def _look(self, found: ScanResult) -> tuple[Leaves, dict[str, SourceFile]]:
        """What is in the index as of now, and was ``found`` on disk when that was brought up to date."""
        budget = budget_of(self._settings, Grain.DAILY)
        leaves = gather(self._store, self._retired, found, fingerprints(self._settings), budget)
        return leaves, {file.path: file for file in found.files}

    def _unread(self, today: date) -> frozenset[Grain]:
        """Grains whose summaries would not be read into the index."""
        return frozenset(
            grain
            for grain in GRAINS
            if leaves_out(self._workspace, calendar.path_of(grain, calendar.period_of(today, grain)))
        )

    # -- summaries ----------------------------------------------------------------------------------

    def _due(self, run: _Run, grains: Sequence[Grain], least: int) -> Iterator[Key]:
        """Periods whose summary is to be written, or to be rewritten, finest grain first."""
        leaves, today = run.leaves, run.now.date()
        for grain in grains:
            for period in leaves.periods[grain]:
                info = leaves.summaries.get((grain, period))
                if info is not None and info.edited:
                    run.kept[info.path] = None
                elif (
                    not calendar.is_closed(grain, period, today)
                    or (grain is Grain.DAILY and leaves.is_short(period))
                    or leaves.is_current(grain, period)
                    or self._expired(run, grain, period)
                ):
                    continue
                elif info is not None or (
                    calendar.is_closed(grain, period, today, least) and not leaves.is_known_empty(grain, period)
                ):
                    if grain in run.unread:
                        run.wait(f"{calendar.FOLDER}/{grain.value}/, which {IGNORE_FILE} leaves out")
                    else:
                        yield grain, period

    def _expired(self, run: _Run, grain: Grain, period: str) -> bool:
        return retention.expired(self._limits, grain, calendar.bounds(grain, period)[1], run.now)

    def _write(self, run: _Run, due: list[Key], until: Deadline, progress: Progress) -> None:
        for done, key in enumerate(due):
            # One at least: whoever comes again and again gets through.
            if (run.made or run.dropped) and until.passed:
                run.complete = False
                return
            try:
                made = run.maker.make(*key)
            except Changed as problem:
                log.info("%s: left for the next run: %s", calendar.path_of(*key), problem)
                run.complete = False
            except Blocked as problem:
                run.wait(str(problem))
            else:
                self._put(run, key, made)
            progress("consolidated", done + 1, len(due))

    def _put(self, run: _Run, key: Key, made: Made | None) -> None:
        """Write one summary, or take it away where there is nothing to say any more."""
        grain, period = key
        info = run.leaves.summaries.get(key)
        if made is None:
            if info is not None:
                self._drop(run, key, info.path)
            return
        outcome = self._files.write(made.plan.path, made.text, run.dry)
        if outcome == "theirs":
            run.kept[made.plan.path] = None
            return
        if outcome == "same" and info is None:
            run.wait(f"{made.plan.path}, which is not read into the index (see .memoryignore and ingest.max_file_mb)")
            return
        run.written.add(key)
        if outcome == "same":
            return
        run.changed = run.changed or not run.dry
        run.made.append(replace(made.plan, rebuilt=info is not None))
        if grain is Grain.DAILY:
            before = set(info.sources) if info is not None else set()
            new = {(source.path, source.sha256) for source in made.sources} - before
            run.archived += sum(leaf.units for leaf in run.leaves.of(period) if (leaf.path, leaf.sha256) in new)

    def _remove_orphans(self, run: _Run, only: Grain | None) -> None:
        """Take away summaries of ours whose notes are gone or are kept as they are, or whose period is not over."""
        for (grain, period), info in sorted(run.leaves.summaries.items()):
            if info.edited or (only is not None and grain is not only):
                continue
            if (
                not run.leaves.is_there(grain, period)
                or (grain is Grain.DAILY and run.leaves.is_short(period))
                or not calendar.is_closed(grain, period, run.now.date())
            ):
                self._drop(run, (grain, period), info.path)

    def _drop(self, run: _Run, key: Key, path: str) -> None:
        if self._files.remove(path, run.dry) == "theirs":
            run.kept[path] = None
            return
        run.dropped.add(key)
        run.removed.append(path)
        run.changed = run.changed or not run.dry

    # -- retention ----------------------------------------------------------------------------------

    def _retire(self, run: _Run, refresh: Callable[[], ScanResult | None]) -> None:
        """Take out what the plan does not keep, finest grain first, and nothing that no coarser summary covers.

        By what the index holds once it has read the summaries of this run; a dry run takes them as read.
        """
        if run.changed:
            found = refresh()
            if found is None:
                run.complete = False
                return
            run.leaves, run.files = self._look(found)
        gone: list[RetiredNote] = []
        back: list[str] = []
        for day in sorted(run.leaves.by_day):
            leaves = run.leaves.of(day)
            grain = Grain.DAILY if run.leaves.is_short(day) else Grain.WORKING
            if not self._expired(run, grain, day):
                back += [leaf.path for leaf in leaves if leaf.retired]
            elif self._covered(run, grain, day):
                for leaf in leaves:
                    file = run.files.get(leaf.path)
                    # What is no longer as the index holds it is left to the next run.
                    if (
                        not leaf.retired
                        and file is not None
                        and (file.size, file.mtime_ns) == (leaf.size, leaf.mtime_ns)
                    ):
                        gone.append(RetiredNote(leaf.path, leaf.size, leaf.mtime_ns, leaf.sha256, leaf.origin))
        run.retired += [note.path for note in gone]
        if (gone or back) and not run.dry:
            self._retired.add(gone)
            self._retired.release(back)
            run.changed = True
        there = {key for key, info in run.leaves.summaries.items() if not info.edited}
        if run.dry:
            there |= run.written
        for grain, period in sorted(there - run.dropped, key=lambda key: (GRAINS.index(key[0]), key[1])):
            if not self._expired(run, grain, period) or not self._covered(run, grain, period):
                continue
            path = calendar.path_of(grain, period)
            if self._files.remove(path, run.dry) == "done" or (run.dry and (grain, period) in run.written):
                run.retired.append(path)
                run.changed = run.changed or not run.dry

    def _covered(self, run: _Run, grain: Grain, period: str) -> bool:
        """Whether a coarser summary says what is to be said of a period, or none would be kept."""
        ends = calendar.bounds(grain, period)
        coarser = GRAINS if grain is Grain.WORKING else GRAINS[GRAINS.index(grain) + 1 :]
        every = [tuple(dict.fromkeys((one, calendar.period_of(day, one)) for day in ends)) for one in coarser]
        for keys in every:
            there = [key for key in keys if run.leaves.is_there(*key)] or keys
            if all(self._tells(run, key) for key in there):
                return True
            if any(run.leaves.is_edited(*key) for key in there):
                return False  # and what is above it says what a person made of other notes
        return all(self._expired(run, *key) for keys in every for key in keys)

    def _tells(self, run: _Run, key: Key) -> bool:
        """Whether the summary of a period is there, as of now."""
        current = (run.dry and key in run.written) or run.leaves.is_current(*key)
        return current and key not in run.dropped
