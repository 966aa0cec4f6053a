"""Compute the score that is reported: absolute, so that it means the same for every question.

The fused score only orders the units of one question: it is scaled per question, so that even nonsense has a best unit.
What is reported instead is the confidence of the evidence: the share of the question's words (by idf) in the hit's
window, and how far its cosine stands above what unrelated texts have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .hits import Range, Scores
from .ranking import Ranking

#: Questions that have nothing to do with the notes score below this: docs/ranking.md.
NONSENSE = 0.3
#: Hits are a good match if the score of one is at least the first; or, above ``NONSENSE``, if the idf of the words in
#: one is at least that of a word in a single unit, or if its normalised cosine is at least the last.
_GOOD_SCORE, _GOOD_RARITY, _GOOD_COSINE = 0.65, 1.0, 0.72
#: Score of a note on the days that a question asks for and nothing else.
_ONLY_DAYS = 0.6


def assess(ranking: Ranking, hit: Range, alone: bool = False) -> Scores:
    """Return how sure a hit is, and why where the request asks for that.

    ``alone`` says that nothing but its heading is shown beside the rows of ``hit``.
    """
    row, features, request = hit.best, ranking.features, ranking.request
    values, rows = features.values, ranking.corpus.rows
    text = vector = time = near = meaning = normalised_cosine = None
    words = 0.0
    reasons: list[str] = []
    if features.keyword is not None:
        shown = None
        if alone:
            shown = [(hit.first, hit.last), *_heading_above(ranking, row)]
        text, terms = features.keyword.coverage(row, shown)
        if terms:
            words = features.keyword.evidence(text)
            if request.explain:
                spelt = dict.fromkeys([ranking.spellings.get(term, term) for term in terms])
                reasons.append(f"keywords {text:.2f} ({', '.join(list(spelt)[:6])})")
    similarities = ranking.similarities
    if similarities is not None and features.cosine is not None and not np.isnan(similarities[row]):
        vector = min(1.0, max(0.0, float(similarities[row]), float(features.cosine[row])))
        reasons.append(f"meaning {vector:.2f}")
        # This question's cosine with unrelated rows, as far as there are enough of them to measure it.
        noise, script = ranking.query.noise, rows.script[row]
        normalised_cosine = normalise_cosine(vector, noise, ranking.sure)
        noise += max(0.0, float(features.noise[script]) - noise) * float(features.noise_weight[script])
        meaning = normalise_cosine(vector, noise, ranking.sure)
    if "date" in values:
        time = float(values["date"][row])
        reasons += [f"date {time:.2f}"] if time else []
    for name, reason in (
        ("speaker", "said by whom the question names"),
        ("when", "tells a time"),
        ("amount", "has a figure"),
    ):
        if name in values and values[name][row]:
            reasons.append(reason)
    if features.only_days:
        score = _ONLY_DAYS * (time or 0.0)
        reasons.append("asks for days alone")
    else:
        dated = None if time is None else time * (1 - features.mean_date)
        score = combine_evidence(None if text is None else words, meaning, dated, features.language_coverage)
    if ranking.graph is not None:
        near = float(ranking.graph[row])
        reasons += [f"concepts {near:.2f}"] if near else []
        if request.near:
            share = 1 - request.vector_weight
            score = (1 - share) * score + share * near
    if ranking.adjustment is not None:
        score = ranking.adjustment.reported(row, score)
        reasons += ranking.adjustment.reasons(row)
    text, vector, time, near = [None if value is None else round(value, 4) for value in (text, vector, time, near)]
    return Scores(
        score, text, vector, time, "; ".join(reasons) if request.explain else None, near, normalised_cosine or 0.0
    )


def is_good_match(ranking: Ranking, hits: Sequence[Range], scores: Sequence[Scores]) -> bool:
    """Return true if hits, with their scores, answer the question; one for an amount needs a figure."""
    best = max((hit.score for hit in scores), default=0.0)
    keyword, amount = ranking.features.keyword, ranking.features.values.get("amount")
    if best < NONSENSE or (amount is not None and not any(amount[hit.first : hit.last + 1].any() for hit in hits)):
        return False
    shown = {(hit.first, hit.last) for hit in hits}.union(*(_heading_above(ranking, hit.best) for hit in hits))
    rare = keyword is not None and any(keyword.rare_words(*rows) >= _GOOD_RARITY for rows in shown)
    return (
        rare
        or ranking.features.only_days
        or best >= _GOOD_SCORE
        or max(hit.normalised_cosine for hit in scores) >= _GOOD_COSINE
    )


def _heading_above(ranking: Ranking, row: int) -> list[tuple[int, int]]:
    """Return the heading of the section of a row, which is shown with it, as a range of rows, if there is one."""
    opens = ranking.corpus.shape.section_start
    above = int(opens[opens.searchsorted(row, "right") - 1])
    return [(above, above)] if ranking.corpus.rows.heading[above] else []


def normalise_cosine(cosine: float, noise: float, sure: float) -> float:
    """Scale ``cosine`` to [0, 1] between ``noise`` and a certain match, which is the share ``sure`` of the way to 1."""
    return min(1.0, max(0.0, (cosine - noise) / (sure * (1 - noise))))


def combine_evidence(words: float | None, meaning: float | None, time: float | None, language_coverage: float) -> float:
    """Combine the evidence of words, cosine and days, each in [0, 1], as independent."""
    # Without vectors that mean something the words are all there is to go by.
    trust = 1.0 if meaning is None or words is None else 1 - 0.2 * language_coverage
    understood = (meaning or 0.0) * (language_coverage if words is not None else 1.0)
    doubt = (1 - trust * (words or 0.0)) * (1 - 0.8 * understood) * (1 - 0.2 * (time or 0.0))
    return 1 - doubt
