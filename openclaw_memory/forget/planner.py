"""Plan what to forget: the units and their copies, their tombstones, and the places that still contain them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError
from ..ingest.notes import NoteReader
from ..ingest.scan import max_bytes, read_text, scan
from ..knowledge.concepts_file import FILE_NAME as CONCEPTS
from ..knowledge.facts_file import NAME as FACTS
from ..knowledge.linking import Linker
from ..model import ForgetReport, ForgottenText, Grain, SourceFile, citation
from ..store.api import Bools, OntologyRows, StatedFact, Store, UnitText, batches
from ..text.analysis import hit_id
from ..text.dates import date_in_heading, merely_states
from ..text.lines import split_lines
from .generated_files import remaining_entries
from .masking import is_generated, masked_lines
from .selection import (
    ForgetRequest,
    GraphView,
    Selection,
    Snapshot,
    find_concept,
    find_facts_citing_only,
    holds,
    select,
    with_derived,
)
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
    from ..use.tracker import Usage

#: Forms of units that name what is below them: other notes have the same titles over other contents.
_TITLES = ("heading", "title")
#: Keys of front matter that describe the file rather than its subject.
_FILE_KEYS = ("origin", "date", "grain", "period", "format", "digest", "content", "sources")


class Plan(NamedTuple):
    """The steps that are written down before anything is done, and the report of what they come to.

    ``hashes`` are tombstones; ``ids`` and ``paths`` those of access records; ``concepts`` slugs; ``notes`` the files
    whose units go; ``needles`` texts that must not occur in the index afterwards.  ``remaining_names()`` reads the
    files after forgetting, and lists the file names and entries that still contain the words.
    """

    report: ForgetReport
    hashes: tuple[str, ...]
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    concepts: tuple[str, ...]
    notes: tuple[str, ...]
    needles: tuple[str, ...]
    remaining_names: Callable[[], list[str]]


class ForgottenUnit(NamedTuple):
    """A unit of the file ``path`` to forget; ``row`` is its row of the snapshot, ``None`` outside the index."""

    path: str
    unit: UnitText
    phrases: Sequence[Phrase] = ()
    row: int | None = None

    @property
    def is_heading(self) -> bool:
        """Return true for a heading or a title."""
        return self.unit.form in _TITLES


class Passage(NamedTuple):
    """Lines of a document of the index; ``alone``: the words are no part of a longer sentence there."""

    document: int
    first: int
    last: int
    alone: bool


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one workspace and its index, which the caller has brought up to date with the files."""

    workspace: Path
    settings: IngestSettings
    store: Store
    reader: NoteReader
    view: GraphView
    uses: Usage

    def plan(self, request: ForgetRequest, key: bytes) -> Plan:
        """Plan ``request`` with tombstones made with ``key``.

        Raises :class:`~openclaw_memory.errors.RequestError` when it names nothing that exists.
        """
        files = {file.path: file for file in scan(self.workspace, self.settings).files}
        concept, unknown = None, None
        if request.concept is not None:
            concept, unknown = find_concept(request.concept, self.view)
        with self.store.session():
            snapshot = Snapshot(self.store)
            selection = select(request, self.store, snapshot, self.workspace, files, concept)
            outside, selection = self._outside_index(selection, snapshot, files)
            if unknown is not None and not outside:
                raise unknown
            selection = with_derived(selection, snapshot)
            selection = replace(
                selection, facts=selection.facts | find_facts_citing_only(selection, snapshot, self.store)
            )
            targets = [*self._in_index(selection, snapshot, files), *outside]
            return self._plan_targets(targets, selection, snapshot, files, Matcher(key))

    # -- the two scopes: units of the index, and of files that are not in it ------------------------

    def _in_index(
        self, selection: Selection, snapshot: Snapshot, files: Mapping[str, SourceFile]
    ) -> list[ForgottenUnit]:
        targets = []
        written: dict[str, list[str]] = {}
        for unit in self.store.unit_texts(snapshot.rows.unit_id[selection.rows].tolist()):
            row = snapshot.row_of[unit.id]
            path = snapshot.info(row).path
            if path not in written:
                written[path] = split_lines(self._texts(files[path])[-1]) if path in files else []
            spoken = unit_phrases(unit)
            if snapshot.is_summary(row) and unit.form in _TITLES:
                # The others name a period.
                spoken = [phrase for phrase in spoken if selection.matches_text(" ".join(phrase.words))]
            elif spoken:
                lines = "\n".join(written[path][unit.start_line - 1 : unit.end_line])
                if not holds(split_words(lines).folded, split_words(unit.text).folded):
                    spoken += unit_phrases(replace(unit, text=lines))  # a plugin has changed what is written there
            if spoken:
                targets.append(ForgottenUnit(path, unit, spoken, row))
        return targets

    def _outside_index(
        self, selection: Selection, snapshot: Snapshot, files: Mapping[str, SourceFile]
    ) -> tuple[list[ForgottenUnit], Selection]:
        """Return the targets in files that are not in the index, and ``selection`` with their lines."""
        targets: list[ForgottenUnit] = []
        lines: defaultdict[str, list[tuple[int, int, bool]]] = defaultdict(list)
        for path in sorted(files.keys() - snapshot.by_path.keys()):
            try:
                note = self.reader.read(files[path], Linker(OntologyRows()))
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

    def _plan_targets(
        self,
        targets: Sequence[ForgottenUnit],
        selection: Selection,
        snapshot: Snapshot,
        files: Mapping[str, SourceFile],
        matcher: Matcher,
    ) -> Plan:
        tombstones = _TombstonePlan(targets, selection, snapshot, self.store, matcher.key)
        whole_files = _whole_files(selection, snapshot, files)
        hashes = dict.fromkeys(
            [
                *tombstones.hashes,
                *(matcher.tombstone_of_text(text, path) for path in whole_files for text in self._texts(files[path])),
                *map(matcher.tombstone_of_fact, sorted(selection.facts)),
            ]
        )
        for tombstone in hashes:
            matcher.add(tombstone)
        units_to_forget = self._with_copies(targets, tombstones.passages, whole_files, snapshot, matcher)
        ids = {hit_id(target.path, target.unit.hash, target.unit.occurrence) for target in units_to_forget}
        report = self._report(units_to_forget, selection, snapshot, files, whole_files, ids, matcher)
        common = (
            f"other notes too have {tombstones.common} of these texts and keep them; to forget one everywhere, name "
            "its words with --query"
        )
        return Plan(
            replace(report, warning=common if tombstones.common else None),
            tuple(hashes) if report.texts else (),
            tuple(sorted(ids)),
            tuple(whole_files),
            selection.concepts,
            tuple(sorted({*whole_files, *(target.path for target in units_to_forget)})),
            tombstones.needles,
            lambda: self._remaining_names(selection, files, matcher),
        )

    def _report(
        self,
        units_to_forget: Sequence[ForgottenUnit],
        selection: Selection,
        snapshot: Snapshot,
        files: Mapping[str, SourceFile],
        whole_files: Sequence[str],
        ids: Collection[str],
        matcher: Matcher,
    ) -> ForgetReport:
        rows = [target.row for target in units_to_forget if target.row is not None]
        dependents = self.store.count_dependents(
            [target.unit.id for target in units_to_forget if target.row is not None]
        )
        stated = [entry for entry in self.store.stated_facts() if entry.id in selection.facts]
        return ForgetReport(
            units=len(rows),
            vectors=dependents.vectors,
            mentions=dependents.mentions,
            facts=dependents.facts + len(stated),
            summary_sentences=sum(map(snapshot.is_summary, rows)),
            access_records=sum(unit in ids or path in whole_files for unit, (path, _) in self.uses.last_days().items()),
            files=len({target.path for target in units_to_forget}),
            texts=(
                *(_listed(target, snapshot) for target in sorted(units_to_forget, key=_reading_order)),
                *(ForgottenText(FACTS, _as_text(entry), Grain.WORKING) for entry in stated),
                *(ForgottenText(CONCEPTS, slug, Grain.WORKING) for slug in selection.concepts),
            ),
            remains=tuple(self._remaining(units_to_forget, whole_files, snapshot, files, matcher)),
            below=tuple(_below_headings(snapshot, rows)),
            dry_run=True,
        )

    def _texts(self, file: SourceFile) -> list[str]:
        """Return a file's text as it is, and as ingest reads it; an empty one when it cannot be read now."""
        try:
            text = read_text(file, max_bytes(self.settings))
            return list(dict.fromkeys((text, self.reader.readable_text(file.path, text))))
        except OpenClawMemoryError:
            return [""]

    def _with_copies(
        self,
        targets: Sequence[ForgottenUnit],
        passages: Iterable[Passage],
        whole_files: Sequence[str],
        snapshot: Snapshot,
        matcher: Matcher,
    ) -> list[ForgottenUnit]:
        """Return the targets and every other unit of the index with the same words: by row, then those outside."""
        rows = snapshot.rows
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
        for unit in self.store.unit_texts([int(rows.unit_id[row]) for row in others]):
            row = snapshot.row_of[unit.id]
            path = snapshot.info(row).path
            if row in certain or matcher.find(split_words(unit.text), path):
                indexed[row] = ForgottenUnit(path, unit, row=row)
        return [*(indexed[row] for row in sorted(indexed)), *(target for target in targets if target.row is None)]

    def _remaining(
        self,
        units_to_forget: Sequence[ForgottenUnit],
        whole_files: Sequence[str],
        snapshot: Snapshot,
        files: Mapping[str, SourceFile],
        matcher: Matcher,
    ) -> list[str]:
        """List the places in a person's files that hold what goes, and copies of the index."""
        places = {
            target.path if target.path in whole_files else _cite(target)
            for target in units_to_forget
            if target.row is not None and target.path in files and not is_generated(target.path)
        }
        for path, file in files.items():
            if path not in snapshot.by_path and not is_generated(path):
                for first, last in masked_lines(self._texts(file)[-1], path, matcher):
                    places.add(citation(path, first + 1, last + 1))
        indexed = any(target.row is not None for target in units_to_forget)
        return [*sorted(places), *(self.store.leftovers() if indexed else ())]

    def _remaining_names(self, selection: Selection, files: Iterable[str], matcher: Matcher) -> list[str]:
        """List the names of files that say what was forgotten, and what stays of the two YAML files."""
        names = [
            f"{path} (its name)"
            for path in files
            if "/" in path
            and not is_generated(path)
            and selection.matches_text(path.removeprefix("memory/").removesuffix(".md"))
        ]
        if selection.includes_names:
            kept = {*selection.concepts, *selection.facts}
            names += remaining_entries(
                self.workspace, selection.matches_text, kept, lambda text: bool(matcher.find(split_words(text), ""))
            )
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

    def __init__(
        self, targets: Sequence[ForgottenUnit], selection: Selection, snapshot: Snapshot, store: Store, key: bytes
    ) -> None:
        phrase_matcher = Matcher(key)
        for words in {phrase.words for target in targets for phrase in target.phrases}:
            phrase_matcher.add(phrase_matcher.tombstone(words, "anywhere", ""))
        self.hashes: dict[str, None] = {}
        self.passages: list[Passage] = []
        occurrences = _Occurrences(snapshot, selection.rows, store, phrase_matcher)
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

    def __init__(self, snapshot: Snapshot, chosen: Bools, store: Store, phrase_matcher: Matcher) -> None:
        self._grain = {document: info.grain for document, info in snapshot.documents.items()}
        lines: defaultdict[int, set[int]] = defaultdict(set)
        rows = snapshot.rows
        for row in np.flatnonzero(chosen).tolist():
            lines[int(rows.document_id[row])].update(range(int(rows.start_line[row]), int(rows.end_line[row]) + 1))
        self.every: defaultdict[bytes, list[Passage]] = defaultdict(list)
        self.elsewhere: defaultdict[bytes, list[Passage]] = defaultdict(list)
        for document, start, words in _sections(store, snapshot) if phrase_matcher else ():
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


