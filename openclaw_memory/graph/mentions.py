"""Resident mentions in the order of the corpus, so that a changed document changes nothing but its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus, Splice
from ..store.api import RULES, Bools, Ints, MentionRows
from ..system.copying import copied
from .sorting import stable_order


class Mentions:
    """One mention of a key a unit, by its strongest rule, in the order of the rows and in each row by key.

    Mention ``i`` says that unit ``unit[i]`` of ``document[i]`` mentions ``keys[key[i]]`` by ``RULES[rule[i]]``;
    ``first[i]`` says that it is the first one of that key in its document.  ``keys`` are ascending.
    """

    def __init__(self, always: NDArray[np.int64]) -> None:
        """``always`` are keys, ascending, that have their place whether or not a unit mentions them."""
        self.keys = self._always = always
        self.key = np.zeros(0, np.int32)
        self.unit = np.zeros(0, np.int32)
        self.document = np.zeros(0, np.int32)
        self.rule = np.zeros(0, np.int8)
        self.first = np.zeros(0, bool)
        #: Units of each key by rule, and its documents.
        self._counts = np.zeros((len(always), len(RULES)), np.int32)
        self._documents = np.zeros(len(always), np.int32)

    def __copy__(self) -> Mentions:
        other = copied(self)
        other._counts, other._documents = self._counts.copy(), self._documents.copy()
        return other

    def of(self, documents: Sequence[int]) -> set[tuple[int, int, int]]:
        """What documents mention: unit, key, and place of the rule."""
        return {
            told
            for one in self._spans(documents)
            for told in zip(
                self.unit[one].tolist(), self.keys[self.key[one]].tolist(), self.rule[one].tolist(), strict=True
            )
        }

    def _spans(self, documents: Sequence[int]) -> list[slice]:
        ids = np.asarray(documents, np.int32)
        both = np.searchsorted(self.document, ids), np.searchsorted(self.document, ids, side="right")
        return [slice(int(a), int(b)) for a, b in zip(*both, strict=True)]

    def places(self, documents: Sequence[int]) -> NDArray[np.intp]:
        """Which mentions are those of documents."""
        spans = self._spans(sorted(set(documents)))
        return np.concatenate([np.zeros(0, np.intp), *(np.arange(part.start, part.stop) for part in spans)])

    def within(self, first: int, last: int, corpus: Corpus) -> slice:
        """The mentions of rows ``first..last`` of the corpus that the documents were last taken over with."""
        row_of, unit = corpus.shape.row_of, self.unit
        ends = []
        for row, document in ((first, corpus.rows.document_id[first]), (last + 1, corpus.rows.document_id[last])):
            low, high = self.document.searchsorted(document), self.document.searchsorted(document, side="right")
            ends.append(bisect_left(range(len(unit)), row, int(low), int(high), key=lambda at: row_of[unit[at]]))
        return slice(*ends)

    def replace(self, gone: Sequence[int], new: MentionRows, corpus: Corpus) -> None:
        """Take over the mentions of documents, whose old ones are ``gone``; ``corpus`` has their rows already."""
        row = corpus.rows_of(new.unit_id)
        # Rules are listed from the strongest on; a row that is not there was written since the corpus was read.
        order = np.lexsort((new.rule, new.key, row))
        row, key = row[order], new.key[order]
        chosen = np.ones(len(row), bool)
        chosen[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        order, key = order[chosen & (row >= 0)], key[chosen & (row >= 0)]
        unit, document, rule = new.unit_id[order], new.document_id[order], new.rule[order]
        self._know(key)
        splice = Splice.of(self.document, document, gone)
        code = np.searchsorted(self.keys, key).astype(np.int32)
        first = np.zeros(len(key), bool)
        first[np.unique((document.astype(np.int64) << 32) + code, return_index=True)[1]] = True
        left = self.places(gone)
        counts = self._counts.reshape(-1)
        np.subtract.at(counts, self.key[left] * np.intp(len(RULES)) + self.rule[left], 1)
        np.subtract.at(self._documents, self.key[left][self.first[left]], 1)
        np.add.at(counts, code * np.intp(len(RULES)) + rule, 1)
        np.add.at(self._documents, code[first], 1)
        self.key, self.unit, self.rule = splice(self.key, code), splice(self.unit, unit), splice(self.rule, rule)
        self.document, self.first = splice(self.document, document), splice(self.first, first)

    def _know(self, new: NDArray[np.int64]) -> None:
        """Have a place for these keys; those that nothing mentions any more go when they are many."""
        new = np.unique(new)
        at = np.searchsorted(self.keys, new)
        there = at < len(self.keys)
        there[there] = self.keys[at[there]] == new[there]
        new = new[~there]
        if not len(new):
            return
        keys, used = self.keys, self._documents > 0
        if used.sum() * 4 < len(used) * 3:
            used |= np.isin(keys, self._always)
            self.key, keys = (np.cumsum(used, dtype=np.int32) - 1)[self.key], keys[used]
            self._counts, self._documents = self._counts[used], self._documents[used]
        self.key = (np.arange(len(keys), dtype=np.int32) + np.searchsorted(new, keys).astype(np.int32))[self.key]
        places = np.searchsorted(keys, new)
        self.keys = np.insert(keys, places, new)
        self._counts = np.insert(self._counts, places, 0, axis=0)
        self._documents = np.insert(self._documents, places, 0)

    def counted(self, corpus: Corpus, copies: Bools | None) -> tuple[Ints, Ints]:
        """Units of each key by rule, ``int[k, rules]``, and its documents, without the rows that are ``copies``."""
        if copies is None:
            return self._counts, self._documents
        n = len(self.keys)
        own = ~copies[corpus.rows_of(self.unit)]
        key, rule, document = self.key[own], self.rule[own], self.document[own]
        order = stable_order(key)
        first = np.ones(len(key), bool)
        same = (key[order][1:] == key[order][:-1]) & (document[order][1:] == document[order][:-1])
        first[order[1:][same]] = False
        counts = np.bincount(key * np.intp(len(RULES)) + rule, minlength=n * len(RULES)).reshape(n, len(RULES))
        return counts.astype(np.int32), np.bincount(key[first], minlength=n).astype(np.int32)

    def strongest(self, keys: Sequence[int]) -> list[str]:
        """The strongest rule by which each of ``keys``, ascending, is mentioned; empty where it is not."""
        wanted = np.asarray(keys, np.int64)
        which = np.flatnonzero(np.isin(self.key, np.flatnonzero(np.isin(self.keys, wanted))))
        best = np.full(len(wanted), len(RULES), np.int8)
        np.minimum.at(best, np.searchsorted(wanted, self.keys[self.key[which]]), self.rule[which])
        return [(*RULES, "")[rule] for rule in best.tolist()]
