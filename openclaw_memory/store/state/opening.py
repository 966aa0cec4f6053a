"""Open the state of a workspace where the settings place it."""

from __future__ import annotations

from pathlib import Path

from ...config.settings import StateSettings, config_path, data_dir
from ...config.workspace import expand_home
from ...records import NamedTuple
from .database import State
from .location import Keys, StateLocation, WorkspaceStateLocation


class ServerWorkspace(NamedTuple):
    """The name of a workspace on the server at ``url``, and the agent that writes there."""

    url: str
    workspace: str
    agent: str


def state_folder(settings: StateSettings) -> Path:
    """Return the folder of the states of all workspaces."""
    return expand_home(settings.folder).absolute() if settings.folder else data_dir() / "state"


def state_keys() -> Keys:
    """Return the keys of all states, which are never beside them."""
    return Keys(config_path().parent / "keys")


def open_state(
    workspace: Path, settings: StateSettings, file: Path | None = None, server: ServerWorkspace | None = None
) -> State:
    """Return the state of ``workspace``, or that in ``file``, or on the ``server`` of the index; nothing is opened."""
    keys = state_keys()
    if server is not None and file is None:
        from ..postgres.state import ServerState

        return ServerState(server.url, server.workspace, server.agent, keys)
    return State(
        WorkspaceStateLocation(workspace, state_folder(settings), keys)
        if file is None
        else StateLocation(file.absolute(), keys)
    )
