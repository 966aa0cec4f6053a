"""The facts of a workspace: questions about them, and changes of ``facts.yaml``."""

from __future__ import annotations

import difflib
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ..errors import OpenClawMemoryError, RequestError, StoreError
from ..knowledge import FACTS, facts_file
from ..knowledge.concept_keys import concepts_by_key
from ..knowledge.predicates import normalise
from ..knowledge.values import fold_value
from ..model import FactChanges, FactConflicts, FactRow, FactsResult, Origin
from ..records import dataclass
from ..store.api import StatedFact, Store
from ..system import atomic
from ..system.git import lines_after
from ..text.characters import join_surrogates
from ..text.dates import date_in_name
from .confidence import ListedFacts
from .history import as_of as holding_on
from .history import (
    attribute_summaries,
    build_history,
    explain,
    lasting_id,
    origin_of_source,
    superseded_citations,
    superseded_units,
)
from .periods import STATED, Aliases
from .review import changes_since, is_worth_showing, past_values, with_history, without_directory
from .review import conflicts as find_conflicts
from .snapshot import FactSnapshot

#: Arguments of the operations of a batch, and the required ones.
_OPERATIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "add": (("subject", "predicate", "object", "source", "confidence", "since", "until", "origin"),
            ("subject", "predicate", "object")),
    "update": (("id", "object", "predicate", "confidence", "since"), ("id",)),
    "remove": (("id",), ("id",)),
}  # fmt: skip


@dataclass(slots=True)
class _Plan:
    """The entries to write, the ids of the facts to return, and counts of the changes."""

    entries: list[StatedFact] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    added: int = 0
    updated: int = 0
    removed: int = 0


