"""M other memories beside one's own, each within the time there is, and joining what they answer."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from heapq import merge
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from ..errors import OpenClawMemoryError, WorkspaceError
from ..model import SearchHit, SearchRequest, SearchResult, joined, tokens_of
from ..system.deadline import Deadline
from .sources import Source, hit_of, named, stands_in_itself

log = logging.getLogger("openclaw_memory")

#: Seconds that all other memories may take together, as they are asked at the same time.
SECONDS = 2.0
#: Seconds beyond the deadline that an answer which is nearly done may take.
_GRACE = 0.1


class Readable(Protocol):
    """A memory that can be asked."""

    workspace: Path

    def close(self) -> None:
        """Let go of what is held."""


M = TypeVar("M", bound=Readable)
R = TypeVar("R", bound=SearchResult)
T = TypeVar("T")


class Others(Generic[M]):
    """The other memories that one memory reads; safe to use from several threads.

    ``known(parent)`` says which these are as things are, and what to say of those that are not there.  ``make`` opens
    one when it is first asked, to be kept until :meth:`close`; ``lend`` gives contexts with what somebody else keeps.
    """

    def __init__(
        self,
        known: Callable[[str | None], tuple[list[Source], list[str]]],
        make: Callable[[Source], M],
        lend: Callable[[Source], AbstractContextManager[M]] | None = None,
    ) -> None:
        self._known = known
        self._parent: str | None = None
        self._make = make
        self._use = lend or self._kept
        self._open: dict[Source, M] = {}
        self._opening = threading.Lock()
        self._seconds = SECONDS
        #: Those that still work on a question that nobody waits for.
        self._late: dict[Source, threading.Thread] = {}
        self._lock = threading.Lock()

    def _kept(self, source: Source) -> AbstractContextManager[M]:
        with self._opening:
            if source not in self._open:
                self._open[source] = self._make(source)
            return nullcontext(self._open[source])

    def under(self, parent: str) -> Others[M]:
        """The same for an agent that ``parent`` has started."""
        made = copy.copy(self)
        made._parent = parent
        return made

    def named(self, place: str) -> Source | None:
        """Whose ``place`` such as ``@team/MEMORY.md`` is; ``None`` for one's own."""
        found, _ = self._known(self._parent) if place.startswith("@") else ([], [])
        return next((source for source in found if place.startswith(named("", source))), None)

    def close(self) -> None:
        """Wait a moment for what is late, and close what was opened."""
        with self._lock:
            late = list(self._late.values())
        for thread in late:
            thread.join(0.2)
        with self._opening:
            memories = list(self._open.values())
            self._open.clear()
        for memory in memories:
            with suppress(OpenClawMemoryError):
                memory.close()

    def ask(
        self,
        until: Deadline,
        question: Callable[[M, Source, float], T],
        wanted: Callable[[Source], bool] = lambda source: True,
    ) -> tuple[list[tuple[Source, T]], list[str]]:
        """The answers of the ``wanted`` ones that answer in time, and why others did not.

        ``question`` is asked with the seconds that are left.
        """
        found, trouble = self._known(self._parent)
        asked = [source for source in found if wanted(source)]
        if not asked:
            return [], trouble
        limit = Deadline.after(until.within(self._seconds))
        answers: dict[Source, T] = {}
        failures: dict[Source, str] = {}

        def work(source: Source) -> None:
            try:
                with self._use(source) as memory:
                    if not memory.workspace.is_dir():
                        raise WorkspaceError(f"{memory.workspace}: no such folder")
                    answers[source] = question(memory, source, limit.within())
            except OpenClawMemoryError as error:
                failures[source] = str(error)
            except Exception as error:
                log.exception("@%s did not answer", source.name)
                failures[source] = f"a defect of openclaw-memory ({type(error).__name__}: {error}); please report it"

        started: dict[Source, threading.Thread] = {}
        with self._lock:
            for source in [source for source, thread in self._late.items() if not thread.is_alive()]:
                del self._late[source]
            for source in asked:
                if source in self._late:
                    failures[source] = "still at work on an earlier question"
                    continue
                run = partial(work, source)
                started[source] = threading.Thread(target=run, name=f"@{source.name}", daemon=True)
                started[source].start()
        for source, thread in started.items():
            thread.join(limit.within() + _GRACE)
            if thread.is_alive():
                failures.setdefault(source, "did not answer in time")
                with self._lock:
                    self._late[source] = thread
        trouble += [f"@{source.name} was not read: {failures[source]}" for source in asked if source in failures]
        return [(source, answers[source]) for source in asked if source in answers], trouble

    def joined(
        self,
        own: R,
        request: SearchRequest,
        until: Deadline,
        ask: Callable[[M, SearchRequest], R],
        order: Callable[[SearchHit], tuple[object, ...]],
        limit: int | None,
        budget: float | None,
    ) -> R:
        """``own`` and what the others answer, at most ``limit`` hits or hits worth ``budget`` tokens.

        Each keeps its ranking; of the next of each the first by ``order`` is taken, its own among equals, and what own
        hits say is not said again.
        """

        def question(memory: M, source: Source, seconds: float) -> R:
            return ask(memory, replace(request, deadline=seconds))

        answers, trouble = self.ask(until, question)
        if not answers and not trouble:
            return own
        said = {hit.snippet for hit in own.results}
        theirs = [
            [hit_of(hit, source) for hit in answer.results if stands_in_itself(hit) and hit.snippet not in said]
            for source, answer in answers
        ]
        warnings = [own.warning] if own.warning else []
        warnings += [f"@{source.name}: {answer.warning}" for source, answer in answers if answer.warning]
        hits = own.results
        if any(theirs):
            hits = tuple(_chosen(merge(own.results, *theirs, key=order), limit, budget))
        left_out = own.left_out
        if left_out is not None:
            left_out += sum((answer.left_out or 0) for _, answer in answers)
            left_out += len(own.results) + sum(map(len, theirs)) - len(hits)
        return replace(
            own,
            results=hits,
            took_ms=own.took_ms + max((answer.took_ms for _, answer in answers), default=0.0),
            good_match=own.good_match or any(answer.good_match for _, answer in answers),
            left_out=left_out,
            stale=own.stale or any(answer.stale for _, answer in answers),
            warning=joined([*warnings, *trouble]),
        )


def _chosen(hits: Iterable[SearchHit], limit: int | None, budget: float | None) -> Iterator[SearchHit]:
    """The first of ``hits``, as many as there is room for, none of other memories that says the same as another."""
    said: set[str] = set()
    given = 0
    for hit in hits:
        if hit.memory is not None and hit.snippet in said:
            continue
        if budget is not None:
            price = tokens_of(hit.snippet + "\n")
            if price > budget:
                continue
            budget -= price
        said.add(hit.snippet)
        yield hit
        given += 1
        if budget is None and given == limit:
            return
