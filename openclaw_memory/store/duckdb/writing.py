"""Writing a file's change: rows of documents, sections, units and postings in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...model import SourceFile
from ..api import RULES, Analyse, DocumentChange, TextsChanged
from .database import IDS, count, id_list, insert, insert_numbers, next_ids
from .keywords import term_key

if TYPE_CHECKING:
    import duckdb

#: The largest number that a SMALLINT column holds.
_MOST = 32_767
#: What units own beside vectors and postings; it goes with their document and is rewritten with it.
_OF_UNITS = ("mentions", "found_facts", "derived_from")
_RULE = {rule: code for code, rule in enumerate(RULES)}
#: Units whose texts are in memory at once while postings are made again.
_STEP = 20_000
#: Units that are gone are worth a compaction when they are this many and this share of the living ones.
_DEAD, _DEAD_SHARE = 500, 1 / 3


def apply(c: duckdb.DuckDBPyConnection, changes: Sequence[DocumentChange]) -> None:
    """Replace what the index holds of these files; the caller owns the transaction."""
    replaced = [change.replaces for change in changes if change.replaces is not None]
    living = [planned.id for change in changes for planned in change.units if planned.id is not None]
    lost = [unit_id for change in changes for unit_id in change.lost]
    if replaced:
        _delete(c, replaced)
    if living:
        _take(c, living)
    if lost:
        _delete_where(c, "vectors", "unit_id", lost)
    document = next_ids(c, "document", sum(change.replaces is None for change in changes))
    section = next_ids(c, "section", sum(len(change.sections) for change in changes))
    unit = next_ids(c, "unit", sum(planned.id is None for change in changes for planned in change.units))

    documents = _Columns("INTEGER VARCHAR BIGINT BIGINT VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR INTEGER")
    sections = _Columns("INTEGER INTEGER VARCHAR INTEGER INTEGER DATE VARCHAR VARCHAR")
    units = _Columns(
        "INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER VARCHAR VARCHAR BIGINT VARCHAR VARCHAR BIGINT INTEGER "
        "SMALLINT INTEGER BOOLEAN TINYINT"
    )
    mentions = _Columns("INTEGER INTEGER BIGINT TINYINT VARCHAR")
    facts = _Columns("INTEGER INTEGER VARCHAR VARCHAR VARCHAR VARCHAR FLOAT")
    derived = _Columns("INTEGER INTEGER VARCHAR INTEGER INTEGER")
    terms: list[int] = []
    term_units: list[int] = []
    frequencies: list[int] = []
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
                    terms.append(term_key(term))
                    term_units.append(unit_id)
                    frequencies.append(min(frequency, _MOST))
            source = planned.unit
            units.add(
                unit_id, document_id, first_section + planned.section, ordinal,
                source.start_line, source.end_line, source.form, source.speaker, planned.speaker_key,
                source.text, source.indexed, planned.hash, planned.occurrence,
                min(sum(planned.terms.values()), _MOST), len(source.search_text), planned.question,
                planned.time_words,
            )  # fmt: skip
            for mention in planned.mentions:
                mentions.add(unit_id, document_id, mention.key, _RULE[mention.rule], mention.text)
            for fact in planned.facts:
                facts.add(
                    unit_id, document_id, fact.subject, fact.predicate, fact.object, fact.rule, fact.confidence
                )  # fmt: skip
            for cited in planned.cited:
                derived.add(unit_id, document_id, cited.path, cited.start_line, cited.end_line)
    generation = "(SELECT value FROM counters WHERE name = 'generation') + 1"
    documents.insert(c, "documents", f"*, {generation}")
    sections.insert(c, "sections")
    units.insert(c, "units")
    mentions.insert(c, "mentions")
    facts.insert(c, "found_facts")
    derived.insert(c, "derived_from")
    if facts.lists["c0"]:
        _facts_changed(c)
    _insert_postings(c, terms, term_units, frequencies)


def remove(c: duckdb.DuckDBPyConnection, document_ids: Sequence[int], keep_units: Sequence[int]) -> None:
    """Remove documents, sections, units, and the vectors of units that do not live on elsewhere."""
    c.execute(
        "DELETE FROM vectors WHERE unit_id IN "
        f"(SELECT id FROM units WHERE document_id IN {IDS}) AND unit_id NOT IN {IDS}",
        [id_list(document_ids), id_list(keep_units)],
    )
    _delete(c, document_ids)


def check_version(c: duckdb.DuckDBPyConnection, version: int) -> None:
    """Raise :class:`TextsChanged` when the version of the texts is not ``version``."""
    if count(c, "SELECT value FROM counters WHERE name = 'texts'") != version:
        raise TextsChanged


def next_version(c: duckdb.DuckDBPyConnection, version: int) -> int:
    """Step the version of the texts; raises :class:`TextsChanged` when it is not ``version``."""
    check_version(c, version)
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")
    return version + 1


def read_anew(c: duckdb.DuckDBPyConnection, since: int = -1) -> None:
    """Have the next ingest read every file that was written after generation ``since``, and those that are no notes.

    What is looked for in texts has changed, the texts have not.
    """
    c.execute("UPDATE documents SET sha256 = '', mtime_ns = -1 WHERE generation > ?", [since])
    c.execute("UPDATE workspace_files SET sha256 = '', mtime_ns = -1")
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")


def touch(c: duckdb.DuckDBPyConnection, files: Sequence[tuple[int, SourceFile]]) -> None:
    """Note new times and sizes; sections dated by the file's time get its new day."""
    now = _Columns("INTEGER BIGINT BIGINT DATE")
    for document_id, file in files:
        now.add(document_id, file.size, file.mtime_ns, file.day.isoformat())
    c.execute("CREATE OR REPLACE TEMP TABLE touched (id INTEGER, size BIGINT, mtime_ns BIGINT, day DATE)")
    now.insert(c, "touched")
    c.execute(
        "UPDATE sections SET date = t.day FROM touched t "
        "WHERE t.id = document_id AND date_source = 'mtime' AND date <> t.day"
    )
    c.execute(
        "UPDATE documents SET size = t.size, mtime_ns = t.mtime_ns, "
        "generation = (SELECT value FROM counters WHERE name = 'generation') + 1 "
        "FROM touched t WHERE t.id = documents.id"
    )
    c.execute("DROP TABLE touched")
    _facts_changed(c)  # those without a day of their own are ordered by the files' times


