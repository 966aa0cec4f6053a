"""Taking forgotten words out of a text while every other line stays where it is."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from ..text.front_matter import front_matter, front_matter_end
from ..text.lines import split_lines
from .tombstones import Matcher, Tombstones
from .words import Words, lead, says_nothing, words_of

#: What stands in the place of forgotten words: for ingest no word, so that nothing of it is searched, and for readers.
INDEX_MARK = "[…]"
READ_MARK = "[forgotten]"

#: Folders of the files that this package writes, one text a line.
SUMMARIES, CAPTURES = "memory/consolidated", "memory/captures"

_BREAK = re.compile(r"(\r\n|\r|\n)")
#: What of a file's front matter counts for how far it is trusted, when it is from, and whether it is read at all.
_KEPT = ("origin", "date", "memory", "private")


def masked(text: str, path: str, matcher: Matcher, mark: str = INDEX_MARK) -> str:
    """``text`` of the file ``path`` with ``mark`` in the place of what was forgotten; the same number of lines.

    A line of which nothing but marks and stamps would be left is the mark alone.  Front matter stays valid, and what
    it says of origin and date stays.
    """
    if not matcher:
        return text
    words = words_of(text)
    if matcher.holds_text(words, path):
        return _blank(text, mark)
    spans = _spans(words, matcher, path)
    return _without(text, spans, path, mark) if spans else text


def readable(tombstones: Tombstones, path: str, text: str) -> str:
    """``text`` of the file ``path`` as ingest may read it."""
    return masked(text, path, tombstones.matcher)


def shown(text: str, read: str, path: str, matcher: Matcher) -> str:
    """``text`` of the file ``path`` as people and models may see it; ``read`` is what ingest reads of it.

    A line of which that lacks something is not shown at all where it holds what ingest does not know, such as a secret.
    """
    made, seen, given = _BREAK.split(masked(text, path, matcher, READ_MARK)), split_lines(read), _BREAK.split(text)
    for number, line in enumerate(seen):
        own = given[2 * number]
        if made[2 * number] == own and own.strip():
            if not line.strip() or (INDEX_MARK in line and INDEX_MARK not in own):
                made[2 * number] = lead(own) + READ_MARK
    return "".join(made)


def touched(text: str, path: str, matcher: Matcher) -> list[tuple[int, int]]:
    """The lines (from 0, both inclusive) of each run of forgotten words, in order."""
    if not matcher:
        return []
    words = words_of(text)
    if matcher.holds_text(words, path):
        return [(0, len(_BREAK.findall(text.rstrip("\r\n"))))]
    ends = [match.end() for match in _BREAK.finditer(text)]

    def line(at: int) -> int:
        return bisect_right(ends, at)

    return [(line(start), line(end - 1)) for start, end in _spans(words, matcher, path)]


def is_ours(path: str) -> bool:
    """Whether a file of the workspace was written by this package: a summary or a capture."""
    folder = str(PurePosixPath(path).parent)
    return folder == CAPTURES or folder.startswith((f"{SUMMARIES}/", f"{CAPTURES}/"))


def _spans(words: Words, matcher: Matcher, path: str) -> list[tuple[int, int]]:
    """Characters ``start:end`` of forgotten words, those that touch or overlap joined."""
    spans: list[tuple[int, int]] = []
    reached = -1
    for match in matcher.find(words, path):
        start, end = words.starts[match.first], words.ends[match.last]
        if (
            spans
            and match.first <= reached + 1
            and not _BREAK.search(words.text, spans[-1][1], max(start, spans[-1][1]))
        ):
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
        reached = max(reached, match.last)
    return spans


def _without(text: str, spans: Sequence[tuple[int, int]], path: str, mark: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], _covered(text[start:end], mark))
        at = max(at, end)
    made = _BREAK.split("".join([*parts, text[at:]]))
    given = _BREAK.split(text)
    # Lines stand at even places, their ends between them.
    for number in range(2 * _front_end(given[::2], path), len(given), 2):
        line = made[number]
        if line.strip() and line != given[number] and "|" not in line and says_nothing(line.replace(mark, " ")):
            made[number] = lead(line) + mark
    made[::2] = _front_kept(given[::2], made[::2], path)
    if given[-1] and not made[-1]:
        made[-1] = mark  # a last line without an end is one only as long as it says something
    return "".join(made)


def _covered(text: str, mark: str) -> str:
    """The mark, and what parts the cells of a row and the lines."""
    lines = _BREAK.split(text)
    for number in range(0, len(lines), 2):
        lines[number] = (mark if not number else "") + " |" * lines[number].count("|")
    return "".join(lines)


def _front_kept(given: Sequence[str], made: list[str], path: str) -> list[str]:
    """The lines with front matter that says the same of what counts: it may be what lowers the trust in a file."""
    end = _front_end(given, path)
    if not end or made[:end] == list(given[:end]):
        return made
    if path.startswith(f"{SUMMARIES}/"):
        return [*given[:end], *made[end:]]  # made by us, of paths and hashes
    before = front_matter(given)
    if front_matter_end(made) == end and _kept(front_matter(made)) == _kept(before):
        return made
    # It cannot be read any more, or says something else now.
    kept = {key: before[key] for key in _KEPT if key in before}
    return [json.dumps(kept, ensure_ascii=False), *[""] * (end - 1), *made[end:]]


def _front_end(lines: Sequence[str], path: str) -> int:
    """How many lines the front matter takes; that of a summary may be longer than a note's."""
    if path.startswith(f"{SUMMARIES}/") and len(lines) > 1 and lines[0].rstrip() == "---" and ":" in lines[1]:
        return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)
    return front_matter_end(lines)


def _kept(front: dict[str, Any]) -> list[Any]:
    return [front.get(key) for key in _KEPT]


def _blank(text: str, mark: str) -> str:
    """As many lines as ``text`` has, with nothing but the mark in the first."""
    lines = _BREAK.split(text)
    open_end = bool(lines[-1])
    lines[::2] = [""] * len(lines[::2])
    lines[0] = mark
    if open_end:
        lines[-1] = mark
    return "".join(lines)
