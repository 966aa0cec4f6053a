"""Select what a request to forget names: units of the index and of other files, stated facts, concepts."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..config.workspace import inside, to_nfc
from ..errors import RequestError
from ..facts.history import attribute_summaries, build_history
from ..facts.periods import name_key
from ..knowledge.concept_keys import concept_key
from ..knowledge.matcher import NameMatcher
from ..knowledge.predicates import normalise
from ..knowledge.values import fold_value
from ..model import ExtractedFact, FactRow, Grain, Section, parse_citation
from ..model.bounds import LONGEST_NAME
from ..records import NamedTuple, dataclass
from ..store.api import RULES, Bools, DocumentInfo, Ints, PlannedUnit, StatedFact, Store
from ..text import analysis
from ..text.calendar import FOLDER as SUMMARIES
from .words import split_words

if TYPE_CHECKING:
    from ..graph.view import GraphView as Graph

#: Opens contexts in which the graph is up to date with the files.
GraphView = Callable[[], "AbstractContextManager[Graph]"]

#: Mentions that a unit has for the sake of its file, by rule: the unit's own text need not name the concept.
_OF_FILE = np.array([rule in ("meta", "file") for rule in RULES])


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Name one thing to forget: a file (folder, or ``path#L3-L9``), words, a concept, a fact, or a range of days."""

    path: str | None = None
    query: str | None = None
    concept: str | None = None
    fact: str | None = None
    since: date | None = None
    until: date | None = None

    def __post_init__(self) -> None:
        """Raise :class:`~openclaw_memory.errors.RequestError` unless exactly one thing is named."""
        texts = {name: getattr(self, name) for name in ("path", "query", "concept", "fact")}
        texts = {name: text for name, text in texts.items() if text is not None}
        names = [*texts, *["since or until"] * (self.since is not None or self.until is not None)]
        if len(names) != 1:
            raise RequestError(
                f"{' and '.join(names) or 'nothing'} was named; name one thing to forget: a path, a query, a concept, "
                "a fact, or days"
            )
        if self.since is not None and self.until is not None and self.until < self.since:
            raise RequestError(f"until ({self.until}) is before since ({self.since}); swap them")
        for name, text in texts.items():
            if len(text) > LONGEST_NAME:
                raise RequestError(f"{name} has more than {LONGEST_NAME} characters; name it in fewer")
            if not text.strip():
                raise RequestError(f"the {name} is empty")


