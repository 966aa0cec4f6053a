"""The example workspace: what the demo promises is in it, and copying never overwrites a note."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openclaw_memory import example
from openclaw_memory.errors import WorkspaceError


def test_it_has_eight_files_and_more_than_forty_sections(tmp_path: Path) -> None:
    paths = example.copy_to(tmp_path / "new" / "folder")
    assert [str(p.relative_to(tmp_path / "new" / "folder")) for p in paths] == [
        "MEMORY.md",
        "USER.md",
        "memory/2026-02-16.md",
        "memory/2026-02-19.md",
        "memory/2026-02-24.md",
        "memory/2026-02-27.md",
        "memory/2026-03-03.md",
        "memory/hardware.md",
    ]
    text = "\n".join(p.read_text(encoding="utf-8") for p in paths)
    assert 42 <= len(re.findall(r"^## ", text, re.MULTILINE)) <= 48
    assert text.count("JR's code phrase is blue bunny") == text.lower().count("blue bunny") == 1
    assert 1 <= text.count("RTX 5070 Ti") <= 4
    for word in ("teeth", "appointment", "daughter"):  # the query that only vectors can answer
        assert word not in text.lower()


def test_copying_twice_changes_nothing(tmp_path: Path) -> None:
    first = example.copy_to(tmp_path)
    times = [p.stat().st_mtime_ns for p in first]
    assert example.copy_to(tmp_path) == first
    assert [p.stat().st_mtime_ns for p in first] == times


def test_a_file_that_differs_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    mine = tmp_path / "USER.md"
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(WorkspaceError, match=re.escape(str(mine))):
        example.copy_to(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]
