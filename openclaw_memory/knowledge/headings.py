"""The names in headings, labels and first cells, and the subject that the headings above a line give it.

Where the subject is not certain there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from .. import patterns as re
from ..records import NamedTuple
from ..text.dates import date_in_heading
from ..text.labels import is_label, names_subject
from ..text.language import is_function_word
from ..text.scripts import UNCASED_LETTER
from . import unspaced
from .fact_sentences import is_name, plain, tidy
from .identifiers import is_opaque
from .lexicon import NAMELESS, ORDINARY, fact_list, generic_noun_languages, is_generic_noun
from .predicates import is_relation, normalise

_DATE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d{4}-[WQ]\d{1,2}(?!\w)|"
    r"(?:\d{4}\s?[年년]\s?)?(?<!\d)\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]|"
    r"(?<![\w.])\d{1,2}\.\d{1,2}\.(?:\d{4})?(?:\s?[–—-]\s?\d{1,2}\.\d{1,2}\.(?:\d{4})?)?(?!\w)|"
    r"(?<!\d)\d{4}[-/.年]\d\d?(?!\d)(?:[-/.月]\d\d?日?)?|~?\d{1,2}:(?:\d\d|XX)(?::\d\d)?(?:\s?[ap]m)?(?:\s[A-Z]{2,4}\b)?",
    re.IGNORECASE,
)
#: The time of a day: the lines below it tell what happened then.
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:(?:\d\d|XX)(?!\d)")
ASIDE = re.compile(r"[(（\[【<][^()（）\[\]【】<>]*[)）\]】>]")
SIGNS = re.compile(r"[^\w\s'’&.+#@/-]+")
#: A sign of its own, or a picture, parts a name from a remark.
_PARTS = re.compile(
    r"(?<!\s)\s+(?:[–—|/]+\s*|-\s+)|[:：]\s*|——"
    r"|(?:(?<!\s)\s+)?[\u2600-\u27bf\u2b50-\u2b59\U0001f000-\U0001faff]\ufe0f?\s*"
)
#: A kind of thing and the name of this one: Laptop "study".
_QUOTED = re.compile(r"[^\W\d_]+ [\"“„「]([^\"“”„「」]{1,40})[\"”“」]\Z")
#: A kind of thing and its number, or a number alone: "Bug 2", "P2", "3.1".
_NUMBERED = re.compile(r"[^\W\d_]+\s#?\d{1,3}|[A-Z]\d|\d+/\d+", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?|\d{1,3}\.?|[A-Z]\.")
#: The name of the file before its title: "USER.md - About Mira".
_FILE_NAME = re.compile(r"(?<!\S)\S+\.md\s*[-–—:：|]?\s*", re.IGNORECASE)
#: Marks of possession behind a name, and the signs that may be left between it and a noun.
_POSSESSIVES = ("'s", "的", "の", "의", "'nın", "'nin", "'un", "'in")
_JOINTS = frozenset((*_POSSESSIVES, "'", "-"))
_RELATIVES = frozenset(("children", "siblings", "parents", "partner", "married to"))


# -- names ----------------------------------------------------------------------------------------


def name_in(heading: str) -> str | None:
    """Return the name in ``heading`` without days, signs and labels; ``None`` where there is none, or a remark."""
    if heading.rstrip().endswith(("!", "?", "！", "？", "…")) or any(sign in heading for sign in ("→", "->", "://")):
        return None
    if (quoted := _QUOTED.match(heading)) is not None:
        return str(quoted[1])
    for part in _parts(heading):
        words = _without_ends(part.split())
        text = " ".join(words).replace("’", "'")
        text = text if words == part.split() else text.removesuffix("'s")  # "Mira's preferences"
        if _NUMBERED.fullmatch(part) or is_common(text) or (text.islower() and words != part.split()):
            continue
        return text if names_subject(text) and _is_written_as_name(text, words) else None
    return None


def dateless(heading: str) -> str:
    """Return ``heading`` with blanks in the place of days and times."""
    return _DATE.sub(" ", heading)


def _parts(heading: str) -> list[str]:
    """Return the parts of a heading between signs, without days and remarks in brackets."""
    bare = _DATE.sub(" ", ASIDE.sub(" ", heading)).partition(" | ")[0]
    parts = (tidy(SIGNS.sub(" ", plain(part))).strip(" -.#/") for part in _PARTS.split(bare))
    return [part for part in parts if part]


def _without_ends(words: list[str]) -> list[str]:
    """Return a name without numbers and words such as *Project* before it, and *setup* or *done* behind it."""
    heads, done = fact_list("heads"), fact_list("done")
    while words and (_ORDINAL.fullmatch(words[0]) or words[0].casefold() in heads):
        words = words[1:]
    tails = fact_list("tails") | done
    words = words[: next((at for at, word in enumerate(words) if word.casefold() in done), len(words))]
    while words and (words[-1].casefold() in tails or (len(words) > 1 and is_label(words[-1]))):
        words = words[:-1]
    if words and UNCASED_LETTER.search(words[-1][-1:]):
        end = next((end for end in _joined_words("tails", "done") if words[-1].endswith(end)), "")
        words = [*words[:-1], words[-1].removesuffix(end).rstrip("をの")]
    return words


@cache
def _joined_words(*lists: str) -> tuple[str, ...]:
    """Return the words of lists in scripts without spaces, the longest first."""
    words = frozenset[str]().union(*map(fact_list, lists))
    return tuple(sorted(filter(UNCASED_LETTER.match, words), key=lambda word: (-len(word), word)))


def is_work(heading: str, name: str | None = None) -> bool:
    """Return true if a heading is about a piece of work, a report or a moment, whose state does not last.

    The time of a day shows it, and so does a noun for work in the part with the ``name`` or before it: the noun stands
    last in some languages and first in others (*Pump Repair*, *Reparación de la bomba*).
    """
    if _CLOCK.search(ASIDE.sub(" ", heading)) is not None:
        return True
    for part in _parts(heading):
        if _is_led_by_work(part.casefold()):
            return True
        if name is not None and name.split()[-1] in part:
            break
    return False


def _is_led_by_work(text: str) -> bool:
    last, first = fact_list("work"), fact_list("opens")
    words = text.replace("-", " ").split()
    while len(words) > 1 and words[-1].lstrip("#").isdigit():
        words.pop()
    leading = next((at for at, word in enumerate(words) if at and is_function_word(word)), len(words)) - 1
    if not last.isdisjoint((words[-1], words[leading])) or text.endswith(_joined_words("work")):
        return True
    return words[0] in first and words[0] not in last


@lru_cache(maxsize=1 << 13)
def is_common(text: str) -> bool:
    """Return true if ``text`` consists of labels, relations and everyday words, which name no single thing."""
    if is_label(text) or is_relation(text) or not any(map(str.isalnum, text)) or unspaced.is_everyday(text):
        return True
    words = text.casefold().replace("-", " ").split()
    if all(word in _everyday_words() or is_label(word) for word in words):
        return True
    return text.isalpha() and any(is_generic_noun(words[0], language) for language in generic_noun_languages())


@cache
def _everyday_words() -> frozenset[str]:
    return (NAMELESS - ORDINARY).union(*map(fact_list, ("topics", "heads", "done", "tails", "states")))


def _is_written_as_name(text: str, words: Sequence[str]) -> bool:
    """Return true if ``text`` is written as a name rather than as a remark.

    In scripts with capitals it is one word, or a later word has a capital, a digit or another script; in other scripts
    it has Latin letters or katakana.
    """
    if len(words) > 5 or words[0].casefold() in fact_list("nobody") | fact_list("not"):
        return False
    if " + " in text or (len(words) == 1 and is_opaque(text)):
        return False
    if UNCASED_LETTER.search(text):
        return re.search(r"[A-Za-z]{2}|[\u30a1-\u30fa]{3}", text) is not None or text.endswith(_joined_words("titles"))
    if len(words) == 1:
        return True
    # A line in capitals is emphasis, unless it has a number.
    emphasis = text.isupper() and len(words) > 2 and not any(map(str.isdigit, text))
    return not emphasis and any(any(map(str.isdigit, word)) or word[:1].isupper() for word in words[1:])


@lru_cache(maxsize=1 << 13)
# -- paths of headings ----------------------------------------------------------------------------


class Topic(NamedTuple):
    """The subject of the lines below a path of headings, and the relation that these lines state."""

    name: str | None = None
    #: The nearest name of a person at or above ``name``.
    person: str | None = None
    #: True below a heading such as *People*, whose items are entries.
    collection: bool = False
    #: The relation of each item: likes, dislikes or prefers.
    relation: str | None = None
    #: The subject of the whole file, or the owner of the notes where a heading names the owner.
    owner: str | None = None


@lru_cache(maxsize=4096)
def topic_of(path: str, owner: str | None = None) -> Topic:
    """Return the topic of a path of headings, joined by `` > ``; ``owner`` is the subject of the whole file."""
    relation = None
    collection = False
    headings = path.split(" > ")
    for depth in range(len(headings) - 1, -1, -1):
        heading = headings[depth] if depth or owner is None else _FILE_NAME.sub("", headings[depth])
        text = tidy(SIGNS.sub(" ", _DATE.sub(" ", ASIDE.sub(" ", heading)))).strip(" -.#")
        if not text or (depth == 0 and ".md" in heading.casefold()):
            continue
        liking, person = _liking(text)
        if liking is not None:
            relation = relation or liking
            if person:
                return Topic(person, person, collection, relation)
            continue
        if _is_about_owner(text, owner is not None):
            return Topic(owner or "user", owner or "user", collection, relation, owner or "user")
        if normalise(text) in _RELATIVES:
            return Topic()  # some relative, without a name
        if _is_collection(text):
            collection = collection or depth == len(headings) - 1
            continue
        # The title of a file with a day behind its words names that day's edition of something.
        dated = depth == 0 and date_in_heading(heading) is not None and not _DATE.match(heading)
        within = depth > 0 and _is_collection(headings[depth - 1])
        name = text if within and is_relation(text) else None if dated else name_in(heading)
        if name is not None and owner is not None and name in owner.split():
            name = owner
        if name is not None and is_work(heading, name):
            return Topic()
        if name is not None:
            above = filter(None, map(name_in, reversed(headings[:depth])))
            person = name if within else next((each for each in (name, *above) if is_full_name(each)), None)
            # An owner without a name takes nothing from a heading with one.
            return Topic(name, person or (name if owner == "user" else owner), collection, relation, owner)
        if names_subject(text) and not is_common(text) and not dated:
            return Topic()  # the heading is more than a name, and so its subject unknown
    return Topic(owner, owner, collection, relation, owner)


def _is_collection(heading: str) -> bool:
    """Return true if a heading has a word for several people or things: *Active projects*, *技术项目*."""
    text = " ".join(SIGNS.sub(" ", ASIDE.sub(" ", _DATE.sub(" ", heading))).casefold().split())
    kinds = fact_list("people") | fact_list("things")
    if UNCASED_LETTER.search(text):
        return text.endswith(tuple(filter(UNCASED_LETTER.match, kinds))) and not re.search("[a-z]", text)
    return not kinds.isdisjoint((text, *text.split()))


def is_full_name(name: str) -> bool:
    """Return true if a name is written as a person's full one: two to four words with capitals, none common."""
    words = [word for word in name.split() if not word.islower()]
    return 2 <= len(words) <= 4 and not any(map(str.isdigit, name)) and not any(map(is_common, words))


