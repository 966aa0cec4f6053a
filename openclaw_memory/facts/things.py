"""Which facts are listed unasked: those that are surely right, told from where they stand and what else is said.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish.  What is a thing has its
whole name where its words stand elsewhere, and stands in a list of such things.  A logistic regression (Cox, 1958)
weighs that with other signs, none of which is a word of a language.  ``docs/facts.md`` says on how many facts it was
fitted, and how it does on notes that it was not fitted on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import chain
from math import exp, log
from typing import NamedTuple

import numpy as np

from ..knowledge.fact_places import is_gathered, named_above
from ..knowledge.fact_sentences import tidy
from ..knowledge.heading_names import ASIDE
from ..knowledge.predicates import is_relation, kind_of_key, normalise
from ..knowledge.routine import NAMELESS
from ..model import FactRow, Grain, Origin, citation
from ..store.api import FactObservation, KeywordIndex, Store, StoreState
from ..text import analysis
from .validity import STATED, Aliases, name_key

#: What each sign counts, and what all facts begin with; see :meth:`Things.signs`.
WEIGHTS: dict[str, float] = {
    "sparse": -0.33,
    "alike": 0.36,
    "stood": -0.78,
    "common": -0.39,
    "whole": 1.38,
    "figure": 0.46,
    "elsewhere": -0.68,
    "owner": 1.15,
    "longer": -1.57,
    "keyed": -0.53,
    "gathered": 0.53,
    "loose": -0.94,
}
BIAS = 1.79
#: The sureness from which on a fact is listed.
LISTED = 0.8
#: Rarer facts than this a unit tell no more.
_LEAST = 0.004
#: What passes: how something stands, how many there are or when.
_PASSING = frozenset(("state", "number", "time"))
#: Rules whose subject a heading, or the first cell of a row, names.
_BELOW = frozenset(("key", "table"))
#: What is the address of a thing, and words that may stand in one.
_ADDRESSES = frozenset(("url", "repo"))
_WORD = re.compile(r"[^\W_]{3,}", re.ASCII)
#: Units in which a name may stand that are looked at.
_MOST = 64
#: What may stand between two words of a name: no letter, or a short word of its own.
_APART = re.compile(r"[^\w\n]{0,3}(?:(?<=\s)\w{1,3}\s)?")
#: The share of a name's length that its words have where it stands.
_WHOLE = 0.8


class Said(NamedTuple):
    """What the notes say of a subject elsewhere.

    ``common`` is whether they name it in small letters, and ``whole`` the share of the lines with the rarest word of
    its name that hold all of it.
    """

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

    @cached_property
    def _alike(self) -> Mapping[str, Mapping[str, set[int | str]]]:
        """By file and relation the subjects that have it there."""
        out: defaultdict[str, defaultdict[str, set[int | str]]] = defaultdict(lambda: defaultdict(set))
        for path, found in self._found.items():
            for one in found:
                out[path][normalise(one.predicate)].add(self._key(one.subject))
        return out

    @cached_property
    def _headings(self) -> Mapping[str, str]:
        """The headings above what rules found, by its lines as they are cited."""
        found = chain.from_iterable(self._found.values())
        return {citation(one.path, one.start_line, one.end_line): one.heading for one in found}

    def placed(self, row: FactRow) -> FactRow:
        """``row`` with what a heading above its subject names, where it was found as a key or in a table."""
        if row.rule not in _BELOW or _of_owner(row):
            return row
        return replace(row, under=named_above(self._headings.get(row.source or "", ""), row.subject))

    def shown(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """Those of ``rows`` that are stated, or surely right."""
        given = list(rows)
        judged = {self._key(row.subject): row.subject for row in given if row.rule != STATED}
        said = self._learnt(judged) if judged else {}
        return [row for row in given if row.rule == STATED or (not _past(row) and self._sure(row, said))]

    def _sure(self, row: FactRow, said: Mapping[int | str, Said]) -> bool:
        return sureness(self.signs(row, said)) >= LISTED

    def signs(self, row: FactRow, said: Mapping[int | str, Said]) -> dict[str, float]:
        """What tells of a fact.

        ``sparse`` is minus the logarithm of how many facts its file has a unit: a list of facts is kept as one, and in
        a report they are chance.  ``alike`` is that of how many subjects have its relation in the file, and ``stood``
        whether it is how something stands, or an amount: that passes.  ``common`` and ``whole`` are what
        :class:`Said` has of it.  ``figure`` is whether its name has a digit, ``elsewhere`` whether its value is an
        address in which no word of that stands, ``owner`` what stands in a file of the owner's, ``longer`` whether its
        key has more words than the name of its relation, which may say that it is another thing's, ``keyed`` what is a
        key below a heading, which may be for a part of something, ``gathered`` whether that heading, or the table,
        stands below one for a collection, and ``loose`` what an entry says, or a decision that is not ours: whether
        its relation is more than that both stand together.
        """
        key, path = self._key(row.subject), (row.source or "").rpartition("#L")[0]
        below = row.rule in _BELOW and not _of_owner(row)
        kind, words = kind_of_key(row.predicate), set(_WORD.findall(row.subject.casefold()))
        share = len(self._found.get(path, ())) / max(1, self._units.get(path, 1))
        return {
            "sparse": -log(max(_LEAST, share)),
            "alike": log(len(self._alike[path][normalise(row.predicate)]) or 1),
            "stood": float(kind in _PASSING),
            "common": float(said[key].common),
            "whole": said[key].whole,
            "figure": float(any(map(str.isdigit, row.subject))),
            "elsewhere": float(kind in _ADDRESSES and bool(words) and not any(map(row.object.casefold().count, words))),
            "owner": float(row.origin is Origin.OWNER),
            "longer": float(kind not in (None, "text") and not is_relation(row.predicate)),
            "keyed": float(below and row.rule == "key"),
            "gathered": float(below and is_gathered(self._headings.get(row.source or "", ""), row.subject)),
            "loose": float(row.rule == "entry" or (row.rule == "decision" and row.subject != "we")),
        }

    def _key(self, name: str) -> int | str:
        key = name_key(name)
        return self._aliases.get(key, key)

    def _learnt(self, names: Mapping[int | str, str]) -> Mapping[int | str, Said]:
        """What is said elsewhere of the subjects with these names."""
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
            self._units = {one.path: one.units for one in infos}
            index = self._keywords()
            marks = self._marks(index, bare, state.instance)
            wanted = sorted({unit for mark in marks.values() for unit in mark[2]})
            texts = {unit.id: unit for unit in self._store.unit_texts(wanted)} if wanted else {}
        for key, name in bare.items():
            instance, _, units, own_units, rarest = marks[key]
            # Postings may still hold units that are gone.
            mark = instance, name, tuple(unit for unit in units if unit in texts), own_units, rarest
            known, said = self._heard.get(key, (None, Said(False, 0.0)))
            if known != mark:
                echoes = {one.hash for one in self._own[key]}
                lines = [
                    unit.text
                    for unit in (texts[one] for one in mark[2])
                    if unit.form not in ("heading", "title")
                    and unit.hash not in echoes
                    and unit.document_id not in summaries
                    and says(name, unit.text)
                ]
                common = any(name not in text and name.casefold() in text.casefold() for text in lines)
                said = Said(common, (len(lines) + 1) / (min(_MOST, mark[4]) + 2))
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


def _of_owner(row: FactRow) -> bool:
    """Whether a fact is the owner's, or stands in the owner's file: it needs no heading to say whose it is."""
    path = (row.source or "").rpartition("#L")[0]
    return row.subject == "user" or path.rpartition("/")[2].casefold() == "user.md"


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
