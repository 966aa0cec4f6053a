"""Facts in a unit of a note, by its form: precision before recall, and no model.

A unit has one of six forms, which is the rule of its facts:

``key``       ``- **Timezone:** Europe/Amsterdam`` below the name of the subject; an item below *Preferences*
``entry``     ``- **Mira**: designer and front-end`` below a heading such as *People*; ``Mira — designer — 030 5550 12``
``table``     rows of key and value, and rows whose first cell names the subject
``sentence``  ``Mira prefers …``, ``王芳住在…``, ``We decided to …``: see :mod:`.fact_sentences`
``value``     any key below a heading that names a subject, with an amount, a version or an identifier
``change``    an old and a new value: see :mod:`.changes`

A key counts where ``relations.txt`` lists it and the value has the form of its kind.  The words are data:
``fact_words.txt``.  A fact is a candidate: :mod:`~openclaw_memory.facts.confidence` says how probable it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache

from .. import patterns as re
from ..model import UNSAID, ExtractedFact, Section, Unit
from ..records import dataclass
from ..text.labels import is_label, names_subject
from ..text.lines import cells_of
from ..text.negation import negations
from ..text.scripts import UNCASED_LETTER, UNSPACED
from ..text.sentences import sentence_spans
from ..text.turns import roles
from .changes import (
    ARROW,
    ValueChange,
    change_between,
    changes_in,
    day_since,
    has_formerly,
    is_price,
    is_state,
    leading_shape,
    new_value_in,
    shape_of,
    without_change,
)
from .fact_sentences import DefaultSubjects, facts_in, is_name, tidy
from .headings import (
    ASIDE,
    SIGNS,
    Topic,
    dateless,
    is_common,
    is_full_name,
    is_template,
    is_work,
    person_in_title,
    topic_of,
)
from .lexicon import fact_list
from .predicates import has_flag, kind_of_key, normalise, split_liking

_OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
_KEYED = re.compile(
    r"(?:(?P<mark>\*\*|__|`)(?P<bold>[^*`\n:：]{1,48}?)\s?(?:[:：](?P=mark)|(?P=mark)\s?[:：])\s*"
    r"|(?P<label>[^\W\d_][^:：*`|\n]{0,40}?)\s?(?::\s+|：\s*))(?P<value>\S.*)",
    re.S,
)
#: The border to the next pair of a line.
_PAIRS = re.compile(r"(?<!\s)\s+[|·•]\s++(?=(?:\*\*|__)?[^\W\d_][^:：|\n]{0,40}[:：])")
_UNSPACED = re.compile(f"(?![ァ-ヺー])[{UNSPACED}]")
#: The day before an entry: "[2026-03-21] Mira prefers tea".
_DATED = re.compile(r"\[\d[\d:T /.-]+\]\s+")
#: A line of bold words, perhaps with a sign behind them: a heading of the lines below it.
_TITLED = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?(\*\*|__)(?P<title>[^*\n]{2,80}?)(?<![:：])\1[^\w:：]*\Z")
#: A single word before a colon.
_LABELLED = re.compile(r"[ \t>*+•・\d.)-]*(?:__)?[^\W\d_][^\W\d_A-Z]*(?:__|\*\*)?[:：]")
_VERSION = re.compile(r"v\d+(?:\.\d+)*[\w-]*(?=\s*(?:[(（,，;；].*)?\Z)")


#: The borders between the parts of a line about somebody: "Nora Berg — plumber — 030 5550 12".
_BORDERS = re.compile(r"(?<!\s)\s+[—–|·•-]\s+|[,，;；、<>\t]|[(（](?!\d)|(?<!\d)[)）]|[)）]\Z|[:：]\s|：")
#: The forms of addresses.  A number to call has the sign of a country, a leading zero or groups, or is long.
_ADDRESSES = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("phone", re.compile(r"(?:\+|\(?0)[\d\s()./-]{5,20}\d|\d{3}-\d{3,4}(?:-\d{4})?|1\d\d \d{4} \d{4}|\d{10,11}")),
)


@dataclass(frozen=True, slots=True)
class SectionContext:
    """The subject that headings give to the units of a section, read once for all of them."""

    heading: str = ""
    #: The subject of the whole file, see :func:`person_of_file`.
    person: str | None = None
    topic: Topic = field(default_factory=Topic)
    #: True below a heading such as *Template*.
    template: bool = False
    #: The line to which a nested item belongs, by the item's line: see :func:`_parents`.
    parents: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def for_section(cls, section: Section, person: str | None) -> SectionContext:
        """Return the context of a section of a file about ``person``."""
        heading = section.heading
        return cls(heading, person, topic_of(heading, person), is_template(heading), _parents(section))


def extract(unit: Unit, context: SectionContext) -> list[ExtractedFact]:
    """Return the facts that ``unit`` states in its section."""
    # A longer text is prose, to which no rule of form applies.
    if len(unit.text) > 1200 or unit.form in UNSAID or context.template:
        return []
    if unit.form in ("heading", "title"):
        above, _, heading = context.heading.rpartition(" > ")
        return [fact for change in changes_in(heading) for fact in _changed(change, above, heading)]
    topic = context.topic
    if contacts := list(_contacts(unit.text, topic) if unit.form in ("item", "line") else ()):
        return contacts
    if parent := context.parents.get(unit.start_line, ""):
        title = _title_of(parent)
        if _LABELLED.match(parent) and not is_common(title) and not topic.collection:
            return []  # "Workaround:" is as likely as "Heron:"
        topic = topic_of(f"{context.heading} > {title}", context.person)
    if unit.form == "row":
        return list(dict.fromkeys(_row(unit, topic, context.heading)))
    opening = _OPENING.match(unit.text)
    if opening is None or opening["task"]:
        return []
    text = unit.text[opening.end() :]
    text = text[dated.end() :] if (dated := _DATED.match(text)) is not None else text
    if unit.speaker and kind_of_key(unit.speaker) is None:
        return list(dict.fromkeys(_turn(unit.speaker, " ".join(text.split()))))
    heading = f"{context.heading} > {_title_of(parent)}" if parent else context.heading
    facts = list(_priced(text, context.heading)) or [
        fact for line in _lines(text) for fact in _line(line, unit, topic, heading)
    ]
    if not facts:
        facts = [fact for line in text.splitlines() for fact in _changing(" ".join(line.split()), heading)]
    return list(dict.fromkeys(facts))


def _title_of(line: str) -> str:
    """Return the heading that a line is for its items: its bold words, or the words before its colon."""
    opening = _OPENING.match(line)
    body = line[opening.end() if opening else 0 :].strip()
    bold = re.match(r"(\*\*|__|`)([^*`\n]{1,48}?)[:：]?\1", body)
    return (bold[2] if bold else body.rstrip(":：")).replace(" > ", " ")


def _lines(text: str) -> list[str]:
    """Return the lines of a unit that begins with a key whose value ends with its line; else all of it as one."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first, second = (_kind_of_line(line) for line in (*lines, "", "")[:2])
    if len(lines) > 1 and first is not None and (second is not None or first not in ("text", "tool", "state")):
        return lines if second is not None else [lines[0], " ".join(lines[1:])]
    return [" ".join(lines)]


