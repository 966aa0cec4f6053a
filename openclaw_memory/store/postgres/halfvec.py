"""Vectors as pgvector's halfvec: an array of them as the server reads it, made in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..api import Floats

if TYPE_CHECKING:
    import psycopg


class HalfVectors:
    """``float16[n, d]`` as a parameter for ``HALFVEC[]``: its bytes in the binary format of arrays."""

    def __init__(self, data: bytes) -> None:
        self.data = data


def bound(connection: psycopg.Connection[Any], vectors: Floats) -> HalfVectors:
    """``float32[n, d]`` vectors, bound in one piece."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class AsArray(Dumper):
        format = Format.BINARY

        def dump(self, obj: HalfVectors) -> bytes:
            return obj.data

    connection.adapters.register_dumper(HalfVectors, AsArray)
    found = connection.execute("SELECT 'halfvec'::REGTYPE::OID::INTEGER").fetchone()
    assert found is not None
    n, dimensions = vectors.shape
    # One dimension, no nulls, the elements' type, their number, the first index.
    head = np.array([1, 0, found[0], n, 1], ">i4").tobytes()
    rows = np.zeros(n, np.dtype([("bytes", ">i4"), ("d", ">i2"), ("unused", ">i2"), ("v", ">f2", (dimensions,))]))
    rows["bytes"], rows["d"], rows["v"] = 4 + 2 * dimensions, dimensions, vectors
    return HalfVectors(head + rows.tobytes())


def read(data: NDArray[np.uint8], n: int, dimensions: int) -> NDArray[np.float16]:
    """``float16[n, d]`` from the bytes of ``n`` vectors one after the other."""
    return data.reshape(n, 4 + 2 * dimensions)[:, 4:].copy().view(">f2").astype(np.float16)
