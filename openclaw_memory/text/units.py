"""Units out of blocks: what is searched, each with its exact lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..model import CHARS_PER_TOKEN, Unit, UnitForm
from .blocks import Block
from .lines import cells_of
from .machine import is_host, is_machine
from .plain import without_lead
from .sentences import CEILING, MARKS, pieces
from .struck import says_nothing
from .turns import without_speaker


class UnitMaker:
    """Cuts the blocks of one file into units, in order, and remembers who is speaking.

    ``standing`` are the lines without what is struck out, as :func:`.struck.standing_lines` has them; ``turns`` names
    the speaker of each line (0-based) that opens a turn; ``unit_tokens`` is the length in tokens from which a text is
    cut into sentences.
    """

    def __init__(
        self, lines: Sequence[str], standing: Sequence[str], turns: Mapping[int, str], unit_tokens: int
    ) -> None:
        self._lines = lines
        self._standing = standing
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
        """Make line units of what no block has claimed before line ``until``: nothing is lost."""
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
            if start in turns:
                self._speaker = turns[start]
                # In a list, "- Phone: 1" says nothing about the items that follow.
                self._speaker_end = block.item_end or len(self._lines)
                self._run(start, after, form, turn=True)
            else:
                self._run(start, after, form, turn=False)
            start = after

    def _run(self, start: int, end: int, form: UnitForm, *, turn: bool) -> None:
        """Cut lines of one speaker; wrapped lines stay together, others are units of their own."""
        first = self._lines[start]
        self._host = is_host(without_speaker(first, self._speaker) if turn and self._speaker else first)
        self._cut_run(start, end, form, turn=turn)
        self._host = False

    def _cut_run(self, start: int, end: int, form: UnitForm, *, turn: bool) -> None:
        if end - start == 1 or (form == "item" and self._length(start, end) <= self._size):
            self._text(start, end, "turn" if turn else form, turn=turn)
            return
        bare = [_bare(line) for line in self._lines[start:end]]
        width = max(map(len, bare))
        prose = _ends(bare[-1])
        opened = start
        for number in range(start + 1, end):
            before, here = bare[number - start - 1], bare[number - start]
            if _wraps(before, here, width, prose) and not self._lines[number - 1].endswith(("  ", "\\")):
                continue
            self._text(opened, number, "turn" if turn else form, turn=turn)
            turn, opened = False, number
        self._text(opened, end, "turn" if turn else form, turn=turn)

    def _text(self, start: int, end: int, form: UnitForm, *, turn: bool) -> None:
        if self._length(start, end) <= self._size:
            self._whole(start, end, form)
        else:
            self._cut(start, end, self._size, prefix=self._speaker if turn else None)

    def _length(self, start: int, end: int) -> int:
        if end - start == 1:
            return len(self._lines[start])
        return sum(map(len, self._lines[start:end])) + end - start - 1

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
        given, left = ("\n".join(of[start:end]) for of in (lines, self._standing))
        self._append(Unit(text, start + 1, end, self._form(text, form), self._speaker, indexed), given, left)

    def _append(self, unit: Unit, given: str, left: str) -> None:
        """Add a unit of ``given`` text, of which what is not ``left`` is struck out: that is searched, and not said."""
        if left != given and unit.form not in ("code", "meta"):
            said = [" ".join(line.split()) for line in left.split("\n") if not says_nothing(line)]
            if said:
                unit = replace(unit, text="\n".join(said), indexed=unit.search_text)
            elif unit.form != "heading":
                unit = replace(unit, form="struck")
        self.units.append(unit)

    def _cut(self, start: int, end: int, size: int, prefix: str | None = None) -> None:
        """Cut lines into sentences; the wraps inside one read as spaces."""
        if end - start == 1:
            joined, left, offsets = self._lines[start], self._standing[start], [0]
        else:
            parts = [self._lines[start].strip(), *map(_bare, self._lines[start + 1 : end])]
            offsets = [0]
            for part in parts[:-1]:
                offsets.append(offsets[-1] + len(part) + 1)
            joined = " ".join(parts)
            places = zip(parts, self._lines[start:end], self._standing[start:end], strict=True)
            left = " ".join(line[(at := given.find(part)) : at + len(part)] for part, given, line in places)
        opened = len(self.units)
        for first, last in pieces(joined, size):
            text = joined[first:last]
            if not any(map(str.isalnum, text)):
                continue
            line = start + bisect_right(offsets, first)
            until = start + bisect_right(offsets, last - 1)
            indexed = f"{prefix}: {text}" if prefix and len(self.units) > opened else None
            unit = Unit(text, line, until, self._form(text, "sentence"), self._speaker, indexed)
            self._append(unit, text, left[first:last])

    def _form(self, text: str, form: UnitForm) -> UnitForm:
        """``form``, or ``machine`` for what a program wrote, and for a label whose text a host's blocks were."""
        if form not in ("line", "turn", "item", "sentence", "quote"):
            return form
        if self._host:
            return "machine"
        said = "\n".join(without_lead(line, form == "item") for line in text.split("\n"))
        if self._speaker is not None:
            said = without_speaker(said, self._speaker)
        return "machine" if is_machine(said) or not said else form

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


def _wraps(before: str, here: str, width: int, prose: bool) -> bool:
    """Whether a line feed between two lines of a paragraph is only a wrap."""
    if not before or not here or _ends(before):
        return False
    if here[0].islower():
        return len(before) >= 40 or (prose and not before[0].islower())
    word = len(here.split(None, 1)[0])
    return len(before) >= 50 and len(before) + 1 + word > width
