"""The units that a stated fact cites: once it holds no longer, their text says something outdated."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from ..ingest.summary_files import read_line
from ..model import FactRow, Origin
from ..store.api import Store
from .history import History, outdated, still_holds
from .validity import STATED, folded

_CITED = re.compile(r"(?P<path>.+?)(?:#L?|:)(?P<first>\d+)(?:-L?(?P<last>\d+))?")


_BETWEEN_CITATIONS = re.compile(r"[,;\s]+")


def origin_at(store: Store, workspace: Path, source: str | None, origin: Origin) -> Origin:
    """The less trusted of ``origin`` and that of the files that ``source`` cites, as far as the index has them."""
    if source is None:
        return origin
    cited = set()
    for part in (source, *_BETWEEN_CITATIONS.split(source)):
        match = _CITED.fullmatch(part.strip())
        for path in (part.strip(), match["path"] if match else ""):
            cited |= {_bare(path, workspace), _bare(_plain(path).partition("#")[0], workspace)}
    order = list(Origin)
    for info in store.document_infos():
        path = _bare(info.path, workspace)
        if path in cited or path.rpartition("/")[2] in cited:
            origin = max(origin, info.origin, key=order.index)
    return origin


def _plain(path: str) -> str:
    """``path`` as it is meant: no compatibility forms, nothing that nobody sees, no percent signs for letters."""
    for _ in range(3):
        path = unquote(unicodedata.normalize("NFKC", path))
    return "".join(filter(str.isprintable, path))


def _bare(path: str, workspace: Path) -> str:
    """A path in the workspace, whether written as a URL, absolute, from Windows, in a link or without its suffix."""
    path = _plain(path).strip(" <>[]()\"'`").replace("\\", "/")
    if path.lower().startswith("file:"):
        path = "/" + path[5:].lstrip("/").removeprefix("localhost/")
    path = posixpath.normpath(path).casefold()
    return path.removeprefix(f"{_plain(workspace.as_posix()).casefold()}/").removesuffix(".md")


def units_at(store: Store, known: History) -> dict[int, tuple[str, ...]]:
    """Units that superseded statements cite and that still hold the old words, and what became of these."""
    by_path: defaultdict[str, list[tuple[int, int, FactRow]]] = defaultdict(list)
    for row in known.rows:
        if row.rule == STATED and row.source and not row.current and not still_holds(known, row):
            if row.valid_to is not None and (match := _CITED.fullmatch(row.source.strip())) is not None:
                first = int(match["first"])
                by_path[match["path"]].append((first, int(match["last"] or first), row))
    if not by_path:
        return {}
    documents = {info.path: info.id for info in store.document_infos() if info.path in by_path}
    out: defaultdict[int, list[str]] = defaultdict(list)
    for path, document in documents.items():
        for unit, start, end, text in _texts(store, document):
            for first, last, row in by_path[path]:
                if start <= last and end >= first and folded(row.object) in folded(text):
                    out[unit].append(outdated(known, row))
    derived = store.derived_rows()  # summaries say what the lines say that they cite
    cited: defaultdict[int, defaultdict[int, list[FactRow]]] = defaultdict(lambda: defaultdict(list))
    for at, path in enumerate(derived.path):
        for first, last, row in by_path.get(path, ()):
            if derived.start_line[at] <= last and derived.end_line[at] >= first:
                cited[int(derived.document_id[at])][int(derived.unit_id[at])].append(row)
    for document, rows in cited.items():
        for unit, _, _, text in _texts(store, document):
            said = read_line(text, dated=False) if unit in rows else None
            if said is not None:
                out[unit] += [outdated(known, row) for row in rows[unit] if folded(row.object) in folded(said.text)]
    return {unit: tuple(dict.fromkeys(words)) for unit, words in out.items() if words}


def _texts(store: Store, document: int) -> Iterator[tuple[int, int, int, str]]:
    """Units of a document with their lines and what these say now: the note may have been edited since."""
    units = store.unit_rows([document])
    texts = store.section_texts(sorted({int(section) for section in units.section_id}))
    for at, unit in enumerate(units.unit_id.tolist()):
        start, end = int(units.start_line[at]), int(units.end_line[at])
        section = texts[int(units.section_id[at])]
        yield unit, start, end, " ".join(section.lines[start - section.start_line : end - section.start_line + 1])
