"""Recognise amounts of money, appointments, prohibitions and rules by their structure, in any language.

The words are data: ``structure.txt``, and the calendar of :mod:`~openclaw_memory.text.calendar_words`.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from .. import patterns as re
from . import calendar_words, dates, word_lists
from .language import is_function_word
from .lines import ITEM
from .negation import negations
from .scripts import JOINED_LETTER, KANA, UNSPACED_LETTER, letter
from .sentences import sentence_spans
from .speech import find_phrases, spoken_languages, subject_terms

_NUMERALS = "〇零一二两兩三四五六七八九十百千万萬億亿"
_SIGN = "[$¢£¥֏؋৳฿៛₠-₿﷼]"
_CLAUSES = re.compile(r"[,.;!]\s|[，。；！،।]")
#: The moment at which something was written down.
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_KANA = letter(KANA)
_WARNING = re.compile("[⚠⛔🚫🛑❗‼]")
_ITEM = re.compile(rf"\A\s*{ITEM}\s+[*_~]*")
#: What stands before the beginning of a clause; in Japanese its topic does.
_BORDER = re.compile("[:：—–、，]|は")
_PASSAGE = re.compile(r"(?s)[«„“\"「『][^«»„“”\"「」『』]{6,}[»“”\"」』]|[:：](?![\d/]).*\S.*")
#: A word in capitals before others, none of which a sign or a figure adjoins.
_CAPITALS = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-ÞА-ЯЁΑ-Ω]{2,}(?= [^\W\dA-ZÀ-ÖØ-ÞА-ЯЁΑ-Ω])")
#: Characters of the longest sentence that is a rule, and of the longest that is one by denying anything.
_RULE_LENGTH, _DENIAL_LENGTH = 160, 60
#: Letters of the longest stop word that joins a name to what stands behind it: "from", "для".
_PARTICLE = 4
#: Words of the longest sentence that limits, in a note of a day: a longer one reports.
_LIMIT_WORDS = 4
_UNITS = ("noun.day", "noun.week", "noun.month", "noun.year", "period", *(f"weekday.{day}" for day in range(7)))
#: A time of day before an hour in Chinese numerals, which count steps otherwise.
_DAYTIME = "(?<![早上下中午晚凌晨夜前後])[早上下中午晚凌晨夜前後]++"


def states_amount(text: str) -> bool:
    """Return true if a text gives an amount of money: a figure beside a currency."""
    return _amount.search(unicodedata.normalize("NFKC", text)) is not None


def states_appointment(text: str) -> bool:
    """Return true if a text gives a day that is not past and an hour of it, which a time stamp does not."""
    plain = calendar_words.plain(_STAMP.sub(" ", text))
    days = [mention for mention in dates.find_dates(plain) if mention.day]
    plain = dates.without_dates(plain, days)
    if _hour.search(plain) is None:
        return False
    meanings = [each.meaning for each in calendar_words.find_phrases(plain, calendar_words.likely_languages(plain))]
    steps = [int(each.unit) for each in meanings if each.kind == "weekday-relative"]
    steps += [each.number for each in meanings if each.kind == "relative"]
    if any(step < 0 for step in steps) or any(each.kind in ("ago", "past") for each in meanings):
        return False
    return bool(days) or any(steps) or any(each.kind.startswith("weekday") for each in meanings)


def is_prohibition(text: str, of_anything: bool = False) -> bool:
    """Return true if a clause of a text forbids something of its subject, and not for this time alone.

    With ``of_anything`` one word of a subject is enough: "don't open it".
    """
    for clause in map(str.strip, _CLAUSES.split(calendar_words.plain(text))):
        spoken = {"japanese"} if _KANA.search(clause) else spoken_languages(clause)
        for language, (forbids, once) in _prohibitions().items():
            if (not spoken or language in spoken) and forbids.match(clause) and (of_anything or _has_subject(clause)):
                return once.search(text.lower()) is None
    return False


@lru_cache(maxsize=4096)
def is_rule(text: str, strict: bool = False, undated: bool = False) -> bool:
    """Return true if a text has a sign of warning, or a short sentence that forbids, or that begins with ``always``.

    A ``strict`` rule that says ``never`` must begin with it, too: "it never ran" is none.  One that is not also limits,
    or stresses by capitals that it does; in an ``undated`` note, which reports no day, any denial will do.
    """
    if _WARNING.search(text):
        return True
    text = _ITEM.sub("", text)
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if len(sentence) > _RULE_LENGTH:
            continue
        if is_prohibition(sentence, of_anything=True) or next(find_phrases(sentence, ("forbidden",)), None) is not None:
            return True
        is_brief = undated or len(sentence.split()) <= _LIMIT_WORDS
        if not strict and ((is_brief and _limits(sentence)) or any(map(_limits, _CAPITALS.findall(sentence)))):
            return True
        if undated and len(sentence) <= _DENIAL_LENGTH and negations(sentence):
            return True
        for match in find_phrases(sentence, ("standing",)):
            phrase = sentence[match.start : match.end]
            if _recurs(phrase):
                continue
            before = _BORDER.split(sentence[: match.start])[-1]
            weak = negations(phrase) or UNSPACED_LETTER.match(phrase)  # the verb stands at the end
            if (not strict and weak) or not any(map(str.isalnum, before)):
                return True
    return False


def _limits(sentence: str) -> bool:
    """Return true if a sentence without figures begins, or in Japanese or Korean ends, with ``only`` or ``must``."""
    plain = calendar_words.plain(sentence).strip(" .。!！*_~")
    ends = any(match.end() == len(plain) for match in _listed("limits at the end").finditer(plain))
    return not any(map(str.isdigit, plain)) and (ends or _listed("limits").match(plain) is not None)


def is_rule_heading(heading: str) -> bool:
    """Return true if a heading states a rule for what stands below it, which a sign of warning alone does not."""
    bare = _WARNING.sub(" ", heading)
    return is_rule(bare, strict=True, undated=bare != heading)


def names_rules(title: str) -> bool:
    """Return true if a heading, or the label of a line, says that rules follow: ``Rule from Nora``.

    A word behind their name makes it a part of another, as in ``new rule changes``, unless that is a short stop word,
    or the name begins the title in a script with spaces.
    """
    for clause in re.split(r"[^\w\s-]+", calendar_words.plain(title)):
        for match in _listed("rules").finditer(clause):
            behind = clause[match.end() :].split()
            begins = not clause[: match.start()].strip() and UNSPACED_LETTER.match(match[0]) is None
            if begins or not behind or (len(behind[0]) <= _PARTICLE and is_function_word(behind[0])):
                return True
    return False


def instruction(message: str) -> str:
    """Return a request to translate or reword without its passage, in quotes or behind a colon; else an empty text."""
    head = _PASSAGE.sub(" ", message)
    return head if head != message and _listed("rewording").search(calendar_words.plain(head)) else ""


def _recurs(phrase: str) -> bool:
    """Return true if a phrase names a unit of time: "every Monday" is no rule."""
    plain = calendar_words.plain(phrase)
    return any(calendar_words.has_phrase(key, calendar_words.likely_languages(plain), plain) for key in _UNITS)


def _has_subject(clause: str) -> bool:
    """Return true if a clause says more than its verb: "do not worry" does not."""
    parts = 2 if UNSPACED_LETTER.search(clause) else 4 if JOINED_LETTER.search(clause) else 1  # pairs of characters
    return len(subject_terms(clause)) > parts


@cache
def _words() -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for title, line in word_lists.lines_of(__package__, "structure.txt"):
        out.setdefault(title, []).append(line)
    return out


@cache
def _prohibitions() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return by language the pattern of a clause that forbids, and that of the words for this time alone."""
    out = {}
    for language in calendar_words.known_languages():
        lines = dict(line.split(": ", 1) for line in _words().get(language, ()))
        if lines:
            out[language] = re.compile(unicodedata.normalize("NFKC", lines["forbids"])), re.compile(_any(lines["once"]))
    return out


