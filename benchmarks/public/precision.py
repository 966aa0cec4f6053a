"""PrecisionMemBench: exactly the right notes for a message, and no other.

Every belief becomes a note and a concept with its aliases, in a workspace for each user and scope; each message asks
for context, and the notes that are given are the beliefs retrieved.  A case passes as in the benchmark's own harness
(``src/retrieval.external.eval.test.ts``): pinned beliefs are added by the harness and do not count, the participants of
a retrieved relation are, and the rest must be exactly what the case expects.

Of 77 cases 43 expect a belief; these are the "active" passes.  The harness adds an open question to the four cases of
a relation, and then counts it against the system, so nobody who is asked through it can pass more than 39;
``questions apart`` counts these beliefs where the cases want them, among the open questions.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from openclaw_memory import Memory, Settings
from openclaw_memory.model.embedder import Embedder

from .notes import opened

Belief = Mapping[str, Any]
Case = Mapping[str, Any]
#: Day on which everything is asked: the newest belief is as old as that.
TODAY = date(2026, 10, 7)
#: Budget of the harness where a case names none.
MOST = 20
USER = "test-user"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case got: beliefs beside the pinned ones, and those missing and too many."""

    case: str
    category: str
    active: bool
    retrieved: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    milliseconds: float

    @property
    def passed(self) -> bool:
        """Whether exactly the expected beliefs were retrieved."""
        return not self.missing and not self.extra


def note_of(belief: Belief) -> str:
    """Return a belief as a note of its own: its other names in the front matter, what holds, and why it matters."""
    aliases = json.dumps(belief["aliases"])
    lines = [
        f"---\ndate: {belief['updated_at'][:10]}\naliases: {aliases}\n---",
        f"# {title_of(belief)}",
        belief["content"],
        belief["why_it_matters"],
    ]
    return "\n\n".join(lines) + "\n"


@contextmanager
def places(
    beliefs: Iterable[Belief], settings: Settings, embedder: Embedder | None
) -> Iterator[dict[tuple[str, str], Memory]]:
    """Open a memory for each user and scope, whose notes and concepts are the beliefs of these."""
    by_place: dict[tuple[str, str], list[Belief]] = {}
    for belief in beliefs:
        for scope in belief["scope"]:
            by_place.setdefault((belief["user_id"], scope), []).append(belief)
    with ExitStack() as stack:
        memories = {}
        for place, rows in by_place.items():
            notes = {f"memory/{belief['_id']}.md": note_of(belief) for belief in rows}
            memory = stack.enter_context(opened(notes, settings, embedder))
            for belief in rows:
                memory.concepts.add(title_of(belief), aliases=belief["aliases"])
            memory.ingest()
            memory.search("warm")
            memories[place] = memory
        yield memories


def title_of(belief: Belief) -> str:
    """Return the name of a belief in words."""
    return str(belief["canonical_name"]).replace("_", " ")


def retrieve(memories: Iterable[Memory], query: str, most: int) -> list[str]:
    """Return the beliefs whose notes the context of a message was taken from, best first."""
    found: list[str] = []
    for memory in memories:
        if query.strip():
            found += [Path(hit.path).stem for hit in memory.context(query, now=TODAY).sources]
    return list(dict.fromkeys(found))[:most]


def ask(case: Case, beliefs: Mapping[str, Belief], memories: Mapping[tuple[str, str], Memory]) -> Outcome:
    """Ask for the context of a case, and add and count as the harness does."""
    user, most = case.get("userId", USER), case.get("budget", {}).get("maxBeliefs", MOST)
    scopes = set(case["scope"])
    own = {
        name: belief for name, belief in beliefs.items() if belief["user_id"] == user and scopes & set(belief["scope"])
    }
    pinned = [name for name, belief in own.items() if holds_as_pinned(belief)]
    began = time.perf_counter()
    asked = [memories[user, scope] for scope in case["scope"] if (user, scope) in memories]
    found = [name for name in retrieve(asked, case["query"], most) if name not in pinned]
    took = (time.perf_counter() - began) * 1000
    for name in tuple(found):
        found += [
            other for other in beliefs[name].get("participants", ()) if other in own and other not in (*pinned, *found)
        ]
    found = found[: max(0, most - len(pinned[:most]))]
    rules = case["expect"].get("relevantBeliefs", {})
    wanted = set(rules.get("shouldOnlyInclude", ()))
    allowed = wanted if "shouldOnlyInclude" in rules else own.keys() - set(rules.get("mustExclude", ()))
    return Outcome(
        case["caseId"], case["category"], bool(wanted), tuple(found),
        tuple(sorted(wanted - set(found))), tuple(name for name in found if name not in allowed), took,
    )  # fmt: skip


def holds_as_pinned(belief: Belief) -> bool:
    """Return true if the harness gives a belief by itself, as a pinned one."""
    open_question = belief["type"] == "open_question"
    return bool(belief["pinned"] and not (open_question or belief["superseded_by"] or belief["resolved_at"]))


def apart(outcome: Outcome, beliefs: Mapping[str, Belief]) -> Outcome:
    """Return an outcome without the open questions, which the cases want in a list of their own."""
    extra = tuple(name for name in outcome.extra if beliefs[name]["type"] != "open_question")
    return replace(outcome, extra=extra)


def table(outcomes: Sequence[Outcome], beliefs: Mapping[str, Belief]) -> dict[str, Any]:
    """Return the figures of a run."""

    def mean(values: Iterable[float]) -> float:
        return round(statistics.fmean(values), 3)

    active = [outcome for outcome in outcomes if outcome.active]
    hits = [len(outcome.retrieved) - len(outcome.extra) for outcome in active]
    return {
        "active passes": sum(outcome.passed for outcome in active),
        "active cases": len(active),
        "active passes, questions apart": sum(apart(outcome, beliefs).passed for outcome in active),
        "all passes": sum(outcome.passed for outcome in outcomes),
        "all passes, questions apart": sum(apart(outcome, beliefs).passed for outcome in outcomes),
        "cases": len(outcomes),
        "precision": mean(hit / max(1, len(o.retrieved)) for hit, o in zip(hits, active, strict=True)),
        "recall": mean(hit / (hit + len(o.missing)) for hit, o in zip(hits, active, strict=True)),
        "silent where nothing is expected": sum(not o.retrieved for o in outcomes if not o.active),
        "milliseconds": round(statistics.median(outcome.milliseconds for outcome in outcomes)),
    }


def outcomes_of(
    folder: Path, settings: Settings, embedder: Embedder | None
) -> tuple[list[Outcome], Mapping[str, Belief]]:
    """Ask all cases of a checkout; return their outcomes, and the beliefs by name."""
    seed, cases = (
        json.loads((folder / "fixtures" / name).read_text(encoding="utf-8"))
        for name in ("beliefs.seed.json", "retrieval.cases.json")
    )
    beliefs = {belief["_id"]: belief for belief in seed}
    with places(seed, settings, embedder) as memories:
        return [ask(case, beliefs, memories) for case in cases], beliefs


def run(folder: Path, settings: Settings, embedder: Embedder | None) -> str:
    """Return the figures of a checkout, and the active cases that fail."""
    outcomes, beliefs = outcomes_of(folder, settings, embedder)
    lines = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in table(outcomes, beliefs).items())]
    failed = [outcome.case for outcome in outcomes if outcome.active and not apart(outcome, beliefs).passed]
    return "\n".join([*lines, "", f"Active cases that fail, questions apart: {', '.join(failed) or 'none'}."])
