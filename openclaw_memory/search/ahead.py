"""A large change is taken over beside the questions, which are answered meanwhile from the state as it was."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from ..errors import StoreError
from ..graph.view import GraphView
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..store.api import DocumentInfo, KeywordIndex, Store

#: Units from which on a change is large: to take them over takes a tenth of a second of the processor.
_LARGE = 1_000

log = logging.getLogger("openclaw_memory.search")


@dataclass(frozen=True, slots=True)
class Resident:
    """What is taken over of the units' texts: copies of it can be brought up to date beside it."""

    corpus: Corpus
    archive: Archive
    graph: GraphView
    keyword: KeywordIndex

    def copied(self) -> Resident:
        """Others that share what is never written in place."""
        return Resident(copy(self.corpus), copy(self.archive), copy(self.graph), copy(self.keyword))

    def refresh(self, store: Store) -> None:
        """Take over what any process has written."""
        self.corpus.refresh(store)
        self.archive.refresh(store, self.corpus)
        self.graph.refresh(self.corpus, self.archive)
        self.keyword.refresh()


def large(corpus: Corpus, now: list[DocumentInfo]) -> list[str]:
    """The paths of what has changed since ``corpus`` was read, where that has many units; else none."""
    known = corpus.documents
    changed = [info for info in now if info.id not in known or known[info.id].generation != info.generation]
    return [info.path for info in changed] if sum(info.units for info in changed) > _LARGE else []


class Ahead:
    """Does one such thing at a time, in a thread of its own."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Begin with ``work`` unless something is being done; the caller sees to it that nobody else calls this."""

        def done() -> None:
            try:
                work()
            except StoreError as error:
                log.warning("a large change was not taken over (%s); the next question tries again", error)

        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=done, name="large-change", daemon=True)
            self._thread.start()

    def wait(self, seconds: float | None) -> None:
        """Until it is done, or so many ``seconds``."""
        if self._thread is not None:
            self._thread.join(seconds)
