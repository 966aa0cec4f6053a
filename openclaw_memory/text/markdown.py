"""Parse Markdown into sections and units with their exact lines.

Line numbers are 1-based and count ``\
``, ``\\r\
`` and ``\\r`` only, as editors do.  Every line with a letter or
digit is covered by a unit; rules, bare fences and the lines below headers need none of their own.  Units are in
order; only the pieces of a long text (form ``sentence``) may share a line.  The ``text`` of a piece is cut from its
lines joined by single spaces; the ``text`` of every other unit is its lines joined by line feeds, without the
blanks around them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from .. import patterns as re
from ..model import CHARS_PER_TOKEN, DateSource, ParsedDocument, Section, Unit, UnitForm
from ..records import NamedTuple
from .dates import Order, date_in_front_matter, date_in_heading, date_in_name, merely_states, order_of
from .front_matter import FrontMatter, key_groups, parse_front_matter
from .lines import cells_of, split_lines
from .machine import is_host_message, is_machine, machine_blocks
from .plain import without_lead
from .sentences import CEILING, MARKS, pieces
from .struck import has_no_words, strike_lines, without_struck
from .turns import find_turns, is_role, without_speaker

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Deeper nested text is read as plain lines: it is an accident or an attack, not a note.
MAX_NESTING = 48
#: A longer paragraph is split into sentences of about this many tokens.
UNIT_TOKENS = 60


def parse(text: str, *, path: str, mtime: date, unit_tokens: int = UNIT_TOKENS) -> ParsedDocument:
    """Parse the text of a memory file, as :func:`parse_lines`."""
    lines = split_lines(text)
    return parse_lines(lines, parse_front_matter(lines), path=path, mtime=mtime, unit_tokens=unit_tokens)


def parse_lines(
    lines: Sequence[str], front: FrontMatter, *, path: str, mtime: date, unit_tokens: int = UNIT_TOKENS
) -> ParsedDocument:
    """Parse the lines of a memory file into sections of units.

    ``front`` is the file's front matter, ``path`` its path in the workspace (a name may state a date), ``mtime`` the
    day of its last change, ``unit_tokens`` the length in tokens from which a text is cut into sentences.  The date of
    a section comes from the file name, else its own heading, the nearest enclosing heading, the front matter
    (:func:`.dates.date_in_front_matter`) or ``mtime``.  No text raises an error.
    """
    body = front.lines
    left, carried = strike_lines(lines)
    # Blank lines in place of the front matter, and of what is no Markdown, keep the numbering.
    marked = ["" if at < body or at in carried else line for at, line in enumerate(lines)] if body or carried else lines
    turns = find_turns(lines)
    # The messages of a chat are texts of their own.
    chat = [at for at, speaker in turns.items() if at >= body and is_role(speaker) and lines[at].startswith(speaker)]
    blocks = blocks_of(marked, chat)
    builder = UnitBuilder(lines, left, turns, unit_tokens)
    if body:
        for start, end in key_groups(lines, 1, body - 1):
            builder.chunks(start, end, "meta")
        builder.skip(body)
    borders = [(0, 0)]
    headings: list[Block] = []
    for block in blocks:
        if block.level:
            builder.cover(block.start)
            borders.append((block.start, len(builder.units)))
            headings.append(block)
        builder.add(block)
    builder.cover(len(lines))
    borders.append((len(lines), len(builder.units)))
    trail = _Trail(path, front.values, mtime, cache(lambda: order_of("\n".join(lines))))
    reported = machine_blocks(path, lines)
    sections = []
    for index, ((start, first), (end, last)) in enumerate(pairwise(borders)):
        if index:
            trail.enter(headings[index - 1])
        section = _section(lines, start, end, builder.units[first:last], trail)
        if section is not None:
            below = headings[index].level if index < len(headings) else 0
            section = _titled(section, headings[index - 1].level < below) if index else section
            # The head of a session that OpenClaw has saved lists keys for programs.
            is_head = index == 1 and re.match(r"Session: \d{4}-\d\d-\d\d[ T]\d\d:\d\d", headings[0].words) is not None
            sections.append(_with_machine_units(section, is_head, reported) if is_head or reported else section)
    return ParsedDocument(tuple(sections), front.values)


def _with_machine_units(section: Section, items: bool, reported: Sequence[range]) -> Section:
    """Mark the units on ``reported`` lines, or all ``items`` of a section, as text of a program for programs."""
    units = [
        replace(unit, form="machine")
        if (items and unit.form == "item") or any(unit.start_line in part for part in reported)
        else unit
        for unit in section.units
    ]
    return replace(section, units=tuple(units))


def _section(lines: Sequence[str], start: int, end: int, units: list[Unit], trail: _Trail) -> Section | None:
    while start < end and not lines[start].strip(" \t"):
        start += 1
    while end > start and not lines[end - 1].strip(" \t"):
        end -= 1
    if start == end:
        return None
    day, source = trail.date()
    return Section(trail.heading(), start + 1, end, day, source, tuple(units), tuple(lines[start:end]))


def _titled(section: Section, has_subsections: bool) -> Section:
    """Index a section's heading with those that enclose it; a heading of nothing but subsections becomes a title.

    So the words of an outer heading are found in the sections below it, where their text stands.
    """
    if not section.units or section.units[0].form != "heading":
        return section
    heading, *text = section.units
    form: UnitForm = "title" if has_subsections and not text else "heading"
    indexed = section.heading if " > " in section.heading else heading.indexed
    return replace(section, units=(replace(heading, form=form, indexed=indexed), *text))


class _Trail:
    """The headings that enclose the current section, outermost first, and the dates of the file around them."""

    def __init__(self, path: str, front: Mapping[str, Any], mtime: date, order: Order) -> None:
        self._named = date_in_name(path)
        self._stated = date_in_front_matter(front, order)
        self._mtime = mtime
        self._order = order
        self._stem = path.rpartition("/")[2].rpartition(".")[0].casefold()
        #: Level, words and date of each heading.
        self._steps: list[tuple[int, str, date | None]] = []

    def enter(self, heading: Block) -> None:
        while self._steps and self._steps[-1][0] >= heading.level:
            self._steps.pop()
        words = heading.words
        if (left := without_struck(words)) != words:
            words = " ".join(left.split()) or words
        # It is named in every section below it, so its share of the path is bounded.
        self._steps.append((heading.level, words[:120], date_in_heading(words, self._order)))

    def date(self) -> tuple[date, DateSource]:
        if self._named is not None:
            return self._named, "name"
        if (day := next((day for *_, day in reversed(self._steps) if day), None)) is not None:
            return day, "heading"
        return (self._mtime, "mtime") if self._stated is None else (self._stated, "front-matter")

    def heading(self) -> str:
        steps = self._steps
        if len(steps) > 1 and steps[0][0] == 1:
            words, day = steps[0][1], self._named
            # A title that repeats the file's name says nothing more.
            if words.casefold() == self._stem or (day is not None and merely_states(words, day, self._order)):
                steps = steps[1:]
        return " > ".join(words for _, words, _ in steps if words)


# -- blocks ---------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A leaf of the block tree over the lines ``start..end`` (0-based, end exclusive).

    ``level`` is a heading's level when the heading opens a section, else 0.  ``words`` is a heading's
    text, ``cells`` the header cells of a table's rows, ``item_end`` where the innermost list item
    ends (0 outside of lists).
    """

    kind: Literal["paragraph", "heading", "header", "row", "code", "html"]
    start: int
    end: int
    quoted: bool = False
    item_end: int = 0
    level: int = 0
    words: str = ""
    cells: tuple[str, ...] = ()


