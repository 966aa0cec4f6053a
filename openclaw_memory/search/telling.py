"""Which lines a thread within a budget holds: the best passages whole, other lines that answer, and steps to more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph import thread
from ..graph.network import Network
from ..index.corpus import Corpus
from ..store.api import Bools, Floats
from . import hits

#: What scores less than this share of the way from the worst row to the best one is no part of a thread.
_TOLD = 0.5
#: So many of the best passages are told with what stands around them, for this share of a thread's budget, where they
#: score at least so much: a story is what led to a line and what came of it, and not the line alone.
_DEEP, _DEPTH, _WHOLE = 3, 0.1, 0.85
#: The share of its budget that a thread gives to lines; the rest is for what those that end at a colon open.
_BARE = 0.9


def of_people(corpus: Corpus, order: Floats, allowed: Bools | None) -> Bools | None:
    """``allowed`` (``bool[n]``) without what programs wrote; all of it where a program's line is the best one."""
    machine = corpus.rows.machine
    if machine[int((order if allowed is None else np.where(allowed, order, -np.inf)).argmax())]:
        return allowed
    return ~machine if allowed is None else allowed & ~machine


def within(
    corpus: Corpus,
    order: Floats,
    own: Floats,
    pool: Bools,
    open_to: Bools,
    network: Network,
    steps: Sequence[thread.Stop],
    floor: float,
    budget: float,
) -> tuple[list[hits.Range], set[int]]:
    """Ranges of at most ``budget`` tokens, and the rows of them that answer the question by themselves.

    Rows of ``pool`` are found by ``order``, ``own`` being the same scaled to [0, 1]; passages grow over ``open_to``
    (``bool[n]``), from which ``steps`` were chosen too.  A step comes at most just above what scores ``floor``, and no
    passage grows over its section, as the way there is told with it.
    """
    if not own.any():
        own = np.ones_like(own)  # where nothing is better than anything else, nothing is less than half as good
    reached = [step.arrival.section for step in steps]
    apart = [hits.Range(int(network.first_row[one]), int(network.last_row[one]), -1) for one in reached]
    deep = hits.grown(corpus, order, pool, _DEPTH * budget / _DEEP, _DEEP, hits.without(open_to, apart))
    deep = [one for one in deep if own[one.best] >= _WHOLE]
    left = _BARE * budget - sum(hits.cost(corpus, one.first, one.last) for one in deep)
    rest, unsaid = hits.without(pool, deep), hits.without(open_to, deep)
    steps = [step for step in steps if unsaid[step.row]]
    answering = {one.best for one in hits.spans(corpus, order, rest, left) if own[one.best] >= _TOLD}
    score, wider = thread.lifted(order, rest, steps, floor)
    told = answering | {step.row for step in steps}
    found = [
        one for one in hits.spans(corpus, score, wider & ((own >= _TOLD) | (score != order)), left) if one.best in told
    ]
    return deep + found, answering | {one.best for one in deep}


def filled(
    corpus: Corpus, order: Floats, own: Floats, pool: Bools, found: Sequence[hits.Range], budget: float
) -> tuple[list[hits.Range], set[int]]:
    """``found`` with the next best lines of ``pool`` for what is left of ``budget`` tokens, and the rows of those.

    Arguments as for :func:`within`; what was kept for lists that no line opened goes to lines that answer.
    """
    left = budget - sum(hits.cost(corpus, one.first, one.last) for one in found)
    more = [one for one in hits.spans(corpus, order, hits.without(pool, found), left) if own[one.best] >= _TOLD]
    return hits.joined(corpus, [*found, *more], set(), None, budget), {one.best for one in more}
