"""Which embedder is in use, and when texts are embedded: at once, in the background, on first need."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import TYPE_CHECKING

from ..config.settings import Settings
from ..errors import ModelError, OpenClawMemoryError
from ..model import Progress, counted, script_of, silent
from ..plugins.manager import Plugins
from ..store.api import VectorModel
from ..system.deadline import NEVER, Deadline
from . import registry
from .choice import Choice
from .models import Models, idle_cores

if TYPE_CHECKING:
    from ..model.embedder import Embedder, Vectors
    from ..store.api import Floats, Ints, Store, VectorStates
    from .factory import Resolved
    from .general import Cohort, General

log = logging.getLogger("openclaw_memory")

#: Texts that a search may embed by itself when files have changed since the last ingest.
_FRESH_TEXTS = 64
#: What unrelated texts rarely exceed, for a model that could not be measured yet.
_USUAL_NOISE = 0.2


class Vectorizer:
    """The embedder of one memory, its noise level, and the threads that embed."""

    def __init__(
        self, settings: Settings, store: Store, plugins: Plugins, models: Models, foreign: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._models = models
        self._choice = Choice(store, foreign)
        #: The model that began to load before the index named it.
        self._begun: str | None = None
        self._embedded = False
        self._noises: dict[VectorModel, float] = {}
        self._cohorts: dict[tuple[VectorModel, int], Cohort | None] = {}
        self._at_cohort = threading.Lock()
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._background: threading.Thread | None = None

    def resolve(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        return self._chosen().resolve(self._plugins)

    def again(self) -> Resolved:
        """As :meth:`resolve`; a build of llama.cpp that is known to fail gets another try."""
        return self._chosen().again(self._plugins)

    def pull(self, progress: Progress = silent) -> str | None:
        """Get the configured model if it is missing and may be had; why it is not there, if it is not.

        Where another one stands in for it, it is tried once an hour.
        """
        wanted, other = self._wanted(), self._chosen()
        if wanted is other or not wanted.failed_lately():
            reason = wanted.pull(self._plugins, progress)
            if wanted is other:
                return reason
            if reason is not None:
                log.warning("%s; %s stands in", reason, registry.DEFAULT.name)
        return self.resolve().reason

    def _wanted(self) -> Models:
        """The model for the notes, whether it is here or not."""
        if self._models.named:
            return self._models
        name, begun, self._begun = self._choice.name(), self._begun, None
        if begun not in (None, name):
            self._models.of(begun).unload()
        return self._models.of(name)

    def _chosen(self) -> Models:
        """The model in use: that for English, which is here more often, stands in for one that is not.

        It does not where the other one has embedded already: two machines that share an index would undo each other's
        work.
        """
        wanted = self._wanted()
        if wanted.resolve(self._plugins).embedder is None and wanted is not self._models:
            other = self._models.of(registry.DEFAULT.name)
            if other.resolve(self._plugins).embedder is not None and not self._has_vectors():
                return other
        return wanted

    def _has_vectors(self) -> bool:
        """Whether the model for many languages has embedded anything here, or that cannot be told."""
        if not self._embedded:
            many = VectorModel(registry.MULTILINGUAL.name, registry.MULTILINGUAL.dimensions)
            try:
                self._embedded = self._store.vector_states(many).ready > 0
            except OpenClawMemoryError:
                return True  # whoever reads the index says why
        return self._embedded

    def known(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """The embedder, what the store knows its vectors by, and why there is none or another than asked.

        May load the model, so it is not to be called while the store is held.
        """
        from .pending import model_of

        resolved = self.resolve()
        if resolved.embedder is None:
            return None, None, resolved.reason
        try:
            return resolved.embedder, model_of(resolved.embedder), resolved.reason
        except ModelError as error:
            return None, None, f"searching by keywords: {error}"

    def start(self) -> None:
        """Let the model begin to load, where the embedder can; nothing is waited for.

        Where the notes choose the model it is the one that is expected, until the index is open and names it.
        """
        expected = None if self._models.named else self._choice.expected()
        models = self._chosen() if expected is None else self._models.of(expected)
        self._begun = expected
        start = getattr(models.resolve(self._plugins).embedder, "start", None)
        if start is not None:
            start()

    def expected(self) -> VectorModel | None:
        """What the store knows the vectors in use by, where that is known without loading the model."""
        embedder = self.resolve().embedder
        entry = None if embedder is None else registry.get(embedder.model)
        return None if entry is None else VectorModel(entry.name, entry.dimensions)

    def query(
        self, text: str, seconds: float | None = None
    ) -> tuple[Embedder | None, VectorModel | None, str | None, Vectors | None]:
        """As :meth:`known`, and the question's vector ``float32[d]`` if it can be had within ``seconds``."""
        from .pending import model_of

        resolved = self.resolve()
        embedder = resolved.embedder
        if embedder is None:
            return None, None, resolved.reason, None
        try:
            vector = self._models.within(seconds, lambda: embedder.embed_query([text])[0])
            return embedder, model_of(embedder), resolved.reason, vector
        except ModelError as error:
            log.warning("the question cannot be embedded: %s", error)
            return None, None, f"searching by keywords: {error}", None

    def is_word(self, text: str) -> bool:
        """Whether the model in use has met ``text`` so often that it is a word to it; loads nothing."""
        from .noise import knows_word

        embedder = self.resolve().embedder
        return embedder is not None and knows_word(embedder, text)

    def start_reranker(self) -> None:
        """Begin to load the cross-encoder, if the settings name one; what fails is told by :meth:`rank`."""
        with suppress(ModelError):
            reranker = self._models.reranker()
            if reranker is not None:
                reranker.start()

    def rank(self, question: str, texts: Sequence[str], seconds: float) -> Floats | None:
        """How well each text answers, to the cross-encoder: ``float32[n]``; ``None`` where the settings name none.

        Raises :class:`ModelError` when it cannot be had within ``seconds``.
        """
        reranker, until = self._models.reranker(), Deadline.after(seconds)
        if reranker is None:
            return None
        return self._models.within(seconds, lambda: reranker.rank(question, texts, until))

    def forget(self) -> None:
        """Drop the questions whose vectors are kept."""
        clear = getattr(self.resolve().embedder, "clear", None)
        if clear is not None:
            clear()

    def noise(self, embedder: Embedder, seconds: float | None = None) -> float:
        """How similar the model finds unrelated texts; measured once per model and index."""
        from .pending import model_of

        model = model_of(embedder)
        if model not in self._noises:
            noise = self._store.noise(model)
            if noise is None:
                from .noise import measure

                try:
                    noise = self._models.within(seconds, lambda: measure(embedder))
                except ModelError as error:
                    log.warning("the model could not be measured: %s", error)
                    return _USUAL_NOISE
                self._store.put_noise(model, noise)
            self._noises[model] = noise
        return self._noises[model]

    def general(self, embedder: Embedder, text: str, vector: Vectors, seconds: float | None = None) -> General | None:
        """How close the vector of a message is to what is said to any assistant; ``None`` where that is not known yet.

        What it is compared with is embedded once per model and machine, for the scripts that messages are written in.
        """
        from .general import cohort, compared
        from .pending import model_of

        script = script_of(text)
        key = (model_of(embedder), script)

        def made() -> Cohort | None:
            if not self._at_cohort.acquire(blocking=seconds is None):
                raise ModelError("what messages are compared with is being embedded")
            try:
                if key not in self._cohorts:
                    self._cohorts[key] = cohort(embedder, script)
                return self._cohorts[key]
            finally:
                self._at_cohort.release()

        try:
            return compared(vector, self._cohorts[key] if key in self._cohorts else self._models.within(seconds, made))
        except ModelError as error:
            log.info("whether a message is about the notes is told by its words alone: %s", error)
            return None

    def after_ingest(self, how: str, progress: Progress, until: Deadline) -> tuple[int, int, str | None]:
        """Embed (or start to) what an ingest has written: units embedded, units pending, a remark."""
        embedder, model, reason = self.known()
        states = self._store.vector_states(model)
        if not self._models.named and self._choice.review(sum(astuple(states))):
            embedder, model, reason = self.known()
            states = self._store.vector_states(model)
        waiting = states.pending + states.outdated
        if embedder is None or how == "lazy" or self._stands_in():
            return 0, waiting, reason
        if how == "background":
            if waiting or states.failed:
                self.start_background()
            return 0, waiting, reason
        try:
            done, failed = self._embed_all(embedder, states, progress, until, foreground=True)
        except ModelError as error:
            left = self._store.vector_states(model)
            done = max(0, waiting + states.failed - left.pending - left.outdated - left.failed)
            return (
                done,
                left.pending + left.outdated,
                f"not everything was embedded, the rest is found by keywords: {error}",
            )
        remark = f"{counted(failed, 'unit')} could not be embedded; the log names them" if failed else reason
        if done + failed < waiting + states.failed:  # out of time, or another process or thread did some of it
            states = self._store.vector_states(model)
            return done, states.pending + states.outdated, remark
        return done, 0, remark

    def _stands_in(self) -> bool:
        # A local model that stands in for an endpoint must not replace the endpoint's vectors.
        return self._settings.embedding.provider == "http" and self.resolve().reason is not None

    def _embed_all(
        self, embedder: Embedder, states: VectorStates, progress: Progress, until: Deadline, foreground: bool
    ) -> tuple[int, int]:
        from .pending import embed_pending, model_of

        model = model_of(embedder)
        waiting = states.pending + states.outdated + states.failed
        if not waiting:
            return 0, 0
        with self._store.embedding_turn(until.within(self._settings.store.lock_timeout)) as ours:
            if not ours:
                log.info("another process is embedding; what is pending is left to it")
                return 0, 0
            if states.failed:
                self._store.retry_failed(model)
            taken = self._store.take_over_vectors(model)
            if taken:
                log.info("%d vectors were taken from the index that was put aside", taken)
            large = foreground and waiting > _FRESH_TEXTS
            usual = self._settings.embedding.threads or 1
            _use_threads(embedder, idle_cores() if large and not self._settings.embedding.threads else usual)
            try:
                done = embed_pending(
                    self._store,
                    embedder,
                    progress,
                    until,
                    self._stop,
                    total=waiting - taken,
                )
                self.noise(embedder)
            finally:
                _use_threads(embedder, usual)  # for a question, a second thread costs more than it saves
            return taken + done.done, done.failed

    def after_freshening(self, until: Deadline) -> None:
        """Embed a little that a search has just found changed, until ``until``."""
        from .pending import embed_pending

        embedder = self.resolve().embedder
        how = self._settings.ingest.embed
        if embedder is None or how == "lazy" or self._stands_in():
            return
        if how == "background":
            self.start_background()
            return
        try:
            with self._store.embedding_turn(0) as ours:
                if ours:
                    embed_pending(
                        self._store,
                        embedder,
                        until=until,
                        batch=16,
                        limit=_FRESH_TEXTS,
                    )
        except ModelError as error:
            log.warning("new text cannot be embedded: %s", error)

    def candidates(self, embedder: Embedder, unit_ids: Ints, most: int, until: Deadline) -> int:
        """Embed those of the units that have no vector yet, until ``until``: how many.

        A question that shares no word with any unit has no candidates: then at most ``most`` units of all are
        embedded, so that asking by meaning gets somewhere too.
        """
        from .pending import embed_pending

        if self._stands_in():
            return 0
        chosen = unit_ids if len(unit_ids) else None
        try:
            return embed_pending(
                self._store,
                embedder,
                unit_ids=chosen,
                until=until,
                batch=16,
                limit=None if chosen is not None else most,
            ).done
        except ModelError as error:
            log.warning("candidates cannot be embedded: %s", error)
            return 0

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
            _, model, _ = self.known()
            if model is not None:
                self._embed_all(embedder, self._store.vector_states(model), silent, NEVER, foreground=False)
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
        """End background embedding after its current batch."""
        self._stop.set()
        self.wait(30)


def _use_threads(embedder: Embedder, count: int) -> None:
    if getattr(embedder, "threads", count) != count:
        embedder.threads = count  # type: ignore[attr-defined]
