"""Facts in a unit of a note, found by its form: precision before recall, and no model.

A unit has one of four forms, and the form is the rule that goes with what is found:

``key``       ``- **Timezone:** Europe/Amsterdam`` below what names the subject; an item below *Preferences* is a value
``entry``     ``- **Mira**: designer and front-end`` below a heading such as *People*
``table``     rows of key and value, and rows whose first cell names the subject
``sentence``  ``Mira prefers …``, ``王芳住在…``, ``We decided to …``: see :mod:`.fact_sentences`

A key counts where ``relations.txt`` knows it and the value looks as it must.  The words are data: ``fact_words.txt``.
What is found is only a candidate: how sure it is, :mod:`~openclaw_memory.facts.things` tells from all the notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..model import UNSAID, FoundFact, Section, Unit
from ..text.labels import is_label, names_subject
from ..text.lines import cells_of
from ..text.negation import negations
from ..text.scripts import UNSPACED
from ..text.sentences import sentence_spans
from ..text.turns import roles
from . import fact_words
from .fact_headings import Topic, is_template, person_of, topic_of
from .fact_sentences import Speech, facts_in, is_name, tidy
from .fact_values import value_of
from .heading_names import is_common, is_work
from .predicates import is_personal, kind_of_key, liking_of, needs_person, normalise, of_thing

#: Grows when what :func:`found` returns for a text changes, so that stored facts are known to be of another make.
VERSION = 25


_OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
_KEYED = re.compile(
    r"(?:(?P<mark>\*\*|__|`)(?P<bold>[^*`\n:：]{1,48}?)\s?(?:[:：](?P=mark)|(?P=mark)\s?[:：])\s*"
    r"|(?P<label>[^\W\d_][^:：*`|\n]{0,40}?)\s?(?::\s+|：\s*))(?P<value>\S.*)",
    re.S,
)
#: Where the next pair of a line begins.
_PAIRS = re.compile(r"(?<!\s)\s+[|·•]\s++(?=(?:\*\*|__)?[^\W\d_][^:：|\n]{0,40}[:：])")
_UNSPACED = re.compile(f"(?![ァ-ヺー])[{UNSPACED}]")
#: The day of an entry before what it says: "[2026-03-21] Mira prefers tea".
_DATED = re.compile(r"\[\d[\d:T /.-]+\]\s+")
#: A line that is nothing but bold words, perhaps with a sign behind them: a heading of the lines below it.
_TITLED = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?(\*\*|__)(?P<title>[^*\n]{2,80}?)(?<![:：])\1[^\w:：]*\Z")
#: A single word before a colon.
_LABELLED = re.compile(r"[ \t>*+•・\d.)-]*(?:__)?[^\W\d_][^\W\d_A-Z]*(?:__|\*\*)?[:：]")
_VERSION = re.compile(r"v\d+(?:\.\d+)*[\w-]*(?=\s*(?:[(（,，;；].*)?\Z)")


def found(unit: Unit, heading: str, subject: str | None, above: str = "") -> list[FoundFact]:
    """The facts that ``unit`` states, below ``heading`` (a path of headings joined by `` > ``).

    ``subject`` is whom the whole file is about, where it is about somebody: see :func:`subject_of`.  ``above`` is the
    line that a nested item belongs to: see :func:`parents`.
    """
    # A longer text is prose, whose facts no rule of form can tell.
    if len(unit.text) > 1200 or unit.form in UNSAID | {"heading", "title"}:
        return []
    if is_template(heading):
        return []
    if above:
        if _LABELLED.match(above) and not is_common(_title_of(above)) and not topic_of(heading, subject).collection:
            return []  # "Workaround:" is as likely as "Heron:"
        heading = f"{heading} > {_title_of(above)}"
    if unit.form == "row":
        return _distinct(_row(unit, topic_of(heading, subject)))
    opening = _OPENING.match(unit.text)
    if opening is None or opening["task"]:
        return []
    text = unit.text[opening.end() :]
    text = text[dated.end() :] if (dated := _DATED.match(text)) is not None else text
    if unit.speaker and kind_of_key(unit.speaker) is None:
        return _distinct(_turn(unit.speaker, " ".join(text.split())))
    return _distinct(fact for line in _lines(text) for fact in _line(line, unit, topic_of(heading, subject)))


def _title_of(line: str) -> str:
    """The line that an item belongs to, as the heading that it is for it: its bold words, or what is before a colon."""
    opening = _OPENING.match(line)
    body = line[opening.end() if opening else 0 :].strip()
    bold = re.match(r"(\*\*|__|`)([^*`\n]{1,48}?)[:：]?\1", body)
    return (bold[2] if bold else body.rstrip(":：")).replace(" > ", " ")


def _lines(text: str) -> list[str]:
    """The lines of a unit where its first one is a key whose value ends with it; else all of it as one.

    The value is no prose, or the next line is a key too.
    """
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first, second = (_kind_of(line) for line in (*lines, "", "")[:2])
    if len(lines) > 1 and first is not None and (second is not None or first not in ("text", "tool", "state")):
        return lines if second is not None else [lines[0], " ".join(lines[1:])]
    return [" ".join(lines)]


def _kind_of(line: str) -> str | None:
    """What the value of a key must look like; ``None`` where a line begins with none."""
    match = _KEYED.match(line)
    return kind_of_key(tidy(match["bold"] or match["label"])) if match is not None else None


def parents(section: Section) -> dict[int, str]:
    """By line the line that it belongs to: the item above a nested one, a line that ends with a colon, bold words.

    A line directly below an item goes on with it, unless it begins with bold words.
    """
    out: dict[int, str] = {}
    stack: list[tuple[int, str]] = []
    intro, title, blank = "", "", False
    for number, line in enumerate(section.lines, section.start_line):
        body = line.strip()
        blank, apart = not body, blank
        if not body:
            continue
        opening = _OPENING.match(line)
        start = opening.end() if opening else 0
        indent = len(line) - len(line.lstrip())
        item = start > indent and line[indent] != ">"
        if not item and stack and not apart and not body.startswith(("**", "__", "#", "|", ">", "```")):
            out[number] = stack[-1][1]
            continue
        if not item:
            stack, intro = [], line if body.rstrip("*_").endswith((":", "：")) else ""
            if _TITLED.match(line):
                title = line
            elif title:
                out[number] = title
            continue
        while stack and stack[-1][0] >= indent:
            stack.pop()
        if above := stack[-1][1] if stack else intro or title:
            out[number] = above
        stack.append((indent, line))
    return out


def subject_of(path: str, sections: Iterable[Section] = ()) -> str | None:
    """Whom a whole file is about: for ``USER.md`` the name that it gives its person, else ``user``; else nobody."""
    if path.rpartition("/")[2].casefold() != "user.md":
        return None
    headed = ""
    for section in sections:
        headed = headed or next(filter(None, map(person_of, section.heading.split(" > "))), "")
        for unit in section.units:
            match = _KEYED.match(unit.text.lstrip(" \t-+>") if "**" in unit.text else unit.text.lstrip(" \t-*+>"))
            if match is None or len(unit.text) > 200 or normalise(tidy(match["bold"] or match["label"])) != "is called":
                continue
            value = _PAIRS.split(match["value"])[0]
            name = re.split(r"[_(（,，、/;:*`\n|·]", value, maxsplit=1)[0].strip()
            written = name.title() if name.islower() else name  # a person may write the own name in small letters
            if value_of(value, "text") is not None and is_name(written) and not is_common(name):
                return name if headed in name else headed
    return headed or "user"


def _distinct(facts: Iterator[FoundFact]) -> list[FoundFact]:
    return list(dict.fromkeys(facts))


def _fact(subject: str, predicate: str, thing: str, rule: str, confidence: float) -> Iterator[FoundFact]:
    subject, predicate = tidy(subject), tidy(predicate)
    if subject and predicate and thing and subject.casefold() != thing.casefold():
        yield FoundFact(subject, predicate, thing, rule, confidence)


# -- sentences ------------------------------------------------------------------------------------


def _turn(speaker: str, body: str) -> Iterator[FoundFact]:
    label, colon, rest = body.partition(":")
    low = speaker.casefold()
    if colon and tidy(label).casefold().endswith(low):
        body = rest.lstrip("*_ ")
    if low not in roles()["assistant"]:
        mine = low in roles()["person"] or low in fact_words.every("self")
        yield from facts_in(body, Speech(me="user" if mine else speaker))


# -- keys and entries -----------------------------------------------------------------------------


def _line(body: str, unit: Unit, topic: Topic) -> Iterator[FoundFact]:
    if len(pairs := _PAIRS.split(body)) > 1:
        for pair in pairs:
            yield from _line(pair, unit, topic)
        return
    match = _KEYED.match(body)
    if match is None or match["value"].startswith("//"):
        implied = topic.name if unit.form in ("item", "line") else None
        facts = list(facts_in(body, Speech(implied=implied)))
        yield from facts or (_listed(body, topic) if unit.form == "item" else ())
        return
    label, value = tidy(match["bold"] or match["label"]), match["value"]
    kind = kind_of_key(label)
    if kind is not None:
        yield from _key(label, kind, value, topic, "key", 0.9 if match["mark"] else 0.8)
    elif topic.relation and topic.person and len(label.split()) < 3 and not is_label(label):
        if (thing := value_of(value, "text")) is not None:
            yield from _fact(topic.person, label.casefold(), thing, "key", 0.8)
    elif topic.collection:
        if match["mark"] or is_name(label):
            yield from _entry(label, value)
    elif is_label(label) or len(sentence_spans(label)) > 1:
        yield from facts_in(value if is_label(label) else body, Speech())


def _listed(body: str, topic: Topic) -> Iterator[FoundFact]:
    """An item below a heading that names its relation: one that denies, or says how something stands, is none."""
    if not topic.relation or not topic.person:
        return
    relation, body = liking_of(body) or (topic.relation, body)
    thing = value_of(body, "text")
    denied = relation != "prefers" and negations(body)  # "No onions" below Likes, or below Dislikes: who can tell?
    if thing is None or denied or not body[0].isalnum() or body.rstrip("*_").endswith((":", "：")):
        return
    most_words = 5  # of an item that is a value by itself; two characters where words are not apart are a word
    if len(thing.split()) <= most_words and len(_UNSPACED.findall(thing)) <= 2 * most_words:
        yield from _fact(topic.person, relation, thing, "key", 0.8)


def _key(label: str, kind: str, value: str, topic: Topic, rule: str, confidence: float) -> Iterator[FoundFact]:
    if normalise(label) == "decided":
        yield from _decision("we", value, rule)
        return
    thing = value_of(value, kind)
    about = topic.person if is_personal(label) and topic.person else topic.name
    if about is None or (needs_person(label) and topic.person is None):
        return
    if about == topic.owner and (of_thing(label) or normalise(label) == "status"):
        return  # the agent's model, or how something stands that its heading does not name
    if thing is not None and about is not None:
        yield from _fact(about, label if label.isupper() else label.casefold(), thing, rule, confidence)


def _decision(subject: str, value: str, rule: str) -> Iterator[FoundFact]:
    thing = value_of(value, "text", 240)
    if thing is not None and (len(thing.split()) > 2 or len(_UNSPACED.findall(thing)) > 3):
        yield from _fact(subject, "decided", thing, rule, 0.9)


def _entry(label: str, value: str) -> Iterator[FoundFact]:
    if len(label.split()) > 4 or is_common(label) or not names_subject(label) or is_work(label):
        return
    thing = value_of(value, "text")
    if (version := _VERSION.match(value)) is not None:
        yield from _fact(label, "version", version[0], "entry", 0.8)
        return
    if thing is not None and thing[0].isalpha():
        yield from _fact(label, "about", thing, "entry", 0.8)
    yield from facts_in(value, Speech(implied=label))


# -- tables ---------------------------------------------------------------------------------------


def _row(unit: Unit, topic: Topic) -> Iterator[FoundFact]:
    if not unit.indexed or unit.indexed == unit.text:
        return
    cells = [cell.strip() for cell in cells_of(unit.text) if cell.strip()]
    names = _headers(unit.indexed, cells)
    if names is None or len(cells) < 2 or any(cell.endswith(("?", "？")) for cell in cells):
        return
    low = [tidy(name).casefold() for name in names]
    if len(cells) == 2 and low[0] in fact_words.every("keys") | {""} and low[1] in fact_words.every("values") | {""}:
        label = tidy(cells[0])
        if (kind := kind_of_key(label)) is not None:
            yield from _key(label, kind, cells[1], topic, "table", 0.85)
        return
    first = tidy(cells[0])
    entity = low[0] in fact_words.every("entity") and names_subject(first) and len(first.split()) <= 5
    entity = (
        entity and not is_common(first) and not is_work(first) and first.casefold() not in fact_words.every("nobody")
    )
    for name, cell in zip(low, cells, strict=True):
        kind = kind_of_key(name) if name else None
        if kind is None or (name == low[0] and entity):
            continue
        if normalise(name) == "decided":
            topical = cell != cells[0] and names_subject(first) and len(first.split()) <= 5
            yield from _decision(first if topical else "we", cell, "table")
        elif entity and (thing := value_of(cell, kind)) is not None:
            yield from _fact(first, name, thing, "table", 0.85)


def _headers(indexed: str, cells: list[str]) -> list[str] | None:
    """The header of each cell, out of ``header: cell; header: cell``."""
    names, at = [], 0
    for number, cell in enumerate(cells):
        after = "; " if number + 1 < len(cells) else ""
        if indexed.startswith(cell + after, at):
            names.append("")
            at += len(cell) + len(after)
            continue
        begin = indexed.find(f": {cell}{after}", at)
        if begin < 0:
            return None
        names.append(indexed[at:begin])
        at = begin + 2 + len(cell) + len(after)
    return names if at == len(indexed) else None
