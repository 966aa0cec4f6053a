"""The embedder and the reranker that the settings name, which several memories may share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.settings import Settings
from ..errors import ModelError
from ..model import Progress, silent
from ..plugins.manager import Plugins
from ..system.deadline import Deadline
from . import registry

if TYPE_CHECKING:
    from ..model.embedder import Embedder
    from .factory import Resolved
    from .llama import LlamaCppReranker

#: Seconds until a model that was missing is looked for again.
_LOOK_AGAIN = 5.0
#: Questions that may wait for the model beyond their deadlines at a time.
_AT_WORK = 8

T = TypeVar("T")


class Models:
    """The embedder that the settings name, resolved once; several memories may share it.

    ``given`` takes its place and is never closed here.  Safe to use from several threads.
    """

    def __init__(self, settings: Settings, given: Embedder | None = None) -> None:
        self._settings = settings
        self._given = given
        self._named: dict[str, Models] = {}
        self._resolved: Resolved | None = None
        self._reranker: LlamaCppReranker | None = None
        self._looked = float("-inf")
        self._lock = threading.RLock()
        self._at_work = threading.Semaphore(_AT_WORK)

    @property
    def named(self) -> bool:
        """Whether the model is said, rather than left to the notes."""
        return self._given is not None or self._settings.embedding.model.strip().lower() != registry.AUTO

    def of(self, name: str) -> Models:
        """These with the model called ``name`` where the settings leave it to the notes; closed together."""
        if self.named:
            return self
        with self._lock:
            if name not in self._named:
                self._named[name] = Models(self._settings.with_values({"embedding.model": name}))
            return self._named[name]

    def resolve(self, plugins: Plugins) -> Resolved:
        """The embedder in use, or why there is none; loads no model.

        Where there is none it is looked for again now and then: somebody may have pulled it since.
        """
        from .factory import Resolved

        with self._lock:
            known = self._resolved
            failure = getattr(known.embedder, "failure", None) if known is not None else None
            if failure is not None:
                known = self._resolved = Resolved(None, f"searching by keywords: {failure}")
            if known is not None and (known.embedder is not None or time.monotonic() < self._looked + _LOOK_AGAIN):
                return known
            self._looked = time.monotonic()
            found = self._resolve(plugins)
            if known is None or found.embedder is not None:
                self._resolved = known = found
            return known  # a reason that is known already may be the more telling one

    def _resolve(self, plugins: Plugins, again: bool = False) -> Resolved:
        from .factory import Resolved, resolve

        if self._given is not None:
            return Resolved(self._given)
        factories: dict[str, Any] = {}
        plugins.notify("openclaw_memory_register_embedders", register=factories.__setitem__)
        return resolve(self._settings, extra=factories, again=again)

    def again(self, plugins: Plugins) -> Resolved:
        """As :meth:`resolve`; a build of llama.cpp that is known to fail gets another try."""
        with self._lock:
            self._resolved = self._resolve(plugins, again=True)
            return self._resolved

    def pull(self, plugins: Plugins, progress: Progress = silent) -> str | None:
        """Get the configured model if it is missing and may be had; why it is not there, if it is not."""
        resolved = self.resolve(plugins)
        wanted = self._settings.embedding
        if resolved.embedder is not None or wanted.provider != "local" or wanted.model == "none":
            return resolved.reason
        from . import factory
        from .pull import note_failure, pull

        if registry.get(wanted.model) is None or factory.is_path(wanted.model):
            return resolved.reason
        try:
            pull(wanted.model, progress=progress, offline=wanted.offline)
        except ModelError as error:
            if not wanted.offline:
                note_failure(wanted.model)
            with self._lock:
                self._resolved = factory.Resolved(None, str(error))  # more telling than that the model is missing
            return str(error)
        with self._lock:
            self._resolved = None
        return self.resolve(plugins).reason

    def failed_lately(self) -> bool:
        """Whether it was tried in vain to get the model within the last hour, by whichever process."""
        from .pull import failed_lately

        return failed_lately(self._settings.embedding.model)

    def unload(self) -> None:
        """Give the model's memory back until it is asked for again; nothing is waited for."""
        with self._lock:
            unload = getattr(self._resolved and self._resolved.embedder, "unload", None)
        if unload is not None:
            threading.Thread(target=unload, name="unload", daemon=True).start()

    def reranker(self) -> LlamaCppReranker | None:
        """The cross-encoder that the settings name; raises :class:`ModelError` where it cannot be had."""
        if self._settings.search.reranker == "none":
            return None
        from .factory import reranker

        with self._lock:
            if self._reranker is None:
                self._reranker = reranker(self._settings, threads=idle_cores())
            return self._reranker

    def within(self, seconds: float | None, call: Callable[[], T]) -> T:
        """The result of ``call``; raises :class:`ModelError` when it takes longer than ``seconds``.

        Neither a model that is being loaded nor an endpoint that is silent can be interrupted, so what takes too
        long goes on in its thread, and the next call finds the model loaded.  Few threads do: who finds all of them
        at work waits for one, no longer than ``seconds``.
        """
        if seconds is None:
            return call()
        until = Deadline.after(seconds)
        results: list[T] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                results.append(call())
            except Exception as error:
                errors.append(error)
            finally:
                self._at_work.release()

        if self._at_work.acquire(timeout=max(0.0, seconds)):
            thread = threading.Thread(target=run, name="deadline", daemon=True)
            thread.start()
            thread.join(until.left())
        if errors:
            raise errors[0]
        if not results:
            raise ModelError(
                f"the model did not answer within {max(0.0, seconds):.2g} s; the next search may find it ready"
            )
        return results[0]

    def close(self) -> None:
        """Release the model unless it was given."""
        with self._lock:
            if self._resolved is not None and self._resolved.embedder is not None and self._given is None:
                self._resolved.embedder.close()
                self._resolved = None
            if self._reranker is not None:
                self._reranker.close()
                self._reranker = None
            for models in self._named.values():
                models.close()


def idle_cores() -> int:
    """Cores that nobody uses at the moment, at least one.

    llama.cpp's threads wait for each other by spinning: one more than there are idle cores makes all of
    them several times slower, so it is worth a look.
    """
    import psutil

    from .llama import available_cores

    cores = available_cores()
    if cores == 1:
        return 1
    busy = psutil.cpu_percent(interval=0.05) / 100 * (psutil.cpu_count() or cores)
    return max(1, min(cores, round((psutil.cpu_count() or cores) - busy)))
