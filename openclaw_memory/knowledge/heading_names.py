"""What a heading, or a cell, names: the name in it without what stands around, and whether it names a thing or work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..text.labels import is_label, names_subject
from ..text.language import ENGLISH, is_stop_word, stop_words
from ..text.negation import negations
from ..text.scripts import UNCASED
from . import fact_words
from .fact_sentences import plain, tidy
from .kinds import is_kind, kinds_known
from .predicates import is_relation
from .routine import ABBREVIATIONS, NAMELESS, ORDINARY

_QUOTED = re.compile(r"[\"“「]([^\"“”「」]{1,40})[\"”」]")
DATE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d{4}-[WQ]\d{1,2}(?!\w)|"
    r"(?:\d{4}\s?[年년]\s?)?(?<!\d)\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]|"
    r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:\d{4})?(?:\s?[–—-]\s?\d{1,2}\.\d{1,2}\.(?:\d{4})?)?(?!\w)|"
    r"(?<!\d)\d{4}[-/.年]\d\d?(?!\d)(?:[-/.月]\d\d?日?)?|~?\d{1,2}:(?:\d\d|XX)(?::\d\d)?(?:\s?[ap]m)?(?:\s[A-Z]{2,4}\b)?",
    re.IGNORECASE,
)
#: A kind of thing and its number: "Bug 2", "Риск 3", "Layer 5", "P2".
_NUMBERED = re.compile(r"(?:[^\W\d_]+\s#?\d{1,3}|[A-Z]\d)", re.IGNORECASE)
#: The time of a day that opens a heading, perhaps behind the day: what follows happened then.
_CLOCK = re.compile(r"\W*(?:\d{4}-\d\d-\d\d\W+)?~?\d{1,2}:(?:\d\d|XX)(?!\d)")
#: A day and a time, as an entry of a log has them.
_STAMP = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?!\d)")
TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d(?!\d)")
#: What a heading is about is the one ticket of that number, not all that its words say: "PR #12 — Tide table".
_TICKET = re.compile(r"(?<!\w)[^\W\d_]+\s#\d{2,}")
#: The number of an issue before what it says: "Q-118: Pump stands still".
_ISSUE = re.compile(r"\W*([A-Z]{1,9}-\d{1,5})\s*(?:[:：]|\s[–—-]\s)")
#: So many of so many: a score.
_SCORE = re.compile(r"\d+/\d{2,}")
ASIDE = re.compile(r"[(（\[【<][^()（）\[\]【】<>]*[)）\]】>]")
#: A sign of its own, or a picture, parts a name from what is said of it.
PARTS = re.compile(r"\s+[–—|/]+\s*|\s+-\s+|[:：]\s*|——|\s*[\u2600-\u27bf\u2b50-\u2b59\U0001f000-\U0001faff]\ufe0f?\s*")
_ORDINAL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?|\d{1,3}\.?|[A-Z]\.")
SIGNS = re.compile(r"[^\w\s'’&.+#@/-]+")
WITHOUT_CAPITALS = re.compile(f"[{UNCASED}]")


def named(heading: str) -> str | None:
    """What a heading names, without dates, signs, remarks and labels; ``None`` where it names nothing, or says more."""
    if heading.rstrip().endswith(("!", "?", "！", "？", "…")) or any(one in heading for one in ("→", "->", "://")):
        return None
    bare = DATE.sub(" ", ASIDE.sub(" ", heading)).split(" | ", 1)[0]
    quoted = _QUOTED.search(bare)
    if quoted is not None and 1 <= len(quoted[1].split()) <= 3 and _is_kind_of(bare[: quoted.start()]):
        # A quotation within a sentence is no name.
        return None if any(map(str.isalnum, bare[quoted.end() :])) else quoted[1]
    if (issue := _ISSUE.match(bare)) is not None:
        return issue[1]
    heads, done = fact_words.every("heads"), fact_words.every("done")
    endings = fact_words.every("tails") | done
    numbered = False
    parts = [part for part in PARTS.split(bare) if part.strip(" -.#*_")]
    for part in parts:
        words = _without_done(tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/")).split()
        if any(_OBJECT.search(word) or _SCORE.fullmatch(word) for word in words):
            return None  # what was done to something, in Japanese, or how good it is: "64/100 Heron"
        if _NUMBERED.fullmatch(" ".join(words)) or (len(words) == 1 and words[0].casefold() in done):
            numbered = True
            continue
        if len(words) == 1 and part is not parts[-1] and words[0].casefold() in fact_words.every("states"):
            continue  # "DEPRECATED: Heron v2"
        if words and (words[0].casefold() in done or (numbered and words[0].islower())):
            return None
        while words and (_ORDINAL.fullmatch(words[0]) or words[0].casefold() in heads):
            words = words[1:]
        if words and words[0].casefold() in done:
            return None
        while len(words) > 1 and len(words[0]) < 4 and words[0].islower() and is_function_word(words[0]):
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
        if words and WITHOUT_CAPITALS.match(words[0]) and words[0].startswith(_openings()):
            return None
        if len(words) > 1 and words[-1].startswith(_adding()):
            return None  # "Heron API 增加两种接口"
        if words and len(words[-1]) <= 4 and (is_function_word(words[-1]) or negations(words[-1])):
            return None
        text = " ".join(words)
        if len(words) == 1 and words != said and not text.isascii() and not WITHOUT_CAPITALS.match(text):
            return None  # an ordinary word with a capital, as all have that open a heading
        if words and len(words) > 1 and words[0].casefold() in pointing():
            return None  # "What He Builds", "This Boat"
        if " + " in text or text.casefold() in fact_words.every("unset"):
            return None  # two things, or nothing known
        if _NUMBERED.fullmatch(text) or (text and only_work(text.casefold()) and not is_common(text)):
            return None
        text = text.replace("’", "'")
        text = text.removesuffix("'s") if words != said else text  # "Mira's preferences"; "Sailor's"
        if text and names_subject(text) and not is_common(text):
            if len(parts) > 1 and text.isalpha() and text.islower():
                if text.isascii() and WITHOUT_CAPITALS.search(plain(parts[-1])) and not _KIND_OF.match(bare):
                    return text  # "tern - 绳索管理器": the name of a tool
                continue  # "Projet principal : Heron"
            if part is not parts[-1] and _KIND_OF.match(bare) and _introduces(_without_state(words), plain(parts[-1])):
                continue  # "Student: Mira"
            if len(words) > 5 or len(text) > 48 or not _says_name(text, bare):
                return None
            ticket = _TICKET.search(bare)
            return f"{ticket[0]} {text}" if ticket and ticket[0] not in text else text
    return None


def _is_kind_of(before: str) -> bool:
    """Whether something stands before a quotation, and no more than a kind of thing: *The yard "Heron"*."""
    kind = tidy(SIGNS.sub(" ", before))
    return any(map(str.isalpha, kind)) and len(kind.split()) <= 3 and len(re.findall(WITHOUT_CAPITALS, kind)) <= 6


def _without_state(words: list[str]) -> Sequence[str]:
    """A kind of thing without how it stands before it: *Active Mission*."""
    return words[1:] if len(words) == 2 and words[0].casefold() in fact_words.every("states") else words


def _was_done(word: str) -> bool:
    """Whether an English word at the end of a heading says what was done, or that it works: *Documented*, *Running*."""
    low = word.casefold()
    participle = len(low) > 5 and low.endswith("ed") and not low.endswith("eed") and low not in ORDINARY
    return not word.isupper() and (participle or (len(low) > 2 and low in fact_words.every("well")))


def _done_there(word: str, behind: str) -> bool:
    """Whether a word says what was done, and the next one where or with what."""
    return (word.casefold() in fact_words.every("done") or _was_done(word)) and is_function_word(behind)


#: One word or two before a colon.
_KIND_OF = re.compile(r"[^:：]*[:：]\s*\S")


def _introduces(words: Sequence[str], rest: str) -> bool:
    """Whether ``words`` before a colon are a kind of what ``rest`` names, word by word with capitals."""
    named = tidy(SIGNS.sub(" ", rest)).split()
    identifier = len(named) == 1 and not named[0].isalpha()
    capitals = 1 <= len(named) <= 4 and all(word[0].isupper() for word in named)
    if not (capitals or identifier) or _kind(" ".join(named)):
        return False
    plain_word = words[-1].isalpha() and words[-1][1:].islower()
    return plain_word and (len(words) == 1 or is_common(words[-1]) or words[-1].casefold() in fact_words.every("heads"))


def says_work(heading: str, name: str | None = None) -> bool:
    """Whether a heading is about a piece of work, something that happened, or a report.

    The noun that leads the part with the ``name`` in it, or a part before that, says so: it stands last in some
    languages and first in others (*Pump Repair*, *Reparación de la bomba*).  So does the time of a day that opens it.
    """
    bare = ASIDE.sub(" ", heading)
    if _CLOCK.match(bare) or _STAMP.search(bare):
        return True
    for part in PARTS.split(DATE.sub(" ", bare)):
        text = tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/")
        if text and led_by_work(text.casefold()):
            return True
        if name is None or name.split()[-1] in text:
            break
    return name is not None and led_by_work(name.casefold())


def counts_work(heading: str) -> bool:
    """Whether a heading begins with work that is counted: *Test 3: …*."""
    first = tidy(SIGNS.sub(" ", PARTS.split(ASIDE.sub(" ", heading), maxsplit=1)[0])).strip(" -.#/")
    return _NUMBERED.fullmatch(first) is not None and led_by_work(first.casefold())


def led_by_work(text: str) -> bool:
    """Whether the noun that leads ``text``, in small letters, is one for work, or what it counts is: *Bug 3*."""
    last, first = fact_words.every("ends"), fact_words.every("opens")
    words = text.replace("-", " ").split()
    if not words:
        return False
    while len(words) > 1 and words[-1].lstrip("#").isdigit():
        words.pop()
    leading = next((at for at, word in enumerate(words) if at and is_function_word(word)), len(words)) - 1
    if not last.isdisjoint((words[-1], words[leading])) or text.endswith(_joined_ends()):
        return True
    if text.startswith(tuple(one for one in first if WITHOUT_CAPITALS.match(one))):
        return True
    # What is alike in a language whose leading noun stands last counts only where its words stand after one another.
    return words[0] in first and (len(words) == 1 or words[0] not in last or is_function_word(words[1]))


@lru_cache(maxsize=1)
def pointing() -> frozenset[str]:
    """English words that point at something or ask for it: no name begins with one."""
    lists = fact_words.languages()["en"].lists
    return (frozenset(lists["not"] + lists["nobody"]) - ORDINARY - frozenset(("user", "no"))) | fact_words.every("some")


@lru_cache(maxsize=1)
def _joined_ends() -> tuple[str, ...]:
    """What names of work end in, in scripts that put no spaces between words."""
    return tuple(one for one in fact_words.every("ends") if WITHOUT_CAPITALS.match(one))


def only_work(text: str) -> bool:
    """Whether ``text``, in small letters, says of what kind notes are, or what work they are about: *Key memories*."""
    return fact_words.every("work").issuperset(text.replace("-", " ").split())


#: Words that name nobody, but where an abbreviation is written as one.
_EVERYDAY = NAMELESS | ABBREVIATIONS
#: A particle between the parts of a Japanese sentence.
_OBJECT = re.compile("[\u3041-\u30fa\u30fc\u4e00-\u9fff]を|^を|^(?:で|に|へ|から|が|は)$")


def _without_done(text: str) -> str:
    """``text`` without what says at its end, in a script that puts no spaces, what was done to it."""
    if not WITHOUT_CAPITALS.search(text[-2:]):
        return text
    end = next((one for one in _done_endings() if text.endswith(one) and len(text) > len(one) + 1), "")
    return text.removesuffix(end).rstrip(" をの") if end else text


@lru_cache(maxsize=1)
def _done_endings() -> tuple[str, ...]:
    found = fact_words.every("done") | fact_words.every("tails")
    return tuple(sorted((one for one in found if WITHOUT_CAPITALS.match(one)), key=lambda one: (-len(one), one)))


def is_common(text: str) -> bool:
    """Whether a heading is a common noun, or the name of a relation: it says what kind of thing is below it."""
    known = fact_words.every("topics") | fact_words.every("heads")
    if _kind(text):
        return True
    words = text.casefold().replace("-", " ").split()
    if len(words) > 1 and is_function_word(words[0]) and NAMELESS.issuperset(words[1:]):
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
    if WITHOUT_CAPITALS.search(text):
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


def is_function_word(word: str) -> bool:
    """Whether ``word`` is a stop word of a language that it may be in: no name ends with one."""
    return word.isalpha() and any(is_stop_word(word, one) for one in stop_words())


@lru_cache(maxsize=1)
def _adding() -> tuple[str, ...]:
    """Verbs behind a name that say what was done to it, in scripts without spaces."""
    return tuple(fact_words.every("adds"))


@lru_cache(maxsize=1)
def _openings() -> tuple[str, ...]:
    """Common nouns and verbs that begin a heading about what was done, in scripts without spaces."""
    return tuple(one for one in fact_words.every("topics") if len(one) > 1 and WITHOUT_CAPITALS.match(one))


def says_when(heading: str) -> bool:
    """Whether a path of headings gives the time of a day: what lies below is how things stood then.

    A title that says no more than when a conversation began is about all that was said in it.
    """
    title, _, below = heading.partition(" > ")
    begun = is_label(tidy(SIGNS.sub(" ", DATE.sub(" ", title))))
    return TIME.search(below if begun else heading) is not None


def is_time(text: str) -> bool:
    """Whether a cell holds nothing but a day or a time."""
    return DATE.search(text) is not None and not any(map(str.isalnum, DATE.sub("", text)))


def is_particle(word: str) -> bool:
    """Whether ``word`` may stand in small letters within a name: a function word, but none of English."""
    return word.islower() and is_function_word(word) and not is_stop_word(word, ENGLISH)
