"""Context of messages that name curated concepts: every one is told of, and nothing that only looks like it."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import CountingEmbedder, Notes, open_memory

from openclaw_memory import Memory

NOW = date(2026, 3, 10)
#: So that no word is in every tenth unit.
LEDGER = "".join(f"- Ledger line {number}: {number * 7} paid in instalment {number}.\n" for number in range(60))


def memory_of(notes: Notes, embedder: CountingEmbedder | None = None) -> Memory:
    notes.write("memory/ledger.md", LEDGER)
    memory = open_memory(notes, embedder)
    memory.ingest()
    return memory


@pytest.mark.parametrize(
    ("name", "alias", "note", "other", "message"),
    [
        ("Reeds", "tide table", "Printed in Leith on Mondays.", "Oak table", "where is our tide table kept?"),
        ("Marea", "mesa de mareas", "Impresa en Vigo los lunes.", "Mesa de roble", "¿dónde está la mesa de mareas?"),
        ("Прилив", "таблица вод", "Печатают в Кеми.", "Таблица умножения", "где лежит таблица вод?"),
    ],
)
def test_a_part_of_a_name_is_no_word_of_its_own(
    notes: Notes, name: str, alias: str, note: str, other: str, message: str
) -> None:
    notes.write("memory/2026-03-01.md", f"# {name}\n\n{note}\n")
    notes.write("memory/2026-03-02.md", f"# {other}\n\n{other} 1912.\n")
    with memory_of(notes) as memory:
        memory.concepts.add(name, aliases=(alias,))
        text = memory.context(message, now=NOW).text
        assert note in text and "1912" not in text


#: Two lines on each of six things.
THINGS = {
    "Vesuvius": ("fires to 1300 degrees with a fuse in the cellar", "wants its lid of old bricks lifted by two people"),
    "Marigold": ("is a glaze of rutile and ash, brushed on thrice", "runs when it is sprayed on a shelf without a rim"),
    "Ottoline": ("answers letters on Fridays and invoices on paper", "never lends her pyrometer to schools or cousins"),
    "Galloway": ("is the van, due for its inspection in the spring", "has a left door that sticks after every frost"),
    "Bellfield": (
        "delivers clay by the pallet, and takes back sacks",
        "charges double before noon and on public holidays",
    ),
    "Tamarisk": (
        "gets her tablets at six, with butter or not at all",
        "must not sleep on drying boards or in the oven",
    ),
}


def test_every_named_concept_is_told_of_before_one_is_again(notes: Notes) -> None:
    for day, (thing, lines) in enumerate(THINGS.items(), 1):
        text = "\n\n".join(f"{thing} {line}." for line in lines)
        notes.write(f"memory/2026-02-0{day}.md", f"# {thing}\n\n{text}\n")
    with memory_of(notes) as memory:
        for thing in THINGS:
            memory.concepts.add(thing)
        result = memory.context(f"Who sees {', '.join(THINGS)} in the cellar, the oven and the spring?", now=NOW)
        assert {hit.path for hit in result.sources} == {f"memory/2026-02-0{day}.md" for day in range(1, 7)}


@pytest.mark.parametrize(
    ("name", "note", "aside", "message"),
    [
        (
            "Vesuvius",
            "Fires to 1300 degrees and needs its own fuse.",
            "The cat sleeps behind Vesuvius.",
            "tell me about Vesuvius",
        ),
        (
            "Vesuv",
            "Brennt bis 1300 Grad und braucht eine eigene Sicherung.",
            "Die Katze schläft hinter Vesuv.",
            "erzähl mir von Vesuv",
        ),
    ],
)
def test_what_a_name_merely_stands_in_is_not_told_beside_its_own_note(
    notes: Notes, name: str, note: str, aside: str, message: str
) -> None:
    notes.write("memory/2026-02-01.md", f"# {name}\n\n{note}\n\n{name} was bought in Delft.\n")
    others = "The basket of the cat was washed, and the cat was not amused at all."
    notes.write("memory/2025-02-02.md", f"# Mimi\n\n{aside}\n\n{others}\n\n{others[::-1]}\n")
    with memory_of(notes) as memory:
        memory.concepts.add(name)
        text = memory.context(message, now=NOW).text
        assert note in text and aside not in text


def test_a_slip_in_a_name_is_read_among_words_that_no_note_has(notes: Notes) -> None:
    notes.write("memory/2026-02-01.md", "# Vesuvius\n\nFires to 1300 degrees and needs its own fuse.\n")
    with memory_of(notes) as memory:
        message = "vesuvuis thermocouple firmware"
        assert memory.context(message, now=NOW).text == ""
        memory.concepts.add("Vesuvius")
        assert "its own fuse" in memory.context(message, now=NOW).text


def test_front_matter_is_found_and_never_told(notes: Notes) -> None:
    notes.write("memory/kiln.md", "---\ntitle: Kiln\naliases: [Vesuvius, oven]\n---\n\n# Kiln\n\nNeeds its own fuse.\n")
    with memory_of(notes) as memory:
        memory.concepts.add("Kiln", aliases=("Vesuvius",))
        text = memory.context("what does the kiln Vesuvius need?", now=NOW).text
        assert "its own fuse" in text and "aliases" not in text
        assert memory.search("aliases oven").results[0].path == "memory/kiln.md"


@pytest.mark.parametrize(
    "message", ["I'm meeting Ilse tomorrow, what should I remember?", "Did Vorland ever write back?"]
)
def test_the_note_that_is_named_after_a_person_tells_about_the_first_and_the_last_name(
    notes: Notes, message: str
) -> None:
    notes.write("memory/people/ilse-vorland.md", "Ilse Vorland casts bells in Ghent.\n\nShe wants oak, and no elm.\n")
    notes.write("memory/companies/kestrel.md", "Kestrel was founded by Ilse Vorland in 2019.\n")
    with memory_of(notes) as memory:
        found = memory.context(message, now=NOW)
        assert "no elm" in found.text and "2019" not in found.text
        for first, last in (("Ilse", "Odd"), ("Odd", "Vorland")):
            notes.write(f"memory/people/{first}-{last}.md".lower(), f"{first} {last} sells paint.\n")
        memory.ingest()
        assert "no elm" not in memory.context(message, now=NOW).text  # two people have the name
