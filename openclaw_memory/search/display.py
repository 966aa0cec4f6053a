"""From line ranges to hits: their text, what they mention, and what of it no longer holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from ..config.settings import SearchSettings
from ..graph.view import GraphView
from ..index.archive import Archive
from ..index.corpus import Corpus
from ..model import Repetition, SearchHit, chars_of, citation, tokens_of
from ..store.api import SectionText, Store
from ..text import analysis
from .confidence import Parts
from .hits import Range, lines

#: What is known of units whose statement no longer holds: words by unit id.
Superseded = Callable[[], Mapping[int, tuple[str, ...]]]
#: The rows that say the same as one.
Repeated = Callable[[int], Sequence[int]]
#: What stands where a snippet was cut.
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Known:
    """What several hits need from the store: texts of sections by id, and what is superseded by unit id.

    ``asked`` is the question, whose words are kept where a line is cut.
    """

    sections: Mapping[int, SectionText]
    superseded: Mapping[int, tuple[str, ...]]
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a unit stands: its lines, so many characters ``before`` it in these, and how many it has."""

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

    def get(self, ids: Sequence[int]) -> dict[int, SectionText]:
        """Return sections by id; those that are not kept are asked for at once."""
        sections = {section_id: self._sections.pop(section_id) for section_id in ids if section_id in self._sections}
        if missing := [section_id for section_id in ids if section_id not in sections]:
            read = self._store.section_texts(missing)
            self._chars += sum(map(_chars, read.values()))
            sections |= read
        self._sections |= sections
        while self._chars > self._most_chars:
            self._chars -= _chars(self._sections.pop(next(iter(self._sections))))
        return sections

    def keep(self, ids: Collection[int]) -> None:
        """Forget all other sections: the store may have dropped them."""
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
        self._store = store
        self._settings = settings
        self._corpus = corpus
        self._graph = graph
        self._superseded = superseded
        self._archive = archive
        self._texts = SectionCache(store)

    def hits(
        self,
        found: Sequence[Range],
        parts_of: Callable[[Range], Parts],
        repeated: Repeated = lambda row: (),
        sections: Mapping[int, SectionText] | None = None,
        asked: str = "",
    ) -> list[SearchHit]:
        """Ranges as hits, in their order; those rewritten by another process since the refresh are left out.

        ``repeated`` gives the rows that say the same as the best one of a range, ``sections`` the texts of their
        sections where these are known.
        """
        known = self.known(found, sections, asked)
        made = [self.hit(one, known, parts_of(one), self._also(one, repeated(one.best))) for one in found]
        return [hit for hit in made if hit is not None]

    def known(
        self, found: Sequence[Range], sections: Mapping[int, SectionText] | None = None, asked: str = ""
    ) -> Known:
        """What these ranges need from the store, asked once for all but for ``sections`` that are known."""
        self._graph.know([(one.first, one.last) for one in found])
        if sections is None:
            ids = [self._corpus.rows.section_id[one.first : one.last + 1] for one in found]
            sections = self._texts.get(np.unique(np.concatenate(ids)).tolist() if ids else [])
        return Known(sections, self._superseded(), asked)

    def refresh(self) -> None:
        """Keep no text that the corpus has no more: the store may have dropped it."""
        self._texts.keep(set(self._corpus.rows.section_id[self._corpus.shape.opens].tolist()))

    def _also(self, one: Range, rows: Sequence[int]) -> tuple[Repetition, ...]:
        """The latest twelve of ``rows`` outside of a range, as what they are called by."""
        columns, documents = self._corpus.rows, self._corpus.documents
        return tuple(
            Repetition(
                path=documents[int(columns.document_id[row])].path,
                start_line=int(columns.start_line[row]),
                end_line=int(columns.end_line[row]),
                date=date.fromordinal(int(columns.day[row])) if columns.day[row] else None,
            )
            for row in [row for row in rows if not one.first <= row <= one.last][-12:]
        )

    def hit(self, one: Range, known: Known, parts: Parts, also: tuple[Repetition, ...] = ()) -> SearchHit | None:
        """A range as a hit; ``None`` when another process has written a section of it again since the refresh."""
        corpus, rows = self._corpus, self._corpus.rows
        ids = dict.fromkeys(rows.section_id[one.first : one.last + 1].tolist())
        if any(section_id not in known.sections for section_id in ids):
            return None  # written by another process since the refresh; the next search sees it
        section = known.sections[int(rows.section_id[one.best])]
        first, last = lines(corpus, one)
        info = corpus.documents[int(rows.document_id[one.best])]
        text, shown = snippet(
            [known.sections[section_id] for section_id in ids],
            (first, last),
            self._best(one.best),
            self._settings.snippet_chars,
            one.most,
            known.asked,
        )
        return SearchHit(
            path=info.path,
            start_line=first,
            end_line=last,
            score=round(parts.score, 4),
            snippet=text,
            snippet_line=shown,
            best_line=int(rows.start_line[one.best]),
            citation=citation(info.path, first, last),
            id=analysis.hit_id(info.path, int(rows.hash[one.best]), int(rows.occurrence[one.best])),
            heading=section.heading,
            date=section.date,
            kind=info.kind,
            grain=info.grain,
            origin=info.origin,
            vector_score=parts.vector,
            text_score=parts.text,
            graph_score=parts.graph,
            time_score=parts.time,
            concepts=self._graph.names_in(one.first, one.last),
            superseded=tuple(
                words
                for unit_id in (rows.unit_id[one.first : one.last + 1].tolist() if known.superseded else ())
                for words in known.superseded.get(unit_id, ())
            ),
            archived=self._archive.is_archived(one.best),
            why=parts.why,
            also=also,
        )

    def _best(self, row: int) -> Place:
        """Where a row stands among the lines that it shares."""
        rows, first = self._corpus.rows, row
        while self._corpus.shape.tied[first] and rows.start_line[first] == rows.start_line[row]:
            first -= 1
        before = int((rows.chars[first:row] + 1).sum())
        return Place(int(rows.start_line[row]), int(rows.end_line[row]), before, int(rows.chars[row]))

    def citation(self, row: int) -> str:
        """The lines of one row: ``path#L3``."""
        rows = self._corpus.rows
        path = self._corpus.documents[int(rows.document_id[row])].path
        return citation(path, int(rows.start_line[row]), int(rows.end_line[row]))


