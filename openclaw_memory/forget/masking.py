"""Mask forgotten words in a text; every other line keeps its number."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import PurePosixPath

from .. import patterns as re
from ..ingest.scan import CAPTURES
from ..text.calendar import FOLDER as SUMMARIES
from ..text.front_matter import front_matter_end, parse_front_matter
from ..text.lines import split_lines
from .tombstones import Matcher, Tombstones
from .words import Words, is_wordless, leading_marks, split_words

#: Marks in the place of forgotten words: for ingest no word, so that nothing of it is searched, and for readers.
INDEX_MARK = "[…]"
READ_MARK = "[forgotten]"

_BREAK = re.compile(r"(\r\n|\r|\n)")


def mask(text: str, path: str, matcher: Matcher, mark: str = INDEX_MARK) -> str:
    """Return ``text`` of the file ``path`` with ``mark`` in the place of what was forgotten; as many lines.

    A line of which nothing but marks and stamps would be left is the mark alone.  Front matter stays valid, and its
    origin and date stay.
    """
    if not matcher:
        return text
    words = split_words(text)
    if matcher.holds_text(words, path):
        return _blank(text, mark)
    spans = _spans(words, matcher, path)
    return _replace(text, spans, path, mark) if spans else text


def mask_for_index(tombstones: Tombstones, path: str, text: str) -> str:
    """Return ``text`` of the file ``path`` as ingest may read it."""
    return mask(text, path, tombstones.matcher)


def mask_for_reader(text: str, indexed: str, path: str, matcher: Matcher) -> str:
    """Return ``text`` of the file ``path`` as people and models may see it; ``indexed`` is what ingest reads of it.

    A line that ingest has masked is hidden as a whole where it holds what ingest does not know, such as a secret.
    """
    raw, shown = _BREAK.split(text), _BREAK.split(mask(text, path, matcher, READ_MARK))
    for number, line in enumerate(split_lines(indexed)):
        at = 2 * number  # lines stand at even places, their ends between them
        if shown[at] == raw[at] and raw[at].strip():
            if not line.strip() or (INDEX_MARK in line and INDEX_MARK not in raw[at]):
                shown[at] = leading_marks(raw[at]) + READ_MARK
    return "".join(shown)


def masked_lines(text: str, path: str, matcher: Matcher) -> list[tuple[int, int]]:
    """Return the lines (from 0, both inclusive) of each run of forgotten words, in order."""
    if not matcher:
        return []
    words = split_words(text)
    if matcher.holds_text(words, path):
        return [(0, len(_BREAK.findall(text.rstrip("\r\n"))))]
    ends = [match.end() for match in _BREAK.finditer(text)]
    return [(bisect_right(ends, start), bisect_right(ends, end - 1)) for start, end in _spans(words, matcher, path)]


def is_generated(path: str) -> bool:
    """Return true if this package wrote the file ``path`` of the workspace: a summary or a capture."""
    folder = str(PurePosixPath(path).parent)
    return folder == CAPTURES or folder.startswith((f"{SUMMARIES}/", f"{CAPTURES}/"))


def _spans(words: Words, matcher: Matcher, path: str) -> list[tuple[int, int]]:
    """Return the characters ``start:end`` of forgotten words, those that touch or overlap joined."""
    spans: list[tuple[int, int]] = []
    reached = -1
    for match in matcher.find(words, path):
        start, end = words.starts[match.first], words.ends[match.last]
        touches = spans and match.first <= reached + 1
        if touches and not _BREAK.search(words.text, spans[-1][1], max(start, spans[-1][1])):
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
        reached = max(reached, match.last)
    return spans


def _replace(text: str, spans: Sequence[tuple[int, int]], path: str, mark: str) -> str:
    parts: list[str] = []
    copied = 0
    for start, end in spans:
        # The borders of cells and lines stay.
        covered = _BREAK.split(text[start:end])
        covered[::2] = [" |" * line.count("|") for line in covered[::2]]
        parts += (text[copied:start], mark, *covered)
        copied = max(copied, end)
    masked = _BREAK.split("".join([*parts, text[copied:]]))
    raw = _BREAK.split(text)
    for at in range(2 * _front_end(raw[::2], path), len(raw), 2):
        line = masked[at]
        if line.strip() and line != raw[at] and "|" not in line and is_wordless(line.replace(mark, " ")):
            masked[at] = leading_marks(line) + mark
    masked[::2] = _keep_trust(raw[::2], masked[::2], path)
    if raw[-1] and not masked[-1]:
        masked[-1] = mark  # a last line without an end counts only while it is not empty
    return "".join(masked)


def _keep_trust(raw: Sequence[str], masked: list[str], path: str) -> list[str]:
    """Return the masked lines with front matter that states the same trust as that of the raw ones."""
    end = _front_end(raw, path)
    if not end or masked[:end] == list(raw[:end]):
        return masked
    if path.startswith(f"{SUMMARIES}/"):
        return [*raw[:end], *masked[end:]]  # generated, of paths and hashes
    # These keys decide how far a file is trusted, when it is from, and whether it is read at all.
    kept, after = (
        {key: values[key] for key in ("origin", "date", "memory", "private") if key in values}
        for values in (parse_front_matter(raw).values, parse_front_matter(masked).values)
    )
    if front_matter_end(masked) == end and kept == after:
        return masked
    return [json.dumps(kept, ensure_ascii=False), *[""] * (end - 1), *masked[end:]]


def _front_end(lines: Sequence[str], path: str) -> int:
    """Return how many lines the front matter takes; that of a summary may be longer than a note's."""
    if path.startswith(f"{SUMMARIES}/") and len(lines) > 1 and lines[0].rstrip() == "---" and ":" in lines[1]:
        return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)
    return front_matter_end(lines)


def _blank(text: str, mark: str) -> str:
    """Return as many lines as ``text`` has, with nothing but the mark in the first, and in a last one without end."""
    lines = _BREAK.split(text)
    has_open_end = bool(lines[-1])
    lines[::2] = [""] * len(lines[::2])
    lines[0] = mark
    if has_open_end:
        lines[-1] = mark
    return "".join(lines)
