"""Shares with their intervals, and whether two settings differ by more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import comb, sqrt

from ..model import EvaluationComparison, EvaluationScores, FoundShares, Share
from ..records import dataclass

#: Rank of an answer that is not among the hits.
NOT_FOUND = 11


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a question: the ``rank`` of its answer, from 1; ``None`` if nothing answers it.

    ``silent`` and ``no_context`` are then what search and context rightly are.
    """

    kind: str
    language: str
    milliseconds: float
    rank: int | None = None
    silent: bool = False
    no_context: bool = False


def share(flags: Sequence[bool]) -> Share:
    """Return the share of true ones, with the score interval of Wilson (1927); 0 to 1 for none."""
    part, whole = sum(flags), len(flags)
    if not whole:
        return Share(0, 0, 0.0, 0.0, 1.0)
    deviations = 1.96  # of an interval of 95 %
    p, z = part / whole, deviations**2 / whole
    middle, half = (p + z / 2) / (1 + z), deviations * sqrt(p * (1 - p) / whole + z / 4 / whole) / (1 + z)
    return Share(part, whole, round(p, 4), round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4))


def sign_test(first: int, second: int) -> float:
    """Return the two-sided probability that ``first`` and ``second`` signs are tosses of a fair coin."""
    tosses = first + second
    return min(1.0, 2 * sum(comb(tosses, k) for k in range(min(first, second) + 1)) / float(2**tosses))


def summarise(outcomes: Sequence[Outcome], model: str | None, mode: str) -> EvaluationScores:
    """Return the scores of all questions, of each kind, and of each language."""
    answerable = [outcome for outcome in outcomes if outcome.rank is not None]
    others = [outcome for outcome in outcomes if outcome.rank is None]
    times = sorted(outcome.milliseconds for outcome in outcomes) or [0.0]

    def by(name: str) -> dict[str, FoundShares]:
        groups: defaultdict[str, list[Outcome]] = defaultdict(list)
        for outcome in answerable:
            groups[getattr(outcome, name)].append(outcome)
        return {group: _found(groups[group]) for group in sorted(groups)}

    return EvaluationScores(
        model=model,
        mode=mode,
        found=_found(answerable),
        silent=share([outcome.silent for outcome in others]),
        no_context=share([outcome.no_context for outcome in others]),
        p50_ms=round(times[len(times) // 2], 1),
        p95_ms=round(times[int(len(times) * 0.95)], 1),
        by_kind=by("kind"),
        by_language=by("language"),
    )


def compare(
    settings: dict[str, object], own: Sequence[Outcome], other: Sequence[Outcome], scores: EvaluationScores
) -> EvaluationComparison:
    """Compare the outcomes of the same questions with own and with other ``settings``, whose ``scores`` are given."""
    ranks = [(a.rank, b.rank) for a, b in zip(own, other, strict=True) if a.rank is not None and b.rank is not None]
    earlier, later = sum(b < a for a, b in ranks), sum(b > a for a, b in ranks)
    p = sign_test(earlier, later)
    return EvaluationComparison(settings, scores, earlier, later, round(p, 6), p < 0.05)


def _found(outcomes: Sequence[Outcome]) -> FoundShares:
    ranks = [outcome.rank or NOT_FOUND for outcome in outcomes]
    return FoundShares(*(share([rank <= most for rank in ranks]) for most in (1, 5, 10)))
