"""Plan what to forget: the units and their copies, their tombstones, and the places that still contain them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import OpenClawMemoryError
from ..ingest.scan import max_bytes, read_note, scan
from ..knowledge import CONCEPTS, FACTS
from ..knowledge.linking import Linker
from ..model import ForgetReport, ForgottenText, Grain, citation
from ..records import NamedTuple
from ..store.api import Bools, OntologyRows, UnitText, batches
from ..text.analysis import hit_id
from ..text.dates import date_in_heading, merely_states
from ..text.lines import split_lines
from .generated_files import remaining_entries
from .masking import is_generated, masked_lines
from .selection import ForgetRequest, NamedConcept, Selection, Snapshot, holds, select, with_derived
from .tombstones import Matcher, Scope
from .words import (
    DISTINCTIVE_WEIGHT,
    SENTENCE_WEIGHT,
    Phrase,
    Words,
    extract_needles,
    extract_phrases,
    split_words,
    weight,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ..config.settings import IngestSettings
    from ..ingest.notes import NoteReader
    from ..store.api import Store
    from ..use.tracker import Usage


class Plan(NamedTuple):
    """The steps that are written down before anything is done, and the report of what they come to.

    ``hashes`` are tombstones.  ``todo`` is what an interrupted run is finished from: ``ids`` and ``paths`` of access
    records, the ``notes`` whose units go, and digests of ``concepts``.  ``needles`` are texts that must not occur in
    the index afterwards.  ``remaining_names()`` reads the files after forgetting, and lists the file names and entries
    that still contain the words.
    """

    report: ForgetReport
    hashes: Collection[str]
    todo: dict[str, Sequence[str]]
    needles: Sequence[str]
    remaining_names: Callable[[], list[str]]


class ForgottenUnit(NamedTuple):
    """A unit of the file ``path`` to forget; ``row`` is its row of the snapshot, ``None`` outside the index."""

    path: str
    unit: UnitText
    phrases: Sequence[Phrase] = ()
    row: int | None = None

    @property
    def is_heading(self) -> bool:
        """Return true for a heading or a title: other notes have the same ones over other contents."""
        return self.unit.form in ("heading", "title")

    @property
    def citation(self) -> str:
        """Return the citation of its lines."""
        return citation(self.path, self.unit.start_line, self.unit.end_line)


class Passage(NamedTuple):
    """Lines of a document of the index; ``alone``: the words are no part of a longer sentence there."""

    document: int
    first: int
    last: int
    alone: bool


class Planner:
    """Plans one request to forget with tombstones made with ``key``.

    It is made and used within a session of a store that is in step with the files.
    """

    def __init__(
        self, workspace: Path, settings: IngestSettings, store: Store, reader: NoteReader, uses: Usage, key: bytes
    ) -> None:
        self._workspace, self._settings = workspace, settings
        self._store, self._reader, self._uses = store, reader, uses
        self._files = {file.path: file for file in scan(workspace, settings).files}
        self._snapshot = Snapshot(self._store)
        self._matcher = Matcher(key)

    def plan(self, request: ForgetRequest, concept: NamedConcept | None) -> Plan:
        """Plan ``request``; raises :class:`~openclaw_memory.errors.RequestError` when it names nothing that exists."""
        snapshot = self._snapshot
        selection = select(request, snapshot, self._workspace, self._files, concept)
        outside, selection = self._outside_index(selection)
        if concept is not None and concept.unknown is not None and not outside:
            raise concept.unknown
        selection = with_derived(selection, snapshot)
        targets = [*self._in_index(selection), *outside]
        tombstones = _TombstonePlan(targets, selection, snapshot, self._matcher.key)
        whole_files = self._whole_files(selection)
        hashes = dict.fromkeys(
            [
                *tombstones.hashes,
                *(self._matcher.tombstone_of_text(text, path) for path in whole_files for text in self._texts(path)),
                *map(self._matcher.tombstone_of_fact, sorted(selection.facts)),
            ]
        )
        for tombstone in hashes:
            self._matcher.add(tombstone)
        units_to_forget = self._with_copies(targets, tombstones.passages, whole_files)
        ids = {hit_id(target.path, target.unit.hash, target.unit.occurrence) for target in units_to_forget}
        report = self._report(units_to_forget, selection, whole_files, ids)
        if tombstones.common:
            common = (
                f"other notes too have {tombstones.common} of these texts and keep them; to forget one everywhere, "
                "name its words with --query"
            )
            report = replace(report, warning=common)
        todo: dict[str, Sequence[str]] = {
            "ids": sorted(ids),
            "paths": whole_files,
            "notes": sorted({*whole_files, *(target.path for target in units_to_forget)}),
            # A concept's name is a text too.
            "concepts": [self._matcher.concept_digest(slug) for slug in selection.concepts],
        }
        return Plan(
            report, hashes if report.texts else (), todo, tombstones.needles, lambda: self._remaining_names(selection)
        )

    # -- the two scopes: units of the index, and of files that are not in it ------------------------

    def _in_index(self, selection: Selection) -> list[ForgottenUnit]:
        targets = []
        written: dict[str, list[str]] = {}
        for unit in self._store.unit_texts(self._snapshot.rows.unit_id[selection.rows].tolist()):
            row = self._snapshot.row_of[unit.id]
            path = self._snapshot.info(row).path
            if path not in written:
                written[path] = split_lines(self._texts(path)[-1])
            spoken = unit_phrases(unit)
            if self._snapshot.is_summary(row) and unit.form in ("heading", "title"):
                # The others name a period.
                spoken = [phrase for phrase in spoken if selection.matches_text(" ".join(phrase.words))]
            elif spoken:
                lines = "\n".join(written[path][unit.start_line - 1 : unit.end_line])
                if not holds(split_words(lines).folded, split_words(unit.text).folded):
                    spoken += unit_phrases(replace(unit, text=lines))  # a plugin has changed what is written there
            if spoken:
                targets.append(ForgottenUnit(path, unit, spoken, row))
        return targets

    def _outside_index(self, selection: Selection) -> tuple[list[ForgottenUnit], Selection]:
        """Return the targets in files that are not in the index, and ``selection`` with their lines."""
        targets: list[ForgottenUnit] = []
        lines: defaultdict[str, list[tuple[int, int, bool]]] = defaultdict(list)
        for path in sorted(self._files.keys() - self._snapshot.by_path.keys()):
            try:
                note = self._reader.read(self._files[path], Linker(OntologyRows()))
            except OpenClawMemoryError:
                continue  # what cannot be read was never read
            for planned in note.units:
                span = planned.unit.start_line, planned.unit.end_line
                is_selected = selection.covers_lines(path, *span) or selection.matches_unit(
                    path, note.sections[planned.section], planned
                )
                lines[path].append((*span, is_selected))
                if is_selected:
                    unit = UnitText(
                        0, 0, *span, planned.unit.form, planned.unit.speaker, planned.unit.written, planned.hash,
                        planned.occurrence,
                    )  # fmt: skip
                    if spoken := unit_phrases(unit):
                        targets.append(ForgottenUnit(path, unit, spoken))

        def covers_lines(path: str, first: int, last: int) -> bool:
            touched = [is_selected for start, end, is_selected in lines.get(path, ()) if start <= last and end >= first]
            return selection.covers_lines(path, first, last) or (bool(touched) and all(touched))

        return targets, replace(selection, covers_lines=covers_lines)

    # -- what follows for both ----------------------------------------------------------------------

    def _report(
        self,
        units_to_forget: Sequence[ForgottenUnit],
        selection: Selection,
        whole_files: Sequence[str],
        ids: Collection[str],
    ) -> ForgetReport:
        indexed = {target.row: target for target in units_to_forget if target.row is not None}
        dependents = self._store.count_dependents([target.unit.id for target in indexed.values()])
        stated = [entry for entry in self._store.stated_facts() if entry.id in selection.facts]
        texts = [
            ForgottenText(
                target.citation,
                target.unit.text,
                Grain.WORKING if target.row is None else self._snapshot.info(target.row).grain,
            )
            for target in sorted(
                units_to_forget,
                key=lambda target: (target.row is None, target.path, target.unit.start_line, target.unit.id),
            )
        ]
        for entry in stated:
            words = " · ".join(filter(None, (entry.subject, entry.predicate, entry.object)))
            texts.append(ForgottenText(FACTS, words or f"ends {entry.retracts}", Grain.WORKING))
        texts += [ForgottenText(CONCEPTS, slug, Grain.WORKING) for slug in selection.concepts]
        last_days = self._uses.last_days()
        return ForgetReport(
            units=len(indexed),
            vectors=dependents.vectors,
            mentions=dependents.mentions,
            facts=dependents.facts + len(stated),
            summary_sentences=sum(map(self._snapshot.is_summary, indexed)),
            access_records=sum(unit in ids or path in whole_files for unit, (path, _) in last_days.items()),
            files=len({target.path for target in units_to_forget}),
            texts=tuple(texts),
            remains=tuple(self._remaining(indexed.values(), whole_files)),
            below=tuple(_below_headings(self._snapshot, list(indexed))),
            dry_run=True,
        )

    def _texts(self, path: str) -> list[str]:
        """Return a file's text as it is, and as ingest reads it; an empty one when it cannot be read now."""
        try:
            text, _ = read_note(self._files[path], max_bytes(self._settings))
            return list(dict.fromkeys((text, self._reader.readable_text(path, text))))
        except (KeyError, OpenClawMemoryError):
            return [""]

    def _whole_files(self, selection: Selection) -> list[str]:
        """Return the paths of a person's files of which every unit goes."""
        documents = self._snapshot.rows.document_id
        entire = set(documents[selection.rows].tolist()) - set(documents[~selection.rows].tolist())
        paths = [self._snapshot.documents[document].path for document in entire]
        return sorted(path for path in paths if path in self._files and not is_generated(path))

    def _with_copies(
        self, targets: Sequence[ForgottenUnit], passages: Iterable[Passage], whole_files: Sequence[str]
    ) -> list[ForgottenUnit]:
        """Return the targets and every other unit of the index with the same words: by row, then those outside."""
        snapshot, rows = self._snapshot, self._snapshot.rows
        indexed = {target.row: target for target in targets if target.row is not None}
        documents = {snapshot.by_path[path] for path in whole_files}
        certain = set(np.flatnonzero(np.isin(rows.document_id, list(documents))).tolist())
        possible: set[int] = set()
        for passage in dict.fromkeys(passages):
            if passage.document not in documents:
                on = snapshot.rows_on(snapshot.documents[passage.document].path, passage.first, passage.last)
                possible.update(on.tolist())
                if passage.last > passage.first:  # words that run over several units are in none of them
                    inside = (rows.start_line[on] >= passage.first) & (rows.end_line[on] <= passage.last)
                    certain.update(on[inside].tolist())
        others = sorted((possible | certain) - indexed.keys())
        for unit in self._store.unit_texts([int(rows.unit_id[row]) for row in others]):
            row = snapshot.row_of[unit.id]
            path = snapshot.info(row).path
            if row in certain or self._matcher.find(split_words(unit.text), path):
                indexed[row] = ForgottenUnit(path, unit, row=row)
        return [*(indexed[row] for row in sorted(indexed)), *(target for target in targets if target.row is None)]

    def _remaining(self, indexed: Collection[ForgottenUnit], whole_files: Sequence[str]) -> list[str]:
        """List the places in a person's files that hold what goes, and copies of the index."""
        places = {
            target.path if target.path in whole_files else target.citation
            for target in indexed
            if target.path in self._files and not is_generated(target.path)
        }
        for path in self._files.keys() - self._snapshot.by_path.keys():
            if not is_generated(path):
                for first, last in masked_lines(self._texts(path)[-1], path, self._matcher):
                    places.add(citation(path, first + 1, last + 1))
        return [*sorted(places), *(self._store.leftovers() if indexed else ())]

    def _remaining_names(self, selection: Selection) -> list[str]:
        """List the names of files that say what was forgotten, and what stays of the two YAML files."""
        names = [
            f"{path} (its name)"
            for path in self._files
            if "/" in path
            and not is_generated(path)
            and selection.matches_text(path.removeprefix("memory/").removesuffix(".md"))
        ]
        if selection.includes_names:
            kept = {*selection.concepts, *selection.facts}
            names += remaining_entries(self._workspace, selection.matches_text, kept, self._matcher)
        return names


