"""Writing a file's change: rows of documents, sections, units and postings in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from ..types import SourceFile
from .database import count, insert, next_ids, strings
from .keywords import term_key
from .protocol import Analyse, DocumentChange, TextsChanged

if TYPE_CHECKING:
    import duckdb

#: The largest number that a SMALLINT column holds.
_MOST = 32_767
#: Units whose texts are in memory at once while postings are made anew.
_STEP = 20_000


def apply(c: duckdb.DuckDBPyConnection, changes: Sequence[DocumentChange]) -> None:
    """Replace what the index holds of these files; the caller owns the transaction."""
    replaced = [change.replaces for change in changes if change.replaces is not None]
    living = [planned.id for change in changes for planned in change.units if planned.id is not None]
    lost = [unit_id for change in changes for unit_id in change.lost]
    if replaced:
        _delete(c, replaced)
    if living:
        # A unit that moves here from another file leaves it at this moment, never twice in the index.
        _delete_where(c, "units", "id", living)
    if lost:
        _delete_where(c, "vectors", "unit_id", lost)
    document = next_ids(c, "document", sum(change.replaces is None for change in changes))
    section = next_ids(c, "section", sum(len(change.sections) for change in changes))
    unit = next_ids(c, "unit", sum(planned.id is None for change in changes for planned in change.units))

    documents, sections, units = _Columns(10), _Columns(8), _Columns(17)
    postings = _Columns(3)
    for change in changes:
        if change.replaces is None:
            document_id, document = document, document + 1
        else:
            document_id = change.replaces
        file = change.file
        documents.add(
            document_id, file.path, file.size, file.mtime_ns, change.sha256,
            file.kind.value, file.grain.value, file.origin.value,
            json.dumps(dict(change.front_matter), ensure_ascii=False, sort_keys=True, default=str),
            len(change.units),
        )  # fmt: skip
        first_section = section
        for at, part in enumerate(change.sections):
            sections.add(
                first_section + at, document_id, part.heading, part.start_line, part.end_line,
                None if part.date is None else part.date.isoformat(), part.date_source, "\n".join(part.lines),
            )  # fmt: skip
        section += len(change.sections)
        for ordinal, planned in enumerate(change.units):
            unit_id = planned.id
            if unit_id is None:
                unit_id, unit = unit, unit + 1
                for term, frequency in planned.terms.items():
                    postings.add(term_key(term), unit_id, min(frequency, _MOST))
            source = planned.unit
            units.add(
                unit_id, document_id, first_section + planned.section, ordinal,
                source.start_line, source.end_line, source.form, source.speaker, planned.speaker_key,
                source.text, source.indexed, planned.hash, planned.occurrence,
                min(sum(planned.terms.values()), _MOST), len(source.search_text), planned.question,
                planned.time_words,
            )  # fmt: skip
    _insert(c, documents, sections, units)
    _insert_postings(c, postings)


def remove(c: duckdb.DuckDBPyConnection, document_ids: Sequence[int], keep_units: Sequence[int]) -> None:
    """Remove documents, sections, units, and the vectors of units that do not live on elsewhere."""
    c.register("asked", {"id": np.asarray(document_ids, np.int64)})
    c.register("kept", {"id": np.asarray(keep_units, np.int64)})
    try:
        c.execute(
            "DELETE FROM vectors WHERE unit_id IN (SELECT u.id FROM units u JOIN asked a ON a.id = u.document_id) "
            "AND unit_id NOT IN (SELECT id FROM kept)"
        )
    finally:
        c.unregister("kept")
        c.unregister("asked")
    _delete(c, document_ids)


def next_version(c: duckdb.DuckDBPyConnection, version: int) -> int:
    """Step the version of the texts; raises :class:`TextsChanged` when it is not ``version``."""
    if count(c, "SELECT value FROM counters WHERE name = 'texts'") != version:
        raise TextsChanged
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")
    return version + 1


def touch(c: duckdb.DuckDBPyConnection, files: Sequence[tuple[int, SourceFile]]) -> None:
    """Note new times and sizes; sections dated by the file's time get its new day."""
    days = [date.fromtimestamp(file.mtime_ns / 1e9).isoformat() for _, file in files]
    c.register(
        "touched",
        {
            "id": np.array([document_id for document_id, _ in files], np.int32),
            "size": np.array([file.size for _, file in files], np.int64),
            "mtime_ns": np.array([file.mtime_ns for _, file in files], np.int64),
            "day": strings(list(days)),
        },
    )
    try:
        c.execute(
            "UPDATE sections SET date = t.day::DATE FROM touched t "
            "WHERE t.id = document_id AND date_source = 'mtime' AND date <> t.day::DATE"
        )
        c.execute(
            "UPDATE documents SET size = t.size, mtime_ns = t.mtime_ns, "
            "generation = (SELECT value FROM counters WHERE name = 'generation') + 1 "
            "FROM touched t WHERE t.id = documents.id"
        )
    finally:
        c.unregister("touched")


