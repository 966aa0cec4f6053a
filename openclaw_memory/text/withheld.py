"""Take out of a file the parts that are not remembered: private ones, and the additions of a host to messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import patterns as re
from .front_matter import parse_front_matter, withholds
from .lines import split_lines

#: Text that readers see in the place of a private line.
READ_MARK = "[private]"

# Possessive: a megabyte of blanks stays linear.
_MARKER = re.compile(
    r"<!--\s*+(?P<end>/?)\s*+private(?:(?:\s*+[:：(]|\s++(?!-->)[-–—])(?:(?!-->)[^\r\n])*+|\s*+)-->", re.IGNORECASE
)
_LINE = re.compile(r"[^\r\n]+")
# The first line of a block that OpenClaw puts into a message, as it was written before 2026.9 and since.
# Who speaks stays: what follows the block is this turn's.
_HOST_BLOCK = re.compile(
    r"""^(?P<turn>\w{1,12}:[ ]++)?(?:
        [^\r\n]{1,80}[ ]\(untrusted(?:[ ]metadata|,[^)\r\n]{1,60})\):
        | Untrusted[ ]context[ ]\(metadata[^)\r\n]*\):
        | [^\r\n]{0,120}⟦openclaw:ctx⟧
        )[ \t]*\r?$\n?
        (?: ```json[ \t]*\r?\n(?:(?!```)[^\n]*(?:\n|\Z))*(?:```[ \t]*)?
          | (?:[ \t]*[^\s][^\n]*(?:\n|\Z))* )""",
    re.MULTILINE | re.VERBOSE,
)
# An envelope: "[Telegram Ana id:84 +17s 2026-02-07 03:39 GMT+8] ", of which a person's own stamp has no time zone; and
# the id below it.  What the host itself says, "System: [2026-02-07 03:39:01 UTC] Exec completed", keeps its shape.
_ENVELOPE = re.compile(
    r"""^(?!System:)(?P<turn>\w{1,12}:[ ]++)?
        (?:\[[^\[\]\r\n]{0,160}?\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:Z|[ ][A-Z]{2,5}(?:[+-][\d:]{1,5})?)\]
        | \[message_id:[^\[\]\r\n]{1,80}\][ \t]*$ )""",
    re.MULTILINE | re.VERBOSE,
)
#: Openings and ends of the blocks that hosts put into a message; a third text is the end of the closing mark.
_HOST_BLOCKS = (
    ("<openclaw_memory", "</openclaw_memory>", ""),
    ("<active_memory_plugin>", "</active_memory_plugin>", ""),
    ("<relevant-memories>", "</relevant-memories>", ""),
    ("<system-reminder>", "</system-reminder>", ""),
    ("<<<EXTERNAL_UNTRUSTED_CONTENT", "<<<END_EXTERNAL_UNTRUSTED_CONTENT", ">>>"),
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT", "<<<END_OPENCLAW_INTERNAL_CONTEXT", ">>>"),
)


def without_private(text: str, mark: str = " ", front: Mapping[str, Any] | None = None) -> str:
    """Return ``text`` with ``mark`` in the place of each private line or part of one; line ends stay.

    A private part stands between ``<!-- private -->``, which may give a reason (``<!-- private: salary -->``), and
    ``<!-- /private -->``, or the end of the text; pairs may be nested.  Front matter with ``memory: false`` or
    ``private: true`` makes the whole text private; ``front`` holds its values if the caller has parsed it.
    """
    if withholds(parse_front_matter(split_lines(text)).values if front is None else front):
        return _LINE.sub(mark, text)
    return _masked(text, _private(text), mark)


def without_host_additions(text: str, cut_unterminated: bool = False) -> str:
    """Return ``text`` without the additions of a host to the messages of a transcript; line ends stay.

    These are memories, untrusted text and the facts about a message and its sender.  A block without an end stays,
    unless ``cut_unterminated`` is set or it is untrusted text, which must not pass for want of an end.
    """
    for opening, closing, last in _HOST_BLOCKS:
        text = without_block(text, opening, closing, last, cut_unterminated or opening.startswith("<<<"))
    for block, sign in ((_HOST_BLOCK, "untrusted"), (_HOST_BLOCK, "\u27e6openclaw"), (_ENVELOPE, "[")):
        if sign in text.lower():
            spans = ((max(match.start(), match.end("turn")), match.end()) for match in block.finditer(text))
            text = _masked(text, spans, " ")
    return text


def without_block(text: str, opening: str, closing: str, last: str = "", cut_unterminated: bool = False) -> str:
    """Return ``text`` without the parts between ``opening`` and ``closing``, behind which its ``last`` mark stands.

    A block without an end stays; with ``cut_unterminated`` it goes, to the last line.
    """
    return _masked(text, _blocks(text, opening, closing, last, cut_unterminated), " ") if opening in text else text


def _blocks(text: str, opening: str, closing: str, last: str, cut_unterminated: bool) -> Iterator[tuple[int, int]]:
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end >= 0 and last:
            end = text.find(last, end + len(closing))
        if end < 0:
            if cut_unterminated:
                yield start, len(text)
            return
        yield start, end + len(last or closing)
        start = text.find(opening, end + len(last or closing))


def _private(text: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for match in _MARKER.finditer(text):
        if not match["end"]:
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, match.end()
    if depth:
        yield start, len(text)


def _masked(text: str, spans: Iterable[tuple[int, int]], mark: str) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], _LINE.sub(mark, text[start:end])]
        at = end
    return "".join([*parts, text[at:]])
