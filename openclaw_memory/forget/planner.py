"""What forgetting would do: which units go, wherever they stand, and by which tombstones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError, RequestError
from ..ingest.notes import NoteReader
from ..ingest.scan import max_bytes, read_text, scan
from ..knowledge.concepts_file import FILE_NAME as CONCEPTS
from ..knowledge.facts_file import NAME as FACTS
from ..knowledge.linking import Linker
from ..model import ForgetReport, Forgotten, Grain, SourceFile, citation
from ..store.api import Bools, OntologyRows, StatedFact, Store, UnitText
from ..text.analysis import hit_id
from ..text.lines import split_lines
from .masking import is_ours, touched
from .our_files import naming
from .scopes import Decided, Text, decide, phrases_of
from .selection import Choice, Snapshot, View, Wish, choose, facts_from, named, unknown, with_derived
from .tombstones import Matcher
from .words import Phrase, words_of

if TYPE_CHECKING:
    from ..use.tracker import Usage

#: First and last line of each unit of files that are not in the index, and whether it goes.
_Retired = dict[str, list[tuple[int, int, bool]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written down before anything is done, and what it will come to.

    ``hashes`` are tombstones; ``ids`` and ``paths`` those of access records; ``concepts`` slugs; ``notes`` the files
    whose units go; ``needles`` the texts by which it is shown that they are gone.  ``named()`` tells of the files as
    they then are what is still called by the words.
    """

    report: ForgetReport
    hashes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    needles: tuple[str, ...] = ()
    named: Callable[[], list[str]] = list


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one workspace and its index, which is up to date with the files when it is asked."""

    workspace: Path
    settings: IngestSettings
    store: Store
    reader: NoteReader
    view: View
    uses: Usage

    def plan(self, wish: Wish, key: bytes) -> Plan:
        """What ``wish`` comes to; ``key`` is that of the tombstones.

        Raises :class:`~openclaw_memory.errors.RequestError` for what cannot be meant.
        """
        files = {file.path: file for file in scan(self.workspace, self.settings).files}
        concept, problem = None, None
        if wish.concept is not None:
            try:
                concept = named(wish.concept, self.view)
            except RequestError as error:
                concept, problem = unknown(wish.concept), error
        with self.store.session():
            snapshot = Snapshot(self.store)
            choice = choose(wish, self.store, snapshot, self.workspace, files, concept)
            outside, retired = self._outside(choice, snapshot, files)
            if problem is not None and not outside:
                raise problem
            choice = replace(choice, names=_or_all(choice.names, retired))
            chosen = with_derived(choice, snapshot)
            choice = replace(choice, facts=choice.facts | facts_from(choice, snapshot, chosen, self.store))
            texts = [*self._indexed(choice, snapshot, chosen, files), *outside]
            return self._planned(choice, snapshot, chosen, texts, files, key)

    # -- what was chosen ----------------------------------------------------------------------------

    def _indexed(
        self, choice: Choice, snapshot: Snapshot, chosen: Bools, files: Mapping[str, SourceFile]
    ) -> list[Text]:
        found = []
        written: dict[str, list[str]] = {}
        for unit in self.store.unit_texts(snapshot.rows.unit_id[chosen].tolist()):
            row = snapshot.row_of[unit.id]
            path = snapshot.info(row).path
            if path not in written:
                written[path] = split_lines(self._texts(files[path])[-1]) if path in files else []
            made = phrases_of(unit)
            if snapshot.is_summary(row) and unit.form in ("heading", "title"):
                made = [
                    phrase for phrase in made if choice.says(" ".join(phrase.words))
                ]  # else it is the name of a period
            elif made:
                made += _as_written(unit, "\n".join(written[path][unit.start_line - 1 : unit.end_line]))
            if made:
                found.append(Text(path, unit, made, row))
        return found

    def _outside(
        self, choice: Choice, snapshot: Snapshot, files: Mapping[str, SourceFile]
    ) -> tuple[list[Text], _Retired]:
        """What is meant of files that are not in the index, as they were retired, and which of their lines that is."""
        found: list[Text] = []
        lines: _Retired = {}
        for path, file in files.items():
            if path in snapshot.by_path:
                continue
            try:
                note = self.reader.read(file, Linker(OntologyRows()))
            except OpenClawMemoryError:
                continue  # what cannot be read was never read
            for planned in note.units:
                own = planned.unit
                meant = choice.names(path, own.start_line, own.end_line) or choice.means(
                    path, note.sections[planned.section], planned
                )
                lines.setdefault(path, []).append((own.start_line, own.end_line, meant))
                if meant:
                    unit = UnitText(
                        0, 0, own.start_line, own.end_line, own.form, own.speaker, own.written, planned.hash,
                        planned.occurrence,
                    )  # fmt: skip
                    if made := phrases_of(unit):
                        found.append(Text(path, unit, made))
        return found, lines

    # -- what follows -------------------------------------------------------------------------------

    def _planned(
        self,
        choice: Choice,
        snapshot: Snapshot,
        chosen: Bools,
        texts: Sequence[Text],
        files: Mapping[str, SourceFile],
        key: bytes,
    ) -> Plan:
        decided = decide(texts, snapshot, chosen, self.store, choice.says, choice.aimed, key)
        whole = _whole(snapshot, chosen, files)
        matcher = Matcher(key)
        hashes = dict(decided.hashes)
        for path in whole:
            hashes |= {matcher.tombstone_of_text(text, path): None for text in self._texts(files[path])}
        hashes |= dict.fromkeys(map(matcher.tombstone_of_fact, sorted(choice.facts)))
        for tombstone in hashes:
            matcher.add(tombstone)
        going = self._going(snapshot, texts, decided, whole, matcher)
        outside = [text for text in texts if text.row is None]
        stated = [entry for entry in self.store.stated_facts() if entry.id in choice.facts]
        listed = [
            *_forgotten([(snapshot.info(row).path, unit, snapshot.info(row).grain) for row, unit in going.items()]),
            *_forgotten([(text.path, text.unit, Grain.WORKING) for text in outside]),
            *(Forgotten(FACTS, _said(entry), Grain.WORKING) for entry in stated),
            *(Forgotten(CONCEPTS, slug, Grain.WORKING) for slug in choice.concepts),
        ]
        ids = {hit_id(snapshot.info(row).path, unit.hash, unit.occurrence) for row, unit in going.items()}
        ids |= {hit_id(text.path, text.unit.hash, text.unit.occurrence) for text in outside}
        notes = {snapshot.info(row).path for row in going} | {text.path for text in outside}
        traces = self.store.unit_traces([unit.id for unit in going.values()])
        report = ForgetReport(
            units=len(going),
            vectors=traces.vectors,
            mentions=traces.mentions,
            facts=traces.facts + len(stated),
            summary_sentences=sum(snapshot.is_summary(row) for row in going),
            access_records=sum(unit in ids or path in whole for unit, (path, _) in self.uses.known().items()),
            files=len(notes),
            texts=tuple(listed),
            remains=tuple(self._remaining(snapshot, going, whole, files, matcher)),
            below=tuple(_below(snapshot, going)),
            dry_run=True,
            warning=(
                f"other notes too have {decided.common} of these texts and keep them; to forget one everywhere, name "
                "its words with --query"
            )
            if decided.common
            else None,
        )
        return Plan(
            report,
            tuple(hashes) if listed else (),
            tuple(sorted(ids)),
            tuple(whole),
            choice.concepts,
            tuple(sorted(notes | set(whole))),
            decided.needles,
            lambda: self._named(choice, files, matcher),
        )

    def _named(self, choice: Choice, files: Iterable[str], matcher: Matcher) -> list[str]:
        """What says what was forgotten: names that a person gave to files, and what stays of the two YAML files."""
        names = {
            path: path.removeprefix("memory/").removesuffix(".md")
            for path in files
            if "/" in path and not is_ours(path)
        }
        found = [f"{path} (its name)" for path, name in names.items() if choice.says(name)]
        if choice.named:
            going = {*choice.concepts, *choice.facts}
            found += naming(self.workspace, choice.says, going, lambda text: bool(matcher.find(words_of(text), "")))
        return found

    def _texts(self, file: SourceFile) -> list[str]:
        """A file's text as it is, and as ingest reads it; none when it cannot be read now."""
        try:
            text = read_text(file, max_bytes(self.settings))
            return list(dict.fromkeys((text, self.reader.cleared(file.path, text))))
        except OpenClawMemoryError:
            return [""]

    def _going(
        self, snapshot: Snapshot, texts: Sequence[Text], decided: Decided, whole: Sequence[str], matcher: Matcher
    ) -> dict[int, UnitText]:
        """Every unit that goes, by row: the chosen ones, and others with the same words."""
        rows = snapshot.rows
        out = {text.row: text.unit for text in texts if text.row is not None}
        every = {snapshot.by_path[path] for path in whole}
        entire = np.isin(rows.document_id, list(every))
        sure = set(np.flatnonzero(entire).tolist())
        lines: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for place in decided.places:
            if place.document not in every:
                lines[place.document].add((place.first, place.last))
        maybe: set[int] = set()
        for document, spans in lines.items():
            own = np.flatnonzero(rows.document_id == document)
            start, end = rows.start_line[own], rows.end_line[own]
            for first, last in spans:
                maybe.update(own[(start <= last) & (end >= first)].tolist())
                if last > first:  # words that run over several units are in none of them
                    sure.update(own[(start >= first) & (end <= last)].tolist())
        sure -= out.keys()
        for unit in self.store.unit_texts([int(rows.unit_id[row]) for row in sorted((maybe | sure) - out.keys())]):
            row = snapshot.row_of[unit.id]
            if row in sure or matcher.find(words_of(unit.text), snapshot.info(row).path):
                out[row] = unit
        return dict(sorted(out.items()))

    def _remaining(
        self,
        snapshot: Snapshot,
        going: Mapping[int, UnitText],
        whole: Sequence[str],
        files: Mapping[str, SourceFile],
        matcher: Matcher,
    ) -> list[str]:
        """Places in files of the person that hold what goes, and copies of the index."""
        found: dict[str, None] = {}
        for row, unit in going.items():
            path = snapshot.info(row).path
            if path in files and not is_ours(path):
                found[path if path in whole else citation(path, unit.start_line, unit.end_line)] = None
        for path, file in files.items():
            if path not in snapshot.by_path and not is_ours(path):
                for text in self._texts(file)[-1:]:
                    for first, last in touched(text, path, matcher):
                        found[citation(path, first + 1, last + 1)] = None
        return [*sorted(found), *(self.store.leftovers() if going else ())]


