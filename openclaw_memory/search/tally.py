"""How much each grain holds: files, units, bytes and days."""

from __future__ import annotations

from datetime import date

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import Grain, GrainUse
from ..store.api import Store


def of(store: Store, corpus: Corpus, archive: Archive) -> tuple[GrainUse, ...]:
    """A row for each grain that has a file, finest first; days are those that texts state."""
    files: dict[Grain, list[int]] = {}
    sizes = {row.id: row.size for row in store.documents().by_path.values()}
    for info in corpus.documents.values():
        files.setdefault(info.grain, []).append(sizes.get(info.id, 0))
    masks, grain, rows = archive.masks, corpus.shape.grain, corpus.rows
    out = []
    for place, one in enumerate(Grain):
        if one not in files:
            continue
        own = grain == place
        days = rows.day[own & rows.dated & (rows.day > 0)]
        out.append(
            GrainUse(
                grain=one,
                files=len(files[one]),
                units=int(own.sum()),
                archived=0 if masks is None else int((own & masks.archived).sum()),
                hidden=0 if masks is None else int((own & masks.hidden).sum()),
                bytes=sum(files[one]),
                first=date.fromordinal(int(np.min(days))) if len(days) else None,
                last=date.fromordinal(int(np.max(days))) if len(days) else None,
            )
        )
    return tuple(out)
