"""The state of a workspace as the settings place it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...config.settings import config_path, data_dir
from ...config.workspace import expanded
from .database import State
from .keys import Keys
from .place import Place, Workplace

if TYPE_CHECKING:
    from ...config.settings import StateSettings


@dataclass(frozen=True, slots=True)
class OnServer:
    """A workspace as it is called on the server at ``url``, and the agent that writes there."""

    url: str
    workspace: str
    agent: str


def folder_of(settings: StateSettings) -> Path:
    """Where the states of all workspaces lie."""
    return expanded(settings.folder).absolute() if settings.folder else data_dir() / "state"


def keys_of() -> Keys:
    """Where their keys are: never beside them."""
    return Keys(config_path().parent / "keys")


def open_state(
    workspace: Path,
    settings: StateSettings,
    file: Path | None = None,
    server: OnServer | None = None,
) -> State:
    """The state of ``workspace``, or that in ``file``; on the ``server`` where the index is on one.

    Nothing is opened yet.
    """
    keys = keys_of()
    if server is not None and file is None:
        from ..postgres.state import ServerState

        return ServerState(server.url, server.workspace, server.agent, keys)
    return State(Workplace(workspace, folder_of(settings), keys) if file is None else Place(file.absolute(), keys))
