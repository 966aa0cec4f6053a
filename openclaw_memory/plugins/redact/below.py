"""Secrets below their label: cells below the head of a column, a value or a list on the lines behind a label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...text.lines import ITEM
from .labels import CODE, LIST_OF_WORDS, LISTED, NUMBERS, numbered
from .values import UNCASED_LETTER, has_digit_or_symbol, is_no_secret, passes
from .vocabulary import NO_VALUE, automaton, is_whole

_FEW_WORDS = 7
_OPENS = re.compile(rf"[ \t>]*(?:{ITEM}[ \t]+)?(?:\[[ xX]\] )?")
#: Who writes in a chat, and when.
_SPEAKER = re.compile(
    r"\[?(?P<time>(?:\d{1,4}[-./]\d\d?[-./]\d{1,4}[ ,T]{1,2})?\d\d?[:.]\d\d(?:[:.]\d\d)?(?: ?[AP]M)?\]?[ ,-]{1,3})?"
    r"(?:<?[^\W\d_][\w.'’-]{0,20}(?: [\w.'’-]{1,20})?(?: \([\w:. ]{1,14}\))?(?:>|[:：]) ?)?",
)
_BIP39_WORD = re.compile(r"[^\W\d_]{2,12}")


#: What parts a cell from the next, and a cell: a bar, a tab, a semicolon, a comma, or a gap.
_PARTED = {
    **{sign: re.compile(rf'(?P<cell>"[^"\n]*"|[^{sign}\n]*+)(?:[{sign}]|$)') for sign in ("|", "\t", ";", ",")},
    "  ": re.compile(r"(?P<cell>(?:\S+(?: (?! ))?)*+)(?: {2,}|$)"),
}
_LIKE_CODE = re.compile(r"[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,7}")
_ITEMS = re.compile(r"(?<![^\s|,;`*\"'(])(?!\d{1,2}[.)][ \t])[^\s|,;`*\"'()]+")
_LONGEST_HEAD = 60
_STAMP = re.compile(r"\d\d?:\d\d(?::\d\d)?\]?[):*_ \t]{0,4}$")
_LONGEST_HEADS = 2000
_AROUND_CELL = " \t`*_\"'"


def kind_of_cell(cell: str) -> str | None:
    """What a table's column holds whose head is ``cell``, if that is a label and nothing else."""
    low = cell.strip(_AROUND_CELL).lower()
    for end, label in automaton(not low.isascii()).iter(low):
        if label.kind not in NO_VALUE and is_whole(low, end + 1 - label.length, end + 1):
            return "password" if label.kind in ("pin", "passphrase") else label.kind
    return None


def passes_in_cell(kind: str, value: str) -> bool:
    """Whether a cell below such a head is a secret."""
    if not value:
        return False
    if kind == "seed-phrase":
        return LIST_OF_WORDS.fullmatch(value) is not None
    if kind in NUMBERS and (number := numbered(kind, value, 0)):
        return number[1] == len(value)
    if kind == "recovery-code":
        return CODE.match(value) is not None
    if kind == "password" and not has_digit_or_symbol(value):
        return len(value) >= 4 and not is_no_secret(value) and " " not in value and not UNCASED_LETTER.search(value)
    return passes(kind, value, "quoted", value, len(value))


