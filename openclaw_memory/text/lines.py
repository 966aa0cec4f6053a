"""Split texts into lines as an editor counts them."""

from __future__ import annotations

from .. import patterns as re

#: Parts of patterns for the mark of a list item: a number, any mark of Markdown, or also a pasted bullet.
NUMBER = r"\d{1,9}[.)]"
ITEM = rf"(?:[-*+]|{NUMBER})"
BULLET = rf"(?:[-*+•]|{NUMBER})"
#: A line that opens or closes code; the border between the cells of a row.
FENCE, CELL_BORDER = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})"), re.compile(r"(?<!\\)\|")


def cells_of(row: str) -> list[str]:
    """Return the cells of a table's row, with the blanks around them."""
    return CELL_BORDER.split(row.strip(" \t>").removeprefix("|").removesuffix("|"))


def split_lines(text: str) -> list[str]:
    """Split ``text`` into lines at ``\\n``, ``\\r\\n`` and ``\\r``, and nowhere else.

    ``str.splitlines`` also breaks at form feeds, U+0085 and U+2028, which no editor and no Markdown
    parser counts; every line number of this package comes from this function.  A final line end does
    not open one more, empty line.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
