"""The tables for SQL and exports: ``memories``, ``documents``, ``concepts``, ``edges``, ``facts``, ``usage``.

They are made in a database in memory that has the index attached, read-only, as ``internals``.  Concepts, edges,
facts and usage are computed in Python and come as rows; only the needed ones are put in.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import WorkspaceError
from ...model import ExportedTable, Progress
from ...system import atomic
from ...text.analysis import hit_id
from ..rows import ComputedTables
from .database import attach, incoming, insert_rows

if TYPE_CHECKING:
    import _duckdb as duckdb

#: The name under which the index is attached.
INDEX = "internals"
#: The tables of an export, in its order, each with the order of its rows, so that equal notes give equal files.
TABLES = {
    "memories": "path, start_line, id",
    "documents": "path",
    "concepts": "slug",
    "edges": "kind, source, target, via",
    "facts": "subject, predicate, valid_from, object, id",
    "usage": "path, hit",
}
#: Tables whose rows are collected before they can be read.
COMPUTED = frozenset({"concepts", "edges", "facts", "usage"})
#: The table that is computed, unit by unit, before it can be read.
HITS = "hits"

#: A unit's place in a file, as cited by hits and facts.
_CITATION = (
    "{d}.path || '#L' || {u}.start_line || "
    "CASE WHEN {u}.end_line > {u}.start_line THEN '-L' || {u}.end_line ELSE '' END"
)

_MEMORIES = f"""
CREATE VIEW memories AS
SELECT u.id, d.path, u.start_line, u.end_line,
    {_CITATION.format(d="d", u="u")} AS citation, s.heading, s.date, s.date_source, d.kind, d.grain, d.origin,
    u.form, u.speaker, u.text
