"""The space of the vectors in two dimensions: where lines of like meaning are near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..store.api import Floats, Ints, VectorIndex


def spread(
    index: VectorIndex, unit_ids: Ints, sample: int = 6_000, rounds: int = 40
) -> tuple[NDArray[np.float64], float]:
    """Principal components of the units' vectors: ``float64[n, 2]``, NaN without a vector, and what they explain.

    That is the share, from 0 to 1, of the vectors' variance.  Subspace iteration (Halko, Martinsson and Tropp, 2011,
    "Finding structure with randomness") in ``rounds`` over an even ``sample``: more units turn the directions by less
    than is seen.  Every unit is then projected by its cosine with the two directions.
    """
    out = np.full((len(unit_ids), 2), np.nan)
    known = unit_ids[index.has(unit_ids)]
    if len(known) < 3:
        return out, 0.0
    rows: Floats = index.vectors(known[np.unique(np.linspace(0, len(known) - 1, sample).astype(np.int64))])
    rows = rows - rows.mean(axis=0)
    basis = np.random.default_rng(0).standard_normal((rows.shape[1], 6)).astype(np.float32)
    for _ in range(rounds):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    variance = ((rows @ basis) ** 2).sum(axis=0)
    chosen = np.argsort(-variance)[:2]
    for place, at in enumerate(chosen.tolist()):
        direction = basis[:, at] * np.sign(basis[np.abs(basis[:, at]).argmax(), at])
        out[:, place] = index.similarities(np.ascontiguousarray(direction, np.float32), unit_ids)
    total = float((rows**2).sum())
    return out, float(variance[chosen].sum()) / total if total else 0.0