def documents_holding(store: Store, snapshot: Snapshot, matcher: Matcher) -> set[int]:
    """Return the documents of the index that hold anything that ``matcher`` finds; called within a session."""
    holding: set[int] = set()
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for document, _, words in _sections(store, snapshot):
        if document not in holding and matcher.find(words, snapshot.documents[document].path):
            holding.add(document)
        if matcher.has_texts:
            texts[document].append(words.text)
    for document, sections in texts.items():
        if matcher.holds_text(split_words("\n".join(sections)), snapshot.documents[document].path):
            holding.add(document)
    return holding


def _sections(store: Store, snapshot: Snapshot) -> Iterator[tuple[int, int, Words]]:
    """Yield document, first line and words of every section; called within a session."""
    rows = snapshot.rows
    document_of = dict(zip(rows.section_id.tolist(), rows.document_id.tolist(), strict=True))
    for some in batches(list(document_of), 400):
        for section, text in store.section_texts(some).items():
            yield document_of[section], text.start_line, split_words("\n".join(text.lines))


def unit_phrases(unit: UnitText) -> list[Phrase]:
    """Return the phrases of a unit to forget; none of a unit that merely states a day or describes its file."""
    day = date_in_heading(unit.text)
    if day is not None and merely_states(unit.text, day):
        return []
    if unit.form != "meta":
        return extract_phrases(unit.text, unit.speaker, code=unit.form == "code")
    name, colon, _ = unit.text.partition(":")
    if name.strip().casefold() in _FILE_KEYS:
        return []
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
        times: defaultdict[int, int] = defaultdict(int)
        for digest in digests:
            for document in occurrences.notes(digest, inside_longer=True):
                times[document] += 1
        copies[path] = {document for document, n in times.items() if n >= max(2, len(digests))}
    return copies


