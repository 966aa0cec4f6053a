"""Embeddings by llama.cpp, for encoders (BERT) and for decoders with last-token pooling (Qwen3).

llama.cpp runs in a child process (:mod:`.worker`), because native code can end the process that it runs in.  When a
binding crashes on its first use, the next one takes its place, and a record keeps the crash; a later crash costs the
texts in hand, and the worker is started again.  Requests are small, so that a query does not wait for an ingest.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Self

from .. import arrays as np
from ..errors import EngineError, ModelError
from ..model.embedder import LocalModel, Progress, Vectors
from ..system import atomic
from ..system.child import Child
from .bindings import BINDINGS, Binding, ModelOptions, install_advice, installed_bindings, pack
from .gguf_file import check_gguf
from .vocabulary import blank_unknown_characters

log = logging.getLogger("openclaw_memory")

#: Returns the vectors of texts, not normalised: ``float32[n, d]``.
Request = Callable[[Sequence[str]], Vectors]

#: After this many crashes in this many seconds the worker rests for as long, as after a start that failed.
_CRASHES, _PAUSE = 8, 600.0


def available_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Return the bytes of memory that this process may still take, within the limit of its container."""
    import psutil

    free: int = psutil.virtual_memory().available
    with suppress(OSError, ValueError):  # outside a container, or "max"
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text())
        free = min(free, int((group / "memory.max").read_text()) - used)
    return free


