"""The tables of an index, alike in both databases but for the postings.

Columns have DuckDB's types, in one order, so that both run the same SQL; ``KEY`` is what identifies a row.
"""

from __future__ import annotations

#: Another number whenever the tables are others: an index of another one is made anew.
VERSION = 1

COLUMNS = {
    "meta": "key VARCHAR, value VARCHAR, KEY (key)",
    "counters": "name VARCHAR, value BIGINT, KEY (name)",
    "documents": """id INTEGER, path VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR, kind VARCHAR, grain VARCHAR,
        origin VARCHAR, front_matter VARCHAR, units INTEGER, generation BIGINT, KEY (id)""",
    "sections": """id INTEGER, document_id INTEGER, heading VARCHAR, start_line INTEGER, end_line INTEGER, date DATE,
        date_source VARCHAR, body VARCHAR, KEY (id)""",
    "units": """id INTEGER, document_id INTEGER, section_id INTEGER, ordinal INTEGER, start_line INTEGER,
        end_line INTEGER, form VARCHAR, speaker VARCHAR, speaker_key BIGINT, text VARCHAR, indexed VARCHAR, hash BIGINT,
        occurrence INTEGER, terms SMALLINT, chars INTEGER, time_words TINYINT, said_first INTEGER,
        said_last INTEGER, tokens FLOAT, likeness BIGINT, script TINYINT, amount BOOLEAN, KEY (id)""",
    "words": "document_id INTEGER, initial VARCHAR, words VARCHAR",
    "models": "id INTEGER, name VARCHAR, dimensions INTEGER, noise FLOAT, KEY (id)",
    "vectors": "unit_id INTEGER, model_id INTEGER, status VARCHAR, generation BIGINT, v BLOB, KEY (unit_id)",
    "mentions": "unit_id INTEGER, document_id INTEGER, key BIGINT, rule TINYINT, text VARCHAR",
    "found_facts": """unit_id INTEGER, document_id INTEGER, subject VARCHAR, predicate VARCHAR, object VARCHAR,
        rule VARCHAR, confidence FLOAT""",
    "derived_from": "unit_id INTEGER, document_id INTEGER, path VARCHAR, start_line INTEGER, end_line INTEGER",
    "stated_facts": """ordinal INTEGER, id VARCHAR, subject VARCHAR, predicate VARCHAR, object VARCHAR,
        confidence FLOAT, origin VARCHAR, source VARCHAR, valid_from DATE, valid_to DATE, recorded VARCHAR,
        replaces VARCHAR, retracts VARCHAR, KEY (ordinal)""",
    "curated": "key BIGINT, slug VARCHAR, name VARCHAR, kind VARCHAR, weight FLOAT, aliases VARCHAR",
    "curated_edges": "kind VARCHAR, source BIGINT, target BIGINT",
    "ignored": "key BIGINT",
    "workspace_files": "name VARCHAR, size BIGINT, mtime_ns BIGINT, sha256 VARCHAR, KEY (name)",
}
#: Counters of a new index.  The version of the texts starts anywhere, so that what was read from one index is never
#: mistaken for the state of another that took its place.
COUNTERS = """('generation', 0), ('texts', (random() * 1e12)::BIGINT), ('fts', -1), ('document', 0), ('section', 0),
    ('unit', 0), ('compaction', 0), ('ontology', 0), ('facts', 0), ('stated', 0)"""
#: Types of DuckDB that PostgreSQL has other words for.
_TYPES = {"TINYINT": "SMALLINT", "VARCHAR": "TEXT", "FLOAT": "REAL", "BLOB": "BYTEA"}


def of_postgres(types: str) -> str:
    """DuckDB's types in PostgreSQL's words."""
    for name, other in _TYPES.items():
        types = types.replace(name, other)
    return types
