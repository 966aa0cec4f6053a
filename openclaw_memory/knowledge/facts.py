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
from collections.abc import Iterable, Iterator, Sequence

from ..model import FoundFact, Section, Unit
from ..text.labels import is_label, names_subject
from ..text.negation import negations
from ..text.scripts import UNSPACED
from ..text.sentences import sentence_spans
from ..text.turns import roles
from . import fact_words, unspaced
from .fact_headings import OPENING, Topic, is_template, kin, person_of, topic_of
from .fact_introductions import below
from .fact_sentences import Speech, facts_in, is_name, tidy
from .fact_values import CHOICE, value_of
from .heading_names import ASIDE, is_common, is_particle, is_time, led_by_work, says_when, says_work
from .kinds import is_kind
from .likings import turned_item
from .predicates import is_personal, kind_of_key, needs_person, normalise, of_thing
from .routine import NAMELESS, ORDINARY

#: Grows when what :func:`found` returns for a text changes, so that stored facts are known to be of another make.
VERSION = 24

#: Longer texts are prose, whose facts no rule of form can tell.
_MOST_CHARS = 1200

_KEYED = re.compile(
    r"(?:(?P<mark>\*\*|__|`)(?P<bold>[^*`\n:：]{1,48}?)\s?(?:[:：](?P=mark)|(?P=mark)\s?[:：])\s*"
    r"|(?P<label>[^\W\d_][^:：*`|\n]{0,40}?)\s?(?::\s+|：\s*))(?P<value>\S.*)",
    re.S,
)
_PAIRS = re.compile(r"\s+[|·•]\s+(?=(?:\*\*|__)?[^\W\d_][^:：|\n]{0,40}[:：])")
_UNSPACED = re.compile(f"(?![ァ-ヺー])[{UNSPACED}]")
_LETTERS = re.compile(r"[^\W\d_]+")
#: The version of what an entry names, and at most a remark behind it.
_VERSION = re.compile(r"v\d+(?:\.\d+)*[\w-]*(?=\s*(?:[(（,，;；].*)?\Z)")
#: What parts a state from what is said of it.
_REST = re.compile(r"\s[–—-]\s|[(（,，;；:：.。]")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
#: What says that something is done, or wrong.
_TICKS = frozenset("✅❌⚠☑✔✗✘⏳🚧")
_DONE = frozenset("✅☑✔✓")
#: The number of an issue, a task or a finding: "QX7", "BUG-12".
_ISSUE = re.compile(r"[A-Z]+-?\d+")
#: A number of something, or an amount: no state of a thing, as a share is (80 %, 3/4).
_MEASURE = re.compile(r"[^\w(（]*\d(?:[\d.,]*\d)?(?![\d.,]*[\dA-Za-z/-]|\s?[%/])")
_AMOUNT = re.compile(r"[^\w(（]*\d")
_COMMENT = re.compile(r"\s*<!--.*?(?:-->|\Z)", re.S)
#: Kinds that hardly anything else looks like: their subject may be named by any heading.
_TELLING = frozenset("url path repo email phone ip port version id state date".split())
#: Kinds of which a value has no more than one line.
_SHORT = frozenset("url path repo email phone ip port version id zone".split())
#: The day of an entry before what it says: "[2026-03-21] Mira prefers tea".
_DATED = re.compile(r"\[\d[\d:T /.-]+\]\s+")
#: What is decided has so many letters where words are not apart.
_LEAST_DECIDED = 6
#: A line that is nothing but bold words, perhaps with a sign behind them: a heading of the lines below it.
_TITLED = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?(\*\*|__)(?P<title>[^*\n]{2,80}?)(?<![:：])\1[^\w:：]*\Z")


