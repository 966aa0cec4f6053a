"""The index file: the only package with SQL, behind a protocol without DuckDB types."""
