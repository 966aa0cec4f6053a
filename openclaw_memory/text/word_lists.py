"""Read the word lists of the package: text files whose lines stand below titles in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files


def lines_of(package: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a list, each with the title above it, without blank lines and remarks."""
    title = ""
    for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            title = line.strip("[]")
        elif line and not line.startswith("#"):
            yield title, line
