"""Hold the columns of all units in reading order, in step with the store.

A *window* of a unit is the unit and up to :data:`RADIUS` neighbours on either side in its section.
Its BM25 comes from summed term frequencies and its vector score from summed unit scores, so neither
needs an index of its own (``docs/ranking.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import CHARS_PER_TOKEN, TRUSTED, Grain, Kind
from ..records import NamedTuple
from ..store.api import Bools, DocumentInfo, Floats, Ints, Store, UnitRows, VectorIndex
from ..system.mapped import Kept

RADIUS = 2
_REACH = 2 * RADIUS
#: Characters of a passage.
PASSAGE = 1_600


class Shape(NamedTuple):
    """Columns that follow from the units' order: sections, windows and their lengths in terms.

    An *anchor* may rank as a hit: any unit but a heading that has text below it, which
    counts through its neighbours' windows instead.  ``path_rank`` is the place of a document's path in
    alphabetical order, by document id.  ``passage`` cuts each file into runs of whole units of about
    :data:`PASSAGE` characters, twice, the second time half a passage later.
    """

    section: Ints
    same: tuple[Bools, ...]
    #: True for a row that shares a line with the one before it, which no result may cut: ``bool[n + 1]``.
    tied: Bools
    #: Characters, and an end of line each, of the rows before each one, and of all: ``int64[n + 1]``.
    chars_before: NDArray[np.int64]
    #: Rows of its section before and after each row, as far as windows reach.
    before: NDArray[np.int8]
    after: NDArray[np.int8]
    window_terms: Floats
    row_of: Ints
    kind: NDArray[np.int8]
    grain: NDArray[np.int8]
    trusted: Bools
    anchor: Bools
    path_rank: Ints
    passage: tuple[Ints, ...]
    passage_terms: tuple[Floats, ...]
    #: The first row of each section, and true where that is its heading.
    section_start: Ints
    has_heading: Bools
    #: Number of rows in each script.
    scripts: NDArray[np.intp]
    #: The keys of speakers, ascending, and the place there of each row's speaker; the key 0 is nobody.
    speakers: NDArray[np.int64]
    speaker: Ints


class _DocumentColumns(NamedTuple):
    """Columns that follow from the units of a document alone.

    ``border`` and the passages are true for rows that begin a section, and a passage of either cut; the others are
    those of :class:`Shape`.
    """

    border: Bools
    tied: Bools
    before: NDArray[np.int8]
    after: NDArray[np.int8]
    window_terms: Floats
    anchor: Bools
    passage: Bools
    half_passage: Bools


class Splice:
    """A plan that joins columns of old and new rows by document, ascending."""

    def __init__(self, old: Ints, new: Ints, gone: Sequence[int]) -> None:
        """Plan from the documents of old and of new rows, ascending both, and those documents that are ``gone``."""
        changed = np.union1d(np.asarray(gone, old.dtype), new)
        ends = [np.searchsorted(rows, changed, side) for rows in (old, new) for side in ("left", "right")]
        ends[0] = np.where(np.isin(changed, gone), ends[0], ends[1])
        left, right, first, last = (each.tolist() for each in ends)
        #: Ends of each run of old rows, and of the run of new ones that follows it.
        self._runs = list(zip([0, *right], [*left, len(old)], [*first, 0], [*last, 0], strict=True))

    def __call__(self, old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        """Return a joined column; without an old row it is the new one itself."""
        if not len(old):
            return new
        return np.concatenate([run for a, b, c, d in self._runs for run in (old[a:b], new[c:d])])


class Corpus(Kept):
    """Columns of every unit; :meth:`refresh` replaces those of changed documents."""

    transient = "_neighbours", "window_norm"

    def __init__(self) -> None:
        self.documents: dict[int, DocumentInfo] = {}
        self.rows = empty_rows()
        self._columns = _document_columns(self.rows)
        self.shape = _shape(self.rows, self._columns, {}, self.rows.speaker)
        self._neighbours = np.zeros((_REACH, 0), np.float32)
        self.window_norm = np.zeros(0, np.float32)
        #: Tokens of each row as it is shown: with its citation, where it is a sentence of a summary, and its line end.
        self.shown_tokens = shown_tokens(self.rows)
        #: Grows with every change of the rows.
        self.version = 0

    def __len__(self) -> int:
        return len(self.rows.unit_id)

    def refresh(self, store: Store) -> None:
        """Take over documents that were written or removed since the last call."""
        now = {info.id: info for info in store.document_infos()}
        stale = [i for i, info in self.documents.items() if i not in now or now[i].generation != info.generation]
        fresh = [
            i for i, info in now.items() if i not in self.documents or self.documents[i].generation != info.generation
        ]
        self.documents = now
        if not stale and not fresh:
            return
        added = store.unit_rows(fresh if stale or len(self) else None) if fresh else empty_rows()
        # The order of a corpus that is read at once, so that what depends on it is the same to the last bit.
        splice = Splice(self.rows.document_id, added.document_id, stale)
        new = np.full((_REACH, len(added.unit_id)), np.nan, np.float32)
        self._neighbours = np.stack([splice(*columns) for columns in zip(self._neighbours, new, strict=True)])
        self.window_norm = splice(self.window_norm, new[0].copy())
        self.rows = UnitRows(*(splice(getattr(self.rows, f.name), getattr(added, f.name)) for f in fields(UnitRows)))
        self.shown_tokens = shown_tokens(self.rows)
        self._columns = _DocumentColumns(*map(splice, self._columns, _document_columns(added)))
        self.shape = _shape(self.rows, self._columns, self.documents, np.union1d(self.shape.speakers, added.speaker))
        self.version += 1

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`export` returned, which has nothing that follows from vectors."""
        super().restore(state)
        self._neighbours = np.full((_REACH, len(self)), np.nan, np.float32)
        self.window_norm = np.full(len(self), np.nan, np.float32)

    def export_windows(self) -> tuple[Any, ...]:
        """Return what follows from vectors, with the documents that it belongs to."""
        return self._generations(), self.rows.document_id, self._neighbours, self.window_norm

    def restore_windows(self, state: tuple[Any, ...]) -> None:
        """Take over what :meth:`export_windows` returned, for the documents that have not changed since."""
        generations, documents, neighbours, norm = state
        if generations == (now := self._generations()):
            self._neighbours, self.window_norm = neighbours, norm
            return
        same = [i for i, generation in generations.items() if now.get(i) == generation]
        here, there = np.isin(self.rows.document_id, same), np.isin(documents, same)
        self._neighbours[:, here], self.window_norm[here] = neighbours[:, there], norm[there]

    def _generations(self) -> dict[int, int]:
        return {info.id: info.generation for info in self.documents.values()}

    def refresh_windows(self, index: VectorIndex, changed: Ints, all_rows: bool) -> None:
        """Recompute the lengths of the windows' summed vectors: where units are ``changed``, or all of them.

        A sum of unit vectors has the squared length ``Σ |v|² + 2 Σ v_i·v_j``, so the cosines of
        near neighbours suffice.
        """
        n = len(self)
        # Row i is unknown when its pair with the next row is; vectors arrive in batches of whole runs.
        unknown = np.isnan(self._neighbours[0])
        unknown[-1:] = False
        touched = self.rows_of(changed)
        unknown[slice(None) if all_rows else touched[touched >= 0]] = True
        rows = np.flatnonzero(unknown)
        if len(rows) * 4 > n:
            self._neighbours = index.neighbour_similarities(self.rows.unit_id, _REACH)
            self.window_norm = self._norms(0, n, index)
            return
        for start, stop in _runs(rows, _REACH):
            low, high = max(0, start - _REACH), min(n, stop + _REACH)
            part = index.neighbour_similarities(self.rows.unit_id[low:high], _REACH)
            for d in range(1, _REACH + 1):
                self._neighbours[d - 1, low : high - d] = part[d - 1, : high - low - d]
        # By whole sections, which no window leaves: one by one if they are few.
        sections = np.unique(self.shape.section[unknown | np.isnan(self.window_norm)])
        ends = np.append(self.shape.section_start, n)
        runs = [(0, len(ends) - 1)] if len(sections) > 200 else _runs(sections, 1)
        for start, stop in runs:
            low, high = int(ends[start]), int(ends[stop])
            self.window_norm[low:high] = self._norms(low, high, index)

    def _norms(self, low: int, high: int, index: VectorIndex) -> Floats:
        """Return the lengths of the windows of rows ``low`` to before ``high``, which are whole sections.

        A row without a vector adds nothing; a window of such rows alone is infinite.
        """
        n = high - low
        has = index.has(self.rows.unit_id[low:high]).astype(np.float32)
        square = has.copy()
        section = self.shape.section[low:high]
        for d in range(1, RADIUS + 1):
            same = section[d:] == section[: n - d]
            square[d:] += same * has[: n - d]
            square[: n - d] += same * has[d:]
        empty = square == 0
        for d in range(1, _REACH + 1):
            if n <= d:
                break
            dots = np.nan_to_num(self._neighbours[d - 1, low : high - d])
            dots = np.where(section[d:] == section[: n - d], dots, 0)
            # The pair (j, j + d) lies in the window of i for i from j + d - RADIUS to j + RADIUS.
            for offset in range(d - RADIUS, RADIUS + 1):
                j = np.arange(max(0, -offset), min(n - d, n - offset))
                i = j + offset
                square[i] += 2 * dots[j] * (section[i] == section[j])
        square[empty] = np.inf
        return np.sqrt(np.maximum(square, 1e-6))

    def rows_of(self, unit_ids: Ints) -> Ints:
        """Return the row of each unit, -1 for those that are gone."""
        row_of = self.shape.row_of
        if not len(row_of):
            return np.full(len(unit_ids), -1, np.int32)
        if len(unit_ids) and unit_ids.max() < len(row_of):
            return row_of[unit_ids]
        inside = unit_ids < len(row_of)
        return np.where(inside, row_of[np.where(inside, unit_ids, 0)], -1)

    def rows_with_text_of(self, row: int) -> Ints:
        """Return the rows that say the same as ``row`` but for their days and times, itself included, ascending."""
        return np.flatnonzero(self.rows.likeness == self.rows.likeness[row]).astype(np.int32)

    def window_cosine(self, similarities: Floats) -> Floats:
        """Return the cosine of each window's summed vector, from those of its units: ``float32[n]``, NaN for none."""
        unit = np.nan_to_num(similarities)
        out = unit.copy()
        for d in range(1, RADIUS + 1):
            same = self.shape.same[d - 1]
            out[d:] += unit[:-d] * same
            out[:-d] += unit[d:] * same
        np.divide(out, self.window_norm, out=out)
        out[np.isinf(self.window_norm)] = np.nan
        return out


