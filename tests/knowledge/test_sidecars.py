"""``concepts.yaml`` and ``facts.yaml`` as somebody left them: broken, no files, links, with secrets in them."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest
from fakes import Notes, ingested, open_memory

from openclaw_memory import Memory
from openclaw_memory.cli.checks import examine
from openclaw_memory.errors import OpenClawMemoryError, RequestError, WorkspaceError
from openclaw_memory.system import atomic

NAMES = ("concepts.yaml", "facts.yaml")
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
#: What a change of each file is given beside a name.
_REST: dict[str, tuple[str, ...]] = {"concepts.yaml": (), "facts.yaml": ("lives in", "Utrecht")}
CONCEPT = "concepts:\n  precipitation: {name: precipitation, aliases: [rain]}\n"

fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")


@pytest.fixture
def notes(notes: Notes) -> Notes:
    notes.write("memory/2026-01-05.md", "# Plan\n\n- We ask Zorblatt about the wobble_board.\n- Rain again.\n")
    notes.write("memory/2026-01-09.md", "# Visit\n\n- Saw Zorblatt at home; he had the wobble_board.\n")
    return notes


def warned(memory: Memory) -> list[str | None]:
    """The warnings of everything that answers."""
    return [
        memory.search("Zorblatt", mode="keyword").warning,
        memory.recall("Zorblatt").warning,
        memory.context("what about Zorblatt and the wobble_board?").warning,
        memory.concepts.list().warning,
    ]


def doctor(memory: Memory, name: str) -> tuple[bool, str, str | None]:
    (check,) = [check for check in examine(memory) if check.name == name]
    return check.ok, check.detail, check.fix


def test_only_a_regular_file_of_its_own_folder_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    atomic.check_regular(folder / "missing.yaml")
    (folder / "real.yaml").write_text("a\n")
    (folder / "link.yaml").symlink_to("real.yaml")
    (tmp_path / "by-link").symlink_to(folder)
    for fine in ("real.yaml", "link.yaml"):
        atomic.check_regular(folder / fine)
        atomic.check_regular(tmp_path / "by-link" / fine)
    (tmp_path / "outside.yaml").write_text("secret\n")
    (folder / "out.yaml").symlink_to(tmp_path / "outside.yaml")
    (folder / "twice.yaml").symlink_to("out.yaml")
    (folder / "nowhere.yaml").symlink_to(tmp_path / "nothing.yaml")
    for name in ("out.yaml", "twice.yaml", "nowhere.yaml"):
        for write in (atomic.write_text, atomic.append_text):
            with pytest.raises(WorkspaceError, match="leads out of its folder; "):
                write(folder / name, "mine\n")
    assert (tmp_path / "outside.yaml").read_text() == "secret\n"
    assert not (tmp_path / "nothing.yaml").exists()
    (folder / "self.yaml").symlink_to("self.yaml")
    (folder / "folder.yaml").mkdir()
    for name in ("self.yaml", "folder.yaml"):
        with pytest.raises(WorkspaceError, match="; m"):
            atomic.check_regular(folder / name)


def spoil(path: Path, how: str) -> None:
    path.unlink(missing_ok=True)
    if how == "folder":
        path.mkdir()
    elif how == "fifo":
        os.mkfifo(path)
    else:
        outside = path.parent.parent / "outside.yaml"
        outside.write_text(CONCEPT.replace("precipitation", "outsider"))
        path.symlink_to(outside)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["folder", pytest.param("fifo", marks=fifos), "link"])
def test_what_is_no_file_is_named_and_stops_nothing(notes: Notes, name: str, how: str) -> None:
    spoil(notes.root / name, how)
    with open_memory(notes) as memory:
        (skipped,) = memory.ingest().skipped
        assert skipped.path == name
        assert ("leads out of its folder" if how == "link" else "is a folder" if how == "folder" else "no regular") in (
            skipped.reason
        )
        assert memory.search("Zorblatt", mode="keyword").results
        assert "outsider" not in {row.slug for row in memory.concepts.list().rows}
        assert all(warning and name in warning for warning in warned(memory))
        ok, detail, step = doctor(memory, name)
        assert not ok and name in detail and step
        concepts, facts = memory.concepts, memory.facts
        change = partial(concepts.add if name == "concepts.yaml" else facts.add, "Zorblatt", *_REST[name])
        with pytest.raises(OpenClawMemoryError, match=name):
            change()


def test_what_was_known_stays_when_a_folder_takes_the_place_of_the_file(notes: Notes) -> None:
    notes.write("concepts.yaml", CONCEPT)
    with ingested(notes) as memory:
        spoil(notes.root / "concepts.yaml", "folder")
        assert memory.ingest().skipped
        assert "precipitation" in {row.slug for row in memory.concepts.list().rows}


@pytest.mark.skipif(sys.platform == "win32" or getattr(os, "geteuid", int)() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_may_not_be_read_is_named(notes: Notes, name: str) -> None:
    notes.write(name, "").chmod(0)
    with open_memory(notes) as memory:
        (skipped,) = memory.ingest().skipped
        assert skipped.path == name and "permission denied" in skipped.reason.lower()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seconds", [0.0, 3600.0])
def test_a_broken_file_is_told_of_until_it_is_fine(notes: Notes, name: str, seconds: float) -> None:
    with open_memory(notes, ingest__fresh_seconds=seconds) as memory:
        notes.write(name, "concepts: [\n")
        for _ in range(2):
            for warning in warned(memory):
                assert warning and f"{name}: line " in warning and warning.count(name) == 1
        ok, detail, step = doctor(memory, name)
        assert not ok and f"{name}, line " in detail and step
        assert [skip.path for skip in memory.ingest().skipped] == [name]
        notes.write(name, "")
        memory.ingest()
        assert not any(warning and name in warning for warning in warned(memory))
        assert doctor(memory, name)[0]


def test_a_command_that_finds_the_file_mended_forgets_what_was_wrong(notes: Notes) -> None:
    with open_memory(notes, ingest__fresh_seconds=3600.0) as memory:
        notes.write("concepts.yaml", "concepts: [\n")
        assert "concepts.yaml" in (memory.concepts.list().warning or "")
        notes.write("concepts.yaml", "")
        assert memory.concepts.add("Zorblatt").warning is None


def test_a_secret_is_no_name_of_a_concept(notes: Notes) -> None:
    with open_memory(notes) as memory:
        book = memory.concepts
        for change in (
            lambda: book.add(TOKEN),
            lambda: book.add("Vault", aliases=[TOKEN]),
            lambda: book.add("Vault", parents=[TOKEN]),
            lambda: book.add("Vault", related=[TOKEN]),
            lambda: book.add("Vault", kind=TOKEN),
            lambda: book.add("Zorblatt", aliases=[TOKEN]),
            lambda: book.add("Zorblatt", parents=[TOKEN]),
            lambda: book.remove(TOKEN),
        ):
            with pytest.raises(RequestError, match="secret") as refused:
                change()
            assert TOKEN not in str(refused.value)
        assert not (notes.root / "concepts.yaml").exists()


def test_a_secret_in_a_file_written_by_hand_stays_out_of_the_index(notes: Notes) -> None:
    notes.write(
        "concepts.yaml",
        f"concepts:\n  {TOKEN}: {{kind: key}}\n  vault: {{name: Vault, aliases: [{TOKEN}, safe], kind: {TOKEN}}}\n",
    )
    with open_memory(notes) as memory:
        assert memory.ingest().skipped == ()
        (row,) = memory.concepts.list(curated=True).rows
        assert (row.slug, row.aliases, row.kind) == ("vault", ("safe",), None)
        assert "ghp_" not in repr(memory.store.ontology())


def test_placeholders_join_no_notes(notes: Notes) -> None:
    for day in (1, 2, 3):
        notes.write(f"memory/2026-02-0{day}.md", f"---\ntags: {TOKEN}\n---\n# Keys\n\n- use `{TOKEN}` for {day}\n")
    with ingested(notes) as memory:
        assert not [row.slug for row in memory.concepts.list().rows if "redacted" in row.slug or "github" in row.slug]


def test_removing_what_is_no_concept_names_the_closest(notes: Notes) -> None:
    with open_memory(notes) as memory:
        with pytest.raises(RequestError, match="no concept is called 'Zorblat'; did you mean Zorblatt"):
            memory.concepts.remove("Zorblat")
        with pytest.raises(RequestError, match="concepts list"):
            memory.concepts.remove("no such thing")
        assert not (notes.root / "concepts.yaml").exists()
        memory.concepts.remove("Zorblatt")
        text = (notes.root / "concepts.yaml").read_text()
        memory.concepts.remove("Zorblatt")  # is ignored already
        assert (notes.root / "concepts.yaml").read_text() == text
