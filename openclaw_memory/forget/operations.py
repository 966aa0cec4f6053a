"""Forgetting, step by step: what is written down first is enough to finish it, whatever happens on the way."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import workfiles
from ..consolidate import periods
from ..errors import RedactionError, WorkspaceError
from ..facts.file import NAME as FACTS
from ..graph.ontology import FILE_NAME as CONCEPTS
from ..ingest.notes import NoteReader
from ..journal import Journal, JournalError
from ..settings import IngestSettings
from ..store.protocol import Store, TextsChanged
from ..types import ForgetReport, joined
from . import files, masking
from .plan import AccessRecords, Plan, Planner
from .scopes import holding
from .selection import Snapshot, View, Wish
from .tombstones import KIND, Matcher, Tombstones

log = logging.getLogger("openclaw_memory")

#: The kind of a record of the journal that something is being forgotten; it goes when that is done.
OPEN = "forgetting"
#: Tombstones in one record of the journal.
_HASHES = 1_000
#: Seconds to wait for who forgets or consolidates in the same workspace: when asked to, and when finishing by the way.
_PATIENCE, _BY_THE_WAY = 30.0, 0.0


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
        journal: Journal,
        tombstones: Tombstones,
        uses: AccessRecords,
        view: View,
        ingest: Callable[[], object],
        clear: Callable[[], object] = lambda: None,
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._reader = reader
        self._journal = journal
        self._tombstones = tombstones
        self._uses = uses
        self._ingest = ingest
        self._clear = clear
        self._planner = Planner(workspace, settings, store, reader, view, uses)

    def forget(self, wish: Wish, dry_run: bool = False) -> ForgetReport:
        """Forget what ``wish`` names, or with ``dry_run`` only tell what that is.

        First tombstones are written, then the texts leave the files that are ours and the index, which is written
        anew.  A run that is cut short is finished by the next one, or by the next ingest.  Raises
        :class:`~openclaw_memory.errors.RequestError` for what cannot be meant, and other
        :class:`~openclaw_memory.errors.OpenClawMemoryError` when a file cannot be read or written.
        """
        started = time.monotonic()
        files.check(self._workspace)
        self._journal.check()
        self._ingest()
        if dry_run:
            return _timed(self._planner.plan(wish, self._key(True)).report, started)
        with self._alone(_PATIENCE):
            self._finish_others()
            plan = self._planner.plan(wish, self._key(False))
            if not plan.report.texts:
                return _timed(replace(plan.report, dry_run=False), started)
            self._journal.append(self._records(plan))
            edited = self._finish()
            return _timed(self._done(plan, edited), started)

    def resume(self) -> bool:
        """Finish what was cut short; whether there was anything.  While others are at it, it is left to them."""
        if not self._journal.records(OPEN):
            return False
        try:
            with self._alone(_BY_THE_WAY):
                return self._finish_others()
        except WorkspaceError as problem:
            log.info("something is still to be forgotten: %s", problem)
            return False

    def readable(self, path: str, text: str) -> str:
        """``text`` of the file ``path`` as people and models may read it."""
        matcher = self._tombstones.matcher
        if not matcher:
            return text
        try:
            read = self._reader.cleared(path, text)
        except RedactionError:
            read = ""  # nothing of it is in the index
        return masking.shown(text, read, path, matcher)

    # -- the steps ----------------------------------------------------------------------------------

    def _records(self, plan: Plan) -> list[Mapping[str, Any]]:
        """What is to be done first, as half of the tombstones without it would never be finished."""
        # A concept's name is a text too.
        concepts = [Matcher(self._journal.key()).concept(slug) for slug in plan.concepts]
        todo = _todo(ids=plan.ids, paths=plan.paths, notes=plan.notes, concepts=concepts)
        runs = [plan.hashes[at : at + _HASHES] for at in range(0, len(plan.hashes), _HASHES)]
        return [todo, *({"kind": KIND, "hashes": list(run)} for run in runs)]

    def _finish(self) -> list[str]:
        """Do everything that the open records ask for, and close them; which of our files changed.

        Every step may be done again.
        """
        records = self._journal.records(OPEN)
        todo = {name: _gathered(records, name) for name in ("ids", "paths", "notes", "concepts")}
        matcher = self._tombstones.matcher
        edited = files.edit_notes(self._workspace, matcher, todo["notes"])
        edited += [FACTS] if files.edit_facts(self._workspace, self._store, self._tombstones) else []
        gone = set(todo["concepts"])
        if gone and files.edit_concepts(self._workspace, lambda slug: matcher.concept(slug) in gone):
            edited.append(CONCEPTS)
        with self._store.session():
            snapshot = Snapshot(self._store)
            affected = holding(self._store, snapshot, matcher)
            affected |= {snapshot.by_path[path] for path in todo["paths"] if path in snapshot.by_path}
            self._store.read_again(sorted(affected), self._tombstones.version)
        self._ingest()
        self._drop_unread(affected)
        files_gone = set(todo["paths"])
        self._uses.forget(
            [*todo["ids"], *(unit for unit, (path, _) in self._uses.known().items() if path in files_gone)]
        )
        self._clear()
        self._store.purge()
        ids = {record.get("id") for record in records}
        self._journal.rewrite(lambda record: None if record["kind"] == OPEN and record.get("id") in ids else record)
        return edited

    def _drop_unread(self, affected: set[int]) -> None:
        """Take documents out of the index that could not be read again: they come in when they can."""
        while True:
            documents = self._store.documents()
            left = [row.id for row in documents.by_path.values() if row.id in affected and not row.sha256]
            try:
                if left:
                    self._store.remove(left, (), documents.version)
                return
            except TextsChanged:
                log.debug("the index changed meanwhile; looking again for what could not be read")

    def _done(self, plan: Plan, edited: Sequence[str]) -> ForgetReport:
        report = plan.report
        found = self._store.contains(plan.needles)
        remains = [*report.remains, *files.naming(self._workspace, plan.spellings)]
        warnings = [report.warning] if report.warning else []
        if found:
            warnings.append(
                f"some of it is still found in {', '.join(found)}, as part of another text; look for it with a search, "
                "and forget that too"
            )
        return replace(
            report,
            edited=tuple(sorted(edited)),
            remains=tuple(dict.fromkeys(remains)),
            dry_run=False,
            verified=not found,
            warning=joined(warnings),
        )

    def _finish_others(self) -> bool:
        """Finish what somebody began and did not end."""
        if not self._journal.records(OPEN):
            return False
        self._finish()
        return True

    def _alone(self, patience: float) -> ExitStack:
        """Keep everybody else from forgetting, and from writing summaries of what is being forgotten."""
        with ExitStack() as stack:
            stack.enter_context(workfiles.locked(self._workspace / f".{OPEN}", patience))
            stack.enter_context(workfiles.locked(self._workspace / periods.FOLDER, patience))
            return stack.pop_all()

    def _key(self, dry_run: bool) -> bytes:
        """The key of tombstones; a dry run writes nothing, not even that."""
        return bytes(32) if dry_run else self._journal.key()


def in_step(store: Store, journal: Journal, tombstones: Tombstones) -> None:
    """Have every file read again after something was forgotten that the index has not heard of.

    Called whenever files are about to be read; mostly it costs a look at the journal's time and one at the index.
    Raises :class:`~openclaw_memory.errors.WorkspaceError` when the journal cannot be read: nothing may be read then.
    """
    try:
        journal.check()
    except JournalError as problem:
        raise WorkspaceError(str(problem)) from problem
    version = tombstones.version
    if not version or store.masks() == version:
        return
    with store.session():
        if store.masks() == version:  # somebody else has seen to it meanwhile
            return
        filled = bool(store.documents().by_path)
        store.read_again(None, version)
    if filled and not journal.records(OPEN):
        # It may be an older copy of the index, whose free blocks hold what was forgotten: the next ingest purges it.
        journal.append([_todo()])


def unfinished(journal: Journal) -> list[str]:
    """What to say while something that was to be forgotten is not yet out of everything."""
    return ["something is still to be forgotten; run: openclaw-memory ingest"] if journal.records(OPEN) else []


def lost(store: Store, tombstones: Tombstones) -> str | None:
    """What to say when the index remembers that something was forgotten, and the journal does not."""
    if tombstones.version or not store.masks():
        return None
    return (
        "what was forgotten is not known any more, as the journal beside the index is gone: put it back, or forget "
        "those things again; until then they come back with the files that change"
    )


def _todo(**lists: Sequence[str]) -> Mapping[str, Any]:
    return {"kind": OPEN, "id": secrets.token_hex(8), **{name: list(each) for name, each in lists.items()}}


def _gathered(records: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    found = [str(one) for record in records for one in record.get(name) or ()]
    return list(dict.fromkeys(found))


def _timed(report: ForgetReport, started: float) -> ForgetReport:
    return replace(report, seconds=time.monotonic() - started)