def shown_tokens(rows: UnitRows, extra_chars: Ints | int = 0) -> Floats:
    """Return the tokens of each row with its line end and ``extra_chars`` beside its text."""
    return rows.tokens + (np.asarray(extra_chars, np.float32) + 1) / np.float32(CHARS_PER_TOKEN)


def empty_rows() -> UnitRows:
    """Return the columns of no units."""
    return UnitRows(*(np.zeros(0, kind) for kind in UnitRows.TYPES))


def _document_columns(rows: UnitRows) -> _DocumentColumns:
    n = len(rows.unit_id)
    border = np.ones(n, bool)
    border[1:] = rows.section_id[1:] != rows.section_id[:-1]
    section = np.cumsum(border)
    terms = rows.terms.astype(np.float32)
    window_terms = terms.copy()
    before, after = np.zeros((2, n), np.int8)
    for d in range(1, RADIUS + 1):
        if n > d:
            same = section[d:] == section[:-d]
            before[d:] += same
            after[:-d] += same
            window_terms[d:] += terms[:-d] * same
            window_terms[:-d] += terms[d:] * same
    tied = np.zeros(n, bool)
    tied[1:] = ~border[1:] & (rows.end_line[:-1] >= rows.start_line[1:])
    anchor = ~rows.heading | ((before == 0) & (after == 0) & ~rows.title)
    return _DocumentColumns(border, tied, before, after, window_terms, anchor, *_passages(rows))


