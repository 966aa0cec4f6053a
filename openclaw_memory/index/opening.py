"""Open the index of an agent and a workspace where the settings place it: a file, or a memory on a server."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import Settings
from ..config.store_url import is_like_url, is_url
from ..config.workspace import default_path, expand_home, index_files
from ..errors import SettingsError
from ..store.state.opening import ServerWorkspace

if TYPE_CHECKING:
    from ..store.api import Store


def url_of(settings: Settings, db: str | Path | None = None) -> str:
    """Return the URL of the server that holds the index: ``db`` if it is one, else the setting; empty for a file.

    Raises :class:`SettingsError` for text that is neither a URL of PostgreSQL nor the name of a file.
    """
    named = db or settings.store.path
    if named and not is_url(named) and is_like_url(named):
        raise SettingsError(
            f"{'--db' if db else 'store.path'}: this is no URL of PostgreSQL (postgresql://…) and no file"
        )
    if db:
        return str(db) if is_url(db) else ""
    url = settings.store.url
    if url and not is_url(url):
        raise SettingsError("store.url: this is no URL of PostgreSQL; it begins with postgresql://")
    return url


def open_index(workspace: Path, agent: str, settings: Settings, db: str | Path | None = None) -> Store:
    """Return the index of ``agent`` for ``workspace``, or the file or URL ``db``; it opens when it is first used."""
    from ..knowledge.versions import extraction_version
    from ..store.duckdb.store import DuckStore
    from ..text import analysis

    extraction = f"{analysis.ANALYSIS_VERSION} {extraction_version(settings.redaction.allow)}"
    options = settings.store, analysis.terms, extraction
    if url := url_of(settings, db):
        from ..store.postgres.store import PostgresStore

        files = index_files(workspace, settings.store.folder)
        files += [expand_home(settings.store.path).absolute()] if settings.store.path else []
        beside = default_path(workspace, agent, settings.store.folder)
        return PostgresStore(url, agent, workspace_name(workspace, settings), *options, files=files, beside=beside)
    return DuckStore(index_file(workspace, agent, settings, db), *options)


def index_file(workspace: Path, agent: str, settings: Settings, db: str | Path | None = None) -> Path:
    """Return the file of an index that is on no server."""
    named = db or settings.store.path
    return expand_home(named).absolute() if named else default_path(workspace, agent, settings.store.folder)


def server_of(workspace: Path, agent: str, settings: Settings, db: str | Path | None = None) -> ServerWorkspace | None:
    """Return the server that holds the index, with the workspace's name there; ``None`` for a file."""
    url = url_of(settings, db)
    return ServerWorkspace(url, workspace_name(workspace, settings), agent) if url else None


def workspace_name(workspace: Path, settings: Settings) -> str:
    """Return the workspace's name on a server: the setting, else one of its path and this machine, which is unique."""
    for shared in settings.sharing.memories:
        if shared.on_server and shared.workspace and expand_home(shared.workspace).resolve() == workspace:
            return shared.on_server
    return settings.store.workspace or f"{default_path(workspace, '').stem}@{platform.node()}"
