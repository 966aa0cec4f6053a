"""HaluMem: what sessions with an assistant state and later change of a person, asked as questions and as updates.

Its own runner asks a memory for the ten entries nearest to each statement that changes an earlier one, and lets a
language model judge them.  Here the session that makes the statement has to be found; all sessions are read first.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from .notes import Question, Session, Turn, Workspace, write_sessions

_TIME = "%b %d, %Y, %H:%M:%S"


def read(folder: Path) -> Iterator[Workspace]:
    """Read files of one person a line, as ``HaluMem-Medium.jsonl``; of the same person the first line counts."""
    people: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "persona_info" in row:
                people.setdefault(row["uuid"], row)
    yield from map(_workspace, people.values())


def _workspace(row: dict[str, Any]) -> Workspace:
    sessions: list[dict[str, Any]] = row["sessions"]
    places: defaultdict[str, set[str]] = defaultdict(set)
    for at, session in enumerate(sessions):
        for point in session["memory_points"]:
            places[point["memory_content"]].add(str(at))
    questions: list[Question] = []

    def ask(at: int, text: str, category: str, answer: str, evidence: list[str]) -> None:
        if keys := frozenset().union(*(places[content] for content in evidence)):
            asked = datetime.strptime(sessions[at]["end_time"], _TIME).date()
            name = f"{row['uuid']} {len(questions)}"
            questions.append(Question(name, text, category, asked, answer, {"session": keys}))

    for at, session in enumerate(sessions):
        for one in session.get("questions", ()):
            contents = [point["memory_content"] for point in one["evidence"]]
            ask(at, one["question"], one["question_type"], one["answer"], contents)
        for point in session["memory_points"]:
            if point["is_update"] == "True" and point["memory_source"] != "interference":
                content = point["memory_content"]
                ask(at, content, "update", content, [content])
    return Workspace(row["uuid"], questions, lambda: write_sessions(_sessions(sessions)))


def _sessions(sessions: list[dict[str, Any]]) -> Iterator[Session]:
    for at, session in enumerate(sessions):
        turns = [
            Turn(f"{at} {place}", f"{turn['role'].capitalize()}: {turn['content']}")
            for place, turn in enumerate(session["dialogue"])
        ]
        yield Session(str(at), datetime.strptime(session["start_time"], _TIME), "", turns)
