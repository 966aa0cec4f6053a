"""Sentences that say nothing to a person: what machines wrote, opaque tokens, courtesies, and what comes daily."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from ..text.machine import is_machine
from ..text.scripts import UNSPACED
from ..text.speech import substance
from ..text.turns import without_speaker
from .sentences import Sentence

#: Names of machines for things: keys with parts, hexadecimal digests, ids in groups, and long tokens with a figure.
_OPAQUE = re.compile(
    r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)|(?<!\w)(?=\S*[a-z])(?:[\w.+-]+:){2,}[\w.+-]+"
    r"|(?<!\w)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,}(?!\w)"
    r"|(?<![\w/.+=-])(?=[\w+/=-]{0,200}\d)[\w+/=-]{20,}+",
    re.ASCII | re.IGNORECASE,
)
_LINK = re.compile(r"https?://\S+|(?<!\w)[\w.~+-]*(?:/[\w.+-]+)+", re.ASCII)
#: Names of fields; where half of the words are such, a list of columns.
_FIELD = re.compile(r"(?<!\w)[a-z0-9]+(?:_[a-z0-9]+)+(?!\w)", re.ASCII)
_FIELDS = 3
_LABEL = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")
_SIGNS = re.compile(r"[{}\[\]\"'=<>|\\;$()]")
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
#: Of a text with this share of other signs and with so many brackets and quotes, a machine was the reader.
_SHARE, _BRACKETS = 0.2, 6
#: What is said on so many days, but for its figures, is routine: it is said once, as it was last.
_DAYS = 3


def said(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of ``sentences`` that say something to a person; all of them where none does."""
    return [one for one in sentences if not _is_noise(one)] or list(sentences)


def once(sentences: Sequence[Sentence], kept: Collection[int] = ()) -> list[Sentence]:
    """``sentences``, which are in order of time, with what is routine said once, as it was last.

    Those of the orders ``kept`` stay.
    """
    days = defaultdict(set)
    last: dict[tuple[str | None, str], int] = {}
    keys = [(one.speaker, _FIGURES.sub("0", one.text.casefold())) for one in sentences]
    for at, (one, key) in enumerate(zip(sentences, keys, strict=True)):
        days[key].add(one.day)
        last[key] = at
    return [
        one
        for at, (one, key) in enumerate(zip(sentences, keys, strict=True))
        if len(days[key]) < _DAYS or last[key] == at or one.order in kept
    ]


def _is_noise(sentence: Sentence) -> bool:
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    if is_machine(text):
        return True
    signs = len(_SIGNS.findall(text))
    if signs >= _BRACKETS and signs >= _SHARE * len(text.replace(" ", "")):
        return True
    fields = len(_FIELD.findall(text))
    if fields >= _FIELDS and 2 * fields >= len(text.split()):
        return True
    label = _LABEL.match(text)
    value = text[label.end() :] if label is not None else text
    left = _OPAQUE.sub(" ", value)
    # "Session: 8f14e45f" says no more than its token does; a figure, a date or a link behind a label does.
    if left != value and not _WORD.search(left):
        return True
    return not _WORD.search(_LINK.sub(" ", text)) or not substance(text)