def snippet(
    sections: Sequence[SectionText],
    wanted: tuple[int, int],
    best: Place,
    chars: int,
    tokens: float | None = None,
    asked: str = "",
) -> tuple[str, int]:
    """Lines ``wanted`` of a file's ``sections``, cut around the ``best`` ones to ``chars`` characters and ``tokens``.

    The number is that of the first line, be it the one before it that only holds an ellipsis.

    An ellipsis stands where it was cut: on a line of its own for lines, else within the line, in which words that are
    ``asked`` for are kept.
    """
    lines = {number: line for section in sections for number, line in enumerate(section.lines, section.start_line)}

    def text(first: int, last: int) -> str:
        return "\n".join([lines.get(number, "") for number in range(first, last + 1)])

    whole = text(*wanted)
    if len(whole) <= chars and (tokens is None or tokens_of(whole) <= tokens):
        return whole, wanted[0]
    first, last = best.first, best.last
    own = text(first, last)
    limit = chars if tokens is None else min(chars, chars_of(tokens, own))
    if len(own) > limit:
        return _cut(own, best, limit, asked), first
    size = len(own) + 2 * len(_ELLIPSIS) + 2
    while size < limit:
        wider = [number for number in (first - 1, last + 1) if wanted[0] <= number <= wanted[1]]
        added, number = min(((1 + len(lines.get(number, "")), number) for number in wider), default=(limit, 0))
        if size + added > limit:
            break
        size += added
        first, last = min(first, number), max(last, number)
    ends = [first > wanted[0], last < wanted[1]] if size <= limit else [False, False]
    return "\n".join([*[_ELLIPSIS] * ends[0], text(first, last), *[_ELLIPSIS] * ends[1]]), first - ends[0]


def _cut(line: str, best: Place, limit: int, asked: str) -> str:
    """At most ``limit`` characters of ``line`` around its ``best`` part, or the words there that are asked for."""
    room = max(1, limit - 2 * len(_ELLIPSIS))
    start = min(best.before, max(0, len(line) - best.chars))
    begin = start - (room - best.chars) // 2
    if best.chars > room:
        places = [start + at for at, _ in analysis.occurrences(asked, line[start : start + best.chars])]
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
