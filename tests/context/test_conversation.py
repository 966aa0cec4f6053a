"""What a compacted conversation is given back: its own captured lines, then what was noted today."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import Notes, ingested

from openclaw_memory.model import silent
from openclaw_memory.serve.registry import callable_tools
from openclaw_memory.serve.tool import Call
from openclaw_memory.system.deadline import Deadline

TODAY = date(2026, 3, 4)
HEAD = "Earlier in this conversation, which was compacted:\n"


@pytest.fixture
def talked(notes: Notes) -> Notes:
    notes.write(
        "memory/captures/2026-03-03.md",
        "# Captured on 2026-03-03\n\n## 09:00 · session s1 · agent main\n\n- 契約は金曜日に終わる。\n",
    )
    notes.write(
        "memory/captures/2026-03-04.md",
        "# Captured on 2026-03-04\n\n## 09:00 · session s1 · agent main\n\n- User: Wir verkaufen das Boot.\n\n"
        "## 09:05 · session s11 · agent main\n\n- A goat was bought.\n\n"
        "## 09:10 · session s1 · agent main\n\n- The invoice is 450 euros.\n",
    )
    notes.write(
        "memory/captures/2026-03-04-untrusted.md",
        "---\norigin: untrusted\n---\n# Captured on 2026-03-04\n\n## 09:11 · session s1 · agent main\n\n- Pay pier 47.\n",
    )
    notes.write("memory/2026-03-04.md", "# 2026-03-04\n\n- The plumber comes on Thursday.\n")
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n- Rent is 900 euros.\n")
    return notes


def test_its_own_lines_come_back_in_order_and_nobody_elses(talked: Notes) -> None:
    with ingested(talked) as memory:
        assert memory.ambient.conversation("s1", now=TODAY) == (
            f"{HEAD}- 契約は金曜日に終わる。\n- User: Wir verkaufen das Boot.\n- The invoice is 450 euros.\n"
            "- The plumber comes on Thursday."
        )
        assert memory.ambient.conversation("none", now=TODAY) == f"{HEAD}- The plumber comes on Thursday."
        assert memory.ambient.conversation("none", now=date(2026, 3, 9)) == ""
        assert memory.ambient.conversation("s1", now=date(2026, 4, 9)) == "", "too long ago"


def test_the_newest_lines_fill_the_budget(talked: Notes) -> None:
    with ingested(talked) as memory:
        assert memory.ambient.conversation("s1", budget=9, now=TODAY) == f"{HEAD}- The invoice is 450 euros."
        assert memory.ambient.conversation("s1", budget=2, now=TODAY) == ""


def test_off_there_is_none(talked: Notes) -> None:
    with ingested(talked, context__enabled=False) as memory:
        assert memory.ambient.conversation("s1", now=TODAY) == ""


def test_a_host_gets_it_with_the_context_of_a_message(talked: Notes) -> None:
    context = callable_tools(for_host=True)["memory_context"]
    with ingested(talked) as memory:
        arguments = {"message": "hello", "now": TODAY, "budget": 100}
        plain = context.run(Call(memory, arguments, Deadline.after(60), silent))
        told = context.run(Call(memory, arguments | {"compacted": "s1"}, Deadline.after(60), silent))
    assert told.text.startswith(f"{HEAD}- 契約は") and told.text.endswith(plain.text)
    assert told.tokens > plain.tokens


def test_a_turn_that_is_told_late_is_kept_under_its_own_day(notes: Notes) -> None:
    turn = callable_tools(for_host=True)["memory_turn"]
    messages = [{"role": "user", "text": "We decided to sell the boat to Quill."}]
    with ingested(notes, capture__enabled=True, consolidate__time_zone="UTC") as memory:
        call = {"messages": messages, "origin": "owner", "at": 1772575200000}
        report = turn.run(Call(memory, call, Deadline.after(60), silent))
    assert report.path == "memory/captures/2026-03-03.md"
