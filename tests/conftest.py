"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import CountingEmbedder, Notes
from tiny_gguf import make_tiny_gguf


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the configuration, the data or the models of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("OPENCLAW_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real BERT of 32 dimensions that llama.cpp loads in milliseconds."""
    return make_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """An empty workspace."""
    return Notes(tmp_path / "workspace")


@pytest.fixture
def embedder() -> CountingEmbedder:
    """An embedder that costs nothing and remembers what it was given."""
    return CountingEmbedder()
