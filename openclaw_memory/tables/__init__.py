"""The memory as tables, for SQL and for exports."""
