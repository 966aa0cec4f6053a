"""The lists by which tests are chosen name tests that exist."""

from __future__ import annotations

import importlib

import pytest
from markers import KEPT, SLOW


@pytest.mark.parametrize("lines", [SLOW.read_text(encoding="utf-8").split(), KEPT], ids=["slow", "kept"])
def test_every_name_is_that_of_a_test(lines: list[str]) -> None:
    named = [line.removesuffix("[1:]").split("::") for line in lines]
    assert [name for name in named if not hasattr(importlib.import_module(name[0]), name[1])] == []
