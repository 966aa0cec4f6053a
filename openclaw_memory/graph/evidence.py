"""Which candidates are concepts: decided from counts, so the order of ingest does not matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: What a mention counts for by its rule; in a unit the strongest one of a key counts.
POINTS = {
    "curated": 8, "link": 8, "tag": 8, "meta": 8, "code": 8, "name": 6, "quoted": 3, "phrase": 2, "start": 1, "file": 1,
}  # fmt: skip
#: Rules of which one mention makes a name believable.
STRONG = frozenset({"curated", "link", "tag", "meta", "code", "name", "quoted"})
#: Rules by which a person says outright that something is a concept.
EXPLICIT = frozenset({"curated", "link", "tag", "meta"})

#: In how many units a phrase stands at least; one more for each doubling of a corpus of this many units.
_PHRASE_UNITS = 3
_PHRASE_CORPUS = 2_000
#: What is in more than this share of all units is routine.
_SHARE = 0.06
_FEW = 3
#: One sure mention and one other; and more than one capital among two dozen plain uses.
_LEAST_POINTS = 7
_LEAST_MEAN = 1.25


def decide(points: Ints, explicit: Bools, strong: Bools, units: Ints, total: int) -> Bools:
    """Which keys are concepts, from what their mentions add up to; ``bool[n]`` for columns of length *n*.

    ``points`` is the sum over a key's distinct units of the :data:`POINTS` of its strongest rule there;
    ``explicit`` and ``strong`` say whether any of its rules is one of :data:`EXPLICIT` and :data:`STRONG`;
    ``units`` counts distinct units and ``total`` those of the corpus.  Two units are needed (a phrase needs more),
    and only what is explicit may be in more than a few per cent of them.
    """
    grown = int(np.log2(max(1.0, total / _PHRASE_CORPUS)))
    named = strong & (units >= 2) & (points >= _LEAST_POINTS) & (points >= _LEAST_MEAN * units)
    phrase = (units >= _PHRASE_UNITS + grown) & (points >= POINTS["phrase"] * units)
    rare = units <= max(_FEW, _SHARE * total)
    return np.asarray((named | phrase) & (rare | explicit), dtype=np.bool_)


def kind_of(rules: set[str], name: str) -> str | None:
    """What kind of thing a found concept is, where its rules tell: ``tag``, ``note`` or ``code``; else ``None``."""
    if "tag" in rules:
        return "tag"
    if "file" in rules:
        return "note"
    return "code" if "code" in rules and "name" not in rules else None
