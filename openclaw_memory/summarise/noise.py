"""Sentences that say nothing to a person: what machines wrote, opaque tokens, courtesies, and what comes daily."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ..text.labels import names_subject
from ..text.machine import OPAQUE, is_machine
from ..text.scripts import UNSPACED
from ..text.speech import substance
from ..text.turns import without_speaker
from .sentences import Sentence
from .words import label_alone, marker

_LINK = re.compile(r"https?://\S+|(?<![\w.~+-])[\w.~+-]*+(?:/[\w.+-]+)+", re.ASCII)
_LABEL = re.compile(r"[\W_]*[^\s:：][^:：\n]{0,39}[:：](?=[\s*_`]|$)")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|[{UNSPACED}]{{2,}}")
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")


def telling(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of ``sentences`` that say something to a person; all of them where none does."""
    return [one for one in sentences if not is_noise(one)] or list(sentences)


def once(sentences: Sequence[Sentence]) -> list[Sentence]:
    """``sentences``, which are in order of time, with what is routine said once, as it was last.

    Routine is what is said on three days, or with as many times of one day, but for its figures; what is decided, by
    the points of its marker, never is.
    """
    times = defaultdict(set)
    last: dict[tuple[str | None, str], int] = {}
    keys = [(one.speaker, _FIGURES.sub("0", one.text.casefold())) for one in sentences]
    for at, (one, key) in enumerate(zip(sentences, keys, strict=True)):
        times[key].add((one.day, *_CLOCK.findall(one.text)))
        last[key] = at
    return [
        one
        for at, (one, key) in enumerate(zip(sentences, keys, strict=True))
        if len(times[key]) < 3 or last[key] == at or marker(one.text) >= 4
    ]


def is_noise(sentence: Sentence) -> bool:
    """Whether a sentence says nothing to a person."""
    text = without_speaker(sentence.text, sentence.speaker) if sentence.speaker else sentence.text
    # What a line with a colon at its end opens stands in other sentences.
    if is_machine(text) or text.rstrip("*_ ")[-1:] in (":", "：") or label_alone().match(text):
        return True
    label = _LABEL.match(text)
    if label is None and not names_subject(text):
        return True
    value = text[label.end() :] if label is not None else text
    left = OPAQUE.sub(" ", value)
    # "Session: 8f14e45f" says no more than its token does; a figure, a date or a link behind a label does.
    if left != value and not _WORD.search(left):
        return True
    return not _WORD.search(_LINK.sub(" ", text)) or not substance(text)
