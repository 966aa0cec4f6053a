"""Score the sentences of a period by points for their words, and select the best ones within a budget.

A word that carries the subject is worth one point, an everyday word a quarter; a courtesy or an opaque token (a
redacted secret, a hash) is worth nothing, and a name, an identifier or a link two points more.  These are points of
coverage: a word that a chosen sentence has already counts half.  A sentence has points of its own besides: for a
marker word such as "decided", twice in a label such as ``Decision:``; for words of time; for a task that is done; fewer
for a question and for addressing someone.  ``docs/consolidation.md`` explains each.

Selection is budgeted maximisation of a monotone submodular function by cost-scaled greedy choice: H. Lin and J. Bilmes,
Multi-document Summarization via Budgeted Maximization of Submodular Functions, NAACL 2010, with the lazy evaluation
of M. Minoux, Accelerated greedy algorithms for maximizing submodular set functions, 1978.  All in whole numbers, so
that no order of evaluation changes a choice.

Marker words and phrases are data: ``markers.txt`` and ``phrases.txt``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import NamedTuple

from .. import patterns as re
from ..graph.evidence import STRONG
from ..ingest.summary_files import DATED
from ..knowledge.lexicon import ROUTINE
from ..model import Grain
from ..text import analysis, language, word_lists
from ..text.labels import names_subject
from ..text.machine import OPAQUE, is_machine
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER, UNSPACED
from ..text.sentences import MARKS, QUESTION_MARKS
from ..text.speech import subject_terms
from ..text.turns import roles, without_speaker
from .sentences import Sentence, format_line, heading_subject, line_tokens

#: A point in the whole numbers of scores.
POINT = 1000
#: Most points of a marker that is denied, stands in an open task, or is no turn in events.
_MAX_NEGATED = 2
#: Most days on which a marker of turns in events stands; in a period of many days, a quarter of them.
_MIN_USUAL_DAYS = 4

_WORDS = re.compile(r"\w+(?:['’]\w+)*")
_FIGURES_AND_MARKS = re.compile(r"[\W_\d]+")
_CLAUSES = re.compile(r"[,.;:!?](?=\s|[*_]|$)|[，。；：！？、()（）\[\]|]|\s[–—-]\s")
_LABEL = re.compile(r"[\W_]*[\w' -]{2,40}[:：](?=[\s*_])")
#: A label, which may be long and of any characters, behind which a value stands.
_KEY = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")


class ScoredSentence(NamedTuple):
    """A sentence with its scores.

    ``cost`` is the length of its line in tokens, ``covers`` its terms and concepts with their points of coverage.
    ``points`` are its own, ``marked`` those of its strongest marker.  ``terms`` are its distinct ones, ``exact`` the
    figures and negations that two sentences of the same meaning share.
    """

    sentence: Sentence
    cost: int
    points: int
    marked: int
    covers: tuple[tuple[str | int, int], ...]
    terms: frozenset[str]
    exact: frozenset[str]

    @property
    def value(self) -> int:
        """All points that the sentence has when it stands alone."""
        return self.points + sum(points for _, points in self.covers)

    @property
    def is_milestone(self) -> bool:
        """True for a turn in events (decided, released, broken …), in the sentence or in the heading above it."""
        return self.marked >= 3 * POINT


def score_sentences(sentences: Sequence[Sentence], grain: Grain) -> list[ScoredSentence]:
    """Score the sentences of one period for a summary of ``grain``."""
    speakers = {(sentence.speaker or "").lower() for sentence in sentences}
    # An assistant can repeat its own answers, but not what a person told it.
    repeatable = set() if roles()["person"].isdisjoint(speakers) else roles()["assistant"]
    usual = _usual_markers(sentences)
    return [_score(sentence, grain, usual, (sentence.speaker or "").lower() in repeatable) for sentence in sentences]


def _usual_markers(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Return the markers that stand on so many days that they mark no turn in events."""
    days: defaultdict[str, set[date]] = defaultdict(set)
    for sentence in sentences:
        for _, marker, _ in chain(_markers_in(sentence.text), _markers_in(heading_subject(sentence.heading))):
            days[marker].add(sentence.day)
    most = max(_MIN_USUAL_DAYS, len({sentence.day for sentence in sentences}) // 4)
    return frozenset(marker for marker, of_marker in days.items() if len(of_marker) > most)


def _score(sentence: Sentence, grain: Grain, usual: frozenset[str], is_answer: bool) -> ScoredSentence:
    stated = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    text = OPAQUE.sub(" ", stated)
    words = split_words(text)
    marked = int(marker_points(sentence.text, _MAX_NEGATED, usual) * POINT)
    if sentence.open:
        marked = min(marked, _MAX_NEGATED * POINT)
    label = _LABEL.match(sentence.text)
    emphasised = marked
    if marked and label is not None:
        emphasised = max(marked, int(2 * marker_points(label[0], usual=usual) * POINT))
    covers = {item: points // (4 if is_answer else 1) for item, points in _coverage(sentence, text)}
    if grain is not Grain.DAILY:  # coarser summaries are ones of milestones, and tell the subject of a heading
        emphasised *= 2
        subject = heading_subject(sentence.heading)
        outcome = int(marker_points(subject, _MAX_NEGATED, usual) * POINT)
        marked = max(marked, outcome)
        covers = dict.fromkeys(subject_terms(subject), POINT) | covers | {f"# {subject}": 2 * outcome}
    terms = analysis.query_terms(text) or words
    share = 4 if is_answer else 1
    return ScoredSentence(
        sentence=sentence,
        cost=line_tokens(format_line(sentence, grain in DATED)),
        points=emphasised + _style_points(sentence, text, words) // share,
        marked=marked,
        covers=tuple(covers.items()),
        terms=frozenset(terms),
        exact=frozenset(term for term in terms if any(map(str.isdecimal, term))) | negations(text),
    )


def _coverage(sentence: Sentence, text: str) -> Iterable[tuple[str | int, int]]:
    """Yield the terms and concepts of a sentence with their points."""
    everyday = _everyday_terms()
    for term in subject_terms(text):
        yield term, POINT // 4 if term in everyday else POINT
    lower = text.casefold()
    for mention in sentence.mentions:
        # A concept of the heading above is not repeated by each sentence below it.
        if mention.rule in STRONG and mention.text.casefold() in lower:
            yield mention.key, 2 * POINT


def _style_points(sentence: Sentence, text: str, words: Sequence[str]) -> int:
    """Return the points for time words, done tasks, questions and forms of address."""
    points = 2 * POINT * (analysis.time_words(text) + sentence.done)
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


# -- marker words ---------------------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """Split a text into its words in small letters, in order."""
    return [word.replace("’", "'") for word in _WORDS.findall(text.casefold())]


def marker_points(text: str, denied: float = 0, usual: frozenset[str] = frozenset()) -> float:
    """Return the points of the strongest marker in a text, at most ``denied`` for one that is negated or ``usual``."""
    return max(
        (
            min(points, denied) if marker in usual or negations(near) else points
            for points, marker, near in _markers_in(text)
        ),
        default=0,
    )


def has_marker(text: str, least: float) -> bool:
    """Return true if a text has a marker of ``least`` points or more that is not negated."""
    return any(not negations(near) for _, _, near in _markers_in(text, least))


def _markers_in(text: str, least: float = 0) -> Iterator[tuple[float, str, str]]:
    """Yield the points of each marker in a text, itself, and the words near it in its clause that may negate it.

    Phrases of scripts without spaces count anywhere in a clause, others as whole words.  Markers of fewer points than
    ``least`` are left out.
    """
    points, folded = _markers(), text.casefold()
    single, several, unspaced = _markers_by_form(least)
    if folded.isascii() and not any(word in single or word in several for word in split_words(folded)):
        return  # as most lines do
    for clause in _CLAUSES.split(folded):
        words, seen = split_words(clause), set[str]()
        for at, word in enumerate(words):
            if word in single:
                yield points[word], word, " ".join(words[:at][-3:])
            for phrase, parts in several.get(word, ()):
                if phrase not in seen and words[at : at + len(parts)] == parts:
                    seen.add(phrase)
                    yield points[phrase], phrase, " ".join(words[:at][-3:])
        if not clause.isascii():
            for hit in unspaced.finditer(clause):
                before = clause[max(0, hit.start() - 3) : hit.start()]
                yield points[hit[0]], hit[0], f"{before} {clause[hit.end() : hit.end() + 7]}"


@cache
def _markers() -> dict[str, float]:
    """Read the points of all marker words and phrases, of every language."""
    markers: dict[str, float] = {}
    for _, line in word_lists.lines_of(__package__, "markers.txt"):
        points, _, phrases = line.casefold().partition("=")
        for phrase in phrases.split(";"):
            key = " ".join(phrase.split())
            markers[key] = max(float(points), markers.get(key, 0.0))
    return markers


@cache
def _markers_by_form(least: float) -> tuple[frozenset[str], dict[str, list[tuple[str, list[str]]]], re.Pattern[str]]:
    """Return the markers of a single word, those of several by their first, and those of scripts without spaces."""
    markers = {phrase for phrase, points in _markers().items() if points >= least}
    spaced = frozenset(phrase for phrase in markers if not JOINED_LETTER.search(phrase))
    several: dict[str, list[tuple[str, list[str]]]] = {}
    for phrase in sorted(spaced):
        if len(parts := phrase.split()) > 1:
            several.setdefault(parts[0], []).append((phrase, parts))
    single = frozenset(phrase for phrase in spaced if " " not in phrase)
    return single, several, _alternatives(markers - spaced)


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

    Routine is a statement that recurs on three days, or with three times of day, but for its figures; one with a label,
    whose value may have changed, on a third of all days.  Decisions, by the points of their marker, are always kept.
    """
    occurrences: defaultdict[tuple[str | None, str], list[Sentence]] = defaultdict(list)
    keys = [(sentence.speaker, _FIGURES_AND_MARKS.sub(" ", sentence.text.casefold()).strip()) for sentence in sentences]
    for sentence, key in zip(sentences, keys, strict=True):
        occurrences[key].append(sentence)
    days = len({sentence.day for sentence in sentences})
    counts = {key: _routine_count(members, days) for key, members in occurrences.items()}
    return [
        replace(sentence, count=counts[key]) if counts[key] > 1 else sentence
        for sentence, key in zip(sentences, keys, strict=True)
        if counts[key] == 1 or sentence is occurrences[key][-1]
    ]


def _routine_count(members: Sequence[Sentence], days: int) -> int:
    """Return how often a statement was told in a period of so many ``days`` if it is routine, else 1."""
    text, count = members[-1].text, sum(sentence.count for sentence in members)
    times = {(member.day, *re.findall(r"(?<!\d)\d{1,2}:\d{2}(?!\d)", member.text)) for member in members}
    recurs = len(times) >= 3 or count > len(members)
    if not recurs or has_marker(text, 4) or (_KEY.match(text) and 3 * count < days):
        return 1
    return count


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
