"""A summary of a period: the sentences that together cover most of it, under the headings of its grain.

Headings are concepts that several entries share, days, milestones, changes, or the notes' own headings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from ..graph.evidence import EXPLICIT, POINTS, STRONG
from ..ingest.summary_files import DATED
from ..model import Grain
from ..text import language, word_lists
from .changes import ChangedValues, tells_change
from .scoring import POINT, ScoredSentence, drop_noise, drop_repetitions, drop_routine, score_sentences, select
from .sentences import Sentence, format_line, heading_subject, line_tokens

#: Tokens of a summary's sentences, with their citations, by grain; long sources allow more.
BUDGETS: Mapping[Grain, float] = MappingProxyType(
    {Grain.DAILY: 300, Grain.WEEKLY: 800, Grain.MONTHLY: 1500, Grain.QUARTERLY: 2000, Grain.YEARLY: 3000}
)
#: Version of the method; a new one has every summary made again.
VERSION = 16

#: Points of a sentence that tells a change.
_CHANGE_POINTS = 8 * POINT
#: Most concepts whose entries are merged in one summary, by grain.
_THEMES = {Grain.DAILY: 3, Grain.MONTHLY: 6, Grain.QUARTERLY: 8, Grain.YEARLY: 10}


class Part(NamedTuple):
    """The sentences under one heading; ``tags`` begin with ``#``; ``concept`` is set where entries were merged."""

    heading: str
    sentences: tuple[Sentence, ...]
    tags: tuple[str, ...] = ()
    concept: str | None = None


class Summary(NamedTuple):
    """The parts of a summary in order; ``groups`` counts the concepts whose entries were merged."""

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
    chosen = _choose(ordered, orders, grain, budget, share * sum(map(line_tokens, lines)), grows)
    if grain is Grain.DAILY:
        parts = _daily_parts(chosen, _THEMES[grain])
    elif grain is Grain.WEEKLY:
        parts = _weekly_parts(chosen)
    else:
        parts = _monthly_parts(chosen, orders, _THEMES[grain])
    return Summary(tuple(parts), sum(part.concept is not None for part in parts))


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
) -> list[ScoredSentence]:
    """Choose the sentences of a summary, in order, of at most ``most`` tokens; those of ``changed`` tell a change."""
    scored = drop_repetitions(
        [
            candidate._replace(points=candidate.points + _CHANGE_POINTS * (candidate.sentence.order in changed))
            for candidate in score_sentences(sentences, grain)
        ]
    )
    if not scored:
        return []
    lines = (sentence.text if grain is Grain.DAILY else format_line(sentence, False) for sentence in sentences)
    source_tokens = sum(map(line_tokens, lines))
    if grows:
        budget = max(budget, min(3 * budget, 0.2 * source_tokens))
    limit = min(budget, most)
    if grain not in (Grain.WEEKLY, Grain.MONTHLY):
        return select(scored, limit)
    # The best line of each day of a month comes first, and each day of a week of few words has its line.
    is_short = grain is Grain.WEEKLY and source_tokens <= BUDGETS[grain] / 4
    day_budget = min(budget, source_tokens) if is_short else 0
    return select(scored, limit, lambda candidate: candidate.sentence.day, day_budget)


# -- headings -------------------------------------------------------------------------------------


def _daily_parts(chosen: Sequence[ScoredSentence], most: int) -> list[Part]:
    """Return parts in the order of the day: concepts that entries share, and the notes' own headings."""
    merged, rest = _merge_themes([scored.sentence for scored in chosen], most)
    notes = _headings_in_language(chosen)["notes"]
    parts = merged + _group(rest, lambda sentence: sentence.heading or notes)
    return sorted(parts, key=lambda part: _position(part.sentences[0]))


def _weekly_parts(chosen: Sequence[ScoredSentence]) -> list[Part]:
    """Return the days in order, each in parts by the subject of the notes' headings."""
    ordered = sorted((scored.sentence for scored in chosen), key=_position)
    return _group(
        ordered,
        lambda sentence: " · ".join(filter(None, (sentence.day.isoformat(), heading_subject(sentence.heading)))),
    )


def _monthly_parts(chosen: Sequence[ScoredSentence], changed: set[int], most: int) -> list[Part]:
    """Return milestones, then what changed, then the subjects: first those of the most days.

    Subjects are concepts that entries share, and the notes' headings.  The best turn in events below a heading is a
    milestone, and names the heading; a month has few of them.
    """
    headings = _headings_in_language(chosen)
    changes = [scored.sentence for scored in chosen if scored.sentence.order in changed]
    others = [scored for scored in chosen if scored.sentence.order not in changed]
    turns = sorted((scored for scored in others if scored.is_milestone), key=lambda scored: -scored.value)
    best: dict[str | int, Sentence] = {}
    for sentence in (scored.sentence for scored in turns):
        best.setdefault(heading_subject(sentence.heading) or sentence.order, sentence)
    shown = {sentence.order for sentence in list(best.values())[: 2 * most]}
    milestones = [scored.sentence for scored in others if scored.sentence.order in shown]
    merged, unmerged = _merge_themes([scored.sentence for scored in others if scored.sentence.order not in shown], most)

    def milestone_heading(sentence: Sentence) -> str:
        subject = heading_subject(sentence.heading).removeprefix(headings["milestones"]).strip(" ·")
        return " · ".join(filter(None, (headings["milestones"], subject)))

    rest = _group(unmerged, lambda sentence: heading_subject(sentence.heading) or headings["other"])
    return [
        *_group(sorted(milestones, key=_position), milestone_heading),
        *_group(sorted(changes, key=_position), lambda _: headings["changed"]),
        *_by_days([*merged, *rest], headings["other"]),
    ]


