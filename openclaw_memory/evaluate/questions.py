"""Make questions from the notes of an index, without a language model: the same notes give the same questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from functools import reduce
from itertools import chain, islice

import numpy as np

from .. import patterns as re
from ..model import FactRow, parse_citation
from ..records import dataclass
from ..search.resident import ResidentIndex
from ..store.api import Bools, Ints, batches
from ..text import analysis, language
from ..text.scripts import JOINED_LETTER

#: A path, its first and its last line.
Lines = tuple[str, int, int]

#: More lines than that with all words of a question make it ambiguous.
_AMBIGUOUS = 4


@dataclass(frozen=True, slots=True)
class NoteQuestion:
    """A question, and the lines that answer it: none if nothing does."""

    kind: str
    language: str
    text: str
    answers: tuple[Lines, ...] = ()


def make_questions(index: ResidentIndex, facts: Sequence[FactRow], most: int) -> list[NoteQuestion]:
    """Return about ``most`` questions, the same number of each kind as far as the notes have them.

    ``facts`` are those that hold.  The caller holds the index, which must be up to date.
    """
    notes = _Notes(index)
    kinds = (
        _ask_facts(notes, facts),
        _ask_headings(notes),
        _ask_words(notes),
        _ask_nothing(notes),
    )
    each = -(-most // len(kinds))
    return list(chain.from_iterable(islice(kind, each) for kind in kinds))


class _Notes:
    """The rows of an index as questions are made from them."""

    def __init__(self, index: ResidentIndex) -> None:
        self._index, self._corpus = index, index.corpus
        self.rows, self.shape = self._corpus.rows, self._corpus.shape
        masks = index.archive.masks
        self.visible: Bools = np.ones(len(self._corpus), bool) if masks is None else masks.shown
        no_line = self.rows.heading | self.rows.machine | self.rows.meta | (self.rows.terms < 6)
        self.lines: Bools = self.visible & self.shape.anchor & ~no_line
        self._language: dict[int, str] = {}
        self._documents = {info.path: info.id for info in self._corpus.documents.values()}

    def spread(self, mask: Bools) -> list[int]:
        """Return the rows of ``mask``: one of each file, then a second one, and so on, by the hashes of their texts."""
        rows, columns = np.flatnonzero(mask), self.rows
        by_file = rows[np.lexsort((columns.occurrence[rows], columns.hash[rows], columns.document_id[rows]))]
        files = columns.document_id[by_file]
        round_of_file = np.arange(len(files)) - np.searchsorted(files, files)
        ordered: list[int] = by_file[np.lexsort((columns.hash[by_file], round_of_file))].tolist()
        return ordered

    def texts(self, rows: Sequence[int]) -> list[str]:
        return [text for text, _ in self._index.display.texts(np.asarray(rows, np.int32))]

    def rows_by_term(self, terms: set[str]) -> dict[str, Ints]:
        """Return the rows that have each term, ascending."""
        assert self._index.keyword is not None
        distinct = sorted(terms)
        postings = self._index.keyword.postings(distinct)
        found = (np.unique(self._corpus.rows_of(postings.for_term(at)[0])) for at in range(len(distinct)))
        return {term: rows[rows >= 0] for term, rows in zip(distinct, found, strict=True)}

    def words(self, rows: Sequence[int]) -> Iterator[tuple[int, dict[str, str], dict[str, Ints]]]:
        """Yield for each row the words of its text by their terms, and the rows of each of these terms."""
        for batch in batches(rows, 64):
            words = [_words(text) for text in self.texts(batch)]
            found = self.rows_by_term(set().union(*words))
            yield from ((row, own, found) for row, own in zip(batch, words, strict=True))

    def is_rare(self, rows: Ints) -> bool:
        return 0 < len(rows) <= max(20, 0.05 * len(self.visible))

    def place(self, row: int) -> Lines:
        """Return the lines of a row."""
        columns = self.rows
        path = self._corpus.documents[int(columns.document_id[row])].path
        return path, int(columns.start_line[row]), int(columns.end_line[row])

    def lines_of(self, rows: Sequence[int]) -> tuple[Lines, ...]:
        """Return the lines of rows and of all that say the same."""
        same = {copy for row in rows for copy in self._corpus.rows_with_text_of(row).tolist()}
        return tuple(sorted({self.place(row) for row in same}))

    def language(self, file: int) -> str:
        """Return the language of most of the first lines of a file."""
        if file not in self._language:
            first = np.flatnonzero(self.rows.document_id == file)[:60].tolist()
            tokens = language.tokens_by_language("\n".join(self.texts(first)))
            self._language[file] = max(sorted(tokens), key=tokens.__getitem__, default=language.ENGLISH)
        return self._language[file]

    def question(self, kind: str, row: int, text: str, **lines: tuple[Lines, ...]) -> NoteQuestion:
        return NoteQuestion(kind, self.language(int(self.rows.document_id[row])), text, **lines)

    def row_at(self, source: str | None) -> int | None:
        """Return the first row of cited lines."""
        place = parse_citation(source) if source else None
        file = self._documents.get(place[0]) if place else None
        if place is None or file is None:
            return None
        rows = np.flatnonzero((self.rows.document_id == file) & (self.rows.end_line >= place[1]) & self.visible)
        return int(rows[0]) if len(rows) and self.rows.start_line[rows[0]] <= place[2] else None

    def mixed(self, term: str, row: int) -> int:
        """Return a number that puts the terms of a row in an order which is not that of its text."""
        return analysis.unit_hash(f"{self.rows.hash[row]} {term}")


def _ask_facts(notes: _Notes, facts: Sequence[FactRow]) -> Iterator[NoteQuestion]:
    """Ask for the value of a fact by its subject and relation."""
    by_relation: defaultdict[tuple[str, str], list[tuple[FactRow, int]]] = defaultdict(list)
    for fact in facts:
        if (row := notes.row_at(fact.source)) is not None:
            by_relation[fact.subject.casefold(), fact.predicate].append((fact, row))
    for _, stated in sorted(by_relation.items(), key=lambda item: analysis.unit_hash("\n".join(item[0]))):
        fact, row = stated[0]
        text = " ".join(filter(None, (fact.under, fact.subject, fact.predicate.replace("_", " "))))
        if len(stated) <= _AMBIGUOUS:
            yield notes.question("fact", row, text, answers=notes.lines_of([row for _, row in stated]))


def _ask_headings(notes: _Notes) -> Iterator[NoteQuestion]:
    """Ask for what stands under a heading by its words and its day."""
    rows, shape = notes.rows, notes.shape
    ends = np.append(shape.section_start[1:], len(rows.day))
    starts = np.zeros(len(rows.day), bool)
    starts[shape.section_start[shape.has_heading & (ends > shape.section_start + 1)]] = True
    for row in notes.spread(starts & notes.visible & (rows.day > 0) & ~rows.title & ~rows.machine):
        text = re.sub(r"[#*_`~]+", " ", notes.texts([row])[0]).strip()
        if any(term.isalpha() for term in _words(text)):
            path, first, _ = notes.place(row)
            last = int(rows.end_line[ends[shape.section[row]] - 1])
            day = date.fromordinal(int(rows.day[row]))
            yield notes.question("heading", row, f"{text} {day}", answers=((path, first, last),))


def _ask_words(notes: _Notes) -> Iterator[NoteQuestion]:
    """Ask for a line by some of its rare words, in another order."""
    for row, words, found in notes.words(notes.spread(notes.lines)):
        rare = sorted((term for term in words if notes.is_rare(found[term])), key=lambda term: notes.mixed(term, row))
        for number in range(2, len(rare)):  # as few as no other lines have together
            same = reduce(np.intersect1d, (found[term] for term in rare[:number]))
            if len(same) <= _AMBIGUOUS:
                text = " ".join(words[term] for term in rare[:number])
                yield notes.question("words", row, text, answers=notes.lines_of([row, *same.tolist()]))
                break


def _ask_nothing(notes: _Notes) -> Iterator[NoteQuestion]:
    """Ask with rare words of three lines that no file has together: nothing answers."""
    kept: list[tuple[int, str, frozenset[int]]] = []
    for row, words, found in notes.words(notes.spread(notes.lines)):
        rare = [term for term in words if len(found[term]) <= _AMBIGUOUS]
        if not rare:
            continue
        term = min(rare, key=lambda term: (len(found[term]), notes.mixed(term, row)))
        files = frozenset(notes.rows.document_id[found[term]].tolist())
        if any(files & others for *_, others in kept):
            continue
        kept.append((row, words[term], files))
        if len(kept) == 3:
            yield notes.question("nothing", row, " ".join(word for _, word, _ in kept))
            kept = []


def _words(text: str) -> dict[str, str]:
    """Return the words of a text by their terms, without stop words; parts where no space divides words."""
    content = {terms[0] for terms in analysis.content_terms(text)}
    words = analysis.words_by_term(text)
    return {
        term: term if JOINED_LETTER.search(term) else word
        for term, word in words.items()
        if term in content and any(map(str.isalnum, term))
    }
