"""Answer questions from a memory and, within a deadline, from those that it reads beside itself (``@name/…``)."""

from __future__ import annotations

import copy
import heapq
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import date
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ..config.openclaw_home import OpenClawHome, agent_id, agents_in
from ..config.settings import Settings, SharedMemory
from ..config.workspace import expand_home
from ..errors import HostError, OpenClawMemoryError, RequestError, SettingsError, WorkspaceError, describe_failure
from ..ingest.scan import is_extra_name
from ..model import (
    HIT_TOKENS,
    SEARCH_OPTIONS,
    SEEDS,
    TRUSTED,
    Edge,
    FileText,
    Origin,
    RecallHit,
    RecallResult,
    SearchHit,
    SearchOptions,
    SearchRequest,
    SearchResult,
    citation,
    joined,
    tokens_of,
)
from ..model.bounds import named_arguments
from ..plugins.manager import Plugins
from ..records import NamedTuple
from ..system.deadline import Deadline
from ..text import calendar
from ..use.tracker import Usage

if TYPE_CHECKING:
    from ..context.service import ContextService
    from ..forget.operations import Forgetter
    from ..forget.tombstones import Tombstones
    from ..ingest.survey import NoteSurvey
    from ..model import ContextResult, FactRow
    from ..search.service import SearchService

log = logging.getLogger("openclaw_memory")

#: Seconds that all other memories may take together, as they are asked at the same time.
SECONDS = 2.0
#: Name for the memory of the agent that started this one; only the host knows it.
PARENT = "parent"

H = TypeVar("H", bound=SearchHit)
R = TypeVar("R", bound=SearchResult)
T = TypeVar("T")


