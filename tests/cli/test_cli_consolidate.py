"""``openclaw-memory consolidate``: what it prints, as text and as JSON, and how it ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, timedelta

import commands
import pytest
from click.testing import Result
from fakes import Notes
from summarising import BUDGETS, FOLDER, days, names, tree, write

MONDAY = date(2026, 2, 16)
NOW = ("--now", "2026-06-01")


@pytest.fixture
def run(notes: Notes) -> Callable[..., Result]:
    for day in days(MONDAY, MONDAY + timedelta(days=6)):
        write(notes, day)

    def invoke(*arguments: str, code: int = 0, sets: tuple[str, ...] = ()) -> Result:
        budgets = f"consolidate.budgets={json.dumps(BUDGETS)}"
        given = ["embedding.model=none", budgets, "consolidate.time_zone=UTC", *sets]
        before = [part for one in given for part in ("--set", one)]
        before += ["--db", str(notes.root.parent / "index.duckdb"), "-w", str(notes.root)]
        return commands.run(*before, "consolidate", *arguments, code=code)

    return invoke


def test_a_table_for_people(run: Callable[..., Result], notes: Notes) -> None:
    result = run(*NOW)
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"summary +sources +sentences +tokens +source tokens", lines[0])
    assert re.fullmatch(rf"{FOLDER}/daily/2026-02-16\.md +1 +\d+ +\d+ +\d+ *", lines[1])
    assert re.fullmatch(r"10 summaries written, \d+ concepts? merged, \d+ units archived, \d+\.\d s", lines[-1])
    assert len(lines) == 12 and result.stderr == ""
    again = run(*NOW)
    assert re.fullmatch(r"0 summaries written, 0 concepts merged, 0 units archived, \d+\.\d s\n", again.stdout)
    write(notes, MONDAY, salt=1)
    assert f"{FOLDER}/quarterly/2026-Q1.md (anew)" in run(*NOW).stdout


def test_a_dry_run(run: Callable[..., Result], notes: Notes) -> None:
    result = run("--dry-run", *NOW)
    assert "10 summaries would be written" in result.stdout and "units would be archived" in result.stdout
    assert tree(notes) == {}


def test_one_grain(run: Callable[..., Result], notes: Notes) -> None:
    run("--grain", "monthly", *NOW)
    assert list(tree(notes)) == [f"{FOLDER}/monthly/2026-02.md"]


def test_days(run: Callable[..., Result], notes: Notes) -> None:
    run("--older-than-days", "0", "--now", "2026-02-18")
    assert names(notes, "daily") == ["2026-02-16", "2026-02-17"]
    run("--now", "2026-02-22T23:59")
    assert names(notes, "daily") == ["2026-02-16", "2026-02-17", "2026-02-18"]


def test_what_is_kept_removed_and_retired_is_named(run: Callable[..., Result], notes: Notes) -> None:
    run("--now", "2026-03-10")
    path = f"{FOLDER}/daily/2026-02-17.md"
    notes.write(path, tree(notes)[path].decode() + "- Mine.\n")
    notes.remove("memory/2026-02-16.md")
    free = ("retention.plan=free",)
    would = run("--dry-run", "--now", "2026-03-10", sets=free).stdout
    assert f"kept, as a person has edited it: {path}" in would
    assert f"would be removed, as there is nothing left to summarise: {FOLDER}/daily/2026-02-16.md" in would
    assert "would be retired: memory/2026-02-18.md" in would
    did = run("--now", "2026-03-10", sets=free).stdout
    assert f"\nremoved, as there is nothing left to summarise: {FOLDER}/daily/2026-02-16.md\n" in did
    assert "\nretired: memory/2026-02-18.md\n" in did
    did = run("--now", "2026-04-20", sets=free).stdout
    assert f"retired: {FOLDER}/daily/2026-02-18.md" in did and path in did
    assert names(notes, "daily") == ["2026-02-17"]


def test_enabling_shows_what_it_would_do_and_does_nothing(run: Callable[..., Result], notes: Notes) -> None:
    result = run("--enable", *NOW)
    assert "note: automatic consolidation: on; has not run yet" in result.stderr
    assert "10 summaries would be written" in result.stdout and tree(notes) == {}
    assert "reports only" in run("--disable", *NOW).stderr
    assert json.loads(run("--enable", "--json", *NOW).stdout)["dryRun"] is True
    assert "decides it" not in result.stderr
    told = run("--enable", *NOW, sets=("consolidate.automatic=off",)).stderr
    assert "note: consolidate.automatic is 'off', which decides it for good; set it to 'ask' first" in told


@pytest.mark.parametrize(
    "wrong",
    [("--grain", "working"), ("--older-than-days", "-1"), ("--now", "soon"), ("x",)],
)
def test_wrong_usage(run: Callable[..., Result], wrong: tuple[str, ...]) -> None:
    result = run(*wrong, code=2)
    assert result.stdout == "" and result.stderr.startswith("error: ") and len(result.stderr.splitlines()) == 1


def test_a_failure_is_one_line_that_names_the_next_step(run: Callable[..., Result], notes: Notes) -> None:
    notes.write("memory/consolidated", "in the way")
    result = run(*NOW, code=1)
    assert result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert "memory/consolidated: is no folder" in result.stderr and "move it away" in result.stderr
    result = run(*NOW, code=1, sets=("consolidate.time_zone=Mars/Olympus",))
    assert "consolidate.time_zone: there is no time zone 'Mars/Olympus'" in result.stderr
