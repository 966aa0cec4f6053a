"""The transport on stdin and stdout, or on a socket, one JSON message a line, separate from everything that prints.

The SDK's own transport drops invalid lines without an answer, cancels running calls when stdin closes, and blocks
signals in a read; this one does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import select
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, BinaryIO

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)

from ..text.characters import join_surrogates
from .attach import LONGEST_LINE, REPEATED, Attachment

log = logging.getLogger("openclaw_memory.serve")

#: Most calls and answers that wait for a client; beyond that its lines are not read.
MOST_WAITING = 64

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


class LineTransport:
    """Messages as lines: from ``source``, and to ``send``, which returns how many of the bytes it took."""

    def __init__(self, source: BinaryIO | Attachment, send: Callable[[memoryview], int]) -> None:
        self._writing = anyio.CapacityLimiter(1)  # of its own: others are written to while this client reads nothing
        self._source, self._send = source, send

    @classmethod
    def reserve_stdio(cls, source: Attachment | None = None) -> LineTransport:
        """Reserve stdin and stdout for messages: for all other code stdin is empty, and stdout is stderr.

        That includes plugins, llama.cpp and child processes.  ``source`` is what has begun to read stdin, if any.
        """
        sys.stdout.flush()
        transport = cls(source or os.fdopen(os.dup(0), "rb", closefd=False), partial(os.write, os.dup(1)))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return transport

    def read(self, incoming: Incoming, closed: Callable[[], Awaitable[Any]], waiting: Callable[[], int]) -> None:
        """Start a thread that delivers messages to ``incoming``; ``closed`` is awaited at the end.

        ``waiting`` returns the number of calls and answers that wait; see :data:`MOST_WAITING`.
        """
        loop = asyncio.get_running_loop()

        def deliver(step: Any) -> bool:
            """Run a coroutine on the loop; return false if the receiver is gone."""
            try:
                asyncio.run_coroutine_threadsafe(step, loop).result()
            except (asyncio.CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return False
            except RuntimeError:
                step.close()
                return not loop.is_closed()
            return True

        def lines() -> None:
            try:
                while line := self._source.readline(LONGEST_LINE):
                    if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                        while (rest := self._source.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                            pass
                    if line.strip() and not deliver(self._take(line, incoming, waiting)):
                        return
            except OSError as error:
                log.info("reading failed: %s", error)
            finally:
                deliver(closed())

        threading.Thread(target=lines, name="lines", daemon=True).start()

    async def _take(self, line: bytes, incoming: Incoming, waiting: Callable[[], int]) -> None:
        while waiting() >= MOST_WAITING and not self._client_closed():
            await anyio.sleep(0.02)
        try:
            message = _message(line)
            if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
                raise ValueError("a request whose id is neither text nor a whole number")
        except Exception:  # every line has an answer
            await self._refuse(line)
            return
        await incoming.send(SessionMessage(message))

    def _client_closed(self) -> bool:
        """Return true if the client has closed its end, so that reading must reach it."""
        if not hasattr(select, "poll"):  # Windows
            return False
        poll = select.poll()
        poll.register(self._source.fileno(), 0)
        return bool(poll.poll(0))

    async def _refuse(self, line: bytes) -> None:
        """Answer an invalid line as JSON-RPC 2.0 requires."""
        parsed = None
        code, reason = PARSE_ERROR, f"the line is not JSON in UTF-8, or is longer than {LONGEST_LINE} bytes; mend it"
        with contextlib.suppress(ValueError, RecursionError):  # UnicodeDecodeError is a ValueError too
            parsed = json.loads(line)
            code, reason = INVALID_REQUEST, "the line is JSON, but no JSON-RPC 2.0 message"
        id_ = parsed.get("id") if isinstance(parsed, dict) else None
        number = id_ if isinstance(id_, (str, int)) and not isinstance(id_, bool) else None
        log.warning("%s: %d bytes", reason, len(line))  # its content may be secret
        with contextlib.suppress(OSError):  # the writer of answers handles that
            await self._put(JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=reason)))

    async def write(self, outgoing: Outgoing) -> None:
        """Write the messages of ``outgoing`` until it ends or the client is gone."""
        async with outgoing:
            async for item in outgoing:
                if getattr(item.message, "id", None) != REPEATED:
                    await self._put(item.message)

    async def _put(self, message: Any) -> None:
        await anyio.to_thread.run_sync(self._write, _line(message), abandon_on_cancel=True, limiter=self._writing)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._send(rest) :]


def _message(line: bytes) -> JSONRPCMessage:
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\ud" not in line.lower():
            raise
    # A text that was cut within a character leaves half a surrogate pair, which UTF-8 does not have.
    parsed = json.loads(line)
    message = jsonrpc_message_adapter.validate_json(
        join_surrogates(json.dumps(parsed, ensure_ascii=False)), by_name=False
    )
    if getattr(message, "id", None) != parsed.get("id"):
        raise ValueError("an id that no answer can name")
    return message


def _line(message: Any) -> bytes:
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # half a surrogate pair, which UTF-8 does not have
        text = json.dumps(message.model_dump(by_alias=True, exclude_unset=True, mode="python"))
    return bytes(text.encode()) + b"\n"
