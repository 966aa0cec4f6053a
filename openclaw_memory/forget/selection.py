"""What a wish to forget means: which units of the index, which stated facts, which concepts."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..config.workspace import composed, inside
from ..errors import RequestError
from ..facts.history import attribute_summaries, build_history
from ..facts.periods import folded, name_key
from ..knowledge.concept_keys import concept_key
from ..knowledge.matcher import NameMatcher
from ..knowledge.predicates import normalise
from ..model import FactRow, FoundFact, Grain, Section, cited
from ..model.bounds import LONGEST_NAME
from ..store.api import RULES, Bools, DocumentInfo, Ints, PlannedUnit, StatedFact, Store
from ..text import analysis
from .masking import SUMMARIES
from .words import words_of

if TYPE_CHECKING:
    from ..graph.view import GraphView

#: Mentions that a unit has for the sake of its file: its own text need not name the concept.
_OF_FILE = np.array([rule in ("meta", "file") for rule in RULES])


#: Gives contexts in which the graph is up to date with the files.
View = Callable[[], "AbstractContextManager[GraphView]"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What to forget: one of a file (folder, or ``path#L3-L9``), words, a concept, a fact, a range of days."""

    path: str | None = None
    query: str | None = None
    concept: str | None = None
    fact: str | None = None
    since: date | None = None
    until: date | None = None

    def __post_init__(self) -> None:
        """Raise :class:`~openclaw_memory.errors.RequestError` unless exactly one thing is meant."""
        given = [name for name in ("path", "query", "concept", "fact") if getattr(self, name) is not None] + [
            "since or until"
        ] * (self.since is not None or self.until is not None)
        if len(given) != 1:
            said = " and ".join(given) or "nothing"
            raise RequestError(
                f"{said} was named; name one thing to forget: a path, a query, a concept, a fact, or days"
            )
        if self.since is not None and self.until is not None and self.until < self.since:
            raise RequestError(f"until ({self.until}) is before since ({self.since}); swap them")
        long = [name for name in given if len(str(getattr(self, name, ""))) > LONGEST_NAME]
        if long:
            raise RequestError(f"{long[0]} has more than {LONGEST_NAME} characters; name it in fewer")
        empty = [name for name in given if not str(getattr(self, name, "x")).strip()]
        if empty:
            raise RequestError(f"the {empty[0]} is empty")


class Snapshot:
    """The units of the index in reading order and the citations of its summaries; taken within a session."""

    def __init__(self, store: Store) -> None:
        self.documents: dict[int, DocumentInfo] = {info.id: info for info in store.document_infos()}
        self.rows = store.unit_rows(None)
        self.by_path = {info.path: info.id for info in self.documents.values()}
        derived = store.derived_rows()
        order = {unit: at for at, unit in enumerate(self.rows.unit_id.tolist())}
        #: Path and lines that a row of a summary cites.
        self.cited: dict[int, list[tuple[str, int, int]]] = {}
        cells = zip(
            derived.unit_id.tolist(), derived.path, derived.start_line.tolist(), derived.end_line.tolist(), strict=True
        )
        for unit, path, first, last in cells:
            if unit in order:
                self.cited.setdefault(order[unit], []).append((path, first, last))
        self.row_of = order
        # The rows of a document lie side by side.
        own, begin, count = np.unique(self.rows.document_id, return_index=True, return_counts=True)
        self._spans = dict(zip(own.tolist(), zip(begin.tolist(), count.tolist(), strict=True), strict=True))

    def __len__(self) -> int:
        return len(self.rows.unit_id)

    def info(self, row: int) -> DocumentInfo:
        """The document of a row."""
        return self.documents[int(self.rows.document_id[row])]

    def is_summary(self, row: int) -> bool:
        """Whether a row stands in a summary."""
        return self.info(row).grain is not Grain.WORKING

    def rows_on(self, path: str, first: int, last: int) -> Ints:
        """Rows that stand on any of these lines; only those of the file are looked at."""
        begin, count = self._spans.get(self.by_path.get(path, -1), (0, 0))
        start, end = self.rows.start_line[begin : begin + count], self.rows.end_line[begin : begin + count]
        found: Ints = np.flatnonzero((start <= last) & (end >= first)).astype(np.int32) + np.int32(begin)
        return found