class Snapshot:
    """The units of the index in reading order and the citations of its summaries; taken within a session."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.documents: dict[int, DocumentInfo] = {info.id: info for info in store.document_infos()}
        self.by_path = {info.path: info.id for info in self.documents.values()}
        self.rows = store.unit_rows(None)
        self.row_of = {unit: row for row, unit in enumerate(self.rows.unit_id.tolist())}
        #: Path, first and last line of the places that a row of a summary cites.
        self.citations: dict[int, list[tuple[str, int, int]]] = {}
        derived = store.summary_citations()
        places = zip(derived.path, derived.start_line.tolist(), derived.end_line.tolist(), strict=True)
        for unit, place in zip(derived.unit_id.tolist(), places, strict=True):
            if unit in self.row_of:
                self.citations.setdefault(self.row_of[unit], []).append(place)
        # The rows of a document lie side by side.
        documents, first, count = np.unique(self.rows.document_id, return_index=True, return_counts=True)
        #: First row and count of rows of each document.
        self.spans = dict(zip(documents.tolist(), zip(first.tolist(), count.tolist(), strict=True), strict=True))

    def __len__(self) -> int:
        return len(self.rows.unit_id)

    def stated(self, is_selected: Callable[[StatedFact], bool]) -> frozenset[str]:
        """Return the ids of the stated facts that go, and of the entries that end them, which repeat them."""
        entries = self.store.stated_facts()
        removed = {entry.id for entry in entries if is_selected(entry)}
        return frozenset(removed | {entry.id for entry in entries if entry.retracts in removed})

    def info(self, row: int) -> DocumentInfo:
        """Return the document of a row."""
        return self.documents[int(self.rows.document_id[row])]

    def is_summary(self, row: int) -> bool:
        """Return true if a row stands in a summary."""
        return self.info(row).grain is not Grain.WORKING

    def rows_on(self, path: str, first: int, last: int) -> Ints:
        """Return the rows of a file that stand on any of the lines ``first`` to ``last``."""
        begin, count = self.spans.get(self.by_path.get(path, -1), (0, 0))
        start, end = self.rows.start_line[begin : begin + count], self.rows.end_line[begin : begin + count]
        rows: Ints = np.flatnonzero((start <= last) & (end >= first)).astype(np.int32) + np.int32(begin)
        return rows


@dataclass(frozen=True, slots=True)
class Selection:
    """The units, facts and concepts that a request selects, in the index and outside of it.

    In the index: ``rows`` of a :class:`Snapshot`, the ids of stated ``facts``, the slugs of curated ``concepts``.
    Outside: the lines of a file for which ``covers_lines`` is true (lines 0 to 0: all of it), and the units for which
    ``matches_unit`` is true.  A text for which ``matches_text`` is true is forgotten in every file; with
    ``includes_names`` the concepts, facts and comments that contain it are forgotten too.  ``single_lines`` is true if
    the request named lines, for their sentences, rather than a whole file.
    """

    rows: Bools
    facts: frozenset[str] = frozenset()
    concepts: tuple[str, ...] = ()
    includes_names: bool = False
    covers_lines: Callable[[str, int, int], bool] = lambda path, first, last: False
    matches_unit: Callable[[str, Section, PlannedUnit], bool] = lambda path, section, planned: False
    matches_text: Callable[[str], bool] = lambda text: False
    single_lines: bool = False

    def selects_lines(self, snapshot: Snapshot, path: str, first: int, last: int) -> bool:
        """Return true if everything on these lines of a file is selected."""
        rows = snapshot.rows_on(path, first, last)
        return self.covers_lines(path, first, last) or (bool(len(rows)) and bool(self.rows[rows].all()))


def select(
    request: ForgetRequest, snapshot: Snapshot, workspace: Path, files: Collection[str], concept: NamedConcept | None
) -> Selection:
    """Select what ``request`` names; ``files`` are the paths of a scan, ``concept`` is that of the request.

    Raises :class:`~openclaw_memory.errors.RequestError` when there is no such file or fact, or no word to look for.
    Called within a session.
    """
    if request.path is not None:
        return _by_path(request.path, snapshot, workspace, files)
    if request.query is not None:
        return _by_query(request.query, snapshot)
    if concept is not None:
        return _by_concept(concept, snapshot)
    if request.fact is not None:
        return _by_fact(request.fact, snapshot)
    return _by_days(request.since or date.min, request.until or date.max, snapshot)


def with_derived(selection: Selection, snapshot: Snapshot) -> Selection:
    """Return ``selection`` with the summaries' rows and the stated facts that cite nothing but what is selected."""
    for _ in Grain:  # a line that a person wrote into a summary is cited by the next coarser one
        rows = selection.rows.copy()
        for row, places in snapshot.citations.items():
            rows[row] |= all(selection.selects_lines(snapshot, *place) for place in places)
        if np.array_equal(rows, selection.rows):
            break
        selection = replace(selection, rows=rows)

    def is_derived(fact: StatedFact) -> bool:
        place = parse_citation(fact.source) if fact.source else None
        return place is not None and selection.selects_lines(snapshot, *place)

    return replace(selection, facts=selection.facts | snapshot.stated(is_derived))


def holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Return true if ``words`` contain ``phrase`` as a run."""
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words) - len(phrase) + 1))


def _contains_any(texts: Collection[str]) -> Callable[[str], bool]:
    """Return a predicate: a text has all words of one of ``texts``, one behind the other."""
    phrases = [words for text in texts if (words := split_words(text).folded)]

    def matches_text(text: str) -> bool:
        words = split_words(text).folded
        return any(holds(words, phrase) for phrase in phrases)

    return matches_text


# -- by path ----------------------------------------------------------------------------------------


def _by_path(path: str, snapshot: Snapshot, workspace: Path, files: Collection[str]) -> Selection:
    paths = {*snapshot.by_path, *files, *(place[0] for places in snapshot.citations.values() for place in places)}
    name, below = _resolve(path, workspace, paths)
    first = last = 0
    if not below and (place := parse_citation(path)) is not None:
        name, below = _resolve(place[0], workspace, paths)
        first = max(1, place[1])
        last = max(first, place[2])
    if name.endswith((".yaml", ".yml")):
        raise RequestError(f"{path}: is no note; forget a fact with --fact, a concept with --concept")
    if not below:
        raise RequestError(
            f"{path}: no memory file is there and none was; name a file or folder as search results do, "
            "or lines of a file: memory/2026-02-16.md#L3-L9"
        )
    if not last and all(each.startswith(f"{SUMMARIES}/") for each in below):
        # What it says is in the notes, and would be forgotten there too.
        if below - {info.path for info in snapshot.store.summaries() if info.edited}:
            raise RequestError(
                f"{path}: is made from notes; forget those, or lines of it: they go in the notes too. "
                "To be rid of the file alone, delete it"
            )
    rows = np.zeros(len(snapshot), bool)
    for each in below:
        rows[snapshot.rows_on(each, first, last or 1 << 30)] = True

    def covers_lines(other: str, start: int, end: int) -> bool:
        return other in below and (not last or (start >= first and end <= last and start > 0))

    return Selection(rows, covers_lines=covers_lines, single_lines=bool(last))


def _resolve(path: str, workspace: Path, paths: Collection[str]) -> tuple[str, set[str]]:
    """Return a name of ``path`` in the index and the ``paths`` at or below it, none if it is unknown.

    It may be relative to the workspace or to the working directory, absolute, or from Windows.
    """
    bare = path.strip().removeprefix("./").rstrip("/")
    below_workspace = inside(workspace, Path(bare) if os.path.isabs(bare) else Path.cwd() / bare)
    for name in (bare, below_workspace, posixpath.normpath(bare.replace("\\", "/"))):
        if name and name != ".":
            prefix = f"{to_nfc(name)}/"
            if below := {each for each in paths if f"{to_nfc(each)}/".startswith(prefix)}:
                return name, below
    return path.strip(), set()


# -- by words ---------------------------------------------------------------------------------------


def _by_query(query: str, snapshot: Snapshot) -> Selection:
    terms = analysis.query_terms(query)
    if not terms:
        raise RequestError(f"{query!r} has no word to look for; give words that the units to forget have in common")
    parts = [(set(analysis.query_terms(part)), split_words(part).folded) for part in query.split()]

    def matches_text(text: str) -> bool:
        text_terms, words = set(analysis.terms(text)), split_words(text).folded
        # By its characters too, as what has no spaces between words has other terms when it stands among others.
        return all(terms <= text_terms or (phrase and holds(words, phrase)) for terms, phrase in parts)

    units = list(snapshot.row_of)
    if query.isascii():  # anything else may be written in more ways than the index knows
        index = snapshot.store.keyword_index()
        index.refresh()
        postings = index.postings(terms)
        candidates = postings.for_term(0)[0]
        for at in range(1, len(terms)):
            candidates = np.intersect1d(candidates, postings.for_term(at)[0])
        units = [unit for unit in np.unique(candidates).tolist() if unit in snapshot.row_of]
    rows = np.zeros(len(snapshot), bool)
    for unit in snapshot.store.unit_texts(units):
        # What is searched may have words around a unit's own: headings, the head of a table.
        rows[snapshot.row_of[unit.id]] = matches_text(f"{unit.speaker or ''} {unit.text}")
    return Selection(
        rows,
        facts=snapshot.stated(lambda fact: matches_text(f"{fact.subject} {fact.predicate} {fact.object}")),
        includes_names=True,
        matches_unit=lambda path, section, planned: matches_text(
            f"{planned.unit.speaker or ''} {planned.unit.written}"
        ),
        matches_text=matches_text,
    )


# -- by concept -------------------------------------------------------------------------------------


class NamedConcept(NamedTuple):
    """The spellings and the key of a concept, its slug where it is curated, and the error where nothing is called so.

    A concept that the index does not know may be in files outside of it.
    """

    spellings: tuple[str, ...]
    key: int
    slug: str | None = None
    unknown: RequestError | None = None


def find_concept(name: str, view: GraphView) -> NamedConcept:
    """Return the concept called ``name``."""
    try:
        with view() as graph:
            place = graph.concept(name)
            label = graph.labels([place])[place]
            spellings = dict.fromkeys((label.name, *label.spellings, *label.others))
            slug = None if label.curated is None else label.slug
            return NamedConcept(tuple(spellings), int(graph.index.references.keys[place]), slug)
    except RequestError as error:
        return NamedConcept((name,), int(concept_key(name)), unknown=error)


def _by_concept(concept: NamedConcept, snapshot: Snapshot) -> Selection:
    spellings = concept.spellings
    keys = {concept.key, *map(concept_key, spellings)} - {0}
    names = NameMatcher((spelling, concept.key) for spelling in spellings if concept_key(spelling))
    mentions = snapshot.store.mention_rows(None)
    of_concept = np.isin(mentions.key, np.array(sorted(keys), np.int64)) & ~_OF_FILE[mentions.rule]
    # A curated name is looked for in what is searched, which may be more than the unit's text.
    curated = mentions.rule == RULES.index("curated")
    certain = set(mentions.unit_id[of_concept & ~curated].tolist())
    possible = {*mentions.unit_id[of_concept].tolist(), *_front_matter(snapshot)}
    rows = np.zeros(len(snapshot), bool)
    for unit in snapshot.store.unit_texts(sorted(possible & snapshot.row_of.keys())):
        rows[snapshot.row_of[unit.id]] = unit.id in certain or bool(names.find(unit.text))
    aliases = {name_key(spelling) for spelling in spellings}

    def matches_unit(path: str, section: Section, planned: PlannedUnit) -> bool:
        return bool(names.find(planned.unit.written)) or any(
            mention.key in keys and not _OF_FILE[RULES.index(mention.rule)] for mention in planned.mentions
        )

    return Selection(
        rows,
        facts=snapshot.stated(
            lambda fact: bool({name_key(fact.subject), name_key(fact.object)} & aliases or names.find(fact.object)),
        ),
        concepts=() if concept.slug is None else (concept.slug,),
        includes_names=True,
        matches_unit=matches_unit,
        matches_text=_contains_any(spellings),
    )


def _front_matter(snapshot: Snapshot, leading: int = 40) -> set[int]:
    """Return the units of front matter, which are among the ``leading`` ones of their files."""
    units = [
        unit
        for first, count in snapshot.spans.values()
        for unit in snapshot.rows.unit_id[first : first + min(count, leading)].tolist()
    ]
    return {unit.id for unit in snapshot.store.unit_texts(units) if unit.form == "meta"}


# -- by fact ----------------------------------------------------------------------------------------


def _by_fact(id: str, snapshot: Snapshot) -> Selection:
    stated, ontology = snapshot.store.stated_facts(), snapshot.store.ontology()
    aliases = {name_key(alias): row.key for row in ontology.concepts for alias in (row.name, *row.aliases)}
    noted = attribute_summaries(snapshot.store.extracted_facts(), snapshot.store)
    periods = build_history(noted, stated, ontology.single_valued, date.today(), aliases)
    facts = set(periods.ids.get(id, ()))
    if not facts:
        raise RequestError(f"there is no fact {id}; 'facts query --history --json' shows ids")
    rows = np.zeros(len(snapshot), bool)
    for unit, there in periods.units.items():
        if unit in snapshot.row_of and facts.intersection(there):
            rows[snapshot.row_of[unit]] = True
    removed = {entry.id for entry in stated if entry.id == id or facts.intersection(periods.ids.get(entry.id, ()))}
    #: Places that stated entries cite, and the object that goes there.
    places: list[tuple[tuple[str, int, int], str]] = []
    for entry in stated:
        if entry.id in removed and entry.source and (place := parse_citation(entry.source)) is not None:
            places.append((place, fold_value(entry.object)))
            for text in snapshot.store.unit_texts(snapshot.rows.unit_id[snapshot.rows_on(*place)].tolist()):
                if fold_value(entry.object) in fold_value(text.text):
                    rows[snapshot.row_of[text.id]] = True

    def key(fact: ExtractedFact | FactRow) -> tuple[int | str, str, str]:
        subject = name_key(fact.subject)
        return aliases.get(subject, subject), normalise(fact.predicate), fold_value(fact.object)

    keys = set(map(key, facts))

    def matches_unit(path: str, section: Section, planned: PlannedUnit) -> bool:
        unit = planned.unit
        return any(key(fact) in keys for fact in planned.facts) or any(
            path == cited_path and unit.start_line <= last and unit.end_line >= first and thing in fold_value(unit.text)
            for (cited_path, first, last), thing in places
        )

    return Selection(
        rows,
        facts=snapshot.stated(lambda entry: entry.id in removed),
        matches_unit=matches_unit,
        matches_text=_contains_any({fold_value(fact.object) for fact in facts}),
    )


# -- by day -----------------------------------------------------------------------------------------


def _by_days(since: date, until: date, snapshot: Snapshot) -> Selection:
    rows = snapshot.rows
    return Selection(
        rows.dated & (rows.day >= since.toordinal()) & (rows.day <= until.toordinal()),
        facts=snapshot.stated(lambda fact: fact.valid_from is not None and since <= fact.valid_from <= until),
        matches_unit=lambda path, section, planned: (
            section.date is not None and section.date_source != "mtime" and since <= section.date <= until
        ),
    )
