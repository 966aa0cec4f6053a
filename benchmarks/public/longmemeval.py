"""LongMemEval_S: a question about some fifty sessions with an assistant, most of which do not matter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from .notes import Notes, Question, Session, Turn, Workspace, write_sessions

#: Sessions of a question in LongMemEval_S; a copy may hold LongMemEval_M (about 480) and the evidence alone, too.
_FEWEST, _MOST = 30, 100


def read(folder: Path) -> Iterator[Workspace]:
    """Read the file of the data set, or a folder of one file a question (``SESSIONS_ID.json``)."""
    for path in sorted(folder.rglob("*.json")):
        sessions = path.stem.partition("_")[0]
        if sessions.isdigit() and _FEWEST <= int(sessions) <= _MOST:
            yield _workspace(json.loads(path.read_bytes()), path, None)
        elif path.stem.startswith("longmemeval_s"):
            for at, row in enumerate(json.loads(path.read_bytes())):
                yield _workspace(row, path, at)


def _workspace(row: dict[str, Any], path: Path, at: int | None) -> Workspace:
    name = str(row["question_id"])
    answering = set(row["answer_session_ids"])
    sessions = {str(at) for at, key in enumerate(row["haystack_session_ids"]) if key in answering}
    turns = {
        f"{at} {place}"
        for at, session in enumerate(row["haystack_sessions"])
        for place, turn in enumerate(session)
        if turn.get("has_answer")
    }
    category = "abstention" if name.endswith("_abs") else str(row["question_type"])
    evidence = {"session": frozenset(sessions), "turn": frozenset(turns)}
    asked = _time(row["question_date"]).date()
    question = Question(name, row["question"], category, asked, str(row["answer"]), evidence)

    def build() -> Notes:
        found = json.loads(path.read_bytes())
        return write_sessions(_sessions(found if at is None else found[at]))

    return Workspace(name, [question], build)


def _sessions(row: dict[str, Any]) -> Iterator[Session]:
    times: Sequence[str] = row["haystack_dates"]
    for at, (session, time) in enumerate(zip(row["haystack_sessions"], times, strict=True)):
        turns = [
            Turn(f"{at} {place}", f"{turn['role'].capitalize()}: {turn['content']}")
            for place, turn in enumerate(session)
        ]
        yield Session(str(at), _time(time), "", turns)


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M")
