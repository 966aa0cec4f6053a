"""A summary of a period: the sentences that together say most about it, under the headings of its grain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..model import Grain
from . import noise, themes
from .choice import distinct, select
from .scoring import Scorer, Weighed
from .sentences import Sentence, line_of, tokens
from .themes import Part

#: Tokens of a summary's sentences, with their citations, by grain; with much to say it may have more.
BUDGETS: Mapping[Grain, float] = MappingProxyType(
    {Grain.DAILY: 300, Grain.WEEKLY: 800, Grain.MONTHLY: 1500, Grain.QUARTERLY: 2000, Grain.YEARLY: 3000}
)
#: Grows when summaries of the same sentences change, so that those of earlier versions are made again.
VERSION = 11

#: Most concepts whose entries are merged in one summary, by grain.
_THEMES: Mapping[Grain, int] = MappingProxyType(
    {Grain.DAILY: 3, Grain.MONTHLY: 6, Grain.QUARTERLY: 8, Grain.YEARLY: 10}
)


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a summary may be.

    ``budget`` is in tokens, and three times as much where the sources are long and it ``grows``; ``share`` of the
    sources' tokens it never exceeds, but it has at least one sentence.
    """

    budget: float
    share: float = 0.8
    grows: bool = False


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
    ordered = sorted(sentences, key=lambda one: (one.day, one.order))
    chosen = _chosen(noise.once(noise.telling(ordered)), grain, rules)
    if grain is Grain.DAILY:
        parts = themes.of_day(chosen, _THEMES[grain])
    elif grain is Grain.WEEKLY:
        parts = themes.of_week(chosen)
    else:
        parts = themes.of_months(chosen, _THEMES[grain])
    return Summary(tuple(parts), sum(part.concept is not None for part in parts))


def _chosen(given: Sequence[Sentence], grain: Grain, rules: Rules) -> list[Weighed]:
    scorer = Scorer({sentence.speaker for sentence in given if sentence.speaker}, grain)
    weighed = [scorer.weigh(sentence) for sentence in given]
    weighed = [weighed[at] for at in distinct(weighed)]
    if not weighed:
        return []
    # A note has no citations; a finer summary has.
    sources = sum(tokens(one.text if grain is Grain.DAILY else line_of(one, False)) for one in given)
    budget = max(rules.budget, min(3 * rules.budget, 0.2 * sources)) if rules.grows else rules.budget
    by_day = grain is Grain.WEEKLY
    days = (lambda at: weighed[at].sentence.day) if by_day else None
    # Each day of a week of few words has its line.
    for_days = sources if by_day and sources <= BUDGETS[grain] / 4 else 0
    places = select(weighed, min(budget, rules.share * sources), days, min(budget, for_days))
    return [weighed[at] for at in places]
