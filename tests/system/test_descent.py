"""A folder that turns into a link at any moment leads nothing outside of the workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openclaw_memory.config.settings import IngestSettings
from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.forget import generated_files
from openclaw_memory.forget.tombstones import Matcher
from openclaw_memory.importers import writer
from openclaw_memory.importers.exports import Entry, ImportedTurn
from openclaw_memory.ingest.file_lines import read_lines
from openclaw_memory.ingest.scan import read_note, scan
from openclaw_memory.model import Origin
from openclaw_memory.summarise.document import SummaryFiles
from openclaw_memory.system import atomic

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a path is used as it is there")

NOTE, DAY = "memory/captures/x.md", "memory/consolidated/daily/2026-01-05.md"
PLACES = ("memory", "memory/captures", "memory/consolidated/daily", "memory/imported")
#: What finds or changes a file by its name.
CALLS = ("open", "stat", "lstat", "scandir", "replace", "unlink", "mkdir", "listdir", "readlink")


def matcher() -> Matcher:
    found = Matcher(b"key")
    found.add(found.tombstone(["zebra"], "alone", ""))
    return found


def read_all(root: Path) -> str:
    return "".join(read_note(file, 1000)[0] for file in scan(root, IngestSettings()).files)


USES: dict[str, Callable[[Path], Any]] = {
    "get": lambda root: read_lines(root, IngestSettings(), NOTE),
    "scan": read_all,
    "read": lambda root: atomic.read_bytes(root / NOTE, root),
    "append": lambda root: atomic.append_text(root / NOTE, "- more\n", root),
    "replace": lambda root: atomic.write_text(root / NOTE, "- other\n", root),
    "delete": lambda root: atomic.delete(root / NOTE, root),
    "summary": lambda root: SummaryFiles(root).write(DAY, "- a day\n"),
    "forget": lambda root: generated_files.edit_notes(root, matcher(), []),
    "import": lambda root: writer.write_entries(
        root, "jsonl", [Entry("1", (ImportedTurn("tea"),))], Origin.AGENT, 999, False
    ),
    "undo": lambda root: writer.undo(root, "jsonl", False),
}
#: The folder of what is not about captures.
OWN = {"summary": PLACES[2], "import": PLACES[3], "undo": PLACES[3]}


@pytest.mark.parametrize(
    ("use", "place"), [(use, place) for use in USES for place in ("memory", OWN.get(use, PLACES[1]))]
)
def test_no_folder_that_moves_leads_outside(
    use: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = 1
    while attempted(use, place, moment, tmp_path / str(moment), monkeypatch) >= moment:
        moment += 1 if moment < 12 else 4


def attempted(use: str, place: str, moment: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many calls a use takes; at one of them a link that leads outside takes the place of a folder, and goes."""
    root, outside, link, calls = folder / "ws", folder / "outside", folder / "link", 0
    for top in (root / "memory", outside):
        for each in PLACES[1:]:
            (top / each.removeprefix("memory/")).mkdir(parents=True)
        for path in (NOTE, DAY):
            (top / path.removeprefix("memory/")).write_text(f"zebra\n\n{top}\n")
    before = {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()}
    link.symlink_to(outside / place.removeprefix("memory").strip("/"))
    real = {name: getattr(os, name) for name in CALLS}

    def call(name: str, *given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (moment, moment + 2):
            os.rename(root / place, folder / "spare")
            os.rename(link, root / place)
            os.rename(folder / "spare", link)
        return real[name](*given, **more)

    for name in CALLS:
        monkeypatch.setattr(os, name, partial(call, name))
    answer = ""
    with suppress(OpenClawMemoryError, OSError):
        answer = str(USES[use](root))
    monkeypatch.undo()
    assert str(outside) not in answer, moment
    assert {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()} == before, moment
    return calls
