"""Turn the use of units, by ids of hits, into a column over the rows of a corpus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..store.api import Floats
from ..text import analysis


class UsageBoosts(NamedTuple):
    """The use of units as of a day, by the ids of hits; while nothing of it changes it is the same object.

    ``version`` changes whenever anything else does; ``boosts`` are in [-1, 1] and hold only values other than 0,
    ``paths`` are the files of those ids.
    """

    version: str
    boosts: Mapping[str, float]
    paths: Mapping[str, str]


#: Returns the use of units as of a day.
BoostsOn = Callable[[date], UsageBoosts]


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