def _needles(targets: Sequence[ForgottenUnit], removed_digests: set[bytes], phrase_matcher: Matcher) -> tuple[str, ...]:
    """Return the texts that must not occur in the index afterwards."""
    texts: dict[str, None] = {}
    for target in targets:
        entirely = all(phrase_matcher.digest("a", phrase.words) in removed_digests for phrase in target.phrases)
        for needle in extract_needles(target.unit.text, target.unit.speaker):
            words = split_words(needle).folded
            if (entirely and weight(words) >= DISTINCTIVE_WEIGHT) or phrase_matcher.digest(
                "a", words
            ) in removed_digests:
                texts[needle] = None
    return tuple(texts)


# -- the report -------------------------------------------------------------------------------------


def _whole_files(selection: Selection, snapshot: Snapshot, files: Mapping[str, SourceFile]) -> list[str]:
    """Return the paths of a person's files of which every unit goes."""
    documents = snapshot.rows.document_id
    entire = set(documents[selection.rows].tolist()) - set(documents[~selection.rows].tolist())
    paths = [snapshot.documents[document].path for document in entire]
    return sorted(path for path in paths if path in files and not is_generated(path))


def _reading_order(target: ForgottenUnit) -> tuple[bool, str, int, int]:
    return target.row is None, target.path, target.unit.start_line, target.unit.id


def _listed(target: ForgottenUnit, snapshot: Snapshot) -> ForgottenText:
    grain = Grain.WORKING if target.row is None else snapshot.info(target.row).grain
    return ForgottenText(_cite(target), target.unit.text, grain)


def _cite(target: ForgottenUnit) -> str:
    return citation(target.path, target.unit.start_line, target.unit.end_line)


def _as_text(entry: StatedFact) -> str:
    return " · ".join(filter(None, (entry.subject, entry.predicate, entry.object))) or f"ends {entry.retracts}"


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
