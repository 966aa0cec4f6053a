"""Tell an OpenClaw facts, compact the conversation every few turns, and ask for all of them in the end.

    .ci/openclaw
    python -m benchmarks.fortnight --model all-minilm-l6-v2.gguf

A scripted model writes no notes and summarises nothing, so that only what the memory itself keeps is known afterwards.
*told* counts facts that stand beside the question unasked, *found* those among six hits of ``memory_search``, *state*
compactions after which the next turn was given any fact from before.  The milliseconds are from a message to the
model's request, so what OpenClaw itself needs is in them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.openclaw import harness, ours

#: A fact, the question for it, and what the answer has to hold; ``{}`` is a number that no other fact has.
FACTS = (
    ("We decided to sell the boat {} to Quill.", "Who gets boat {}?", "Quill"),
    ("Die Miete für Lager {} beträgt ab Mai 930 Euro.", "Wie hoch ist die Miete für Lager {}?", "930"),
    ("Ticket {} failed because the parser cached a stale date.", "Why did ticket {} fail?", "stale date"),
    ("Le rendez-vous {} avec Odile est le 9 mars à 14 h.", "Quand est le rendez-vous {} ?", "9 mars"),
    ("Never restart server {} before Friday, the backup runs until then.", "When may I restart server {}?", "Friday"),
    ("La factura {} de Ramiro vence el 12 de abril.", "¿Cuándo vence la factura {}?", "12 de abril"),
    ("My locker {} at the pool opens with the key of the garage.", "What opens locker {}?", "garage"),
    ("倉庫{}の契約は6月30日に終わる。", "倉庫{}の契約はいつ終わりますか?", "6月30日"),
    ("Parcel {} goes to my sister Ilse in Ghent.", "Where does parcel {} go?", "Ghent"),
    ("I prefer oat milk for recipe {}.", "Which milk for recipe {}?", "oat"),
)
COMPACTION = {"mode": "default", "keepRecentTokens": 1, "recentTurnsPreserve": 0, "qualityGuard": {"enabled": False}}


def rehearse(name: str, configuration: Mapping[str, Any], openclaw: Path, facts: int, every: int) -> dict[str, Any]:
    """Tell and compact, then ask; a row of figures."""
    host_module, model_module = harness()
    with tempfile.TemporaryDirectory() as folder, model_module.scripted_model() as model:
        host = host_module.Host(Path(folder), model, openclaw)
        defaults = {"compaction": COMPACTION | {"memoryFlush": {"enabled": False}}}
        host.configure(configuration, {"agents": {"defaults": defaults}}, agents={"main": host.workspace})
        waits: list[float] = []

        def says(message: str, session: str = "main") -> str:
            before, started = len(model.requests), time.monotonic()
            host.turn(message, session=session)
            waits.append(1000 * (model.requests[before].arrived - started))
            return str(next(text for role, text in reversed(model.requests[before].messages) if role == "user"))

        state = compactions = told = found = 0
        rows = [(str(301 + at), *(part.format(301 + at) for part in FACTS[at % len(FACTS)])) for at in range(facts)]
        with host_module.running(host):
            says("Good morning!")
            waits.clear()
            for at, (_, fact, _, _) in enumerate(rows, 1):
                says(f"Thanks, that helps. {fact} What do you think?")
                if at % every == 0:
                    host.run("sessions", "compact", "agent:main:main")
                    compactions += 1
                    given = says("Please go on.")
                    state += any(_holds(given, row[0], row[3]) for row in rows[at - every : at])
            for number, _, question, answer in rows:
                told += _holds(says(question, session="another"), number, answer)
                asked = {"query": question, "maxResults": 6, "minScore": 0}
                hits = [] if name == "none" else host.tool("memory_search", **asked).get("results", [])
                found += any(_holds(hit["snippet"], number, answer) for hit in hits)
        p50, p95 = statistics.median(waits), statistics.quantiles(waits, n=20)[-1]
        row = {"memory": name, "facts": facts, "compactions": compactions, "told": told, "found": found, "state": state}
        return row | {"p50_ms": round(p50), "p95_ms": round(p95)}


def _holds(text: str, number: str, answer: str) -> bool:
    return any(number in line and answer in line for line in text.splitlines())


def main() -> None:
    """Rehearse without this memory, with it, and with capture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100)
    parser.add_argument("--every", type=int, default=7, help="facts between two compactions")
    parser.add_argument("--model", type=Path, required=True, help="embedding model in GGUF")
    parser.add_argument("--openclaw", type=Path, help="folder of the executables of OpenClaw and its Node")
    options = parser.parse_args()
    host_module, _ = harness()
    openclaw = options.openclaw or host_module.cache_folder() / "openclaw-memory-e2e" / "node_modules" / ".bin"
    capture = {"plugins": {"entries": {"openclaw-memory": {"config": {"capture": True}}}}}
    memories = {
        "none": {"plugins": {"slots": {"memory": "none"}}},
        "OpenClaw's own": {},
        "ours": ours(options.model),
        "ours, capture": host_module._merged(ours(options.model), capture),
    }
    for name, configuration in memories.items():
        print(json.dumps(rehearse(name, configuration, openclaw, options.facts, options.every)), flush=True)


if __name__ == "__main__":
    main()
