"""What a question asks the store each time, kept in memory: so a resident index answers while the server is away.

What changes the memory is not kept: it fails, the Markdown stays, and the next ingest catches up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import StoreUnreachable
from ..rows.catalog import StoreState
from ..rows.graph import OntologyRows, WorkspaceFile
from ..rows.texts import ModelChoice, SectionText, VectorModel, VectorStates
from .store import PostgresStore

#: Units up to which the lines of all sections are kept.
MOST = 50_000


class ResidentStore(PostgresStore):
    """The PostgreSQL store as one process uses it for long; when the server is away it repeats its last answers."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._lines: dict[int, SectionText] = {}
        self._highest = 0

    def _kept(self, name: str, *asked: Any) -> Any:
        """What the store's method ``name`` says, or said the last time when the server is away."""
        try:
            self._answers[name, *asked] = getattr(super(), name)(*asked)
        except StoreUnreachable:
            if (name, *asked) not in self._answers:
                raise
        return self._answers[name, *asked]

    def state(self) -> StoreState:
        """Identity of the memory and its write counter."""
        found: StoreState = self._kept("state")
        return found

    def facts_version(self) -> tuple[str, ...]:
        """Another value after every change that may concern facts."""
        found: tuple[str, ...] = self._kept("facts_version")
        return found

    def ontology(self) -> OntologyRows:
        """The curated concepts."""
        found: OntologyRows = self._kept("ontology")
        return found

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        """What was last read of a file that is no note."""
        found: WorkspaceFile | None = self._kept("workspace_file", name)
        return found

    def noise(self, model: VectorModel) -> float | None:
        """What was noted of a model's unrelated texts."""
        found: float | None = self._kept("noise", model)
        return found

    def model_choice(self) -> ModelChoice | None:
        """What was noted of the model for the notes."""
        found: ModelChoice | None = self._kept("model_choice")
        return found

    def vector_states(self, model: VectorModel | None) -> VectorStates:
        """How many units have a vector of ``model``, of another model, or none."""
        found: VectorStates = self._kept("vector_states", model)
        return found

    def warnings(self) -> list[str]:
        """What a person should hear of the role, the index, and the server."""
        found: list[str] = self._kept("warnings")
        return [*found, *self._db.server.remarks()]

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