def many_dead(c: duckdb.DuckDBPyConnection) -> bool:
    """Whether a compaction is due for the units whose postings are there and that are not.

    Ids are given in order, so these are the ids ever given without those of the living units and of the units that
    earlier compactions dropped.
    """
    numbers = "coalesce(sum(value) FILTER (name = 'unit'), 0) - coalesce(sum(value) FILTER (name = 'dropped'), 0)"
    dead = count(c, f"SELECT {numbers} - (SELECT count(*) FROM units) FROM counters")
    return dead > max(_DEAD, _DEAD_SHARE * count(c, "SELECT count(*) FROM units"))


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
    c.execute("DELETE FROM counters WHERE name = 'dropped'")
    c.execute(
        "INSERT INTO counters SELECT 'dropped', value - (SELECT count(*) FROM units) FROM counters WHERE name = 'unit'"
    )
    # A planner may be about to give a unit that is between two files its old id: it must plan again.
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
        if not rows:
            continue
        terms: list[int] = []
        units: list[int] = []
        frequencies: list[int] = []
        lengths: list[int] = []
        for unit_id, text in rows:
            counted = Counter(analyse(text))
            lengths.append(min(counted.total(), _MOST))
            terms += [term_key(term) for term in counted]
            units += [unit_id] * len(counted)
            frequencies += [min(frequency, _MOST) for frequency in counted.values()]
        _insert_postings(c, terms, units, frequencies)
        c.execute("CREATE OR REPLACE TEMP TABLE counted (id INTEGER, n SMALLINT)")
        insert_numbers(c, "counted", {"id": ([row[0] for row in rows], "INTEGER"), "n": (lengths, "SMALLINT")})
        c.execute("UPDATE units SET terms = c.n FROM counted c WHERE c.id = units.id")
        c.execute("DROP TABLE counted")
    c.execute("UPDATE meta SET value = uuid()::VARCHAR WHERE key = 'instance'")
    c.execute("UPDATE counters SET value = value + 1 WHERE name IN ('compaction', 'texts')")


class _Columns:
    """Rows gathered column by column; ``types`` are DuckDB types."""

    def __init__(self, types: str) -> None:
        self.types = {f"c{at}": kind for at, kind in enumerate(types.split())}
        self.lists: dict[str, list[Any]] = {name: [] for name in self.types}

    def add(self, *values: Any) -> None:
        for column, value in zip(self.lists.values(), values, strict=True):
            column.append(value)

    def insert(self, c: duckdb.DuckDBPyConnection, table: str, select: str = "*") -> None:
        if self.lists["c0"]:
            insert(c, table, self.lists, self.types, select)


def _facts_changed(c: duckdb.DuckDBPyConnection) -> None:
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'facts'")


def _take(c: duckdb.DuckDBPyConnection, unit_ids: Sequence[int]) -> None:
    """Take units out of the files that they move away from, so that none is in the index twice.

    Until such a file is written too, in a later transaction, it lacks them; should that never happen it
    must be read again, whatever its time and content say by then.
    """
    left = [
        row[0]
        for row in c.execute(
            f"SELECT DISTINCT document_id FROM units WHERE id IN {IDS}", [id_list(unit_ids)]
        ).fetchall()
    ]
    if left:
        _delete_where(c, "units", "id", unit_ids)
        for table in _OF_UNITS:
            _delete_where(c, table, "unit_id", unit_ids)
        _facts_changed(c)
        c.execute(
            "UPDATE documents SET sha256 = '', mtime_ns = -1, "
            f"generation = (SELECT value FROM counters WHERE name = 'generation') + 1 WHERE id IN {IDS}",
            [id_list(left)],
        )


def _insert_postings(c: duckdb.DuckDBPyConnection, terms: list[int], units: list[int], tfs: list[int]) -> None:
    if terms:
        columns = {"term": (terms, "BIGINT"), "unit_id": (units, "INTEGER"), "tf": (tfs, "SMALLINT")}
        insert_numbers(c, "postings_delta", columns)


def _delete(c: duckdb.DuckDBPyConnection, document_ids: Sequence[int]) -> None:
    if count(c, f"SELECT count(*) FROM found_facts WHERE document_id IN {IDS}", [id_list(document_ids)]):
        _facts_changed(c)
    for table in ("units", *_OF_UNITS):
        _delete_where(c, table, "document_id", document_ids)
    _delete_where(c, "sections", "document_id", document_ids)
    _delete_where(c, "documents", "id", document_ids)


def _delete_where(c: duckdb.DuckDBPyConnection, table: str, column: str, ids: Sequence[int]) -> None:
    c.execute(f"DELETE FROM {table} WHERE {column} IN {IDS}", [id_list(ids)])
