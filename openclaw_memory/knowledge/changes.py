"""Changes of a value that one line states: an old and a new value of the same form, with an arrow or words between.

``Trial: 14 days → 3 days``, ``Upgraded the controller from 4.1.8 to 4.1.12``, ``从 1.2.0 升级到 1.3.0``.  An arrow
also joins steps and places, so both sides must have one form: amounts of one unit, versions, or identifiers of which
the line says that they changed.  The words are the lists ``changed`` and ``spans`` of ``fact_words.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

from .. import patterns as re
from ..text import calendar_words
from ..text.dates import find_dates, merely_states
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER
from .fact_sentences import tidy
from .headings import ASIDE, is_function_word
from .lexicon import fact_list, fact_words
from .predicates import kind_of_key

#: Between the old and the new value of a fact of the rule ``change``.
ARROW = " → "

_ARROW = re.compile(r"\s*(?:→|⇒|➜|➔|⟶|[-=]{1,2}>)\s*")
_CURRENCY = "$€£¥₽₩₹₫₺元円원"
_AMOUNT = (
    rf"[~≈<>±+−-]?\s?(?:[{_CURRENCY}]\s?)?\d[\d.,'’]*(?<![.,'’])(?:\s?[-–]\s?[{_CURRENCY}]?\d[\d.,]*(?<![.,]))?"
    rf"(?:\s?(?:[%‰°{_CURRENCY}][^\W\d_]?|[^\W\d_\u2e80-\ufaff]{{1,12}}(?![^\W\d_\u2e80-\ufaff])"
    r"(?:/[^\W\d_\u2e80-\ufaff]{1,10})?|[\u30a1-\u30fc]{1,5}|[\u4e00-\u9fff\uac00-\ud7af]{1,2}))?"
)
_SIZE = r"\d+\s?[x×]\s?\d+"
_CODE = r"`[^`\n]{1,60}`|[\"“„«「][^\"“”„«»「」\n]{1,40}[\"”“»」]"
_VERSION = r"v?\d+(?:\.\d+){2,4}[\w.+-]*(?<!\.)|v\d+(?:\.\d+)*"
_IDENTIFIER = r"[A-Za-zА-Яа-я][\w.:/@+-]*\d[\w.:/@+-]*(?<![.:/-])|[A-Z][\w-]*\s\d+(?:\.\d+)+"
_VALUE = rf"(?:{_CODE}|{_SIZE}|{_VERSION}|{_IDENTIFIER}|{_AMOUNT})"
#: A name: words with capitals, or an address.
_NAME = r"[A-ZÀ-ÞА-ЯЁ][\w.-]*\w(?:\s[A-ZÀ-ÞА-ЯЁ0-9][\w.-]*\w){0,2}|[\w-]+(?:[./][\w-]+)+"
_PLAIN = r"[\w-]+(?:[./][\w-]+)*"
_FIRST = re.compile(rf"{_VALUE}(?=[\s),.;:!?，。；）(（+'’]|[^\W\da-zA-Z]|\Z)")
_LAST = re.compile(rf"(?<![a-zA-ZÀ-ʯ\u0400-\u04ff\d_.:/@-])({_VALUE})\Z")
_FIRST_WORD = re.compile(rf"(?:{_PLAIN})(?=\s*(?:[),.;:!?）(（—–]|\Z))")
_LAST_WORD = re.compile(rf"(?<![\w.:/@-])({_PLAIN})\Z")
_FIRST_NAME = re.compile(rf"(?:{_NAME})(?=[\s),.;:!?）(（]|\Z)")
_LAST_NAME = re.compile(rf"(?<![\w.:/@-])((?:{_NAME}))\Z")
#: A new value, and behind it in brackets the old one: *$5 (raised from $3)*.
_ASIDE_BEFORE = re.compile(
    rf"(?<![\w.:/@-])(?P<after>{_VALUE})(?:\s[^\W\d_]+){{0,2}}\s?[(（](?P<words>[^()（）]{{0,30}}?)(?P<before>{_VALUE})(?=[)）,;\s])"
)
_MARKUP = re.compile(r"\*\*|__|~~")
_BYTES = re.compile(r"[kKMGT]?i?B|[Bb]ytes")
_MAGNITUDES = frozenset("kKMBGT")
#: Between the parts of the words before a value.
_BORDER = re.compile(r"\s[—–|-]\s|[:：;]\s|[.。]\s|[✅✓☑]")
_YEAR = re.compile(r"(?<![\w./-])(?:19|20)\d\d(?![\w/-]|\.\d)")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d[\d.,'’]*")
#: A line with more characters, or more words before its values, is prose and tells of other people's numbers.
_LONGEST, _MOST_WORDS = 220, 6


class ValueChange(NamedTuple):
    """A value ``before`` and the one ``after`` it, with the words ``label`` that stand before both."""

    label: str
    before: str
    after: str


def change_in(line: str, heading: str = "") -> ValueChange | None:
    """Return the change that ``line`` states below ``heading``; ``None`` where it states none for certain."""
    if len(line) > _LONGEST or line.rstrip().endswith(("?", "？")):
        return None
    if _ARROW.search(line) is None and not _says_changed(line) and not _says_formerly(line):
        return None
    line = _MARKUP.sub("", line)
    return next(filter(None, (_checked(change, line, heading, form) for change, form in _candidates(line))), None)


def version_in(line: str) -> tuple[str, str] | None:
    """Return the label and the new version of a line that names no old one: *Updated the controller to v4.2.0*."""
    if len(line) > _LONGEST or not _says_changed(line):
        return None
    line = _MARKUP.sub("", line)
    match = _reached().search(line)
    if match is None or not _says_changed(line[: match.start()]) or _is_hedged(line[: match.start()]):
        return None
    label = without_change(line[: match.start()])
    return (label, match["after"]) if len(label.split()) < _MOST_WORDS and not _NUMBER.search(label) else None


def _candidates(line: str) -> Iterator[tuple[ValueChange, str]]:
    """Yield what may be a change, with its form: ``arrow``, ``span`` of values or ``names``, or ``aside``."""
    parts = _ARROW.split(line)
    if len(parts) > 2:
        return
    if len(parts) == 2:
        for form, last, first in (("arrow", _LAST, _FIRST), ("named arrow", _LAST_NAME, _FIRST_NAME)):
            before, after = last.search(parts[0]), first.match(parts[1])
            if before and after and (form == "arrow" or _ends_changed(parts[0][: before.start()])):
                yield ValueChange(parts[0][: before.start()], before[1], after[0]), form
        return
    for change in _framed(line, _LAST, _FIRST):
        yield ValueChange(change.label, _without_verb(change.before), change.after), "span"
    for change in _framed(line, _LAST_NAME, _FIRST_NAME):
        yield change, "names"
    for change in _framed(line, _LAST_WORD, _FIRST_WORD):
        if _ends_changed(change.label):
            yield change, "names"
    for match in _ASIDE_BEFORE.finditer(line):
        words = match["words"].casefold().split()
        if words and (words[-1] in _openers() or words[-1] in fact_list("formerly")):
            yield ValueChange(line[: match.start()], match["before"], match["after"]), "aside"


def _checked(change: ValueChange, line: str, heading: str, form: str) -> ValueChange | None:
    """Return ``change`` with its label, if both values have one form and the line says that they are of one thing."""
    named = "name" in form
    first, last = (shape_of(value) or (("name", "") if named else None) for value in (change.before, change.after))
    if first is None or last is None or not _is_alike(first, last) or fold(change.before) == fold(change.after):
        return None
    if first[0] != last[0]:
        # "Claude Code 2.1.38 → 2.1.39": the name is not part of the version.
        parts = re.fullmatch(r"(.+)\s(\S*\d\S*)", change.before)
        if parts is None:
            return None
        change = ValueChange(f"{change.label}{parts[1]}", parts[2], change.after)
    behind = line.partition(change.before)[2]
    if re.search(r"\s=\s|[<>{}]", behind) or _YEAR.search(behind):
        return None  # a computation, code, a forecast
    label = without_change(change.label)
    if change.label.strip(" *_`~-") and not label and not _says_changed(change.label):
        return None
    if len(label.split()) > _MOST_WORDS or len(_NUMBER.findall(label)) > 1 or "%" in label or label.endswith("@"):
        return None
    percent, spoken = "%" in first + last, _says_changed(change.label)
    if percent and form != "aside" and not (line.lstrip(" -*").startswith(label) or spoken):
        return None
    if form == "span" and first[1] and not last[1]:
        return None
    # An arrow between amounts of one unit, or behind a key, needs no word; names need one before them.
    keyed = bool({first[1], last[1]} - {"", "x"}) or change.label.rstrip(" *`").endswith((":", "："))
    clear = (first[0] == "amount" and keyed and not percent) or kind_of_key(label)
    said = spoken if named else _says_changed(line) or (form == "arrow" and _says_changed(heading))
    if form == "aside":
        said = said or _says_formerly(line)
    if not ((form == "arrow" and clear) or said) or _is_hedged(change.label):
        return None
    return ValueChange(label, tidy(change.before), tidy(change.after))


def _ends_changed(text: str) -> bool:
    """Return true if the last word of ``text`` says that something changed."""
    return _says_changed(text.strip(" \t*_`\"'()（）[],;:.–—-").rpartition(" ")[2])


def fold(text: str) -> str:
    """Return ``text`` in small letters without markup, for comparison."""
    return tidy(text).casefold()


def shape_of(value: str) -> tuple[str, str] | None:
    """Return the form of a value (``amount`` with its unit, ``version``, ``name``), or ``None``: a time has none."""
    text = tidy(value)
    if not text or "://" in text or _CLOCK.search(text) or find_dates(calendar_words.plain(text)):
        return None
    if re.fullmatch(_VERSION, text):
        return "version", ""
    if re.fullmatch(_SIZE, text):
        return "amount", "x"
    if re.fullmatch(_AMOUNT, text):
        bare = _NUMBER.sub(" ", text)
        unit = next((sign for sign in bare if sign in _CURRENCY), "") or re.sub(r"[\W_]+", "", bare, flags=re.UNICODE)
        unit = "byte" if _BYTES.fullmatch(unit) else "" if unit in _MAGNITUDES else unit.casefold()
        return "amount", "%" if "%" in bare else unit
    if text != value.strip() and len(text.split()) < 4:
        return "name", ""
    return ("name", "") if re.fullmatch(_IDENTIFIER, text) else None


def is_price(text: str) -> bool:
    """Return true if a text is an amount with a unit, perhaps with a remark in brackets."""
    form, unit = shape_of(ASIDE.sub(" ", text)) or ("", "")
    return form == "amount" and unit not in ("", "%", "x", "byte")


def leading_shape(text: str) -> tuple[str, str] | None:
    """Return the form of the value with which ``text`` begins."""
    first = _FIRST.match(re.sub(r"\*\*|__", "", text).strip())
    return None if first is None or _CLOCK.search(text) else shape_of(first[0])


def day_since(value: str) -> date | None:
    """Return the day from which a value holds by its own words: *4.1.12 (since 2026-03-24)*."""
    text = calendar_words.plain(value)
    for mention in find_dates(text):
        days = mention.days() if mention.day is not None and mention.year is not None else None
        if days is None:
            continue
        before, behind = text[: mention.start].rstrip(" ,:"), text[mention.end :].lstrip(" ,:")
        aside = re.search(r"[(（\[]([^()（）\[\]]*)\Z", before)
        alone = (
            aside is not None
            and behind[:1] in ")）]"
            and merely_states(aside[1] + text[mention.start : mention.end], days[0])
        )
        if alone or before.endswith(_since("")) or behind.startswith(_since("-after")):
            return days[0]
    return None


@cache
def _since(where: str) -> tuple[str, ...]:
    phrases = calendar_words.spellings_for(f"since{where}", calendar_words.known_languages())
    return tuple(f" {phrase}" if not where and not JOINED_LETTER.match(phrase) else phrase for phrase in phrases) + (
        tuple(f"({phrase}" for phrase in phrases) if not where else ()
    )


def _is_alike(first: tuple[str, str], last: tuple[str, str]) -> bool:
    """Return true if two values have one form; an amount may leave out its unit once."""
    if first[0] != last[0]:
        return (first[0], last[0]) == ("name", "version")
    return first[1] == last[1] or not (first[1] and last[1]) or first[1][0] == last[1][0] > "\u2e80"


@lru_cache(maxsize=64)
def _says_changed(text: str) -> bool:
    """Return true if a text has a word that says that something changed."""
    return _has_any("changed", text)


def _says_formerly(text: str) -> bool:
    """Return true if a text has a remark in brackets with a word for what was before."""
    return any(sign in text for sign in "(（") and _has_any("formerly", text)


def _has_any(name: str, text: str) -> bool:
    """Return true if a text has a word of a list; in scripts without spaces, and of phrases, anywhere."""
    low, (words, parts) = text.casefold(), _words_of(name)
    if not words.isdisjoint(_WORD.findall(low)):
        return True
    return not low.isascii() and parts.search(low) is not None


@cache
def _words_of(name: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the single words of a list, and a pattern for the others."""
    words = fact_list(name)
    single = frozenset(word for word in words if _WORD.fullmatch(word) and not JOINED_LETTER.match(word))
    return single, re.compile("|".join(map(re.escape, sorted(words - single))))


