"""Resident mentions in the order of the corpus, so that a changed document changes nothing but its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus, Splice
from ..store.api import RULES, Bools, Ints, MentionRows

_HALF = 1 << 16


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

    def of(self, documents: Sequence[int]) -> set[tuple[int, int, int]]:
        """What documents mention: unit, key, and place of the rule."""
        ids = np.asarray(documents, np.int32)
        spans = zip(np.searchsorted(self.document, ids), np.searchsorted(self.document, ids, side="right"), strict=True)
        parts = [slice(int(a), int(b)) for a, b in spans]
        return {
            told
            for one in parts
            for told in zip(
                self.unit[one].tolist(), self.keys[self.key[one]].tolist(), self.rule[one].tolist(), strict=True
            )
        }

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
        self.key, self.unit, self.rule = splice(self.key, code), splice(self.unit, unit), splice(self.rule, rule)
        self.document, self.first = splice(self.document, document), splice(self.first, first)

    def _know(self, new: NDArray[np.int64]) -> None:
        """Have a place for these keys; those that nothing mentions any more go when they are many."""
        new = np.unique(new)
        new = new[~np.isin(new, self.keys)]
        if not len(new):
            return
        keys = self.keys
        used = np.bincount(self.key, minlength=len(keys)) > 0
        if used.sum() * 4 < len(used) * 3:
            used |= np.isin(keys, self._always)
            self.key, keys = (np.cumsum(used, dtype=np.int32) - 1)[self.key], keys[used]
        self.key = (np.arange(len(keys), dtype=np.int32) + np.searchsorted(new, keys).astype(np.int32))[self.key]
        self.keys = np.insert(keys, np.searchsorted(keys, new), new)

    def counted(self, corpus: Corpus, copies: Bools | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Units of each key by rule, ``int[k, rules]``, and its documents, without the rows that are ``copies``."""
        n = len(self.keys)
        key, rule, first = self.key, self.rule, self.first
        if copies is not None:
            own = ~copies[corpus.rows_of(self.unit)]
            key, rule, document = key[own], rule[own], self.document[own]
            order = stable_order(key)
            first = np.ones(len(key), bool)
            same = (key[order][1:] == key[order][:-1]) & (document[order][1:] == document[order][:-1])
            first[order[1:][same]] = False
        return self._by_rule(key, rule), np.bincount(key[first], minlength=n)

    def strongest(self, keys: Sequence[int]) -> list[str]:
        """The strongest rule by which each of ``keys``, ascending, is mentioned; empty where it is not."""
        wanted = np.asarray(keys, np.int64)
        which = np.flatnonzero(np.isin(self.key, np.flatnonzero(np.isin(self.keys, wanted))))
        best = np.full(len(wanted), len(RULES), np.int8)
        np.minimum.at(best, np.searchsorted(wanted, self.keys[self.key[which]]), self.rule[which])
        return [(*RULES, "")[rule] for rule in best.tolist()]

    def _by_rule(self, key: Ints, rule: NDArray[np.int8]) -> NDArray[np.int64]:
        n = len(self.keys)
        return np.bincount(key * np.intp(len(RULES)) + rule, minlength=n * len(RULES)).reshape(n, len(RULES))


def stable_order(numbers: Ints) -> NDArray[np.intp]:
    """The stable order of numbers that are not negative, in time linear in how many there are.

    Numpy sorts what has two bytes by radix, which is several times as fast as what it does with more.
    """
    order = np.argsort((numbers & (_HALF - 1)).astype(np.uint16), kind="stable")
    high = numbers >> 16
    return order[np.argsort(high[order].astype(np.uint16), kind="stable")] if high.any() else order
