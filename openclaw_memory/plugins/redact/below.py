"""Find secrets below their label: cells below the head of a column, a value or a list on the lines behind a label."""

from __future__ import annotations

from collections.abc import Iterator

from ... import patterns as re
from ...text.lines import ITEM
from .labels import CODE, NEXT_CODE, NUMBERS, Span, parse_number, secret_type
from .values import has_digit_or_symbol, is_secret
from .vocabulary import NO_VALUE, find_labels, is_whole

_OPENS = re.compile(rf"[ \t>]*(?:{ITEM}[ \t]+)?(?:\[[ xX]\] )?")
#: The time and the speaker at the head of a message of a chat.
_SPEAKER = re.compile(
    r"\[?(?P<time>(?:\d{1,4}[-./]\d\d?[-./]\d{1,4}[ ,T]{1,2})?\d\d?[:.]\d\d(?:[:.]\d\d)?(?: ?[AP]M)?\]?[ ,-]{1,3})?"
    r"(?:<?[^\W\d_][\w.'’-]{0,20}(?: [\w.'’-]{1,20})?(?: \([\w:. ]{1,14}\))?(?:>|[:：]) ?)?",
)
_STAMP = re.compile(r"\d\d?:\d\d(?::\d\d)?\]?[):*_ \t]{0,4}$")
#: Cells by the sign between them: a bar, a tab, a semicolon, a comma, or a gap.
_CELLS = {
    **{sign: re.compile(rf'(?P<cell>"[^"\n]*"|[^{sign}\n]*+)(?:[{sign}]|$)') for sign in ("|", "\t", ";", ",")},
    "  ": re.compile(r"(?P<cell>(?:\S+(?: (?! ))?)*+)(?: {2,}|$)"),
}
_AROUND_CELL = " \t`*_\"'"
_LONGEST_ROW = 2000
_ITEMS = re.compile(r"(?<![^\s|,;`*\"'(])(?!\d{1,2}[.)][ \t])[^\s|,;`*\"'()]+")


def is_table_head(lines: list[str], at: int) -> bool:
    """Return true if line ``at`` is the head of a Markdown table: a row of dashes stands below it."""
    under = lines[at + 1] if "|" in lines[at] and at + 1 < len(lines) else ""
    return "--" in under and not under.strip(" \t|:->")


def find_in_columns(lines: list[str], at: int) -> Iterator[tuple[int, Span]]:
    """Yield the secrets below line ``at``, each with its line, if that is the head of a table, of CSV or of columns."""
    for sign, cell in _CELLS.items() if len(lines[at]) <= _LONGEST_ROW else ():
        if sign not in lines[at].strip():
            continue
        # What is not a Markdown table begins with its head.
        if not is_table_head(lines, at) if sign == "|" else at and sign in lines[at - 1].strip():
            continue
        heads = [match["cell"] for match in cell.finditer(lines[at])]
        kinds = {n: kind for n, head in enumerate(heads) if (kind := _kind_of_head(head))}
        if not kinds or any(len(head.split()) > 4 for head in heads):
            continue
        for i in range(at + 1, len(lines)):
            cells = list(cell.finditer(lines[i])) if len(lines[i]) <= _LONGEST_ROW else []
            if len(cells) < 3 or (len(cells) != len(heads) and sign != "|"):
                break
            for n, kind in kinds.items() if len(cells) == len(heads) else ():
                value = cells[n]["cell"].strip(_AROUND_CELL)
                if _is_secret_cell(kind, value) and (sign == "|" or has_digit_or_symbol(value)):
                    start = cells[n].start("cell") + cells[n]["cell"].find(value)
                    yield i, (start, start + len(value), secret_type(kind))


def _kind_of_head(cell: str) -> str:
    """Return the kind of secret in the column with the head ``cell``; empty unless that is a label and nothing else."""
    low = cell.strip(_AROUND_CELL).lower()
    kinds = (kind for start, end, kind in find_labels(low) if kind not in NO_VALUE and is_whole(low, start, end))
    return next(kinds, "")


def _is_secret_cell(kind: str, value: str) -> bool:
    """Return true if ``value`` is a secret in a column of this ``kind``."""
    if kind in NUMBERS and (number := parse_number(kind, value, 0)):
        return number[1] == len(value)
    if kind == "recovery-code":
        return CODE.match(value) is not None
    return is_secret(secret_type(kind), value, "quoted", value, len(value))


def announcement(line: str) -> str:
    """Return how ``line`` may announce a secret on the next one; empty if it does not.

    It is a ``question``, ends in a ``sign`` such as a colon, or is a ``short`` line of up to seven words.
    """
    text = line.rstrip(" \t\"'`*_)]|")
    if not text.strip(" >#-*+"):
        return ""
    if text[-1] in "?？":
        return "question"
    if text[-1] in ":：=>":
        return "sign"
    return "short" if text[-1] not in ".,;!" and len(text.split()) <= 7 else ""


def content_start(line: str, in_chat: bool) -> int:
    """Return where the words of ``line`` begin: behind marks of quotes and lists, and in a chat behind the speaker."""
    start = _OPENS.match(line).end()  # type: ignore[union-attr]
    speaker = _SPEAKER.match(line, start)
    return speaker.end() if speaker and (in_chat or speaker["time"]) else start


def is_chat(line: str) -> bool:
    """Return true if ``line`` begins with the time of a message."""
    speaker = _SPEAKER.match(line, _OPENS.match(line).end())  # type: ignore[union-attr]
    return speaker is not None and speaker["time"] is not None


def is_stamp(line: str) -> bool:
    """Return true if ``line`` merely states who writes the next one, and when."""
    return len(line) <= 60 and _STAMP.search(line) is not None


def is_only(text: str, start: int, end: int, announced_by: str) -> bool:
    """Return true if ``text`` is ``text[start:end]`` and marks around it; a plain word counts only in a ``fence``."""
    around = text[:start].strip(_AROUND_CELL + "([<=") + text[end:].strip(_AROUND_CELL + ".,;)]>=#")
    return not around and (
        announced_by == "fence" or text[0] in "\"'`" or has_digit_or_symbol(text[start:end]) or end - start > 15
    )


def listed_codes(lines: list[str]) -> list[list[Span]]:
    """Return the recovery codes of a list at the head of ``lines``, by line; none where there is no such list."""
    rows: list[list[Span]] = []
    for line in lines:
        items = [match.span() for match in _ITEMS.finditer(line, _OPENS.match(line).end())]  # type: ignore[union-attr]
        if not items or not all(NEXT_CODE.fullmatch(line[start:end]) for start, end in items):
            break
        rows.append([(start, end, "recovery-code") for start, end in items])
    texts = [line[start:end] for line, items in zip(lines, rows, strict=False) for start, end, _ in items]
    # Of codes of one length some may have no digit.
    least = len(texts) if len(set(map(len, texts))) > 1 else (len(texts) + 1) // 2
    return rows if len(texts) > 1 and sum(CODE.fullmatch(text) is not None for text in texts) >= least else []
