"""Tables of the graph and of facts: mentions, curated concepts, what rules found and what was stated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from ...model import Kind, Origin
from ..rows.facts import FactObservation, StatedFact
from ..rows.graph import RULES, CuratedRow, Mention, MentionName, MentionRows, OntologyRows, WorkspaceFile
from ..rows.texts import PendingText
from .sql import Connection, Sql, among, count, unit_texts

Links = Callable[[Sequence[PendingText]], Iterable[tuple[int, Mention]]]

_CURATED = RULES.index("curated")


class GraphTables:
    """The part of a store that these tables are: methods of the store."""

    _db: Sql
    #: What was read of files that are no notes, as of a moment.
    _files: tuple[Any, Mapping[str, WorkspaceFile]] = (None, {})
    #: What one question needs several times, and thousands of concepts take long to read.
    #: As of a moment, and by what in the index is another where it is another.
    _ontology: tuple[tuple[Any, ...], tuple[str | None, ...], OntologyRows] | None = None

    def mention_rows(self, document_ids: Sequence[int] | None) -> MentionRows:
        """Mentions in these documents, or in all."""
        where = "true" if document_ids is None else f"document_id IN {among(document_ids)}"
        unit_id, document_id, key, rule = self._db.columns(
            f"SELECT unit_id, document_id, key, rule FROM mentions WHERE {where}"
        )
        return MentionRows(
            unit_id.astype(np.int32, copy=False),
            document_id.astype(np.int32, copy=False),
            key.astype(np.int64, copy=False),
            rule.astype(np.int8, copy=False),
        )

    def mention_names(self, keys: Sequence[int] | None = None) -> list[MentionName]:
        """Spellings of keys with their counts; equally frequent ones in alphabetical order."""
        some = "" if keys is None else f" AND key IN {among(keys)}"
        rows = self._db.rows(f"SELECT key, text, min(rule), count(*) FROM mentions WHERE true{some} GROUP BY key, text")
        rows.sort(key=lambda row: (row[0], -row[3], row[1]))
        return [MentionName(key, text, RULES[rule], n) for key, text, rule, n in rows]

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        """What was last read of a file that is no note."""
        with self._db.turn():
            at = self._db.moment
            if self._files[0] != at:
                rows = self._db.rows("SELECT name, size, mtime_ns, sha256 FROM workspace_files")
                self._files = at, {row[0]: WorkspaceFile(*row) for row in rows}
            return self._files[1].get(name)

    def ontology(self) -> OntologyRows:
        """The curated concepts."""
        with self._db.turn():
            at = self._db.moment
            if self._ontology is None or self._ontology[0] != at:
                known = self._db.counters()
                version = known["instance"], known["ontology"], known.get("single_valued")
                if self._ontology is None or self._ontology[1] != version:
                    with self._db.read() as c:
                        self._ontology = at, version, _ontology(c)
                self._ontology = at, version, self._ontology[2]
            return self._ontology[2]

    def put_ontology(self, file: WorkspaceFile, rows: OntologyRows, changed: Sequence[int], links: Links) -> int:
        """Replace the curated concepts, and link the units again to those with ``changed`` keys.

        ``links(texts)`` yields the curated mentions in some units' search texts.  Returns how many units lost or got a
        reference.
        """
        with self._db.write() as c:
            for table in ("curated", "curated_edges", "ignored"):
                c.execute(f"DELETE FROM {table}")
            self._db.insert_rows(
                c, "curated", "BIGINT VARCHAR VARCHAR VARCHAR FLOAT VARCHAR",
                [(r.key, r.slug, r.name, r.kind, r.weight, _text(r.aliases)) for r in rows.concepts],
            )  # fmt: skip
            self._db.insert_rows(
                c, "curated_edges", "VARCHAR BIGINT BIGINT",
                [("parent_of", parent, row.key) for row in rows.concepts for parent in row.parents]
                + [("related_to", row.key, other) for row in rows.concepts for other in row.related]
                + [("called", row.key, key) for row in rows.concepts for key in row.keys],
            )  # fmt: skip
            self._db.insert_rows(c, "ignored", "BIGINT", [(key,) for key in rows.ignored])
            c.execute("DELETE FROM meta WHERE key = 'single_valued'")
            c.execute("INSERT INTO meta VALUES ('single_valued', ?)", [_text(rows.single_valued)])
            _note(c, file)
            c.execute("UPDATE counters SET value = value + 1 WHERE name = 'ontology'")
            if not changed:
                return 0
            # Who is about to write a file linked it by the old names: it must plan again.
            c.execute("UPDATE counters SET value = value + 1 WHERE name = 'texts'")
            return _link_anew(self._db, c, changed, links)

    def found_facts(self) -> list[FactObservation]:
        """What rules found, by path and place in the file."""
        with self._db.read() as c:

            def by_id(columns: str, table: str, ids: Iterable[int]) -> dict[int, tuple[Any, ...]]:
                rows = c.execute(f"SELECT {columns}, id FROM {table} WHERE id IN {among(set(ids))}").fetchall()
                return {row[-1]: row[:-1] for row in rows}

            # Each table by its ids, as joining them takes twice as long.
            said = "unit_id, document_id, subject, predicate, object, rule, confidence"
            found = c.execute(f"SELECT {said} FROM found_facts").fetchall()
            if not found:
                return []
            files = by_id("path, kind, origin", "documents", (row[1] for row in found))
            lines = by_id(
                "hash, occurrence, start_line, end_line, ordinal, section_id", "units", (row[0] for row in found)
            )
            dated = "date, date IS NOT NULL AND date_source <> 'mtime', heading"
            days = by_id(dated, "sections", (unit[-1] for unit in lines.values()))
        placed = []
        for unit_id, document, subject, predicate, value, rule, confidence in found:
            path, kind, origin = files[document]
            *content, first, last, ordinal, section = lines[unit_id]
            *day, heading = days[section]
            row = [unit_id, path, first, last, Kind(kind), Origin(origin), *day, *content]
            row += [subject, predicate, value, rule, confidence, heading]
            placed.append(((path, ordinal, rule, predicate, subject, value), FactObservation(*row)))
        return [one for _, one in sorted(placed, key=itemgetter(0))]

    def stated_facts(self) -> list[StatedFact]:
        """The entries of the workspace's file of facts, in its order."""
        rows = self._db.rows(
            "SELECT id, subject, predicate, object, confidence, origin, source, valid_from, valid_to, recorded, "
            "replaces, retracts FROM stated_facts ORDER BY ordinal"
        )
        return [StatedFact(*_with(row, {5: Origin, 10: _texts})) for row in rows]

    def facts_version(self) -> tuple[str, ...]:
        """Another value after every change that may concern facts: the file, curated concepts, facts, and texts."""
        known = self._db.counters()
        # Statements cite lines of notes, and whether these still hold the words is a matter of their texts.
        texts = known["texts"] if known["stated"] != "0" else ""
        return known["instance"], known["ontology"], known["facts"], texts

    def put_stated_facts(self, file: WorkspaceFile, facts: Sequence[StatedFact]) -> None:
        """Replace them in one transaction."""
        with self._db.write() as c:
            c.execute("DELETE FROM stated_facts")
            self._db.insert_rows(
                c,
                "stated_facts",
                "INTEGER VARCHAR VARCHAR VARCHAR VARCHAR FLOAT VARCHAR VARCHAR DATE DATE VARCHAR VARCHAR VARCHAR",
                [
                    (
                        at, f.id, f.subject, f.predicate, f.object, f.confidence, f.origin.value, f.source,
                        None if f.valid_from is None else f.valid_from.isoformat(),
                        None if f.valid_to is None else f.valid_to.isoformat(),
                        f.recorded, json.dumps(f.replaces), f.retracts,
                    )
                    for at, f in enumerate(facts)
                ],
            )  # fmt: skip
            _note(c, file)
            c.execute("UPDATE counters SET value = value + 1 WHERE name = 'facts'")
            c.execute("UPDATE counters SET value = ? WHERE name = 'stated'", [len(facts)])


