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
    """Finds the rows of what was used, and keeps what they gain until the corpus or the use changes."""

    def __init__(self) -> None:
        self._key: tuple[str, int] | None = None
        self._boost: Floats | None = None

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
    """Rows by the ids of hits, of those that are in the corpus; ``paths`` are their files."""
    documents = {info.path: info.id for info in corpus.documents.values()}
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for hit, path in paths.items():
        ids[path].append(hit)
    rows = corpus.rows
    found: dict[str, int] = {}
    for path, hits in ids.items():
        if (document := documents.get(path)) is None:
            continue
        # The rows of a document lie side by side.
        first, end = (int(rows.document_id.searchsorted(np.int32(document), side=side)) for side in ("left", "right"))
        columns = rows.hash[first:end].tolist(), rows.occurrence[first:end].tolist()
        by_id = {analysis.hit_id(path, *unit): first + at for at, unit in enumerate(zip(*columns, strict=True))}
        found |= {hit: by_id[hit] for hit in hits if hit in by_id}
    return found
