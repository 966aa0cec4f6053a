"""Whom the headings above a line, and the item that it belongs to, name: where that is not certain, nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..text.dates import date_in_heading
from ..text.labels import is_label, names_subject
from ..text.language import ENGLISH, is_stop_word, stop_words
from ..text.negation import negations
from ..text.scripts import UNCASED
from . import fact_words
from .fact_sentences import is_name, plain, tidy
from .kinds import is_kind, kinds_known
from .predicates import is_relation
from .routine import ABBREVIATIONS, NAMELESS, ORDINARY

OPENING = re.compile(r"[ \t>]*+(?:(?:[-*+•・]|\d{1,9}[.)])[ \t]++)?(?P<task>\[[ xX]\][ \t]++)?")
_QUOTED = re.compile(r"[\"“「]([^\"“”「」]{1,40})[\"”」]")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d{4}-[WQ]\d{1,2}(?!\w)|"
    r"(?:\d{4}\s?[年년]\s?)?(?<!\d)\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]|"
    r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:\d{4})?(?:\s?[–—-]\s?\d{1,2}\.\d{1,2}\.(?:\d{4})?)?(?!\w)|"
    r"\d{4}[-/.年]\d\d?(?:[-/.月]\d\d?日?)?|~?\d{1,2}:(?:\d\d|XX)(?::\d\d)?(?:\s?[ap]m)?(?:\s[A-Z]{2,4}\b)?",
    re.IGNORECASE,
)
#: A kind of thing and its number: "Bug 2", "Риск 3", "Layer 5", "P2".
_NUMBERED = re.compile(r"(?:[^\W\d_]+\s#?\d{1,3}|[A-Z]\d)", re.IGNORECASE)
#: The time of a day that opens a heading, perhaps behind the day: what follows happened then.
_CLOCK = re.compile(r"\W*(?:\d{4}-\d\d-\d\d\W+)?~?\d{1,2}:(?:\d\d|XX)(?!\d)")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d(?!\d)")
#: What a heading is about is the one ticket of that number, not all that its words say: "PR #12 — Tide table".
_TICKET = re.compile(r"(?<!\w)[^\W\d_]+\s#\d{2,}")
ASIDE = re.compile(r"[(（\[【<][^()（）\[\]【】<>]*[)）\]】>]")
#: A sign of its own, or a picture, parts a name from what is said of it.
_PARTS = re.compile(r"\s+[–—|/]+\s*|\s+-\s+|[:：]\s*|——|\s*[\u2600-\u27bf\u2b50-\u2b59\U0001f000-\U0001faff]\ufe0f?\s*")
_COUNTED = re.compile(r"^[\d.]+(?:\s+|\Z)")
_ORDINAL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?|\d{1,3}\.?|[A-Z]\.")
SIGNS = re.compile(r"[^\w\s'’&.+#@/-]+")
_WITHOUT_CAPITALS = re.compile(f"[{UNCASED}]")


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


@lru_cache(maxsize=4096)
def topic_of(heading: str) -> Topic:
    """Whom a path of headings names: the last one first, as far as nothing unclear stands in between."""
    names: list[str] = []
    verb = collection = decision = None
    member = unclear = work = related = False
    parts = heading.split(" > ")
    for depth, part in reversed([*enumerate(parts)]):
        text = tidy(SIGNS.sub(" ", _DATE.sub(" ", ASIDE.sub(" ", part)))).strip(" -.#")
        low = text.casefold()
        if not text or (depth == 0 and ".md" in low):
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
        if _of_owner(text):
            names, member = names or ["user"], True
            continue
        said, owner = _list_of(text)
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
            not _DATE.match(part) or low.split()[-1] in fact_words.every("work") | fact_words.every("tails")
        )
        said_of = names_subject(text) and low.split()[-1] not in fact_words.every("decision")
        if decision is None and (edition or (not said_of and _TIME.search(part))):
            decision = "we" if edition else ""  # what was done at that time
        if decision is None and said_of and not _work(low):
            topic, _, rest = part.partition(":")
            about = rest if tidy(topic).casefold() in fact_words.every("decision") else part
            ones = (tidy(SIGNS.sub(" ", _DATE.sub(" ", one))) for one in _PARTS.split(ASIDE.sub(" ", about)))
            decision = _COUNTED.sub("", next((one for one in ones if names_subject(one)), ""))
            about_some = _counts_work(about) or low.split()[0] in _pointing()
            decision = decision if len(decision.split()) <= 6 and len(decision) <= 60 and not about_some else ""
        if low in fact_words.every("sides"):
            unclear = not names
            break
        name = None if edition else named(part)
        if name is None:
            if not names and ((names_subject(text) and not is_common(text)) or _counts_work(part)):
                unclear = True
                break
            continue
        work = work if names else says_work(part, name)
        names.append(name)
    return Topic(tuple(names), collection, member, unclear, verb, decision, _titles(parts), work)


def _titles(parts: Sequence[str]) -> bool:
    """Whether headings are but the title of a file, and not that of a day."""
    return len(parts) == 1 and date_in_heading(parts[0]) is None


def _entry(heading: str) -> tuple[str, ...]:
    """The entry of a collection that a heading is though it names a relation: *Instagram* below *Projects*."""
    text = tidy(SIGNS.sub(" ", _DATE.sub(" ", ASIDE.sub(" ", heading)))).strip(" -.#")
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
            if " " in owner and _WITHOUT_CAPITALS.search(owner):
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


def named(heading: str) -> str | None:
    """What a heading names, without dates, signs, remarks and labels; ``None`` where it names nothing, or says more."""
    if heading.rstrip().endswith(("!", "?", "！", "？", "…")) or any(one in heading for one in ("→", "->", "://")):
        return None
    bare = _DATE.sub(" ", ASIDE.sub(" ", heading)).split(" | ", 1)[0]
    quoted = _QUOTED.search(bare)
    if quoted is not None and len(quoted[1].split()) <= 3 and any(map(str.isalpha, bare[: quoted.start()])):
        return quoted[1]
    heads, done = fact_words.every("heads"), fact_words.every("done")
    endings = fact_words.every("tails") | done
    numbered = False
    parts = [part for part in _PARTS.split(bare) if part.strip(" -.#*_")]
    for part in parts:
        words = _without_done(tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/")).split()
        if any(_OBJECT.search(word) for word in words):
            return None  # what was done to something, in Japanese
        if _NUMBERED.fullmatch(" ".join(words)) or (len(words) == 1 and words[0].casefold() in done):
            numbered = True
            continue
        if words and (words[0].casefold() in done or (numbered and words[0].islower())):
            return None
        while words and (_ORDINAL.fullmatch(words[0]) or words[0].casefold() in heads):
            words = words[1:]
        if words and words[0].casefold() in done:
            return None
        while len(words) > 1 and len(words[0]) < 4 and words[0].islower() and _is_function_word(words[0]):
            words = words[1:]
        said = words
        # "Heron Published on the Shelf"
        where = range(1, len(words) - 1)
        words = words[: next((at for at in where if _done_there(words[at], words[at + 1])), len(words))]
        while words and (
            words[-1].casefold() in endings
            or (len(words) > 1 and _was_done(words[-1]))
            or (not words[-1][0].isupper() and _kind(words[-1]))
        ):
            words = words[:-1]
        if words and _WITHOUT_CAPITALS.match(words[0]) and words[0].startswith(_openings()):
            return None
        if words and len(words[-1]) <= 4 and (_is_function_word(words[-1]) or negations(words[-1])):
            return None
        text = " ".join(words)
        if len(words) == 1 and words != said and not text.isascii() and not _WITHOUT_CAPITALS.match(text):
            return None  # an ordinary word with a capital, as all have that open a heading
        if words and len(words) > 1 and words[0].casefold() in _pointing():
            return None  # "What He Builds", "This Boat"
        if " + " in text or text.casefold() in fact_words.every("unset"):
            return None  # two things, or nothing known
        if _NUMBERED.fullmatch(text) or (text and _work(text.casefold()) and not is_common(text)):
            return None
        text = text.replace("’", "'").removesuffix("'s")
        if text and names_subject(text) and not is_common(text):
            if len(parts) > 1 and text.isalpha() and text.islower():
                continue  # "Projet principal : Heron"
            if part is not parts[-1] and _KIND_OF.match(bare) and _introduces(words, plain(parts[-1])):
                continue  # "Student: Mira"
            if len(words) > 5 or len(text) > 48 or not _says_name(text, bare):
                return None
            ticket = _TICKET.search(bare)
            return f"{ticket[0]} {text}" if ticket and ticket[0] not in text else text
    return None


def _was_done(word: str) -> bool:
    """Whether an English word at the end of a heading says what was done, or that it works: *Documented*, *Running*."""
    low = word.casefold()
    participle = len(low) > 5 and low.endswith("ed") and not low.endswith("eed") and low not in ORDINARY
    return not word.isupper() and (participle or (len(low) > 2 and low in fact_words.every("well")))


def _done_there(word: str, behind: str) -> bool:
    """Whether a word says what was done, and the next one where or with what."""
    return (word.casefold() in fact_words.every("done") or _was_done(word)) and _is_function_word(behind)


#: One word or two before a colon.
_KIND_OF = re.compile(r"[^:：]*[:：]\s*\S")


def _introduces(words: Sequence[str], rest: str) -> bool:
    """Whether ``words`` before a colon are a kind of what ``rest`` names, word by word with capitals."""
    named = tidy(SIGNS.sub(" ", rest)).split()
    if not 1 <= len(named) <= 4 or not all(word[0].isupper() for word in named) or _kind(" ".join(named)):
        return False
    plain_word = words[-1].isalpha() and words[-1][1:].islower()
    return plain_word and (len(words) == 1 or is_common(words[-1]) or words[-1].casefold() in fact_words.every("heads"))


def says_work(heading: str, name: str | None = None) -> bool:
    """Whether a heading is about a piece of work, something that happened, or a report.

    The noun that leads the part with the ``name`` in it, or a part before that, says so: it stands last in some
    languages and first in others (*Pump Repair*, *Reparación de la bomba*).  So does the time of a day that opens it.
    """
    bare = ASIDE.sub(" ", heading)
    if _CLOCK.match(bare):
        return True
    for part in _PARTS.split(_DATE.sub(" ", bare)):
        text = tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/")
        if text and led_by_work(text.casefold()):
            return True
        if name is None or name.split()[-1] in text:
            break
    return name is not None and led_by_work(name.casefold())


def _counts_work(heading: str) -> bool:
    """Whether a heading begins with work that is counted: *Test 3: …*."""
    first = tidy(SIGNS.sub(" ", _PARTS.split(ASIDE.sub(" ", heading), maxsplit=1)[0])).strip(" -.#/")
    return _NUMBERED.fullmatch(first) is not None and led_by_work(first.casefold())


def led_by_work(text: str) -> bool:
    """Whether the noun that leads ``text``, in small letters, is one for work, or what it counts is: *Bug 3*."""
    last, first = fact_words.every("ends"), fact_words.every("opens")
    words = text.replace("-", " ").split()
    while len(words) > 1 and words[-1].lstrip("#").isdigit():
        words.pop()
    leading = next((at for at, word in enumerate(words) if at and _is_function_word(word)), len(words)) - 1
    if not last.isdisjoint((words[-1], words[leading])) or text.endswith(_joined_ends()):
        return True
    if text.startswith(tuple(one for one in first if _WITHOUT_CAPITALS.match(one))):
        return True
    # What is alike in a language whose leading noun stands last counts only where its words stand after one another.
    return words[0] in first and (len(words) == 1 or words[0] not in last or _is_function_word(words[1]))


@lru_cache(maxsize=1)
def _pointing() -> frozenset[str]:
    """English words that point at something or ask for it: no name begins with one."""
    lists = fact_words.languages()["en"].lists
    return (frozenset(lists["not"] + lists["nobody"]) - ORDINARY - frozenset(("user", "no"))) | fact_words.every("some")


@lru_cache(maxsize=1)
def _joined_ends() -> tuple[str, ...]:
    """What names of work end in, in scripts that put no spaces between words."""
    return tuple(one for one in fact_words.every("ends") if _WITHOUT_CAPITALS.match(one))


def _work(text: str) -> bool:
    """Whether ``text``, in small letters, says of what kind notes are, or what work they are about: *Key memories*."""
    return fact_words.every("work").issuperset(text.replace("-", " ").split())


#: Words that name nobody, but where an abbreviation is written as one.
_EVERYDAY = NAMELESS | ABBREVIATIONS
#: A particle between the parts of a Japanese sentence.
_OBJECT = re.compile("[\u3041-\u30fa\u30fc\u4e00-\u9fff]を|^を|^(?:で|に|へ|から|が|は)$")


def _without_done(text: str) -> str:
    """``text`` without what says at its end, in a script that puts no spaces, what was done to it."""
    if not _WITHOUT_CAPITALS.search(text[-2:]):
        return text
    end = next((one for one in _done_endings() if text.endswith(one) and len(text) > len(one) + 1), "")
    return text.removesuffix(end).rstrip(" をの") if end else text


@lru_cache(maxsize=1)
def _done_endings() -> tuple[str, ...]:
    found = fact_words.every("done") | fact_words.every("tails")
    return tuple(sorted((one for one in found if _WITHOUT_CAPITALS.match(one)), key=lambda one: (-len(one), one)))


@lru_cache(maxsize=4096)
def is_template(heading: str) -> bool:
    """Whether one of the headings says that what lies below it is a form or an example, and states nothing."""
    for part in heading.split(" > "):
        text = " ".join(re.findall(r"[^\W\d_]+", ASIDE.sub(" ", part).casefold()))
        if (match := _templates().search(text)) is not None:
            if match.end() == len(text) or _is_function_word(text[match.end() :].split()[0]):
                return True  # "Entry template", "Template for an entry"
    return False


@lru_cache(maxsize=1)
def _templates() -> re.Pattern[str]:
    """What says so at the end of a heading, or at its beginning before a function word."""
    said = fact_words.every("template")
    apart = "|".join(re.escape(one) for one in said if not _WITHOUT_CAPITALS.match(one))
    joined = "|".join(re.escape(one) for one in said if _WITHOUT_CAPITALS.match(one))
    return re.compile(rf"(?:^|\s)(?:{apart})\Z|^(?:{apart})(?=\s)|(?:{joined})\Z")


def is_common(text: str) -> bool:
    """Whether a heading is a common noun, or the name of a relation: it says what kind of thing is below it."""
    known = fact_words.every("topics") | fact_words.every("heads")
    if _kind(text):
        return True
    words = text.casefold().replace("-", " ").split()
    if len(words) > 1 and _is_function_word(words[0]) and NAMELESS.issuperset(words[1:]):
        return True  # "What was added"
    everyday = NAMELESS if text.isupper() else _EVERYDAY
    word = text.isalpha() and (text[1:].islower() or (text.isupper() and len(text) > 5))
    if word and any(is_kind(text.casefold(), spoken) for spoken in kinds_known()):
        return True  # "Store": a word for a kind of thing
    if " " not in text and words and everyday.issuperset(words) and ORDINARY.isdisjoint(words):
        return True  # "Run": a word of everyday English
    return len(words) > 1 and all(word in known or is_label(word) for word in words)


def _kind(text: str) -> bool:
    """Whether ``text`` is a label, a known common noun, or the name of a relation."""
    return is_label(text) or text.casefold() in fact_words.every("topics") or is_relation(text)


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
    if text.isupper() and len(words) > 2 and not any(map(str.isdigit, text)):
        return False  # where all letters are capitals, they do not tell a name from a remark
    if any(
        character.isdigit() or (at and not character.islower() and character not in "-'")
        for word in words
        for at, character in enumerate(word)
    ):
        return True
    if any(word[0].isascii() != words[0][0].isascii() for word in words[1:]):
        return True
    return len(words) == 1 or all(word[0].isupper() for word in words)


def _is_function_word(word: str) -> bool:
    """Whether ``word`` is a stop word of a language that it may be in: no name ends with one."""
    return word.isalpha() and any(is_stop_word(word, one) for one in stop_words())


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
            if name is None and title and not _is_function_word(own.casefold()) and not is_label(own):
                name = own
            if name and is_name(name):
                return name
    return None


@lru_cache(maxsize=2)
def _profiles(which: str) -> tuple[re.Pattern[str], ...]:
    longest = sorted(fact_words.every(which), key=lambda one: (-len(one), one))
    return tuple(re.compile(re.escape(one).replace(r"\*", "(?P<name>.+)"), re.IGNORECASE) for one in longest)


@lru_cache(maxsize=1)
def _openings() -> tuple[str, ...]:
    """Common nouns and verbs that begin a heading about what was done, in scripts without spaces."""
    return tuple(one for one in fact_words.every("topics") if len(one) > 1 and _WITHOUT_CAPITALS.match(one))


def is_time(text: str) -> bool:
    """Whether a cell holds nothing but a day or a time."""
    return _DATE.search(text) is not None and not any(map(str.isalnum, _DATE.sub("", text)))


def is_particle(word: str) -> bool:
    """Whether ``word`` may stand in small letters within a name: a function word, but none of English."""
    return word.islower() and _is_function_word(word) and not is_stop_word(word, ENGLISH)
