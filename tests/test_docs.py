"""What a user can do is written down: every command and every setting."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import click
import pytest

from openclaw_memory.cli.main import COMMANDS, cli
from openclaw_memory.config.settings import Settings, walk
from openclaw_memory.serve.registry import TOOLS, listed_tools
from openclaw_memory.serve.tool import Tool

ROOT = Path(__file__).parent.parent
DOCS = "\n".join(
    path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
)


def commands() -> list[str]:
    names = []
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        names += [f"{name} {sub}" for sub in command.commands] if isinstance(command, click.Group) else [name]
    return names


@pytest.mark.parametrize("name", commands())
def test_every_command_is_documented(name: str) -> None:
    assert re.search(rf"openclaw-memory (?:-\S+ \S+ )*{name}\b|`{name}\b", DOCS), name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_documented_with_its_arguments(tool: Tool) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"^\| `{tool.name}` \|.*$", text, re.MULTILINE)
    listed = tool.name in listed_tools(for_host=False)  # a client is told of their arguments
    assert listed or [name for name in tool.arguments if f"`{name}`" not in row] == []


@pytest.mark.parametrize("key", [key for key, _, _ in walk(Settings())])
def test_every_setting_is_documented(key: str) -> None:
    assert re.search(rf"(?<![\w.]){re.escape(key)}(?![\w])", DOCS), key


def test_the_table_of_settings_has_the_defaults_of_the_code() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"^\| `(retention|[a-z_]+\.[a-z_]+)` \| (.+?) \| .+ \|$", text, re.MULTILINE))
    shown = {
        key: value if isinstance(value, str) else json.dumps(value, default=str) for key, value, _ in walk(Settings())
    }
    assert defaults == {key: f"`{value}`" if value else "(empty)" for key, value in shown.items()}


def test_the_page_of_the_library_is_what_the_code_makes_and_short() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "python.py"))["text"]()
    assert (ROOT / "docs" / "python.md").read_text(encoding="utf-8") == made, "run: python docs/python.py"
    assert len(made.split()) <= 900


def test_the_program_on_the_page_of_the_library_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    program, printed = re.findall(r"```(?:python)?\n(.*?)```", page, re.DOTALL)[:2]
    assert len(program.splitlines()) <= 20
    exec(compile(program, "docs/python.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


def test_every_test_that_the_docs_name_is_there() -> None:
    named = set(re.findall(r"\btest_[\w*]+\.py", DOCS))
    assert named and [name for name in sorted(named) if not list((ROOT / "tests").rglob(name))] == []


def test_the_readme_is_read_in_a_few_minutes() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    assert "pip install '.[prebuilt]' && .venv/bin/openclaw-memory demo" in text  # the main job
    assert "pip install '.[test]' && .venv/bin/python -m pytest" in text


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda page: page.name
)
def test_what_the_docs_link_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    own = [target.partition("#") for target in links if not target.startswith("http")]
    assert [path for path, _, _ in own if path and not (page.parent / path).exists()] == []
    for path, _, anchor in own:
        if anchor:
            titles = re.findall(
                r"^#+ (.+)$", (page.parent / path if path else page).read_text(encoding="utf-8"), re.MULTILINE
            )
            slugs = {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}
            assert anchor in slugs, f"{page.name} links to {path}#{anchor}"


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_no_paragraph_has_more_than_120_words(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    prose = [part for part in re.split(r"\n\n|\n(?:-|\d+\.) ", text) if not part.startswith("|")]
    assert [part[:60] for part in prose if len(part.split()) > 120] == []
