"""Find the parts of a text that are struck out: they can be searched, and count as no longer stated.

These are ``~~…~~``, also over lines and paragraphs, ``<del>`` and ``<s>``, comments of HTML and Obsidian (``%%…%%``),
items that were called off (``- [-]``, ``- [~]``), lines below an item or heading that is struck out as a whole,
and both sides of a conflict that a merge has left.  A mark without its other half strikes nothing out, nor does one in
code.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from itertools import accumulate, groupby, pairwise

from .. import patterns as re
from .lines import FENCE, ITEM

#: Halves of what strikes out; code and escaped marks, which are none, come first.
_MARK = re.compile(
    r"(?P<code>(?:(?<!`)|(?<=\\`))(?P<ticks>`++)(?:[^`\n]|(?!(?P=ticks)(?!`))`++){1,800}+(?P=ticks)(?!`)|\\[~%`<])"
    r"|(?P<tilde>(?<!~)~~(?!~))|(?P<percent>%%)|(?P<comment><!--)|(?P<end>-->)"
    r"|<(?P<close>/?)(?P<tag>del|strike|s)(?:\s[^<>\n]*)?>",
    re.IGNORECASE,
)
_HINT = re.compile(r"~~|%%|<|\[[-~]\]")
#: The beginning of a line: quotes and blanks, the mark of an item with its box, or that of a heading.
_LEAD = re.compile(
    rf"(?P<indent>[ \t>]*)(?:(?P<item>{ITEM}[ \t]+)(?:\[(?P<box>.)\](?=[ \t]|$))?|(?P<heading>#{{1,6}})[ \t])?"
)


def without_struck(text: str) -> str:
    """Return ``text`` with blanks in the place of struck parts; its length and lines stay."""
    return "\n".join(strike_lines(text.split("\n"))[0]) if _HINT.search(text) else text


def strike_lines(lines: Sequence[str]) -> tuple[list[str], Set[int]]:
    """Return ``lines`` with blanks in the place of struck parts, and the lines (0-based) that are no Markdown.

    The latter are those of a conflict, and those that begin within a struck part.
    """
    if not any(map(_HINT.search, lines)):
        return list(lines), frozenset()
    code = _code(lines)
    carried = set(_in_conflict(lines, code))
    text = "\n".join(" " * len(line) if at in carried else line for at, line in enumerate(lines))
    seen = "\n".join(" " * len(line) if at in carried or at in code else line for at, line in enumerate(lines))
    begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
    parts, done = [], 0
    for start, end in _spans(seen):
        parts += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = end
        carried.update(range(bisect_right(begins, start), bisect_left(begins, end)))
    out = "".join([*parts, text[done:]]).split("\n")
    _strike_below(lines, out, carried, code)
    return out, carried


def has_no_words(line: str) -> bool:
    """Return true if a line has no letter or digit behind the mark of its item."""
    lead = _LEAD.match(line)
    return not any(map(str.isalnum, line[lead.end() if lead else 0 :]))


def _code(lines: Sequence[str]) -> Set[int]:
    """Return the lines of code between fences, with the fences."""
    code: set[int] = set()
    fence = ""
    for at, line in enumerate(lines):
        mark = FENCE.match(line)
        if fence or mark:
            code.add(at)
        if not fence and mark:
            fence = mark["mark"]
        elif mark and mark["mark"].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
    return code


def _in_conflict(lines: Sequence[str], code: Set[int]) -> Iterator[int]:
    """Yield the lines of conflicts that a merge has left, with those of their marks."""
    first, parted = -1, False
    for at, line in enumerate(lines):
        mark = line[:8].rstrip()
        if at in code:
            continue
        if mark == "<" * 7:
            first, parted = at, False
        elif first >= 0 and mark == "=" * 7:
            parted = True
        elif parted and mark == ">" * 7:
            yield from range(first, at + 1)
            first, parted = -1, False


def _strike_below(lines: Sequence[str], out: list[str], carried: Set[int], code: Set[int]) -> None:
    """Strike out items that were called off, and lines below an item or heading that is struck out as a whole."""
    item, level, off = -1, 0, False
    for at, line in enumerate(lines):
        lead = _LEAD.match(line)
        if lead is None or at in code or at in carried or not line.strip():
            if line.strip() and (level or (item >= 0 and off)):
                out[at] = " " * len(line)
            continue
        indent = len(lead["indent"])
        if lead["heading"]:
            item, off = -1, False
            if not level or len(lead["heading"]) <= level:
                level = len(lead["heading"]) if has_no_words(out[at]) and not has_no_words(line) else 0
                continue
        if item >= 0 and indent <= item and (lead["item"] or not lines[at - 1].strip()):
            item, off = -1, False
        if item >= 0 and lead["item"]:
            off = True
        if item < 0 and lead["item"]:
            off = (lead["box"] or "") in ("-", "~")
            item = indent if off or (has_no_words(out[at]) and not has_no_words(line)) else -1
        if level or off:
            out[at] = " " * len(line)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the struck parts, marks included, in order and apart; a part within another part belongs to that."""
    marks = [match for match in _MARK.finditer(text) if match["code"] is None]
    ends: dict[str, list[re.Match[str]]] = {}
    for match in marks:
        if _closes(text, match):
            ends.setdefault(_kind(match), []).append(match)
    pairs = list(_tildes(text, [match for match in marks if match["tilde"] is not None]))
    for match in marks:
        if match["tilde"] is None and _opens(text, match):
            places = ends.get(_kind(match), [])
            at = bisect_left(places, match.end(), key=lambda end: end.start())
            pairs += [(match.start(), places[at].end())] if at < len(places) else []
    done = 0
    for start, end in sorted(pairs):
        if start >= done:
            done = end
            yield start, end


