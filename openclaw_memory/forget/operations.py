"""Forget step by step: the plan is stored first, so that an interrupted run can be finished from it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.openclaw_home import OpenClawHome
from ..config.settings import IngestSettings, data_dir
from ..errors import RedactionError, WorkspaceError
from ..ingest.notes import NoteReader
from ..ingest.survey import SURVEY_SUFFIX
from ..knowledge import CONCEPTS, FACTS
from ..model import LAST_SHOWN, MAP_SUFFIX, ForgetReport, joined
from ..records import NamedTuple
from ..store.api import KEPT, Store, TextsChanged
from ..store.state import State
from ..system import atomic
from ..system.mapped import UNFINISHED
from ..text import calendar
from . import generated_files, masking
from .pending import todo_row, unfinished
from .planner import Plan, Planner, documents_holding
from .selection import ForgetRequest, GraphView, Snapshot, find_concept
from .tombstones import NAME, Tombstones, insert_tombstones

if TYPE_CHECKING:
    from ..use.tracker import Usage

log = logging.getLogger("openclaw_memory")


class Forgetter(NamedTuple):
    """Forgets in one workspace and its index; safe to use from several threads and processes.

    ``ingest()`` brings the index to the state of the files, ``view()`` gives the graph in step with them, ``clear()``
    drops the texts that this process caches beside the index.
    """

    workspace: Path
    settings: IngestSettings
    store: Store
    reader: NoteReader
    state: State
    tombstones: Tombstones
    uses: Usage
    view: GraphView
    ingest: Callable[[], object]
    clear: Callable[[], object]

    def forget(self, request: ForgetRequest, dry_run: bool = False) -> ForgetReport:
        """Forget what ``request`` names, or with ``dry_run`` only report what that is.

        First tombstones are written, then the texts leave the generated files and the index, which is written
        again.  A run that is cut short is finished by the next one, or by the next ingest.  Raises
        :class:`~openclaw_memory.errors.RequestError` for a request that names nothing, and other
        :class:`~openclaw_memory.errors.OpenClawMemoryError` when a file cannot be read or written.
        """
        started = time.monotonic()
        generated_files.check_readable(self.workspace)
        self.tombstones.check()
        self.ingest()
        key = self.state.key()
        if dry_run:
            plan = self._plan(request, key)
            report = plan.report
        else:
            with self._exclude_others(atomic.LOCK_TIMEOUT):
                self._finish_others()
                plan = self._plan(request, key)
                report = replace(plan.report, dry_run=False)
                if report.texts:
                    self._begin(plan, key)
                    report = self._verified(report, plan, self._finish())
        remains = (*report.remains, *plan.remaining_names())
        return replace(report, remains=remains, seconds=time.monotonic() - started)

    def resume(self) -> bool:
        """Finish interrupted forgetting; return true if there was any and no other process is doing it."""
        if not unfinished(self.state):
            return False
        try:
            with self._exclude_others(0):
                return self._finish_others()
        except WorkspaceError as problem:
            log.info("something is still to be forgotten: %s", problem)
            return False

    def readable(self, path: str, text: str) -> str:
        """Return ``text`` of the file ``path`` as people and models may read it.

        Raises :class:`~openclaw_memory.store.state.StateError` when the tombstones cannot be read.
        """
        self.tombstones.check()
        matcher = self.tombstones.matcher
        if not matcher:
            return text
        try:
            indexed = self.reader.readable_text(path, text)
        except RedactionError:
            indexed = ""  # nothing of it is in the index
        return masking.mask_for_reader(text, indexed, path, matcher)

    # -- the steps ----------------------------------------------------------------------------------

    def _plan(self, request: ForgetRequest, key: bytes) -> Plan:
        concept = None if request.concept is None else find_concept(request.concept, self.view)
        with self.store.session():
            return Planner(self.workspace, self.settings, self.store, self.reader, self.uses, key).plan(
                request, concept
            )

    def _begin(self, plan: Plan, key: bytes) -> None:
        """Write down the tombstones, and how to finish."""
        self.state.add_key(key)
        with self.state.writing(NAME) as connection:
            connection.execute("INSERT INTO forgetting VALUES (?, ?, ?)", todo_row(plan.todo))
            insert_tombstones(connection, key, plan.hashes)

    def _finish(self) -> list[str]:
        """Carry out all stored plans and delete them; return the generated files that changed.

        Every step may be done again.
        """
        begun = self.state.read("SELECT id, todo FROM forgetting")
        todos = [json.loads(todo) for _, todo in begun]
        ids, paths, notes, concepts = (
            list(dict.fromkeys(each for todo in todos for each in todo.get(name, ())))
            for name in ("ids", "paths", "notes", "concepts")
        )
        version = self.tombstones.version  # before the matcher, which may be newer: then all is read again later
        matcher = self.tombstones.matcher
        edited = generated_files.edit_notes(self.workspace, matcher, notes)
        for folder in (OpenClawHome.for_environment().plugin_state, data_dir()):
            generated_files.edit_waiting_turns(folder / "waiting", self.workspace, self.readable)
        if generated_files.edit_facts(self.workspace, self.store, self.tombstones):
            edited.append(FACTS)
        if concepts and generated_files.edit_concepts(
            self.workspace, lambda slug: not matcher.concept_digests(slug).isdisjoint(concepts)
        ):
            edited.append(CONCEPTS)
        with self.store.session():
            snapshot = Snapshot(self.store)
            affected = documents_holding(snapshot, matcher)
            affected |= {snapshot.by_path[path] for path in paths if path in snapshot.by_path}
            self.store.schedule_reread(sorted(affected), version)
        self.ingest()
        self._drop_unread(affected)
        gone = set(paths)
        self.uses.forget([*ids, *(unit for unit, (path, _) in self.uses.last_days().items() if path in gone)])
        self.clear()
        # A map and what processes keep hold the same texts, a search paths and hashes of them.  A survey is kept up to
        # date, unless it lies beside a file that was used before the server.
        suffixes = [MAP_SUFFIX, LAST_SHOWN]
        suffixes += [f"{kept}{end}" for kept in KEPT for end in ("", UNFINISHED)]
        if self.store.sidecar(SURVEY_SUFFIX) is None:
            suffixes.append(SURVEY_SUFFIX)
        for file in filter(None, (*self.store.files(), self.store.beside)):
            for suffix in suffixes:
                atomic.remove(Path(f"{file}{suffix}"))
        self.store.purge()
        self._end([row[0] for row in begun])
        return edited

    def _end(self, begun: Sequence[str]) -> None:
        with self.state.writing() as connection:
            connection.executemany("DELETE FROM forgetting WHERE id = ?", [[row_id] for row_id in begun])
        self.state.wipe()

    def _drop_unread(self, affected: set[int]) -> None:
        """Take documents out of the index that could not be read again: they come in when they can."""
        while True:
            documents = self.store.documents()
            left = [row.id for row in documents.by_path.values() if row.id in affected and not row.sha256]
            try:
                if left:
                    self.store.remove(left, documents.version)
                return
            except TextsChanged:
                log.debug("the index changed meanwhile; looking again for what could not be read")

    def _verified(self, report: ForgetReport, plan: Plan, edited: Sequence[str]) -> ForgetReport:
        """Return the report of what was done, with a warning if a column or a byte of the index still has any of it."""
        left = self.store.contains(plan.needles)
        warnings = [report.warning] if report.warning else []
        if left:
            warnings.append(
                f"some of it is still found in {', '.join(left)}, as part of another text; look for it with a search, "
                "and forget that too"
            )
        return replace(report, edited=tuple(sorted(edited)), verified=not left, warning=joined(warnings))

    def _finish_others(self) -> bool:
        """Finish what another process began and did not end; return true if there was anything."""
        begun = bool(unfinished(self.state))
        if begun:
            self._finish()
        return begun

    def _exclude_others(self, seconds: float) -> ExitStack:
        """Keep other processes from forgetting, and from writing summaries of what is being forgotten."""
        with ExitStack() as stack:
            stack.enter_context(atomic.locked(self.workspace / ".forgetting", seconds, self.workspace))
            stack.enter_context(atomic.locked(self.workspace / calendar.FOLDER, seconds, self.workspace))
            return stack.pop_all()
