"""Tables of texts that tests go through, in ``tests/data``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SIGNS = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\e": "", "\\\\": "\\"}


def table(name: str, title: str) -> list[Any]:
    """The rows below ``title`` in a file of ``tests/data``: texts, or tuples of texts that tabs separate.

    A line end, a tab, nothing and a backslash are written ``\\n``, ``\\t``, ``\\e`` and ``\\\\``.
    """
    found: list[Any] = []
    here = False
    for line in (Path(__file__).parent / "data" / name).read_text(encoding="utf-8").split("\n"):
        if line.startswith("[") and line.endswith("]") and "\t" not in line:
            here = line == f"[{title}]"
        elif here and line and not line.startswith("# "):
            cells = [re.sub(r"\\[ntre\\]", lambda sign: _SIGNS[sign[0]], cell) for cell in line.split("\t")]
            found.append(cells[0] if len(cells) == 1 else tuple(cells))
    assert found, f"{name} has no rows below [{title}]"
    return found
