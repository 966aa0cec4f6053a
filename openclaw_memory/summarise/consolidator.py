"""Consolidation of one workspace: take the inventory, build the due summaries, write them, apply retention."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from datetime import date, datetime
from pathlib import Path

from ..config.settings import Settings
from ..ingest.notes import NoteReader
from ..ingest.scan import IGNORE_FILE, is_ignored
from ..model import ConsolidateReport, FactChange, Grain, Progress, ScanResult, SourceFile, SummaryPlan, joined, silent
from ..plugins.manager import Plugins
from ..records import dataclass
from ..store.api import Store
from ..system import atomic
from ..system.deadline import NEVER, Deadline
from ..text import calendar
from . import retention
from .builder import BuiltSummary, SourceChanged, SourceUnreadable, SummaryBuilder, budget_for, fingerprints
from .changes import changed_values
from .document import SummaryFiles
from .inventory import GRAINS, Inventory, PeriodKey, RetiredNotes, take_inventory

log = logging.getLogger("openclaw_memory.consolidate")

#: Seconds that a run with a deadline waits for another one.
_LOCK_TIMEOUT = 5.0


@dataclass
class _Run:
    """State of one run: its inventory, and the results so far."""

    inventory: Inventory
    files: dict[str, SourceFile]
    summaries: SummaryFiles
    limits: retention.Limits
    now: datetime
    dry: bool
    #: Grains whose summaries the ignore file leaves out.
    ignored: frozenset[Grain]
    plans: list[SummaryPlan] = field(default_factory=list)
    #: Periods whose summary is written, or taken away, in this run.
    written: set[PeriodKey] = field(default_factory=set)
    dropped: set[PeriodKey] = field(default_factory=set)
    kept: dict[str, None] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    #: Number of summaries that cannot be made, by reason.
    postponed: dict[str, int] = field(default_factory=dict)
    archived: int = 0
    complete: bool = True
    #: True once a file or the record of retired notes was changed.
    changed: bool = False

    def postpone(self, reason: str) -> None:
        """Count a summary that cannot be made."""
        self.postponed[reason] = self.postponed.get(reason, 0) + 1

    def report(self) -> ConsolidateReport:
        """Report what was done, or in a dry run would be."""
        warnings = [
            f"{'1 summary waits' if count == 1 else f'{count} summaries wait'} for {reason}"
            for reason, count in self.postponed.items()
        ]
        return ConsolidateReport(
            groups=sum(plan.groups for plan in self.plans),
            created=tuple(plan.path for plan in self.plans),
            archived=self.archived,
            rebuilt=tuple(plan.path for plan in self.plans if plan.rebuilt),
            kept=tuple(self.kept),
            retired=tuple(self.retired),
            removed=tuple(self.removed),
            summaries=tuple(self.plans),
            dry_run=self.dry,
            complete=self.complete,
            warning=joined(warnings),
        )


@dataclass(frozen=True, slots=True)
class Consolidator:
    """Writes the summaries of one workspace, and retires what its plan does not keep."""

    workspace: Path
    settings: Settings
    store: Store
    reader: NoteReader
    plugins: Plugins
    retired: RetiredNotes
    #: Returns the changes of values that the indexed notes tell.
    changes: Callable[[], Iterable[FactChange]]

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
        """Write the due summaries, finest grain first, then apply retention.

        Returns the report, and true if the index must be refreshed afterwards.  ``refresh`` brings the index up to
        date and returns the files on disk, or ``None`` where it ran out of time, which ends the run.  What does not fit
        before ``until`` is left to the next run; at least one summary is written.  With ``listing`` a dry run only
        names the due periods.  Raises :class:`~openclaw_memory.errors.WorkspaceError` when files cannot be written, or
        another process consolidates for too long.
        """
        dry = dry_run or listing  # a dry run writes nothing, not even a lock
        timeout = atomic.LOCK_TIMEOUT if until == NEVER else _LOCK_TIMEOUT
        with nullcontext() if dry else atomic.locked(self.workspace / calendar.FOLDER, timeout, self.workspace):
            if not dry:
                atomic.delete_leftovers(self.workspace)
            local_now = calendar.now_in(self.settings.consolidate.time_zone, now)
            ignored = self._ignored_grains(local_now.date())
            if len(ignored) == len(GRAINS):
                reason = f"{IGNORE_FILE} leaves {calendar.FOLDER}/ out, so nothing is summarised"
                return ConsolidateReport(dry_run=dry, skipped=reason), False
            scan = refresh()
            if scan is None:
                return ConsolidateReport(dry_run=dry, complete=False), False
            limits = retention.limits_for(self.settings.retention)
            run = _Run(*self._inventory(scan), SummaryFiles(self.workspace), limits, local_now, dry, ignored)
            least_age = self.settings.consolidate.older_than_days if older_than_days is None else older_than_days
            due = list(self._due(run, GRAINS if grain is None else (grain,), least_age))
            if listing:
                run.written.update(due)
                run.plans += [SummaryPlan(calendar.path_of(*key), *key, 0, 0, 0, 0) for key in due]
            else:
                self._write(run, due, until, progress)
            if run.complete:
                self._remove_orphans(run, grain)
                if grain is None and (run.limits or any(self.retired.notes())):
                    self._retire(run, refresh)
        return run.report(), run.changed

    def _inventory(self, scan: ScanResult) -> tuple[Inventory, dict[str, SourceFile]]:
        """Return the inventory of the index, and the files that ``scan`` found by path."""
        budget = budget_for(self.settings, Grain.DAILY)
        prints = fingerprints(self.settings)
        inventory = take_inventory(self.store, self.retired.notes(), scan, prints, budget)
        return inventory, {file.path: file for file in scan.files}

    def _ignored_grains(self, today: date) -> frozenset[Grain]:
        """Return the grains whose summaries the ignore file keeps out of the index."""
        return frozenset(
            grain
            for grain in GRAINS
            if is_ignored(self.workspace, calendar.path_of(grain, calendar.period_of(today, grain)))
        )

    def _due(self, run: _Run, grains: Sequence[Grain], least_age: int) -> Iterator[PeriodKey]:
        """Yield the periods whose summary must be written or rewritten, finest grain first."""
        inventory, today = run.inventory, run.now.date()
        for key in (key for grain in grains for key in inventory.periods[grain]):
            info = inventory.summaries.get(key)
            if info is not None and info.edited:
                run.kept[info.path] = None
            elif (
                not calendar.is_closed(*key, today)
                or inventory.is_short(key)
                or inventory.is_current(key)
                or retention.is_expired(run.limits, key[0], calendar.bounds(*key)[1], run.now)
            ):
                continue
            elif info is not None or (calendar.is_closed(*key, today, least_age) and not inventory.is_known_empty(key)):
                if key[0] in run.ignored:
                    run.postpone(f"{calendar.FOLDER}/{key[0].value}/, which {IGNORE_FILE} leaves out")
                else:
                    yield key

    def _write(self, run: _Run, due: list[PeriodKey], until: Deadline, progress: Progress) -> None:
        """Build and write the summaries of ``due``."""
        changed = changed_values(self.changes() if due else ())
        builder = SummaryBuilder(self.settings, self.reader, self.plugins, run.inventory, run.files, changed)
        for done, key in enumerate(due):
            # At least one is written, so that repeated short runs finish some day.
            if (run.plans or run.dropped) and until.passed:
                run.complete = False
                return
            try:
                summary = builder.build(key)
            except SourceChanged as problem:
                log.info("%s: left for the next run: %s", calendar.path_of(*key), problem)
                run.complete = False
            except SourceUnreadable as problem:
                run.postpone(str(problem))
            else:
                self._write_summary(run, key, summary)
            progress("consolidated", done + 1, len(due))

    def _write_summary(self, run: _Run, key: PeriodKey, summary: BuiltSummary | None) -> None:
        """Write one summary, or delete the old one where there is nothing left to summarise."""
        info = run.inventory.summaries.get(key)
        if summary is None:
            if info is not None:
                self._drop(run, key, info.path)
            return
        path = summary.plan.path
        outcome = run.summaries.write(path, summary.text, run.dry)
        if outcome == "foreign":
            run.kept[path] = None
            return
        if outcome == "same" and info is None:
            run.postpone(f"{path}, which is not read into the index (see .memoryignore and ingest.max_file_mb)")
            return
        run.written.add(key)
        if outcome == "same":
            return
        run.changed = run.changed or not run.dry
        run.plans.append(replace(summary.plan, rebuilt=info is not None))
        if key[0] is Grain.DAILY:
            new = set(summary.sources).difference(info.sources if info is not None else ())
            notes = run.inventory.notes_of(key[1])
            run.archived += sum(note.units for note in notes if (note.path, note.sha256) in new)

    def _remove_orphans(self, run: _Run, only: Grain | None) -> None:
        """Delete our summaries of periods that have no notes, are kept as they are, or are not over."""
        inventory = run.inventory
        for key, info in sorted(inventory.summaries.items()):
            if info.edited or (only is not None and key[0] is not only):
                continue
            is_closed = calendar.is_closed(*key, run.now.date())
            if key not in inventory.children or inventory.is_short(key) or not is_closed:
                self._drop(run, key, info.path)

    def _drop(self, run: _Run, key: PeriodKey, path: str) -> None:
        if run.summaries.remove(path, run.dry) == "foreign":
            run.kept[path] = None
            return
        run.dropped.add(key)
        run.removed.append(path)
        run.changed = run.changed or not run.dry

    def _retire(self, run: _Run, refresh: Callable[[], ScanResult | None]) -> None:
        """Take out what the plan does not keep, once the index has read this run's summaries.

        A dry run takes them as read.
        """
        if run.changed:
            scan = refresh()
            if scan is None:
                run.complete = False
                return
            run.inventory, run.files = self._inventory(scan)
        written = run.written if run.dry else set()
        plan = retention.plan_retention(run.inventory, run.files, run.limits, run.now, written, run.dropped)
        run.retired += [note.path for note in plan.retire]
        if (plan.retire or plan.release) and not run.dry:
            self.retired.add(plan.retire)
            self.retired.release(plan.release)
            run.changed = True
        for key in plan.delete:
            path = calendar.path_of(*key)
            if run.summaries.remove(path, run.dry) == "done" or key in written:
                run.retired.append(path)
                run.changed = run.changed or not run.dry
