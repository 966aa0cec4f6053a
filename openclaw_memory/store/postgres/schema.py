"""The tables in PostgreSQL, each with a column ``memory``, and a view of each that holds one memory alone.

The views are in a schema of their own, in front of the tables on the search path: they have the columns of the tables
of the DuckDB file, in the same order, so that both run the same SQL.  Which memory it is says the setting
``openclaw_memory.memory`` of the transaction, which is also what an inserted row gets.  Without it nothing is seen.

Units and vectors are partitioned by memory, so that one could get a partition of its own; so far none has.
Texts are ordered by their bytes.
"""

from __future__ import annotations

#: Columns by table, as in the DuckDB file; ``KEY`` is what identifies a row within its memory.
_TABLES = {
    "documents": """id INTEGER, path TEXT, size BIGINT, mtime_ns BIGINT, sha256 TEXT, kind TEXT, grain TEXT,
        origin TEXT, front_matter TEXT, units INTEGER, generation BIGINT, KEY (id), UNIQUE (memory, path)""",
    "sections": """id INTEGER, document_id INTEGER, heading TEXT, start_line INTEGER, end_line INTEGER, date DATE,
        date_source TEXT, body TEXT, KEY (id)""",
    "units": """id INTEGER, document_id INTEGER, section_id INTEGER, ordinal INTEGER, start_line INTEGER,
        end_line INTEGER, form TEXT, speaker TEXT, speaker_key BIGINT, text TEXT, indexed TEXT, hash BIGINT,
        occurrence INTEGER, terms SMALLINT, chars INTEGER, time_words SMALLINT,
        said_first INTEGER, said_last INTEGER, tokens REAL, likeness BIGINT, script SMALLINT,
        amount BOOLEAN, KEY (id)""",
    "words": "document_id INTEGER, initial TEXT, words TEXT",
    "models": "id INTEGER, name TEXT, dimensions INTEGER, noise REAL, KEY (id)",
    "vectors": "unit_id INTEGER, model_id INTEGER, status TEXT, generation BIGINT, v BYTEA, KEY (unit_id)",
    "postings": "term BIGINT, n INTEGER, unit_id BYTEA, tf BYTEA, KEY (term)",
    "postings_delta": "unit INTEGER, n INTEGER, term BYTEA, unit_id BYTEA, tf BYTEA, KEY (unit)",
    "mentions": "unit_id INTEGER, document_id INTEGER, key BIGINT, rule SMALLINT, text TEXT",
    "found_facts": """unit_id INTEGER, document_id INTEGER, subject TEXT, predicate TEXT, object TEXT, rule TEXT,
        confidence REAL""",
    "derived_from": "unit_id INTEGER, document_id INTEGER, path TEXT, start_line INTEGER, end_line INTEGER",
    "stated_facts": """ordinal INTEGER, id TEXT, subject TEXT, predicate TEXT, object TEXT, confidence REAL,
        origin TEXT, source TEXT, valid_from DATE, valid_to DATE, recorded TEXT, replaces TEXT,
        retracts TEXT, KEY (ordinal)""",
    "curated": "key BIGINT, slug TEXT, name TEXT, kind TEXT, weight REAL, aliases TEXT",
    "curated_edges": "kind TEXT, source BIGINT, target BIGINT",
    "ignored": "key BIGINT",
    "workspace_files": "name TEXT, size BIGINT, mtime_ns BIGINT, sha256 TEXT, KEY (name)",
    "counters": "name TEXT, value BIGINT, KEY (name)",
    "meta": "key TEXT, value TEXT, KEY (key)",
}
_PARTITIONED = ("units", "vectors")
_INDEXES = {
    "sections": ("document_id",),
    "units": ("document_id",),
    "mentions": ("document_id", "unit_id", "key"),
    "found_facts": ("document_id", "unit_id"),
    "derived_from": ("document_id", "unit_id"),
    "words": ("document_id", "initial"),
}
#: Types of DuckDB that statements of both databases name.
_TYPES = "CREATE DOMAIN tinyint AS SMALLINT;"
#: What a memory is named by; the version of its texts starts anywhere, as in a file.
_BEGIN = """
CREATE FUNCTION begin_memory() RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO openclaw_memory_view.meta VALUES ('instance', gen_random_uuid()::TEXT) ON CONFLICT DO NOTHING;
    INSERT INTO openclaw_memory_view.counters VALUES
        ('generation', 0), ('texts', (random() * 1e12)::BIGINT), ('fts', -1), ('document', 0), ('section', 0),
        ('unit', 0), ('compaction', 0), ('ontology', 0), ('facts', 0), ('stated', 0) ON CONFLICT DO NOTHING;
$$;
"""


def _table(name: str, columns: str) -> str:
    owned = "memory INTEGER NOT NULL DEFAULT current_setting('openclaw_memory.memory')::INTEGER, "
    texts = columns.replace(" TEXT", ' TEXT COLLATE "C"').replace("KEY (", "PRIMARY KEY (memory, ")
    made = f"CREATE TABLE {name} ({owned}{texts})"
    if name in _PARTITIONED:  # nobody reads a partition by its own name: it has no policy
        made += (
            f" PARTITION BY LIST (memory); CREATE TABLE {name}_others PARTITION OF {name} DEFAULT; "
            f"ALTER TABLE {name}_others ENABLE ROW LEVEL SECURITY; ALTER TABLE {name}_others FORCE ROW LEVEL SECURITY"
        )
    indexes = "".join(f"CREATE INDEX ON {name} (memory, {column}); " for column in _INDEXES.get(name, ()))
    if "KEY" not in columns:
        indexes += "" if indexes else f"CREATE INDEX ON {name} (memory); "
    return f"{made}; {indexes}SELECT protect('{name}'); SELECT show('{name}');"


#: Given to :meth:`Server.prepare` as the part ``index``.
INDEX = "\n".join(
    [
        _TYPES,
        *(_table(name, columns) for name, columns in _TABLES.items()),
        "CREATE INDEX ON vectors (memory, model_id, generation) INCLUDE (unit_id) WHERE status = 'ready';",
        _BEGIN,
    ]
)
#: All tables, for counts and searches.
TABLES = tuple(_TABLES)
