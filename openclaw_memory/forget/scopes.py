"""Where else in the index a text stands, and so whether it is forgotten in every file or in its own alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..model import Grain
from ..store.api import Bools, Store, UnitText, batches
from ..text.dates import date_in_heading, merely_states
from .selection import Snapshot
from .tombstones import Matcher, Scope
from .words import LONG, WIDE, Phrase, Words, needles, phrases, weight, words_of

#: Forms of units that name what is below them; other notes have the same without saying the same.
_TITLES = ("heading", "title")


@dataclass(frozen=True, slots=True)
class Text:
    """A unit that goes, of the file ``path``; ``row`` is that of the snapshot where it is in the index."""

    path: str
    unit: UnitText
    phrases: Sequence[Phrase]
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a document of the index; ``alone``: the words are no part of a longer sentence there."""

    document: int
    first: int
    last: int
    alone: bool


@dataclass(slots=True)
class Decided:
    """Tombstones, where in the index the words that they stand for are, and by which texts their absence is shown.

    ``common`` counts units of which other notes keep a copy.
    """

    hashes: dict[str, None] = field(default_factory=dict)
    places: list[Passage] = field(default_factory=list)
    needles: tuple[str, ...] = ()
    common: int = 0


def phrases_of(unit: UnitText) -> list[Phrase]:
    """What of a unit is to be forgotten; nothing of one that merely states a day, or what kind of file it is in."""
    day = date_in_heading(unit.text)
    if day is not None and merely_states(unit.text, day):
        return []
    if unit.form != "meta":
        return phrases(unit.text, unit.speaker, code=unit.form == "code")
    name, colon, _ = unit.text.partition(":")
    if name.strip().casefold() in ("origin", "date", "grain", "period", "format", "digest", "content", "sources"):
        return []  # it is said of the file rather than of its subject
    return phrases(unit.text, name if colon else None, code=True)


def decide(
    texts: Sequence[Text],
    snapshot: Snapshot,
    chosen: Bools,
    store: Store,
    says: Callable[[str], bool],
    aimed: bool,
    key: bytes,
) -> Decided:
    """Which tombstones the ``texts`` need.

    Words that say what was named (``says``) are forgotten everywhere.  Others are so unless other notes have them too:
    a heading, a sentence of a unit, or a few words (fewer where lines were ``aimed`` at), in any of them, a whole unit
    in three; copies of the file aside.  A single word, and what other notes have, is forgotten in its own file.  What
    is short is forgotten where it stands alone, and stays as a part of something longer.  Called within a session.
    """
    scout = Matcher(key)
    for words in {phrase.words for text in texts for phrase in text.phrases}:
        scout.add(scout.tombstone(words, "anywhere", ""))
    places = _places(snapshot, store, scout)
    elsewhere = _Elsewhere(snapshot, chosen, places)
    copies = _copies(texts, elsewhere, scout)
    out = Decided()
    gone: set[bytes] = set()
    common: set[tuple[str, int]] = set()
    for text in texts:
        own = snapshot.by_path.get(text.path)
        for phrase in text.phrases:
            digest = scout.digest("a", phrase.words)
            said = says(" ".join(phrase.words))
            wide = weight(phrase.words) >= (LONG if said else WIDE)
            others = elsewhere.notes(digest, wide) - copies[text.path]
            whole = not phrase.part and text.unit.form not in _TITLES and (wide or (aimed and phrase.long))
            where = _scope(phrase, said, wide, len(others), whole)
            out.hashes[scout.tombstone(phrase.words, where, text.path)] = None
            there = [place for place in places.get(digest, ()) if wide or place.alone]
            if where == "file":
                out.places += [place for place in there if place.document == own]
                if others and weight(phrase.words) > 1 and not phrase.part and text.unit.form not in _TITLES:
                    common.add((text.path, text.unit.start_line))
                continue
            out.places += there
            if wide or not elsewhere.inside(digest):
                gone.add(digest)
    out.common = len(common)
    out.needles = _needles(texts, gone, scout)
    return out


def sections(store: Store, snapshot: Snapshot, at_once: int = 400) -> Iterator[tuple[int, int, Words]]:
    """Document, first line and words of every section, of which so many are read at once; called within a session."""
    rows = snapshot.rows
    document_of = dict(zip(rows.section_id.tolist(), rows.document_id.tolist(), strict=True))
    for some in batches(list(document_of), at_once):
        for section, text in store.section_texts(some).items():
            yield document_of[section], text.start_line, words_of("\n".join(text.lines))


