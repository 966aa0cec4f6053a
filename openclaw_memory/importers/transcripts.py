"""OpenClaw's conversations as Markdown: a file for each session and day in a private folder, of which search reads.

OpenClaw keeps transcripts in a database of each agent.  Of what it keeps there, schedules, hooks, sub-agents,
heartbeats and results of tools are no part of a conversation.  A session that it has deleted goes here too.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ..config.openclaw_home import OpenClawHome
from ..config.settings import Settings
from ..config.workspace import conversations_of
from ..errors import OpenClawMemoryError
from ..records import NamedTuple, dataclass
from ..system import atomic
from ..text import calendar
from .exports import Entry, ImportedTurn

log = logging.getLogger("openclaw_memory")

#: Name of the folder among the extra paths.
NAME = "sessions"
#: What OpenClaw calls the source of a message that no program sent.
_PERSON = "external_user"
_EVENTS = """
    SELECT session_key, transcript_events.created_at, event_json, event_zstd
    FROM session_transcript_active_events JOIN session_windows USING (session_id)
    JOIN transcript_events USING (session_id)
    WHERE seq = event_seq AND session_id = ? AND transcript_events.created_at >= ?
    ORDER BY active_position
"""


class _Message(NamedTuple):
    """A message of a person or the model, at a moment in milliseconds since 1970."""

    at: int
    speaker: str
    text: str


class RememberingAgent(Protocol):
    """What is needed of a memory."""

    agent: str
    workspace: Path
    settings: Settings

    @property
    def forgotten(self) -> Any:
        """What was forgotten, with its ``version``."""

    @property
    def reader(self) -> Any:
        """Reads a file as the index sees it."""


@dataclass
class SessionNotes:
    """Keeps a folder in step with the transcripts of an agent, of the last ``ingest.session_days`` days.

    In another workspace than OpenClaw's it does nothing.  When something is forgotten, all files are written again.
    """

    memory: RememberingAgent
    _seen: object = field(default=None, init=False)

    def update(self) -> None:
        """Write the files of days on which something was said since the last time; without ``days`` remove all.

        A transcript that cannot be read is left alone, with a line in the log: notes are read all the same.
        """
        folder, days = self._folder, self.memory.settings.ingest.session_days
        if folder is None:
            return
        if not days:
            shutil.rmtree(folder, ignore_errors=True)
            return
        database = OpenClawHome.for_environment().transcripts(self.memory.agent)
        today = calendar.today(self._zone)
        try:
            files = (database, database.with_name(f"{database.name}-wal"))
            sizes = [(file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.exists()]
            if (seen := (sizes, today, self.memory.forgotten.version)) == self._seen:
                return
            atomic.make_folder(folder, 0o700)
            if sizes:
                uri = f"{database.resolve().as_uri()}?mode=ro"
                with atomic.locked(folder / NAME), closing(sqlite3.connect(uri, uri=True, timeout=2)) as connection:
                    self._write_changed(folder, connection, (today - timedelta(days=days - 1)).isoformat())
            self._seen = seen
        except (OSError, sqlite3.Error, OpenClawMemoryError) as error:
            log.warning("transcripts of OpenClaw were not read: %s", error)

    @cached_property
    def _folder(self) -> Path | None:
        return conversations_of(self.memory.agent, self.memory.workspace)

    @property
    def _zone(self) -> str:
        return self.memory.settings.consolidate.time_zone

    def _write_changed(self, folder: Path, connection: sqlite3.Connection, first: str) -> None:
        """Write the days since ``first`` of the sessions that have grown: of a known session its last day and later."""
        state, known = folder / ".state.json", dict[str, list[Any]]()
        with suppress(FileNotFoundError, ValueError):
            if (noted := json.loads(state.read_bytes()))["version"] == self.memory.forgotten.version:
                known = noted["sessions"]
        ends: dict[str, int] = dict(
            connection.execute("SELECT session_id, max(seq) FROM transcript_events GROUP BY session_id")
        )
        sessions: dict[str, list[Any]] = {}
        for session, end in ends.items():
            before, last = known.get(session, (None, first))
            if before != end:
                since = max(last, first)
                start = datetime.fromisoformat(since).replace(tzinfo=UTC) - timedelta(days=1)  # whatever the zone
                rows = connection.execute(_EVENTS, (session, start.timestamp() * 1000)).fetchall()
                days = self._by_day(_decompress(rows, folder))
                for day in sorted(day for day in days if day >= since):
                    self._write(folder / f"{day}-{_key(session)}.md", day, days[day])
                    last = day
            sessions[session] = [end, last]
        _remove_others(folder, {_key(session) for session in sessions}, first)
        atomic.write_text(state, json.dumps({"version": self.memory.forgotten.version, "sessions": sessions}))

    def _by_day(self, rows: Iterable[tuple[str, int, str]]) -> Mapping[str, list[_Message]]:
        days: defaultdict[str, list[_Message]] = defaultdict(list)
        asked = True
        for key, at, event in rows:
            if not {"acp", "cron", "dreaming", "heartbeat", "hook", "subagent"}.isdisjoint(key.lower().split(":")):
                continue  # no conversation with a person
            role, text, person = _message(event)
            asked = person if role == "user" else asked  # a heartbeat is not, nor what answers it
            if asked and text:
                days[self._moment(at).date().isoformat()].append(_Message(at, role.capitalize(), text))
        return days

    def _moment(self, at: int) -> datetime:
        return calendar.now_in(self._zone, datetime.fromtimestamp(at / 1000, UTC))

    def _write(self, file: Path, day: str, messages: list[_Message]) -> None:
        from .writer import render_body

        lines = ["---", "origin: untrusted", "---", f"# Conversation on {day}", ""]
        before, size = 0, 0
        for at, speaker, text in messages:
            if at - before > 30 * 60 * 1000:  # milliseconds of silence
                lines += [f"## {self._moment(at):%H:%M}", ""]
            before = at
            lines += [*render_body(Entry("", (ImportedTurn(text, speaker),)), ""), ""]
            size += len(text.encode())
            if size > 1_000_000:
                break
        text = self.memory.reader.readable_text(f"@{NAME}/{file.name}", "\n".join(lines))
        if not file.exists() or file.read_text("utf-8") != text:
            atomic.write_bytes(file, text.encode(), 0o600)


def _decompress(rows: list[tuple[str, int, str | None, bytes | None]], folder: Path) -> Iterator[tuple[str, int, str]]:
    """Yield session key, moment and event of ``rows``; OpenClaw compresses events of 1 kB and more, each by itself."""
    file, frames = folder / ".events.zst", [frame for _, _, event, frame in rows if event is None and frame]
    texts: list[tuple[str]] = []
    file.unlink(missing_ok=True)  # of a process that was killed
    if frames:
        import _duckdb as duckdb

        atomic.write_bytes(file, b"".join(frames), 0o600)
        try:
            with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
                texts = database.execute(
                    "SELECT json FROM read_json_objects(?, compression = 'zstd', format = 'unstructured')", [str(file)]
                ).fetchall()
        except duckdb.Error as error:
            raise OpenClawMemoryError(f"compressed messages of OpenClaw: {error}") from error
        finally:
            file.unlink()
        if len(texts) != len(frames):
            raise OpenClawMemoryError("compressed messages of OpenClaw: they are no events")
    events = iter(texts)
    for key, at, event, frame in rows:
        if event is not None or frame:
            yield key, at, next(events)[0] if event is None else event


def _remove_others(folder: Path, keys: set[str], first: str) -> None:
    """Remove the files of sessions that are gone, of days before ``first``, and of the earliest days of too many."""
    size = 0
    for file in sorted(folder.glob("*.md"), reverse=True):
        size += file.stat().st_size
        if file.name < first or file.stem[11:] not in keys or size > 50_000_000:
            file.unlink()


def _message(event: str) -> tuple[str, str, bool]:
    """Return the role and the text of the message in an event of a transcript, and true unless a program sent it.

    The text is empty for what is no message of a person or the model.
    """
    try:
        message = json.loads(event)["message"]
        role, content = str(message["role"]), message["content"]
        person = (message.get("provenance") or {}).get("kind", _PERSON) == _PERSON
        parts = [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]
        text = "\n\n".join(parts).strip()[:4_000]
    except (ValueError, LookupError, AttributeError, TypeError):
        return "", "", True
    return role, text if role in ("user", "assistant") else "", person


def _key(session: str) -> str:
    return Entry(session, ()).key
