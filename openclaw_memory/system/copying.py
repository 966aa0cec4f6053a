"""Copies of objects for a ``__copy__`` that has something else to copy too."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def copied(of: T) -> T:
    """Another object with the same attributes."""
    other = object.__new__(type(of))
    vars(other).update(vars(of))
    return other
