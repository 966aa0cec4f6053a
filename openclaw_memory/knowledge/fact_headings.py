"""Whom the headings above a line, and the item that it belongs to, name: where that is not certain, nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..text.dates import date_in_heading
from ..text.labels import is_label, names_subject
from . import fact_words
from .fact_sentences import is_name, tidy
from .heading_names import (
    ASIDE,
    DATE,
    PARTS,
    SIGNS,
    TIME,
    WITHOUT_CAPITALS,
    counts_work,
    is_common,
    is_function_word,
    named,
    only_work,
    pointing,
    says_work,
)
from .predicates import is_relation, names_of

OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
#: How urgent what a heading says is: "P1 — Bilge Pump".
_URGENCY = re.compile(r"[A-Z]\d")
_COUNTED = re.compile(r"^[\d.]+(?:\s+|\Z)")
#: The name of the file before its title: "USER.md - About Mira".
_FILE_NAME = re.compile(r"\S+\.md\s*[-–—:：|]\s*", re.IGNORECASE)


class Topic(NamedTuple):
    """What headings say of the items below them: whom they name, last one first."""

    names: tuple[str, ...] = ()
    collection: str | None = None
    #: Somebody is named by a heading below one such as *People*.
    member: bool = False
    #: The last heading says more than a name: what lies below is about who knows what.
    unclear: bool = False
    verb: str | None = None
    #: What a decision below them is about; empty where they say more than a name can.
    decision: str | None = None
    #: There is but one heading: the title of a file, which is about one thing.
    title: bool = False
    #: The first name is that of a piece of work, of something that happened, or of a report.
    work: bool = False
    #: The last heading says that it is about a relative of somebody, and not who that is.
    relative: bool = False


#: How many there are below a heading: what was done or found, one by one (*Likes (12 boats)*).
_TALLY = re.compile(r"[(（]\s*\d{1,3}(?:\s?[-–]\s?\d{1,3})?(?:\s?[^\W\d]+)?\s*[)）]")


@lru_cache(maxsize=4096)
def topic_of(heading: str) -> Topic:
    """Whom a path of headings names: the last one first, as far as nothing unclear stands in between."""
    names: list[str] = []
    verb = collection = decision = None
    member = unclear = work = related = False
    parts = heading.split(" > ")
    for depth, part in reversed([*enumerate(parts)]):
        text = tidy(SIGNS.sub(" ", DATE.sub(" ", ASIDE.sub(" ", part)))).strip(" -.#")
        low = text.casefold()
        if depth == 0 and ".md" in low:
            # "USER.md - Our Users": each of them has a heading.
            member = member or not fact_words.every("owners").isdisjoint(low.split())
            continue
        if not text:
            continue
        head = tidy(re.split(r"[,，、]", ASIDE.sub(" ", part), maxsplit=1)[0]).casefold()
        kind = next((name for name in ("people", "things") if head in fact_words.every(name)), None)
        if kind is not None:
            if not names:
                # A heading directly below is an entry, whatever word it is; what lies below one is no entry itself.
                names += _entry(parts[depth + 1]) if depth + 1 < len(parts) else ()
                collection = collection or (kind if depth + 1 == len(parts) else None)
            member = member or kind == "people"
            continue
        if _of_owner(text) or _of_owner(tidy(PARTS.split(part, maxsplit=1)[0])):
            names, member = names or ["user"], True
            continue
        said, owner = _list_of(text)
        said = "" if said and _TALLY.search(part) else said
        related = related or (said is None and not names and is_relation(text))
        if said == "":
            unclear = not names
            break
        if said is not None:
            verb = verb or (said if not related else None)
            names += [owner] if owner else []
            continue
        # The title of a file with a day behind its words names that day's edition of something.
        dated = depth == 0 and date_in_heading(part) is not None
        edition = dated and (
            not DATE.match(part) or low.split()[-1] in fact_words.every("work") | fact_words.every("tails")
        )
        said_of = names_subject(text) and low.split()[-1] not in fact_words.every("decision")
        first = tidy(PARTS.split(part, maxsplit=1)[0]).casefold()
        if decision is None and depth == 0 and ":" not in part and first in fact_words.every("decision"):
            decision = "we"  # "Decisions - of this year"
        if decision is None and (edition or TIME.search(part)):
            decision = "we" if edition else ""  # what was done at that time
        if decision is None and said_of and not only_work(low):
            topic, _, rest = part.partition(":")
            decided = not fact_words.every("decision").isdisjoint(tidy(topic).casefold().split()[-1:])
            about = rest if rest and decided else part
            ones = (tidy(SIGNS.sub(" ", DATE.sub(" ", one))) for one in PARTS.split(ASIDE.sub(" ", about)))
            named_ones = (one for one in ones if names_subject(one) and not _URGENCY.fullmatch(one))
            decision = _COUNTED.sub("", next(named_ones, ""))
            about_some = counts_work(about) or low.split()[0] in pointing()
            decision = decision if len(decision.split()) <= 6 and len(decision) <= 60 and not about_some else ""
        if low in fact_words.every("sides"):
            unclear = not names
            break
        if names and _of_problems(low):
            names, unclear = [], True  # what was wrong with something
            break
        name = None if edition else named(part)
        if name is None:
            if not names and ((names_subject(text) and not is_common(text)) or counts_work(part)):
                unclear = True
                break
            continue
        work = work if names else says_work(part, name)
        names.append(name)
    relative = not names and _of_relative(parts[-1])
    return Topic(tuple(names), collection, member, unclear, verb, decision, _titles(parts), work, relative)


def _of_relative(heading: str) -> bool:
    """Whether a heading begins with a word for a relative: *My son's school*, *儿子的学校*."""
    low, relatives, mine = heading.casefold(), kin(), fact_words.every("mine")
    words = [
        word
        for word in re.findall(r"[^\W\d_]+", low)
        if word not in mine and (len(word) > 2 or not is_function_word(word))
    ]
    return words[:1] != [] and (
        words[0] in relatives or words[0].startswith(tuple(filter(WITHOUT_CAPITALS.match, relatives)))
    )


