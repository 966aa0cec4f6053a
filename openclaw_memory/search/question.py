"""Parse a question: its words, the days it means, whom it names and the kind of answer it asks for."""

from __future__ import annotations

import re
from datetime import date
from functools import cache, cached_property

from ..records import dataclass
from ..text import analysis, calendar_words
from ..text.language import is_stop_word, stop_words
from .days import UNSPACED_WORD, WORD, Interval, find_days

#: Most characters of a question that asks for nothing but days.
_MAX_DAYS_QUESTION = 200


@dataclass(frozen=True)
class Question:
    """A question asked on ``day``; each part is parsed when it is first needed, and once."""

    text: str
    day: date = date.min

    @cached_property
    def plain(self) -> str:
        """The text in small letters, as the lists of words for time have it."""
        return calendar_words.plain(self.text)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Languages that the text may be in, the likeliest first."""
        return calendar_words.likely_languages(self.plain)

    # -- words ------------------------------------------------------------------------------------

    @cached_property
    def words(self) -> list[tuple[str, ...]]:
        """Words that say something, each as the terms that a text may have for it."""
        return analysis.content_terms(self.text)

    @cached_property
    def content(self) -> str:
        """The text without "how many days ago" or "how many weeks"; all of it where nothing else is asked.

        These words say what kind of answer is wanted: no note that has it needs to hold one of them.
        """
        content = self.text
        for pattern in self._span_patterns:
            content = re.sub(pattern, " ", content)
        return content if content == self.text or analysis.query_terms(content) else self.text

    @cached_property
    def content_words(self) -> list[tuple[str, ...]]:
        """The :attr:`words` of :attr:`content`."""
        return self.words if self.content == self.text else analysis.content_terms(self.content)

    @property
    def speakers(self) -> list[str]:
        """Words that may be a speaker's name, as :func:`~openclaw_memory.text.analysis.name_key` has them.

        Who says "I" is the user of a chat.
        """
        keys = ["user", "human"] if re.search(r"(?i)\b(?:I|me|my|mine|myself|I'm|I've)\b", self.text) else []
        keys += [analysis.name_key(re.sub(r"['’]s$", "", word)) for word in WORD.findall(self.text)]
        return [key for key in keys if key not in analysis.STOP_WORDS]

    # -- days -------------------------------------------------------------------------------------

    @cached_property
    def days(self) -> list[Interval]:
        """Days that the question is about, relative ones seen from ``day``; empty when it names none."""
        return self._days_and_rest[0]

    @cached_property
    def calendar_days(self) -> list[Interval]:
        """The :attr:`days`, with the weeks and months of the calendar."""
        return find_days(self.plain, self.languages, self._phrases, self.day, exact=True)[0]

    @cached_property
    def asks_only_days(self) -> bool:
        """True if the question names days and asks for no more than what was done or happened then.

        Beside the days it has only stop words and what a language says for that (``doing``).
        """
        if len(self.text) > _MAX_DAYS_QUESTION:
            return False
        days, rest = self._days_and_rest
        if not days:
            return False
        for language in self.languages:
            rest = re.sub(_idle_words(language), " ", rest)
        left = (word for word in re.findall(r"[^\W_]+", rest) if len(word) > 1 or not word.isascii() or word.isdigit())
        return all(any(is_stop_word(word, language) for language in self.languages) for word in left)

    @property
    def asks_what_was_done(self) -> bool:
        """True if the question asks what was done on days that are over, and nothing else: no "how are you today?"."""
        if not self.asks_only_days:
            return False
        days, rest = self._days_and_rest
        return all(last < self.day for _, last in days) and self._has("doing", rest)

    @property
    def names_weekday(self) -> bool:
        """True if the question names a day of the week, which notes of other days may name as well."""
        return any(phrase.meaning.kind == "weekday" for phrase in self._phrases)

    @cached_property
    def _phrases(self) -> list[calendar_words.Phrase]:
        return calendar_words.find_phrases(self.plain, self.languages)

    @cached_property
    def _days_and_rest(self) -> tuple[list[Interval], str]:
        return find_days(self.plain, self.languages, self._phrases, self.day)

    # -- kind of answer ---------------------------------------------------------------------------

    @property
    def asks_when(self) -> bool:
        """True if the answer is a time: a question begins so, or, in languages that put no word first, says so."""
        text = self.plain.lstrip("¿¡ \t\n\"'“«„「(")
        return self._asks_days_ago or any(re.search(_when(language), text) for language in self.languages)

    @property
    def asks_now(self) -> bool:
        """True if it is about how things are: then the newest of several statements answers it."""
        return self._has("now", self.plain)

    @property
    def asks_former(self) -> bool:
        """True if it is about how things were before, or how they changed."""
        return self._has("former", self.plain)

    @property
    def asks_amount(self) -> bool:
        """True if the answer is a figure: how much, how many, which port; not how many days ago, which is a time."""
        return self._has("amount", self.plain) and not self._asks_days_ago

    @property
    def _asks_days_ago(self) -> bool:
        return any(match["ago"] for pattern in self._span_patterns for match in re.finditer(pattern, self.text))

    @cached_property
    def _span_patterns(self) -> list[str]:
        return [pattern for language in self.languages if (pattern := _spans(language)) is not None]

    def _has(self, key: str, text: str) -> bool:
        return calendar_words.has_phrase(key, self.languages, text)


def _when(language: str) -> str:
    """Return a pattern for a question for a time, which begins so in a language, or says so anywhere."""
    keys = calendar_words.phrases_by_key(language)
    when, ask, noun = (
        "(?:" + (calendar_words.any_of(map(re.escape, keys.get(key, ()))) or "(?!)") + r")(?![^\W_])"
        for key in ("when", "ask", "ask-noun")
    )
    anywhere = keys.get("when-anywhere", ())
    letters = ((r"(?<![^\W\d_])" if phrase[0].isascii() else "") + re.escape(phrase) for phrase in anywhere)
    return "|".join([rf"\A{when}", rf"\A{ask}\s*{noun}", *letters])


@cache
def _spans(language: str) -> str | None:
    """Return a pattern for a question for a number of days, weeks or months; its group ``ago`` is for past ones."""
    keys = calendar_words.phrases_by_key(language)
    ago, span = set[str](), set[str]()
    for count in keys.get("count", ()):
        for unit in calendar_words.UNITS:
            ago.update(form.replace("{0}", f" {count} ") for form in keys.get(f"ago.{unit}", ()) if "{0}" in form)
            span.update(f"{count} {noun}" for noun in keys.get(f"noun.{unit}", ()))
    return f"(?i:(?P<ago>{_any_phrase(ago)})|{_any_phrase(span)})" if ago else None


@cache
def _idle_words(language: str) -> str:
    """Return a pattern for words that ask for no thing; of unspaced scripts they include the stop words."""
    stops = filter(UNSPACED_WORD.match, stop_words().get(language, ()))
    idle = [*calendar_words.phrases_by_key(language).get("doing", ()), *stops]
    return _any_phrase(set(map(calendar_words.plain, idle))) or "(?!)"


def _any_phrase(phrases: set[str]) -> str:
    """Return a pattern for any of ``phrases``, the longest first, with any spaces between the words of each."""
    return "|".join(
        r"\s{0,3}".join(map(re.escape, phrase.split()))
        if calendar_words.JOINED.search(phrase)
        else r"\b" + r"[\s'’]{1,3}".join(map(re.escape, phrase.split())) + r"\b"
        for phrase in sorted(phrases, key=len, reverse=True)
    )