def _any(phrases: str) -> str:
    """Return a pattern for phrases, as words of their own where words have spaces; ``*`` is any beginning or end."""
    return "|".join(map(_word, map(calendar_words.plain, phrases.split("; "))))


def _word(word: str) -> str:
    stem = re.escape(word.strip("*"))
    if UNSPACED_LETTER.search(word):
        return stem
    before = "" if word.startswith("*") else r"(?<![^\W\d_])"
    return before + stem + (r"\w*" if word.endswith("*") else r"(?![^\W\d_])")


@cache
def _listed(key: str) -> re.Pattern[str]:
    """Return the pattern of the phrases of a section."""
    return re.compile(_any("; ".join(_words()[key])))


@re.built
def _amount() -> str:
    """Return the pattern of a figure beside a currency; of Chinese and Japanese numerals one multiplies."""
    names, thousands = (_any("; ".join(_words()[key])) for key in ("currency", "thousands"))
    currency = rf"(?:(?i:{names})|(?<![A-Z])(?:{_words()['codes'][0]})(?![A-Z])|{_SIGN})"
    figure = rf"(?<!\d)\d[\d.,'’\s]{{0,24}}+(?:(?i:{thousands})\.?\s?(?:d[ei']\s?)?)*"
    numeral = f"(?=[{_NUMERALS}]{{0,9}}[{_NUMERALS[-7:]}])[{_NUMERALS}]{{2,10}}"
    return rf"(?:{figure}|{numeral}[美欧歐日]?){currency}|{currency}\s?\d"


@re.built
def _hour() -> str:
    """Return the pattern of an hour: with minutes, with a unit behind it, or with a word before it."""
    before, after = (_any("; ".join(_words()[key])) for key in ("before an hour", "after an hour"))
    numbers = "|".join(
        re.escape(word)
        for language in calendar_words.known_languages()
        for number in range(1, 13)
        for word in calendar_words.phrases_by_key(language).get(f"number.{number}", ())
        if len(word) > 2
    )
    hour = r"(?<![\d.,:])(?:[01]?\d|2[0-4])"
    ending = r"(?=\s*(?:[,;!)'’]|\.?\s*\Z|\s\w{1,4}\s))"
    return (
        rf"{hour}(?:[:h：]\s?[0-5]\d(?!\d)|\s?(?:{after})(?![间間]))"
        rf"|{_DAYTIME}[一二两兩三四五六七八九十]{{1,3}}[点點时時](?![间間])"
        rf"|(?:{before})\s(?:{hour}(?:[:h：.]\s?[0-5]\d(?!\d))?|(?:{numbers})(?:\s(?:{after}))?){ending}"
    )
