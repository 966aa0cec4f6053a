"""Sentences: what summaries are put together from, each with the lines that it was taken from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ..model import UNSAID, Origin, Section, Unit, citation, tokens_of
from ..store.api import Mention, PlannedUnit
from ..text.labels import names_subject
from ..text.lines import ITEM
from ..text.plain import is_delimiter, is_fence, without_lead

#: Forms of units that say nothing by themselves.
_TITLES = frozenset({"heading", "title"})
_TASK = re.compile(rf"[ \t>]*{ITEM}[ \t]+\[(?P<mark>[xX ])\][ \t]")
_QUOTED = re.compile(r"\A[ \t]*(?:>[ \t]*)+")
_WORD = re.compile(r"[^\W\d_]")
_MARKUP = re.compile(r"<!--.*?(?:-->|$)|</?[A-Za-z][^<>]*>", re.DOTALL)
_TAG = re.compile(r"(?<![\w&/#-])#[^\W\d_][\w/-]*")
_TAGS_LABEL = re.compile(r"(?:\*\*)?(?:tags|labels|keywords|topics)(?:\*\*)?[:：](?:\*\*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text on one line and where it stands.

    ``path`` and the lines are those of the note; ``day`` is that of the note.  An ``entry`` is a section of a note,
    counted through a period, as ``order`` counts sentences in reading order.  ``heading`` is the path of headings.
    ``tags`` are without ``#``; ``done`` says that it is an item of a list that is ticked off, ``ahead`` that it is
    one that is not.
    """

    text: str
    path: str
    start_line: int
    end_line: int
    day: date
    entry: int
    order: int
    heading: str
    speaker: str | None
    tags: tuple[str, ...]
    mentions: tuple[Mention, ...]
    origin: Origin
    done: bool = False
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a day as ingest reads it; ``units`` have their mentions, in order of the text."""

    path: str
    day: date
    origin: Origin
    sections: Sequence[Section]
    units: Sequence[PlannedUnit]


def sentences_of(note: Note, first_entry: int = 0, first_order: int = 0) -> list[Sentence]:
    """What a note says, in order; entries and places are counted on from ``first_entry`` and ``first_order``.

    Headings, code, front matter, heads of tables and labels say nothing.  The text is as it stands in its lines,
    without the marks of lists, tasks, quotes and tables around it, and with single spaces for all others.  A turn of
    a conversation stays whole up to 120 tokens: its later pieces would not say who speaks.  Tags and
    what a heading mentions hold for the sentences below it.
    """
    by_section: defaultdict[int, list[PlannedUnit]] = defaultdict(list)
    for planned in note.units:
        by_section[planned.section].append(planned)
    found: list[Sentence] = []
    of_note: tuple[str, ...] = ()
    entry = first_entry
    for at in sorted(by_section):
        texts = [(planned, _text(planned.unit)) for planned in by_section[at]]
        silent = [planned for planned, text in texts if not text]
        tags = (*of_note, *_tags(silent, "tag"), *_tags(by_section[at], "meta"))
        about = [mention for planned in silent if _is_subject(planned.unit) for mention in planned.mentions]
        opened = len(found)
        before = False
        for planned, text in texts:
            unit = planned.unit
            if before and _goes_on(found[-1], unit):
                last = found[-1]
                found[-1] = replace(
                    last,
                    text=" ".join([last.text, *unit.text.split()]),
                    end_line=max(last.end_line, unit.end_line),
                    tags=tuple(dict.fromkeys((*last.tags, *_tags([planned], "tag")))),
                    mentions=_distinct((*last.mentions, *planned.mentions)),
                )
                continue
            before = bool(text)
            if not text:
                continue
            task = _TASK.match(unit.text)
            found.append(
                Sentence(
                    text=text,
                    path=note.path,
                    start_line=unit.start_line,
                    end_line=unit.end_line,
                    day=note.day,
                    entry=entry,
                    order=first_order + len(found),
                    heading=note.sections[at].heading,
                    speaker=unit.speaker,
                    tags=tuple(dict.fromkeys((*tags, *_tags([planned], "tag")))),
                    mentions=_distinct((*about, *planned.mentions)),
                    origin=note.origin,
                    done=task is not None and task["mark"] != " ",
                    ahead=task is not None and task["mark"] == " ",
                )
            )
        entry += len(found) > opened
        # Tags below the title alone are those of the whole note.
        of_note = of_note if len(found) > opened else tags
    return found


def line_of(sentence: Sentence, dated: bool) -> str:
    """The line of a sentence in a summary: ``- text [path#L3-L4]``, with ``dated`` ``- 2026-02-16: text [...]``."""
    day = f"{sentence.day.isoformat()}: "
    day = day if dated and not sentence.text.startswith(day) else ""
    return f"- {day}{sentence.text} [{citation(sentence.path, sentence.start_line, sentence.end_line)}]"


def tokens(line: str) -> int:
    """Length of a line with its line end, in tokens, rounded up."""
    return int(tokens_of(line)) + 1


def _text(unit: Unit) -> str:
    """What a unit says, on one line; empty when that is nothing."""
    if unit.form in _TITLES | UNSAID:
        return ""
    lines = unit.text.split("\n")
    if unit.form == "row":
        if any(map(is_delimiter, lines[1:])):
            return ""
        lines = [line.strip(" \t>").removeprefix("|").removesuffix("|") for line in lines]
    lines[1:] = [_QUOTED.sub("", line) for line in lines[1:]]
    lines[0] = without_lead(lines[0], unit.form == "item")
    text = " ".join(" ".join(lines).split())
    if not _WORD.search(_MARKUP.sub(" ", text)) or is_fence(text):
        return ""
    # A few words before a colon open what follows and say nothing themselves.
    if text.rstrip("*_")[-1:] in ":：" and len(text.split()) <= 6:
        return ""
    if "#" in text and not _WORD.search(_TAG.sub(" ", _TAGS_LABEL.sub(" ", text))):
        return ""
    return text


def _is_subject(unit: Unit) -> bool:
    """Whether a unit is a heading that names what the sentences below it are about."""
    return unit.form in _TITLES and names_subject(unit.search_text.rpartition(" > ")[2])


def _goes_on(before: Sentence, unit: Unit) -> bool:
    """Whether a unit is a later piece of a turn, which without its beginning would not say who speaks."""
    return (
        unit.form == "sentence"
        and unit.indexed is not None
        and unit.speaker is not None
        and unit.indexed.startswith(f"{unit.speaker}: ")
        and unit.speaker == before.speaker
        and unit.start_line <= before.end_line
        and tokens(before.text) + tokens(unit.text) <= 120
    )


def _tags(units: Iterable[PlannedUnit], rule: str) -> tuple[str, ...]:
    """The tags of ``units``: those in their text (rule ``tag``), or of the front matter (``meta``)."""
    return tuple(
        mention.text
        for planned in units
        for mention in sorted(planned.mentions, key=lambda one: planned.unit.text.find(one.text))
        if mention.rule == rule
    )


def _distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Each concept once; the front matter's and the file's own name are those of every sentence, and so of none."""
    return tuple({mention.key: mention for mention in mentions if mention.rule not in ("meta", "file")}.values())
