"""Find the labels of ``labels.txt``, the words that announce a secret, in a text in one pass."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ... import patterns as re
from . import shapes
from .values import words


class Label(NamedTuple):
    """A spelling of a label: its length, the kind that it announces, and if it counts as a ``whole`` word only."""

    length: int
    kind: str
    whole: bool


#: Letters of a label that may be another word.
SHORT = 4
#: Labels behind which no secret stands alone, but behind a user.
NO_VALUE = frozenset({"", "login", "test-login", "service", "pass", "thing", "place", "code", "other-code", "wifi"})
USERS = ("root", "admin", "administrator", "user", "test", "guest", "ubuntu", "pi", "postgres", "oracle", "demo")
_GAPS = (" ", "-", "_", "")
#: Signs that the value stands behind the label in the same line.
_SAYS_MORE = re.compile(r"[:：=→]\s*\S|\d{4}|[.!;] ")


def _spellings(label: str) -> list[str]:
    """Return a label composed, decomposed and without accents, each with all of :data:`_GAPS` between its words."""
    low = label.lower()
    forms = [low] * 3
    if not low.isascii():
        composed, decomposed = (unicodedata.normalize(form, low) for form in ("NFC", "NFD"))
        forms = [composed, decomposed, "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")]
    return [gap.join(form.replace("-", " ").split(" ")) for form in forms for gap in _GAPS]


def _codes_of_things() -> set[str]:
    """Return a thing and a word for a code as one: ``gate code``, ``Türcode``, ``cykellåskod``."""
    things = [
        (_spellings(thing), languages) for title in ("thing", "place") for thing, languages in words()[title].items()
    ]
    codes = [(_spellings(code), languages) for code, languages in words()["code"].items()]
    return {
        form
        for code_forms, languages in codes
        for thing_forms, others in things
        if languages & others
        for thing, code, gap in zip(thing_forms, code_forms, _GAPS * 3, strict=True)
        for form in (f"{thing}{gap}{code}", f"{code}{gap}{thing}")
    }


@cache
def automaton(everything: bool = True) -> Any:
    """Return an automaton that finds labels in a lower-case text, each with a :class:`Label`; or only those in ASCII."""
    import ahocorasick

    automaton = ahocorasick.Automaton()

    def add(form: str, kind: str, whole: bool) -> None:
        if (everything or form.isascii()) and form not in automaton:
            automaton.add_word(form, Label(len(form), kind, whole))

    for kind in words():
        if kind not in ("is", "for", "nothing"):
            for form in (form for word in words()[kind] for form in set(_spellings(word))):
                # The "_" of "_pass" stands for itself and is no border of a word.
                whole = kind in NO_VALUE or (len(form) <= SHORT and form.isascii() and form[0] != "_")
                add(form, kind, whole and (kind != "service" or form.isascii()))
    for form in _codes_of_things():
        add(form, "door-code", False)
    # The few shapes that hold no long run are announced too: addresses, options and users with a password.
    for sign in (*shapes.signs(), *(user + sign for user in USERS for sign in ("/", ":", " /"))):
        add(sign, "", False)
    automaton.make_automaton()
    return automaton


def choice(title: str, spaced: bool) -> str:
    """Return the entries below ``title`` as a part of a pattern: those that stand between blanks, or the others."""
    chosen = sorted((w for w in words()[title] if spaced == (ord(w[0]) < 0xE00)), key=len, reverse=True)
    return "|".join(map(re.escape, chosen))


def announced_kind(line: str) -> str:
    """Return the kind that the last label in ``line`` announces, if no value follows it there."""
    labels = [
        (end, end - start, kind)
        for start, end, kind in find_labels(line.lower())
        if kind not in NO_VALUE - {"thing", "code", "wifi"} and not _SAYS_MORE.search(line, end)
    ]
    return max(labels)[2] if labels else ""


def find_labels(low: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the labels in a lower-case line."""
    return _find(low, automaton(not low.isascii()), signs=False)


def find_places(low: str) -> Iterator[tuple[int, bool]]:
    """Yield the last character of each label in a lower-case text, with true, and of each sign of a shape, with false."""
    for _, end, kind in _find(low, automaton(False), signs=True):
        yield end - 1, kind != ""
    if not low.isascii():
        at = 0
        for line in low.split("\n"):  # few lines need the larger of the two automatons
            if not line.isascii():
                for _, end, kind in _find(line, automaton(), signs=True):
                    yield at + end - 1, kind != ""
            at += len(line) + 1


def _find(low: str, spellings: Any, signs: bool) -> Iterator[tuple[int, int, str]]:
    for end, (length, kind, whole) in spellings.iter(low):
        start, end = end + 1 - length, end + 1
        if (kind or signs) and (not whole or is_whole(low, start, end)):
            yield start, end, kind


def is_whole(low: str, start: int, end: int) -> bool:
    """Return true if no letter stands directly beside ``low[start:end]``."""
    return not (low[start - 1 : start].isalpha() or low[end : end + 1].isalpha())
