"""Let a client on stdio share a running server: pass lines on, and take over where that server ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO

from .endpoint import Endpoint

#: The id of a handshake that is repeated to another server; its answer is for nobody.
REPEATED = "openclaw-memory/repeated"
#: Longest line in bytes.
LONGEST_LINE = 64 * 2**20


class Attachment:
    """A pipe between stdin and stdout and the server of ``endpoint``.

    After :meth:`run` it is a source of lines for a server in this process: the handshake, the line that was not
    delivered, and the rest of stdin.
    """

    def __init__(self, endpoint: Endpoint, identity: str, for_host: bool) -> None:
        self._connect = partial(endpoint.connect, for_host, identity)
        self._source = os.fdopen(os.dup(0), "rb", closefd=False)
        self._lock = threading.Lock()
        #: Lines of the handshake, with an ``initialize`` that has an answer under another id.
        self._handshake: list[bytes] = []
        self._waiting: list[Any] = []
        self._lines: list[bytes] = []
        self._lost = False

    def run(self) -> None:
        """Pass lines on until stdin ends, then exit; return when there is no server."""
        while (connection := self._connect()) is not None:
            for name in ("SIGTERM", "SIGINT", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, lambda *_: os._exit(0))
            self._lost = False
            answers = threading.Thread(target=self._pass_answers, args=(connection.makefile("rb"),), daemon=True)
            answers.start()
            if self._pass_requests(connection):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
                answers.join(1.7)  # seconds for the last ones
                os._exit(0)
            connection.close()

    def readline(self, size: int, /) -> bytes:
        """Return the next line for the server in this process."""
        return self._lines.pop(0) if self._lines else self._source.readline(size)

    def fileno(self) -> int:
        """Return the descriptor of stdin."""
        return self._source.fileno()

    def _pass_requests(self, connection: socket.socket) -> bool:
        """Send lines until stdin ends; return false, with the undelivered lines kept, when the server is gone."""
        while line := self.readline(LONGEST_LINE):
            message = _parse(line)
            with self._lock:
                if self._lost:
                    self._lines = [*self._handshake, line, *self._lines]
                    return False
                if "id" in message and "method" in message:
                    self._waiting.append(message["id"])
                if message.get("method") == "initialize":
                    repeated = json.dumps({**message, "id": REPEATED}).encode() + b"\n"
                    self._handshake = [repeated]
                elif message.get("method") == "notifications/initialized":
                    self._handshake.append(line)
            with suppress(OSError):  # the other thread notices the end
                connection.sendall(line)
        return True

    def _pass_answers(self, answers: BinaryIO) -> None:
        """Write the answers of the server to stdout; answer what it leaves unanswered."""
        with suppress(OSError):
            while (line := answers.readline()).endswith(b"\n"):
                message = _parse(line)
                with self._lock, suppress(ValueError):
                    if "method" not in message:
                        self._waiting.remove(message.get("id"))
                if message.get("id") != REPEATED:
                    _write(line)
        with self._lock:
            self._lost = True
            for request_id in [request_id for request_id in self._waiting if request_id != REPEATED]:
                text = "the server that several clients shared has ended; ask again"
                error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": text}}
                _write(json.dumps(error).encode() + b"\n")
            self._waiting.clear()


def _parse(line: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        return message if isinstance(message, dict) else {}
    return {}


def _write(line: bytes) -> None:
    """Write a line to stdout, or end with its reader."""
    rest = memoryview(line)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError:
        os._exit(0)
