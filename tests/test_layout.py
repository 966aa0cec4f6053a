"""The layout: what lies where, what may import what, and what things were called before."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "openclaw_memory"
MOVED = [
    line.split()
    for line in (PACKAGE / "moved.txt").read_text(encoding="ascii").splitlines()
    if not line.startswith("#")
]


def test_old_names_import_the_new_ones_and_warn() -> None:
    for old, new in MOVED:
        sys.modules.pop(f"openclaw_memory.{old}", None)
        with pytest.warns(DeprecationWarning, match=f"openclaw_memory.{new} now"):
            module = importlib.import_module(f"openclaw_memory.{old}")
        assert module is importlib.import_module(f"openclaw_memory.{new}")
        assert module.__name__ == f"openclaw_memory.{new}"


def test_what_was_imported_from_old_names_is_there() -> None:
    code = (
        "from openclaw_memory.types import SearchRequest\nfrom openclaw_memory.settings import Settings, load\n"
        "from openclaw_memory.store.protocol import Store\nfrom openclaw_memory.errors import RequestError\n"
        "from openclaw_memory import Memory, Settings as same\nassert same is Settings\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
