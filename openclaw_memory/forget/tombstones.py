"""Recognise forgotten texts in any file by keyed hashes of their words."""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from ..errors import OpenClawMemoryError
from ..records import NamedTuple, dataclass
from ..store.state import State, StateError
from ..store.state.database import Transaction, now
from ..store.state.location import key_id

if TYPE_CHECKING:
    from ..store.api import StatedFact
    from .words import Words

log = logging.getLogger("openclaw_memory")

#: Name of the part of the state whose version changes with the tombstones.
NAME = "forgotten"

#: Where a phrase is forgotten: wherever its words follow each other, where they stand alone in any file, or so in the
#: one file in which they stood.
Scope = Literal["anywhere", "alone", "file"]
_CODE: dict[str, str] = {"anywhere": "a", "alone": "b", "file": "f", "text": "t", "fact": "s"}
_DIGEST, _BITS = 16, 0xFFFF


class Match(NamedTuple):
    """Words ``first..last`` of a text that are forgotten; ``digest`` is that of their tombstone."""

    first: int
    last: int
    digest: bytes


@dataclass(slots=True)
class Matcher:
    """Finds forgotten words by their hashes, which were made with ``key``, or by those of ``others``.

    A hash is that of scope, file and words.  So that not every run of words has to be hashed, 16 bits of the first
    two are kept beside the length: a text of *w* words costs *w* look-ups and about ``w * n / 65536`` hashes for *n*
    tombstones.
    """

    key: bytes
    others: tuple[Matcher, ...] = ()
    digests: set[bytes] = field(default_factory=set)
    #: Scopes and lengths by 16 bits of the first two words, the longest first; and of single words.
    anchors: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    single: dict[int, list[str]] = field(default_factory=dict)
    texts: bool = False
    _bits: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.digests) or any(self.others)

    # -- adding -----------------------------------------------------------------------------------

    def tombstone(self, words: Sequence[str], scope: Scope, path: str) -> str:
        """Return the record of a phrase in the state; ``path`` is the file where ``scope`` is ``file``."""
        digest = self.digest(_CODE[scope], words, path)
        first = self._word(words[0])
        anchor = (first if len(words) == 1 else 31 * first + self._word(words[1])) & _BITS
        return f"{_CODE[scope]}{len(words)}.{anchor:04x}.{digest.hex()}"

    def tombstone_of_text(self, text: str, path: str) -> str:
        """Return the record of the whole text of a file."""
        from .words import split_words

        words = split_words(text).folded
        return f"{_CODE['text']}{max(1, len(words))}.0000.{self._text(words, path).hex()}"

    def tombstone_of_fact(self, id: str) -> str:
        """Return the record of a stated fact."""
        return f"{_CODE['fact']}1.0000.{self.digest(_CODE['fact'], [id]).hex()}"

    def concept_digest(self, slug: str) -> str:
        """Return the name of a curated concept while it is being forgotten; later it may be curated again."""
        return self.digest("c", [slug]).hex()

    def concept_digests(self, slug: str) -> set[str]:
        """Return the :meth:`concept_digest` by each key."""
        return {each.concept_digest(slug) for each in (self, *self.others)}

    def add(self, tombstone: str) -> None:
        """Add a tombstone.  Raises :class:`ValueError` when it is none."""
        head, anchor, hexadecimal = tombstone.split(".")
        code, length, at, digest = head[:1], int(head[1:]), int(anchor, 16), bytes.fromhex(hexadecimal)
        if length < 1 or len(digest) != _DIGEST or code not in _CODE.values():
            raise ValueError(tombstone)
        self.digests.add(digest)
        self.texts |= code == "t"
        if code in "abf":
            if length == 1:
                codes = self.single.setdefault(at, [])
                codes += [code] if code not in codes else []
            else:
                kinds = self.anchors.setdefault(at, [])
                if (code, length) not in kinds:
                    kinds.append((code, length))
                    kinds.sort(key=lambda kind: -kind[1])

    # -- finding ----------------------------------------------------------------------------------

    def find(self, words: Words, path: str, every: bool = False) -> list[Match]:
        """Return the forgotten words in a text of the file ``path``, in order; they may overlap.

        Of those that begin with the same word the longest is returned, or with ``every`` each.  The words that a reader
        sees are looked through too.
        """
        matches = self._find(words, path, every)
        if (read := words.read) is not None:
            for match in self.find(read, path, every):
                first = bisect_right(words.ends, read.starts[match.first])
                last = bisect_left(words.starts, read.ends[match.last]) - 1
                if first <= last:
                    matches.append(Match(first, last, match.digest))
            matches = sorted(dict.fromkeys(matches), key=lambda match: match.first)
        return matches

    def _find(self, words: Words, path: str, every: bool) -> list[Match]:
        matches = [match for each in self.others for match in each._find(words, path, every)]
        if not self.digests:
            return matches
        bits = [self._word(word) for word in words.folded]
        anchors, single, total = self.anchors, self.single, len(words.folded)
        for at in range(total - 1):
            kinds = anchors.get((31 * bits[at] + bits[at + 1]) & _BITS)
            if kinds is not None:
                for code, length in kinds:
                    if at + length <= total and (match := self._match(words, path, code, at, length)) is not None:
                        matches.append(match)
                        if not every:
                            break
        if single:
            for at in range(total):
                for code in single.get(bits[at] & _BITS, ()):
                    if (match := self._match(words, path, code, at, 1)) is not None:
                        matches.append(match)
                        break
        if single or self.others:
            matches.sort(key=lambda match: match.first)
        return matches

    def holds_text(self, words: Words, path: str) -> bool:
        """Return true if these are all the words of a file that was forgotten as it is."""
        return any(
            each.texts and bool(words.folded) and each._text(words.folded, path) in each.digests
            for each in (self, *self.others)
        )

    @property
    def has_texts(self) -> bool:
        """Return true if any file was forgotten as it is."""
        return any(each.texts for each in (self, *self.others))

    def holds_fact(self, id: str) -> bool:
        """Return true if a stated fact was forgotten."""
        return any(each.digests and each.digest(_CODE["fact"], [id]) in each.digests for each in (self, *self.others))

    def digest(self, code: str, words: Sequence[str], path: str = "") -> bytes:
        """Return the keyed hash of words."""
        hashed = "\0".join((code, path if code in "ft" else "", *words))
        return blake2b(hashed.encode("utf-8", "surrogatepass"), digest_size=_DIGEST, key=self.key).digest()

    def _text(self, words: Sequence[str], path: str) -> bytes:
        # A file of few words may have the same ones as another by chance: it is known by its name too.
        return self.digest(_CODE["text"], words, path if len(words) < 20 else "")

    def _match(self, words: Words, path: str, code: str, at: int, length: int) -> Match | None:
        from .words import DISTINCTIVE_WEIGHT, weight

        run = words.folded[at : at + length]
        digest = self.digest(code, run, path)
        if digest not in self.digests:
            return None
        # In their own file many words in a row are the unit, however it is wrapped.
        if (code == "b" or (code == "f" and weight(run) < DISTINCTIVE_WEIGHT)) and not words.alone(at, at + length - 1):
            return None
        return Match(at, at + length - 1, digest)

    def _word(self, word: str) -> int:
        bits = self._bits.get(word)
        if bits is None:
            if len(self._bits) >= 1 << 17:
                self._bits.clear()
            digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4, key=self.key).digest()
            bits = self._bits[word] = int.from_bytes(digest, "big")
        return bits


