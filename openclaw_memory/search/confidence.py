"""The score that is reported: absolute, so that it means the same for every question.

The fused score only orders the units of one question; scaled per question, even nonsense has a best
unit.  What is reported instead is how sure the evidence is: the share of the question's words (by idf)
in the hit's window, and how far its cosine stands above what unrelated texts have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..embed import registry
from ..index.corpus import Corpus
from ..store.api import Floats
from . import ranking
from .decay import Moves
from .hits import Range


@dataclass(frozen=True, slots=True)
class Parts:
    """Absolute scores of a hit, in [0, 1]; ``meaning`` is how much of what is sure its cosine is with any question."""

    score: float
    text: float | None
    vector: float | None
    time: float | None
    why: str | None
    graph: float | None = None
    meaning: float = 0.0


#: What has nothing to do with the notes scores below this: docs/ranking.md.
_NONSENSE = 0.3
#: Hits answer a question where one scores so much; and, above nonsense, where one has words of it that are worth one
#: that stands in a single unit, or means nearly the same, as a share of what is sure.
_ANSWERED, _RARE, _NEARLY = 0.65, 1.0, 0.72
#: What is reported of a note on the days that a question asks for and nothing else.
_ONLY_DAYS = 0.6
#: A match is sure when its cosine is this share of the way from unrelated texts to identical ones.
SURE = registry.DEFAULT.sure


def sure(model: str) -> float:
    """:data:`SURE` of a model, which may crowd what is alike into less of that way."""
    entry = registry.find_similar(model)
    return SURE if entry is None else entry.sure


def parts(
    corpus: Corpus,
    features: ranking.Features,
    similarities: Floats | None,
    found: Range,
    noise: float,
    spelling: Mapping[str, str],
    graph: Floats | None = None,
    graph_share: float | None = None,
    moves: Moves | None = None,
    knowledge: float = 1.0,
    sure: float = SURE,
    alone: bool = False,
) -> Parts:
    """How sure a hit is, and why.

    ``noise`` is the cosine that unrelated texts rarely exceed, ``spelling`` the question's own word for
    each of its terms.  ``graph`` is what the graph says of every row, ``float32[n]`` in [0, 1]; with
    ``graph_share`` that is this share of the score.  ``moves`` is what time and use make of it.
    ``knowledge`` is how well the model knows the question's language, from 0 to 1: where it does not, words decide.
    ``sure`` is that of the model.  ``alone`` says that nothing but its heading is shown beside the rows of ``found``.
    """
    row = found.best
    values = features.values
    text = vector = time = None
    words = 0.0
    because: list[str] = []
    if features.keyword is not None:
        above = int(corpus.shape.opens[corpus.shape.opens.searchsorted(row, "right") - 1])
        shown = [(found.first, found.last), *([(above, above)] if corpus.rows.heading[above] else [])]
        text, terms = features.keyword.coverage(row, shown if alone else None)
        if terms:
            words = features.keyword.evidence(text)
            own = dict.fromkeys(spelling.get(term, term) for term in terms)
            because.append(f"keywords {text:.2f} ({', '.join(list(own)[:6])})")
    if similarities is not None and features.cosine is not None and not np.isnan(similarities[row]):
        vector = min(1.0, max(0.0, float(similarities[row]), float(features.cosine[row])))
        because.append(f"meaning {vector:.2f}")
    if "date" in values:
        time = float(values["date"][row])
        if time:
            because.append(f"date {time:.2f}")
    if "speaker" in values and values["speaker"][row]:
        because.append("said by whom the question names")
    if "when" in values and values["when"][row]:
        because.append("tells a time")
    if "amount" in values and values["amount"][row]:
        because.append("has a figure")
    near = None
    script = corpus.rows.script[row]
    # What this question has in common with unrelated rows, as far as there are enough of them to tell.
    plain = 0.0 if vector is None else _meaning(vector, noise, sure)
    noise += max(0.0, float(features.noise[script]) - noise) * float(features.telling[script])
    telling = None if time is None else time * (1 - features.dated)
    meaning = None if vector is None else _meaning(vector, noise, sure)
    score = _sureness(None if text is None else words, meaning, telling, knowledge)
    if features.only_days:
        score = _ONLY_DAYS * (time or 0.0)
        because.append("asks for days alone")
    if graph is not None:
        near = float(graph[row])
        if near:
            because.append(f"concepts {near:.2f}")
        if graph_share is not None:
            score = (1 - graph_share) * score + graph_share * near
    if moves is not None:
        score = moves.reported(row, score)
        because += moves.because(row)
    why = "; ".join(because)
    return Parts(score, _rounded(text), _rounded(vector), _rounded(time), why, _rounded(near), plain)


def answered(corpus: Corpus, features: ranking.Features, found: Sequence[Range], made: Sequence[Parts]) -> bool:
    """Whether the hits answer the question; where it asks for an amount, they must have a figure."""
    best, keyword, amount = (
        max((one.score for one in made), default=0.0),
        features.keyword,
        features.values.get("amount"),
    )
    if best < _NONSENSE or (amount is not None and not any(amount[one.first : one.last + 1].any() for one in found)):
        return False
    rare = keyword is not None and any(keyword.worth(one.first, one.last) >= _RARE for one in found)
    return rare or features.only_days or best >= _ANSWERED or max(one.meaning for one in made) >= _NEARLY


def _meaning(vector: float, noise: float, sure: float) -> float:
    """How much of what is sure a cosine is, from 0 to 1."""
    return min(1.0, max(0.0, (vector - noise) / (sure * (1 - noise))))


def _sureness(words: float | None, meaning: float | None, time: float | None, knowledge: float) -> float:
    # Without vectors that mean something the words are all there is to go by.
    trust = 1.0 if meaning is None or words is None else 1 - 0.2 * knowledge
    known = (meaning or 0.0) * (knowledge if words is not None else 1.0)
    doubt = (1 - trust * (words or 0.0)) * (1 - 0.8 * known) * (1 - 0.2 * (time or 0.0))
    return 1 - doubt


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
