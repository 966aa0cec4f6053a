"""Compute the recall of the evidence in the results of a question, by number of results and by tokens read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .peer import Span, files

#: Characters of a token, in any language.
_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the day it is asked, and the lines that answer it."""

    text: str
    asked: str
    evidence: frozenset[tuple[str, int]]


def questions(root: Path, workspace: str, most: int) -> list[Question]:
    """At most ``most`` questions of a workspace that lines answer and no flag doubts, spread over its file."""
    found = []
    for row in map(json.loads, (root / "queries.jsonl").read_text(encoding="utf-8").splitlines()):
        if str(row["workspace"]) == workspace and row.get("flag") is None and row.get("evidence"):
            lines = frozenset((one["path"], one["line"]) for one in row["evidence"])
            found.append(Question(row["question"], row["date_asked"][:10].replace("/", "-"), lines))
    return found if len(found) <= most else [found[at * len(found) // most] for at in range(most)]


def costs(workspace: Path) -> dict[str, list[float]]:
    """Tokens of each line of each file, its end included."""
    return {path: [(len(line) + 1) / _TOKEN for line in lines] for path, lines in files(workspace)}


def recall(question: Question, results: Sequence[Span], first: int) -> float:
    """Share of the evidence within the ``first`` results."""
    seen = {(one.path, line) for one in results[:first] for line in range(one.first, one.last + 1)}
    return len(question.evidence & seen) / len(question.evidence)


def recall_by_tokens(
    question: Question, results: Sequence[Span], cost: dict[str, list[float]], budgets: Sequence[int]
) -> list[float]:
    """Share of the evidence that is read within each budget of tokens.

    Results are read in their order; a line that was read already costs nothing, and reading ends at the first line
    that does not fit.
    """
    spent, read = 0.0, set[tuple[str, int]]()
    at: list[tuple[float, tuple[str, int]]] = []
    for one in results:
        lines = cost.get(one.path, [])
        for line in range(max(1, one.first), min(len(lines), one.last) + 1):
            place = one.path, line
            if place not in read:
                read.add(place)
                spent += lines[line - 1]
                at.append((spent, place))
    return [
        sum(price <= budget and place in question.evidence for price, place in at) / len(question.evidence)
        for budget in budgets
    ]
