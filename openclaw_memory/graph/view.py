"""Hold the graph in step with a corpus: filters, distances and shared concepts as columns over its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from ..errors import RequestError
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..knowledge.matcher import NameMatcher
from ..store.api import Bools, Floats, Store
from . import network as networks
from .concepts import ConceptIndex, Label
from .network import Network


class GraphView:
    """Concepts and their graph over one corpus; built again, when asked for, after a change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.index = ConceptIndex()
        self.corpus = Corpus()
        self.archive = Archive()
        self._network: tuple[int, Network] | None = None
        self._matcher: tuple[int, NameMatcher] | None = None

    def refresh(self, corpus: Corpus, archive: Archive) -> None:
        """Take over changes in the store; ``corpus`` and ``archive`` have been refreshed."""
        self.corpus, self.archive = corpus, archive
        self.index.refresh(self._store, corpus, None if archive.masks is None else archive.masks.copies)

    def restore(self, corpus: Corpus, archive: Archive, concepts: Mapping[str, Any]) -> None:
        """Take over what ``index.export`` returned; ``corpus`` and ``archive`` are as they were then."""
        self.corpus, self.archive = corpus, archive
        self.index.restore(concepts, self._store)

    @property
    def network(self) -> Network:
        """The graph over sections and concepts."""
        if self._network is None or self._network[0] != self.index.version:
            first = self._network is None
            self._network = self.index.version, networks.build(self.index, self.corpus, self.archive)
            if first:
                self._store.give_back_memory()  # what counting pairs took
        return self._network[1]

    @property
    def matcher(self) -> NameMatcher:
        """Finds every concept, by all its spellings."""
        if self._matcher is None or self._matcher[0] != self.index.names_version:
            keys = self.index.references.keys
            labels = self.labels()
            names = ((name, int(keys[place])) for place, label in labels.items() for name in label.spellings)
            self._matcher = self.index.names_version, NameMatcher(names)
        return self._matcher[1]

    def labels(self, concepts: Sequence[int] | None = None) -> dict[int, Label]:
        """Return the labels of concepts, of all when ``None``."""
        return self.index.labels(self._store, concepts)

    def salience(self) -> list[float]:
        """Return how much each concept matters."""
        return [float(value) for value in self.index.salience(self._store, self.corpus)]

    def find_mentioned(self, text: str) -> list[int]:
        """Return the concepts that ``text`` mentions, each once, in order of appearance."""
        keys = [match.key for match in self.matcher.find(text)]
        return list(dict.fromkeys(self.index.references.concepts(keys).tolist()))

    def names_in(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
        """Return for each range of rows ``first..last`` the names of its six rarest concepts, the rarest first."""
        concepts = [self.index.of_rows(first, last)[:6] for first, last in ranges]
        labels = self.labels(sorted({concept for shown in concepts for concept in shown}))
        return [tuple([labels[concept].name for concept in shown]) for shown in concepts]

    def days(self) -> list[tuple[date | None, date | None]]:
        """Return the first and the last day of each concept, over units whose text states one, without copies."""
        references, rows = self.index.references, self.corpus.rows
        n = len(references.keys)
        dated = rows.dated[references.row]
        if self.archive.masks is not None:
            dated &= ~self.archive.masks.copies[references.row]
        concept, day = references.concept[dated], rows.day[references.row[dated]]
        first, last = np.full(n, date.max.toordinal(), np.int32), np.zeros(n, np.int32)
        np.minimum.at(first, concept, day)
        np.maximum.at(last, concept, day)
        return [
            (date.fromordinal(a), date.fromordinal(b)) if b else (None, None)
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]

    # -- names in a request --------------------------------------------------------------------------

    def concept(self, name: str) -> int:
        """Return the concept called ``name``.  Raises :class:`RequestError` naming the closest ones without one."""
        place = self.index.find(name)
        if place is None:
            by_slug = {label.slug: label.name for label in self.labels().values()}
            from difflib import get_close_matches

            near = [by_slug[slug] for slug in get_close_matches(name.lower(), by_slug, n=3, cutoff=0.6)]
            hint = f"did you mean {', '.join(near)}?" if near else "see: openclaw-memory concepts list"
            raise RequestError(f"no concept is called '{name}'; {hint}")
        return place

    def filter_rows(self, names: Sequence[str]) -> Bools:
        """Return the rows that mention one of these concepts or its children: ``bool[n]``."""
        return self._rows(self._with_children([self.concept(name) for name in names]))

    def _rows(self, concepts: Sequence[int]) -> Bools:
        """Return the rows that mention a concept, or stand below a heading that does."""
        out = np.zeros(len(self.corpus), bool)
        rows = self.index.rows_of(concepts)
        out[rows] = True
        section = self.corpus.shape.section
        headed = np.zeros(len(self.corpus.shape.section_start), bool)
        headed[section[rows[self.corpus.rows.heading[rows]]]] = True
        return out | headed[section]

    def _with_children(self, concepts: Iterable[int]) -> list[int]:
        waiting, members = list(concepts), []
        while waiting:
            concept = waiting.pop()
            if concept not in members:
                members.append(concept)
                waiting += self.network.children.row(concept)[0].tolist()
        return members

    # -- scores of rows ------------------------------------------------------------------------------

    def proximity(self, names: Sequence[str], most: int) -> Floats:
        """Return ``1 / 2**distance`` of every row from the nearest concept, 0 beyond ``most``: ``float32[n]``.

        A row that mentions the concept has distance 1, one that mentions a related, parent or child concept 2,
        and so on; another row of such a row's section is one step further away.
        """
        network, references, n = self.network, self.index.references, len(self.corpus)
        distance = np.full(len(references.keys), most + 1, np.int32)
        at = np.array([self.concept(name) for name in names], np.int32)
        step = 0
        while len(at) and step < most:
            at = np.unique(at[distance[at] > step])
            distance[at] = step
            step += 1
            following = [edges.gather(at)[1] for edges in (network.related, network.parents, network.children)]
            at = np.concatenate(following)
        rows = np.full(n, most + 1, np.int32)
        np.minimum.at(rows, references.row, distance[references.concept] + 1)
        section = self.corpus.shape.section
        nearest = np.full(len(self.corpus.shape.section_start), most + 1, np.int32)
        np.minimum.at(nearest, section, rows)
        rows = np.minimum(rows, nearest[section] + 1)
        return np.where(rows <= most, 0.5**rows, 0).astype(np.float32)

    def score_shared(self, rows: Sequence[int], weights: Floats) -> Floats:
        """Return how much every row has in common with ``rows``: their concepts, rare ones more, in [0, 1].

        ``weights`` says how much each of ``rows`` counts; the result is ``float32[n]``.
        """
        strength: dict[int, float] = {}
        rarity = self.index.rarity
        for row, weight in zip(rows, weights.tolist(), strict=True):
            for concept in self.index.of_rows(row, row):
                strength[concept] = strength.get(concept, 0.0) + weight * float(rarity[concept])
        return self.score_concepts(strength)

    def score_concepts(self, strength: Mapping[int, float]) -> Floats:
        """Score rows by the concepts that they mention, given each concept's strength: ``float32[n]`` in [0, 1]."""
        out = np.zeros(len(self.corpus), np.float32)
        references = self.index.references
        for concept, value in strength.items():
            out[references.rows(concept)] += np.float32(value) * references.weight[references.slice_of(concept)]
        top = float(out.max()) if len(out) else 0.0
        return out / np.float32(top) if top > 0 else out
