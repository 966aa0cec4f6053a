"""What a sentence is worth before its company is looked at: points for what it says, whole numbers throughout.

A word that says what a text is about is worth one point, an everyday word a quarter, a courtesy nothing, nor what is
opaque (a redacted secret, a long token); a name, an identifier or a link two more.  These are points of coverage: what
another sentence has said already counts half (:mod:`~openclaw_memory.summarise.choice`).  To them a sentence has
points of its own: for words that mark something worth keeping, for words of time and figures; fewer for asking, for
addressing someone, for a table's row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from ..graph.evidence import STRONG
from ..knowledge.routine import ROUTINE
from ..text import analysis
from ..text.machine import OPAQUE
from ..text.negation import negations
from ..text.sentences import MARKS, QUESTION_MARKS
from ..text.speech import substance
from ..text.turns import roles, without_speaker
from . import words
from .noise import COUNT
from .sentences import Sentence, line_of, tokens

#: What a point is in the whole numbers that are reckoned with.
POINT = 1000
_WORD, _EVERYDAY, _NAME = POINT, POINT // 4, 2 * POINT

#: Points of a sentence for its strongest word of these; ``consolidate.markers`` changes them.
MARKERS: Mapping[str, float] = MappingProxyType(words.markers())
#: From so many points on a marker tells of a turn in events, and of one that is told at once.
_MILESTONE, _TURN = 3 * POINT, 4 * POINT
#: Most points of a word of which a text says that it is not so.
_DENIED = 2 * POINT
_DONE = 2 * POINT
_TIME = 2 * POINT
_FIGURE = POINT
_ASKS = -2 * POINT
_ADDRESSES = -2 * POINT
#: One word in this many is "you": all of the points off.
_ADDRESSED = 10
#: A sentence that leans on the one before it, or on the head of its table, says less alone.
_LEANS = -POINT
_ROW = -2 * POINT
#: Below this many things said, each one missing.
_LEAST_SAID, _BRIEF = 5, -POINT // 2
#: Of the points of what an assistant answers a person, one in this many counts.
_ANSWER = 4

_FIGURES = re.compile(r"\d")
_SENTENCE_END = re.compile(rf"[{MARKS}]+(?=\s|$|[\"'”’)\]*_])|[。！？｡।]+")
_REMARK = re.compile(r"\[[^\[\]]*\]")
_LABEL = re.compile(r"[\W_]*[\w' -]{2,40}[:：](?=[\s*_])")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sentence with what is reckoned with.

    ``cost`` is the length of its line in tokens; ``covers`` is what it says, each with its points of coverage;
    ``points`` are its own, ``marked`` those of the strongest word that marks it.  ``words`` and ``terms`` are its
    distinct ones, ``exact`` what may not differ between two sentences that say the same.
    """

    sentence: Sentence
    cost: int
    points: int
    marked: int
    covers: tuple[tuple[str | int, int], ...]
    words: frozenset[str]
    terms: frozenset[str]
    exact: frozenset[str]

    def worth(self, points: int) -> Weighed:
        """The same with so many points more of its own."""
        return replace(self, points=self.points + points)