def _of_problems(text: str) -> bool:
    """Whether a heading, in small letters, is about problems: *Critical Issues*, *Bugs Fixed*."""
    said = fact_words.every("problems")
    words = [word for word in text.split() if word not in fact_words.every("done")]
    if not words:
        return False
    last = words[-1]
    return not said.isdisjoint((last, last.removesuffix("s"))) or (
        WITHOUT_CAPITALS.match(last) is not None and last.endswith(tuple(filter(WITHOUT_CAPITALS.match, said)))
    )


@lru_cache(maxsize=1)
def kin() -> frozenset[str]:
    """What relatives are called, in small letters."""
    relations = ("children", "siblings", "parents", "partner", "married to")
    return frozenset(name for relation in relations for name in names_of(relation))


def _titles(parts: Sequence[str]) -> bool:
    """Whether headings are but the title of a file, and not that of a day."""
    return len(parts) == 1 and date_in_heading(parts[0]) is None


def _entry(heading: str) -> tuple[str, ...]:
    """The entry of a collection that a heading is though it names a relation: *Instagram* below *Projects*."""
    text = tidy(SIGNS.sub(" ", DATE.sub(" ", ASIDE.sub(" ", heading)))).strip(" -.#")
    known = is_label(text) or text.casefold() in fact_words.every("topics")
    return (text,) if is_relation(text) and not known and names_subject(text) else ()


_VERBS = ("likes", "dislikes", "prefers")


def _list_of(heading: str) -> tuple[str | None, str | None]:
    """Whether below a heading there is what somebody likes, dislikes or prefers, and whose it says that to be.

    Empty where it says that it is somebody's, but not whose.
    """
    heading = heading.replace("’", "'")
    low = heading.casefold()
    for verb in _VERBS:
        said = fact_words.every(verb)
        if low in said or any(
            one.endswith(("的", "な", "는")) and low.startswith(one) and len(low) < len(one) + 6 for one in said
        ):
            return verb, None
    for verb, pattern, bare in _whose():
        if (match := pattern.fullmatch(heading)) is not None:
            owner = match["name"].strip()
            if owner.casefold() in fact_words.every("owner"):
                return verb, "user"
            if " " in owner and WITHOUT_CAPITALS.search(owner):
                return "", None  # "Tide 排版偏好": whose, it does not say
            if not bare and is_name(owner) and not is_common(owner):
                return verb, owner
    return None, None


