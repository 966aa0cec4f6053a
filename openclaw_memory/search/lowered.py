"""What no longer holds ranks behind what took its place, and an archived line behind its sentence in a summary."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..index.archive import Archive
from ..index.corpus import Corpus
from ..store.api import Bools, Floats

#: What a unit loses whose statement no longer holds, as a share of all scores' range.
_SUPERSEDED = 0.5


def order(
    corpus: Corpus, archive: Archive, superseded: Collection[int], score: Floats, allowed: Bools | None
) -> Floats:
    """``score`` with rows lowered, ``float32[n]``; ``superseded`` are ids of units."""
    out = score
    if superseded:
        rows = corpus.rows_of(np.fromiter(superseded, np.int32, len(superseded)))
        out = score.copy()
        out[rows[rows >= 0]] -= np.float32(_SUPERSEDED) * (score.max() - score.min())
    masks = archive.masks
    if masks is not None and (allowed is None or bool((allowed & masks.archived).any())):
        summary, source = archive.originals()
        if allowed is not None:
            summary, source = summary[allowed[summary]], source[allowed[summary]]
        best = np.full(len(score), -np.inf, np.float32)
        np.maximum.at(best, source, out[summary])
        below = np.nextafter(best[source], np.float32(-np.inf))
        out = out.copy() if out is score else out
        out[source] = np.minimum(out[source], below)
    return out
