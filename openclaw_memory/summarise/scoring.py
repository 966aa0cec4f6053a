"""Score the sentences of a period by points for their words, and select the best ones within a budget.

A word that carries the subject is worth the more the more days it fills, unless it comes every day: see
:class:`DayWeights`.  An everyday word is worth a quarter; a courtesy or an opaque token (a redacted secret, a hash)
nothing, and a name, an identifier or a link three times as much.  These are points of coverage: a word that a chosen
sentence has already counts half.  A sentence has points of its own besides: for words of time, a label (``Cause:``)
and a mark of what is done; fewer for a question and for addressing someone.  ``docs/consolidation.md`` explains each.

Selection is budgeted maximisation of a monotone submodular function by cost-scaled greedy choice: H. Lin and J. Bilmes,
Multi-document Summarization via Budgeted Maximization of Submodular Functions, NAACL 2010, with the lazy evaluation
of M. Minoux, Accelerated greedy algorithms for maximizing submodular set functions, 1978.  All in whole numbers, so
that no order of evaluation changes a choice.

The words of ``phrases.txt`` are data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush

from .. import patterns as re
from ..graph.evidence import STRONG
from ..ingest.summary_files import DATED
from ..knowledge.lexicon import ROUTINE
from ..model import Grain
from ..records import NamedTuple
from ..text import analysis, language, word_lists
from ..text.labels import names_subject
from ..text.machine import OPAQUE, is_machine
from ..text.negation import negations
from ..text.scripts import UNSPACED, UNSPACED_LETTER
from ..text.sentences import MARKS, QUESTION_MARKS
from ..text.speech import subject_terms
from ..text.turns import roles, without_speaker
from .sentences import Sentence, format_line, heading_subject, line_tokens

#: A point in the whole numbers of scores.
POINT = 1000

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_FIGURES = re.compile(r"(?a)\b[a-zA-Z_]*\d\w*")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")
#: Signs by which people mark what is done.
_DONE = re.compile("[✅☑✔✓🎉]")
#: A label, which may be long and of any characters, behind which a value stands.
_KEY = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
#: A run of katakana or Han characters, long enough to be a name.
_RUN = re.compile("[\u30a1-\u30fa\u30fc]{3,}|[\u4e00-\u9fff]{3,}")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")


class ScoredSentence(NamedTuple):
    """A sentence with its scores.

    ``cost`` is the length of its line in tokens, ``covers`` its terms and concepts with their points of coverage.
    ``points`` are its own.  ``subject`` is the term of its heading, or without one of its text, that tells most of the
    period; ``None`` where none comes on several days.  ``terms`` are its distinct ones, ``exact`` the figures and
    negations that two sentences of the same meaning share.
    """

    sentence: Sentence
    cost: int
    points: int
    covers: tuple[tuple[str | int, int], ...]
    subject: str | None
    terms: frozenset[str]
    exact: frozenset[str]

    @property
    def value(self) -> int:
        """All points that the sentence has when it stands alone."""
        return self.points + sum(points for _, points in self.covers)


class DayWeights:
    """Points of the terms and concepts of a period by the number of its days that they fill.

    What fills ``d`` of ``n`` days, which count as seven at least, has ``d * ((n + 1 - d) / n) ** 2`` points: one where
    it comes on one day, most on a third of all, and next to none where it comes every day.
    """

    def __init__(self, sentences: Sequence[Sentence], of_subjects: bool = False) -> None:
        self._days: defaultdict[str | int, set[date]] = defaultdict(set)
        for sentence in sentences:
            text = _stated_text(sentence)
            items: tuple[str | int, ...]
            if not of_subjects:
                items = (*subject_terms(text), *_names(sentence))
            else:  # lines below a heading are about what it names, and routine is about nothing new
                items = () if sentence.count > 1 or heading_subject(sentence.heading) else subject_words(text)
            for item in items:
                self._days[item].add(sentence.day)
        self._all = max(7, len({sentence.day for sentence in sentences}))

    def days(self, item: str | int) -> int:
        """Return the number of days that a term or concept fills."""
        return len(self._days[item])

    def points(self, item: str | int) -> int:
        """Return the points of a term or concept; an everyday word has a quarter."""
        days = len(self._days[item])
        points = POINT * days * (self._all + 1 - days) ** 2 // self._all**2
        return points // 4 if item in _everyday_terms() else points


def score_sentences(sentences: Sequence[Sentence], grain: Grain) -> tuple[list[ScoredSentence], DayWeights]:
    """Score the sentences of one period for a summary of ``grain``; return the weights of its subjects too."""
    speakers = {(sentence.speaker or "").lower() for sentence in sentences}
    # An assistant can repeat its own answers, but not what a person told it.
    repeatable = set() if roles()["person"].isdisjoint(speakers) else roles()["assistant"]
    weights = DayWeights(sentences)
    subjects = DayWeights(sentences, of_subjects=True)
    return [
        _score(sentence, grain, weights, subjects, (sentence.speaker or "").lower() in repeatable)
        for sentence in sentences
    ], subjects


def _score(
    sentence: Sentence, grain: Grain, weights: DayWeights, subjects: DayWeights, is_answer: bool
) -> ScoredSentence:
    text = _stated_text(sentence)
    words = split_words(text)
    share = 4 if is_answer else 1
    own = subject_terms(text)
    covers: dict[str | int, int] = {term: weights.points(term) // share for term in own}
    least = 1 if grain is Grain.DAILY else 2  # a coarser summary is not about a name of one day
    covers |= {name: 2 * weights.points(name) // share for name in _names(sentence) if weights.days(name) >= least}
    shared = [
        word
        for word in subject_words(heading_subject(sentence.heading) or text)
        if sentence.count == 1 and subjects.days(word) > 1 and word not in _everyday_terms() and names_subject(word)
    ]
    terms = analysis.query_terms(text) or words
    return ScoredSentence(
        sentence=sentence,
        cost=line_tokens(format_line(sentence, grain in DATED)),
        points=_style_points(sentence, text, words) // share,
        covers=tuple(covers.items()),
        subject=max(shared, key=lambda word: (subjects.days(word), word), default=None),
        terms=frozenset(terms),
        exact=frozenset(term for term in terms if any(map(str.isdecimal, term))) | negations(text),
    )


def _stated_text(sentence: Sentence) -> str:
    """Return the text of a sentence without its speaker and without opaque tokens."""
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    return OPAQUE.sub(" ", text)


@lru_cache(maxsize=8192)
def subject_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that may name its subject; of scripts without spaces, runs of one kind of letters."""
    terms = (term for term in subject_terms(text) if not UNSPACED_LETTER.search(term))
    return (*terms, *dict.fromkeys(_RUN.findall(text)))


