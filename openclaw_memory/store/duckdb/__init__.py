"""The index in a DuckDB file."""