# -- scopes of tombstones ---------------------------------------------------------------------------


class _TombstonePlan:
    """Tombstones of the units to forget, with their scopes, and the passages of the index that they match.

    A phrase that contains what the request named is forgotten in every file.  So is any other phrase, unless other
    notes contain it, copies of its file aside: one such note is enough to keep a heading, a sentence of a unit or a few
    words (fewer where the request named single lines), three to keep a whole unit.  A single word, and a phrase that
    other notes keep, is forgotten in its own file only.  A short phrase is forgotten where it stands alone, and stays
    as a part of a longer sentence.  Build it within a session.
    """

    def __init__(self, targets: Sequence[ForgottenUnit], selection: Selection, snapshot: Snapshot, key: bytes) -> None:
        phrase_matcher = Matcher(key)
        for words in {phrase.words for target in targets for phrase in target.phrases}:
            phrase_matcher.add(phrase_matcher.tombstone(words, "anywhere", ""))
        self.hashes: dict[str, None] = {}
        self.passages: list[Passage] = []
        occurrences = _Occurrences(snapshot, selection.rows, phrase_matcher)
        copies = _copies(targets, occurrences, phrase_matcher)
        removed_digests: set[bytes] = set()
        common: set[tuple[str, int]] = set()
        for target in targets:
            for phrase in target.phrases:
                digest = phrase_matcher.digest("a", phrase.words)
                named_words = selection.matches_text(" ".join(phrase.words))
                distinctive = weight(phrase.words) >= (SENTENCE_WEIGHT if named_words else DISTINCTIVE_WEIGHT)
                others = occurrences.notes(digest, distinctive) - copies[target.path]
                is_whole_unit = not phrase.part and not target.is_heading
                # A text that three other notes have is a form that people fill in: it stays in those.
                threshold = 3 if is_whole_unit and (distinctive or (selection.single_lines and phrase.long)) else 1
                shared = weight(phrase.words) <= 1 or len(others) >= threshold
                scope: Scope = "file" if shared and not named_words else "anywhere" if distinctive else "alone"
                self.hashes[phrase_matcher.tombstone(phrase.words, scope, target.path)] = None
                passages = [passage for passage in occurrences.every[digest] if distinctive or passage.alone]
                if scope == "file":
                    document = snapshot.by_path.get(target.path)
                    self.passages += [passage for passage in passages if passage.document == document]
                    if others and weight(phrase.words) > 1 and is_whole_unit:
                        common.add((target.path, target.unit.start_line))
                    continue
                self.passages += passages
                if distinctive or all(passage.alone for passage in occurrences.elsewhere[digest]):
                    removed_digests.add(digest)
        #: Count of units of which other notes keep a copy.
        self.common = len(common)
        self.needles = _needles(targets, removed_digests, phrase_matcher)


