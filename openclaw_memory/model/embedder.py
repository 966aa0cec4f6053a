"""The protocol of embedders: texts in, unit-length float32 rows out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from .. import arrays as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"

#: Called with the number of texts finished since the last call.
Progress = Callable[[int], None]


@runtime_checkable
class Embedder(Protocol):
    """A model that turns texts into L2-normalised vectors.

    Implementations are safe to call from several threads and raise
    :class:`~openclaw_memory.errors.ModelError` when they cannot embed.
    """

    @property
    def model(self) -> str:
        """Identity of the vectors: embedders with the same value give comparable vectors."""

    @property
    def provider(self) -> str:
        """Short name of the engine: ``llama.cpp``, ``http``."""

    @property
    def dimensions(self) -> int:
        """Length *d* of a vector."""

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed stored texts, with the model's document prefix: ``float32[n, d]``, unit rows."""

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, with the model's query prefix: ``float32[n, d]``, unit rows."""

    def close(self) -> None:
        """Release the model; calling twice is harmless."""


class LocalModel(ABC):
    """An embedder that loads a model file ``path`` on this machine, and may fail to run there."""

    path: Path

    @property
    @abstractmethod
    def failure(self) -> str | None:
        """Return the reason why it cannot be used, in a sentence; ``None`` as long as none is known."""

    @abstractmethod
    def start(self) -> None:
        """Begin to load the model; the first call that needs it raises if that fails."""

    def use_all_cores(self) -> AbstractContextManager[None]:
        """Embed documents on every core for the block, as far as memory reaches."""
        return nullcontext()
