"""Correct misspelt words of a question: words that no note has and that are one edit away from a word of the notes.

A slip is a letter that is missing, too many or another one, or two that have changed places (Damerau, 1964).  Such are
four of five misspellings, and hardly any is in a word's first letter (Pollock & Zamora, 1984), so that has to be right.
A word that the model has a token for is one, whether or not the notes have it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import LeaseTimeout, StoreUnreachable
from ..system.deadline import Deadline
from ..text import analysis
from .question import Question
from .resident import ResidentIndex

if TYPE_CHECKING:
    from ..embed.vectorizer import Vectorizer
    from ..store.api import Store

#: Letters of a word that may be taken for another one: of shorter ones too many are one slip from each other.
_MIN_LETTERS = 5
#: Unknown words of a question that are looked up.
_MAX_UNKNOWN = 8


def find_corrections(
    question: Question, index: ResidentIndex, store: Store, vectorizer: Vectorizer, deadline: Deadline
) -> dict[str, str]:
    """Return the correction of each misspelt word of a question; nothing while the index cannot be had.

    Of several candidates the one in the most units is taken.  If more than half of the words stay unknown even when
    corrected, the question is in another language or about something else, and only names of curated concepts are
    corrected.
    """
    # A look at the state of the last question takes no turn at the store.
    if index.lock.acquire(blocking=False):
        try:
            if index.keyword is not None and not _misspellings(question, _unknown(question, index)):
                return {}
        finally:
            index.lock.release()
    try:
        with store.limit_waiting(Deadline.after(deadline.left(0.25))), index.reading():
            index.refresh(None)
            unknown = _unknown(question, index)
            words = _misspellings(question, unknown)
            spellings = store.spellings([analysis.fold_spelling(word) for word in words]) if words else set()
            nearest = {word: _correction(word, spellings, index) for word in words}
            curated = _curated_names(index)
    except (LeaseTimeout, StoreUnreachable):
        return {}
    corrections = {
        word: other for word, other in nearest.items() if other is not None and not vectorizer.knows_word(word)
    }
    if 2 * (len(unknown) - len(corrections)) <= len(question.words):
        return corrections
    return {word: other for word, other in corrections.items() if analysis.fold_spelling(other) in curated}


def _curated_names(index: ResidentIndex) -> set[str]:
    """Return the spellings of curated concepts, in the form in which spellings are compared."""
    return {
        analysis.fold_spelling(name)
        for concept in index.graph.index.ontology.concepts
        for name in (concept.name, *concept.aliases)
    }


def rewrite(text: str, corrections: Mapping[str, str]) -> str:
    """Return ``text`` with the ``corrections`` of its misspelt words."""
    if not corrections:
        return text
    pattern = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in corrections)
    return re.sub(pattern, lambda match: corrections[match[0]], text)


def _unknown(question: Question, index: ResidentIndex) -> set[str]:
    """Return the first terms of the words that no note or name has in any form."""
    forms = [form for word in question.words for form in word]
    counts = iter(_unit_counts(forms, index))
    named = index.names.with_words(question.words)
    return {
        word[0]
        for word, documents in zip(question.words, named, strict=True)
        if not sum([next(counts) for _ in word]) + len(documents)
    }


def _misspellings(question: Question, unknown: Collection[str]) -> list[str]:
    """Return the words of a question that are long enough, and whose only term is ``unknown``."""
    if not unknown:
        return []
    words = dict.fromkeys(
        match[0] for match in analysis.spellable_words(question.text) if len(match[0]) >= _MIN_LETTERS
    )
    terms = {word: analysis.query_terms(word) for word in words}
    return [word for word in words if len(terms[word]) == 1 and terms[word][0] in unknown][:_MAX_UNKNOWN]


def _correction(word: str, spellings: Collection[str], index: ResidentIndex) -> str | None:
    """Return the word of the notes, among ``spellings``, that ``word`` is misspelt for."""
    typed = analysis.fold_spelling(word)
    near = [other for other in spellings if is_one_slip(typed, other)]
    if not near or typed in spellings:  # it is in a note that was written meanwhile
        return None
    counts = _unit_counts([analysis.query_terms(other)[0] for other in near], index)
    count, other = max(zip(counts, near, strict=True))
    return None if not count else other.title() if word[0].isupper() else other


def is_one_slip(typed: str, word: str) -> bool:
    """Return true if a letter more, less or another one, or two in the other order, makes ``word`` of ``typed``."""
    same = next((at for at, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), min(len(typed), len(word)))
    if not same or typed == word:
        return False
    typed, word = typed[same:], word[same:]
    swapped = typed[:2] == word[1::-1] and typed[2:] == word[2:]
    return swapped or typed[1:] == word or typed == word[1:] or typed[1:] == word[1:]


def _unit_counts(terms: Sequence[str], index: ResidentIndex) -> list[int]:
    """Count the units that have each term; none without an index."""
    if index.keyword is None:
        return [0] * len(terms)
    postings = index.keyword.postings(terms)
    return [int((index.corpus.rows_of(postings.for_term(at)[0]) >= 0).sum()) for at in range(len(terms))]
