"""Write conversations as daily notes, and keep which lines hold which turn and which session."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks.real import Span
from openclaw_memory import Memory, Settings
from openclaw_memory.model.embedder import Embedder


class Turn(NamedTuple):
    """One message of a session, as it stands in the note."""

    key: str
    text: str


class Session(NamedTuple):
    """The messages of one sitting."""

    key: str
    began: datetime
    title: str
    turns: list[Turn]


class Notes(NamedTuple):
    """Lines by path, and by grain the lines of each passage."""

    files: dict[str, list[str]]
    passages: dict[str, dict[str, Span]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the day on which it is asked, its answer, and by grain the passages that hold that."""

    id: str
    text: str
    category: str
    asked: date
    answer: str
    evidence: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Questions about the same notes; the notes are made when they are needed, as a data set may be large."""

    name: str
    questions: list[Question]
    build: Callable[[], Notes]


def write_sessions(sessions: Iterable[Session]) -> Notes:
    """Return a note for each day with a section for each session; a session of long messages has them as paragraphs."""
    notes = Notes({}, {"session": {}, "turn": {}})
    for session in sorted(sessions, key=lambda one: one.began):
        day = session.began.date().isoformat()
        path = f"memory/{day}.md"
        lines = notes.files.setdefault(path, [f"# {day}", ""])
        start = len(lines) + 1
        lines += [f"## {session.began:%H:%M}{session.title}", ""]
        long = any("\n" in turn.text for turn in session.turns)
        for turn in session.turns:
            first = len(lines) + 1
            lines += turn.text.split("\n")
            notes.passages["turn"][turn.key] = Span(path, first, len(lines))
            lines += [""] * long
        lines += [""] * (not long)
        notes.passages["session"][session.key] = Span(path, start, len(lines))
    return notes


@contextmanager
def opened(files: Mapping[str, str], settings: Settings, embedder: Embedder | None) -> Iterator[Memory]:
    """Open a memory over notes, given as texts by path, in a temporary folder; nothing is read into it yet."""
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        root = Path(folder) / "notes"
        (root / "memory").mkdir(parents=True)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        index, state = Path(folder) / "index.duckdb", Path(folder) / "state.sqlite"
        with Memory(root, settings=settings, db=index, state=state, embedder=embedder) as memory:
            yield memory


def write_workspaces(workspaces: Iterable[Workspace], folder: Path) -> int:
    """Write workspaces in the layout of :mod:`benchmarks.workspaces`; return the number of questions."""
    rows = []
    for workspace in workspaces:
        notes = workspace.build()
        for path, lines in notes.files.items():
            (folder / workspace.name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / workspace.name / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for one in workspace.questions:
            spans = [notes.passages["turn"][key] for key in sorted(one.evidence.get("turn", ()))]
            rows.append({
                "id": one.id, "workspace": workspace.name, "question": one.text, "category_name": one.category,
                "date_asked": str(one.asked), "answer": one.answer,
                "evidence": [{"path": span.path, "line": span.start} for span in spans],
            })  # fmt: skip
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "queries.jsonl").write_text(text, encoding="utf-8")
    return len(rows)
