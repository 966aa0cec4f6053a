"""Whom the headings above a line are about: where that is not certain, nobody."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from ..text.dates import date_in_heading
from ..text.labels import names_subject
from ..text.scripts import UNCASED_LETTER
from . import fact_words
from .fact_sentences import is_name, tidy
from .heading_names import ASIDE, DATE, SIGNS, is_common, is_function_word, is_work, name_in
from .predicates import is_relation, normalise

#: The name of the file before its title: "USER.md - About Mira".
_FILE_NAME = re.compile(r"(?<!\S)\S+\.md\s*[-–—:：|]?\s*", re.IGNORECASE)
#: Relations that a heading may give to the items below it.
LIKINGS = frozenset(("likes", "dislikes", "prefers"))
_RELATIVES = frozenset(("children", "siblings", "parents", "partner", "married to"))


class Topic(NamedTuple):
    """What headings say of the lines below them: whom they are about, and what relation the lines state."""

    name: str | None = None
    #: The nearest name of a person above ``name``, or that itself.
    person: str | None = None
    #: The last heading is for several of a kind, such as *People*: its items are entries.
    collection: bool = False
    #: What every item below is: what somebody likes, dislikes or prefers.
    relation: str | None = None
    #: Whom the whole file is about, or the owner of the notes where a heading says so.
    owner: str | None = None


@lru_cache(maxsize=4096)
def topic_of(path: str, owner: str | None = None) -> Topic:
    """What a path of headings, joined by `` > ``, says; ``owner`` is whom the whole file is about."""
    relation = None
    collection = False
    headings = path.split(" > ")
    for depth in range(len(headings) - 1, -1, -1):
        heading = headings[depth] if depth or owner is None else _FILE_NAME.sub("", headings[depth])
        text = tidy(SIGNS.sub(" ", DATE.sub(" ", ASIDE.sub(" ", heading)))).strip(" -.#")
        if not text or (depth == 0 and ".md" in heading.casefold()):
            continue
        liked, whose = _liking(text)
        if liked is not None:
            relation = relation or liked
            if whose:
                return Topic(whose, whose, collection, relation)
            continue
        if is_owners(text, owner is not None):
            return Topic(owner or "user", owner or "user", collection, relation, owner or "user")
        if normalise(text) in _RELATIVES:
            return Topic()  # it says that it is about a relative of somebody, and not who that is
        if collects(text):
            collection = collection or depth == len(headings) - 1
            continue
        # The title of a file with a day behind its words names that day's edition of something.
        dated = depth == 0 and date_in_heading(heading) is not None and not DATE.match(heading)
        within = depth > 0 and collects(headings[depth - 1])
        name = text if within and is_relation(text) else None if dated else name_in(heading)
        if name is not None and owner is not None and name in owner.split():
            name = owner
        if name is not None and is_work(heading, name):
            return Topic()
        if name is not None:
            above = [one for one in map(name_in, reversed(headings[:depth])) if one is not None]
            person = name if within else next((one for one in (name, *above) if is_person(one)), None)
            # An owner without a name takes nothing from a heading with one.
            return Topic(name, person or (name if owner == "user" else owner), collection, relation, owner)
        if names_subject(text) and not is_common(text) and not dated:
            return Topic()  # it says more than a name can: what lies below is about who knows what
    return Topic(owner, owner, collection, relation, owner)


def collects(heading: str) -> bool:
    """Whether a heading has a word for several people or things of a kind: *Active projects*, *技术项目*."""
    text = " ".join(SIGNS.sub(" ", ASIDE.sub(" ", DATE.sub(" ", heading))).casefold().split())
    kinds = fact_words.every("people") | fact_words.every("things")
    if UNCASED_LETTER.search(text):
        return text.endswith(tuple(filter(UNCASED_LETTER.match, kinds))) and not re.search("[a-z]", text)
    return not kinds.isdisjoint((text, *text.split()))


def is_person(name: str) -> bool:
    """Whether a name is written as the full one of somebody: two to four words with capitals, none of them common."""
    words = [word for word in name.split() if not (word.islower() and len(word) < 4)]
    return 2 <= len(words) <= 4 and " ".join(words).istitle() and not any(map(is_common, words))


def is_owners(heading: str, in_own_file: bool) -> bool:
    """Whether a heading says no more than that what lies below is known of the owner of the notes: *User profile*."""
    rest = _without(heading, "owner")
    if in_own_file:
        rest = _without(heading, "owner", "about", "self")
    return rest != _without(heading) and _without(rest, "tails") == ""


def _liking(heading: str) -> tuple[str | None, str | None]:
    """The relation of the items below a heading such as *Wren's preferences*, and whose it says that they are."""
    for relation in LIKINGS:
        rest = _without(heading, relation)
        if rest == _without(heading):
            continue
        if not rest:
            return relation, None
        if _without(rest, "owner") == "":
            return relation, "user"
        low = heading.casefold().replace("’", "'")
        whose = low.endswith(f" {rest}".casefold()) or low.startswith(tuple(rest.casefold() + one for one in _OWNING))
        if whose and is_name(rest) and not is_common(rest):
            return relation, rest
        if relation != "prefers":
            return relation, None  # "Food preferences" does not say whose, and "Favourite food" needs not
    return None, None


