"""Compare statements: lines that give an attribute of a subject a value.

Two statements are of one thing when they have the same label below headings of the same subject, or nearly the same
words.  They differ when their figures do, when one denies what the other says, or when one says that it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import repeat

from .. import patterns as re
from ..records import dataclass
from ..text import analysis, calendar_words
from ..text.dates import without_dates
from ..text.labels import is_label, names_subject
from ..text.negation import negations
from ..text.turns import is_role
from .changes import changes_in, forms_in, leading_shape, new_value_in, shape_of
from .lexicon import fact_list
from .values import fold_value, is_same_value

#: A label before a colon, behind the mark of an item, or in the first cell of a row.
_LABEL = re.compile(
    r"[\s>+•·|\-\d.)\[\]]*(?P<label>[^\W\d_][^:：|。\n]{1,48}?)[|\s]*(?:：|[:|](?=[\s|]|[^\x00-\x7f]))(?P<value>.+)"
)
_MAX_LABEL_WORDS = 6
_EMPHASIS = str.maketrans("", "", "*_`~")
_FIGURE = re.compile(r"\d")
_REMARK = re.compile(r"\([^()]*\)|（[^（）]*）")
#: Share of their weight that the words of two statements of one thing have in common, and the words of their labels.
_SAME_WORDS, _SAME_LABEL = 0.7, 0.5
#: Least number of words that two statements without a label have in common.
_MIN_WORDS = 3
#: Share of what a question and a statement have in common that another one which ends or changes it must have.
_ABOUT = 0.5
#: Share of that which another one must have whose values are not those of the statement; it has half of the question.
_ABOUT_AS_MUCH = 0.8
_CLAUSE = re.compile(r"[,;:!?.]\s|[()（），。；：！？、—–]")


@dataclass(frozen=True)
class Statement:
    """A line below the path of its headings; each part of it is parsed when it is first needed, and once."""

    text: str
    heading: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms of the line without figures."""
        return _words(self.text)

    @cached_property
    def label(self) -> frozenset[str]:
        """The terms of the label before its colon, or in its first cell; empty without one."""
        return _words(self.written_label)

    @cached_property
    def is_generic(self) -> bool:
        """True if the label says nothing without its headings: ``Source``, ``assistant``."""
        return is_label(self.written_label) or is_role(self.written_label)

    @cached_property
    def written_label(self) -> str:
        """The label before its colon, or in its first cell, as it is written; empty without one."""
        match = _LABEL.match(self.text)
        return match["label"] if match and len(match["label"].split()) <= _MAX_LABEL_WORDS else ""

    @cached_property
    def written_value(self) -> str:
        """The text behind the label as it is written; all of it without a label."""
        match = _LABEL.match(self.text)
        return match["value"].strip() if match and self.written_label else self.text

    @cached_property
    def subject(self) -> frozenset[str]:
        """The terms of the headings that name a subject, without their remarks."""
        return _subject_of(self.path)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of the line without figures, and those of its subject."""
        return self.words | self.subject

    @cached_property
    def path(self) -> list[str]:
        """The titles of the headings, without their remarks."""
        return _REMARK.sub("", self.heading).split(" > ")

    @cached_property
    def figures(self) -> frozenset[str]:
        """The terms of the line with a digit in them."""
        return frozenset(filter(_FIGURE.search, analysis.terms(self.text)))

    @cached_property
    def denials(self) -> frozenset[str]:
        """The words by which the line denies something."""
        return negations(self.text)

    @cached_property
    def is_ending(self) -> bool:
        """True if the line says that something ended."""
        return _says("ended", self.text)

    @cached_property
    def endings(self) -> tuple[frozenset[str], ...]:
        """The terms of each clause that says that something ended, without that; of the headings where it has none."""
        if not self.is_ending:
            return ()
        clauses = ((clause, _without_ending(clause)) for clause in _CLAUSE.split(self.text))
        return tuple(_words(rest) or self.subject for clause, rest in clauses if rest != calendar_words.plain(clause))

    @cached_property
    def former_value(self) -> frozenset[str]:
        """The terms of the values that the line says were changed to others."""
        changes = changes_in(self.text, self.heading)
        return frozenset(term for change in changes for term in analysis.terms(change.before))

    @cached_property
    def new_forms(self) -> frozenset[tuple[str, str] | None]:
        """The forms of the values to which the line says that something was changed."""
        values = [change.after for change in changes_in(self.text, self.heading)]
        return frozenset(map(shape_of, values or (new_value_in(self.text) or ())[1:])) - {None}

    @property
    def ends_older(self) -> bool:
        """True if the line says that what was noted of its subject before no longer holds."""
        return self.is_ending and _says("former", self.text)

    @cached_property
    def is_refuted(self) -> bool:
        """True if a remark in the label says that it was wrong."""
        return any(_says("refuted", remark) for remark in _REMARK.findall(self.written_label))

    @property
    def heading_is_ending(self) -> bool:
        """True if the last heading says that something ended, or a line such as ``Status: cancelled`` below it."""
        return _says("ended", self._title) or (
            is_label(self.written_label) and _begins_with("ended", self.written_value)
        )

    @property
    def is_done(self) -> bool:
        """True if the line is one such as ``Status: done``."""
        return is_label(self.written_label) and _begins_with("done", self.written_value)

    @property
    def is_of_its_day(self) -> bool:
        """True if the line says "today": it is about the day on which it was written."""
        return _says("relative.day.0", self.text)

    @property
    def heading_is_current(self) -> bool:
        """True if a remark in the last heading says that what stands below holds now; "the latest 10" says no such."""
        remarks = _REMARK.findall(self._title)
        return any(_says("now", remark) and not _FIGURE.search(without_dates(remark)) for remark in remarks)

    @property
    def identifying(self) -> frozenset[str]:
        """The terms of the line that say what it is about: of its label, else all its words."""
        return self.words if self.is_generic else self.label or self.words

    @property
    def _title(self) -> str:
        return self.heading.rpartition(" > ")[2]


@lru_cache(maxsize=4096)
def parse_statement(text: str, heading: str) -> Statement:
    """Return the statement of a line of Markdown below a ``heading``, the path of its headings."""
    return Statement(text.translate(_EMPHASIS), heading)


def replaces(new: Statement, old: Statement, asked: frozenset[str], weights: Mapping[str, float]) -> bool:
    """Return true if a later statement replaces an older one in the answer to a question with the terms ``asked``.

    It gives the same thing another value, or says that what was said of its subject no longer holds; ``weights`` are
    those of terms, and that of ``""`` is for terms without one.
    """
    if _ends_subject(new, old):
        return True
    common = asked & old.terms
    shared = common & new.terms
    if not shared:
        return False
    about = _ABOUT * _weight(common, weights)
    enough = max(_ABOUT_AS_MUCH * _weight(common, weights), _ABOUT * _weight(asked, weights))
    if (
        _weight(asked & new.terms, weights) >= enough
        and new.new_forms
        and not new.new_forms.isdisjoint(forms_in(old.text))
    ):
        return True
    for clause in new.endings:
        held = clause & old.terms
        if _weight(clause & asked, weights) >= enough:
            return True
        if _weight(held, weights) >= _SAME_WORDS * _weight(clause, weights) and _weight(held & asked, weights) >= about:
            return True
    if (
        _weight(shared, weights) >= about
        and new.former_value
        and new.former_value <= frozenset(analysis.terms(old.text))
    ):
        return True
    missing = asked & old.words - shared
    if missing and (not new.label or _weight(missing, weights) >= _weight(shared & (old.label | old.subject), weights)):
        return False
    return is_same_thing(new, old, weights) and differs(new, old)


def is_same_thing(new: Statement, old: Statement, weights: Mapping[str, float]) -> bool:
    """Return true if two statements are of one attribute of one subject: sections side by side have each its own."""
    titles = enumerate(zip(new.path, old.path, strict=False))
    shared = next((at for at, (own, other) in titles if own != other), 0)
    sections = _subject_of(new.path[shared:]), _subject_of(old.path[shared:])
    if shared and all(sections) and _overlap(*sections, weights, max) < _SAME_WORDS:
        return False
    if bool(new.label) != bool(old.label):
        return False
    if not new.label:
        return len(new.words & old.words) >= _MIN_WORDS and _overlap(new.words, old.words, weights, max) >= _SAME_WORDS
    if new.is_generic or old.is_generic:
        return new.label == old.label and _overlap(new.subject, old.subject, weights, max) >= _SAME_WORDS
    if new.label != old.label and not new.subject & old.subject:
        return False
    terms = new.label | new.subject, old.label | old.subject
    return _overlap(new.label, old.label, weights, max) >= _SAME_LABEL and _overlap(*terms, weights, min) >= _SAME_WORDS


def differs(new: Statement, old: Statement) -> bool:
    """Return true if two statements of one thing give it other values; a share and an amount are of two."""
    if new.label:
        units = [shape[1] for shape in map(leading_shape, (new.written_value, old.written_value)) if shape]
        if len(units) == 2 and (units[0] == "%") != (units[1] == "%"):
            return False
        return not is_same_value(fold_value(new.written_value), fold_value(old.written_value))
    if new.figures and old.figures:
        return not (new.figures <= old.figures or old.figures <= new.figures)
    return new.denials != old.denials or new.is_ending != old.is_ending


def _ends_subject(new: Statement, old: Statement) -> bool:
    """Return true if the heading of a statement says that what was said below headings of its subject no longer holds.

    They share half of the words of both, or, where the heading says what holds now, of the shorter.
    """
    sizes, shared = (len(new.subject), len(old.subject)), len(new.subject & old.subject)
    if not shared or 2 * shared < min(sizes):
        return False
    ends = new.heading_is_ending or (new.is_done and old.is_of_its_day)
    return (2 * shared >= max(sizes) and ends) or new.heading_is_current


def _subject_of(titles: Sequence[str]) -> frozenset[str]:
    """Return the terms of the headings that name a subject."""
    return frozenset().union(*map(_subject_in, titles))


@lru_cache(maxsize=4096)
def _subject_in(title: str) -> frozenset[str]:
    """Return the terms of a heading; none if it names no subject."""
    return _words(title) if names_subject(title) else frozenset()


def _overlap(
    new: frozenset[str], old: frozenset[str], weights: Mapping[str, float], larger: Callable[[float, float], float]
) -> float:
    """Return the weight of the common terms as a share of that of either, the ``larger`` or smaller one."""
    whole = larger(_weight(new, weights), _weight(old, weights))
    return _weight(new & old, weights) / whole if whole else 0.0


def _weight(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the sum of the weights of terms; a term without one has that of the empty term."""
    return sum(map(weights.get, terms, repeat(weights.get("", 0.0))))


def _words(text: str) -> frozenset[str]:
    """Return the terms of a text without figures, and without single characters, which are parts of pairs."""
    terms = (term for term in analysis.terms(text) if not calendar_words.JOINED.fullmatch(term))
    return frozenset(term for term in terms if not _FIGURE.search(term))


def _without_ending(text: str) -> str:
    """Return a text, folded, without the phrases of its languages that say that something ended."""
    plain = calendar_words.plain(text)
    return calendar_words.without_phrases("ended", calendar_words.likely_languages(plain), plain)


def _begins_with(key: str, value: str) -> bool:
    """Return true if a value begins with a word for ``key``, ``ended`` or ``done``."""
    opening = re.split(r"[^\w\s]", value.strip(), maxsplit=1)[0].strip().casefold()
    if key == "ended":
        return len(opening.split()) < 3 and _says(key, opening)
    return opening in fact_list(key)


@lru_cache(maxsize=4096)
def _says(key: str, text: str) -> bool:
    """Return true if a text has a phrase for ``key`` in a language that it may be in."""
    plain = calendar_words.plain(text)
    return calendar_words.has_phrase(key, calendar_words.likely_languages(plain), plain)