def blocks_of(lines: Sequence[str], turns: Sequence[int] = ()) -> list[Block]:
    """Parse ``lines`` as CommonMark with tables; where that fails, each line is a paragraph.

    Each of ``turns`` is a line on which a message begins: code or a table that is not closed ends before it.
    Blocks are in order and share no line.  Lines that belong to no block hold no text, or text that
    the parser dropped: the caller covers them.
    """
    out: list[Block] = []
    for at, end in pairwise((0, *turns, len(lines))):
        for block in _blocks(lines[at:end]):
            out.append(
                block._replace(
                    start=block.start + at, end=block.end + at, item_end=block.item_end and block.item_end + at
                )
            )
    return out


def _blocks(lines: Sequence[str]) -> list[Block]:
    tokens: list[Token] = []
    parser = _parser()
    try:
        parser.block.parse("\n".join(lines), parser, {}, tokens)
        # Past its limit the parser drops the rest of the text in silence.
        if all(token.level < MAX_NESTING - 1 for token in tokens):
            return list(_leaves(tokens))
    except (RecursionError, RuntimeError, IndexError, ValueError):
        pass  # whatever confuses the parser must not cost the file: its lines can still be found
    return [Block("paragraph", at, at + 1) for at, line in enumerate(lines) if line.strip(" \t")]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Link definitions are text a person may look for; as a rule of their own they would be swallowed.
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table").disable("reference")