def _kind_of_line(line: str) -> str | None:
    """Return the kind of the value behind the key of a line; ``None`` where it begins with none."""
    match = _KEYED.match(line)
    return kind_of_key(_label(match)) if match is not None else None


def _parents(section: Section) -> dict[int, str]:
    """Return by line the line to which it belongs: the item above a nested one, a line with a colon, bold words.

    Lines below an item that begin with neither a mark nor bold words continue it.
    """
    parents: dict[int, str] = {}
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
            parents[number] = stack[-1][1]
            continue
        if not item:
            stack, intro = [], line if body.rstrip("*_").endswith((":", "：")) else ""
            if _TITLED.match(line):
                title = line
            elif title:
                parents[number] = title
            continue
        while stack and stack[-1][0] >= indent:
            stack.pop()
        if above := stack[-1][1] if stack else intro or title:
            parents[number] = above
        stack.append((indent, line))
    return parents


def _label(match: re.Match[str]) -> str:
    """Return the key of a line that begins with it."""
    return tidy(match["bold"] or match["label"])


def person_of_file(path: str, sections: Iterable[Section] = ()) -> str | None:
    """Return the subject of a whole file: for ``USER.md`` the name of its person, else ``user``; else ``None``."""
    if path.rpartition("/")[2].casefold() != "user.md":
        return None
    title = ""
    for section in sections:
        title = title or next(filter(None, map(person_in_title, section.heading.split(" > "))), "")
        for unit in section.units:
            match = _KEYED.match(unit.text.lstrip(" \t-+>") if "**" in unit.text else unit.text.lstrip(" \t-*+>"))
            if match is None or len(unit.text) > 200 or normalise(_label(match)) != "is called":
                continue
            value = _PAIRS.split(match["value"])[0]
            name = re.split(r"[_(（,，、/;:*`\n|·]", value, maxsplit=1)[0].strip()
            capitalised = name.title() if name.islower() else name  # people may write their own name in small letters
            if value_of(value, "text") is not None and is_name(capitalised) and not is_common(name):
                return name if title in name else title
    return title or "user"