def found(unit: Unit, heading: str, subject: str | None, above: str = "") -> list[FoundFact]:
    """The facts that ``unit`` states, below ``heading`` (a path of headings joined by `` > ``).

    ``subject`` is whom the whole file is about, where it is about somebody: see :func:`subject_of`.  ``above`` is the
    line that a nested item belongs to: see :func:`parents`.
    """
    text = unit.text
    if len(text) > _MOST_CHARS or unit.form in ("heading", "title", "code", "machine", "meta"):
        return []
    if is_template(heading):
        return []
    if unit.form == "row":
        row = _row(unit, _topic(heading, subject), subject, above.lstrip().startswith("|"), says_when(heading))
        return _distinct(row)
    opening = OPENING.match(text)
    if opening is None or opening["task"] or "~~" in text:
        return []
    text = _COMMENT.sub("", text[opening.end() :])
    text = text[dated.end() :] if (dated := _DATED.match(text)) is not None else text
    body = " ".join(text.split())
    if unit.speaker and kind_of_key(unit.speaker) is None:
        return _distinct(_turn(unit, body))
    if (titled := _TITLED.match(above)) is not None:
        heading, above = f"{heading} > {titled['title']}", ""
    topic = _topic(heading, subject)
    if above:
        whom = below(above, topic.collection is not None)
        if whom is None:
            return []
        if whom:
            topic = topic._replace(names=whom, collection=None, verb=None, member=True, work=says_work(whom[0]))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    if not all(line.startswith(("**", "__")) and _KEYED.match(line) for line in lines):
        lines = [lines[0], " ".join(lines[1:])] if _ends(lines) else [body]
    return _distinct(fact for line in lines for fact in _statement(unit, line, topic, subject))


def _ends(lines: Sequence[str]) -> bool:
    """Whether the value of a key ends with its line: it is no prose, or what follows does not go on with it."""
    match = _KEYED.match(lines[0]) if len(lines) > 1 and lines[1] else None
    kind = kind_of_key(tidy(match["bold"] or match["label"])) if match is not None else None
    if kind is None or kind in _SHORT:
        return kind is not None
    after = _KEYED.match(lines[1])
    keyed = after is not None and (after["mark"] is not None or kind_of_key(tidy(after["label"])) is not None)
    return keyed or (kind not in ("text", "tool") and not lines[1][0].islower())


def _topic(heading: str, subject: str | None) -> Topic:
    """What headings say; the owner of the notes is nobody else than the person of the file."""
    topic = topic_of(heading)
    return topic._replace(names=()) if subject and topic.names == ("user",) else topic


def parents(section: Section) -> dict[int, str]:
    """By line the line that it belongs to: the item above a nested one, a line that ends with a colon, bold words.

    A line directly below an item goes on with it, unless it begins with bold words; the rows of a table belong to the
    one that sums them up.
    """
    out = _sums(section)
    stack: list[tuple[int, str]] = []
    intro, last, title, blank = "", "", "", False
    for number, line in enumerate(section.lines, section.start_line):
        body = line.strip()
        blank, apart = not body, blank
        if not body or number in out:
            continue
        opening = OPENING.match(line)
        start = opening.end() if opening else 0
        indent = len(line) - len(line.lstrip())
        if start <= indent and stack and not apart and not body.startswith(("**", "__", "#", "|", ">", "```")):
            out[number] = stack[-1][1]
            continue
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


def _sums(section: Section) -> dict[int, str]:
    """By line the row that sums up the several measures of the table which it is in."""
    out: dict[int, str] = {}
    table: list[int] = []
    last, row = 0, ""
    for number, line in enumerate((*section.lines, ""), section.start_line):
        if line.lstrip(" >").startswith("|"):
            table.append(number)
            name, *cells = _CELL_BORDER.split(line.strip(" >|"))
            first = tidy(name).casefold().split() or [""]
            counted = sum(any(map(str.isdigit, cell)) for cell in cells)
            if counted > 1 and not fact_words.every("sums").isdisjoint((first[0], first[-1])):
                last, row = len(table), line
        elif table:
            out |= dict.fromkeys(table[:last], row)
            table, last = [], 0
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
    headed = ""
    for section in sections:
        for depth, part in reversed([*enumerate(section.heading.split(" > "))]):
            headed = headed or person_of(part, title=depth == 0) or ""
        for unit in section.units:
            match = _KEYED.match(unit.text.lstrip(" \t-*+>") if "**" not in unit.text else unit.text.lstrip(" \t-+>"))
            if match is None or len(unit.text) > 200 or normalise(tidy(match["bold"] or match["label"])) != "is called":
                continue
            name = re.split(r"[_(（,，、/;:*`\n|·]", match["value"], maxsplit=1)[0].strip()
            # A person may write the own name in small letters.
            small = name.islower() and len(name.split()) < 4 and not (NAMELESS - ORDINARY).issuperset(name.split())
            written = name.title() if small else name
            if value_of(_PAIRS.split(match["value"])[0], "text") is not None and is_name(written):
                # The heading may say the first name only.
                return name if headed in name else headed
    return headed or "user"


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