def _leaves(tokens: Sequence[Token]) -> Iterator[Block]:
    quotes = 0
    items: list[int] = []
    cells: tuple[str, ...] = ()
    header: list[str] | None = None
    head = 0
    for index, token in enumerate(tokens):
        kind, (start, end) = token.type, token.map or (0, 0)
        where = quotes > 0, items[-1] if items else 0
        if kind == "paragraph_open":
            yield Block("paragraph", start, end, *where)
        elif kind == "inline":
            if header is not None:
                header.append(token.content)
        elif kind == "list_item_open":
            items.append(end)
        elif kind == "list_item_close":
            items.pop()
        elif kind == "heading_open":
            yield _heading(token, tokens[index + 1].content, *where)
        elif kind in ("fence", "code_block"):
            yield Block("code", start, end, *where)
        elif kind == "html_block":
            yield Block("html", start, end, *where)
        elif kind in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif kind == "thead_open":
            header, head = [], start
        elif kind == "thead_close":
            cells, header = tuple(header or ()), None
            # The line below a header is its delimiter, always.
            yield Block("header", head, head + 2, *where, cells=cells)
        elif kind == "tr_open" and header is None:
            yield Block("row", start, end, *where, cells=cells)


def _heading(token: Token, words: str, quoted: bool, item_end: int) -> Block:
    start, end = token.map or (0, 0)
    if token.markup[:1] in "=-":
        # "text" over "---" is mostly a sloppy rule below a paragraph, not a title.
        titled = end - start == 2 and len(words) <= 120 and (token.markup[0] == "=" or words[-1:] not in ".!?:;,")
        if not titled:
            return Block("paragraph", start, end - 1, quoted, item_end)
        end = start + 1
    level = int(token.tag[1:]) if token.level == 0 else 0
    return Block("heading", start, end, quoted, item_end, level, words)


# -- units ----------------------------------------------------------------------------------------


