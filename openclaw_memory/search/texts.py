"""The texts of sections that hits are shown with, kept so that a question needs not open the index."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from datetime import date

import numpy as np

from ..store.api import Ints, SectionText, Store

#: Characters of sections that are kept as they are, as the next question is often about the same.
_KEPT = 2_000_000
#: Questions with missing texts before a process counts as one that is asked again and again, and how many sections it
#: reads beyond those asked for from then on, each time that some are missing.
_SELDOM, _MORE = 4, 2_000


class Texts:
    """Sections by id; the caller says when some are gone, and holds the store's turn."""

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
            more = self._others(missing, all_ids) if self._missed > _SELDOM else []
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
        known = np.fromiter(self._packed, all_ids.dtype, len(self._packed))
        left = np.setdiff1d(all_ids, np.concatenate([known, np.asarray(missing, all_ids.dtype)]))
        return [int(section_id) for section_id in left[:_MORE]]

    def _pack(self, section: SectionText) -> None:
        text = "\n".join((section.heading, *section.lines)).encode("utf-8", "surrogatepass")
        self._packed[section.id] = section.start_line, section.date, zlib.compress(text, 1)

    def _unpacked(self, section_id: int) -> SectionText:
        start, day, packed = self._packed[section_id]
        heading, *lines = zlib.decompress(packed).decode("utf-8", "surrogatepass").split("\n")
        return SectionText(section_id, heading, day, start, tuple(lines))


def _chars(section: SectionText) -> int:
    return sum(map(len, section.lines))
