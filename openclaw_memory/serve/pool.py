"""Memories of a server, opened on demand, one per agent and workspace, with shared models."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import Settings
from ..config.workspace import expand_home, find_workspace
from ..errors import OpenClawMemoryError, Stopped, WorkspaceError
from ..records import dataclass

if TYPE_CHECKING:  # a host waits for the server to start: the rest is loaded after that
    from ..embed.manager import EmbedderManager
    from ..memory import Memory
    from ..sharing.reading import Source

log = logging.getLogger("openclaw_memory.serve")

#: Agent and resolved workspace.
Key = tuple[str, Path]


@dataclass
class _Entry:
    memory: Memory
    users: int = 0
    warmed: float | None = None


class Pool:
    """Memories by agent and workspace, idle ones up to ``most_bytes`` in all; safe to use from several threads.

    ``workspace``, ``agent`` and ``db`` are the defaults of a call.  A named index file (``db`` or ``store.path``) is
    that of the default memory alone; the others have files in ``store.folder``.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        workspace: str | Path | None = None,
        agent: str = "main",
        db: str | Path | None = None,
        most_bytes: int = 400_000_000,
    ) -> None:
        self.settings = settings
        self._agent = agent
        self._workspace = workspace
        self._db = db
        self._most_bytes = most_bytes
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._cold: queue.SimpleQueue[Key | None] = queue.SimpleQueue()
        self._warmer: threading.Thread | None = None
        #: Threads that close evicted memories.
        self._closing: list[threading.Thread] = []

    @cached_property
    def models(self) -> EmbedderManager:
        """The embedding models, which all memories share."""
        from ..embed.manager import EmbedderManager

        return EmbedderManager(self.settings)

    # -- memories -------------------------------------------------------------------------------------

    def key(self, agent: str | None = None, workspace: str | None = None) -> Key:
        """Return the key of a call's memory; missing parts are the server's.

        Raises :class:`WorkspaceError` when there is no workspace.
        """
        if workspace:
            if not Path(workspace).is_absolute():
                raise WorkspaceError(f"{workspace}: the workspace of a call must be an absolute folder")
            return agent or self._agent, Path(workspace).resolve()
        return agent or self._agent, self._default_workspace(agent or self._agent)

    def _default_workspace(self, agent: str) -> Path:
        if self._workspace:
            return expand_home(self._workspace).resolve()
        try:
            return find_workspace(None, agent=agent)
        except WorkspaceError:
            raise WorkspaceError(
                "the call names no workspace and the server has none: start it with --workspace DIR, "
                'or have the host send "openclaw-memory/workspace" in the call\'s _meta'
            ) from None

    @contextmanager
    def use(self, key: Key) -> Iterator[Memory]:
        """Keep the memory of ``key`` open for the block; it is warmed in the background after its first use."""
        with self._lock:
            if self._stopping.is_set():
                raise Stopped("the server is ending; ask again when it is back")
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(self._open(key))
            self._entries.move_to_end(key)
            entry.users += 1
            idle = [key for key, entry in self._entries.items() if not entry.users]
            self._closing = [thread for thread in self._closing if thread.is_alive()]
            while idle and sum(entry.memory.resident_bytes for entry in self._entries.values()) > self._most_bytes:
                memory = self._entries.pop(idle.pop(0)).memory  # the least recently used
                # In a thread: closing waits for a large file that is being read.
                self._closing.append(threading.Thread(target=_close, args=(memory,), name="close", daemon=True))
                self._closing[-1].start()
        try:
            yield entry.memory
        finally:
            with self._lock:
                entry.users -= 1
                # A missing model is tried again after ten minutes.
                cold = entry.warmed is None or (
                    time.monotonic() >= entry.warmed + 600.0 and entry.memory.resolve_embedder().embedder is None
                )
                if cold:
                    entry.warmed = time.monotonic()
            if cold:
                self.warm(key)

    def _open(self, key: Key) -> Memory:
        from ..memory import Memory

        agent, workspace = key
        settings, named = self.settings, None
        with suppress(WorkspaceError):
            named = self.key()
        if settings.store.workspace and (named is None or workspace != named[1]):
            # That name is of the server's default workspace.
            settings = settings.with_values({"store.workspace": ""})
        if settings.store.path and key != named:
            settings = settings.with_values({"store.path": ""})
        db = self._db if key == named else None

        def lend(source: Source) -> AbstractContextManager[Memory]:  # shared with its own agent
            return self.use((source.agent, source.workspace))

        return Memory(workspace, agent=agent, settings=settings, db=db, models=self.models, peers=lend)

    # -- warming up -------------------------------------------------------------------------------------

    def warm(self, key: Key | None = None) -> None:
        """Load model, files and index of ``key`` in the background; without a key only the code."""
        with self._lock:
            if self._stopping.is_set():
                return
            if self._warmer is None:
                self._warmer = threading.Thread(target=self._warm_all, name="warm-up", daemon=True)
                self._warmer.start()
        if key is not None:
            self._cold.put(key)

    def _warm_all(self) -> None:
        from .. import memory  # noqa: F401 - compiling it for the first time takes seconds

        while (key := self._cold.get()) is not None:
            try:
                self._warm(key)
            except Stopped:
                return
            except OpenClawMemoryError as error:
                log.warning("warming up failed: %s", error)
            except Exception:
                log.exception("warming up %s failed", key[1])

    def _warm(self, key: Key) -> None:
        started = time.monotonic()
        with self.use(key) as memory:
            with self._lock:
                self._entries[key].warmed = started
            memory.load()  # first: DuckDB, 50 MB, stays out while an index is as another process has kept it
            memory.freshen()  # so that new notes are found by their words
            memory.pull_model(self._check_stop)
            memory.warm()
            memory.ingest(progress=self._check_stop)
            memory.warm()
        log.info("%s of %s is ready after %.2f s", key[1], key[0], time.monotonic() - started)

    def _check_stop(self, stage: str, done: int, total: int) -> None:
        if self._stopping.is_set():
            raise Stopped("the server is ending")

    # -- the end ----------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop background work at its next step, and refuse further calls."""
        self._stopping.set()
        self._cold.put(None)

    def close(self, timeout: float) -> bool:
        """Close every memory and the models; return true if that took less than ``timeout`` seconds.

        Committed text is safe in any case.
        """
        self.stop()
        thread = threading.Thread(target=self._close, name="close", daemon=True)
        thread.start()
        thread.join(timeout)
        return not thread.is_alive()

    def _close(self) -> None:
        if self._warmer is not None:
            self._warmer.join()
        with self._lock:
            entries = list(self._entries.values())
            self._entries.clear()
        for entry in entries:
            _close(entry.memory)
        for thread in self._closing:
            thread.join()
        if "models" in vars(self):
            self.models.close()


def _close(memory: Memory) -> None:
    try:
        memory.close()
    except OpenClawMemoryError as error:
        log.warning("closing %s failed: %s", memory.workspace, error)
