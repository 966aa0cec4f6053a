"""Which sentences to keep within a budget: those that together say most, and nothing twice.

Budgeted maximisation of a monotone submodular function by cost-scaled greedy choice: H. Lin and J. Bilmes,
Multi-document Summarization via Budgeted Maximization of Submodular Functions, NAACL 2010, with the lazy evaluation
of M. Minoux, Accelerated greedy algorithms for maximizing submodular set functions, 1978.  All in whole numbers, so
that no order of evaluation changes a choice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from heapq import heapify, heappop, heappush

from .scoring import Weighed

#: Two sentences that share so many thousandths of their terms say the same.
_SAME = 800


def distinct(weighed: Sequence[Weighed]) -> list[int]:
    """Places of ``weighed`` without those that say what a better, or as good and earlier, one says.

    Two say the same when they share four fifths of the terms of the one with more of them, and all figures and
    negations, and are said by the same one.
    """
    rarity = Counter(term for one in weighed for term in one.terms)
    by_term: defaultdict[tuple[str | None, frozenset[str], str], list[int]] = defaultdict(list)
    kept: list[int] = []
    for at in sorted(range(len(weighed)), key=lambda at: (-value(weighed[at]), at)):
        one = weighed[at]
        terms = sorted(one.terms, key=lambda term: (rarity[term], term))
        # Two sets that share so much have one of so many of their rarest terms in common.
        rarest = terms[: len(terms) - (_SAME * len(terms) + 999) // 1000 + 1]
        keys = [(one.sentence.speaker, one.exact, term) for term in rarest]
        if any(_same(one, weighed[other]) for key in keys for other in by_term[key]):
            continue
        kept.append(at)
        for key in keys:
            by_term[key].append(at)
    return sorted(kept)


def _same(one: Weighed, other: Weighed) -> bool:
    return len(one.terms & other.terms) * 1000 >= _SAME * max(len(one.terms), len(other.terms))


def value(one: Weighed) -> int:
    """What a sentence is worth alone."""
    return one.points + sum(points for _, points in one.covers)


def select(
    weighed: Sequence[Weighed],
    budget: float,
    groups: Callable[[int], Hashable] | None = None,
    for_groups: float = 0,
) -> list[int]:
    """Places of the sentences to keep, ascending: at most ``budget`` tokens of cost, but at least one sentence.

    With ``groups`` the best of each group comes first, as long as the budget lasts, or the larger one ``for_groups``.
    """
    chosen = _Choice(weighed, max(budget, for_groups))
    if groups is not None:
        best: dict[Hashable, int] = {}
        for at in range(len(weighed)):
            group = groups(at)
            if group not in best or chosen.rank(at) < chosen.rank(best[group]):
                best[group] = at
        for at in sorted(best.values(), key=chosen.rank):
            chosen.take(at)
    chosen.fill(max(budget, for_groups) - budget)
    return sorted(chosen.places)


class _Choice:
    """A growing choice of sentences, and what is covered by it."""

    def __init__(self, weighed: Sequence[Weighed], budget: float) -> None:
        self._weighed = weighed
        self._left = budget
        self._covered: Counter[str | int] = Counter()
        self.places: set[int] = set()

    def rank(self, at: int) -> tuple[int, int]:
        """Smaller is better: by gain a token, then in order."""
        return -self._density(at), at

    def take(self, at: int) -> bool:
        """Add a sentence that is worth it and fits; the first one always does."""
        one = self._weighed[at]
        if self.places and (one.cost > self._left or self._density(at) <= 0):
            return False
        self.places.add(at)
        self._left -= one.cost
        self._covered.update(what for what, _ in one.covers)
        return True

    def fill(self, spare: float) -> None:
        """Add the best of what fits until nothing does, and leave ``spare`` tokens."""
        self._left -= spare
        queue = [self.rank(at) for at in range(len(self._weighed)) if at not in self.places]
        heapify(queue)
        while queue:
            known, at = heappop(queue)
            if self.places and self._weighed[at].cost > self._left:
                continue
            now = self.rank(at)
            # What is worth less than when it was last looked at goes back: others may be worth more now.
            if now[0] > known:
                heappush(queue, now)
            else:
                self.take(at)

    def _density(self, at: int) -> int:
        one = self._weighed[at]
        covered = self._covered
        gain = one.points + sum(points >> covered[what] for what, points in one.covers)
        return (gain << 10) // (one.cost + 10)  # a line costs its reader more than its tokens
