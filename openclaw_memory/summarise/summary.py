"""A summary of a period: the sentences that together cover most of it, under the headings of its grain.

Headings are titles, subjects of several days, days, changes, or the notes' own headings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from .. import patterns as re
from ..ingest.summary_files import DATED
from ..model import Grain
from ..records import NamedTuple
from ..text import language, word_lists
from ..text.scripts import UNSPACED
from .changes import ChangedValues, tells_change
from .scoring import (
    POINT,
    DayWeights,
    ScoredSentence,
    drop_noise,
    drop_repetitions,
    drop_routine,
    score_sentences,
    select,
    subject_words,
)
from .sentences import Sentence, format_line, heading_subject, line_tokens

#: Tokens of a summary's sentences, with their citations, by grain; long sources allow more.
BUDGETS: Mapping[Grain, float] = MappingProxyType(
    {Grain.DAILY: 370, Grain.WEEKLY: 800, Grain.MONTHLY: 1500, Grain.QUARTERLY: 2000, Grain.YEARLY: 3000}
)
#: Version of the method; a new one has every summary made again.
VERSION = 17

#: Points of a sentence that tells a change.
_CHANGE_POINTS = 8 * POINT
#: Words; of scripts that put no spaces between them, single characters.
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


class Part(NamedTuple):
    """The sentences under one heading; ``tags`` begin with ``#``."""

    heading: str
    sentences: tuple[Sentence, ...]
    tags: tuple[str, ...] = ()


class Summary(NamedTuple):
    """The parts of a summary in order; ``groups`` counts the subjects whose entries were merged."""

    parts: tuple[Part, ...]
    groups: int = 0

    def sentences(self) -> list[Sentence]:
        """Return all sentences, in the order of the summary."""
        return [sentence for part in self.parts for sentence in part.sentences]


def summarise(
    sentences: Sequence[Sentence],
    grain: Grain,
    budget: float,
    *,
    changed: ChangedValues = MappingProxyType({}),
    share: float = 0.8,
    grows: bool = False,
) -> Summary:
    """Summarise the ``sentences`` of a period's sources, given in any order, in about ``budget`` tokens.

    Those that tell a value of ``changed`` come before others.
    Where it ``grows``, long sources allow three times as much.  A summary never exceeds the ``share`` of its sources'
    tokens, but has at least one sentence.  The same arguments give the same summary on every machine.
    """
    ordered = drop_routine(drop_noise(sorted(sentences, key=_position)))
    if grain in DATED:
        ordered = _merge_routine(ordered)
    orders = {sentence.order for sentence in ordered if tells_change(sentence, changed)}
    # A finer summary has citations, a note has none.
    lines = (sentence.text if grain is Grain.DAILY else format_line(sentence, False) for sentence in sentences)
    chosen, weights = _choose(ordered, orders, grain, budget, share * sum(map(line_tokens, lines)), grows)
    if grain is Grain.DAILY:
        names = _headings_in_language(chosen)
        ordered = sorted((scored.sentence for scored in chosen), key=lambda each: (not each.title, each.order))
        return Summary(
            tuple(_group(ordered, lambda each: names["topics"] if each.title else each.heading or names["notes"]))
        )
    if grain is Grain.WEEKLY:
        return Summary(tuple(_weekly_parts(chosen)))
    return _monthly_summary(chosen, orders, weights)


def _position(sentence: Sentence) -> tuple[object, int]:
    return sentence.day, sentence.order


