"""What a question asks the store each time, kept in memory: so a resident index answers while the server is away.

What changes the memory is not kept: it fails, the Markdown stays, and the next ingest catches up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...errors import StoreUnreachable
from ..rows.catalog import StoreState
from ..rows.graph import OntologyRows, WorkspaceFile
from ..rows.texts import ModelChoice, SectionText, VectorModel, VectorStates
from .store import PostgresStore

T = TypeVar("T")

#: Units up to which the lines of all sections are kept.
MOST = 50_000


class ResidentStore(PostgresStore):
    """The PostgreSQL store as one process uses it for long; when the server is away it repeats its last answers."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._lines: dict[int, SectionText] = {}
        self._highest = 0

    def _kept(self, ask: Callable[..., T], *asked: Any) -> T:
        """What a method of the store says, or said the last time when the server is away."""
        key = ask.__name__, *asked
        try:
            self._answers[key] = ask(*asked)
        except StoreUnreachable:
            if key not in self._answers:
                raise
        found: T = self._answers[key]
        return found

    def state(self) -> StoreState:
        """Identity of the memory and its write counter."""
        return self._kept(super().state)

    def facts_version(self) -> tuple[str, ...]:
        """Another value after every change that may concern facts."""
        return self._kept(super().facts_version)

    def ontology(self) -> OntologyRows:
        """The curated concepts."""
        return self._kept(super().ontology)

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        """What was last read of a file that is no note."""
        return self._kept(super().workspace_file, name)

    def noise(self, model: VectorModel) -> float | None:
        """What was noted of a model's unrelated texts."""
        return self._kept(super().noise, model)

    def model_choice(self) -> ModelChoice | None:
        """What was noted of the model for the notes."""
        return self._kept(super().model_choice)

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        return self._kept(super().vector_states, model)

    def warnings(self) -> list[str]:
        """What a person should hear of the role, the index, and the server."""
        return [*self._kept(super().warnings), *self._db.server.remarks()]

    def section_texts(self, section_ids: Sequence[int]) -> dict[int, SectionText]:
        """Headings and lines of sections by id."""
        try:
            with self._db.read():
                self._keep_lines()
                return super().section_texts(section_ids)
        except StoreUnreachable:
            if any(one not in self._lines for one in section_ids):
                raise
            return {one: self._lines[one] for one in section_ids}

    def _keep_lines(self) -> None:
        known = self._db.counters()
        highest = int(known["section"])
        if highest > self._highest and int(known["unit"]) - int(known.get("dropped", 0)) <= MOST:
            new = [row[0] for row in self._db.rows("SELECT id FROM sections WHERE id > ?", [self._highest])]
            self._lines |= super().section_texts(new)
        self._highest = highest
