"""The lists by which tests are chosen name tests that exist."""

from __future__ import annotations

import ast

import pytest
from markers import HERE, KEPT, SLOW


@pytest.mark.parametrize("lines", [SLOW.read_text(encoding="utf-8").split(), KEPT], ids=["slow", "kept"])
def test_every_name_is_that_of_a_test(lines: list[str]) -> None:
    known = {
        f"{file.stem}::{node.name}"
        for file in HERE.rglob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {line.removesuffix("[1:]") for line in lines} - known == set()