def _statement(unit: Unit, body: str, topic: Topic, subject: str | None) -> Iterator[FoundFact]:
    if len(pairs := _PAIRS.split(body)) > 1:
        for pair in pairs:
            yield from _statement(unit, pair, topic, subject)
        return
    match = _KEYED.match(body)
    if match is None or match["value"].startswith("//"):
        about = topic.names[0] if topic.names and not topic.work else None
        about = subject if subject and (topic.verb or not _somebody(topic, subject)) else about
        if topic.verb and about and (body[:1] in _TICKS or body.rstrip("*_").endswith((":", "："))):
            return  # how something stands, or what the next lines are about
        if topic.verb and about and unit.form == "item" and len(body.split()) <= (4 if topic.verb == "prefers" else 8):
            if facts := list(facts_in(body, Speech(implied=about))):
                yield from facts
            elif (turned := turned_item(body)) is not None:
                yield from _made(about, *turned, "listed", 0.8)
            elif topic.verb != "prefers" and negations(body):
                return  # "No onions" below Likes, or below Dislikes: who can tell?
            elif (thing := value_of(body, "text")) is not None:
                yield from _made(about, topic.verb, thing, "listed", 0.8)
            return
        yield from facts_in(body, Speech(implied=about if unit.form in ("item", "line") else None))
        return
    label, value = tidy(match["bold"] or match["label"]), match["value"]
    if label.casefold() in fact_words.every("decision"):
        yield from _decision(value, topic, subject)
        return
    if topic.collection and kind_of_key(label) is None:
        # In a script that has capitals one of its words has one wherever it stands first.
        ordinary = topic.collection == "things" and label.isalpha() and not label.isascii() and label[1:].islower()
        if (match["mark"] or is_name(label)) and not ordinary:
            yield from _entry(label, value)
        return
    confidence = 0.9 if match["mark"] else 0.8
    kind = kind_of_key(label)
    if kind is not None:
        yield from _key(label, kind, value, topic, subject, "key", confidence)
    elif topic.verb and subject and not topic.names and _short(label) and not is_label(label):
        if label[-1:].isalpha() and len(value) <= 60 and (thing := value_of(value, "text")) is not None:
            yield from _made(subject, label.casefold(), thing, "key", confidence)
    elif is_label(label) or len(sentence_spans(label)) > 1:
        yield from facts_in(value if is_label(label) else body, Speech())


def _short(label: str) -> bool:
    """Whether a label has at most two words: where words are not apart six characters, beside those of katakana."""
    return len(label.split()) <= 2 and len(_UNSPACED.findall(label)) <= 6


