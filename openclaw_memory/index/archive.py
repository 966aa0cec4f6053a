"""Find notes that a summary covers, and sentences of summaries that stand in the index in a finer form already.

Both follow from the citations of summaries and from the current texts; nothing of it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ingest.summary_files import DATED, parse_line
from ..model import Grain, Kind, Origin
from ..records import NamedTuple, dataclass
from ..store.api import Bools, DocumentInfo, Ints, Store, SummaryInfo
from ..system.mapped import Kept
from ..text import calendar
from ..text.dates import date_in_name
from .corpus import Corpus, shown_tokens

Longs = NDArray[np.int64]
Codes = NDArray[np.int8]

_GRAINS = list(Grain)
#: Most trusted first.
_ORIGINS = list(Origin)
#: True for grains whose lines begin with their day.
_DATED = np.array([grain in DATED for grain in _GRAINS])


class Masks(NamedTuple):
    """Masks over the rows of a corpus for what summaries and notes say twice, ``bool[n]`` each.

    ``archived`` are rows of notes that the summary of their day covers.  ``hidden`` are rows of summaries that
    only repeat a note that is not archived, or a finer summary; ``copies`` those whose sources are in the
    index in whatever state, so every hidden row is one.  ``shown`` are the rows that are neither archived nor hidden:
    among them each sentence stands once.
    """

    archived: Bools
    hidden: Bools
    copies: Bools
    shown: Bools


@dataclass(frozen=True, slots=True)
class _Citations:
    """Citations of sentences of summaries, as columns; ``place`` numbers the cited lines.

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

    def take(self, chosen: Bools | Longs) -> _Citations:
        """Return some of them."""
        return _Citations(*(getattr(self, f.name)[chosen] for f in fields(self)))