class ReadingMemory:
    """The questions that :class:`openclaw_memory.Memory` answers; it builds the parts.

    Only its own memory is ever written: others count nothing that is shown, opened or judged here.
    """

    workspace: Path
    settings: Settings
    plugins: Plugins
    usage: Usage
    forgotten: Tombstones
    survey: NoteSurvey
    ambient: ContextService
    others: OtherMemories
    _questions: SearchService
    _forgetter: Forgetter

    def close(self) -> None:
        """Close the other memories."""
        self.others.close()

    def under(self, parent: str | None) -> Self:
        """Return the same memory, as an agent reads it that ``parent`` has started."""
        if parent is None:
            return self
        copied = copy.copy(self)
        copied.others = self.others.under(parent)
        return copied

    @named_arguments(*SEARCH_OPTIONS)
    def search(self, query: str | SearchRequest, **options: Unpack[SearchOptions]) -> SearchResult:
        """Return the hits that answer a question, best first.

        ``query`` is text, with the fields of :class:`SearchRequest` as ``options``, or a request that has them.  Raises
        :class:`~openclaw_memory.errors.RequestError` for an unknown option or an invalid value.
        """
        request = SearchRequest.from_options(query, options)
        result = self.search_uncounted(request)
        self._shown(result.results, request.now)
        return result

    def search_uncounted(self, request: SearchRequest) -> SearchResult:
        """Answer as :meth:`search`, but count no hit as shown."""
        until = Deadline.after(request.deadline)
        result = self.plugins.first("openclaw_memory_search", SearchResult, memory=self, request=request)
        if result is None:
            result = self.search_index(request)
        limit = request.max_results or self.settings.search.max_results
        result = self.others.merge(
            result, request, until, lambda memory, asked: memory.search_index(asked), _best, limit, request.budget
        )
        hits = self.plugins.rerank(request.query, result.results)
        return replace(result, results=tuple(hits), good_match=result.good_match and bool(hits))

    def search_index(self, request: SearchRequest) -> SearchResult:
        """Answer from its own index: freshen, embed the question, rank."""
        return self._questions.search(request)

    @named_arguments(*SEARCH_OPTIONS)
    def recall(self, query: str | SearchRequest, *, hops: int = 2, **options: Unpack[SearchOptions]) -> RecallResult:
        """Return the thread behind an answer: the best hits and what up to ``hops`` steps connect with them, by time.

        ``query`` and ``options`` are those of :meth:`search`; filters apply to the results, not to the sections that
        the walk passes through.  With ``max_results`` each result is a passage of some lines; otherwise the thread
        consists of single lines within ``budget`` tokens (default: those of five hits).  Raises
        :class:`~openclaw_memory.errors.RequestError` when ``hops`` is not from 1 to 4.
        """
        from ..search import timeline

        request = SearchRequest.from_options(query, options)
        until = Deadline.after(request.deadline)
        thread = self._questions.recall(request, hops)
        budget = request.budget or SEEDS * HIT_TOKENS
        best_first = _best_first(thread)
        result = self.others.merge(
            best_first, request, until, lambda memory, asked: _best_first(memory._questions.recall(asked, hops)), _best,
            request.max_results, None if request.max_results else budget,
        )  # fmt: skip
        same = result.results == best_first.results
        result = replace(
            result, results=thread.results if same else tuple(sorted(result.results, key=timeline.by_time))
        )
        self._shown(result.results, request.now)
        return result

    @named_arguments()
    def context(
        self,
        message: str,
        *,
        budget: int | None = None,
        session: str | None = None,
        now: date | None = None,
        as_of: date | None = None,
        deadline: float | None = None,
        explain: bool = False,
    ) -> ContextResult:
        """Return plain sentences with their days that are relevant to ``message``; empty text if there are none.

        ``budget`` is in tokens (default: ``context.budget``).  A ``session`` does not get the same sentence again
        within half an hour.  ``now`` is the day of the message; nothing later than ``as_of`` is told.  After
        ``deadline`` seconds the part that is ready is returned, with a ``warning``.  ``explain`` adds to each source
        why it was chosen.  Raises :class:`~openclaw_memory.errors.RequestError` for an unknown argument or an invalid
        value.
        """
        until = Deadline.after(deadline)
        options: dict[str, Any] = {"session": session, "now": now, "as_of": as_of, "explain": explain}
        result = self.ambient.context(message, budget=budget, deadline=deadline, **options)
        self._shown(result.sources, now)
        return self._with_others(result, message, budget, until, options) if self.settings.context.enabled else result

    @named_arguments(*SEARCH_OPTIONS)
    def timeline(
        self,
        query: str | SearchRequest = "",
        *,
        minimum_days_ago: int | None = None,
        maximum_days_ago: int | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Return hits in order of time, undated ones last, each snippet beginning with its date.

        With a ``query`` they are the hits of :meth:`search` without those that score far below the best; without one
        they are the sections of the range, newest first until ``max_results`` or ``budget`` is spent.  Days count back
        from ``now``; ``options`` are those of :meth:`search`.  Raises :class:`~openclaw_memory.errors.RequestError`
        when no day can be in the range.
        """
        from ..search import timeline

        request = SearchRequest.from_options(query, options)
        request = timeline.bounded(request, minimum_days_ago, maximum_days_ago, self.today())
        if request.query.strip():
            result = self.search(request)
            result = replace(result, results=tuple(timeline.relevant(result.results)))
        else:
            until = Deadline.after(request.deadline)
            limit = request.max_results or self.settings.search.max_results
            result = self.others.merge(
                self._questions.listing(request), request, until,
                lambda memory, asked: memory._questions.listing(asked), _newest, limit, request.budget,
            )  # fmt: skip
            self._shown(result.results, request.now)
        return replace(result, results=tuple(timeline.in_order(result.results)))

    def get(self, path: str, from_line: int | None = None, lines: int | None = None) -> FileText:
        """Return lines of a memory file as they are on disk now; only of files that ingest reads.

        ``[private]``, ``[forgotten]`` and ``[redacted:…]`` stand in place of text that must not be read.
        """
        source = self.others.source_of(path.strip())
        if source is not None:
            return self._read_other(source, path.strip(), from_line, lines)
        file = self._read(path, from_line, lines)
        if file.status == "ok":
            first = file.from_line
            last = None if first is None or file.lines is None else first + file.lines - 1
            self.usage.opened(file.path, first, last)
        return file

    def check_own(self, chunk: str) -> None:
        """Raise :class:`~openclaw_memory.errors.RequestError` for a hit of a memory that is only read here."""
        if (source := self.others.source_of(chunk.strip())) is not None:
            raise RequestError(
                f"{chunk.strip()} stands in the memory of {source.name}, which is only read here; "
                "change it where it is that agent's own"
            )

    # -- parts ------------------------------------------------------------------------------------

    def today(self) -> date:
        """Return the owner's day, in ``consolidate.time_zone``."""
        return calendar.today(self.settings.consolidate.time_zone)

    def _shown(self, hits: Any, day: date | None) -> None:
        self.usage.shown([hit for hit in hits if hit.memory is None], day or self.today())

    def _read(self, path: str, from_line: int | None, lines: int | None) -> FileText:
        from ..ingest.file_lines import read_lines
        from ..text.withheld import READ_MARK, without_private

        def readable(path: str, text: str) -> str:
            shown = without_private(text, READ_MARK)
            self.forgotten.check()
            if self.forgotten.matcher:
                shown = self._forgetter.readable(path, shown)
            if shown == text and self.survey.is_readable(path, text):
                return text  # the words of redaction take longer to load than all else
            return self.plugins.redact_text(path, shown)

        return read_lines(self.workspace, self.settings.ingest, path, from_line, lines, readable)

    def _read_other(self, source: Source, path: str, from_line: int | None, lines: int | None) -> FileText:
        place = path.removeprefix(qualify("", source))
        if place.startswith("@"):
            return FileText("not_found", path)
        answers, failures = self.others.ask(
            Deadline.after(None),
            lambda memory, _, __: memory._read(place, from_line, lines),
            lambda other: other == source,
        )
        if not answers:
            return FileText("error", path, error=joined(failures))
        file = answers[0][1]
        return replace(file, path=qualify(file.path, source))

    def _with_others(
        self, context: ContextResult, message: str, budget: int | None, until: Deadline, options: dict[str, Any]
    ) -> ContextResult:
        """Append to ``context`` what other memories give unasked within the rest of the budget, each under its name."""
        budget = budget or self.settings.context.budget

        def question(memory: ReadingMemory, source: Source, seconds: float) -> ContextResult:
            left = int(budget - tokens_of(f"{context.text}\n@{source.name}:\n"))
            if left < 16:  # too few for a sentence
                from ..model import ContextResult

                return ContextResult("", 0, (), ())
            return memory.ambient.context(message, budget=left, deadline=seconds, elsewhere=True, **options)

        answers, warnings = self.others.ask(until, question, lambda source: source.unasked and source.origin in TRUSTED)
        text, sources, facts = context.text, list(context.sources), list(context.facts)
        for source, answer in answers:
            longer = "\n".join(filter(None, [text, f"@{source.name}:\n{answer.text}"]))
            if not answer.text or tokens_of(longer) > budget:
                continue
            text = longer
            sources += [qualify_hit(hit, source) for hit in answer.sources]
            facts += [qualify_fact(row, source) for row in answer.facts]
            warnings += [f"@{source.name}: {answer.warning}"] if answer.warning else []
        return replace(
            context,
            text=text,
            tokens=ceil(tokens_of(text)),
            sources=tuple(sources),
            facts=tuple(facts),
            took_ms=context.took_ms + max((answer.took_ms for _, answer in answers), default=0.0),
            warning=joined([*([context.warning] if context.warning else []), *warnings]),
        )


def _best(hit: SearchHit) -> tuple[object, ...]:
    return (-hit.score,)


def _best_first(thread: RecallResult) -> RecallResult:
    return replace(thread, results=tuple(sorted(thread.results, key=_best)))


def _newest(hit: SearchHit) -> tuple[object, ...]:
    return (hit.date is None, -(hit.date or date.min).toordinal())


# -- other memories ----------------------------------------------------------------------------------


class OtherMemories:
    """The other memories that one memory reads; safe to use from several threads.

    ``find(parent)`` returns their sources, and warnings about missing ones.  ``open_memory`` opens one when it is first
    asked, to be kept until :meth:`close`; ``lend`` opens contexts with a memory that is kept elsewhere.
    """

    def __init__(
        self,
        find: Callable[[str | None], tuple[list[Source], list[str]]],
        open_memory: Callable[[Source], ReadingMemory],
        lend: Callable[[Source], AbstractContextManager[ReadingMemory]] | None = None,
    ) -> None:
        self._find = find
        self._parent: str | None = None
        self._open_memory = open_memory
        self._use = lend or self._kept
        self._open: dict[Source, ReadingMemory] = {}
        self._opening = threading.Lock()
        self._seconds = SECONDS
        #: Threads that still work on a question after its deadline.
        self._late: dict[Source, threading.Thread] = {}
        self._lock = threading.Lock()

    def _kept(self, source: Source) -> AbstractContextManager[ReadingMemory]:
        with self._opening:
            if source not in self._open:
                self._open[source] = self._open_memory(source)
            return nullcontext(self._open[source])

    def under(self, parent: str) -> OtherMemories:
        """Return the same for an agent that ``parent`` has started."""
        copied = copy.copy(self)
        copied._parent = parent
        return copied

    def source_of(self, place: str) -> Source | None:
        """Return the source of a ``place`` such as ``@team/MEMORY.md``; ``None`` for one's own."""
        sources, _ = self._find(self._parent) if place.startswith("@") else ([], [])
        return next((source for source in sources if place.startswith(qualify("", source))), None)

    def close(self) -> None:
        """Wait a moment for late answers, and close the memories that were opened."""
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
        question: Callable[[ReadingMemory, Source, float], T],
        is_included: Callable[[Source], bool] = lambda source: True,
    ) -> tuple[list[tuple[Source, T]], list[str]]:
        """Return the answers of memories that are ``is_included`` that answer in time, and warnings about the others.

        ``question`` is asked with the seconds that are left.
        """
        sources, warnings = self._find(self._parent)
        sources = [source for source in sources if is_included(source)]
        if not sources:
            return [], warnings
        limit = Deadline.after(until.within(self._seconds))
        answers: dict[Source, T] = {}
        failures: dict[Source, str] = {}

        def work(source: Source) -> None:
            try:
                with self._use(source) as memory:
                    if not memory.workspace.is_dir():
                        raise WorkspaceError(f"{memory.workspace}: no such folder")
                    answers[source] = question(memory, source, limit.within())
            except Exception as error:
                if not isinstance(error, OpenClawMemoryError):
                    log.exception("@%s did not answer", source.name)
                failures[source] = describe_failure(error)

        started: dict[Source, threading.Thread] = {}
        with self._lock:
            for source in [source for source, thread in self._late.items() if not thread.is_alive()]:
                del self._late[source]
            for source in sources:
                if source in self._late:
                    failures[source] = "still at work on an earlier question"
                    continue
                run = partial(work, source)
                started[source] = threading.Thread(target=run, name=f"@{source.name}", daemon=True)
                started[source].start()
        for source, thread in started.items():
            thread.join(limit.within() + 0.1)  # an answer may be nearly done
            if thread.is_alive():
                failures.setdefault(source, "did not answer in time")
                with self._lock:
                    self._late[source] = thread
        warnings += [f"@{source.name} was not read: {failures[source]}" for source in sources if source in failures]
        return [(source, answers[source]) for source in sources if source in answers], warnings

    def merge(
        self,
        result: R,
        request: SearchRequest,
        until: Deadline,
        ask: Callable[[ReadingMemory, SearchRequest], R],
        order: Callable[[SearchHit], tuple[object, ...]],
        limit: int | None,
        budget: float | None,
    ) -> R:
        """Merge a ``result`` with those of the others, to at most ``limit`` hits or ``budget`` tokens.

        Each keeps its ranking; of the next hit of each the first by ``order`` is taken, the own one among equals.  The
        text of an own hit is not repeated.
        """

        def question(memory: ReadingMemory, source: Source, seconds: float) -> R:
            return ask(memory, replace(request, deadline=seconds))

        answers, failures = self.ask(until, question)
        if not answers and not failures:
            return result
        texts = {hit.snippet for hit in result.results}
        # Files of folders outside the other's workspace are not passed on.
        others = [
            [
                qualify_hit(hit, source)
                for hit in answer.results
                if not hit.path.startswith("@") and hit.snippet not in texts
            ]
            for source, answer in answers
        ]
        warnings = [result.warning] if result.warning else []
        warnings += [f"@{source.name}: {answer.warning}" for source, answer in answers if answer.warning]
        hits = result.results
        if any(others):
            hits = tuple(_choose(heapq.merge(result.results, *others, key=order), limit, budget))
        left_out = result.left_out
        if left_out is not None:
            left_out += sum((answer.left_out or 0) for _, answer in answers)
            left_out += len(result.results) + sum(map(len, others)) - len(hits)
        return replace(
            result,
            results=hits,
            took_ms=result.took_ms + max((answer.took_ms for _, answer in answers), default=0.0),
            good_match=result.good_match or any(answer.good_match for _, answer in answers),
            left_out=left_out,
            stale=result.stale or any(answer.stale for _, answer in answers),
            warning=joined([*warnings, *failures]),
        )


