"""The index file of an agent and a workspace, as the settings place it."""

from __future__ import annotations

from pathlib import Path

from ..config.index_paths import default_path
from ..config.settings import Settings
from ..config.workspace import expanded
from ..knowledge import linking
from ..store.duckdb.duck import DuckStore
from ..text import analysis


def open_index(workspace: Path, agent: str, settings: Settings, db: str | Path | None = None) -> DuckStore:
    """The index of ``agent`` for ``workspace``, or the file ``db``; nothing is opened before it is used."""
    named = db or settings.store.path
    path = expanded(named).absolute() if named else default_path(workspace, agent, settings.store.folder)
    extraction = linking.extraction(settings.redaction.allow)
    return DuckStore(path, settings.store, analysis.terms, analysis.ANALYSIS_VERSION, extraction)
