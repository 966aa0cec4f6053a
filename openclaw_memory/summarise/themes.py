"""The headings of a summary: concepts that several entries share, days, milestones, or the notes' own headings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ..graph.evidence import POINTS, STRONG
from ..text import language, word_lists
from ..text.labels import names_subject
from .scoring import Weighed, is_milestone, is_turn
from .sentences import Sentence

#: Rules of mentions that name no theme: a quoted word, a word that opens a sentence, a file's own name.
_NO_THEME = frozenset({"quoted", "start", "file"})
#: Rules whose concepts tell entries apart although most entries have them; a person's name does not.
_TELLING = frozenset({"curated", "link", "tag", "meta", "code"})
#: A day or period that a heading begins with, and mere words.
_DAY = re.compile(r"^\d{4}-(?:W\d\d|Q\d|\d\d(?:-\d\d(?:[ T]\d\d:\d\d)?)?)(?!\d)[\s–—:·|,-]*")
_LABEL = re.compile(r"(?=.*[^\W\d_])\D+")
#: A theme joins at least so many entries.
_LEAST_ENTRIES = 2


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under one heading; ``tags`` begin with ``#``; ``concept`` is set where entries were merged."""

    heading: str
    sentences: tuple[Sentence, ...]
    tags: tuple[str, ...] = ()
    concept: str | None = None


def of_day(chosen: Sequence[Weighed], most: int) -> list[Part]:
    """Parts in the order of the day: concepts that entries share, and the notes' own headings."""
    merged, left = _merged([one.sentence for one in chosen], most)
    notes = headings(chosen)["notes"]
    parts = merged + _grouped(left, lambda one: one.heading or notes)
    return sorted(parts, key=lambda part: (part.sentences[0].day, part.sentences[0].order))


def of_week(chosen: Sequence[Weighed]) -> list[Part]:
    """The days in order, each in parts by what the headings of the notes say that sentences are about."""
    told = sorted((one.sentence for one in chosen), key=lambda one: (one.day, one.order))
    return _grouped(told, lambda one: " · ".join(filter(None, (one.day.isoformat(), subject(one.heading)))))


def of_months(chosen: Sequence[Weighed], most: int) -> list[Part]:
    """Milestones, then concepts that entries share, then what is left.

    What was decided, fixed, shipped or learned is a milestone; another turn in events is one unless it belongs to a
    concept that entries share.
    """
    own = headings(chosen)
    turns = [one.sentence for one in chosen if is_turn(one)]
    merged, left = _merged([one.sentence for one in chosen if not is_turn(one)], most)
    alone = {sentence.order for sentence in left}
    turns += [one.sentence for one in chosen if one.sentence.order in alone and is_milestone(one) and not is_turn(one)]
    turns.sort(key=lambda one: (one.day, one.order))
    told = {sentence.order for sentence in turns}
    rest = [one for one in left if one.order not in told]
    return [
        *_grouped(turns, lambda _: own["milestones"]),
        *merged,
        *_grouped(rest, lambda one: subject(one.heading) or own["other"]),
    ]


def subject(heading: str) -> str:
    """What the sentences below a path of headings are about: its last two, where one of them names a thing.

    Without days, and without the upper one where both are long.  An item of a list, "Limit: 10 GB", says less alone.
    """
    parts = [_DAY.sub("", part).strip(" :：") for part in heading.split(" > ")]
    parts = [part for part in parts if names_subject(part) or _LABEL.fullmatch(part)][-2:]
    if not any(map(names_subject, parts)):
        return ""
    return next((said for said in (" · ".join(parts), parts[-1]) if len(said) <= 80), "")


def headings(chosen: Sequence[Weighed]) -> Mapping[str, str]:
    """The headings of our own, by name, in the language of ``chosen``; English where we have none.

    Names, code and words of trades are English in notes of any language: another one needs a third of the words.
    """
    spoken = language.weights("\n".join(one.sentence.text for one in chosen))
    words = sum(spoken.values())
    others = [name for name in spoken if name != language.ENGLISH and 3 * spoken[name] >= words]
    most = max(others, key=lambda name: (spoken[name], name), default=language.ENGLISH)
    return _headings().get(most) or _headings()[language.ENGLISH]