def _key(
    label: str, kind: str, value: str, topic: Topic, subject: str | None, rule: str, confidence: float
) -> Iterator[FoundFact]:
    if kind == "state" and rule == "key" and value.lstrip("*_ `")[:1] in _DONE:
        # What was done is no state of anything; a file about one thing may say that it is well.
        if not topic.title or not fact_words.every("done").isdisjoint(_LETTERS.findall(value.casefold())):
            return
    if kind == "state" and rule == "key" and not topic.title and _finished(value):
        return
    low, mine = label.casefold(), fact_words.every("mine")
    own = not mine.isdisjoint(low.split()[:1]) or low.startswith(tuple(filter(_UNSPACED.match, mine)))
    if own and (subject is None or kind == "text"):
        return  # the writer's: the agent's or the owner's
    about = _about(label, kind, topic, subject)
    thing = value_of(value, kind)
    if about is None or thing is None:
        return
    if about in (subject, "user") and (of_thing(label) or (normalise(label) == "status" and not topic.title)):
        return  # the agent's model, or how something stands that its heading does not name
    # An issue has no file of its own, nor has a file.
    if kind != "path" or not (_ISSUE.fullmatch(about) or ("." in about and thing.endswith(about))):
        yield from _made(about, label if label.isupper() else label.casefold(), thing, rule, confidence)


def _finished(value: str) -> bool:
    """Whether a state begins with nothing but words for what was done: *Completed*, *Completed (two planks)*."""
    words = set(_LETTERS.findall(_REST.split(value.casefold(), maxsplit=1)[0])) - fact_words.every("adverbs")
    return bool(words) and words <= fact_words.every("done")


def _about(label: str, kind: str, topic: Topic, subject: str | None) -> str | None:
    """Whom or what a key below ``topic`` is about, where that is certain."""
    names = topic.names
    made = kind == "url" and bool(names) and not led_by_work(names[0].casefold())
    if topic.work and not made and not (subject and is_personal(label)):
        return None  # what was at hand at work says nothing that lasts; an address is one of what was made then
    if subject is not None:
        # In a person's file a heading about something else does not take what only somebody has.
        if is_personal(label):
            if topic.relative:
                return None
            return names[0] if topic.member and names else _somebody(topic, subject) or subject
        return names[0] if names else None if topic.unclear else subject
    if not names or (needs_person(label) and not topic.member):
        return None
    if is_personal(label) and len(names) > 1 and not topic.member:
        # A leaf heading does not beat the person above it.
        outer = [name for name in names if NAMELESS.isdisjoint(name.casefold().split())]
        done = fact_words.every("done")
        titled = (name for name in outer if name.istitle() and not _UNSPACED.search(name))
        full = (name for name in titled if done.isdisjoint(name.casefold().split()))
        somebody = next((name for name in full if 2 <= len(name.split()) <= 4), "")
        return somebody or names[0]
    return names[0] if kind in _TELLING or len(names[0].split()) <= 3 else None


def _somebody(topic: Topic, subject: str) -> str | None:
    """The person that a heading of the file of ``subject`` names by words with capitals, none of them a label.

    Between them may be a short word that is none of English: *Rui Alves da Costa*.
    """
    name = topic.names[0] if topic.names else (topic.decision or "") * topic.unclear
    words = [word for word in name.split() if len(word) > 3 or not is_particle(word)]
    known = NAMELESS | fact_words.every("topics")
    low = name.casefold().split()
    full = len(words) in (2, 3) and " ".join(words).istitle() and known.isdisjoint(low)
    if name == subject or (full and not any(is_kind(word, "") for word in low)):
        return name
    return None


def _decision(value: str, topic: Topic, subject: str | None) -> Iterator[FoundFact]:
    thing = value_of(value, "text", 240)
    if thing is not None and (len(thing.split()) >= 3 or not tidy(ASIDE.sub(" ", thing)).isascii()):
        if topic.decision != "":
            yield from _made(topic.decision or subject or "we", "decided", thing, "decision", 0.9)


def _entry(label: str, value: str) -> Iterator[FoundFact]:
    parts = label.split()
    if len(parts) > 4 or is_label(label) or not names_subject(label):
        return
    if " ".join(parts[1:]).islower() and not kin().isdisjoint((parts[0].casefold(), parts[-1])):
        return  # "Elder sister: Ada"; "Anh Minh" is called so
    if _UNSPACED.match(label) and says_work(label, label):
        return  # elsewhere a project may be called so: "Language Learning"
    thing = value_of(value, "text")
    if thing is not None and tidy(ASIDE.sub(" ", thing)).casefold() in fact_words.every("empty"):
        return  # "Has a boat: yes (two)"
    if (version := _VERSION.match(value)) is not None:
        yield from _made(label, "version", version[0], "entry", 0.8)
        return
    if thing is not None and thing[0].isalpha():
        first = thing.split(" ", 1)[0]
        of_somebody = first.replace("’", "'").endswith("'s") and first[:1].isupper()
        predicate = "is" if first.lower() in fact_words.every("own") or of_somebody else "about"
        yield from _made(label, predicate, thing, "entry", 0.8)
    yield from facts_in(value, Speech(implied=label))


