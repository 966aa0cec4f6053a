"""Lines of notes for people: indented, the words of the question marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Marks words of a line in place.
Mark = Callable[["Text"], None]


def marking(question: str) -> Mark:
    """What marks the words that ``question`` asks for, in any form that search takes for the same."""
    from ..text.analysis import occurrences

    def mark(line: Text) -> None:
        for start, end in occurrences(question, line.plain):
            line.stylize("bold magenta", start, end)

    return mark


def show_line(out: Console, line: Text, indent: int) -> None:
    """Print a line ``indent`` columns in, where a terminal goes on with what does not fit."""
    from rich.padding import Padding

    if out.is_terminal:
        out.print(Padding(line, (0, 0, 0, indent), expand=False))
    else:
        out.print(" " * indent, end="")
        out.print(line)
