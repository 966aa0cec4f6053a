"""Taking texts out for good: what they own, having their files read again, and proof that they are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..tables.needles import Needles
from ..tables.sql import count
from ..tables.store import Store
from .postings import PostingsFile


class PurgeTables(Store):
    """The part of the DuckDB store that forgets: methods of the store's protocol."""

    _db: PostingsFile
    path: Path

    def purge(self) -> None:
        """Leave no trace of deleted rows: compact what is derived from texts, and write the whole file again."""
        self.maintain(True)
        with self._db.read() as c:
            there = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'fts_source' AND NOT internal"
            if count(c, there):  # it is rebuilt when it is asked
                with self._db.write():
                    c.execute("DROP SCHEMA IF EXISTS fts_main_fts_source CASCADE")
                    c.execute("DROP TABLE IF EXISTS fts_source")
                    c.execute("UPDATE counters SET value = -1 WHERE name = 'fts'")
        self._db.rewrite()
        self._note_purged()

    def shrink(self) -> bool:
        """Write the file again when a third of it is free, and some megabytes; whether it did.

        DuckDB gives nothing back, and what deleted rows took is free only where nothing else is beside them.
        """
        ((total, free, size),) = self._db.rows(
            "SELECT total_blocks, free_blocks, block_size FROM pragma_database_size()"
        )
        if free * size < 8_000_000 or 3 * free < total:
            return False
        self._db.rewrite()
        return True

    def contains(self, needles: Sequence[str]) -> list[str]:
        """Where any of ``needles`` stands: columns (``units.text``) by a scan of each, files by their bytes."""
        search = Needles(needles)
        with self._db.read():
            found = super().contains(needles)
            files = [file for file in self._db.files if search and file.exists()]
            return found + [file.name for file in files if search.finds(file.read_bytes())]

    def leftovers(self) -> list[str]:
        """Files that were this index once, and those of other agents on the same workspace, and what they are."""
        folder, name = self.path.parent, self.path.name
        try:
            moved = f"{name}.damaged-", f"{name}.outdated-"
            aside = [path for path in folder.iterdir() if path.name.startswith(moved)]
            # By its name an index of the default folder tells the workspace, by its folder the agent.
            others = folder.parent.glob(f"*/{name}") if re.search(r"-[0-9a-f]{12}\.duckdb$", name) else ()
            siblings = [path for path in others if path != self.path]
        except OSError:
            return []
        return [
            *(f"{path} (an older index, put aside)" for path in sorted(aside)),
            *(f"{path} (the index of another agent)" for path in sorted(siblings)),
        ]