def _of_owner(heading: str) -> bool:
    """Whether below a heading there is what is known of the owner of the notes: *User profile*, *About the user*."""
    low = heading.replace("’", "'").casefold()
    return any(one in low for one in _owners()) and _portraits().fullmatch(low) is not None


@lru_cache(maxsize=1)
def _owners() -> tuple[str, ...]:
    return tuple(one.casefold() for one in fact_words.every("owner"))


@lru_cache(maxsize=1)
def _portraits() -> re.Pattern[str]:
    def either(words: Iterable[str]) -> str:
        return "|".join(re.escape(one.casefold()) for one in sorted(words, key=lambda one: (-len(one), one)))

    owner, lists = either(fact_words.every("owner")), either(fact_words.every("portrait"))
    forms = {*fact_words.every("whose"), *fact_words.every("about"), *fact_words.every("profile"), "*?", "* ?"}
    said = (
        re.escape(one.casefold()).replace(r"\*", f"(?:{owner})").replace(r"\?", f"(?:{lists})") for one in sorted(forms)
    )
    return re.compile("|".join(said))


@lru_cache(maxsize=1)
def _whose() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """Headings that say whose list it is, and whether nothing but the order of words says so."""
    out = []
    for verb in _VERBS:
        lists = "|".join(re.escape(one) for one in sorted(fact_words.every(verb), key=lambda one: (-len(one), one)))
        for form in sorted(fact_words.every("whose"), key=lambda one: (-len(one), one)):
            said = re.escape(form).replace(r"\*", r"(?P<name>\w.{0,30}?)").replace(r"\?", f"(?:{lists})")
            out.append((verb, re.compile(said, re.IGNORECASE), not form.replace("*", "").replace("?", "").strip(" -")))
    return tuple(out)


@lru_cache(maxsize=4096)
def is_template(heading: str) -> bool:
    """Whether one of the headings says that what lies below it is a form or an example, and states nothing."""
    for part in heading.split(" > "):
        text = " ".join(re.findall(r"[^\W\d_]+", ASIDE.sub(" ", part).casefold()))
        if (match := _templates().search(text)) is not None:
            if match.end() == len(text) or is_function_word(text[match.end() :].split()[0]):
                return True  # "Entry template", "Template for an entry"
    return False


@lru_cache(maxsize=1)
def _templates() -> re.Pattern[str]:
    """What says so at the end of a heading, or at its beginning before a function word."""
    said = fact_words.every("template")
    apart = "|".join(re.escape(one) for one in said if not WITHOUT_CAPITALS.match(one))
    joined = "|".join(re.escape(one) for one in said if WITHOUT_CAPITALS.match(one))
    return re.compile(rf"(?:^|\s)(?:{apart})\Z|^(?:{apart})(?=\s)|(?:{joined})\Z")


def person_of(heading: str, title: bool) -> str | None:
    """Whom a heading of a person's file says that it is about; an everyday word is a name in the file's ``title``."""
    text = _FILE_NAME.sub("", heading.strip())
    if title and text != heading.strip() and len(text.split()) == 2 and text.istitle() and named(text) == text:
        return text  # "USER.md - Mira Sommer"
    for said in _profiles("profile"), _profiles("about") if title else ():
        for pattern in said:
            if (match := pattern.fullmatch(text)) is None:
                continue
            own = tidy(match["name"])
            if own.casefold() in fact_words.every("owner"):
                continue
            name = named(own)
            if name is None and title and not is_function_word(own.casefold()) and not is_label(own):
                name = own
            if name and is_name(name):
                return name
    return None


@lru_cache(maxsize=2)
def _profiles(which: str) -> tuple[re.Pattern[str], ...]:
    longest = sorted(fact_words.every(which), key=lambda one: (-len(one), one))
    return tuple(re.compile(re.escape(one).replace(r"\*", "(?P<name>.+)"), re.IGNORECASE) for one in longest)