def compact(c: duckdb.DuckDBPyConnection) -> None:
    """Rebuild the term-sorted base of postings from the living units, and drop orphaned vectors."""
    c.execute(
        "CREATE TABLE postings_sorted AS SELECT term, unit_id, tf FROM "
        "(SELECT * FROM postings UNION ALL SELECT * FROM postings_delta) "
        "WHERE unit_id IN (SELECT id FROM units) ORDER BY term, unit_id"
    )
    c.execute("DROP TABLE postings")
    c.execute("ALTER TABLE postings_sorted RENAME TO postings")
    c.execute("DELETE FROM postings_delta")
    c.execute("DELETE FROM vectors WHERE unit_id NOT IN (SELECT id FROM units)")
    # A planner may be about to give a unit that is between two files its old id: it must plan anew.
    c.execute("UPDATE counters SET value = value + 1 WHERE name IN ('compaction', 'texts')")


def analyse_anew(c: duckdb.DuckDBPyConnection, analyse: Analyse) -> None:
    """Replace all postings by those of ``analyse``; other processes see another index."""
    c.execute("DELETE FROM postings")
    c.execute("DELETE FROM postings_delta")
    highest = count(c, "SELECT coalesce(max(id), 0) FROM units")
    for low in range(0, highest + 1, _STEP):
        rows = c.execute(
            "SELECT id, coalesce(indexed, text) FROM units WHERE id >= ? AND id < ?", [low, low + _STEP]
        ).fetchall()
        postings = _Columns(3)
        lengths = _Columns(2)
        for unit_id, text in rows:
            terms = analyse(text)
            lengths.add(unit_id, min(len(terms), _MOST))
            for term, frequency in Counter(terms).items():
                postings.add(term_key(term), unit_id, min(frequency, _MOST))
        _insert_postings(c, postings)
        if rows:
            c.register("counted", _typed(lengths, "i i"))
            try:
                c.execute("UPDATE units SET terms = n.c1 FROM counted n WHERE n.c0 = units.id")
            finally:
                c.unregister("counted")
    c.execute("UPDATE meta SET value = uuid()::VARCHAR WHERE key = 'instance'")
    c.execute("UPDATE counters SET value = value + 1 WHERE name IN ('compaction', 'texts')")


class _Columns:
    """Rows gathered column by column."""

    def __init__(self, width: int) -> None:
        self.lists: list[list[object]] = [[] for _ in range(width)]

    def add(self, *values: object) -> None:
        for column, value in zip(self.lists, values, strict=True):
            column.append(value)


def _insert(c: duckdb.DuckDBPyConnection, documents: _Columns, sections: _Columns, units: _Columns) -> None:
    if documents.lists[0]:
        insert(
            c,
            "documents",
            _typed(documents, "i s l l s s s s s i"),
            "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, (SELECT value FROM counters WHERE name = 'generation') + 1",
        )
    if sections.lists[0]:
        insert(c, "sections", _typed(sections, "i i s i i s s s"), "c0, c1, c2, c3, c4, c5::DATE, c6, c7")
    if units.lists[0]:
        insert(c, "units", _typed(units, "i i i i i i s s l s s l i i i b i"))


def _insert_postings(c: duckdb.DuckDBPyConnection, postings: _Columns) -> None:
    if postings.lists[0]:
        insert(c, "postings_delta", _typed(postings, "l i i"))


def _typed(columns: _Columns, types: str) -> dict[str, object]:
    made: dict[str, object] = {}
    dtypes = {"i": np.int32, "l": np.int64, "b": np.bool_}
    for at, (kind, values) in enumerate(zip(types.split(), columns.lists, strict=True)):
        made[f"c{at}"] = strings(values) if kind == "s" else np.array(values, dtypes[kind])  # type: ignore[arg-type]
    return made


def _delete(c: duckdb.DuckDBPyConnection, document_ids: Sequence[int]) -> None:
    _delete_where(c, "units", "document_id", document_ids)
    _delete_where(c, "sections", "document_id", document_ids)
    _delete_where(c, "documents", "id", document_ids)


def _delete_where(c: duckdb.DuckDBPyConnection, table: str, column: str, ids: Sequence[int]) -> None:
    c.register("doomed", {"id": np.asarray(ids, np.int64)})
    try:
        c.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM doomed)")
    finally:
        c.unregister("doomed")
