"""How texts were used, as columns over the corpus: from ids of hits to rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Protocol

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..store.api import Floats, Ints
from ..text import analysis


class Uses(Protocol):
    """What is known of use on a day, by ids of hits.

    ``version`` changes whenever anything else does but for the day; ``boosts`` are in [-1, 1]; ``paths`` tells the
    file of every id; ``last`` is the day of the last use of any kind.
    """

    @property
    def version(self) -> str:
        """Another value after every change."""

    @property
    def boosts(self) -> Mapping[str, float]:
        """What moves in the ranking, and how far."""

    @property
    def paths(self) -> Mapping[str, str]:
        """The file that each id is in."""

    @property
    def last(self) -> Mapping[str, date]:
        """When each was last used."""


#: What is known of use on a day.
UsesOn = Callable[[date], Uses]


@dataclass(frozen=True, slots=True)
class UseColumns:
    """``boost`` in [-1, 1] and ``last``, an ordinal (0: never), of every row; absent where there is none."""

    boost: Floats | None = None
    last: Ints | None = None


class UsedRows:
    """Finds the rows of what was used, and keeps what it found until the corpus or the use changes."""

    def __init__(self) -> None:
        self._key: tuple[str, date, int, bool] | None = None
        self._columns = UseColumns()
        #: Units by ids, with the document and its generation for which that holds; -1 for what is there no more.
        self._units: dict[str, tuple[int, int, int]] = {}

    def columns(self, uses: Uses, today: date, corpus: Corpus, archive: Archive, with_days: bool) -> UseColumns:
        """Use by row, ``last`` only where it is wanted.

        What was said of a note goes to the sentences of its summary when it is archived, as long as it is in the index.
        """
        key = uses.version, today, corpus.version, with_days
        if key != self._key:
            self._columns = self._made(uses, corpus, archive, with_days)
            self._key = key
        return self._columns

    def _made(self, uses: Uses, corpus: Corpus, archive: Archive, with_days: bool) -> UseColumns:
        wanted = uses.paths if with_days else {hit: uses.paths[hit] for hit in uses.boosts if hit in uses.paths}
        rows = self._rows(wanted, corpus)
        boosts = [(row, boost) for hit, boost in uses.boosts.items() if boost and (row := rows.get(hit)) is not None]
        last_days = uses.last if with_days else {}
        days = [(row, day.toordinal()) for hit, day in last_days.items() if (row := rows.get(hit)) is not None]
        summary, source = archive.originals() if boosts or days else (np.zeros(0, np.int32),) * 2
        boost: Floats | None = None
        last: Ints | None = None
        if boosts:
            boost = np.zeros(len(corpus), np.float32)
            for row, value in boosts:
                boost[row] = value
            np.add.at(boost, summary, boost[source])
            boost = np.clip(boost, -1, 1)
        if days:
            last = np.zeros(len(corpus), np.int32)
            for row, day in days:
                last[row] = day
            np.maximum.at(last, summary, last[source])
        return UseColumns(boost, last)

    def _rows(self, paths: Mapping[str, str], corpus: Corpus) -> dict[str, int]:
        """Rows by id, of those that are in the corpus."""
        documents = {info.path: info for info in corpus.documents.values()}
        known: dict[str, tuple[int, int, int]] = {}
        missing: defaultdict[int, list[str]] = defaultdict(list)
        for hit, path in paths.items():
            info = documents.get(path)
            if info is None:
                continue
            found = self._units.get(hit)
            if found is not None and found[:2] == (info.id, info.generation):
                known[hit] = found
            else:
                missing[info.id].append(hit)
        if missing:
            # The rows of a document lie side by side.
            own, first, count = np.unique(corpus.rows.document_id, return_index=True, return_counts=True)
            spans = dict(zip(own.tolist(), zip(first.tolist(), count.tolist(), strict=True), strict=True))
            for document, hits in missing.items():
                info = corpus.documents[document]
                by_hit = _units_by_id(corpus, info.path, *spans.get(document, (0, 0)))
                for hit in hits:
                    known[hit] = document, info.generation, by_hit.get(hit, -1)
        self._units = known
        if not known:
            return {}
        units = np.array([unit for _, _, unit in known.values()], np.int32)
        rows = np.where(units >= 0, corpus.rows_of(np.maximum(units, 0)), -1)
        return {hit: row for hit, row in zip(known, rows.tolist(), strict=True) if row >= 0}


def _units_by_id(corpus: Corpus, path: str, first: int, count: int) -> dict[str, int]:
    """Units of a document by the ids of the hits that they are the best of."""
    rows, part = corpus.rows, slice(first, first + count)
    columns = (rows.hash[part].tolist(), rows.occurrence[part].tolist(), rows.unit_id[part].tolist())
    return {analysis.hit_id(path, text, nth): unit for text, nth, unit in zip(*columns, strict=True)}