def _fact(subject: str, predicate: str, thing: str, rule: str, confidence: float) -> Iterator[ExtractedFact]:
    subject, predicate = tidy(subject), tidy(predicate)
    if subject and predicate and thing and subject.casefold() != thing.casefold():
        yield ExtractedFact(subject, predicate, thing, rule, confidence)


def _turn(speaker: str, body: str) -> Iterator[ExtractedFact]:
    label, colon, rest = body.partition(":")
    low = speaker.casefold()
    if colon and tidy(label).casefold().endswith(low):
        body = rest.lstrip("*_ ")
    if low not in roles()["assistant"]:
        is_owner = low in roles()["person"] or low in fact_list("self")
        yield from facts_in(body, DefaultSubjects(speaker="user" if is_owner else speaker))


# -- keys and entries -----------------------------------------------------------------------------


def _line(body: str, unit: Unit, topic: Topic, path: str) -> Iterator[ExtractedFact]:
    if len(pairs := _PAIRS.split(body)) > 1:
        for pair in pairs:
            yield from _line(pair, unit, topic, path)
        return
    match = _KEYED.match(body)
    if match is None or match["value"].startswith("//"):
        implied = topic.name if unit.form in ("item", "line") else None
        facts = list(facts_in(body, DefaultSubjects(implied=implied)))
        yield from facts or (_item(body, topic) if unit.form == "item" else ())
        return
    label, value = _label(match), match["value"]
    kind = kind_of_key(label)
    if normalise(label) == "decided":
        title, _, below = path.partition(" > ")  # the title of a file is about everything in it
        yield from _decision(_heading_subject(below or title)[1] or "we", value, "key")
    elif kind is not None:
        yield from _key(label, kind, value, topic, "key", 0.9 if match["mark"] else 0.8)
    elif topic.relation and topic.person and len(label.split()) < 3 and not is_label(label):
        if (thing := value_of(value, "text")) is not None:
            yield from _fact(topic.person, label.casefold(), thing, "key", 0.8)
    elif topic.collection:
        if match["mark"] or is_name(label):
            yield from _entry(label, value)
    elif is_label(label) or len(sentence_spans(label)) > 1:
        yield from facts_in(value if is_label(label) else body, DefaultSubjects())