class Speakers:
    """The names of those who speak, and what they are called for short: the beginning of a name is one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(sorted({name.casefold() for name in names}))

    def __contains__(self, name: str) -> bool:
        return any(known.startswith(name.casefold()) for known in self._names)


class Scorer:
    """Weighs sentences of one period.

    ``markers`` are changes to :data:`MARKERS`, words or phrases with their points; ``emphasis`` is how many times
    these points count.  ``speakers`` are named by every turn, so their names say nothing.  With ``dated`` a
    sentence's line is to begin with its day.
    """

    def __init__(self, markers: Mapping[str, float], emphasis: int, speakers: Collection[str], dated: bool) -> None:
        points = {**MARKERS, **{" ".join(word.casefold().split()): value for word, value in markers.items()}}
        self._points = {word: round(value * POINT) for word, value in points.items()}
        self._markers = words.Points(self._points)
        self._emphasis = emphasis
        self._dated = dated
        self._speakers = Speakers(speakers)
        self._asked = not roles()["person"].isdisjoint(name.lower() for name in speakers)
        self._silent = frozenset(term for name in sorted(set(speakers)) for term in analysis.terms(name))

    def weigh(self, sentence: Sentence) -> Weighed:
        """A sentence with its points."""
        said = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
        text = OPAQUE.sub(" ", said)
        said_words = words.words(text)
        marked, marks = self._marked(sentence)
        terms = analysis.query_terms(text) or said_words
        covers = tuple(self._covers(sentence, text))
        part = _ANSWER if self._answers(sentence) else 1
        return Weighed(
            sentence=sentence,
            cost=tokens(line_of(sentence, self._dated)),
            points=self._emphasis * marks + (_own_points(sentence, text, said_words) + _brief(len(covers))) // part,
            marked=marked,
            covers=tuple((what, points // part) for what, points in covers),
            words=frozenset(said_words),
            terms=frozenset(terms),
            exact=frozenset(term for term in terms if _FIGURES.search(term)) | negations(text),
        )

    def _answers(self, sentence: Sentence) -> bool:
        """Whether an assistant says this to a person: what it knows it can say again, what it was told it cannot."""
        return (sentence.speaker or "").lower() in roles()["assistant"] and self._asked

    def _marked(self, sentence: Sentence) -> tuple[int, int]:
        """Points of the strongest marker, and of all: one in a label such as ``Decision:`` counts twice."""
        text = sentence.text
        if words.says_nothing().match(text):
            return 0, 0
        found = self._markers.of(text, _DENIED)
        label = _LABEL.match(text)
        # "Finished projects: 93" and "Completed: 09:07" tell how many and when, and of no turn.
        titled = self._markers.of(label[0], _DENIED) if label is not None and found else []
        ahead = sentence.ahead or words.is_labelled_ahead(text)
        if COUNT.fullmatch(text) or (ahead and max([0, *titled]) <= _DENIED):
            found = [min(points, _DENIED) for points in found]
        best = max([0, *found])
        doubled = max([best, *(2 * points for points in titled)]) if best else 0
        return best, doubled + sum(points for points in found if points < 0)

    def _covers(self, sentence: Sentence, text: str) -> Iterable[tuple[str | int, int]]:
        everyday = _everyday()
        for term in substance(text):
            if term not in self._silent:
                yield term, _EVERYDAY if term in everyday else _WORD
        lower = text.casefold()
        for mention in sentence.mentions:
            # A concept of the heading above is not said again by each sentence below it.
            if mention.rule in STRONG and mention.text.casefold() in lower and mention.text not in self._speakers:
                yield mention.key, _NAME


def is_milestone(weighed: Weighed) -> bool:
    """Whether a sentence tells of a turn in events: something released, broken, rejected, won …"""
    return weighed.marked >= _MILESTONE


def is_turn(weighed: Weighed) -> bool:
    """Whether a sentence says outright that something was decided, fixed, shipped, learned or blocked."""
    return weighed.marked >= _TURN


def _own_points(sentence: Sentence, text: str, said: Sequence[str]) -> int:
    """Points other than those of markers."""
    points = _TIME * analysis.time_words(text)
    if _FIGURES.search(text):
        points += _FIGURE
    if sentence.done:
        points += _DONE
    bare = _REMARK.sub(" ", text)
    asked = sum(map(bare.count, QUESTION_MARKS))
    if asked:
        points += _ASKS * asked // max(asked, len(_SENTENCE_END.findall(bare)))
    addressed = sum(word in words.phrases("addresses") for word in said)
    if addressed:
        points += _ADDRESSES * _ADDRESSED * addressed // len(said)
    if said and said[0] in words.phrases("leans"):
        points += _LEANS
    if " | " in text:
        points += _ROW
    return points


def _brief(said: int) -> int:
    """Points off for a sentence that says fewer than so many things."""
    return _BRIEF * max(0, _LEAST_SAID - said)


@cache
def _everyday() -> frozenset[str]:
    return frozenset(analysis.stems(sorted(ROUTINE)))
