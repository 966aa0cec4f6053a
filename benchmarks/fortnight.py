"""Tell an OpenClaw facts, compact the conversation every few turns, and ask for all of them in the end.

    .ci/openclaw
    python -m benchmarks.fortnight --model all-minilm-l6-v2.gguf

Two gateways run side by side, one with OpenClaw's own memory and one with this one, and each message goes to both in
turn, so that a busy machine slows both.  A scripted model writes no notes and summarises nothing: only what the memory
itself keeps is known afterwards.  *told* counts facts that stand beside the question unasked, *found* those among six
hits of ``memory_search``, *state* compactions after which the next turn was given any fact from before.  The
milliseconds are from a message to the model's request, so what OpenClaw itself needs is in them, without the first
message after a compaction; *added* is the difference between the two for the same message.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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


class Side:
    """A gateway with one memory, its counts, and how long each message took to reach the model, in milliseconds."""

    def __init__(self, host: Any) -> None:
        self.host = host
        self.counts: Counter[str] = Counter()
        self.waits: list[float] = []

    def says(self, message: str, session: str = "main") -> str:
        """Send a message; what the model was given as the user's."""
        requests, started = self.host.model.requests, time.monotonic()
        before = len(requests)
        self.host.turn(message, session=session)
        self.waits.append(1000 * (requests[before].arrived - started))
        return str(next(text for role, text in reversed(requests[before].messages) if role == "user"))

    def row(self, name: str) -> dict[str, Any]:
        """Figures so far."""
        return {"memory": name, **{key: self.counts[key] for key in ("told", "found", "state")}, **_ms(self.waits)}


@contextmanager
def side(configuration: Mapping[str, Any], openclaw: Path) -> Iterator[Side]:
    """A running gateway with that configuration and a scripted model of its own."""
    host_module, model_module = harness()
    with tempfile.TemporaryDirectory() as folder, model_module.scripted_model() as model:
        host = host_module.Host(Path(folder), model, openclaw)
        agents = {"agents": {"defaults": {"compaction": host_module.COMPACTION}}}
        host.configure(configuration, agents, agents={"main": host.workspace})
        with host_module.running(host):
            yield Side(host)


def rehearse(sides: Mapping[str, Side], facts: int, every: int) -> Iterator[int]:
    """Tell and compact, then ask; how many messages each side had, after each compaction and every tenth question."""
    rows = [(str(301 + at), *(part.format(301 + at) for part in FACTS[at % len(FACTS)])) for at in range(facts)]
    both = list(sides.values())

    def say(message: str, session: str = "main") -> list[tuple[Side, str]]:
        both.reverse()
        return [(each, each.says(message, session)) for each in both]

    say("Good morning!")
    for each in both:
        each.waits.clear()
    for at, (_, fact, _, _) in enumerate(rows, 1):
        say(f"Thanks, that helps. {fact} What do you think?")
        if at % every == 0:
            for each in both:
                each.host.call("sessions.compact", key="agent:main:main")
            for each, given in say("Please go on."):
                each.counts["state"] += any(_holds(given, row[0], row[3]) for row in rows[at - every : at])
                each.waits.pop()  # OpenClaw is not done with the compaction
            yield len(both[0].waits)
    for at, (number, _, question, answer) in enumerate(rows, 1):
        for each, given in say(question, session="another"):
            each.counts["told"] += _holds(given, number, answer)
            hits = each.host.tool("memory_search", query=question, maxResults=6, minScore=0).get("results", [])
            each.counts["found"] += any(_holds(hit["snippet"], number, answer) for hit in hits)
        if at % 10 == 0 or at == facts:
            yield len(both[0].waits)


def _holds(text: str, number: str, answer: str) -> bool:
    return any(number in line and answer in line for line in text.splitlines())


def _ms(waits: Sequence[float]) -> dict[str, int]:
    return {"p50_ms": round(statistics.median(waits)), "p95_ms": round(statistics.quantiles(waits, n=20)[-1])}


def main() -> None:
    """Rehearse with OpenClaw's own memory and with this one, which captures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100)
    parser.add_argument("--every", type=int, default=7, help="facts between two compactions")
    parser.add_argument("--model", type=Path, required=True, help="embedding model in GGUF")
    parser.add_argument("--openclaw", type=Path, help="folder of the executables of OpenClaw and its Node")
    options = parser.parse_args()
    host_module, _ = harness()
    openclaw = options.openclaw or host_module.cache_folder() / "openclaw-memory-e2e" / "node_modules" / ".bin"
    capture = {"plugins": {"entries": {"openclaw-memory": {"config": {"capture": True}}}}}
    with ExitStack() as running:
        sides = {
            "OpenClaw's own": running.enter_context(side({}, openclaw)),
            "ours": running.enter_context(side(host_module._merged(ours(options.model), capture), openclaw)),
        }
        for messages in rehearse(sides, options.facts, options.every):
            own_waits, our_waits = (each.waits for each in sides.values())
            added = {"memory": "added", **_ms([mine - own for own, mine in zip(own_waits, our_waits, strict=True)])}
            rows = [*(each.row(name) for name, each in sides.items()), added]
            print(json.dumps({"messages": messages, "rows": rows}), flush=True)


if __name__ == "__main__":
    main()