class FactService:
    """Facts of one workspace: extracted from its notes and stated in its ``facts.yaml``.

    ``freshen`` brings the index up to date and is called before every reading; ``redact`` replaces secrets in the text
    to be written.  Safe to use from several threads and processes: changes are made one at a time.
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
        self._file = workspace / FACTS
        self._store = store
        self._freshen = freshen
        self._redact = redact
        self._forgotten = forgotten
        self._today = today
        self._lock = threading.RLock()
        self._cached: dict[date, FactSnapshot] = {}

    # -- questions --------------------------------------------------------------------------------

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
        """Return the facts that hold now, or on the day ``as_of``; with ``history`` also the ended ones.

        ``subject`` is compared as a name (an alias of a curated concept counts), ``predicate`` as a relation,
        ``object`` as a text within the fact's.  Where no fact is about ``subject`` the warning names subjects with all
        its words.  Extracted facts that are not probable enough are left out, unless ``all``, ``subject`` or
        ``history`` is given, and of addresses and numbers those that never changed.  A row has the values that it
        replaced in ``before``.  With ``as_of`` what is dated later is left out.  At most ``limit`` rows, by subject,
        relation and time; with ``explain`` each gives in one line the reason why it is there.
        """
        started = time.perf_counter()
        self._freshen()
        snapshot = self._snapshot(as_of)
        rows = with_history(snapshot.matching(subject, predicate, object), snapshot.past)
        if as_of is not None:
            rows = holding_on(rows, as_of)
        if not history:
            rows = snapshot.distinct(rows if as_of is not None else [row for row in rows if row.current])
        if not (all or subject):
            rows = [row for row in rows if is_worth_showing(row)]
        if not (all or history or subject):
            rows = snapshot.listed_facts.select(rows)
            if not (predicate or object):
                rows = without_directory(rows, snapshot.history.rows)
        rows = rows[:limit]
        if explain:
            rows = _explained(rows, snapshot.listed_facts)
        rows = [snapshot.listed_facts.with_heading(row) for row in rows]
        warning = self._warning() or (snapshot.similar_subjects(subject) if subject and not rows else None)
        return FactsResult(tuple(rows), took_ms=_milliseconds_since(started), warning=warning)

    def about(self, names: Sequence[str], limit: int, as_of: date | None = None) -> list[FactRow]:
        """Return current facts whose subject or object is one of ``names``, those with a stated row first.

        Answers from the index as on the day ``as_of``, and reads no file.
        """
        snapshot = self._snapshot(as_of)
        keys = dict.fromkeys(map(snapshot.key_of, names))
        rows = snapshot.distinct(list({id(row): row for key in keys for row in snapshot.current_named(key)}.values()))
        rows = snapshot.listed_facts.select(with_history(rows, snapshot.past))
        rows.sort(key=lambda row: (snapshot.key_of(row.subject) not in keys, row.rule != STATED, -row.confidence))
        return [snapshot.listed_facts.with_heading(row) for row in rows[:limit]]

    def superseded(self, as_of: date | None = None) -> Mapping[int, tuple[str, ...]]:
        """Return by unit id, in words, the facts of units that no longer hold, or did not on the day ``as_of``.

        Answers from the index.
        """
        with self._store.reading():
            history = self._snapshot(as_of).history
            superseded = superseded_units(history)
            for unit, words in superseded_citations(self._store, history).items():
                superseded[unit] = tuple(dict.fromkeys((*superseded.get(unit, ()), *words)))
        return superseded

    def outlook(self) -> tuple[date | None, int]:
        """Return the next day on which a fact that is known now begins or ends to hold, and the number of conflicts."""
        snapshot = self._snapshot()
        return snapshot.next_change, len(find_conflicts(snapshot.history, snapshot.single_valued))

    def changes(self, since: date, until: date | None = None, fresh: bool = True) -> FactChanges:
        """Return the values that replaced others after the day ``since``, and the decisions, in order of time.

        Without ``fresh`` it answers from the index alone.
        """
        started = time.perf_counter()
        if fresh:
            self._freshen()
        snapshot = self._snapshot()
        changes = tuple(changes_since(snapshot.history, since, until or self._today()))
        return FactChanges(changes, _milliseconds_since(started), self._warning())

    def conflicts(self, fresh: bool = True) -> FactConflicts:
        """Return the pairs of values that both claim to hold; without ``fresh`` from the index alone."""
        started = time.perf_counter()
        if fresh:
            self._freshen()
        snapshot = self._snapshot()
        pairs = tuple(find_conflicts(snapshot.history, snapshot.single_valued))
        return FactConflicts(pairs, _milliseconds_since(started), self._warning())

    def settle(self, id: str, keep: int) -> FactsResult:
        """State the first or second value of the conflict ``id`` in ``facts.yaml``, in place of the other one.

        :meth:`unsettle` takes it back.  Raises :class:`~openclaw_memory.errors.RequestError`.
        """
        conflict = next((each for each in self.conflicts().conflicts if each.id == id), None)
        if conflict is None or keep not in (1, 2):
            raise RequestError(
                f"there is no conflict {id} with a value {keep}", "'openclaw-memory conflicts' lists them"
            )
        first, second = (self._snapshot().history.ids[side.id][-1] for side in (conflict.first, conflict.second))
        kept, other = (first, second) if keep == 1 else (second, first)
        since = kept.valid_from or self._today()
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = StatedFact(
            f"{id}-{secrets.token_hex(3)}", kept.subject, kept.predicate, kept.object, kept.confidence, kept.origin,
            kept.source, since, None, now, replaces=(lasting_id(other),),
        )  # fmt: skip
        plan = _Plan(updated=1)
        self._plan_entry(plan, entry, "")
        return self._write(plan, time.perf_counter())

    def unsettle(self, id: str) -> FactsResult:
        """Take back what :meth:`settle` stated for the conflict ``id``; both values hold again."""
        self._freshen()
        entries = self._store.stated_facts()
        retracted = {entry.retracts for entry in entries}
        settled = [e for e in entries if e.id.startswith(f"{id}-") and e.replaces and e.id not in retracted]
        if not settled:
            raise RequestError(f"nothing was settled of a conflict {id}", "facts.yaml has what was")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        plan = _Plan(removed=1)
        for entry in settled:
            values = entry.subject, entry.predicate, entry.object, 1.0, Origin.AGENT
            plan.entries.append(StatedFact(_new_id(), *values, None, None, entry.valid_from, now, retracts=entry.id))
        return self._write(plan, time.perf_counter())

    # -- changes ----------------------------------------------------------------------------------

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
        A fact that is stated already is not stated twice.  Raises :class:`~openclaw_memory.errors.RequestError`.
        """
        operation = {
            "action": "add", "subject": subject, "predicate": predicate, "object": object, "source": source,
            "confidence": confidence, "since": since, "until": until, "origin": origin,
        }  # fmt: skip
        return self.batch([operation])

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
        changes = {"object": object, "predicate": predicate, "confidence": confidence, "since": since}
        return self.batch([{"action": "update", "id": id, **changes}])

    def remove(self, id: str) -> FactsResult:
        """End a fact today; it stays in the history.

        On the day on which it was stated, or before it has held for a day, removal means that it was stated by
        mistake: it is undone, and the value before holds again.  Later no other value comes back.
        """
        return self.batch([{"action": "remove", "id": id}])

    def batch(self, operations: Sequence[Mapping[str, Any]]) -> FactsResult:
        """Make several changes, all of them or, when one is wrong, none.

        Each has an ``action`` (``add``, ``update`` or ``remove``) and the arguments of that method; days are ``date``
        or ``YYYY-MM-DD``, ``None`` counts as not given.  The rows are the changed facts as they hold afterwards.
        Raises :class:`~openclaw_memory.errors.RequestError` naming the operation.
        """
        started = time.perf_counter()
        places = [f"operation {at}: " if len(operations) > 1 else "" for at in range(1, len(operations) + 1)]
        checked = [_check(operation, where) for operation, where in zip(operations, places, strict=True)]
        self._freshen()
        with atomic.locked(self._file, root=self._workspace):
            # Another process may have written meanwhile, and a broken file must be reported before anything is added.
            self._take_over()
            plan = self._plan(checked, places)
            return self._append(plan, started)

    def _write(self, plan: _Plan, started: float) -> FactsResult:
        with atomic.locked(self._file, root=self._workspace):
            self._take_over()
            return self._append(plan, started)

    def _append(self, plan: _Plan, started: float) -> FactsResult:
        """Write the entries of ``plan``; the caller holds the lock of the file."""
        file = self._store.workspace_file(FACTS)
        entries = [facts_file.redacted(entry, self._redact) for entry in plan.entries]
        facts_file.append(self._file, entries, "" if file is None else file.sha256)
        try:
            self._take_over()
        except StoreError as error:  # the written entries stay
            unread = f"written to {self._file}, but not read into the index yet: {error}"
            return FactsResult((), plan.added, plan.updated, plan.removed, _milliseconds_since(started), unread)
        ids = self._snapshot().history.ids
        rows = tuple(dict.fromkeys(row for name in plan.shown for row in ids.get(name, ())))
        took_ms = _milliseconds_since(started)
        return FactsResult(rows, plan.added, plan.updated, plan.removed, took_ms, self._warning())

    def _take_over(self) -> None:
        facts_file.take_over(self._workspace, self._store, self._redact, self._forgotten)

    def _plan(self, operations: Sequence[tuple[str, dict[str, Any]]], places: Sequence[str]) -> _Plan:
        plan = _Plan()
        snapshot = self._snapshot()
        changed: set[str] = set()
        for (action, arguments), where in zip(operations, places, strict=True):
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if action == "add":
                self._plan_add(plan, arguments, snapshot, now, where)
                continue
            row = snapshot.require_current(arguments["id"], where)
            lasting = lasting_id(row)
            if lasting in changed:
                raise RequestError(f"{where}the fact {arguments['id']} is changed twice; put both changes into one")
            changed.add(lasting)
            if action == "update":
                self._plan_update(plan, row, lasting, arguments, now, where)
            else:
                plan.entries += self._retractions(snapshot, row, lasting, now)
                plan.shown.append(row.id)
                plan.removed += 1
        return plan

    def _plan_entry(self, plan: _Plan, entry: StatedFact, where: str) -> None:
        if self._forgotten(entry):
            raise RequestError(f"{where}what it says was forgotten and stays out of the memory; say something else")
        plan.entries.append(entry)
        plan.shown.append(entry.id)

    def _plan_add(self, plan: _Plan, arguments: dict[str, Any], snapshot: FactSnapshot, now: str, where: str) -> None:
        source, until = arguments.get("source"), arguments.get("until")
        given_since = arguments.get("since")
        since = given_since or (date_in_name(source.partition("#")[0]) if source else None) or self._today()
        if until is not None and until <= since:
            raise RequestError(f"{where}until ({until}) must be later than since ({since})")
        origin = origin_of_source(self._store, self._workspace, source, arguments.get("origin", Origin.AGENT))
        entry = StatedFact(
            _new_id(), arguments["subject"], arguments["predicate"], arguments["object"],
            arguments.get("confidence", 1.0), origin, source, since, until, now,
        )  # fmt: skip
        if (same := snapshot.stated_id(plan.entries, entry, given_since)) is not None:
            plan.shown.append(same)
            return
        self._plan_entry(plan, entry, where)
        plan.added += 1

    def _plan_update(
        self, plan: _Plan, row: FactRow, lasting: str, arguments: dict[str, Any], now: str, where: str
    ) -> None:
        if len(arguments) == 1:
            raise RequestError(f"{where}nothing to change; give object, predicate, confidence or since")
        today = self._today()
        renewed = "object" in arguments and fold_value(arguments["object"]) != fold_value(row.object)
        begun = row.valid_from or today
        since = arguments.get("since") or (max(today, begun) if renewed else begun)
        if row.valid_to is not None and since >= row.valid_to:
            raise RequestError(f"{where}since ({since}) must be before the fact ends ({row.valid_to})")
        source = row.source if not renewed else None
        entry = StatedFact(
            _new_id(),
            row.subject,
            arguments.get("predicate", row.predicate),
            arguments.get("object", row.object),
            arguments.get("confidence", row.confidence if row.rule == STATED else 1.0),
            origin_of_source(self._store, self._workspace, source, row.origin),
            source,
            since,
            row.valid_to,
            now,
            replaces=(lasting,),
        )
        self._plan_entry(plan, entry, where)
        plan.updated += 1

    def _retractions(self, snapshot: FactSnapshot, row: FactRow, lasting: str, now: str) -> list[StatedFact]:
        """Return the entries that end a fact today, or undo statements of today."""
        today = self._today()
        ids, until = [lasting], max(today, row.valid_from or today)
        if row.rule == STATED:
            rows = snapshot.history.ids
            entries = [
                entry
                for entry in self._store.stated_facts()
                if entry.retracts is None and row in rows.get(entry.id, ())
            ]
            if entries and all(_recorded_day(entry) == today for entry in entries):
                ids, until = [entry.id for entry in entries], row.valid_from or until
        return [
            StatedFact(
                _new_id(), row.subject, row.predicate, row.object, 1.0, Origin.AGENT, None, None, until, now,
                retracts=ended,
            )
            for ended in ids
        ]  # fmt: skip

    # -- the snapshot -----------------------------------------------------------------------------

    def _snapshot(self, as_of: date | None = None) -> FactSnapshot:
        with self._store.reading(), self._lock:  # in this order everywhere: a search holds the session already
            version, today = self._store.facts_version()[:3], self._today()  # the rest is of the lines that facts cite
            day = as_of or today
            snapshot = self._cached.get(day)
            if snapshot is None or snapshot.version != version:
                self._cached = {key: kept for key, kept in self._cached.items() if key == today and day != today}
                snapshot = self._cached[day] = self._build_snapshot(version, day, as_of)
            return snapshot

    def _build_snapshot(self, version: tuple[str, ...], day: date, as_of: date | None) -> FactSnapshot:
        ontology = self._store.ontology()
        observations = attribute_summaries(self._store.extracted_facts(), self._store)
        if as_of is not None and (young := lines_after(self._workspace, as_of)):
            observations = [
                seen
                for seen in observations
                if seen.dated or young.get(seen.path, frozenset()).isdisjoint(range(seen.start_line, seen.end_line + 1))
            ]
        single = frozenset(map(normalise, ontology.single_valued))
        aliases: Aliases = dict(concepts_by_key(ontology).items())
        history = build_history(observations, self._store.stated_facts(), single, day, aliases, as_of)
        listed_facts = ListedFacts(self._store, observations)
        return FactSnapshot(version, day, history, single, listed_facts, past_values(history))

    def _warning(self) -> str | None:
        """Return the error of a ``facts.yaml`` that has changed and cannot be read."""
        try:
            stamp = self._file.stat()
        except OSError:
            return None
        indexed = self._store.workspace_file(FACTS)
        if indexed is not None and (indexed.size, indexed.mtime_ns) == (stamp.st_size, stamp.st_mtime_ns):
            return None
        try:
            facts_file.read(self._file)
        except OpenClawMemoryError as error:
            return str(error)
        return None


