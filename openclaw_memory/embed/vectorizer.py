"""Which embedder is in use, and when texts are embedded: at once, in the background, on first need."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import astuple
from typing import TYPE_CHECKING

from ..config.settings import Settings
from ..errors import ModelError, OpenClawMemoryError
from ..model import Progress, counted, script_of, silent
from ..model.embedder import LocalModel
from ..plugins.manager import Plugins
from ..store.api import ModelChoice, VectorModel
from ..system.deadline import NEVER, Deadline
from . import registry
from .models import Models, idle_cores, model_of

if TYPE_CHECKING:
    from ..model.embedder import Embedder, Vectors
    from ..store.api import Ints, Store, VectorStates
    from .factory import Resolved
    from .general import Cohort, General

log = logging.getLogger("openclaw_memory")

#: Texts that a search may embed by itself when files have changed since the last ingest.
_FRESH_TEXTS = 64
#: Questions whose vectors are kept: agents ask the same thing more than once.
_QUESTIONS = 256
#: What unrelated texts rarely exceed, for a model that could not be measured yet.
_USUAL_NOISE = 0.2
#: Share of the notes in other languages than English from which on they need a model that knows many.
FOREIGN = 0.2
#: Seconds to wait for an index that another process holds, to see which model it names.
_PATIENCE = 1.0


class Vectorizer:
    """The embedder of one memory, its noise level, and the thread that embeds in the background.

    Where the settings leave the model to the notes, it goes by ``foreign()``, the share of them in other languages than
    English, in [0, 1].  What was chosen is noted in the index, so that a question need not look at the notes and all
    processes agree.
    """

    def __init__(
        self, settings: Settings, store: Store, plugins: Plugins, models: Models, foreign: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._models = models
        self._foreign = foreign
        self._name = models.name
        self._noises: dict[VectorModel, float] = {}
        self._cohorts: dict[tuple[VectorModel, int], Cohort | None] = {}
        self._at_cohort = threading.Lock()
        self._questions: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._background: threading.Thread | None = None

    def resolve(self) -> Resolved:
        """The embedder in use, or why there is none; loads no model."""
        return self._models.resolve(self._model_name(), self._plugins)

    def pull(self, progress: Progress = silent) -> str | None:
        """Get the model in use if it is missing and may be had; why it is not there, if it is not."""
        return self._models.pull(self._model_name(), self._plugins, progress)

    def _model_name(self) -> str:
        """The model that the settings or the index name; where the index cannot be read, what suits the notes."""
        # Without a lock: whoever holds the index may ask, and another thread may wait for it meanwhile.
        if self._name is None:
            try:
                with self._store.patience(Deadline.after(_PATIENCE)):
                    noted = self._store.model_choice()
            except OpenClawMemoryError:
                return self._suitable()  # whoever reads the index says so
            name = self._suitable() if noted is None else noted.name
            self._name = self._name or name  # who has reviewed it meanwhile knows better
        return self._name

    def _suitable(self) -> str:
        return (registry.MULTILINGUAL if self._foreign() >= FOREIGN else registry.DEFAULT).name

    def _review(self, units: int) -> None:
        """Choose the model anew when there are twice as many ``units`` as before; that for many languages stays."""
        noted = self._store.model_choice()
        if noted is not None and (noted.name == registry.MULTILINGUAL.name or units < 2 * noted.units):
            self._name = noted.name
        elif units:
            self._name = name = self._suitable()
            self._store.put_model_choice(ModelChoice(name, units))

    def known(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """The embedder, what the store knows its vectors by, and why there is none or another than asked.

        May load the model, so it is not to be called while the store is held.
        """
        resolved = self.resolve()
        if resolved.embedder is None:
            return None, None, resolved.reason
        try:
            return resolved.embedder, model_of(resolved.embedder), resolved.reason
        except ModelError as error:
            return None, None, f"searching by keywords: {error}"

    def start(self) -> None:
        """Let the model begin to load, where the embedder can; nothing is waited for."""
        embedder = self.resolve().embedder
        if isinstance(embedder, LocalModel):
            embedder.start()

    def expected(self) -> VectorModel | None:
        """What the store knows the vectors in use by, where that is known without loading the model."""
        embedder = self.resolve().embedder
        entry = None if embedder is None else registry.get(embedder.model)
        return None if entry is None else VectorModel(entry.name, entry.dimensions)

    def query(
        self, text: str, seconds: float | None = None
    ) -> tuple[Embedder | None, VectorModel | None, str | None, Vectors | None]:
        """As :meth:`known`, and the question's vector ``float32[d]`` if one can be had within ``seconds``."""
        resolved = self.resolve()
        embedder = resolved.embedder
        if embedder is None:
            return None, None, resolved.reason, None
        try:
            vector = self._models.within(seconds, lambda: self._question(embedder, text))
            return embedder, model_of(embedder), resolved.reason, vector if vector.any() else None
        except ModelError as error:
            log.warning("the question cannot be embedded: %s", error)
            return None, None, f"searching by keywords: {error}", None

    def _question(self, embedder: Embedder, text: str) -> Vectors:
        key = embedder.model, text
        with self._lock:
            known = self._questions.pop(key, None)
        vector = embedder.embed_query([text])[0] if known is None else known
        with self._lock:
            self._questions[key] = vector
            while len(self._questions) > _QUESTIONS:
                self._questions.popitem(last=False)
        return vector

    def is_word(self, text: str) -> bool:
        """Whether the model in use has met ``text`` so often that it is a word to it; loads nothing."""
        from .noise import knows_word

        embedder = self.resolve().embedder
        return embedder is not None and knows_word(embedder, text)

    def forget(self) -> None:
        """Drop the questions whose vectors are kept."""
        with self._lock:
            self._questions.clear()

    def noise(self, embedder: Embedder, seconds: float | None = None) -> float:
        """How similar the model finds unrelated texts; measured once per model and index."""
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
        if self._models.name is None:
            self._review(sum(astuple(self._store.vector_states(None))))
        embedder, model, reason = self.known()
        states = self._store.vector_states(model)
        waiting = states.pending + states.outdated
        if embedder is None or how == "lazy":
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

    def _embed_all(
        self, embedder: Embedder, states: VectorStates, progress: Progress, until: Deadline, foreground: bool
    ) -> tuple[int, int]:
        from .pending import embed_pending

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
            large = foreground and waiting > _FRESH_TEXTS and not self._settings.embedding.threads
            if isinstance(embedder, LocalModel) and large:
                embedder.threads = idle_cores()
            try:
                done = embed_pending(self._store, embedder, progress, until, self._stop, total=waiting - taken)
                self.noise(embedder)
            finally:
                if isinstance(embedder, LocalModel) and large:
                    embedder.threads = 1  # for a question, a second thread costs more than it saves
            return taken + done.done, done.failed

    def after_freshening(self, until: Deadline) -> None:
        """Embed a little that a search has just found changed, until ``until``."""
        from .pending import embed_pending

        embedder = self.resolve().embedder
        how = self._settings.ingest.embed
        if embedder is None or how == "lazy":
            return
        if how == "background":
            self.start_background()
            return
        try:
            with self._store.embedding_turn(0) as ours:
                if ours:
                    embed_pending(self._store, embedder, until=until, batch=16, limit=_FRESH_TEXTS)
        except ModelError as error:
            log.warning("new text cannot be embedded: %s", error)

    def candidates(self, embedder: Embedder, unit_ids: Ints, most: int, until: Deadline) -> int:
        """Embed those of the units that have no vector yet, until ``until``: how many.

        A question that shares no word with any unit has no candidates: then at most ``most`` units of all are
        embedded, so that asking by meaning gets somewhere too.
        """
        from .pending import embed_pending

        chosen = unit_ids if len(unit_ids) else None
        try:
            limit = None if chosen is not None else most
            return embed_pending(self._store, embedder, unit_ids=chosen, until=until, batch=16, limit=limit).done
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
        try:
            embedder, model, _ = self.known()
            if embedder is not None:
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