def _note(c: Connection, file: WorkspaceFile) -> None:
    c.execute("DELETE FROM workspace_files WHERE name = ?", [file.name])
    c.execute("INSERT INTO workspace_files VALUES (?, ?, ?, ?)", [file.name, file.size, file.mtime_ns, file.sha256])


def _ontology(c: Connection) -> OntologyRows:
    """The curated concepts."""
    edges: dict[tuple[str, int], list[int]] = {}
    for kind, source, target in c.execute("SELECT kind, source, target FROM curated_edges ORDER BY 1, 2, 3").fetchall():
        # A parent points to its child; a concept names its parents.  It is called by its keys.
        end, other = (target, source) if kind == "parent_of" else (source, target)
        edges.setdefault((kind, end), []).append(other)
    rows = c.execute("SELECT key, slug, name, kind, weight, aliases FROM curated ORDER BY slug").fetchall()
    several = json.loads(f"[{','.join(row[5] for row in rows)}]")  # at once: thousands of calls take a second
    concepts = [
        CuratedRow(
            row[0], row[1], row[2], row[3], row[4], tuple(aliases), tuple(edges.get(("parent_of", row[0]), ())),
            tuple(edges.get(("related_to", row[0]), ())), tuple(edges.get(("called", row[0]), ())),
        )
        for row, aliases in zip(rows, several, strict=True)
    ]  # fmt: skip
    ignored = [row[0] for row in c.execute("SELECT key FROM ignored ORDER BY 1").fetchall()]
    single = c.execute("SELECT value FROM meta WHERE key = 'single_valued'").fetchone()
    version = count(c, "SELECT value FROM counters WHERE name = 'ontology'")
    return OntologyRows(tuple(concepts), tuple(ignored), tuple(json.loads(single[0])) if single else (), version)


def _link_anew(db: Sql, c: Connection, changed: Sequence[int], links: Links) -> int:
    """Replace the references to the ``changed`` concepts; how many came or went."""
    before = _linked(c, changed)
    c.execute(f"DELETE FROM mentions WHERE rule = {_CURATED} AND key IN {among(changed)}")
    for units in unit_texts(c):
        document = {row[0]: row[2] for row in units}
        found = [
            (unit_id, document[unit_id], mention.key, RULES.index(mention.rule), mention.text)
            for unit_id, mention in links([PendingText(row[0], row[1]) for row in units])
        ]
        db.insert_rows(c, "mentions", "INTEGER INTEGER BIGINT TINYINT VARCHAR", found)
    return len(before ^ _linked(c, changed))


def _linked(c: Connection, keys: Sequence[int]) -> set[tuple[int, int]]:
    rows = c.execute(
        f"SELECT DISTINCT unit_id, key FROM mentions WHERE rule = {_CURATED} AND key IN {among(keys)}"
    ).fetchall()
    return set(rows)


def _text(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False)


@lru_cache
def _texts(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _with(row: tuple[Any, ...], made: Mapping[int, Callable[[Any], Any]]) -> list[Any]:
    """``row`` with some of its columns turned into the values that they stand for."""
    return [made[at](value) if at in made else value for at, value in enumerate(row)]
