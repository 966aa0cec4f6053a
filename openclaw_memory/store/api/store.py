"""The whole surface of a store."""

from __future__ import annotations

from typing import Protocol

from .admin import Admin
from .catalog import Catalog
from .facts import Facts
from .graph import Graph
from .texts import Texts


class Store(Catalog, Texts, Graph, Facts, Admin, Protocol):
    """The memory's index, as ingest and search use it.

    Every method may raise :class:`~openclaw_memory.errors.StoreError`; each write method is one
    transaction.  ``session`` keeps the underlying resource for several calls.
    """
