"""Write and read citations of lines."""

from __future__ import annotations

from .. import patterns as re


def citation(path: str, first: int, last: int) -> str:
    """Return ``path#L3`` or ``path#L3-L9``."""
    return f"{path}#L{first}" + (f"-L{last}" if last > first else "")


def parse_citation(text: str) -> tuple[str, int, int] | None:
    """Return path, first and last line of a :func:`citation` or of ``path:3-9``; else ``None``."""
    match = re.search(r"(?:#L(\d{1,9})(?:-L?(\d{1,9}))?|:(\d{1,9})(?:-(\d{1,9}))?)$", text.strip())
    if match is None:
        return None
    first = int(match[1] or match[3])
    return text.strip()[: match.start()], first, int(match[2] or match[4] or first)
