"""The index as a whole: its size, its upkeep, and queries of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...model import ExportReport, Progress, QueryResult

if TYPE_CHECKING:
    from .derived import Collect, KeywordSearch


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """Counts and sizes of the index."""

    path: str
    bytes: int
    schema: int
    generation: int
    documents: int
    sections: int
    units: int
    postings: int
    postings_delta: int
    by_kind: Mapping[str, int]
    by_grain: Mapping[str, int]


class Admin(Protocol):
    """The index as a whole: its size, its upkeep, and queries of any kind."""

    def give_back_memory(self) -> None:
        """Return to the operating system what reading the whole index took."""

    def maintain(self, force: bool = False) -> bool:
        """Compact postings when their delta has grown; returns whether it did."""

    def purge(self) -> None:
        """Leave no trace of what was deleted.  Not inside a :meth:`session`."""

    def shrink(self) -> bool:
        """Give back what deleted rows took when that is much of it; whether it did.  Not inside a :meth:`session`."""

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Where in the index any of these texts stands: names of columns and files; empty when nowhere."""

    def leftovers(self) -> list[str]:
        """Where else the same texts may be kept: older copies of this index, indexes of others; in words."""

    def query(
        self, sql: str, collect: Collect, keywords: KeywordSearch, limit: int | None = None, timeout: float = 20.0
    ) -> QueryResult:
        """The answer of one SQL statement that only reads; at most ``limit`` rows, in at most ``timeout`` seconds.

        Raises :class:`~openclaw_memory.errors.RequestError` when it is refused, wrong or takes too long.
        """

    def export(self, folder: Path, collect: Collect, overwrite: bool, progress: Progress) -> ExportReport:
        """Write every table as a Parquet file into a folder that is empty, new, or (``overwrite``) an older export.

        ``progress(stage, done, total)`` is called after each table.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the folder cannot be used.
        """

    def statistics(self) -> StoreStatistics:
        """Counts and sizes."""

    def beside(self, suffix: str) -> Path | None:
        """A file beside the index, for what is worth no table; ``None`` for a store that is no local file."""

    def files(self) -> list[Path]:
        """Index files on this machine that hold this workspace, or held it before it was on a server."""

    def warnings(self) -> list[str]:
        """What a person should hear about this store, such as a damaged file moved aside."""

    def close(self) -> None:
        """Let go of everything; calling twice is harmless."""
