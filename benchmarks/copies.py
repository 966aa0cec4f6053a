"""Multiply the lines and memories of an index in SQL, as reading a million lines takes longer than measuring them.

A copy has ids, paths, files and vectors of its own (the original vectors, each rotated a little at random) and the
words of the original: lines repeat, and the share of lines with a word stays the same.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from openclaw_memory.memory import Memory
from openclaw_memory.store.api import VectorModel
from openclaw_memory.store.postgres.store import PostgresStore

#: By how much a vector is turned: the length of what is added to one of length 1.
JITTER = 0.3
#: Tables with the columns that hold ids, and the counter that those follow.
_IDS = {"id": "", "document_id": "document", "section_id": "section", "unit_id": "unit"}
_TABLES = {"documents": "document", "sections": "section", "units": "unit", "mentions": "", "found_facts": ""}


def multiply(memory: Memory, model: VectorModel, times: int) -> None:
    """Have ``times`` as many of the lines under ``memory/`` in an index whose lines all have vectors."""
    store: Any = memory.store
    first = store.unit_rows(None).unit_id
    index = store.vector_index(model)
    index.refresh()
    first = first[index.has(first)]
    vectors = index.vectors(first)
    store.maintain(force=True)
    db, reached = store._db, {}
    with db.write() as c:
        for name in ("document", "section", "unit"):
            reached[name] = int(c.execute("SELECT value FROM counters WHERE name = ?", [name]).fetchone()[0])
        documents = "(SELECT id FROM documents WHERE path LIKE 'memory/%')"
        copied = set(np.array(c.execute(f"SELECT id FROM units WHERE document_id IN {documents}").fetchall())[:, 0])
        postings = _postings(store, c)
        c.execute(f"CREATE TEMP TABLE first_documents AS SELECT id AS d FROM {documents} q")
        for table, own in _TABLES.items():
            _copy(c, table, own, reached, times)
        for name, value in reached.items():
            c.execute("UPDATE counters SET value = ? WHERE name = ?", [value * times, name])
        c.execute("DROP TABLE first_documents")
        kept = np.isin(postings[1], list(copied))
        term, unit_id, tf = (column[kept] for column in postings)
        for k in range(1, times):
            _insert_postings(store, c, term, unit_id + k * reached["unit"], tf)
    store.maintain(force=True)
    kept = np.isin(first, list(copied))
    chance = np.random.default_rng(1)
    for k in range(1, times):
        turned = vectors[kept] + chance.normal(0, JITTER / vectors.shape[1] ** 0.5, vectors[kept].shape)
        turned = (turned / np.linalg.norm(turned, axis=1, keepdims=True)).astype(np.float32)
        store.put_vectors(model, (first[kept] + k * reached["unit"]).tolist(), turned)


def copy_files(workspace: Path, times: int) -> None:
    """The files of the copies, with the times of the first ones, so that nobody reads them."""
    notes = sorted((workspace / "memory").rglob("*.md"))
    for k in range(1, times):
        for note in notes:
            target = workspace / "memory" / f"copy-{k}" / note.relative_to(workspace / "memory")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(note, target)


def spread(url: str, folder: Path, memories: int) -> None:
    """Make the memories ``agent-1`` … out of ``agent-0``, in files and on the server, as a superuser."""
    import psycopg

    for agent in range(1, memories):
        shutil.copytree(folder / "agent-0", folder / f"agent-{agent}")
    tables = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'openclaw_memory'::regnamespace AND relkind IN ('r', 'p') "
        "AND NOT relispartition AND relname <> 'memories' AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = "
        "pg_class.oid AND attname = 'memory')"
    )
    with psycopg.connect(url) as c:
        c.execute("SET search_path TO openclaw_memory, public")
        names = [row[0] for row in c.execute(tables).fetchall()]
        sources = {name: _named(c, name) for name in names}
        for agent in range(1, memories):
            given = {"agent": f"agent-{agent}", "of": str(folder / f"agent-{agent}"), "first": str(folder / "agent-0")}
            for whose, of in (("agent-0", given["agent"]), ("", "")):
                made = c.execute(
                    "INSERT INTO memories (agent, workspace) VALUES (%s, %s) RETURNING memory", [of, given["of"]]
                ).fetchone()
                first = c.execute(
                    "SELECT memory FROM memories WHERE agent = %s AND workspace = %s", [whose, given["first"]]
                ).fetchone()
                if first is None or made is None:
                    continue
                for name, columns in sources.items():
                    listed = ", ".join(columns)
                    c.execute(
                        f"INSERT INTO {name} (memory, {listed}) SELECT {made[0]:d}, {listed} FROM {name} "
                        f"WHERE memory = {first[0]:d}"
                    )
        c.commit()
        c.autocommit = True
        c.execute("ANALYZE")


def megabytes(url: str, folder: Path) -> dict[str, float]:
    """What the index files take, and the tables of the server with their indexes."""
    import psycopg

    asked = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'openclaw_memory'::regnamespace"
    with psycopg.connect(url) as c:
        row = c.execute(asked + " AND relkind = 'r'").fetchone()
    files = sum(os.path.getsize(file) for file in folder.glob("agent-*/index.duckdb"))
    return {"file": round(files / 1e6), "server": round(float(row[0] if row else 0) / 1e6)}


def _copy(c: Any, table: str, own: str, reached: dict[str, int], times: int) -> None:
    values = []
    for column in _named(c, table):
        counter = own if column == "id" else _IDS.get(column, "")
        value = f"t.{column} + k * {reached[counter]:d}" if counter else f"t.{column}"
        if (table, column) == ("documents", "path"):
            value = "'memory/copy-' || k || substr(t.path, 7)"
        values.append(f"({value})")
    which = "id" if table == "documents" else "document_id"
    c.execute(
        f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table} t, generate_series(1, {times - 1:d}) g (k) "
        f"WHERE t.{which} IN (SELECT d FROM first_documents)"
    )


def _named(c: Any, table: str) -> list[str]:
    described = c.execute(f"SELECT * FROM {table} LIMIT 0").description
    return [column[0] for column in described if column[0] != "memory"]


def _postings(store: Any, c: Any) -> tuple[Any, Any, Any]:
    if isinstance(store, PostgresStore):
        return store._db.term_postings(c)
    found = c.execute("SELECT term, unit_id, tf FROM postings").fetchnumpy()
    return found["term"], found["unit_id"], found["tf"]


def _insert_postings(store: Any, c: Any, term: Any, unit_id: Any, tf: Any) -> None:
    if isinstance(store, PostgresStore):
        given = [int(unit_id.max()), len(term), *(column.astype(kind).tobytes() for column, kind in
                 ((term, "<i8"), (unit_id, "<i4"), (tf, "<i2")))]  # fmt: skip
        c.execute("INSERT INTO postings_delta VALUES (?, ?, ?, ?, ?)", given)
        return
    c.register("copied", {"term": term, "unit_id": unit_id.astype(np.int32), "tf": tf})
    c.execute("INSERT INTO postings_delta SELECT term, unit_id, tf FROM copied")
    c.unregister("copied")
