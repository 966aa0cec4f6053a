"""What programs print is told by its shape; what people say about programs is not taken for it."""

from __future__ import annotations

import pytest
from tables import table

from openclaw_memory.text.machine import is_machine, machine_blocks


@pytest.mark.parametrize(
    "text",
    [*table("machine.tsv", "what a program writes is a machines"), '[{"id": 1}, {"id": 2}]', "[[reply_to_current]]"],
)
def test_what_a_program_writes_is_a_machines(text: str) -> None:
    assert is_machine(text)


@pytest.mark.parametrize("text", table("machine.tsv", "what people write is not"))
def test_what_people_write_is_not(text: str) -> None:
    assert not is_machine(text)


BLOCK = """# 2026-04-21

- The kiln is paid for.

## Light Sleep
<!-- openclaw:dreaming:light:start -->
- Candidate: User: the kiln is paid for
  - confidence: 0.58
  - recalls: 0
<!-- openclaw:dreaming:light:end -->

## Evening

- The glaze came out blue.
"""


def test_a_report_of_dreaming_within_a_note_ends_where_it_says() -> None:
    assert machine_blocks("memory/2026-04-21.md", BLOCK.split("\n")) == [range(5, 11)]


def test_a_report_without_its_end_takes_nothing_of_what_people_wrote_below() -> None:
    lines = [line for line in BLOCK.split("\n") if ":end" not in line]
    assert machine_blocks("memory/2026-04-21.md", lines) == [range(5, 11)] and lines[10] == "## Evening"
    twice = [*lines[:8], *lines[4:]]
    assert machine_blocks("memory/2026-04-21.md", twice) == [range(5, 9), range(9, 15)]


def test_a_report_that_is_cut_off_goes_on_to_the_end() -> None:
    lines = BLOCK.split("\n")[:8]
    assert machine_blocks("memory/2026-04-21.md", lines) == [range(5, 9)]
    assert machine_blocks("memory/2026-04-21.md", lines[5:]) == [range(1, 4)]


@pytest.mark.parametrize(
    ("path", "whole"),
    [("memory/dreaming/light/2026-04-21.md", True), ("memory/dreaming.md", False), ("memory/my-dreaming/a.md", False)],
)
def test_a_file_of_dreaming_is_one_by_its_folder(path: str, whole: bool) -> None:
    lines = ["# Light Sleep", "", "- Candidate: User: the kiln is paid for"]
    assert machine_blocks(path, lines) == ([range(1, 4)] if whole else [])


THOUGHT = """# Session

user: what about the pump?
assistant: <think>They ask about the pump.
Perhaps the old one.</think>
<final>It was replaced.</final>
user: and the orchids?
assistant: <think>Short.</think> They are watered.
assistant: <think>One
more.</think> Yes.

## Later

- <think> is a tag"""


def test_what_a_model_thought_is_a_machines_and_its_answer_is_not() -> None:
    assert machine_blocks("memory/2026-04-21.md", THOUGHT.split("\n")) == [range(4, 6), range(9, 10)]
    lost = THOUGHT.replace("</think>", "").split("\n")
    assert [each.stop for each in machine_blocks("memory/2026-04-21.md", lost)] == [12]