@lru_cache(maxsize=4096)
def _without(text: str, *lists: str) -> str:
    """``text`` without the words of lists, and without function words at its ends."""
    for name in lists:
        text = _any_of(name).sub(" ", text.replace("’", "'"))
    words = text.split()
    while words and (is_function_word(words[0]) or words[0] in _JOINTS):
        words.pop(0)
    while words and (is_function_word(words[-1]) or words[-1] in _JOINTS):
        words.pop()
    return re.sub("(?:'s|的|の|의)$", "", " ".join(words))


#: What makes a name before a noun that of its owner, and what else is left between the two.
_OWNING = ("'s", "的", "の", "의", "'nın", "'nin", "'un", "'in")
_JOINTS = frozenset((*_OWNING, "'", "-"))


@cache
def _any_of(name: str) -> re.Pattern[str]:
    words = sorted(map(str.casefold, fact_words.every(name)), key=lambda word: (-len(word), word))
    apart = "|".join(re.escape(word) for word in words if not UNCASED_LETTER.match(word))
    joined = "|".join(re.escape(word) for word in words if UNCASED_LETTER.match(word)) or "(?!)"
    return re.compile(rf"(?<![^\W\d_])(?:{apart})(?![^\W\d_])|{joined}", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_template(path: str) -> bool:
    """Whether one of the headings says that what lies below it is a form or an example, and states nothing."""
    return any(
        _without(text, "template") == "" or _any_of("template").search(text.split(" ")[-1])
        for text in (SIGNS.sub(" ", ASIDE.sub(" ", heading)).strip() for heading in path.split(" > "))
        if text
    )


def person_of(heading: str) -> str | None:
    """Whom a heading of a person's file says that it is about: *About Mark*, *Who Ada Lovelace is*."""
    title = _FILE_NAME.sub("", heading.strip())
    text = _without(title, "about")
    if not text or (title == heading.strip() and text == _without(title)) or _without(text, "owner", "tails") == "":
        return None
    return text if is_name(text) and not is_common(text) else None


def named_above(path: str, subject: str) -> str | None:
    """What the nearest heading above ``subject`` names that has a name: *Heron* of *Heron > Services*."""
    headings = path.split(" > ")
    low = subject.casefold()
    whole = re.compile(re.escape(low) if UNCASED_LETTER.search(low) else rf"(?<!\w){re.escape(low)}(?!\w)")
    at = next((at for at in range(len(headings) - 1, 0, -1) if whole.search(headings[at].casefold())), len(headings))
    for heading in reversed(headings[:at]):
        name = name_in(heading) if ".md" not in heading.casefold() else None
        if name and not is_work(heading, name) and date_in_heading(name) is None and low not in name.casefold():
            return name
    return None
