"""What relations are called, by ``relations.txt``: one name for many ways to say one, and which have one value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

from . import fact_words

_APART = re.compile(r"[\s_]+")
_TRIMMED = re.compile(r"^[\W_]+|[\W_]+$")


def _folded(text: str) -> str:
    """``text`` in small letters, with single spaces and without outer signs."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("’", "'")
    return _TRIMMED.sub("", _APART.sub(" ", text))


def _read() -> tuple[dict[str, str], dict[str, frozenset[str]], dict[str, list[str]]]:
    """Names and what they are other names of; the flags of a relation; the lists before the first section."""
    forms: dict[str, str] = {}
    flags: dict[str, frozenset[str]] = {}
    lists: dict[str, list[str]] = {}
    kept = ""
    for line in files(__package__).joinpath("relations.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("["):
            name, _, said = line[1:].partition("]")
            kept = _folded(name)
            flags[kept] = frozenset(said.split())
            forms[kept] = kept
        elif not kept:
            name, _, said = line.partition(":")
            lists[name] = [part.strip() for part in said.split(",")]
        else:
            for other in map(_folded, line.split(",")):
                if other:
                    forms.setdefault(other, kept)
    return forms, flags, lists


_FORMS, _FLAGS, _LISTS = _read()
_BEFORE = frozenset(_LISTS["before"] + _LISTS["articles"])
_DIALECT = dict(pair.split("=") for pair in _LISTS["dialect"])
_FAMILY = tuple(f"{word} " for word in _LISTS["families"])
_FAVOURITE = tuple(sorted(map(_folded, _LISTS["favourites"]), key=len, reverse=True))

#: Relations of which one value holds at a time, in their kept form; any "favourite …" and "preferred …" is one too.
SINGLE_VALUED = frozenset(name for name, flags in _FLAGS.items() if "single" in flags)


@lru_cache(maxsize=4096)
def normalise(predicate: str) -> str:
    """The form in which ``predicate`` is compared and kept: small letters, one name for the same relation.

    ``"Lives in"``, ``"wohnt in"`` and ``"resides_in"`` are one; unknown ones keep their words.  Empty when there is
    neither a letter nor a digit.
    """
    text = _folded(predicate)
    while True:
        text = _TRIMMED.sub("", text)
        if found := _FORMS.get(text):
            return found
        words = [_DIALECT.get(word, word) for word in text.split(" ")]
        if found := _FORMS.get(" ".join(words)):
            return found
        if len(words) > 1 and words[0] in _BEFORE:
            text = " ".join(words[1:])
        elif len(words) > 1 and words[-1] in ("is", "are"):
            text = " ".join(words[:-1])
        else:
            return " ".join(words)


def names_of(relation: str) -> tuple[str, ...]:
    """What ``relation``, in its kept form, is called: itself, and its other names in small letters."""
    return tuple(name for name, kept in _FORMS.items() if kept == relation)


def liking_of(text: str) -> tuple[str, str] | None:
    """The relation and the thing of a text that begins with a verb of liking or disliking: *Mag keine Zwiebeln*."""
    low = text.casefold().replace("’", "'")
    for relation in ("dislikes", "likes"):
        for verb in sorted(names_of(relation), key=len, reverse=True):
            rest = text[len(verb) :]
            if low.startswith(verb) and (rest[:1].isspace() or (not verb.isascii() and not rest[:1].isascii())):
                return (relation, rest.strip(" .,:;。")) if rest.strip(" .,:;。") else None
    return None


def is_single(predicate: str, extra: Iterable[str] = ()) -> bool:
    """Whether a subject has one value of ``predicate`` at a time; ``extra`` names more such relations."""
    kept = normalise(predicate)
    return kept in SINGLE_VALUED or kept.startswith(_FAMILY) or any(kept == normalise(name) for name in extra)


def is_personal(predicate: str) -> bool:
    """Whether only somebody can have it: a birthday, an allergy."""
    return "person" in _FLAGS.get(normalise(predicate), ())


def needs_person(predicate: str) -> bool:
    """Whether it counts as a key only where the subject is surely somebody."""
    return "self" in _FLAGS.get(normalise(predicate), ())


def of_thing(predicate: str) -> bool:
    """Whether only a thing can have it: a model."""
    return "thing" in _FLAGS.get(normalise(predicate), ())


def is_place(predicate: str) -> bool:
    """Whether its value is the name of a place, an employer or a zone, which ends sooner than other values."""
    return "place" in _FLAGS.get(normalise(predicate), ())


def is_relation(text: str) -> bool:
    """Whether ``text`` is nothing but the name of a relation that a key may state."""
    return _key(normalise(text)) is not None


@lru_cache(maxsize=4096)
def kind_of_key(label: str) -> str | None:
    """What a value behind ``label`` must look like; ``None`` where the label names no relation.

    "Favourite …" names one whatever follows, in any language.  A longer label counts by its first or last word where
    its relation has values of a look of their own: ``Project path``, ``Site web principal``.
    """
    kept = normalise(label)
    if (kind := _key(kept)) is not None:
        return kind
    low = _folded(label)
    if low.startswith(_FAVOURITE):
        return "text"
    words = low.split(" ")
    if 2 <= len(words) <= 3 and low.isascii() and fact_words.every("done").isdisjoint(words):
        for part in (words[-1], " ".join(words[-2:]), words[0]):
            kind = _key(_FORMS.get(part, ""))
            if kind in ("url", "path", "email", "phone", "ip", "port", "repo"):  # hardly anything else looks so
                return kind
    return None


def _key(kept: str) -> str | None:
    return next((flag.removeprefix("key=") for flag in _FLAGS.get(kept, ()) if flag.startswith("key=")), None)