def columns(lines: list[str], at: int) -> Iterator[tuple[int, tuple[int, int, str]]]:
    """The secrets below line ``at``, each with its line, where that is the head of a table, of CSV or of columns."""
    under = lines[at + 1] if at + 1 < len(lines) and len(lines[at]) <= _LONGEST_HEADS else ""
    for sign, parted in _PARTED.items():
        if sign not in under or sign not in lines[at].strip():
            continue
        # A row of dashes tells the head of a table; what is parted otherwise begins with it.
        if "-" * 2 not in under or under.strip(" \t|:->") if sign == "|" else at and sign in lines[at - 1].strip():
            continue
        heads = list(parted.finditer(lines[at]))
        kinds = {n: kind for n, head in enumerate(heads) if (kind := kind_of_cell(head["cell"]))}
        if not kinds or len(heads) < 3 or any(len(head["cell"].split()) > 4 for head in heads):
            continue
        for i in range(at + 1, len(lines)):
            cells = list(parted.finditer(lines[i])) if len(lines[i]) <= _LONGEST_HEADS else []
            if len(cells) < 3 or (len(cells) != len(heads) and sign != "|"):
                break
            for n, kind in kinds.items() if len(cells) == len(heads) else ():
                value = cells[n]["cell"].strip(_AROUND_CELL)
                if passes_in_cell(kind, value) and (sign == "|" or has_digit_or_symbol(value)):
                    start = cells[n].start("cell") + cells[n]["cell"].find(value)
                    yield i, (start, start + len(value), kind)
        return


def announces(line: str) -> str:
    """How ``line`` says that the next holds a secret: by a ``question``, by the ``sign`` at its end, by being ``short``."""
    text = line.rstrip(" \t\"'`*_)]")
    if len(text) > 400 or not text.strip(" >#-*+"):
        return ""
    if text[-1] in "?？":
        return "question"
    if text[-1] in ":：=>" or text.endswith("|"):
        return "sign"
    if is_chat(line):
        return "chat"
    return "short" if text[-1] not in ".,;!" and len(text.split()) <= _FEW_WORDS else ""


def content(line: str, chat: bool) -> int:
    """Where what ``line`` says begins: behind marks of quotes and lists, the time, and who says it in a ``chat``."""
    head = _OPENS.match(line).end()  # type: ignore[union-attr]
    speaker = _SPEAKER.match(line, head)
    return speaker.end() if speaker and (chat or speaker["time"]) else head


def is_chat(line: str) -> bool:
    """Whether ``line`` begins with the time at which somebody says it."""
    speaker = _SPEAKER.match(line, _OPENS.match(line).end())  # type: ignore[union-attr]
    return speaker is not None and speaker["time"] is not None


def is_stamp(line: str) -> bool:
    """Whether ``line`` says who writes the next one, and when, and no more."""
    return len(line) <= _LONGEST_HEAD and _STAMP.search(line) is not None


def is_all(text: str, start: int, end: int, how: str) -> bool:
    """Whether what is at ``start`` to ``end`` is all there is in ``text``, and is no mere word but in a block."""
    around = text[:start].strip(_AROUND_CELL + "([<=") + text[end:].strip(_AROUND_CELL + ".,;)]>=#")
    return not around and (
        how == "fence" or text[0] in "\"'`" or has_digit_or_symbol(text[start:end]) or end - start > 15
    )


def listed(lines: list[str], kind: str) -> list[list[tuple[int, int, str]]]:
    """The secrets of a list at the head of ``lines``, below their label, for each line; none where there is no such list."""
    found: list[list[tuple[int, int, str]]] = []
    for line in lines if kind in LISTED else ():
        head = _OPENS.match(line).end()  # type: ignore[union-attr]
        shape = _BIP39_WORD if kind == "seed-phrase" else CODE
        several = [(*match.span(), kind) for match in _ITEMS.finditer(line, head)]
        # Of codes of one length some may have no digit.
        like = (
            {len(line[first:last]) for first, last, _ in (*several, *(found[0] if found else ()))}
            if shape is CODE
            else set()
        )
        if not several or not (
            all(shape.fullmatch(line[first:last]) for first, last, _ in several)
            or (found and len(like) == 1 and all(_LIKE_CODE.fullmatch(line[first:last]) for first, last, _ in several))
        ):
            break
        found.append(several)
    count = sum(map(len, found))
    return found if (count in (12, 15, 18, 20, 21, 24, 25, 33) if kind == "seed-phrase" else count >= 2) else []
