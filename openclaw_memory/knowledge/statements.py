"""Compare statements: lines that give an attribute of a subject a value.

Two statements are of one thing when they have the same label below headings of the same subject, or nearly the same
words.  They differ when their figures do, when one denies what the other says, or when one says that it ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..text import analysis, calendar_words
from ..text.labels import names_subject
from ..text.negation import negations

#: A label of up to six words before a colon, behind the mark of an item or a cell.
_LABEL = re.compile(
    r"[\s>+•·|\-\d.)\[\]]*(?P<label>[^\W\d_][^:：|。\n]{1,48}?)[|\s]*[:：|](?=[\s|]|[^\x00-\x7f])(?P<value>.+)"
)
_MAX_LABEL_WORDS = 6
_FIGURE = re.compile(r"\d")
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
#: Share of their weight that the words of two statements of one thing have in common, and the words of their labels.
_SAME_WORDS, _SAME_LABEL = 0.7, 0.5
#: Share of a question that a statement which ends another one must have in common with it.
_ABOUT = 0.5


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its ``label``, the ``subject`` of its headings, its ``words`` and ``figures``, as terms.

    ``value`` is the folded text behind the label.  ``validity`` is 1 where it says that it holds, -1 where it says that
    something ended, else 0, and ``section_validity`` that of the heading above it; ``denials`` are its negations.
    """

    label: frozenset[str]
    subject: frozenset[str]
    words: frozenset[str]
    figures: frozenset[str]
    value: str
    validity: int
    section_validity: int
    denials: frozenset[str]

    @property
    def identifying(self) -> frozenset[str]:
        """The terms that say what it is about: of its label, else all its words."""
        return self.label or self.words


@lru_cache(maxsize=4096)
def parse_statement(text: str, heading: str) -> Statement:
    """Parse a line below a ``heading``, the path of its headings."""
    plain = text.translate(_EMPHASIS)
    match = _LABEL.match(plain)
    label, value = (match["label"], match["value"]) if match else ("", plain)
    if len(label.split()) > _MAX_LABEL_WORDS:
        label, value = "", plain
    words = frozenset(analysis.terms(plain))
    figures = frozenset(filter(_FIGURE.search, words))
    titles = [title for title in _ASIDE.sub("", heading).split(" > ") if names_subject(title)]
    return Statement(
        label=_words(label),
        subject=frozenset(term for title in titles for term in _words(title)),
        words=words - figures,
        figures=figures,
        value="".join(filter(str.isalnum, value.casefold())),
        validity=_validity(plain),
        section_validity=_validity(heading.rpartition(" > ")[2]),
        denials=negations(plain),
    )


_EMPHASIS = str.maketrans("", "", "*_`~")


def _words(text: str) -> frozenset[str]:
    return frozenset(term for term in analysis.terms(text) if not _FIGURE.search(term))


@lru_cache(maxsize=4096)
def _validity(text: str) -> int:
    """Return 1 where a text says that something holds, -1 where it says that something ended, else 0."""
    plain = calendar_words.plain(text)
    languages = calendar_words.likely_languages(plain)
    if calendar_words.has_phrase("ended", languages, plain):
        return -1
    return int(any(calendar_words.has_phrase(key, languages, plain) for key in ("holds", "now")))


def replaces(new: Statement, old: Statement, asked: frozenset[str], weights: Mapping[str, float]) -> bool:
    """Return true if a later statement replaces an older one in the answer to a question with the terms ``asked``.

    It gives the same thing another value, or says that what was said of its subject no longer holds; ``weights`` are
    those of terms.
    """
    if not asked & old.words <= new.words | new.subject:
        return False
    if new.section_validity and _is_same_subject(new, old):
        return True
    if new.validity < 0 and _is_about(asked, new, old, weights):
        return True
    return is_same_thing(new, old, weights) and differs(new, old)


def is_same_thing(new: Statement, old: Statement, weights: Mapping[str, float]) -> bool:
    """Return true if two statements are of one attribute of one subject."""
    if bool(new.label) != bool(old.label):
        return False
    if not new.label:
        return _overlap(new.words, old.words, weights, max) >= _SAME_WORDS
    same_label = new.label == old.label or _overlap(new.label, old.label, weights, max) >= _SAME_LABEL
    return same_label and _overlap(new.label | new.subject, old.label | old.subject, weights, min) >= _SAME_WORDS


def differs(new: Statement, old: Statement) -> bool:
    """Return true if two statements of one thing give it other values."""
    if new.label:
        return new.value != old.value
    if new.figures and old.figures:
        return not (new.figures <= old.figures or old.figures <= new.figures)
    return new.denials != old.denials or (new.validity < 0) != (old.validity < 0)


def _is_same_subject(new: Statement, old: Statement) -> bool:
    """Return true if the headings of two statements share half of their words; what holds now need not be as short."""
    sizes = len(new.subject), len(old.subject)
    return min(sizes) > 0 and 2 * len(new.subject & old.subject) >= (max if new.section_validity < 0 else min)(sizes)


def _is_about(asked: frozenset[str], new: Statement, old: Statement, weights: Mapping[str, float]) -> bool:
    """Return true if two statements have the same words of a question, and most of it."""
    shared = asked & (old.words | old.subject)
    total = sum(weights.get(term, 0.0) for term in asked)
    weight = sum(weights.get(term, 0.0) for term in shared)
    return shared <= new.words | new.subject and weight >= _ABOUT * total > 0


def _overlap(
    new: frozenset[str], old: frozenset[str], weights: Mapping[str, float], of: Callable[[float, float], float]
) -> float:
    """Return the weight of the common terms as a share of the larger or smaller weight, as ``of`` chooses."""
    whole = of(*(sum(weights.get(term, 0.0) for term in terms) for terms in (new, old)))
    return sum(weights.get(term, 0.0) for term in new & old) / whole if whole else 0.0
