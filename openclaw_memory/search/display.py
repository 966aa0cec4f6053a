"""Turn line ranges into hits: their text, the concepts in them, and statements that no longer hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from itertools import repeat

import numpy as np

from ..config.settings import SearchSettings
from ..graph.view import GraphView
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import DatedLines, SearchHit, chars_of, citation, tokens_of
from ..records import NamedTuple
from ..store.api import Ints, SectionText, Store, distinct
from ..system.mapped import Table
from ..text import analysis
from .hits import Range, Scores, line_range
from .superseded import Superseded

#: Marks where a snippet was cut.
_ELLIPSIS = "…"
#: Number of repetitions that a hit names.
_REPETITIONS = 12
#: Sections that are read at once where all are.
_RUN = 5_000


class Place(NamedTuple):
    """The lines of a unit, the number of characters before it in these, and its own."""

    first: int
    last: int
    before: int = 0
    chars: int = 0


class SectionCache:
    """Sections by id, so that the next question about the same need not open the index.

    The caller holds the store's session, and says which sections are left after a change.
    """

    def __init__(self, store: Store, most_chars: int = 2_000_000) -> None:
        self._store = store
        self._most_chars = most_chars
        #: The last asked for stand last.
        self._sections: dict[int, SectionText] = {}
        self._chars = 0
        self._mapped = Table(())

    def export(self, ids: Sequence[int]) -> Table:
        """Return the sections ``ids``, which ascend, to restore."""
        runs = (self._store.section_texts(ids[at : at + _RUN]) for at in range(0, len(ids), _RUN))
        return Table(
            (
                section.id,
                (
                    section.heading,
                    section.date and section.date.isoformat(),
                    section.start_line,
                    "\n".join(section.lines),
                ),
            )
            for run in runs
            for section in (run[section_id] for section_id in sorted(run))
        )

    def restore(self, sections: Table) -> None:
        """Take over what :meth:`export` returned."""
        self._mapped = sections

    def get(self, ids: Sequence[int]) -> dict[int, SectionText]:
        """Return sections by id; those that are not kept are read at once."""
        sections = {section_id: self._sections.pop(section_id) for section_id in ids if section_id in self._sections}
        missing = [section_id for section_id in ids if section_id not in sections]
        for section_id, (heading, day, start_line, body) in self._mapped.get(missing).items():
            dated = None if day is None else date.fromisoformat(day)
            sections[section_id] = SectionText(section_id, heading, dated, start_line, tuple(body.split("\n")))
            self._chars += _chars(sections[section_id])
        if missing := [section_id for section_id in ids if section_id not in sections]:
            read = self._store.section_texts(missing)
            self._chars += sum(map(_chars, read.values()))
            sections |= read
        self._sections |= sections
        while self._chars > self._most_chars:
            self._chars -= _chars(self._sections.pop(next(iter(self._sections))))
        return sections

    def keep(self, ids: Collection[int]) -> None:
        """Drop all other sections: the store may have dropped them."""
        for gone in self._sections.keys() - ids:
            self._chars -= _chars(self._sections.pop(gone))


def _chars(section: SectionText) -> int:
    return sum(map(len, section.lines))


class Display:
    """Shows ranges of one corpus; the caller holds the store's session."""

    def __init__(
        self,
        store: Store,
        settings: SearchSettings,
        corpus: Corpus,
        graph: GraphView,
        superseded: Superseded,
        archive: Archive,
    ) -> None:
        self._settings = settings
        self._corpus = corpus
        self._graph = graph
        self._superseded = superseded
        self._archive = archive
        self.sections = SectionCache(store)

    def hits(
        self,
        ranges: Sequence[Range],
        scores: Sequence[Scores],
        repetitions: Sequence[Sequence[int]] | None = None,
        sections: Mapping[int, SectionText] | None = None,
        question: str = "",
        successors: Mapping[int, int] | None = None,
        as_of: date | None = None,
    ) -> list[SearchHit | None]:
        """Return the hit of each range; ``None`` where another process has written a section of it again meanwhile.

        ``repetitions`` are rows that say the same as the best one of each range, ``sections`` the texts of their
        sections where these are known, ``question`` the text whose words are kept where a line is cut, ``successors``
        the rows that replaced others; statements are superseded as on the day ``as_of``.
        """
        rows = self._corpus.rows
        ids = [distinct(rows.section_id[span.first : span.last + 1]) for span in ranges]
        if sections is None:
            sections = self.sections.get(distinct(np.concatenate(ids)).tolist() if ids else [])
        concepts = self._graph.names_in([(span.first, span.last) for span in ranges])
        superseded = self._superseded(as_of)
        return [
            self._hit(
                span,
                span_scores,
                names,
                self._also(span, similar),
                sections,
                superseded,
                question,
                _successor(span, successors or {}),
            )
            if all(section_id in sections for section_id in span_ids.tolist())
            else None  # the next search sees it
            for span, span_ids, span_scores, names, similar in zip(
                ranges, ids, scores, concepts, repeat(()) if repetitions is None else repetitions, strict=False
            )
        ]

    def refresh(self) -> None:
        """Keep no text that the corpus has no more: the store may have dropped it."""
        self.sections.keep(set(self._corpus.rows.section_id[self._corpus.shape.section_start].tolist()))

    def _also(self, span: Range, rows: Sequence[int]) -> tuple[DatedLines, ...]:
        """Return the latest of ``rows`` outside of a range."""
        outside = [row for row in rows if not span.first <= row <= span.last][-_REPETITIONS:]
        return tuple(map(self._lines, outside))

    def _lines(self, row: int) -> DatedLines:
        """Return the lines of a row with their day."""
        columns = self._corpus.rows
        return DatedLines(
            path=self._corpus.documents[int(columns.document_id[row])].path,
            start_line=int(columns.start_line[row]),
            end_line=int(columns.end_line[row]),
            date=date.fromordinal(int(columns.day[row])) if columns.day[row] else None,
        )

    def _hit(
        self,
        span: Range,
        scores: Scores,
        concepts: tuple[str, ...],
        also: tuple[DatedLines, ...],
        sections: Mapping[int, SectionText],
        superseded: Mapping[int, tuple[str, ...]],
        question: str,
        successor: int | None,
    ) -> SearchHit:
        corpus, rows = self._corpus, self._corpus.rows
        section = sections[int(rows.section_id[span.best])]
        first, last = line_range(corpus, span)
        info = corpus.documents[int(rows.document_id[span.best])]
        text, snippet_line = snippet(
            [
                sections[section_id]
                for section_id in dict.fromkeys(rows.section_id[span.first : span.last + 1].tolist())
            ],
            (first, last),
            self._place(span.best),
            self._settings.snippet_chars,
            span.max_tokens,
            question,
        )
        units = rows.unit_id[span.first : span.last + 1].tolist() if superseded else []
        return SearchHit(
            path=info.path,
            start_line=first,
            end_line=last,
            score=round(scores.score, 4),
            snippet=text,
            snippet_line=snippet_line,
            best_line=int(rows.start_line[span.best]),
            citation=citation(info.path, first, last),
            id=analysis.hit_id(info.path, int(rows.hash[span.best]), int(rows.occurrence[span.best])),
            heading=section.heading,
            date=section.date,
            kind=info.kind,
            grain=info.grain,
            origin=info.origin,
            vector_score=scores.vector,
            text_score=scores.text,
            graph_score=scores.graph,
            time_score=scores.time,
            concepts=concepts,
            superseded=tuple([words for unit_id in units for words in superseded.get(unit_id, ())]),
            archived=self._archive.is_archived(span.best),
            why=scores.why,
            also=also,
            superseded_by=None if successor is None else self._lines(successor),
        )

    def texts(self, rows: Ints) -> list[tuple[str, str]]:
        """Return the text of each row, and the headings above it; empty ones where it is gone from the store."""
        columns, shown = self._corpus.rows, list[tuple[str, str]]()
        sections = self.sections.get(distinct(columns.section_id[rows]).tolist())
        for row in rows.tolist():
            section, place = sections.get(int(columns.section_id[row])), self._place(row)
            if section is None:
                shown.append(("", ""))
                continue
            lines = section.lines[place.first - section.start_line : place.last - section.start_line + 1]
            shown.append(("\n".join(lines)[place.before :][: place.chars], section.heading))
        return shown

    def _place(self, row: int) -> Place:
        """Return the place of a row among the lines that it shares."""
        rows, first = self._corpus.rows, row
        while self._corpus.shape.tied[first] and rows.start_line[first] == rows.start_line[row]:
            first -= 1
        before = int((rows.chars[first:row] + 1).sum())
        return Place(int(rows.start_line[row]), int(rows.end_line[row]), before, int(rows.chars[row]))

    def citation(self, row: int) -> str:
        """Return the lines of one row: ``path#L3``."""
        rows = self._corpus.rows
        path = self._corpus.documents[int(rows.document_id[row])].path
        return citation(path, int(rows.start_line[row]), int(rows.end_line[row]))


