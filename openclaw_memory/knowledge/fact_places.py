"""Where the headings above a fact put its subject: in a collection of its like, or below something with a name."""

from __future__ import annotations

import re
from functools import lru_cache

from ..text.dates import date_in_heading
from . import fact_words
from .fact_sentences import tidy
from .heading_names import ASIDE, DATE, SIGNS, WITHOUT_CAPITALS, is_common, is_function_word, named, says_work

_WORD = re.compile(r"[^\W_]+")


def is_gathered(heading: str, subject: str) -> bool:
    """Whether ``subject`` stands below a heading for a collection: *Active projects*, *Наши серверы*, *技术项目*.

    ``heading`` is the path of headings joined by `` > ``; the subject is one of them, or stands below the last.
    """
    parts = heading.split(" > ")
    at = _place(parts, subject)
    return at > 0 and _collects(parts[at - 1])


def named_above(heading: str, subject: str) -> str | None:
    """What the nearest heading above ``subject`` names that has a name: *Heron* of *Heron > Services*."""
    parts = heading.split(" > ")
    names = map(_name_of, reversed(parts[: _place(parts, subject)]))
    return next((name for name in names if name and _folded(subject) not in _folded(name)), None)


@lru_cache(maxsize=1 << 13)
def _name_of(part: str) -> str | None:
    """What a heading names, unless that is work, a day, or nothing but words of everyday language."""
    bare = ASIDE.sub(" ", part)
    name = named(bare) if ".md" not in bare.casefold() else None
    if name is None or _is_everyday(name) or date_in_heading(name) is not None or says_work(bare, name):
        return None
    return name


def _place(parts: list[str], subject: str) -> int:
    """At which heading ``subject`` stands; behind the last one where none holds it."""
    name = _folded(ASIDE.sub(" ", subject)) or _folded(subject)
    return next((at for at in range(len(parts) - 1, 0, -1) if _holds(_folded(parts[at]), name)), len(parts))


def _holds(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text``, in letters that have capitals as whole words: no *AI* in *Email*."""
    at = text.find(name)
    beside = text[:at][-1:] + text[at + len(name) :][:1]
    return at >= 0 and not any(c.isdigit() or c.lower() != c.upper() for c in beside)


def _folded(text: str) -> str:
    return " ".join(SIGNS.sub(" ", text).casefold().split())


@lru_cache(maxsize=4096)
def _collects(heading: str) -> bool:
    """Whether a heading has a word for several people or things of a kind."""
    text = _folded(ASIDE.sub(" ", DATE.sub(" ", heading)))
    kept = fact_words.every("people") | fact_words.every("things")
    return not kept.isdisjoint((text, *text.split())) or text.endswith(tuple(filter(WITHOUT_CAPITALS.match, kept)))


def _is_everyday(name: str) -> bool:
    """Whether each word of a name is one of everyday language, or a number."""
    words = _WORD.findall(tidy(name).casefold())
    return all(word.isdigit() or is_function_word(word) or is_common(word) for word in words)
