"""What lines without a date count for as of a day: git knows when they were committed, else nobody does."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import date

import pytest
from fakes import Notes, ingested

from openclaw_memory import SearchRequest
from openclaw_memory.system.git import lines_after

APRIL, MAY, JUNE = date(2026, 4, 10), date(2026, 5, 10), date(2026, 6, 10)
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(notes: Notes, *arguments: str, day: date = APRIL) -> None:
    moment = f"{day}T12:00:00"
    environment = {**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgSign=false")
    subprocess.run(["git", "-C", str(notes.root), *who, *arguments], env=environment, check=True, capture_output=True)


def commit(notes: Notes, day: date) -> None:
    if not (notes.root / ".git").exists():
        git(notes, "init", "-q")
    git(notes, "add", "-A")
    git(notes, "commit", "-qm", "notes", day=day)


def told(notes: Notes, question: str, day: date) -> str:
    with ingested(notes) as memory:
        result = memory.search(SearchRequest(question, as_of=day, mode="keyword", min_score=0.0))
        return "\n".join(hit.snippet for hit in result.results)


@needs_git
@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Which kiln do we rent?", "- Kiln: the small one in Delft", "- Kiln: the large one in Gouda"),
        ("Welchen Brennofen mieten wir?", "- Brennofen: der kleine in Köln", "- Brennofen: der große in Bonn"),
        ("我们租哪个窑炉？", "- 窑炉：小的那个，在苏州", "- 窑炉：大的那个，在杭州"),
        ("Какую печь мы арендуем?", "- Печь: малая, в Твери", "- Печь: большая, в Туле"),
    ],
)
def test_a_line_without_a_date_counts_from_its_commit(notes: Notes, question: str, older: str, newer: str) -> None:
    notes.write("MEMORY.md", f"# Pottery\n\n{older}\n")
    commit(notes, APRIL)
    notes.write("MEMORY.md", f"# Pottery\n\n{older}\n{newer}\n")
    commit(notes, JUNE)
    assert newer[2:] not in told(notes, question, MAY) and older[2:] in told(notes, question, MAY)
    assert newer[2:] in told(notes, question, JUNE)
    with ingested(notes) as memory:
        objects = {row.object for row in memory.facts.query(subject=older[2:].split(older[-1])[0], as_of=MAY).rows}
        assert not any(value in newer for value in objects)
        assert newer[2:] not in memory.context(question, as_of=MAY).text


@needs_git
def test_moved_and_unknown_lines_stay(notes: Notes) -> None:
    notes.write("MEMORY.md", "# Pottery\n\n- Kiln: the small one\n- Clay: white stoneware\n")
    commit(notes, APRIL)
    notes.write("MEMORY.md", "# Pottery\n\n- Clay: white stoneware\n- Glaze: celadon\n")
    notes.write("memory/kiln.md", "# Kiln\n\n- Kiln: the small one\n")
    commit(notes, JUNE)
    notes.write("MEMORY.md", "# Pottery\n\n- Shelf: oak\n- Clay: white stoneware\n- Glaze: celadon\n")
    assert lines_after(notes.root, MAY) == {"MEMORY.md": {5}, "memory/kiln.md": {1}}
    assert lines_after(notes.root, JUNE) == {}
    assert lines_after(notes.root, date(2026, 1, 1)) == {}


@needs_git
def test_a_workspace_within_a_repository_has_its_own_lines(notes: Notes) -> None:
    notes.write("team/ünits/MEMORY.md", "# Pottery\n\n- Clay: white\n")
    notes.write("MEMORY.md", "# Pottery\n")
    commit(notes, APRIL)
    notes.write("team/ünits/MEMORY.md", "# Pottery\n\n- Clay: white\n- Kiln: large\n")
    notes.write("MEMORY.md", "# Pottery\n\n- Kiln: small\n")
    commit(notes, JUNE)
    assert lines_after(notes.root / "team/ünits", MAY) == {"MEMORY.md": {4}}


@needs_git
def test_settings_of_a_repository_run_nothing(notes: Notes) -> None:
    notes.write("MEMORY.md", "# Pottery\n")
    notes.write(".gitattributes", "*.md diff=run filter=run\n")
    commit(notes, APRIL)
    notes.write("MEMORY.md", "# Pottery\n\n- Kiln: large\n")
    commit(notes, JUNE)
    for key in ("diff.external", "diff.run.command", "diff.run.textconv", "core.fsmonitor", "filter.run.clean",
                "core.pager", "pager.diff", "filter.run.smudge"):  # fmt: skip
        git(notes, "config", key, f"touch {notes.root}/was-run; cat")
    assert lines_after(notes.root, MAY) == {"MEMORY.md": {3}}
    assert not (notes.root / "was-run").exists()


def test_without_a_repository_nothing_is_known(notes: Notes) -> None:
    notes.write("MEMORY.md", "# Pottery\n\n- Kiln: the small one in Delft\n")
    assert lines_after(notes.root, MAY) == {}
    assert "Delft" in told(notes, "Which kiln do we rent?", MAY)


def test_an_undated_line_replaces_no_dated_one_as_of_a_day(notes: Notes) -> None:
    notes.write("memory/2026-04-01.md", "# Pottery\n\n- Kiln rental: 55 € a day\n")
    notes.write("MEMORY.md", "# Pottery\n\n- Kiln rental: 40 € a day\n")
    with ingested(notes) as memory:
        hits = memory.search(
            SearchRequest("What is the kiln rental?", as_of=MAY, mode="keyword", min_score=0.0)
        ).results
    assert all(hit.superseded_by is None for hit in hits if hit.path != "MEMORY.md")