def _without_verb(value: str) -> str:
    """Return ``value`` without the verb behind it, in scripts without spaces: 12涨."""
    verb = next((verb for verb in fact_list("changed") if JOINED_LETTER.match(verb) and value.endswith(verb)), "")
    return value.removesuffix(verb).strip()


def _is_hedged(label: str) -> bool:
    """Return true if the words before the values deny, or only think of the change."""
    words = set(re.findall(r"[^\W_]+", label.casefold()))
    return bool(negations(label)) or not words.isdisjoint(fact_list("not") - fact_list("nobody"))


def without_change(text: str) -> str:
    """Return the words before a value without those that say that it changed, and without signs at their ends.

    Of several parts the last one that names something counts: *Now — sites watchdog bumped from*.
    """
    changed, openers, parts = fact_list("changed") | fact_list("done"), _openers(), [[""]]
    for word in _BORDER.sub(" \0 ", re.sub(r"[(（\[][^()（）\[\]]*\Z", " ", text)).split():
        if word == "\0" or word.casefold().strip(":,*`") in changed:
            parts.append([])
        else:
            parts[-1].append(word)
    for words in reversed(parts):
        while words and words[0].casefold() in openers:
            words.pop(0)
        while words and words[-1].casefold() in openers:
            words.pop()
        while words is not parts[-1] and words and is_function_word(words[-1].casefold()):
            words.pop()  # "le prix est passé"
        label = tidy(" ".join(words)).lstrip("#-*~ ")
        if words and is_function_word(words[-1].casefold()) and not JOINED_LETTER.match(words[-1]):
            continue
        if any(len(word) > 1 and not is_function_word(word.casefold()) for word in _WORD.findall(label)):
            return re.sub(r"(?<=\w)\s?[をがはのも]\Z", "", label)
    return ""


