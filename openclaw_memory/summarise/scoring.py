"""What a sentence is worth before its company is looked at: points for what it says, whole numbers throughout.

A word that says what a text is about is worth one point, an everyday word a quarter, a courtesy nothing, nor what is
opaque (a redacted secret, a long token); a name, an identifier or a link two more.  These are points of coverage: what
another sentence has said already counts half (:mod:`~openclaw_memory.summarise.choice`).  To them a sentence has
points of its own: for a word that marks something worth keeping, twice in a label such as ``Decision:``; for words of
time; for a task that is done; fewer for asking and for addressing someone.  ``docs/consolidation.md`` says what each is
good for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ..graph.evidence import STRONG
from ..ingest.summary_files import DATED
from ..knowledge.lexicon import ROUTINE
from ..model import Grain
from ..text import analysis
from ..text.machine import OPAQUE
from ..text.negation import negations
from ..text.sentences import MARKS, QUESTION_MARKS
from ..text.speech import substance
from ..text.turns import roles, without_speaker
from . import words
from .sentences import Sentence, line_of, tokens

#: What a point is in the whole numbers that are reckoned with.
POINT = 1000
#: Most points of a marker of which a text says that it is not so, or that it is to be done.
_DENIED = 2

_SENTENCE_END = re.compile(rf"[{MARKS}]+(?=\s|$|[\"'”’)\]*_])|[。！？｡།]+")
_LABEL = re.compile(r"[\W_]*[\w' -]{2,40}[:：](?=[\s*_])")
_REMARK = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sentence with what is reckoned with.

    ``cost`` is the length of its line in tokens; ``covers`` is what it says, each with its points of coverage;
    ``points`` are its own, ``marked`` those of the strongest word that marks it.  ``terms`` are its distinct
    ones, ``exact`` what may not differ between two sentences that say the same.
    """

    sentence: Sentence
    cost: int
    points: int
    marked: int
    covers: tuple[tuple[str | int, int], ...]
    terms: frozenset[str]
    exact: frozenset[str]


class Scorer:
    """Weighs sentences of one period, of which ``speakers`` say some."""

    def __init__(self, speakers: Collection[str] = (), grain: Grain = Grain.DAILY) -> None:
        self._dated = grain in DATED
        # The coarser the grain, the more a summary is one of milestones.
        self._emphasis = 1 if grain is Grain.DAILY else 2
        self._asked = not roles()["person"].isdisjoint(name.lower() for name in speakers)

    def weigh(self, sentence: Sentence) -> Weighed:
        """A sentence with its points."""
        stated = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
        text = OPAQUE.sub(" ", stated)
        every = words.words(text)
        marked = int(words.marker(sentence.text, _DENIED) * POINT)
        if sentence.ahead:
            marked = min(marked, _DENIED * POINT)
        label = _LABEL.match(sentence.text)
        doubled = max(marked, int(2 * words.marker(label[0]) * POINT)) if marked and label is not None else marked
        terms = analysis.query_terms(text) or every
        # What an assistant says to a person it knows and can say again, what it was told it cannot.
        answers = (sentence.speaker or "").lower() in roles()["assistant"] and self._asked
        part = 4 if answers else 1
        return Weighed(
            sentence=sentence,
            cost=tokens(line_of(sentence, self._dated)),
            points=self._emphasis * doubled + _own_points(sentence, text, every) // part,
            marked=marked,
            covers=tuple((what, points // part) for what, points in _covers(sentence, text)),
            terms=frozenset(terms),
            exact=frozenset(term for term in terms if any(map(str.isdecimal, term))) | negations(text),
        )


def _covers(sentence: Sentence, text: str) -> Iterable[tuple[str | int, int]]:
    for term in substance(text):
        yield term, POINT // 4 if term in _everyday() else POINT
    lower = text.casefold()
    for mention in sentence.mentions:
        # A concept of the heading above is not said again by each sentence below it.
        if mention.rule in STRONG and mention.text.casefold() in lower:
            yield mention.key, 2 * POINT


def is_milestone(weighed: Weighed) -> bool:
    """Whether a sentence tells of a turn in events: something released, broken, rejected, won …"""
    return weighed.marked >= 3 * POINT


def is_turn(weighed: Weighed) -> bool:
    """Whether a sentence says outright that something was decided, fixed, shipped, learned or blocked."""
    return weighed.marked >= 4 * POINT


def _own_points(sentence: Sentence, text: str, every: Sequence[str]) -> int:
    """Points other than those of markers."""
    points = 2 * POINT * (analysis.time_words(text) + sentence.done)
    bare = _REMARK.sub(" ", text)
    asked = sum(map(bare.count, QUESTION_MARKS))
    if asked:
        points += -2 * POINT * asked // max(asked, len(_SENTENCE_END.findall(bare)))
    addressed = sum(word in words.role("addresses") for word in every)
    if addressed:
        points += -20 * POINT * addressed // len(every)  # where one word in ten is "you", all of the points are off
    return points


@cache
def _everyday() -> frozenset[str]:
    return frozenset(analysis.stems(sorted(ROUTINE)))
