"""Locks of the files that are ours: whoever writes the same file has the same lock, whatever its data folder is."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested
from indexing import python

from openclaw_memory import Memory
from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.config.settings import data_dir
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.knowledge import concepts_file
from openclaw_memory.system import atomic

#: What a child process does first: it has a data folder and a home of its own.
_ELSEWHERE = """
import os, sys
from pathlib import Path
os.environ["XDG_DATA_HOME"] = os.environ["HOME"] = sys.argv[1]
from openclaw_memory.system import atomic
from openclaw_memory.config.settings import data_dir
assert data_dir().is_relative_to(sys.argv[1])
root = Path(sys.argv[2])
"""


def in_data_folder() -> set[str]:
    return {path.name for path in data_dir().glob("locks/*")}


@pytest.mark.skipif(sys.platform != "linux", reason="only there XDG_DATA_HOME moves the data folder")
@pytest.mark.parametrize("name", ["facts.yaml", "memory/captures", "beside"])
def test_processes_with_other_data_folders_have_the_same_lock(tmp_path: Path, name: str) -> None:
    root, moved = tmp_path / "host", tmp_path / "container"
    root.mkdir()
    held = "atomic.locked(root / {!r}, 0.05, {})".format(name, None if name == "beside" else "root")
    holder = python(
        f"{_ELSEWHERE}with {held}:\n    print('held', flush=True)\n    sys.stdin.read()", str(tmp_path / "a"), str(root)
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        root.rename(moved)  # as a container sees it: the same folder by another path
        other = f"""{_ELSEWHERE}
try:
    with {held}:
        print("taken")
except atomic.WorkspaceError as problem:
    print(problem)
"""
        assert "another process" in python(other, str(tmp_path / "b"), str(moved)).communicate(timeout=60)[0]
        holder.communicate(timeout=60)
        assert python(other, str(tmp_path / "b"), str(moved)).communicate(timeout=60)[0] == "taken\n"
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only there XDG_DATA_HOME moves the data folder")
def test_processes_with_other_data_folders_lose_nothing_of_each_other(tmp_path: Path) -> None:
    code = f"""{_ELSEWHERE}
from openclaw_memory.knowledge import concepts_file
for number in range(15):
    concepts_file.add(root / "concepts.yaml", f"{{Path(sys.argv[1]).name}} {{number}}")
"""
    children = [python(code, str(tmp_path / name), str(tmp_path)) for name in ("one", "two")]
    assert [child.communicate(timeout=120)[1] for child in children] == ["", ""]
    assert len(concepts_file.read(tmp_path / "concepts.yaml").concepts) == 30


def everything(memory: Memory) -> None:
    """Every way of writing a file of the workspace."""
    memory.facts.add("Mira", "lives in", "Utrecht")
    memory.concepts.add("Zebra")
    memory.capture(Turn([Message("user", "The zebra vault opens with 7714.")]), everything=True)
    memory.consolidate(now=date(2026, 2, 18) + timedelta(days=30))
    memory.forget(query="bakery")


def test_who_only_reads_leaves_nothing_in_the_workspace(notes: Notes) -> None:
    notes.write("memory/2026-02-16.md", "- The vault bakery opens at 7.\n- Another line about the river bridge.\n")
    before = set(notes.root.rglob("*"))
    with ingested(notes) as memory:
        memory.search("vault bakery")
        memory.status()
        memory.consolidate(now=date(2026, 5, 1), dry_run=True)
        memory.forget(query="bakery", dry_run=True)
        assert set(notes.root.rglob("*")) == before
        everything(memory)
        assert sorted(path.name for path in (notes.root / atomic.OWN_FOLDER / "locks").iterdir()) == [
            ".forgetting.lock", ".gitignore", "concepts.yaml.lock", "facts.yaml.lock", "memory%2Fcaptures.lock",
            "memory%2Fconsolidated.lock",
        ]  # fmt: skip
        assert not in_data_folder()
        files = memory.ingest().files
        notes.write(f"{atomic.OWN_FOLDER}/memory/note.md", "A note that nobody may read.\n")
        assert memory.ingest().files == files


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_sees_no_locks(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with atomic.locked(tmp_path / "facts.yaml", root=tmp_path):
        (tmp_path / atomic.OWN_FOLDER / "id").write_text("one\n")
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
    ).stdout
    assert listed == f"?? {atomic.OWN_FOLDER}/id\n"


def test_who_writes_in_the_workspace_can_lock_there(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    if as_root := hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown(tmp_path, 12345, 12345)
    with atomic.locked(tmp_path / "facts.yaml", root=tmp_path):
        made = [tmp_path / atomic.OWN_FOLDER, *sorted((tmp_path / atomic.OWN_FOLDER).rglob("*"))]
    assert len(made) == 4
    for path in made:
        own = path.stat()
        assert stat.S_IMODE(own.st_mode) == (0o770 if path.is_dir() else 0o660), path
        assert not as_root or (own.st_uid, own.st_gid) == (12345, 12345), path


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EEXIST])
def test_where_nothing_may_be_written_the_data_folder_has_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    make = os.mkdir

    def refused(path: Any, *more: Any) -> None:
        if Path(path).is_relative_to(tmp_path / "workspace"):
            raise OSError(code, os.strerror(code), str(path))
        make(path, *more)

    root = tmp_path / "workspace"
    root.mkdir()
    monkeypatch.setattr(os, "mkdir", refused)
    with (
        atomic.locked(root / "facts.yaml", root=root),
        pytest.raises(WorkspaceError, match="another process"),
        atomic.locked(root / "facts.yaml", 0, root),
    ):
        pass
    assert len(in_data_folder()) == 1 and not list(root.iterdir())


def test_another_failure_is_said_rather_than_locked_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Any, *more: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(os, "mkdir", full)
    lock = atomic.locked(tmp_path / "facts.yaml", root=tmp_path)
    with pytest.raises(WorkspaceError, match="no lock can be kept there"), lock:
        pass
    assert not in_data_folder()


def test_no_link_leads_a_lock_out_of_the_workspace(tmp_path: Path) -> None:
    root, outside = tmp_path / "workspace", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / atomic.OWN_FOLDER).symlink_to(outside)
    with pytest.raises(WorkspaceError, match="reached by a link"), atomic.locked(root / "facts.yaml", root=root):
        pass
    assert not list(outside.iterdir())
    (root / atomic.OWN_FOLDER).unlink()
    (root / atomic.OWN_FOLDER / "locks").mkdir(parents=True)
    (outside / "kept").write_text("as it was")
    (root / atomic.OWN_FOLDER / "locks/facts.yaml.lock").symlink_to(outside / "kept")
    with (
        pytest.raises(WorkspaceError, match="leads out of its folder"),
        atomic.locked(root / "facts.yaml", root=root),
    ):
        pass
    assert (outside / "kept").read_text() == "as it was"
