"""Which builds of llama.cpp a signal has ended on this CPU, with which model.

It is remembered across processes, so that a build that crashes is not started again by every command.  Another version
is tried at once, another build of the same version when ``doctor`` or ``setup`` runs.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from ..system import atomic
from .bindings import Binding, ModelOptions


class Proofs:
    """The proofs that failed, in the folder ``models``; where nothing can be written, they fail again."""

    def __init__(self, models: Path) -> None:
        self._file = models / ".proofs.json"

    def failure(self, binding: Binding, model: str, options: ModelOptions) -> str | None:
        """How this build failed with a model, in words; ``None`` when it did not."""
        known = self._read()
        return known.get(_key(binding, model, options)) if known else None

    def put(self, binding: Binding, model: str, options: ModelOptions, failure: str) -> None:
        """Remember a failure."""
        known = {**self._read(), _key(binding, model, options): failure}
        with suppress(OSError):
            atomic.swap(self._file, json.dumps(known, indent=1).encode(), 0o600)

    def clear(self) -> None:
        """Let the next use try everything again."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def _key(binding: Binding, model: str, options: ModelOptions) -> str:
    return f"{binding}, {model}, gpu {options.gpu}, repack {options.repack}"
