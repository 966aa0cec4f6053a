"""Homes of OpenClaw, and what it resolves in each: the e2e tests hold the same table against the real one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

USUAL = ".openclaw/openclaw.json"


@dataclass(frozen=True)
class Home:
    """Files below HOME and variables; ``~`` stands for HOME in variables and in what is expected."""

    files: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    config: str = f"~/{USUAL}"
    workspaces: Mapping[str, str] = field(default_factory=lambda: {"main": "~/.openclaw/workspace"})

    def make(self, home: Path) -> dict[str, str]:
        """Write the files; the variables."""
        for name, text in self.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        return {name: value.replace("~~", str(home)) for name, value in self.environ.items()} | {"HOME": str(home)}


def configured(text: str, **workspaces: str) -> Home:
    """A configuration in the usual place."""
    return Home({USUAL: text}, workspaces=workspaces)


#: By name, from ``tests/data``: each has what differs from a home in which nothing is set.
HOMES = {
    name: Home(**fields)
    for name, fields in json.loads((Path(__file__).parent / "data" / "openclaw_homes.json").read_text("utf-8")).items()
}
