"""Looking for traces of a text, by other means than those that are to remove them."""

from __future__ import annotations

from pathlib import Path

import duckdb


def traces(database: Path, *texts: str) -> list[str]:
    """Where any of ``texts`` is, in whatever case: columns of the closed ``database``, and files beside it by bytes."""
    places = []
    wanted = [text.casefold() for text in texts]
    with duckdb.connect(str(database), read_only=True) as c:
        columns = c.execute(
            "SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE NOT internal "
            "AND (data_type LIKE 'VARCHAR%' OR data_type LIKE 'BLOB%')"
        ).fetchall()
        for schema, table, column in columns:
            for (cell,) in c.execute(f'SELECT "{column}" FROM "{schema}"."{table}"').fetchall():
                cell_text = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
                if any(text in cell_text.casefold() for text in wanted):
                    places.append(f"{table}.{column}")
                    break
    for file in sorted(filter(Path.is_file, database.parent.glob(f"{database.name}*"))):
        data = file.read_bytes().replace(b"\0", b"").decode("utf-8", "replace").casefold()  # most of it is zeros
        if any(text in data for text in wanted):
            places.append(file.name)
    return places
