"""Tables of texts that tests go through, in ``tests/data``."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

_SIGNS = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\e": "", "\\#": "#", "\\[": "[", "\\\\": "\\"}


def table(name: str, title: str, *kinds: Callable[[str], Any]) -> list[Any]:
    """Return the rows below ``title`` in a file of ``tests/data``: cells, or tuples of cells that tabs separate.

    A line end, a tab, nothing and a backslash are written ``\\n``, ``\\t``, ``\\e`` and ``\\\\``; a line that begins
    with ``# `` is a remark, and one with ``\\#`` or ``\\[`` is neither that nor a title.  Cells are texts, or what
    ``kinds`` make of them, one for each column.
    """
    rows: list[Any] = []
    below_title = False
    for line in (Path(__file__).parent / "data" / name).read_text(encoding="utf-8").split("\n"):
        if line.startswith("[") and line.endswith("]") and "\t" not in line:
            below_title = line == f"[{title}]"
        elif below_title and line and not line.startswith("# "):
            texts = [re.sub(r"\\[ntre#\[\\]", lambda sign: _SIGNS[sign[0]], cell) for cell in line.split("\t")]
            cells = [kind(text) for kind, text in zip(cycle(kinds or (str,)), texts, strict=False)]
            rows.append(cells[0] if len(cells) == 1 else tuple(cells))
    assert rows, f"{name} has no rows below [{title}]"
    return rows


def parts(cell: str) -> list[str]:
    """Return the texts of a cell that bars separate."""
    return cell.split("|") if cell else []


def yes(cell: str) -> bool:
    """Return true for ``yes``, and false for ``no``."""
    assert cell in ("yes", "no"), cell
    return cell == "yes"