def _successor(span: Range, successors: Mapping[int, int]) -> int | None:
    """Return the row that replaced the best row of a range, unless it is in the range."""
    successor = successors.get(span.best)
    return None if successor is None or span.first <= successor <= span.last else successor


def snippet(
    sections: Sequence[SectionText],
    span: tuple[int, int],
    best: Place,
    chars: int,
    tokens: float | None = None,
    question: str = "",
) -> tuple[str, int]:
    """Return the lines of ``span`` of a file's ``sections``, cut around the ``best`` ones, and the number of the first.

    They have at most ``chars`` characters and ``tokens``.  An ellipsis stands where they were cut, on its own line,
    which counts as the line before; within a line that is cut, words of the ``question`` are kept.
    """
    by_number = {number: line for section in sections for number, line in enumerate(section.lines, section.start_line)}
    text = [by_number.get(number, "") for number in range(span[0], span[1] + 1)]
    whole = "\n".join(text)
    if len(whole) <= chars and (tokens is None or tokens_of(whole) <= tokens):
        return whole, span[0]
    low, high = best.first - span[0], best.last - span[0] + 1
    kept = "\n".join(text[low:high])
    limit = chars if tokens is None else min(chars, chars_of(tokens, kept))
    if len(kept) > limit:
        return _cut(kept, best, limit, question), best.first
    size = len(kept) + 2 * len(_ELLIPSIS) + 2
    cut = size <= limit
    while size < limit:
        above = 1 + len(text[low - 1]) if low else limit
        below = 1 + len(text[high]) if high < len(text) else limit
        if size + min(above, below) > limit:
            break
        size += min(above, below)
        low, high = (low - 1, high) if above <= below else (low, high + 1)
    before, behind = cut and low > 0, cut and high < len(text)
    parts = [*[_ELLIPSIS] * before, *text[low:high], *[_ELLIPSIS] * behind]
    return "\n".join(parts), span[0] + low - before


def _cut(line: str, best: Place, limit: int, question: str) -> str:
    """Return at most ``limit`` characters of ``line`` around its ``best`` part, or the words of the question there."""
    room = max(1, limit - 2 * len(_ELLIPSIS))
    start = min(best.before, max(0, len(line) - best.chars))
    begin = start - (room - best.chars) // 2
    if best.chars > room:
        places = [start + at for at, _ in analysis.occurrences(question, line[start : start + best.chars])]
        most = max(places, key=lambda at: sum(at <= other < at + room // 2 for other in places), default=start)
        begin = max(start, most - room // 4)
    begin = max(0, min(begin, len(line) - room))
    end = begin + room
    part = line[begin:end]
    if begin and not line[begin - 1].isspace() and 0 < (gap := part.find(" ")) <= room // 8:
        part = part[gap + 1 :]
    if end < len(line) and not line[end].isspace() and (gap := part.rfind(" ")) >= room - room // 8:
        part = part[:gap]
    return _ELLIPSIS * (begin > 0) + part.strip() + _ELLIPSIS * (end < len(line))
