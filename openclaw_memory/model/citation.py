"""Lines of a file as they are cited: written and read."""

from __future__ import annotations

import re


def citation(path: str, first: int, last: int) -> str:
    """``path#L3`` or ``path#L3-L9``."""
    return f"{path}#L{first}" + (f"-L{last}" if last > first else "")


_CITED = re.compile(r"(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)$")


def cited(text: str) -> tuple[str, int, int] | None:
    """Path, first and last line of a :func:`citation`, or of ``path:3-9`` as results are printed; else ``None``."""
    found = _CITED.search(text.strip())
    if found is None:
        return None
    first = int(found[1] or found[3])
    return text.strip()[: found.start()], first, int(found[2] or found[4] or first)
