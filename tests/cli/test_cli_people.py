"""What people see of an answer: whether it is one, which words were found, and lines that stay lists."""

from __future__ import annotations

import io
import json

import pytest
from commands import run_command
from fakes import Notes
from rich.console import Console
from tables import table

from openclaw_memory.cli import context
from openclaw_memory.cli.search import marking
from openclaw_memory.text.analysis import occurrences


@pytest.mark.parametrize(
    ("line", "good", "nonsense"),
    [
        ("the {} shelf holds paint", "ochre shelf", "which shelf has the violins of the opera in Montevideo"),
        ("架子上放着{}色油漆", "赭石架子", "去年夏天歌剧院的小提琴放在哪个架子上演奏"),
    ],
)
def test_nonsense_is_called_no_good_match(notes: Notes, line: str, good: str, nonsense: str) -> None:
    names = ["ochre охра 赭石", *(f"n{n}" for n in range(30))]
    notes.write("MEMORY.md", "".join(f"- {line.format(name)}\n\n" for name in names))
    assert "no good match" not in run_command(notes, "search", good).stdout
    assert run_command(notes, "search", nonsense).stdout.startswith("no good match; nearest:\n 1  0.")
    # The scores of a thread are relative; whether it begins at an answer those of a search say. If not, there is none.
    assert "no good match" not in run_command(notes, "recall", good).stdout
    nearest = run_command(notes, "recall", nonsense).stdout
    assert nearest.startswith("no good match; nearest:\n 1  0.")
    assert 1 <= nearest.count("MEMORY.md:") <= 3 and "↳" not in nearest
    for command in ("search", "recall", "timeline"):
        assert run_command(notes, command, "xylophone").stdout == "no good match\n"
    nothing = run_command(notes, "timeline", "--since", "2999-01-01")
    assert nothing.stdout == "nothing found\n" and "the newest note is of" in nothing.stderr


@pytest.mark.parametrize(("question", "line", "found"), table("cli.tsv", "words of a question in a line"))
def test_words_of_the_question_are_found_in_every_form(question: str, line: str, found: str) -> None:
    assert [line[start:end] for start, end in occurrences(question, line)] == found.split()


@pytest.mark.parametrize(
    ("range_", "days"),
    [
        (["--since", "2026-W10"], ["03-08", "03-02"]),
        (["--until", "2026-W10"], ["03-08", "03-02", "03-01"]),
        (["--until", "2026-W09"], ["03-01"]),
        (["--since", "2026-03", "--until", "2026-03"], ["03-08", "03-02", "03-01"]),
        (["--since", "2026-Q1", "--until", "2026"], ["03-08", "03-02", "03-01"]),
        (["--since", "2026-03-02", "--until", "2026-03-02T08:00"], ["03-02"]),
        (["--until", "2026-02"], []),
    ],
)
def test_a_range_may_be_named_by_weeks_months_quarters_and_years(
    notes: Notes, range_: list[str], days: list[str]
) -> None:
    for day in ("2026-03-01", "2026-03-02", "2026-03-08"):
        notes.write(f"memory/{day}.md", f"# {day}\n\n- the lamp of {day} was lit\n")
    found = json.loads(run_command(notes, "timeline", *range_, "--json").stdout)["results"]
    assert sorted((hit["date"][5:] for hit in found), reverse=True) == days
    wrong = run_command(notes, "timeline", range_[0], "2026-W60", code=2).stderr
    assert "is not a day such as 2026-02-13, or 2026-W07 or 2026-02" in wrong


def shown(line: str, question: str = "") -> str:
    out = Console(file=io.StringIO(), force_terminal=True, width=40, highlight=False)

    class Printed(context.CliContext):
        @property
        def out(self) -> Console:
            return out

    Printed().line(marking(question)(line), indent=6)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_words_are_marked_on_a_terminal_and_a_pipe_has_the_line_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")
        assert "\x1b[1;35mlamps\x1b[0m" in shown("- two lamps", "lamp")
    long = f"- two lamps {'and more ' * 20}end"
    context.CliContext().line(marking("lamp")(long), indent=6)
    assert capsys.readouterr().out == f"      {long}\n"


# -- checks -----------------------------------------------------------------------------------------


def test_a_check_looks_the_same_in_every_command(notes: Notes) -> None:
    notes.write("memory/b.md", b"\0")
    run_command(notes, "ingest")
    notes.write("MEMORY.md", "- the lamp is green\n")
    said = "✗ freshness: 1 file to be read again: MEMORY.md\n  run: openclaw-memory ingest\n"
    assert said in run_command(notes, "status").stdout and said in run_command(notes, "doctor", code=1).stdout
    short = run_command(notes, "status").stdout
    assert "! file: memory/b.md is skipped: binary content" in short
    assert short.endswith("next: openclaw-memory ingest\n")
    run_command(notes, "ingest")
    assert run_command(notes, "status").stdout.endswith("next: openclaw-memory search QUESTION\n")
    names = [
        line.split(":")[0].split()[1] for line in run_command(notes, "doctor").stdout.splitlines() if line[0] != " "
    ]
    assert names[:2] == ["model", "workspace"]  # as setup looks


def test_a_terminal_without_the_marks_gets_words(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("MEMORY.md", "- the lamp is green\n")
    monkeypatch.setattr(context, "_has_marks", lambda: False)
    shown = run_command(notes, "status").stdout
    assert shown.startswith("ok model: ") and "wrong freshness: " in shown and shown.isascii()


def test_status_says_since_when_and_which_summaries_there_are(notes: Notes) -> None:
    for day in range(2, 9):
        notes.write(f"memory/2026-02-0{day}.md", f"# Day {day}\n\n- Decision: the pump {day} moves to the cellar.\n")
    run_command(notes, "consolidate", "--now", "2026-04-01")
    shown = run_command(notes, "status").stdout
    assert ", from 2026-02-0" in shown and " to 2026-0" in shown and "; summaries: " in shown and " weekly" in shown
