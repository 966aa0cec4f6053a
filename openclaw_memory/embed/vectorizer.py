"""Embed texts during an ingest, in the background, or when a question first needs them."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import astuple
from typing import TYPE_CHECKING

from .. import arrays as np
from ..config.settings import Settings
from ..errors import EngineError, ModelError, OpenClawMemoryError
from ..model import Progress, counted, script_of, silent
from ..model.embedder import LocalModel
from ..plugins.manager import Plugins
from ..store.api import ModelChoice, VectorModel
from ..system.deadline import NEVER, Deadline
from . import registry
from .manager import EmbedderManager, model_of

if TYPE_CHECKING:
    from ..model.embedder import Embedder, Vectors
    from ..model.embedder import Progress as TextsDone
    from ..store.api import Ints, PendingText, Store, VectorStates
    from .manager import EmbedderChoice
    from .smalltalk import Cohort, SmalltalkMatch

log = logging.getLogger("openclaw_memory")

#: Texts that a search may embed by itself when files have changed since the last ingest.
_FRESH_TEXTS = 64
#: Share of notes in other languages than English above which a multilingual model is chosen.
FOREIGN = 0.2


class Vectorizer:
    """The embedder of one memory, its noise level, and the thread that embeds in the background.

    Where the settings leave the choice of the model to the notes, it depends on ``foreign_share()``, the share of
    notes in other languages than English, in [0, 1].  The index holds the choice, so that a question need not look at
    the notes and all processes agree.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        plugins: Plugins,
        models: EmbedderManager,
        foreign_share: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._models = models
        self._foreign_share = foreign_share
        self._name = models.name
        self._noise_levels: dict[VectorModel, float] = {}
        self._cohorts: dict[tuple[VectorModel, int], Cohort | None] = {}
        self._cohort_lock = threading.Lock()
        self._questions: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._asked: deque[Ints] = deque(maxlen=16)
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._background: threading.Thread | None = None

    # -- the model --------------------------------------------------------------------------------------

    def resolve(self) -> EmbedderChoice:
        """Return the embedder in use, or the reason for its absence; loads no model."""
        return self._models.resolve(self._model_name(), self._plugins)

    def pull(self, progress: Progress = silent) -> str | None:
        """Fetch the model in use if it is missing and known; returns the reason where there is none afterwards."""
        return self._models.pull(self._model_name(), self._plugins, progress)

    def _model_name(self) -> str:
        """Return the model that the settings or the index name; if the index is unreadable, one that suits the notes.

        Takes no lock: the caller may hold the index, and another thread may wait for it meanwhile.
        """
        if self._name is None:
            try:
                with self._store.limit_waiting(Deadline.after(1.0)):  # another process may hold the index
                    choice = self._store.model_choice()
            except OpenClawMemoryError:
                return self._suitable()  # reading the index reports the error
            name = self._suitable() if choice is None else choice.name
            self._name = self._name or name  # a review meanwhile has seen more
        return self._name

    def _suitable(self) -> str:
        return (registry.MULTILINGUAL if self._foreign_share() >= FOREIGN else registry.DEFAULT).name

    def _review_choice(self, units: int) -> None:
        """Choose the model again once the units that were added may be :data:`FOREIGN` of all.

        A multilingual one is never replaced.
        """
        choice = self._store.model_choice()
        is_settled = choice is not None and units * (1 - FOREIGN) < choice.units
        if choice is not None and (choice.name == registry.MULTILINGUAL.name or is_settled):
            self._name = choice.name
        elif units:
            self._name = name = self._suitable()
            self._store.put_model_choice(ModelChoice(name, units))

    def embedder_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]:
        """Return the embedder, the key of its vectors in the store, and the reason where it is not the configured one.

        May load the model, so the caller must not hold the store.
        """
        choice = self.resolve()
        if choice.embedder is None:
            return None, None, choice.reason
        try:
            return choice.embedder, model_of(choice.embedder), choice.reason
        except ModelError as error:
            return None, None, f"searching by keywords: {error}"

    def start(self) -> None:
        """Begin to load the model, where the embedder has one; waits for nothing."""
        embedder = self.resolve().embedder
        if isinstance(embedder, LocalModel):
            embedder.start()

    def expected_model(self) -> VectorModel | None:
        """Return the key of the vectors in use, if it is known without loading the model."""
        embedder = self.resolve().embedder
        entry = None if embedder is None else registry.get(embedder.model)
        return None if entry is None else VectorModel(entry.name, entry.dimensions)

    # -- a question -------------------------------------------------------------------------------------

    def embed_question(
        self, text: str, seconds: float | None = None
    ) -> tuple[Embedder | None, VectorModel | None, str | None, Vectors | None]:
        """Return :meth:`embedder_in_use` and the question's vector ``float32[d]``.

        Without a vector within ``seconds`` the question is searched by keywords.
        """
        choice = self.resolve()
        embedder = choice.embedder
        if embedder is None:
            return None, None, choice.reason, None
        try:
            vector = self._models.run_within(seconds, lambda: self._question_vector(embedder, text))
            return embedder, model_of(embedder), choice.reason, vector if vector.any() else None
        except ModelError as error:
            log.warning("the question cannot be embedded: %s", error)
            return None, None, f"searching by keywords: {error}", None

    def _question_vector(self, embedder: Embedder, text: str) -> Vectors:
        key = embedder.model, text
        with self._lock:
            cached = self._questions.pop(key, None)
        vector = embedder.embed_query([text])[0] if cached is None else cached
        with self._lock:
            self._questions[key] = vector
            while len(self._questions) > 256:  # agents repeat themselves
                self._questions.popitem(last=False)
        return vector

    def forget_questions(self) -> None:
        """Drop the cached vectors of questions."""
        with self._lock:
            self._questions.clear()

    def knows_word(self, text: str) -> bool:
        """Return true if ``text`` is a single token of the model in use; does not load the model."""
        from .vocabulary import knows_word

        embedder = self.resolve().embedder
        return embedder is not None and knows_word(embedder, text)

    def noise_level(self, embedder: Embedder, seconds: float | None = None) -> float:
        """Return the noise level: the cosine that unrelated texts rarely exceed, measured once per model and index."""
        model = model_of(embedder)
        if model not in self._noise_levels:
            noise = self._store.noise(model)
            if noise is None:
                try:
                    noise = self._models.run_within(seconds, lambda: measure_noise(embedder))
                except ModelError as error:
                    log.warning("the model could not be measured: %s", error)
                    return 0.2  # of a usual model
                self._store.put_noise(model, noise)
            self._noise_levels[model] = noise
        return self._noise_levels[model]

    def compare_with_smalltalk(
        self, embedder: Embedder, text: str, vector: Vectors, seconds: float | None = None
    ) -> SmalltalkMatch | None:
        """Compare the vector of a message with small talk; ``None`` where that is not embedded yet.

        The small talk is embedded once per model and machine, for the script of the message.
        """
        from .smalltalk import compare, embed_cohort

        script = script_of(text)
        key = (model_of(embedder), script)

        def load() -> Cohort | None:
            if not self._cohort_lock.acquire(blocking=seconds is None):
                raise ModelError("the small talk is being embedded")
            try:
                if key not in self._cohorts:
                    self._cohorts[key] = embed_cohort(embedder, script)
                return self._cohorts[key]
            finally:
                self._cohort_lock.release()

        try:
            cohort = self._cohorts[key] if key in self._cohorts else self._models.run_within(seconds, load)
        except ModelError as error:
            log.info("only its words tell whether a message is about the notes: %s", error)
            return None
        return compare(vector, cohort)

    def embed_next(self, unit_ids: Ints) -> None:
        """Let the embedding that runs in this process, if any, go on with these units."""
        self._asked.append(unit_ids)

    def embed_candidates(self, embedder: Embedder, unit_ids: Ints, limit: int, until: Deadline) -> int:
        """Embed those of the units that have no vector yet, until ``until``; returns their number.

        A question that shares no word with any unit has no candidates: then at most ``limit`` units of all are
        embedded, so that it finds something by meaning.
        """
        named, most = (unit_ids, None) if len(unit_ids) else (None, limit)
        try:
            return embed_pending(self._store, embedder, until=until, unit_ids=named, batch=16, limit=most)[0]
        except ModelError as error:
            log.warning("texts cannot be embedded: %s", error)
            return 0

    # -- units of the index -----------------------------------------------------------------------------

    def embed_after_ingest(
        self, mode: str, progress: Progress, until: Deadline, embedded: list[int]
    ) -> tuple[int, int, str | None]:
        """Embed what an ingest has written, or start to; ``mode`` is ``ingest.embed``.

        ``embedded`` has the numbers of those units of which :meth:`start_background` has made vectors while it read.
        Returns the numbers of units embedded and pending, and a remark.
        """
        if self._models.name is None:
            self._review_choice(sum(astuple(self._store.vector_states(None))))
        embedder, model, reason = self.embedder_in_use()
        if mode == "eager":  # on every core
            self._stop.set()
            self.wait(until.left())
            self._stop.clear()
        states = self._store.vector_states(model)
        waiting = states.pending + states.outdated
        if embedder is None or mode == "lazy":
            return 0, waiting, reason
        if mode == "background":
            if waiting or states.failed:
                self.start_background()
            return 0, waiting, reason
        early, failed = sum(embedded), 0
        try:
            if failed := self._embed_all(embedder, states, embedded, progress, until):
                reason = f"{counted(failed, 'unit')} could not be embedded; the log names them"
        except ModelError as error:
            reason = f"not everything was embedded, the rest is found by keywords: {error}"
        done = sum(embedded)
        if done - early + failed < waiting + states.failed:  # out of time, or another process or thread did some of it
            states = self._store.vector_states(model)
            return done, states.pending + states.outdated, reason
        return done, 0, reason

    def _embed_all(
        self, embedder: Embedder, states: VectorStates, embedded: list[int], progress: Progress, until: Deadline
    ) -> int:
        """Embed all pending units, unless another process does; adds to ``embedded``, returns the number of failed."""
        model = model_of(embedder)
        waiting = states.pending + states.outdated + states.failed
        if not waiting:
            return 0
        with self._store.embedding_lock(until.within(self._settings.store.lock_timeout)) as has_lock:
            if not has_lock:
                log.info("another process embeds the pending units")
                return 0
            if states.failed:
                self._store.retry_failed(model)
            embedded.append(taken := self._store.take_over_vectors(model))
            if taken:
                log.info("%d vectors were taken from the index that was put aside", taken)
            large = threading.current_thread() is not self._background and waiting > _FRESH_TEXTS
            with embedder.use_all_cores() if large and isinstance(embedder, LocalModel) else nullcontext():
                _, failed = embed_pending(
                    self._store, embedder, progress, until, self._stop, total=waiting - taken, asked=self._asked,
                    embedded=embedded,
                )  # fmt: skip
            self.noise_level(embedder)
            return failed

    def embed_after_refresh(self, until: Deadline) -> None:
        """Embed a few units that a search has just found changed, until ``until``."""
        embedder, mode = self.resolve().embedder, self._settings.ingest.embed
        if embedder is None or mode == "lazy":
            return
        if mode == "background":
            self.start_background()
            return
        with self._store.embedding_lock(0) as has_lock:
            if has_lock:
                self.embed_candidates(embedder, np.zeros(0, np.int32), _FRESH_TEXTS, until)

    def start_background(self, embedded: list[int] | None = None) -> None:
        """Embed the pending units in a thread on one core, unless one is running; adds numbers to ``embedded``."""
        with self._lock:
            if self._background is not None and self._background.is_alive():
                return
            counts = [[] if embedded is None else embedded]
            self._background = threading.Thread(target=self._in_background, args=counts, name="embedding", daemon=True)
            self._background.start()

    def _in_background(self, embedded: list[int]) -> None:
        try:
            embedder, model, _ = self.embedder_in_use()
            if embedder is not None:
                states = self._store.vector_states(model)
                self._embed_all(embedder, states, embedded, silent, NEVER)
        except OpenClawMemoryError as error:
            log.warning("background embedding stopped: %s", error)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for background embedding; returns true if none is running afterwards."""
        thread = self._background
        if thread is None:
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def stop(self) -> None:
        """End background embedding after its current batch."""
        self._stop.set()
        self.wait(30)


def measure_noise(embedder: Embedder) -> float:
    """Return the mean and two standard deviations of the cosines of unrelated texts, in [0, 0.9].

    Models differ: one gives unrelated texts a cosine of 0.1, another 0.4, and scores have to mean the same for each.
    Raises :class:`~openclaw_memory.errors.ModelError` when the model cannot embed.
    """
    from .smalltalk import read_texts

    texts = read_texts("unrelated_texts.txt")
    cosines = embedder.embed_query(texts["questions"]) @ embedder.embed_documents(texts["statements"]).T
    return min(0.9, max(0.0, float(cosines.mean() + 2 * cosines.std())))


def embed_pending(
    store: Store,
    embedder: Embedder,
    progress: Progress = silent,
    until: Deadline = NEVER,
    stop: threading.Event | None = None,
    unit_ids: Ints | None = None,
    batch: int = 512,
    limit: int | None = None,
    total: int | None = None,
    asked: deque[Ints] | None = None,
    embedded: list[int] | None = None,
) -> tuple[int, int]:
    """Embed pending units until none is left, ``until`` has passed or ``stop`` is set; never while the store is held.

    Units that are put into ``asked`` meanwhile come next, the others as :meth:`Store.pending` returns them.

    The embedder sorts ``batch`` texts by length, so more pack better.  A batch starts small, doubles while it takes
    less than two seconds and halves above eight: an interruption loses one batch, and a large model on a small machine
    needs seconds for a single text.  ``total`` is the number of pending units if the caller knows it.  The number of
    each batch is added to ``embedded``.

    Returns the numbers embedded and failed.  Raises :class:`ModelError` when the model itself fails; a single text that
    cannot be embedded is marked as failed.
    """
    model = model_of(embedder)
    if total is None:
        states = store.vector_states(model)
        total = states.pending + states.outdated
    left = total if unit_ids is None else len(unit_ids)
    if limit is not None:
        left = min(left, limit)
    done = failed = 0
    size = min(batch, 64)
    while done + failed < left:
        if until.passed or (stop is not None and stop.is_set()):
            break
        texts: list[PendingText] = []
        while asked and not texts:
            wanted = asked.popleft()
            texts = store.pending(model, len(wanted), wanted)
        if not texts:
            texts = store.pending(model, min(size, left - done - failed), unit_ids)
        if not texts:
            break
        started = time.monotonic()
        shown = done

        def show(count: int) -> None:
            nonlocal shown
            shown += count
            progress("embed", shown, max(left, shown))

        vectors, bad = _embed_texts(embedder, texts, show)
        good = [text.unit_id for at, text in enumerate(texts) if at not in bad]
        done += (count := store.put_vectors(model, good, vectors))
        if embedded is not None:
            embedded.append(count)
        failed += store.put_failed(model, [texts[at].unit_id for at in sorted(bad)])
        progress("embed", done, max(left, done))
        seconds = time.monotonic() - started
        if seconds < 2.0:
            size = min(batch, 2 * size)
        elif seconds > 8.0:
            size = max(1, size // 2)
    return done, failed


def _embed_texts(embedder: Embedder, texts: Sequence[PendingText], progress: TextsDone) -> tuple[Vectors, set[int]]:
    """Embed texts, one by one if all together fail; returns the vectors and the positions without one."""
    try:
        return embedder.embed_documents([text.text for text in texts], progress), set()
    except ModelError as error:
        first = error
    try:
        rows = [embedder.embed_documents(["memory"])[:0]]
    except ModelError:
        raise first from None  # the model fails, not the texts
    bad: set[int] = set()
    for at, text in enumerate(texts):
        try:
            rows.append(embedder.embed_documents([text.text]))
        except ModelError as error:
            if isinstance(error, EngineError):
                if isinstance(embedder, LocalModel) and embedder.failure is not None:
                    raise  # the model fails after all
                log.warning("unit %d ends the model's process: %s", text.unit_id, error)
            else:
                log.warning("unit %d cannot be embedded: %s", text.unit_id, error)
            bad.add(at)
    return np.concatenate(rows), bad
