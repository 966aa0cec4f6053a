"""The Memory tab: pages that show a memory and change nothing, in which notes are data."""

from __future__ import annotations

import re
from datetime import date

import pytest
from fakes import CountingEmbedder, Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.serve.tab import VIEWS, render_tab

HOSTILE = "<img src=x onerror=alert(1)></main><script>alert(2)</script>"


@pytest.fixture
def memory(notes: Notes) -> Memory:
    notes.write("MEMORY.md", f"# Facts\n\n- Mirabel lives in Ghent\n- Oswin said {HOSTILE}\n")
    notes.write("memory/2026-03-01.md", "# 2026-03-01\n\n- Mirabel planted the quince tree\n")
    memory = open_memory(notes, CountingEmbedder())
    memory.ingest()
    return memory


def text_of(page: str) -> str:
    [main] = re.findall(r"<main>(.*)</main>", page, re.DOTALL)
    return re.sub(r"<[^>]+>", " ", main)


def test_overview_counts_what_is_held(memory: Memory) -> None:
    with memory:
        page = text_of(render_tab(memory, "", "", ["main", "writer"]))
    assert "2 files" in page
    assert "Contradictions" in page


def test_search_finds_and_a_hit_leads_to_its_lines_and_to_what_forgetting_would_take(memory: Memory) -> None:
    with memory:
        page = render_tab(memory, "search", "who planted the quince tree", ["main"])
        assert "planted the quince tree" in text_of(page)
        assert "view=lines&amp;agent=main&amp;q=memory%2F2026-03-01.md%23L" in page
        lines = text_of(render_tab(memory, "lines", "memory/2026-03-01.md#L3", ["main"]))
        assert lines.split() == "memory/2026-03-01.md#L3 - Mirabel planted the quince tree".split()
        plan = text_of(render_tab(memory, "forget", "memory/2026-03-01.md#L3", ["main"]))
        assert "openclaw memory forget --path" in plan
        assert "quince tree" in text_of(render_tab(memory, "search", "quince tree", ["main"]))


def test_changes_show_the_value_before_and_both_sides_of_a_contradiction(memory: Memory) -> None:
    with memory:
        today = memory.today()
        memory.facts.add("Mirabel", "lives in", "Bruges", since=today)
        page = render_tab(memory, "changes", "", ["main"])
        assert re.search(rf"{today}</time> <b>Mirabel</b> lives in: <s>Ghent</s> → Bruges", page)


@pytest.mark.parametrize("view", [*VIEWS, "forget", "lines", "nonsense"])
@pytest.mark.parametrize("query", ["Oswin", HOSTILE, "MEMORY.md#L4"])
def test_no_text_of_a_note_or_a_question_is_markup(memory: Memory, view: str, query: str) -> None:
    with memory:
        page = render_tab(memory, view, query, [HOSTILE])
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert page.count("<script") == (3 if view == "map" else 1)


def test_the_map_leads_back(memory: Memory) -> None:
    with memory:
        page = render_tab(memory, "map", "", ["main"])
    assert '<header class="top"><a href="?view=overview&amp;agent=main">← Memory</a>' in page


def test_a_question_without_an_answer_says_so(memory: Memory) -> None:
    with memory:
        page = text_of(render_tab(memory, "search", "price of zinc in Peru", ["main"]))
        assert "Nothing" in page or "probably do not answer" in page
        assert "Nothing to forget" in text_of(render_tab(memory, "forget", "zinc in Peru", ["main"]))


def test_days_are_those_of_the_notes(memory: Memory) -> None:
    with memory:
        assert f"{date(2026, 3, 1)} to {date(2026, 3, 1)}" in text_of(render_tab(memory, "overview", "", ["main"]))
