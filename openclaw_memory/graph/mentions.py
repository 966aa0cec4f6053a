"""Resident mentions in the order of the corpus, and how often each key is mentioned by which rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.corpus import Corpus, Splice
from ..store.api import RULES, Bools, Ints, MentionRows
from .sorting import stable_order


class Mentions:
    """One mention of a key a unit, by its strongest rule, in the order of the rows and in each row by key.

    Mention ``i`` says that unit ``unit[i]``, at ``row[i]`` of the corpus, mentions ``keys[key[i]]`` by
    ``RULES[rule[i]]``.  ``keys`` are ascending.
    """

    def __init__(self, always: NDArray[np.int64]) -> None:
        """``always`` are keys that have their place whether or not a unit mentions them."""
        self.keys = self._always = always
        self.key = np.zeros(0, np.int32)
        self.unit = np.zeros(0, np.int32)
        self.row = np.zeros(0, np.int32)
        self.rule = np.zeros(0, np.int8)
        self._document = np.zeros(0, np.int32)

    def keys_of(self, documents: Sequence[int]) -> set[int]:
        """The keys that documents mention."""
        mentioned = np.isin(self._document, np.asarray(documents, np.int32))
        return set(self.keys[np.unique(self.key[mentioned])].tolist())

    def within(self, first: int, last: int) -> slice:
        """The mentions of rows ``first..last``."""
        ends = self.row.searchsorted(np.array((first, last + 1), self.row.dtype))  # another type would cast all
        return slice(int(ends[0]), int(ends[1]))

    def replace(self, gone: Sequence[int], new: MentionRows, corpus: Corpus) -> None:
        """Take over the mentions of documents, whose old ones are ``gone``; ``corpus`` has their rows already."""
        row = corpus.rows_of(new.unit_id)
        # Rules are listed from the strongest on; a row that is not there was written since the corpus was read.
        order = np.lexsort((new.rule, new.key, row))
        row, key = row[order], new.key[order]
        chosen = np.ones(len(row), bool)
        chosen[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        order = order[chosen & (row >= 0)]
        splice = Splice.of(self._document, new.document_id[order], gone)
        keys = splice(self.keys[self.key], new.key[order])
        self.keys = np.unique(np.concatenate([keys, self._always]))
        self.key = np.searchsorted(self.keys, keys).astype(np.int32)
        self.unit, self.rule = splice(self.unit, new.unit_id[order]), splice(self.rule, new.rule[order])
        self._document = splice(self._document, new.document_id[order])
        self.row = corpus.rows_of(self.unit).astype(np.int32, copy=False)

    def counted(self, copies: Bools | None) -> tuple[Ints, Ints]:
        """Units of each key by rule, ``int[k, rules]``, and its documents, without the rows that are ``copies``."""
        own = slice(None) if copies is None else ~copies[self.row]
        key, rule, document = self.key[own], self.rule[own], self._document[own]
        order = stable_order(key)
        first = np.ones(len(key), bool)
        same = (key[order][1:] == key[order][:-1]) & (document[order][1:] == document[order][:-1])
        first[order[1:][same]] = False
        n = len(self.keys)
        counts = np.bincount(key * np.intp(len(RULES)) + rule, minlength=n * len(RULES)).reshape(n, len(RULES))
        return counts.astype(np.int32), np.bincount(key[first], minlength=n).astype(np.int32)