class Archive(Kept):
    """The masks of one corpus, kept in step with it; where there is no summary there are none."""

    transient = ("_corpus",)

    def __init__(self) -> None:
        #: The masks; ``None`` where there is no summary.
        self.masks: Masks | None = None
        self._version = 0
        self._generations: dict[int, int] = {}
        self._paths: tuple[str, ...] = ()
        self._cited = _no_citations()
        #: The trust of the most trusted summary of each covered note, by the note's path and SHA-256.
        self._covered_notes: Mapping[tuple[str, str], int] = {}
        self._corpus = Corpus()
        self._pairs: tuple[Ints, Ints] | None = None
        #: True for summaries that are as they were written, by document id.
        self._unedited = np.zeros(0, bool)

    def refresh(self, store: Store, corpus: Corpus) -> None:
        """Take over changes; ``corpus`` has been refreshed."""
        if corpus.version == self._version and corpus is self._corpus:
            return
        self._version, self._corpus, self._pairs = corpus.version, corpus, None
        summaries = {info.id: info.generation for info in corpus.documents.values() if info.grain is not Grain.WORKING}
        if not summaries:
            self.masks, self._generations, self._cited, self._paths = None, {}, _no_citations(), ()
            return
        if summaries != self._generations:
            self._read(store, corpus)
            self._generations = summaries
        self.masks = self._decide(store, corpus)

    def restore_for(self, corpus: Corpus, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`export` returned; ``corpus`` is as it was then."""
        self.restore(state)
        self._corpus = corpus

    def visible_rows(self, grains: Sequence[Grain], include_archived: bool) -> Bools | None:
        """Return the rows that a question with these options is about, ``None`` for all; with ``grains`` all are."""
        if self.masks is None or grains:
            return None
        return ~self.masks.hidden if include_archived else self.masks.shown

    def is_archived(self, row: int) -> bool:
        """Return true if a summary covers the note of a row."""
        return self.masks is not None and bool(self.masks.archived[row])

    def originals(self) -> tuple[Ints, Ints]:
        """Return rows of summaries and, in the same places, the archived rows that these were taken from."""
        if self._pairs is None:
            none = np.zeros(0, np.int32)
            self._pairs = (none, none) if self.masks is None else self._pair(self._corpus, self.masks.archived)
        return self._pairs

    def without_originals(self, allowed: Bools | None) -> Bools | None:
        """Return ``allowed`` without archived rows that an allowed row of a summary repeats: a budget pays once."""
        summaries, originals = self.originals()
        if not len(originals):
            return allowed
        out = np.ones(len(self._corpus), bool) if allowed is None else allowed.copy()
        out[originals[out[summaries]]] = False
        return out

    def uncited(self, grain: Grain) -> Bools | None:
        """Return the rows that summaries of ``grain`` cover and do not cite; ``None`` without such summaries."""
        corpus, rows, cited = self._corpus, self._corpus.rows, self._cited
        paths = {info.id: info.path for info in corpus.documents.values() if info.grain is grain}
        parsed = map(calendar.parse_path, paths.values())
        periods = [calendar.bounds(*period) for period in parsed if period is not None]
        if not periods:
            return None
        row = corpus.rows_of(cited.unit)
        # Newer notes are on days that no summary covers yet.
        days = np.unique(rows.day[row[(row >= 0) & (cited.grain <= _GRAINS.index(grain))]])
        within = [(days >= first.toordinal()) & (days <= last.toordinal()) for first, last in periods]
        out = rows.dated & np.isin(rows.day, days[np.any(within, axis=0)])
        of_grain = cited.take(cited.grain == _GRAINS.index(grain))
        out[row[(row >= 0) & np.isin(cited.place, of_grain.place)]] = False
        out[rows_in(corpus, self._documents()[of_grain.path], of_grain.first, of_grain.last)[1]] = False
        out[np.isin(rows.document_id, list(paths))] = False
        return out

    # -- reading --------------------------------------------------------------------------------------

    def _read(self, store: Store, corpus: Corpus) -> None:
        """Take over all summaries and their citations."""
        summaries, rows = store.summaries(), store.summary_citations()
        covered: dict[tuple[str, str], int] = {}
        trust_of = {info.id: _ORIGINS.index(info.origin) for info in corpus.documents.values()}
        for info in summaries:
            for note in _notes_of_day(info):
                trust_of_summary = trust_of.get(info.id, len(_ORIGINS))
                covered[note] = min(trust_of_summary, covered.get(note, trust_of_summary))
        self._covered_notes = covered
        most = max((info.id for info in summaries), default=0)
        most = max(most, int(rows.document_id.max(initial=0))) + 1
        grain, edited, unedited = np.zeros(most, np.int8), np.zeros(most, bool), np.zeros(most, bool)
        trust = np.full(most, len(_ORIGINS), np.int8)
        for info in summaries:
            grain[info.id], edited[info.id], unedited[info.id] = _GRAINS.index(info.grain), info.edited, not info.edited
            trust[info.id] = trust_of.get(info.id, len(_ORIGINS))
        self._unedited = unedited
        paths, path = np.unique(np.array(rows.path, np.str_), return_inverse=True)
        self._paths = tuple(paths.tolist())
        document, first, last = rows.document_id, rows.start_line, rows.end_line
        lines = np.unique(_packed(first, last), return_inverse=True)[1]
        place = np.unique(_packed(path, lines), return_inverse=True)[1].astype(np.int32)
        columns = grain[document], edited[document], trust[document], path.astype(np.int32), first, last, place
        self._cited = _Citations(rows.unit_id, document, *columns)

    # -- deciding -------------------------------------------------------------------------------------

    def _decide(self, store: Store, corpus: Corpus) -> Masks:
        n = len(corpus)
        covered = np.zeros(max(corpus.documents) + 1, bool)
        grain_of = np.zeros(len(covered), np.int8)
        for info in corpus.documents.values():
            grain_of[info.id] = _GRAINS.index(info.grain)
            covered[info.id] = self._is_covered(info)
        archived = covered[corpus.rows.document_id]
        row = corpus.rows_of(self._cited.unit)
        present = row >= 0
        cited, row = self._cited.take(present), row[present]
        corpus.shown_tokens = shown_tokens(corpus.rows, self._unsearched_chars(cited, row, n))
        source = self._documents()[cited.path]
        # A sentence that a person wrote into a summary is cited from there.
        there = (source >= 0) & (grain_of[source] < cited.grain)
        finer = _same_in_finer(cited, corpus.rows.hash[row])
        if len(at := np.flatnonzero(there & cited.edited)):
            # A sentence that a person wrote in the place of another one is no copy of it.
            there[at] = _verbatim(store, corpus, row[at], source[at], cited.take(at))
        open_ = there & ~covered[source]
        mentioned = np.zeros(n, bool)
        mentioned[row] = True
        unedited = np.append(self._unedited, False)  # the last place is for all other documents
        citing_nothing = unedited[np.minimum(corpus.rows.document_id, len(self._unedited))] & ~mentioned
        hidden = _rows_without(corpus, mentioned, citing_nothing, row[~(open_ | finer)])
        hidden |= citing_nothing & ~corpus.rows.heading  # lists of tags: no answer by themselves
        copies = _rows_without(corpus, mentioned, citing_nothing, row[~(there | finer)])
        return Masks(archived, hidden, copies, ~(archived | hidden))

    def _is_covered(self, note: DocumentInfo) -> bool:
        """Return true if a summary of its day, no less trusted than the note, covers it in its present state."""
        trust = self._covered_notes.get((note.path, note.sha256))
        return (
            trust is not None
            and trust <= _ORIGINS.index(note.origin)
            and note.kind is Kind.DAILY
            and note.grain is Grain.WORKING
            and not note.path.startswith(f"{calendar.FOLDER}/")
        )

    def _documents(self) -> Ints:
        """Return the ids of the files that summaries cite, in the order of their paths; -1 for missing ones."""
        ids = {info.path: info.id for info in self._corpus.documents.values()}
        return np.array([ids.get(path, -1) for path in self._paths], np.int32)

    def _unsearched_chars(self, cited: _Citations, row: Ints, n: int) -> Ints:
        """Count the characters of each line of a summary that are not searched: its marker, day and citations."""
        lengths = np.array([len(path) for path in self._paths], np.int32)
        digits = [np.log10(np.maximum(lines, 1)).astype(np.int32) + 1 for lines in (cited.first, cited.last)]
        several = cited.last > cited.first
        chars = len(" [#L]") + lengths[cited.path] + digits[0] + several * (len("-L") + digits[1])
        out = np.zeros(n, np.int32)
        np.add.at(out, row, chars.astype(np.int32))
        citing = np.unique(row)
        grain = np.zeros(n, np.int8)
        grain[row] = cited.grain
        out[citing] += len("- ") + len("2026-02-16: ") * _DATED[grain[citing]]
        return out

    def _pair(self, corpus: Corpus, archived: Bools) -> tuple[Ints, Ints]:
        """Pair rows of summaries with cited rows; of several in the cited lines the one nearest in length, or all."""
        document = self._documents()[self._cited.path]
        row = corpus.rows_of(self._cited.unit)
        present = (row >= 0) & (document >= 0)
        cited, row, document = self._cited.take(present), row[present], document[present]
        at, source = rows_in(corpus, document, cited.first, cited.last)
        keep = archived[source]
        at, source = at[keep], source[keep]
        apart = np.abs(corpus.rows.terms[source] - corpus.rows.terms[row[at]])
        least = np.full(len(row), np.iinfo(np.int32).max, np.int32)
        np.minimum.at(least, at, apart)
        every = np.bincount(at, corpus.rows.terms[source], minlength=len(row))
        near = (apart == least[at]) | (np.abs(every - corpus.rows.terms[row]) <= least)[at]
        return row[at[near]], source[near]


def _notes_of_day(info: SummaryInfo) -> list[tuple[str, str]]:
    """Return the notes of its day that the summary of a day names, with the SHA-256 of their texts."""
    period = calendar.parse_path(info.path)
    if period is None or period[0] is not Grain.DAILY:
        return []
    day, _ = calendar.bounds(*period)
    return [(path, digest) for path, digest in info.sources if digest and date_in_name(path) == day]


def rows_in(corpus: Corpus, document: Ints, first: Ints, last: Ints) -> tuple[Longs, Ints]:
    """Return rows that begin in lines ``first[i]..last[i]`` of a document, as ``(i, row)``."""
    key = _packed(corpus.rows.document_id, corpus.rows.start_line)
    order = np.argsort(key, kind="stable")
    low = np.searchsorted(key, _packed(document, first), sorter=order)
    high = np.searchsorted(key, _packed(document, last), side="right", sorter=order)
    length = np.maximum(high - low, 0)
    at = np.repeat(np.arange(len(document)), length)
    step = np.arange(len(at)) - np.repeat(np.cumsum(length) - length, length)
    return at, order[np.repeat(low, length) + step].astype(np.int32)


def _packed(high: NDArray[np.integer[Any]], low: NDArray[np.integer[Any]]) -> Longs:
    """Join two columns of numbers below 2**31 into one that sorts like both."""
    return (high.astype(np.int64) << 32) + low


def _rows_without(corpus: Corpus, mentioned: Bools, citing_nothing: Bools, other: Ints) -> Bools:
    """Return the rows of ``mentioned`` that are not among ``other``; headings and tags go with their sections."""
    new = np.zeros(len(corpus), bool)
    new[other] = True
    out = mentioned & ~new
    if not citing_nothing.any():
        return out
    for group in (corpus.rows.document_id, corpus.shape.section):  # a section decides where it cites anything
        size = int(group.max()) + 1
        cites = np.bincount(group[mentioned], minlength=size) > 0
        left = np.bincount(group[mentioned & new], minlength=size) > 0
        out = np.where(citing_nothing & cites[group], ~left[group], out)
    return out


def _same_in_finer(cited: _Citations, hashes: Longs) -> Bools:
    """Return true where a finer summary, no less trusted, has the same sentence from the same lines: ``bool[m]``."""
    sentence = np.unique(_packed(cited.place, np.unique(hashes, return_inverse=True)[1]), return_inverse=True)[1]
    finest = np.full((int(sentence.max(initial=-1)) + 1, len(_ORIGINS) + 1), len(_GRAINS), np.int8)
    np.minimum.at(finest, (sentence, cited.trust), cited.grain)
    return np.asarray(np.minimum.accumulate(finest, axis=1)[sentence, cited.trust] < cited.grain)


def _verbatim(store: Store, corpus: Corpus, row: Ints, document: Ints, cited: _Citations) -> list[bool]:
    """Return true for each row whose cited lines hold its sentence, word by word."""
    at, source = rows_in(corpus, document, cited.first, cited.last)
    sections = corpus.rows.section_id
    texts = store.section_texts(sorted({*sections[row].tolist(), *sections[source].tolist()}))

    def text(row: int) -> str:
        section = texts.get(int(sections[row]))
        if section is None:
            return ""
        first, last = int(corpus.rows.start_line[row]), int(corpus.rows.end_line[row])
        return "\n".join(section.lines[first - section.start_line : last - section.start_line + 1])

    def words(sentence: str) -> str:
        return " " + " ".join(re.findall(r"\w+", sentence.casefold())) + " "

    def holds(place: int, summary: int) -> bool:
        line = parse_line(text(summary), _GRAINS[int(cited.grain[place])] in DATED)
        return line is not None and any(
            words(line.text) in words(text(other)) for other in source[at == place].tolist()
        )

    return [holds(place, summary) for place, summary in enumerate(row.tolist())]


def _no_citations() -> _Citations:
    none = np.zeros(0, np.int32)
    codes = np.zeros(0, np.int8)
    return _Citations(none, none, codes, np.zeros(0, bool), codes, none, none, none, none)
