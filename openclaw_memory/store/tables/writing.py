"""Write the changes of files: rows of documents, sections, units and postings in one transaction."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ...text.analysis import vocabulary
from ..rows import RULES, DocumentChange, PlannedUnit, TextsChanged
from .base import Connection, Database, bump, column_types, in_list, next_ids
from .keywords import MOST


def apply(db: Database, c: Connection, changes: Sequence[DocumentChange]) -> Counter[str]:
    """Replace the rows of these files; the caller owns the transaction.  Returns the numbers of changed units.

    A unit is recognised within its file by the hash of its search text, and keeps its id, vector and postings.  A new
    one takes the vector of an old one with the same text, as those of a renamed file or a moved section do.
    """
    replaced = [change.replaces for change in changes if change.replaces is not None]
    units = [unit for change in changes for unit in change.units]
    known, counts = _match(c, changes, replaced)
    living = [unit_id for unit_id in known if unit_id is not None]
    new_hashes = {unit.hash for unit, unit_id in zip(units, known, strict=True) if unit_id is None}
    c.execute(
        "CREATE TEMP TABLE same AS SELECT DISTINCT ON (hash) hash, model_id, v FROM units JOIN vectors ON unit_id = id "
        f"WHERE status = 'ready' AND hash IN {in_list(new_hashes)} ORDER BY hash, generation DESC"
    )
    if replaced:
        remove(c, replaced, living)
    ids = next_ids(
        c,
        document=len(changes) - len(replaced),
        section=sum(len(change.sections) for change in changes),
        unit=len(units) - len(living),
    )
    rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    known_ids = iter(known)
    written = [unit for change in changes for unit in _add_document(rows, change, known_ids, ids)]
    next_generation = "(SELECT value FROM counters WHERE name = 'generation') + 1"
    types = column_types("documents").rpartition(" ")[0]
    db.insert_rows(c, "documents", types, rows.pop("documents", []), f"*, {next_generation}")
    for table, table_rows in rows.items():
        db.append(c, table, table_rows)
    old = set(living)
    new = [(unit_id, planned.terms) for unit_id, _, planned in written if unit_id not in old]
    db.insert_postings(c, new)
    _insert_words(db, c, ((document_id, planned.unit.search_text) for _, document_id, planned in written))
    c.execute(
        f"INSERT INTO vectors SELECT id, model_id, 'ready', {next_generation}, v "
        f"FROM units JOIN same USING (hash) WHERE id IN {in_list(unit_id for unit_id, _ in new)}"
    )
    c.execute("DROP TABLE same")
    return counts


def _match(
    c: Connection, changes: Sequence[DocumentChange], replaced: Sequence[int]
) -> tuple[list[int | None], Counter[str]]:
    """Return for each unit of the changes the id of the stored unit that lives on in it, and the numbers of changes.

    In documents that are to be read again none lives on: their postings may be of another analysis.
    """
    waiting: defaultdict[tuple[int | None, int], deque[int]] = defaultdict(deque)
    stored: Counter[int | None] = Counter()
    select = "SELECT document_id, hash, id FROM units WHERE document_id IN"
    for document_id, text_hash, unit_id in c.execute(f"{select} {in_list(replaced)} ORDER BY ordinal").fetchall():
        waiting[document_id, text_hash].append(unit_id)
        stored[document_id] += 1
    reread = c.execute(f"SELECT id FROM documents WHERE sha256 = '' AND id IN {in_list(replaced)}").fetchall()
    known: list[int | None] = []
    counts: Counter[str] = Counter()
    for change in changes:
        same = (waiting.get((change.replaces, unit.hash)) for unit in change.units)
        unit_ids = [units.popleft() if units else None for units in same]
        added = unit_ids.count(None)
        gone = stored[change.replaces] - (len(unit_ids) - added)
        updated = min(added, gone)
        counts += Counter(added=added - updated, updated=updated, deleted=gone - updated)
        known += [None] * len(unit_ids) if (change.replaces,) in reread else unit_ids
    return known, counts


def _add_document(
    rows: Mapping[str, list[tuple[Any, ...]]],
    change: DocumentChange,
    known_ids: Iterator[int | None],
    ids: Mapping[str, Iterator[int]],
) -> Iterator[tuple[int, int, PlannedUnit]]:
    """Add the rows of a document by table; yields each unit with its id and its document's.

    ``known_ids`` gives the id of the stored unit that lives on in the next one, ``ids`` new ids.
    """
    document_id = next(ids["document"]) if change.replaces is None else change.replaces
    file = change.file
    front_matter = json.dumps(dict(change.front_matter), ensure_ascii=False, sort_keys=True, default=str)
    rows["documents"].append((
        document_id, file.path, file.size, file.mtime_ns, change.sha256, file.kind.value, file.grain.value,
        file.origin.value, front_matter, len(change.units),
    ))  # fmt: skip
    section_ids = []
    for part in change.sections:
        section_ids.append(next(ids["section"]))
        rows["sections"].append((
            section_ids[-1], document_id, part.heading, part.start_line, part.end_line,
            part.date and part.date.isoformat(), part.date_source, "\n".join(part.lines),
        ))  # fmt: skip
    for ordinal, planned in enumerate(change.units):
        known_id = next(known_ids)
        unit_id = next(ids["unit"]) if known_id is None else known_id
        unit = planned.unit
        rows["units"].append((
            unit_id, document_id, section_ids[planned.section], ordinal,
            unit.start_line, unit.end_line, unit.form, unit.speaker, planned.speaker_key,
            unit.text, unit.indexed, planned.hash, planned.occurrence,
            min(sum(planned.terms.values()), MOST), len(unit.search_text),
            planned.time_words, *(0 if day is None else day.toordinal() for day in planned.stated_days or (None, None)),
            planned.tokens, planned.likeness, planned.script, planned.amount,
        ))  # fmt: skip
        for mention in planned.mentions:
            rows["mentions"].append((unit_id, document_id, mention.key, RULES.index(mention.rule), mention.text))
        for fact in planned.facts:
            values = fact.subject, fact.predicate, fact.object, fact.rule, fact.confidence
            rows["found_facts"].append((unit_id, document_id, *values))
        for cited in planned.cited:
            rows["derived_from"].append((unit_id, document_id, cited.path, cited.start_line, cited.end_line))
        yield unit_id, document_id, planned


def _insert_words(db: Database, c: Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Store the spellings of each document's words: a row for each initial, blanks around each word."""
    by_document: dict[int, list[str]] = {}
    for document_id, text in texts:
        by_document.setdefault(document_id, []).append(text)
    rows = [
        (document_id, initial, f" {' '.join(words)} ")
        for document_id, document_texts in by_document.items()
        for initial, words in groupby(vocabulary(document_texts), itemgetter(0))
    ]
    db.append(c, "words", rows)


