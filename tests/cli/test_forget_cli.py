"""The command ``forget``: it shows what goes, asks, and says what is left."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commands
import pytest
from click.testing import Result
from fakes import Notes
from forgetting import traces

Run = Callable[..., Result]

DAY = "memory/2026-02-16.md"


@pytest.fixture
def run(notes: Notes) -> Run:
    notes.write(
        DAY, "# Monday\n\n- Bought milk at the market.\n- The vault opens with 7714 zebra.\n- A zebra came by.\n"
    )

    return partial(commands.run, "-w", str(notes.root), "--db", str(database(notes)), "--set", "embedding.model=none")


def database(notes: Notes) -> Path:
    return notes.root.parent / "index.duckdb"


def test_dry_run_lists_what_would_go(run: Run, notes: Notes) -> None:
    shown = run("forget", "--query", "vault zebra", "--dry-run")
    assert f"{DAY}#L4" in shown.stdout and "7714 zebra" in shown.stdout
    assert "would forget 1 unit, " in shown.stdout and " in 1 file" in shown.stdout
    assert f"still written in {DAY}#L4; it is yours to edit" in shown.stderr
    report = json.loads(run("forget", "--query", "vault zebra", "--dry-run", "--json").stdout)
    assert report["dryRun"] is True and report["units"] == 1 and report["verified"] is False
    assert report["texts"] == [
        {"citation": f"{DAY}#L4", "text": "- The vault opens with 7714 zebra.", "grain": "working"}
    ]
    assert traces(database(notes), "7714 zebra")


def test_with_yes_it_forgets(run: Run, notes: Notes) -> None:
    done = run("forget", "--query", "zebra", "--yes")
    assert done.stdout.startswith("forgot 2 units")
    assert "no column and no byte of the index has it any more" in done.stdout
    assert traces(database(notes), "zebra") == []
    assert run("forget", "--query", "zebra", "--yes").stdout == "nothing to forget\n"
    assert "zebra" not in run("search", "vault zebra", "--json").stdout.split('"results"')[1]
    assert "[forgotten]" in run("get", DAY).stdout


def test_a_query_takes_the_whole_paragraph_and_shows_it(run: Run, notes: Notes) -> None:
    notes.write(DAY, "# Monday\n\nThe vault opens with a number. It is the year of the zebra. Bought milk.\n\nBread.\n")
    shown = run("forget", "--query", "vault number", "--dry-run")
    assert "It is the year of the zebra. Bought milk." in shown.stdout
    assert "one paragraph, item or row; all of it goes" in " ".join(run("forget", "--help").stdout.split())
    run("forget", "--query", "vault number", "--yes")
    assert traces(database(notes), "zebra") == []


def test_names_that_stay_are_said(run: Run, notes: Notes) -> None:
    notes.write("memory/zebra-plan.md", "- A lamp.\n")
    run("concepts", "add", "Zebra")
    for option in ("--dry-run", "--yes"):
        said = run("forget", "--query", "zebra", option).stderr
        assert "still written in memory/zebra-plan.md (its name); it is yours to edit" in said
        assert "still written in concepts.yaml (the concept Zebra); it is yours to edit" in said


def test_help_says_that_there_is_no_undo(run: Run) -> None:
    assert "There is no undo" in " ".join(run("forget", "--help").stdout.split())


def test_wrong_usage_is_said_on_one_line(run: Run, notes: Notes) -> None:
    for arguments, said in (
        ([], "name one thing to forget"),
        (["--query", "a", "--path", "b"], "path and query was named"),
        (["--query", "zebra"], "give --yes, or --dry-run"),
        (["--query", "zebra", "--json"], "give --yes, or --dry-run"),
        (["--path", "memory/none.md", "--yes"], "no memory file is there"),
        (["--concept", "Nobody", "--yes"], "no concept is called"),
        (["--fact", "f-none", "--yes"], "there is no fact"),
        (["--query", "of the", "--yes"], "no word to look for"),
        (["--since", "2026-03-01", "--until", "2026-02-01", "--yes"], "is before since"),
        (["--since", "soon", "--yes"], "is not a day"),
    ):
        result = run("forget", *arguments, code=2)
        assert said in result.stderr and len(result.stderr.strip().splitlines()) == 1
        if "--json" in arguments:
            assert said in json.loads(result.stdout)["error"]["message"]
        else:
            assert result.stdout == ""
        assert not (notes.root / ".openclaw-memory" / "id").exists()  # nothing was forgotten


@pytest.mark.parametrize(("answer", "forgets"), [("y", True), ("", False)])
def test_on_a_terminal_it_asks(run: Run, notes: Notes, answer: str, forgets: bool) -> None:
    import pty
    import subprocess

    run("ingest")
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal, os.fdopen(theirs, "r+b", buffering=0) as end:
        command = [sys.executable, "-m", "openclaw_memory", "-w", str(notes.root), "--db", str(database(notes)),
                   "--set", "embedding.model=none", "forget", "--query", "zebra"]  # fmt: skip
        terminal.write(f"{answer}\n".encode())
        child = subprocess.run(command, stdin=end, capture_output=True, text=True, timeout=120, check=False)
    assert child.returncode == 0, child.stderr
    assert "Forget this for good? [y/N]" in child.stdout and "7714 zebra" in child.stdout
    assert ("forgot 2 units" in child.stdout) is forgets
    assert ("nothing was forgotten" in child.stdout) is not forgets
    assert (traces(database(notes), "7714 zebra") == []) is forgets
