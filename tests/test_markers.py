"""The list by which slow tests are chosen names tests that exist."""

from __future__ import annotations

import ast

from markers import HERE, SLOW


def test_every_name_is_that_of_a_test() -> None:
    names = {
        f"{file.stem}::{node.name}"
        for file in HERE.rglob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(SLOW.read_text(encoding="utf-8").split()) - names == set()
