"""The texts of sections and units, kept so that a question needs not open the index."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Sequence
from datetime import date
from itertools import islice

import numpy as np

from ..store.api import Ints, SectionText, Store

#: Characters of sections that are kept as they are, as the next question is often about the same.
_KEPT = 2_000_000
#: Questions with missing texts before a process counts as one that is asked again and again, and how many sections it
#: reads beyond those asked for from then on, each time that some are missing.
_SELDOM, _MORE = 4, 2_000
#: Units of neighbouring ids that are packed together, and how many such blocks are read beyond those asked for.
_BLOCK, _MORE_BLOCKS = 32, 512
#: So many questions must suffice to have all; of a larger index only what is asked for is read, as reading more would
#: cost each of hundreds of questions more than it saves.
_SOON = 20


class Texts:
    """Sections by id; the caller says which are left after a change, and holds the store's turn."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: The last asked for stand last.
        self._read: dict[int, SectionText] = {}
        self._chars = 0
        #: All that were ever read, packed: they take about two fifths of what is in the files.
        self._packed: dict[int, tuple[int, date | None, bytes]] = {}
        self._missed = 0

    def of(self, ids: Sequence[int], all_ids: Ints) -> dict[int, SectionText]:
        """Sections by id, those that are not known asked for at once; ``all_ids`` are those of the whole corpus."""
        found: dict[int, SectionText] = {}
        for section_id in ids:
            if section_id in self._read:
                found[section_id] = self._read.pop(section_id)
            elif section_id in self._packed:
                found[section_id] = self._unpacked(section_id)
                self._chars += _chars(found[section_id])
        missing = [section_id for section_id in ids if section_id not in found]
        if missing:
            self._missed += 1
            often = self._missed > _SELDOM and len(all_ids) <= _SOON * _MORE
            more = self._others(missing, all_ids) if often else []
            read = self._store.section_texts([*missing, *more])
            for section in read.values():
                self._pack(section)
            wanted = {section_id: read[section_id] for section_id in missing if section_id in read}
            self._chars += sum(map(_chars, wanted.values()))
            found |= wanted
        self._read |= found
        while self._chars > _KEPT:
            self._chars -= _chars(self._read.pop(next(iter(self._read))))
        return found

    def keep(self, ids: Collection[int]) -> None:
        """Forget all others: the store may have dropped them."""
        for gone in self._packed.keys() - ids:
            del self._packed[gone]
        for gone in self._read.keys() - ids:
            self._chars -= _chars(self._read.pop(gone))

    def _others(self, missing: Sequence[int], all_ids: Ints) -> list[int]:
        if len(self._packed) + len(missing) >= len(all_ids):
            return []
        left = np.zeros(int(all_ids.max()) + 1, bool)
        left[all_ids] = True
        left[np.fromiter(self._packed, np.intp, len(self._packed))] = False
        left[missing] = False
        return [int(section_id) for section_id in np.flatnonzero(left)[:_MORE]]

    def _pack(self, section: SectionText) -> None:
        text = "\n".join((section.heading, *section.lines)).encode("utf-8", "surrogatepass")
        self._packed[section.id] = section.start_line, section.date, zlib.compress(text, 1)

    def _unpacked(self, section_id: int) -> SectionText:
        start, day, packed = self._packed[section_id]
        heading, *lines = zlib.decompress(packed).decode("utf-8", "surrogatepass").split("\n")
        return SectionText(section_id, heading, day, start, tuple(lines))


def _chars(section: SectionText) -> int:
    return sum(map(len, section.lines))


class UnitTexts:
    """What units say, by id; packed in blocks of neighbours, of which each is read as a whole."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._packed: dict[int, bytes] = {}
        self._rows = np.zeros(0, np.int32)
        self._missed = 0

    def of(self, unit_ids: Ints, rows: Ints) -> dict[int, str]:
        """The texts of some units; ``rows`` is the row of each unit by id, -1 where it is gone.

        Those that the store has no more are left out.
        """
        wanted = {int(unit) // _BLOCK for unit in unit_ids}
        blocks = {block: self._unpacked(block) for block in wanted if block in self._packed}
        # New units may have come to the last block since it was read.
        known = {unit for texts in blocks.values() for unit in texts}
        missing = sorted({int(unit) // _BLOCK for unit in unit_ids if int(unit) not in known})
        if missing:
            self._missed += 1
            if self._missed > _SELDOM and len(rows) <= _SOON * _MORE_BLOCKS * _BLOCK:
                every = np.unique(np.flatnonzero(rows >= 0) // _BLOCK).tolist()
                others = (block for block in every if block not in self._packed and block not in wanted)
                missing += islice(others, _MORE_BLOCKS)
            blocks |= self._read(missing, rows)
        texts = {unit: text for block in blocks.values() for unit, text in block.items()}
        return {unit: texts[unit] for unit in unit_ids.tolist() if unit in texts}

    def keep(self, rows: Ints) -> None:
        """Forget the blocks of units that are gone."""
        gone = self._rows >= 0
        gone[: len(rows)] &= rows[: len(gone)] < 0
        for block in np.unique(np.flatnonzero(gone) // _BLOCK).tolist():
            self._packed.pop(block, None)
        self._rows = rows

    def _read(self, blocks: Sequence[int], rows: Ints) -> dict[int, dict[int, str]]:
        ids = (np.asarray(blocks)[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
        ids = ids[ids < len(rows)]
        out: dict[int, dict[int, str]] = {block: {} for block in blocks}
        for unit in self._store.unit_texts(ids[rows[ids] >= 0].tolist()):
            out[unit.id // _BLOCK][unit.id] = unit.text
        for block, texts in out.items():
            self._packed[block] = zlib.compress(json.dumps(texts).encode(), 1)
        return out

    def _unpacked(self, block: int) -> dict[int, str]:
        texts: dict[str, str] = json.loads(zlib.decompress(self._packed[block]))
        return {int(unit): text for unit, text in texts.items()}