@cache
def _openers() -> frozenset[str]:
    """Return the words before the values in *from … to …*."""
    spans = (span for words in fact_words().values() for span in words.lists.get("spans", ()))
    return frozenset(part.strip() for span in spans for part in span.split("{}")[:2]) - {""}


class _Frame(NamedTuple):
    """Words around two values: one before the old one, some between both, and perhaps an ending behind the new one."""

    opener: str
    between: re.Pattern[str]
    ending: re.Pattern[str]
    #: Most characters that may stand between the old value and the words between.
    gap: int
    joined: bool


def _framed(line: str, last: re.Pattern[str], first: re.Pattern[str]) -> Iterator[ValueChange]:
    """Yield the values in frames such as *from … to …*, found by ``last`` at the end of a text and ``first`` in it."""
    for frame in _frames():
        if frame.joined and last is not _LAST:
            continue  # without spaces between words nothing shows where a name ends
        for match in frame.between.finditer(line):
            left, right = line[: match.start()].rstrip(), line[match.end() :].lstrip()
            new = first.match(right)
            ending = None if new is None else frame.ending.match(right, new.end()) or frame.ending.search(new[0])
            if new is None or ending is None:
                continue
            for gap in range(frame.gap + 1):
                text = left[: len(left) - gap].rstrip()
                old = last.search(text)
                label = None if old is None else _before_opener(text[: old.start()], frame, last is _LAST)
                if old is not None and label is not None:
                    yield ValueChange(label, old[1], right[: min(new.end(), ending.start() or new.end())])
                    break


