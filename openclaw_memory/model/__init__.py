"""The frozen dataclasses that cross module borders.

Attributes are snake_case here; :mod:`openclaw_memory.system.serialize` is the one place that turns them
into the JSON of the contract.  A *token* is estimated by script (``size``).  Lines are 1-based and
inclusive.  Paths are relative to the workspace, with ``/``; extra roots read ``@name/…``.
"""

# ruff: noqa: F403 - the public names of these modules are those of the package

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .citation import *
from .notes import *
from .search import *
from .size import *
from .words import *

if TYPE_CHECKING:
    from .reports import *
else:

    def __getattr__(name: str) -> Any:
        """Import reports when one is asked for: to make their types takes longer than most commands."""
        from importlib import import_module

        return getattr(import_module(".reports", __name__), name)
