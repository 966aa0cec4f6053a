"""Sentences that say nothing to a person: what machines wrote, opaque tokens, courtesies, and what comes daily."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from ..knowledge.fact_words import every
from ..text.labels import names_subject
from ..text.machine import OPAQUE, is_machine, is_signs
from ..text.scripts import UNSPACED
from ..text.speech import substance
from ..text.turns import without_speaker
from .sentences import Sentence
from .words import metadata

_LINK = re.compile(r"https?://\S+|(?<!\w)[\w.~+-]*(?:/[\w.+-]+)+", re.ASCII)
#: Names of fields; where half of the words are such, a list of columns.
_FIELD = re.compile(r"(?<!\w)[a-z0-9]+(?:_[a-z0-9]+)+(?!\w)", re.ASCII)
_FIELDS = 3
#: Names of files and nothing else, two at least.
_FILES = re.compile(r"(?:[\s,;`*·+&]*[\w./~@-]+\.[A-Za-z]\w{0,4}(?=[\s,;`*]|$)){2,}[\s,;`*]*", re.ASCII)
_LABEL = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
#: A key without figures, and behind it a figure, a day or a time with its unit, and nothing else.
COUNT = re.compile(r"[^:：\d]{1,40}[:：][\s*_`~+-]*\d[\d.,:/%\s~–-]*\w{0,4}[^\w]*")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
#: A day, a time and its zone.
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\dT?|~?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[A-Za-z]{1,4}\b)?|\((?:UTC|GMT|[A-Z][a-z]+/[A-Z]\w+)[^()]*\)"
    r"|\b(?:UTC|GMT|[CM]?E?[SD]T|JST|MSK)(?:[+-]\d{1,2}(?::?\d\d)?)?\b"
)
#: What is said on so many days, or with as many times of one day, but for its figures, is routine: it is said once, as
#: it was last.
_TIMES = 3


def said(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of ``sentences`` that say something to a person; all of them where none does."""
    return [one for one in sentences if not is_noise(one)] or list(sentences)


def once(sentences: Sequence[Sentence], kept: Collection[int] = ()) -> list[Sentence]:
    """``sentences``, which are in order of time, with what is routine said once, as it was last.

    Those of the orders ``kept`` stay.
    """
    times = defaultdict(set)
    last: dict[tuple[str | None, str], int] = {}
    keys = [(one.speaker, _FIGURES.sub("0", one.text.casefold())) for one in sentences]
    for at, (one, key) in enumerate(zip(sentences, keys, strict=True)):
        # A count behind a key, told in several entries of a day, grows: "Finished: 91", "Finished: 93".
        entry = one.entry if COUNT.fullmatch(one.text) else None
        times[key].add((one.day, entry, *_CLOCK.findall(one.text)))
        last[key] = at
    return [
        one
        for at, (one, key) in enumerate(zip(sentences, keys, strict=True))
        if len(times[key]) < _TIMES or last[key] == at or one.order in kept
    ]


def is_noise(sentence: Sentence) -> bool:
    """Whether a sentence says nothing to a person."""
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    # What a line with a colon at its end opens stands in other sentences.
    if is_machine(text) or is_signs(text) or text.rstrip("*_ ")[-1:] in (":", "：") or metadata().match(text):
        return True
    fields = len(_FIELD.findall(text))
    if fields >= _FIELDS and 2 * fields >= len(text.split()):
        return True
    label = _LABEL.match(text)
    value = text[label.end() :] if label is not None else text
    if _FILES.fullmatch(value):
        return True
    if not names_subject(_STAMP.sub(" 0 ", value)):
        # When something that is not named was done, "Completed: 13 March, 14:31", or the note itself was written.
        done = label is not None and label[0].strip("*_ :：").casefold() in every("done")
        if label is None or done or _was_then(sentence, value):
            return True
    left = OPAQUE.sub(" ", value)
    # "Session: 8f14e45f" says no more than its token does; a figure, a date or a link behind a label does.
    if left != value and not _WORD.search(left):
        return True
    return not _WORD.search(_LINK.sub(" ", text)) or not substance(text)


def _was_then(sentence: Sentence, value: str) -> bool:
    """Whether a stamp, a day with a time, is no later than the note: when it was written, and no appointment."""
    days = _ISO.findall(value)
    return bool(days) and _CLOCK.search(value) is not None and max(days) <= sentence.day.isoformat()
