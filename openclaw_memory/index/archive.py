"""Which notes a summary covers, and which sentences of summaries stand in the index in a finer form already.

Both follow from what summaries cite and from the texts that are there now; nothing of it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ingest.summary_files import DATED, parse_line
from ..model import Grain, Kind, Origin
from ..store.api import Bools, DerivedRows, DocumentInfo, Ints, Store, SummaryInfo
from ..text import calendar
from ..text.dates import date_in_name
from .corpus import Corpus, Splice, shown

Longs = NDArray[np.int64]
_Place = tuple[int, int, int, int, int]
Codes = NDArray[np.int8]

_GRAINS = list(Grain)
#: Most trusted first.
_ORIGINS = list(Origin)
#: Whether lines of a summary of each grain begin with their day.
_DATED = np.array([grain in DATED for grain in _GRAINS])
#: Lengths of the marker before each line of a summary, and of a day: ``2026-02-16: ``.
_MARKER, _DAY = 2, 12


@dataclass(frozen=True, slots=True)
class Masks:
    """What the rows of a corpus are to one another, ``bool[n]`` each.

    ``archived`` are rows of notes that the summary of their day covers.  ``hidden`` are rows of summaries that
    say only what a note that is not archived, or a finer summary, says too; ``copies`` those whose sources are in the
    index in whatever state, so every hidden row is one.  ``shown`` are the rows that are neither archived nor hidden:
    among them each sentence stands once.
    """

    archived: Bools
    hidden: Bools
    copies: Bools
    shown: Bools


@dataclass(frozen=True, slots=True)
class _Citations:
    """What sentences of summaries cite, a column each; ``place`` tells citations of other lines apart.

    ``trust`` counts from 0 for the most trusted origin of a summary.
    """

    unit: Ints
    document: Ints
    grain: Codes
    edited: Bools
    trust: Codes
    path: Ints
    first: Ints
    last: Ints
    place: Ints

    def of(self, chosen: Bools | Longs) -> _Citations:
        """Some of them."""
        return _Citations(
            self.unit[chosen], self.document[chosen], self.grain[chosen], self.edited[chosen], self.trust[chosen],
            self.path[chosen], self.first[chosen], self.last[chosen], self.place[chosen],
        )  # fmt: skip


class Archive:
    """The masks of one corpus, kept in step with it; where there is no summary there are none."""

    def __init__(self) -> None:
        #: What the rows are to one another; ``None`` where there is no summary, and so nothing to tell apart.
        self.masks: Masks | None = None
        self._version = 0
        self._generations: dict[int, int] = {}
        self._paths: tuple[str, ...] = ()
        self._cited = _no_citations()
        #: Notes that summaries cover: by path and SHA-256, the most trust that one of these has.
        self._stood_for: Mapping[tuple[str, str], int] = {}
        self._corpus = Corpus()
        self._pairs: tuple[Ints, Ints] | None = None
        #: Which summaries are as they were written, by document id.
        self._ours = np.zeros(0, bool)
        #: Whether a sentence of an edited summary is in the lines that it cites, by unit, document with its
        #: generation, and lines.
        self._verbatim: dict[_Place, bool] = {}

    def refresh(self, store: Store, corpus: Corpus) -> None:
        """Take over what changed; ``corpus`` has been refreshed."""
        if corpus.version == self._version and corpus is self._corpus:
            return
        self._version, self._corpus, self._pairs = corpus.version, corpus, None
        summaries = {info.id: info.generation for info in corpus.documents.values() if info.grain is not Grain.WORKING}
        if not summaries:
            self.masks, self._generations, self._cited, self._verbatim = None, {}, _no_citations(), {}
            self._paths = ()
            return
        if summaries != self._generations:
            gone = [i for i, generation in self._generations.items() if summaries.get(i) != generation]
            fresh = [i for i, generation in summaries.items() if self._generations.get(i) != generation]
            rows = store.derived_rows(fresh if self._generations else None)
            self._read(store.summaries(), rows, gone, corpus)
            self._generations = summaries
        self.masks = self._decided(store, corpus)

    def standing(self, grains: Sequence[Grain], include_archived: bool) -> Bools | None:
        """The rows that a question with these options is about, ``None`` for all; ``grains`` leave nothing out here."""
        if self.masks is None or grains:
            return None
        return ~self.masks.hidden if include_archived else self.masks.shown

    def is_archived(self, row: int) -> bool:
        """Whether a summary stands for a row."""
        return self.masks is not None and bool(self.masks.archived[row])

    def originals(self) -> tuple[Ints, Ints]:
        """Rows of summaries and, in the same places, the archived rows that these were taken from."""
        if self._pairs is None:
            none = np.zeros(0, np.int32)
            self._pairs = (none, none) if self.masks is None else self._paired(self._corpus, self.masks.archived)
        return self._pairs

    def untold(self, grain: Grain) -> Bools | None:
        """The rows of days that summaries of ``grain`` tell of which these took nothing; ``None`` without any."""
        corpus, rows, cited = self._corpus, self._corpus.rows, self._cited
        own = {info.id: info.path for info in corpus.documents.values() if info.grain is grain}
        periods = [calendar.bounds(*found) for path in own.values() if (found := calendar.parse_path(path)) is not None]
        if not periods:
            return None
        row = corpus.rows_of(cited.unit)
        # What was noted since then is on days of which no summary says anything yet.
        days = np.unique(rows.day[row[(row >= 0) & (cited.grain <= _GRAINS.index(grain))]])
        within = [(days >= first.toordinal()) & (days <= last.toordinal()) for first, last in periods]
        out = rows.dated & np.isin(rows.day, days[np.any(within, axis=0)])
        told = cited.of(cited.grain == _GRAINS.index(grain))
        out[row[(row >= 0) & np.isin(cited.place, told.place)]] = False
        out[rows_in(corpus, self._documents()[told.path], told.first, told.last)[1]] = False
        out[np.isin(rows.document_id, list(own))] = False
        return out

    # -- reading --------------------------------------------------------------------------------------

    def _read(self, summaries: Sequence[SummaryInfo], rows: DerivedRows, gone: Sequence[int], corpus: Corpus) -> None:
        """Take over all summaries; ``rows`` are what sentences of changed ones cite, those ``gone`` cited before."""
        stood_for: dict[tuple[str, str], int] = {}
        trust_of = {info.id: _ORIGINS.index(info.origin) for info in corpus.documents.values()}
        for info in summaries:
            for note in _own_notes(info):
                own = trust_of.get(info.id, len(_ORIGINS))
                stood_for[note] = min(own, stood_for.get(note, own))
        self._stood_for = stood_for
        splice = Splice.of(self._cited.document, rows.document_id, gone)
        document = splice(self._cited.document, rows.document_id)
        most = max((info.id for info in summaries), default=0)
        most = max(most, int(document.max(initial=0))) + 1
        grain, edited, ours = np.zeros(most, np.int8), np.zeros(most, bool), np.zeros(most, bool)
        trust = np.full(most, len(_ORIGINS), np.int8)
        for info in summaries:
            grain[info.id], edited[info.id], ours[info.id] = _GRAINS.index(info.grain), info.edited, not info.edited
            trust[info.id] = trust_of.get(info.id, len(_ORIGINS))
        self._ours = ours
        old = self._cited
        code = {path: at for at, path in enumerate(self._paths)}
        new = np.fromiter((code.setdefault(path, len(code)) for path in rows.path), np.int32, len(rows.path))
        used, of = np.unique(splice(old.path, new), return_inverse=True)
        known = list(code)
        self._paths = tuple(known[at] for at in used.tolist())
        unit = splice(old.unit, rows.unit_id)
        first, last = splice(old.first, rows.start_line), splice(old.last, rows.end_line)
        lines = np.unique(_joined(first, last), return_inverse=True)[1]
        place = np.unique(_joined(of, lines), return_inverse=True)[1].astype(np.int32)
        self._cited = _Citations(
            unit, document, grain[document], edited[document], trust[document], of.astype(np.int32), first, last, place
        )

    # -- deciding -------------------------------------------------------------------------------------

    def _decided(self, store: Store, corpus: Corpus) -> Masks:
        n = len(corpus)
        stood_for = np.zeros(max(corpus.documents) + 1, bool)
        grain_of = np.zeros(len(stood_for), np.int8)
        for info in corpus.documents.values():
            grain_of[info.id] = _GRAINS.index(info.grain)
            stood_for[info.id] = self._stands_for(info)
        archived = stood_for[corpus.rows.document_id]
        row = corpus.rows_of(self._cited.unit)
        known = row >= 0
        cited, row = self._cited.of(known), row[known]
        corpus.shown_tokens = shown(corpus.rows, self._said_besides(cited, row, n))
        source = self._documents()[cited.path]
        # What a person wrote into a summary is cited from there.
        there = (source >= 0) & (grain_of[source] < cited.grain)
        finer = _same_in_finer(cited, corpus.rows.hash[row])
        if cited.edited.any():
            # What a person wrote in the place of a sentence is no copy of it.
            there &= ~cited.edited | self._still_said(store, corpus, cited, row, source)
        open_ = there & ~stood_for[source]
        mentioned = np.zeros(n, bool)
        mentioned[row] = True
        ours = np.append(self._ours, False)  # the last place is for all other documents
        loose = ours[np.minimum(corpus.rows.document_id, len(self._ours))] & ~mentioned
        hidden = _everywhere(corpus, mentioned, loose, row[~(open_ | finer)])
        hidden |= loose & ~corpus.rows.heading  # lists of tags: no answer by themselves
        copies = _everywhere(corpus, mentioned, loose, row[~(there | finer)])
        return Masks(archived, hidden, copies, ~(archived | hidden))

    def _stands_for(self, note: DocumentInfo) -> bool:
        """Whether the summary of its day, no less trusted than it, stands for a note as it is now."""
        trust = self._stood_for.get((note.path, note.sha256))
        return (
            trust is not None
            and trust <= _ORIGINS.index(note.origin)
            and note.kind is Kind.DAILY
            and note.grain is Grain.WORKING
            and not note.path.startswith(f"{calendar.FOLDER}/")
        )

    def _documents(self) -> Ints:
        """The ids of the files that summaries cite, in the order of their paths; -1 for those that are not there."""
        ids = {info.path: info.id for info in self._corpus.documents.values()}
        return np.array([ids.get(path, -1) for path in self._paths], np.int32)

    def _said_besides(self, cited: _Citations, row: Ints, n: int) -> Ints:
        """Characters of each line of a summary that are not searched: its marker, its day and its citations."""
        lengths = np.array([len(path) for path in self._paths], np.int32)
        digits = [np.log10(np.maximum(lines, 1)).astype(np.int32) + 1 for lines in (cited.first, cited.last)]
        several = cited.last > cited.first
        chars = len(" [#L]") + lengths[cited.path] + digits[0] + several * (len("-L") + digits[1])
        out = np.zeros(n, np.int32)
        np.add.at(out, row, chars.astype(np.int32))
        own = np.unique(row)
        grain = np.zeros(n, np.int8)
        grain[row] = cited.grain
        out[own] += _MARKER + _DAY * _DATED[grain[own]]
        return out

    def _still_said(self, store: Store, corpus: Corpus, cited: _Citations, row: Ints, source: Ints) -> Bools:
        """Whether the lines that a sentence of an edited summary cites say it still: ``bool[m]``."""
        out = np.zeros(len(row), bool)
        wanted: dict[int, _Place] = {}
        for at in np.flatnonzero(cited.edited & (source >= 0)).tolist():
            file = corpus.documents[int(source[at])]
            lines = int(cited.first[at]), int(cited.last[at])
            wanted[at] = int(cited.unit[at]), file.id, file.generation, *lines
        missing = [at for at, place in wanted.items() if place not in self._verbatim]
        if missing:
            found = _verbatim(store, corpus, row[missing], source[missing], cited.of(np.array(missing)))
            self._verbatim |= {wanted[at]: says for at, says in zip(missing, found, strict=True)}
        self._verbatim = {place: self._verbatim[place] for place in wanted.values()}
        for at, place in wanted.items():
            out[at] = self._verbatim[place]
        return out

    def _paired(self, corpus: Corpus, archived: Bools) -> tuple[Ints, Ints]:
        """Where several units begin in the cited lines, the one of about the same length, or all where these are."""
        document = self._documents()[self._cited.path]
        row = corpus.rows_of(self._cited.unit)
        known = (row >= 0) & (document >= 0)
        cited, row, document = self._cited.of(known), row[known], document[known]
        at, source = rows_in(corpus, document, cited.first, cited.last)
        keep = archived[source]
        at, source = at[keep], source[keep]
        apart = np.abs(corpus.rows.terms[source] - corpus.rows.terms[row[at]])
        least = np.full(len(row), np.iinfo(np.int32).max, np.int32)
        np.minimum.at(least, at, apart)
        every = np.bincount(at, corpus.rows.terms[source], minlength=len(row))
        near = (apart == least[at]) | (np.abs(every - corpus.rows.terms[row]) <= least)[at]
        return row[at[near]], source[near]


def _own_notes(info: SummaryInfo) -> list[tuple[str, str]]:
    """Notes of its day that the summary of a day names, with the SHA-256 of their texts; of others there are none."""
    found = calendar.parse_path(info.path)
    if found is None or found[0] is not Grain.DAILY:
        return []
    day, _ = calendar.bounds(*found)
    return [(path, digest) for path, digest in info.sources if digest and date_in_name(path) == day]


def rows_in(corpus: Corpus, document: Ints, first: Ints, last: Ints) -> tuple[Longs, Ints]:
    """Rows that begin in lines ``first[i]..last[i]`` of a document, as ``(i, row)``."""
    key = _joined(corpus.rows.document_id, corpus.rows.start_line)
    order = np.argsort(key, kind="stable")
    low = np.searchsorted(key, _joined(document, first), sorter=order)
    high = np.searchsorted(key, _joined(document, last), side="right", sorter=order)
    length = np.maximum(high - low, 0)
    at = np.repeat(np.arange(len(document)), length)
    step = np.arange(len(at)) - np.repeat(np.cumsum(length) - length, length)
    return at, order[np.repeat(low, length) + step].astype(np.int32)


def _joined(high: NDArray[np.integer[Any]], low: NDArray[np.integer[Any]]) -> Longs:
    """Two columns of numbers below 2**31 as one that sorts like both."""
    return (high.astype(np.int64) << 32) + low


def _everywhere(corpus: Corpus, mentioned: Bools, loose: Bools, other: Ints) -> Bools:
    """Rows that cite, and none of whose citations is one of ``other``; headings and tags go with their sections."""
    new = np.zeros(len(corpus), bool)
    new[other] = True
    out = mentioned & ~new
    if not loose.any():
        return out
    for group in (corpus.rows.document_id, corpus.shape.section):  # a section decides where it cites anything
        size = int(group.max()) + 1
        cites = np.bincount(group[mentioned], minlength=size) > 0
        left = np.bincount(group[mentioned & new], minlength=size) > 0
        out = np.where(loose & cites[group], ~left[group], out)
    return out


def _same_in_finer(cited: _Citations, hashes: Longs) -> Bools:
    """Whether a finer summary, no less trusted, has the same sentence from the same lines: ``bool[m]``."""
    said = np.unique(_joined(cited.place, np.unique(hashes, return_inverse=True)[1]), return_inverse=True)[1]
    finest = np.full((int(said.max(initial=-1)) + 1, len(_ORIGINS) + 1), len(_GRAINS), np.int8)
    np.minimum.at(finest, (said, cited.trust), cited.grain)
    return np.asarray(np.minimum.accumulate(finest, axis=1)[said, cited.trust] < cited.grain)


def _verbatim(store: Store, corpus: Corpus, row: Ints, document: Ints, cited: _Citations) -> list[bool]:
    """Whether the lines that each row cites hold its sentence, word by word."""
    at, source = rows_in(corpus, document, cited.first, cited.last)
    sections = corpus.rows.section_id
    texts = store.section_texts(sorted({*sections[row].tolist(), *sections[source].tolist()}))

    def line(of: int) -> str:
        part = texts.get(int(sections[of]))
        if part is None:
            return ""
        first, last = int(corpus.rows.start_line[of]), int(corpus.rows.end_line[of])
        return "\n".join(part.lines[first - part.start_line : last - part.start_line + 1])

    def words(text: str) -> str:
        found = " ".join(re.findall(r"\w+", text.casefold()))
        return f" {found} "

    def holds(place: int, summary: int) -> bool:
        said = parse_line(line(summary), _GRAINS[int(cited.grain[place])] in DATED)
        return said is not None and any(words(said.text) in words(line(one)) for one in source[at == place].tolist())

    return [holds(place, one) for place, one in enumerate(row.tolist())]


def _no_citations() -> _Citations:
    none = np.zeros(0, np.int32)
    codes = np.zeros(0, np.int8)
    return _Citations(none, none, codes, np.zeros(0, bool), codes, none, none, none, none)
