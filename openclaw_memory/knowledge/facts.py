"""Facts in a unit of a note, found by rules about its form: precision before recall, and no model.

Each rule has a name, which goes with what it finds:

``key``         ``- **Timezone:** Europe/Amsterdam`` below what names the subject, or in a person's file
``entry``       ``- **Mira**: designer and front-end`` below a heading such as *People*
``listed``      a short item below *Preferences*, *Likes* or *Dislikes* of somebody
``table``       rows of key and value, and rows whose first cell names the subject
``decision``    ``Decision: …``, ``We decided to …``
``possessive``  ``JR's code phrase is blue bunny``, ``Meine Lieblingsfarbe ist Grün``
``says``        ``Mira prefers …``, ``Dario wohnt in …``, ``王芳住在…`` and their like
``is``          ``Tobi is a carpenter``: a name and what somebody is by trade or to another
``state``       ``QX-7714 is closed``, ``notesync is at v2.3.1``

A key counts where ``relations.txt`` knows it and the value looks as it must.  The words are data: ``fact_words.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..model import FoundFact, Section, Unit
from ..text.dates import date_in_heading
from ..text.labels import is_label, names_subject
from ..text.language import is_stop_word, stop_words
from ..text.scripts import UNCASED
from ..text.sentences import sentence_spans
from ..text.turns import roles
from . import fact_words
from .fact_sentences import Speech, facts_in, is_name, plain, tidy
from .predicates import is_personal, is_relation, kind_of_key, needs_person, normalise
from .routine import NAMELESS

#: Grows when what :func:`found` returns for a text changes, so that stored facts are known to be of another make.
VERSION = 4

#: Longer texts are prose, whose facts no rule of form can tell.
_MOST_CHARS = 1200
_MOST_OBJECT = 160

_OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
_KEYED = re.compile(
    r"(?:(?P<mark>\*\*|__|`)(?P<bold>[^*`\n:：]{1,48}?)\s?(?:[:：](?P=mark)|(?P=mark)\s?[:：])\s*"
    r"|(?P<label>[^\W\d_][^:：*`|\n]{0,40}?)\s?(?::\s+|：\s*))(?P<value>\S.*)",
    re.S,
)
_PAIRS = re.compile(r"\s+[|·•]\s+(?=(?:\*\*|__)?[^\W\d_][^:：|\n]{0,40}[:：])")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_QUOTED = re.compile(r"[\"“「]([^\"“”「」]{1,40})[\"”」]")
_DATE = re.compile(r"\d{4}[-/.年]\d\d?(?:[-/.月]\d\d?日?)?|\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m)?", re.IGNORECASE)
_ASIDE = re.compile(r"[(（\[【<][^()（）\[\]【】<>]*[)）\]】>]")
_PARTS = re.compile(r"\s+[–—|/]+\s*|\s+-\s+|[:：]\s*|——")
_SIGNS = re.compile(r"[^\w\s'’&.+#@/-]+")
_PLACEHOLDER = re.compile(
    r"^[_*]*[(（<\[{]|\{\{|<[a-z_ -]+>|x{4,}|y{4}|\?$|？$|\.\.\.$|…$|:$|：$|~~|\?\?|\[redacted|\s[→↔]\s"
)
_TRUNCATED = tuple("()|（）|[]|「」|“”".split("|"))
#: What a value must look like, by the kind of its relation; and the most words that it may have.
_LOOKS: dict[str, tuple[str, int]] = {
    "name": (r"(?![a-zß-ÿа-яё\d]).+|`[^`]+`|[a-z]\w*[A-Z\d_.-]\w*", 6),
    "state": (r"(?!\S*/\S+\.)[^|→]+$", 12),
    "date": (r".*(?:\d|[年月日]|\b[A-ZÀ-Þ]\w+)", 8),
    "number": (r".*\d", 10),
    "time": (r".*(?:\d|[年月日時时点分]|daily|weekly|monthly|[*])", 12),
    "url": (r"\W*(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:[/:]\S*)?)", 4),
    "path": (r"\W*(?:~|[A-Z]:\\|\.{0,2}/|[\w.@-]+/)[^\s]*|\W*[\w./-]+\.[a-z]{1,5}\b", 6),
    "repo": (r"\W*(?:https?://\S+|[\w.@:-]+/[\w./-]+)", 5),
    "email": (r"\W*\S+@\S+\.\w+", 5),
    "phone": (r"\W*\+?[\d\s().-]{6,}", 8),
    "ip": (r"\W*(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]+)", 6),
    "port": (r"\W*\d{2,5}\b", 4),
    "zone": (r"\W*(?:[A-Z]\w+/\w+|(?:UTC|GMT)\b|[A-Z]{2,4}\b|\w+.*\b(?:UTC|GMT))", 8),
    "version": (r"\W*v?\.?\d", 6),
    "id": (r"\W*[@#]?[A-Za-z0-9_.@:/+-]{2,}", 3),
    "text": (r".+", 25),
}
_SHAPES = {kind: re.compile(shape, re.S) for kind, (shape, _) in _LOOKS.items()}
#: Kinds that hardly anything else looks like: their subject may be named by any heading.
_TELLING = frozenset("url path repo email phone ip port version id state date".split())
_WITHOUT_CAPITALS = re.compile(f"[{UNCASED}]")
#: A line that is nothing but bold words, perhaps with a sign behind them: a heading of the lines below it.
_TITLED = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?(\*\*|__)(?P<title>[^*\n]{2,80}?)(?<![:：])\1[^\w:：]*\Z")


class _Topic(NamedTuple):
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


def found(unit: Unit, heading: str, subject: str | None, above: str = "") -> list[FoundFact]:
    """The facts that ``unit`` states, below ``heading`` (a path of headings joined by `` > ``).

    ``subject`` is whom the whole file is about, where it is about somebody: see :func:`subject_of`.  ``above`` is the
    line that a nested item belongs to: see :func:`parents`.
    """
    text = unit.text
    if len(text) > _MOST_CHARS or unit.form in ("heading", "title", "code", "machine", "meta"):
        return []
    if unit.form == "row":
        return _distinct(_row(unit, _topic(heading), subject))
    opening = _OPENING.match(text)
    if opening is None or opening["task"] or "~~" in text:
        return []
    body = " ".join(text[opening.end() :].split())
    if unit.speaker and kind_of_key(unit.speaker) is None:
        return _distinct(_turn(unit, body))
    if (titled := _TITLED.match(above)) is not None:
        heading, above = f"{heading} > {titled['title']}", ""
    topic = _topic(heading)
    if above:
        below = _below(above)
        if below is None:
            return []
        topic = topic._replace(names=below, collection=None, verb=None, member=True) if below else topic
    return _distinct(_statement(unit, body, topic, subject))


def parents(section: Section) -> dict[int, str]:
    """By line the line that it belongs to: the item above a nested one, a line that ends with a colon, bold words."""
    out: dict[int, str] = {}
    stack: list[tuple[int, str]] = []
    intro, last, title = "", "", ""
    for number, line in enumerate(section.lines, section.start_line):
        body = line.strip()
        if not body:
            continue
        opening = _OPENING.match(line)
        start = opening.end() if opening else 0
        indent = len(line) - len(line.lstrip())
        if start <= indent or line[indent] == ">":
            stack, intro, last = [], line if _introduces(body) else "", line
            if _TITLED.match(line):
                title = line
            elif title:
                out[number] = title
            continue
        while stack and stack[-1][0] >= indent:
            stack.pop()
        if above := stack[-1][1] if stack else intro or (last if indent else title):
            out[number] = above
        stack.append((indent, line))
    return out


def _introduces(body: str) -> bool:
    """Whether a line is about the items below it: it ends with a colon, or begins with bold words and a colon."""
    if body.rstrip("*_").endswith((":", "：")):
        return True
    match = _KEYED.match(body) if body.startswith(("**", "__")) else None
    return match is not None and kind_of_key(tidy(match["bold"] or match["label"])) is None


def subject_of(path: str, sections: Iterable[Section] = ()) -> str | None:
    """Whom a whole file is about: for ``USER.md`` the name that it gives its person, else ``user``; else nobody."""
    if path.rpartition("/")[2].casefold() != "user.md":
        return None
    for section in sections:
        for part in reversed(section.heading.split(" > ")):
            said = next(filter(None, (one.fullmatch(part.strip()) for one in _profiles())), None)
            if said is not None and (name := _named(said["name"])) and is_name(name):
                return name
        for unit in section.units:
            match = _KEYED.match(unit.text.lstrip(" \t-*+>") if "**" not in unit.text else unit.text.lstrip(" \t-+>"))
            if match is None or len(unit.text) > 200 or normalise(tidy(match["bold"] or match["label"])) != "is called":
                continue
            name = re.split(r"[_(（,，、/;:*`\n]", match["value"], maxsplit=1)[0].strip()
            if name and not _PLACEHOLDER.search(match["value"]) and is_name(name):
                return name
    return "user"


def _distinct(facts: Iterator[FoundFact]) -> list[FoundFact]:
    return list(dict.fromkeys(facts))


# -- turns ----------------------------------------------------------------------------------------


def _turn(unit: Unit, body: str) -> Iterator[FoundFact]:
    speaker = unit.speaker or ""
    label, colon, rest = body.partition(":")
    if colon and tidy(label).casefold().endswith(speaker.casefold()):
        body = rest.lstrip("*_ ")
    low = speaker.casefold()
    if low not in roles()["assistant"]:
        mine = low in roles()["person"] or low in fact_words.every("self")
        yield from facts_in(body, Speech(me="user" if mine else speaker))


# -- items and lines ------------------------------------------------------------------------------


def _statement(unit: Unit, body: str, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    if len(pairs := _PAIRS.split(body)) > 1:
        for pair in pairs:
            yield from _statement(unit, pair, topic, subject)
        return
    match = _KEYED.match(body)
    if match is None or match["value"].startswith("//"):
        about = topic.names[0] if topic.names else None
        about = subject if subject and (not topic.names or topic.verb) else about
        if topic.verb and about and unit.form == "item" and len(body.split()) <= (4 if topic.verb == "prefers" else 8):
            if facts := list(facts_in(body, Speech(implied=about))):
                yield from facts
            elif (thing := _value(body, "text")) is not None:
                yield from _made(about, topic.verb, thing, "listed", 0.8)
            return
        yield from facts_in(body, Speech(implied=about if unit.form in ("item", "line") else None))
        return
    label, value = tidy(match["bold"] or match["label"]), match["value"]
    if label.casefold() in fact_words.every("decision"):
        yield from _decision(value, topic, subject)
        return
    if topic.collection and kind_of_key(label) is None:
        if match["mark"] or is_name(label):
            yield from _entry(label, value)
        return
    confidence = 0.9 if match["mark"] else 0.8
    kind = kind_of_key(label)
    if kind is not None:
        yield from _key(label, kind, value, topic, subject, "key", confidence)
    elif topic.verb and subject and not topic.names and len(label.split()) <= 2 and not is_label(label):
        if label[-1:].isalpha() and len(value) <= 60 and (thing := _value(value, "text")) is not None:
            yield from _made(subject, label.casefold(), thing, "key", confidence)
    elif is_label(label) or len(sentence_spans(label)) > 1:
        yield from facts_in(value if is_label(label) else body, Speech())


def _key(
    label: str, kind: str, value: str, topic: _Topic, subject: str | None, rule: str, confidence: float
) -> Iterator[FoundFact]:
    about = _about(label, kind, topic, subject)
    thing = _value(value, kind)
    if about is not None and thing is not None:
        yield from _made(about, label if label.isupper() else label.casefold(), thing, rule, confidence)


def _about(label: str, kind: str, topic: _Topic, subject: str | None) -> str | None:
    """Whom or what a key below ``topic`` is about, where that is certain."""
    names = topic.names
    if subject is not None:
        # In a person's file a heading about something else does not take what only somebody has.
        if is_personal(label):
            return names[0] if names and topic.member else subject
        return names[0] if names else None if topic.unclear else subject
    if not names or (needs_person(label) and not topic.member):
        return None
    if is_personal(label) and len(names) > 1 and not topic.member:
        # A leaf heading does not beat the person above it.
        outer = [name for name in names if NAMELESS.isdisjoint(name.casefold().split())]
        somebody = next((name for name in outer if len(name.split()) == 2 and name.istitle()), "")
        return somebody or names[0]
    return names[0] if kind in _TELLING or len(names[0].split()) <= 3 else None


def _decision(value: str, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    thing = _value(value, "text", 240)
    if thing is not None and (len(thing.split()) >= 3 or not thing.isascii()):
        if topic.decision != "":
            yield from _made(topic.decision or subject or "we", "decided", thing, "decision", 0.9)


def _entry(label: str, value: str) -> Iterator[FoundFact]:
    parts = label.split()
    if len(parts) > 4 or is_label(label) or not names_subject(label):
        return
    thing = _value(value, "text")
    if thing is not None and thing[0].isalpha():
        first = thing.split(" ", 1)[0]
        of_somebody = first.replace("’", "'").endswith("'s") and first[:1].isupper()
        predicate = "is" if first.lower() in fact_words.every("own") or of_somebody else "about"
        yield from _made(label, predicate, thing, "entry", 0.8)
    yield from facts_in(value, Speech(implied=label))


def _value(value: str, kind: str, most: int = _MOST_OBJECT) -> str | None:
    """The first sentence of a value, where it is short, whole, and looks as its kind does."""
    spans = sentence_spans(value)
    if not spans:
        return None
    value = value[spans[0][0] : spans[0][1]]
    if kind in ("state", "name"):
        value = re.split(r"\s[–—]\s|\s-\s|;\s|；" if kind == "name" else r";\s|；", value, maxsplit=1)[0]
    text = tidy(value)
    low = text.casefold()
    if not text or len(text) > most or _PLACEHOLDER.search(value.strip()) or _PLACEHOLDER.search(text):
        return None
    if low in fact_words.every("empty") or low.split(" ", 1)[0] in fact_words.every("unset"):
        return None
    if not any(map(str.isalnum, text)):
        return None
    if any(text.count(pair[0]) != text.count(pair[1]) for pair in _TRUNCATED) or text.count('"') % 2 or "|" in text:
        return None
    if len(text.split()) > _LOOKS[kind][1] or (kind in ("state", "name") and len(text) > 80):
        return None
    return text if _SHAPES[kind].match(value.strip() if kind == "name" else text) else None


def _made(subject: str, predicate: str, thing: str, rule: str, confidence: float) -> Iterator[FoundFact]:
    subject, predicate = tidy(subject), tidy(predicate)
    if subject and predicate and thing and subject.casefold() != thing.casefold():
        yield FoundFact(subject, predicate, thing, rule, confidence)


# -- tables ---------------------------------------------------------------------------------------


def _row(unit: Unit, topic: _Topic, subject: str | None) -> Iterator[FoundFact]:
    if not unit.indexed or unit.indexed == unit.text:
        return
    raw = _CELL_BORDER.split(unit.text.strip(" \t>").removeprefix("|").removesuffix("|"))
    filled = [cell.strip() for cell in raw if cell.strip()]
    names = _headers(unit.indexed, filled)
    if names is None or len(filled) < 2 or any(cell.endswith(("?", "？")) for cell in filled):
        return
    low = [tidy(name).casefold() for name in names]
    keys, values = fact_words.every("keys"), fact_words.every("values")
    if len(filled) == 2 and (low[0] in keys or not low[0]) and (low[1] in values or not low[1]):
        label = tidy(filled[0])
        if (kind := kind_of_key(label)) is not None or (subject and not topic.names and not is_label(label)):
            yield from _key(label, kind or "text", filled[1], topic, subject, "table", 0.85)
        return
    decided = next((at for at, name in enumerate(low) if name in fact_words.every("decision")), None)
    if decided is not None:
        yield from _decision(filled[decided], topic, subject)
        return
    first = tidy(filled[0])
    if low[0] not in fact_words.every("entity") or not names_subject(first) or len(first.split()) > 5:
        return
    for name, cell in zip(low[1:], filled[1:], strict=True):
        kind = kind_of_key(name) if name else None
        thing = _value(cell, kind) if kind is not None else None
        if thing is not None and name != low[0]:
            yield from _made(first, name, thing, "table", 0.85)


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


@lru_cache(maxsize=4096)
def _topic(heading: str) -> _Topic:
    """Whom a path of headings names: the last one first, as far as nothing unclear stands in between."""
    names: list[str] = []
    verb = collection = decision = None
    member = unclear = False
    for depth, part in reversed([*enumerate(heading.split(" > "))]):
        text = tidy(_SIGNS.sub(" ", _DATE.sub(" ", _ASIDE.sub(" ", part)))).strip(" -.#")
        low = text.casefold()
        if not text or (depth == 0 and ".md" in low):
            continue
        head = tidy(re.split(r"[,，、]", _ASIDE.sub(" ", part), maxsplit=1)[0]).casefold()
        kind = next((name for name in ("people", "things") if head in fact_words.every(name)), None)
        if kind is not None:
            if not names:
                collection = collection or kind
            member = member or kind == "people"
            continue
        said = next((name for name in ("likes", "dislikes", "prefers") if low in fact_words.every(name)), None)
        if said is not None:
            verb = verb or said
            continue
        if decision is None and names_subject(text) and low.split()[-1] not in fact_words.every("decision"):
            topic, _, rest = part.partition(":")
            about = rest if tidy(topic).casefold() in fact_words.every("decision") else part
            parts = (tidy(_SIGNS.sub(" ", _DATE.sub(" ", one))) for one in _PARTS.split(_ASIDE.sub(" ", about)))
            decision = next((one for one in parts if names_subject(one)), "").lstrip("0123456789. ")
            decision = decision if len(decision.split()) <= 6 and len(decision) <= 60 else ""
        # The title of a file with a day behind its words names that day's edition of something.
        edition = depth == 0 and not _DATE.match(part) and date_in_heading(part) is not None
        name = None if edition else _named(part)
        if name is None:
            if not names and names_subject(text) and not _common(text):
                unclear = True
                break
            continue
        names.append(name)
    return _Topic(tuple(names), collection, member, unclear, verb, decision)


def _named(heading: str) -> str | None:
    """What a heading names, without dates, signs, remarks and labels; ``None`` where it names nothing, or says more."""
    if heading.rstrip().endswith(("!", "?", "！", "？", "…")) or "→" in heading or "->" in heading:
        return None
    bare = _DATE.sub(" ", _ASIDE.sub(" ", heading))
    quoted = _QUOTED.search(bare)
    if quoted is not None and len(quoted[1].split()) <= 3:
        return quoted[1]
    heads, tails = fact_words.every("heads"), fact_words.every("tails")
    for part in _PARTS.split(bare):
        words = tidy(_SIGNS.sub(" ", plain(part))).strip(" -.#/").split()
        while words and (words[0].rstrip(".").isdigit() or words[0].casefold() in heads):
            words = words[1:]
        while words and (words[-1].casefold() in tails or (not words[-1][0].isupper() and _common(words[-1]))):
            words = words[:-1]
        if words and _WITHOUT_CAPITALS.match(words[0]) and words[0].startswith(_openings()):
            return None
        if words and len(words[-1]) <= 4 and words[-1].islower() and _is_function_word(words[-1]):
            return None
        text = " ".join(words).replace("’", "'").removesuffix("'s")
        if text and names_subject(text) and not _common(text):
            return text if len(words) <= 5 and len(text) <= 48 and _says_name(text, bare) else None
    return None


def _common(text: str) -> bool:
    """Whether a heading is a common noun, or the name of a relation: it says what kind of thing is below it."""
    topics = fact_words.every("topics")
    known = topics | fact_words.every("heads")
    if is_label(text) or text.casefold() in topics or is_relation(text):
        return True
    words = text.casefold().split()
    if len(words) > 1 and _is_function_word(words[0]) and NAMELESS.issuperset(words[1:]):
        return True  # "What was added"
    return len(words) > 1 and all(word in known or is_label(word) for word in words)


def _says_name(text: str, heading: str) -> bool:
    """Whether ``text`` is a name rather than a remark.

    In letters that have capitals a later word with one, a digit or a script of its own tells, or that it is one word;
    in others something in Latin letters or katakana does.
    """
    words = text.split()
    if not text[0].isalnum() or text.isdigit():
        return False
    if _WITHOUT_CAPITALS.search(text):
        return re.search(r"[A-Za-z]{2}|[\u30a1-\u30fa]{3}", text) is not None or text.endswith(
            tuple(fact_words.every("titles"))
        )
    if any(
        character.isdigit() or (not character.islower() and at) for word in words for at, character in enumerate(word)
    ):
        return True
    if any(word[0].isascii() != words[0][0].isascii() for word in words[1:]):
        return True
    return len(words) == 1 or all(word[0].isupper() for word in words)


def _is_function_word(word: str) -> bool:
    """Whether ``word`` is a stop word of a language that it may be in: no name ends with one."""
    return word.isalpha() and any(is_stop_word(word, one) for one in stop_words())


@lru_cache(maxsize=1)
def _profiles() -> tuple[re.Pattern[str], ...]:
    """Headings that say whom a person's file is about."""
    longest = sorted(fact_words.every("profile"), key=lambda one: (-len(one), one))
    return tuple(re.compile(re.escape(one).replace(r"\*", "(?P<name>.+)"), re.IGNORECASE) for one in longest)


@lru_cache(maxsize=1)
def _openings() -> tuple[str, ...]:
    """Common nouns and verbs that begin a heading about what was done, in scripts without spaces."""
    return tuple(one for one in fact_words.every("topics") if len(one) > 1 and _WITHOUT_CAPITALS.match(one))


def _below(above: str) -> tuple[str, ...] | None:
    """The name in the line that a nested item belongs to: none where that is a label, ``None`` where it says more."""
    opening = _OPENING.match(above)
    body = above[opening.end() if opening else 0 :].strip()
    bold = re.match(r"(\*\*|__|`)([^*`\n]{1,48}?)[:：]?\1", body)
    text = tidy(bold[2] if bold else _ASIDE.sub(" ", body))
    if not names_subject(text) or _common(text):
        return () if body.rstrip("*_`").endswith((":", "：")) or tidy(body) == text else None
    name = _named(text)
    return (name,) if name == text and is_name(text) and kind_of_key(text) is None else None
