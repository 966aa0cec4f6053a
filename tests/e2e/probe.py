"""A plugin of the Python side that writes down which hooks the host's events reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from host import Host

VARIABLE = "E2E_PROBE_EVENTS"
SOURCE = f"""
import json, os, threading, time
from openclaw_memory import hookimpl

def note(**event):
    with open(os.environ["{VARIABLE}"], "a") as file:
        file.write(json.dumps(event) + "\\n")

def note_files(memory, event):
    files = None
    for _ in range(120):  # the notes are read after the hooks
        before, files = files, memory.status().files
        if files != before:
            note(**event, files=files)
        time.sleep(0.5)

@hookimpl
def openclaw_memory_session_start(memory, session):
    workspace = str(memory.workspace)
    event = dict(hook="session_start", agent=session.agent, reason=session.reason, workspace=workspace)
    threading.Thread(target=note_files, args=[memory, event], daemon=True).start()

@hookimpl
def openclaw_memory_heartbeat(memory):
    note(hook="heartbeat", agent=memory.agent)
"""


class Probe:
    """The events so far; it is installed by PYTHONPATH, as packages of other people are by entry points."""

    def __init__(self, host: Host) -> None:
        folder = host.folder / "probe"
        package = folder / "e2e_probe-1.0.dist-info"
        package.mkdir(parents=True)
        (folder / "e2e_probe.py").write_text(SOURCE)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: e2e-probe\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text("[openclaw_memory]\ne2e_probe = e2e_probe\n")
        self._events = folder / "events.jsonl"
        host.env |= {"PYTHONPATH": str(folder), VARIABLE: str(self._events)}

    def events(self, hook: str, **wanted: str) -> list[dict[str, Any]]:
        """The calls of a hook that have these values."""
        if not self._events.exists():
            return []
        calls = [json.loads(line) for line in self._events.read_text().splitlines()]
        return [call for call in calls if (wanted | {"hook": hook}).items() <= call.items()]

    def reading(self, workspace: Path, reason: str) -> dict[str, Any] | None:
        """The session_start for this reason after which every note that the workspace now has was in the index."""
        notes = len(list(workspace.rglob("*.md")))
        calls = self.events("session_start", workspace=str(workspace), reason=reason)
        return next((call for call in calls if call["files"] == notes), None)


def write(workspace: Path, name: str, text: str) -> None:
    """Write a note of a workspace."""
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