def _item(body: str, topic: Topic) -> Iterator[ExtractedFact]:
    """Yield the fact of an item below a heading that names its relation, unless it denies or is a sentence."""
    if not topic.relation or not topic.person:
        return
    relation, body = split_liking(body) or (topic.relation, body)
    thing = value_of(body, "text")
    denied = relation != "prefers" and negations(body)  # "No onions" is ambiguous below Likes and Dislikes
    if thing is None or denied or not body[0].isalnum() or body.rstrip("*_").endswith((":", "：")):
        return
    if _is_short(thing):
        yield from _fact(topic.person, relation, thing, "key", 0.8)


def _is_short(text: str) -> bool:
    """Return true for at most five words; two characters of a script without spaces count as one."""
    return len(text.split()) <= 5 and len(_UNSPACED.findall(text)) <= 10


def _key(label: str, kind: str, value: str, topic: Topic, rule: str, confidence: float) -> Iterator[ExtractedFact]:
    thing = value_of(value, kind)
    subject = topic.person if has_flag(label, "person") and topic.person else topic.name
    if thing is None or subject is None or (has_flag(label, "self") and topic.person is None):
        return
    if subject == topic.owner and (has_flag(label, "thing") or normalise(label) == "status"):
        return  # the agent's model, or the state of something that its heading does not name
    yield from _fact(subject, label if label.isupper() else label.casefold(), thing, rule, confidence)


def _decision(subject: str, value: str, rule: str) -> Iterator[ExtractedFact]:
    thing = value_of(value, "text", 240)
    if thing is not None and (len(thing.split()) > 2 or len(_UNSPACED.findall(thing)) > 3):
        yield from _fact(subject, "decided", thing, rule, 0.9)


def _entry(label: str, value: str) -> Iterator[ExtractedFact]:
    if len(label.split()) > 4 or is_common(label) or not names_subject(label) or is_work(label):
        return
    if (version := _VERSION.match(value)) is not None:
        yield from _fact(label, "version", version[0], "entry", 0.8)
        return
    thing = value_of(value, "text")
    if thing is not None and thing[0].isalpha():
        yield from _fact(label, "about", thing, "entry", 0.8)
    yield from facts_in(value, DefaultSubjects(implied=label))


def _contacts(text: str, topic: Topic) -> Iterator[ExtractedFact]:
    """Yield what a line of a name and short parts states: addresses, and below a heading such as *People* the rest."""
    body = _OPENING.sub("", text, count=1)
    border = _BORDERS.search(body)
    name, parts = tidy(body[: border.start()]) if border else "", _short_parts(body[border.end() :]) if border else []
    addresses = [(kind, part) for part in parts if (kind := _address_kind(part)) is not None]
    if addresses and is_full_name(parts[0]) and not is_full_name(name):
        name, parts = parts[0], [name, *parts[1:]]  # "Plumber: Nora Berg, 030 5550 12"
    if border is None or not parts or not (topic.collection or is_full_name(name)):
        return
    if not is_name(name) or is_common(name):
        return
    for kind, part in addresses:
        yield from _fact(name, kind, part, "entry", 0.8)
    others = [part for part in parts if part not in dict(addresses).values()]
    if topic.collection and addresses and others:
        yield from _entry(name, others[0])
    elif topic.collection and border[0].strip() in set("—–|·•-"):
        yield from _entry(name, body[border.end() :])


def _address_kind(text: str) -> str | None:
    """Return the relation of an address of a person by its form."""
    return next((kind for kind, form in _ADDRESSES if form.fullmatch(text)), None)


def _short_parts(text: str) -> list[str]:
    """Return the parts of a text with signs between them; none where it is prose."""
    parts = [part for part in map(tidy, _BORDERS.split(text)) if part]
    return parts if all(len(part.split()) < 6 for part in parts) else []


def _priced(body: str, path: str) -> Iterator[ExtractedFact]:
    """Yield the price of a thing in a list below a heading such as *Prices*."""
    if not _lists_prices(path):
        return
    *_, border = [None, *_BORDERS.finditer(body)]
    if border is not None and is_price(body[border.end() :]):
        yield from _fact(body[: border.start()], "price", tidy(body[border.end() :]), "entry", 0.8)


