"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_gguf import make_tiny_gguf


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real BERT of 32 dimensions that llama.cpp loads in milliseconds."""
    return make_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")
