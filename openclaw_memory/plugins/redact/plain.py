"""Read a line as the rules do: in plain signs, single blanks, no marks of emphasis or links, and where each sign stands.

Whatever a note's program does to a text (no-break and thin blanks, wide signs, typographic hyphens, bold, highlight,
links, HTML) is taken out here once, so that no rule need know of it.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from ... import patterns as re
from ...records import NamedTuple

_UNSEEN = "\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
#: What a program puts around or within a value.  A gap wider than two blanks parts columns.
_NOISE = re.compile(
    rf"""(?=[\t *`~_<>&=\\\[\]{_UNSEEN}]) (?: (?P<unseen>[{_UNSEEN}]+)
    |(?P<gap>\t[ \t]*+|[ ][ \t]++|&(?:nbsp|ensp|emsp|thinsp|\#160);)
    |(?P<cell></?(?:t[dhr]|d[dt]|li|br)[ ]?/?>)
    |(?P<tag></?(?:[biusp]|em|strong|mark|code|kbd|span|small|font|wbr|del|ins|tt|pre|sub|sup)/?>)
    |(?P<end></[A-Za-z][\w:.-]{{0,40}}>)
    |<(?=[A-Za-z][\w:.-]{{0,40}}>[^<>\n]{{1,400}}</)
    |(?P<name>(?<=[\w."'-])>(?=[^<>\n]{{1,400}}</[A-Za-z]))
    |\*{{1,3}}(?=[\w"'`(#&!%+/$]) | (?<=[\w"'`:：.)!?#%&+=/$])\*{{1,3}}
    |(?<![\w`])__?(?=\w) | (?<=[\w:])__?(?![\w`])
    |~~
    |(?<![^\s|:(])==(?=[^\s=]) | (?<=[^\s=])==(?![^\s|.,;:)!?])
    |(?<=[\w-])`+(?=[\w-])
    |\\(?=[_*~\[\]-])
    |\[\[?(?=[^][|\n]{{1,80}}\]) (?!redacted:)(?=[^][\n]{{1,80}}\](?:\(|\])) | (?P<link>\](?=\()) | (?<=\w)\]\])""",
    re.VERBOSE | re.ASCII,
)
_LINE = 1 << 32  # more columns than a line has
_MAY_BE_NOISE = re.compile(r"[\t*`~_<&\\\[=]|  |[^\x00-\x7f]")


@cache
def _plain_signs() -> dict[int, str]:
    """Return the plain sign that each blank, hyphen and sign of full width stands for."""
    signs = {0xFF01 + n: chr(0x21 + n) for n in range(94)} | {0x2212: "-", 0x2018: "'", 0x2019: "'"}
    for code in range(0x80, 0x3100):
        category = unicodedata.category(chr(code))
        if category in ("Zs", "Pd"):
            signs[code] = " " if category == "Zs" else "-"
    return signs


def _replacement(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "gap":
        return "\t" if "\t" in match[0] or (len(match[0]) > 2 and match[0][0] == " ") else " "
    return {"cell": "\t", "name": ":", "link": " ", "end": " "}.get(kind or "", "")


def plain_text(text: str) -> str:
    """Return ``text`` in plain signs, line by line."""
    if not text.isascii():
        text = text.translate(_plain_signs())
    return _NOISE.sub(_replacement, text)


class PlainLine(NamedTuple):
    """A line, or two that are read as one: its plain ``text``, and where each sign stands: line, then column.

    Of two lines the second begins at ``border``.
    """

    text: str
    places: list[int]
    border: int = 0

    def cut(self, start: int, stop: int | None = None) -> PlainLine:
        """Return the part from ``start`` to ``stop``."""
        return PlainLine(self.text[start:stop], self.places[start:stop])

    def join(self, second: PlainLine, glue: str) -> PlainLine:
        """Return this line and the ``second`` as one, with ``glue`` between them."""
        places = [*self.places, *[-1] * len(glue), *second.places]
        return PlainLine(self.text + glue + second.text, places, len(self.text) + len(glue))

    def spans(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Return line, first and behind the last column of ``text[start:end]``, for each line that it is in."""
        columns: dict[int, tuple[int, int]] = {}
        for place in self.places[start:end]:
            if place >= 0:
                line, column = divmod(place, _LINE)
                columns[line] = columns.get(line, (column, 0))[0], column + 1
        return [(line, *span) for line, span in columns.items()]


def read_plain(line: str, number: int) -> PlainLine:
    """Return ``line``, which has that ``number``, in plain signs."""
    if not line.isascii():
        line = line.translate(_plain_signs())
    text: list[str] = []
    places: list[int] = []
    at, first = 0, number * _LINE
    for match in _NOISE.finditer(line) if _MAY_BE_NOISE.search(line) else ():
        instead = _replacement(match)
        text += [line[at : match.start()], instead]
        places += range(first + at, first + match.start() + len(instead))
        at = match.end()
    text.append(line[at:])
    places += range(first + at, first + len(line))
    return PlainLine("".join(text), places)


def lower(text: str) -> str:
    """Return ``text`` in small letters, character by character, so that places stay."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
