"""The index in PostgreSQL: for agents on several machines."""