def _shape(
    rows: UnitRows, columns: _DocumentColumns, documents: dict[int, DocumentInfo], speakers: NDArray[np.int64]
) -> Shape:
    """Return the shape of ``rows``; ``speakers`` are keys, ascending, with those of all rows among them."""
    n = len(rows.unit_id)
    section = np.cumsum(columns.border, dtype=np.int32) - 1
    passage = tuple(np.cumsum(begins, dtype=np.int32) - 1 for begins in (columns.passage, columns.half_passage))
    row_of = np.full(int(rows.unit_id.max()) + 1 if n else 0, -1, np.int32)
    row_of[rows.unit_id] = np.arange(n, dtype=np.int32)
    kinds, grains = {kind: at for at, kind in enumerate(Kind)}, {grain: at for at, grain in enumerate(Grain)}
    by_path = sorted(documents.values(), key=lambda info: info.path)
    ids = np.array([info.id for info in by_path], np.intp)
    path_rank = np.zeros(max(documents, default=0) + 1, np.int32)
    path_rank[ids] = np.arange(len(ids))
    by_document = np.zeros((3, len(path_rank)), np.int8)
    by_document[0, ids] = [kinds[info.kind] for info in by_path]
    by_document[1, ids] = [grains[info.grain] for info in by_path]
    by_document[2, ids] = [info.origin in TRUSTED for info in by_path]
    kind, grain, trusted = (column.take(rows.document_id) for column in by_document)
    speaker = np.searchsorted(speakers, rows.speaker).astype(np.int32)
    speaks = np.bincount(speaker, minlength=len(speakers)) > 0
    if not speaks.all():
        speakers, speaker = speakers[speaks], (np.cumsum(speaks, dtype=np.int32) - 1)[speaker]
    return Shape(
        section=section,
        same=tuple(columns.before[d:] >= d for d in range(1, RADIUS + 1)),
        tied=np.append(columns.tied, False),
        chars_before=np.concatenate([[0], np.cumsum(rows.chars + 1, dtype=np.int64)]),
        before=columns.before,
        after=columns.after,
        window_terms=columns.window_terms,
        row_of=row_of,
        kind=kind,
        grain=grain,
        trusted=trusted.astype(bool),
        anchor=columns.anchor,
        path_rank=path_rank,
        section_start=(section_start := np.flatnonzero(columns.border).astype(np.int32)),
        has_heading=rows.heading[section_start],
        scripts=np.bincount(rows.script, minlength=3),
        speakers=speakers,
        speaker=speaker,
        passage=passage,
        passage_terms=tuple(np.bincount(place, rows.terms).astype(np.float32) for place in passage),
    )


def _passages(rows: UnitRows) -> tuple[Bools, Bools]:
    """Return the rows that begin a passage of their file: from its beginning, and from half a passage on."""
    file = np.ones(len(rows.unit_id), bool)
    if not len(file):
        return file, file
    file[1:] = rows.document_id[1:] != rows.document_id[:-1]
    before = np.cumsum(rows.chars + 1) - (rows.chars + 1)
    before -= before[file][np.cumsum(file) - 1]
    borders = file.copy(), file.copy()
    for ahead, border in zip((0, PASSAGE // 2), borders, strict=True):
        place = (before + ahead) // PASSAGE
        border[1:] |= place[1:] != place[:-1]
    return borders


def _runs(rows: NDArray[np.integer[Any]], gap: int) -> list[tuple[int, int]]:
    """Return runs ``(start, stop)`` of row numbers, joined over gaps of up to ``gap``."""
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > gap)
    starts = rows[np.r_[0, breaks + 1]]
    stops = rows[np.r_[breaks, len(rows) - 1]] + 1
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
