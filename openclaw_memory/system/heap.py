"""Keep the heap of glibc small; another C library has no such calls, and nothing is done."""

from __future__ import annotations

import contextlib
import ctypes


def free_unused_heap() -> None:
    """Return freed memory to the system: many small blobs leave the heap full of holes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def share_one_heap() -> None:
    """Let all threads that are started from now on use one heap, as the holes of one are not filled by another."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX
