"""What is much to write, in slices between which others have their turn at the file.

Rows whose document is not there are seen by nobody.  So a large document is written under a number of its own, some
hundred units at a time, and is there when its row is, which comes last; what the one before owned goes after that, and
so does what a process leaves that is killed.  A slice counts no generation, as it changes nothing that anybody sees.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from ...errors import LeaseTimeout, StoreError
from ..api import DocumentChange, Version
from ..tables import writing
from ..tables.sql import WHOLE, among, count, next_ids
from ..tables.store import TableStore
from .postings import PostingsFile

#: A document of more units is written in slices: of so many first, and then of as many as take so many seconds.
_LARGE, _SLICE, _SECONDS = 2_000, 100, 0.2
#: So many times as large, or as small, as the one before is a slice at most.
_GROWTH = 2
#: Rows that are deleted, and postings that are folded, at once.
_DELETED, _FOLDED = 20_000, 200_000
#: Units go last: as long as something is left, so are they, and their number tells it.
_OWNED = (*writing.OF_DOCUMENTS, *writing.OF_UNITS, "units")


class SlicedStore(TableStore):
    """The part of the DuckDB store that writes, removes and folds much."""

    _db: PostingsFile
    path: Path

    def apply(self, changes: Sequence[DocumentChange], version: Version) -> Version:
        """Write the new state of some files: the large ones each by itself, the others in one transaction."""
        small = [change for change in changes if len(change.units) <= _LARGE]
        if small or not changes:
            version = super().apply(small, version)
        for change in changes:
            if len(change.units) > _LARGE:
                version = self._apply_large(change, version)
        return version

    def remove(self, document_ids: Sequence[int], keep_units: Sequence[int], version: Version) -> Version:
        """Remove documents; of much that they own the rows go afterwards."""
        with self._db.read() as c:
            units = count(c, f"SELECT sum(units) FROM documents WHERE id IN {among(document_ids)}")
        if units <= _LARGE:
            return super().remove(document_ids, keep_units, version)
        with self._db.write() as c:
            writing.check_version(self._db, c, version, self._db.counters(), document_ids)
            writing.take_out(c, document_ids, keep_units)
            version = writing.next_version(c, version, ())
        with self._alone("writing", 0) as ours:
            if ours:
                self._sweep()
        return version

    def _apply_large(self, change: DocumentChange, version: Version) -> Version:
        replaced = [] if change.replaces is None else [change.replaces]
        new = [change.file.path] if change.replaces is None else []
        living = [planned.id for planned in change.units if planned.id is not None]
        with self._writing_alone():
            self._sweep()
            try:
                document_id = self._write_slices(change, version, replaced, new)
                with self._db.write() as c:
                    known = writing.check_version(self._db, c, version, self._db.counters(), replaced, new, living)
                    writing.put_whole(self._db, c, document_id, change, known)
                    version = writing.next_version(c, version, known)
            finally:
                with contextlib.suppress(StoreError):  # it is swept the next time
                    self._sweep()
        return version

    def _write_slices(
        self, change: DocumentChange, version: Version, replaced: Sequence[int], new: Sequence[str]
    ) -> int:
        """Write sections and units under the number of a document to come, which is returned."""
        sections: list[int] = []
        document_id = first = 0
        size = _SLICE
        while first < len(change.units):
            started = time.monotonic()
            units = change.units[first : first + size]
            last = first + size >= len(change.units)
            upto = len(change.sections) if last else units[-1].section + 1
            part = change.sections[len(sections) : upto]
            with self._db.write(counted=False) as c:
                # What nobody will see is not worth going on with.
                writing.check_version(self._db, c, version, self._db.counters(), replaced, new)
                # Ids in the order of what is written: who has read up to one has read the postings below it.
                given = next_ids(
                    c, document=int(not first), section=len(part), unit=sum(one.id is None for one in units)
                )
                document_id = document_id or next(given["document"])
                rows = writing.Rows()
                sections += rows.add_sections(document_id, part, given["section"])
                rows.add_units(document_id, sections, first, units, given["unit"])
                rows.insert(self._db, c)
            first += len(units)
            share = _SECONDS / max(time.monotonic() - started, 1e-3)
            size = max(_SLICE // 2, int(size * min(_GROWTH, max(1 / _GROWTH, share))))
            self._db.lease.give_way()
        return document_id

    def _sweep(self) -> None:
        """Delete what documents own that are not there; the caller writes alone."""
        for table in _OWNED:
            found = f"SELECT rowid FROM {table} WHERE NOT {WHOLE} LIMIT {_DELETED}"
            with self._db.read() as c:
                more = count(c, f"SELECT count(*) FROM ({found})")
            while more:
                with self._db.write(counted=False) as c:
                    c.execute(f"DELETE FROM {table} WHERE rowid IN ({found})")
                    more = count(c, f"SELECT count(*) FROM ({found})")
                self._db.lease.give_way()

    # -- upkeep -----------------------------------------------------------------------------------

    def maintain(self, force: bool = False) -> bool:
        """Fold the delta into the term-sorted base, and drop what is dead, once either has grown."""
        with self._writing_alone() if force else self._alone("writing", 0) as ours:
            if not ours:
                return False
            with self._db.read() as c:
                owned = count(c, "SELECT coalesce(sum(units), 0) FROM documents")
                left = owned != count(c, "SELECT count(*) FROM units")
            if force or left:
                self._sweep()
            with self._db.read() as c:
                base = count(c, "SELECT count(*) FROM postings")
                delta = count(c, "SELECT count(*) FROM postings_delta")
                if not force and delta <= max(20_000, base // 8) and not writing.many_dead(c):
                    return False
            self._fold(max(1, math.ceil((base + delta) / _FOLDED)))
        return True

    def _fold(self, parts: int) -> None:
        """Make the sorted table again, from the postings of the units that are there now."""
        with self._db.write(counted=False) as c:
            # Who plans to give back its place to a unit that is between two files, and in neither: plan again.
            writing.note_compacting(c)
            c.execute("CREATE OR REPLACE TABLE postings_next (term BIGINT, unit_id INTEGER, tf SMALLINT)")
            c.execute("CREATE OR REPLACE TABLE folding AS SELECT DISTINCT id FROM units")
            highest = count(c, "SELECT value FROM counters WHERE name = 'unit'")
        for part in range(parts):
            with self._db.write(counted=False) as c:
                self._db.fold_part(c, part, parts)
            self._db.lease.give_way()
        with self._db.write() as c:
            c.execute("DROP TABLE postings")
            c.execute("ALTER TABLE postings_next RENAME TO postings")
            c.execute("DELETE FROM postings_delta WHERE unit_id <= ?", [highest])
            # Those of one initial are read together.
            c.execute("CREATE OR REPLACE TABLE words AS SELECT * FROM words ORDER BY initial")
            writing.note_compacted(c, highest - count(c, "SELECT count(*) FROM folding"))
            c.execute("DROP TABLE folding")

    # -- one at a time ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing_alone(self) -> Iterator[bool]:
        with self._alone("writing", self._db.lease.time_left()) as ours:
            if not ours:
                raise LeaseTimeout(f"{self.path}: another process is writing a large note; try again when it is done")
            yield True

    @contextlib.contextmanager
    def _alone(self, what: str, timeout: float) -> Iterator[bool]:
        """Be the only process that does this, whether or not it has the file; whether we are within ``timeout``."""
        turn = FileLock(f"{self.path}.{what}", mode=0o600)
        try:
            self._db.prepare()
            turn.acquire(timeout=timeout, poll_interval=0.02)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot create a lock beside the index ({error.strerror or error}); "
                "check the folder's permissions and free space, or choose another file with --db"
            ) from error
        try:
            yield True
        finally:
            turn.release()
