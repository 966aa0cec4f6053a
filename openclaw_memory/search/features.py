"""Compute the features of every row for a question, and fuse them into one weighted sum.

Each feature is scaled to [0, 1] over the searched rows.  All weights stand here; ``docs/ranking.md`` says where they
come from and what each contributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..embed import registry
from ..index.corpus import RADIUS, Corpus
from ..model import Grain
from ..records import dataclass
from ..store.api import Bools, Floats, Ints, VectorIndex, distinct
from ..text import analysis
from ..text.turns import roles
from .bm25 import KeywordScores
from .days import Interval
from .names import name_shares
from .question import Question

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
    "transcript": -0.3,
    "graph": 0.12,
}
KEYWORD_FEATURES = ("bm25_unit", "bm25_window", "bm25_passage", "bm25_heading")
VECTOR_FEATURES = ("vector_unit", "vector_window")
#: Features that are shares already, so scaling over the corpus must not stretch them.
_ABSOLUTE = frozenset({"name", "speaker", "date", "when", "amount", "now", "heading", "transcript"})

#: Share of the question's idf mass that the best window must hold for keywords to count in full beside vectors; and the
#: same beside vectors of a model that does not know the question's language.
_FULL_COVERAGE, _FULL_COVERAGE_FOREIGN = 0.5, 0.1
#: Weight of the vectors of such a model, beside keywords that count in full.
_FOREIGN_VECTORS = 0.25
#: Number of ways in which rows are written: see :class:`~openclaw_memory.index.corpus.Shape`.
_SCRIPTS = 3
#: Noise of a question: so many deviations above the mean cosine; and the number of rows at which this estimate weighs
#: as much as the noise of the model.
_NOISE_DEVIATIONS, _NOISE_ROWS = 1.5, 100
#: Rows sampled for the noise of a question: every vector index scores them, so that a hit has the same score with each.
_SAMPLE_ROWS = 4_096
#: Statistics of a script are smoothed by so many rows of the mean of all scripts (additive smoothing).
_PRIOR_ROWS = 30
#: Candidates of each kind when the vector index does not score every unit.
_CANDIDATES = 512
#: Days after a named interval for which a note still counts, its value on the first one, and the days to fall to 0.
_ECHO_DAYS, _ECHO, _ECHO_FALL = 21, 0.35, 30.0
#: Value of ``date`` for a line whose days overlap those asked for without lying within them.
_OVERLAP = 0.5
#: Shortest question, in days, that is answered by each grain of summaries, where there are such: the longest first.
_GRAIN_DAYS = ((Grain.YEARLY, 200), (Grain.QUARTERLY, 63), (Grain.MONTHLY, 17), (Grain.WEEKLY, 5))


#: Share of the way from the cosine of unrelated texts to identical ones at which a match is sure.
SURE = registry.DEFAULT.sure


def sure_share(model: str) -> float:
    """Return :data:`SURE` for a model, which may crowd what is alike into less of that way."""
    entry = registry.find_similar(model)
    return SURE if entry is None else entry.sure


def weights_for(settings: Mapping[str, float], model: str | None = None) -> dict[str, float]:
    """Return the weight of each feature with the vectors of ``model``; weights in ``settings`` hold with any."""
    entry = registry.find_similar(model) if model else None
    factor = 1.0 if entry is None else entry.weight
    valid = {name: weight for name, weight in settings.items() if name in WEIGHTS}
    return WEIGHTS | {name: factor * WEIGHTS[name] for name in VECTOR_FEATURES} | valid


@dataclass
class Features:
    """Features of every row before scaling, ``float32[n]`` each; absent ones are not in ``values``.

    ``language_coverage`` is how well the model knows the question's language, in [0, 1].
    """

    values: dict[str, Floats] = field(default_factory=dict)
    keyword: KeywordScores | None = None
    language_coverage: float = 1.0
    days: list[Interval] = field(default_factory=list)
    #: Mean of ``date`` over all rows: a day that most rows have distinguishes none of them.
    mean_date: float = 0.0
    #: True if days are all that is asked for.
    only_days: bool = False
    #: Cosine of every window.
    cosine: Floats | None = None
    #: Cosine that rows of each script rarely exceed with this question, and the weight of that measure in [0, 1].
    noise: Floats = field(default_factory=lambda: np.zeros(_SCRIPTS, np.float32))
    noise_weight: Floats = field(default_factory=lambda: np.zeros(_SCRIPTS, np.float32))

    @property
    def spans_sections(self) -> bool:
        """True if the answer adds up lines of many sections: an amount, or what was done on some days."""
        return self.only_days or "amount" in self.values


def scaled(x: Floats, allowed: Bools | None = None) -> Floats:
    """Scale to [0, 1] by minimum and maximum over the allowed rows; all zero when they are all equal."""
    seen = x if allowed is None else x[allowed]
    if not len(seen):
        return np.zeros_like(x)
    low, high = float(seen.min()), float(seen.max())
    if high - low <= 1e-5:  # nothing but rounding, which scaling would blow up to a full share
        return np.zeros_like(x)
    out: Floats = x - np.float32(low)
    out *= np.float32(1 / (high - low))
    return out


def collect_features(
    corpus: Corpus,
    question: Question,
    keyword: KeywordScores | None,
    similarities: Floats | None,
    language_coverage: float = 1.0,
    exhaustive: bool = True,
    noise: float = 1.0,
) -> Features:
    """Compute the features of all rows; ``similarities`` holds NaN for units that have no vector.

    ``exhaustive`` says that they were computed for all units, not for candidates alone; ``noise`` is the cosine that
    unrelated texts rarely exceed.
    """
    rows, shape = corpus.rows, corpus.shape
    features = Features(keyword=keyword, language_coverage=language_coverage)
    values = features.values
    if keyword is not None:
        values["bm25_unit"] = keyword.unit
        values["bm25_window"] = keyword.window
        headings = np.where(shape.has_heading, keyword.unit[shape.section_start], np.float32(0))
        values["bm25_heading"] = headings.take(shape.section)
        first, second = (scores.take(place) for scores, place in zip(keyword.passage, shape.passage, strict=True))
        values["bm25_passage"] = np.maximum(first, second, out=first)
        shares = name_shares(keyword.idf, keyword.named, keyword.exact, rows.document_id)
        if shares is not None:
            values["name"] = shares
    if similarities is not None:
        features.cosine = corpus.window_cosine(similarities)
        sampled = np.arange(len(rows.unit_id))[_sample(len(rows.unit_id))]
        sampled = sampled[~np.isnan(features.cosine[sampled])]
        if len(sampled):
            cosines, script = features.cosine[sampled], rows.script[sampled]
            features.noise, features.noise_weight = _noise_by_script(cosines, script)
            mixed = exhaustive and shape.scripts.max() < len(similarities)
            for name, cosine in zip(VECTOR_FEATURES, (similarities, features.cosine), strict=True):
                filled = _filled(cosine, noise)
                values[name] = _normalised_by_script(filled, rows.script) if mixed else filled
    values["length"] = np.log(np.maximum(rows.chars, 1)).astype(np.float32)
    values["heading"] = rows.heading.astype(np.float32)
    if shape.speakers.any():
        # What a chat with a machine says was not written to be kept.
        chats = np.isin(shape.speakers, _role_keys(), assume_unique=True)
        values["transcript"] = chats.astype(np.float32).take(shape.speaker)
        keys = distinct(np.array([analysis.unit_hash(name) for name in question.speakers], np.int64))
        speaks = np.isin(shape.speakers, keys, assume_unique=True)
        if speaks.any():
            values["speaker"] = speaks.astype(np.float32).take(shape.speaker)
    if question.days:
        _add_days(features, corpus, question)
    if question.asks_when:
        values["when"] = np.minimum(rows.time_words, 2).astype(np.float32) * np.float32(0.5)
    if question.asks_amount:
        values["amount"] = rows.amount.astype(np.float32)
    return features


@cache
def _role_keys() -> NDArray[np.int64]:
    """Return the different keys of the parts in a chat with a machine, in all languages, as of speakers of rows."""
    names = frozenset().union(*roles().values())
    return distinct(np.array([analysis.unit_hash(analysis.name_key(name)) for name in names], np.int64))


# -- days -------------------------------------------------------------------------------------------


def _add_days(features: Features, corpus: Corpus, question: Question) -> None:
    """Add the feature ``date``; keywords leave where a question asks for days alone."""
    values, keyword = features.values, features.keyword
    features.days, values["date"] = question.days, _nearness(corpus, question.days)
    features.mean_date = float(values["date"].mean())
    features.only_days = question.asks_only_days
    if question.names_weekday and keyword is not None and keyword.unit.any():
        # Where nothing is of that day, lines that name it are all there is.
        features.only_days &= bool((values["date"] >= 1).any())
    if features.only_days:  # a line that has the question's own words answers it no better
        for name in KEYWORD_FEATURES:
            values.pop(name, None)
        near = _nearness(corpus, question.calendar_days)
        if (near >= 1).any():  # "last week" is that of the calendar where something is of it
            features.days, values["date"] = question.calendar_days, near


def _nearness(corpus: Corpus, days: list[Interval]) -> Floats:
    """Return 1 inside an interval, a falling echo for three weeks after it, 0 elsewhere and undated: ``float32[n]``.

    A line that names days itself has them besides its section's; it counts half where it names more than was asked for.
    """
    rows = corpus.rows
    day = rows.day
    naming = np.flatnonzero(rows.first_day)
    named_first, named_last = rows.first_day[naming], rows.last_day[naming]
    near = np.zeros(len(corpus), np.float32)
    for first, last in days:
        past = day - last.toordinal()
        inside = (day >= first.toordinal()) & (past <= 0)
        echo = np.where((past > 0) & (past <= _ECHO_DAYS), _ECHO * (1 - past / _ECHO_FALL), 0)
        near = np.maximum(near, np.where(inside, 1, echo)).astype(np.float32)
    near[~rows.dated] = 0
    for first, last in days:
        within = (named_first >= first.toordinal()) & (named_last <= last.toordinal())
        meets = (named_first <= last.toordinal()) & (named_last >= first.toordinal())
        near[naming] = np.maximum(near[naming], np.where(within, 1, np.where(meets, _OVERLAP, 0))).astype(np.float32)
    return near


def restrict_to_days(
    features: Features, allowed: Bools | None, uncited: Callable[[Grain], Bools | None] | None = None
) -> Bools | None:
    """Restrict ``allowed`` to the days of a question that asks for days alone, if some row is of these days.

    Where it asks for several days and summaries of about that length exist, rows that these cover and do not cite are
    dropped too: ``uncited(grain)`` selects them.
    """
    if not features.only_days:
        return allowed
    there = features.values["date"] >= 1
    there = there if allowed is None else there & allowed
    longest = max((last - first).days + 1 for first, last in features.days)
    left_out = (uncited(grain) for grain, least in _GRAIN_DAYS if uncited is not None and longest >= least)
    rows = next((rows for rows in left_out if rows is not None and (rows & there).any()), None)
    if rows is not None and (cited := there & ~rows).any():
        there = cited
    return there if there.any() else allowed


# -- vectors ----------------------------------------------------------------------------------------


def cosines(corpus: Corpus, index: VectorIndex, vector: Floats, keyword: KeywordScores | None) -> tuple[Floats, int]:
    """Return the cosine of each row with a question, ``float32[n]``, and the number of rows without a vector.

    An index that is not exhaustive scores candidates alone; other rows have the least cosine of these.
    """
    unit_ids = corpus.rows.unit_id
    if index.exhaustive:
        out = index.similarities(vector, unit_ids)
        return out, int(np.isnan(out).sum())
    has = index.has(unit_ids)
    rows = _nearest(corpus, index, vector)
    if keyword is not None:
        best = np.argpartition(-keyword.window, min(_CANDIDATES, len(unit_ids) - 1))[:_CANDIDATES]
        rows = np.concatenate([rows, best[keyword.window[best] > 0].astype(np.int32)])
    rows = np.concatenate([rows, np.arange(len(unit_ids), dtype=np.int32)[_sample(len(unit_ids))]])
    # The windows of these need the scores of their neighbours.
    around = (rows[:, None] + np.arange(-RADIUS, RADIUS + 1)).ravel()
    rows = distinct(around[(around >= 0) & (around < len(unit_ids))])
    out = np.full(len(unit_ids), np.nan, np.float32)
    out[rows] = index.similarities(vector, unit_ids[rows])
    scored = ~np.isnan(out)
    if scored.any():
        out[has & ~scored] = out[scored].min()
    return out, len(unit_ids) - int(has.sum())


def _nearest(corpus: Corpus, index: VectorIndex, vector: Floats) -> Ints:
    """Return rows of the nearest units; a unit that is on its way to another file has a vector and no row."""
    limit = _CANDIDATES
    while True:
        near, _ = index.search(vector, limit)
        rows = corpus.rows_of(near)
        rows = rows[rows >= 0]
        if len(rows) >= _CANDIDATES or len(near) < limit:
            return rows[:_CANDIDATES]
        limit *= 2


def _sample(n: int) -> slice:
    """Return a slice of rows, spread over all ``n``, whose windows measure the noise of a question."""
    return slice(None, None, max(1, -(-n // _SAMPLE_ROWS)))


def _statistics_by_script(cosine: Floats, script: NDArray[np.int8]) -> tuple[Ints, NDArray[np.float64], Floats]:
    """Return number of rows, mean and deviation of the cosines of each script; those of few rows lean to all."""
    counts = np.bincount(script, minlength=_SCRIPTS)
    total, square = float(cosine.mean(dtype=np.float64)), float(np.square(cosine).mean(dtype=np.float64))
    if counts.max() == len(cosine):
        means, squares = np.full(_SCRIPTS, total), np.full(_SCRIPTS, square)
    else:
        n = counts + _PRIOR_ROWS
        means = (np.bincount(script, cosine, minlength=_SCRIPTS) + _PRIOR_ROWS * total) / n
        squares = (np.bincount(script, np.square(cosine), minlength=_SCRIPTS) + _PRIOR_ROWS * square) / n
    return counts.astype(np.int32), means, np.sqrt(np.maximum(squares - means**2, 1e-6))


def _normalised_by_script(cosine: Floats, script: NDArray[np.int8]) -> Floats:
    """Return the deviations of each cosine from the mean of its script.

    A model that does not know a script finds all texts in it alike, and like any question in it: without this, rows in
    one script would go before those in another whatever they say.
    """
    counts, mean, deviation = _statistics_by_script(cosine, script)
    if counts.max() == len(cosine):
        return cosine
    out: Floats = (cosine - mean.astype(np.float32)[script]) / deviation.astype(np.float32)[script]
    return out


def _filled(cosine: Floats, noise: float) -> Floats:
    """Replace NaN by a cosine that neither helps nor hurts: the mean, or at most that of unrelated texts.

    Where only rows that share words with the question have a vector, the mean is that of related ones.
    """
    unknown = np.isnan(cosine)
    if not unknown.any() or unknown.all():
        return cosine
    return np.where(unknown, min(float(cosine[~unknown].mean()), noise), cosine).astype(np.float32)


def _noise_by_script(cosine: Floats, script: NDArray[np.int8]) -> tuple[Floats, Floats]:
    """Return the cosine that rows of each script rarely exceed, and the weight of that measure in [0, 1]."""
    counts, mean, deviation = _statistics_by_script(cosine, script)
    noise = mean + _NOISE_DEVIATIONS * deviation
    return noise.astype(np.float32), (counts / (counts + _NOISE_ROWS)).astype(np.float32)


# -- fusion -----------------------------------------------------------------------------------------


def _keyword_trust(features: Features, allowed: Bools | None) -> float:
    """Return the weight of keywords beside vectors, by the share of the question in the best allowed window.

    Scaling gives the best keyword match a full share even when it is nothing but one common word.
    """
    keyword = features.keyword
    if keyword is None or not features.values.keys() & set(VECTOR_FEATURES):
        return 1.0
    best = keyword.window if allowed is None else np.where(allowed, keyword.window, -1)
    coverage, _ = keyword.coverage(int(best.argmax()))
    return min(1.0, coverage / max(_FULL_COVERAGE * features.language_coverage, _FULL_COVERAGE_FOREIGN))


def fuse(features: Features, weights: dict[str, float], allowed: Bools | None = None) -> Floats:
    """Return the weighted sum of the scaled features: ``float32[n]``."""
    total: Floats | None = None
    keyword_trust = _keyword_trust(features, allowed)
    # A question in another language than the notes shares no words with them: vectors are all there is to go by.
    vector_trust = 1 - (1 - _FOREIGN_VECTORS) * (1 - features.language_coverage) * keyword_trust
    for name, x in features.values.items():
        weight = weights.get(name, 0.0)
        weight *= keyword_trust if name in KEYWORD_FEATURES else vector_trust if name in VECTOR_FEATURES else 1.0
        if not weight:
            continue
        part = x.copy() if name in _ABSOLUTE else scaled(x, allowed)
        part *= np.float32(weight)
        total = part if total is None else np.add(total, part, out=total)
    return np.zeros(_length(features), np.float32) if total is None else total


def reciprocal_ranks(
    features: Features, weights: dict[str, float], allowed: Bools | None = None, k: int = 60
) -> Floats:
    """Return ``Σ 1 / (k + rank)`` of the keyword and the vector ranking: reciprocal rank fusion.

    Cormack, Clarke and Büttcher, 2009; ranks count from 1, and a unit that matches no term has no
    rank in the keyword list.
    """
    total = np.zeros(_length(features), np.float32)
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
        total = total + part
    return total


def _length(features: Features) -> int:
    return len(next(iter(features.values.values())))
