"""An index and a journal of an earlier version open in this one, and nothing that a person made is lost."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

from fakes import CountingEmbedder, Notes, open_memory

DATA = Path(__file__).parent.parent / "data"

#: The workspace whose index b787860 made: notes, a curated concept, a stated fact and a verdict on line 4 of MEMORY.md.
FILES = {
    "MEMORY.md": "# About\n\n- Mira likes tea in the evening.\n- The attic has a lamp.\n",
    "memory/2026-03-01.md": (
        "# 2026-03-01\n\n## Kiln\n\n- The kiln Vesuvius tripped the fuse.\n- Mira ordered a new fuse from Brandt.\n"
    ),
}


def test_an_index_of_the_first_version_keeps_its_vectors_and_all_that_was_made(notes: Notes) -> None:
    for name, text in FILES.items():
        notes.write(name, text)
    for file in (DATA / "workspace-b787860").iterdir():
        shutil.copy(file, notes.root / file.name)
    index = notes.root.parent / "index.duckdb"
    index.write_bytes(lzma.decompress((DATA / "index-b787860.duckdb.xz").read_bytes()))
    shutil.copy(DATA / "index-b787860.journal", f"{index}.journal")
    embedder = CountingEmbedder()
    with open_memory(notes, embedder) as memory:
        report = memory.ingest()
        assert (report.added, report.deleted, report.embedded) == (0, 0, 0), "units keep their ids and vectors"
        assert "fuse" in memory.search("kiln Vesuvius", max_results=1).results[0].snippet
        assert [row.name for row in memory.concepts.list(curated=True).rows] == ["Vesuvius"]
        assert [row.object for row in memory.facts.query(subject="Mira", predicate="drinks").rows] == ["tea"]
        [row] = [row for row in memory.usage.rows() if row.useful]
        assert row.path == "MEMORY.md"