def _lists_prices(path: str) -> bool:
    """Return true if the last heading of a path is *Prices* or the like."""
    return normalise(path.rpartition(" > ")[2]) == "price"


# -- values that change -------------------------------------------------------------------------------


def _changing(line: str, path: str) -> Iterator[ExtractedFact]:
    """Yield the change of a value that a line states, or the value of a key that may change."""
    heading, subject = _heading_subject(path)
    if changes := changes_in(line, heading):
        for change in changes:
            yield from _changed(change, path, line)
        return
    if (reached := new_value_in(line)) is not None:
        key = "status" if is_state(reached[1]) else "version" if shape_of(reached[1]) == ("version", "") else ""
        yield from _fact(reached[0] or subject, key, reached[1], "change", 0.8)
        if key:
            return
    match = _KEYED.match(line)
    if match is None or not names_subject(subject) or is_work(heading) or "→" in line:
        return
    label, value = _label(match), match["value"]
    if label.casefold() in fact_list("formerly"):
        return  # the line below has what holds
    text = tidy(_MIDDLE.split(value, maxsplit=1)[0])
    form, unit = leading_shape(value) or ("", "")
    if form and (form != "amount" or unit) and len(label.split()) < 5 and _is_short(ASIDE.sub(" ", text)):
        yield from _fact(subject, label.casefold(), text, "value", 0.6)


def _changed(change: ValueChange, path: str, line: str) -> Iterator[ExtractedFact]:
    """Yield the fact of a change below a path of headings: of the subject of its label, or of that of the headings.

    The day that the ``line`` names stands in brackets behind the new value.
    """
    _, subject = _heading_subject(path)
    label, (form, _) = change.label, shape_of(change.after) or ("", "")
    keyed = re.search(r"[:：]", label) is not None or kind_of_key(label) is not None or is_label(label)
    about, key = (
        (subject, label) if keyed and subject else (label or subject, "version" if form == "version" else "value")
    )
    day = change.day_in(line)
    values = f"{change.before}{ARROW}{change.after}{f' ({day})' if day else ''}"
    yield from _fact(about, key.casefold(), values, "change", 0.8)


@lru_cache(maxsize=4096)
def _heading_subject(path: str) -> tuple[str, str]:
    """Return the last heading that names a subject, and that subject; the last one of all where none does."""
    headings = path.split(" > ")
    # Below "Session notes > Model change" a line without a subject is about the model.
    for heading in filter(names_subject, reversed(headings)):
        if subject := without_change(SIGNS.sub(" ", dateless(ASIDE.sub(" ", heading))).strip(" -#/"), heading=True):
            return heading, subject
    return headings[-1], ""


# -- tables ---------------------------------------------------------------------------------------


def _row(unit: Unit, topic: Topic, path: str) -> Iterator[ExtractedFact]:
    cells = [cell.strip() for cell in cells_of(unit.text) if cell.strip()]
    headers = _headers(unit.indexed or "", cells)
    if headers is None or len(cells) < 2 or any(cell.endswith(("?", "？")) for cell in cells):
        return
    columns = [tidy(header).casefold() for header in headers]
    of_contact = columns[0] not in fact_list("entity") and any(map(_address_kind, cells))
    own = next((at for at, cell in enumerate(cells) if of_contact and is_full_name(tidy(cell))), 0)
    first = tidy(cells[own])
    if len(cells) == 2 and columns[0] in fact_list("keys") | {""} and columns[1] in fact_list("values") | {""}:
        if (kind := kind_of_key(first)) is not None:
            yield from _key(first, kind, cells[1], topic, "table", 0.85)
        return
    short_name = names_subject(first) and len(first.split()) <= 5
    common = is_common(first) or is_work(first) or first.casefold() in fact_list("nobody")
    named = columns[0] in fact_list("entity") or (of_contact and is_full_name(first))
    names_entity = named and short_name and not common
    for at, column in enumerate(columns[1:-1], 1):
        if has_formerly(column) and (change := change_between(first, cells[at], cells[at + 1], path)) is not None:
            yield from _changed(change, path, unit.text)
            return
    priced = len(cells) == 2 and short_name and _lists_prices(path)
    for at, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        kind = kind_of_key(column) if column else None
        if kind is None or (at == own and names_entity):
            continue
        if normalise(column) == "decided":
            subject = first if cell != cells[0] and short_name else "we"
            day = next((f" ({each})" for each in cells if day_since(f"({each})")), "")
            yield from _decision(subject, f"{cell}{day}", "table")
        elif (names_entity or (priced and is_price(cell))) and (thing := value_of(cell, kind)) is not None:
            yield from _fact(first, column, thing, "table", 0.85)