def _by_days(parts: Sequence[Part], last: str) -> list[Part]:
    """Return ``parts``, those below one heading together, in order of their days, most first; ``last`` comes last."""
    days: defaultdict[str, set[date]] = defaultdict(set)
    for part in parts:
        days[part.heading.split(" · ")[0]].update(sentence.day for sentence in part.sentences)
    places = {heading: at for at, heading in enumerate(days)}

    def rank(part: Part) -> tuple[bool, int, int]:
        heading = part.heading.split(" · ")[0]
        return heading == last, -len(days[heading]), places[heading]

    return sorted(parts, key=rank)


def _headings_in_language(chosen: Sequence[ScoredSentence]) -> Mapping[str, str]:
    """Return our own headings by name, in the language of ``chosen``, or in English where we lack it.

    Names, code and technical words are English in notes of any language: another one needs a third of the words.
    """
    weights = language.tokens_by_language("\n".join(scored.sentence.text for scored in chosen))
    words = sum(weights.values())
    others = [name for name in weights if name != language.ENGLISH and 3 * weights[name] >= words]
    spoken = max(others, key=lambda name: (weights[name], name), default=language.ENGLISH)
    return _heading_table().get(spoken) or _heading_table()[language.ENGLISH]


def _heading_table() -> dict[str, dict[str, str]]:
    """Read the headings by language and name from ``headings.txt``."""
    table: dict[str, dict[str, str]] = {}
    for _, line in word_lists.lines_of(__package__, "headings.txt"):
        spoken, _, words = line.partition(": ")
        table[spoken] = dict(zip(("milestones", "other", "notes", "changed"), words.split("; "), strict=True))
    return table


def _group(sentences: Iterable[Sentence], heading: Callable[[Sentence], str]) -> list[Part]:
    """Group sentences into parts by heading, in the order of their first sentences."""
    by_heading: defaultdict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_heading[heading(sentence)].append(sentence)
    return [Part(words, tuple(members), _tags(members, shown=False)) for words, members in by_heading.items()]


def _merge_themes(sentences: Sequence[Sentence], most: int) -> tuple[list[Part], list[Sentence]]:
    """Merge entries under at most ``most`` concepts; return those parts in order, and the other sentences.

    ``sentences`` are in order.  Each stands under the best of the concepts that it mentions.
    """
    rest = set(range(len(sentences)))
    parts: list[tuple[int, Part]] = []
    for name, places in _themes(sentences):
        if len(parts) == most:
            break
        members = sorted(rest.intersection(places))
        if len({sentences[at].entry for at in members}) < 2:
            continue
        rest.difference_update(members)
        merged = tuple(sentences[at] for at in members)
        parts.append((members[0], Part(name, merged, _tags(merged, shown=True), name)))
    return [part for _, part in sorted(parts, key=lambda item: item[0])], [sentences[at] for at in sorted(rest)]


def _themes(sentences: Sequence[Sentence]) -> list[tuple[str, list[int]]]:
    """Rank the concepts that entries share: their usual spelling, and the places that mention them, best first."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    spellings: defaultdict[int, Counter[str]] = defaultdict(Counter)
    points: defaultdict[int, dict[int, int]] = defaultdict(dict)
    rules: defaultdict[int, set[str]] = defaultdict(set)
    speakers = {sentence.speaker.casefold() for sentence in sentences if sentence.speaker}
    for at, sentence in enumerate(sentences):
        for mention in sentence.mentions:
            # A quoted word, the first word of a sentence and a file's own name are no themes; nor is a speaker, by the
            # whole name or its beginning.
            if mention.rule in ("quoted", "start", "file") or any(
                name.startswith(mention.text.casefold()) for name in speakers
            ):
                continue
            places[mention.key].append(at)
            spellings[mention.key][mention.text] += 1
            rules[mention.key].add(mention.rule)
            by_entry = points[mention.key]
            by_entry[sentence.entry] = max(POINTS[mention.rule], by_entry.get(sentence.entry, 0))
    entries = len({sentence.entry for sentence in sentences})
    ranked = []
    for key, mentioned in places.items():
        shared = len(points[key])
        named = not STRONG.isdisjoint(rules[key])
        # A name in more than half of several entries distinguishes none of them, unless it is marked as a concept.
        common = entries >= 4 and 2 * shared > entries and rules[key].isdisjoint((*EXPLICIT, "code"))
        if shared >= 2 and (named or len(mentioned) >= 3) and not common:
            ranked.append((-sum(points[key].values()), -len(mentioned), mentioned[0], key))
    # A Counter gives spellings of one frequency in the order in which they were met, which is that of the text.
    return [(spellings[key].most_common(1)[0][0], places[key]) for *_, key in sorted(ranked)]


def _tags(sentences: Sequence[Sentence], *, shown: bool) -> tuple[str, ...]:
    """Return the tags of all ``sentences``; unless ``shown``, without those that stand in their text anyway."""
    tags = dict.fromkeys(f"#{'-'.join(tag.split())}" for sentence in sentences for tag in sentence.tags)
    text = " ".join(sentence.text for sentence in sentences)
    return tuple(tag for tag in tags if shown or tag not in text)
