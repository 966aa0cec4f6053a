"""Vectors of an index that was put aside: texts that are there again need no embedding."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from ..rows.arrays import Floats
from ..rows.texts import VectorModel

log = logging.getLogger("openclaw_memory")


def last_aside(index: Path) -> Path | None:
    """The file that was put aside last when the index could not be used, if one is there still."""
    files = [file for called in ("damaged", "outdated") for file in index.parent.glob(f"{index.name}.{called}-*")]
    return max((file for file in files if file.suffix != ".wal"), key=lambda file: file.stat().st_mtime, default=None)


def vectors_aside(file: Path, model: VectorModel, wanted: dict[int, list[int]]) -> tuple[list[int], Floats]:
    """The vectors that an index put aside has of texts: the units that want them, and ``float32[n, d]``.

    ``wanted`` are units by the hashes of their texts; what is left in it has none.  What cannot be read is left too.
    """
    import duckdb

    unit_ids: list[int] = []
    blobs: list[bytes] = []
    try:
        with duckdb.connect(str(file), read_only=True) as old:
            rows = old.execute(
                "SELECT u.hash, v.v FROM vectors v JOIN units u ON u.id = v.unit_id JOIN models m ON m.id = v.model_id "
                "WHERE v.status = 'ready' AND m.name = ? AND m.dimensions = ?",
                [model.name, model.dimensions],
            )
            while some := rows.fetchmany(1000):
                for text_hash, blob in some:
                    units = wanted.pop(text_hash, [])
                    unit_ids += units
                    blobs += [blob] * len(units)
    except duckdb.Error as problem:
        log.info("%s: not all of its vectors can be read (%s)", file, problem)
    return unit_ids, np.frombuffer(b"".join(blobs), np.float16).reshape(-1, model.dimensions).astype(np.float32)
