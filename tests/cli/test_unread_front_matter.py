"""Front matter that cannot be read makes a file untrusted, and whoever looks after the memory hears of it."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from fakes import Notes, ingested
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.cli.checks import examine
from openclaw_memory.cli.main import cli
from openclaw_memory.errors import Problem
from openclaw_memory.model import Origin
from openclaw_memory.text.front_matter import parse_front_matter

#: Front matter by what is wrong with it.
BROKEN = {
    "not valid YAML in line 3 (": "---\ntitle: Plans\ndate: [2026-02-16\n---\n",
    "a key stands twice; keep one of them": "---\norigin: agent\norigin: owner\n---\n",
    "a value that cannot be, such as the day 2026-02-30; mend it": "---\ntitle: a\ndate: 2026-02-30\n---\n",
    "no line '---' ends it within 400 lines; write one below it": "---\ntitle: Plans\n\nThe lamp is green.\n",
    "more than 16000 characters; ": f"---\ntitle: {'a' * 16_001}\n---\n",
    "more values than a note states about itself; ": f"---\ntags: [{'a, ' * 2_001}]\n---\n",
    "not valid YAML in line 4 (": "\n---\ntitle: Plans\nowner: %x\n---\n",
    "not valid TOML (": "+++\ntitle = a\n+++\n",
    "not valid JSON (": '{\n"title": a\n}\n',
    "a character that YAML does not have; take it out": "---\ntitle: a\x0eb\n---\n",
}
FINE = ["", "A note.\n", "---\ntitle: Plans\n---\n", "---\n\nA rule above.\n", "---\n# nothing\n---\n"]


@pytest.mark.parametrize("said", BROKEN)
def test_it_is_said_what_is_wrong_and_what_to_do(said: str) -> None:
    told = parse_front_matter((BROKEN[said] + "- More.\n").split("\n")).fault
    assert told is not None and told.startswith(said) and Problem.parse(told).next_step


@pytest.mark.parametrize("text", FINE)
def test_nothing_is_said_of_what_can_be_read(text: str) -> None:
    assert parse_front_matter(text.split("\n")).fault is None


@examples(300)
@given(
    st.lists(st.sampled_from(["---", "a: 1", "a: 2", "b: [", "- c", "", "# d", "e", "...", "f: {", "2: 2026-02-30"]))
)
def test_what_is_untrusted_for_it_is_told(lines: list[str]) -> None:
    assert parse_front_matter(lines).fault is not None or parse_front_matter(lines).values.get("origin") != "untrusted"


def test_doctor_and_status_name_the_files(notes: Notes) -> None:
    # What is not read may have been the word that lowers trust.
    broken = [re.sub(r'title("?)( = |: )', r"origin\1\2", text) for text in BROKEN.values()]
    broken = [text for text in broken if "tags" not in text and "date" not in text and "%x" not in text]
    notes.write("memory/partly.md", "---\ntitle: a: b\ndate: 2026-02-16\n---\n- The lamp there is blue.\n")
    for number, text in enumerate(broken):
        notes.write(f"memory/n{number}.md", f"{text}- The lamp number {number} is green.\n")
    notes.write("memory/fine.md", "---\norigin: untrusted\n---\n- The lamp in the hall is red.\n")
    options = ["-w", str(notes.root), "--db", str(notes.root.parent / "index.duckdb"), "--set", "embedding.model=none"]
    with ingested(notes) as memory:
        hits = memory.search("lamp", max_results=20).results
        untrusted = {hit.path for hit in hits if hit.origin is Origin.UNTRUSTED} - {"memory/fine.md"}
        assert len(untrusted) == len(broken)
        status = memory.status()
        assert {one.path for one in status.unread_front_matter} == untrusted
        checks = examine(memory)
    assert [check.detail.split(": ")[0] for check in checks if "partly" in check.detail] == [
        "memory/partly.md is read by guessing"
    ]
    told = [check for check in checks if check.name == "trust"]
    assert all(check.ok and check.remark and check.fix for check in told)
    assert told[0].detail.startswith(
        "memory/n0.md is taken as untrusted, as its front matter cannot be read: a key stands twice"
    )
    assert told[0].fix == "keep one of them, or ignore it in .memoryignore"
    assert len(told) == 6 and told[-1].detail.startswith("and 1 more file taken as untrusted")
    run = CliRunner()
    shown = run.invoke(cli, [*options, "status"]).output
    assert "! trust: memory/n0.md is taken as untrusted, as its front matter cannot be read: a key stands" in shown
    assert "! trust: memory/n1.md is " in shown and "! trust: and 1 more file taken as untrusted" in shown
    found = json.loads(run.invoke(cli, [*options, "--json", "status"]).stdout)
    assert found["unreadFrontMatter"][0] == {
        "path": "memory/n0.md", "reason": "a key stands twice; keep one of them"
    }  # fmt: skip
    notes.write("memory/partly.md", "- The lamp there is blue.\n")
    for number in range(len(broken)):
        notes.write(f"memory/n{number}.md", "- The lamp is green.\n")
    assert json.loads(run.invoke(cli, [*options, "--json", "status"]).stdout)["unreadFrontMatter"] == []
    assert "front matter" not in run.invoke(cli, [*options, "doctor"]).output


@pytest.mark.parametrize(
    "lines",
    [
        "---\na: *zeppelin\n---", "---\na: !zeppelin x\n---", "---\na: !!python/object:zeppelin x\n---",
        "---\na: !zeppelin!x y\n---", "---\na: &zeppelin 1\nb: &zeppelin [\n---",
        "+++\nzeppelin = 1\n[zeppelin]\n+++", "+++\na = {zeppelin = 1, zeppelin = 2}\n+++", '{"zeppelin": zeppelin}',
    ],
)  # fmt: skip
def test_a_fault_quotes_no_word_of_the_note(lines: str) -> None:
    fault = parse_front_matter(lines.split("\n")).fault
    assert fault is not None and "zeppelin" not in fault
