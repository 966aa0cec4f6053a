"""Old names of modules: they import the new ones with a warning, for one version."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


@cache
def _names() -> dict[str, str]:
    lines = Path(__file__).with_name("moved.txt").read_text(encoding="ascii").splitlines()
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {f"{__package__}.{old}": f"{__package__}.{new}" for old, new in pairs}


class Moved:
    """Finds modules by their old names; no subclass of what importlib offers, as importing that costs 10 ms."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module that has moved; ``None`` for any other."""
        if not fullname.startswith(f"{__package__}.") or fullname not in _names():
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module, for as long as the new one is imported."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in the place of the old one."""
        old = module.__name__
        warnings.warn(f"{old} is {_names()[old]} now; the old name goes with the next version", DeprecationWarning, 2)
        sys.modules[old] = import_module(_names()[old])


def know_old_names() -> None:
    """Have old names imported as new ones."""
    # First, as a module of a package that has moved would be found a second time under its old name.
    sys.meta_path.insert(0, Moved())
