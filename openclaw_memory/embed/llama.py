"""Embeddings by llama.cpp, for encoders (BERT) and for decoders with last-token pooling (Qwen3).

llama.cpp runs in a child process (:mod:`.worker`), because native code can end the process that it runs in.  A binding
that dies on its first use is left for the next one, and that is remembered; one that dies later costs what it was
asked, and is started again.  Texts are sent in small requests, so that a query does not wait for a background ingest.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import EngineError, ModelError
from ..model.embedder import LocalModel, Progress, Vectors
from .bindings import BINDINGS, Binding, ModelOptions, candidates, missing
from .gguf_file import check_gguf
from .noise import without_unknown
from .packing import packed
from .process import Opened, Worker, WorkerEnded
from .proofs import Proofs

log = logging.getLogger("openclaw_memory")

#: This many ends in this many seconds, and the worker is left alone for as long, as after a start that failed.
_ENDS, _SECONDS = 8, 600.0


def available_cores() -> int:
    """CPU cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LlamaCppEmbedder(LocalModel):
    """Embeds texts with a GGUF model in a process of its own.

    ``model`` is the identity of the vectors; ``dimensions``, when given, is what the file must have, ``context`` the
    longest text that it was trained for.  A text, prefix included, is cut to ``max_tokens`` of the model's own tokens.
    The prefixes are put before what is embedded.  ``binding`` is the name of
    one, or ``auto`` for the first that works; ``proofs`` remembers which do not.  The model is loaded on first use or
    by :meth:`load`; every method is safe to call from several threads.
    """

    provider = "llama.cpp"

    def __init__(
        self,
        path: Path | str,
        *,
        model: str,
        threads: int = 1,
        gpu: bool = True,
        repack: bool = False,
        batch_tokens: int = 192,
        max_tokens: int = 256,
        dimensions: int | None = None,
        context: int = 0,
        query_prefix: str = "",
        document_prefix: str = "",
        binding: str = "auto",
        proofs: Proofs | None = None,
    ) -> None:
        self.path = Path(path)
        self.model = model
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        self._batch_bytes = batch_tokens * 4  # of prose; only how many texts go into one request depends on it
        self._dimensions = dimensions
        self.threads = threads
        self._options = ModelOptions(str(self.path), threads, gpu, repack, batch_tokens, max_tokens, context)
        self._binding = binding
        self._loading = threading.Lock()
        self._proofs = proofs
        self._turn = threading.Condition()
        self._busy = False
        self._urgent = 0
        self._worker: Worker | None = None
        self._opened: Opened | None = None
        self._ends: deque[float] = deque(maxlen=_ENDS)
        self._failure: str | None = None
        #: When what failed is tried again.
        self._again = 0.0
        #: How bindings failed that go before the one in use.
        self.setbacks: tuple[str, ...] = ()
        self._closed = False
        self._release: weakref.finalize[[], LlamaCppEmbedder] | None = None

    @property
    def dimensions(self) -> int:
        """Length of a vector; loads the model unless it was given."""
        return self._dimensions or self.load()._dimensions or 0

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._opened is not None

    @property
    def failure(self) -> str | None:
        """Why llama.cpp cannot be used, in a sentence; ``None`` while it can, as far as is known."""
        if time.monotonic() < self._again:
            return self._failure
        bindings = candidates(self._binding)
        known = [failure for each in bindings if (failure := self._known(each)) is not None]
        if len(known) < len(bindings):
            return None
        return f"{'; '.join(known)}; {_next_step(bindings)}" if bindings else missing(self._binding)

    @property
    def binding(self) -> Binding | None:
        """The binding that computes, or the one that will as far as is known; ``None`` when there is none."""
        worker = self._worker
        if worker is not None:
            return worker.binding
        usable = (each for each in candidates(self._binding) if self._known(each) is None)
        return next(usable, None)

    def load(self) -> Self:
        """Load the model now; raises :class:`~openclaw_memory.errors.ModelError` if that fails."""
        self.opened()
        return self

    def start(self) -> None:
        """Begin to load the model; what fails is told by the first call that needs it."""

        def load() -> None:
            try:
                with suppress(ModelError):
                    self.opened()
            finally:
                self._loading.release()

        if not self.loaded and not self._closed and self._loading.acquire(blocking=False):
            threading.Thread(target=load, name="model", daemon=True).start()

    def opened(self) -> Opened:
        """What the worker says of the model, which it has loaded then; raises as :meth:`load`."""
        with self._next(urgent=True):
            return self._running()[1]

    def close(self) -> None:
        """Release the model; calling twice is harmless, embedding afterwards is an error."""
        with self._next(urgent=True):
            self._closed = True
            self._drop()

    # -- one at a time --------------------------------------------------------------------------------

    @contextmanager
    def _next(self, urgent: bool) -> Iterator[None]:
        """Have the worker for the block; questions go before documents."""
        with self._turn:
            self._urgent += urgent
            try:
                self._turn.wait_for(lambda: not self._busy and (urgent or not self._urgent))
            finally:
                self._urgent -= urgent
            self._busy = True
        try:
            yield
        finally:
            with self._turn:
                self._busy = False
                self._turn.notify_all()

    def _asked(self, request: Mapping[str, Any], urgent: bool) -> Vectors:
        """The values that the worker answers with, of all texts of the request in a row."""
        with self._next(urgent):
            worker, _ = self._running()
            try:
                return np.frombuffer(worker.ask(request, self.threads), np.float32)
            except WorkerEnded as error:
                self._ended(error)
                raise
            except ModelError:
                raise
            except BaseException:  # interrupted: the answer would be taken for that of the next request
                self._drop()
                raise

    # -- the worker -------------------------------------------------------------------------------------

    def _running(self) -> tuple[Worker, Opened]:
        """The worker with the model open; whoever calls has the turn."""
        if self._closed:
            raise ModelError(f"{self.model}: the embedder was closed; open the memory again")
        if self._worker is None or self._opened is None:
            check_gguf(self.path)
            worker, opened = self._start()
            if self._dimensions and opened.dimensions != self._dimensions:
                worker.end()
                raise ModelError(
                    f"{self.path}: makes vectors of {opened.dimensions} dimensions where {self.model} has "
                    f"{self._dimensions}; pull the model again, or name the file itself in embedding.model"
                )
            self._dimensions = opened.dimensions
            self._worker, self._opened = worker, opened
            self._release = weakref.finalize(self, worker.end)
        return self._worker, self._opened

    def _start(self) -> tuple[Worker, Opened]:
        """The first binding that opens the model; one that is known to fail is not tried."""
        if (failure := self.failure) is not None:
            raise EngineError(failure)
        failures: list[ModelError] = []
        bindings = candidates(self._binding)
        for binding in bindings:
            try:
                worker, opened = self._opened_by(binding)
                self.setbacks = tuple(map(str, failures))
                return worker, opened
            except ModelError as error:
                log.info("%s", error)
                failures.append(error)
        # A file that one of them refuses is more telling than a build that does not run.
        refused = [error for error in failures if not isinstance(error, EngineError)]
        if refused:
            raise refused[0]
        raise EngineError(self._rest(f"{'; '.join(map(str, failures))}; {_next_step(bindings)}"))

    def _rest(self, failure: str) -> str:
        """Start nothing for a while, because of ``failure``, which is returned."""
        self._failure, self._again = failure, time.monotonic() + _SECONDS
        return failure

    def _opened_by(self, binding: Binding) -> tuple[Worker, Opened]:
        if (known := self._known(binding)) is not None:
            raise EngineError(known)
        worker = Worker(binding, self._options)
        try:
            return worker, worker.ready()
        except BaseException as error:
            worker.end()
            if self._proofs is not None and isinstance(error, WorkerEnded) and not error.passing:
                # A signal comes again with the same build.
                self._proofs.put(binding, self.model, self._options, str(error))
            raise

    def _known(self, binding: Binding) -> str | None:
        return None if self._proofs is None else self._proofs.failure(binding, self.model, self._options)

    def _ended(self, error: WorkerEnded) -> None:
        """The worker is gone; the next request starts another, unless that happens too often."""
        log.warning("%s", error)
        self._drop()
        self._ends.append(time.monotonic())
        if len(self._ends) == _ENDS and self._ends[-1] <= self._ends[0] + _SECONDS:
            self._ends.clear()
            self._rest(f"{error}, {_ENDS} times; it is tried again in {_SECONDS / 60:g} minutes")

    def _drop(self) -> None:
        if self._release is not None:
            self._release()
        self._worker = self._opened = self._release = None

    # -- embedding --------------------------------------------------------------------------------------

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts: ``float32[n, d]``, in the order of ``texts``.

        Rows have the length 1; that of a text of which the model knows no character is 0.
        """
        return self._embed(self.document_prefix, texts, progress, urgent=False)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, as :meth:`embed_documents` does."""
        return self._embed(self.query_prefix, texts, None, urgent=True)

    def _embed(self, prefix: str, texts: Sequence[str], progress: Progress | None, urgent: bool) -> Vectors:
        out = np.zeros((len(texts), self.dimensions), np.float32)
        known = [without_unknown(self.path, text) for text in texts]
        some = [i for i, text in enumerate(known) if text == texts[i] or text.strip()]
        out[some] = self._unit_rows([prefix + known[i] for i in some], progress, urgent)
        return out

    def _unit_rows(self, texts: Sequence[str], progress: Progress | None, urgent: bool) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), np.float32)
        lengths = [len(text.encode("utf-8", "replace")) for text in texts]
        for group in packed(lengths, self._batch_bytes):
            request = {"op": "embed", "texts": [texts[i] for i in group]}
            rows[group] = self._asked(request, urgent).reshape(len(group), -1)
            if progress is not None:
                progress(len(group))
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            bad = int(np.flatnonzero(~np.isfinite(norms[:, 0]) | (norms[:, 0] == 0))[0])
            raise ModelError(
                f"{self.model}: the vector of text {bad + 1} of {len(texts)} is not a finite number; "
                "pull the model again, or set embedding.gpu to false if a GPU computes"
            )
        rows /= norms
        return rows


def _next_step(tried: Sequence[Binding]) -> str:
    for other in BINDINGS:
        if other not in tried:
            return f"run: {sys.executable} -m pip install {other.name}, then: openclaw-memory doctor"
    return (
        "build it for this machine (pip install --force-reinstall --no-binary llama-cpp-python llama-cpp-python), "
        "then run: openclaw-memory doctor"
    )
