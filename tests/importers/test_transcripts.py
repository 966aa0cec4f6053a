"""Conversations of OpenClaw as a corpus of their own."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from fakes import CountingEmbedder

from openclaw_memory import Memory
from openclaw_memory.config.settings import Settings
from openclaw_memory.model import Kind

NOW = datetime.now(UTC).replace(hour=12)
SCHEMA = """
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
                                    event_zstd BLOB, PRIMARY KEY (session_id, seq));
    CREATE TABLE session_transcript_active_events (session_id TEXT, active_position INTEGER, event_seq INTEGER);
"""


class Transcripts:
    """OpenClaw's state, with the database of the agent ``main``."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.workspace = state / "workspace"
        (self.workspace / "memory").mkdir(parents=True)
        (self.workspace / "memory/2026-03-02.md").write_text("# 2026-03-02\n\n- The boat is moored at pier nine.\n")
        self.file = state / "agents/main/agent/openclaw-agent.sqlite"
        self.file.parent.mkdir(parents=True)
        with closing(sqlite3.connect(self.file)) as connection:
            connection.executescript("PRAGMA journal_mode=WAL;" + SCHEMA)

    def add(self, text: str, key: str = "main", role: str = "user", days_ago: int = 0, **more: object) -> None:
        """Append a message to the session ``key``."""
        at = (NOW - timedelta(days=days_ago)).timestamp() * 1000
        message = {"role": role, "content": [{"type": "text", "text": text}], **more}
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.execute("INSERT OR IGNORE INTO session_windows VALUES (?, ?)", (key, f"agent:main:{key}"))
            ((seq,),) = connection.execute("SELECT count(*) FROM transcript_events WHERE session_id = ?", (key,))
            event = json.dumps({"type": "message", "message": message})
            payload = (event, None) if len(event) < 1024 else (None, self._compress(event))
            values = (key, seq, payload[0], int(at), payload[1])
            connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", values)
            connection.execute("INSERT INTO session_transcript_active_events VALUES (?, ?, ?)", (key, seq, seq))

    def _compress(self, event: str) -> bytes:
        """Return the event as OpenClaw keeps those of 1 kB and more."""
        file = self.state / "event.zst"
        with duckdb.connect() as database:
            query = f"COPY (SELECT json_extract(?, '$.message') AS message) TO '{file}' (FORMAT json, COMPRESSION zstd)"
            database.execute(query, (event,))
        return file.read_bytes()

    def delete(self, key: str) -> None:
        """Delete a session, as a person does."""
        with closing(sqlite3.connect(self.file)) as connection, connection:
            for table in ("session_windows", "transcript_events", "session_transcript_active_events"):
                connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (key,))

    def memory(self, days: int = 30) -> Memory:
        """Open the agent's memory."""
        settings = Settings().with_values({"ingest.session_days": days, "ingest.fresh_seconds": 0.0})
        return Memory(self.workspace, settings=settings, embedder=CountingEmbedder())

    @property
    def files(self) -> list[Path]:
        """The files that were made of the conversations."""
        return sorted((self.state / "openclaw-memory/sessions/main").glob("*.md"))


@pytest.fixture
def transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transcripts:
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    return Transcripts(tmp_path / "state")


def found(memory: Memory, query: str, *kinds: Kind) -> list[str]:
    return [hit.snippet for hit in memory.search(query, kinds=kinds).results]


def test_turns_are_found_where_they_are_asked_for(transcripts: Transcripts) -> None:
    transcripts.add("Juno wants to paint the boat green.")
    transcripts.add("Then buy the green paint in Ghent.", role="assistant")
    with transcripts.memory() as memory:
        [text] = found(memory, "green paint boat", Kind.SESSION)
        assert "User: Juno wants to paint" in text and "Assistant: Then buy" in text
        assert not any("Juno" in text for text in found(memory, "green paint boat"))
        assert "pier nine" in found(memory, "boat", *Kind)[0], "notes come first"
        assert any("Juno" in text for text in found(memory, "boat", *Kind))
        assert not any("Juno" in hit.snippet for hit in memory.timeline().results)
        assert "Juno" not in memory.context("What does Juno want to do with the boat?").text
        assert not memory.facts.query("Juno").rows
        [hit] = memory.search("green paint", kinds=(Kind.SESSION,)).results
        assert hit.origin == "untrusted" and hit.path.startswith("@sessions/") and hit.date == NOW.date()


