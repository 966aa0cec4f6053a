"""What is struck out is found, and never told, kept in a summary or taken as a fact."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import Notes, ingested
from tables import table

from openclaw_memory.text.markdown import parse
from openclaw_memory.text.struck import without_struck


@pytest.mark.parametrize(("text", "left"), table("struck.tsv", "what is struck out, and what is left"))
def test_what_is_struck_out(text: str, left: str) -> None:
    kept = [line for line in map(" ".join, map(str.split, without_struck(text).split("\n"))) if line.strip(" ->#")]
    assert "\n".join(kept) == left
    assert [len(line) for line in without_struck(text).split("\n")] == [len(line) for line in text.split("\n")]
    units = [unit for section in parse(text, path="a.md", mtime=date.min).sections for unit in section.units]
    unit_texts = " ".join(unit.text for unit in units if unit.form != "struck" and "~~" not in (unit.indexed or ""))
    assert all(word in f"{unit_texts} {left}" for word in unit_texts.split())
    assert all(unit.form == "struck" for unit in units) or left


@pytest.mark.parametrize("text", table("struck.tsv", "what is not struck out"))
def test_what_is_not_struck_out(text: str) -> None:
    assert without_struck(text) == text


NOTE = """\
# Plans

- ~~Decided to sell the boat to Ramona for 9000 euros.~~
- [-] Decided to buy the cottage of Ramona.
- The cabin keys are ~~with Wren~~ with Odile.
%%
- Decided to marry Ramona in June.
%%
"""


def test_it_is_found_with_its_marks_and_never_told(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", NOTE)
    notes.write("memory/2026-03-02.md", "# Move\n\n- **City:** ~~Porto~~ Lisbon\n")
    with ingested(notes) as memory:
        for question in ("did we sell the boat to Ramona?", "the cottage of Ramona", "marry Ramona in June"):
            assert memory.context(question).text == ""
        assert "Wren" not in memory.context("Has Wren the cabin keys, or has Odile?").text
        assert "~~Decided to sell the boat" in memory.search("boat Ramona").results[0].snippet
        assert "~~with Wren~~ with Odile" in memory.search("cabin keys Wren").results[0].snippet
        memory.consolidate(now=date(2026, 6, 1))
        text = "".join(path.read_text() for path in (notes.root / "memory/consolidated").rglob("*.md"))
        assert "Odile" in text and "Ramona" not in text and "Wren" not in text
        memory.forget(query="Wren")
        assert memory.search("Wren", mode="keyword").results == ()
