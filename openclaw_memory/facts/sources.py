"""The units that a stated fact cites: once it holds no longer, their text says something outdated."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from pathlib import Path

from ..store.protocol import Store
from ..types import FactRow, Origin
from .history import History, outdated, still_holds
from .periods import STATED, folded

_CITED = re.compile(r"(?P<path>.+?)(?:#L?|:)(?P<first>\d+)(?:-L?(?P<last>\d+))?")


_BETWEEN_CITATIONS = re.compile(r"[,;\s]+")


def origin_at(store: Store, workspace: Path, source: str | None, origin: Origin) -> Origin:
    """The less trusted of ``origin`` and that of the files that ``source`` cites, as far as the index has them."""
    if source is None:
        return origin
    cited = set()
    for part in (source, *_BETWEEN_CITATIONS.split(source)):
        match = _CITED.fullmatch(part.strip())
        for path in (part.strip(), part.strip().partition("#")[0], match["path"] if match else ""):
            inside = path.removeprefix(f"{workspace.as_posix()}/")
            cited.add(posixpath.normpath(inside.replace("\\", "/")).casefold())
    order = list(Origin)
    told = (info.origin for info in store.document_infos() if info.path.casefold() in cited)
    return max((origin, *told), key=order.index)


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
        units = store.unit_rows([document])
        texts = store.section_texts(sorted({int(section) for section in units.section_id}))
        for first, last, row in by_path[path]:
            for at in range(len(units.unit_id)):
                start, end = int(units.start_line[at]), int(units.end_line[at])
                if start > last or end < first:
                    continue
                section = texts[int(units.section_id[at])]
                text = " ".join(section.lines[start - section.start_line : end - section.start_line + 1])
                # The note may have been edited since: only what still says it is outdated.
                if folded(row.object) in folded(text):
                    out[int(units.unit_id[at])].append(outdated(known, row))
    return {unit: tuple(dict.fromkeys(words)) for unit, words in out.items()}
