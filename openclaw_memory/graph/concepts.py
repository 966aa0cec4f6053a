"""Decide which candidates are concepts, and keep the units that mention them in step with the store.

The store keeps every mention.  Concepts are decided here from their counts, so the answer does not depend on the order
in which files were read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus, Splice
from ..knowledge.concept_keys import concept_key, concepts_by_key, slug
from ..records import NamedTuple, dataclass
from ..store.api import RULES, Bools, CuratedRow, Floats, Ints, MentionName, MentionRows, OntologyRows, Store, distinct
from ..system.mapped import Table
from . import evidence
from .sorting import stable_order

_META = RULES.index("meta")
#: Weight of a mention by its rule.
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
    number of files that they are in.  ``row_of`` is the row of each unit.
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

    def concepts(self, keys: Sequence[int]) -> Ints:
        """Return the places of those ``keys`` that are concepts."""
        sought = np.asarray(keys, np.int64)
        at = np.searchsorted(self.keys, sought)
        inside = at < len(self.keys)
        places: Ints = at[inside][self.keys[at[inside]] == sought[inside]].astype(np.int32)
        return places

    def slice_of(self, concept: int) -> slice:
        """Return the slice of the references to one concept."""
        return slice(int(self.offset[concept]), int(self.offset[concept + 1]))

    def rows(self, concept: int) -> Ints:
        """Return the rows that mention one concept, ascending."""
        return self.row_of[self.unit[self.slice_of(concept)]]


class Label(NamedTuple):
    """The ``slug``, ``name`` and ``kind`` of a concept, and the spellings of its name."""

    slug: str
    name: str
    kind: str | None
    curated: CuratedRow | None
    spellings: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def others(self) -> tuple[str, ...]:
        """The spellings beside the name; the aliases of a curated concept."""
        return self.spellings[1:] if self.curated is None else self.curated.aliases


class _Mentions:
    """Mentions of keys in units, one of each key a unit, by its strongest rule; in order of rows, then keys.

    Mention ``i`` says that unit ``unit[i]``, at ``row[i]`` of the corpus, mentions ``keys[key[i]]`` by
    ``RULES[rule[i]]``.  ``keys`` are ascending; they include those of ``always`` even if no unit mentions them.
    """

    def __init__(self, always: NDArray[np.int64]) -> None:
        self.keys = self._always = always
        self.key = np.zeros(0, np.int32)
        self.unit = np.zeros(0, np.int32)
        self.row = np.zeros(0, np.int32)
        self.rule = np.zeros(0, np.int8)
        self._document = np.zeros(0, np.int32)

    def in_documents(self, documents: Sequence[int]) -> set[tuple[int, int, int]]:
        """Return key, unit and rule of each mention in documents."""
        at = np.flatnonzero(np.isin(self._document, np.asarray(documents, np.int32)))
        return set(zip(self.keys[self.key[at]].tolist(), self.unit[at].tolist(), self.rule[at].tolist(), strict=True))

    def within(self, first: int, last: int) -> slice:
        """Return the mentions of rows ``first..last``."""
        ends = self.row.searchsorted(np.array((first, last + 1), self.row.dtype))  # another type would cast all
        return slice(int(ends[0]), int(ends[1]))

    def replace(self, gone: Sequence[int], new: MentionRows, corpus: Corpus) -> None:
        """Take over the mentions of documents, whose old ones are ``gone``; ``corpus`` has their rows already."""
        row = corpus.rows_of(new.unit_id)
        # Rules are listed from the strongest on; a row that is not there was written since the corpus was read.
        order = np.lexsort((new.rule, new.key, row))
        row, key = row[order], new.key[order]
        strongest = np.ones(len(row), bool)
        strongest[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        order = order[strongest & (row >= 0)]
        splice = Splice(self._document, new.document_id[order], gone)
        unknown = distinct(new.key[order])
        unknown = unknown[~np.isin(unknown, self.keys, assume_unique=True)]
        keys = np.insert(self.keys, np.searchsorted(self.keys, unknown), unknown)
        old_places, new_places = (np.searchsorted(keys, each).astype(np.int32) for each in (self.keys, new.key[order]))
        places = splice(old_places[self.key], new_places)
        mentioned = np.zeros(len(keys), bool)
        mentioned[places] = mentioned[np.searchsorted(keys, self._always)] = True
        self.keys, self.key = keys[mentioned], (np.cumsum(mentioned, dtype=np.int32) - 1)[places]
        self.unit, self.rule = splice(self.unit, new.unit_id[order]), splice(self.rule, new.rule[order])
        self._document = splice(self._document, new.document_id[order])
        self.row = corpus.rows_of(self.unit).astype(np.int32, copy=False)

    def counts(self, copies: Bools | None, places: NDArray[np.intp]) -> tuple[Ints, Ints]:
        """Count the units of each key at ``places`` by rule, ``int[k, rules]``, and its documents; no ``copies``."""
        number = np.full(len(self.keys), -1, np.int32)
        number[places] = np.arange(len(places), dtype=np.int32)
        key = number[self.key]
        counted = key >= 0
        if copies is not None:
            counted &= ~copies[self.row]
        key, rule, document = key[counted], self.rule[counted], self._document[counted]
        order = stable_order(key)
        first = np.ones(len(key), bool)
        same = (key[order][1:] == key[order][:-1]) & (document[order][1:] == document[order][:-1])
        first[order[1:][same]] = False
        n = len(places)
        counts = np.bincount(key * np.intp(len(RULES)) + rule, minlength=n * len(RULES)).reshape(n, len(RULES))
        return counts.astype(np.int32), np.bincount(key[first], minlength=n).astype(np.int32)


class ConceptIndex:
    """Concepts, and the references of every unit to them; :meth:`refresh` takes over what was written."""

    def __init__(self) -> None:
        self.ontology = OntologyRows()
        self.references = _no_references()
        #: Inverse document frequency of each concept over units, scaled to [0, 1]: ``float32[c]``.
        self.rarity = np.zeros(0, np.float32)
        self._mentions = _Mentions(self.references.keys)
        self._generations: dict[int, int] = {}
        #: For each key of the mentions the place of its concept, or -1.
        self._place = np.zeros(0, np.int32)
        #: Labels by key: asking the store costs some milliseconds.
        self._labels: dict[int, Label] = {}
        #: Labels as JSON, without the curated ones, and the keys of those that have changed since.
        self._kept_labels, self._relabelled = Table(()), set[int]()
        self._curated: dict[int, CuratedRow] = {}
        self._aliases: Mapping[int, int] = {}
        self._nesting = evidence.Nesting.build(())
        #: The keys of :class:`evidence.Nesting`, and the spellings of each concept when they were last looked at.
        self._named = np.zeros(0, np.int64)
        self._spellings: dict[int, tuple[str, ...]] = {}
        #: Keys, their units by rule and their documents as they were last counted, and the copies that did not count.
        nothing = np.zeros(0, np.int32)
        self._counted: tuple[NDArray[np.int64], Ints, Ints, Ints] = self._named, nothing, nothing, nothing
        #: Grows with every change of the references.
        self.version = 0
        #: Grows when a concept is added or removed, or its name changes.
        self.names_version = 0

    def refresh(self, store: Store, corpus: Corpus, copies: Bools | None = None) -> None:
        """Take over documents and curated concepts that changed since the last call.

        ``copies`` are the rows that only repeat others, ``bool[n]``: they mention concepts and are no evidence for
        one.
        """
        now = {info.id: info.generation for info in corpus.documents.values()}
        ontology = store.ontology()
        changed: set[int] | None = None
        if ontology.version != self.ontology.version or not self._generations:
            self._take_ontology(ontology)
            self._kept_labels = Table(())
            self._mentions = _Mentions(np.array(sorted(self._curated), np.int64))
            self._mentions.replace((), self._canonical_mentions(store.mention_rows(None)), corpus)
        else:
            gone = [i for i, generation in self._generations.items() if now.get(i) != generation]
            fresh = [i for i, generation in now.items() if self._generations.get(i) != generation]
            if not gone and not fresh:
                return
            before = self._mentions.in_documents(gone)
            self._mentions.replace(gone, self._canonical_mentions(store.mention_rows(fresh)), corpus)
            after = self._mentions.in_documents(fresh)
            # A unit that stays mentions the same in the same words, but for those of the front matter.
            changed = {key for key, _, _ in before ^ after} | {key for key, _, rule in after if rule == _META}
            self._relabelled |= changed
            for key in changed - self._curated.keys():
                self._labels.pop(key, None)
        self._generations = now
        self._decide(store, corpus, copies, changed)
        total = self._total(corpus, copies)
        most = np.float32(max(total, 1))
        self.rarity = np.log1p(most / np.maximum(self.references.units, 1)) / np.log1p(most)
        self.version += 1

    def export(self, store: Store) -> dict[str, Any]:
        """Return the state to restore."""
        keys = self.references.keys.tolist()
        labels = zip(keys, self._labels_of(store, keys), strict=True)
        named = ((key, (label.slug, label.name, label.kind, label.spellings)) for key, label in labels)
        names = "_mentions", "_generations", "_place", "rarity", "version", "names_version"
        state: dict[str, Any] = {
            "ontology": self.ontology.version,
            "references": References(*(getattr(self.references, f.name) for f in fields(References))),
            "_kept_labels": Table(item for item in named if item[0] not in self._curated),
        }
        return state | {name: getattr(self, name) for name in names}

    def restore(self, state: Mapping[str, Any], store: Store) -> None:
        """Take over what :meth:`export` returned, unless the curated concepts have changed since."""
        ontology = store.ontology()
        if ontology.version == state["ontology"]:
            self._take_ontology(ontology)
            vars(self).update({**state, "ontology": ontology})

    def _take_ontology(self, ontology: OntologyRows) -> None:
        self.ontology = ontology
        self._aliases = concepts_by_key(ontology)
        self._curated = {row.key: row for row in ontology.concepts}
        self._labels.clear()

    def _canonical_mentions(self, mentions: MentionRows) -> MentionRows:
        """Return mentions under the keys of their concepts."""
        aliases = {alias: key for alias, key in self._aliases.items() if alias != key}
        if not aliases or not len(mentions.key):
            return mentions
        old = np.array(sorted(aliases), np.int64)
        new = np.array([aliases[alias] for alias in old.tolist()], np.int64)
        at = np.minimum(np.searchsorted(old, mentions.key), len(old) - 1)
        return replace(mentions, key=np.where(old[at] == mentions.key, new[at], mentions.key))

    @staticmethod
    def _total(corpus: Corpus, copies: Bools | None) -> int:
        return len(corpus) if copies is None else len(corpus) - int(copies.sum())

    def _count(self, corpus: Corpus, copies: Bools | None, changed: set[int] | None) -> tuple[Ints, Ints]:
        """Count the units of each key by rule and its documents: of keys that have not ``changed`` as they were."""
        keys = self._mentions.keys
        copied = np.zeros(0, np.int32) if copies is None else corpus.rows.unit_id[copies]
        places = np.arange(len(keys))
        counts, documents = np.zeros((len(keys), len(RULES)), np.int32), np.zeros(len(keys), np.int32)
        if changed is not None and len(self._counted[0]) and np.array_equal(copied, self._counted[3]):
            old_keys, old_counts, old_documents, _ = self._counted
            at = np.minimum(np.searchsorted(old_keys, keys), len(old_keys) - 1)
            counts, documents = old_counts[at], old_documents[at]
            places = _places_of(changed, keys)
        counts[places], documents[places] = self._mentions.counts(copies, places)
        self._counted = keys, counts, documents, copied
        return counts, documents

    def _decide(self, store: Store, corpus: Corpus, copies: Bools | None, changed: set[int] | None) -> None:
        """Decide which keys are concepts, and build the references to them; ``None`` have ``changed`` where all may."""
        mentions = self._mentions
        keys = mentions.keys
        counts, documents = self._count(corpus, copies, changed)
        chosen = evidence.decide(counts, documents, self._total(corpus, copies), len(corpus.documents))
        chosen &= ~np.isin(keys, np.array(self.ontology.ignored, np.int64))
        curated = np.isin(keys, np.fromiter(self._curated, np.int64, len(self._curated)))
        chosen |= curated
        chosen[chosen] = ~self._nested(store, keys[chosen], counts[chosen], curated[chosen], changed)
        self._place = np.where(chosen, np.cumsum(chosen, dtype=np.int32) - 1, np.int32(-1))
        concept = self._place[mentions.key]
        at = np.flatnonzero(concept >= 0)
        at = at[stable_order(concept[at])]  # rows ascend already
        offset = np.concatenate([[0], np.cumsum(np.bincount(concept[at], minlength=int(chosen.sum())))])
        units = counts[chosen].sum(axis=1).astype(np.int32)
        before = self.references.keys
        self.references = References(
            keys[chosen], mentions.unit[at], _WEIGHTS[mentions.rule[at]], units, offset, counts[chosen],
            documents[chosen], corpus.shape.row_of,
        )  # fmt: skip
        named, spellings = self.references.keys.tolist(), dict[int, tuple[str, ...]]()
        if changed is not None and np.array_equal(self.references.keys, before):
            named, spellings = [key for key in changed if key in self._spellings], self._spellings
        spellings = spellings | {key: self._labels[key].spellings for key in named}
        if spellings != self._spellings:
            self._spellings = spellings
            self.names_version += 1

    def _nested(
        self, store: Store, keys: NDArray[np.int64], counts: Ints, curated: Bools, changed: set[int] | None
    ) -> Bools:
        """Return which of these concepts are only a part of others."""
        places, names = np.arange(len(keys)), [""] * len(keys)
        if changed is not None and np.array_equal(keys, self._named):
            places, names = _places_of(changed, keys), [*self._nesting.names]
        for place, label in zip(places.tolist(), self._labels_of(store, keys[places].tolist()), strict=True):
            names[place] = label.slug
        self._named = keys
        if tuple(names) != self._nesting.names:
            self._nesting = evidence.Nesting.build(names)
        explicit = counts[:, evidence.columns(*evidence.EXPLICIT)].sum(axis=1) > 0
        return self._nesting.nested(counts.sum(axis=1), explicit | curated)

    def salience(self, store: Store, corpus: Corpus) -> NDArray[np.float64]:
        """Return how much each concept matters."""
        references, labels = self.references, self.labels(store)
        names = [labels[place].name for place in range(len(references.keys))]
        # A text counts once, apart from its days and times.
        _, text = np.unique(corpus.rows.likeness, return_inverse=True)
        pairs = np.unique(references.concept.astype(np.int64) * max(len(corpus), 1) + text[references.row])
        texts = np.bincount(pairs // max(len(corpus), 1), minlength=len(references.keys))
        texts = np.minimum(texts, references.units)
        return evidence.salience(references.counts, texts, references.documents, len(self._generations), names)

    def of_rows(self, first: int, last: int) -> list[int]:
        """Return the concepts that rows ``first..last`` mention, the one that fewest units mention first."""
        concepts = distinct(self._place[self._mentions.key[self._mentions.within(first, last)]])
        concepts = concepts[concepts >= 0]
        ordered: list[int] = concepts[np.argsort(self.references.units[concepts], kind="stable")].tolist()
        return ordered

    def rows_of(self, concepts: Sequence[int]) -> Ints:
        """Return the rows that mention any of ``concepts``, ascending."""
        parts = [self.references.rows(concept) for concept in concepts]
        return distinct(np.concatenate(parts)) if parts else np.zeros(0, np.int32)

    # -- names ----------------------------------------------------------------------------------------

    def labels(self, store: Store, concepts: Sequence[int] | None = None) -> dict[int, Label]:
        """Return the labels of these concepts (all when ``None``); asks the store for new ones."""
        keys = self.references.keys if concepts is None else self.references.keys[list(concepts)]
        places = range(len(keys)) if concepts is None else concepts
        return dict(zip(places, self._labels_of(store, keys.tolist()), strict=True))

    def _labels_of(self, store: Store, keys: Sequence[int]) -> list[Label]:
        labels = self._labels
        self._read_kept_labels(keys)
        missing = [key for key in keys if key not in labels]
        if missing:
            everything = len(missing) * 4 > max(len(keys), len(self.references.keys))
            labels |= self._read_labels(store, missing, everything)
        return [labels[key] for key in keys]

    def _read_kept_labels(self, keys: Sequence[int]) -> None:
        missing = [key for key in keys if key not in self._labels and key not in self._relabelled]
        for key, (slugged, name, kind, spellings) in self._kept_labels.get(missing).items():
            self._labels[key] = Label(slugged, name, kind, None, tuple(spellings))

    def _read_labels(self, store: Store, keys: list[int], everything: bool) -> dict[int, Label]:
        # A curated concept has its name from a person.
        unnamed = None if everything else [key for key in keys if key not in self._curated]
        names: dict[int, list[MentionName]] = {}
        for name in store.mention_names(unnamed) if unnamed != [] else ():
            names.setdefault(name.key, []).append(name)
        out = {}
        for key in keys:
            row = self._curated.get(key)
            if row is not None:
                out[key] = Label(row.slug, row.name, row.kind, row, (row.name, *row.aliases), row.weight)
                continue
            # The spelling of a surer rule is a better name than a more frequent one.
            spellings = sorted(
                names.get(key, []), key=lambda name: (name.rule not in evidence.STRONG, -name.count, name.text)
            )
            text = spellings[0].text if spellings else str(key)
            kind = evidence.kind_of({name.rule for name in spellings}, text)
            out[key] = Label(slug(text), text, kind, None, tuple(name.text for name in spellings))
        return out

    def slugs(self) -> list[str]:
        """Return the slug of each concept, empty where its label has not been read."""
        keys = self.references.keys.tolist()
        self._read_kept_labels(keys)
        return [self._labels[key].slug if key in self._labels else "" for key in keys]

    def find(self, name: str) -> int | None:
        """Return the concept with a slug, name or alias."""
        places = self.references.concepts([self.canonical(concept_key(name))])
        return int(places[0]) if len(places) else None

    def canonical(self, key: int) -> int:
        """Return the key of the curated concept of which ``key`` is an alias, else ``key``."""
        return self._aliases.get(key, key)


def _places_of(some: Collection[int], keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the places of ``some`` keys among ``keys``, ascending."""
    return np.flatnonzero(np.isin(keys, np.fromiter(some, np.int64, len(some))))


def _no_references() -> References:
    i32, i64 = np.zeros(0, np.int32), np.zeros(0, np.int64)
    counts = np.zeros((0, len(RULES)), np.int32)
    return References(i64, i32, np.zeros(0, np.float32), i32, np.zeros(1, np.int64), counts, i32, i32)
