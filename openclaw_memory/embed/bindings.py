"""The Python bindings of llama.cpp: what a session of one is, which are installed, and which goes first."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol

#: How the tokens of a text become one vector; ``rank`` is that of a cross-encoder, which gives a pair one number.
Pooling = Literal["mean", "cls", "last", "rank"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is opened.

    ``batch_tokens`` and ``max_tokens`` count the model's own tokens; ``context`` is the longest text that the model
    was trained for, 0 when that is not known; ``pooling`` overrides what the file says.
    """

    path: str
    threads: int = 1
    gpu: bool = True
    repack: bool = False
    batch_tokens: int = 192
    max_tokens: int = 256
    context: int = 0
    pooling: Pooling | None = None


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

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, to a model that was opened with ``rank`` pooling."""

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

    def fingerprint(self) -> str:
        """What changes when another build of it is installed: version, and size and time of its libraries."""
        import hashlib  # with it OpenSSL: 4 MB that the worker does without

        spec = find_spec(self.package)
        folder = Path(spec.origin).parent if spec is not None and spec.origin else None
        files = sorted(folder.rglob("*")) if folder is not None else []
        built = [file for file in files if file.suffix in (".so", ".dylib", ".dll", ".pyd", ".py")]
        stamps = [f"{file.name}:{(stat := file.stat()).st_size}:{stat.st_mtime_ns}" for file in built]
        return hashlib.sha256(" ".join([str(self), *stamps]).encode()).hexdigest()[:16]


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
    """What to say when there is none: the one command that brings one into this Python."""
    name = setting if setting != "auto" else (PREBUILT if has_wheel() else COMPILED).name
    return f"no binding of llama.cpp is installed, so there are no vectors; run: {sys.executable} -m pip install {name}"


def has_wheel() -> bool:
    """Whether PyPI has the prebuilt binding for this platform."""
    machine = platform.machine().lower()
    if sys.platform.startswith("linux"):
        return machine in ("x86_64", "aarch64") and platform.libc_ver()[0] == "glibc"
    if sys.platform == "darwin":
        return machine in ("x86_64", "arm64")
    return sys.platform == "win32" and machine in ("amd64", "x86_64")


@cache
def cpu() -> str:
    """What decides which machine code this CPU can run: its architecture and features."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    features = next((line.partition(":")[2] for line in lines if line.startswith(("flags", "Features"))), "")
    told = features or os.environ.get("PROCESSOR_IDENTIFIER", "")
    return f"{platform.machine()} {' '.join(sorted(told.split()))}".strip()
