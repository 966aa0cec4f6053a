"""The relations of facts, from ``relations.txt``: one name for many wordings, and which have one value at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from .. import patterns as re
from ..records import NamedTuple
from ..text import word_lists
from .lexicon import fact_list

_BLANKS = re.compile(r"[\s_]+")
_OUTER_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")


def _folded(text: str) -> str:
    """Return ``text`` in small letters, with single spaces and without outer signs."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("’", "'")
    return _OUTER_SIGNS.sub("", _BLANKS.sub(" ", text))


class _Relations(NamedTuple):
    """The relation of each wording, the flags of each relation, and the lists before the first relation."""

    forms: dict[str, str]
    flags: dict[str, frozenset[str]]
    before: frozenset[str]
    dialect: dict[str, str]
    families: tuple[str, ...]
    favourites: tuple[str, ...]


@cache
def _relations() -> _Relations:
    """Read ``relations.txt``."""
    forms: dict[str, str] = {}
    flags: dict[str, frozenset[str]] = {}
    lists: dict[str, list[str]] = {}
    for title, line in word_lists.lines_of(__package__, "relations.txt"):
        if not title:
            name, _, values = line.partition(":")
            lists[name] = [part.strip() for part in values.split(",")]
            continue
        name, _, marks = title.partition("]")
        relation = _folded(name)
        if relation not in flags:
            flags[relation] = frozenset(marks.split())
            forms[relation] = relation
        for wording in filter(None, map(_folded, line.split(","))):
            forms.setdefault(wording, relation)
    return _Relations(
        forms,
        flags,
        frozenset(lists["before"] + lists["articles"]),
        dict(pair.split("=") for pair in lists["dialect"]),
        tuple(f"{word} " for word in lists["families"]),
        tuple(sorted(map(_folded, lists["favourites"]), key=len, reverse=True)),
    )


def is_decision(predicate: str) -> bool:
    """Return true if a fact of ``predicate`` states what was decided."""
    return normalise(predicate).startswith("decided")


@lru_cache(maxsize=4096)
def normalise(predicate: str) -> str:
    """Return the relation that ``predicate`` names: ``"Lives in"``, ``"wohnt in"`` and ``"resides_in"`` are one.

    An unknown one keeps its words.  Empty without a letter or digit.
    """
    text, relations = _folded(predicate), _relations()
    while True:
        text = _OUTER_SIGNS.sub("", text)
        words = [relations.dialect.get(word, word) for word in text.split(" ")]
        if relation := relations.forms.get(text) or relations.forms.get(" ".join(words)):
            return relation
        if len(words) > 1 and words[0] in relations.before:
            text = " ".join(words[1:])
        elif len(words) > 1 and words[-1] in ("is", "are"):
            text = " ".join(words[:-1])
        else:
            return " ".join(words)


def wordings(relation: str) -> tuple[str, ...]:
    """Return the names of ``relation``, itself included, in small letters."""
    return tuple(wording for wording, name in _relations().forms.items() if name == relation)


def split_liking(text: str) -> tuple[str, str] | None:
    """Return relation and object of a text that begins with a verb of liking or disliking: *Mag keine Zwiebeln*."""
    low = text.casefold().replace("’", "'")
    for relation in ("dislikes", "likes"):
        for verb in sorted(wordings(relation), key=len, reverse=True):
            rest = text[len(verb) :]
            if low.startswith(verb) and (rest[:1].isspace() or (not verb.isascii() and not rest[:1].isascii())):
                thing = rest.strip(" .,:;。")
                return (relation, thing) if thing else None
    return None


def is_single(predicate: str, extra: Iterable[str] = ()) -> bool:
    """Return true if a subject has one value of ``predicate`` at a time; ``extra`` names more such relations."""
    relation = normalise(predicate)
    return (
        "single" in _relations().flags.get(relation, ())
        or relation.startswith(_relations().families)  # any "favourite …" and "current …" too
        or any(relation == normalise(name) for name in extra)
    )


def has_flag(predicate: str, flag: str) -> bool:
    """Return true if the relation has a flag of ``relations.txt``: ``person``, ``self``, ``thing``, ``place``."""
    return flag in _relations().flags.get(normalise(predicate), ())


def is_relation(text: str) -> bool:
    """Return true if ``text`` is the name of a relation that a key may state."""
    return _value_kind(normalise(text)) is not None


@lru_cache(maxsize=4096)
def kind_of_key(label: str) -> str | None:
    """Return the kind of the values behind ``label``; ``None`` where it names no relation.

    "Favourite …" names one in any language.  A longer label counts by its first or last words where the values of that
    relation have an unmistakable form: ``Project path``, ``Site web principal``.
    """
    kind = _value_kind(normalise(label))
    if kind is not None:
        return kind
    low = _folded(label)
    if low.startswith(_relations().favourites):
        return "text"
    words = low.split(" ")
    if 2 <= len(words) <= 3 and low.isascii() and fact_list("done").isdisjoint(words):
        for part in (words[-1], " ".join(words[-2:]), words[0]):
            kind = _value_kind(_relations().forms.get(part, ""))
            if kind in ("url", "path", "email", "phone", "ip", "port", "repo"):
                return kind
    return None


def _value_kind(relation: str) -> str | None:
    flags = _relations().flags.get(relation, ())
    return next((flag.removeprefix("key=") for flag in flags if flag.startswith("key=")), None)
