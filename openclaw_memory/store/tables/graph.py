"""Tables of the graph and of facts: mentions, curated concepts, extracted and stated facts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from ... import arrays as np
from ...model import Kind, Origin
from ..rows import (
    RULES,
    CuratedRow,
    FactObservation,
    Mention,
    MentionName,
    MentionRows,
    OntologyRows,
    PendingText,
    StatedFact,
    WorkspaceFile,
)
from .base import Connection, Tables, bump, in_list, put_meta, unit_texts

Links = Callable[[Sequence[PendingText]], Iterable[tuple[int, Mention]]]

_CURATED = RULES.index("curated")


class GraphTables(Tables):
    """The methods of a store about these tables."""

    def mention_rows(self, document_ids: Sequence[int] | None) -> MentionRows:
        """Return the mentions in these documents, or in all."""
        where = "true" if document_ids is None else f"document_id IN {in_list(document_ids)}"
        columns = self._db.columns(f"SELECT unit_id, document_id, key, rule FROM mentions WHERE {where}")
        types = np.int32, np.int32, np.int64, np.int8
        return MentionRows(*(column.astype(kind, copy=False) for column, kind in zip(columns, types, strict=True)))

    def mention_names(self, keys: Sequence[int] | None = None) -> list[MentionName]:
        """Return the spellings of keys with their counts; equally frequent ones in alphabetical order."""
        where = "" if keys is None else f"WHERE key IN {in_list(keys)} "
        rows = self._db.rows(f"SELECT key, text, min(rule), count(*) FROM mentions {where}GROUP BY key, text")
        rows.sort(key=lambda row: (row[0], -row[3], row[1]))
        return [MentionName(key, text, RULES[rule], n) for key, text, rule, n in rows]

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        """Return the state in which a file that is no note (``concepts.yaml``, ``facts.yaml``) was last read."""
        select = "SELECT name, size, mtime_ns, sha256 FROM workspace_files"
        rows = self._cached("workspace files", partial(self._db.rows, select))
        return next((WorkspaceFile(*row) for row in rows if row[0] == name), None)

    def ontology(self) -> OntologyRows:
        """Return the curated concepts."""
        return self._cached("ontology", self._read_ontology, "instance", "ontology", "single_valued")

    def _read_ontology(self) -> OntologyRows:
        edges: dict[tuple[str, int], list[int]] = {}
        select = "SELECT kind, source, target FROM curated_edges ORDER BY 1, 2, 3"
        with self._db.read():
            for kind, source, target in self._db.rows(select):
                # A parent points to its child; a concept lists its parents, the related ones and its keys.
                concept, other = (target, source) if kind == "parent_of" else (source, target)
                edges.setdefault((kind, concept), []).append(other)
            rows = self._db.rows("SELECT key, slug, name, kind, weight, aliases FROM curated ORDER BY slug")
            ignored = tuple(row[0] for row in self._db.rows("SELECT key FROM ignored ORDER BY 1"))
            counters = self._db.counters()
        all_aliases = json.loads(f"[{','.join(row[5] for row in rows)}]")  # at once: thousands of calls take a second
        concepts = []
        for row, aliases in zip(rows, all_aliases, strict=True):
            linked = (tuple(edges.get((kind, row[0]), ())) for kind in ("parent_of", "related_to", "called"))
            concepts.append(CuratedRow(*[*row[:5], tuple(aliases), *linked]))
        single_valued = tuple(json.loads(counters.get("single_valued", "[]")))
        return OntologyRows(tuple(concepts), ignored, single_valued, int(counters["ontology"]))

    def put_ontology(self, file: WorkspaceFile, rows: OntologyRows, changed: Sequence[int], links: Links) -> int:
        """Replace the curated concepts, and link the units again to those with ``changed`` keys.

        ``links(texts)`` yields the curated mentions in some units' search texts.  Returns how many units lost or got a
        reference.
        """
        with self._db.write() as c:
            for table in ("curated", "curated_edges", "ignored"):
                c.execute(f"DELETE FROM {table}")
            self._db.append(
                c, "curated", [(r.key, r.slug, r.name, r.kind, r.weight, _json(r.aliases)) for r in rows.concepts]
            )
            self._db.append(
                c, "curated_edges",
                [("parent_of", parent, row.key) for row in rows.concepts for parent in row.parents]
                + [("related_to", row.key, other) for row in rows.concepts for other in row.related]
                + [("called", row.key, key) for row in rows.concepts for key in row.keys],
            )  # fmt: skip
            self._db.append(c, "ignored", [(key,) for key in rows.ignored])
            put_meta(c, "single_valued", _json(rows.single_valued))
            _put_file(c, file)
            # A process that is about to write a file has linked it by the old names: it must plan again.
            bump(c, "ontology", "texts")
            if not changed:
                return 0
            before = _links_to(c, changed)
            c.execute(f"DELETE FROM mentions WHERE rule = {_CURATED} AND key IN {in_list(changed)}")
            for units in unit_texts(c):
                document = {row[0]: row[2] for row in units}
                mentions = [
                    (unit_id, document[unit_id], mention.key, RULES.index(mention.rule), mention.text)
                    for unit_id, mention in links([PendingText(row[0], row[1]) for row in units])
                ]
                self._db.append(c, "mentions", mentions)
            return len(before ^ _links_to(c, changed))

    def extracted_facts(self, document_ids: Sequence[int] | None = None) -> list[FactObservation]:
        """Return the facts that rules extracted from these documents, all for ``None``, by path and place in it."""
        within = "" if document_ids is None else f" WHERE document_id IN {in_list(document_ids)}"
        with self._db.read() as c:

            def by_id(columns: str, table: str, ids: Iterable[int]) -> dict[int, tuple[Any, ...]]:
                rows = c.execute(f"SELECT {columns}, id FROM {table} WHERE id IN {in_list(set(ids))}").fetchall()
                return {row[-1]: row[:-1] for row in rows}

            # Each table by its ids, as joining them takes twice as long.
            columns = "unit_id, document_id, subject, predicate, object, rule, confidence"
            facts = c.execute(f"SELECT {columns} FROM found_facts{within}").fetchall()
            if not facts:
                return []
            files = by_id("path, kind, origin", "documents", (row[1] for row in facts))
            columns = "hash, occurrence, start_line, end_line, ordinal, section_id"
            units = by_id(columns, "units", (row[0] for row in facts))
            columns = "date, date IS NOT NULL AND date_source <> 'mtime', heading"
            sections = by_id(columns, "sections", (unit[-1] for unit in units.values()))
        placed = []
        for unit_id, document, subject, predicate, value, rule, confidence in facts:
            path, kind, origin = files[document]
            *content, first, last, ordinal, section = units[unit_id]
            *day, heading = sections[section]
            row = [unit_id, path, first, last, Kind(kind), Origin(origin), *day, *content]
            row += [subject, predicate, value, rule, confidence, heading]
            placed.append(((path, ordinal, rule, predicate, subject, value), FactObservation(*row)))
        return [fact for _, fact in sorted(placed, key=itemgetter(0))]

    def stated_facts(self) -> list[StatedFact]:
        """Return the entries of the workspace's file of facts, in its order."""
        rows = self._db.rows(
            "SELECT id, subject, predicate, object, confidence, origin, source, valid_from, valid_to, recorded, "
            "replaces, retracts FROM stated_facts ORDER BY ordinal"
        )
        all_replaces = json.loads(f"[{','.join(row[10] for row in rows)}]")
        return [
            StatedFact(*[*row[:5], Origin(row[5]), *row[6:10], tuple(replaces), row[11]])
            for row, replaces in zip(rows, all_replaces, strict=True)
        ]

    def facts_version(self) -> tuple[str, ...]:
        """Return a value that differs after every change that may concern facts."""
        return self._cached("facts version", self._read_facts_version)

    def _read_facts_version(self) -> tuple[str, ...]:
        counters = self._db.counters()
        # Statements cite lines of notes, so whether these still hold the words depends on their texts.
        texts = counters["texts"] if counters["stated"] != "0" else ""
        return counters["instance"], counters["ontology"], counters["facts"], texts

    def put_stated_facts(self, file: WorkspaceFile, facts: Sequence[StatedFact]) -> None:
        """Replace them in one transaction."""
        with self._db.write() as c:
            c.execute("DELETE FROM stated_facts")
            self._db.append(
                c, "stated_facts",
                [
                    (
                        ordinal, f.id, f.subject, f.predicate, f.object, f.confidence, f.origin.value, f.source,
                        f.valid_from and f.valid_from.isoformat(), f.valid_to and f.valid_to.isoformat(),
                        f.recorded, json.dumps(f.replaces), f.retracts,
                    )
                    for ordinal, f in enumerate(facts)
                ],
            )  # fmt: skip
            _put_file(c, file)
            bump(c, "facts")
            c.execute("UPDATE counters SET value = ? WHERE name = 'stated'", [len(facts)])


def _put_file(c: Connection, file: WorkspaceFile) -> None:
    c.execute("DELETE FROM workspace_files WHERE name = ?", [file.name])
    c.execute("INSERT INTO workspace_files VALUES (?, ?, ?, ?)", [file.name, file.size, file.mtime_ns, file.sha256])


def _links_to(c: Connection, keys: Sequence[int]) -> set[tuple[int, int]]:
    select = f"SELECT DISTINCT unit_id, key FROM mentions WHERE rule = {_CURATED} AND key IN {in_list(keys)}"
    return set(c.execute(select).fetchall())


def _json(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False)
