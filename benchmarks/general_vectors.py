"""Writes ``openclaw_memory/embed/general.npz``: vectors of what messages are compared with, of one model.

    python -m benchmarks.general_vectors [--check]

It is the model for many languages, which takes 20 seconds for them.  To be run after a change of ``general.txt`` or
``particular.txt``: vectors of other texts are not used, and who asks first waits for the model.  With ``--check``
nothing is written, and it is said how far the kept vectors are from those that the model makes.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from openclaw_memory import Settings
from openclaw_memory.embed import general, registry
from openclaw_memory.embed.factory import resolve
from openclaw_memory.model.embedder import Embedder, Vectors

#: Scripts as :func:`openclaw_memory.model.script_of` tells them apart.
SCRIPTS = range(3)


def made(embedder: Embedder) -> dict[str, NDArray[Any]]:
    """What is kept, by name."""
    asked: list[str] = []
    known: dict[str, Vectors] = {}

    def vectors(embedder: Embedder, cache: object, lines: tuple[str, ...]) -> Vectors:
        asked.extend(lines)
        known.update(zip(lines, rows := embedder.embed_query(list(lines)), strict=True))
        return rows

    out: dict[str, NDArray[Any]] = {}
    with patch.object(general, "_vectors", vectors), patch.object(general, "stored", dict):
        for script in SCRIPTS:
            asked.clear()
            cohort = general.cohort(embedder, None, script)
            assert cohort is not None
            out[general.key_of(asked)] = np.append(cohort.axis, np.float32(cohort.middle))
    texts = [np.stack([known[line] for line in lines]) for lines in general.texts().values()]
    out[general.MEAN] = mean = np.concatenate(texts).mean(axis=0).astype(np.float32)
    return out | {
        general.key_of(lines): general.packed(rows, mean)
        for lines, rows in zip(general.texts().values(), texts, strict=True)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    embedder = resolve(Settings.load(overrides={"embedding.model": registry.MULTILINGUAL.name})).embedder
    assert embedder is not None
    embedder = getattr(embedder, "inner", embedder)
    if options.check:
        kept = general.stored()
        apart = []
        for lines in general.texts().values():
            rows, own = (
                general.unpacked(kept[general.key_of(lines)], kept[general.MEAN]),
                embedder.embed_query(list(lines)),
            )
            apart.append(np.abs((rows - own) @ own.T).ravel())
        off = np.concatenate(apart)
        most = f"{np.quantile(off, 0.99):.4f} at 0.99, at most {off.max():.4f}"
        print(f"cosines are off by {off.mean():.4f} in the mean, {most}")
        return
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **made(embedder))
    path = Path(general.__file__).with_name(general.KEPT)
    path.write_bytes(file.getvalue())
    print(f"{path}: {len(file.getvalue())} bytes")


if __name__ == "__main__":
    main()