class _Occurrences:
    """Passages of the index that hold phrases, by digest: ``every`` one, and those ``elsewhere`` than chosen rows."""

    def __init__(self, snapshot: Snapshot, chosen: Bools, phrase_matcher: Matcher) -> None:
        self._grain = {document: info.grain for document, info in snapshot.documents.items()}
        lines: defaultdict[int, set[int]] = defaultdict(set)
        rows = snapshot.rows
        for row in np.flatnonzero(chosen).tolist():
            lines[int(rows.document_id[row])].update(range(int(rows.start_line[row]), int(rows.end_line[row]) + 1))
        self.every: defaultdict[bytes, list[Passage]] = defaultdict(list)
        self.elsewhere: defaultdict[bytes, list[Passage]] = defaultdict(list)
        for document, start, words in _sections(snapshot) if phrase_matcher else ():
            if matches := phrase_matcher.find(words, "", every=True):
                breaks = [match.start() for match in re.finditer("\n", words.text)]
                for match in matches:
                    first = start + bisect_right(breaks, words.starts[match.first])
                    last = start + bisect_right(breaks, words.ends[match.last] - 1)
                    passage = Passage(document, first, last, words.alone(match.first, match.last))
                    self.every[match.digest].append(passage)
                    if lines[document].isdisjoint(range(first, last + 1)):
                        self.elsewhere[match.digest].append(passage)

    def notes(self, digest: bytes, inside_longer: bool) -> set[int]:
        """Return the other notes with a phrase alone or, with ``inside_longer``, within a longer sentence."""
        return {
            passage.document
            for passage in self.elsewhere[digest]
            if (inside_longer or passage.alone) and self._grain[passage.document] is Grain.WORKING
        }


