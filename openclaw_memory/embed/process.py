"""The parent's side of the worker: started, asked, and its end told in words."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import EngineError, ModelError
from ..system.child import Child
from .bindings import Binding, ModelOptions

#: Seconds after which an answer is no longer waited for, and bytes of model a second that any disk can read.
_ANSWER, _BYTES_A_SECOND = 600.0, 5e6


class WorkerEnded(EngineError):
    """The worker ended without an answer; ``passing`` when that may have been the machine's state of the moment."""

    def __init__(self, message: str, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Opened:
    """What the worker says of the model that it has opened."""

    dimensions: int
    gpu: bool


class Worker:
    """One child process with one model.

    It is started here, and the model is loading when this returns.  For one thread at a time.  Every method raises
    :class:`WorkerEnded` when the process is gone, :class:`~openclaw_memory.errors.ModelError` when it lives and
    cannot do what it was asked.
    """

    def __init__(self, binding: Binding, options: ModelOptions) -> None:
        self.binding = binding
        self._model = Path(options.path).name
        try:
            # Without the variable llama.cpp starts a debugger when it gives up.
            self._child = Child(f"{__package__}.worker", {"GGML_NO_BACKTRACE": "1"})
        except OSError as error:
            raise WorkerEnded(f"{sys.executable} cannot be started ({error.strerror or error})", True) from error
        self._limit = _ANSWER
        with contextlib.suppress(OSError):
            self._limit += os.path.getsize(options.path) / _BYTES_A_SECOND
        self._child.send({"op": "open", "binding": binding.name, "options": asdict(options)})

    def ready(self) -> Opened:
        """Wait until the model is open and proved."""
        header, _ = self._answer("on its first use")
        return Opened(header["dimensions"], header["gpu"])

    def ask(self, request: Mapping[str, Any], threads: int) -> bytes:
        """The values that the worker has for ``texts`` of the request, computed by so many threads: float32."""
        self._child.send({**request, "threads": threads})
        return self._answer(f"on a batch of {len(request['texts'])} texts")[1]

    def end(self) -> None:
        """End the process now; it has nothing to lose.  Calling twice is harmless."""
        self._child.end()

    def _answer(self, when: str) -> tuple[dict[str, Any], bytes]:
        hung = threading.Event()

        def give_up() -> None:
            hung.set()
            self._child.kill()

        timer = threading.Timer(self._limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            frame = self._child.receive()
        finally:
            timer.cancel()
        if frame is None:
            raise self._ended(when, hung.is_set())
        header, body = frame
        if "error" not in header:
            return header, body
        if header["kind"] == "engine":
            raise EngineError(header["error"])
        raise ModelError(header["error"])

    def _ended(self, when: str, hung: bool) -> WorkerEnded:
        how, passing, words = self._child.ended()
        if hung:
            how, passing = "because it did not answer", True
        self.end()
        return WorkerEnded(f"{self.binding} ended {how} {when} with {self._model}{words}", passing)
