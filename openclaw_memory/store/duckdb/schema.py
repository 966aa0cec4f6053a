"""The tables of an index file.

Ids are never reused.  Only sections have a primary key, as hits fetch a few long texts by id; everything
else is read in runs that zone maps prune, so that inserts stay fast and a unit's row may be deleted and
inserted again in one transaction.  The version of the texts starts anywhere, so that what was read from
one file is never mistaken for the state of another that took its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import StoreError
from ..tables.sql import VERSION
from .transaction import transaction

if TYPE_CHECKING:
    import duckdb

_TABLES = """
CREATE TABLE meta (key VARCHAR, value VARCHAR);
CREATE TABLE counters (name VARCHAR, value BIGINT);
INSERT INTO meta VALUES ('instance', uuid()::VARCHAR);
INSERT INTO counters VALUES ('generation', 0), ('texts', (random() * 1e12)::BIGINT), ('fts', -1),
    ('document', 0), ('section', 0), ('unit', 0), ('compaction', 0), ('ontology', 0), ('facts', 0), ('stated', 0);
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
    terms SMALLINT, chars INTEGER, time_words TINYINT, said_first INTEGER, said_last INTEGER,
    tokens FLOAT, likeness BIGINT, script TINYINT, amount BOOLEAN);
CREATE TABLE words (document_id INTEGER, initial VARCHAR, words VARCHAR);
CREATE TABLE models (id INTEGER, name VARCHAR, dimensions INTEGER, noise FLOAT);
CREATE TABLE vectors (unit_id INTEGER, model_id INTEGER, status VARCHAR, generation BIGINT, v BLOB);
CREATE TABLE postings (term BIGINT, unit_id INTEGER, tf SMALLINT);
CREATE TABLE postings_delta (term BIGINT, unit_id INTEGER, tf SMALLINT);
CREATE TABLE mentions (unit_id INTEGER, document_id INTEGER, key BIGINT, rule TINYINT, text VARCHAR);
CREATE TABLE found_facts (
    unit_id INTEGER, document_id INTEGER, subject VARCHAR, predicate VARCHAR, object VARCHAR, rule VARCHAR,
    confidence FLOAT);
CREATE TABLE stated_facts (
    ordinal INTEGER, id VARCHAR, subject VARCHAR, predicate VARCHAR, object VARCHAR, confidence FLOAT, origin VARCHAR,
    source VARCHAR, valid_from DATE, valid_to DATE, recorded VARCHAR, replaces VARCHAR, retracts VARCHAR);
CREATE TABLE derived_from (
    unit_id INTEGER, document_id INTEGER, path VARCHAR, start_line INTEGER, end_line INTEGER);
CREATE TABLE curated (key BIGINT, slug VARCHAR, name VARCHAR, kind VARCHAR, weight FLOAT, aliases VARCHAR);
CREATE TABLE curated_edges (kind VARCHAR, source BIGINT, target BIGINT);
CREATE TABLE ignored (key BIGINT);
CREATE TABLE workspace_files (name VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR);
"""


class OtherVersion(Exception):
    """The index file has the tables of another version."""


def version_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The version of the tables of an open file; empty where there is no index."""
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta' AND NOT internal"
    ).fetchone()
    if not found or not found[0]:
        return ""
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return str(row[0]) if row else ""


def prepare(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Make the tables in a new file.

    Raises :class:`OtherVersion`, or :class:`StoreError` for somebody else's database, and changes nothing then.
    """
    version = version_of(connection)
    if not version:
        if connection.execute("SELECT 1 FROM duckdb_tables() WHERE NOT internal LIMIT 1").fetchone():
            raise StoreError(f"{path}: holds another database, and is left as it is; choose another file with --db")
        with transaction(connection):
            connection.execute(_TABLES)
            connection.execute("INSERT INTO meta VALUES ('schema', ?)", [str(VERSION)])
    elif version != str(VERSION):
        raise OtherVersion(version)
