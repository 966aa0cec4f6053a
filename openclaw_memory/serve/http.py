"""The MCP server on loopback for several clients at once: streamable HTTP, and lines for processes that attach to it.

Both want the token of the endpoint's file, which only the user can read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn

import anyio
import uvicorn

from ..errors import OpenClawMemoryError
from ..system import atomic
from .endpoint import Endpoint
from .pool import Pool
from .server import MemoryServer, run_until_signal
from .transport import LineTransport

log = logging.getLogger("openclaw_memory.serve")

_LOOPBACK = "127.0.0.1"


class _Listener(uvicorn.Server):
    """Leaves the signals to :func:`~.server.run_until_signal`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpServer:
    """Serves ``pool`` at ``endpoint``; ``identity`` is what a process that attaches has to share.

    It ends after ``idle`` seconds without a client.
    """

    def __init__(
        self, pool: Pool, endpoint: Endpoint, identity: str, for_host: bool, idle: float | None = None
    ) -> None:
        self._pool, self._endpoint = pool, endpoint
        self._identity, self._for_host, self._idle = identity, for_host, idle
        self._clients, self._last_use = 0, time.monotonic()
        last = endpoint.read().get("token")
        self._token = last if isinstance(last, str) and len(last) >= 43 else secrets.token_urlsafe(32)

    def run(self, port: int | None, announce: Any) -> NoReturn:
        """Serve until a signal comes; ``announce`` is called with the URL.  Without ``port`` it is the last one.

        Raises :class:`OpenClawMemoryError` where another server has the endpoint, or another program the port.
        """
        from filelock import FileLock, Timeout

        atomic.make_folder(self._endpoint.file.parent, 0o700)
        lock = FileLock(self._endpoint.lock, mode=0o600)
        try:
            lock.acquire(timeout=0.5)  # a client that looks for the server may hold it for a moment
        except Timeout:
            other = self._endpoint.read()
            raise OpenClawMemoryError(
                f"process {other.get('pid')} serves this memory at {other.get('url')} already; use that, "
                f"its token is in {self._endpoint.file}"
            ) from None
        last = 0
        with suppress(KeyError, ValueError, IndexError, AttributeError):
            last = int(self._endpoint.read()["url"].split(":")[2].split("/")[0])
        try:
            web = socket.create_server((_LOOPBACK, port or last))
        except OSError as error:
            if port:
                raise OpenClawMemoryError(f"port {port}: {error.strerror}; choose another --port") from error
            web = socket.create_server((_LOOPBACK, 0))
        lines = socket.create_server((_LOOPBACK, 0))
        url = f"http://{_LOOPBACK}:{web.getsockname()[1]}/mcp"
        record = {"url": url, "token": self._token, "pid": os.getpid(), "identity": self._identity}
        record["lines"] = lines.getsockname()[1]
        atomic.write_bytes(self._endpoint.file, json.dumps(record).encode(), 0o600)
        announce(url)
        run_until_signal(self._pool, partial(self._serve, web, lines))

    async def _serve(self, web: socket.socket, lines: socket.socket) -> None:
        app = MemoryServer(self._pool, self._for_host).sdk.streamable_http_app(host=_LOOPBACK)

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and not self._knows_token(dict(scope["headers"]).get(b"authorization", b"")):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body"})
            else:
                with self._client():
                    await app(scope, receive, send)

        config = uvicorn.Config(guarded, lifespan="off", log_config=None, access_log=False, server_header=False)
        async with app.router.lifespan_context(app), anyio.create_task_group() as tasks:
            tasks.start_soon(self._attach_all, lines)
            tasks.start_soon(self._end_when_idle)
            try:
                await _Listener(config).serve([web])
            finally:  # a request that the end cuts off is no defect
                logging.getLogger("uvicorn.error").disabled = True

    @contextmanager
    def _client(self) -> Iterator[None]:
        self._clients += 1
        try:
            yield
        finally:
            self._clients -= 1
            self._last_use = time.monotonic()

    async def _end_when_idle(self) -> None:
        while self._idle is not None:
            left = self._last_use + self._idle - time.monotonic()
            if left <= 0 and not self._clients:
                signal.raise_signal(signal.SIGTERM)
                return
            await anyio.sleep(max(left, min(self._idle, 1.0)))

    def _knows_token(self, authorization: bytes) -> bool:
        return secrets.compare_digest(authorization, f"Bearer {self._token}".encode())

    async def _attach_all(self, lines: socket.socket) -> None:
        lines.setblocking(False)
        async with anyio.create_task_group() as tasks:
            while True:
                with suppress(OSError):  # the client is gone
                    client, _ = await asyncio.get_running_loop().sock_accept(lines)
                    tasks.start_soon(self._attach, client)
                await anyio.sleep(0.01)

    async def _attach(self, client: socket.socket) -> None:
        """Serve a process that attaches, which greets with the token, until it leaves."""
        server = None
        try:
            client.setblocking(False)
            greeting = await self._greet(client)
            if greeting is not None:
                client.setblocking(True)
                server = MemoryServer(self._pool, bool(greeting.get("forHost")))
                with self._client():
                    await server.converse(LineTransport(client.makefile("rb"), client.send), lambda: None)
        except Exception:
            log.exception("a client that had attached was dropped")
        finally:
            if server is not None:
                server.close()
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
            client.close()

    async def _greet(self, client: socket.socket, seconds: float = 5.0, most: int = 4096) -> dict[str, Any] | None:
        """Return the greeting, of ``most`` bytes within some ``seconds``, of a client that knows the token."""
        loop, data = asyncio.get_running_loop(), b""
        with suppress(OSError, ValueError, AttributeError), anyio.move_on_after(seconds):
            while not data.endswith(b"\n"):
                data += (chunk := await loop.sock_recv(client, most))
                if not chunk or len(data) > most:
                    return None
            greeting: dict[str, Any] = json.loads(data)
            if self._knows_token(f"Bearer {greeting.get('token')}".encode()):
                await loop.sock_sendall(client, b"\n")
                return greeting
        return None