FROM {INDEX}.units u JOIN {INDEX}.documents d ON d.id = u.document_id JOIN {INDEX}.sections s ON s.id = u.section_id;
CREATE VIEW documents AS
SELECT path, kind, grain, origin, size AS bytes, make_timestamp(mtime_ns // 1000) AS changed, units, front_matter
FROM {INDEX}.documents;
CREATE TABLE hits (id INTEGER, hit VARCHAR);
"""

#: Columns of the tables that come as rows.
_COLUMNS = {
    "concepts": "slug VARCHAR, name VARCHAR, kind VARCHAR, curated BOOLEAN, weight DOUBLE, units INTEGER, "
    "aliases VARCHAR[], parents VARCHAR[], first_day DATE, last_day DATE",
    "facts": "id VARCHAR, subject VARCHAR, predicate VARCHAR, object VARCHAR, confidence DOUBLE, origin VARCHAR, "
    "rule VARCHAR, source VARCHAR, valid_from DATE, valid_to DATE, current BOOLEAN, superseded_by VARCHAR, "
    "recorded_at VARCHAR, newer VARCHAR",
    "usage": "hit VARCHAR, path VARCHAR, shown INTEGER, used INTEGER, useful INTEGER, irrelevant INTEGER, "
    "first_day DATE, last_day DATE, boost DOUBLE",
}

_GRAPH = f"""
CREATE SCHEMA graph;
CREATE TABLE graph.concept (place INTEGER, slug VARCHAR, curated BOOLEAN);
CREATE TABLE graph.reference (unit INTEGER, concept INTEGER, weight FLOAT);
CREATE TABLE graph.related (source INTEGER, target INTEGER, weight FLOAT, curated BOOLEAN);
CREATE TABLE graph.parent (source INTEGER, target INTEGER, weight FLOAT, curated BOOLEAN);
CREATE TABLE graph.sequel (later INTEGER, earlier INTEGER, via INTEGER, weight FLOAT);
CREATE VIEW graph.place AS SELECT u.id, {_CITATION.format(d="d", u="u")} AS citation
FROM {INDEX}.units u JOIN {INDEX}.documents d ON d.id = u.document_id;
CREATE VIEW edges AS
SELECT 'references' AS kind, p.citation AS source, c.slug AS target, r.unit AS source_id, NULL::INTEGER AS target_id,
    round(r.weight::DOUBLE, 4) AS weight, c.curated AS curated, NULL::VARCHAR AS via
FROM graph.reference r JOIN graph.place p ON p.id = r.unit JOIN graph.concept c ON c.place = r.concept
UNION ALL
SELECT 'related_to', a.slug, b.slug, NULL, NULL, round(r.weight::DOUBLE, 4), r.curated, NULL
FROM graph.related r JOIN graph.concept a ON a.place = r.source JOIN graph.concept b ON b.place = r.target
UNION ALL
SELECT 'parent_of', a.slug, b.slug, NULL, NULL, round(r.weight::DOUBLE, 4), r.curated, NULL
FROM graph.parent r JOIN graph.concept a ON a.place = r.source JOIN graph.concept b ON b.place = r.target
UNION ALL
SELECT 'follows', a.citation, b.citation, f.later, f.earlier, round(f.weight::DOUBLE, 4), false, c.slug
FROM graph.sequel f JOIN graph.place a ON a.id = f.later JOIN graph.place b ON b.id = f.earlier
    JOIN graph.concept c ON c.place = f.via
UNION ALL
SELECT 'derived_from', a.citation, {_CITATION.format(d="c", u="c")}, c.unit_id, b.id, 1, false, NULL
FROM {INDEX}.derived_from c JOIN graph.place a ON a.id = c.unit_id JOIN {INDEX}.units u ON u.id = c.unit_id
    LEFT JOIN {INDEX}.documents d ON d.path = c.path
    LEFT JOIN {INDEX}.units b ON b.document_id = d.id AND b.start_line BETWEEN c.start_line AND c.end_line
-- Of several units that begin in those lines, the one of about the same length, or all where these are.
WINDOW cited AS (PARTITION BY c.unit_id, c.path, c.start_line, c.end_line),
    nearest AS (PARTITION BY c.unit_id, c.path, c.start_line, c.end_line ORDER BY abs(b.terms - u.terms), b.id)
QUALIFY row_number() OVER nearest = 1
    OR abs(sum(b.terms) OVER cited - u.terms) <= min(abs(b.terms - u.terms)) OVER cited;
"""


def named_tables(query: str) -> frozenset[str]:
    """Return the collected and computed tables that a query may use: those whose names stand anywhere in it.

    All of them if the query makes names itself, by ``query()`` or ``query_table()``.
    """
    words = {word.lower() for word in re.findall(r"\w+", query)}
    if words & {"query", "query_table"}:
        return frozenset(COMPUTED | {HITS})
    return frozenset((COMPUTED | {HITS}) & words)


def define(c: duckdb.DuckDBPyConnection, path: str, computed: ComputedTables) -> None:
    """Make all tables over the index at ``path``; those without rows in ``computed`` stay empty."""
    attach(c, path, INDEX, "(READ_ONLY)")
    tables = [f"CREATE TABLE {table} ({columns});" for table, columns in _COLUMNS.items()]
    c.execute("".join([_MEMORIES, *tables, _GRAPH]))
    for table, rows in computed.rows.items():
        insert_rows(c, table, " ".join(column.split()[1] for column in _COLUMNS[table].split(", ")), rows)
    places = [
        (place, slug, curated) for place, (slug, _, _, curated, *_) in enumerate(computed.rows.get("concepts", ()))
    ]
    insert_rows(c, "graph.concept", "INTEGER VARCHAR BOOLEAN", places)
    for kind, columns in computed.edges.items():
        if not len(columns["weight"]):
            continue
        with incoming(c, columns):
            c.execute(f"INSERT INTO graph.{kind} SELECT {', '.join(columns)} FROM incoming")


def put_hits(c: duckdb.DuckDBPyConnection) -> None:
    """Fill ``hits``: the lasting id of the hit whose best unit is this one.

    SQL calls no function for each row: DuckDB needs more than 0.1 ms for each call of a Python function.
    """
    rows = c.execute(
        f"SELECT u.id, d.path, u.hash, u.occurrence FROM {INDEX}.units u "
        f"JOIN {INDEX}.documents d ON d.id = u.document_id"
    ).fetchall()
    insert_rows(c, HITS, "INTEGER VARCHAR", [(unit, hit_id(*place)) for unit, *place in rows])


# -- exports -----------------------------------------------------------------------------------------------------------

#: Subfolder for data that does not fit into memory while files are written.
SPILL = "spill"


def export_tables(
    c: duckdb.DuckDBPyConnection, temporary: Path, folder: Path, progress: Progress
) -> list[ExportedTable]:
    """Write every table into ``temporary``, on its way to ``folder``; returns the tables.

    The connection must be allowed to write files.
    """
    import _duckdb as duckdb

    written = []
    for done, (table, order) in enumerate(TABLES.items(), 1):
        file = temporary / f"{table}.parquet"
        path = str(file).replace("'", "''")
        source = "(SELECT m.*, h.hit FROM memories m JOIN hits h USING (id))" if table == "memories" else table
        copy = f"COPY (FROM {source} ORDER BY {order}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
        try:
            row = c.execute(copy).fetchone()
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            raise WorkspaceError(
                f"{temporary.parent}: the table {table} cannot be written ({reason}); "
                "check free space and permissions there, or choose another folder"
            ) from error
        file.chmod(0o600)
        rows = int(row[0]) if row else 0
        written.append(ExportedTable(table, str(folder / file.name), rows, file.stat().st_size))
        progress("export", done, len(TABLES))
    return written


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder, for its owner only, that becomes ``folder`` at the end of the block.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` if ``folder`` is neither new nor empty.
    """
    try:
        empty = not any(folder.iterdir())
    except FileNotFoundError:
        empty = True
    except NotADirectoryError as error:
        raise WorkspaceError(f"{folder}: not a folder; choose another one") from error
    if not empty:
        raise WorkspaceError(f"{folder}: not empty; choose a new or empty folder")
    atomic.make_folder(folder.parent)
    # Beside it, as a rename must not cross file systems.
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield temporary
        shutil.rmtree(temporary / SPILL, ignore_errors=True)
        for path in temporary.iterdir():
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()  # an empty one; fails when something has been put there meanwhile
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
