"""Fact consolidation of MemoryAgentBench: of facts that contradict each other the last one holds.

Its agents read the numbered facts in order, and a language model answers.  Here a daily note has twenty facts, and
what a search within :data:`BUDGET` tokens returns is read in order until a line states the fact that holds, or one
that it replaced.  Questions over several facts (``mh``) name none of them, and are not asked.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from openclaw_memory import SearchRequest, Settings
from openclaw_memory.model.embedder import Embedder

from .notes import opened

#: Tokens of a search: about six facts.
BUDGET = 100
_BEGIN, _A_DAY = date(2026, 1, 1), 20
#: What may stand first.
ROWS = ("the fact that holds", "one that it replaced", "neither")


def run(folder: Path, settings: Settings, embedder: Embedder | None) -> str:
    """Return a table of which fact stands first in the answers of ``search`` and of ``context``."""
    found = [row for row in rows_of(folder) if "_sh_" in row["metadata"]["source"]]
    if not found:
        raise FileNotFoundError(folder)
    lines = [f"| first in | facts | questions | {' | '.join(ROWS)} |", "|---" * (3 + len(ROWS)) + "|"]
    for row in found:
        facts = facts_of(row["context"])
        today = _BEGIN + timedelta(days=len(facts) // _A_DAY)
        counts = {"search": Counter[str](), "context": Counter[str]()}
        with opened(notes_of(facts), settings, embedder) as memory:
            memory.ingest()
            for question, answers in zip(row["questions"], row["answers"], strict=True):
                current, replaced = versions(question, answers, facts)
                result = memory.search(SearchRequest(question, budget=BUDGET, now=today, min_score=0.0))
                told = {
                    "search": [hit.snippet for hit in result.results if not hit.superseded_by],
                    "context": [memory.context(question, now=today).text],
                }
                for name, texts in told.items():
                    counts[name][first_of("\n".join(texts), current, replaced)] += 1
        for name, count in counts.items():
            shares = " | ".join(str(count[outcome]) for outcome in ROWS)
            lines.append(f"| {name}, {row['metadata']['source']} | {len(facts)} | {count.total()} | {shares} |")
    return "\n".join(lines)


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the file of the data set (``Conflict_Resolution*.parquet``), or JSON with its rows as ``data``."""
    for path in sorted(folder.rglob("Conflict_Resolution*.parquet")):
        import duckdb

        table = duckdb.read_parquet(str(path))
        yield from (dict(zip(table.columns, row, strict=True)) for row in table.fetchall())
    for path in sorted(folder.rglob("*.json")):
        yield from json.loads(path.read_bytes())["data"]


def facts_of(context: str) -> list[str]:
    """Return the facts of a numbered list, in order."""
    return re.findall(r"^\d+\. (.+)$", context, re.MULTILINE)


def notes_of(facts: Sequence[str]) -> dict[str, str]:
    """Write facts into daily notes, a line each."""
    notes: dict[str, str] = {}
    for at in range(0, len(facts), _A_DAY):
        day = _BEGIN + timedelta(days=at // _A_DAY)
        notes[f"memory/{day}.md"] = f"# {day}\n\n" + "".join(f"- {fact}\n" for fact in facts[at : at + _A_DAY])
    return notes


def versions(question: str, answers: Sequence[str], facts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the last fact about the question that states an answer, and others of the same beginning."""
    words = set(re.findall(r"\w+", question.casefold()))
    ending = [(fact, answer) for fact in facts for answer in answers if fact.endswith(f" {answer}.")]
    current, answer = max(reversed(ending), key=lambda pair: len(words & set(re.findall(r"\w+", pair[0].casefold()))))
    beginning = current.removesuffix(f"{answer}.")
    return current, [fact for fact in facts if fact.startswith(beginning) and fact != current]


def first_of(text: str, current: str, replaced: Sequence[str]) -> str:
    """Return which of :data:`ROWS` stands first in a text."""
    facts = ((current, ROWS[0]), *((fact, ROWS[1]) for fact in replaced))
    places = [(at, name) for fact, name in facts if (at := text.find(fact)) >= 0]
    return min(places, default=(0, ROWS[2]))[1]
