"""Where the HTTP server of a memory listens, for small processes: imports the standard library alone."""

from __future__ import annotations

import hashlib
import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any


class Endpoint:
    """The private file ``file`` about the server of an agent, a workspace and a named index; one at a time runs.

    It holds ``url``, ``token``, ``pid``, ``lines`` (the port on which the server speaks as on stdio) and ``identity``
    (a digest of what it was started with).  Token and port outlive the server, so that clients are configured once.
    """

    def __init__(self, folder: Path, agent: str, workspace: str, index: str) -> None:
        name = hashlib.sha256("\0".join((agent, workspace, index)).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self.file = folder / "servers" / f"{name}.json"
        self.lock = self.file.with_suffix(".lock")

    def read(self) -> dict[str, Any]:
        """Return what is known of the last server, ``{}`` if there was none."""
        try:
            record = json.loads(self.file.read_bytes())
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    @property
    def running(self) -> bool:
        """True while a server holds the lock: another program may have got the port of one that was killed."""
        try:
            import fcntl
        except ImportError:  # Windows
            return self.file.exists()
        try:
            with self.lock.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def connect(self, for_host: bool, identity: str | None = None) -> socket.socket | None:
        """Connect with the running server, or return ``None``; with ``identity`` only if it has the same."""
        record = self.read() if self.running else {}
        if not record or (identity and record.get("identity") != identity):
            return None
        connection = None
        with suppress(OSError, KeyError, TypeError, ValueError):
            connection = socket.create_connection(("127.0.0.1", record["lines"]), timeout=2.0)
            greeting = {"token": record["token"], "forHost": for_host}
            connection.sendall(json.dumps(greeting).encode() + b"\n")
            if connection.recv(1) == b"\n":
                connection.settimeout(None)
                return connection
        if connection is not None:
            connection.close()
        return None
