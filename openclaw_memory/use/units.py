"""Relate uses to the units of an index: what they add to rows, verdicts on hits, and where a unit stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from .. import patterns as re
from ..config.workspace import to_nfc
from ..errors import RequestError
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import bounds, parse_citation
from ..store.api import Floats, Store, UnitRows
from ..text import analysis
from .tracker import Usage, UsageBoosts

if TYPE_CHECKING:
    from ..model import FeedbackReport


class RowBoosts:
    """Finds the rows of used units, and keeps their boosts until the corpus or the use changes."""

    def __init__(self) -> None:
        self._key: tuple[str, int] | None = None
        self._boost: Floats | None = None

    def boost(self, uses: UsageBoosts, corpus: Corpus, archive: Archive) -> Floats | None:
        """Return the boost of every row in [-1, 1], ``float32[n]``; ``None`` where no row has one.

        The boost of an archived note goes to the sentences of its summary too, as long as it is in the index.
        """
        key = uses.version, corpus.version
        if key != self._key:
            self._boost = self._compute(uses, corpus, archive)
            self._key = key
        return self._boost

    def _compute(self, uses: UsageBoosts, corpus: Corpus, archive: Archive) -> Floats | None:
        rows = _rows(uses.paths, corpus)
        boosts = [(row, value) for hit, value in uses.boosts.items() if (row := rows.get(hit)) is not None]
        if not boosts:
            return None
        boost = np.zeros(len(corpus), np.float32)
        for row, value in boosts:
            boost[row] = value
        summary, source = archive.originals()
        np.add.at(boost, summary, boost[source])
        return np.clip(boost, -1, 1)


def _rows(paths: Mapping[str, str], corpus: Corpus) -> dict[str, int]:
    """Return rows by the ids of hits, of those that are in the corpus; ``paths`` are their files."""
    documents = {info.path: info.id for info in corpus.documents.values()}
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for hit, path in paths.items():
        ids[path].append(hit)
    rows = corpus.rows
    row_of: dict[str, int] = {}
    for path, hits in ids.items():
        if (document := documents.get(path)) is None:
            continue
        # The rows of a document lie side by side.
        first, end = (int(rows.document_id.searchsorted(np.int32(document), side=side)) for side in ("left", "right"))
        columns = rows.hash[first:end].tolist(), rows.occurrence[first:end].tolist()
        by_id = {analysis.hit_id(path, *unit): first + at for at, unit in enumerate(zip(*columns, strict=True))}
        row_of |= {hit: by_id[hit] for hit in hits if hit in by_id}
    return row_of


# -- verdicts ----------------------------------------------------------------------------------------------------------


def record(store: Store, usage: Usage, chunk: str, verdict: str, today: date) -> FeedbackReport:
    """Record that the unit which ``chunk`` names was ``useful`` or ``irrelevant``; see :func:`resolve_unit`.

    Raises :class:`~openclaw_memory.errors.RequestError`, and :class:`~openclaw_memory.errors.WorkspaceError` when the
    state cannot be written.
    """
    unit, path = resolve_unit(store, usage, chunk)
    return usage.feedback(unit, path, verdict, today)


def resolve_unit(store: Store, usage: Usage, chunk: str) -> tuple[str, str]:
    """Return id and path of the unit that ``chunk`` names: the id of a hit, or its lines as they are cited or printed.

    Of several units in those lines it is the one that was shown last, else the first that is no heading.  Raises
    :class:`~openclaw_memory.errors.RequestError` when there is none.
    """
    name = chunk.strip()
    last_days = usage.last_days()
    with store.session():
        paths = {info.path: info.id for info in store.document_infos()}
        if re.fullmatch(r"[0-9a-f]{16}", name):
            return name, _path_of(name, store, paths, last_days.get(name, ("", date.min))[0])
        citation = parse_citation(name) if len(name) <= bounds.LONGEST_NAME else None
        path = to_nfc(citation[0].replace("\\", "/").removeprefix("./")) if citation else ""
        path = next((indexed for indexed in paths if to_nfc(indexed) == path), path)
        if citation is None or path not in paths:
            raise RequestError(
                f"{bounds.shorten(name)} names nothing in the index; "
                "give the id of a hit, or its lines, as memory/2026-03-01.md#L3"
            )
        units = store.unit_rows([paths[path]])
    _, first, last = citation
    inside = [at for at in range(len(units.hash)) if units.start_line[at] <= last and units.end_line[at] >= first]
    if not inside:
        raise RequestError(f"{path} has no text in line {first}{f' to {last}' if last > first else ''}; cite a hit")
    ids = {at: _id(path, units, at) for at in inside}

    def rank(at: int) -> tuple[date, bool]:
        return last_days.get(ids[at], ("", date.min))[1], not units.heading[at]

    return ids[max(inside, key=rank)], path  # of equal ones the first


def line_of(store: Store, usage: Usage, unit: str) -> tuple[str, int]:
    """Return path and first line of the unit with the id ``unit``.  Raises as :func:`resolve_unit`."""
    with store.session():
        _, path = resolve_unit(store, usage, unit)
        (document,) = (info.id for info in store.document_infos() if info.path == path)
        units = store.unit_rows([document])
    return path, next(int(units.start_line[at]) for at in range(len(units.hash)) if _id(path, units, at) == unit)


def _path_of(unit: str, store: Store, paths: dict[str, int], likely: str) -> str:
    if likely in paths:
        units = store.unit_rows([paths[likely]])
        if any(_id(likely, units, at) == unit for at in range(len(units.hash))):
            return likely
    by_id = {document: path for path, document in paths.items()}
    units = store.unit_rows(None)
    for at in range(len(units.hash)):
        path = by_id[int(units.document_id[at])]
        if _id(path, units, at) == unit:
            return path
    raise RequestError(f"no unit has the id {unit}; take that of a hit as 'search --json' shows it, or cite its lines")


def _id(path: str, units: UnitRows, at: int) -> str:
    return analysis.hit_id(path, int(units.hash[at]), int(units.occurrence[at]))
