"""Forgetting, step by step: what is written down first is enough to finish it, whatever happens on the way."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import IngestSettings
from ..errors import RedactionError, WorkspaceError
from ..ingest.notes import NoteReader
from ..ingest.survey import BESIDE as SURVEY
from ..knowledge.concepts_file import FILE_NAME as CONCEPTS
from ..knowledge.facts_file import NAME as FACTS
from ..model import ForgetReport, joined
from ..model.map import BESIDE
from ..model.use import LAST_SHOWN
from ..store.api import Store, TextsChanged
from ..store.state import State, StateError
from ..store.state.database import now
from ..system import atomic
from ..text import calendar
from . import masking, our_files
from .planner import Plan, Planner
from .scopes import holding
from .selection import Snapshot, View, Wish
from .tombstones import NAME, Matcher, Tombstones, put

if TYPE_CHECKING:
    from ..use.tracker import Usage

log = logging.getLogger("openclaw_memory")

#: Seconds to wait for who forgets or consolidates in the same workspace.
_PATIENCE = 30.0


class Forgetter:
    """Forgets in one workspace and its index; safe to use from several threads and processes.

    ``ingest()`` brings the index to the state of the files, ``view()`` gives the graph in step with them, ``clear()``
    drops what this process keeps of texts beside the index.
    """

    def __init__(
        self,
        workspace: Path,
        settings: IngestSettings,
        store: Store,
        reader: NoteReader,
        state: State,
        tombstones: Tombstones,
        uses: Usage,
        view: View,
        ingest: Callable[[], object],
        clear: Callable[[], object] = lambda: None,
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._reader = reader
        self._state = state
        self._tombstones = tombstones
        self._uses = uses
        self._ingest = ingest
        self._clear = clear
        self._planner = Planner(workspace, settings, store, reader, view, uses)

    def forget(self, wish: Wish, dry_run: bool = False) -> ForgetReport:
        """Forget what ``wish`` names, or with ``dry_run`` only tell what that is.

        First tombstones are written, then the texts leave the files that are ours and the index, which is written
        again.  A run that is cut short is finished by the next one, or by the next ingest.  Raises
        :class:`~openclaw_memory.errors.RequestError` for what cannot be meant, and other
        :class:`~openclaw_memory.errors.OpenClawMemoryError` when a file cannot be read or written.
        """
        started = time.monotonic()
        our_files.check(self._workspace)
        self._tombstones.check()
        self._ingest()
        key = self._state.key()
        if dry_run:
            plan = self._planner.plan(wish, key)
            return _timed(_with_names(plan.report, plan), started)
        with self._alone(_PATIENCE):
            self._finish_others()
            plan = self._planner.plan(wish, key)
            if not plan.report.texts:
                return _timed(_with_names(replace(plan.report, dry_run=False), plan), started)
            self._begin(plan, key)
            edited = self._finish()
            return _timed(self._done(plan, edited), started)

    def resume(self) -> bool:
        """Finish what was cut short; whether there was anything.  While others are at it, it is left to them."""
        if not unfinished(self._state):
            return False
        try:
            with self._alone(0):
                return self._finish_others()
        except WorkspaceError as problem:
            log.info("something is still to be forgotten: %s", problem)
            return False

    def readable(self, path: str, text: str) -> str:
        """``text`` of the file ``path`` as people and models may read it.

        Raises :class:`~openclaw_memory.store.state.StateError` when it is not known what was forgotten.
        """
        self._tombstones.check()
        matcher = self._tombstones.matcher
        if not matcher:
            return text
        try:
            read = self._reader.cleared(path, text)
        except RedactionError:
            read = ""  # nothing of it is in the index
        return masking.shown(text, read, path, matcher)

    # -- the steps ----------------------------------------------------------------------------------

    def _begin(self, plan: Plan, key: bytes) -> None:
        """Write down what is to be forgotten, and how to finish it."""
        self._state.add_key(key)
        # A concept's name is a text too.
        concepts = [Matcher(key).concept(slug) for slug in plan.concepts]
        todo = {"ids": plan.ids, "paths": plan.paths, "notes": plan.notes, "concepts": concepts}
        with self._state.writing(NAME) as connection:
            connection.execute("INSERT INTO forgetting VALUES (?, ?, ?)", _row(todo))
            put(connection, key, plan.hashes)

    def _finish(self) -> list[str]:
        """Do everything that was begun and not ended, and end it; which of our files changed.

        Every step may be done again.
        """
        begun = self._state.read("SELECT id, todo FROM forgetting")
        every = [json.loads(row[1]) for row in begun]
        names = ("ids", "paths", "notes", "concepts")
        todo = {name: list(dict.fromkeys(each for one in every for each in one.get(name, ()))) for name in names}
        version = self._tombstones.version  # before the matcher, which may know more: then all is read again later
        matcher = self._tombstones.matcher
        edited = our_files.edit_notes(self._workspace, matcher, todo["notes"])
        edited += [FACTS] if our_files.edit_facts(self._workspace, self._store, self._tombstones) else []
        gone = set(todo["concepts"])
        if gone and our_files.edit_concepts(self._workspace, lambda slug: not gone.isdisjoint(matcher.concepts(slug))):
            edited.append(CONCEPTS)
        with self._store.session():
            snapshot = Snapshot(self._store)
            affected = holding(self._store, snapshot, matcher)
            affected |= {snapshot.by_path[path] for path in todo["paths"] if path in snapshot.by_path}
            self._store.read_again(sorted(affected), version)
        self._ingest()
        self._drop_unread(affected)
        files_gone = set(todo["paths"])
        self._uses.forget(
            [*todo["ids"], *(unit for unit, (path, _) in self._uses.known().items() if path in files_gone)]
        )
        self._clear()
        for file in self._store.files():
            # A map holds the same texts, a search paths and hashes of them, a survey what front matter says.
            for suffix in (BESIDE, LAST_SHOWN, SURVEY):
                atomic.remove(Path(f"{file}{suffix}"))
        self._store.purge()
        self._end([row[0] for row in begun])
        return edited

    def _end(self, begun: Sequence[str]) -> None:
        with self._state.writing() as connection:
            connection.executemany("DELETE FROM forgetting WHERE id = ?", [[one] for one in begun])
        self._state.wipe()

    def _drop_unread(self, affected: set[int]) -> None:
        """Take documents out of the index that could not be read again: they come in when they can."""
        while True:
            documents = self._store.documents()
            left = [row.id for row in documents.by_path.values() if row.id in affected and not row.sha256]
            try:
                if left:
                    self._store.remove(left, documents.version)
                return
            except TextsChanged:
                log.debug("the index changed meanwhile; looking again for what could not be read")

    def _done(self, plan: Plan, edited: Sequence[str]) -> ForgetReport:
        report = plan.report
        found = self._store.contains(plan.needles)
        warnings = [report.warning] if report.warning else []
        if found:
            warnings.append(
                f"some of it is still found in {', '.join(found)}, as part of another text; look for it with a search, "
                "and forget that too"
            )
        done = replace(
            report, edited=tuple(sorted(edited)), dry_run=False, verified=not found, warning=joined(warnings)
        )
        return _with_names(done, plan)

    def _finish_others(self) -> bool:
        """Finish what somebody began and did not end."""
        if not unfinished(self._state):
            return False
        self._finish()
        return True

    def _alone(self, patience: float) -> ExitStack:
        """Keep everybody else from forgetting, and from writing summaries of what is being forgotten."""
        with ExitStack() as stack:
            stack.enter_context(atomic.locked(self._workspace / ".forgetting", patience, self._workspace))
            stack.enter_context(atomic.locked(self._workspace / calendar.FOLDER, patience, self._workspace))
            return stack.pop_all()


def in_step(store: Store, state: State, tombstones: Tombstones) -> None:
    """Have every file read again after something was forgotten that the index has not heard of.

    Called whenever files are about to be read; mostly it costs a look at the state and one at the index.  Raises
    :class:`~openclaw_memory.store.state.StateError` when it is not known what was forgotten: nothing may be read then.
    """
    tombstones.check()
    version = tombstones.version
    if not version:
        return
    with store.reading():
        masks, unpurged = store.masks(), store.unpurged()
    if masks != version:
        with store.session():
            if store.masks() != version:  # else somebody has seen to it meanwhile
                store.read_again(None, version)
            unpurged = store.unpurged()
    if unpurged and not unfinished(state):
        # An older copy of the index, whose free blocks hold what was forgotten, or one in which forgetting was cut
        # short before others finished it in theirs: the next ingest purges it.
        redo(state)


def redo(state: State) -> None:
    """Have the next ingest take what was forgotten out of our files and the index once more."""
    with state.writing() as connection:
        connection.execute("INSERT INTO forgetting VALUES (?, ?, ?)", _row({}))


def unfinished(state: State) -> list[str]:
    """What to say while something that was to be forgotten is not yet out of everything."""
    try:
        open_ones = state.read("SELECT 1 FROM forgetting LIMIT 1")
    except StateError:
        return []  # the state says so itself
    return ["something is still to be forgotten; run: openclaw-memory ingest"] if open_ones else []


def lost(store: Store, tombstones: Tombstones) -> str | None:
    """What to say when the index remembers that something was forgotten, and the state does not."""
    if tombstones.version or not store.masks():
        return None
    return (
        "what was forgotten is not known any more, as the state of this workspace is gone: put it back (run: "
        "openclaw-memory restore), or forget those things again; until then they come back with files that change"
    )


def _with_names(report: ForgetReport, plan: Plan) -> ForgetReport:
    """``report`` with what is still called by the words."""
    return replace(report, remains=(*report.remains, *plan.named()))


def _row(todo: Mapping[str, Sequence[str]]) -> tuple[str, str, str]:
    return secrets.token_hex(8), json.dumps({name: list(each) for name, each in todo.items()}), now()


def _timed(report: ForgetReport, started: float) -> ForgetReport:
    return replace(report, seconds=time.monotonic() - started)