@dataclass(frozen=True, slots=True)
class Choice:
    """What a wish means.

    ``rows`` are those of a :class:`Snapshot`; ``names`` whether lines of a file (0 and 0: all of it) that is not
    in the index are meant too, ``means`` whether a unit of such a file is for what it says; ``says`` whether a text
    itself says what was named, so that it goes wherever it stands, and ``named``: so do concepts, facts and comments.
    ``aimed``: single lines were named, whose sentences are meant rather than their place.
    """

    rows: Bools
    facts: frozenset[str] = frozenset()
    concepts: tuple[str, ...] = ()
    named: bool = False
    names: Callable[[str, int, int], bool] = lambda path, first, last: False
    means: Callable[[str, Section, PlannedUnit], bool] = lambda path, section, planned: False
    says: Callable[[str], bool] = lambda text: False
    aimed: bool = False


def choose(
    wish: Wish, store: Store, snapshot: Snapshot, workspace: Path, files: Collection[str], concept: Named | None
) -> Choice:
    """What ``wish`` means in the index; ``files`` are the paths that a scan finds, ``concept`` is that of the wish.

    Raises :class:`~openclaw_memory.errors.RequestError` when there is no such file, concept or fact, or nothing to
    look for.  Called within a session.
    """
    if wish.path is not None:
        return _by_path(wish.path, store, snapshot, workspace, files)
    if wish.query is not None:
        return _by_query(wish.query, store, snapshot)
    if concept is not None:
        return _by_concept(concept, store, snapshot)
    if wish.fact is not None:
        return _by_fact(wish.fact, store, snapshot)
    return _by_days(wish.since or date.min, wish.until or date.max, store, snapshot)


def with_derived(choice: Choice, snapshot: Snapshot) -> Bools:
    """The rows of ``choice``, and those of summaries that cite nothing but such rows: ``bool[n]``."""
    chosen = choice.rows.copy()
    for _ in range(len(Grain)):  # a line that a person wrote into a summary is cited by the next coarser one
        more = [
            row
            for row, cited in snapshot.cited.items()
            if not chosen[row] and all(_gone(choice, snapshot, chosen, *place) for place in cited)
        ]
        if not more:
            break
        chosen[more] = True
    return chosen


def facts_from(choice: Choice, snapshot: Snapshot, chosen: Bools, store: Store) -> frozenset[str]:
    """Ids of the stated facts that cite nothing but what was chosen."""

    def derived(fact: StatedFact) -> bool:
        place = cited(fact.source) if fact.source else None
        return place is not None and _gone(choice, snapshot, chosen, *place)

    return _stated(store, derived)


def _gone(choice: Choice, snapshot: Snapshot, chosen: Bools, path: str, first: int, last: int) -> bool:
    if choice.names(path, first, last):
        return True
    there = snapshot.rows_on(path, first, last)
    return bool(len(there)) and bool(chosen[there].all())


def _any_of(phrases: Collection[str]) -> Callable[[str], bool]:
    """Whether a text has all words of one of ``phrases``, one behind the other."""
    forms = [words_of(phrase).folded for phrase in phrases]

    def says(text: str) -> bool:
        said = words_of(text).folded
        return any(_holds(said, form) for form in forms)

    return says


def _holds(said: Sequence[str], form: Sequence[str]) -> bool:
    return bool(form) and any(said[at : at + len(form)] == form for at in range(len(said) - len(form) + 1))


# -- by path ----------------------------------------------------------------------------------------


def _by_path(path: str, store: Store, snapshot: Snapshot, workspace: Path, files: Collection[str]) -> Choice:
    known = {*snapshot.by_path, *files, *(place[0] for cited in snapshot.cited.values() for place in cited)}
    first, last = 1, 0
    names = [name for name in _names(path, workspace) if _below(name, known)]
    if not names and (place := cited(path)) is not None:
        names = [name for name in _names(place[0], workspace) if _below(name, known)]
        first = max(1, place[1])
        last = max(first, place[2])
    if (names[0] if names else path.strip()).endswith((".yaml", ".yml")):
        raise RequestError(f"{path}: is no note; forget a fact with --fact, a concept with --concept")
    if not names:
        raise RequestError(
            f"{path}: no memory file is there and none was; name a file or folder as search results do, "
            "or lines of a file: memory/2026-02-16.md#L3-L9"
        )
    inside_it = _below(names[0], known)
    if not last and all(own.startswith(f"{SUMMARIES}/") for own in inside_it):
        # What it says is in the notes, and would be forgotten there too.
        edited = {info.path for info in store.summaries() if info.edited}
        if inside_it - edited:
            raise RequestError(
                f"{path}: is made from notes; forget those, or lines of it: they go in the notes too. "
                "To be rid of the file alone, delete it"
            )
    rows = np.zeros(len(snapshot), bool)
    for own in inside_it:
        rows[snapshot.rows_on(own, first, last or 1 << 30)] = True

    def named(other: str, start: int, end: int) -> bool:
        return other in inside_it and (not last or (start >= first and end <= last and start > 0))

    return Choice(rows, names=named, aimed=bool(last))