def remove(c: Connection, document_ids: Sequence[int], living: Sequence[int] = ()) -> None:
    """Remove documents with their sections and units, and the vectors of units that are not ``living`` on."""
    c.execute(
        "DELETE FROM vectors WHERE unit_id IN "
        f"(SELECT id FROM units WHERE document_id IN {in_list(document_ids)}) AND unit_id NOT IN {in_list(living)}"
    )
    for table in ("units", "mentions", "found_facts", "derived_from", "sections", "words"):
        c.execute(f"DELETE FROM {table} WHERE document_id IN {in_list(document_ids)}")
    c.execute(f"DELETE FROM documents WHERE id IN {in_list(document_ids)}")


def check_version(db: Database, version: int) -> None:
    """Raise :class:`TextsChanged` if texts were written since ``version``."""
    if int(db.counters()["texts"]) != version:
        raise TextsChanged


def mark_for_reread(c: Connection, document_ids: Sequence[int] | None = None) -> None:
    """Have the next ingest read these documents, or with ``None`` every file, also those that are no notes."""
    where = "" if document_ids is None else f" WHERE id IN {in_list(document_ids)}"
    c.execute(f"UPDATE documents SET sha256 = '', mtime_ns = -1{where}")
    if document_ids is None:
        # A file that was deleted meanwhile is recognised by its hash; curated concepts get their keys again.
        c.execute("UPDATE workspace_files SET size = -1, mtime_ns = -1 WHERE mtime_ns <> 0")
    bump(c, "texts")
