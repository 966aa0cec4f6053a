"""What a heading, a label or a first cell names: the name in it, and whether that is a thing or a piece of work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ..text.labels import is_label, names_subject
from ..text.language import is_stop_word, stop_words
from ..text.scripts import UNCASED_LETTER
from . import fact_words, unspaced
from .fact_sentences import plain, tidy
from .identifiers import is_opaque
from .kinds import is_kind, kinds_known
from .predicates import is_relation
from .routine import NAMELESS, ORDINARY

DATE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d{4}-[WQ]\d{1,2}(?!\w)|"
    r"(?:\d{4}\s?[年년]\s?)?(?<!\d)\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]|"
    r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:\d{4})?(?:\s?[–—-]\s?\d{1,2}\.\d{1,2}\.(?:\d{4})?)?(?!\w)|"
    r"(?<!\d)\d{4}[-/.年]\d\d?(?!\d)(?:[-/.月]\d\d?日?)?|~?\d{1,2}:(?:\d\d|XX)(?::\d\d)?(?:\s?[ap]m)?(?:\s[A-Z]{2,4}\b)?",
    re.IGNORECASE,
)
#: The time of a day: what stands below it happened then.
CLOCK = re.compile(r"(?<!\d)\d{1,2}:(?:\d\d|XX)(?!\d)")
ASIDE = re.compile(r"[(（\[【<][^()（）\[\]【】<>]*[)）\]】>]")
SIGNS = re.compile(r"[^\w\s'’&.+#@/-]+")
#: A sign of its own, or a picture, parts a name from what is said of it.
_PARTS = re.compile(
    r"(?<!\s)\s+(?:[–—|/]+\s*|-\s+)|[:：]\s*|——"
    r"|(?:(?<!\s)\s+)?[\u2600-\u27bf\u2b50-\u2b59\U0001f000-\U0001faff]\ufe0f?\s*"
)
#: A kind of thing, and what this one is called: Laptop "study".
_QUOTED = re.compile(r"[^\W\d_]+ [\"“„「]([^\"“”„「」]{1,40})[\"”“」]\Z")
#: A kind of thing and its number, or a number alone: "Bug 2", "P2", "3.1".
_NUMBERED = re.compile(r"[^\W\d_]+\s#?\d{1,3}|[A-Z]\d|\d+/\d+", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?|\d{1,3}\.?|[A-Z]\.")
#: The longest name, in words and in characters.
_MOST_WORDS, _MOST_CHARS = 5, 48


@lru_cache(maxsize=1 << 13)
def name_in(heading: str) -> str | None:
    """What ``heading`` names, without days, signs and labels; ``None`` where it names nothing, or says more."""
    if heading.rstrip().endswith(("!", "?", "！", "？", "…")) or any(sign in heading for sign in ("→", "->", "://")):
        return None
    if (quoted := _QUOTED.match(heading)) is not None:
        return str(quoted[1])
    for part in parts_of(heading):
        words = _without_ends(part.split())
        text = " ".join(words).replace("’", "'")
        text = text if words == part.split() else text.removesuffix("'s")  # "Mira's preferences"
        if _NUMBERED.fullmatch(part) or is_common(text) or (text.islower() and words != part.split()):
            continue
        return text if names_subject(text) and _is_written_as_name(text, words) else None
    return None


def parts_of(heading: str) -> list[str]:
    """The parts of a heading between signs, without days and remarks."""
    bare = DATE.sub(" ", ASIDE.sub(" ", heading)).partition(" | ")[0]
    parts = (tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/") for part in _PARTS.split(bare))
    return [part for part in parts if part]


def _without_ends(words: list[str]) -> list[str]:
    """The words of a name without numbers and words such as *Project* before it, and *setup* or *done* behind it."""
    heads, done = fact_words.every("heads"), fact_words.every("done")
    while words and (_ORDINAL.fullmatch(words[0]) or words[0].casefold() in heads):
        words = words[1:]
    if words and words[0].casefold() in done:
        return []  # what was done to something
    tails = fact_words.every("tails") | done
    words = words[: next((at for at, word in enumerate(words) if word.casefold() in done), len(words))]
    while words and (words[-1].casefold() in tails or (len(words) > 1 and is_label(words[-1]))):
        words = words[:-1]
    if words and UNCASED_LETTER.search(words[-1][-1:]):
        end = next((end for end in _joined("tails", "done") if words[-1].endswith(end)), "")
        words = (
            [*words[:-1], words[-1].removesuffix(end).rstrip("をの")] if len(words[-1]) > len(end) + 1 else words[:-1]
        )
    return words


@cache
def _joined(*lists: str) -> tuple[str, ...]:
    """The words of lists that stand beside others without a space, the longest first."""
    words = frozenset[str]().union(*map(fact_words.every, lists))
    return tuple(sorted(filter(UNCASED_LETTER.match, words), key=lambda word: (-len(word), word)))


def is_work(heading: str, name: str | None = None) -> bool:
    """Whether a heading is about a piece of work, a report or a moment: its state does not last.

    The time of a day says so, and a noun for work that leads the part with the ``name``, or one before that: it stands
    last in some languages and first in others (*Pump Repair*, *Reparación de la bomba*).
    """
    if CLOCK.search(ASIDE.sub(" ", heading)) is not None:
        return True
    for part in parts_of(heading):
        if _is_led_by_work(part.casefold()):
            return True
        if name is not None and name.split()[-1] in part:
            break
    return False


def _is_led_by_work(text: str) -> bool:
    last, first = fact_words.every("work"), fact_words.every("opens")
    words = text.replace("-", " ").split()
    while len(words) > 1 and words[-1].lstrip("#").isdigit():
        words.pop()
    leading = next((at for at, word in enumerate(words) if at and is_function_word(word)), len(words)) - 1
    if not last.isdisjoint((words[-1], words[leading])) or text.endswith(_joined("work")):
        return True
    return words[0] in first and (words[0] not in last or leading == 0)


@lru_cache(maxsize=1 << 13)
def is_common(text: str) -> bool:
    """Whether ``text`` has nothing but labels, relations and words of everyday language, which name no single thing."""
    if is_label(text) or is_relation(text) or not any(map(str.isalnum, text)) or unspaced.is_everyday(text):
        return True
    # A few capitals may be an abbreviation, and so a name.
    if text.isalpha() and any(map(str.isupper, text[1:])) and not (text.isupper() and len(text) > 5):
        return False
    words = text.casefold().replace("-", " ").split()
    if len(words) == 1 and text.isalpha() and any(is_kind(words[0], language) for language in kinds_known()):
        return True
    return all(map(_is_everyday, words))


def _is_everyday(word: str) -> bool:
    lists = ("topics", "heads", "done", "tails", "states")
    return (word in NAMELESS - ORDINARY) or is_label(word) or any(word in fact_words.every(name) for name in lists)


def _is_written_as_name(text: str, words: Sequence[str]) -> bool:
    """Whether ``text`` is written as a name rather than as a remark.

    In letters that have capitals a later word with one, a digit or a script of its own tells, or that it is one word;
    in others something in Latin letters or katakana does.
    """
    if len(words) > _MOST_WORDS or len(text) > _MOST_CHARS or not text[0].isalnum() or text.isdigit():
        return False
    if words[0].casefold() in fact_words.every("nobody") | fact_words.every("not") or is_function_word(words[-1]):
        return False
    if " + " in text or (len(words) == 1 and is_opaque(text)):
        return False
    if UNCASED_LETTER.search(text):
        return re.search(r"[A-Za-z]{2}|[\u30a1-\u30fa]{3}", text) is not None or text.endswith(_joined("titles"))
    if len(words) == 1:
        return True
    return any(any(map(str.isdigit, word)) or word[0].isupper() for word in words[1:]) and not (
        text.isupper() and len(words) > 2 and not any(map(str.isdigit, text))
    )


@lru_cache(maxsize=1 << 13)
def is_function_word(word: str) -> bool:
    """Whether ``word`` is a stop word of a language that it may be in: no name ends with one."""
    return word.isalpha() and any(is_stop_word(word, language) for language in stop_words())
