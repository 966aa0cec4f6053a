"""The index in a DuckDB file.

Its modules import ``_duckdb``, as what the package ``duckdb`` adds takes as long to load.
"""
