"""The SQL of all tables, views, roles and policies in PostgreSQL.

Each table has a column ``memory``, and a view that holds one memory alone.  The views are in a schema of their own, in
front of the tables on the search path, with the columns of the DuckDB file's tables in the same order, so that both
databases run the same SQL.  The setting ``openclaw_memory.memory`` of the transaction selects the memory, also for
inserted rows; without it nothing is visible.

Texts are ordered by their bytes.  A function has a fixed search path, and the rows of a memory are deleted with it.
"""

from __future__ import annotations

from ..state.database import COLUMNS as STATE_COLUMNS
from ..tables.base import COLUMNS, COUNTERS

#: The schema of all tables, and that of the views.
SCHEMA, VIEWS = "openclaw_memory", "openclaw_memory_view"

#: The base of the other parts: owners of memories, and rights of roles.  A function that is not marked as safe keeps
#: the server from parallel scans, and these are in every policy.  A view reads the number of its memory by a subquery:
#: once rather than for each row, and unknown to the planner, which would take a new memory to be empty until the
#: server counts its rows, and join row by row.
CORE = """
    CREATE TABLE memories (
        memory INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent TEXT NOT NULL, workspace TEXT NOT NULL,
        role TEXT NOT NULL DEFAULT current_user, made TIMESTAMPTZ NOT NULL DEFAULT now(), UNIQUE (agent, workspace));
    CREATE TABLE roles (role TEXT PRIMARY KEY, writes BOOLEAN NOT NULL);
    CREATE TABLE shares (
        role TEXT, memory INTEGER REFERENCES memories ON DELETE CASCADE, writes BOOLEAN NOT NULL,
        PRIMARY KEY (role, memory));

    CREATE FUNCTION is_mine(role TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS
        $$ SELECT coalesce(pg_has_role(to_regrole(quote_ident(role)), 'MEMBER'), false) $$;
    CREATE FUNCTION asked() RETURNS INTEGER LANGUAGE sql STABLE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS
        $$ SELECT nullif(current_setting('openclaw_memory.memory', true), '')::INTEGER $$;
    CREATE FUNCTION readable() RETURNS INTEGER[] LANGUAGE sql STABLE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS
        $$ SELECT coalesce(array_agg(memory), '{}') FROM openclaw_memory.memories m
           WHERE memory = coalesce(openclaw_memory.asked(), memory) AND (openclaw_memory.is_mine(m.role) OR EXISTS (
               SELECT FROM openclaw_memory.shares s
               WHERE s.memory = m.memory AND openclaw_memory.is_mine(s.role))) $$;
    CREATE FUNCTION writable() RETURNS INTEGER[] LANGUAGE sql STABLE PARALLEL SAFE
        SET search_path = pg_catalog, pg_temp AS
        $$ SELECT coalesce(array_agg(memory), '{}') FROM openclaw_memory.memories m
           WHERE memory = coalesce(openclaw_memory.asked(), memory) AND (openclaw_memory.is_mine(m.role) OR EXISTS (
               SELECT FROM openclaw_memory.shares s
               WHERE s.memory = m.memory AND s.writes AND openclaw_memory.is_mine(s.role))) $$;

    ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
    CREATE POLICY mine ON memories FOR ALL USING (is_mine(role)) WITH CHECK (role = current_user);
    CREATE POLICY shared ON memories FOR SELECT USING (
        EXISTS (SELECT FROM shares s WHERE s.memory = memories.memory AND is_mine(s.role)));

    CREATE FUNCTION protect(name TEXT) RETURNS VOID LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        EXECUTE format('ALTER TABLE openclaw_memory.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE openclaw_memory.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY readable ON openclaw_memory.%I FOR SELECT
            USING (memory = ANY ((SELECT openclaw_memory.readable())::int[]))', name);
        EXECUTE format('CREATE POLICY writable ON openclaw_memory.%I FOR ALL
            USING (memory = ANY ((SELECT openclaw_memory.writable())::int[]))', name);
    END $$;
    CREATE FUNCTION show(name TEXT) RETURNS VOID LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        EXECUTE (
            SELECT format('CREATE OR REPLACE VIEW openclaw_memory_view.%I WITH (security_invoker) AS SELECT %s
                FROM openclaw_memory.%I WHERE memory = (SELECT current_setting(''openclaw_memory.memory'')::INTEGER)',
                name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position), name)
            FROM information_schema.columns
            WHERE table_schema = 'openclaw_memory' AND table_name = name AND column_name <> 'memory');
    END $$;
    CREATE FUNCTION permit(name TEXT, write BOOLEAN) RETURNS VOID LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
    DECLARE each TEXT;
    BEGIN
        INSERT INTO openclaw_memory.roles VALUES (name, write) ON CONFLICT (role) DO UPDATE SET writes = write;
        FOREACH each IN ARRAY '{openclaw_memory,openclaw_memory_view}'::TEXT[] LOOP
            EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', each, name);
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', each, name);
            EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', each, name);
            IF write THEN
                EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I', each, name);
            END IF;
        END LOOP;
        IF write THEN
            EXECUTE format('REVOKE INSERT, UPDATE, DELETE
                ON openclaw_memory.schemas, openclaw_memory.roles, openclaw_memory.shares FROM %I', name);
        END IF;
    END $$;
    CREATE FUNCTION share(name TEXT, agent_name TEXT, workspace_name TEXT, write BOOLEAN) RETURNS VOID LANGUAGE plpgsql
        SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        INSERT INTO openclaw_memory.shares
            SELECT name, memory, write FROM openclaw_memory.memories
            WHERE agent = agent_name AND workspace = workspace_name
            ON CONFLICT (role, memory) DO UPDATE SET writes = write;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no memory of the agent % in the workspace %', agent_name, workspace_name;
        END IF;
    END $$;
    """

