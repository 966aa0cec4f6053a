"""Long output on a terminal, which is a real one here: shown by the pager that the person chose."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import Notes

pty = pytest.importorskip("pty")


def on_a_terminal(notes: Notes, pager: Path, *arguments: str) -> str:
    """What a terminal of 24 lines is given, of which ``pager`` gets what it is asked to show."""
    pager.write_text(f"#!{sys.executable}\nimport sys\nprint('PAGED', len(sys.stdin.read().splitlines()))\n")
    pager.chmod(0o755)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PAGER": str(pager), "LINES": "24", "COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-m", "openclaw_memory", "--set", "embedding.model=none", "-w", str(notes.root)]
    with subprocess.Popen([*command, *arguments], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # nobody has the other end any more
                break
            if not more:
                break
            shown += more
    os.close(ours)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def test_only_what_does_not_fit_is_paged(notes: Notes, tmp_path: Path) -> None:
    notes.write("memory/long.md", "".join(f"- lamp number {n}\n" for n in range(60)))
    notes.write("memory/short.md", "- a stove\n")
    pager = tmp_path / "pager"
    assert on_a_terminal(notes, pager, "get", "memory/long.md").startswith("PAGED 6")
    assert "stove" in on_a_terminal(notes, pager, "get", "memory/short.md")
    assert on_a_terminal(notes, pager, "config", "show").startswith("PAGED")
    assert on_a_terminal(notes, pager, "get", "memory/long.md", "--json").startswith("{")
    # A search of what is not indexed yet answers within its time, with what it has.
    on_a_terminal(notes, pager, "ingest")
    found = on_a_terminal(notes, pager, "search", "stove", "-n", "1")
    assert "\x1b[1;35mstove\x1b[0m" in found and "PAGED" not in found
