"""BrainBench: what memory gives unasked, when it is silent, what it keeps, and what the next host gets.

Of its four suites all run without a language model.  Pages become notes and each message of the user asks for context,
with one session a conversation.  Two things differ from its own runner: nobody hands the facts over that are to be
kept, so that ``capture`` has to find them; and pages of another source lie in another workspace, so that they cannot
leak.  A fixture that is held out counts in the second column only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from openclaw_memory import Memory, Settings
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.model.embedder import Embedder

from .notes import opened

Fixture = Mapping[str, Any]
#: Day on which messages without a time are asked.
TODAY = date(2026, 9, 1)
ROWS = {
    "messages that need a page and get none": ("missed", "needed"),
    "messages that need none and get some": ("fired", "silent"),
    "pages given that are wanted or fit": ("fit", "given"),
    "pages wanted that are given": ("hit", "wanted"),
    "facts kept": ("kept", "facts"),
    "decisions that the next host gets": ("continued", "decisions"),
}


def run(folder: Path, settings: Settings, embedder: Embedder | None) -> str:
    """Return the table for a checkout of gbrain, or of a folder with its ``fixtures`` and ``gold``."""
    roots = [path.parent for path in sorted(folder.rglob("fixtures")) if (path.parent / "gold").is_dir()]
    if not roots:
        raise FileNotFoundError(folder)
    root = roots[0]
    fixtures = [json.loads(path.read_bytes()) for path in sorted((root / "fixtures").glob("*.json"))]
    gold = {
        row["fixture_id"]: row for row in (json.loads(path.read_bytes()) for path in (root / "gold").glob("*.json"))
    }
    readers = {one["continuity"]["pair_id"]: one for one in fixtures if _role(one) == "reader"}
    public, every = Counter[str](), Counter[str]()
    for fixture in fixtures:
        if _role(fixture) == "reader":
            continue
        with opened(notes_of(fixture), settings, embedder) as memory:
            memory.ingest()
            counts = replay(memory, fixture, gold[fixture["fixture_id"]])
            if _role(fixture) == "writer" and (reader := readers.get(fixture["continuity"]["pair_id"])):
                counts += read_back(memory, reader, gold[reader["fixture_id"]])
        every += counts
        public += counts if not fixture.get("holdout") else Counter()
    lines = ["| | of its CI | with those held out |", "|---|---|---|"]
    for name, (part, whole) in ROWS.items():
        lines.append(f"| {name} | {_share(public, part, whole)} | {_share(every, part, whole)} |")
    return "\n".join(lines)


def notes_of(fixture: Fixture) -> dict[str, str]:
    """Return the pages of the active source as notes."""
    active = fixture.get("active_source", "default")
    return {
        f"memory/{page['slug']}.md": page["content"]
        for page in fixture.get("seed_pages", ())
        if page.get("source_id", "default") == active
    }


def replay(memory: Memory, fixture: Fixture, gold: Fixture) -> Counter[str]:
    """Ask for the context of each message of the user, keep what each turn says, and count by the gold."""
    counts, suites = Counter[str](), set(fixture["suites"])
    kept = ""
    for turn in fixture["turns"]:
        label = gold["turns"].get(str(turn["turn_id"]), {})
        if turn["role"] == "user" and suites & {"know-to-ask", "push"}:
            given = pages(memory, turn["text"], fixture["fixture_id"])
            counts += _judge(given, label, suites)
        if "ts" in turn:
            message = Message("user" if turn["role"] == "user" else "assistant", turn["text"])
            now = datetime.fromisoformat(turn["ts"].replace("Z", "+00:00"))
            report = memory.capture(Turn([message], session=fixture["fixture_id"], now=now))
            kept += "".join(f"{one.text}\n" for one in report.captured)
        if "write-back" in suites:
            facts = label.get("gold_facts", ())
            counts["facts"] += len(facts)
            counts["kept"] += sum(_holds(kept, fact["match_keywords"]) for fact in facts)
    return counts


def read_back(memory: Memory, reader: Fixture, gold: Fixture) -> Counter[str]:
    """Count the decisions whose page, or the sentence kept of them, another host's conversation gets."""
    given: list[str] = []
    text = ""
    for turn in reader["turns"]:
        if turn["role"] == "user":
            result = memory.context(turn["text"], session=reader["fixture_id"], now=TODAY)
            given += [_slug(hit.path) for hit in result.sources]
            text += result.text + "\n"
    decisions = gold["continuity"]["decisions"]
    found = sum(
        bool(set(one["expected_slugs"]) & set(given)) or _holds(text, one["match_keywords"]) for one in decisions
    )
    return Counter(decisions=len(decisions), continued=found)


def pages(memory: Memory, message: str, session: str) -> list[str]:
    """Return the pages of which the context of a message holds something."""
    found = memory.context(message, session=session, now=TODAY)
    return list(dict.fromkeys(_slug(hit.path) for hit in found.sources))


def _judge(given: list[str], label: Fixture, suites: set[str]) -> Counter[str]:
    wanted = set(label.get("gold_slugs", ()))
    fitting = wanted | set(label.get("acceptable_slugs", ()))
    counts = Counter[str]()
    if "know-to-ask" in suites and label:
        if label["should_retrieve"]:
            counts += Counter(needed=1, missed=not fitting & set(given))
        else:
            counts += Counter(silent=1, fired=bool(given))
    if "push" in suites and label:
        counts += Counter(given=len(given), fit=len(fitting & set(given)))
        if label["should_retrieve"]:
            counts += Counter(wanted=len(wanted), hit=len(wanted & set(given)))
    return counts


def _holds(text: str, keywords: list[str]) -> bool:
    """Return true if one line holds all the keywords."""
    return any(all(word.lower() in line for word in keywords) for line in text.lower().splitlines())


def _slug(path: str) -> str:
    return path.removeprefix("memory/").removesuffix(".md")


def _role(fixture: Fixture) -> str:
    return str(fixture.get("continuity", {}).get("pair_role", ""))


def _share(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part]} of {counts[whole]}"