def _names(sentence: Sentence) -> list[int]:
    """Return the names in a sentence; what the heading above it names is not repeated by each sentence below it."""
    lower = sentence.text.casefold()
    return [mention.key for mention in sentence.mentions if mention.rule in STRONG and mention.text.casefold() in lower]


def _style_points(sentence: Sentence, text: str, words: Sequence[str]) -> int:
    """Return the points for time words, labels, marks of what is done, questions and forms of address."""
    is_done = sentence.done or _DONE.search(f"{sentence.heading} {text}") is not None
    points = 2 * POINT * (analysis.time_words(text) + is_done + (_KEY.match(text) is not None))
    bare = re.sub(r"\[[^\[\]]*\]", " ", text)  # without bracketed remarks
    questions = sum(map(bare.count, QUESTION_MARKS))
    if questions:
        ends = re.findall(rf"[{MARKS}]+(?=\s|$|[\"'”’)\]*_])|[。！？｡།]+", bare)
        points += -2 * POINT * questions // max(questions, len(ends))
    addresses = sum(word in phrase_words("addresses") for word in words)
    if addresses:
        points += -20 * POINT * addresses // len(words)  # one "you" in ten words takes two points off
    return points


@cache
def _everyday_terms() -> frozenset[str]:
    return frozenset(language.stems(sorted(ROUTINE)))


