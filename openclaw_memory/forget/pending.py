"""Tell what is still to be forgotten, before files are read and beside every answer."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from ..store.api import Store
from ..store.state import State, StateError
from ..store.state.database import now
from .tombstones import Tombstones


def reread_forgotten(store: Store, state: State, tombstones: Tombstones) -> None:
    """Have every file read again after something was forgotten that the index does not reflect.

    Called whenever files are about to be read; mostly it costs a look at the state and one at the index.  Raises
    :class:`~openclaw_memory.store.state.StateError` when the tombstones cannot be read: no file may be read then.
    """
    tombstones.check()
    version = tombstones.version
    if not version:
        return
    with store.reading():
        masks, unpurged = store.masks(), store.unpurged()
    if masks != version:
        with store.session():
            if store.masks() != version:  # else another process has done so meanwhile
                store.schedule_reread(None, version)
            unpurged = store.unpurged()
    if unpurged and not unfinished(state):
        # An older copy of the index, whose free blocks hold what was forgotten, or one in which forgetting was cut
        # short before another process finished it in its own: the next ingest purges it.
        schedule_forgetting(state)


def schedule_forgetting(state: State) -> None:
    """Let the next ingest remove all forgotten texts from the generated files and the index again."""
    with state.writing() as connection:
        connection.execute("INSERT INTO forgetting VALUES (?, ?, ?)", todo_row({}))


def todo_row(todo: dict[str, Sequence[str]]) -> tuple[str, str, str]:
    """Return the row that says how to finish a plan."""
    return os.urandom(8).hex(), json.dumps(todo), now()


def unfinished(state: State) -> list[str]:
    """Return a warning while a text to forget is still in a file or in the index."""
    try:
        begun = state.read("SELECT 1 FROM forgetting LIMIT 1")
    except StateError:
        return []  # the state says so itself
    return ["something is still to be forgotten; run: openclaw-memory ingest"] if begun else []


def lost_state(store: Store, tombstones: Tombstones) -> str | None:
    """Return a warning when the index remembers that something was forgotten, and the state does not."""
    if tombstones.version or not store.masks():
        return None
    return (
        "what was forgotten is not known any more, as the state of this workspace is gone: put it back (run: "
        "openclaw-memory restore), or forget those things again; until then they come back with files that change"
    )
