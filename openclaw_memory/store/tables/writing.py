"""Writing a file's change: rows of documents, sections, units and postings in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from ...model import Section, SourceFile, script_of, tokens_of
from ...text.analysis import has_amount, likeness, vocabulary
from ..rows.arrays import Analyse
from ..rows.catalog import DocumentChange, PlannedUnit, TextsChanged, Version
from ..rows.graph import RULES
from .keywords import MOST
from .sql import Connection, Sql, among, count, next_ids, unit_texts

_RULE = {rule: code for code, rule in enumerate(RULES)}
#: Units that are gone are worth a compaction when they are this many and this share of the living ones.
_DEAD, _DEAD_SHARE = 500, 1 / 3


def apply(db: Sql, c: Connection, changes: Sequence[DocumentChange]) -> None:
    """Replace what the index holds of these files; the caller owns the transaction.

    A new unit takes the vector of one that says the same, as those of a renamed file or a moved section do.
    """
    replaced = [change.replaces for change in changes if change.replaces is not None]
    living = [planned.id for change in changes for planned in change.units if planned.id is not None]
    new = {planned.hash for change in changes for planned in change.units if planned.id is None}
    c.execute(
        "CREATE TEMP TABLE same AS SELECT DISTINCT ON (hash) hash, model_id, v FROM units JOIN vectors ON unit_id = id "
        f"WHERE status = 'ready' AND hash IN {among(new)} ORDER BY hash, generation DESC"
    )
    if replaced:
        remove(c, replaced, living)
    given = next_ids(
        c,
        document=sum(change.replaces is None for change in changes),
        section=sum(len(change.sections) for change in changes),
        unit=sum(planned.id is None for change in changes for planned in change.units),
    )
    documents: list[tuple[Any, ...]] = []
    rows = Rows()
    for change in changes:
        document_id = next(given["document"]) if change.replaces is None else change.replaces
        documents.append(_document(document_id, change))
        sections = rows.add_sections(document_id, change.sections, given["section"])
        rows.add_units(document_id, sections, change.units, given["unit"])
    _insert_documents(db, c, documents)
    rows.insert(db, c)
    c.execute(
        "INSERT INTO vectors "
        "SELECT id, model_id, 'ready', (SELECT value FROM counters WHERE name = 'generation') + 1, v "
        f"FROM units JOIN same USING (hash) WHERE id IN {among(rows.new)}"
    )
    c.execute("DROP TABLE same")
    if rows.facts:
        facts_changed(c)


class Rows:
    """Sections and units, with what these own, gathered to be inserted together."""

    def __init__(self) -> None:
        self._sections: list[tuple[Any, ...]] = []
        self._units: list[tuple[Any, ...]] = []
        self._written: list[tuple[int, int, PlannedUnit]] = []
        #: Whether rules found a fact in one of the units.
        self.facts = False
        #: The ids of the units that are new.
        self.new: list[int] = []

    def add_sections(self, document_id: int, sections: Sequence[Section], ids: Iterator[int]) -> list[int]:
        """Give sections their ids, and return these."""
        given = []
        for part in sections:
            given.append(next(ids))
            self._sections.append((
                given[-1], document_id, part.heading, part.start_line, part.end_line,
                None if part.date is None else part.date.isoformat(), part.date_source, "\n".join(part.lines),
            ))  # fmt: skip
        return given

    def add_units(
        self, document_id: int, sections: Sequence[int], units: Sequence[PlannedUnit], ids: Iterator[int]
    ) -> None:
        """Give new units their ids; ``sections`` are those of the document."""
        for ordinal, planned in enumerate(units):
            unit_id = planned.id
            if unit_id is None:
                unit_id = next(ids)
                self.new.append(unit_id)
            source = planned.unit
            self._units.append((
                unit_id, document_id, sections[planned.section], ordinal,
                source.start_line, source.end_line, source.form, source.speaker, planned.speaker_key,
                source.text, source.indexed, planned.hash, planned.occurrence,
                min(sum(planned.terms.values()), MOST), len(source.search_text),
                planned.time_words, *(0 if day is None else day.toordinal() for day in planned.says or (None, None)),
                planned.tokens, planned.likeness, planned.script, planned.amount,
            ))  # fmt: skip
            self._written.append((unit_id, document_id, planned))
            self.facts = self.facts or bool(planned.facts)

    def insert(self, db: Sql, c: Connection) -> None:
        """Write them; the postings of units that are new are among what they own."""
        written = self._written
        mentions = [(*at, one.key, _RULE[one.rule], one.text) for *at, planned in written for one in planned.mentions]
        facts = [
            (*at, one.subject, one.predicate, one.object, one.rule, one.confidence)
            for *at, planned in written
            for one in planned.facts
        ]
        derived = [(*at, one.path, one.start_line, one.end_line) for *at, planned in written for one in planned.cited]
        db.insert_rows(c, "sections", "INTEGER INTEGER VARCHAR INTEGER INTEGER DATE VARCHAR VARCHAR", self._sections)
        db.insert_rows(
            c, "units",
            "INTEGER INTEGER INTEGER INTEGER INTEGER INTEGER VARCHAR VARCHAR BIGINT VARCHAR VARCHAR BIGINT INTEGER "
            "SMALLINT INTEGER TINYINT INTEGER INTEGER FLOAT BIGINT TINYINT BOOLEAN",
            self._units,
        )  # fmt: skip
        db.insert_rows(c, "mentions", "INTEGER INTEGER BIGINT TINYINT VARCHAR", mentions)
        db.insert_rows(c, "found_facts", "INTEGER INTEGER VARCHAR VARCHAR VARCHAR VARCHAR FLOAT", facts)
        db.insert_rows(c, "derived_from", "INTEGER INTEGER VARCHAR INTEGER INTEGER", derived)
        db.insert_postings(c, [(unit_id, planned.terms) for unit_id, _, planned in written if planned.id is None])
        _insert_words(db, c, ((document_id, planned.unit.search_text) for _, document_id, planned in written))


def _insert_words(db: Sql, c: Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Note how the words of each document's ``texts`` are spelt: a row for those of one initial, blanks around each."""
    by_document: dict[int, list[str]] = {}
    for document_id, text in texts:
        by_document.setdefault(document_id, []).append(text)
    rows = [
        (document_id, initial, f" {' '.join(words)} ")
        for document_id, said in by_document.items()
        for initial, words in groupby(vocabulary(said), itemgetter(0))
    ]
    db.insert_rows(c, "words", "INTEGER VARCHAR VARCHAR", rows)