def _made(subject: str, predicate: str, thing: str, rule: str, confidence: float) -> Iterator[FoundFact]:
    subject, predicate = tidy(subject), tidy(predicate)
    if CHOICE.fullmatch(subject):
        return
    if subject and predicate and thing and subject.casefold() != thing.casefold():
        yield FoundFact(subject, predicate, thing, rule, confidence)


# -- tables ---------------------------------------------------------------------------------------


def _row(
    unit: Unit, topic: Topic, subject: str | None, summed: bool = False, timed: bool = False
) -> Iterator[FoundFact]:
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
        about = [tidy(one) for one in filled[:decided] if any(map(str.isalpha, one)) and not is_time(one)]
        if not fact_words.every("problems").isdisjoint(low) or len(about) > 1:
            return  # what solves a problem, or what is said of a choice in the columns before
        if about and len(about[0].split()) > 8:
            return
        behind = len("".join(filled[decided + 1 : decided + 2]))
        if _UNSPACED.match(filled[decided]) and len(filled[decided]) < min(_LEAST_DECIDED, behind):
            return  # what was decided about: the next column says what
        if about or any(map(is_time, filled)):
            topic = topic._replace(decision=about[0] if about else "we")
        yield from _decision(filled[decided], topic, subject)
        return
    first = tidy(filled[0])
    if low[0] not in fact_words.every("entity") or not names_subject(first) or len(first.split()) > 5:
        return
    words, bare = first.casefold().split(), tidy(ASIDE.sub(" ", first))
    if _says_no_thing(bare) or _is_some(first):
        return
    work = says_work(first, first) and (len(words) > 1 or "-" not in first)  # "Q-learning" is a name
    if not fact_words.every("sums").isdisjoint((words[0], words[-1])) or first.casefold() in fact_words.every("sides"):
        return
    for name, cell in zip(low[1:], filled[1:], strict=True):
        kind = kind_of_key(name) if name else None
        thing = value_of(cell, kind) if kind is not None else None
        if summed and any(map(str.isdigit, cell)):
            continue  # how much a day or a month had of it
        if kind == "state" and thing is not None and (timed or _MEASURE.match(thing) or _was_done(thing)):
            continue  # how something stood at that time, how many there were, or what was done to it
        if timed and kind not in _TELLING and _AMOUNT.match(cell):
            continue  # how much it had then
        if thing is not None and name != low[0] and (kind == "url" or not work):
            yield from _made(first, name, thing, "table", 0.85)


def _says_no_thing(cell: str) -> bool:
    """Whether the first cell of a row holds a word of everyday language, or a relation, and no name."""
    inner = any(map(str.isupper, cell[1:])) and not cell.isupper()  # "WhatsApp"
    if ((cell.isalpha() and not inner) or " " in cell) and is_common(cell):
        return True
    return unspaced.is_everyday(cell) or (_UNSPACED.match(cell) is not None and kind_of_key(cell) is not None)


def _was_done(state: str) -> bool:
    """Whether a state begins with the sign that something is done, and with a word for that: *✅ Installed*."""
    words = _LETTERS.findall(state.casefold())
    return state[:1] in _DONE and bool(words) and words[0] in fact_words.every("done") - fact_words.every("states")


def _is_some(name: str) -> bool:
    """Whether ``name``, in a script without spaces, begins with a word for some that are not named: 某公司."""
    return any(name.startswith(one) for one in fact_words.every("some") if _UNSPACED.match(one))


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
