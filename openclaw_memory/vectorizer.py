"""Which embedder is in use, and when texts are embedded: at once, in the background, on first need."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from .errors import ModelError, OpenClawMemoryError
from .ingest.pipeline import Progress, silent
from .plugins import Plugins
from .settings import Settings

if TYPE_CHECKING:
    from .embed.base import Embedder, Vectors
    from .embed.factory import Resolved
    from .store.protocol import Ints, Store, VectorModel, VectorStates

log = logging.getLogger("openclaw_memory")

#: Texts that a search may embed by itself when files have changed since the last ingest.
_FRESH_TEXTS = 64


class Vectorizer:
    """The embedder of one memory, its noise level, and the threads that embed."""

    def __init__(self, settings: Settings, store: Store, plugins: Plugins, given: Embedder | None) -> None:
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._given = given
        self._resolved: Resolved | None = None
        self._noises: dict[VectorModel, float] = {}
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._background: threading.Thread | None = None

    def resolve(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        from .embed.factory import Resolved, resolve

        with self._lock:
            if self._resolved is None:
                if self._given is not None:
                    self._resolved = Resolved(self._given)
                else:
                    factories: dict[str, Any] = {}
                    self._plugins.notify("openclaw_memory_register_embedders", register=factories.__setitem__)
                    self._resolved = resolve(self._settings, extra=factories)
            return self._resolved

    def pull(self, progress: Any = None) -> str | None:
        """Get the configured model if it is missing and may be had; why it is not there, if it is not."""
        resolved = self.resolve()
        wanted = self._settings.embedding
        if resolved.embedder is not None or wanted.provider != "local" or wanted.model == "none":
            return resolved.reason
        from .embed import factory, registry
        from .embed.pull import pull

        if registry.get(wanted.model) is None or factory.is_path(wanted.model):
            return resolved.reason
        try:
            pull(wanted.model, progress=progress, offline=wanted.offline)
        except ModelError as error:
            return str(error)
        with self._lock:
            self._resolved = None
        return self.resolve().reason

    def model(self, embedder: Embedder | None) -> VectorModel | None:
        """What the store knows the embedder's vectors by."""
        from .ingest.embedding import model_of

        return None if embedder is None else model_of(embedder)

    def query(self, text: str) -> tuple[Embedder | None, str | None, Vectors | None]:
        """The embedder, the question's vector ``float32[d]``, and why there is none or another than asked."""
        resolved = self.resolve()
        if resolved.embedder is None:
            return None, resolved.reason, None
        try:
            return resolved.embedder, resolved.reason, resolved.embedder.embed_query([text])[0]
        except ModelError as error:
            log.warning("the question cannot be embedded: %s", error)
            return None, f"searched by keywords: {error}", None

    def noise(self, embedder: Embedder) -> float:
        """How similar the model finds unrelated texts; measured once per model and index."""
        from .ingest.embedding import model_of

        model = model_of(embedder)
        if model not in self._noises:
            noise = self._store.noise(model)
            if noise is None:
                from .embed.noise import measure

                noise = measure(embedder)
                self._store.put_noise(model, noise)
            self._noises[model] = noise
        return self._noises[model]

    def after_ingest(self, how: str, progress: Progress, until: float | None) -> tuple[int, int, str | None]:
        """Embed (or start to) what an ingest has written: units embedded, units pending, a remark."""
        resolved = self.resolve()
        embedder = resolved.embedder
        states = self._store.vector_states(self.model(embedder))
        waiting = states.pending + states.outdated
        if embedder is None or how == "lazy" or self._stands_in(resolved):
            return 0, waiting, resolved.reason
        if how == "background":
            if waiting or states.failed:
                self.start_background()
            return 0, waiting, resolved.reason
        try:
            done, failed = self._embed_all(embedder, states, progress, until, foreground=True)
        except ModelError as error:
            return 0, waiting, f"nothing was embedded, search works by keywords: {error}"
        remark = f"{failed} units could not be embedded; the log names them" if failed else resolved.reason
        return done, max(0, waiting + states.failed - done - failed), remark

    def _stands_in(self, resolved: Resolved) -> bool:
        # A local model that stands in for an endpoint must not replace the endpoint's vectors.
        return self._settings.embedding.provider == "http" and resolved.reason is not None

    def _embed_all(
        self, embedder: Embedder, states: VectorStates, progress: Progress, until: float | None, foreground: bool
    ) -> tuple[int, int]:
        from .ingest.embedding import embed_pending, model_of

        model = model_of(embedder)
        waiting = states.pending + states.outdated + states.failed
        if not waiting:
            return 0, 0
        wait = self._settings.store.lock_timeout if until is None else max(0.0, until - time.monotonic())
        with self._store.embedding_turn(wait) as ours:
            if not ours:
                log.info("another process is embedding; what is pending is left to it")
                return 0, 0
            if states.failed:
                self._store.retry_failed(model)
            large = foreground and waiting > _FRESH_TEXTS
            threads = self._settings.embedding.threads or (idle_cores() if large else 1)
            if getattr(embedder, "threads", threads) != threads:
                embedder.threads = threads  # type: ignore[attr-defined]
            done = embed_pending(self._store, embedder, progress, until, self._stop, total=waiting)
            self.noise(embedder)
            return done.done, done.failed

    def after_freshening(self, until: float) -> None:
        """Embed a little that a search has just found changed, until ``until`` (``time.monotonic``)."""
        from .ingest.embedding import embed_pending

        resolved = self.resolve()
        how = self._settings.ingest.embed
        if resolved.embedder is None or how == "lazy" or self._stands_in(resolved):
            return
        if how == "background":
            self.start_background()
            return
        try:
            with self._store.embedding_turn(0) as ours:
                if ours:
                    embed_pending(self._store, resolved.embedder, deadline=until, batch=16, limit=_FRESH_TEXTS)
        except ModelError as error:
            log.warning("new text cannot be embedded: %s", error)

    def candidates(self, embedder: Embedder, unit_ids: Ints, seconds: float | None) -> None:
        """Embed those of the units that have no vector yet, within ``seconds``."""
        from .ingest.embedding import embed_pending

        until = None if seconds is None else time.monotonic() + seconds
        try:
            embed_pending(self._store, embedder, unit_ids=unit_ids, deadline=until, batch=64)
        except ModelError as error:
            log.warning("candidates cannot be embedded: %s", error)

    def start_background(self) -> None:
        """Embed what is pending in a thread, one core; does nothing while one is at it."""
        with self._lock:
            if self._background is not None and self._background.is_alive():
                return
            self._background = threading.Thread(target=self._in_background, name="embedding", daemon=True)
            self._background.start()

    def _in_background(self) -> None:
        embedder = self.resolve().embedder
        if embedder is None:
            return
        try:
            states = self._store.vector_states(self.model(embedder))
            self._embed_all(embedder, states, silent, None, foreground=False)
        except OpenClawMemoryError as error:
            log.warning("background embedding stopped: %s", error)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for background embedding; whether none is running."""
        thread = self._background
        if thread is None:
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def stop(self) -> None:
        """End background embedding after its current batch, and release the model unless it was given."""
        self._stop.set()
        self.wait(30)
        with self._lock:
            if self._resolved is not None and self._resolved.embedder is not None and self._given is None:
                self._resolved.embedder.close()
                self._resolved = None


def idle_cores() -> int:
    """Cores that nobody uses at the moment, at least one.

    llama.cpp's threads wait for each other by spinning: one more than there are idle cores makes all of
    them several times slower, so it is worth a look.
    """
    import psutil

    from .embed.llama import available_cores

    cores = available_cores()
    if cores == 1:
        return 1
    busy = psutil.cpu_percent(interval=0.05) / 100 * (psutil.cpu_count() or cores)
    return max(1, min(cores, round((psutil.cpu_count() or cores) - busy)))
