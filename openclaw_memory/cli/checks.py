"""Checks for people, the same in ``doctor``, ``setup``, ``status`` and ``upgrade``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import Check
    from .context import CliContext

#: Mark, the word for a terminal that cannot show it, and colour: of what is well, worth knowing, and wrong.
_WELL, _NOTE, _WRONG = ("✓", "ok", "green"), ("!", "note", "yellow"), ("✗", "wrong", "red")


def show_check(cli: CliContext, check: Check) -> None:
    """Print what was looked at behind its mark, and below it how to mend it."""
    from rich.text import Text

    mark, word, colour = _WRONG if not check.ok else _NOTE if check.remark else _WELL
    line = Text(f"{mark if _shown() else word} ", style=colour)
    line.append(f"{check.name}: ", style="bold").append(check.detail, style="default")
    cli.out.print(line, highlight=False, soft_wrap=True)
    if check.fix:
        cli.out.print(Text(f"  {check.fix}", style="yellow"), highlight=False, soft_wrap=True)


def _shown() -> bool:
    """Whether standard output can hold the marks."""
    try:
        "✓✗".encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
