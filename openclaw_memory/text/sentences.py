"""Split a text into sentences, and a long one into pieces of about a given length.

Everything here takes time linear in the text, also for a line of a megabyte without a space.
"""

from __future__ import annotations

from functools import cache

from .. import patterns as re
from . import word_lists
from .dates import MONTH_NUMBERS, NAMES

Span = tuple[int, int]

#: A sentence longer than this many times the wanted size is cut at clauses or words.
LONG = 3
#: No piece is longer than this many times the wanted size.
CEILING = 4

#: Ends of sentences by script: Latin and others, fullwidth, Arabic, Urdu, Devanagari,
#: Armenian, Ethiopic, Khmer, Burmese, Tibetan.
MARKS = ".!?…。！？｡؟۔।॥։።፧។၊။།‼⁇⁈⁉"
#: Question marks; the semicolon is one in Greek only.
QUESTION_MARKS = "?？؟⁇⁈⁉፧"
#: Marks that end a sentence also where no blank follows.
_SURE = "".join(sorted(set(MARKS) - set(".!?…།၊")))
# Possessive quantifiers, and a run of dots tried only at its start: a megabyte of dots stays linear.
_END = re.compile(
    rf"""(?<![.!?…])(?:[.!?…])++["'”’»)\]*_`]*+(?=\s)|[{_SURE}]++[」』”’》）】"')\]*_`]*+"""
    r"""|(?<=[\u0370-\u03ff\u1f00-\u1fff]);(?=\s)"""
)

_BLANKS = (" ", "\t", "\u3000")


def sentence_spans(text: str) -> list[Span]:
    """Split ``text`` into sentences, as ``(start, end)`` offsets without the blanks around them.

    A full stop inside an abbreviation, a number, a version, an address or a list marker ends nothing.
    """
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if end < len(text) and not _ends_sentence(text, start, match):
            continue
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def ends_sentence(text: str) -> bool:
    """Return true if ``text`` ends as a sentence does, in any script; quotes, brackets, marks and emoji may follow."""
    return re.search(rf"[{MARKS}][^\w{MARKS}]*$", text) is not None


def pieces(text: str, size: int) -> list[Span]:
    """Cut ``text`` at sentence borders into pieces of up to ``size`` characters.

    A sentence is never cut before it is ``LONG * size`` characters long; no piece exceeds
    ``CEILING * size``.  Offsets as in :func:`sentence_spans`.
    """
    out: list[Span] = []
    for start, end in sentence_spans(text):
        if end - start > LONG * size:
            out += _clauses(text, start, end, size)
        elif out and (end - out[-1][0] <= size or out[-1][1] - out[-1][0] < size // 4):
            # A crumb such as "**Versions.**" says nothing without what follows.
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    if len(out) > 1 and out[-1][1] - out[-1][0] < size // 4 and out[-1][1] - out[-2][0] <= size + size // 4:
        # Nor does a last "Thanks!" alone.
        out[-2:] = [(out[-2][0], out[-1][1])]
    return out


@cache
def _abbreviations() -> dict[str, frozenset[str]]:
    """Return the words behind or before which a full stop ends no sentence, by their place."""
    out: dict[str, set[str]] = {}
    for place, line in word_lists.lines_of(__package__, "abbreviations.txt"):
        out.setdefault(place, set()).update(line.split()[1:] if place == "always" else line.split())
    return {name: frozenset(words) for name, words in out.items()}


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    part = text[start:end]
    body = part.lstrip()
    if body:
        start += len(part) - len(body)
        spans.append((start, start + len(body.rstrip())))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] in _SURE or mark[0] == ";":
        return True
    behind = text[match.end() : match.end() + 24].lstrip()
    following = behind[:1]
    if following.islower():
        return False
    if mark[0] != "." or mark[1:2] == ".":
        return True
    words = text[max(start, match.start() - 16) : match.start()].split()
    if not words:
        return True
    word = words[-1].lstrip("\"'“‘«([*_`")
    lower = word.lower()
    abbreviations = _abbreviations()
    if lower in abbreviations["always"] or (
        following.isdigit() and (lower in abbreviations["before a number"] or lower in MONTH_NUMBERS.keys() - NAMES)
    ):
        return False
    # "am 13. Februar": a day, in languages that put a stop behind it.
    if (
        word.isdigit()
        and len(word) <= 2
        and behind.lower().split(" ", 1)[0].rstrip(".,;:!?)") in abbreviations["after a day"]
    ):
        return False
    # An initial or "e.g."; behind a number it is a unit: "at 14 h. Then …".
    is_unit = len(words) > 1 and words[-2].isdigit() and word.islower()
    if re.fullmatch(r"(?:[^\W\d_]\.)*[^\W\d_]", word) and word != "I" and not is_unit:
        return False
    # "1. First item": the marker of a list is no sentence.
    return not (word.isdigit() and match.start() - start <= len(word) + 2)


def _clauses(text: str, start: int, end: int, size: int) -> list[Span]:
    out: list[Span] = []
    while end - start > size:
        cut = _cut(text, start, end, size)
        _add(out, text, start, cut)
        start = cut
    _add(out, text, start, end)
    return out


def _cut(text: str, start: int, end: int, size: int) -> int:
    window = text[start : start + size]
    marks = (", ", "; ", ": ", " — ", " – ", "，", "；", "、")
    clause = max(window.rfind(mark) + len(mark) for mark in marks)
    if clause > size // 2:
        return start + clause
    word = max(window.rfind(blank) for blank in _BLANKS)
    if word > size // 4:
        return start + word
    # One endless word: go on to its end, but not for ever.
    last = min(end, start + CEILING * size)
    ends = [at for blank in _BLANKS if (at := text.find(blank, start + size, last)) > 0]
    return min(ends, default=last)
