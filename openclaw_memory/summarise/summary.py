"""A summary of a period: the sentences that together say most about it, under the headings of its grain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ..ingest.summary_files import DATED
from ..model import Grain
from . import themes
from .centrality import centrality
from .choice import distinct, select, without_routine
from .scoring import POINT, Scorer, Weighed
from .sentences import Sentence, line_of, tokens
from .themes import Part

#: Most tokens of a summary's sentences, with their citations, by grain.
BUDGETS: Mapping[Grain, float] = MappingProxyType(
    {Grain.DAILY: 300, Grain.WEEKLY: 800, Grain.MONTHLY: 1500, Grain.QUARTERLY: 2000, Grain.YEARLY: 3000}
)
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


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a summary may be and what counts.

    ``budget`` is in tokens; ``share`` of the sources' tokens it never exceeds, but it has at least one sentence.
    ``markers`` are changes to :data:`~openclaw_memory.summarise.scoring.MARKERS`; from ``near_duplicate`` on, as a
    share of their words, two sentences say the same.
    """

    budget: float
    share: float = 0.8
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


def summarise(sentences: Sequence[Sentence], grain: Grain, rules: Rules) -> Summary:
    """The summary of a period from the ``sentences`` of its sources, in whatever order they are given.

    The same for the same sentences, settings and grain on every machine.  Only grains of summaries have one.
    """
    given = without_routine(sorted(sentences, key=lambda one: (one.day, one.order)))
    chosen = _chosen(given, grain, rules)
    if grain is Grain.DAILY:
        parts = themes.of_day(chosen, _THEMES[grain])
    elif grain is Grain.WEEKLY:
        parts = themes.of_week(chosen)
    else:
        parts = themes.of_months(chosen, _THEMES[grain])
    return Summary(tuple(parts), sum(part.concept is not None for part in parts))


def _chosen(given: Sequence[Sentence], grain: Grain, rules: Rules) -> list[Weighed]:
    speakers = {sentence.speaker for sentence in given if sentence.speaker}
    scorer = Scorer(rules.markers, _EMPHASIS[grain], speakers, grain in DATED)
    weighed = [scorer.weigh(sentence) for sentence in given]
    weighed = [weighed[at] for at in distinct(weighed, rules.near_duplicate)]
    if not weighed:
        return []
    degrees = centrality([one.words for one in weighed])
    most = max(1, *degrees)
    weighed = [one.worth(_CENTRAL * degree // most) for one, degree in zip(weighed, degrees, strict=True)]
    # A note has no citations; a finer summary has.
    sources = sum(tokens(one.text if grain is Grain.DAILY else line_of(one, False)) for one in given)
    by_day = grain is Grain.WEEKLY
    places = select(
        weighed, min(rules.budget, rules.share * sources), (lambda at: weighed[at].sentence.day) if by_day else None
    )
    return [weighed[at] for at in places]