def _merge_routine(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences`` with one of the routine statements below a heading: the first of those that came most."""
    most: dict[str, Sentence] = {}
    for sentence in sentences:
        subject = heading_subject(sentence.heading)
        if sentence.count > 1 and subject and (subject not in most or sentence.count > most[subject].count):
            most[subject] = sentence
    return [
        sentence
        for sentence in sentences
        if sentence.count == 1 or most.get(heading_subject(sentence.heading), sentence) is sentence
    ]


def _choose(
    sentences: Sequence[Sentence], changed: set[int], grain: Grain, budget: float, most: float, grows: bool
) -> tuple[list[ScoredSentence], DayWeights]:
    """Choose the sentences of a summary, in order, of at most ``most`` tokens; those of ``changed`` tell a change.

    Returns the weights of all terms too.
    """
    scored, weights = score_sentences(sentences, grain)
    scored = drop_repetitions(
        [
            candidate._replace(points=candidate.points + _CHANGE_POINTS * (candidate.sentence.order in changed))
            for candidate in scored
        ]
    )
    if not scored:
        return [], weights
    source_tokens = sum(
        line_tokens(each.text if grain is Grain.DAILY else format_line(each, False)) for each in sentences
    )
    if grows:
        budget = max(budget, min(3 * budget, 0.2 * source_tokens))
    limit = min(budget, most)
    # Titles say in few words what the lines below them are about: up to a quarter of a day is theirs, then half.
    share = limit // (4 if grain is Grain.DAILY else 2)
    titles = select([each for each in scored if each.sentence.title and each.cost <= share], share)
    spent = sum(each.cost for each in titles)
    lines = [each for each in scored if not each.sentence.title and (not titles or each.cost <= limit - spent)]
    # The best line of each day of a month comes first, and each day of a week of few words has its line.
    group = (lambda each: each.sentence.day) if grain in (Grain.WEEKLY, Grain.MONTHLY) else None
    is_short = grain is Grain.WEEKLY and source_tokens <= BUDGETS[grain] / 4
    day_budget = min(budget, source_tokens) - spent if is_short else 0
    chosen = titles + select(lines, limit - spent, group, day_budget)
    return sorted(chosen, key=lambda each: _position(each.sentence)), weights


# -- headings -------------------------------------------------------------------------------------


def _weekly_parts(chosen: Sequence[ScoredSentence]) -> list[Part]:
    """Return the days in order, each in parts by the subject of the notes' headings."""
    topics = _headings_in_language(chosen)["topics"]
    ordered = sorted((scored.sentence for scored in chosen), key=lambda each: (each.day, not each.title, each.order))

    def heading(sentence: Sentence) -> str:
        subject = topics if sentence.title else heading_subject(sentence.heading)
        return " · ".join(filter(None, (sentence.day.isoformat(), subject)))

    return _group(ordered, heading)


def _monthly_summary(chosen: Sequence[ScoredSentence], changed: set[int], weights: DayWeights) -> Summary:
    """Return what the period was about: the subjects of several days, those of most days first, then what changed.

    A subject is a term that headings, or lines without one, share.  The rest stands under the notes' headings.
    """
    headings = _headings_in_language(chosen)
    changes = [scored.sentence for scored in chosen if scored.sentence.order in changed]
    by_subject: defaultdict[str, list[Sentence]] = defaultdict(list)
    for scored in sorted(chosen, key=lambda each: _position(each.sentence)):
        if scored.sentence.order not in changed:
            by_subject[scored.subject or ""].append(scored.sentence)
    shared = [term for term, members in by_subject.items() if term and members[0].day != members[-1].day]
    shared.sort(key=lambda term: (-weights.days(term), -len(by_subject[term]), term))
    merged = [
        Part(_shared_name(by_subject[term], term), tuple(by_subject[term]), _tags(by_subject[term])) for term in shared
    ]
    rest = [sentence for term, members in by_subject.items() if term not in shared for sentence in members]

    def heading(sentence: Sentence) -> str:
        if sentence.title:
            return headings["topics" if sentence.count == 1 else "other"]
        return heading_subject(sentence.heading) or headings["other"]

    others = _group(sorted(rest, key=_position), heading)
    others.sort(key=lambda part: (part.heading != headings["topics"], part.heading == headings["other"]))
    parts = [*merged, *_group(sorted(changes, key=_position), lambda _: headings["changed"]), *others]
    return Summary(tuple(parts), len(merged))


def _shared_name(sentences: Sequence[Sentence], term: str) -> str:
    """Return the words that headings, or lines without one, share around ``term``: the longest of most of them."""
    texts = list(dict.fromkeys(heading_subject(each.heading) or each.text for each in sentences))
    counts: defaultdict[str, int] = defaultdict(int)
    for text, other in pairwise(texts):
        words, others = list(_WORD.finditer(text)), [word.casefold() for word in _WORD.findall(other)]
        shared = SequenceMatcher(None, [word[0].casefold() for word in words], others, autojunk=False)
        match = shared.find_longest_match()
        name = text[words[match.a].start() : words[match.a + match.size - 1].end()] if match.size else ""
        name = re.sub(r"^\d+[.)]\s*|\s*[(（\[][^)）\]]*$", "", name)
        if term in subject_words(name):
            counts[name] += 1
    spelled = (word for text in texts for word in _WORD.findall(text) if term in subject_words(word))
    return max(counts, key=lambda name: (counts[name], len(name), name), default=next(spelled, term))


def _headings_in_language(chosen: Sequence[ScoredSentence]) -> Mapping[str, str]:
    """Return our own headings by name, in the language of ``chosen``, or in English where we lack it.

    Names, code and technical words are English in notes of any language: another one needs a third of the words.
    """
    weights = language.tokens_by_language("\n".join(scored.sentence.text for scored in chosen))
    words = sum(weights.values())
    others = [name for name in weights if name != language.ENGLISH and 3 * weights[name] >= words]
    spoken = max(others, key=lambda name: (weights[name], name), default=language.ENGLISH)
    return _heading_table().get(spoken) or _heading_table()[language.ENGLISH]


@cache
def own_headings() -> Mapping[str, str]:
    """Return the names of the headings that summaries give to what has none in the notes, by heading."""
    return {word: name for words in _heading_table().values() for name, word in words.items() if name != "changed"}


def _heading_table() -> dict[str, dict[str, str]]:
    """Read the headings by language and name from ``headings.txt``."""
    table: dict[str, dict[str, str]] = {}
    for _, line in word_lists.lines_of(__package__, "headings.txt"):
        spoken, _, words = line.partition(": ")
        table[spoken] = dict(zip(("topics", "other", "notes", "changed"), words.split("; "), strict=True))
    return table


def _group(sentences: Iterable[Sentence], heading: Callable[[Sentence], str]) -> list[Part]:
    """Group sentences into parts by heading, in the order of their first sentences."""
    by_heading: defaultdict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_heading[heading(sentence)].append(sentence)
    return [Part(words, tuple(members), _tags(members)) for words, members in by_heading.items()]


def _tags(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Return the tags of all ``sentences`` that do not stand in their text anyway."""
    tags = dict.fromkeys(f"#{'-'.join(tag.split())}" for sentence in sentences for tag in sentence.tags)
    text = " ".join(sentence.text for sentence in sentences)
    return tuple(tag for tag in tags if tag not in text)
