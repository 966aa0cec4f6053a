"""Which subjects are things: those that the notes name elsewhere too, and not only above what a rule read.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish.  What is a thing is named
again: in a sentence, an item, a row somewhere else; or it has a file of its own that is no day's.  Of what never is, a
rule cannot know that it has a state; in a handful of notes nothing is said often enough to tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain, pairwise

import numpy as np

from ..knowledge.fact_headings import ASIDE
from ..knowledge.fact_sentences import tidy
from ..knowledge.predicates import kind_of_key, normalise
from ..knowledge.routine import NAMELESS
from ..model import FactRow, Grain
from ..store.api import FactObservation, KeywordIndex, Store, StoreState
from ..text import analysis
from ..text.dates import date_in_name
from .validity import Aliases, folded, name_key

#: Rules that take the subject from where it stands, and not from a sentence.
_PLACED = frozenset({"key", "table"})
#: Looks of values that say where something is; so many lines between two of them are of one place; so many places
#: with another value each are a series.
_WHERE, _NEAR, _SERIES = frozenset({"path", "url", "repo"}), 3, 3
#: The last line on which the title of a file may stand.
_TITLE = 5
#: Of fewer notes nothing can be told from a name that stands only once.
_FEW = 10
#: Units in which a name may stand that are looked at.
_MOST = 64
#: What may stand between two words of a name: no letter, or a short word of its own.
_APART = re.compile(r"[^\w\n]{0,3}(?:(?<=\s)\w{1,3}\s)?")
#: The share of a name's length that its words have where it stands.
_WHOLE = 0.8


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
        #: Which subjects are named elsewhere, as of a state of the index.
        self._named: dict[int | str, bool] = {}
        self._state: StoreState | None = None

    @cached_property
    def _own(self) -> Mapping[int | str, list[FactObservation]]:
        """What rules found of each subject by where it stands."""
        out: defaultdict[int | str, list[FactObservation]] = defaultdict(list)
        for one in chain.from_iterable(self._found.values()):
            if one.rule in _PLACED:
                out[self._key(one.subject)].append(one)
        return out

    def shown(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """``rows`` without those of what the notes name nowhere else, and without those that are another each time."""
        given = list(rows)
        judged = {self._key(row.subject): row.subject for row in given if self._needs_thing(row)}
        named = self._learnt(judged) if judged else {}
        return [
            row
            for row in given
            if not self._serial(row) and (named.get(self._key(row.subject), True) or not self._needs_thing(row))
        ]

    def _needs_thing(self, row: FactRow) -> bool:
        """Whether a row says how something stands, or where a part of it is of which a rule found how it stands."""
        if row.rule not in _PLACED:
            return False
        kind = kind_of_key(row.predicate)
        return kind == "state" or (kind == "path" and any(map(_says_state, self._own[self._key(row.subject)])))

    def _serial(self, row: FactRow) -> bool:
        """Whether a row gives an address of what had another one each time, and so was done then."""
        if row.rule != "key" or kind_of_key(row.predicate) not in _WHERE:
            return False
        relation = normalise(row.predicate)
        those = [one for one in self._own[self._key(row.subject)] if normalise(one.predicate) == relation]
        those.sort(key=lambda one: (one.path, one.start_line))
        apart = sum(one.path != other.path or one.start_line > other.end_line + _NEAR for other, one in pairwise(those))
        return apart + 1 >= _SERIES and len({folded(one.object) for one in those}) == len(those)

    def _key(self, name: str) -> int | str:
        key = name_key(name)
        return self._aliases.get(key, key)

    def _learnt(self, names: Mapping[int | str, str]) -> Mapping[int | str, bool]:
        """Whether the subjects with these names are named elsewhere."""
        with self._store.reading():
            state = self._store.state()
            if state != self._state:
                self._named, self._state = {}, state
            named = self._named
            if bare := {key: _bare(name) for key, name in names.items() if key not in named}:
                index = self._keywords()
                infos = self._store.document_infos()
                summaries = {one.id for one in infos if one.grain is not Grain.WORKING}
                if len(infos) - len(summaries) < _FEW:
                    return dict.fromkeys(names, True)
                lasting = {one.id: one.path for one in infos if date_in_name(one.path) is None}
                held = {key: _holding(index, name, self._own[key]) for key, name in bare.items()}
                wanted = sorted({unit for units in held.values() for unit in units})
                texts = {unit.id: unit for unit in self._store.unit_texts(wanted)} if wanted else {}
            for key, name in bare.items():
                echoes = {one.hash for one in self._own[key]}
                files = {one.path for one in self._own[key]}
                named[key] = any(
                    (
                        unit.start_line <= _TITLE and lasting.get(unit.document_id) in files
                        if unit.form in ("heading", "title")
                        else unit.hash not in echoes and unit.document_id not in summaries
                    )
                    and says(name, unit.text)
                    for unit in (texts[one] for one in held[key] if one in texts)
                )
        return named


def _bare(name: str) -> str:
    """A name without the remark behind it, unless what is left is a word that names nothing: *Old (first draft)*."""
    bare = tidy(ASIDE.sub(" ", name))
    return bare if len(bare.split()) > 1 or not NAMELESS.issuperset(bare.casefold().split()) else name


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
    begun = ended = -1
    for start, end in analysis.occurrences(name, text):
        if begun < 0 or not _APART.fullmatch(text, ended, max(start, ended)):
            begun = start
        ended = max(end, ended)
        if ended - begun >= _WHOLE * len(name):
            return True
    return False


def _says_state(one: FactObservation) -> bool:
    return kind_of_key(one.predicate) == "state"
