"""Find the labels of ``labels.txt``, the words that announce a secret, in a text in one pass."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

from ... import patterns as re
from ...records import NamedTuple
from . import shapes
from .values import words


class Label(NamedTuple):
    """A spelling of a label: its length, the kind that it announces, and if it counts as a ``whole`` word only.

    One that names what has a code, or is a word for a code, has the languages of it as that.
    """

    length: int
    kind: str
    whole: bool
    thing: frozenset[str]
    code: frozenset[str]


#: Letters of a label that may be another word.
SHORT = 4
#: Labels behind which no secret stands alone, but behind a user.
NO_VALUE = frozenset({"", "login", "test-login", "service", "pass", "thing", "place", "code", "other-code", "wifi"})
USERS = ("root", "admin", "administrator", "user", "test", "guest", "ubuntu", "pi", "postgres", "oracle", "demo")
_GAPS = (" ", "-", "_", "")
#: Signs that the value stands behind the label in the same line.
_SAYS_MORE = re.compile(r"[:：=→]\s*\S|\d{4}|[.!;] ")


def _spellings(label: str) -> set[str]:
    """Return a label composed, decomposed and without accents, each with all of :data:`_GAPS` between its words."""
    low = label.lower().replace("-", " ")
    forms = {low}
    if not low.isascii():
        composed, decomposed = (unicodedata.normalize(form, low) for form in ("NFC", "NFD"))
        forms = {composed, decomposed, "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")}
    return {form.replace(" ", gap) for form in forms for gap in _GAPS} if " " in low else forms


@cache
def automaton() -> Any:
    """Return an automaton that finds labels in a lower-case text, each with a :class:`Label`."""
    import ahocorasick

    kinds: dict[str, str] = {}
    languages: dict[bool, dict[str, frozenset[str]]] = {True: {}, False: {}}
    for kind, entries in words().items():
        for word, spoken in entries.items() if kind not in ("is", "for", "nothing") else ():
            for form in _spellings(word):
                kinds.setdefault(form, kind)
                if kind in ("thing", "place", "code"):
                    parts = languages[kind == "code"]
                    parts[form] = parts.get(form, frozenset()) | spoken
    # The few shapes that hold no long run are announced too: addresses, options and users with a password.
    for sign in (*shapes.signs(), *(user + sign for user in USERS for sign in ("/", ":", " /"))):
        kinds.setdefault(sign, "")
    automaton = ahocorasick.Automaton()
    for form, kind in kinds.items():
        # The "_" of "_pass" stands for itself and is no border of a word.
        whole = kind in NO_VALUE or (len(form) <= SHORT and form.isascii() and form[0] != "_")
        whole = whole and kind != "" and (kind != "service" or form.isascii())
        thing, code = (languages[is_code].get(form, frozenset[str]()) for is_code in (False, True))
        automaton.add_word(form, Label(len(form), kind, whole, thing, code))
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
    """Yield start, end and kind of the labels in a lower-case text; of signs of a shape the kind is empty.

    A thing and a word for a code of one language are a label too: ``gate code``, ``türcode``, ``cykellåskod``.
    """
    spellings = automaton()
    parts: defaultdict[int, list[tuple[int, Label]]] = defaultdict(list)
    for last, label in spellings.iter(low):
        start, end = last + 1 - label.length, last + 1
        if not label.whole or is_whole(low, start, end):
            yield start, end, label.kind
        if label.thing or label.code:
            parts[end].append((start, label))
            for gap in range(2 if low[start - 1 : start] in _GAPS else 1):
                for first, other in parts.get(start - gap, ()):
                    joined = label.thing & other.code or label.code & other.thing
                    if joined and low[first:end] not in spellings:
                        yield first, end, "door-code"


def is_whole(low: str, start: int, end: int) -> bool:
    """Return true if no letter stands directly beside ``low[start:end]``."""
    return not (low[start - 1 : start].isalpha() or low[end : end + 1].isalpha())
