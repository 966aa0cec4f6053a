"""Taking over the journals of earlier versions: JSON lines beside each index, with the key among them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import WorkspaceError
from ...system import atomic
from .database import State, now
from .keys import key_id
from .use import put, sums_in

log = logging.getLogger("openclaw_memory")

#: The normaliser of words by which these journals hashed.
_WORDS = 1
_RETIRED = {"path": str, "size": int, "mtime_ns": int, "sha256": str, "origin": str}


def take_over(state: State, journals: Iterable[Path], runs: Iterable[Path]) -> None:
    """Put what ``journals`` and the notes of automatic ``runs`` say into ``state``, then delete them.

    Nothing is deleted before it is in the state, and what is taken over twice counts once, but for counts of use.
    A line that is damaged is left out and named in the log.  Raises :class:`~openclaw_memory.store.state.StateError`.
    """
    for journal in journals:
        if not journal.is_file():
            continue
        with atomic.locked(journal):  # as its writers do
            try:
                records = list(_records(journal))
            except FileNotFoundError:
                continue  # another process was faster
            except OSError as error:
                raise WorkspaceError(
                    f"{journal}: cannot be read ({error.strerror or error}); make the file readable"
                ) from error
            _put(state, records)
            journal.unlink()
        log.info("%s: taken over into %s", journal, state.file)
    for run in runs:
        if run.is_file():
            try:
                found = json.loads(run.read_bytes())
            except (OSError, ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                state.set_flag("last run", found)
            run.unlink(missing_ok=True)


def _put(state: State, records: list[dict[str, Any]]) -> None:
    keys = [key for record in records if record["kind"] == "key" and (key := _key(record)) is not None]
    if any(record["kind"] in ("forgotten", "forgetting") for record in records):
        # What is forgotten from now on is hashed by one that never lay beside the index.
        for key in (state.key(), *keys):
            state.add_key(key)
    uses = sums_in(record for record in records if record["kind"] == "use")
    with state.writing("forgotten", "use", "retired", "flags") as connection:
        for record in records:
            at = str(record.get("at") or now())
            match record["kind"]:
                case "forgotten" if keys:
                    connection.executemany(
                        "INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?, ?)",
                        [(str(each), key_id(keys[0]), _WORDS, at) for each in _list(record, "hashes")],
                    )
                case "forgetting":
                    todo = {name: _list(record, name) for name in ("ids", "paths", "notes", "concepts")}
                    connection.execute(
                        "INSERT OR IGNORE INTO forgetting VALUES (?, ?, ?)",
                        [str(record.get("id")), json.dumps(todo), at],
                    )
                case "retired" if record.get("back") is True:
                    connection.execute("DELETE FROM retired WHERE path = ?", [str(record.get("path"))])
                case "retired" if all(isinstance(record.get(name), kind) for name, kind in _RETIRED.items()):
                    values = [record[name] for name in _RETIRED]
                    connection.execute("INSERT OR REPLACE INTO retired VALUES (?, ?, ?, ?, ?)", values)
                case "automatic":
                    connection.execute(
                        "INSERT OR REPLACE INTO flags VALUES ('automatic', ?, ?)",
                        [json.dumps(record.get("on") is True), at],
                    )
        for unit, one in uses.items():
            put(connection, unit, one)


def _records(journal: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(journal.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and isinstance(found.get("kind"), str):
            yield found
        else:
            log.warning("%s, line %d: damaged, so it does not count", journal, number)


def _list(record: dict[str, Any], name: str) -> list[str]:
    found = record.get(name)
    return [str(each) for each in found] if isinstance(found, list) else []


def _key(record: dict[str, Any]) -> bytes | None:
    try:
        key = bytes.fromhex(record["key"])
    except (KeyError, TypeError, ValueError):
        return None
    return key if len(key) == 32 else None
