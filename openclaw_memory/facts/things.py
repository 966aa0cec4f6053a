"""Which facts are listed unasked: those that are surely right, told from where they stand and what they are about.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish; the form does not tell.  A
logistic regression (Cox, 1958) weighs four signs, none of which is a word of a language.  ``docs/facts.md`` says on how
many facts it was fitted, and what each sign is worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp, log

from ..knowledge.fact_headings import named_above
from ..knowledge.heading_names import ASIDE
from ..knowledge.predicates import kind_of_key
from ..model import FactRow, Origin, citation
from ..store.api import FactObservation, Store
from .validity import STATED

#: What each sign counts, and what all facts begin with; see :func:`signs`.
WEIGHTS: dict[str, float] = {"dense": 0.51, "passing": -1.95, "owner": 1.63, "words": -0.42}
BIAS = 3.2
#: The sureness from which on a fact is listed.
LISTED = 0.78


class Things:
    """Tells which rows are listed unasked, and below what they stand.

    ``found`` are all observations.
    """

    def __init__(self, store: Store, found: Sequence[FactObservation]) -> None:
        self._store, self._found = store, found
        self._headings: Mapping[str, str] | None = None

    def shown(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """Those of ``rows`` that are stated, or surely right."""
        units = {info.path: info.units for info in self._store.document_infos()}
        count = Counter(one.path for one in self._found)

        def is_sure(row: FactRow) -> bool:
            path = _path(row)
            share = count[path] / max(1, units.get(path, 1))
            # How something stood, of which newer notes say something else.
            past = row.newer is not None and kind_of_key(row.predicate) == "state"
            return not past and sureness(signs(row, share)) >= LISTED

        return [row for row in rows if row.rule == STATED or is_sure(row)]

    def placed(self, row: FactRow) -> FactRow:
        """``row`` with what a heading above its subject names, but for what the owner's file says or a sentence."""
        owners = row.subject == "user" or _path(row).rpartition("/")[2].casefold() == "user.md"
        if row.rule not in ("key", "table") or owners:
            return row
        if self._headings is None:
            places = ((citation(one.path, one.start_line, one.end_line), one.heading) for one in self._found)
            self._headings = dict(places)
        return replace(row, under=named_above(self._headings.get(row.source or "", ""), row.subject))


def signs(row: FactRow, share: float) -> dict[str, float]:
    """What tells of a fact, in a file that has ``share`` facts a unit.

    ``dense`` is the logarithm of that: a list of facts is kept as one, and in a report they are chance.  ``passing`` is
    whether it is how something stands, or an amount, ``owner`` whether it is the owner's or stands in a file of theirs,
    and ``words`` of how many words its subject is.
    """
    return {
        "dense": log(max(0.004, share)),  # rarer ones tell no more
        "passing": float(kind_of_key(row.predicate) in ("state", "number", "time")),
        "owner": float(row.origin is Origin.OWNER or row.subject == "user"),
        "words": float(len(ASIDE.sub(" ", row.subject).split())),
    }


def sureness(said: Mapping[str, float]) -> float:
    """The probability that a fact with these signs is right, in (0, 1)."""
    return 1 / (1 + exp(-BIAS - sum(weight * said[sign] for sign, weight in WEIGHTS.items())))


def _path(row: FactRow) -> str:
    return (row.source or "").rpartition("#L")[0]
