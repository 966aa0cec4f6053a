"""The index as a DuckDB file: the only SQL over it."""
