"""An entry as Markdown: readable, dated, with its origin, and with a digest that tells whether it was edited since."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..model import Origin
from ..system import yaml_edit
from ..system.inert import inert
from ..text.characters import whole
from ..text.lines import split_lines
from .entry import Entry

_NO_DIGEST = "0" * 64
_IMPORTED = re.compile(r"^imported: \{source: [\w-]+, key: ([a-p]{12}), digest: ([0-9a-f]{64})[,}]", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
#: A text that begins as a block of Markdown other than a paragraph stands below its speaker.
_BLOCK = re.compile(r"\s|[#>`~|<*+-]|\d+[.)]")


@dataclass(frozen=True, slots=True)
class Note:
    """A file to be: ``path`` in the folder of its source, ``key`` of the entry, ``digest`` of its text."""

    path: PurePosixPath
    key: str
    text: str
    digest: str


def note_of(entry: Entry, source: str, origin: Origin) -> Note:
    """The note of an entry."""
    title = " ".join(_clean(entry.title).split())
    month = "undated" if entry.day is None else entry.day.isoformat()[:7]
    slug = "-".join(re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", title).casefold()))[:40].strip("-")
    lines = list(_body(entry, title))
    while lines and not lines[-1]:
        lines.pop()
    text = "\n".join([*_head(entry, source, origin), *lines, ""])
    digest = _digest(text)
    name = f"{slug}-{entry.key}.md" if slug else f"{entry.key}.md"
    return Note(PurePosixPath(month, name), entry.key, text.replace(_NO_DIGEST, digest, 1), digest)


def stated(text: str) -> tuple[str, str, bool] | None:
    """The key and digest that a note of ours states, and whether it still is as we wrote it; ``None`` for others."""
    found = _IMPORTED.search(text, 0, 20_000)  # our front matter takes no more
    if found is None or not text.startswith("---"):
        return None
    unsigned = text[: found.start(2)] + _NO_DIGEST + text[found.end(2) :]
    return found[1], found[2], _digest(unsigned) == found[2]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _head(entry: Entry, source: str, origin: Origin) -> list[str]:
    lines = ["---"]
    if entry.day is not None:
        lines.append(f"date: {entry.day.isoformat()}")
    lines.append(f"origin: {origin.value}")
    if tags := [" ".join(_clean(tag).split()) for tag in entry.tags]:
        lines.append(f"tags: {yaml_edit.flow(tags)}")
    more = "".join(
        f", {name}: {yaml_edit.scalar(' '.join(_clean(value).split()))}" for name, value in entry.facts.items()
    )
    lines.append(f"imported: {{source: {source}, key: {entry.key}, digest: {_NO_DIGEST}{more}}}")
    return [*lines, "---"]


def _body(entry: Entry, title: str) -> Iterator[str]:
    """The lines below the front matter: the title, and what was said, below the day on which it was."""
    if title:
        yield from (f"# {title}", "")
    # Without one it is dated by the front matter; a title may state some other day.
    day = None
    for one in entry.said:
        said = one.day or day or entry.day
        if said is not None and said != day and (title or day is not None or said != entry.day):
            yield from (f"## {said.isoformat()}", "")
        day = said
        yield from _message(one.text, " ".join(_clean(one.speaker).split()).strip(": "))
        yield ""


def _message(text: str, speaker: str) -> Iterator[str]:
    """The lines of a text, which open no section above the one that it stands in and leave no code open."""
    lines = split_lines(_clean(text).strip("\n"))
    if speaker and lines and _BLOCK.match(lines[0]):
        yield f"{speaker}:"
    elif speaker and lines:
        lines[0] = f"{speaker}: {lines[0]}"
    fence, before = "", ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            line = f"{heading[1]}{'#' * min(2, 6 - len(heading[2]))}{line[heading.start(2) :]}"
        elif before.strip() and _UNDERLINE.match(line):
            yield ""
        yield line
        before = line
    if fence:
        yield fence


def _clean(text: str) -> str:
    """``text`` in lines of our own, without what no file may hold or what hides in it."""
    return inert(whole("\n".join(split_lines(text))))