def _tildes(text: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the parts between tildes: those of one paragraph or item, and of the rest those of whole lines."""
    if not marks:
        return
    parted = list(re.finditer(rf"\n[ \t>]*(?=\n|#|{ITEM}[ \t])", text))
    begins = [match.start() for match in parted]
    left: list[re.Match[str]] = []
    for _, block in groupby(marks, key=lambda mark: bisect_left(begins, mark.start())):
        opened: re.Match[str] | None = None
        for mark in block:
            if opened is not None and _closes(text, mark):
                yield opened.start(), mark.end()
                opened = None
                continue
            left += [] if opened is None else [opened]
            opened = mark
        left += [] if opened is None else [opened]
    headings = [match.start() for match in parted if text.startswith("#", match.end())]
    for first, last in pairwise(left):
        begin, end = first.start(), last.end()
        # Before a part at the beginning of a line stand fewer than 80 characters.
        line = text.rfind("\n", max(0, begin - 80), begin) + 1
        whole = (line or begin <= 80) and has_no_words(text[line:begin])
        if whole and _closes(text, last) and not text[end : end + 80].partition("\n")[0].strip():
            if bisect_left(headings, begin) == bisect_left(headings, end):
                yield begin, end


def _kind(match: re.Match[str]) -> str:
    """Return the kind of mark that this is one half of."""
    return (match["tag"] or "").lower() or {"end": "comment"}.get(str(match.lastgroup), str(match.lastgroup))


def _opens(text: str, match: re.Match[str]) -> bool:
    before = text[match.start() - 1 : match.start()]
    if match["percent"] is not None:
        return not (before.isalnum() or before == "%")
    return match["comment"] is not None or (match["tag"] is not None and not match["close"])


def _closes(text: str, match: re.Match[str]) -> bool:
    before, behind = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if match["tilde"] is not None:
        return bool(before.strip())
    if match["percent"] is not None:
        return not (behind.isalnum() or behind == "%")
    return match["end"] is not None or bool(match["close"])