def _choose(hits: Iterable[SearchHit], limit: int | None, budget: float | None) -> Iterator[SearchHit]:
    """Yield as many of ``hits`` as there is room for, none of other memories with the text of an earlier one."""
    texts: set[str] = set()
    count = 0
    for hit in hits:
        if hit.memory is not None and hit.snippet in texts:
            continue
        if budget is not None:
            price = tokens_of(hit.snippet + "\n")
            if price > budget:
                continue
            budget -= price
        texts.add(hit.snippet)
        yield hit
        count += 1
        if budget is None and count == limit:
            return


# -- sources ------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """Another memory that may be read: that of ``agent`` in ``workspace``, shown as ``@name/…``.

    Its hits are no more trusted than ``origin``; with ``unasked`` they are part of the context of messages.
    """

    name: str
    agent: str
    workspace: Path
    origin: Origin = Origin.AGENT
    unasked: bool = False


def check_names(settings: Settings, read_from: Sequence[str]) -> None:
    """Raise :class:`SettingsError` for names that cannot be shown, or are given twice."""
    taken = {extra.name.casefold(): "ingest.extra_paths" for extra in settings.ingest.extra_paths}
    for where, names in (
        ("sharing.memories", [shared.name for shared in settings.sharing.memories]),
        ("sharing.read_from", list(dict.fromkeys(read_from))),
    ):
        seen: set[str] = set()
        for name in names:
            if not is_extra_name(name):
                raise SettingsError(f"{where}: {name!r} cannot be a name; use a word without '/', such as 'team'")
            if name.casefold() in seen:
                raise SettingsError(f"{where}: two entries are named {name!r}; rename one of them")
            if other := taken.get(name.casefold()):
                raise SettingsError(f"{where}: {name!r} is a name in {other} too; rename one of them")
            seen.add(name.casefold())


def find_sources(
    settings: Settings, read_from: Sequence[str], agent: str, workspace: Path, parent: str | None = None
) -> tuple[list[Source], list[str]]:
    """Return the memories that ``agent`` of ``workspace`` reads beside its own, and warnings about unknown names.

    ``parent`` is the agent that started it, where the host says so.
    """
    by_name = {shared.name: shared for shared in settings.sharing.memories}
    sources: list[Source] = []
    warnings: list[str] = []
    for name in dict.fromkeys(read_from):
        shared = by_name.get(name) or SharedMemory(name)
        if shared.readers and agent not in shared.readers:
            continue
        other = shared.agent or (parent if name == PARENT else name)
        if other is None:
            continue  # no agent started it
        folder = expand_home(shared.workspace) if shared.workspace else _workspace_of(other)
        if folder is None:
            warnings.append(
                f"@{name}: not known; give it a workspace in sharing.memories, or name an agent of OpenClaw"
            )
        elif (other, folder.resolve()) != (agent, workspace):
            sources.append(Source(name, other, folder.resolve(), Origin(shared.origin), shared.context))
    return sources, warnings


def _workspace_of(agent: str) -> Path | None:
    """Return the workspace of one of OpenClaw's agents; ``None`` for another name, whichever agent is the default."""
    home = OpenClawHome.for_environment()
    try:
        agents = agents_in(home.config())
    except HostError:
        return None
    return home.workspace(agent) if agent_id(agent) in agents else None


