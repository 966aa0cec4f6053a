"""Facts in a unit of a note, found by rules about its form: precision before recall, and no model.

Each rule has a name, which goes with what it finds:

``key``         ``- **Timezone:** Europe/Amsterdam`` below a heading that names the subject, or in a person's file
``entry``       ``- **Mira**: designer and front-end`` below a heading such as *People*
``listed``      an item below *Preferences*, *Likes* or *Dislikes* of somebody
``table``       rows of key and value, and rows whose first cell names the subject
``decision``    ``Decision: …``, ``We decided to …``
``possessive``  ``JR's code phrase is blue bunny``, ``My favourite colour is green``
``says``        ``Mira prefers …``, ``Dario lives in …``, ``I work at …`` and their like
``is``          ``all-MiniLM-L6-v2 is the embedding model``: a name, a short thing, the present tense
``state``       ``QX-7714 is closed``, ``notesync is at v2.3.1``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..model import FoundFact, Section, Unit
from . import fact_words
from .fact_sentences import Speech, facts_in, tidy

#: Grows when what :func:`found` returns for a text changes, so that stored facts are known to be of another make.
VERSION = 2

#: Rules whose later value for a subject and key replaces the earlier one, whatever the key is.
KEYED = frozenset({"key", "entry", "table", "possessive", "state"})

#: Longer texts are prose, whose facts no rule of form can tell.
_MOST_CHARS = 1200
_MOST_OBJECT = 160

_OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
_BOLD = re.compile(
    r"(?:\*\*|__)(?P<label>[^*:_\n]{1,48}?)(?::(?:\*\*|__)|(?:\*\*|__)\s?[:–—-])\s+(?P<value>\S.*)", re.S
)
_CODE = re.compile(r"`(?P<label>[^`\n]{1,48})`\s?[:–—]\s+(?P<value>\S.*)", re.S)
_PLAIN = re.compile(r"(?P<label>[^\W\d_][\w' /-]{0,36}):\s+(?P<value>\S.*)", re.S)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[^\sa-z])|;\s")
_QUOTED = re.compile(r"[\"“]([^\"“”]{1,40})[\"”]")
_DATE = re.compile(r"\d{4}[-/.]\d\d(?:[-/.]\d\d)?|\d{1,2}:\d\d(?:\s?[ap]m)?", re.IGNORECASE)
_NAMING = re.compile(
    r"(?:about|who is|facts about|profile(?: of|:)?|notes on|project:?|person:?|host:?|machine:?|server:?|service:?|"
    r"client:?|customer:?|contact:?|device:?|repo(?:sitory)?:?|user:?|laptop:?|nas:?)\s+(?P<name>\S.*)",
    re.IGNORECASE,
)
_WHO_IS = re.compile(r"who (?P<name>.+) is", re.IGNORECASE)
_OF = re.compile(
    r"(?P<name>\S.*?)['’]s? (?:preferences|details|profile|setup|contact|info|machine|likes|dislikes)", re.IGNORECASE
)
_DECIDED = re.compile(r"decisions?(?::| on| about| for)?\s+(?P<name>\S.*)", re.IGNORECASE)
_ROLE = frozenset("user human me owner".split())
#: Headings of ``USER.md`` that name nobody.
_ANYBODY = re.compile(r"(?:(?:the|your|my) )?(?:user|human|me|owner)(?: (?:info|details))?|(?:user )?profile", re.I)
_ASSISTANT = frozenset("assistant agent ai bot".split())
_CALLED = re.compile(
    r"[-*\s]*(?:\*\*|__)?(?:what to call them|preferred name|call them|nickname|goes by|name|called)"
    r"(?::(?:\*\*|__)?|(?:\*\*|__):|\s)\s*(?P<name>[^\s_(,.;:*`][^,.;:(*`\n]{0,30})",
    re.IGNORECASE,
)


class _Topic(NamedTuple):
    """What a heading says of the items below it."""

    subject: str | None = None
    sure: bool = False
    collection: bool = False
    verb: str | None = None
    decision: str | None = None


def found(unit: Unit, heading: str, subject: str | None) -> list[FoundFact]:
    """The facts that ``unit`` states, below ``heading`` (a path of headings joined by `` > ``).

    ``subject`` is whom the whole file is about, where it is about somebody: see :func:`subject_of`.  The subject
    of a fact is the name in its sentence, else that of the heading, else ``subject``; "I" is the speaker of a turn.
    """
    text = unit.text
    if len(text) > _MOST_CHARS or unit.form in ("heading", "title", "code", "meta"):
        return []
    if unit.form == "row":
        return _distinct(_row(unit, _topic_in(heading, subject), subject))
    # Most units have neither a label nor a verb that the rules can read.
    if fact_words.TRIGGERS.isdisjoint(text.split()) and (unit.speaker or not _may_be_labelled(unit, heading)):
        return []
    opening = _OPENING.match(text)
    if opening is None or opening["task"] or "~~" in text:
        return []
    body = " ".join(text[opening.end() :].split())
    if unit.speaker:
        return _distinct(_turn(unit, body))
    return _distinct(_statement(unit, body, _topic_in(heading, subject), subject))


def subject_of(path: str, sections: Iterable[Section] = ()) -> str | None:
    """Whom a whole file is about: for ``USER.md`` the name that it gives its person, else ``user``; else nobody."""
    if path.rpartition("/")[2].casefold() != "user.md":
        return None
    for section in sections:
        for part in reversed(section.heading.split(" > ")):
            match = _WHO_IS.fullmatch(part.strip())
            if match and _looks_like_name(match["name"]) and not _ANYBODY.fullmatch(match["name"]):
                return match["name"]
        for unit in section.units:
            match = _CALLED.match(unit.text) if len(unit.text) < 200 else None
            if match and _looks_like_name(name := match["name"].strip()):
                return name
    return "user"


def _may_be_labelled(unit: Unit, heading: str) -> bool:
    return ":" in unit.text or "**" in unit.text or (unit.form == "item" and _topic(heading).verb is not None)


def _distinct(facts: Iterator[FoundFact]) -> list[FoundFact]:
    return list(dict.fromkeys(facts))


# -- turns ----------------------------------------------------------------------------------------


def _turn(unit: Unit, body: str) -> Iterator[FoundFact]:
    speaker = unit.speaker or ""
    label, colon, rest = body.partition(":")
    if colon and tidy(label).casefold().endswith(speaker.casefold()):
        body = rest.lstrip("*_ ")
    low = speaker.casefold()
    if low in _ASSISTANT:
        return
    yield from facts_in(body, Speech(me="user" if low in _ROLE else speaker))


# -- items and lines ------------------------------------------------------------------------------


def _statement(unit: Unit, body: str, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    about = topic.subject or subject
    bold = _BOLD.match(body) or _CODE.match(body)
    labelled = bold or _PLAIN.match(body)
    known = frozenset(name for name in (about,) if name)
    if labelled is not None and not labelled["value"].startswith("//"):
        label, value = tidy(labelled["label"]), labelled["value"]
        low = label.casefold()
        if low in ("decision", "decided", "final decision"):
            yield from _decision(value, topic, subject)
            return
        if topic.collection:
            if (bold is not None and _is_entry(label)) or (bold is None and _looks_like_name(label)):
                yield from _entry(label, value)
            return
        if about and _is_key(label, bold is not None, topic, subject):
            if (thing := _value(value)) is not None:
                yield from _made(about, label if label.isupper() else low, thing, "key", 0.9 if bold else 0.8)
            return
        if bold is None and low not in fact_words.NOT_KEYS:
            return
        body = value
    else:
        if topic.verb and about and unit.form == "item" and (thing := _value(body)) is not None:
            yield from _made(about, topic.verb, thing, "listed", 0.8)
            return
    implied = about if unit.form in ("item", "line") and (topic.sure or subject) else None
    yield from facts_in(body, Speech(implied=implied, known=known))


def _decision(value: str, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    thing = _value(value, 240)
    if thing is not None and len(thing.split()) >= 3:
        yield from _made(topic.decision or topic.subject or subject or "we", "decided", thing, "decision", 0.9)


def _entry(label: str, value: str) -> Iterator[FoundFact]:
    thing = _value(value)
    if thing is not None:
        first = thing.split(" ", 1)[0].lower()
        of_somebody = thing.split(" ", 1)[0].replace("’", "'").endswith("'s") and thing[:1].isupper()
        predicate = "is" if first in ("a", "an", "the", "my", "our") or of_somebody else "about"
        yield from _made(label, predicate, thing, "entry", 0.8)
    yield from facts_in(value, Speech(implied=label, known=frozenset({label})))


def _is_entry(label: str) -> bool:
    parts = label.split()
    return len(parts) <= 4 and parts[0].casefold() not in fact_words.NOT_KEYS


def _is_key(label: str, bold: bool, topic: _Topic, subject: str | None) -> bool:
    """Whether a label names an attribute rather than opening a remark."""
    parts = label.casefold().split()
    if (
        not parts
        or len(parts) > 4
        or not all(part.replace("-", "").replace("/", "").replace("'", "").isalpha() for part in parts)
    ):
        return False
    if (parts[0] in fact_words.NOT_KEYS and len(parts) == 1) or " ".join(parts) in fact_words.NOT_KEYS:
        return False
    known = parts[-1] in fact_words.ATTRIBUTES or " ".join(parts) in fact_words.ATTRIBUTES
    favourite = parts[0] in ("favourite", "favorite", "preferred", "default", "main", "primary", "current")
    if bold:
        return known or favourite or topic.sure or subject is not None
    if len(parts) > 3:
        return False
    if known or favourite:
        return True
    return topic.verb is not None and len(parts) <= 2 and parts[0] not in fact_words.NOT_KEYS


def _value(value: str, most: int = _MOST_OBJECT) -> str | None:
    """The first sentence of a value, where it is short enough and says something."""
    if (end := _SENTENCE_END.search(value)) is not None:
        value = value[: end.start()]
    if value.rstrip().endswith("?") or value.startswith(("_(", "(", "<", "_")):
        return None
    text = tidy(value)
    low = text.casefold()
    if (
        not text
        or len(text) > most
        or low in fact_words.PLACEHOLDERS
        or low.split(" ", 1)[0] in ("tbd", "todo", "unknown")
    ):
        return None
    return text


def _made(subject: str, predicate: str, thing: str, rule: str, confidence: float) -> Iterator[FoundFact]:
    subject, predicate = tidy(subject), tidy(predicate)
    if subject and predicate and thing and subject.casefold() != thing.casefold():
        yield FoundFact(subject, predicate, thing, rule, confidence)


# -- tables ---------------------------------------------------------------------------------------


def _row(unit: Unit, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    if not unit.indexed or unit.indexed == unit.text:
        return
    raw = _CELL_BORDER.split(unit.text.strip(" \t>").removeprefix("|").removesuffix("|"))
    cells = [cell.strip() for cell in raw]
    filled = [cell for cell in cells if cell]
    names = _headers(unit.indexed, filled)
    if names is None or len(filled) < 2:
        return
    low = [tidy(name).casefold() for name in names]
    about = topic.subject or subject
    if (
        len(filled) == 2
        and (low[0] in fact_words.KEY_COLUMNS or not low[0])
        and (low[1] in fact_words.VALUE_COLUMNS or not low[1])
    ):
        label = tidy(filled[0])
        thing = _value(filled[1])
        if about and thing is not None and label.casefold() not in fact_words.NOT_KEYS and len(label.split()) <= 4:
            yield from _made(about, label if label.isupper() else label.casefold(), thing, "table", 0.85)
        return
    if "decision" in low:
        thing = _value(filled[low.index("decision")], 240)
        if thing is not None and len(thing.split()) >= 3:
            yield from _made(topic.decision or topic.subject or subject or "we", "decided", thing, "decision", 0.9)
        return
    if low[0] not in fact_words.ENTITY_COLUMNS:
        return
    for name, cell in zip(low[1:], filled[1:], strict=True):
        thing = _value(cell)
        if name and name not in fact_words.NOTING_COLUMNS and len(name) <= 40 and thing is not None:
            yield from _made(filled[0], name, thing, "table", 0.85)


def _headers(indexed: str, cells: list[str]) -> list[str] | None:
    """The header of each cell, out of ``header: cell; header: cell``."""
    names, at = [], 0
    for number, cell in enumerate(cells):
        after = "; " if number + 1 < len(cells) else ""
        if indexed.startswith(cell + after, at):
            names.append("")
            at += len(cell) + len(after)
            continue
        here = indexed.find(f": {cell}{after}", at)
        if here < 0:
            return None
        names.append(indexed[at:here])
        at = here + 2 + len(cell) + len(after)
    return names if at == len(indexed) else None


# -- headings -------------------------------------------------------------------------------------


def _topic_in(heading: str, subject: str | None) -> _Topic:
    """What ``heading`` says in a file about ``subject``, of whom it may speak as "the user"."""
    topic = _topic(heading)
    if subject and topic.subject and _ANYBODY.fullmatch(topic.subject):
        return topic._replace(subject=None)
    return topic


#: Headings of captures and summaries, which name nobody that a sentence below them could be about.
_OURS = re.compile(
    r"Captured on \d{4}-\d\d-\d\d|\d\d:\d\d(?: · (?:session|agent) .*)?|Consolidated: .*|Milestones|Other|Notes"
)


@lru_cache(maxsize=4096)
def _topic(heading: str) -> _Topic:
    """Subject of a path of headings: that of the last one, or of one above where the last says only how."""
    verb = None
    for part in reversed(heading.split(" > ")):
        if _OURS.fullmatch(part):
            continue
        text = tidy(_DATE.sub(" ", part))
        low = text.casefold()
        if not low:
            return _Topic(verb=verb)
        first = re.split(r"[\s,:(&/]", low, maxsplit=1)[0]
        if match := _DECIDED.fullmatch(text):
            return _Topic(decision=match["name"])
        if low in fact_words.TRANSPARENT or low.endswith(" decisions"):
            verb = verb or fact_words.PREFERENCES.get(low)
            continue
        if low.endswith(".md"):
            return _Topic(verb=verb)
        if first in fact_words.COLLECTIONS and (low == first or not _looks_like_name(text) or "," in text):
            return _Topic(collection=True)
        for pattern in (_WHO_IS, _NAMING, _OF):
            if (match := pattern.fullmatch(text)) is None:
                continue
            name = match["name"]
            if quoted := _QUOTED.search(name):
                name = quoted[1]
            if _looks_like_name(name):
                said = low.rsplit(" ", 1)[-1]
                return _Topic(
                    tidy(name), True, verb=verb or (fact_words.PREFERENCES.get(said) if pattern is _OF else None)
                )
        if quoted := _QUOTED.search(part):
            return _Topic(quoted[1], True, verb=verb)
        if _looks_like_name(text) and low not in fact_words.NOT_TOPICS:
            several = " " in text or not text[1:].islower() or verb is not None
            return _Topic(text, several, verb=verb)
        return _Topic(decision=text if len(text) <= 60 and low not in fact_words.NOT_TOPICS else None)
    return _Topic(verb=verb)


def _looks_like_name(text: str) -> bool:
    parts = tidy(text).split()
    if not 1 <= len(parts) <= 3 or parts[0].casefold() in fact_words.NOT_NAMES:
        return False
    return all(part[0].isupper() or any(c.isdigit() for c in part) or "_" in part for part in parts)