def insert_tombstones(connection: Transaction, key: bytes, hashes: Iterable[str]) -> None:
    """Write tombstones, within a transaction of the state."""
    at = now()
    connection.executemany(
        "INSERT INTO tombstones VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(tombstone, key_id(key), at) for tombstone in hashes],
    )


class Tombstones:
    """The tombstones of one state, set by any process; safe to use from several threads."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._read: tuple[str, Matcher] = "", Matcher(b"")

    def __bool__(self) -> bool:
        return bool(self.version)

    def check(self) -> None:
        """Raise :class:`~openclaw_memory.store.state.StateError` when the state cannot be read."""
        self._state.check()
        self._refresh()

    @property
    def version(self) -> str:
        """Return a text that changes whenever something is forgotten; empty as long as nothing was."""
        try:
            return self._state.version(NAME)
        except StateError as problem:
            log.debug("what was forgotten is not known: %s", problem)
            return self._read[0]

    @property
    def matcher(self) -> Matcher:
        """Return the matcher of what was forgotten until now.

        While the state cannot be read, it is that of the last version; :meth:`check` raises.
        """
        try:
            self._refresh()
        except OpenClawMemoryError as problem:
            log.debug("what was forgotten is not known: %s", problem)
        return self._read[1]

    def _refresh(self) -> None:
        version = self._state.version(NAME)
        if self._read[0] == version:
            return
        keys = self._state.keys()
        matchers: dict[str, Matcher] = {}
        for tombstone, key in self._state.read("SELECT hash, key FROM tombstones"):
            if key not in keys:
                continue  # the check of the state says so
            try:
                matchers.setdefault(key, Matcher(keys[key])).add(tombstone)
            except ValueError as error:
                raise StateError(
                    f"{self._state.file}: a tombstone is damaged ({tombstone!r}); put an older state back: "
                    "openclaw-memory restore"
                ) from error
        first, *others = [*matchers.values()] or [Matcher(b"")]
        first.others = tuple(others)
        self._read = version, first

    def covers(self, text: str, least: float = 0) -> bool:
        """Return true if ``text`` holds ``least`` words or more that were forgotten in every file."""
        from .words import split_words, weight

        matcher = self.matcher
        words = split_words(text) if matcher else None
        return words is not None and any(
            weight(words.folded[match.first : match.last + 1]) >= least for match in matcher.find(words, "")
        )

    def covers_fact(self, fact: StatedFact) -> bool:
        """Return true if a stated fact, or the text of one, was forgotten."""
        matcher = self.matcher
        return bool(matcher) and (
            matcher.holds_fact(fact.id) or self.covers_name(f"{fact.subject} {fact.predicate} {fact.object}")
        )

    def covers_name(self, text: str) -> bool:
        """Return true if ``text`` contains a forgotten sentence, not merely a few words that other texts share."""
        from .words import SENTENCE_WEIGHT

        return self.covers(text, SENTENCE_WEIGHT)
