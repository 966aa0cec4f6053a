"""qmd's BM25 search by its command line: a process a question, as an agent that has a shell calls it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

from .peer import Absent, Peer, Span

_LINES = re.compile(r"@@ -(\d+),(\d+) @@")


class Qmd(Peer):
    """``qmd search``; its semantic modes need models of their own and are not asked."""

    name = "qmd (BM25)"
    install = "npm install -g bun @tobilu/qmd"
    remark = "words only; a process a question"

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        missing = [name for name in ("qmd", "bun") if shutil.which(name) is None]
        if missing:
            raise Absent(f"no {' and no '.join(missing)} on PATH")

    def version(self) -> str:
        """Of the npm package."""
        folder = Path(str(shutil.which("qmd"))).resolve().parent
        return str(json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"])

    def index(self, workspace: Path, folder: Path) -> None:
        """One collection, in a home folder of its own."""
        self._env = os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._run("collection", "add", str(workspace), "--name", "notes")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(["qmd", *arguments], env=self._env, check=True, capture_output=True, text=True)
        return done.stdout

    def search(self, question: str, asked: date, limit: int) -> list[Span]:
        """The lines of its snippets."""
        said = self._run("search", " ".join(re.findall(r"\w+", question)), "--json", "-n", str(limit))
        out = []
        for row in json.loads(said) if said.lstrip().startswith("[") else ():
            lines = _LINES.search(row["snippet"])
            first, count = (int(lines[1]), int(lines[2])) if lines else (1, 1)
            out.append(Span(row["file"].removeprefix("qmd://notes/"), first, first + count - 1))
        return out


PEER = Qmd