def holding(store: Store, snapshot: Snapshot, matcher: Matcher) -> set[int]:
    """Documents of the index that hold anything of what ``matcher`` finds; called within a session."""
    found: set[int] = set()
    spoken: defaultdict[int, list[str]] = defaultdict(list)
    for document, _, words in sections(store, snapshot):
        if document not in found and matcher.find(words, snapshot.documents[document].path):
            found.add(document)
        if matcher.whole:
            spoken[document].append(words.text)
    for document, texts in spoken.items():
        if matcher.holds_text(words_of("\n".join(texts)), snapshot.documents[document].path):
            found.add(document)
    return found


def _places(snapshot: Snapshot, store: Store, scout: Matcher) -> dict[bytes, list[Passage]]:
    """Where each phrase stands, by its digest."""
    found: defaultdict[bytes, list[Passage]] = defaultdict(list)
    for document, start, words in sections(store, snapshot) if scout else ():
        if matches := scout.find(words, "", every=True):
            breaks = [match.start() for match in re.finditer("\n", words.text)]
            for match in matches:
                first = start + bisect_right(breaks, words.starts[match.first])
                last = start + bisect_right(breaks, words.ends[match.last] - 1)
                found[match.digest].append(Passage(document, first, last, words.alone(match.first, match.last)))
    return found


class _Elsewhere:
    """What stands beside the chosen units."""

    def __init__(self, snapshot: Snapshot, chosen: Bools, places: Mapping[bytes, Sequence[Passage]]) -> None:
        own: defaultdict[int, set[int]] = defaultdict(set)
        rows = snapshot.rows
        for row in np.flatnonzero(chosen).tolist():
            own[int(rows.document_id[row])].update(range(int(rows.start_line[row]), int(rows.end_line[row]) + 1))
        self._grain = {document: info.grain for document, info in snapshot.documents.items()}
        self._places = {
            digest: [place for place in those if own[place.document].isdisjoint(range(place.first, place.last + 1))]
            for digest, those in places.items()
        }

    def notes(self, digest: bytes, wide: bool) -> set[int]:
        """The notes that say a phrase, alone or, with ``wide``, within something longer."""
        return {
            place.document
            for place in self._places.get(digest, ())
            if (wide or place.alone) and self._grain[place.document] is Grain.WORKING
        }

    def inside(self, digest: bytes) -> bool:
        """Whether a phrase is a part of something longer anywhere."""
        return any(not place.alone for place in self._places.get(digest, ()))


def _copies(texts: Sequence[Text], elsewhere: _Elsewhere, scout: Matcher) -> dict[str, set[int]]:
    """For each file of which texts go, the documents that have all the longer ones of these."""
    own: defaultdict[str, set[bytes]] = defaultdict(set)
    for text in texts:
        own[text.path] |= {
            scout.digest("a", phrase.words) for phrase in text.phrases if phrase.long and not phrase.part
        }
    out: dict[str, set[int]] = {}
    for path, digests in own.items():
        times: defaultdict[int, int] = defaultdict(int)
        for digest in digests:
            for document in elsewhere.notes(digest, wide=True):
                times[document] += 1
        out[path] = {document for document, n in times.items() if n >= max(2, len(digests))}
    return out


def _scope(phrase: Phrase, said: bool, wide: bool, others: int, whole: bool) -> Scope:
    # A text that three other notes have is a form that people fill in: forgotten in one, it stays in the others.
    if not said and (weight(phrase.words) <= 1 or others >= (3 if whole else 1)):
        return "file"
    return "anywhere" if wide else "alone"


def _needles(texts: Sequence[Text], gone: set[bytes], scout: Matcher) -> tuple[str, ...]:
    """Texts that may stand nowhere in the index afterwards."""
    out: dict[str, None] = {}
    for text in texts:
        every = all(scout.digest("a", phrase.words) in gone for phrase in text.phrases)
        for needle in needles(text.unit.text, text.unit.speaker):
            words = words_of(needle).folded
            if (every and weight(words) >= WIDE) or scout.digest("a", words) in gone:
                out[needle] = None
    return tuple(out)
