"""The probability that an extracted fact is right, from its place and its subject: the probable ones are listed.

A heading or a first cell may name a thing, or a piece of work, a part of a report, a wish; the form does not tell.  A
logistic regression (Cox, 1958) weighs four features, none of which is a word of a language.  ``docs/facts.md`` says on
how many facts it was fitted, and the gain by each feature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp, log

from ..knowledge.headings import ASIDE, named_above
from ..knowledge.predicates import kind_of_key
from ..model import FactRow, Origin, citation
from ..store.api import FactObservation, Store
from .periods import STATED
from .review import is_worth_showing

#: Weights of the features, and the bias: see :func:`features`.
WEIGHTS: dict[str, float] = {"density": 0.51, "transient": -1.95, "owner": 1.63, "words": -0.42}
BIAS = 3.2
#: Least probability of a listed fact.
MIN_PROBABILITY = 0.78


class ListedFacts:
    """Selects the facts to list, and finds the headings above them, given all ``observations``."""

    def __init__(self, store: Store, observations: Sequence[FactObservation]) -> None:
        self._store, self._observations = store, observations
        self._headings: Mapping[str, str] | None = None

    def select(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """Return those of ``rows`` that are stated, or probable enough."""
        units = {info.path: info.units for info in self._store.document_infos()}
        count = Counter(seen.path for seen in self._observations)

        def is_listed(row: FactRow) -> bool:
            path = _path(row)
            # A newer note tells another state.
            if row.newer is not None and kind_of_key(row.predicate) == "state":
                return False
            if row.before:
                return True
            return probability(features(row, count[path] / max(1, units.get(path, 1)))) >= MIN_PROBABILITY

        return [row for row in rows if row.rule == STATED or (is_worth_showing(row) and is_listed(row))]

    def with_heading(self, row: FactRow) -> FactRow:
        """Return ``row`` with the name in a heading above its subject, if it is a key or cell outside ``USER.md``."""
        owners = row.subject == "user" or _path(row).rpartition("/")[2].casefold() == "user.md"
        if row.rule not in ("key", "table") or owners:
            return row
        if self._headings is None:
            self._headings = {
                citation(seen.path, seen.start_line, seen.end_line): seen.heading for seen in self._observations
            }
        return replace(row, under=named_above(self._headings.get(row.source or "", ""), row.subject))


def features(row: FactRow, share: float) -> dict[str, float]:
    """Return the features of an extracted fact, in a file with ``share`` facts a unit.

    ``density`` is the logarithm of ``share``: facts of a list are kept as such, those of a report are chance.
    ``transient`` is 1 for a state, an amount or a time, ``owner`` for a fact about the owner or from the owner's file,
    and ``words`` counts the words of the subject: of a decision one, as it stands below whatever heading was at hand.
    """
    return {
        "density": log(max(0.004, share)),  # smaller shares are all alike
        "transient": float(kind_of_key(row.predicate) in ("state", "number", "time")),
        "owner": float(row.origin is Origin.OWNER or row.subject == "user"),
        "words": 1.0 if row.predicate == "decided" else float(len(ASIDE.sub(" ", row.subject).split())),
    }


def probability(values: Mapping[str, float]) -> float:
    """Return the probability, in (0, 1), that a fact with these features is right."""
    return 1 / (1 + exp(-BIAS - sum(weight * values[name] for name, weight in WEIGHTS.items())))


def _path(row: FactRow) -> str:
    return (row.source or "").rpartition("#L")[0]