def documents_holding(snapshot: Snapshot, matcher: Matcher) -> set[int]:
    """Return the documents of the index that hold anything that ``matcher`` finds; called within a session."""
    holding: set[int] = set()
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for document, _, words in _sections(snapshot):
        if document not in holding and matcher.find(words, snapshot.documents[document].path):
            holding.add(document)
        if matcher.has_texts:
            texts[document].append(words.text)
    for document, sections in texts.items():
        if matcher.holds_text(split_words("\n".join(sections)), snapshot.documents[document].path):
            holding.add(document)
    return holding


def _sections(snapshot: Snapshot) -> Iterator[tuple[int, int, Words]]:
    """Yield document, first line and words of every section; called within a session."""
    rows = snapshot.rows
    document_of = dict(zip(rows.section_id.tolist(), rows.document_id.tolist(), strict=True))
    for some in batches(list(document_of), 400):
        for section, text in snapshot.store.section_texts(some).items():
            yield document_of[section], text.start_line, split_words("\n".join(text.lines))


def unit_phrases(unit: UnitText) -> list[Phrase]:
    """Return the phrases of a unit to forget; none of a unit that merely states a day or describes its file."""
    day = date_in_heading(unit.text)
    if day is not None and merely_states(unit.text, day):
        return []
    if unit.form != "meta":
        return extract_phrases(unit.text, unit.speaker, code=unit.form == "code")
    name, colon, _ = unit.text.partition(":")
    if name.strip().casefold() in ("origin", "date", "grain", "period", "format", "digest", "content", "sources"):
        return []  # these describe the file rather than its subject
    return extract_phrases(unit.text, name if colon else None, code=True)