def _before_opener(text: str, frame: _Frame, aside: bool) -> str | None:
    """Return the text before the word that opens a frame; ``None`` without it.

    With ``aside`` a word may stand behind it: *from version 2.1 to 2.3*.
    """
    text = text.rstrip()
    for part in (text, text.rpartition(" ")[0].rstrip()):
        if part.casefold().endswith(frame.opener):
            label = part[: len(part) - len(frame.opener)]
            if frame.joined or not frame.opener or not label[-1:].isalnum():
                return label
        if not aside or not frame.opener or frame.joined:
            break
    return None


@cache
def _frames() -> tuple[_Frame, ...]:
    """Return the frames of ``spans`` in all languages; ``_`` stands for a few characters, (a|b) for either."""
    out = []
    for words in fact_words().values():
        for span in words.lists.get("spans", ()):
            joined = JOINED_LETTER.search(span) is not None
            opener, between, ending = (part.strip() for part in span.split("{}"))
            pattern = re.sub(r"\\([()|])", r"\1", re.escape(between.strip("_")))
            border = "" if joined or pattern[0] == "'" else r"(?<!\S)"
            pattern = border + pattern + ("" if joined else r"(?!\S)")
            end = re.sub(r"\\([()|])", r"\1", re.escape(ending)) if ending else ""
            out.append(
                _Frame(opener, re.compile(pattern, re.IGNORECASE), re.compile(end), 4 * between.startswith("_"), joined)
            )
    return tuple(out)


@cache
def _reached() -> re.Pattern[str]:
    """Return a pattern for *to* and a version, in all languages."""
    spans = (span for words in fact_words().values() for span in words.lists.get("spans", ()))
    middles = {re.sub(r"[_()|']", "", span.split("{}")[1]).strip() for span in spans if "(" not in span} - {""}
    spaced = "|".join(re.escape(middle) for middle in middles if not JOINED_LETTER.search(middle))
    joined = "|".join(re.escape(middle) for middle in middles if JOINED_LETTER.search(middle))
    return re.compile(rf"(?:(?<!\w)(?:{spaced})\s+|(?:{joined})\s*)(?P<after>{_VERSION})(?=[\s),.;:!?，。；）(（]|\Z)")