def _or_all(names: Callable[[str, int, int], bool], retired: _Retired) -> Callable[[str, int, int], bool]:
    """``names``, or whether every unit of a retired file on these lines is meant."""

    def gone(path: str, first: int, last: int) -> bool:
        there = [meant for start, end, meant in retired.get(path, ()) if start <= last and end >= first]
        return names(path, first, last) or (bool(there) and all(there))

    return gone


def _whole(snapshot: Snapshot, chosen: Bools, files: Mapping[str, SourceFile]) -> list[str]:
    """Files of which everything goes, but for those that are ours and change."""
    documents = snapshot.rows.document_id
    every = set(documents[chosen].tolist()) - set(documents[~chosen].tolist())
    paths = [snapshot.documents[document].path for document in every]
    return sorted(path for path in paths if path in files and not is_ours(path))


def _as_written(unit: UnitText, lines: str) -> list[Phrase]:
    """What a unit's lines in the file say, where a plugin has made something else of them."""
    said, words = words_of(unit.text).folded, words_of(lines).folded
    if any(said == words[at : at + len(said)] for at in range(len(words) - len(said) + 1)):
        return []
    return phrases_of(replace(unit, text=lines))


def _forgotten(units: Iterable[tuple[str, UnitText, Grain]]) -> list[Forgotten]:
    ordered = sorted(units, key=lambda one: (one[0], one[1].start_line, one[1].id))
    return [
        Forgotten(citation(path, unit.start_line, unit.end_line), unit.text, grain) for path, unit, grain in ordered
    ]


def _said(entry: StatedFact) -> str:
    return " · ".join(filter(None, (entry.subject, entry.predicate, entry.object))) or f"ends {entry.retracts}"


def _below(snapshot: Snapshot, going: Collection[int]) -> list[str]:
    """Citations of the lines that stay in sections whose headings go: they may be about what was named."""
    rows = snapshot.rows
    gone = np.zeros(len(snapshot), bool)
    gone[list(going)] = True
    headless = np.unique(rows.section_id[gone & rows.heading])
    left = np.flatnonzero(np.isin(rows.section_id, headless) & ~gone & ~rows.heading)
    # The rows of a section lie side by side.
    starts = np.flatnonzero(np.diff(rows.section_id[left], prepend=-1))
    first, last = np.minimum.reduceat(rows.start_line[left], starts), np.maximum.reduceat(rows.end_line[left], starts)
    places = zip(left[starts].tolist(), first.tolist(), last.tolist(), strict=True)
    return sorted(citation(snapshot.info(at).path, *lines) for at, *lines in places if not snapshot.is_summary(at))
