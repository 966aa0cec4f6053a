"""Lines of notes for people: indented, wrapped behind their bullet, the words of the question marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: What a line of Markdown begins with, and what its text is wrapped behind.
_LEAD = re.compile(r"\s*(?:\[\d{4}-\d\d-\d\d\]\s+)?(?:(?:[-*+•>]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?")
_FOUND = "bold magenta"

#: Marks words of a line in place.
Mark = Callable[["Text"], None]


def marking(question: str) -> Mark:
    """What marks the words that ``question`` asks for, in any form that search takes for the same."""
    from ..text.analysis import occurrences

    def mark(line: Text) -> None:
        for start, end in occurrences(question, line.plain):
            line.stylize(_FOUND, start, end)

    return mark


def show_line(out: Console, line: Text, indent: int) -> None:
    """Print a line ``indent`` columns in; a terminal wraps it behind its bullet, a pipe not at all."""
    from rich.padding import Padding
    from rich.table import Table

    if not out.is_terminal:
        out.print(" " * indent, end="")
        out.print(line)
        return
    lead = _LEAD.match(line.plain)
    at = lead.end() if lead is not None and lead.end() < len(line) else 0
    grid = Table.grid(padding=0)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(line[:at], line[at:])
    out.print(Padding(grid, (0, 0, 0, indent), expand=False))
