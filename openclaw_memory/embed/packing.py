"""Texts of similar length together, so that a batch computes little padding."""

from __future__ import annotations

from collections.abc import Sequence


def packed(lengths: Sequence[int], budget: int, most: int) -> list[list[int]]:
    """Positions in groups of similar length, shortest first: at most ``most``, and at most ``budget`` of length.

    What is longer than ``budget`` is a group of its own.
    """
    groups: list[list[int]] = []
    size = budget
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or size + lengths[i] > budget or len(groups[-1]) == most:
            groups.append([])
            size = 0
        groups[-1].append(i)
        size += lengths[i]
    return groups
