"""Where the nodes of a network stand in a plane: what hangs together is near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Indices = NDArray[np.integer]


def placed(
    nodes: int, source: Indices, target: Indices, weight: NDArray[np.floating], mass: NDArray[np.floating]
) -> Points:
    """Places of ``nodes`` in ``[0, 1]``, ``float64[n, 2]``; the same for the same network.

    Edge ``i`` joins ``source[i]`` and ``target[i]`` by ``weight[i]``; ``mass[n]`` is how much room a node takes.
    Springs and charges (Fruchterman and Reingold, 1991, "Graph drawing by force-directed placement"), the charges as
    Jacomy et al. (2014, "ForceAtlas2") weigh them.  Those are summed over a grid by Fourier transforms (Linderman et
    al., 2019, "Fast interpolation-based t-SNE"), so a step takes time linear in nodes and edges.
    """
    steps = 220
    # How strongly all is drawn to the middle, what has no link more, so that it stays in sight; and a link pulls.
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
    # What lies far out by itself would make the rest small.
    middle = np.median(at, axis=0)
    away = at - middle
    length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    most = np.quantile(length, 0.9)
    at = away / length * np.where(length > most, most * (1 + 0.5 * np.log(length / most)), length)
    low, high = at.min(axis=0), at.max(axis=0)
    out: Points = (at - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5
    return out


def _repulsion(at: Points, charge: NDArray[np.float64], cells: int = 128) -> Points:
    """The force of all charges on a unit charge at each place, falling as one over the distance: ``float64[n, 2]``.

    It is computed over a grid of so many ``cells`` on a side.
    """
    low = at.min(axis=0)
    cell = max(float((at.max(axis=0) - low).max()), 1e-9) / (cells - 2)
    grid = (at - low) / cell
    corner = grid.astype(np.int64)
    part = grid - corner
    steps = np.fft.fftfreq(2 * cells, 1 / (2 * cells)) * cell
    dx, dy = steps[:, None], steps[None, :]
    # Softened within a cell, in which places are not told apart.
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
