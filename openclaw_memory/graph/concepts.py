"""Which candidates are concepts, and which units mention them: resident columns, kept in step with the store.

The store keeps every mention; what is a concept is decided here from their counts, so the answer does not
depend on the order in which files were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..search.corpus import Corpus
from ..store.protocol import RULES, Bools, CuratedRow, Floats, Ints, MentionName, MentionRows, OntologyRows, Store
from . import evidence
from .keys import concept_key, slug

_CURATED = RULES.index("curated")
#: How surely a mention of each rule is one.
_WEIGHT = {
    "curated": 1.0, "link": 1.0, "tag": 1.0, "meta": 0.9, "name": 1.0, "code": 1.0, "quoted": 0.8, "phrase": 0.7,
    "start": 0.8, "file": 0.6,
}  # fmt: skip
_WEIGHTS = np.array([_WEIGHT[rule] for rule in RULES], np.float32)
_POINTS = np.array([evidence.POINTS.get(rule, 0) for rule in RULES], np.int32)
_STRONG = np.array([rule in evidence.STRONG for rule in RULES])
_EXPLICIT = np.array([rule in evidence.EXPLICIT for rule in RULES])


@dataclass(frozen=True, slots=True)
class References:
    """Concepts and the rows that mention them.

    ``keys`` are ascending; mention ``i`` says that row ``row[i]`` of the corpus mentions concept ``concept[i]``
    (a place in ``keys``); mentions are in order of concept, then row.  ``units`` counts rows per concept.
    """

    keys: NDArray[np.int64]
    concept: Ints
    row: Ints
    weight: Floats
    units: Ints

    def of(self, keys: Sequence[int]) -> Ints:
        """Places of those ``keys`` that are concepts."""
        wanted = np.asarray(keys, np.int64)
        at = np.searchsorted(self.keys, wanted)
        inside = at < len(self.keys)
        found: Ints = at[inside][self.keys[at[inside]] == wanted[inside]].astype(np.int32)
        return found

    def slice_of(self, concept: int) -> slice:
        """The mentions of one concept."""
        low, high = np.searchsorted(self.concept, [concept, concept + 1])
        return slice(int(low), int(high))


@dataclass(frozen=True, slots=True)
class Label:
    """What a concept is called: its ``slug``, its ``name``, its other spellings, and what kind it is of."""

    slug: str
    name: str
    kind: str | None
    curated: CuratedRow | None
    spellings: tuple[str, ...] = ()
    weight: float = 1.0


class ConceptIndex:
    """Mentions of every unit and what follows from them; :meth:`refresh` takes over what was written."""

    def __init__(self) -> None:
        self.ontology = OntologyRows()
        self.references = _nothing()
        #: Inverse document frequency of each concept over units, scaled to [0, 1]: ``float32[c]``.
        self.rarity = np.zeros(0, np.float32)
        self._mentions = _no_mentions()
        self._generations: dict[int, int] = {}
        self._by_row: tuple[Ints, Ints] = (np.zeros(0, np.int32), np.zeros(0, np.int32))
        #: What is known of names, by key: asking the store costs some milliseconds.
        self._labels: dict[int, Label] = {}
        self._curated: dict[int, CuratedRow] = {}
        self._aliases: Mapping[int, int] = {}
        #: Grows with every change of the references.
        self.version = 0

    def refresh(self, store: Store, corpus: Corpus) -> None:
        """Take over documents and curated concepts that changed since the last call."""
        now = {info.id: info.generation for info in corpus.documents.values()}
        ontology = store.ontology()
        if ontology.version != self.ontology.version or not self._generations:
            self._mentions = store.mention_rows(None)
            self.ontology = ontology
            self._labels.clear()
        else:
            gone = [i for i, generation in self._generations.items() if now.get(i) != generation]
            fresh = [i for i, generation in now.items() if self._generations.get(i) != generation]
            if not gone and not fresh:
                return
            new = store.mention_rows(fresh) if fresh else _no_mentions()
            left = np.isin(self._mentions.document_id, np.asarray(gone, np.int32))
            for key in np.union1d(self._mentions.key[left], new.key).tolist():
                self._labels.pop(self.canonical(key), None)
            self._mentions = _joined(self._mentions, ~left, new)
        self._generations = now
        self._curated = {row.key: row for row in ontology.concepts}
        self._aliases = _aliases(ontology)
        self.references = _decided(self._mentions, ontology, corpus)
        total = np.float32(max(len(corpus), 1))
        self.rarity = np.log1p(total / np.maximum(self.references.units, 1)) / np.log1p(total)
        order = np.argsort(self.references.row, kind="stable")
        self._by_row = self.references.row[order], self.references.concept[order]
        self.version += 1

    # -- what units mention -------------------------------------------------------------------------

    def of_rows(self, first: int, last: int) -> list[int]:
        """Concepts that rows ``first..last`` mention, the one that fewest units mention first."""
        rows, concepts = self._by_row
        low, high = np.searchsorted(rows, [first, last + 1])
        found = np.unique(concepts[low:high])
        return sorted(found.tolist(), key=lambda concept: (int(self.references.units[concept]), concept))

    def rows_of(self, concepts: Sequence[int]) -> Ints:
        """Rows that mention any of ``concepts``, ascending."""
        parts = [self.references.row[self.references.slice_of(concept)] for concept in concepts]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)

    # -- names ----------------------------------------------------------------------------------------

    def labels(self, store: Store, concepts: Sequence[int] | None = None) -> dict[int, Label]:
        """What these concepts (all when ``None``) are called; asks the store for what it has not seen yet."""
        keys = self.references.keys
        wanted = {place: int(keys[place]) for place in (range(len(keys)) if concepts is None else concepts)}
        missing = [key for key in wanted.values() if key not in self._labels]
        if missing:
            self._labels |= self._labelled(store, missing, everything=len(missing) * 4 > len(keys))
        return {place: self._labels[key] for place, key in wanted.items()}

    def _labelled(self, store: Store, keys: list[int], everything: bool) -> dict[int, Label]:
        asked = None if everything else [*keys, *(k for row in self.ontology.concepts for k in _keys_of(row))]
        spelt: dict[int, list[MentionName]] = {}
        for spelling in store.mention_names(asked):
            spelt.setdefault(spelling.key, []).append(spelling)
        out = {}
        for key in keys:
            found = spelt.get(key, [])
            row = self._curated.get(key)
            if row is not None:
                out[key] = Label(row.slug, row.name, row.kind, row, (row.name, *row.aliases), row.weight)
                continue
            # The spelling of a surer rule says better what the thing is called than a more frequent one.
            found.sort(key=lambda spelling: (spelling.rule not in evidence.STRONG, -spelling.count, spelling.text))
            name = found[0].text if found else str(key)
            kind = evidence.kind_of({spelling.rule for spelling in found}, name)
            out[key] = Label(slug(name), name, kind, None, tuple(spelling.text for spelling in found))
        return out

    def named(self, name: str) -> int | None:
        """The concept that ``name`` means: a slug, a name or an alias."""
        key = self.canonical(concept_key(name))
        found = self.references.of([key])
        return int(found[0]) if len(found) else None

    def canonical(self, key: int) -> int:
        """The key of the curated concept of which ``key`` is an alias, else ``key``."""
        return self._aliases.get(key, key)


def _keys_of(row: CuratedRow) -> list[int]:
    return [key for name in (row.slug, row.name, *row.aliases) if (key := concept_key(name))]


def _aliases(ontology: OntologyRows) -> Mapping[int, int]:
    return {key: row.key for row in ontology.concepts for key in _keys_of(row)}


def _nothing() -> References:
    i32 = np.zeros(0, np.int32)
    return References(np.zeros(0, np.int64), i32, i32, np.zeros(0, np.float32), i32)


def _no_mentions() -> MentionRows:
    i32 = np.zeros(0, np.int32)
    return MentionRows(i32, i32, np.zeros(0, np.int64), np.zeros(0, np.int8))


def _joined(old: MentionRows, keep: Bools, new: MentionRows) -> MentionRows:
    return MentionRows(
        np.concatenate([old.unit_id[keep], new.unit_id]),
        np.concatenate([old.document_id[keep], new.document_id]),
        np.concatenate([old.key[keep], new.key]),
        np.concatenate([old.rule[keep], new.rule]),
    )


def _decided(mentions: MentionRows, ontology: OntologyRows, corpus: Corpus) -> References:
    row = corpus.rows_of(mentions.unit_id)
    alive = row >= 0
    row, key, rule = row[alive].astype(np.int64), mentions.key[alive], mentions.rule[alive]
    key = _renamed(key, ontology)
    curated = np.array(sorted(concept.key for concept in ontology.concepts), np.int64)
    if ontology.ignored:
        keep = ~np.isin(key, np.array(ontology.ignored, np.int64)) | np.isin(key, curated)
        row, key, rule = row[keep], key[keep], rule[keep]
    keys, at, times = np.unique(key, return_inverse=True, return_counts=True)
    # What was seen once is no concept, and is most of it.
    often = (times >= 2) | np.isin(keys, curated)
    keep = often[at]
    row, at, rule = row[keep], (np.cumsum(often) - 1)[at[keep]], rule[keep]
    keys = keys[often]
    # One mention a unit and key, by its strongest rule: rules are listed from the strongest on.
    order = np.argsort((at * (len(corpus) + 1) + row) * len(RULES) + rule, kind="stable")
    row, at, rule = row[order], at[order], rule[order]
    first = np.ones(len(row), bool)
    first[1:] = (at[1:] != at[:-1]) | (row[1:] != row[:-1])
    row, at, rule = row[first], at[first], rule[first]
    n = len(keys)
    units = np.bincount(at, minlength=n)
    points = np.bincount(at, _POINTS[rule], minlength=n).astype(np.int64)
    strong = np.bincount(at, _STRONG[rule], minlength=n) > 0
    explicit = np.bincount(at, _EXPLICIT[rule], minlength=n) > 0
    chosen = evidence.decide(points, explicit, strong, units, len(corpus)) | np.isin(keys, curated)
    missing = np.setdiff1d(curated, keys)  # curated ones that no unit mentions yet
    keep = chosen[at]
    row, at, rule = row[keep], (np.cumsum(chosen) - 1)[at[keep]], rule[keep]
    keys, units = keys[chosen], units[chosen]
    if len(missing):
        places = np.searchsorted(keys, missing)
        shifted = np.arange(len(keys)) + np.searchsorted(missing, keys)
        at = shifted[at]
        keys, units = np.insert(keys, places, missing), np.insert(units, places, 0)
    return References(keys, at.astype(np.int32), row.astype(np.int32), _WEIGHTS[rule], units.astype(np.int32))


def _renamed(key: NDArray[np.int64], ontology: OntologyRows) -> NDArray[np.int64]:
    """Keys with those of aliases replaced by those of their concepts."""
    aliases = {alias: own for alias, own in _aliases(ontology).items() if alias != own}
    if not aliases or not len(key):
        return key
    old = np.array(sorted(aliases), np.int64)
    new = np.array([aliases[alias] for alias in old.tolist()], np.int64)
    at = np.minimum(np.searchsorted(old, key), len(old) - 1)
    return np.where(old[at] == key, new[at], key)
