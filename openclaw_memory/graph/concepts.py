"""Which candidates are concepts, and which units mention them: resident columns, kept in step with the store.

The store keeps every mention; what is a concept is decided here from their counts, so the answer does not
depend on the order in which files were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus
from ..knowledge.concept_keys import concept_key, owners, slug
from ..store.api import RULES, Bools, CuratedRow, Floats, Ints, MentionName, MentionRows, OntologyRows, Store
from . import evidence

_CURATED = RULES.index("curated")
#: How surely a mention of each rule is one.
_WEIGHT = {
    "curated": 1.0, "link": 1.0, "tag": 1.0, "meta": 0.9, "name": 1.0, "code": 1.0, "quoted": 0.8, "phrase": 0.7,
    "start": 0.8, "file": 0.6, "part": 0.5, "plain": 0.7,
}  # fmt: skip
_WEIGHTS = np.array([_WEIGHT[rule] for rule in RULES], np.float32)


@dataclass(frozen=True, slots=True)
class References:
    """Concepts and the rows that mention them.

    ``keys`` are ascending; mention ``i`` says that row ``row[i]`` of the corpus mentions concept ``concept[i]``
    (a place in ``keys``); mentions are in order of concept, then row.  ``units`` counts rows per concept but those
    of summaries that only repeat others, and the mentions of concept ``c`` are those from ``offset[c]`` to
    ``offset[c + 1]``.  ``counts`` are those units by rule, ``int[c, rules]``, and ``documents`` the files that they
    are in.
    """

    keys: NDArray[np.int64]
    concept: Ints
    row: Ints
    weight: Floats
    units: Ints
    offset: NDArray[np.int64]
    counts: NDArray[np.int64]
    documents: NDArray[np.int64]

    def of(self, keys: Sequence[int]) -> Ints:
        """Places of those ``keys`` that are concepts."""
        wanted = np.asarray(keys, np.int64)
        at = np.searchsorted(self.keys, wanted)
        inside = at < len(self.keys)
        found: Ints = at[inside][self.keys[at[inside]] == wanted[inside]].astype(np.int32)
        return found

    def slice_of(self, concept: int) -> slice:
        """The mentions of one concept."""
        return slice(int(self.offset[concept]), int(self.offset[concept + 1]))


@dataclass(frozen=True, slots=True)
class Label:
    """What a concept is called: its ``slug``, its ``name``, its other spellings, and what kind it is of."""

    slug: str
    name: str
    kind: str | None
    curated: CuratedRow | None
    spellings: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def others(self) -> tuple[str, ...]:
        """What it is called beside its name: its aliases where it is curated."""
        return self.spellings[1:] if self.curated is None else self.curated.aliases


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
        self._nesting = evidence.Nesting.of(())
        #: Grows with every change of the references.
        self.version = 0

    def refresh(self, store: Store, corpus: Corpus, copies: Bools | None = None) -> None:
        """Take over documents and curated concepts that changed since the last call.

        ``copies`` are the rows that only repeat others, ``bool[n]``: they mention concepts and are no evidence for
        what is one.
        """
        now = {info.id: info.generation for info in corpus.documents.values()}
        ontology = store.ontology()
        if ontology.version != self.ontology.version or not self._generations:
            self.ontology = ontology
            self._aliases = owners(ontology)
            self._labels.clear()
            self._mentions = _joined(_no_mentions(), self._ordered(store.mention_rows(None), corpus))
        else:
            gone = [i for i, generation in self._generations.items() if now.get(i) != generation]
            fresh = [i for i, generation in now.items() if self._generations.get(i) != generation]
            if not gone and not fresh:
                return
            new = self._ordered(store.mention_rows(fresh), corpus) if fresh else _no_mentions()
            left = np.isin(self._mentions.document_id, np.asarray(gone, np.int32))
            for key in np.union1d(self._mentions.key[left], new.key).tolist():
                self._labels.pop(key, None)
            self._mentions = _joined(_where(self._mentions, ~left), new)
        self._generations = now
        self._curated = {row.key: row for row in ontology.concepts}
        self.references = self._without_nested(store, _decided(self._mentions, ontology, corpus, copies))
        total = np.float32(max(_counted(corpus, copies), 1))
        self.rarity = np.log1p(total / np.maximum(self.references.units, 1)) / np.log1p(total)
        both = np.sort((self.references.row.astype(np.int64) << 32) + self.references.concept)
        self._by_row = (both >> 32).astype(np.int32), (both & 0xFFFFFFFF).astype(np.int32)
        self.version += 1

    def _without_nested(self, store: Store, references: References) -> References:
        """``references`` without the concepts that are only a part of others."""
        self.references = references
        labels = self.labels(store)
        names = tuple(labels[place].slug for place in range(len(references.keys)))
        if names != self._nesting.names:
            self._nesting = evidence.Nesting.of(names)
        explicit = references.counts[:, evidence.columns(*evidence.EXPLICIT)].sum(axis=1) > 0
        kept = explicit | np.isin(references.keys, np.fromiter(self._curated, np.int64, len(self._curated)))
        gone = self._nesting.gone(references.units.astype(np.int64), kept)
        return _chosen(references, ~gone) if gone.any() else references

    def salience(self, store: Store) -> NDArray[np.float64]:
        """How much each concept matters."""
        found, labels = self.references, self.labels(store)
        names = [labels[place].name for place in range(len(found.keys))]
        return evidence.salience(found.counts, found.documents, len(self._generations), names)

    def _ordered(self, mentions: MentionRows, corpus: Corpus) -> MentionRows:
        """Mentions under the keys of their concepts, by key, row and rule."""
        key = _renamed(mentions.key, self._aliases)
        order = np.lexsort((mentions.rule, corpus.rows_of(mentions.unit_id), key))
        return _where(replace(mentions, key=key), order)

    # -- what units mention -------------------------------------------------------------------------

    def of_rows(self, first: int, last: int) -> list[int]:
        """Concepts that rows ``first..last`` mention, the one that fewest units mention first."""
        rows, concepts = self._by_row
        low, high = rows.searchsorted(np.array([first, last + 1], rows.dtype))  # another type would cast all rows
        units = self.references.units
        return sorted(set(concepts[low:high].tolist()), key=lambda concept: (int(units[concept]), concept))

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
        # A curated concept has its name from a person.
        asked = None if everything else [key for key in keys if key not in self._curated]
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

    def slugs(self) -> list[str]:
        """The slug of each concept, as far as it has been asked for."""
        return [self._labels[key].slug if key in self._labels else "" for key in self.references.keys.tolist()]

    def named(self, name: str) -> int | None:
        """The concept that ``name`` means: a slug, a name or an alias."""
        key = self.canonical(concept_key(name))
        found = self.references.of([key])
        return int(found[0]) if len(found) else None

    def canonical(self, key: int) -> int:
        """The key of the curated concept of which ``key`` is an alias, else ``key``."""
        return self._aliases.get(key, key)


def _nothing() -> References:
    i32 = np.zeros(0, np.int32)
    counts = np.zeros((0, len(RULES)), np.int64)
    i64 = np.zeros(0, np.int64)
    return References(i64, i32, i32, np.zeros(0, np.float32), i32, np.zeros(1, np.int64), counts, i64)


def _chosen(references: References, chosen: Bools) -> References:
    """Only these concepts, ``bool[c]``."""
    keep = chosen[references.concept]
    concept = (np.cumsum(chosen) - 1)[references.concept[keep]].astype(np.int32)
    rows = np.diff(references.offset)[chosen]
    return References(
        references.keys[chosen], concept, references.row[keep], references.weight[keep], references.units[chosen],
        np.concatenate([[0], np.cumsum(rows)]), references.counts[chosen], references.documents[chosen],
    )  # fmt: skip


def _no_mentions() -> MentionRows:
    i32 = np.zeros(0, np.int32)
    return MentionRows(i32, i32, np.zeros(0, np.int64), np.zeros(0, np.int8))


def _where(mentions: MentionRows, chosen: NDArray[Any]) -> MentionRows:
    return MentionRows(
        mentions.unit_id[chosen], mentions.document_id[chosen], mentions.key[chosen], mentions.rule[chosen]
    )


def _joined(old: MentionRows, new: MentionRows) -> MentionRows:
    """Both in order of key; of equal keys the new ones come last, as their rows do in the corpus."""
    at = np.searchsorted(old.key, new.key, side="right")
    return MentionRows(
        np.insert(old.unit_id, at, new.unit_id),
        np.insert(old.document_id, at, new.document_id),
        np.insert(old.key, at, new.key),
        np.insert(old.rule, at, new.rule),
    )


def _counted(corpus: Corpus, copies: Bools | None) -> int:
    """How many rows there are, without those that repeat others."""
    return len(corpus) if copies is None else len(corpus) - int(copies.sum())


def _decided(mentions: MentionRows, ontology: OntologyRows, corpus: Corpus, copies: Bools | None = None) -> References:
    """Concepts and their references, from mentions by key, row and rule: linear in their number."""
    row = corpus.rows_of(mentions.unit_id)
    if (row < 0).any():  # written by another process since the corpus was read
        mentions, row = _where(mentions, row >= 0), row[row >= 0]
    key, rule = mentions.key, mentions.rule
    curated = np.array(sorted(concept.key for concept in ontology.concepts), np.int64)
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, np.int64)
    keys, times = key[starts], np.diff(np.append(starts, len(key)))
    by_hand = np.isin(keys, curated)
    # What was seen once is no concept, and is most of it.
    often = ((times >= 2) & ~np.isin(keys, np.array(ontology.ignored, np.int64))) | by_hand
    keep = np.repeat(often, times)
    row, rule = row[keep], rule[keep]
    keys, times, by_hand = keys[often], times[often], by_hand[often]
    n = len(keys)
    at = np.repeat(np.arange(n), times)
    # One mention a unit and key, by its strongest rule: rules are listed from the strongest on.
    first = np.ones(len(row), bool)
    first[1:] = (at[1:] != at[:-1]) | (row[1:] != row[:-1])
    row, at, rule = row[first], at[first], rule[first]
    own = np.ones(len(row), bool) if copies is None else ~copies[row]
    counts = np.bincount(at[own] * len(RULES) + rule[own], minlength=n * len(RULES)).reshape(n, len(RULES))
    # Rows ascend within a key, and those of a file are neighbours.
    key_of, document = at[own], corpus.rows.document_id[row[own]]
    another = np.ones(len(key_of), bool)
    another[1:] = (key_of[1:] != key_of[:-1]) | (document[1:] != document[:-1])
    documents = np.bincount(key_of[another], minlength=n)
    units = counts.sum(axis=1)
    chosen = evidence.decide(counts, documents, _counted(corpus, copies), len(corpus.documents)) | by_hand
    keep = chosen[at]
    row, at, rule = row[keep], (np.cumsum(chosen) - 1)[at[keep]], rule[keep]
    keys, units, counts, documents = keys[chosen], units[chosen], counts[chosen], documents[chosen]
    rows = units if copies is None else np.bincount(at, minlength=len(keys))
    missing = np.setdiff1d(curated, keys)  # curated ones that no unit mentions yet
    if len(missing):
        at = (np.arange(len(keys)) + np.searchsorted(missing, keys))[at]
        places = np.searchsorted(keys, missing)
        keys, units, rows = np.insert(keys, places, missing), np.insert(units, places, 0), np.insert(rows, places, 0)
        counts, documents = np.insert(counts, places, 0, axis=0), np.insert(documents, places, 0)
    offset = np.concatenate([[0], np.cumsum(rows)])
    return References(
        keys,
        at.astype(np.int32),
        row.astype(np.int32),
        _WEIGHTS[rule],
        units.astype(np.int32),
        offset,
        counts,
        documents,
    )


def _renamed(key: NDArray[np.int64], aliases: Mapping[int, int]) -> NDArray[np.int64]:
    """Keys with those of aliases replaced by those of their concepts."""
    others = {alias: own for alias, own in aliases.items() if alias != own}
    if not others or not len(key):
        return key
    old = np.array(sorted(others), np.int64)
    new = np.array([others[alias] for alias in old.tolist()], np.int64)
    at = np.minimum(np.searchsorted(old, key), len(old) - 1)
    return np.where(old[at] == key, new[at], key)