def _is_about_owner(heading: str, in_owners_file: bool) -> bool:
    """Return true if a heading only says that its lines are about the owner of the notes: *User profile*."""
    lists = ("owner", "about", "self") if in_owners_file else ("owner",)
    rest = _without(heading, *lists)
    return rest != _without(heading) and _without(rest, "tails") == ""


def _liking(heading: str) -> tuple[str | None, str | None]:
    """Return the relation of items below a heading such as *Wren's preferences*, and the person if it names one."""
    for relation in ("dislikes", "likes", "prefers"):  # 不喜欢 contains 喜欢
        rest = _without(heading, relation)
        if rest == _without(heading):
            continue
        if not rest:
            return relation, None
        if _without(rest, "owner") == "":
            return relation, "user"
        low = heading.casefold().replace("’", "'")
        possessive = tuple(rest.casefold() + mark for mark in _POSSESSIVES)
        if (
            is_name(rest)
            and not is_common(rest)
            and (low.endswith(f" {rest.casefold()}") or low.startswith(possessive))
        ):
            return relation, rest
        if relation != "prefers":
            return relation, None  # "Food preferences" does not name the person, and "Favourite food" needs none
    return None, None


@lru_cache(maxsize=4096)
def _without(text: str, *lists: str) -> str:
    """Return ``text`` without the words of lists, and without function words at its ends."""
    for name in lists:
        text = _any_of(name).sub(" ", text.replace("’", "'"))
    words = text.split()
    while words and (is_function_word(words[0]) or words[0] in _JOINTS):
        words.pop(0)
    while words and (is_function_word(words[-1]) or words[-1] in _JOINTS):
        words.pop()
    return re.sub("(?:'s|的|の|의)$", "", " ".join(words))


