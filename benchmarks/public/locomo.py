"""LoCoMo: questions about ten long conversations between two people, with the turns that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from .notes import Question, Session, Turn, Workspace, write_sessions

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def read(folder: Path) -> Iterator[Workspace]:
    """Read ``locomo10.json``; questions without an answer (category 5) and without evidence are left out."""
    for path in sorted(folder.rglob("locomo10.json")):
        for row in json.loads(path.read_bytes()):
            yield _workspace(row)


def _workspace(row: dict[str, Any]) -> Workspace:
    sessions = list(_sessions(row["conversation"]))
    session_of = {turn.key: session.key for session in sessions for turn in session.turns}
    asked = max(session.began for session in sessions).date()
    questions = []
    for number, one in enumerate(row["qa"]):
        # Some evidence is written as a list in one text.
        turns = frozenset(re.findall(r"D\d+:\d+", " ".join(one.get("evidence", [])))) & session_of.keys()
        if turns and one["category"] in _CATEGORIES:
            evidence = {"session": frozenset(session_of[turn] for turn in turns), "turn": turns}
            name, category = f"{row['sample_id']} {number}", _CATEGORIES[one["category"]]
            questions.append(Question(name, one["question"], category, asked, str(one["answer"]), evidence))
    return Workspace(row["sample_id"], questions, lambda: write_sessions(sessions))


def _sessions(conversation: dict[str, Any]) -> Iterator[Session]:
    title = f", chat between {conversation['speaker_a']} and {conversation['speaker_b']}"
    for key, turns in conversation.items():
        if key.startswith("session_") and isinstance(turns, list) and turns:
            began = datetime.strptime(conversation[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
            yield Session(key, began, title, [Turn(turn["dia_id"], _line(turn)) for turn in turns])


def _line(turn: dict[str, Any]) -> str:
    photo = f" [shared a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return " ".join(f"{turn['speaker']}: {turn['text']}{photo}".split())
