"""What is known of a build of llama.cpp with a model on this CPU: that it computes, or how it failed.

A failure is remembered across processes, so that a build that crashes is not started again by every command.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from ..system import atomic
from .bindings import Binding, ModelOptions, cpu

_FILE = ".proofs.json"

#: Seconds for which a failure counts that may have passed by then, such as too little memory.
PASSING = 600.0

#: Failures of older builds and models leave the file after this many newer ones.
_MOST = 64

#: What could not be written, as in a read-only cache, by file.
_UNWRITTEN: dict[Path, dict[str, Any]] = {}


class Proofs:
    """The proofs in the folder ``models``; what cannot be written there holds for this process."""

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
        return self._read().get(key, {}).get("failure", "") is None

    def failure(self, key: str) -> str | None:
        """How it failed, in words; ``None`` when it did not, or when it is time to try again."""
        known = self._read().get(key, {})
        until = known.get("until")
        return known.get("failure") if until is None or time.time() < until else None

    def put(self, key: str, failure: str | None, seconds: float | None = None) -> None:
        """Remember a proof, or a failure: for good, or for ``seconds``."""
        until = None if seconds is None else time.time() + seconds
        known = {each: value for each, value in self._read().items() if each != key}
        kept = dict(list(known.items())[1 - _MOST :])
        self._write({**kept, key: {"failure": failure, "until": until}})

    def forget(self, key: str) -> None:
        """Let the next use prove it again."""
        known = self._read()
        if known.pop(key, None) is not None:
            self._write(known)

    def _read(self) -> dict[str, Any]:
        if self._file in _UNWRITTEN:
            return dict(_UNWRITTEN[self._file])
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) and all(isinstance(v, dict) for v in known.values()) else {}

    def _write(self, known: dict[str, Any]) -> None:
        try:
            atomic.swap(self._file, json.dumps(known, indent=1).encode(), 0o600)
        except OSError:
            _UNWRITTEN[self._file] = known
