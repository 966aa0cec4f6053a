"""The words that announce a secret, of ``labels.txt``, found in a text in one pass."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from . import shapes
from .values import words, words_by_language


class Label(NamedTuple):
    """A spelling of a label: its length, what it announces, and whether it is found as a whole word only."""

    length: int
    kind: str
    whole: bool


SHORT = 4
#: Labels behind which no secret stands alone, but behind a user.
NO_VALUE = frozenset({"", "login", "test-login", "service", "pass", "thing", "place", "code", "other-code", "wifi"})
USERS = ("root", "admin", "administrator", "user", "test", "guest", "ubuntu", "pi", "postgres", "oracle", "demo")
#: What stands before a label that names it: "x is the password", "x (PIN)", "x = wifi password".
_SAYS_MORE = re.compile(r"[:：=→]\s*\S|\d{4}|[.!;] ")


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")


def _spellings(label: str) -> set[str]:
    forms = {unicodedata.normalize(form, label.lower()) for form in ("NFC", "NFD")} | {_plain(label.lower())}
    return {re.sub("[ -]", gap, form) for form in forms for gap in (" ", "-", "_", "")}


def _codes_of_things() -> set[str]:
    """A thing and a word for a code as one: ``gate code``, ``Türcode``, ``cykellåskod``."""
    return {
        form
        for language, codes in words_by_language("code").items()
        for title in ("thing", "place")
        for thing in words_by_language(title).get(language, ())
        for code in codes
        for form in _spellings(f"{thing} {code}") | _spellings(f"{code} {thing}")
    }


@cache
def automaton(everything: bool = True) -> Any:
    """Finds the labels in a lower-case text in one pass, with :class:`Label` for each, or those in ASCII."""
    import ahocorasick

    labels: dict[str, Label] = {}
    for kind in words():
        if kind not in ("is", "for", "nothing"):
            for label in words()[kind]:
                for form in sorted(_spellings(label)):
                    # The "_" of "_pass" stands for itself and is no border of a word.
                    whole = kind in NO_VALUE or (len(form) <= SHORT and form.isascii() and form[0] != "_")
                    whole = whole and (kind != "service" or form.isascii())
                    labels.setdefault(form, Label(len(form), kind, whole))
    for form in sorted(_codes_of_things()):
        labels.setdefault(form, Label(len(form), "door-code", False))
    found = ahocorasick.Automaton()
    for form, announced in labels.items():
        if everything or form.isascii():
            found.add_word(form, announced)
    # What announces the few shapes that hold no long run: addresses, options and users with a password.
    for sign in (*shapes.signs(), *(user + sign for user in USERS for sign in ("/", ":", " /"))):
        if sign not in found:
            found.add_word(sign, Label(len(sign), "", False))
    found.make_automaton()
    return found


def choice(title: str, spaced: bool) -> str:
    """The entries below ``title`` as a part of a pattern: those that stand between blanks, or the others."""
    chosen = sorted((w for w in words()[title] if spaced == (ord(w[0]) < 0xE00)), key=len, reverse=True)
    return "|".join(map(re.escape, chosen))


def announced(line: str) -> str:
    """What the last label in ``line`` announces, with nothing but what it is for behind it."""
    low = line.lower()
    kinds = [
        label.kind
        for end, label in automaton(not low.isascii()).iter(low)
        if label.kind not in NO_VALUE - {"thing", "code", "wifi"}
        and not (label.whole and not is_whole(low, end + 1 - label.length, end + 1))
        and not _SAYS_MORE.search(line, end + 1)
    ]
    return kinds[-1] if kinds else ""


def places(low: str) -> Iterator[tuple[int, bool]]:
    """Where in a lower-case text labels end, and whether a secret may stand behind; or a sign of a shape."""
    # Few of a text's lines need the larger of the two automatons.
    at = 0
    for end, label in automaton(False).iter(low):
        if not label.whole or is_whole(low, end + 1 - label.length, end + 1):
            yield end, label.kind != ""
    if not low.isascii():
        for line in low.split("\n"):
            if not line.isascii():
                for end, label in automaton().iter(line):
                    if not label.whole or is_whole(line, end + 1 - label.length, end + 1):
                        yield at + end, label.kind != ""
            at += len(line) + 1


def is_whole(low: str, start: int, end: int) -> bool:
    """Whether no letter stands directly beside what is at ``start`` to ``end``."""
    return not (low[start - 1 : start].isalpha() or low[end : end + 1].isalpha())
