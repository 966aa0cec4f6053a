"""Which facts are listed unasked: those that are surely right, told from where they stand and what else is said.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish.  What is a thing is named
again: in a sentence, an item, a row somewhere else; or it has a file of its own that is no day's.  A logistic
regression (Cox, 1958) weighs that with other signs, none of which is a word of a language.  ``docs/facts.md`` says on
how many facts it was fitted, and how it does on notes that it was not fitted on; in a handful of notes nothing is said
often enough to tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain
from math import exp, log
from typing import NamedTuple

import numpy as np

from ..knowledge.fact_sentences import tidy
from ..knowledge.heading_names import ASIDE
from ..knowledge.predicates import kind_of_key
from ..knowledge.routine import NAMELESS
from ..model import FactRow, Grain, Origin
from ..store.api import FactObservation, KeywordIndex, Store, StoreState
from ..text import analysis
from ..text.dates import date_in_name
from .validity import STATED, Aliases, name_key

#: What each sign counts, and what all facts begin with; see :meth:`Things.signs`.
WEIGHTS: dict[str, float] = {
    "sparse": -0.452,
    "astray": -0.242,
    "passing": -1.457,
    "common": -0.897,
    "whole": 1.326,
    "owner": 0.99,
}
BIAS = 2.538
#: The sureness from which on a fact is listed.
LISTED = 0.8
#: Rarer facts than this a unit tell no more.
_LEAST = 0.004
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


class Said(NamedTuple):
    """What the notes say of a subject elsewhere.

    ``named`` is whether they name it, ``common`` whether they do in small letters, and ``whole`` the share of the lines
    with the rarest word of its name that hold all of it.
    """

    named: bool
    common: bool
    whole: float


#: An instance of the index, a name, the newest units that hold all its words, those of its own facts, and how many
#: units hold its rarest word.
Mark = tuple[str, str, tuple[int, ...], tuple[int, ...], int]
#: What was last said of each subject, and by which mark.
Heard = dict[int | str, tuple[Mark, Said]]


class Things:
    """Tells which rows are listed unasked.

    ``found`` are all observations by file; ``keywords`` gives the keyword index as of now; ``heard`` keeps what lines
    say of subjects from one state of the index to the next.
    """

    def __init__(
        self,
        store: Store,
        keywords: Callable[[], KeywordIndex],
        found: Mapping[str, Sequence[FactObservation]],
        aliases: Aliases,
        heard: Heard,
    ) -> None:
        self._store, self._keywords, self._aliases, self._heard = store, keywords, aliases, heard
        self._found = found
        #: What is said of subjects elsewhere, and how many units files have, as of a state of the index.
        self._said: dict[int | str, Said] = {}
        self._units: dict[str, int] = {}
        self._state: StoreState | None = None

    @cached_property
    def _own(self) -> Mapping[int | str, list[FactObservation]]:
        """What rules found of each subject."""
        out: defaultdict[int | str, list[FactObservation]] = defaultdict(list)
        for one in chain.from_iterable(self._found.values()):
            out[self._key(one.subject)].append(one)
        return out

    def shown(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """Those of ``rows`` that are stated, or surely right."""
        given = list(rows)
        judged = {self._key(row.subject): row.subject for row in given if row.rule != STATED}
        said = self._learnt(judged) if judged else None
        if said is None:
            return given
        return [row for row in given if row.rule == STATED or (not _past(row) and self._sure(row, said))]

    def _sure(self, row: FactRow, said: Mapping[int | str, Said]) -> bool:
        return sureness(self.signs(row, said)) >= LISTED

    def signs(self, row: FactRow, said: Mapping[int | str, Said]) -> dict[str, float]:
        """What tells of a fact.

        ``sparse`` is minus the logarithm of how many facts its file has a unit: a list of facts is kept as one, and in
        a report they are chance.  ``astray`` is the same where no other line names its subject.  ``common`` and
        ``whole`` are what :class:`Said` has of it.  ``passing`` is how something stood on a day of which nothing else
        is known, and ``owner`` what stands in a file of the owner's.
        """
        key, path = self._key(row.subject), (row.source or "").rpartition("#L")[0]
        sparse = -log(max(_LEAST, len(self._found.get(path, ())) / max(1, self._units.get(path, 1))))
        once = len(self._own[key]) <= 1 and date_in_name(path) is not None
        return {
            "sparse": sparse,
            "astray": 0.0 if said[key].named else sparse,
            "passing": float(once and kind_of_key(row.predicate) == "state"),
            "common": float(said[key].common),
            "whole": said[key].whole,
            "owner": float(row.origin is Origin.OWNER),
        }

    def _key(self, name: str) -> int | str:
        key = name_key(name)
        return self._aliases.get(key, key)

    def _learnt(self, names: Mapping[int | str, str]) -> Mapping[int | str, Said] | None:
        """What is said elsewhere of the subjects with these names; nothing can be told of them in a few notes."""
        with self._store.reading():
            state = self._store.state()
            if state != self._state:
                self._said, self._units, self._state = {}, {}, state
                for gone in self._heard.keys() - self._own.keys():
                    del self._heard[gone]
            bare = {key: _bare(name) for key, name in names.items() if key not in self._said}
            if not bare:
                return self._said
            infos = self._store.document_infos()
            summaries = {one.id for one in infos if one.grain is not Grain.WORKING}
            if len(infos) - len(summaries) < _FEW:
                return None
            self._units = {one.path: one.units for one in infos}
            index = self._keywords()
            lasting = {one.id: one.path for one in infos if date_in_name(one.path) is None}
            marks = self._marks(index, bare, state.instance)
            wanted = sorted({unit for mark in marks.values() for unit in mark[2]})
            texts = {unit.id: unit for unit in self._store.unit_texts(wanted)} if wanted else {}
        for key, name in bare.items():
            instance, _, units, own_units, rarest = marks[key]
            # Postings may still hold units that are gone.
            mark = instance, name, tuple(unit for unit in units if unit in texts), own_units, rarest
            known, said = self._heard.get(key, (None, Said(False, False, 0.0)))
            if known != mark:
                echoes = {one.hash for one in self._own[key]}
                files = {one.path for one in self._own[key]}
                titled = common = False
                lines = 0
                for unit in (texts[one] for one in mark[2]):
                    if unit.form in ("heading", "title"):
                        own = unit.start_line <= _TITLE and lasting.get(unit.document_id) in files
                        titled = titled or (own and says(name, unit.text))
                    elif unit.hash not in echoes and unit.document_id not in summaries and says(name, unit.text):
                        lines += 1
                        common = common or (name not in unit.text and name.casefold() in unit.text.casefold())
                said = Said(titled or lines > 0, common, (lines + 1) / (min(_MOST, mark[4]) + 2))
                self._heard[key] = mark, said
            self._said[key] = said
        return self._said

    def _marks(self, index: KeywordIndex, bare: Mapping[int | str, str], instance: str) -> dict[int | str, Mark]:
        """By which it is known whether what is said of subjects is still the same."""
        terms = {key: analysis.query_terms(name) for key, name in bare.items()}
        every = {term: at for at, term in enumerate(dict.fromkeys(chain.from_iterable(terms.values())))}
        postings = index.postings(list(every))
        marks: dict[int | str, Mark] = {}
        for key, name in bare.items():
            own = tuple(sorted({one.unit_id for one in self._own[key]}))
            held = [postings.of(every[term])[0] for term in terms[key]]
            units = np.setdiff1d(reduce(np.intersect1d, held), own)[-_MOST:].tolist() if held else []
            marks[key] = instance, name, tuple(units), own, min(map(len, held), default=0)
        return marks


def _past(row: FactRow) -> bool:
    """Whether a fact says how something stood, of which newer notes say something else."""
    return row.newer is not None and kind_of_key(row.predicate) == "state"


def sureness(signs: Mapping[str, float]) -> float:
    """The probability that a fact with these signs is right, in (0, 1)."""
    return 1 / (1 + exp(-BIAS - sum(weight * signs[sign] for sign, weight in WEIGHTS.items())))


def _bare(name: str) -> str:
    """A name without the remark behind it, unless what is left is a word that names nothing: *Old (first draft)*."""
    bare = tidy(ASIDE.sub(" ", name))
    return bare if len(bare.split()) > 1 or not NAMELESS.issuperset(bare.casefold().split()) else name


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
