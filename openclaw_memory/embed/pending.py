"""Embed what has no vector yet: in bounded batches, resumable, never while the store is held."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import EngineError, ModelError
from ..model import Progress, silent
from ..model.embedder import Embedder, LocalModel, Vectors
from ..model.embedder import Progress as TextsDone
from ..store.api import Ints, PendingText, Store
from ..system.deadline import NEVER, Deadline
from .models import model_of

log = logging.getLogger("openclaw_memory.ingest")

#: Texts asked from the store at once; sorted by length inside the embedder, so more packs better.
_BATCH = 512
#: A batch starts small and doubles while it takes less than this many seconds: what is interrupted or killed
#: loses one batch, and a large model on a small machine needs seconds for a single text.
_FIRST_BATCH, _QUICK, _SLOW = 64, 2.0, 8.0


@dataclass(frozen=True)
class Embedded:
    """How many units got a vector, and how many could not."""

    done: int = 0
    failed: int = 0


def embed_pending(
    store: Store,
    embedder: Embedder,
    progress: Progress = silent,
    until: Deadline = NEVER,
    stop: threading.Event | None = None,
    unit_ids: Ints | None = None,
    batch: int = _BATCH,
    limit: int | None = None,
    total: int | None = None,
) -> Embedded:
    """Embed pending units until none is left, ``until`` has passed or ``stop`` is set.

    ``total`` is the number of pending units where it is known.  Raises :class:`ModelError` when the model
    itself fails; a single text that cannot be embedded is marked as failed and the others go on.
    """
    model = model_of(embedder)
    if total is None:
        states = store.vector_states(model)
        total = states.pending + states.outdated
    left = total if unit_ids is None else len(unit_ids)
    if limit is not None:
        left = min(left, limit)
    done = failed = 0
    size = min(batch, _FIRST_BATCH)
    while done + failed < left:
        if until.passed or (stop is not None and stop.is_set()):
            break
        texts = store.pending(model, min(size, left - done - failed), unit_ids)
        if not texts:
            break
        started = time.monotonic()
        base = done

        def shown(n: int) -> None:
            nonlocal base
            base += n
            progress("embed", base, max(left, base))

        vectors, bad = _embed(embedder, texts, shown)
        good = [text.unit_id for at, text in enumerate(texts) if at not in bad]
        if good:
            store.put_vectors(model, good, vectors)
        if bad:
            store.put_failed(model, [texts[at].unit_id for at in sorted(bad)])
        done += len(good)
        failed += len(bad)
        progress("embed", done, max(left, done))
        seconds = time.monotonic() - started
        if seconds < _QUICK:
            size = min(batch, 2 * size)
        elif seconds > _SLOW:
            size = max(1, size // 2)
    return Embedded(done, failed)


def _embed(embedder: Embedder, texts: Sequence[PendingText], progress: TextsDone) -> tuple[Vectors, set[int]]:
    try:
        return embedder.embed_documents([text.text for text in texts], progress), set()
    except ModelError as error:
        first = error
    try:
        rows = [embedder.embed_documents(["memory"])[:0]]
    except ModelError:
        raise first from None  # it is the model, not the texts
    bad: set[int] = set()
    for at, text in enumerate(texts):
        try:
            rows.append(embedder.embed_documents([text.text]))
        except EngineError as error:
            if isinstance(embedder, LocalModel) and embedder.failure is not None:
                raise  # it is the model after all
            log.warning("unit %d ends the model's process: %s", text.unit_id, error)
            bad.add(at)
        except ModelError as error:
            log.warning("unit %d cannot be embedded: %s", text.unit_id, error)
            bad.add(at)
    return np.concatenate(rows), bad
