"""Looking for texts in what a store holds, for proof that they are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

#: Bytes of a needle that are looked for first.
_HEAD = 12


class Cells(Protocol):
    """The answer of a query for one column."""

    def fetchmany(self, size: int, /) -> list[Any]:
        """The next rows; none behind the last one."""


class Needles:
    """Finds any of some texts among bytes, however many they are, in one pass: by their beginnings first."""

    def __init__(self, needles: Sequence[str]) -> None:
        import ahocorasick

        self._by_head: dict[str, list[bytes]] = {}
        for needle in needles:
            if needle:
                said = needle.encode("utf-8", "surrogatepass")
                # The automaton knows characters only: each byte is read as one.
                self._by_head.setdefault(said[:_HEAD].decode("latin-1"), []).append(said)
        self._heads: Any = ahocorasick.Automaton()
        for head in self._by_head:
            self._heads.add_word(head, head)
        if self._by_head:
            self._heads.make_automaton()

    def __bool__(self) -> bool:
        return bool(self._by_head)

    def any_in(self, cells: Cells) -> bool:
        """Whether one of the texts stands in one of the ``cells``."""
        while some := cells.fetchmany(2_000):
            for (cell,) in some:
                if self.finds(cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")):
                    return True
        return False

    def finds(self, data: bytes) -> bool:
        """Whether one of the texts stands in ``data``."""
        return any(
            data.startswith(needle, last + 1 - len(head))
            for last, head in self._heads.iter(data.decode("latin-1"))
            for needle in self._by_head[head]
        )
