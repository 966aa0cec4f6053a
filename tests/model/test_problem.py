"""A problem reads as one sentence wherever it is shown, and its parts are known without reading it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from fakes import Notes
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.cli.main import cli
from openclaw_memory.errors import OpenClawMemoryError, Problem, SettingsError
from openclaw_memory.model import Check


@examples(300)
@given(st.text(alphabet="ab; :", max_size=12))
def test_reading_a_message_loses_nothing_of_it(message: str) -> None:
    assert str(Problem.parse(message)) == message == str(OpenClawMemoryError(message))


def test_an_error_has_the_parts_that_it_was_raised_with(monkeypatch: pytest.MonkeyPatch) -> None:
    error = SettingsError("it is no mapping; none at all", "see: openclaw-memory config show", "a.yaml")
    assert str(error) == "a.yaml: it is no mapping; none at all; see: openclaw-memory config show"
    assert error.problem == Problem("it is no mapping; none at all", "see: openclaw-memory config show", "a.yaml")
    assert OpenClawMemoryError("the file is gone; make it").problem == Problem("the file is gone", "make it")
    monkeypatch.setenv("OPENCLAW_MEMORY_COMMAND", "openclaw memory")
    assert error.problem.next_step == "see: openclaw memory config show"
    check = Check.from_problem("settings", error.problem)
    assert (check.ok, check.detail) == (False, "a.yaml: it is no mapping; none at all")


def test_a_setting_that_is_none_is_the_same_problem_in_each_place(notes: Notes) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    options = ["--set", "serch.mode=x", "--set", "embedding.model=none", "-w", str(notes.root)]
    said, step = "'serch.mode' is no setting and changes nothing", "did you mean 'search.mode'?"
    assert f"note: --set: {said}; {step}\n" in CliRunner().invoke(cli, [*options, "search", "lamp"]).stderr
    status = json.loads(CliRunner().invoke(cli, [*options, "--json", "status"]).stdout)
    assert f"--set: {said}; {step}" in status["warning"]
    checks = json.loads(CliRunner().invoke(cli, [*options, "--json", "doctor"]).stdout)["checks"]
    assert {"name": "--set", "ok": True, "detail": said, "fix": step, "remark": True} in checks
