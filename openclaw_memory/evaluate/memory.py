"""Let a memory measure itself: by questions of its own notes, and beside other settings."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..model import Progress, silent
from ..model.bounds import check_number, named_arguments
from ..sharing.reading import ReadingMemory
from ..store.state import State, StateError

if TYPE_CHECKING:
    from ..embed.manager import EmbedderManager
    from ..embed.vectorizer import Vectorizer
    from ..facts.service import FactService
    from ..ingest.freshness import Freshness
    from ..model import EvaluationReport, EvaluationRun
    from ..store.api import Store


class EvaluatingMemory(ReadingMemory):
    """The evaluation of :class:`openclaw_memory.Memory`, which builds the parts."""

    state: State
    store: Store
    facts: FactService
    _models: EmbedderManager
    _vectorizer: Vectorizer
    _freshness: Freshness
    _parts: dict[str, Any]
    _place: Any

    @named_arguments()
    def evaluate(
        self, *, questions: int = 150, against: Mapping[str, Any] | None = None, progress: Progress = silent
    ) -> EvaluationReport:
        """Ask about so many ``questions`` that are made from the notes, and report how many are answered.

        ``against`` are dotted settings, as ``{"search.mode": "keyword"}``, with which the same questions are asked too;
        where they change the index, that is a temporary one.  Neither notes nor use are changed; only counts are kept.
        Raises :class:`~openclaw_memory.errors.SettingsError` for an invalid setting, and
        :class:`~openclaw_memory.errors.ModelError` where the model of ``against`` is missing.
        """
        from .service import evaluate

        most = int(check_number("questions", questions, 10, 10_000, whole=True))
        with ExitStack() as stack:
            other = None
            if against:
                variant = stack.enter_context(self._with_settings(against, progress))
                other = against, variant
            return evaluate(self, self.facts, self.state, most, other, progress)

    def last_evaluation(self) -> EvaluationRun | None:
        """Return the last evaluation with these settings; ``None`` also while the state cannot be read."""
        from .history import last_run

        with suppress(StateError):
            return last_run(self.state, self.settings)
        return None

    @contextmanager
    def _with_settings(self, values: Mapping[str, Any], progress: Progress) -> Iterator[EvaluatingMemory]:
        """Yield this memory with other settings: on the same index, or on a temporary one where that is another."""
        from tempfile import TemporaryDirectory

        variant = copy.copy(self)
        variant.settings = self.settings.with_values(values)
        with TemporaryDirectory(prefix="openclaw-memory-") as folder, ExitStack() as stack:
            # These change how an index is asked, and not what is in it.
            if all(name.startswith(("search.", "context.")) for name in values):
                variant._parts = {"store": self.store, "_models": self._models}
            else:
                variant._parts, variant._place = {}, Path(folder, "index.duckdb")
                stack.callback(variant.store.close)
                stack.callback(variant._models.close)
            stack.callback(variant._vectorizer.stop)
            stack.callback(variant._freshness.close)
            if variant.store is not self.store:
                choice, name = variant._vectorizer.resolve(), variant.settings.embedding.model
                if choice.embedder is None and name.strip().lower() not in ("none", ""):
                    raise ModelError(choice.reason or f"{name} is missing; run: openclaw-memory model pull {name}")
                variant._freshness.ingest((), embed="eager", progress=progress)
            yield variant