# -- names and trust --------------------------------------------------------------------------------


def qualify_hit(hit: H, source: Source) -> H:
    """Return a hit of ``source`` as it is shown here."""
    path = qualify(hit.path, source)
    shown = replace(
        hit,
        path=path,
        citation=citation(path, hit.start_line, hit.end_line),
        id=qualify(hit.id, source),
        origin=least_trusted(hit.origin, source),
        memory=source.name,
        also=tuple(
            replace(other, path=qualify(other.path, source)) for other in hit.also if not other.path.startswith("@")
        ),
    )
    if isinstance(shown, RecallHit):
        return replace(shown, via=tuple(_edge(edge, source) for edge in shown.via))
    return shown


def qualify_fact(row: FactRow, source: Source) -> FactRow:
    """Return a fact of ``source`` as it is shown here."""
    return replace(
        row,
        id=qualify(row.id, source),
        origin=least_trusted(row.origin, source),
        source=None if row.source is None else qualify(row.source, source),
    )


def qualify(place: str, source: Source) -> str:
    """Return the name here of a path, citation or id of ``source``."""
    return f"@{source.name}/{place}"


def least_trusted(origin: Origin, source: Source) -> Origin:
    """Return the less trusted of an origin there and of that of ``source``."""
    return max(origin, source.origin, key=list(Origin).index)


def _edge(edge: Edge, source: Source) -> Edge:
    """Return an edge with the names here of its places; names of concepts stay."""
    places = {
        "references": [edge.source],
        "follows": [edge.source, edge.target],
        "derived_from": [edge.source, edge.target],
    }.get(edge.kind, [])
    if not places:
        return edge
    pattern = "|".join(re.escape(place) for place in sorted(places, key=len, reverse=True))
    return replace(
        edge,
        source=qualify(edge.source, source) if edge.source in places else edge.source,
        target=qualify(edge.target, source) if edge.target in places else edge.target,
        text=re.sub(pattern, lambda match: qualify(match[0], source), edge.text),
    )
