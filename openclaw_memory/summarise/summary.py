"""A summary of a period: the sentences that together say most about it, under the headings of its grain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..ingest.summary_files import DATED
from ..model import Grain
from . import changes, noise, themes
from .centrality import centrality
from .choice import distinct, select
from .scoring import POINT, Scorer, Weighed
from .sentences import Sentence, line_of, tokens
from .themes import Part

#: Tokens of a summary's sentences, with their citations, by grain; with much to say it may have more.
BUDGETS: Mapping[Grain, float] = MappingProxyType(
    {Grain.DAILY: 300, Grain.WEEKLY: 800, Grain.MONTHLY: 1500, Grain.QUARTERLY: 2000, Grain.YEARLY: 3000}
)
#: Grows when summaries of the same sentences change, so that those of earlier versions are made again.
VERSION = 8

#: How many times the budget of a grain a summary may have where its sources say much, and of how much of them.
_GROWTH, _GROWTH_SHARE = 3, 0.2

#: Most concepts whose entries are merged in one summary, by grain.
_THEMES: Mapping[Grain, int] = MappingProxyType(
    {Grain.DAILY: 3, Grain.MONTHLY: 6, Grain.QUARTERLY: 8, Grain.YEARLY: 10}
)
#: How many times markers count: the coarser the grain, the more a summary is one of milestones.
_EMPHASIS: Mapping[Grain, int] = MappingProxyType(
    {Grain.DAILY: 1, Grain.WEEKLY: 2, Grain.MONTHLY: 2, Grain.QUARTERLY: 2, Grain.YEARLY: 2}
)
#: Points of the sentence that has most in common with the others.
_CENTRAL = 2 * POINT
#: Points of a state that the period began or ended with, where the two differ.
_CHANGED = 20 * POINT
#: Grains whose summaries say what changed.
TELLING_CHANGES = (Grain.MONTHLY, Grain.QUARTERLY, Grain.YEARLY)


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a summary may be and what counts.

    ``budget`` is in tokens, and three times as much where the sources are long and it ``grows``; ``share`` of the
    sources' tokens it never exceeds, but it has at least one sentence.
    ``markers`` are changes to :data:`~openclaw_memory.summarise.scoring.MARKERS`; from ``near_duplicate`` on, as a
    share of their words, two sentences say the same.
    """

    budget: float
    share: float = 0.8
    grows: bool = False
    markers: Mapping[str, float] = field(default_factory=dict)
    near_duplicate: float = 0.8


@dataclass(frozen=True, slots=True)
class Summary:
    """The parts of a summary in order; ``groups`` counts the concepts whose entries were merged."""

    parts: tuple[Part, ...]
    groups: int = 0

    def sentences(self) -> list[Sentence]:
        """All sentences, in the order of the summary."""
        return [sentence for part in self.parts for sentence in part.sentences]


def summarise(
    sentences: Sequence[Sentence], grain: Grain, rules: Rules, noted: Sequence[Sentence] | None = None
) -> Summary:
    """The summary of a period from the ``sentences`` of its sources, in whatever order they are given.

    ``noted`` are those of all notes of the period, which say what changed in it, and what is done and to be done of
    what ``sentences`` tell again; without them ``sentences`` do.

    The same for the same sentences, settings and grain on every machine.  Only grains of summaries have one.
    """
    given = noise.said(sorted(sentences, key=lambda one: (one.day, one.order)))
    changed: dict[int, int] = {}
    if grain in TELLING_CHANGES:
        if noted is None:
            pairs = changes.of(given)
        else:
            given = _as_noted(given, noted)
            pairs = changes.of(sorted(noted, key=lambda one: (one.day, one.order)), telling(noted))
        given, changed = _with(given, pairs)
    given = noise.once(given, changed)
    chosen = _chosen(given, changed, grain, rules)
    if grain is Grain.DAILY:
        parts = themes.of_day(chosen, _THEMES[grain])
    elif grain is Grain.WEEKLY:
        parts = themes.of_week(chosen)
    else:
        parts = themes.of_months(chosen, _THEMES[grain], changed)
    return Summary(tuple(parts), sum(part.concept is not None for part in parts))


def telling(noted: Sequence[Sentence]) -> Callable[[Sentence], bool]:
    """Whether a sentence of the notes says something, as what states a fact does, however short it is.

    Where none of those without a fact does, all of them count, as in :func:`~openclaw_memory.summarise.noise.said`.
    """
    some = any(not noise.is_noise(one) for one in noted if not one.facts)
    return lambda one: bool(one.facts) or not (some and noise.is_noise(one))


def _as_noted(given: Sequence[Sentence], noted: Sequence[Sentence]) -> list[Sentence]:
    """``given``, done or to be done as they are in their notes: summaries do not say that."""
    known = {(one.path, one.start_line): one for one in noted}
    return [
        replace(one, done=note.done, ahead=note.ahead) if (note := known.get((one.path, one.start_line))) else one
        for one in given
    ]


def _with(
    given: Sequence[Sentence], pairs: Sequence[tuple[Sentence, Sentence]]
) -> tuple[list[Sentence], dict[int, int]]:
    """``given`` with the sentences of ``pairs`` once, and the numbers of their pairs by their order."""
    states: dict[tuple[str, int, str], tuple[int, Sentence]] = {}
    for number, pair in enumerate(pairs):
        for one in pair:
            states.setdefault((one.path, one.start_line, one.text), (number, one))
    places = {place[:2] for place in states}
    texts = {one.text for _, one in states.values()}
    rest = [one for one in given if (one.path, one.start_line) not in places or not _part_of(one.text, texts)]
    first = max((one.order for one in given), default=-1) + 1
    added = [(number, replace(one, order=first + at)) for at, (number, one) in enumerate(states.values())]
    every = sorted([*rest, *(one for _, one in added)], key=lambda one: (one.day, one.order))
    return every, {one.order: number for number, one in added}


def _part_of(text: str, texts: Collection[str]) -> bool:
    return any(said.endswith(text) for said in texts)


def _chosen(given: Sequence[Sentence], changed: Collection[int], grain: Grain, rules: Rules) -> list[Weighed]:
    speakers = {sentence.speaker for sentence in given if sentence.speaker}
    scorer = Scorer(rules.markers, _EMPHASIS[grain], speakers, grain in DATED)
    weighed = [scorer.weigh(sentence) for sentence in given]
    different = set(distinct(weighed, rules.near_duplicate))
    weighed = [one for at, one in enumerate(weighed) if at in different or one.sentence.order in changed]
    if not weighed:
        return []
    degrees = centrality([one.words for one in weighed])
    most = max(1, *degrees)
    weighed = [
        one.worth(_CENTRAL * degree // most + _CHANGED * (one.sentence.order in changed))
        for one, degree in zip(weighed, degrees, strict=True)
    ]
    # A note has no citations; a finer summary has.
    sources = sum(tokens(one.text if grain is Grain.DAILY else line_of(one, False)) for one in given)
    budget = max(rules.budget, min(_GROWTH * rules.budget, _GROWTH_SHARE * sources)) if rules.grows else rules.budget
    by_day = grain is Grain.WEEKLY
    places = select(
        weighed, min(budget, rules.share * sources), (lambda at: weighed[at].sentence.day) if by_day else None
    )
    return [weighed[at] for at in places]
