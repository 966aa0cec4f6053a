"""Read texts of the package, and its word lists, whose lines stand below titles in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from pkgutil import get_data


def read_text(package: str, name: str) -> str:
    """Return the text of a file in a package."""
    data = get_data(package, name)
    assert data is not None
    return data.decode()


def lines_of(package: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a list, each with the title above it, without blank lines and remarks."""
    title = ""
    for line in read_text(package, name).splitlines():
        if line.startswith("["):
            title = line.strip("[]")
        elif line and not line.startswith("#"):
            yield title, line
