"""Which candidates are concepts, and which units mention them: resident columns, kept in step with the store.

The store keeps every mention; what is a concept is decided here from their counts, so the answer does not
depend on the order in which files were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus
from ..knowledge.concept_keys import concept_key, concepts_by_key, slug
from ..store.api import RULES, Bools, CuratedRow, Floats, Ints, MentionName, MentionRows, OntologyRows, Store
from . import evidence
from .mentions import Mentions
from .sorting import stable_order

#: How surely a mention of each rule is one.
_WEIGHTS = np.array([{
    "curated": 1.0, "link": 1.0, "tag": 1.0, "meta": 0.9, "name": 1.0, "code": 1.0, "quoted": 0.8, "phrase": 0.7,
    "start": 0.8, "file": 0.6, "part": 0.5, "plain": 0.7,
}[rule] for rule in RULES], np.float32)  # fmt: skip


@dataclass(frozen=True)
class References:
    """Concepts and the units that mention them.

    ``keys`` are ascending; reference ``i`` says that unit ``unit[i]``, at ``row[i]`` of the corpus, mentions
    concept ``concept[i]`` (a place in ``keys``); they are in order of concept, then row.  ``units`` counts rows per
    concept but those of summaries that only repeat others, and the references to concept ``c`` are those from
    ``offset[c]`` to ``offset[c + 1]``.  ``counts`` are those units by rule, ``int[c, rules]``, and ``documents`` the
    files that they are in.  ``row_of`` is the row of each unit.
    """

    keys: NDArray[np.int64]
    unit: Ints
    weight: Floats
    units: Ints
    offset: NDArray[np.int64]
    counts: Ints
    documents: Ints
    row_of: Ints

    @cached_property
    def concept(self) -> Ints:
        """The concept of each reference."""
        return np.repeat(np.arange(len(self.keys), dtype=np.int32), np.diff(self.offset))

    @cached_property
    def row(self) -> Ints:
        """The row of each reference."""
        return self.row_of[self.unit]

    def of(self, keys: Sequence[int]) -> Ints:
        """Places of those ``keys`` that are concepts."""
        wanted = np.asarray(keys, np.int64)
        at = np.searchsorted(self.keys, wanted)
        inside = at < len(self.keys)
        found: Ints = at[inside][self.keys[at[inside]] == wanted[inside]].astype(np.int32)
        return found

    def slice_of(self, concept: int) -> slice:
        """The references to one concept."""
        return slice(int(self.offset[concept]), int(self.offset[concept + 1]))

    def rows(self, concept: int) -> Ints:
        """The rows that mention one concept, ascending."""
        return self.row_of[self.unit[self.slice_of(concept)]]


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
        self._mentions = Mentions(self.references.keys)
        self._generations: dict[int, int] = {}
        #: For each key of the mentions the place of its concept, or -1.
        self._place = np.zeros(0, np.int32)
        #: What is known of names, by key: asking the store costs some milliseconds.
        self._labels: dict[int, Label] = {}
        self._curated: dict[int, CuratedRow] = {}
        self._aliases: Mapping[int, int] = {}
        self._nesting = evidence.Nesting.build(())
        #: The spellings of each concept when they were last looked at.
        self._spellings: dict[int, tuple[str, ...]] = {}
        #: Grows with every change of the references.
        self.version = 0
        #: Grows when there is another concept, or when one is called otherwise.
        self.naming = 0

    def refresh(self, store: Store, corpus: Corpus, copies: Bools | None = None) -> None:
        """Take over documents and curated concepts that changed since the last call.

        ``copies`` are the rows that only repeat others, ``bool[n]``: they mention concepts and are no evidence for
        what is one.
        """
        now = {info.id: info.generation for info in corpus.documents.values()}
        ontology = store.ontology()
        if ontology.version != self.ontology.version or not self._generations:
            self.ontology = ontology
            self._aliases = concepts_by_key(ontology)
            self._curated = {row.key: row for row in ontology.concepts}
            self._labels.clear()
            self._mentions = Mentions(np.array(sorted(self._curated), np.int64))
            self._mentions.replace((), self._renamed(store.mention_rows(None)), corpus)
        else:
            gone = [i for i, generation in self._generations.items() if now.get(i) != generation]
            fresh = [i for i, generation in now.items() if self._generations.get(i) != generation]
            if not gone and not fresh:
                return
            touched = self._mentions.keys_of(gone)
            self._mentions.replace(gone, self._renamed(store.mention_rows(fresh)), corpus)
            touched |= self._mentions.keys_of(fresh)
            self._labels = {key: label for key, label in self._labels.items() if key not in touched or label.curated}
        self._generations = now
        self._decide(store, corpus, copies)
        total = np.float32(max(_counted(corpus, copies), 1))
        self.rarity = np.log1p(total / np.maximum(self.references.units, 1)) / np.log1p(total)
        self.version += 1

    def _renamed(self, mentions: MentionRows) -> MentionRows:
        """Mentions under the keys of their concepts."""
        return replace(mentions, key=_renamed(mentions.key, self._aliases))

    def _decide(self, store: Store, corpus: Corpus, copies: Bools | None) -> None:
        """Decide which keys are concepts, and make the references to them."""
        mentions = self._mentions
        keys = mentions.keys
        counts, documents = mentions.counted(copies)
        chosen = evidence.decide(counts, documents, _counted(corpus, copies), len(corpus.documents))
        chosen &= ~np.isin(keys, np.array(self.ontology.ignored, np.int64))
        by_hand = np.isin(keys, np.fromiter(self._curated, np.int64, len(self._curated)))
        chosen |= by_hand
        chosen[chosen] = ~self._nested(store, keys[chosen], counts[chosen], by_hand[chosen])
        self._place = np.where(chosen, np.cumsum(chosen, dtype=np.int32) - 1, np.int32(-1))
        concept = self._place[mentions.key]
        at = np.flatnonzero(concept >= 0)
        at = at[stable_order(concept[at])]  # rows ascend already
        offset = np.concatenate([[0], np.cumsum(np.bincount(concept[at], minlength=int(chosen.sum())))])
        units = counts[chosen].sum(axis=1).astype(np.int32)
        self.references = References(
            keys[chosen], mentions.unit[at], _WEIGHTS[mentions.rule[at]], units, offset, counts[chosen],
            documents[chosen], corpus.shape.row_of,
        )  # fmt: skip
        spellings = {key: self._labels[key].spellings for key in self.references.keys.tolist()}
        if spellings != self._spellings:
            self._spellings = spellings
            self.naming += 1

    def _nested(self, store: Store, keys: NDArray[np.int64], counts: Ints, by_hand: Bools) -> Bools:
        """Which of these concepts are only a part of others."""
        names = tuple(label.slug for label in self._labels_of(store, keys.tolist()))
        if names != self._nesting.names:
            self._nesting = evidence.Nesting.build(names)
        explicit = counts[:, evidence.columns(*evidence.EXPLICIT)].sum(axis=1) > 0
        return self._nesting.gone(counts.sum(axis=1), explicit | by_hand)

    def salience(self, store: Store, corpus: Corpus) -> NDArray[np.float64]:
        """How much each concept matters."""
        found, labels = self.references, self.labels(store)
        names = [labels[place].name for place in range(len(found.keys))]
        # What a unit says, apart from its days and times.
        _, says = np.unique(corpus.rows.likeness, return_inverse=True)
        pairs = np.unique(found.concept.astype(np.int64) * max(len(corpus), 1) + says[found.row])
        distinct = np.minimum(np.bincount(pairs // max(len(corpus), 1), minlength=len(found.keys)), found.units)
        return evidence.salience(found.counts, distinct, found.documents, len(self._generations), names)

    # -- what units mention -------------------------------------------------------------------------

    def of_rows(self, first: int, last: int) -> list[int]:
        """Concepts that rows ``first..last`` mention, the one that fewest units mention first."""
        concepts = self._place[self._mentions.key[self._mentions.within(first, last)]]
        units = self.references.units
        return sorted(set(concepts[concepts >= 0].tolist()), key=lambda concept: (int(units[concept]), concept))

    def rows_of(self, concepts: Sequence[int]) -> Ints:
        """Rows that mention any of ``concepts``, ascending."""
        parts = [self.references.rows(concept) for concept in concepts]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)

    # -- names ----------------------------------------------------------------------------------------

    def labels(self, store: Store, concepts: Sequence[int] | None = None) -> dict[int, Label]:
        """What these concepts (all when ``None``) are called; asks the store for what it has not seen yet."""
        keys = self.references.keys if concepts is None else self.references.keys[list(concepts)]
        places = range(len(keys)) if concepts is None else concepts
        return dict(zip(places, self._labels_of(store, keys.tolist()), strict=True))

    def _labels_of(self, store: Store, keys: Sequence[int]) -> list[Label]:
        """The labels of some keys."""
        known = self._labels
        missing = [key for key in keys if key not in known]
        if missing:
            known |= self._labelled(
                store, missing, everything=len(missing) * 4 > max(len(keys), len(self.references.keys))
            )
        return [known[key] for key in keys]

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
    i32, i64 = np.zeros(0, np.int32), np.zeros(0, np.int64)
    counts = np.zeros((0, len(RULES)), np.int32)
    return References(i64, i32, np.zeros(0, np.float32), i32, np.zeros(1, np.int64), counts, i32, i32)


def _counted(corpus: Corpus, copies: Bools | None) -> int:
    """How many rows there are, without those that repeat others."""
    return len(corpus) if copies is None else len(corpus) - int(copies.sum())


def _renamed(key: NDArray[np.int64], aliases: Mapping[int, int]) -> NDArray[np.int64]:
    """Keys with those of aliases replaced by those of their concepts."""
    others = {alias: own for alias, own in aliases.items() if alias != own}
    if not others or not len(key):
        return key
    old = np.array(sorted(others), np.int64)
    new = np.array([others[alias] for alias in old.tolist()], np.int64)
    at = np.minimum(np.searchsorted(old, key), len(old) - 1)
    return np.where(old[at] == key, new[at], key)
