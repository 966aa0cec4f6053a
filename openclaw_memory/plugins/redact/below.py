"""Secrets below their label: cells below the head of a column, a value or a list on the lines behind a label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...text.lines import ITEM
from .labels import CODE, LIST_OF_WORDS, LISTED, NO_VALUE, NUMBERS, Label, automaton, is_whole
from .opaque import is_random
from .values import UNCASED_LETTER, has_digit_or_symbol, is_no_secret, passes

_ANNOUNCES = re.compile(r"[\"'`*_]{0,4}[ \t]{0,4}(?P<sign>[:：=]?)[*_`]{0,3}[ \t]{0,8}(?:[|>][+-]?)?[ \t]{0,4}$")
_BIP39_WORD = re.compile(r"[^\W\d_]{2,12}")
_ALONE = re.compile(
    rf"[ \t]*(?:>[ \t]*)*(?:{ITEM}[ \t]+)?(?P<open>[\"'`*_]{{0,3}})(?P<value>[^\s\"'`|]{{2,256}}?)[\"'`*_,]{{0,4}}[ \t]*"
)


#: A cell and what parts it from the next: a bar, a tab, a semicolon, a comma, or a gap.
_PARTED = (
    *(re.compile(rf"(?P<cell>\"[^\"\n]*\"|[^{sign}\n]*+)(?:[{sign}]|$)") for sign in ("|", "\t", ";", ",")),
    re.compile(r"(?P<cell>(?:\S+(?: (?! ))?)*+)(?: {2,}|$)"),
)
_LONGEST_HEADS = 2000
_AROUND_CELL = " \t`*_\"'"


def kind_of_cell(cell: str) -> str | None:
    """What a table's column holds whose head is ``cell``, if that is a label and nothing else."""
    low = cell.strip(_AROUND_CELL).lower()
    for end, label in automaton(not low.isascii()).iter(low):
        if (
            end + 1 == len(low)
            and label.kind not in NO_VALUE
            and (label.length == len(low) or not low[-label.length - 1].isalpha())
        ):
            return "password" if label.kind in ("pin", "passphrase") else label.kind
    return None


def passes_in_cell(kind: str, value: str) -> bool:
    """Whether a cell below such a head is a secret."""
    if not value:
        return False
    if kind == "seed-phrase":
        return LIST_OF_WORDS.fullmatch(value) is not None
    if kind in NUMBERS:
        return value.replace(" ", "").isdigit() and NUMBERS[kind][0] <= len(value.replace(" ", "")) <= NUMBERS[kind][1]
    if kind == "recovery-code":
        return CODE.match(value) is not None
    if kind == "password" and not has_digit_or_symbol(value):
        return len(value) >= 4 and not is_no_secret(value) and " " not in value and not UNCASED_LETTER.search(value)
    return passes(kind, value, "quoted", value, len(value))


def columns(lines: list[str], at: int) -> Iterator[tuple[int, tuple[int, int, str]]]:
    """The secrets below line ``at``, each with its line, where that is the head of a table, of CSV or of columns."""
    for parted in _PARTED if len(lines[at]) <= _LONGEST_HEADS else ():
        heads = list(parted.finditer(lines[at]))
        kinds = {n: kind for n, head in enumerate(heads) if (kind := kind_of_cell(head["cell"]))}
        if not kinds or len(heads) < 3 or any(len(head["cell"].split()) > 4 for head in heads):
            continue
        for i in range(at + 1, len(lines)):
            cells = list(parted.finditer(lines[i])) if len(lines[i]) <= _LONGEST_HEADS else []
            if len(cells) < 3:
                break
            for n, kind in kinds.items() if len(cells) == len(heads) else ():
                value = cells[n]["cell"].strip(_AROUND_CELL)
                if passes_in_cell(kind, value) and (parted is _PARTED[0] or has_digit_or_symbol(value)):
                    start = cells[n].start("cell") + cells[n]["cell"].find(value)
                    yield i, (start, start + len(value), kind)
        return


def announced_below(line: str, low: str) -> str | None:
    """What the next line is to hold, where ``line`` ends in a label with a colon or is a heading that does."""
    if len(line) > 400:
        return None
    label: Label
    for end, label in automaton(not low.isascii()).iter(low):
        if label.kind in NO_VALUE or (label.whole and not is_whole(low, end + 1 - label.length, end + 1)):
            continue
        tail = _ANNOUNCES.match(line, end + 1)
        if tail is not None and (tail["sign"] or line.lstrip().startswith("#")):
            return label.kind
    return None


def listed(lines: list[str], kind: str) -> list[tuple[int, int, str]]:
    """The secrets that stand one a line at the head of ``lines``, below their label; none where these are no such list."""
    found: list[tuple[int, int, str]] = []
    for line in lines:
        match = _ALONE.fullmatch(line) if kind in LISTED else None
        if match is None or not (_BIP39_WORD if kind == "seed-phrase" else CODE).fullmatch(match["value"]):
            break
        found.append((*match.span("value"), kind))
    return found if len(found) in ((12, 15, 18, 21, 24) if kind == "seed-phrase" else range(2, 100)) else []


def alone(line: str, kind: str, fenced: bool = False) -> tuple[int, int, str] | None:
    """The secret that is all there is on ``line``, which is announced by a label above."""
    if kind == "seed-phrase":
        several = LIST_OF_WORDS.search(line)
        return None if several is None else (*several.span("value"), kind)
    found = _ALONE.fullmatch(line)
    if found is None:
        return None
    value = found["value"]
    if not (found["open"] or fenced or is_random(value, digits=0)) and not has_digit_or_symbol(value):
        return None
    if passes(kind, value, "strong", line, len(line)):
        return (*found.span("value"), "password" if kind in ("pin", "passphrase") else kind)
    return None
