"""The public names of the store: :class:`Store`, plain dataclasses and numpy arrays; nothing of DuckDB or a file."""

# ruff: noqa: F403 - the public names of rows are those of the store

from __future__ import annotations

from .rows import *
from .tables.keywords import KeywordIndex as KeywordIndex
from .tables.store import Store as Store
from .tables.vectors import VectorIndex as VectorIndex
