"""Arrays, and lists cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


Floats = NDArray[np.float32]


Bools = NDArray[np.bool_]


#: Splits a text into its terms; given to a store, which knows nothing of languages.
Analyse = Callable[[str], list[str]]


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """``items`` in runs of at most ``size``."""
    for at in range(0, len(items), size):
        yield items[at : at + size]