def _headers(indexed: str, cells: list[str]) -> list[str] | None:
    """Return the header of each cell from ``header: cell; header: cell``; ``None`` where it is not so."""
    headers, at = [], 0
    for number, cell in enumerate(cells):
        after = "; " if number + 1 < len(cells) else ""
        if indexed.startswith(cell + after, at):
            headers.append("")
            at += len(cell) + len(after)
            continue
        begin = indexed.find(f": {cell}{after}", at)
        if begin < 0:
            return None
        headers.append(indexed[at:begin])
        at = begin + 2 + len(cell) + len(after)
    return headers if at == len(indexed) else None


# -- values ---------------------------------------------------------------------------------------

#: The border to the next pair within a value, as in "8 GB, Disk: 364 GB".
_NEXT_PAIR = re.compile(r",\s+(?=[^\W\d_]\w*(?:\s[^\W_]+)?[:：]\s)")
#: The border between a short value and a remark on its line.
_MIDDLE = re.compile(r"\s[·•]\s|(?<=\w)/?\s(?=[✅❌⚠☑✔✗✘⏳🚧])")
_PLACEHOLDER = re.compile(
    r"^[_*]*[(（<\[{]|^_[^_]*\s[^_]*_$|(?:^|/)path/to(?:/|$)|\{\{|<[a-z_ -]+>|x{4,}|y{4}|[?？…:：]$|\.\.\.$|~~|\?\?"
    r"|\[redacted|\s[→↔]\s"
)
#: A line of a file, where something is to be done: that file belongs to nobody.
_FILE_LINE = re.compile(r"\.\w{1,5}:\d")
#: Options of which none is chosen: "open / closed / done", "low | high", "YYYY-MM-DD", "e.g. …".
_CHOICE = re.compile(
    r"(?:[a-zß-ÿа-яё_-]+\s[/|]\s){2,}[a-zß-ÿа-яё_-]+|[\"“'`]*(?:Y{2,4}[-/.]?M{1,2}[-/.]?D{1,2}|H{1,2}:M{1,2})\b.*"
    r"|#[\w-]+(?:[,/|]?\s*#[\w-]+){2,}"
    r"|(?:[eE]\.\s?g\.|z\.\s?B\.|p\.\s?ex\.|par ex\.|напр\.|例如|たとえば|vd\.|bijv\.|np\.).*"
)
#: The amount of a change.
_CHANGE = re.compile(r"[+−]\s?\d")
_BRACKETS = ("()", "（）", "[]", "「」", "“”")
#: The form of a value, by the kind of its relation, and its most words.
_FORMS: dict[str, tuple[re.Pattern[str], int]] = {
    kind: (re.compile(form, re.S), most)
    for kind, form, most in (
        ("name", r"(?![a-zß-ÿа-яё\d]).+|`[^`]+`|[a-z]\w*[A-Z\d_.-]\w*", 6),
        ("state", r"(?!\S*/\S+\.)[^|→]+$", 8),
        ("date", r"(?!\W*\d{1,2}:\d\d[^\d/.年月]*(?:[+-]\d{1,2})?\W*\Z).*(?:\d|[年月日]|\b[A-ZÀ-Þ]\w+)", 8),
        ("number", r".*\d", 10),
        ("time", r"(?!\W*\d+[.,]\d).*(?:\d|[年月日時时点分]|daily|weekly|monthly|[*])", 12),
        ("url", r"\W*(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:[/:]\S*)?)", 4),
        ("path", r"(?=.*[^\W\d_])\W*(?:~|[A-Z]:\\|\.{0,2}/|[\w.@-]+/)[^\s]*|\W*[\w./-]+\.[a-z]{1,5}\b", 6),
        ("repo", r"\W*(?:https?://\S+|[\w.@:-]+/[\w./-]+)", 5),
        ("email", r"\W*\S+@\S+\.\w+\W*(?:\Z|\s\W|\s\S+@)", 5),
        ("phone", r"\W*\+?[\d\s().-]{6,}", 8),
        ("ip", r"\W*(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]+)", 6),
        ("port", r"\W*\d{2,5}\b", 4),
        ("zone", r"\W*(?:[A-Z]\w+/\w+|\w+.*\b(?:UTC|GMT)|(?![a-zß-ÿа-яё\d])\w[^.,:]*\Z)", 8),
        ("version", r"\W*(?:v?\.?\d[\w+-]*(?:\Z|\s*[^\w\s])|v\.?\d|\d+\.\d)", 6),
        # Of several words the first is no ordinary one, or the others are a remark, or they are somebody's name.
        (
            "id",
            r"\W*(?=\S*[\d_@#:./+-]|\S+\Z|\S+\s[(（]|\S+（|[A-Z]\S+\s[A-Z]\S+\Z)[@#]?[A-Za-z0-9_.@:/+-]{2,}",
            3,
        ),
        ("text", r".+", 25),
        # A counted thing is none: "16 records".
        ("tool", r"(?!\W*\d[\d.,]*\+?\s).+", 25),
    )
}


def value_of(value: str, kind: str, longest: int = 160) -> str | None:
    """Return the first sentence of a value where it is short, whole, and has the form of its kind."""
    spans = sentence_spans(value)
    if not spans:
        return None
    value = _NEXT_PAIR.split(value[spans[0][0] : spans[0][1]], maxsplit=1)[0]
    if kind not in ("text", "tool", "state"):
        value = _MIDDLE.split(value, maxsplit=1)[0]
    if kind in ("state", "name"):
        value = re.split(r"\s[–—]\s|\s-\s|;\s|；" if kind == "name" else r";\s|；", value, maxsplit=1)[0]
    text = tidy(value)
    low = text.casefold()
    if not text or len(text) > longest or _PLACEHOLDER.search(value.strip()) or _PLACEHOLDER.search(text):
        return None
    bare = tidy(SIGNS.sub(" ", ASIDE.sub(" ", low)))
    if not {low, bare, bare.split(" ", 1)[0]}.isdisjoint(fact_list("empty") | fact_list("owner")):
        return None
    if _CHANGE.match(text) and kind not in ("phone", "zone"):
        return None
    if not any(map(str.isalnum, text)) or (kind == "path" and _FILE_LINE.search(text)):
        return None
    if (kind == "state" and _is_done(bare)) or _CHOICE.fullmatch(text):
        return None
    if any(text.count(opening) != text.count(closing) for opening, closing in map(tuple, _BRACKETS)):
        return None
    form, most_words = _FORMS[kind]
    if len(ASIDE.sub(" ", text).split()) > most_words or len(text.split()) > 25:
        return None
    return text if form.match(value.strip() if kind == "name" else text) else None


def _is_done(state: str) -> bool:
    """Return true if a state, in small letters, begins with a word for a finished step rather than for a state."""
    words = [word for word in state.split() if word not in fact_list("adverbs")]
    done = fact_list("done") - fact_list("states")
    return bool(words) and (words[0] in done or state.startswith(tuple(filter(UNCASED_LETTER.match, done))))
