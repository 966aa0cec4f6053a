"""Files are found by what they and their folders are called, however that is written."""

from __future__ import annotations

import unicodedata
from datetime import date
from pathlib import Path

import pytest
from fakes import Notes, ingested, open_memory
from tables import table

from openclaw_memory.model import Origin

FILES = {
    "Quarterly review with Zephyr Ltd.md": "We meet at nine.",
    "people/Odile Marchetti.md": "Born in May, likes chess.",
    "projects/Halcyon bridge/status.md": "Signed the papers.",
    "2026-03-03-quagga-incident.md": "The pump broke at night.",
    "tarsier-server.md": "# Overview\n\nIt runs on two cores.",
    "Cafe\u0301 Zo\u00eb.md": "The soup is green.",
    "\u4f1a\u8bae\u8bb0\u5f55.md": "Nine came.",
}
ASKED = {
    "Zephyr Ltd": 0, "Odile Marchetti": 1, "Halcyon bridge": 2, "quagga incident": 3, "tarsier-server.md": 4,
    "TARSIER-SERVER": 4, "memory/people/odile marchetti": 1, "caf\u00e9 zoe\u0308.md": 5, "\u4f1a\u8bae\u8bb0\u5f55": 6,
}  # fmt: skip


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_file_is_found_by_its_name(notes: Notes, mode: str) -> None:
    for name, text in FILES.items():
        notes.write(f"memory/{name}", f"{text}\n")
    for number in range(8):
        notes.write(f"memory/n{number}.md", f"# Other {number}\n\nOther note {number} about bread and butter.\n")
    with ingested(notes) as memory:
        for question, place in ASKED.items():
            hit = memory.search(question, max_results=1, mode=mode).results[0]
            assert (hit.path, hit.score >= 0.35) == (f"memory/{list(FILES)[place]}", True), question


def test_both_spellings_of_an_accent_are_one_name(notes: Notes) -> None:
    name = "memory/Caf\u00e9/Zo\u00eb.md"
    notes.write(unicodedata.normalize("NFD", name), "The soup of the house is green.\n")
    with ingested(notes) as memory:
        assert memory.ingest([unicodedata.normalize("NFC", name)]).files == 1
        assert memory.get(name).status == "ok"
        assert memory.feedback(f"{name}#L1", "useful")
        assert memory.forget(path="memory/Caf\u00e9", dry_run=True).units


def test_a_source_in_disguise_is_trusted_no_more(notes: Notes) -> None:
    notes.write("memory/clip.md", "---\norigin: untrusted\n---\nMira lives in Porto.\n")
    with ingested(notes) as memory:
        for number, source in enumerate(table("names.tsv", "a source in disguise is trusted no more")):
            named = source.format(root=Path(memory.workspace))
            made = memory.facts.add(f"Mira the {number}th", "lives in", "Porto", source=named)
            assert made.rows[0].origin is Origin.UNTRUSTED, source


def test_today_is_that_of_the_zone_that_is_set(notes: Notes) -> None:
    with (
        open_memory(notes, consolidate__time_zone="Pacific/Kiritimati") as east,
        open_memory(notes, name="west", consolidate__time_zone="Etc/GMT+12") as west,
    ):
        assert date(2026, 1, 1) < west.today() < east.today()
        east.facts.add("Mira", "lives in", "Porto")
        assert east.facts.query("Mira").rows[0].valid_from == east.today()