#: PostgreSQL's names of DuckDB's types.
_TYPES = {"TINYINT": "SMALLINT", "VARCHAR": "TEXT", "FLOAT": "REAL", "BLOB": "BYTEA"}
_INDEXES = {
    "sections": ("document_id",),
    "units": ("document_id",),
    "mentions": ("document_id", "unit_id", "key"),
    "found_facts": ("document_id", "unit_id"),
    "derived_from": ("document_id", "unit_id"),
    "words": ("document_id", "initial"),
}


def postgres_types(types: str) -> str:
    """Translate DuckDB's types into PostgreSQL's."""
    for name, other in _TYPES.items():
        types = types.replace(name, other)
    return types


def _table(name: str, columns: str) -> str:
    owned = (
        "memory INTEGER NOT NULL DEFAULT current_setting('openclaw_memory.memory')::INTEGER "
        "REFERENCES memories ON DELETE CASCADE, "
    )
    texts = columns.replace(" TEXT", ' TEXT COLLATE "C"').replace("KEY (", "PRIMARY KEY (memory, ")
    create = f"CREATE TABLE {name} ({owned}{texts})"
    indexes = "".join(f"CREATE INDEX ON {name} (memory, {column}); " for column in _INDEXES.get(name, ()))
    if "KEY" not in columns:
        indexes = indexes or f"CREATE INDEX ON {name} (memory); "
    return f"{create}; {indexes}SELECT protect('{name}'); SELECT show('{name}');"


#: Columns of all tables of an index.  Postings have a row a term with all its units, and a row a write with those added
#: since.  They hold arrays, little-endian: 165 MB for a million lines, where a row a posting took 1.6 GB.
INDEX_TABLES = {name: postgres_types(types) for name, types in COLUMNS.items()} | {
    "postings": "term BIGINT, n INTEGER, unit_id BYTEA, tf BYTEA, KEY (term)",
    "postings_delta": "unit INTEGER, n INTEGER, term BYTEA, unit_id BYTEA, tf BYTEA, KEY (unit)",
}
INDEX = f"""
CREATE DOMAIN tinyint AS SMALLINT;  -- which statements of both databases name
{"".join(_table(name, columns) for name, columns in INDEX_TABLES.items())}
CREATE UNIQUE INDEX ON documents (memory, path);
CREATE INDEX ON vectors (memory, model_id, generation) INCLUDE (unit_id) WHERE status = 'ready';
CREATE FUNCTION begin_memory() RETURNS VOID LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO openclaw_memory_view.meta VALUES ('instance', gen_random_uuid()::TEXT) ON CONFLICT DO NOTHING;
    INSERT INTO openclaw_memory_view.counters VALUES {COUNTERS} ON CONFLICT DO NOTHING;
$$;
"""

#: Tables of the state of a workspace: those of the SQLite file, with the agent that wrote a row last.
STATE_TABLES = {
    name: columns.replace("INTEGER", "BIGINT") for name, columns in STATE_COLUMNS.items() if name != "meta"
} | {"state_identity": "id TEXT, KEY (id)"}
_AUTHOR = ", author TEXT NOT NULL DEFAULT coalesce(current_setting('openclaw_memory.author', true), ''), KEY ("
STATE = "".join(_table(name, columns.replace(", KEY (", _AUTHOR)) for name, columns in STATE_TABLES.items())
