"""The index and the state in PostgreSQL, for agents on several machines."""
