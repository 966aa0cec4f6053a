"""The lines that items belong to: what they name, where they are no labels."""

from __future__ import annotations

import re

from ..text.labels import names_subject
from . import fact_words
from .fact_headings import OPENING
from .fact_sentences import is_name, tidy
from .heading_names import ASIDE, is_common, named
from .kinds import is_kind, kinds_known
from .predicates import kind_of_key

#: Nothing but a quotation behind a dash or a colon.
_TITLE = re.compile(r"\s*[-–—:：]\s*[\"“「《].*[\"”」》]\W*")
#: A key has its own value where that is in code marks, or an amount.
_VALUE = re.compile(r"\s*[:：]?\s*(?:`|[^\W\d_]{0,3}\s?[^\w\s]?\d[\d.,]*\W*\Z)")
#: So many capitals may be an abbreviation.
_ABBREVIATION = 5
#: Bold words before a colon.
_LABELLED = re.compile(r"(\*\*|__|`)[^*`\n]{1,48}(?:[:：]\1|\1\s?[:：])")


def below(above: str, collection: bool = False) -> tuple[str, ...] | None:
    """The name in the line that a nested item belongs to: none where that is a label, ``None`` where it says more.

    Of a single word before a colon only a ``collection`` around it says that it is a name.
    """
    opening = OPENING.match(above)
    body = above[opening.end() if opening else 0 :].strip()
    bold = re.match(r"(\*\*|__|`)([^*`\n]{1,48}?)[:：]?\1", body)
    text = tidy(bold[2] if bold else ASIDE.sub(" ", body))
    if bold and (_TITLE.fullmatch(body[bold.end() :]) or _VALUE.match(body[bold.end() :])):
        return None  # "**The Yard Post** — "A title"": where it came out; "**Rent**: EUR 900": what is parted below
    if tidy(ASIDE.sub(" ", text)).casefold() in fact_words.every("sides"):
        return None
    if not names_subject(text) or is_common(text) or _list_of_values(text):
        return () if body.rstrip("*_`").endswith((":", "：")) or tidy(body) == text else None
    if opening is not None and not opening.end() and _two_or_kind(text):
        return None  # a line before others: "Sign-in Methods:", "Inputs & Params:"
    if (bold is None and body.endswith((".", "。"))) or (
        text.isalpha() and text.isupper() and len(text) > _ABBREVIATION
    ):
        return None  # a sentence, or what is stressed: "CONFIRMED:"
    name = named(text)
    if not collection and text.isalpha() and text[1:].islower() and (bold is None or _LABELLED.match(body)):
        return None  # "Workaround:" is as likely as "Heron:"
    return (name,) if name == text and is_name(text) and not _is_key(text) else None


def _is_key(text: str) -> bool:
    """Whether a label is a relation, or ends in a word for one: *Order ID*."""
    return kind_of_key(text) is not None or (" " in text and kind_of_key(text.split()[-1]) in ("id", "url", "path"))


def _two_or_kind(text: str) -> bool:
    """Whether a label of several words names two things, or ends in a word for a kind of thing."""
    words = text.casefold().split()
    return "&" in text or "/" in text or (len(words) > 1 and any(is_kind(words[-1], one) for one in kinds_known()))


def _list_of_values(label: str) -> bool:
    """Whether an English label of several words is the plural of a relation: *Key URLs*."""
    words = label.casefold().split()
    return len(words) > 1 and words[-1].endswith("s") and kind_of_key(words[-1].removesuffix("s")) is not None