def split_words(text: str) -> list[str]:
    """Split a text into its words in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


@re.built
def empty_label() -> str:
    """Return the pattern of a label without content: ``Blockers: none right now``, ``Source: …``, ``**Tags:** …``."""
    nothing, yet, filed = (_alternatives(phrase_words(name)).pattern for name in ("nothing", "yet", "metadata"))
    return (
        rf"(?i)[\W_]*(?:(?:{filed})[\s*_]*[:：]"
        rf"|[\w -]{{2,24}}[:：][*_\s]*(?:{nothing}|-+)(?:\s+(?:{yet}))*\s*(?:[.,;!(。，]|$))"
    )


@cache
def phrase_words(role: str) -> frozenset[str]:
    """Read the words of a role in ``phrases.txt``, of all languages: ``addresses`` are forms of address."""
    lines = word_lists.lines_of(__package__, "phrases.txt")
    return frozenset(
        word for title, line in lines if title == role for word in line.casefold().partition(":")[2].split()
    )


def _alternatives(phrases: set[str] | frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))))


# -- selection ------------------------------------------------------------------------------------


def is_noise(sentence: Sentence) -> bool:
    """Return true if a sentence tells a person nothing: machine output, opaque tokens, courtesies, empty labels."""
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    # A line that ends with a colon introduces other sentences.
    if is_machine(text) or text.rstrip("*_ ")[-1:] in (":", "：") or empty_label.match(text):
        return True
    label = _KEY.match(text)
    if label is None and not names_subject(text):
        return True
    value = text[label.end() :] if label is not None else text
    clear = OPAQUE.sub(" ", value)
    # "Session: 8f14e45f" holds nothing but its token; a figure, a date or a link behind a label does count.
    if clear != value and not _WORD.search(clear):
        return True
    without_links = re.sub(r"(?a)https?://\S+|(?<![\w.~+-])[\w.~+-]*+(?:/[\w.+-]+)+", " ", text)
    return not _WORD.search(without_links) or not subject_terms(text)


def drop_noise(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences`` without noise; all of them where they are nothing else."""
    return [sentence for sentence in sentences if not is_noise(sentence)] or list(sentences)


def drop_routine(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences``, which are in order of time, with the latest alone of each routine statement, and its count.

    Routine is a statement that recurs on three days, or with three times of day, with other figures or in other words:
    each of its words comes on as many occasions, and it shares half of them with the statement as it was last.
    """
    terms = [frozenset(subject_terms(_FIGURES.sub(" ", _stated_text(sentence)))) for sentence in sentences]
    occasions = [{(sentence.day, *_TIME.findall(sentence.text))} for sentence in sentences]
    seen: defaultdict[str, set[tuple[object, ...]]] = defaultdict(set)
    for own, occasion in zip(terms, occasions, strict=True):
        for term in own:
            seen[term] |= occasion
    by_term: defaultdict[tuple[str | None, str], list[int]] = defaultdict(list)
    members: dict[int, list[int]] = {}
    for at in reversed(range(len(sentences))):
        own, speaker = terms[at], sentences[at].speaker
        if not own or (sentences[at].count == 1 and min(len(seen[term]) for term in own) < 3):
            continue
        others = (other for term in sorted(own) for other in by_term[speaker, term])
        last = next((o for o in others if 2 * len(own & terms[o]) >= max(len(own), len(terms[o]))), None)
        if last is not None:
            members[last].append(at)
            continue
        members[at] = [at]
        for term in own:
            by_term[speaker, term].append(at)
    counts: dict[int, int] = {}
    for last, places in members.items():
        count = sum(sentences[at].count for at in places)
        if len(set().union(*(occasions[at] for at in places))) >= 3 or count > len(places):
            counts |= dict.fromkeys(places, 0) | {last: count}
    return [
        replace(sentence, count=counts[at]) if at in counts else sentence
        for at, sentence in enumerate(sentences)
        if counts.get(at, 1)
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
        terms = candidate.terms
        # Two sets that share so much have one of so many of their rarest terms in common.
        rarest = sorted(terms, key=lambda term: (rarity[term], term))[: len(terms) - (4 * len(terms) + 4) // 5 + 1]
        keys = [(candidate.sentence.speaker, candidate.exact, term) for term in rarest]
        others = (other for key in keys for other in kept_by_term[key])
        if any(5 * len(terms & other.terms) >= 4 * max(len(terms), len(other.terms)) for other in others):
            continue
        kept.append(at)
        for key in keys:
            kept_by_term[key].append(candidate)
    return [scored[at] for at in sorted(kept)]


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
