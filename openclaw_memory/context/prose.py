"""Plain sentences from rows, facts and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import PurePosixPath

import numpy as np

from .. import patterns as re
from ..facts.periods import STATED
from ..graph.view import GraphView
from ..ingest.summary_files import DATED, parse_line
from ..knowledge.predicates import normalise
from ..model import FactRow, Grain, chars_of
from ..store.api import SectionText
from ..system.sanitize import sanitize
from ..text import machine
from ..text import plain as markdown
from ..text.dates import MONTHS
from ..text.labels import names_subject
from ..text.lines import BULLET, CELL_BORDER
from ..text.sentences import sentence_spans
from ..text.struck import strike_lines

_BOX = re.compile(rf"(?m)^([ \t]*+(?:>[ \t]*+)*+{BULLET}[ \t]++)\[([ xX])\]\s++")
_SPEAKER = re.compile(r"[^\s:：]{1,30}[:：]\s+(?=\S)")
_DAY = re.compile(r"^\W*\d{4}-\d{2}-\d{2}\b[^\w(\[]*")
#: The lines of a drawing, such as a tree of files, between its labels.
_DRAWN = re.compile(r" ?[\u2500-\u257f][ \u2500-\u257f]*")

#: Relations that end in "s" and are no verb in the third person, and participles that need an "is".
_NOUNS = frozenset("status address progress pronouns business class glasses news gps os dns ips tasks".split())
_STATES = frozenset("located married born based engaged related called named".split())


def row_sentence(view: GraphView, section: SectionText, row: int, with_list: bool) -> str:
    """Return a row as a sentence; ``with_list`` appends the list that it introduces.

    Empty for an introduction without its list.
    """
    text = _row_text(view, section, row)
    if introduces_list(text):
        last = int(view.corpus.rows.end_line[row])
        below = strike_lines(section.lines)[0][last - section.start_line + 1 :]
        members = list_below(below, 90, text) if with_list else ""
        text = f"{text} {members}" if members else ""
    return end_sentence(text)


def _row_text(view: GraphView, section: SectionText, row: int, most: int = 320) -> str:
    """Return the text of a row in plain words: of a paragraph of more than ``most`` characters its own sentence."""
    rows = view.corpus.rows
    first, last = int(rows.start_line[row]), int(rows.end_line[row])
    section_lines = strike_lines(section.lines)[0]
    lines = section_lines[first - section.start_line : last - section.start_line + 1]
    if (grain := list(Grain)[int(view.corpus.shape.grain[row])]) is not Grain.WORKING:
        line = parse_line("\n".join(lines), grain in DATED)  # without its day and its citation
        return "" if line is None else plain_text(line.text)
    if lines and (cells := table_row(lines[0], section_lines[: first - section.start_line])) is not None:
        return cells if first == last else ""  # a table header is no statement
    text = plain_text("\n".join(lines))
    length = int(rows.chars[row])
    if len(text) <= max(most, length + 40):
        return text
    # A paragraph is cut into sentences in order, so the lengths of those before give the place of this one.
    same = np.flatnonzero(
        (rows.section_id == rows.section_id[row]) & (rows.start_line <= last) & (rows.end_line >= first)
    )
    offset = int((rows.chars[same[same < row]] + 1).sum())
    return sentence_at(text, offset, length)


def format_day(day: date) -> str:
    """Format a day: ``24 Feb 2026``."""
    return f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}"


def plain_text(text: str) -> str:
    """Return Markdown text on one line, without its marks and without drawn lines."""
    boxed = _BOX.sub(lambda match: match[1] + ("to do: " if match[2] == " " else "done: "), text)
    line = " ".join(sanitize(markdown.plain(boxed)).split())
    # A text that begins with a drawn line is a part of a larger drawing, and stays as it is.
    return line if _DRAWN.match(line) or not _DRAWN.search(line) else _DRAWN.sub(", ", line).rstrip(" ,")


def table_row(line: str, above: Sequence[str]) -> str | None:
    """Return a table row as ``header cell, header cell``; ``None`` for no row.  ``above`` are the lines before it."""
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
    parts = []
    for at, cell in enumerate(cells):
        name = plain_text(header[at]) if at < len(header) else ""
        if cell := plain_text(cell):
            parts.append(f"{name} {cell}" if name and at else cell)
    return ", ".join(parts)


def _cells(line: str) -> list[str] | None:
    line = line.strip()
    if not line.startswith("|") or len(line) < 2:
        return None
    inner = line[1:-1] if line.endswith("|") and not line.endswith("\\|") else line[1:]
    return [cell.replace("\\|", "|").strip() for cell in CELL_BORDER.split(inner)]


def list_below(lines: Sequence[str], most: int, introduction: str = "") -> str:
    """Return the ``lines`` below an ``introduction`` as sentences, up to a heading and about ``most`` characters.

    Lines that introduce a list themselves, or are a program's, are skipped.  Below the turn of a speaker, the next
    turn of the same one ends the list.
    """
    sentences: list[str] = []
    speaker = _SPEAKER.match(introduction)
    for at, line in enumerate(lines):
        if speaker is not None and plain_text(line).startswith(speaker[0]):
            break
        if line.lstrip().startswith("#") or sum(map(len, sentences)) >= most:
            break
        text = table_row(line, lines[:at]) if _cells(line) is not None else plain_text(line)
        if text and not introduces_list(text) and not is_machine(text):
            sentences.append(end_sentence(text))
        elif sentences and not line.strip():
            break
    return " ".join(sentences)


def introduces_list(text: str) -> bool:
    """Return true if a text ends with a colon, and so states nothing without the lines below it."""
    return text.rstrip("*_ ").endswith((":", "："))


def is_machine(text: str) -> bool:
    """Return true if a program wrote a text: a line of a log, JSON, a trace, or mostly signs."""
    return machine.is_machine(text) or machine.is_mostly_signs(text)


def sentence_at(text: str, offset: int, length: int) -> str:
    """Return the sentence of ``text`` that begins near ``offset`` and is about ``length`` characters long."""
    start = offset
    if offset > 0:
        near = [at for at, _ in sentence_spans(text) if abs(at - offset) <= 40]
        start = min(near, key=lambda at: abs(at - offset), default=text.rfind(" ", 0, offset) + 1)
    end = min(len(text), start + length)
    if end < len(text):
        space = text.find(" ", max(start, end - 1))
        end = len(text) if space < 0 else space
    return text[start:end].strip()


def end_sentence(text: str) -> str:
    """Return ``text`` with a full stop where it has no other end."""
    return f"{text}." if text and (text[-1].isalnum() or text[-1] in "\"')]%`’”") else text


def add_remark(text: str, remark: str) -> str:
    """Return a sentence with a remark in brackets before its end."""
    end = text[-1:] if text[-1:] in ".。" else ""
    return f"{text.removesuffix(end) if end else text} ({remark}){end or '.'}"


def shorten(text: str, most: int) -> str:
    """Cut ``text`` to whole words and an ellipsis within ``most`` characters; empty where too little is left."""
    if len(text) <= most:
        return text
    cut = text[: max(0, most - 1)]
    clause, at = max(cut.rfind(mark) for mark in (". ", ", ", "; ", "。", "，", "、")), cut.rfind(" ")
    at = clause if clause > 0.6 * most else at
    cut = cut[:at] if at > most // 2 else cut
    return f"{cut.rstrip(' ,;:')}…" if len(cut) > most // 3 and len(cut) >= 8 else ""


def format_lead(day: date | None, path: str, heading: str) -> str:
    """Name the source of a note's words: ``On 24 Feb 2026 (Benchmark)``, or the file's name when it has no day."""
    parts = [part for each in heading.split(" > ") if names_subject(part := plain_text(each).rstrip(" :："))]
    if day is not None:
        parts = [rest for part in parts if (rest := _without_day(part, day))]
    # The headings of captures are the minute and the session of a turn.
    headed = bool(parts) and not path.startswith("memory/captures/")
    # About eight tokens, which are fewer characters in some scripts.
    title = shorten(parts[-1], int(chars_of(8, parts[-1]))) if headed else ""
    stem = PurePosixPath(path).stem
    source = f"On {format_day(day)}" if day is not None else f"In {plain_text(stem)}"
    return f"{source} ({title})" if title and title.casefold() != stem.casefold() else source


def _without_day(heading: str, day: date) -> str:
    """Remove from ``heading`` the day it begins with, ``day`` at its end, and brackets around the rest."""
    rest = re.sub(rf"\s*[-–—(\[,]*\s*{day.isoformat()}[)\]]?$", "", _DAY.sub("", heading))
    return rest[1:-1] if rest[:1] + rest[-1:] in ("()", "[]") else rest


def format_fact(fact: FactRow) -> str:
    """Return a fact as a sentence, with the day since when it holds or on which it was noted."""
    subject, value = plain_text(fact.subject), plain_text(fact.object)
    relation = normalise(fact.predicate) or plain_text(fact.predicate)
    subject = f"{subject} ({plain_text(fact.under)})" if fact.under else subject
    first = relation.split(" ")[0]
    is_verb = first in ("is", "has", "was", "can") or (
        first.endswith("s") and not first.endswith("ss") and first not in _NOUNS and len(first) > 3
    )
    if relation == "about":
        text = f"{subject}: {value}"
    elif relation == "decided":
        text = f"Decision, {subject}: {value}"
    elif first in _STATES or relation == "working at":
        text = f"{subject} is {relation} {value}"
    elif is_verb or relation == "are":
        text = f"{subject} {relation} {value}"
    else:
        text = f"{subject}, {relation}: {value}"
    if fact.valid_from is not None:
        text = f"{text.rstrip(' .')} ({'since' if fact.rule == STATED else 'noted'} {format_day(fact.valid_from)})"
    return end_sentence(text)
