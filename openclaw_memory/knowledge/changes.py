"""Changes of a value that one line states: an old and a new value of the same form, with an arrow or words between.

``Trial: 14 days → 3 days``, ``Upgraded the controller from 4.1.8 to 4.1.12``, ``从 1.2.0 升级到 1.3.0``.  An arrow
also joins steps and places, so both sides must have one form: the same but for their figures, versions, or identifiers
of which the line says that they changed.  The words are the lists ``changed``, ``spans``, ``formerly`` and
``intended`` of ``fact_words.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache, lru_cache

from .. import patterns as re
from ..records import NamedTuple
from ..text import calendar_words
from ..text.dates import find_dates, merely_states, without_dates
from ..text.labels import names_subject
from ..text.language import is_function_word
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER
from .fact_sentences import tidy
from .headings import ASIDE
from .lexicon import fact_list, fact_words
from .predicates import kind_of_key

#: Between the old and the new value of a fact of the rule ``change``.
ARROW = " → "

_ARROW = re.compile(r"\s*(?:→|⇒|➜|➔|⟶|[-=]{1,2}>)\s*")
_CURRENCY = "$€£¥￥₽₩₹₫₺元円원"
#: A letter but for those of U+2E80 to U+FAFF, in a form that compiles in a quarter of the time.
_LETTER = r"(?:(?=[\0-\u2e7f\ufb00-\U0010ffff])[^\W\d_])"
_AMOUNT = (
    rf"[~≈<>±+−-]?\s?(?:[{_CURRENCY}]\s?)?\d[\d.,'’]*(?<![.,'’])(?:\s?[-–]\s?[{_CURRENCY}]?\d[\d.,]*(?<![.,]))?"
    rf"(?:\s?(?:[%‰°{_CURRENCY}][^\W\d_]?|{_LETTER}{{1,12}}(?!{_LETTER})"
    rf"(?:/{_LETTER}{{1,10}})?|[\u30a1-\u30fc]{{1,5}}|[\u4e00-\u9fff\uac00-\ud7af]{{1,2}}))?"
)
_SIZE = r"\d+\s?[x×]\s?\d+"
_CODE = r"`[^`\n]{1,60}`|[\"“„«「][^\"“”„«»「」\n]{1,40}[\"”“»」]"
_VERSION = r"v?\d+(?:\.\d+){2,4}[\w.+-]*(?<!\.)|v\d+(?:\.\d+)*"
_IDENTIFIER = r"[A-Za-zА-Яа-я][\w.:/@+-]*\d[\w.:/@+-]*(?<![.:/-])|[A-Z][\w-]*\s\d+(?:\.\d+)+|#[^\W\d][\w-]*"
_SWITCH = r"[Tt]rue|[Ff]alse|on|off"
_HOST = r"\d+(?:\.\d+){3}(?::\d{2,5})?"
_VALUE = rf"(?:{_CODE}|{_HOST}|{_SIZE}|{_VERSION}|{_IDENTIFIER}|{_AMOUNT}|{_SWITCH})"
#: A name: words with capitals, or an address.
_NAME = r"[A-ZÀ-ÞА-ЯЁ][\w.-]*\w(?:\s[A-ZÀ-ÞА-ЯЁ0-9][\w.-]*\w){0,2}|[\w-]+(?:[./][\w-]+)+"
_PLAIN = r"[\w-]+(?:[./][\w-]+)*"
_FIRST = re.compile(rf"{_VALUE}(?=[\s),.;:!?，、。；）(（+'’]|[^\W\da-zA-Z]|\Z)")
_VALUES = re.compile(rf"(?<![a-zA-ZÀ-ʯ\u0400-\u04ff\d_.:/@-]){_VALUE}(?=[\s),.;:!?，。；）(（+'’|]|[^\W\da-zA-Z]|\Z)")
_LAST = re.compile(rf"(?<![a-zA-ZÀ-ʯ\u0400-\u04ff\d_.:/@-])({_VALUE})\Z")
_FIRST_WORD = re.compile(rf"(?:{_NAME})(?=[\s),.;:!?）(（—–]|\Z)|(?:{_PLAIN})(?=\s*(?:[),.;:!?）(（—–]|\Z))")
_LAST_WORD = re.compile(rf"(?<![\w.:/@-])({_NAME}|{_PLAIN})\Z")
#: A new value, and behind it in brackets the old one: *$5 (raised from $3)*.
_ASIDE_BEFORE = re.compile(
    rf"(?<![\w.:/@-])(?P<after>{_VALUE})(?:\s[^\W\d_]+){{0,2}}\s?[(（](?P<words>[^()（）]{{0,30}}?)(?P<before>{_VALUE})(?=[)）,;\s])"
)
#: A whole side of a frame.
_WHOLE = re.compile(r"\A(\S+(?:\s\S+){0,3})\Z")
_UNTIL = re.compile(r"\S+?(?:\s\S+?){0,4}?(?=\s?[,;!()]|[.:](?:\s|\Z)|\s[—–-]\s|\Z)")
_MARKUP = re.compile(r"\*\*|__|~~")
_BYTES = re.compile(r"[kKMGT]?i?B|[Bb]ytes")
_MAGNITUDES = frozenset("kKMBGT")
#: Between the parts of the words before a value.
_BORDER = re.compile(r"\s[—–|-]\s|[:：;.]\s|[。，！？]\s?|[✅✓☑]")
#: Ends of a value: what stands before it, and what follows it.
_OPENS = re.compile(r".*(?:[:,](?!\d)|[：，、;；(（「|をはが을를은는]|\s[—–=-]\s)")
_CLOSES = re.compile(r"\s*(?:,(?!\d)|[，、;；。!！()（）|✅✓☑❌]|[.:](?:\s|\Z)|：|\s[—–-]\s|\Z)")
_YEAR = re.compile(r"(?<![\w./-])(?:19|20)\d\d(?![\w/-]|\.\d)")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\d[\d.,'’]*")
_FIGURE = re.compile(r"(\d[\d.,:'’]*)")
#: Words with figures in them.
_IDENTIFIED = re.compile(r"(?<!\S)[^\W\d_]\S*")
#: A line with more characters, or more words before its values, is prose and tells of other people's numbers.
_LONGEST, _MOST_WORDS = 220, 6
#: Most words and characters of a value that has no form of its own.
_MOST_VALUE_WORDS, _LONGEST_VALUE = 4, 32
#: Most characters of a name in a script without spaces.
_LONGEST_NAME = 4


#: The form of a value with the unit of an amount, see :func:`shape_of`.
_Form = tuple[str, str]


class ValueChange(NamedTuple):
    """A value ``before`` and the one ``after`` it, with the words ``label`` that stand before both."""

    label: str
    before: str
    after: str

    def day_in(self, line: str) -> date | None:
        """Return the day that a line names beside the values; ``None`` for several days, or *until* one."""
        rest = calendar_words.plain(line.replace(self.before, "_").replace(self.after, "_"))
        dates = [mention for mention in find_dates(rest) if mention.year is not None]
        until = tuple(calendar_words.spellings_for("until", calendar_words.known_languages()))
        days = {days for mention in dates if (days := mention.days())}
        if len(days) != 1 or any(rest[: each.start].rstrip().endswith(until) for each in dates):
            return None
        first, last = days.pop()
        return first if first == last else None


class _Pair(NamedTuple):
    """Two values that may be a change, the text before both, and what joins them.

    ``joint`` is ``arrow``, ``span`` or ``aside``; it is ``told`` if a verb beside the values says that they changed.
    """

    label: str
    before: str
    after: str
    joint: str
    told: bool = False

    def behind(self, line: str) -> str:
        """Return what stands in ``line`` behind both values."""
        return line.removeprefix(self.label).partition(self.before)[2].partition(self.after)[2]


def changes_in(line: str, heading: str = "") -> list[ValueChange]:
    """Return the changes that ``line`` states for certain below ``heading``: one, or one of each part with an arrow."""
    if len(line) > _LONGEST or line.rstrip().endswith(("?", "？")):
        return []
    if _ARROW.search(line) is None and not _says_changed(line) and not _says_formerly(line):
        return []
    line = _MARKUP.sub("", line)
    parts = [line]
    if len(arrows := list(_ARROW.finditer(line))) > 1:
        parts = re.split(r"[,;，；、]\s?(?!\d)", line)
        above = line[: arrows[0].start()]
        if len(parts) < len(arrows) or above.count('"') % 2 or _is_hedged(above):
            return []
    found = []
    for part in parts:
        # Without its remarks in brackets a line may have both values side by side.
        bare = ASIDE.sub("", part) if _ARROW.search(" ".join(ASIDE.findall(part))) is None else part
        tries = (_checked(pair, text, heading) for text in dict.fromkeys((part, bare)) for pair in _pairs(text))
        change = next(filter(None, tries), None)
        if change is not None and (change.label or len(parts) == 1):
            found.append(change)
    return found


def change_between(label: str, before: str, after: str, heading: str = "") -> ValueChange | None:
    """Return the change that columns with an old and a new value state; ``None`` where the cells are no values."""
    before, after = (tidy(ASIDE.sub(" ", cell)) or tidy(cell) for cell in (before, after))
    if not (label and _is_short(before) and _is_short(after)):
        return None
    if fold(before) == fold(after) or _is_hedged(label) or _is_hedged(heading):
        return None
    shapes = shape_of(before), shape_of(after)
    return ValueChange(tidy(label), before, after) if _is_one_kind(*shapes) else None


def has_formerly(column: str) -> bool:
    """Return true if the title of a column names the value before: *Before*, *变更前*."""
    words = re.sub(r"[(（].*", "", column).split()
    return bool(words) and not fact_list("formerly").isdisjoint((words[0], " ".join(words)))


def new_value_in(line: str) -> tuple[str, str] | None:
    """Return the label and the new value of a line that names no old one: *Updated it to v4.2.0*, *Gate → done*."""
    if len(line) > _LONGEST:
        return None
    line = _MARKUP.sub("", line)
    label, *states = _ARROW.split(line)
    if len(states) == 1 and is_state(states[0]):
        value, told = tidy(states[0]), bool(without_change(label)) and not re.search("[:：]", label)
    elif match := _reached.search(line) if _says_changed(line) else None:
        label, value = line[: match.start()], match["after"]
        told = _says_changed(label) and not _NUMBER.search(without_change(label))
    else:
        return None
    name = without_change(label)
    return (name, value) if told and len(name.split()) < _MOST_WORDS and not _is_hedged(label) else None


def _pairs(line: str) -> Iterator[_Pair]:
    """Yield what may be a change: values around an arrow, in a frame of words, and one with the old one in brackets."""
    sides = _ARROW.split(line)
    if len(sides) > 2:
        return
    if len(sides) == 2:
        yield from _around_arrow(*sides)
    yield from _framed(line)
    for match in _ASIDE_BEFORE.finditer(line) if "(" in line or "（" in line else ():
        words = match["words"].casefold().split()
        if words and (words[-1] in _openers() or words[0] in fact_list("formerly")):
            told = _says_changed(match["words"])
            yield _Pair(line[: match.start()], match["before"].strip(), match["after"].strip(), "aside", told)


def _around_arrow(left: str, right: str) -> Iterator[_Pair]:
    """Yield the values on both sides of an arrow: of one form, then each by its own, then whole sides."""
    yield from (_Pair(label, old, new, "arrow") for label, old, new in _twins(left, right))
    before, after = _LAST.search(left), _FIRST.match(right)
    if before and after:
        yield _Pair(left[: before.start()], before[1], after[0], "arrow")
    before, after = _LAST_WORD.search(left), _FIRST_WORD.match(right)
    if before and after:
        label = left[: before.start()]
        word = label.strip().rpartition(" ")[2].casefold()
        if _ends_changed(label) or (word in _openers() and _says_changed(label)):
            yield _Pair(label, before[1], after[0], "arrow", True)
    opening, ending, closing = _OPENS.match(left), _verb_behind.search(right), _CLOSES.search(right)
    if opening and (closing := ending or closing):
        old, new = left[opening.end() :].strip(), right[: closing.start()].strip()
        told = ending is not None and opening[0][-1] in ":：を"
        yield _Pair(left[: opening.end()], old, new, "arrow", told)


def _twins(left: str, right: str) -> Iterator[tuple[str, str, str]]:
    """Yield label, old and new value where ``left`` ends and ``right`` begins with the same text but for figures."""
    end = left[-_LONGEST_VALUE:].rstrip()
    for word in list(re.finditer(r"\S+", end))[-_MOST_VALUE_WORDS:]:
        old = end[word.start() :]
        parts = _FIGURE.split(old)
        if not 2 < len(parts) < 10:
            continue
        form = "".join(re.escape(part) if at % 2 == 0 else r"\d[\d.,:'’]*(?<![.,:'’])" for at, part in enumerate(parts))
        new = re.match(rf"{form}(?![^\W_])" if old[-1].isascii() else form, right, re.IGNORECASE)
        if new is not None:
            yield left[: len(left.rstrip()) - len(old)], old, new[0]


def _checked(pair: _Pair, line: str, heading: str) -> ValueChange | None:
    """Return a pair as a change with its label, if both values have one form and the line says that they changed."""
    key, equals, value = pair.before.partition("=")
    if equals and pair.after.startswith(f"{key}="):
        key_label = f"{pair.label} {key.lstrip('`')}:"
        pair = pair._replace(label=key_label, before=value, after=pair.after[len(key) + 1 :])
    label, before, after = pair.label, pair.before, pair.after
    first, last = shape_of(before), shape_of(after)
    if fold(before) == fold(after) or not _is_short(before) or not _is_short(after):
        return None
    named = re.fullmatch(rf"(.+)\s({_VERSION}|\d+\.\d+)", before)
    if named is not None and first == ("name", "") and re.fullmatch(rf"{_VERSION}|\d+\.\d+", after):
        # "Claude Code 2.1.38 → 2.1.39": the name is not part of the version.
        label, before, first, last = f"{label}{named[1]}", named[2], ("version", ""), ("version", "")
    if not _is_one_kind(first, last) or _is_hedged(label) or _is_hedged(heading):
        return None
    behind = pair.behind(line)
    if (
        label.count('"') % 2
        or re.search(r"\s=\s|[<>{}]", f"{after} {behind}")
        or _YEAR.search(behind)
        or label.rstrip().endswith((",", "，", "、"))
        or re.search(r"[+−]\s?\d", label)
    ):
        return None  # a quotation, a computation, code, a forecast, the last of several values, a difference
    if first is None and pair.joint == "arrow" and re.match(r"\W*[:：]\s*\S", behind):
        return None  # a key
    told = pair.told or _says_changed(label)
    name = without_change(without_dates(label))
    if not name and is_state(after) and not is_state(before):
        return None  # what is done, and no value of it
    if label.strip(" *_`~-") and not name and (not told or _NUMBER.search(label)):
        return None
    if len(name.split()) > _MOST_WORDS or len(JOINED_LETTER.findall(name)) > 2 * _MOST_WORDS:
        return None
    if len(_NUMBER.findall(name)) > 1 or "%" in name or name.endswith("@"):
        return None
    if first is None or last is None:
        stated = pair.told and bool(name) and _is_named(pair, name)
    else:
        stated = _is_stated(pair, name, first, last, told, line, heading)
    return ValueChange(name, tidy(before), tidy(after)) if stated else None


def _is_stated(pair: _Pair, name: str, first: _Form, last: _Form, told: bool, line: str, heading: str) -> bool:
    """Return true if a line states a pair as a change: by an arrow between values of such a form, or by a verb."""
    if pair.joint == "aside" and _says_formerly(line):
        return first[1] == last[1] or not (first[1] and last[1])
    above = pair.joint == "arrow" and _says_changed(heading)
    twins = _FIGURE.sub("#", pair.before) == _FIGURE.sub("#", pair.after)
    said = told or above or (pair.joint != "arrow" and first[0] == "amount" and _says_changed(line))
    keyed = pair.joint == "arrow" and pair.label.rstrip(" *`").endswith((":", "："))
    match first[0]:
        case "clock" | "day" if pair.joint == "span" and _says_changed(pair.label):
            # "was away from 9:12 to 11:40"
            return _ends_changed(pair.label) or _says_changed(pair.label.split()[0])
        case "name" if not pair.label.rstrip(" *`").endswith((":", "：")) and _NUMBER.search(_IDENTIFIED.sub("", name)):
            return False  # "31 tasks from board 6 to board 1"
        case "name":
            keyed = twins or kind_of_key(name) not in (None, "repo", "path")
            return told or above or (pair.joint == "arrow" and bool(name) and keyed)
        case "version" | "switch":
            return said or (pair.joint == "arrow" and bool(name))
        case "amount" if "%" in first[1] + last[1]:
            begins = line.lstrip(" -*").startswith(name)
            return said and first[1] == last[1] and (pair.joint == "aside" or begins)
        case "amount":
            closed = _CLOSES.match(re.sub(r"\A\s[^\W\d_]+", "", pair.behind(line))) is not None
            keyed = (keyed or (not pair.label and bool(first[1]))) and _YEAR.fullmatch(pair.before) is None and closed
            if first[1] != last[1]:
                # Behind a key either amount may leave out its unit; both may begin with "each".
                plain = all(re.fullmatch(rf"(?:{_AMOUNT})\+?", tidy(value)) for value in (pair.before, pair.after))
                bare = plain and not (first[1] and last[1])
                alike = bare or first[1][:1] == last[1][:1] > "\u2e80"
                spanned = pair.joint == "span" and bool(last[1] or not first[1])
                if re.sub(r"\D", "", pair.before) == re.sub(r"\D", "", pair.after):
                    return False  # in another unit
                return (keyed and alike) or (said and (pair.joint == "arrow" or spanned))
            return said or keyed
    return said


def _is_named(pair: _Pair, name: str) -> bool:
    """Return true if two values without a form of their own are names, of one word or as names are written."""
    values = (pair.before, pair.after)
    if JOINED_LETTER.search(pair.before) is None:
        return all(len(value.split()) == 1 or not value.islower() for value in values)
    short = max(map(len, values)) <= _LONGEST_NAME
    return short or kind_of_key(name) is not None or bool(re.search(r"[A-Za-z\d]", pair.before))


def _is_short(value: str) -> bool:
    """Return true for a value of a few words whose brackets and quotation marks are whole."""
    whole = all(value.count(opening) == value.count(closing) for opening, closing in ("()", "（）", "[]", "“”", "「」"))
    longest = 60 if value.startswith("`") else _LONGEST_VALUE
    whole = whole and not re.search("[。！？]", value)
    return whole and value.count("`") % 2 == 0 and 0 < len(value) <= longest and len(value.split()) <= 5


def _is_one_kind(first: _Form | None, last: _Form | None) -> bool:
    """Return true if two values are of one kind; a name may have no form of its own."""
    if first is None or last is None:
        return (first or last or ("name",))[0] in ("name", "day")
    return first[0] == last[0]


def _ends_changed(text: str) -> bool:
    """Return true if the last word of ``text`` says that something changed."""
    return _says_changed(text.strip(" \t*_`\"'()（）[],;:.–—-").rpartition(" ")[2])


def is_state(text: str) -> bool:
    """Return true for the name of a state: *done*, *in progress*."""
    return fold(text) in fact_list("states")


def fold(text: str) -> str:
    """Return ``text`` in small letters without markup, for comparison."""
    return tidy(text).casefold()


def shape_of(value: str) -> _Form | None:
    """Return the form of a value, with the unit of an ``amount``; ``None`` for a date, a link and other words.

    The others are ``version``, ``switch``, ``clock``, ``day`` of the week, and ``name``.
    """
    text = tidy(value)
    plain = calendar_words.plain(text)
    if not text or find_dates(plain):
        return None
    if "://" in text:
        return "name", ""
    if re.fullmatch(rf"{_CLOCK.pattern}(?:\s?[-–]\s?{_CLOCK.pattern})?", text):
        return "clock", ""
    if plain in _weekdays():
        return "day", ""
    if re.fullmatch(_SWITCH, text):
        return "switch", ""
    if re.fullmatch(rf"{_HOST}|\d{{9,}}", text):
        return "name", ""
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
    if re.fullmatch(rf"(?=\D*\d)(?:{_NAME})|{_IDENTIFIER}|[^\W\d_]+[- ]\d[\w.]*|\S+/\S+", text) and not re.search(
        r"\d/[^\W\d]", text
    ):
        return "name", ""
    if _CLOCK.search(text) or not _NUMBER.search(text):
        return None
    return "amount", "".join(_NUMBER.sub("", plain).split())


@cache
def _weekdays() -> frozenset[str]:
    """Return the names of weekdays in all languages."""
    return frozenset(
        phrase
        for spoken in calendar_words.known_languages()
        for key, phrases in calendar_words.phrases_by_key(spoken).items()
        if key.startswith("weekday")
        for phrase in map(calendar_words.plain, phrases)
    )


@lru_cache(maxsize=4096)
def forms_in(text: str) -> frozenset[_Form]:
    """Return the forms of the values in a text, as :func:`shape_of`."""
    return frozenset(filter(None, (shape_of(match[0]) for match in _VALUES.finditer(_MARKUP.sub("", text)))))


def is_price(text: str) -> bool:
    """Return true if a text is an amount with a unit, perhaps with a remark in brackets."""
    form, unit = shape_of(ASIDE.sub(" ", text)) or ("", "")
    return form == "amount" and unit not in ("", "%", "x", "byte")


def leading_shape(text: str) -> _Form | None:
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


def without_change(text: str, heading: bool = False) -> str:
    """Return the words before a value without those that say that it changed, and without signs at their ends.

    Of several parts the last one that names something counts: *Now — sites watchdog bumped from*.  Of a ``heading`` it
    is the first one that names a subject: *Model switch to Maple 4*.
    """
    changed, asked, openers = fact_list("changed") | fact_list("done"), fact_list("asked"), _openers()
    before = openers | fact_list("adverbs")
    parts: list[list[str]] = [[]]
    for word in _BORDER.sub(" \0 ", re.sub(r"[(（\[][^()（）\[\]]*\Z", " ", text)).split():
        if word == "\0" or word.casefold().strip(":,*`") in changed:
            parts.append([])
        elif word.casefold() in asked:
            parts = [[]]  # who asked for it is not what changed
        else:
            parts[-1].append(word)
    if heading:  # "Noon - Printer" is about the printer
        parts = [words for words in parts if names_subject(" ".join(words))] or parts
    else:
        parts.reverse()
    for words in parts:
        while words and (words[0].casefold() in before or (heading and _is_particle(words[0]))):
            words.pop(0)  # "Update of Maple 4"
        while words and (words[-1].casefold() in openers or (_is_particle(words[-1]) and len(words) > 1)):
            words.pop()  # "le prix est passé"
        label = tidy(" ".join(words)).lstrip("#-*~ ")
        if any(len(word) > 1 and not _is_particle(word) for word in _LETTERS.findall(label)):
            # A verb stands behind a name, and particles around it.
            verbs = _joined_words("changed")
            return re.sub(rf"\A已?(?:把|将|將)|(?<=\w)\s?[をがはのも的]\Z|(?<=\w)(?:{verbs})\Z", "", label)
    return ""


def _is_particle(word: str) -> bool:
    """Return true for a short stop word of any language: longer ones are nouns of others."""
    return len(word) < 4 and word.islower() and is_function_word(word)


def _is_hedged(text: str) -> bool:
    """Return true if the words before the values deny, wish or propose the change, or tell of others."""
    return _has_any("intended", text) or bool(negations(text))


class _Frame(NamedTuple):
    """Words around two values: one before the old one, some between both, and perhaps an ending behind the new one."""

    opener: re.Pattern[str]
    between: re.Pattern[str]
    ending: re.Pattern[str]
    #: True in scripts without spaces between words.
    joined: bool
    #: True if a word stands before the old value, which else begins the text or stands behind a particle.
    opens: bool


def _framed(line: str) -> Iterator[_Pair]:
    """Yield the values in frames such as *from … to …*."""
    for frame in _frames():
        for match in frame.between.finditer(line):
            left, right = line[: match.start()].rstrip(), line[match.end() :].lstrip()
            opening = frame.opener.match(left)
            if opening is None:
                continue
            label, old = left[: opening.start("word")], left[opening.end() :].lstrip()
            if frame.joined:
                yield from _joined(frame, label, old, right, bool(match.groupdict().get("verb")))
            else:
                yield from _spaced(frame, label, old, right, _says_changed(opening["word"]))


def _joined(frame: _Frame, label: str, old: str, right: str, told: bool) -> Iterator[_Pair]:
    """Yield the values of a frame in a script without spaces, where a verb shows where a name ends."""
    ending, closing = frame.ending.search(right), _CLOSES.search(right)
    told = told or ending is not None
    new = right[: ending.start()] if ending is not None else right[: closing.start()] if closing is not None else right
    yield from (_Pair(label, first, last, "span", told) for rest, first, last in _twins(old, right) if not rest)
    if told:
        yield _Pair(label, old, new.strip(), "span", True)
    before, after = _LAST.search(old), _FIRST.match(right)
    if before is not None and after is not None and (before.start() == 0 or not frame.opens):
        yield _Pair(f"{label}{old[: before.start()]}", before[1], after[0], "span", told)


def _spaced(frame: _Frame, label: str, old: str, right: str, told: bool) -> Iterator[_Pair]:
    """Yield the values of a frame whose words have spaces between them; a word may stand before the old one."""
    most = _MOST_WORDS if not frame.opens else 3 if told else 1
    pairs = list(_twins(old, right))
    for last, first in ((_LAST, _FIRST), (_WHOLE, _UNTIL), (_LAST_WORD, _FIRST_WORD)):
        before, after = last.search(old), first.match(right)
        if before is not None and after is not None:
            pairs.append((old[: before.start()], before[1], after[0]))
    for aside, before_, after_ in pairs:
        end = frame.ending.search(right, max(0, len(after_) - 4))
        if len(aside.split()) > most or (frame.ending.pattern and (end is None or end.start() > len(after_))):
            continue
        if frame.ending.pattern and end is not None:
            after_ = after_[: end.start()]
        behind = " ".join(right[len(after_) :].split()[:2])
        yield _Pair(
            f"{label} {aside}" if aside and (told or not frame.opens) else label,
            before_,
            after_,
            "span",
            told or _says_changed(label) or _says_changed(behind),
        )


@cache
def _frames() -> tuple[_Frame, ...]:
    """Return the frames of ``spans`` in all languages; ``_`` stands for a verb, (a|b) for either."""
    verbs, adverbs = (_joined_words(name) for name in ("changed", "adverbs"))
    out = []
    for span in _spans():
        joined = JOINED_LETTER.search(span) is not None
        opener, between, ending = (re.sub(r"\\([()|])", r"\1", re.escape(part.strip())) for part in span.split("{}"))
        if joined:
            if between.startswith("_"):
                between = rf"(?:{adverbs})*(?P<verb>{verbs})?\s*{between[1:]}"
            ending = rf"\s*{ending}\s*(?:{verbs})" if ending else "(?!)"
            head = rf".*(?P<word>{opener})" if opener else rf"(?:{_OPENS.pattern})?(?P<word>)"
        else:
            between = between if between.startswith("'") else rf"(?<!\S){between}(?!\S)"
            head = rf".*(?<!\w)(?P<word>{opener})(?!\S)" if opener else "(?P<word>)"
        patterns = re.compile(head, re.IGNORECASE), re.compile(between, re.IGNORECASE), re.compile(ending)
        out.append(_Frame(*patterns, joined, bool(opener)))
    return tuple(out)


@re.built
def _verb_behind() -> str:
    """Return a pattern for a verb behind the new value, in scripts without spaces: … に変更."""
    endings = "|".join(
        sorted({span.rpartition("{}")[2].strip() for span in _spans() if JOINED_LETTER.search(span)} - {""})
    )
    return rf"(?:{endings})\s*(?:{_joined_words('changed')})"


def _spans() -> Iterator[str]:
    """Yield the frames of all languages."""
    return (span for words in fact_words().values() for span in words.lists.get("spans", ()))


@cache
def _joined_words(name: str) -> str:
    """Return a pattern for the words of a list in scripts without spaces, also without *to* behind a verb: 换成."""
    words = set(filter(JOINED_LETTER.match, fact_list(name)))
    words |= {word[:-1] for word in words if word[-1] in "到成为為至"}
    return calendar_words.any_of(map(re.escape, words))


def _parts_of_spans(*parts: int) -> set[str]:
    """Return the words that frames have before the old value (0) and between both (1)."""
    places = (span.split("{}")[part] for span in _spans() for part in parts)
    return {word.strip("()_ ") for place in places for word in place.split("|") if "'" not in place} - {""}


@cache
def _openers() -> frozenset[str]:
    """Return the words before the values in *from … to …*."""
    return frozenset(_parts_of_spans(0, 1))


@re.built
def _reached() -> str:
    """Return a pattern for *to* and a value, in all languages."""
    middles = sorted(_parts_of_spans(1))
    spaced = "|".join(re.escape(middle) for middle in middles if not JOINED_LETTER.search(middle))
    joined = "|".join(re.escape(middle) for middle in middles if JOINED_LETTER.search(middle))
    return rf"(?:(?<!\w)(?:{spaced})\s+|(?:{joined})\s*)(?P<after>{_VALUE})(?=[\s),.;:!?，。；）(（：]|\Z)"
