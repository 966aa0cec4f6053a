"""What is known about whom: asking for facts, and adding to ``facts.yaml``."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ..errors import OpenClawMemoryError, RequestError, StoreError
from ..knowledge import facts_file
from ..knowledge.concept_keys import owners
from ..knowledge.predicates import normalise
from ..model import FactRow, FactsResult, Origin
from ..store.api import StatedFact, Store
from ..system import atomic
from .cited_units import origin_at, units_at
from .history import as_of as holding_on
from .history import history as history_of
from .history import lasting_id, reason, superseded_units, unknown
from .known import Known, current, key_of, matching, once, stated_already
from .operations import checked
from .summary_observations import as_noted
from .things import Things
from .validity import STATED, Aliases, folded


@dataclass(slots=True)
class _Plan:
    """What a change writes, and what it has come to."""

    entries: list[StatedFact]
    shown: list[str]
    added: int = 0
    updated: int = 0
    removed: int = 0


class FactBook:
    """Facts of one workspace: found in its notes and stated in its ``facts.yaml``.

    ``freshen`` brings the index to what the files say; it is called before anything is read.  ``redact`` takes
    secrets out of what is to be written.  Safe to use from several threads and processes: changes are made one at a
    time.
    """

    def __init__(
        self,
        workspace: Path,
        store: Store,
        freshen: Callable[[], object],
        redact: atomic.Redact = str,
        forgotten: Callable[[StatedFact], bool] = lambda fact: False,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._workspace = workspace
        self._file = workspace / facts_file.NAME
        self._store = store
        self._freshen = freshen
        self._redact = redact
        self._forgotten = forgotten
        self._today = today
        self._lock = threading.RLock()
        self._known: Known | None = None

    # -- asking -----------------------------------------------------------------------------------

    def query(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        as_of: date | None = None,
        history: bool = False,
        limit: int | None = None,
        explain: bool = False,
        all: bool = False,
    ) -> FactsResult:
        """The facts that hold now, or on the day ``as_of``; with ``history`` also those that no longer do.

        ``subject`` is compared as a name (an alias of a curated concept counts), ``predicate`` as a relation,
        ``object`` as a text that the fact's contains.  Where none is about ``subject`` the warning names subjects with
        all its words.  What rules found and is not surely right is left out, unless ``all`` is asked for, or the
        ``subject``, or the ``history``.  At most ``limit``
        rows, by subject, relation and time; with ``explain`` each says in one line why it is there.
        """
        started = time.perf_counter()
        self._freshen()
        known = self._now()
        rows = matching(known, subject, predicate, object)
        if as_of is not None:
            rows = holding_on(rows, as_of)
        if not history:
            rows = once(known, rows if as_of is not None else [row for row in rows if row.current])
        if not (all or history or subject):
            rows = known.things.shown(rows)
        rows = rows[:limit]
        if explain:
            known_as = known.things.shown(rows)
            rows = [replace(row, why=reason(row, row in known_as)) for row in rows]
        rows = [known.things.placed(row) for row in rows]
        warning = self._warning() or (unknown(known.history, subject) if subject and not rows else None)
        return FactsResult(tuple(rows), took_ms=_since(started), warning=warning)

    def about(self, names: Sequence[str], limit: int) -> list[FactRow]:
        """The facts that hold now and whose subject or object is one of ``names``, surest first.

        It answers from what the index holds; it looks at no file.
        """
        known = self._now()
        keys = dict.fromkeys(key_of(known, name) for name in names)
        rows = once(known, list({id(row): row for key in keys for row in known.named(key)}.values()))
        rows = known.things.shown(rows)
        rows.sort(key=lambda row: (key_of(known, row.subject) not in keys, row.rule != STATED, -row.confidence))
        return [known.things.placed(row) for row in rows[:limit]]

    def superseded(self) -> Mapping[int, tuple[str, ...]]:
        """What units state that no longer holds, in words, by unit id.

        It answers from what the index holds, and again only when that has changed.
        """
        return self._now().superseded

    # -- changing ---------------------------------------------------------------------------------

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        source: str | None = None,
        confidence: float = 1.0,
        since: date | None = None,
        until: date | None = None,
        origin: Origin = Origin.AGENT,
    ) -> FactsResult:
        """State a fact, which holds from ``since`` (the day of its source, else today) until before ``until``.

        Of a relation with one value at a time it takes the place of other values; else it stands beside them.
        What is stated already is not stated twice.  Raises :class:`~openclaw_memory.errors.RequestError`.
        """
        given = {
            "action": "add", "subject": subject, "predicate": predicate, "object": object, "source": source,
            "confidence": confidence, "since": since, "until": until, "origin": origin,
        }  # fmt: skip
        return self.batch([given])

    def update(
        self,
        id: str,
        *,
        object: str | None = None,
        predicate: str | None = None,
        confidence: float | None = None,
        since: date | None = None,
    ) -> FactsResult:
        """Replace a fact that holds by one with some of its parts changed; the old one stays in the history.

        A new ``object`` holds from ``since`` or today on, any other change from the day of the old one on.
        """
        given = {"id": id, "object": object, "predicate": predicate, "confidence": confidence, "since": since}
        return self.batch([{"action": "update", **given}])

    def remove(self, id: str) -> FactsResult:
        """End a fact today; it stays in the history.

        On the day on which it was stated, or before it has held for a day, removal means that it was stated by
        mistake: it is undone, and the value before holds again.  Later no other value comes back.
        """
        return self.batch([{"action": "remove", "id": id}])

    def batch(self, operations: Sequence[Mapping[str, Any]]) -> FactsResult:
        """Make several changes, all of them or, when one is wrong, none.

        Each has an ``action`` (``add``, ``update`` or ``remove``) and the arguments of that method; days are
        ``date`` or ``YYYY-MM-DD``, what is ``None`` counts as not given.  The rows are what holds after it of the
        facts that were changed.  Raises :class:`~openclaw_memory.errors.RequestError` naming the operation.
        """
        started = time.perf_counter()
        several = len(operations) > 1
        wanted = [checked(given, f"operation {at}: " if several else "") for at, given in enumerate(operations, 1)]
        self._freshen()
        with atomic.locked(self._file, root=self._workspace):
            # Another process may have written since, and a broken file must be heard of before anything is added.
            self._take_over()
            plan = self._planned(wanted, several)
            read = self._store.workspace_file(facts_file.NAME)
            entries = [facts_file.redacted(entry, self._redact) for entry in plan.entries]
            facts_file.append(self._file, entries, "" if read is None else read.sha256)
            try:
                self._take_over()
            except StoreError as error:  # what is written is not undone by that
                unread = f"written to {self._file}, but not read into the index yet: {error}"
                return FactsResult((), plan.added, plan.updated, plan.removed, _since(started), unread)
        known = self._now()
        rows = [row for shown in dict.fromkeys(plan.shown) for row in known.history.ids.get(shown, ())]
        rows = list(dict.fromkeys(rows))
        return FactsResult(tuple(rows), plan.added, plan.updated, plan.removed, _since(started), self._warning())

    def _take_over(self) -> None:
        facts_file.take_over(self._workspace, self._store, self._redact, self._forgotten)

    def _planned(self, operations: Sequence[tuple[str, dict[str, Any]]], several: bool) -> _Plan:
        plan = _Plan([], [])
        known = self._now()
        touched: set[str] = set()
        for at, (action, given) in enumerate(operations, 1):
            where = f"operation {at}: " if several else ""
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if action == "add":
                self._plan_add(plan, given, known, now, where)
                continue
            row = current(known, given["id"], where)
            lasting = lasting_id(row)
            if lasting in touched:
                raise RequestError(f"{where}the fact {given['id']} is changed twice; put both changes into one")
            touched.add(lasting)
            if action == "update":
                self._plan_update(plan, row, lasting, given, now, where)
            else:
                plan.entries += self._retractions(known, row, lasting, now)
                plan.shown.append(row.id)
                plan.removed += 1
        return plan

    def _checked(self, entry: StatedFact, where: str) -> StatedFact:
        if self._forgotten(entry):
            raise RequestError(f"{where}what it says was forgotten and stays out of the memory; say something else")
        return entry

    def _plan_add(self, plan: _Plan, given: dict[str, Any], known: Known, now: str, where: str) -> None:
        from ..text.dates import date_in_name

        source = given.get("source")
        told = given.get("since")
        since = told or (date_in_name(source.partition("#")[0]) if source else None) or self._today()
        until = given.get("until")
        if until is not None and until <= since:
            raise RequestError(f"{where}until ({until}) must be later than since ({since})")
        origin = origin_at(self._store, self._workspace, source, given.get("origin", Origin.AGENT))
        entry = StatedFact(
            _new_id(), given["subject"], given["predicate"], given["object"], given.get("confidence", 1.0), origin,
            source, since, until, now,
        )  # fmt: skip
        if (same := stated_already(known, plan.entries, entry, told)) is not None:
            plan.shown.append(same)
            return
        plan.entries.append(self._checked(entry, where))
        plan.shown.append(entry.id)
        plan.added += 1

    def _plan_update(
        self, plan: _Plan, row: FactRow, lasting: str, given: dict[str, Any], now: str, where: str
    ) -> None:
        changes = {key: given[key] for key in ("object", "predicate", "confidence", "since") if key in given}
        if not changes:
            raise RequestError(f"{where}nothing to change; give object, predicate, confidence or since")
        today = self._today()
        renewed = "object" in given and folded(given["object"]) != folded(row.object)
        begun = row.valid_from or today
        since = given.get("since") or (max(today, begun) if renewed else begun)
        if row.valid_to is not None and since >= row.valid_to:
            raise RequestError(f"{where}since ({since}) must be before the fact ends ({row.valid_to})")
        source = row.source if not renewed else None
        entry = StatedFact(
            _new_id(),
            row.subject,
            given.get("predicate", row.predicate),
            given.get("object", row.object),
            given.get("confidence", row.confidence if row.rule == STATED else 1.0),
            origin_at(self._store, self._workspace, source, row.origin),
            source,
            since,
            row.valid_to,
            now,
            replaces=(lasting,),
        )
        plan.entries.append(self._checked(entry, where))
        plan.shown += [entry.id]
        plan.updated += 1

    def _retractions(self, known: Known, row: FactRow, lasting: str, now: str) -> list[StatedFact]:
        """What ends a fact today, or undoes what was stated today."""
        today = self._today()
        ids, until = [lasting], max(today, row.valid_from or today)
        if row.rule == STATED:
            rows = known.history.ids
            told = [one for one in self._store.stated_facts() if one.retracts is None and row in rows.get(one.id, ())]
            if told and all(_day_of(one) == today for one in told):
                ids, until = [one.id for one in told], row.valid_from or until
        return [
            StatedFact(
                _new_id(), row.subject, row.predicate, row.object, 1.0, Origin.AGENT, None, None, until, now,
                retracts=ended,
            )
            for ended in ids
        ]  # fmt: skip

    # -- what is known ----------------------------------------------------------------------------

    def _now(self) -> Known:
        """All that is known."""
        with self._store.reading(), self._lock:  # in this order everywhere: a search holds the session already
            version, today = self._store.facts_version(), self._today()
            known = self._known
            if known is None or known.version != version or known.day != today:
                ontology = self._store.ontology()
                found = as_noted(self._store.found_facts(), self._store)
                single = frozenset(map(normalise, ontology.single_valued))
                aliases: Aliases = dict(owners(ontology).items())
                history = history_of(found, self._store.stated_facts(), single, today, aliases)
                superseded = dict(superseded_units(history))
                for unit, words in units_at(self._store, history).items():
                    superseded[unit] = tuple(dict.fromkeys((*superseded.get(unit, ()), *words)))
                things = Things(self._store, found)
                known = self._known = Known(version, today, history, single, things, superseded)
            return known

    def _warning(self) -> str | None:
        try:
            stamp = self._file.stat()
        except OSError:
            return None
        taken = self._store.workspace_file(facts_file.NAME)
        if taken is not None and (taken.size, taken.mtime_ns) == (stamp.st_size, stamp.st_mtime_ns):
            return None
        try:
            facts_file.read(self._file)
        except OpenClawMemoryError as error:
            return str(error)
        return None


def _day_of(entry: StatedFact) -> date | None:
    """The day here on which it was stated, where it says when."""
    try:
        return datetime.fromisoformat(entry.recorded).astimezone().date()
    except ValueError:
        return None


def _new_id() -> str:
    return f"f-{secrets.token_hex(6)}"


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
