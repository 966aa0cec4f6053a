"""How texts were used, as columns over the corpus: from ids of hits to rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..store.api import Floats
from ..text import analysis


@dataclass(frozen=True, slots=True)
class Uses:
    """What use says about units on a day, by the ids of hits; while nothing of it changes it is the same object.

    ``version`` changes whenever anything else does; ``boosts`` are in [-1, 1] and hold only what is not 0, ``paths``
    are the files of those ids.
    """

    version: str
    boosts: Mapping[str, float]
    paths: Mapping[str, str]


#: What is known of use on a day.
UsesOn = Callable[[date], Uses]


class UsedRows:
    """Finds the rows of what was used, and keeps what it found until the corpus or the use changes."""

    def __init__(self) -> None:
        self._key: tuple[str, int] | None = None
        self._boost: Floats | None = None
        #: Units by ids, with the document and its generation for which that holds; -1 for what is there no more.
        self._units: dict[str, tuple[int, int, int]] = {}

    def boost(self, uses: Uses, corpus: Corpus, archive: Archive) -> Floats | None:
        """The boost of every row in [-1, 1], ``float32[n]``; ``None`` where no row has one.

        What was said of a note goes to the sentences of its summary when it is archived, as long as it is in the index.
        """
        key = uses.version, corpus.version
        if key != self._key:
            self._boost = self._made(uses, corpus, archive)
            self._key = key
        return self._boost

    def _made(self, uses: Uses, corpus: Corpus, archive: Archive) -> Floats | None:
        rows = self._rows(uses.paths, corpus)
        boosts = [(row, value) for hit, value in uses.boosts.items() if (row := rows.get(hit)) is not None]
        if not boosts:
            return None
        boost = np.zeros(len(corpus), np.float32)
        for row, value in boosts:
            boost[row] = value
        summary, source = archive.originals()
        np.add.at(boost, summary, boost[source])
        return np.clip(boost, -1, 1)

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