def _document(document_id: int, change: DocumentChange) -> tuple[Any, ...]:
    file = change.file
    return (
        document_id, file.path, file.size, file.mtime_ns, change.sha256,
        file.kind.value, file.grain.value, file.origin.value,
        json.dumps(dict(change.front_matter), ensure_ascii=False, sort_keys=True, default=str),
        len(change.units),
    )  # fmt: skip


def _insert_documents(db: Sql, c: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    types = "INTEGER VARCHAR BIGINT BIGINT VARCHAR VARCHAR VARCHAR VARCHAR VARCHAR INTEGER"
    db.insert_rows(c, "documents", types, rows, "*, (SELECT value FROM counters WHERE name = 'generation') + 1")


def remove(c: Connection, document_ids: Sequence[int], living: Sequence[int] = ()) -> None:
    """Remove documents, sections, units, and the vectors of units that are not written again."""
    c.execute(
        "DELETE FROM vectors WHERE unit_id IN "
        f"(SELECT id FROM units WHERE document_id IN {among(document_ids)}) AND unit_id NOT IN {among(living)}"
    )
    if count(c, f"SELECT count(*) FROM found_facts WHERE document_id IN {among(document_ids)}"):
        facts_changed(c)
    for table in ("units", "mentions", "found_facts", "derived_from", "sections", "words"):
        c.execute(f"DELETE FROM {table} WHERE document_id IN {among(document_ids)}")
    c.execute(f"DELETE FROM documents WHERE id IN {among(document_ids)}")


#: What all texts are read by.
_SHARED = ("instance", "analysis", "extraction", "masks", "ontology")


def version_of(shared: Mapping[str, str], written: Mapping[int, tuple[int, str, int]]) -> Version:
    """What a plan is made from now; ``shared`` are all counters and what is noted of the file."""
    return Version(tuple(shared.get(name, "") for name in _SHARED), written)


def check_version(
    db: Sql,
    c: Connection,
    version: Version,
    shared: Mapping[str, str],
    document_ids: Sequence[int] = (),
    new_paths: Sequence[str] = (),
) -> None:
    """Raise :class:`TextsChanged` when the documents are not what ``version`` says, or the ``new_paths`` are taken."""
    if tuple(shared.get(name, "") for name in _SHARED) != version.shared:
        raise TextsChanged
    now = _written(c, document_ids)
    if any(one not in now or now[one] != version.written.get(one) for one in document_ids):
        raise TextsChanged
    taken = f"SELECT count(*) FROM documents WHERE path IN {db.texts}"
    if new_paths and count(c, taken, [json.dumps(list(new_paths))]):
        raise TextsChanged


def next_version(c: Connection, version: Version, document_ids: Sequence[int]) -> Version:
    """``version`` after these documents were written; it tells others that texts have changed."""
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")
    return replace(version, written={**version.written, **_written(c, document_ids)})


def _written(c: Connection, document_ids: Sequence[int]) -> dict[int, tuple[int, str, int]]:
    some = among(document_ids)
    rows = c.execute(f"SELECT id, generation, sha256, mtime_ns FROM documents WHERE id IN {some}").fetchall()
    return {row[0]: row[1:] for row in rows}


def read_anew(c: Connection, document_ids: Sequence[int] | None = None) -> None:
    """Have the next ingest read these documents, or with ``None`` every file, also those that are no notes.

    What is looked for in texts has changed, the texts have not.
    """
    which = "" if document_ids is None else f" WHERE id IN {among(document_ids)}"
    c.execute(f"UPDATE documents SET sha256 = '', mtime_ns = -1{which}")
    if document_ids is None:
        # A file that is gone meanwhile is known by its hash; what is curated has its keys made again.
        c.execute("UPDATE workspace_files SET size = -1, mtime_ns = -1 WHERE mtime_ns <> 0")
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")


def touch(db: Sql, c: Connection, files: Sequence[tuple[int, SourceFile]]) -> None:
    """Note new times and sizes; sections dated by the file's time get its new day."""
    now = [(document_id, file.size, file.mtime_ns, file.day.isoformat()) for document_id, file in files]
    c.execute("CREATE TEMP TABLE touched (id INTEGER, size BIGINT, mtime_ns BIGINT, day DATE)")
    db.insert_rows(c, "touched", "INTEGER BIGINT BIGINT DATE", now)
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
    facts_changed(c)  # those without a day of their own are ordered by the files' times


def many_dead(c: Connection) -> bool:
    """Whether a compaction is due for the units whose postings are there and that are not.

    Ids are given in order, so these are the ids ever given without those of the living units and of the units that
    earlier compactions dropped.
    """
    given = "SELECT coalesce(sum(CASE name WHEN 'unit' THEN value ELSE -value END), 0) FROM counters"
    living = count(c, "SELECT count(*) FROM units")
    dead = count(c, f"{given} WHERE name IN ('unit', 'dropped')") - living
    return dead > max(_DEAD, _DEAD_SHARE * living)


def note_compacted(c: Connection) -> None:
    """Note that of the units ever given only those that are there have postings."""
    c.execute("DELETE FROM counters WHERE name = 'dropped'")
    c.execute(
        "INSERT INTO counters SELECT 'dropped', value - (SELECT count(*) FROM units) FROM counters WHERE name = 'unit'"
    )
    c.execute("UPDATE counters SET value = value + 1 WHERE name IN ('compaction', 'texts')")


def analyse_anew(db: Sql, c: Connection, analyse: Analyse) -> None:
    """Replace all postings by those of ``analyse``; other processes see another index."""
    c.execute("DELETE FROM postings")
    c.execute("DELETE FROM postings_delta")
    c.execute("DELETE FROM words")
    for rows in unit_texts(c, 4_000):
        units = [(unit_id, Counter(analyse(text))) for unit_id, text, _ in rows]
        db.insert_postings(c, units)
        _insert_words(db, c, ((document_id, text) for _, text, document_id in rows))
        lengths = [min(terms.total(), MOST) for _, terms in units]
        columns = "id INTEGER, n SMALLINT, tokens FLOAT, likeness BIGINT, script SMALLINT, amount BOOLEAN"
        c.execute(f"CREATE TEMP TABLE counted ({columns})")
        db.insert_rows(c, "counted", "INTEGER SMALLINT FLOAT BIGINT SMALLINT BOOLEAN", [
            (unit_id, n, tokens_of(text), likeness(text), script_of(text), has_amount(text))
            for (unit_id, text, _), n in zip(rows, lengths, strict=True)
        ])  # fmt: skip
        c.execute(
            "UPDATE units SET terms = c.n, tokens = c.tokens, likeness = c.likeness, script = c.script, "
            "amount = c.amount FROM counted c WHERE c.id = units.id"
        )
        c.execute("DROP TABLE counted")
    c.execute("UPDATE meta SET value = gen_random_uuid()::VARCHAR WHERE key = 'instance'")
    c.execute("UPDATE counters SET value = value + 1 WHERE name IN ('compaction', 'texts')")


def facts_changed(c: Connection) -> None:
    """Tell others that facts may be others."""
    c.execute("UPDATE counters SET value = value + 1 WHERE name = 'facts'")