def _explained(rows: Sequence[FactRow], listed_facts: ListedFacts) -> list[FactRow]:
    listed = set(map(id, listed_facts.select(rows)))
    return [replace(row, why=explain(row, id(row) in listed)) for row in rows]


def _recorded_day(entry: StatedFact) -> date | None:
    """Return the local day on which a fact was stated, where its entry has one."""
    try:
        return datetime.fromisoformat(entry.recorded).astimezone().date()
    except ValueError:
        return None


def _new_id() -> str:
    return f"f-{secrets.token_hex(6)}"


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


# -- operations -----------------------------------------------------------------------------------


def _check(operation: Mapping[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Return action and arguments of an operation, with trimmed texts and days as dates."""
    action = str(operation.get("action"))
    if action not in _OPERATIONS:
        raise RequestError(f"{where}action must be one of {', '.join(_OPERATIONS)}, not {operation.get('action')!r}")
    valid, required = _OPERATIONS[action]
    arguments: dict[str, Any] = {}
    for key, value in operation.items():
        if key == "action" or value is None:
            continue
        if key not in valid:
            near = difflib.get_close_matches(key, valid, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(valid)}"
            raise RequestError(f"{where}{action} takes no {key!r}; {hint}")
        arguments[key] = _check_argument(where, key, value)
    for key in required:
        if key not in arguments:
            raise RequestError(f"{where}{action} needs {key!r}")
    return action, arguments


def _check_argument(where: str, key: str, value: Any) -> Any:
    if key in ("since", "until"):
        return _parse_day(where, key, value)
    if key == "confidence":
        usable = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not usable or not 0 <= value <= 1:
            raise RequestError(f"{where}confidence must be a number from 0 to 1, not {value!r}")
        return float(value)
    if not isinstance(value, str):
        raise RequestError(f"{where}{key} must be text, not {value!r}")
    if key == "origin":
        if value not in set(Origin):
            raise RequestError(f"{where}origin must be one of {', '.join(Origin)}, not {value!r}")
        return Origin(value)
    # One line of Unicode text: characters that no file can hold are replaced as any editor does.
    text = " ".join(join_surrogates(value).split())
    if not text:
        raise RequestError(f"{where}{key} is empty")
    if len(text) > 2000:
        raise RequestError(f"{where}{key} has {len(text)} characters; a fact is short, at most 2000")
    if key == "predicate" and not normalise(text):
        raise RequestError(f"{where}predicate has no letter: {text!r}")
    return text


def _parse_day(where: str, key: str, value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        text = str(value).strip()
        return date.fromisoformat(text[:10] if len(text) > 10 and text[10] in "T " else text)
    except ValueError:
        raise RequestError(f"{where}{key} must be a day such as 2026-02-13, not {value!r}") from None
