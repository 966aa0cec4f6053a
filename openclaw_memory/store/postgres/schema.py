"""The tables in PostgreSQL, each with a column ``memory``, and a view of each that holds one memory alone.

The views are in a schema of their own, in front of the tables on the search path: they have the columns of the tables
of the DuckDB file, in the same order, so that both run the same SQL.  Which memory it is says the setting
``openclaw_memory.memory`` of the transaction, which is also what an inserted row gets.  Without it nothing is seen.

Units and vectors are partitioned by memory, so that one could get a partition of its own; so far none has.
Texts are ordered by their bytes.
"""

from __future__ import annotations

from ..tables.schema import COLUMNS, COUNTERS, of_postgres

#: Postings have a row a term with all its units, and a row a write with what was added since.
_TABLES = {name: of_postgres(types) for name, types in COLUMNS.items()} | {
    "postings": "term BIGINT, n INTEGER, unit_id BYTEA, tf BYTEA, KEY (term)",
    "postings_delta": "unit INTEGER, n INTEGER, term BYTEA, unit_id BYTEA, tf BYTEA, KEY (unit)",
}
_INDEXES = {
    "sections": ("document_id",),
    "units": ("document_id",),
    "mentions": ("document_id", "unit_id", "key"),
    "found_facts": ("document_id", "unit_id"),
    "derived_from": ("document_id", "unit_id"),
    "words": ("document_id", "initial"),
}
#: What a memory begins with.
_BEGIN = f"""
CREATE FUNCTION begin_memory() RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO openclaw_memory_view.meta VALUES ('instance', gen_random_uuid()::TEXT) ON CONFLICT DO NOTHING;
    INSERT INTO openclaw_memory_view.counters VALUES {COUNTERS} ON CONFLICT DO NOTHING;
$$;
"""


def _table(name: str, columns: str) -> str:
    owned = "memory INTEGER NOT NULL DEFAULT current_setting('openclaw_memory.memory')::INTEGER, "
    texts = columns.replace(" TEXT", ' TEXT COLLATE "C"').replace("KEY (", "PRIMARY KEY (memory, ")
    made = f"CREATE TABLE {name} ({owned}{texts})"
    if name in ("units", "vectors"):  # nobody reads a partition by its own name: it has no policy
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
        "CREATE DOMAIN tinyint AS SMALLINT;",  # which statements of both databases name
        *(_table(name, columns) for name, columns in _TABLES.items()),
        "CREATE UNIQUE INDEX ON documents (memory, path);",
        "CREATE INDEX ON vectors (memory, model_id, generation) INCLUDE (unit_id) WHERE status = 'ready';",
        _BEGIN,
    ]
)
#: All tables, for counts and searches.
TABLES = tuple(_TABLES)
