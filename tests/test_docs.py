"""What a user can do is written down: every command and every setting."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from openclaw_memory.cli.main import COMMANDS, cli
from openclaw_memory.config.settings import Settings, walk
from openclaw_memory.serve.registry import TOOLS
from openclaw_memory.serve.tool import Tool

ROOT = Path(__file__).parent.parent
DOCS = "\n".join(
    path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
)


def commands() -> list[str]:
    found = []
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        found += [f"{name} {sub}" for sub in command.commands] if isinstance(command, click.Group) else [name]
    return found


@pytest.mark.parametrize("name", commands())
def test_every_command_is_documented(name: str) -> None:
    assert re.search(rf"openclaw-memory (?:-\S+ \S+ )*{name}\b|`{name}\b", DOCS), name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_documented_with_its_arguments(tool: Tool) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| `{tool.name}` \|.*$", text, re.MULTILINE)
    filters = re.search(r"^The \*filters\* are (.*?\n.*?)\n", text, re.MULTILINE)
    assert filters is not None
    said = row + filters[0] * ("*filters*" in row)
    assert [name for name in tool.arguments if f"`{name}`" not in said] == []


@pytest.mark.parametrize("key", [key for key, _, _ in walk(Settings())])
def test_every_setting_is_documented(key: str) -> None:
    assert re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", DOCS), key


def test_every_test_that_the_docs_name_is_there() -> None:
    named = set(re.findall(r"\btest_[\w*]+\.py", DOCS))
    assert named and [name for name in sorted(named) if not list((ROOT / "tests").rglob(name))] == []
