"""The embedders that the settings name, which several memories may share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.settings import Settings
from ..errors import ModelError
from ..model import Progress, silent
from ..model.embedder import LocalModel
from ..plugins.manager import Plugins
from ..store.api import VectorModel
from ..system.deadline import Deadline
from . import registry

if TYPE_CHECKING:
    from ..model.embedder import Embedder
    from .factory import Resolved

T = TypeVar("T")


class Models:
    """Embedders by name, each resolved once; several memories may share them.

    ``given`` takes the place of all of them and is never closed here.  Safe to use from several threads.
    """

    def __init__(self, settings: Settings, given: Embedder | None = None) -> None:
        self._settings = settings
        self._given = given
        self._resolved: dict[str, Resolved] = {}
        self._looked: dict[str, float] = {}
        self._lock = threading.RLock()
        #: So many questions may wait for the model beyond their deadlines at a time.
        self._at_work = threading.Semaphore(8)

    @property
    def name(self) -> str | None:
        """The model that the settings name; ``None`` where they leave it to the notes."""
        name = self._settings.embedding.model
        return name if self._given is not None or name.strip().lower() != registry.AUTO else None

    def resolve(self, name: str, plugins: Plugins) -> Resolved:
        """The embedder called ``name``, or why there is none; loads no model.

        Where there is none it is looked for again every few seconds: somebody may have pulled it since.
        """
        from .factory import Resolved

        with self._lock:
            now = time.monotonic()
            known = self._resolved.get(name) if self._given is None else Resolved(self._given)
            if known is None or (known.embedder is None and now >= self._looked[name] + 5.0):
                self._looked[name] = now
                found = self._look(name, plugins)
                if known is None or found.embedder is not None:  # a reason that is known may be the more telling one
                    known = self._resolved[name] = found
            failure = known.embedder.failure if isinstance(known.embedder, LocalModel) else None
            return known if failure is None else Resolved(None, f"searching by keywords: {failure}")

    def _look(self, name: str, plugins: Plugins) -> Resolved:
        from .factory import resolve

        factories: dict[str, Any] = {}
        plugins.notify("openclaw_memory_register_embedders", register=factories.__setitem__)
        return resolve(self._settings.with_values({"embedding.model": name}), extra=factories)

    def pull(self, name: str, plugins: Plugins, progress: Progress = silent) -> str | None:
        """Get the model called ``name`` if it is missing and may be had; why it is not there, if it is not."""
        resolved = self.resolve(name, plugins)
        if resolved.embedder is not None or self._settings.embedding.provider != "local":
            return resolved.reason
        from . import factory
        from .pull import pull

        if registry.get(name) is None or factory.is_path(name):
            return resolved.reason
        try:
            pull(name, progress=progress, offline=self._settings.embedding.offline)
        except ModelError as error:
            with self._lock:
                self._resolved[name] = factory.Resolved(None, str(error))  # more telling than that it is missing
            return str(error)
        with self._lock:
            self._resolved.pop(name, None)
        return self.resolve(name, plugins).reason

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
        """Release the models unless they were given."""
        with self._lock:
            for resolved in self._resolved.values():
                if resolved.embedder is not None:
                    resolved.embedder.close()
            self._resolved.clear()


def model_of(embedder: Embedder) -> VectorModel:
    """What the store knows a model by."""
    return VectorModel(embedder.model, embedder.dimensions)


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
