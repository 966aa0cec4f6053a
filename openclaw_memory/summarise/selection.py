"""Selection of sentences: drop noise, routine and repetitions, then keep the best ones within a budget.

Budgeted maximisation of a monotone submodular function by cost-scaled greedy choice: H. Lin and J. Bilmes,
Multi-document Summarization via Budgeted Maximization of Submodular Functions, NAACL 2010, with the lazy evaluation
of M. Minoux, Accelerated greedy algorithms for maximizing submodular set functions, 1978.  All in whole numbers, so
that no order of evaluation changes a choice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from heapq import heapify, heappop, heappush

from .. import patterns as re
from ..text.labels import names_subject
from ..text.machine import OPAQUE, is_machine
from ..text.scripts import UNSPACED
from ..text.speech import subject_terms
from ..text.turns import without_speaker
from .scoring import ScoredSentence, empty_label, marker_points
from .sentences import Sentence

#: Least share of their terms, in thousandths, that two sentences have in common to count as a repetition.
_SAME = 800

_LINK = re.compile(r"https?://\S+|(?<![\w.~+-])[\w.~+-]*+(?:/[\w.+-]+)+", re.ASCII)
_LABEL = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")


def is_noise(sentence: Sentence) -> bool:
    """Return true if a sentence tells a person nothing: machine output, opaque tokens, courtesies, empty labels."""
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    # A line that ends with a colon introduces other sentences.
    if is_machine(text) or text.rstrip("*_ ")[-1:] in (":", "：") or empty_label().match(text):
        return True
    label = _LABEL.match(text)
    if label is None and not names_subject(text):
        return True
    value = text[label.end() :] if label is not None else text
    clear = OPAQUE.sub(" ", value)
    # "Session: 8f14e45f" holds nothing but its token; a figure, a date or a link behind a label does count.
    if clear != value and not _WORD.search(clear):
        return True
    return not _WORD.search(_LINK.sub(" ", text)) or not subject_terms(text)


def drop_noise(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences`` without noise; all of them where they are nothing else."""
    return [sentence for sentence in sentences if not is_noise(sentence)] or list(sentences)


def drop_routine(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences``, which are in order of time, with the latest alone of each routine statement.

    Routine is a statement that recurs on three days, or with three times of day, but for its figures.  Decisions, by
    the points of their marker, are always kept.
    """
    times = defaultdict(set)
    last: dict[tuple[str | None, str], int] = {}
    keys = [(sentence.speaker, _FIGURES.sub("0", sentence.text.casefold())) for sentence in sentences]
    for at, (sentence, key) in enumerate(zip(sentences, keys, strict=True)):
        times[key].add((sentence.day, *_CLOCK.findall(sentence.text)))
        last[key] = at
    return [
        sentence
        for at, (sentence, key) in enumerate(zip(sentences, keys, strict=True))
        if len(times[key]) < 3 or last[key] == at or marker_points(sentence.text) >= 4
    ]


def drop_repetitions(scored: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """Return ``scored``, in order, without those that repeat a better, or as good and earlier, one.

    Two repeat each other when one speaker says both, they share four fifths of the terms of the one with more of
    them, and all figures and negations.
    """
    rarity = Counter(term for candidate in scored for term in candidate.terms)
    kept_by_term: defaultdict[tuple[str | None, frozenset[str], str], list[ScoredSentence]] = defaultdict(list)
    kept: list[int] = []
    for at in sorted(range(len(scored)), key=lambda at: (-scored[at].value, at)):
        candidate = scored[at]
        terms = sorted(candidate.terms, key=lambda term: (rarity[term], term))
        # Two sets that share so much have one of so many of their rarest terms in common.
        rarest = terms[: len(terms) - (_SAME * len(terms) + 999) // 1000 + 1]
        keys = [(candidate.sentence.speaker, candidate.exact, term) for term in rarest]
        if any(_repeats(candidate, other) for key in keys for other in kept_by_term[key]):
            continue
        kept.append(at)
        for key in keys:
            kept_by_term[key].append(candidate)
    return [scored[at] for at in sorted(kept)]


def _repeats(candidate: ScoredSentence, other: ScoredSentence) -> bool:
    shared = len(candidate.terms & other.terms)
    return shared * 1000 >= _SAME * max(len(candidate.terms), len(other.terms))


def select(
    scored: Sequence[ScoredSentence],
    budget: float,
    group: Callable[[ScoredSentence], Hashable] | None = None,
    group_budget: float = 0,
) -> list[ScoredSentence]:
    """Return the sentences to keep, in order: at most ``budget`` tokens of cost, but at least one sentence.

    With ``group`` the best of each group comes first, within ``budget`` or the larger ``group_budget``.
    """
    left = max(budget, group_budget)
    covered: Counter[str | int] = Counter()
    chosen: set[int] = set()

    def rank(at: int) -> tuple[int, int]:
        """Return the sort key of a sentence: gain per token, best first, then order."""
        candidate = scored[at]
        gain = candidate.points + sum(points >> covered[item] for item, points in candidate.covers)
        return -((gain << 10) // (candidate.cost + 10)), at  # a line costs its reader more than its tokens

    def take(at: int) -> None:
        """Add a sentence that gains something and fits; the first one always does."""
        nonlocal left
        if not chosen or (scored[at].cost <= left and rank(at)[0] < 0):
            chosen.add(at)
            left -= scored[at].cost
            covered.update(item for item, _ in scored[at].covers)

    if group is not None:
        best: dict[Hashable, int] = {}
        for at, candidate in enumerate(scored):
            key = group(candidate)
            best[key] = min(at, best.get(key, at), key=rank)
        for at in sorted(best.values(), key=rank):
            take(at)
        left -= max(budget, group_budget) - budget
    queue = [rank(at) for at in range(len(scored)) if at not in chosen]
    heapify(queue)
    while queue:
        density, at = heappop(queue)
        if chosen and scored[at].cost > left:
            continue
        # A sentence that has lost value since it was queued goes back: another may be better now.
        if (now := rank(at))[0] > density:
            heappush(queue, now)
        else:
            take(at)
    return [scored[at] for at in sorted(chosen)]
