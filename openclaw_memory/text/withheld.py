"""What of a file is not remembered: what is private, and what OpenClaw marks as untrusted in a transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .front_matter import bare, front_matter
from .lines import split_lines

#: What readers see in the place of a private line.
READ_MARK = "[private]"

# Possessive: a megabyte of blanks stays linear.
_MARKER = re.compile(r"<!--\s*+(?P<end>/?)\s*+private\s*+-->", re.IGNORECASE)
_DENIES = re.compile(r"^[^\w\r\n]*memory[^\w\r\n]*:", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
# The first line of a block that OpenClaw puts into a message, as it was written before 2026.9 and since.
_HOST_BLOCK = re.compile(
    r"""^(?:
        [^\r\n]{1,80}[ ]\(untrusted(?:[ ]metadata|,[^)\r\n]{1,60})\):
        | Untrusted[ ]context[ ]\(metadata[^)\r\n]*\):
        | [^\r\n]{0,120}⟦openclaw:ctx⟧
        )[ \t]*\r?$\n?
        (?: ```json[ \t]*\r?\n(?:(?!```)[^\n]*(?:\n|\Z))*(?:```[ \t]*)?
          | (?:[ \t]*[^\s][^\n]*(?:\n|\Z))* )""",
    re.MULTILINE | re.VERBOSE,
)
_FOREIGN = re.compile(
    r"<<<EXTERNAL_UNTRUSTED_CONTENT(?:(?!<<<END_EXTERNAL_UNTRUSTED_CONTENT).)*(?:<<<[^>\n]*>>>)?", re.S
)


def without_private(text: str, mark: str = " ") -> str:
    """``text`` with ``mark`` in the place of each private line or part of one; line ends stay where they are.

    Private is what stands between ``<!-- private -->`` and ``<!-- /private -->``, or the end of the text; pairs may
    stand in one another.  Where the front matter says ``memory: false`` everything is.
    """
    stated = front_matter(split_lines(text)) if _DENIES.search(text) else {}
    if any(bare(key) == "memory" and bare(str(value)) in ("false", "no", "off") for key, value in stated.items()):
        return _LINE.sub(mark, text)
    return _covered(text, _private(text), mark)


def without_foreign(text: str) -> str:
    """``text`` without the blocks that OpenClaw marks as untrusted in a transcript; line ends stay where they are."""
    if "ntrusted" not in text and "UNTRUSTED" not in text and "⟦" not in text:
        return text
    for block in (_HOST_BLOCK, _FOREIGN):
        text = _covered(text, (found.span() for found in block.finditer(text)), " ")
    return text


def private_lines(text: str) -> int:
    """How many lines of ``text`` are private, or hold something that is."""
    return sum(line != seen for line, seen in zip(split_lines(text), split_lines(without_private(text)), strict=True))


def _private(text: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for found in _MARKER.finditer(text):
        if not found["end"]:
            start = start if depth else found.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, found.end()
    if depth:
        yield start, len(text)


def _covered(text: str, spans: Iterator[tuple[int, int]], mark: str) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], _LINE.sub(mark, text[start:end])]
        at = end
    return "".join([*parts, text[at:]])
