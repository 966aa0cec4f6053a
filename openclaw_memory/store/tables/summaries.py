"""Summaries among the documents: what they were made of, and which lines their sentences cite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ...model import Grain
from ..rows.catalog import SummaryInfo
from ..rows.texts import DerivedRows
from .sql import Sql, among


class SummaryTables:
    """The part of a store that knows of summaries."""

    _db: Sql
    #: Summaries as of a moment, with the generations of their documents: only what changed is read again.
    _summaries: tuple[Any, Mapping[int, tuple[int, SummaryInfo]]] = None, MappingProxyType({})

    def summaries(self) -> list[SummaryInfo]:
        """All summaries, by path."""
        with self._db.turn():
            at = self._db.moment
            if self._summaries[0] != at:
                with self._db.read():
                    self._summaries = at, self._read_summaries(self._summaries[1])
            return sorted((info for _, info in self._summaries[1].values()), key=lambda info: info.path)

    def _read_summaries(self, known: Mapping[int, tuple[int, SummaryInfo]]) -> dict[int, tuple[int, SummaryInfo]]:
        """All summaries by id; those that are ``known`` are not made again."""
        now = self._db.rows("SELECT id, generation, sha256 FROM documents WHERE grain <> 'working'")
        there = {
            document: known[document]
            for document, generation, sha256 in now
            if document in known and known[document][0] == generation and known[document][1].sha256 == sha256
        }
        changed = [document for document, _, _ in now if document not in there]
        if changed:
            some = f"WHERE id IN {among(changed)}" if there else "WHERE grain <> 'working'"
            rows = self._db.rows(
                f"SELECT id, path, grain, front_matter, sha256, size, generation FROM documents {some}"
            )
            there |= {row[0]: (row[-1], _info(*row[:-1])) for row in rows}
        return there

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