def _names(path: str, workspace: Path) -> list[str]:
    """How the index may name ``path``: as given, relative to here, absolute, or from Windows."""
    bare = path.strip().removeprefix("./").rstrip("/")
    names = [bare]
    for absolute in (Path(bare),) if os.path.isabs(bare) else (Path.cwd() / bare,):
        if (below := inside(workspace, absolute)) is not None:
            names.append(below)
    names.append(posixpath.normpath(bare.replace("\\", "/")))
    return [name for name in dict.fromkeys(names) if name and name != "."]


def _below(name: str, known: Collection[str]) -> set[str]:
    name = composed(name)
    return {path for path in known if f"{composed(path)}/".startswith(f"{name}/")}


# -- by words ---------------------------------------------------------------------------------------


def _by_query(query: str, store: Store, snapshot: Snapshot) -> Choice:
    terms = analysis.query_terms(query)
    if not terms:
        raise RequestError(f"{query!r} has no word to look for; give words that the units to forget have in common")
    index = store.keyword_index()
    index.refresh()
    found = index.postings(terms)
    ids = found.for_term(0)[0]
    for at in range(1, len(terms)):
        ids = np.intersect1d(ids, found.for_term(at)[0])
    parts = [(set(analysis.query_terms(part)), words_of(part).folded) for part in query.split()]

    def says(text: str) -> bool:
        has, said = set(analysis.terms(text)), words_of(text).folded
        # By its characters too, as what has no spaces between words has other terms when it stands among others.
        return all(terms <= has or _holds(said, form) for terms, form in parts)

    # What may be written in more ways than the index knows is looked for in all units.
    some = np.unique(ids).tolist() if query.isascii() else list(snapshot.row_of)
    alive = [unit for unit in some if unit in snapshot.row_of]
    rows = np.zeros(len(snapshot), bool)
    for unit in store.unit_texts(alive):
        # What is searched may have words around a unit's own: headings, the head of a table.
        rows[snapshot.row_of[unit.id]] = says(f"{unit.speaker or ''} {unit.text}")
    facts = _stated(store, lambda fact: says(f"{fact.subject} {fact.predicate} {fact.object}"))
    return Choice(
        rows,
        facts=facts,
        named=True,
        means=lambda path, section, planned: says(f"{planned.unit.speaker or ''} {planned.unit.written}"),
        says=says,
    )


# -- by concept -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """A concept: how it is written, and its slug where it is curated."""

    spellings: tuple[str, ...]
    key: int
    slug: str | None


def named(name: str, view: View) -> Named:
    """The concept called ``name``.  Raises :class:`~openclaw_memory.errors.RequestError` when there is none."""
    with view() as graph:
        place = graph.concept(name)
        label = graph.labels([place])[place]
        spellings = dict.fromkeys((label.name, *label.spellings, *label.others))
        slug = None if label.curated is None else label.slug
        return Named(tuple(spellings), int(graph.index.references.keys[place]), slug)


def unknown(name: str) -> Named:
    """A concept that the index does not know, by its name alone: it may be in files that are not in the index."""
    return Named((name,), int(concept_key(name)), None)


def _by_concept(concept: Named, store: Store, snapshot: Snapshot) -> Choice:
    spellings = concept.spellings
    mentions = store.mention_rows(None)
    own = np.array(sorted({concept.key, *map(concept_key, spellings)} - {0}), np.int64)
    names = NameMatcher((spelling, concept.key) for spelling in spellings if concept_key(spelling))
    meant = np.isin(mentions.key, own) & ~_OF_FILE[mentions.rule]
    said = _OF_FILE.copy()
    said[RULES.index("curated")] = True  # that is looked for in what is searched, which may be more than the text
    sure = set(mentions.unit_id[meant & ~said[mentions.rule]].tolist())
    asked = {*mentions.unit_id[meant].tolist(), *_of_form(store, snapshot, "meta")}
    rows = np.zeros(len(snapshot), bool)
    for unit in store.unit_texts(sorted(asked & snapshot.row_of.keys())):
        rows[snapshot.row_of[unit.id]] = unit.id in sure or bool(names.find(unit.text))
    says = _any_of(spellings)
    aliases = {name_key(spelling) for spelling in spellings}
    facts = _stated(
        store,
        lambda fact: bool({name_key(fact.subject), name_key(fact.object)} & aliases) or bool(names.find(fact.object)),
    )
    concepts = () if concept.slug is None else (concept.slug,)
    keys = frozenset(own.tolist())

    def means(path: str, section: Section, planned: PlannedUnit) -> bool:
        return bool(names.find(planned.unit.written)) or any(
            mention.key in keys and not _OF_FILE[RULES.index(mention.rule)] for mention in planned.mentions
        )

    return Choice(rows, facts, concepts, named=True, means=means, says=says)


