"""The options of ``setup``, and what it says: checks, plans, steps, or one JSON document."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .context import CliContext, say

if TYPE_CHECKING:
    from ..model import Check


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``setup``; ``named`` says whether the host was given."""

    host: str
    named: bool
    yes: bool = False
    dry_run: bool = False
    uninstall: bool = False
    executable: str | None = None
    profile: str | None = None
    installed: bool = False
    offline: bool = False
    query: str | None = None
    project: Path | None = None


@dataclass
class Teller:
    """Says what is checked, planned and done; with ``--json`` it is one document at the end."""

    cli: CliContext
    options: Options
    record: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.record = {"host": self.options.host, "steps": [], "changes": [], "applied": False, "next": None}

    def step(self, name: str, detail: str, *, ok: bool = True, fix: str | None = None) -> None:
        """One line of what was found or done, and how to mend it when it is wrong."""
        from ..model import Check

        self.check(Check(name, ok, detail, fix))

    def check(self, check: Check) -> None:
        """The same as a line of ``doctor``."""
        self.record["steps"].append(check)
        if not self.cli.json:
            self.cli.show_check(check)

    def plan(self, where: str, lines: list[str]) -> None:
        """The change that is about to be made, as a diff."""
        self.record["changes"].append({"where": where, "lines": lines})
        if self.cli.json:
            return
        from rich.text import Text

        self.say(f"\n{where}")
        colours = {"+": "green", "-": "red", "~": "yellow"}
        for line in lines:
            shown = Text("  ") + Text(line, style=colours.get(line[:1], ""))
            self.cli.out.print(shown, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line for people."""
        if not self.cli.json:
            say(text)

    def agreed(self, question: str) -> bool:
        """Whether to go on: asked on a terminal, else only with ``--yes``; exits 2 where nobody can answer."""
        if self.options.dry_run:
            self.say("\nnothing was changed (--dry-run)")
            return False
        if self.options.yes:
            return True
        if self.cli.json or not sys.stdin.isatty():
            self.record["next"] = "run the same again with --yes"
            self.end()
            say("nothing was changed: nobody is here to agree; run the same again with --yes", err=True)
            raise SystemExit(2)
        self.say("")
        if click.confirm(question):
            return True
        self.say("nothing was changed")
        raise SystemExit(1)

    def then(self, text: str) -> None:
        """The next step."""
        self.record["next"] = text
        self.say(f"next: {text}")

    def end(self) -> None:
        """Print the JSON document."""
        if self.cli.json:
            self.cli.emit(self.record)
