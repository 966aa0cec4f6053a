"""Which subjects are things: those that the notes name elsewhere too, and not only above what a rule read.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish.  What is a thing is named
again: in a sentence, an item, a row somewhere else.  Of what never is, a rule cannot know that it has a state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np

from ..knowledge.predicates import kind_of_key
from ..model import FactRow, Grain
from ..store.api import FactObservation, KeywordIndex, Store
from ..text import analysis
from .validity import Aliases, name_key

#: Rules that take the subject from where it stands, and not from a sentence.
_PLACED = frozenset({"key", "table"})
#: Units in which a name may stand that are looked at.
_MOST = 64
#: Characters between two words of a name; and the share of a name's length that its words have where it stands.
_BETWEEN, _WHOLE = 4, 0.8


class Things:
    """Tells which rows are about something that the notes name elsewhere.

    ``found`` are all observations; ``keywords`` gives the keyword index as of now.
    """

    def __init__(
        self,
        store: Store,
        keywords: Callable[[], KeywordIndex],
        found: Mapping[str, Sequence[FactObservation]],
        aliases: Aliases,
    ) -> None:
        self._store, self._keywords, self._aliases = store, keywords, aliases
        self._found = found
        self._own: defaultdict[int | str, list[FactObservation]] = defaultdict(list)
        self._named: dict[int | str, bool] = {}

    def shown(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """``rows`` without those that only say how something stands that is named nowhere else."""
        given = list(rows)
        judged = {self._key(row.subject): row.subject for row in given if _says_state(row)}
        self._learn({key: name for key, name in judged.items() if key not in self._named})
        return [row for row in given if not _says_state(row) or self._named[self._key(row.subject)]]

    def _key(self, name: str) -> int | str:
        key = name_key(name)
        return self._aliases.get(key, key)

    def _learn(self, names: Mapping[int | str, str]) -> None:
        if not names:
            return
        if not self._own:
            for one in (one for part in self._found.values() for one in part):
                self._own[self._key(one.subject)].append(one)
        index = self._keywords()
        with self._store.reading():
            summaries = {one.id for one in self._store.document_infos() if one.grain is not Grain.WORKING}
            held = {key: _holding(index, name, self._own[key]) for key, name in names.items()}
            wanted = sorted({unit for units in held.values() for unit in units})
            texts = {unit.id: unit for unit in self._store.unit_texts(wanted)} if wanted else {}
        for key, name in names.items():
            echoes = {one.hash for one in self._own[key]}
            self._named[key] = any(
                unit.form not in ("heading", "title")
                and unit.hash not in echoes
                and unit.document_id not in summaries
                and says(name, unit.text)
                for unit in (texts[one] for one in held[key] if one in texts)
            )


def _holding(index: KeywordIndex, name: str, own: Sequence[FactObservation]) -> list[int]:
    """The newest units that hold all words of ``name`` and are none of those that ``own`` was found in."""
    terms = analysis.query_terms(name)
    if not terms:
        return []
    held = index.postings(terms)
    units = reduce(np.intersect1d, (held.of(at)[0] for at in range(len(terms))))
    return [int(unit) for unit in np.setdiff1d(units, [one.unit_id for one in own])[-_MOST:]]


def says(name: str, text: str) -> bool:
    """Whether the words of ``name`` stand in ``text`` one after another, in whatever form."""
    begun = ended = 0
    for start, end in analysis.occurrences(name, text):
        if start - ended > _BETWEEN or ended == 0:
            begun = start
        ended = max(end, ended)
        if ended - begun >= _WHOLE * len(name):
            return True
    return False


def _says_state(row: FactRow) -> bool:
    return row.rule in _PLACED and kind_of_key(row.predicate) == "state"