class WorkerEnded(EngineError):
    """The worker ended without an answer; ``transient`` if the machine's state of the moment may be the cause."""

    def __init__(self, message: str, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient


class Worker:
    """One child process with one model.

    The constructor starts it, and the model is loading when that returns.  For one thread at a time.  Every method
    raises :class:`WorkerEnded` when the process is gone, :class:`~openclaw_memory.errors.ModelError` when it lives
    and cannot do its task.  ``dimensions`` and ``gpu`` are known after :meth:`wait_until_ready`.
    """

    dimensions = 0
    gpu = False

    def __init__(self, binding: Binding, options: ModelOptions) -> None:
        self.binding = binding
        self._model = Path(options.path).name
        try:
            # Without the variable llama.cpp starts a debugger when it gives up.
            self._child = Child(f"{__package__}.worker", {"GGML_NO_BACKTRACE": "1"})
        except OSError as error:
            raise WorkerEnded(f"{sys.executable} cannot be started ({error.strerror or error})", True) from error
        self._limit = 600.0  # seconds until an answer counts as missing
        with suppress(OSError):
            self._limit += os.path.getsize(options.path) / 5e6  # bytes a second that any disk can read
        self._child.send({"op": "open", "binding": binding.name, "options": asdict(options)})

    def wait_until_ready(self) -> None:
        """Wait until the model is open and the build has computed two test texts correctly."""
        header, _ = self._receive("on its first use")
        self.dimensions, self.gpu = header["dimensions"], header["gpu"]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``texts``, not normalised: ``float32[n, d]``."""
        self._child.send({"op": "embed", "texts": texts})
        return np.frombuffer(self._receive(f"on a batch of {len(texts)} texts")[1], np.float32).reshape(len(texts), -1)

    @property
    def memory(self) -> int:
        """Bytes of memory that the process does not share, where the system tells."""
        import psutil

        memory = psutil.Process(self._child.pid).memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))

    def end(self) -> None:
        """End the process now; no work is lost.  Calling twice is harmless."""
        self._child.end()

    def _receive(self, occasion: str) -> tuple[dict[str, Any], bytes]:
        hung = threading.Event()

        def give_up() -> None:
            hung.set()
            self._child.kill()

        timer = threading.Timer(self._limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            frame = self._child.receive()
        finally:
            timer.cancel()
        if frame is None:
            cause, transient, last_words = self._child.wait_for_end()
            if hung.is_set():
                cause, transient = "because it did not answer", True
            self.end()
            raise WorkerEnded(f"{self.binding} ended {cause} {occasion} with {self._model}{last_words}", transient)
        header, body = frame
        if "error" not in header:
            return header, body
        raise (EngineError if header["kind"] == "engine" else ModelError)(header["error"])


class CrashRecord:
    """A record of the llama.cpp builds that crashed on this CPU, with the model, in a file in the models' folder.

    All processes share it, so that not every command starts a build that crashes.  Another version is tried at once,
    another build of the same version when ``doctor`` or ``setup`` runs.  Where the folder cannot be written, each
    process tries for itself.
    """

    def __init__(self, models: Path) -> None:
        self._file = models / ".proofs.json"

    def find(self, binding: Binding, model: str, options: ModelOptions) -> str | None:
        """Return the message of the crash of this build with a model; ``None`` if it did not crash."""
        return self._read().get(_crash_key(binding, model, options))

    def add(self, binding: Binding, model: str, options: ModelOptions, failure: str) -> None:
        """Record a crash."""
        crashes = {**self._read(), _crash_key(binding, model, options): failure}
        with suppress(OSError):
            atomic.write_bytes(self._file, json.dumps(crashes, indent=1).encode(), 0o600)

    def clear(self) -> None:
        """Let the next use try every build again."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            crashes = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return crashes if isinstance(crashes, dict) else {}


def _crash_key(binding: Binding, model: str, options: ModelOptions) -> str:
    return f"{binding}, {model}, gpu {options.gpu}, repack {options.repack}"


class LlamaCppEmbedder(LocalModel):
    """Embed texts with a GGUF model in a process of its own.

    ``model`` is the identity of the vectors; ``dimensions``, when given, is what the file must have.  The prefixes are
    put before the texts.  ``binding`` is the name of one, or ``auto`` for the first that works; ``crashes`` names those
    that do not.  ``options`` are those of :class:`~.bindings.ModelOptions`.  The model is loaded on first use or by
    :meth:`load`; every method is safe to call from several threads.
    """

    provider = "llama.cpp"

    def __init__(
        self,
        path: Path | str,
        *,
        model: str,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        binding: str = "auto",
        crashes: CrashRecord | None = None,
        **options: Any,
    ) -> None:
        self.path = Path(path)
        self.model = model
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        self._dimensions = dimensions
        self._options = ModelOptions(str(self.path), **options)
        self._binding = binding
        self._crashes = crashes
        self._loading = threading.Lock()
        self._turn = threading.Condition()
        self._busy = False
        self._urgent = 0
        self._worker: Worker | None = None
        #: Further workers that are idle, for documents alone.
        self._helpers: list[Worker] = []
        self._crash_times: deque[float] = deque(maxlen=_CRASHES)
        self._failure: str | None = None
        #: The time at which a failed start is tried again.
        self._retry_at = 0.0
        #: The failures of the bindings that precede the one in use.
        self.setbacks: tuple[str, ...] = ()
        self._closed = False
        self._release: weakref.finalize[[], LlamaCppEmbedder] | None = None

    @property
    def dimensions(self) -> int:
        """Length of a vector; loads the model unless it was given."""
        return self._dimensions or self.load()._dimensions or 0

    @property
    def gpu(self) -> bool:
        """True if the build in use can compute on a GPU; loads the model."""
        with self._reserve_worker(urgent=True):
            return self._running_worker().gpu

    @property
    def loaded(self) -> bool:
        """True if the model is in memory."""
        return self._worker is not None

    @property
    def failure(self) -> str | None:
        """The reason why llama.cpp cannot be used, in a sentence; ``None`` while no failure is known."""
        if time.monotonic() < self._retry_at:
            return self._failure
        bindings = installed_bindings(self._binding)
        crashes = [crash for binding in bindings if (crash := self._find_crash(binding)) is not None]
        if len(crashes) < len(bindings):
            return None
        return f"{'; '.join(crashes)}; {_next_step(bindings)}" if bindings else install_advice(self._binding)

    @property
    def binding(self) -> Binding | None:
        """The binding in use, or the first one without a known crash; ``None`` when there is none."""
        if (worker := self._worker) is not None:
            return worker.binding
        usable = (each for each in installed_bindings(self._binding) if self._find_crash(each) is None)
        return next(usable, None)

    def load(self) -> Self:
        """Load the model now; raises :class:`~openclaw_memory.errors.ModelError` if that fails."""
        with self._reserve_worker(urgent=True):
            self._running_worker()
        return self

    def start(self) -> None:
        """Begin to load the model; a failure is raised by the first call that needs it."""

        def load() -> None:
            try:
                with suppress(ModelError):
                    self.load()
            finally:
                self._loading.release()

        if not self.loaded and not self._closed and self._loading.acquire(blocking=False):
            threading.Thread(target=load, name="model", daemon=True).start()

    def close(self) -> None:
        """Release the model; calling twice is harmless, embedding afterwards is an error."""
        with self._reserve_worker(urgent=True):
            self._closed = True
            self._drop_worker()

    # -- one at a time --------------------------------------------------------------------------------

    @contextmanager
    def _reserve_worker(self, urgent: bool) -> Iterator[None]:
        """Reserve the worker for the block; ``urgent`` requests, which are questions, go before documents."""
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

    def _request(self, texts: Sequence[str], urgent: bool) -> Vectors:
        """Return the worker's vectors of ``texts``, not normalised: ``float32[n, d]``."""
        with self._reserve_worker(urgent):
            worker = self._running_worker()
            try:
                return worker.embed(texts)
            except WorkerEnded as error:
                self._count_crash(error)
                raise
            except ModelError:
                raise
            except BaseException:  # interrupted: the next request would read this one's answer
                self._drop_worker()
                raise

    # -- the worker -------------------------------------------------------------------------------------

    def _running_worker(self) -> Worker:
        """Return the worker with the model open; the caller has the turn."""
        if self._closed:
            raise ModelError(f"{self.model}: the embedder was closed; open the memory again")
        if self._worker is None:
            check_gguf(self.path)
            worker = self._start_worker()
            if self._dimensions and worker.dimensions != self._dimensions:
                worker.end()
                raise ModelError(
                    f"{self.path}: makes vectors of {worker.dimensions} dimensions where {self.model} has "
                    f"{self._dimensions}; pull the model again, or name the file itself in embedding.model"
                )
            self._dimensions = worker.dimensions
            self._worker = worker
            self._release = weakref.finalize(self, worker.end)
        return self._worker

    def _start_worker(self) -> Worker:
        """Open the model with the first binding that can; those with a known crash are not tried."""
        if (failure := self.failure) is not None:
            raise EngineError(failure)
        failures: list[ModelError] = []
        bindings = installed_bindings(self._binding)
        for binding in bindings:
            try:
                worker = self._open_with(binding)
                self.setbacks = tuple(map(str, failures))
                return worker
            except ModelError as error:
                log.info("%s", error)
                failures.append(error)
        # A file that one of them refuses says more than a build that does not run.
        refused = [error for error in failures if not isinstance(error, EngineError)]
        if refused:
            raise refused[0]
        failure = f"{'; '.join(map(str, failures))}; {_next_step(bindings)}"
        self._pause_after(failure)
        raise EngineError(failure)

    def _pause_after(self, failure: str) -> None:
        """Start no worker for ten minutes, because of ``failure``."""
        self._failure, self._retry_at = failure, time.monotonic() + _PAUSE

    def _open_with(self, binding: Binding) -> Worker:
        if (crash := self._find_crash(binding)) is not None:
            raise EngineError(crash)
        worker = Worker(binding, self._options)
        try:
            worker.wait_until_ready()
        except BaseException as error:
            worker.end()
            if self._crashes is not None and isinstance(error, WorkerEnded) and not error.transient:
                # A signal comes again with the same build.
                self._crashes.add(binding, self.model, self._options, str(error))
            raise
        return worker

    def _find_crash(self, binding: Binding) -> str | None:
        return None if self._crashes is None else self._crashes.find(binding, self.model, self._options)

    def _count_crash(self, error: WorkerEnded) -> None:
        """Drop the worker; the next request starts another, unless there were too many crashes."""
        log.warning("%s", error)
        self._drop_worker()
        times = self._crash_times
        times.append(time.monotonic())
        if len(times) == _CRASHES and times[-1] <= times[0] + _PAUSE:
            times.clear()
            self._pause_after(f"{error}, {_CRASHES} times; it is tried again in {_PAUSE / 60:g} minutes")

    def _drop_worker(self) -> None:
        if self._release is not None:
            self._release()
        self._worker = self._release = None

    # -- further workers --------------------------------------------------------------------------------

    @contextmanager
    def use_all_cores(self) -> Iterator[None]:
        """Embed documents with a worker on every core for the block, as far as half of the free memory reaches.

        Threads of one worker would wait for each other by spinning, and several times longer on a busy machine.
        """
        with self._reserve_worker(urgent=True):
            first = self._running_worker()
            alone = self._options.threads > 1 or (first.gpu and self._options.gpu)
            count = 0 if alone else min(available_cores() - 1, free_memory() // 2 // first.memory)
        helpers: list[Worker] = []
        try:
            with suppress(WorkerEnded):  # no process can be started now
                for _ in range(count):
                    helpers.append(Worker(first.binding, self._options))
            with self._turn:
                self._helpers += helpers
            yield
        finally:
            with self._turn:
                self._helpers = [helper for helper in self._helpers if helper not in helpers]
            for helper in helpers:
                helper.end()

    def _compute(self, groups: deque[list[int]], embed: Callable[[list[int], Request], None], urgent: bool) -> None:
        """Call ``embed`` for each group with a worker's request; a helper that fails leaves its group to the others."""

        def drain(request: Request) -> None:
            while groups:
                try:
                    group = groups.popleft()
                except IndexError:  # another worker took the last one
                    return
                try:
                    embed(group, request)
                except ModelError:
                    groups.append(group)
                    raise

        def help_out(helper: Worker) -> None:
            try:
                if not helper.dimensions:
                    helper.wait_until_ready()
                drain(helper.embed)
                with self._turn:
                    self._helpers.append(helper)
            except ModelError as error:
                log.info("%s", error)
                helper.end()

        places = slice(0 if urgent else max(0, len(groups) - 1))
        with self._turn:
            threads = [threading.Thread(target=help_out, args=[each], daemon=True) for each in self._helpers[places]]
            del self._helpers[places]
        for thread in threads:
            thread.start()
        try:
            drain(partial(self._request, urgent=urgent))
        except BaseException:
            groups.clear()
            raise
        finally:
            for thread in threads:
                thread.join()
        drain(partial(self._request, urgent=urgent))

    # -- embedding --------------------------------------------------------------------------------------

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts: ``float32[n, d]``, unit rows; 0 for a text of which the model has no character."""
        return self._embed(self.document_prefix, texts, progress, urgent=False)

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, as :meth:`embed_documents` does."""
        return self._embed(self.query_prefix, texts, None, urgent=True)

    def _embed(self, prefix: str, texts: Sequence[str], progress: Progress | None, urgent: bool) -> Vectors:
        out = np.zeros((len(texts), self.dimensions), np.float32)
        readable = [blank_unknown_characters(self.path, text) for text in texts]
        places = np.array([i for i, text in enumerate(readable) if text == texts[i] or text.strip()], int)
        lengths = [len((prefix + readable[i]).encode("utf-8", "replace")) for i in places]
        counting = threading.Lock()

        def embed(group: list[int], request: Request) -> None:
            out[places[group]] = request([prefix + readable[i] for i in places[group]])
            with counting:
                if progress is not None:
                    progress(len(group))

        batch_bytes = self._options.batch_tokens * 4  # of prose; only how many texts go into one request depends on it
        self._compute(deque(pack(lengths, batch_bytes)), embed, urgent)
        norms = np.linalg.norm(out[places], axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            bad = int(np.flatnonzero(~np.isfinite(norms[:, 0]) | (norms[:, 0] == 0))[0])
            raise ModelError(
                f"{self.model}: the vector of text {places[bad] + 1} of {len(texts)} is not a finite number; "
                "pull the model again, or set embedding.gpu to false if a GPU computes"
            )
        out[places] /= norms
        return out


def _next_step(tried: Sequence[Binding]) -> str:
    for other in BINDINGS:
        if other not in tried:
            return f"run: {sys.executable} -m pip install {other.name}, then: openclaw-memory doctor"
    return (
        "build it for this machine (pip install --force-reinstall --no-binary llama-cpp-python llama-cpp-python), "
        "then run: openclaw-memory doctor"
    )
