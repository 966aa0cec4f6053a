"""The graph as search asks it: filters, distances and shared concepts as columns over the corpus' rows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import numpy as np

from ..errors import RequestError
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..knowledge.matcher import NameMatcher
from ..store.api import Bools, Floats, Store
from . import network as networks
from .concepts import ConceptIndex, Label
from .network import Network

#: Concepts shown with a hit.
_SHOWN = 6


class GraphView:
    """Concepts and their graph over one corpus; made again, when asked for, after something has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.index = ConceptIndex()
        #: The rows that the graph is over.
        self.corpus = Corpus()
        #: What summaries repeat and cover.
        self.archive = Archive()
        self._network: tuple[int, Network] | None = None
        self._matcher: tuple[int, NameMatcher] | None = None

    def refresh(self, corpus: Corpus, archive: Archive) -> None:
        """Take over what changed in the store; ``corpus`` and ``archive`` have been refreshed."""
        self.corpus, self.archive = corpus, archive
        self.index.refresh(self._store, corpus, None if archive.masks is None else archive.masks.copies)

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
        if self._matcher is None or self._matcher[0] != self.index.naming:
            keys = self.index.references.keys
            labels = self.labels()
            names = ((name, int(keys[place])) for place, label in labels.items() for name in label.spellings)
            self._matcher = self.index.naming, NameMatcher(names)
        return self._matcher[1]

    def labels(self, concepts: Sequence[int] | None = None) -> dict[int, Label]:
        """What concepts are called."""
        return self.index.labels(self._store, concepts)

    def salience(self) -> list[float]:
        """How much each concept matters."""
        return [float(value) for value in self.index.salience(self._store, self.corpus)]

    def mentioned(self, text: str) -> list[int]:
        """The concepts that ``text`` mentions, each once, in order of appearance."""
        return list(dict.fromkeys(self.index.references.of([found.key for found in self.matcher.find(text)]).tolist()))

    def know(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Get the names that :meth:`names_in` will be asked for, all at once."""
        wanted = {concept for first, last in ranges for concept in self.index.of_rows(first, last)[:_SHOWN]}
        if wanted:
            self.labels(sorted(wanted))

    def names_in(self, first: int, last: int) -> tuple[str, ...]:
        """Names of the concepts that rows ``first..last`` mention, the rarest first, a handful at most."""
        found = self.index.of_rows(first, last)[:_SHOWN]
        return tuple(label.name for label in self.labels(found).values()) if found else ()

    def days(self) -> list[tuple[date | None, date | None]]:
        """First and last day of each concept, over the units that count for it and whose text states one."""
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

    # -- what a request names ----------------------------------------------------------------------

    def concept(self, name: str) -> int:
        """The concept called ``name``.  Raises :class:`RequestError` naming the closest ones when there is none."""
        found = self.index.named(name)
        if found is None:
            by_slug = {label.slug: label.name for label in self.labels().values()}
            near = [by_slug[slug] for slug in difflib.get_close_matches(name.lower(), by_slug, n=3, cutoff=0.6)]
            hint = f"did you mean {', '.join(near)}?" if near else "see: openclaw-memory concepts list"
            raise RequestError(f"no concept is called '{name}'; {hint}")
        return found

    def allowed(self, names: Sequence[str], kinds: Sequence[str]) -> Bools:
        """Rows that mention one of these concepts or what is below it, and one of these kinds: ``bool[n]``."""
        out = np.ones(len(self.corpus), bool)
        if names:
            out &= self._rows(self._with_children([self.concept(name) for name in names]))
        if kinds:
            wanted = {kind.casefold() for kind in kinds}
            known = {label.kind.casefold() for label in self.labels().values() if label.kind}
            if not wanted & known:
                raise RequestError(
                    f"no concept is of the kind '{', '.join(kinds)}'; there are {', '.join(sorted(known)) or 'none'}"
                )
            out &= self._rows([i for i, label in self.labels().items() if (label.kind or "").casefold() in wanted])
        return out

    def _rows(self, concepts: Sequence[int]) -> Bools:
        """Rows that mention a concept, or stand below a heading that does."""
        out = np.zeros(len(self.corpus), bool)
        rows = self.index.rows_of(concepts)
        out[rows] = True
        section = self.corpus.shape.section
        headed = np.zeros(len(self.corpus.shape.opens), bool)
        headed[section[rows[self.corpus.rows.heading[rows]]]] = True
        return out | headed[section]

    def _with_children(self, concepts: Iterable[int]) -> list[int]:
        waiting, found = list(concepts), []
        while waiting:
            concept = waiting.pop()
            if concept not in found:
                found.append(concept)
                waiting += self.network.children.of(concept)[0].tolist()
        return found

    # -- how near rows are ----------------------------------------------------------------------------

    def proximity(self, names: Sequence[str], most: int) -> Floats:
        """``1 / 2**distance`` of every row from the nearest of the named concepts, 0 beyond ``most``: ``float32[n]``.

        A row that mentions the concept has distance 1, one that mentions a related, parent or child concept 2,
        and so on; another row of such a row's section is one step further away.
        """
        network = self.network
        distance = np.full(len(self.index.references.keys), most + 1, np.int32)
        at = np.array([self.concept(name) for name in names], np.int32)
        step = 0
        while len(at) and step < most:
            at = np.unique(at[distance[at] > step])
            distance[at] = step
            step += 1
            following = [lists.gather(at)[1] for lists in (network.related, network.parents, network.children)]
            at = np.concatenate(following)
        references = self.index.references
        n = len(self.corpus)
        rows = np.full(n, most + 1, np.int32)
        np.minimum.at(rows, references.row, distance[references.concept] + 1)
        section = self.corpus.shape.section
        nearest = np.full(len(self.corpus.shape.opens), most + 1, np.int32)
        np.minimum.at(nearest, section, rows)
        rows = np.minimum(rows, nearest[section] + 1)
        return np.where(rows <= most, 0.5**rows, 0).astype(np.float32)

    def shared(self, rows: Sequence[int], weights: Floats) -> Floats:
        """How much every row has in common with ``rows``: their concepts, rare ones more, ``float32[n]`` in [0, 1].

        ``weights`` says how much each of ``rows`` counts.
        """
        strength: dict[int, float] = {}
        rarity = self.index.rarity
        for row, weight in zip(rows, weights.tolist(), strict=True):
            for concept in self.index.of_rows(row, row):
                strength[concept] = strength.get(concept, 0.0) + weight * float(rarity[concept])
        return self.activated(strength)

    def activated(self, strength: Mapping[int, float]) -> Floats:
        """Rows by the concepts that they mention, given how much each concept counts: ``float32[n]`` in [0, 1]."""
        out = np.zeros(len(self.corpus), np.float32)
        references = self.index.references
        for concept, value in strength.items():
            out[references.rows(concept)] += np.float32(value) * references.weight[references.slice_of(concept)]
        top = float(out.max()) if len(out) else 0.0
        return out / np.float32(top) if top > 0 else out