class UnitBuilder:
    """Cuts the blocks of one file into units, in order, and remembers who is speaking.

    ``unstruck`` are the lines without struck parts, of :func:`.struck.strike_lines`; ``turns`` names the speaker of
    each line (0-based) that opens a turn; ``unit_tokens`` is the length in tokens from which a text is cut into
    sentences.
    """

    def __init__(
        self, lines: Sequence[str], unstruck: Sequence[str], turns: Mapping[int, str], unit_tokens: int
    ) -> None:
        self._lines = lines
        self._unstruck = unstruck
        self._turns = turns
        self._size = int(unit_tokens * CHARS_PER_TOKEN)
        self._speaker: str | None = None
        self._speaker_end = 0
        self._covered = 0
        self._host = False
        self.units: list[Unit] = []

    def add(self, block: Block) -> None:
        """Append the units of ``block``, and of any line with text that lies before it."""
        self.cover(block.start)
        if self._speaker is not None and (block.level or block.start >= self._speaker_end):
            self._speaker = None
        match block.kind:
            case "paragraph":
                self._paragraph(block)
            case "heading":
                self._whole(block.start, block.end, "quote" if block.quoted else "heading", block.words)
            case "code":
                self.chunks(block.start, block.end, "code")
            case "header":
                self._whole(block.start, block.end, "row", "; ".join(filter(None, block.cells)))
            case "row":
                self._row(block)
            case "html":
                for number in range(block.start, block.end):
                    self._text(number, number + 1, "line", turn=False)
        self._covered = max(self._covered, block.end)

    def cover(self, until: int) -> None:
        """Make line units of lines before line ``until`` that belong to no block: no text is lost."""
        for number in range(self._covered, until):
            self._text(number, number + 1, "line", turn=False)
        self._covered = max(self._covered, until)

    def skip(self, until: int) -> None:
        """Leave the lines before ``until`` alone."""
        self._covered = max(self._covered, until)

    def chunks(self, start: int, end: int, form: UnitForm) -> None:
        """One unit of ``start..end``, or several, cut at blank lines or at lines, when that is too long."""
        lines, ceiling = self._lines, CEILING * self._size
        length, blank = 0, -1
        for number in range(start, end):
            length += len(lines[number]) + 1
            while length > ceiling and number > start:
                # The last blank line is the better border unless it leaves a crumb.
                cut = blank if blank - start > (number - start) // 2 else number
                self._whole(start, cut, form)
                start, blank = cut, -1
                length = sum(len(lines[at]) + 1 for at in range(cut, number + 1))
            if not lines[number].strip():
                blank = number
        self._whole(start, end, form)

    # -- paragraphs ---------------------------------------------------------------------------

    def _paragraph(self, block: Block) -> None:
        form: UnitForm = "quote" if block.quoted else "item" if block.item_end else "line"
        start, end, turns = block.start, block.end, self._turns
        while start < end:
            after = start + 1
            while after < end and after not in turns:
                after += 1
            turn = start in turns
            if turn:
                self._speaker = turns[start]
                # In a list, "- Phone: 1" says nothing about the items that follow.
                self._speaker_end = block.item_end or len(self._lines)
            first = self._lines[start]
            self._host = is_host_message(without_speaker(first, self._speaker) if turn and self._speaker else first)
            self._run(start, after, form, turn=turn)
            self._host = False
            start = after

    def _run(self, start: int, end: int, form: UnitForm, *, turn: bool) -> None:
        """Cut lines of one speaker; wrapped lines stay together, others are units of their own."""
        if end - start == 1 or (form == "item" and len("\n".join(self._lines[start:end])) <= self._size):
            self._text(start, end, "turn" if turn else form, turn=turn)
            return
        bare = [_bare(line) for line in self._lines[start:end]]
        width = max(map(len, bare))
        prose = _ends(bare[-1])
        opened = start
        for number in range(start + 1, end):
            before, line = bare[number - start - 1], bare[number - start]
            if _wraps(before, line, width, prose) and not self._lines[number - 1].endswith(("  ", "\\")):
                continue
            self._text(opened, number, "turn" if turn else form, turn=turn)
            turn, opened = False, number
        self._text(opened, end, "turn" if turn else form, turn=turn)

    def _text(self, start: int, end: int, form: UnitForm, *, turn: bool) -> None:
        if len("\n".join(self._lines[start:end])) <= self._size:
            self._whole(start, end, form)
        else:
            self._cut(start, end, self._size, prefix=self._speaker if turn else None)

    # -- units --------------------------------------------------------------------------------

    def _whole(self, start: int, end: int, form: UnitForm, indexed: str | None = None) -> None:
        lines = self._lines
        text = lines[start] if end - start == 1 else "\n".join(lines[start:end])
        if not any(map(str.isalnum, text)):
            return
        if len(text) > CEILING * self._size:
            self._cut(start, end, self._size)
            return
        if end - start > 1:
            while not lines[start].strip():
                start += 1
            while not lines[end - 1].strip():
                end -= 1
            text = "\n".join(lines[start:end])
        text = text.rstrip() if form == "code" else text.strip()
        if indexed == text or not indexed or not any(map(str.isalnum, indexed)):
            indexed = None
        written, kept = ("\n".join(source[start:end]) for source in (lines, self._unstruck))
        self._append(Unit(text, start + 1, end, self._form(text, form), self._speaker, indexed), written, kept)

    def _append(self, unit: Unit, written: str, kept: str) -> None:
        """Add a unit of the text ``written``; parts that are not in ``kept`` are struck out: searched, not said."""
        if kept != written and unit.form not in ("code", "meta"):
            lines = [" ".join(line.split()) for line in kept.split("\n") if not has_no_words(line)]
            if lines:
                unit = replace(unit, text="\n".join(lines), indexed=unit.search_text)
            elif unit.form != "heading":
                unit = replace(unit, form="struck")
        self.units.append(unit)

    def _cut(self, start: int, end: int, size: int, prefix: str | None = None) -> None:
        """Cut lines into sentences; the wraps inside one read as spaces."""
        if end - start == 1:
            joined, kept, offsets = self._lines[start], self._unstruck[start], [0]
        else:
            parts = [self._lines[start].strip(), *map(_bare, self._lines[start + 1 : end])]
            offsets = [0]
            for part in parts[:-1]:
                offsets.append(offsets[-1] + len(part) + 1)
            joined = " ".join(parts)
            places = zip(parts, self._lines[start:end], self._unstruck[start:end], strict=True)
            kept = " ".join(line[(at := written.find(part)) : at + len(part)] for part, written, line in places)
        opened = len(self.units)
        for first, last in pieces(joined, size):
            text = joined[first:last]
            if not any(map(str.isalnum, text)):
                continue
            line = start + bisect_right(offsets, first)
            until = start + bisect_right(offsets, last - 1)
            indexed = f"{prefix}: {text}" if prefix and len(self.units) > opened else None
            unit = Unit(text, line, until, self._form(text, "sentence"), self._speaker, indexed)
            self._append(unit, text, kept[first:last])

    def _form(self, text: str, form: UnitForm) -> UnitForm:
        """Return ``form``, or ``machine`` for text of a program, and for a label without the host's blocks below it."""
        if form not in ("line", "turn", "item", "sentence", "quote"):
            return form
        if self._host:
            return "machine"
        text_alone = "\n".join(without_lead(line, form == "item") for line in text.split("\n"))
        if self._speaker is not None:
            text_alone = without_speaker(text_alone, self._speaker)
        return "machine" if is_machine(text_alone) or not text_alone else form

    def _row(self, block: Block) -> None:
        cells = cells_of(self._lines[block.start])
        names = block.cells + ("",) * (len(cells) - len(block.cells))
        pairs = [
            f"{name}: {cell}" if name else cell
            for name, cell in zip(names, map(str.strip, cells), strict=False)
            if cell
        ]
        self._whole(block.start, block.end, "row", "; ".join(pairs))


def _bare(line: str) -> str:
    return line.strip().lstrip("> \t") if ">" in line[:8] else line.strip()


def _ends(line: str) -> bool:
    return line.rstrip("\"'”’»)]*_`")[-1:] in f"{MARKS}:：;；"


def _wraps(before: str, after: str, width: int, prose: bool) -> bool:
    """Return true if a line feed between two lines of a paragraph is only a wrap."""
    if not before or not after or _ends(before):
        return False
    if after[0].islower():
        return len(before) >= 40 or (prose and not before[0].islower())
    word = len(after.split(None, 1)[0])
    return len(before) >= 50 and len(before) + 1 + word > width
