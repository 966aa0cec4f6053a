"""``openclaw-memory concepts``: listed, searched and curated from the shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fakes import Notes

from openclaw_memory.cli.main import cli

Run = Callable[..., Result]


@pytest.fixture
def run(notes: Notes, tmp_path: Path) -> Run:
    notes.write(
        "memory/2026-03-01.md",
        "# Standup\n\n- Moved [[Wren]] to k8s after a talk with Mira.\n- The parrot board shows Kubernetes load.\n",
    )
    notes.write(
        "memory/2026-03-02.md", "# Log\n\n- [[Wren]] runs k8s now, says Mira. #cluster\n- Two disks for Wren.\n"
    )

    options = ["--workspace", str(notes.root), "--db", str(tmp_path / "m.duckdb"), "--set", "embedding.model=none"]
    return lambda *arguments: CliRunner().invoke(cli, [*options, "concepts", *arguments])


def rows(result: Result) -> dict[str, dict]:
    assert result.exit_code == 0, result.output
    return {row["slug"]: row for row in json.loads(result.stdout)["rows"]}


def test_found_concepts_are_listed(run: Run, notes: Notes) -> None:
    notes.write("memory/2026-03-04.md", "# Wednesday\n\n- Lunch with Mira at the harbour.\n- We gave Mira the lamp.\n")
    found = rows(run("list", "--json"))
    assert found["wren"]["units"] >= 2
    assert found["wren"]["curated"] is False
    shown = run("list", "--limit", "1")
    assert shown.exit_code == 0
    assert "Mira" in shown.stdout, "the most mentioned one"
    assert "more; see --limit" in shown.stderr


def test_a_curated_concept_is_linked_at_once_and_by_its_alias(run: Run, notes: Notes) -> None:
    run("list")  # which reads the notes
    result = run("add", "Kubernetes", "--alias", "k8s", "--parent", "orchestration", "--kind", "tool", "--json")
    kubernetes = rows(result)["kubernetes"]
    assert (kubernetes["curated"], kubernetes["kind"], kubernetes["units"]) == (True, "tool", 3)
    assert json.loads(result.stdout)["linked"] == 3
    assert kubernetes["parents"] == ["orchestration"]
    assert set(rows(run("list", "--curated", "--json"))) == {"kubernetes", "orchestration"}
    assert set(rows(run("list", "--kind", "tool", "--json"))) == {"kubernetes"}
    assert "kubernetes: {name: Kubernetes" in (notes.root / "concepts.yaml").read_text()

    again = rows(run("add", "k8s", "--parent", "software", "--alias", "kube", "--json"))["kubernetes"]
    assert set(again["parents"]) == {"orchestration", "software"} and again["aliases"] == ["k8s", "kube"]
    shown = run("add", "Kubernetes")
    assert "Kubernetes *" in shown.stdout
    assert "k8s, kube" in shown.stdout
    assert "software" in shown.stdout
    assert "* curated, in concepts.yaml" in shown.stdout


def test_removing_takes_a_curated_one_out_and_then_ignores_the_name(run: Run, notes: Notes) -> None:
    run("add", "Wren", "--kind", "machine")
    removed = run("remove", "wren")
    assert removed.stdout == "Wren is no longer curated\n"
    assert "remove it again to ignore it" in removed.stderr
    assert run("remove", "wren").stdout == "wren is no concept now\n"
    assert "wren" not in rows(run("list", "--json"))
    assert "ignore: [wren]" in (notes.root / "concepts.yaml").read_text()
    assert rows(run("add", "Wren", "--json"))["wren"]["units"] >= 2


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["add", "!!"], 1, "has no letter or digit"),
        (["add", "Wren", "--parent", "wren"], 1, "circle"),
        (["list", "--limit", "0"], 2, "--limit"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(run: Run, args: list[str], code: int, words: str) -> None:
    result = run(*args)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_broken_file_is_told_of_by_what_only_reads(run: Run, notes: Notes) -> None:
    run("list")
    (notes.root / "concepts.yaml").write_text("concepts: [\n")
    result = run("list")
    assert result.exit_code == 0
    assert "Wren" in result.stdout
    assert "concepts.yaml: line 2: cannot be read" in " ".join(result.stderr.split())
    assert "concepts.yaml" in json.loads(run("list", "--json").stdout)["warning"]


def test_removing_a_slip_of_the_pen_is_refused(run: Run, notes: Notes) -> None:
    result = run("remove", "wrenn")
    assert result.exit_code == 1
    assert "did you mean Wren?" in result.stderr
    assert not (notes.root / "concepts.yaml").exists()
