"""The Python bindings of llama.cpp: which are installed, which is preferred, and the session that each opens."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from ..records import NamedTuple, dataclass

#: Characters of a text that are tokenized for each token that it may have.  A token of prose is far shorter, so the
#: model would not read more, and the regular expressions of BPE tokenizers, which can overflow their stack, never see
#: a megabyte.
CHARS_PER_TOKEN = 64
#: Sequences of a batch: llama.cpp sizes tables by it, and 192 tokens rarely hold more lines.
MAX_SEQUENCES = 64


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of opening a model.

    ``batch_tokens`` and ``max_tokens``, to which a text is cut, count the model's own tokens; ``context`` is the
    longest text that the model was trained for, 0 when unknown.  ``pooling`` is llama.cpp's name of it, empty for what
    the file says.
    """

    path: str
    threads: int = 1
    gpu: bool = True
    repack: str = "auto"
    batch_tokens: int = 192
    max_tokens: int = 256
    context: int = 0
    pooling: str = ""

    def repacks(self, build: str) -> bool:
        """Return true if weights are repacked by a build, whose description names what it was compiled for.

        Repacking leads to llama.cpp's AMX code where that is in, which crashes on some CPUs (ggml-org/llama.cpp#20824).
        """
        return self.repack == "on" or (self.repack == "auto" and "AMX" not in build)


class EngineSession(Protocol):
    """A loaded model, for one thread at a time, until the process ends.

    It runs in the worker, which does without numpy: that would be a fifth of the worker's memory.
    """

    @property
    def dimensions(self) -> int:
        """Length *d* of a vector."""

    @property
    def gpu(self) -> bool:
        """True if this build can compute on a GPU."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the pooled vector of each text: *d* values of float32, not normalised."""


class Binding(NamedTuple):
    """A binding: its name on PyPI, the package that it installs, and our module with its session."""

    name: str
    package: str
    module: str

    @property
    def version(self) -> str:
        """Its version, or ``unknown`` if no package manager installed it."""
        return _installed_version(self.name)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def installed(self) -> bool:
        """True if its package is installed; imports nothing of it."""
        return find_spec(self.package) is not None

    def open(self, options: ModelOptions) -> EngineSession:
        """Load a model with native code in this process; raises :class:`~openclaw_memory.errors.ModelError`."""
        session: EngineSession = import_module(self.module).EngineSession(options)
        return session


@cache
def _installed_version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


#: In the order of preference: llama-cpp-python first, as it was compiled for this machine, often for its GPU.
BINDINGS = (
    Binding("llama-cpp-python", "llama_cpp", "openclaw_memory.embed.llama_session"),
    Binding("xllamacpp", "xllamacpp", "openclaw_memory.embed.xllamacpp_session"),
)
COMPILED, PREBUILT = BINDINGS


def installed_bindings(setting: str = "auto") -> tuple[Binding, ...]:
    """Return the installed bindings in the order of preference; ``setting`` is the name of one, or ``auto``."""
    return tuple(binding for binding in BINDINGS if setting in ("auto", binding.name) and binding.installed)


def install_advice(setting: str = "auto") -> str:
    """Return the message for a Python without a binding: the command that installs one."""
    name = setting if setting != "auto" else f"{PREBUILT.name} (or {COMPILED.name}, where that has no wheel)"
    return f"no binding of llama.cpp is installed, so there are no vectors; run: {sys.executable} -m pip install {name}"


def pack(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group positions of similar length, shortest first, so that a batch computes little padding.

    A group has at most :data:`MAX_SEQUENCES` positions and at most ``budget`` of length; a longer text is a group of
    its own.
    """
    groups: list[list[int]] = []
    size = budget
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not groups or size + lengths[i] > budget or len(groups[-1]) == MAX_SEQUENCES:
            groups.append([])
            size = 0
        groups[-1].append(i)
        size += lengths[i]
    return groups
