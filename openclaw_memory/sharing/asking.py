"""Questions to a memory, and to those that it reads beside itself."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any, Self, Unpack

from ..config.settings import Settings
from ..context.service import ContextService
from ..errors import RequestError
from ..forget.operations import Forgetter
from ..model import (
    HIT_TOKENS,
    SEARCH_OPTIONS,
    SEEDS,
    TRUSTED,
    ContextResult,
    FileText,
    RecallResult,
    SearchHit,
    SearchOptions,
    SearchRequest,
    SearchResult,
    joined,
    tokens_of,
)
from ..model.bounds import named_arguments
from ..plugins.manager import Plugins
from ..search.service import Questions
from ..system.deadline import Deadline
from ..text import calendar
from ..use.tracker import Usage
from .others import Others
from .sources import Source, fact_of, hit_of, named

#: With fewer tokens left of a budget nothing is asked of another memory.
_WORTH = 16


class Asking:
    """What :class:`openclaw_memory.Memory` answers; its parts are made there.

    Only its own memory is ever written: others count nothing of what is shown, opened or judged here.
    """

    workspace: Path
    settings: Settings
    plugins: Plugins
    usage: Usage
    ambient: ContextService
    others: Others[Asking]
    _questions: Questions
    _forgetter: Forgetter

    def close(self) -> None:
        """Let go of the others."""
        self.others.close()

    def under(self, parent: str | None) -> Self:
        """The same memory, asked by an agent that ``parent`` has started."""
        if parent is None:
            return self
        made = copy.copy(self)
        made.others = self.others.under(parent)
        return made

    @named_arguments(*SEARCH_OPTIONS)
    def search(self, query: str | SearchRequest, **options: Unpack[SearchOptions]) -> SearchResult:
        """Return the hits that answer a question, best first.

        ``query`` is text, with the fields of :class:`SearchRequest` as ``options``, or a request that has them.  Raises
        :class:`~openclaw_memory.errors.RequestError` for an unknown option or an invalid value.
        """
        request = SearchRequest.from_options(query, options)
        until = Deadline.after(request.deadline)
        result = self.plugins.first("openclaw_memory_search", SearchResult, memory=self, request=request)
        if result is None:
            result = self.search_index(request)
        limit = request.max_results or self.settings.search.max_results
        result = self.others.joined(
            result, request, until, lambda memory, asked: memory.search_index(asked), _best, limit, request.budget
        )
        hits = self.plugins.rerank(request.query, result.results)
        self._shown(hits, request.now)
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
        request = SearchRequest.from_options(query, options)
        until = Deadline.after(request.deadline)
        own = self._questions.recall(request, hops)
        budget = request.budget or SEEDS * HIT_TOKENS
        best_first = _best_first(own)
        result = self.others.joined(
            best_first, request, until, lambda memory, asked: _best_first(memory._questions.recall(asked, hops)), _best,
            request.max_results, None if request.max_results else budget,
        )  # fmt: skip
        same = result.results == best_first.results
        result = replace(result, results=own.results if same else tuple(sorted(result.results, key=_by_time)))
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
        deadline: float | None = None,
        explain: bool = False,
    ) -> ContextResult:
        """Return plain sentences with their days that are relevant to ``message``; empty text if there are none.

        ``budget`` is in tokens (default: ``context.budget``).  A ``session`` does not get the same sentence again
        within half an hour.  ``now`` is the day of the message.  After ``deadline`` seconds the part that is ready is
        returned, with a ``warning``.  ``explain`` adds to each source why it was chosen.  Raises
        :class:`~openclaw_memory.errors.RequestError` for an unknown argument or an invalid value.
        """
        until = Deadline.after(deadline)
        options: dict[str, Any] = {"session": session, "now": now, "explain": explain}
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
            result = self.others.joined(
                self._questions.listing(request), request, until,
                lambda memory, asked: memory._questions.listing(asked), _newest, limit, request.budget,
            )  # fmt: skip
            self._shown(result.results, request.now)
        return replace(result, results=tuple(timeline.in_order(result.results)))

    def get(self, path: str, from_line: int | None = None, lines: int | None = None) -> FileText:
        """Return lines of a memory file as they are on disk now; only of files that ingest reads.

        ``[private]``, ``[forgotten]`` and ``[redacted:…]`` stand in place of text that must not be read.
        """
        source = self.others.named(path.strip())
        if source is not None:
            return self._of_others(source, path.strip(), from_line, lines)
        found = self._read(path, from_line, lines)
        if found.status == "ok":
            first = found.from_line
            last = None if first is None or found.lines is None else first + found.lines - 1
            self.usage.opened(found.path, first, last)
        return found

    def check_own(self, chunk: str) -> None:
        """Raise :class:`~openclaw_memory.errors.RequestError` for what stands in a memory that is only read here."""
        if (source := self.others.named(chunk.strip())) is not None:
            raise RequestError(
                f"{chunk.strip()} stands in the memory of {source.name}, which is only read here; "
                "change it where it is that agent's own"
            )

    # -- parts ------------------------------------------------------------------------------------

    def today(self) -> date:
        """The day that it is for the owner, in ``consolidate.time_zone``."""
        return calendar.today(self.settings.consolidate.time_zone)

    def _shown(self, hits: Any, day: date | None) -> None:
        self.usage.shown([hit for hit in hits if hit.memory is None], day or self.today())

    def _read(self, path: str, from_line: int | None, lines: int | None) -> FileText:
        from ..ingest.file_lines import read_lines
        from ..text.withheld import READ_MARK, without_private

        def readable(path: str, text: str) -> str:
            return self.plugins.redact_text(path, self._forgetter.readable(path, without_private(text, READ_MARK)))

        return read_lines(self.workspace, self.settings.ingest, path, from_line, lines, readable)

    def _of_others(self, source: Source, path: str, from_line: int | None, lines: int | None) -> FileText:
        place = path.removeprefix(named("", source))
        if place.startswith("@"):
            return FileText("not_found", path)
        answers, trouble = self.others.ask(
            Deadline.after(None), lambda memory, _, __: memory._read(place, from_line, lines), lambda one: one == source
        )
        if not answers:
            return FileText("error", path, error=joined(trouble))
        found = answers[0][1]
        return replace(found, path=named(found.path, source))

    def _with_others(
        self, own: ContextResult, message: str, budget: int | None, until: Deadline, options: dict[str, Any]
    ) -> ContextResult:
        """Append to ``own`` what other memories give unasked within the rest of the budget, each under its name."""
        budget = budget or self.settings.context.budget
        heads: dict[Source, str] = {}

        def wanted(source: Source) -> bool:
            heads[source] = f"@{source.name}:\n"
            return source.unasked and source.origin in TRUSTED

        def question(memory: Asking, source: Source, seconds: float) -> ContextResult:
            left = int(budget - tokens_of(f"{own.text}\n{heads[source]}"))
            if left < _WORTH:
                return ContextResult("", 0, (), ())
            return memory.ambient.context(message, budget=left, deadline=seconds, elsewhere=True, **options)

        answers, trouble = self.others.ask(until, question, wanted)
        text, sources, facts = own.text, list(own.sources), list(own.facts)
        for source, answer in answers:
            both = "\n".join(filter(None, [text, heads[source] + answer.text]))
            if not answer.text or tokens_of(both) > budget:
                continue
            text = both
            sources += [hit_of(hit, source) for hit in answer.sources]
            facts += [fact_of(row, source) for row in answer.facts]
            trouble += [f"@{source.name}: {answer.warning}"] if answer.warning else []
        return replace(
            own,
            text=text,
            tokens=ceil(tokens_of(text)),
            sources=tuple(sources),
            facts=tuple(facts),
            took_ms=own.took_ms + max((answer.took_ms for _, answer in answers), default=0.0),
            warning=joined([*([own.warning] if own.warning else []), *trouble]),
        )


def _best(hit: SearchHit) -> tuple[object, ...]:
    return (-hit.score,)


def _best_first(thread: RecallResult) -> RecallResult:
    return replace(thread, results=tuple(sorted(thread.results, key=_best)))


def _newest(hit: SearchHit) -> tuple[object, ...]:
    return (hit.date is None, -(hit.date or date.min).toordinal())


def _by_time(hit: SearchHit) -> tuple[object, ...]:
    return (hit.date or date.max, hit.date is None, hit.path, hit.start_line)
