"""Layout of a map in a plane: nodes of a network near their neighbours, and texts near those of like meaning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..store.api import Bools, Floats, Ints, VectorIndex

Points = NDArray[np.float64]
Indices = NDArray[np.integer]


def place_nodes(
    nodes: int, source: Indices, target: Indices, weight: NDArray[np.floating], mass: NDArray[np.floating]
) -> Points:
    """Return places of ``nodes`` in ``[0, 1]``, ``float64[n, 2]``; the same for the same network.

    Edge ``i`` joins ``source[i]`` and ``target[i]`` by ``weight[i]``; ``mass[n]`` is the room that a node takes.
    Springs and charges (Fruchterman and Reingold, 1991, "Graph drawing by force-directed placement"), the charges as
    Jacomy et al. (2014, "ForceAtlas2") weigh them.  Those are summed over a grid by Fourier transforms (Linderman et
    al., 2019, "Fast interpolation-based t-SNE"), so a step takes time linear in nodes and edges.
    """
    steps = 220
    # Pull to the middle of all nodes, and of unlinked ones, so that they stay in sight; and pull of a link.
    gravity, lonely, tension = 0.02, 0.16, 2.2
    # The side of a square that holds each node, in which linked nodes of average weight rest about one apart.
    room = 3.0
    if nodes < 2:
        return np.full((nodes, 2), 0.5)
    # The heaviest in the middle, as the seeds of a sunflower: near to where they end, and never two in one place.
    rank = np.argsort(np.argsort(-mass, kind="stable"), kind="stable")
    radius, angle = np.sqrt(rank + 0.5), rank * np.pi * (3 - np.sqrt(5))
    at = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) * room / 2
    pull = weight / max(float(weight.mean()) if len(weight) else 1.0, 1e-9)
    degree = np.bincount(source, pull, nodes) + np.bincount(target, pull, nodes)
    charge = (1 + degree) * np.sqrt(mass / max(float(mass.mean()), 1e-9))
    inward = gravity + lonely / (1 + degree) ** 2
    reach = room * np.sqrt(nodes)
    for step in range(steps):
        force = _repulsion(at, charge) * room
        away = at[target] - at[source]
        # Weaker than a spring far out, so that groups part (Noack, 2007, "Energy models for graph clustering").
        length = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
        pulled = tension * pull * np.log1p(length) / length
        for axis in (0, 1):
            spring = pulled * away[:, axis]
            force[:, axis] += np.bincount(source, spring, nodes) - np.bincount(target, spring, nodes)
        force -= (inward * charge)[:, None] * at
        force /= charge[:, None]
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        at += force / length * np.minimum(length, 0.1 * reach * (1 - step / steps) ** 2)
    # A few nodes far out would make the rest small.
    middle = np.median(at, axis=0)
    away = at - middle
    length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    most = np.quantile(length, 0.9)
    at = away / length * np.where(length > most, most * (1 + 0.5 * np.log(length / most)), length)
    low, high = at.min(axis=0), at.max(axis=0)
    out: Points = (at - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5
    return out


def _repulsion(at: Points, charge: NDArray[np.float64], cells: int = 128) -> Points:
    """Return the force of all charges on a unit charge at each place: ``float64[n, 2]``.

    It falls as one over the distance, and is computed over a grid of ``cells`` on a side.
    """
    low = at.min(axis=0)
    cell = max(float((at.max(axis=0) - low).max()), 1e-9) / (cells - 2)
    grid = (at - low) / cell
    corner = grid.astype(np.int64)
    part = grid - corner
    steps = np.fft.fftfreq(2 * cells, 1 / (2 * cells)) * cell
    dx, dy = steps[:, None], steps[None, :]
    # Softened within a cell, which does not resolve places.
    square = dx**2 + dy**2 + (cell / 2) ** 2
    held = np.zeros((2 * cells, 2 * cells))
    corners = []
    for right in (0, 1):
        for up in (0, 1):
            share = np.abs(1 - right - part[:, 0]) * np.abs(1 - up - part[:, 1])
            corners.append((corner[:, 0] + right, corner[:, 1] + up, share))
            np.add.at(held, (corners[-1][0], corners[-1][1]), share * charge)
    spectrum = np.fft.rfft2(held)
    out = np.zeros_like(at)
    for axis, kernel in enumerate((dx / square, dy / square)):
        field = np.fft.irfft2(spectrum * np.fft.rfft2(kernel), s=held.shape)
        for x, y, share in corners:
            out[:, axis] += share * field[x, y]
    return out


def place_rows(index: VectorIndex | None, unit_ids: Ints, rows: Bools) -> tuple[Points, float | None]:
    """Return places of the selected rows in ``[0, 1]``, ``float64[n, 2]``, and the share of the variance kept.

    Rows without a vector have NaN; the share is ``None`` where no row has one.
    """
    plane = np.full((len(rows), 2), np.nan)
    if index is None:
        return plane, None
    at = np.flatnonzero(rows)
    points, kept = project(index, unit_ids[at])
    placed = ~np.isnan(points[:, 0])
    if not placed.any():
        return plane, None
    # A few lines lie far out: the rest fills the page, and these stand at its border.
    low, high = np.quantile(points[placed], [0.001, 0.999], axis=0)
    plane[at[placed]] = ((points[placed] - low) / np.maximum(high - low, 1e-9)).clip(0, 1)
    return plane, kept


def project(index: VectorIndex, unit_ids: Ints, sample: int = 6_000, rounds: int = 40) -> tuple[Points, float]:
    """Project the units' vectors on their principal components: ``float64[n, 2]``, NaN without a vector.

    The second value is the share of the variance that they explain, in [0, 1].  Subspace iteration (Halko, Martinsson
    and Tropp, 2011, "Finding structure with randomness") in ``rounds`` over an even ``sample``: more units turn the
    directions imperceptibly.  Every unit is then projected by its cosine with the two directions.
    """
    points = np.full((len(unit_ids), 2), np.nan)
    embedded = unit_ids[index.has(unit_ids)]
    if len(embedded) < 3:
        return points, 0.0
    rows: Floats = index.vectors(embedded[np.unique(np.linspace(0, len(embedded) - 1, sample).astype(np.int64))])
    rows = rows - rows.mean(axis=0)
    basis = np.random.default_rng(0).standard_normal((rows.shape[1], 6)).astype(np.float32)
    for _ in range(rounds):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    variance = ((rows @ basis) ** 2).sum(axis=0)
    chosen = np.argsort(-variance)[:2]
    for place, at in enumerate(chosen.tolist()):
        direction = basis[:, at] * np.sign(basis[np.abs(basis[:, at]).argmax(), at])
        points[:, place] = index.similarities(np.ascontiguousarray(direction, np.float32), unit_ids)
    total = float((rows**2).sum())
    return points, float(variance[chosen].sum()) / total if total else 0.0
