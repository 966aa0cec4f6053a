"""The tables, and the numbered migrations that lead to them.

Ids are never reused.  Only sections have a primary key, as hits fetch a few long texts by id; everything
else is read in runs that zone maps prune, so that inserts stay fast and a unit's row may be deleted and
inserted again in one transaction.  The version of the texts starts anywhere, so that what was read from
one file is never mistaken for the state of another that took its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import SchemaTooNew, StoreError
from .transaction import transaction

if TYPE_CHECKING:
    import duckdb

_V1 = """
CREATE TABLE meta (key VARCHAR, value VARCHAR);
CREATE TABLE counters (name VARCHAR, value BIGINT);
INSERT INTO meta VALUES ('instance', uuid()::VARCHAR);
INSERT INTO counters VALUES ('generation', 0), ('texts', (random() * 1e12)::BIGINT), ('fts', -1),
    ('document', 0), ('section', 0), ('unit', 0), ('compaction', 0);
CREATE TABLE documents (
    id INTEGER, path VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR,
    kind VARCHAR, grain VARCHAR, origin VARCHAR, front_matter VARCHAR, units INTEGER, generation BIGINT);
CREATE TABLE sections (
    id INTEGER PRIMARY KEY, document_id INTEGER, heading VARCHAR, start_line INTEGER, end_line INTEGER,
    date DATE, date_source VARCHAR, body VARCHAR);
CREATE TABLE units (
    id INTEGER, document_id INTEGER, section_id INTEGER, ordinal INTEGER,
    start_line INTEGER, end_line INTEGER, form VARCHAR, speaker VARCHAR, speaker_key BIGINT,
    text VARCHAR, indexed VARCHAR, hash BIGINT, occurrence INTEGER,
    terms SMALLINT, chars INTEGER, question BOOLEAN, time_words TINYINT);
CREATE TABLE models (id INTEGER, name VARCHAR, dimensions INTEGER, noise FLOAT);
CREATE TABLE vectors (unit_id INTEGER, model_id INTEGER, status VARCHAR, generation BIGINT, v BLOB);
CREATE TABLE postings (term BIGINT, unit_id INTEGER, tf SMALLINT);
CREATE TABLE postings_delta (term BIGINT, unit_id INTEGER, tf SMALLINT);
"""

#: Files are read again, so that what their units mention is there too; units keep their vectors.
_V2 = """
CREATE TABLE mentions (unit_id INTEGER, document_id INTEGER, key BIGINT, rule TINYINT, text VARCHAR);
CREATE TABLE found_facts (
    unit_id INTEGER, document_id INTEGER, subject VARCHAR, predicate VARCHAR, object VARCHAR, rule VARCHAR,
    confidence FLOAT);
CREATE TABLE stated_facts (
    ordinal INTEGER, id VARCHAR, subject VARCHAR, predicate VARCHAR, object VARCHAR, confidence FLOAT, origin VARCHAR,
    source VARCHAR, valid_from DATE, valid_to DATE, recorded VARCHAR, replaces VARCHAR, retracts VARCHAR);
CREATE TABLE curated (key BIGINT, slug VARCHAR, name VARCHAR, kind VARCHAR, weight FLOAT, aliases VARCHAR);
CREATE TABLE curated_edges (kind VARCHAR, source BIGINT, target BIGINT);
CREATE TABLE ignored (key BIGINT);
CREATE TABLE workspace_files (name VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR);
INSERT INTO counters VALUES ('ontology', 0), ('facts', 0), ('stated', 0);
UPDATE documents SET sha256 = '', mtime_ns = -1;
"""

#: Summaries are read again, so that what each of their sentences cites is there too.
_V3 = """
CREATE TABLE derived_from (
    unit_id INTEGER, document_id INTEGER, path VARCHAR, start_line INTEGER, end_line INTEGER);
UPDATE documents SET sha256 = '', mtime_ns = -1 WHERE grain <> 'working';
"""

#: Files are read again for the days that their lines name.  What a unit costs and says but for its
#: day is filled in by the analysis, which is of another version.
_V4 = """
ALTER TABLE units ADD COLUMN said_first INTEGER DEFAULT 0;
ALTER TABLE units ADD COLUMN said_last INTEGER DEFAULT 0;
ALTER TABLE units ADD COLUMN tokens FLOAT;
ALTER TABLE units ADD COLUMN likeness BIGINT;
UPDATE documents SET sha256 = '', mtime_ns = -1;
"""

#: Filled in by the analysis, which is of another version.
_V5 = "ALTER TABLE units ADD COLUMN script TINYINT"

#: Files are read again, so that lines of OpenClaw's dreaming are known for what they are.
_V6 = """
ALTER TABLE units ADD COLUMN amount BOOLEAN DEFAULT false;
UPDATE documents SET sha256 = '', mtime_ns = -1;
"""

#: Filled in by the analysis, which is of another version.
_V7 = "CREATE TABLE words (document_id INTEGER, initial VARCHAR, words VARCHAR)"

#: ``MIGRATIONS[i]`` leads from schema ``i`` to ``i + 1``; each runs in one transaction.
MIGRATIONS: tuple[str, ...] = (_V1, _V2, _V3, _V4, _V5, _V6, _V7)
CURRENT = len(MIGRATIONS)


def schema_version(connection: duckdb.DuckDBPyConnection) -> int:
    """The schema of an open file; 0 for an empty one."""
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta' AND NOT internal"
    ).fetchone()
    if not found or not found[0]:
        return 0
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row else 0


def migrate(connection: duckdb.DuckDBPyConnection, path: str) -> int:
    """Bring an open file to the current schema; returns the schema it had.

    Raises :class:`SchemaTooNew`, or :class:`StoreError`, and changes nothing when the file is from a newer version, or
    somebody else's database.
    """
    version = schema_version(connection)
    if not version and connection.execute("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1").fetchone():
        raise StoreError(f"{path}: holds another database, and is left as it is; choose another file with --db")
    if version > CURRENT:
        raise SchemaTooNew(
            f"{path}: written by a newer openclaw-memory (index schema {version}, this one knows {CURRENT}); "
            "upgrade openclaw-memory, or choose another file with --db"
        )
    for step in range(version, CURRENT):
        with transaction(connection):
            connection.execute(MIGRATIONS[step])
            connection.execute("DELETE FROM meta WHERE key = 'schema'")
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", [str(step + 1)])
    return version