@cache
def _any_of(name: str) -> re.Pattern[str]:
    words = sorted(map(str.casefold, fact_list(name)), key=lambda word: (-len(word), word))
    apart = "|".join(re.escape(word) for word in words if not UNCASED_LETTER.match(word))
    joined = "|".join(re.escape(word) for word in words if UNCASED_LETTER.match(word)) or "(?!)"
    return re.compile(rf"(?<![^\W\d_])(?:{apart})(?![^\W\d_])|{joined}", re.IGNORECASE)


def is_template(path: str) -> bool:
    """Return true if one of the headings says that the lines below it are a form or an example."""
    return any(
        _without(text, "template") == "" or _any_of("template").search(text.split(" ")[-1])
        for text in (SIGNS.sub(" ", ASIDE.sub(" ", heading)).strip() for heading in path.split(" > "))
        if text
    )


def person_in_title(heading: str) -> str | None:
    """Return the person in a heading of a person's file: *About Mark*, *Who Ada Lovelace is*."""
    title = _FILE_NAME.sub("", heading.strip())
    text = _without(title, "about")
    if title == heading.strip() and text == _without(title):
        return None
    return text if is_name(text) and not is_common(text) else None


def named_above(path: str, subject: str) -> str | None:
    """Return the nearest name in the headings above ``subject``: *Heron* of *Heron > Services*."""
    headings = path.split(" > ")
    low = subject.casefold()
    whole = re.compile(re.escape(low) if UNCASED_LETTER.search(low) else rf"(?<!\w){re.escape(low)}(?!\w)")
    at = next((at for at in range(len(headings) - 1, 0, -1) if whole.search(headings[at].casefold())), len(headings))
    for heading in reversed(headings[:at]):
        name = name_in(heading) if ".md" not in heading.casefold() else None
        if name and not is_work(heading, name) and date_in_heading(name) is None and low not in name.casefold():
            return name
    return None