def _of_form(store: Store, snapshot: Snapshot, form: str, front: int = 40) -> set[int]:
    """Units of a form, among the first of their files: those of front matter are there."""
    first = np.unique(snapshot.rows.document_id, return_index=True)[1]
    leading = [
        unit
        for at in first.tolist()
        for unit in snapshot.rows.unit_id[at : at + front][
            snapshot.rows.document_id[at : at + front] == snapshot.rows.document_id[at]
        ].tolist()
    ]
    return {unit.id for unit in store.unit_texts(leading) if unit.form == form}


# -- by fact ----------------------------------------------------------------------------------------


def _by_fact(id: str, store: Store, snapshot: Snapshot) -> Choice:
    stated, ontology = store.stated_facts(), store.ontology()
    aliases = {name_key(alias): row.key for row in ontology.concepts for alias in (row.name, *row.aliases)}
    found = attribute_summaries(store.extracted_facts(), store)
    known = build_history(found, stated, ontology.single_valued, date.today(), aliases)
    rows_of = known.ids.get(id)
    if not rows_of:
        raise RequestError(f"there is no fact {id}; 'facts query --history --json' shows ids")
    wanted = set(rows_of)
    rows = np.zeros(len(snapshot), bool)
    for unit, facts in known.units.items():
        if unit in snapshot.row_of and wanted & set(facts):
            rows[snapshot.row_of[unit]] = True
    objects = {folded(row.object) for row in wanted}
    places: list[tuple[tuple[str, int, int], str]] = []
    gone = {entry.id for entry in stated if entry.id == id or wanted & set(known.ids.get(entry.id, ()))}
    for entry in stated:
        if entry.id in gone and entry.source and (place := cited(entry.source)) is not None:
            places.append((place, folded(entry.object)))
            there = snapshot.rows.unit_id[snapshot.rows_on(*place)].tolist()
            for told in store.unit_texts(there):
                if folded(entry.object) in folded(told.text):
                    rows[snapshot.row_of[told.id]] = True

    def key(fact: FoundFact | FactRow) -> tuple[int | str, str, str]:
        subject = name_key(fact.subject)
        return aliases.get(subject, subject), normalise(fact.predicate), folded(fact.object)

    keys = {key(row) for row in wanted}

    def means(path: str, section: Section, planned: PlannedUnit) -> bool:
        own = planned.unit
        return any(key(fact) in keys for fact in planned.facts) or any(
            path == there and own.start_line <= last and own.end_line >= first and thing in folded(own.text)
            for (there, first, last), thing in places
        )

    return Choice(rows, _with_retractions(stated, gone), means=means, says=_any_of(objects))


def _stated(store: Store, meant: Callable[[StatedFact], bool]) -> frozenset[str]:
    entries = store.stated_facts()
    return _with_retractions(entries, {entry.id for entry in entries if meant(entry)})


def _with_retractions(entries: Sequence[StatedFact], gone: Collection[str]) -> frozenset[str]:
    """Those entries and the ones that end them, which say the same once more."""
    return frozenset(gone) | {entry.id for entry in entries if entry.retracts in gone}


# -- by day -----------------------------------------------------------------------------------------


def _by_days(since: date, until: date, store: Store, snapshot: Snapshot) -> Choice:
    rows = snapshot.rows
    inside_them = rows.dated & (rows.day >= since.toordinal()) & (rows.day <= until.toordinal())
    facts = _stated(store, lambda fact: fact.valid_from is not None and since <= fact.valid_from <= until)

    def means(path: str, section: Section, planned: PlannedUnit) -> bool:
        return section.date is not None and section.date_source != "mtime" and since <= section.date <= until

    return Choice(inside_them, facts=facts, means=means)
