"""Ask git which lines of notes are younger than a day: nothing else knows it of a file without a date."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

from .child import find_programs, start
from .deadline import Deadline

#: Settings of a repository that would run programs, fetch, write, or change the form of a diff.
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_PLAIN = ("-c", "core.quotePath=false", "-c", "core.fsmonitor=false")
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--relative", "--src-prefix=a/", "--dst-prefix=b/",
         "--find-renames", "--unified=0", "--no-indent-heuristic")  # fmt: skip


def lines_after(folder: Path, day: date, seconds: float = 2.0) -> Mapping[str, frozenset[int]]:
    """Return by path in ``folder`` the numbers of lines that were committed after ``day``, from 1.

    A line that was moved is not among them, nor is one that git does not know.  Empty without a repository, without a
    commit from before, and when git takes more than ``seconds``.
    """
    deadline = Deadline.after(seconds)
    before = _ask(folder, deadline, "rev-list", "-1", f"--before={day}T23:59:59", "HEAD", "--").strip()
    if not before:
        return {}
    added: defaultdict[str, set[str]] = defaultdict(set)
    removed: set[str] = set()
    path = ""
    for line in _ask(folder, deadline, *_DIFF, before, "HEAD", "--", "*.md").split("\n"):
        if line.startswith("diff --git "):
            path = ""
        elif not path and line.startswith("+++ "):
            path = line[4:].removeprefix("b/").rstrip("\t")
        elif path and line[:1] == "+":
            added[path].add(line[1:].strip())
        elif path and line[:1] == "-":
            removed.add(line[1:].strip())
    out: dict[str, frozenset[int]] = {}
    for path, texts in added.items():
        with suppress(OSError):
            lines = (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")
            young = texts - removed - {""}
            out[path] = frozenset(at for at, text in enumerate(lines, 1) if text.strip() in young)
    return out


def _ask(folder: Path, deadline: Deadline, *arguments: str) -> str:
    """Return what git prints of ``folder``; nothing where it fails or takes too long."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _ENVIRONMENT
    for program in find_programs("git"):
        with suppress(OSError):
            process = start(
                [program, "-C", str(folder), *_PLAIN, *arguments], environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            with process:
                try:
                    printed, _ = process.communicate(timeout=deadline.left())
                except subprocess.TimeoutExpired:
                    process.kill()
                    return ""
            return printed.decode(errors="replace") if process.returncode == 0 else ""
    return ""
