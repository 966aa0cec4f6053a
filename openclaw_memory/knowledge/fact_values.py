"""What values of relations look like, and what only looks like one: a placeholder, a choice, a part of something."""

from __future__ import annotations

import re

from ..text.scripts import UNCASED_LETTER
from ..text.sentences import sentence_spans
from . import fact_words
from .fact_sentences import tidy
from .heading_names import ASIDE, SIGNS

#: Where the next pair begins within a value, as in "8 GB, Disk: 364 GB".
_NEXT_PAIR = re.compile(r",\s+(?=[^\W\d_]\w*(?:\s[^\W_]+)?[:：]\s)")
#: What parts a short value from something else on its line.
_MIDDLE = re.compile(r"\s[·•]\s|(?<=\w)/?\s(?=[✅❌⚠☑✔✗✘⏳🚧])")
PLACEHOLDER = re.compile(
    r"^[_*]*[(（<\[{]|^_[^_]*\s[^_]*_$|(?:^|/)path/to(?:/|$)|\{\{|<[a-z_ -]+>|x{4,}|y{4}|[?？…:：]$|\.\.\.$|~~|\?\?"
    r"|\[redacted|\s[→↔]\s"
)
#: The line of a file, where something is to be done: that file is nobody's.
_LINE = re.compile(r"\.\w{1,5}:\d")
#: What may be chosen of, of which nothing has been: "open / closed / done", "low | high", "YYYY-MM-DD", "e.g. …".
CHOICE = re.compile(
    r"(?:[a-zß-ÿа-яё_-]+\s[/|]\s){2,}[a-zß-ÿа-яё_-]+|[\"“'`]*(?:Y{2,4}[-/.]?M{1,2}[-/.]?D{1,2}|H{1,2}:M{1,2})\b.*"
    r"|#[\w-]+(?:[,/|]?\s*#[\w-]+){2,}"
    r"|(?:[eE]\.\s?g\.|z\.\s?B\.|p\.\s?ex\.|par ex\.|напр\.|例如|たとえば|vd\.|bijv\.|np\.).*"
)
#: How much more or less something has become.
_CHANGE = re.compile(r"[+−]\s?\d")
_TRUNCATED = tuple("()|（）|[]|「」|“”".split("|"))
#: What a value must look like, by the kind of its relation; and the most words that it may have.
_LOOKS: dict[str, tuple[str, int]] = {
    "name": (r"(?![a-zß-ÿа-яё\d]).+|`[^`]+`|[a-z]\w*[A-Z\d_.-]\w*", 6),
    "state": (r"(?!\S*/\S+\.)[^|→]+$", 8),
    "date": (r"(?!\W*\d{1,2}:\d\d[^\d/.年月]*(?:[+-]\d{1,2})?\W*\Z).*(?:\d|[年月日]|\b[A-ZÀ-Þ]\w+)", 8),
    "number": (r".*\d", 10),
    "time": (r"(?!\W*\d+[.,]\d).*(?:\d|[年月日時时点分]|daily|weekly|monthly|[*])", 12),
    "url": (r"\W*(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:[/:]\S*)?)", 4),
    "path": (r"(?=.*[^\W\d_])\W*(?:~|[A-Z]:\\|\.{0,2}/|[\w.@-]+/)[^\s]*|\W*[\w./-]+\.[a-z]{1,5}\b", 6),
    "repo": (r"\W*(?:https?://\S+|[\w.@:-]+/[\w./-]+)", 5),
    "email": (r"\W*\S+@\S+\.\w+\W*(?:\Z|\s\W|\s\S+@)", 5),
    "phone": (r"\W*\+?[\d\s().-]{6,}", 8),
    "ip": (r"\W*(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:]+)", 6),
    "port": (r"\W*\d{2,5}\b", 4),
    "zone": (r"\W*(?:[A-Z]\w+/\w+|\w+.*\b(?:UTC|GMT)|(?![a-zß-ÿа-яё\d])\w[^.,:]*\Z)", 8),
    "version": (r"\W*(?:v?\.?\d[\w+-]*(?:\Z|\s*[^\w\s])|v\.?\d|\d+\.\d)", 6),
    # Of several words the first is no ordinary one, or the others are a remark, or they are somebody's name.
    "id": (r"\W*(?=\S*[\d_@#:./+-]|\S+\Z|\S+\s[(（]|\S+（|[A-Z]\S+\s[A-Z]\S+\Z)[@#]?[A-Za-z0-9_.@:/+-]{2,}", 3),
    "text": (r".+", 25),
    # What is counted is none: "16 records".
    "tool": (r"(?!\W*\d[\d.,]*\+?\s).+", 25),
}
_SHAPES = {kind: re.compile(shape, re.S) for kind, (shape, _) in _LOOKS.items()}


def value_of(value: str, kind: str, most: int = 160) -> str | None:
    """The first sentence of a value, where it is short, whole, and looks as its kind does."""
    spans = sentence_spans(value)
    if not spans:
        return None
    value = _NEXT_PAIR.split(value[spans[0][0] : spans[0][1]], maxsplit=1)[0]
    if kind not in ("text", "tool", "state"):
        value = _MIDDLE.split(value, maxsplit=1)[0]
    if kind in ("state", "name"):
        value = re.split(r"\s[–—]\s|\s-\s|;\s|；" if kind == "name" else r";\s|；", value, maxsplit=1)[0]
    text = tidy(value)
    low = text.casefold()
    if not text or len(text) > most or PLACEHOLDER.search(value.strip()) or PLACEHOLDER.search(text):
        return None
    bare = tidy(SIGNS.sub(" ", ASIDE.sub(" ", low)))
    if not {low, bare, bare.split(" ", 1)[0]}.isdisjoint(fact_words.every("empty") | fact_words.every("owner")):
        return None
    if _CHANGE.match(text) and kind not in ("phone", "zone"):
        return None
    if not any(map(str.isalnum, text)) or (kind == "path" and _LINE.search(text)):
        return None
    if kind == "state" and _says_done(bare):
        return None  # what was done is a step, and no state
    if CHOICE.fullmatch(text):
        return None  # a form to be filled in
    if any(text.count(pair[0]) != text.count(pair[1]) for pair in _TRUNCATED) or text.count('"') % 2 or "|" in text:
        return None
    if (
        len(ASIDE.sub(" ", text).split()) > _LOOKS[kind][1]
        or len(text.split()) > _LOOKS["text"][1]
        or (kind in ("state", "name") and len(text) > 80)
    ):
        return None
    return text if _SHAPES[kind].match(value.strip() if kind == "name" else text) else None


def _says_done(state: str) -> bool:
    """Whether a state, in small letters, begins with a word for what was done, and none for how something stands."""
    words = [word for word in state.split() if word not in fact_words.every("adverbs")]
    done = fact_words.every("done") - fact_words.every("states")
    return bool(words) and (words[0] in done or state.startswith(tuple(filter(UNCASED_LETTER.match, done))))
