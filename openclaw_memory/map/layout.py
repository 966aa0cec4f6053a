"""Layout of a map in a plane: nodes of a network near their neighbours, and texts near those of like meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..store.api import Ints, VectorIndex

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
    steps = min(220, 60 + nodes)
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
    cells = min(128, 1 << int(2 * np.sqrt(nodes)).bit_length())
    kernels = _kernel_spectra(cells)
    for step in range(steps):
        force = _repulsion(at, charge, cells, kernels) * room
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


def _kernel_spectra(cells: int) -> list[NDArray[np.complex128]]:
    """Return the Fourier transforms of the force of a unit charge over a grid of ``cells`` on a side, for each axis."""
    steps = np.fft.fftfreq(2 * cells, 1 / (2 * cells))
    dx, dy = steps[:, None], steps[None, :]
    # Softened within a cell, which does not resolve places.
    square = dx**2 + dy**2 + 0.25
    return [np.fft.rfft2(dx / square), np.fft.rfft2(dy / square)]


def _repulsion(
    at: Points, charge: NDArray[np.float64], cells: int, kernels: Sequence[NDArray[np.complex128]]
) -> Points:
    """Return the force of all charges on a unit charge at each place: ``float64[n, 2]``.

    It falls as one over the distance, and is computed over a grid of ``cells`` on a side by the spectra ``kernels``.
    """
    low = at.min(axis=0)
    cell = max(float((at.max(axis=0) - low).max()), 1e-9) / (cells - 2)
    grid = (at - low) / cell
    corner = grid.astype(np.int64)
    part = grid - corner
    held = np.zeros((2 * cells, 2 * cells))
    corners = []
    for right in (0, 1):
        for up in (0, 1):
            share = np.abs(1 - right - part[:, 0]) * np.abs(1 - up - part[:, 1])
            corners.append((corner[:, 0] + right, corner[:, 1] + up, share))
            np.add.at(held, (corners[-1][0], corners[-1][1]), share * charge)
    spectrum = np.fft.rfft2(held) / cell
    out = np.zeros_like(at)
    for axis, kernel in enumerate(kernels):
        field = np.fft.irfft2(spectrum * kernel, s=held.shape)
        for x, y, share in corners:
            out[:, axis] += share * field[x, y]
    return out


def place_texts(index: VectorIndex | None, unit_ids: Ints, most: int = 2_000, near: int = 6) -> Points:
    """Return places of units in ``[0, 1]``, ``float64[n, 2]``, those of like meaning together; NaN without a vector.

    An even sample of ``most`` units is the network of its ``near`` closest pairs by cosine: its communities are laid
    out, and each within a circle of its own.  The others lie beside the closest of the sample.
    """
    out = np.full((len(unit_ids), 2), np.nan)
    at = np.flatnonzero(index.has(unit_ids)) if index is not None else np.zeros(0, np.int64)
    if index is None or len(at) <= near:
        return out
    chosen = np.unique(np.linspace(0, len(at) - 1, most).astype(np.int64))
    sample = index.vectors(unit_ids[at[chosen]])
    middle = sample.mean(axis=0)
    sample = sample - middle
    likeness = sample @ sample.T
    np.fill_diagonal(likeness, -np.inf)
    closest = np.argpartition(-likeness, near, axis=1)[:, :near]
    source, target = np.repeat(np.arange(len(chosen)), near), closest.ravel()
    weight = np.maximum(likeness[source, target], 1e-6) ** 2
    places = _place_communities(len(chosen), source, target, weight)
    for first in range(0, len(at), most):
        rows = at[first : first + most]
        likeness = (index.vectors(unit_ids[rows]) - middle) @ sample.T
        out[rows] = places[likeness.argmax(axis=1)]
    # Those beside the same one do not cover each other.
    out[at] += np.random.default_rng(0).normal(0, 0.004, (len(at), 2))
    out[at[chosen]] = places
    return out.clip(0, 1)


def _place_communities(nodes: int, source: Indices, target: Indices, weight: NDArray[np.floating]) -> Points:
    community = find_communities(nodes, source, target, weight)
    own: Indices = np.where(community < 0, np.arange(nodes) + nodes, community)
    own = np.where(own < 0, np.arange(nodes) + own.max(initial=-1) + 1, own)
    own = np.unique(own, return_inverse=True)[1]
    size = np.bincount(own)
    across = own[source] != own[target]
    centre = place_nodes(len(size), own[source[across]], own[target[across]], weight[across], size.astype(np.float64))
    radius = 0.4 * np.sqrt(size / nodes)
    for _ in range(100):  # until no circle covers another
        away = centre[:, None] - centre[None]
        length = np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        covered = np.maximum(2.2 * (radius[:, None] + radius[None]) - length, 0)
        np.fill_diagonal(covered, 0)
        centre += 0.4 * (away / length[:, :, None] * covered[:, :, None]).sum(axis=1)
    out = np.empty((nodes, 2))
    number = np.zeros(nodes, np.int64)
    for each in range(len(size)):
        members = np.flatnonzero(own == each)
        number[members] = np.arange(len(members))
        inside = (own[source] == each) & ~across
        edges = number[source[inside]], number[target[inside]], weight[inside]
        within = place_nodes(len(members), *edges, np.ones(len(members)))
        out[members] = centre[each] + (within - 0.5) * 2 * radius[each]
    low, high = out.min(axis=0), out.max(axis=0)
    placed: Points = (out - low) / np.maximum(high - low, 1e-9)
    return placed


def find_communities(nodes: int, source: Indices, target: Indices, weight: NDArray[np.floating]) -> Ints:
    """Return the community of each node, numbered from the largest, -1 for a node alone: ``int32[n]``.

    Nodes move to the neighbouring community that raises the modularity most until none does (Blondel et al., 2008,
    "Fast unfolding of communities in large networks", its first phase), and so do whole communities thereafter.
    """
    own = np.arange(nodes)
    a, b, size = source, target, weight.astype(np.float64)
    while True:
        moved = _move(int(own.max(initial=-1)) + 1, a, b, size)
        if len(np.unique(moved)) == len(moved):
            break
        own = np.unique(moved, return_inverse=True)[1][own]
        a, b = own[source], own[target]
    members = np.bincount(own, minlength=1)
    rank = np.argsort(np.argsort(-members, kind="stable"))
    return np.where(members[own] > 1, rank[own], -1).astype(np.int32)


def _move(nodes: int, source: Indices, target: Indices, weight: NDArray[np.float64]) -> NDArray[np.int64]:
    neighbours: list[dict[int, float]] = [{} for _ in range(nodes)]
    for a, b, w in zip(source.tolist(), target.tolist(), weight.tolist(), strict=True):
        for x, y in ((a, b), (b, a)):
            neighbours[x][y] = neighbours[x].get(y, 0.0) + w
    degree = [sum(near.values()) for near in neighbours]
    community, total, twice = list(range(nodes)), list(degree), sum(degree) or 1.0
    changed = True
    while changed:
        changed = False
        for node in range(nodes):
            before = community[node]
            total[before] -= degree[node]
            shared: dict[int, float] = {before: 0.0}
            for other, w in neighbours[node].items():
                if other != node:
                    shared[community[other]] = shared.get(community[other], 0.0) + w
            gain = {each: w - degree[node] * total[each] / twice for each, w in shared.items()}
            best = max(gain, key=lambda each: (gain[each], -each))
            if gain[best] <= gain[before] + 1e-12:
                best = before
            changed |= best != before
            community[node] = best
            total[best] += degree[node]
    return np.array(community, np.int64)