def test_a_long_message_is_read_in_its_place(transcripts: Transcripts) -> None:
    transcripts.add("Before it.")
    for name in ("Wren", "Oswin"):
        transcripts.add(f"{name} moors the boat. " + 'The tide was "high" {again}.\n' * 60)
        transcripts.add(f"After {name}.", role="assistant")
    with transcripts.memory() as memory:
        memory.ingest()
    [file] = transcripts.files
    text = file.read_text()
    order = ("Before it", "Wren moors", "After Wren", "Oswin moors", "After Oswin")
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert [other.name for other in file.parent.iterdir() if other.suffix == ".zst"] == []


def test_an_agent_may_have_a_folder_of_its_own(transcripts: Transcripts) -> None:
    transcripts.add("Wren has the key of the shed.")
    folder = transcripts.file.parent.rename(transcripts.state.parent / "elsewhere")
    config = {"agents": {"entries": {"main": {"agentDir": str(folder)}}}}
    (transcripts.state / "openclaw.json").write_text(json.dumps(config))
    with transcripts.memory() as memory:
        assert any("Wren" in text for text in found(memory, "key of the shed", Kind.SESSION))


def test_only_days_that_changed_are_written_again(transcripts: Transcripts) -> None:
    for days_ago in (2, 1, 0):
        transcripts.add(f"It was said {days_ago} days ago.", days_ago=days_ago)
    with transcripts.memory() as memory:
        memory.ingest()
        before = {file: file.stat().st_mtime_ns for file in transcripts.files}
        assert len(before) == 3
        transcripts.add("Wren has the key of the shed.")
        assert any("Wren" in text for text in found(memory, "key of the shed", Kind.SESSION))
    with transcripts.memory() as memory:
        memory.ingest()
    changed = [file for file in transcripts.files if file.stat().st_mtime_ns != before[file]]
    assert changed == transcripts.files[-1:]


def test_what_is_no_conversation_or_too_old_is_left_out(transcripts: Transcripts) -> None:
    transcripts.add("The old ferry sank.", days_ago=40)
    transcripts.add("The backup ran.", key="cron:7")
    transcripts.add("Look at the parser.", key="subagent:9")
    transcripts.add("Heartbeat of the harbour.", provenance={"kind": "internal_system"})
    transcripts.add("The Heartbeat is fine.", role="assistant")
    transcripts.add("Output of a tool.", role="toolResult")
    transcripts.add("The real question.")
    with transcripts.memory() as memory:
        memory.ingest()
    [file] = transcripts.files
    assert "The real question." in file.read_text() and file.stat().st_mode & 0o77 == 0
    assert not any(word in file.read_text() for word in ("ferry", "backup", "parser", "Heartbeat", "tool"))


def test_secrets_and_what_was_forgotten_are_in_no_file(transcripts: Transcripts) -> None:
    transcripts.add("The password of the harbour wifi is Tr0ub4dor&3xyz!")
    transcripts.add("Quill is allergic to walnuts.")
    with transcripts.memory() as memory:
        memory.ingest()
        [file] = transcripts.files
        assert "Tr0ub4dor" not in file.read_text() and "walnuts" in file.read_text()
        report = memory.forget(query="Quill walnuts")
        assert report.texts
        assert "walnuts" not in file.read_text()
        transcripts.add("The walnuts: Quill is allergic to walnuts.")
        assert not any("Quill is allergic" in text for text in found(memory, "allergic", Kind.SESSION))


def test_a_deleted_session_goes_and_without_days_all_do(transcripts: Transcripts) -> None:
    transcripts.add("We talked about the tent.", key="tent")
    transcripts.add("We talked about the shed.", key="shed")
    with transcripts.memory() as memory:
        assert len(found(memory, "talked", Kind.SESSION)) == 2
        transcripts.delete("tent")
        assert not any("tent" in text for text in found(memory, "talked", Kind.SESSION))
    with transcripts.memory(days=0) as memory:
        memory.ingest()
        assert not found(memory, "talked", Kind.SESSION) and not transcripts.files
    other = transcripts.state.parent / "other"
    (other / "memory").mkdir(parents=True)
    with transcripts.memory() as memory:
        memory.ingest()
    with Memory(other, settings=Settings(), embedder=CountingEmbedder()) as memory:
        memory.ingest()
    assert transcripts.files, "another workspace has nothing to do with them"


def test_a_transcript_that_cannot_be_read_keeps_no_note_back(transcripts: Transcripts) -> None:
    transcripts.add("The boat leaks. " * 100)
    with closing(sqlite3.connect(transcripts.file)) as connection, connection:
        connection.execute("UPDATE transcript_events SET event_zstd = x'28b52ffd00'")
    with transcripts.memory() as memory:
        assert "pier nine" in found(memory, "boat")[0]
    transcripts.file.write_bytes(b"not a database" * 100)
    with transcripts.memory() as memory:
        assert "pier nine" in found(memory, "boat")[0]