@cache
def _headings() -> dict[str, dict[str, str]]:
    """Headings by language and name, of ``headings.txt``."""
    out: dict[str, dict[str, str]] = {}
    for _, line in word_lists.lines_of(__package__, "headings.txt"):
        spoken, _, said = line.partition(": ")
        out[spoken] = dict(zip(("milestones", "other", "notes"), said.split("; "), strict=True))
    return out


def _grouped(sentences: Iterable[Sentence], heading: Callable[[Sentence], str]) -> list[Part]:
    """Parts by heading, in the order of their first sentences."""
    by_heading: defaultdict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_heading[heading(sentence)].append(sentence)
    return [Part(words, tuple(members), _tags(members, shown=False)) for words, members in by_heading.items()]


def _merged(sentences: Sequence[Sentence], most: int) -> tuple[list[Part], list[Sentence]]:
    """At most ``most`` parts named as a concept, in the order of their first sentences, and what is left.

    ``sentences`` are in order.  Each stands under one concept: of those that it mentions, the most telling.
    """
    left = set(range(len(sentences)))
    found: list[tuple[int, Part]] = []
    for name, places in _themes(sentences):
        if len(found) == most:
            break
        mine = sorted(left.intersection(places))
        if len({sentences[at].entry for at in mine}) < _LEAST_ENTRIES:
            continue
        left.difference_update(mine)
        members = tuple(sentences[at] for at in mine)
        found.append((mine[0], Part(name, members, _tags(members, shown=True), name)))
    return [part for _, part in sorted(found, key=lambda one: one[0])], [sentences[at] for at in sorted(left)]


def _themes(sentences: Sequence[Sentence]) -> list[tuple[str, list[int]]]:
    """Concepts that entries share, most telling first: their usual spelling, and where they are mentioned."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    spellings: defaultdict[int, Counter[str]] = defaultdict(Counter)
    points: defaultdict[int, dict[int, int]] = defaultdict(dict)
    rules: defaultdict[int, set[str]] = defaultdict(set)
    speakers = {sentence.speaker.casefold() for sentence in sentences if sentence.speaker}
    for at, sentence in enumerate(sentences):
        for mention in sentence.mentions:
            # Of those who speak the beginning of the name is one, too.
            if mention.rule in _NO_THEME or any(name.startswith(mention.text.casefold()) for name in speakers):
                continue
            places[mention.key].append(at)
            spellings[mention.key][mention.text] += 1
            rules[mention.key].add(mention.rule)
            of_entry = points[mention.key]
            of_entry[sentence.entry] = max(POINTS[mention.rule], of_entry.get(sentence.entry, 0))
    entries = len({sentence.entry for sentence in sentences})
    ranked = []
    for key, where in places.items():
        shared = len(points[key])
        named = not STRONG.isdisjoint(rules[key])
        # A name that more than half of several entries have is nobody's theme.
        common = entries >= 4 and 2 * shared > entries and _TELLING.isdisjoint(rules[key])
        if shared >= _LEAST_ENTRIES and (named or len(where) >= 3) and not common:
            ranked.append((-sum(points[key].values()), -len(where), where[0], key))
    # A Counter gives spellings of one frequency in the order in which they were met, which is that of the text.
    return [(spellings[key].most_common(1)[0][0], places[key]) for *_, key in sorted(ranked)]


def _tags(sentences: Sequence[Sentence], *, shown: bool) -> tuple[str, ...]:
    """The tags of all ``sentences`` united; unless ``shown``, without those that stand in their text anyway."""
    tags = dict.fromkeys(f"#{'-'.join(tag.split())}" for sentence in sentences for tag in sentence.tags)
    text = " ".join(sentence.text for sentence in sentences)
    return tuple(tag for tag in tags if shown or tag not in text)
