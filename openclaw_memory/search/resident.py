"""Hold an index in memory: columns, postings, vectors and the graph, checked against the store's write counter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config.settings import SearchSettings
from ..graph.view import GraphView
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..knowledge.statements import Statement, parse_statement
from ..model import Grain
from ..store.api import (
    KEPT_STATUS,
    KEPT_VECTORS,
    KEPT_WORDS,
    Bools,
    Floats,
    Ints,
    KeywordIndex,
    Store,
    StoreState,
    VectorIndex,
    VectorModel,
)
from ..use.tracker import BoostsOn
from ..use.units import RowBoosts
from . import features
from .bm25 import Lengths
from .display import Display
from .names import DocumentNames
from .superseded import SupersededStatements

if TYPE_CHECKING:
    from ..model import GrainSize

#: ``lines_after(day)`` returns by path the lines that are known to be younger than a day.
LinesAfter = Callable[[date], Mapping[str, Set[int]]]


class ResidentIndex:
    """The state that answers questions to one store, safe to use from several threads.

    ``superseded`` are the statements that no longer hold, ``boosts_on(day)`` gives the boosts of used units as of a
    day; ``lines_after`` knows the age of lines without a day.
    """

    def __init__(
        self,
        store: Store,
        settings: SearchSettings,
        superseded: SupersededStatements | None = None,
        boosts_on: BoostsOn | None = None,
        lines_after: LinesAfter = lambda day: {},
    ) -> None:
        self.settings = settings
        self.superseded = superseded or SupersededStatements(store, date.today, lambda as_of: {}, lambda: (None, 0))
        self._store = store
        self._boosts_on = boosts_on
        self._lines_after = lines_after
        self.weights, self.sure = features.weights_for(settings.weights), features.SURE
        #: Held while the state is used; taken after the store's session.
        self.lock = threading.RLock()
        self._reset()

    def _reset(self) -> None:
        self._state: StoreState | None = None
        #: True where rows were read since the state was restored or kept, by the file in which it is kept.
        self._read = {KEPT_WORDS: True, KEPT_VECTORS: True}
        self._lengths: tuple[int, Lengths] | None = None
        self._row_boosts = RowBoosts()
        self.corpus = Corpus()
        self.archive = Archive()
        self.names = DocumentNames()
        self.graph = GraphView(self._store)
        self.display = Display(self._store, self.settings, self.corpus, self.graph, self.superseded, self.archive)
        #: The keyword index, from the first refresh on, and the vectors of the model that it was last refreshed for.
        self.keyword: KeywordIndex | None = None
        self.vectors: VectorIndex | None = None
        self._model: VectorModel | None = None
        self._fresh_vectors = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the state, and a session of the store, for the block."""
        with self._store.reading(), self.lock:  # in this order everywhere: a search holds the session already
            yield

    def refresh(self, model: VectorModel | None) -> None:
        """Take over what any process has written; cheap when nothing was.

        Without a ``model`` the vectors of the last one are kept in step.
        """
        with self.reading():
            state = self._store.state()
            if self._state is not None and state != self._state:
                self._read = dict.fromkeys(self._read, True)
                if state.instance != self._state.instance or not self._store.has_kept():
                    # What somebody has forgotten must not stay mapped.
                    self._reset()
                    self.restore()
            model = self._model if model is None else model
            if self._state == state and (model is None or (model == self._model and self.vectors is not None)):
                return
            if model is not None and model != self._model:
                self.vectors, self._fresh_vectors = None, True
                self.weights = features.weights_for(self.settings.weights, model.name)
                self.sure = features.sure_share(model.name)
            self.keyword = self.keyword or self._store.keyword_index()
            self.corpus.refresh(self._store)
            self.names.refresh(self.corpus.documents)
            self.archive.refresh(self._store, self.corpus)
            if self._state is None:
                self._store.give_back_memory()  # as much as what comes next takes
            self.graph.refresh(self.corpus, self.archive)
            if self._state is None:
                self._store.give_back_memory()
            self.keyword.refresh()
            self.display.refresh()
            if model is not None:
                self.vectors = self.vectors or self._restored_vectors(model)
                changed = self.vectors.refresh()
                self.corpus.refresh_windows(self.vectors, changed, self._fresh_vectors)
                self._read[KEPT_VECTORS] |= len(changed) > 0
                self._fresh_vectors = False
                self._model = model
            if self._state is None:
                self._store.give_back_memory()
            self._state = state

    def restore(self) -> None:
        """Take over what a process has kept of the index; without that the first :meth:`refresh` reads all of it."""
        with self._store.reading(), self.lock:
            if self._state is not None or not (kept := self._store.kept(KEPT_WORDS)):
                return
            self.corpus.restore(kept["corpus"])
            self.names.restore(kept["names"])
            self.archive.restore_for(self.corpus, kept["archive"])
            self.graph.restore(self.corpus, self.archive, kept["concepts"])
            self.display.sections.restore(kept["sections"])
            self.keyword = self._store.keyword_index()
            self.keyword.restore(kept["keyword"])
            self.superseded.restore(kept["superseded"])
            self._state = StoreState(*kept["state"])
            self._read[KEPT_WORDS] = not kept["unchanged"]

    def _restored_vectors(self, model: VectorModel) -> VectorIndex:
        vectors = self._store.vector_index(model)
        kept = self._store.kept(KEPT_VECTORS)
        if kept and kept["model"] == model and kept["name"] == vectors.name:
            vectors.restore(kept["vectors"])
            self.corpus.restore_windows(kept["windows"])
            self._fresh_vectors, self._read[KEPT_VECTORS] = False, not kept["unchanged"]
        return vectors

    def keep(self) -> None:
        """Write the state for other processes, unless it is as it was restored, or the store has changed since."""
        with self._store.reading(), self.lock:
            if (state := self._state) is None or not any(self._read.values()):
                return
            if self._read[KEPT_WORDS]:
                self._read[KEPT_WORDS] = not self._store.keep(KEPT_WORDS, state, self._export_words)
                if not self._read[KEPT_WORDS]:
                    self._store.keep(KEPT_STATUS, state, self._export_status)
            if self._read[KEPT_VECTORS] and self.vectors is not None:
                self._read[KEPT_VECTORS] = not self._store.keep(KEPT_VECTORS, state, self._export_vectors)

    def _export_words(self) -> dict[str, Any]:
        assert self.keyword is not None
        self._store.vector_states(self._model)  # for status, among the answers that the store keeps
        self._store.give_back_memory()  # as much as the texts take
        return {
            "corpus": self.corpus.export(),
            "names": self.names.export(),
            "archive": self.archive.export(),
            "concepts": self.graph.index.export(self._store),
            "sections": self.display.sections.export(np.unique(self.corpus.rows.section_id).tolist()),
            "keyword": self.keyword.export(),
            "superseded": self.superseded.export(),
        }

    def _export_status(self) -> dict[str, Any]:
        return {"grains": self.grains(), "conflicts": self.superseded.outlook()}

    def _export_vectors(self) -> dict[str, Any]:
        assert self.vectors is not None and self._model is not None
        self._store.noise(self._model)  # for questions, likewise
        return {
            "model": self._model,
            "name": self.vectors.name,
            "vectors": self.vectors.export(),
            "windows": self.corpus.export_windows(),
        }

    def has_state(self) -> bool:
        """Return true if there is a state to answer from, be it an older one."""
        return self._state is not None

    def is_current(self) -> bool:
        """Return true if the store is as the last refresh found it."""
        return self._state == self._store.state()

    # -- within a block of reading() --------------------------------------------------------------

    @property
    def lengths(self) -> Lengths:
        """The lengths of all texts, for BM25."""
        if self._lengths is None or self._lengths[0] != self.corpus.version:
            self._lengths = self.corpus.version, Lengths(self.corpus)
        return self._lengths[1]

    def boosts(self, day: date) -> Floats | None:
        """Return what use adds to each row as of a day, ``float32[n]`` in [-1, 1]; ``None`` for nothing."""
        if self._boosts_on is None or not self.settings.use_weight:
            return None
        return self._row_boosts.boost(self._boosts_on(day), self.corpus, self.archive)

    def written_by(self, day: date) -> Bools:
        """Return the rows that are not known to be younger than ``day``, ``bool[n]``."""
        rows, young = self.corpus.rows, self._lines_after(day)
        written = np.asarray(rows.day <= day.toordinal())
        for document, info in self.corpus.documents.items() if young else ():
            if lines := young.get(info.path):
                own = np.flatnonzero((rows.document_id == document) & (rows.day == 0))
                spans = zip(rows.start_line[own].tolist(), rows.end_line[own].tolist(), strict=True)
                written[own] = [lines.isdisjoint(range(first, last + 1)) for first, last in spans]
        return written

    def texts(self, rows: Ints) -> list[str]:
        """Return the text of each row; empty where it is gone from the store."""
        ids = self.corpus.rows.unit_id[rows].tolist()
        texts = {unit.id: unit.text for unit in self._store.unit_texts(ids)}
        return [texts.get(unit_id, "") for unit_id in ids]

    def statements(self, rows: Ints) -> list[Statement]:
        """Return what each row states; nothing where it is gone from the store."""
        return [parse_statement(text, heading) for text, heading in self.display.texts(rows)]

    def grains(self) -> tuple[GrainSize, ...]:
        """Count files, units, bytes and days of each grain with a file, finest first; days are those of texts."""
        from ..model import GrainSize

        files: dict[Grain, list[int]] = {}
        sizes = {row.id: row.size for row in self._store.documents().by_path.values()}
        for info in self.corpus.documents.values():
            files.setdefault(info.grain, []).append(sizes.get(info.id, 0))
        masks, rows = self.archive.masks, self.corpus.rows
        out = []
        for code, grain in enumerate(Grain):
            if grain not in files:
                continue
            member = self.corpus.shape.grain == code
            days = rows.day[member & rows.dated & (rows.day > 0)]
            out.append(
                GrainSize(
                    grain=grain,
                    files=len(files[grain]),
                    units=int(member.sum()),
                    archived=0 if masks is None else int((member & masks.archived).sum()),
                    hidden=0 if masks is None else int((member & masks.hidden).sum()),
                    bytes=sum(files[grain]),
                    first=date.fromordinal(int(np.min(days))) if len(days) else None,
                    last=date.fromordinal(int(np.max(days))) if len(days) else None,
                )
            )
        return tuple(out)
