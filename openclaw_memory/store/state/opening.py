"""The state of a workspace as the settings place it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...config.index_paths import index_files
from ...config.settings import config_path, data_dir
from ...config.workspace import expanded
from . import journal
from .database import State
from .keys import Keys
from .place import File, Workplace

if TYPE_CHECKING:
    from ...config.settings import StateSettings, StoreSettings


@dataclass(frozen=True, slots=True)
class OnServer:
    """A workspace as it is called on the server at ``url``, and the agent that writes there."""

    url: str
    workspace: str
    agent: str


def folder_of(settings: StateSettings) -> Path:
    """Where the states of all workspaces lie."""
    return expanded(settings.folder).absolute() if settings.folder else data_dir() / "state"


def keys_of(settings: StateSettings) -> Keys:
    """Where their keys are: never beside them."""
    return Keys(config_path().parent / "keys", settings.key)


def open_state(
    workspace: Path,
    settings: StateSettings,
    store: StoreSettings,
    index: Path | None,
    file: Path | None = None,
    server: OnServer | None = None,
) -> State:
    """The state of ``workspace``, or that in ``file``; it takes over what earlier versions kept beside an ``index``.

    Those are the index in use and the indexes of all agents of the workspace.  It is on the ``server`` where the index
    is on one.  Nothing is opened yet.
    """
    keys = keys_of(settings)
    if server is not None and file is None:
        from ..postgres.state import ServerState

        return ServerState(server.url, server.workspace, server.agent, keys)
    place = Workplace(workspace, folder_of(settings), keys) if file is None else File(file.absolute(), keys)

    def take_over(state: State) -> None:
        indexes = dict.fromkeys(
            [*([index] if index else []), *(index_files(workspace, store.folder) if file is None else [])]
        )
        journal.take_over(
            state,
            [each.with_name(f"{each.name}.journal") for each in indexes],
            [each.with_name(f"{each.name}.upkeep.json") for each in indexes],
        )

    return State(place, take_over)
