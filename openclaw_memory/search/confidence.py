"""Compute the score that is reported: absolute, so that it means the same for every question.

The fused score only orders the units of one question; scaled per question, even nonsense has a best
unit.  What is reported instead is the confidence of the evidence: the share of the question's words (by idf)
in the hit's window, and how far its cosine stands above what unrelated texts have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .hits import Range, Scores
from .ranking import Ranking

#: Questions that have nothing to do with the notes score below this: docs/ranking.md.
_NONSENSE = 0.3
#: Hits answer a question where one scores so much; and, above nonsense, where the words in one have the idf of one word
#: that stands in a single unit, or where the cosine of one is this share of a sure one.
_ANSWERED, _RARE, _NEARLY = 0.65, 1.0, 0.72
#: Score of a note on the days that a question asks for and nothing else.
_ONLY_DAYS = 0.6


def assess(ranking: Ranking, hit: Range, alone: bool = False) -> Scores:
    """Return how sure a hit is, and why where the request asks for that.

    ``alone`` says that nothing but its heading is shown beside the rows of ``hit``.
    """
    row, features, request = hit.best, ranking.features, ranking.request
    values, rows = features.values, ranking.corpus.rows
    text = vector = time = near = meaning = plain_meaning = None
    words = 0.0
    reasons: list[str] = []
    if features.keyword is not None:
        shown = None
        if alone:
            opens = ranking.corpus.shape.opens
            above = int(opens[opens.searchsorted(row, "right") - 1])
            shown = [(hit.first, hit.last), *([(above, above)] if rows.heading[above] else [])]
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
        plain_meaning = share_of_sure(vector, noise, ranking.sure)
        noise += max(0.0, float(features.noise[script]) - noise) * float(features.noise_weight[script])
        meaning = share_of_sure(vector, noise, ranking.sure)
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
        score = combined(None if text is None else words, meaning, dated, features.knowledge)
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
        score, text, vector, time, "; ".join(reasons) if request.explain else None, near, plain_meaning or 0.0
    )


def is_good_match(ranking: Ranking, hits: Sequence[Range], scores: Sequence[Scores]) -> bool:
    """Return true if hits, with their scores, answer the question; one for an amount needs a figure."""
    best = max((hit.score for hit in scores), default=0.0)
    keyword, amount = ranking.features.keyword, ranking.features.values.get("amount")
    if best < _NONSENSE or (amount is not None and not any(amount[hit.first : hit.last + 1].any() for hit in hits)):
        return False
    rare = keyword is not None and any(keyword.rare_words(hit.first, hit.last) >= _RARE for hit in hits)
    return rare or ranking.features.only_days or best >= _ANSWERED or max(hit.meaning for hit in scores) >= _NEARLY


def share_of_sure(cosine: float, noise: float, sure: float) -> float:
    """Return the share of a sure cosine that ``cosine`` is, above ``noise``, in [0, 1]."""
    return min(1.0, max(0.0, (cosine - noise) / (sure * (1 - noise))))


def combined(words: float | None, meaning: float | None, time: float | None, knowledge: float) -> float:
    """Combine the evidence of words, cosine and days, each in [0, 1], as independent."""
    # Without vectors that mean something the words are all there is to go by.
    trust = 1.0 if meaning is None or words is None else 1 - 0.2 * knowledge
    understood = (meaning or 0.0) * (knowledge if words is not None else 1.0)
    doubt = (1 - trust * (words or 0.0)) * (1 - 0.8 * understood) * (1 - 0.2 * (time or 0.0))
    return 1 - doubt
