"""The child process in which llama.cpp runs: a crash of native code ends this process and no other.

The body of an answer holds the vectors as float32.
"""

from __future__ import annotations

import math
import operator
import struct
from pathlib import Path
from typing import Any

from ..errors import EngineError, ModelError
from ..system.child import serve, write_frame
from .bindings import BINDINGS, EngineSession, ModelOptions
from .gguf_file import is_reranker

#: Two texts that no model confuses; their vectors prove that a build computes on this CPU.
_PROBES = ("The cat sleeps on the warm roof.", "Invoice 2210 was paid twice by mistake.")


def main() -> None:
    """Answer frames until the input ends."""
    frames, answers = serve()
    session: EngineSession | None = None
    while True:
        request, _ = frames.get()
        try:
            if request["op"] == "open":
                session = _open(request)
                write_frame(answers, {"dimensions": session.dimensions, "gpu": session.gpu})
            else:
                assert session is not None
                write_frame(answers, {}, b"".join(session.embed(request["texts"])))
        except ModelError as error:
            kind = "engine" if isinstance(error, EngineError) else "model"
            write_frame(answers, {"kind": kind, "error": str(error)})
        except Exception as error:
            write_frame(answers, {"kind": "defect", "error": f"{type(error).__name__}: {error}"})


def _open(request: dict[str, Any]) -> EngineSession:
    path = Path(request["options"]["path"])
    if is_reranker(path):  # llama.cpp would end the process, or return uninitialised memory as a vector
        raise ModelError(f"{path}: is a reranker, not an embedding model; choose another")
    binding = next(each for each in BINDINGS if each.name == request["binding"])
    session = binding.open(ModelOptions(**request["options"]))
    _check_computation(session, str(binding))
    return session


def _check_computation(session: EngineSession, binding: str) -> None:
    """Raise :class:`EngineError` unless texts have the same vectors alone and together, and each its own."""
    together = [_unit(row) for row in session.embed(_PROBES)]
    alone = [_unit(session.embed([text])[0]) for text in _PROBES]
    if not all(math.isfinite(value) for row in together for value in row):
        return  # weights that are not numbers are the file's fault, which embedding reports
    if min(map(_dot, together, alone)) < 0.99 or _dot(*together) > 0.9999:
        raise EngineError(f"{binding} computes nonsense on this machine")


def _unit(row: bytes) -> list[float]:
    values = struct.unpack(f"{len(row) // 4}f", row)
    length = math.hypot(*values) or 1.0
    return [value / length for value in values]


def _dot(a: list[float], b: list[float]) -> float:
    return float(sum(map(operator.mul, a, b)))
