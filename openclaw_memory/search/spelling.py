"""What a question's misspelt words are: those that no note has, and that are one slip away from a word of the notes.

A slip is a letter that is missing, too many or another one, or two that have changed places (Damerau, 1964).  Such are
four of five misspellings, and hardly any is in a word's first letter (Pollock & Zamora, 1984), so that has to be right.
A word that the model has a token for is one, whether or not the notes have it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import LeaseTimeout, StoreUnreachable
from ..system.deadline import Deadline
from ..text import analysis

if TYPE_CHECKING:
    from ..embed.vectorizer import Vectorizer
    from ..index.corpus import Corpus
    from ..store.api import KeywordIndex, Store
    from .engine import SearchEngine

#: Letters of a word that may be taken for another one: of shorter ones too many are one slip from each other.
_SHORTEST = 5
#: Unknown words of a question that are looked up.
_MOST = 8


def misspelt(
    question: str, engine: SearchEngine, store: Store, vectorizer: Vectorizer, until: Deadline
) -> dict[str, str]:
    """What is meant by each misspelt word of ``question``; nothing while the index cannot be had.

    Of several words of the notes that are as near the one in the most units is taken.  A question more than half of
    which is of no note, however it is read, is in another language or about something else: nothing is read into it.
    """
    if not _may_be_misspelt(question, engine):
        return {}
    try:
        with store.patience(Deadline.after(until.left(0.25))), store.reading(), engine.lock:
            engine.refresh(None)
            if engine.keyword is None:
                return {}
            corpus, index = engine.graph.corpus, engine.keyword
            asked, none = _unknown(question, engine, index)
            unknown = _words(question, none)
            there = store.spellings([analysis.fold_spelling(word) for word in unknown]) if unknown else set()
            found = {word: _meant(word, there, corpus, index) for word in unknown}
    except (LeaseTimeout, StoreUnreachable):
        return {}
    meant = {word: other for word, other in found.items() if other is not None and not vectorizer.knows_word(word)}
    return meant if 2 * (len(none) - len(meant)) <= asked else {}


def _may_be_misspelt(question: str, engine: SearchEngine) -> bool:
    """Whether the notes lacked a word of ``question`` when they were last looked at, which takes no turn at the store.

    Where another thread has the resident state, it may be.
    """
    if not engine.lock.acquire(blocking=False):
        return True
    try:
        if engine.keyword is None:
            return True
        _, none = _unknown(question, engine, engine.keyword)
        return bool(_words(question, none))
    finally:
        engine.lock.release()


def _unknown(question: str, engine: SearchEngine, index: KeywordIndex) -> tuple[int, set[str]]:
    """How many words ``question`` asks for, and the first terms of those that no note or name has in any form."""
    asked = analysis.content_terms(question)
    often = iter(_occurrences(engine.graph.corpus, index, [form for forms in asked for form in forms]))
    held = engine.names.holding(asked)
    return len(asked), {
        forms[0] for forms, named in zip(asked, held, strict=True) if not sum([next(often) for _ in forms]) + len(named)
    }


def rewritten(text: str, meant: Mapping[str, str]) -> str:
    """``text`` with what is meant by its misspelt words."""
    if not meant:
        return text
    return re.sub("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in meant), lambda at: meant[at[0]], text)


def _words(question: str, terms: Container[str]) -> list[str]:
    """Words of ``question`` that are long enough, and that have one of ``terms``."""
    words = dict.fromkeys(match[0] for match in analysis.spellable_words(question) if len(match[0]) >= _SHORTEST)
    return [word for word in words if len(own := analysis.query_terms(word)) == 1 and own[0] in terms][:_MOST]


def _meant(word: str, there: Collection[str], corpus: Corpus, index: KeywordIndex) -> str | None:
    """The word of the notes, among those that are ``there``, that ``word`` is misspelt for."""
    typed = analysis.fold_spelling(word)
    near = [other for other in there if one_slip(typed, other)]
    if not near or typed in there:  # it is in a note that was written meanwhile
        return None
    often = _occurrences(corpus, index, [analysis.query_terms(other)[0] for other in near])
    n, other = max(zip(often, near, strict=True))
    return None if not n else other.title() if word[0].isupper() else other


def one_slip(typed: str, word: str) -> bool:
    """Whether a letter more, less or another one, or two in the other order, makes ``word`` of ``typed``."""
    if typed == word or typed[:1] != word[:1] or abs(len(typed) - len(word)) > 1:
        return False
    same = _common(typed, word)
    typed, word = typed[same:], word[same:]
    same = _common(typed[::-1], word[::-1])
    typed, word = typed[: len(typed) - same], word[: len(word) - same]
    return max(len(typed), len(word)) == 1 or (len(typed) == 2 and typed == word[::-1])


def _common(one: str, other: str) -> int:
    """Letters that both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _occurrences(corpus: Corpus, index: KeywordIndex, terms: Sequence[str]) -> list[int]:
    """In how many units each term is."""
    found = index.postings(terms)
    return [int((corpus.rows_of(found.for_term(at)[0]) >= 0).sum()) for at in range(len(terms))]
