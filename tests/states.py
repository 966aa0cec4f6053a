"""States of tests, in files of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from openclaw_memory import Memory
from openclaw_memory.config.settings import data_dir
from openclaw_memory.store.state import State
from openclaw_memory.store.state.location import Keys, StateLocation


def state_in(file: Path | None) -> State:
    """The state in ``file``, its keys in a folder beside; without a file in a new one."""
    file = file or Path(tempfile.mkdtemp(dir=Path.home())) / "state.sqlite"
    return State(StateLocation(file, Keys(file.parent / "keys")))


def state_file() -> Path:
    """The one state that this test has made."""
    [file] = (data_dir() / "state").glob("*.sqlite")
    return file


def noted(memory: Memory) -> set[str]:
    """The tables of the state that hold anything."""
    tables = ("tombstones", "forgetting", "use", "retired", "flags")
    return {table for table in tables if memory.state.read(f"SELECT 1 FROM {table} LIMIT 1")}


def content(file: Path) -> bytes:
    """All bytes of a state, with what SQLite keeps beside it."""
    return b"".join(each.read_bytes() for each in sorted(file.parent.glob(f"{file.name}*")))
