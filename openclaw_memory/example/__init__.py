"""The example workspace for demos and tests: a few weeks in the notes of an agent called Magpie.

Eight Markdown files beside this module, laid out as in a real workspace.  People, incidents and measurements in them
are invented.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from ..errors import WorkspaceError

#: Queries and the part of the ranking that each shows.  The date has its year, so that the answer stays the same.
QUERIES: tuple[tuple[str, str], ...] = (
    ("RTX 5070 Ti", "exact terms: keyword search finds the one line that describes this GPU"),
    (
        "teeth appointment for our daughter",
        "meaning: no word of the question is in any note, vectors find the answer",
    ),
    ("What broke in early March 2026?", "time: notes from the days that the question names come first"),
    ("blue bunny", "a single remembered line: two rare words, one hit far ahead of the rest"),
)

#: A question whose answer is a thread through five notes.
THREAD = "why did we choose this embedding model?"


def files() -> Traversable:
    """Return the root of the example workspace; ``MEMORY.md``, ``USER.md`` and ``memory/`` are below it."""
    return resources.files(__name__)


def copy_to(target: Path) -> list[Path]:
    """Copy the example workspace into ``target`` and return the paths of its files, sorted.

    A file that is already there with the same content is left alone.  Raises :class:`WorkspaceError` naming the path,
    before anything is written, when a file there differs.
    """
    copies = {target / name: content for name, content in _markdown(files(), "")}
    for path, content in copies.items():
        if path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise WorkspaceError(f"{path}: exists and is not the example's own file; choose an empty folder")
    for path, content in copies.items():
        if not path.exists():
            path.parent.mkdir(0o755, parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(copies)


def _markdown(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _markdown(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield prefix + entry.name, entry.read_bytes()