def _copies(
    targets: Sequence[ForgottenUnit], occurrences: _Occurrences, phrase_matcher: Matcher
) -> dict[str, set[int]]:
    """Return for each file of the targets the documents that have all of its longer texts."""
    digests_of: defaultdict[str, set[bytes]] = defaultdict(set)
    for target in targets:
        digests_of[target.path] |= {
            phrase_matcher.digest("a", phrase.words) for phrase in target.phrases if phrase.long and not phrase.part
        }
    copies: dict[str, set[int]] = {}
    for path, digests in digests_of.items():
        times = Counter(document for digest in digests for document in occurrences.notes(digest, inside_longer=True))
        copies[path] = {document for document, n in times.items() if n >= max(2, len(digests))}
    return copies


def _needles(targets: Sequence[ForgottenUnit], removed_digests: set[bytes], phrase_matcher: Matcher) -> tuple[str, ...]:
    """Return the texts that must not occur in the index afterwards."""
    texts: dict[str, None] = {}
    for target in targets:
        entirely = all(phrase_matcher.digest("a", phrase.words) in removed_digests for phrase in target.phrases)
        for needle in extract_needles(target.unit.text, target.unit.speaker):
            words = split_words(needle).folded
            by_itself = phrase_matcher.digest("a", words) in removed_digests
            if by_itself or (entirely and weight(words) >= DISTINCTIVE_WEIGHT):
                texts[needle] = None
    return tuple(texts)


def _below_headings(snapshot: Snapshot, removed_rows: Sequence[int]) -> list[str]:
    """Cite the lines that stay in sections whose headings are removed: they may be about what was named."""
    rows = snapshot.rows
    removed = np.zeros(len(snapshot), bool)
    removed[list(removed_rows)] = True
    headless = np.unique(rows.section_id[removed & rows.heading])
    left = np.flatnonzero(np.isin(rows.section_id, headless) & ~removed & ~rows.heading)
    # The rows of a section lie side by side.
    starts = np.flatnonzero(np.diff(rows.section_id[left], prepend=-1))
    first, last = np.minimum.reduceat(rows.start_line[left], starts), np.maximum.reduceat(rows.end_line[left], starts)
    places = zip(left[starts].tolist(), first.tolist(), last.tolist(), strict=True)
    return sorted(citation(snapshot.info(row).path, *lines) for row, *lines in places if not snapshot.is_summary(row))
