"""What is known of a build of llama.cpp with a model on this CPU: that it computes, or which signal ended it.

It is remembered across processes, so that a build that crashes is not started again by every command.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from ..system import atomic
from .bindings import Binding, ModelOptions, cpu

_FILE = ".proofs.json"


class Proofs:
    """The proofs in the folder ``models``; what cannot be written there is proved again."""

    def __init__(self, models: Path) -> None:
        self._file = models / _FILE

    @staticmethod
    def key(binding: Binding, model: str, options: ModelOptions) -> str:
        """What a proof holds for: the build, the CPU, the model's file and how it is loaded."""
        try:
            size = Path(options.path).stat().st_size
        except OSError:
            size = -1
        parts = (binding.fingerprint(), cpu(), model, size, options.gpu, options.repack)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]

    def holds(self, key: str) -> bool:
        """Whether it is proved that this computes."""
        return self._read().get(key) == ""

    def failure(self, key: str) -> str | None:
        """How it failed, in words; ``None`` when it did not."""
        return self._read().get(key) or None

    def put(self, key: str, failure: str = "") -> None:
        """Remember a proof, or a failure."""
        with suppress(OSError):
            atomic.swap(self._file, json.dumps({**self._read(), key: failure}, indent=1).encode(), 0o600)

    def clear(self) -> None:
        """Let the next use prove everything again."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {key: str(value) for key, value in known.items()} if isinstance(known, dict) else {}
