"""Record the output of every command over small workspaces as text, so that a change shows its effect on users.

    python -m benchmarks.golden --check
    python -m benchmarks.golden --write
    python -m benchmarks.golden --workspaces DIR --write --out DIR

Commands run with ``--json`` over the shipped example and over three workspaces: English notes of
:mod:`benchmarks.corpus`, notes in eight languages (``tests/golden/mixed``), and a year of short notes.  They search
without a model, so that no figure depends on the processor.  Answers are kept in ``tests/golden``; times, sizes, ids,
folders, versions and all but the first rows of a long list are left out.  With ``--workspaces`` the same commands run
over a copy of each workspace in a folder, with the model for its notes; the output is kept in ``--out``.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import click.testing

from benchmarks import corpus

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"

#: Fields that differ from run to run or from machine to machine.
_VARYING = re.compile(
    r"(?i)(^|_)(id|ids|chunk|ms|seconds|bytes|size|pid|version|versions|mtime|age|cpu|rss|python|platform|generation|"
    r"extensions?|binding|bindings|digest|token|bytesOnDisk|processes|memory)$|(Ms|Seconds|Bytes|Id|At|Version)$"
)
#: Questions of every workspace, beside those that it brings along.
_QUESTIONS = ("what was decided last week?", "which server has the backups?", "zxqv wvut")
#: Rows of a list that are kept.
_ROWS = 12
_MESSAGES = ("thanks, that's perfect!", "how many moons does Jupiter have?")


@dataclass
class Workspace:
    """Notes, the day on which they are asked, and what is asked of them."""

    name: str
    folder: Path
    now: str
    questions: Sequence[str]
    settings: Sequence[str] = ("embedding.model=none",)


@dataclass
class Transcript:
    """The answers of the commands to one workspace, each with what was typed."""

    workspace: Workspace
    home: Path
    lines: list[dict[str, Any]] = field(default_factory=list)

    def run(self, *arguments: str, shown: bool = True) -> Any:
        """Run a command with ``--json``, note its normalised answer, and return the answer as it was."""
        from openclaw_memory.cli.main import cli

        options = [option for setting in self.workspace.settings for option in ("--set", setting)]
        result = click.testing.CliRunner().invoke(
            cli,
            ["-w", str(self.workspace.folder), "--db", str(self.home / "index.duckdb"), "--json", *options, *arguments],
        )
        try:
            answer = json.loads(result.stdout) if result.stdout.strip() else None
        except json.JSONDecodeError:
            answer = result.stdout
        if shown:
            typed = [self._text(argument) for argument in arguments]
            self.lines.append({"command": typed, "exit": result.exit_code, "answer": self._plain(answer)})
        return answer

    def _plain(self, value: Any, key: str = "") -> Any:
        if key and _VARYING.search(key) and not isinstance(value, (dict, list)):
            return "…"
        if isinstance(value, dict):
            return {name: self._plain(item, name) for name, item in value.items()}
        if isinstance(value, list):
            rows = [self._plain(item, key) for item in value[:_ROWS]]
            return [*rows, f"… {len(value)} rows"] if len(value) > _ROWS else rows
        if isinstance(value, float):
            return round(value, 2)
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        for folder, shown in (
            (self.workspace.folder, "<workspace>"),
            (self.home, "<home>"),
            (self.home.parent.parent, "<root>"),
            (sys.executable, "<python>"),
            (platform.python_version(), "<version>"),
            (date.today(), "<today>"),
        ):
            text = text.replace(str(folder), shown)
        text = re.sub(r"\b[0-9a-f]{12,}\b", "<hash>", text)
        text = re.sub(r"\b\d+(\.\d+)? (ms|s|kB|MB|GB|B|seconds|minutes)\b", "<amount>", text)
        return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:?\d\d)?", "<time>", text)


def converse(workspace: Workspace, home: Path) -> list[dict[str, Any]]:
    """Run every command over a workspace, those that change something last; return the transcript."""
    transcript = Transcript(workspace, home)
    run, now = transcript.run, ("--now", workspace.now)
    questions = [*workspace.questions, *_QUESTIONS]
    run("ingest")
    run("ingest")
    for question in questions:
        run("search", question, *now)
    for options in (
        ("--mode", "keyword"), ("--mode", "graph"), ("--budget", "300"), ("--max-results", "2"), ("--explain",),
        ("--min-score", "0.5"), ("--grain", "working"), ("--kind", "daily"),
    ):  # fmt: skip
        run("search", questions[0], *now, *options)
    run("--set", "search.recency_weight=0.5", "search", questions[0], *now)
    best = run("search", questions[0], *now, shown=False)["results"]
    for question in questions[:3]:
        run("recall", question, *now)
        run("timeline", question, *now)
    run("timeline", *now, "--max-results", "5")
    for message in (*questions[:4], *_MESSAGES):
        run("context", message, *now)
    run("get", "MEMORY.md", "--lines", "8")
    run("get", "missing.md")
    if best:
        run("get", best[0]["path"], "--from", str(best[0]["startLine"]), "--lines", "3")
        run("feedback", best[-1]["id"], "useful")
    run("concepts", "list")
    run("facts", "query")
    run("facts", "add", "Orla", "lives in", "Cork")
    run("facts", "add", "Orla", "lives in", "Galway")
    run("facts", "query", "--subject", "Orla", "--history")
    run("concepts", "add", "Harbour", "--alias", "the quay", "--kind", "place")
    run("context", "what does Orla do?", *now)
    run("sql", "select count(*) as documents from documents")
    run("status")
    run("doctor")
    run("map", "--no-open")
    run("capture", "Orla decided that the harbour fee is 45 euros a month from June on.", *now)
    run("consolidate", "--dry-run", *now)
    run("consolidate", *now)
    for question in questions[:3]:
        run("search", question, *now)
        run("recall", question, *now)
    run("search", questions[0], "--include-archived", *now)
    run("timeline", "--grain", "weekly", *now, "--max-results", "3")
    run("forget", "--query", "harbour fee", "--dry-run")
    run("forget", "--query", "harbour fee", "--yes")
    run("search", "harbour fee", *now)
    run("search", "--mode", "nonsense", "x")
    run("export", str(home / "export"))
    return transcript.lines


def generated(root: Path) -> Iterator[Workspace]:
    """Write the example and the generated workspaces into ``root``; yield them."""
    from openclaw_memory.example import __path__ as example

    shutil.copytree(next(iter(example)), root / "example", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    yield Workspace(
        "example",
        root / "example",
        "2026-03-05",
        ["what broke in early March?", "why did we choose this embedding model?", "QX-7714", "who has a nut allergy?"],
    )
    corpus.write_workspace(root / "english", 250)
    yield Workspace("english", root / "english", "2022-01-10", [query.text for query in corpus.queries(5, within=250)])
    shutil.copytree(GOLDEN / "mixed", root / "mixed")
    questions = ["когда приедет курьер?", "备份服务器的端口是多少?", "会議はいつですか?", "Wann zieht Jonas um?"]
    yield Workspace("mixed", root / "mixed", "2026-05-20", [*questions, "¿qué precio tiene el alquiler?"])
    corpus.write_year(root / "year", notes=365, kilobytes=0.6)
    yield Workspace("year", root / "year", "2023-01-20", [query.text for query in corpus.queries(4, within=1000)])


def copied(source: Path, root: Path) -> Iterator[Workspace]:
    """Copy each workspace of a folder into ``root``; yield them as of the day after their newest dated note."""
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        shutil.copytree(folder, root / folder.name)
        days = sorted(re.findall(r"20\d\d-\d\d-\d\d", " ".join(path.name for path in folder.rglob("*.md"))))
        yield Workspace(folder.name, root / folder.name, days[-1] if days else "2026-01-01", (), ())


def _written(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False, indent=1) + "\n" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="compare with what is kept; exit 1 where it differs")
    action.add_argument("--write", action="store_true", help="keep what is answered now")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this workspace alone")
    parser.add_argument("--workspaces", type=Path, help="folder of other workspaces, with the model that they choose")
    parser.add_argument("--out", type=Path, default=GOLDEN, help="folder of what is kept; default tests/golden")
    options = parser.parse_args(arguments)
    models = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    warnings.simplefilter("ignore", ResourceWarning)
    differs = False
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-golden-") as name:
        root = Path(name).resolve()
        for variable in [key for key in os.environ if key.startswith(("OPENCLAW_", "XDG_"))]:
            del os.environ[variable]
        os.environ |= {"HOME": str(root / "home"), "XDG_CACHE_HOME": models, "TZ": "UTC", "COLUMNS": "100"}
        workspaces = copied(options.workspaces, root) if options.workspaces else generated(root)
        for workspace in workspaces:
            if options.only and workspace.name not in options.only:
                continue
            home = root / "home" / workspace.name
            home.mkdir(parents=True)
            text = _written(converse(workspace, home))
            file = options.out / f"{workspace.name}.json"
            before = file.read_text(encoding="utf-8") if file.is_file() else ""
            if options.write:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            changes = list(difflib.unified_diff(before.split("\n"), text.split("\n"), "kept", "now", lineterm="", n=3))
            differs = differs or bool(changes)
            print(f"golden: {workspace.name}: {'unchanged' if not changes else f'{len(changes)} lines of difference'}")
            if options.check:
                print("\n".join(changes[:200]), end="\n" if changes else "")
    return 1 if options.check and differs else 0


if __name__ == "__main__":
    sys.exit(main())
