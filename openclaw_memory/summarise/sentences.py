"""Sentences: the units that summaries consist of, each with the lines that it was taken from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from .. import patterns as re
from ..model import UNSAID, Origin, Section, Unit, citation, tokens_of
from ..records import dataclass
from ..store.api import Mention, PlannedUnit
from ..text.labels import names_subject
from ..text.lines import FENCE, ITEM
from ..text.plain import is_delimiter, without_lead

_WORD = re.compile(r"[^\W\d_]")
#: Tags, and a label before them.
_TAGS = re.compile(
    r"(?<![\w&/#-])#[^\W\d_][\w/-]*|(?:\*\*)?(?:tags|labels|keywords|topics)(?:\*\*)?[:：](?:\*\*)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line, and its source.

    ``path``, the lines and ``day`` are those of the note.  ``entry`` numbers the sections of notes through a period,
    ``order`` the sentences in reading order.  ``heading`` is the path of headings.  ``tags`` are without ``#``.
    ``done`` marks a ticked item of a task list, ``title`` a heading; ``count`` says how often it was told, if it is
    routine.
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
    title: bool = False
    count: int = 1


def extract_sentences(
    path: str,
    day: date,
    origin: Origin,
    sections: Sequence[Section],
    units: Sequence[PlannedUnit],
    first_entry: int = 0,
    first_order: int = 0,
) -> list[Sentence]:
    """Extract the sentences of a note in order; entries and places are counted on from the given ones.

    ``units`` are those of ``sections`` with their mentions.  Headings, code, front matter, table headers and labels
    are left out.  The text is that of the lines without the marks of lists, tasks, quotes and tables around it, with
    single spaces.  A turn of a conversation stays whole up to 120 tokens, as its later pieces do not name the speaker.
    Tags and mentions of a heading apply to the sentences below it.
    """
    by_section: defaultdict[int, list[PlannedUnit]] = defaultdict(list)
    for planned in units:
        by_section[planned.section].append(planned)
    sentences: list[Sentence] = []
    note_tags: tuple[str, ...] = ()
    entry = first_entry
    for at in sorted(by_section):
        texts = [(planned, _text(planned.unit)) for planned in by_section[at]]
        silent = [planned for planned, text in texts if not text]
        tags = (*note_tags, *_tags(silent, "tag"), *_tags(by_section[at], "meta"))
        subjects = [
            mention
            for planned in silent
            # A heading that names the subject of the sentences below it.
            if planned.unit.form in ("heading", "title")
            and names_subject(planned.unit.search_text.rpartition(" > ")[2])
            for mention in planned.mentions
        ]
        titles = [(planned, title) for planned in silent if (title := _title(planned.unit, sections[at].heading))]
        sentences += [
            Sentence(
                text=title,
                path=path,
                start_line=planned.unit.start_line,
                end_line=planned.unit.end_line,
                day=day,
                entry=entry,
                order=first_order + len(sentences) + place,
                heading="",
                speaker=None,
                tags=tuple(dict.fromkeys((*tags, *_tags([planned], "tag")))),
                mentions=_distinct(planned.mentions),
                origin=origin,
                title=True,
            )
            for place, (planned, title) in enumerate(titles)
        ]
        count = len(sentences)
        follows = False
        for planned, text in texts:
            unit = planned.unit
            if follows and _continues(sentences[-1], unit):
                last = sentences[-1]
                sentences[-1] = replace(
                    last,
                    text=" ".join([last.text, *unit.text.split()]),
                    end_line=max(last.end_line, unit.end_line),
                    tags=tuple(dict.fromkeys((*last.tags, *_tags([planned], "tag")))),
                    mentions=_distinct((*last.mentions, *planned.mentions)),
                )
                continue
            follows = bool(text)
            if not text:
                continue
            task = re.match(rf"[ \t>]*{ITEM}[ \t]+\[(?P<mark>[xX ])\][ \t]", unit.text)
            sentences.append(
                Sentence(
                    text=text,
                    path=path,
                    start_line=unit.start_line,
                    end_line=unit.end_line,
                    day=day,
                    entry=entry,
                    order=first_order + len(sentences),
                    heading=sections[at].heading,
                    speaker=unit.speaker,
                    tags=tuple(dict.fromkeys((*tags, *_tags([planned], "tag")))),
                    mentions=_distinct((*subjects, *planned.mentions)),
                    origin=origin,
                    done=task is not None and task["mark"] != " ",
                )
            )
        if len(sentences) > count:
            entry += 1
        else:
            note_tags = tags  # tags below the title alone are those of the whole note
    return sentences


def _title(unit: Unit, heading: str) -> str:
    """Return a heading that tells what a note or section is about, without its day; empty where it is below another."""
    above, _, title = heading.rpartition(" > ")
    is_below = unit.text.lstrip().startswith("###") and names_subject(above.rpartition(" > ")[2])
    return "" if unit.form not in ("heading", "title") or is_below else heading_subject(title)


@lru_cache(maxsize=4096)
def heading_subject(heading: str) -> str:
    """Return the subject in a path of headings: the last two without days, if one of them names a thing.

    Where both together are long it is the last one alone.  An item of a list, "Limit: 10 GB", says less alone.
    """
    # A heading may begin or end with a day or period.
    day, marks = r"\d{4}-(?:W\d\d|Q\d|\d\d(?:-\d\d(?:[ T]\d\d:\d\d)?)?)(?!\d)", r"–—:·|,(（\[-"
    days = rf"^{day}[\s{marks}]*|(?<!\s)\s*+[{marks}]\s*{day}[)）\]]?$"
    parts = [re.sub(days, "", part).strip(" :：") for part in heading.split(" > ")]
    # Words without figures may stand beside the one that names a thing.
    plain = [any(map(str.isalnum, part)) and not any(map(str.isdecimal, part)) for part in parts]
    parts = [part for part, is_plain in zip(parts, plain, strict=True) if is_plain or names_subject(part)][-2:]
    if not any(map(names_subject, parts)):
        return ""
    return next((words for words in (" · ".join(parts), parts[-1]) if len(words) <= 80), "")


def format_line(sentence: Sentence, dated: bool) -> str:
    """Format the line of a sentence: ``- text [path#L3-L4]``, with ``dated`` ``- 2026-02-16: text [...]``.

    A line that was told eight times has ``×8`` at its end.
    """
    day = f"{sentence.day.isoformat()}: "
    day = day if dated and not sentence.text.startswith(day) else ""
    count = f" ×{sentence.count}" if sentence.count > 1 else ""
    return f"- {day}{sentence.text} [{citation(sentence.path, sentence.start_line, sentence.end_line)}]{count}"


def line_tokens(line: str) -> int:
    """Return the length of a line with its line end, in tokens, rounded up."""
    return int(tokens_of(line)) + 1


def _text(unit: Unit) -> str:
    """Return the sentence of a unit on one line; empty where it has none."""
    if unit.form in ("heading", "title") or unit.form in UNSAID:
        return ""
    lines = unit.text.split("\n")
    if unit.form == "row":
        if any(map(is_delimiter, lines[1:])):
            return ""
        lines = [line.strip(" \t>").removeprefix("|").removesuffix("|") for line in lines]
    lines[1:] = [line.lstrip(" \t>") for line in lines[1:]]
    lines[0] = without_lead(lines[0], unit.form == "item")
    text = " ".join(" ".join(lines).split())
    if not _WORD.search(re.sub(r"(?s)<!--.*?(?:-->|$)|</?[A-Za-z][^<>]*>", " ", text)) or FENCE.match(text):
        return ""
    # A few words before a colon introduce the next lines and state nothing themselves.
    if text.rstrip("*_")[-1:] in ":：" and len(text.split()) <= 6:
        return ""
    if "#" in text and not _WORD.search(_TAGS.sub(" ", text)):
        return ""
    return text


def _continues(last: Sentence, unit: Unit) -> bool:
    """Return true if a unit is a later piece of the same turn, short enough to be joined to it."""
    return (
        unit.form == "sentence"
        and unit.indexed is not None
        and unit.speaker is not None
        and unit.indexed.startswith(f"{unit.speaker}: ")
        and unit.speaker == last.speaker
        and unit.start_line <= last.end_line
        and line_tokens(last.text) + line_tokens(unit.text) <= 120
    )


def _tags(units: Iterable[PlannedUnit], rule: str) -> tuple[str, ...]:
    """Return the tags of ``units``: those in their text (rule ``tag``), or of the front matter (``meta``)."""
    return tuple(
        mention.text
        for planned in units
        for mention in sorted(planned.mentions, key=lambda mention: planned.unit.text.find(mention.text))
        if mention.rule == rule
    )


def _distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return each concept once, without those of the front matter and the file name, which every sentence has."""
    return tuple({mention.key: mention for mention in mentions if mention.rule not in ("meta", "file")}.values())
