"""Find the only person of the notes who has the first, the last or the whole name that a message gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np

from .. import patterns as re
from ..knowledge.lexicon import NAMELESS, ORDINARY, is_german_noun
from ..knowledge.names import UPPER
from ..search.resident import ResidentIndex
from ..store.api import Ints
from ..text import analysis, language
from ..text.plain import plain
from ..text.sentences import sentence_spans
from ..text.speech import find_phrases, has_request, is_thanks, subject_terms

#: Rows that are read to find the full name of a word.
_READ = 60
#: Kinds of phrases that are no name.
_ASKED = ("courtesy", "request", "asking", "thanks")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LABELLED = re.compile("[:：]")
_SIGNS = re.compile(r"[\W_]+")
_CAPITAL = rf"[{UPPER}][^\W\d_]+(?:['’-][^\W\d_]+)*"
#: Two words with capitals; and a heading, or a label before a colon, of nothing but these and a remark.
_FULL_NAME = re.compile(rf"(?<!\w){_CAPITAL} {_CAPITAL}")
_PERSON = re.compile(rf"\W*(?P<name>{_CAPITAL} {_CAPITAL})\s*(?:\(.*\))?(?:[:：].*)?")


def find_people(index: ResidentIndex, message: str) -> dict[str, Ints]:
    """Return by name the rows about each person whom a message names: below the heading, in the line, or in the file.

    Nobody is returned for a part of a name that several persons of the notes have.  The caller holds the index.
    """
    if index.keyword is None:
        return {}
    words = list(dict.fromkeys(_capitalised_words(message)))
    terms = [_term(word) for word in words]
    postings = index.keyword.postings(sorted(set(terms)))
    at = {term: place for place, term in enumerate(sorted(set(terms)))}
    people: dict[str, Ints] = {}
    for term in terms:
        rows = index.corpus.rows_of(postings.for_term(at[term])[0])
        rows = rows[rows >= 0]
        if 0 < len(rows) <= _READ:
            bearers = _bearers(index, rows, term)
            # With the first and the last name the message says which one.
            bearers = {name: about for name, about in bearers.items() if set(_parts(name)) <= set(terms)} or bearers
            people |= {name: about for name, about in bearers.items() if len(bearers) == 1 and len(about)}
    return people


def _bearers(index: ResidentIndex, rows: Ints, term: str) -> dict[str, Ints]:
    """Return the full names with ``term`` in ``rows``, each with the rows about it.

    A name that is only mentioned has none; it shows that the first name alone is not clear.
    """
    section, heading = index.corpus.shape.section, index.corpus.rows.heading
    document = index.corpus.rows.document_id
    bearers: dict[str, Ints] = {}
    for row, (text, headings) in zip(rows.tolist(), index.display.texts(rows), strict=True):
        text = plain(headings.rpartition(" > ")[2] if heading[row] else text)
        match = _PERSON.fullmatch(text)
        file = _parts(_SIGNS.sub(" ", PurePosixPath(index.corpus.documents[int(document[row])].path).stem))
        for name in _FULL_NAME.findall(text):
            parts = _parts(name)
            # The last name alone may be that of a thing, unless a note is named after its bearer.
            if parts[0] == term or (parts == file and term in parts):
                whole = np.flatnonzero((document == document[row]) & ~heading) if parts == file else ()
                bearers[name] = np.union1d(bearers.get(name, ()), whole).astype(np.int32)
        if match is not None and match["name"] in bearers and (heading[row] or _LABELLED.search(text)):
            first, end = np.searchsorted(section, [section[row], section[row] + 1]).tolist()
            below = np.arange(first, end, dtype=np.int32) if heading[row] else np.array([row], np.int32)
            bearers[match["name"]] = np.union1d(bearers[match["name"]], below[~heading[below]])
    return bearers


def _capitalised_words(message: str) -> Iterator[str]:
    """Yield the words of a message that may be a first name."""
    for line in message.splitlines():
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            # A name and a courtesy ask for nothing.
            if is_thanks(sentence) or not (has_request(sentence) or len(subject_terms(sentence)) > 1):
                continue
            spoken = language.detect_language(language.latin_words(sentence.lower()))
            asked = {at for match in find_phrases(sentence, _ASKED) for at in range(match.start, match.end)}
            for word in _WORD.finditer(sentence):
                low = word[0].lower()
                if word[0][0].isupper() and len(low) > 2 and word.start() not in asked and not (
                    low in NAMELESS or (low in ORDINARY and not word.start()) or language.is_stop_word(low, spoken)
                    or (spoken == language.CAPITAL_NOUNS and is_german_noun(low))
                ):  # fmt: skip
                    yield word[0]


def _parts(name: str) -> list[str]:
    return [_term(word) for word in name.split()]


def _term(word: str) -> str:
    return next(iter(analysis.query_terms(word)), word.casefold())
