"""The layout: what lies where, and what may import what."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "openclaw_memory"
#: Lines of a module, and entries of the package's folder.
LONGEST, ROOMS = (
    700,
    {"__init__", "__main__", "arrays", "errors", "hookspecs", "memory", "patterns", "records", "version"},
)


def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    edges = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        edges[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return edges


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Who imports whom: at the top, inside of functions and for types only alike."""
    files, edges = modules(), set()
    for name, file in files.items():
        package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                target = ".".join([*base, *([node.module] if node.module else [])])
                names = (
                    f"{target}.{alias.name}" if f"{target}.{alias.name}" in files else target for alias in node.names
                )
            elif isinstance(node, ast.Import):
                names = (alias.name for alias in node.names)
            else:
                continue
            edges |= {(name, alias) for alias in names if alias.split(".")[0] == PACKAGE.name}
    return frozenset(edges)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def rows() -> list[list[str]]:
    """The rows of the picture in the documentation, from above."""
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text[text.index("```mermaid") :].split("```")[1]
    return [row.split(" · ") for row in re.findall(r'\["([^"]+)"\]', picture)]


def test_an_import_points_down_the_picture_of_the_documentation() -> None:
    height = {name: -at for at, row in enumerate(rows()) for name in row}
    skins = {"__init__", "__main__"}  # they say where things are, and start the command line
    assert {room(name) for name in modules()} - skins == set(height)
    wrong = {
        (importer, imported)
        for importer, imported in imports()
        if room(importer) not in skins and room(importer) != room(imported)
        and height.get(room(imported), 1) >= height[room(importer)]
    }  # fmt: skip
    assert wrong == set()


def test_the_tests_of_a_room_are_in_its_folder() -> None:
    folders = {file.parent.name for file in (PACKAGE.parent / "tests").rglob("test_*.py")} - {"tests", "e2e"}
    assert folders <= {name for row in rows() for name in row}


def test_no_modules_import_each_other() -> None:
    graph: defaultdict[str, set[str]] = defaultdict(set)
    for importer, imported in imports():
        if importer != imported and importer != PACKAGE.name:
            graph[importer].add(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' → '.join(error.args[1])}")


def test_no_module_is_long_and_none_lies_about() -> None:
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in modules().items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
    assert {file.stem for file in PACKAGE.glob("*.py")} == ROOMS
