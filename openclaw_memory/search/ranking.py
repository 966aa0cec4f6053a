"""The ranking: one weighted sum of features, each scaled to [0, 1] over the searched units.

All weights stand here; ``docs/ranking.md`` says where they come from and what each is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from ..embed import registry
from ..index.corpus import Corpus
from ..model import Grain
from ..store.api import Bools, Floats, Ints
from ..text import analysis
from . import question as asking
from .bm25 import KeywordScores
from .bounds import Interval
from .names import shares

#: Weight of each feature in the fused score.
WEIGHTS: dict[str, float] = {
    "bm25_unit": 0.25,
    "bm25_window": 1.0,
    "bm25_passage": 0.4,
    "bm25_heading": 0.6,
    "name": 2.5,
    "vector_unit": 1.0,
    "vector_window": 1.0,
    "speaker": 0.5,
    "date": 1.5,
    "when": 0.4,
    "amount": 0.4,
    "now": 0.3,
    "length": 0.2,
    "heading": -0.5,
    "graph": 0.12,
}
KEYWORD_FEATURES = ("bm25_unit", "bm25_window", "bm25_passage", "bm25_heading")
VECTOR_FEATURES = ("vector_unit", "vector_window")

#: Share of the question's idf mass that the best window must hold for keywords to count in full beside vectors.
_FIRM = 0.5
#: The same beside vectors of a model that does not know the question's language.
_FIRM_ALONE = 0.1
#: What vectors count, beside keywords that count in full, of a model that does not know the question's language.
_UNKNOWN = 0.25
#: Ways in which rows are written: see :class:`~openclaw_memory.index.corpus.Shape`.
_SCRIPTS = 3
#: Deviations above the mean that unrelated rows rarely exceed, and rows that tell it as well as what is known anyway.
_NOISE, _TELLING = 1.5, 100
#: Rows that tell what the others are like: every index scores them, so that a hit has the same score with each.
_SAMPLED = 4_096
#: So many rows of a script as are taken to be like all others.
_FEW = 30
#: A day after a named interval still counts a little, falling over this many days.
_ECHO_DAYS, _ECHO, _ECHO_FALL = 21, 0.35, 30.0

#: From how many days on a question is answered by which grain of summaries, where there are such: the longest first.
_SPANS = ((Grain.YEARLY, 200), (Grain.QUARTERLY, 63), (Grain.MONTHLY, 17), (Grain.WEEKLY, 5))

#: What a line counts that names more days than those asked for, as a month is more than a day.
_WIDER = 0.5


def weights(own: Mapping[str, float], model: str | None = None) -> dict[str, float]:
    """The weight of each feature with the vectors of a ``model``; the ``own`` ones hold with any, if there is such."""
    entry = registry.find_similar(model) if model else None
    counts = 1.0 if entry is None else entry.weight
    known = {name: weight for name, weight in own.items() if name in WEIGHTS}
    return WEIGHTS | {name: counts * WEIGHTS[name] for name in VECTOR_FEATURES} | known


@dataclass
class Features:
    """Features of every row before scaling, ``float32[n]`` each; absent ones are not in ``values``."""

    values: dict[str, Floats] = field(default_factory=dict)
    keyword: KeywordScores | None = None
    named_dates: list[Interval] = field(default_factory=list)
    #: Mean of ``date`` over all rows: what most of them have tells little of one.
    dated: float = 0.0
    #: Whether days are all that is asked for.
    only_days: bool = False
    #: How well the model knows the question's language, from 0 to 1.
    knowledge: float = 1.0
    #: Cosine of every window.
    cosine: Floats | None = None
    #: Cosine that rows of each script rarely exceed with this question, and how far there are enough of them to tell.
    noise: Floats = field(default_factory=lambda: np.zeros(_SCRIPTS, np.float32))
    telling: Floats = field(default_factory=lambda: np.zeros(_SCRIPTS, np.float32))

    @property
    def apart(self) -> bool:
        """Whether what answers was noted here and there: what is counted, or what was done on some days."""
        return self.only_days or "amount" in self.values


def scaled(x: Floats, allowed: Bools | None = None) -> Floats:
    """Min-max scaling to [0, 1] over the allowed rows; all zero when they are all equal."""
    seen = x if allowed is None else x[allowed]
    if not len(seen):
        return np.zeros_like(x)
    low, high = float(seen.min()), float(seen.max())
    if high - low <= 1e-5:  # nothing but rounding, which scaling would blow up to a full share
        return np.zeros_like(x)
    out: Floats = x - np.float32(low)
    out *= np.float32(1 / (high - low))
    return out


def collect(
    corpus: Corpus,
    query: str,
    asked: date,
    keyword: KeywordScores | None,
    similarities: Floats | None,
    knowledge: float = 1.0,
    whole: bool = True,
    unrelated: float = 1.0,
) -> Features:
    """Features of all rows; ``similarities`` holds NaN for units that have no vector.

    ``whole`` says that they were computed for all units, not for candidates alone; ``unrelated`` is the cosine that
    unrelated texts rarely exceed.
    """
    rows, shape = corpus.rows, corpus.shape
    features = Features(keyword=keyword, knowledge=knowledge)
    values = features.values
    if keyword is not None:
        values["bm25_unit"] = keyword.unit
        values["bm25_window"] = keyword.window
        headings = np.where(shape.headed, keyword.unit[shape.opens], np.float32(0))
        values["bm25_heading"] = headings.take(shape.section)
        first, second = (own.take(of) for own, of in zip(keyword.passage, shape.passage, strict=True))
        values["bm25_passage"] = np.maximum(first, second, out=first)
        if (named := shares(keyword.idf, keyword.named, keyword.asked_for, rows.document_id)) is not None:
            values["name"] = named
    if similarities is not None:
        features.cosine = corpus.window_cosine(similarities)
        some = np.arange(len(rows.unit_id))[sample(len(rows.unit_id))]
        some = some[~np.isnan(features.cosine[some])]
        if len(some):
            features.noise, features.telling = _noise(features.cosine[some], rows.script[some])
            mixed = whole and shape.scripts.max() < len(similarities)
            for name, cosine in zip(VECTOR_FEATURES, (similarities, features.cosine), strict=True):
                filled = _filled(cosine, unrelated)
                values[name] = _standing_out(filled, rows.script) if mixed else filled
    values["length"] = np.log(np.maximum(rows.chars, 1)).astype(np.float32)
    values["heading"] = rows.heading.astype(np.float32)
    names = asking.named(query)
    if names and len(shape.speakers):
        keys = np.array([analysis.unit_hash(name) for name in names], np.int64)
        speaks = np.isin(shape.speakers, keys)
        if speaks.any():
            values["speaker"] = speaks.astype(np.float32).take(shape.speaker)
    features.named_dates = asking.intervals(query, asked)
    if features.named_dates:
        values["date"] = _nearness(corpus, features.named_dates)
        features.dated = float(values["date"].mean())
        features.only_days = asking.asks_only_days(query, asked)
        if asking.names_weekday(query) and keyword is not None and keyword.unit.any():
            # Where nothing is of that day, lines that name it are all there is.
            features.only_days &= bool((values["date"] >= 1).any())
        if features.only_days:  # a line that has the question's own words answers it no better
            for name in KEYWORD_FEATURES:
                values.pop(name, None)
            exact = asking.intervals(query, asked, exact=True)
            near = _nearness(corpus, exact)
            if (near >= 1).any():  # "last week" is that of the calendar where something is of it
                features.named_dates, values["date"] = exact, near
    if asking.asks_when(query):
        values["when"] = np.minimum(rows.time_words, 2).astype(np.float32) * np.float32(0.5)
    if asking.asks_amount(query):
        values["amount"] = rows.amount.astype(np.float32)
    return features


def on_days(
    features: Features, allowed: Bools | None, untold: Callable[[Grain], Bools | None] | None = None
) -> Bools | None:
    """``allowed``, and of them those on the days that a question asks for and nothing else, where there are any.

    Where several days are asked for, and a summary of about as many tells of some, what it left out is none of these:
    ``untold`` gives such rows.
    """
    if not features.only_days:
        return allowed
    there = features.values["date"] >= 1
    there = there if allowed is None else there & allowed
    asked = max((last - first).days + 1 for first, last in features.named_dates)
    left_out = (untold(grain) for grain, least in _SPANS if untold is not None and asked >= least)
    rows = next((rows for rows in left_out if rows is not None and (rows & there).any()), None)
    if rows is not None and (told := there & ~rows).any():
        there = told
    return there if there.any() else allowed


def sample(n: int) -> slice:
    """Rows, spread over all ``n``, whose windows tell what unrelated ones have in common with a question."""
    return slice(None, None, max(1, -(-n // _SAMPLED)))


def _by_script(cosine: Floats, script: NDArray[np.int8]) -> tuple[Ints, NDArray[np.float64], NDArray[np.float64]]:
    """Number of rows, mean and deviation of the cosines of each script; of a few rows as if all were written alike."""
    counts = np.bincount(script, minlength=_SCRIPTS)
    total, square = float(cosine.mean(dtype=np.float64)), float(np.square(cosine).mean(dtype=np.float64))
    if counts.max() == len(cosine):
        means, squares = np.full(_SCRIPTS, total), np.full(_SCRIPTS, square)
    else:
        n = counts + _FEW
        means = (np.bincount(script, cosine, minlength=_SCRIPTS) + _FEW * total) / n
        squares = (np.bincount(script, np.square(cosine), minlength=_SCRIPTS) + _FEW * square) / n
    return counts.astype(np.int32), means, np.sqrt(np.maximum(squares - means**2, 1e-6))


def _standing_out(cosine: Floats, script: NDArray[np.int8]) -> Floats:
    """Cosines by how many deviations they lie above the mean of the rows that are written alike.

    A model that does not know a script finds all texts in it alike, and like any question in it: without this, rows in
    one script would go before those in another whatever they say.
    """
    counts, mean, deviation = _by_script(cosine, script)
    if counts.max() == len(cosine):
        return cosine
    out: Floats = (cosine - mean.astype(np.float32)[script]) / deviation.astype(np.float32)[script]
    return out


def _filled(cosine: Floats, unrelated: float) -> Floats:
    """``cosine`` with one for what has no vector that neither helps nor hurts it: the mean, or that of unrelated texts.

    Where only what shares words with the question has a vector, the mean is that of related ones.
    """
    unknown = np.isnan(cosine)
    if not unknown.any() or unknown.all():
        return cosine
    return np.where(unknown, min(float(cosine[~unknown].mean()), unrelated), cosine).astype(np.float32)


def _noise(cosine: Floats, script: NDArray[np.int8]) -> tuple[Floats, Floats]:
    """What rows of each script rarely exceed, and how far their number tells it, from 0 to 1."""
    counts, mean, deviation = _by_script(cosine, script)
    return (mean + _NOISE * deviation).astype(np.float32), (counts / (counts + _TELLING)).astype(np.float32)


def _nearness(corpus: Corpus, named: list[Interval]) -> Floats:
    """1 inside a named interval, a falling echo for three weeks after it, 0 elsewhere and undated.

    A line that names days itself has them besides its section's; it counts half where it names more than was asked for.
    """
    rows = corpus.rows
    day = rows.day
    saying = np.flatnonzero(rows.first_day)
    said_first, said_last = rows.first_day[saying], rows.last_day[saying]
    near = np.zeros(len(corpus), np.float32)
    for first, last in named:
        past = day - last.toordinal()
        inside = (day >= first.toordinal()) & (past <= 0)
        echo = np.where((past > 0) & (past <= _ECHO_DAYS), _ECHO * (1 - past / _ECHO_FALL), 0)
        near = np.maximum(near, np.where(inside, 1, echo)).astype(np.float32)
    near[~rows.dated] = 0
    for first, last in named:
        within = (said_first >= first.toordinal()) & (said_last <= last.toordinal())
        meets = (said_first <= last.toordinal()) & (said_last >= first.toordinal())
        near[saying] = np.maximum(near[saying], np.where(within, 1, np.where(meets, _WIDER, 0))).astype(np.float32)
    return near


#: Features that are shares already, so scaling over the corpus must not stretch them.
_ABSOLUTE = frozenset({"name", "speaker", "date", "when", "amount", "now", "heading"})


def _grip(features: Features, allowed: Bools | None) -> float:
    """How far keywords are to be trusted beside vectors, by what the best allowed window holds of the question.

    Scaling gives the best keyword match a full share even when it is nothing but one common word.
    """
    keyword = features.keyword
    if keyword is None or not features.values.keys() & set(VECTOR_FEATURES):
        return 1.0
    best = keyword.window if allowed is None else np.where(allowed, keyword.window, -1)
    return min(1.0, keyword.coverage(int(best.argmax()))[0] / max(_FIRM * features.knowledge, _FIRM_ALONE))


def fuse(features: Features, weights: dict[str, float], allowed: Bools | None = None) -> Floats:
    """The weighted sum of the scaled features: ``float32[n]``."""
    total: Floats | None = None
    grip = _grip(features, allowed)
    # A question in another language than the notes shares no words with them: vectors are all there is to go by.
    trust = 1 - (1 - _UNKNOWN) * (1 - features.knowledge) * grip
    for name, x in features.values.items():
        weight = weights.get(name, 0.0)
        weight *= grip if name in KEYWORD_FEATURES else trust if name in VECTOR_FEATURES else 1.0
        if not weight:
            continue
        part = x.copy() if name in _ABSOLUTE else scaled(x, allowed)
        part *= np.float32(weight)
        total = part if total is None else np.add(total, part, out=total)
    n = len(next(iter(features.values.values())))
    return np.zeros(n, np.float32) if total is None else total


def reciprocal_ranks(
    features: Features, weights: dict[str, float], allowed: Bools | None = None, k: int = 60
) -> Floats:
    """Reciprocal rank fusion, ``Σ 1 / (k + rank)``, of the keyword and the vector ranking.

    Cormack, Clarke and Büttcher, 2009; ranks count from 1, and a unit that matches no term has no
    rank in the keyword list.
    """
    total: Floats | None = None
    for names in (KEYWORD_FEATURES, VECTOR_FEATURES):
        present = {name: features.values[name] for name in names if name in features.values}
        if not present:
            continue
        score = fuse(Features(present), weights, allowed)
        if allowed is not None:
            score = np.where(allowed, score, -np.inf).astype(np.float32)
        rank = np.empty(len(score), np.float32)
        rank[np.argsort(-score, kind="stable")] = np.arange(1, len(score) + 1, dtype=np.float32)
        part: Floats = (1 / (k + rank)).astype(np.float32)
        if names is KEYWORD_FEATURES:
            part[score <= 0] = 0
        total = part if total is None else total + part
    n = len(next(iter(features.values.values())))
    return np.zeros(n, np.float32) if total is None else total
