"""From Markdown lines and facts to plain sentences with their days, within a length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import PurePosixPath

from ..facts.periods import STATED
from ..knowledge.predicates import normalise
from ..model import FactRow, chars_of
from ..system.inert import inert
from ..text import machine
from ..text import plain as markdown
from ..text.dates import MONTHS
from ..text.labels import names_subject
from ..text.lines import BULLET, CELL_BORDER
from ..text.sentences import sentence_spans

#: A paragraph of up to so many characters is given whole, of a longer one only the sentence that matters.
WHOLE = 320

_BOX = re.compile(rf"(?m)^([ \t]*+(?:>[ \t]*+)*+{BULLET}[ \t]++)\[([ xX])\]\s++")
_SPEAKER = re.compile(r"[^\s:：]{1,30}[:：]\s+(?=\S)")
_DAY = re.compile(r"^\W*\d{4}-\d{2}-\d{2}\b[^\w(\[]*")
#: The lines of a drawing, between what it shows: a tree of files, say.
_DRAWN = re.compile(r" ?[\u2500-\u257f][ \u2500-\u257f]*")

#: Relations that are a verb in the third person, beside those that end in "s" and are none.
_NOUNS = frozenset("status address progress pronouns business class glasses news gps os dns ips tasks".split())
_STATES = frozenset("located married born based engaged related called named".split())


def day(value: date) -> str:
    """``24 Feb 2026``."""
    return f"{value.day} {MONTHS[value.month - 1][:3]} {value.year}"


def plain(text: str) -> str:
    """Markdown text on one line, without the marks of lists, quotes, emphasis, code and links, and of drawn lines."""
    boxed = _BOX.sub(lambda found: found[1] + ("to do: " if found[2] == " " else "done: "), text)
    said = " ".join(inert(markdown.plain(boxed)).split())
    # What begins with one is part of a drawing, which is left as it is and not told.
    return said if _DRAWN.match(said) or not _DRAWN.search(said) else _DRAWN.sub(", ", said).rstrip(" ,")


def row(line: str, above: Sequence[str]) -> str | None:
    """A table row as ``header cell, header cell``, ``above`` being the lines before it; ``None`` when it is no row."""
    cells = _cells(line)
    if cells is None:
        return None
    header: list[str] = []
    for at in range(len(above) - 1, 0, -1):
        if _cells(above[at]) is None:
            break
        if markdown.is_delimiter(above[at]):
            header = _cells(above[at - 1]) or []
            break
    said = []
    for at, cell in enumerate(cells):
        name = plain(header[at]) if at < len(header) else ""
        if cell := plain(cell):
            said.append(f"{name} {cell}" if name and at else cell)
    return ", ".join(said)


def below(lines: Sequence[str], most: int, opening: str = "") -> str:
    """What a line that ends in a colon opens: the lines below it, up to a heading and about ``most`` characters.

    A line that opens something itself, or is a program's, is passed over; where ``opening`` is what a speaker says,
    the next turn of the same one is no part of it.
    """
    said: list[str] = []
    speaker = _SPEAKER.match(opening)
    for at, line in enumerate(lines):
        if speaker is not None and plain(line).startswith(speaker[0]):
            break
        if line.lstrip().startswith("#") or sum(map(len, said)) >= most:
            break
        text = row(line, lines[:at]) if _cells(line) is not None else plain(line)
        if text and not opens(text) and not is_machine(text):
            said.append(sentence(text))
        elif said and not line.strip():
            break
    return " ".join(said)


def opens(text: str) -> bool:
    """Whether a text ends at a colon, and so says nothing without what follows."""
    return text.rstrip("*_ ").endswith((":", "："))


def is_machine(text: str) -> bool:
    """Whether a text is what a program wrote: a line of a log, JSON, a trace, or mostly signs."""
    return machine.is_machine(text) or machine.is_signs(text)


def _cells(line: str) -> list[str] | None:
    line = line.strip()
    if not line.startswith("|") or len(line) < 2:
        return None
    inner = line[1:-1] if line.endswith("|") and not line.endswith("\\|") else line[1:]
    return [cell.replace("\\|", "|").strip() for cell in CELL_BORDER.split(inner)]


def part(text: str, offset: int, length: int) -> str:
    """The sentence of ``text`` that begins near ``offset`` and is about ``length`` characters long."""
    start = offset
    if offset > 0:
        near = [at for at, _ in sentence_spans(text) if abs(at - offset) <= 40]
        start = min(near, key=lambda at: abs(at - offset), default=offset)
        if not near:
            start = text.rfind(" ", 0, offset) + 1
    end = min(len(text), start + length)
    if end < len(text):
        space = text.find(" ", max(start, end - 1))
        end = len(text) if space < 0 else space
    return text[start:end].strip()


def sentence(text: str) -> str:
    """``text`` with a full stop where it has no other end."""
    return f"{text}." if text and (text[-1].isalnum() or text[-1] in "\"')]%`’”") else text


def shortened(text: str, most: int) -> str:
    """``text``, or as many of its words as fit into ``most`` characters with an ellipsis; empty when none does."""
    if len(text) <= most:
        return text
    cut = text[: max(0, most - 1)]
    at = cut.rfind(" ")
    cut = cut[:at] if at > most // 2 else cut
    return f"{cut.rstrip(' ,;:')}…" if len(cut) > most // 3 and len(cut) >= 8 else ""


def _without_day(heading: str, when: date) -> str:
    """``heading`` without the day it begins with, and ``when`` at its end; what is left may stand in brackets."""
    rest = re.sub(rf"\s*[-–—(\[,]*\s*{when.isoformat()}[)\]]?$", "", _DAY.sub("", heading))
    return rest[1:-1] if rest[:1] + rest[-1:] in ("()", "[]") else rest


def lead(when: date | None, path: str, heading: str) -> str:
    """Where a note's words come from: ``On 24 Feb 2026 (Benchmark)``, or the file's name when it has no day."""
    parts = [part for each in heading.split(" > ") if names_subject(part := plain(each).rstrip(" :："))]
    if when is not None:
        parts = [rest for part in parts if (rest := _without_day(part, when))]
    # The headings of captures say at which minute of which session something was said.
    headed = bool(parts) and not path.startswith("memory/captures/")
    # Of eight tokens: of a script whose characters cost more each, fewer are quoted.
    title = shortened(parts[-1], int(chars_of(8, parts[-1]))) if headed else ""
    stem = PurePosixPath(path).stem
    begin = f"On {day(when)}" if when is not None else f"In {plain(stem)}"
    return f"{begin} ({title})" if title and title.casefold() != stem.casefold() else begin


def fact(one: FactRow) -> str:
    """A fact as a sentence, with the day since when it holds or on which it was noted."""
    subject, relation, value = plain(one.subject), normalise(one.predicate) or plain(one.predicate), plain(one.object)
    subject = f"{subject} ({plain(one.under)})" if one.under else subject
    first = relation.split(" ")[0]
    if relation in ("is", "are"):
        said = f"{subject} {relation} {value}"
    elif relation == "about":
        said = f"{subject}: {value}"
    elif relation == "decided":
        said = f"Decision, {subject}: {value}"
    elif first in _STATES or relation == "working at":
        said = f"{subject} is {relation} {value}"
    elif first in ("is", "has", "was", "can") or (
        first.endswith("s") and not first.endswith("ss") and first not in _NOUNS and len(first) > 3
    ):
        said = f"{subject} {relation} {value}"
    else:
        said = f"{subject}, {relation}: {value}"
    if one.valid_from is not None:
        said = f"{said.rstrip(' .')} ({'since' if one.rule == STATED else 'noted'} {day(one.valid_from)})"
    return sentence(said)
