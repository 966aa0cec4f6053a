"""Consolidation by hand, or by heartbeats once a person has enabled it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..config.settings import ConsolidateSettings
from ..errors import LeaseTimeout, RequestError, StoreError, WorkspaceError
from ..model import ConsolidateReport, Grain, Progress, ScanResult, counted, silent
from ..store.state import State, StateError
from ..system.deadline import Deadline

if TYPE_CHECKING:
    from ..summarise.consolidator import Consolidator

log = logging.getLogger("openclaw_memory.consolidate")

#: Flags in the state: permission for heartbeats to write, and the result of the last run.
_ENABLED, _RUN = "automatic", "last run"
#: Seconds to wait for another process that writes its flag.
_IN_TURN = 2.0
#: Seconds of one automatic run; as many again for reading the summaries into the index.
_SLICE = 10.0


class ConsolidationRunner:
    """Runs the ``consolidator`` of one memory; ``ingest`` returns the scan, or ``None`` if it ran out of time."""

    def __init__(
        self,
        settings: ConsolidateSettings,
        state: State,
        consolidator: Callable[[], Consolidator],
        ingest: Callable[..., ScanResult | None],
    ) -> None:
        self._settings, self._state, self._consolidator, self._ingest = settings, state, consolidator, ingest

    def consolidate(
        self, now: date | None, deadline: float | None = None, progress: Progress = silent, **options: Any
    ) -> ConsolidateReport:
        """See :meth:`openclaw_memory.memory.Memory.consolidate`; ``options`` are those of the consolidator's run."""
        if options.get("grain") is Grain.WORKING:
            raise RequestError(
                "grain: notes are not summaries", "name one of daily, weekly, monthly, quarterly, yearly"
            )
        if (days := options.get("older_than_days")) is not None and days < 0:
            raise RequestError(f"older_than_days: must be at least 0, not {days}")
        started = time.monotonic()
        until = Deadline.after(deadline)
        report, changed = self._consolidator().run(
            self._as_datetime(now),
            # Summaries need no vectors of new notes.
            lambda: self._ingest(embed="lazy", progress=progress, deadline=until.left()),
            until=until,
            progress=progress,
            **options,
        )
        if changed:
            try:
                self._ingest(deadline=deadline, progress=progress)
            except (LeaseTimeout, StoreError) as problem:
                if deadline is None:
                    raise
                log.info("the summaries are read later: %s", problem)  # the next search does
        return replace(report, seconds=time.monotonic() - started)

    def _as_datetime(self, now: date | None) -> datetime:
        """Return ``now`` as a time: noon of a day, the current time by default."""
        from ..text import calendar

        if now is None:
            return datetime.now().astimezone()
        return now if isinstance(now, datetime) else calendar.noon_in(self._settings.time_zone, now)

    def automatic(self, now: datetime) -> ConsolidateReport | None:
        """Consolidate for some seconds, or only report until it is enabled; ``None`` if off or too soon.

        The next run continues an interrupted one.
        """
        if self._settings.automatic == "off" or not self._is_due(now, self._last()):
            return None
        enabled = self.enabled
        begun = {"now": now.isoformat(), "dry_run": not enabled}
        try:
            # The flag is written first: one of two processes works, and after a kill none tries again at once.
            if not self._state.change_flag(
                _RUN, lambda last: begun if self._is_due(now, last) else None, _IN_TURN, False
            ):
                return None
        except StateError as problem:
            log.warning("the run is not noted: %s", problem)
        try:
            report = self.consolidate(now, _SLICE, listing=not enabled)
        except (WorkspaceError, StoreError) as problem:
            self._record_run(now=now.isoformat(), dry_run=not enabled, problem=str(problem))
            return ConsolidateReport(dry_run=not enabled, complete=False, skipped=str(problem))
        self._record_run(
            now=now.isoformat(),
            dry_run=not enabled,
            complete=report.complete,
            created=len(report.created),
            retired=len(report.retired),
            **({"problem": report.skipped} if report.skipped else {}),
        )
        return report

    @property
    def enabled(self) -> bool:
        """Return true if heartbeats may write, by the setting or the permission for this workspace."""
        if self._settings.automatic != "ask":
            return self._settings.automatic == "on"
        try:
            return self._state.flag(_ENABLED) is True
        except StateError:
            return False

    def enable(self, on: bool) -> None:
        """Permit or forbid heartbeats to write.  Raises :class:`~openclaw_memory.errors.WorkspaceError`."""
        self._state.set_flag(_ENABLED, on)

    def remark(self) -> str:
        """Describe the state of automatic consolidation, for ``status``."""
        if self._settings.automatic == "off":
            return "off (consolidate.automatic)"
        state = "on" if self.enabled else "reports only; to let it write: openclaw-memory consolidate --enable"
        last = self._last()
        if "now" not in last:
            return f"{state}; has not run yet"
        did = [f"{'would write' if last.get('dry_run') else 'wrote'} {counted(last.get('created', 0), 'file')}"]
        if retired := last.get("retired"):
            did.append(f"{'would retire' if last.get('dry_run') else 'retired'} {retired}")
        if last.get("problem"):
            did = [f"failed: {last['problem']}"]
        elif "complete" not in last:
            did = ["was not finished"]
        elif not last["complete"]:
            did.append("the next run goes on")
        return f"{state}; last run {str(last['now'])[:16].replace('T', ' ')}: {', '.join(did)}"

    def _last(self) -> dict[str, Any]:
        """Return the result of the last automatic run of any process; empty before the first."""
        try:
            return self._state.flag(_RUN) or {}
        except StateError:
            return {}

    def _record_run(self, **values: Any) -> None:
        """Write the result of a run; a failure is logged."""
        try:
            self._state.set_flag(_RUN, values, _IN_TURN, lasting=False)
        except StateError as problem:
            log.warning("the run is not noted: %s", problem)

    def _is_due(self, now: datetime, last: Any) -> bool:
        if not last:
            return True
        waited = _with_time_zone(now) - _with_time_zone(datetime.fromisoformat(last["now"]))
        return not timedelta(0) <= waited < timedelta(hours=1)


def _with_time_zone(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.astimezone()
