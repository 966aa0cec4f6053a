"""The Python bindings of llama.cpp: what a session of one is, which are installed, and which goes first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is opened.

    ``batch_tokens`` and ``max_tokens`` count the model's own tokens; ``context`` is the longest text that the model
    was trained for, 0 when that is not known.
    """

    path: str
    threads: int = 1
    gpu: bool = True
    repack: bool = False
    batch_tokens: int = 192
    max_tokens: int = 256
    context: int = 0


class EngineSession(Protocol):
    """A loaded model, for one thread at a time.

    It runs in the worker, which does without numpy: that would be a fifth of the worker's memory.
    """

    @property
    def dimensions(self) -> int:
        """Length *d* of a vector."""

    @property
    def gpu(self) -> bool:
        """Whether this build can compute on a GPU."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The pooled vector of each text: *d* values of float32, not normalised."""

    def set_threads(self, count: int) -> None:
        """Use ``count`` CPU threads from the next batch on."""

    def free(self) -> None:
        """Give the memory back to the system; calling twice is harmless."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding: its name on PyPI, the package that it installs, and our module with its session."""

    name: str
    package: str
    module: str

    @property
    def version(self) -> str:
        """Its version, or ``unknown`` for one that was not installed by a package manager."""
        from importlib import metadata

        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return "unknown"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def installed(self) -> bool:
        """Whether its package is there; nothing of it is imported."""
        return find_spec(self.package) is not None

    def open(self, options: ModelOptions) -> EngineSession:
        """Load a model; raises :class:`~openclaw_memory.errors.ModelError` when that fails.

        Native code runs in this process from here on.
        """
        opened: EngineSession = import_module(self.module).EngineSession(options)
        return opened


#: The compiled one goes first: a person who built it did so for this machine, often for its GPU.
BINDINGS = (
    Binding("llama-cpp-python", "llama_cpp", "openclaw_memory.embed.llama_session"),
    Binding("xllamacpp", "xllamacpp", "openclaw_memory.embed.xllamacpp_session"),
)
COMPILED, PREBUILT = BINDINGS


def candidates(setting: str = "auto") -> tuple[Binding, ...]:
    """The installed bindings in the order in which they are tried; ``setting`` is one's name or ``auto``."""
    return tuple(binding for binding in BINDINGS if setting in ("auto", binding.name) and binding.installed)


def missing(setting: str = "auto") -> str:
    """What to say when there is none: the command that brings one into this Python."""
    name = setting if setting != "auto" else f"{PREBUILT.name} (or {COMPILED.name}, where that has no wheel)"
    return f"no binding of llama.cpp is installed, so there are no vectors; run: {sys.executable} -m pip install {name}"
