"""What programs print is told by its shape; what people say about programs is not taken for it."""

from __future__ import annotations

import pytest

from openclaw_memory.text.machine import is_machine, reports


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-13 10:00:01 ERROR pool exhausted",
        "2026-02-13T10:00:01.123Z [gateway] ready",
        "[WARN] disk at 91%",
        "ERROR: no such file",
        "Traceback (most recent call last):",
        'File "/srv/app.py", line 3, in main',
        "ValueError: bad literal",
        "at run (/srv/app.js:10:2)",
        "$ systemctl restart nginx",
        "HTTP 503: api_error: no accounts",
        '{"error": {"code": 429}}',
        '"sender": "ana",',
        '[{"id": 1}, {"id": 2}]',
        "HEARTBEAT_OK",
        "[[reply_to_current]]",
        "497634d8-926a-488f-b314-8ccce829a8b8",
        "System: [2026-02-13 10:00:01 GMT+8] Exec completed (swift-fox, code 0)",
        "System (untrusted): [2026-02-13 10:00:01 UTC] Exec completed (swift-fox, code 0)",
        "ValueError: bad literal\n  at run (/srv/app.js:10:2)",
    ],
)
def test_what_a_program_writes_is_a_machines(text: str) -> None:
    assert is_machine(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-13 10:00 met Ana",
        "2026-02-13 10:00:01 Ana called",
        "Error handling is better now",
        "The error was ValueError: bad literal",
        "Der Server meldet HTTP 503.",
        "DKIM: dkim=pass, spf=pass, dmarc=pass",
        "売上: 一般=自分のみ / 承認者=チーム / 管理者=全体",
        "[link](https://a.example) about JSON",
        "[x] ligar para a Ana",
        "[[Garden|the garden]] is wet",
        "OK",
        "USA",
        "系统：已重启",
        "Перезапустил nginx, ошибка ушла",
        "Đã khởi động lại máy chủ",
        "$ 40 for seeds",
        "{almost} a template",
    ],
)
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
    assert reports("memory/2026-04-21.md", BLOCK.split("\n")) == [range(5, 11)]


def test_a_report_without_its_end_takes_nothing_of_what_people_wrote_below() -> None:
    lines = [line for line in BLOCK.split("\n") if ":end" not in line]
    assert reports("memory/2026-04-21.md", lines) == [range(5, 11)] and lines[10] == "## Evening"
    twice = [*lines[:8], *lines[4:]]
    assert reports("memory/2026-04-21.md", twice) == [range(5, 9), range(9, 15)]


def test_a_report_that_is_cut_off_goes_on_to_the_end() -> None:
    lines = BLOCK.split("\n")[:8]
    assert reports("memory/2026-04-21.md", lines) == [range(5, 9)]
    assert reports("memory/2026-04-21.md", lines[5:]) == [range(1, 4)]


@pytest.mark.parametrize(
    ("path", "whole"),
    [("memory/dreaming/light/2026-04-21.md", True), ("memory/dreaming.md", False), ("memory/my-dreaming/a.md", False)],
)
def test_a_file_of_dreaming_is_one_by_its_folder(path: str, whole: bool) -> None:
    lines = ["# Light Sleep", "", "- Candidate: User: the kiln is paid for"]
    assert reports(path, lines) == ([range(1, 4)] if whole else [])


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
    assert reports("memory/2026-04-21.md", THOUGHT.split("\n")) == [range(4, 6), range(9, 10)]
    lost = THOUGHT.replace("</think>", "").split("\n")
    assert [each.stop for each in reports("memory/2026-04-21.md", lost)] == [12]
