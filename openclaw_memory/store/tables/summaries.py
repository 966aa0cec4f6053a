"""Summaries among the documents: what they were made of, and which lines their sentences cite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model import Grain
from ..rows.catalog import SummaryInfo
from ..rows.texts import DerivedRows
from .sql import Sql, among


class SummaryTables:
    """The part of a store that knows of summaries."""

    _db: Sql
    #: Summaries as of a moment.
    _summaries: tuple[Any, list[SummaryInfo]] = None, []

    def summaries(self) -> list[SummaryInfo]:
        """All summaries, by path."""
        with self._db.turn():
            at = self._db.moment
            if self._summaries[0] != at:
                rows = self._db.rows(
                    "SELECT id, path, grain, front_matter, sha256, size FROM documents WHERE grain <> 'working'"
                )
                self._summaries = at, sorted((_info(*row) for row in rows), key=lambda info: info.path)
            return self._summaries[1]

    def derived_rows(self, documents: Sequence[int] | None = None) -> DerivedRows:
        """What the sentences of summaries cite: of those ``documents``, or of all."""
        found = self._db.rows(
            "SELECT unit_id, document_id, path, start_line, end_line FROM derived_from "
            f"{'' if documents is None else f'WHERE document_id IN {among(documents)} '}"
            "ORDER BY document_id, unit_id, path, start_line"
        )
        columns = list(zip(*found, strict=True)) if found else [(), (), (), (), ()]
        unit, document, first, last = (np.array(columns[at], np.int32) for at in (0, 1, 3, 4))
        return DerivedRows(unit, document, tuple(columns[2]), first, last)


def _info(id: int, path: str, grain: str, front: str, sha256: str, size: int) -> SummaryInfo:
    stated: dict[str, Any] = json.loads(front) if front else {}
    sources = []
    for entry in stated.get("sources") or ():
        name, _, digest = str(entry).rpartition(" ") if " " in str(entry) else (str(entry), "", "")
        sources.append((name, digest))
    return SummaryInfo(
        id=id,
        path=path,
        grain=Grain(grain),
        period=str(stated.get("period", "")),
        digest=str(stated.get("digest", "")),
        sources=tuple(sources),
        edited=bool(stated.get("edited", True)),
        sha256=sha256,
        size=size,
    )
