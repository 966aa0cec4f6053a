"""Small indexes for tests: notes written through the real store, as ingest writes them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.ingest.notes import analyse_unit
from openclaw_memory.model import Grain, Kind, Origin, Section, SourceFile, Unit
from openclaw_memory.store.api import DocumentChange, PlannedUnit, VectorModel
from openclaw_memory.store.duckdb.store import DuckStore
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.text import analysis

ROOT = Path(__file__).parent.parent


#: The URL of the server that holds the stores of a test and of its children; empty, they are files.
SERVER = [os.environ["TEST_STORE_URL"]] if "TEST_STORE_URL" in os.environ else []

#: The stores that were opened and are there still.
STORES: weakref.WeakSet[Any] = weakref.WeakSet()


def open_store(path: Path, extraction: str = "", idle: float = 5.0, **settings: Any) -> Any:
    """A store that keeps its file open between calls unless told otherwise; or the memory of that name on a server."""
    given: dict[str, Any] = {"lock_timeout": 10.0, **settings}
    common = StoreSettings(**given), analysis.terms, extraction
    if SERVER:
        return closed_later(PostgresStore(SERVER[0], "main", str(path), *common))
    return closed_later(DuckStore(path, *common, idle=idle))


def closed_later(store: Any) -> Any:
    """A store that is closed at the end of the test, in ``tests/store``."""
    STORES.add(store)
    return store


def source(path: str, text: str = "", **fields: Any) -> SourceFile:
    """A file as a scan finds it."""
    given: dict[str, Any] = {"mtime_ns": 1_700_000_000_000_000_000, "kind": Kind.NOTE, "grain": Grain.WORKING, **fields}
    return SourceFile(path, f"/workspace/{path}", len(text), origin=Origin.AGENT, **given)


def note(path: str, sections: Sequence[Sequence[str]], **fields: Any) -> DocumentChange:
    """A new file: a unit a line, an empty line between sections."""
    cut: list[Section] = []
    units: list[PlannedUnit] = []
    seen: Counter[int] = Counter()
    line = 1
    for at, texts in enumerate(sections):
        made = [Unit(text, line + i, line + i) for i, text in enumerate(texts)]
        cut.append(
            Section(
                f"Section {at}", line, line + len(texts) - 1, date(2024, 5, 1 + at), "name", tuple(made), tuple(texts)
            )
        )
        units += [analyse_unit(PlannedUnit(unit, at), seen) for unit in made]
        line += len(texts) + 1
    text = "\n\n".join("\n".join(texts) for texts in sections)
    return DocumentChange(source(path, text, **fields), hashlib.sha256(text.encode()).hexdigest(), {}, cut, units)


def put(store: DuckStore, notes: Mapping[str, Sequence[Sequence[str]]], **fields: Any) -> None:
    """Write new or changed files in one transaction; units that stay keep their ids."""
    documents = store.documents()
    changes = []
    for path, sections in notes.items():
        change = note(path, sections, **fields)
        row = documents.by_path.get(path)
        changes.append(replace(change, replaces=row.id if row else None))
    store.apply(changes, documents.version)


def drop(store: DuckStore, *paths: str) -> None:
    """Remove files."""
    documents = store.documents()
    store.remove([documents.by_path[path].id for path in paths], documents.version)


def texts_of(store: DuckStore) -> dict[int, str]:
    """Text of every unit by id, read from the lines of its section."""
    rows = store.unit_rows(None)
    sections = store.section_texts(rows.section_id.tolist())
    texts = {}
    for at, unit_id in enumerate(rows.unit_id.tolist()):
        section = sections[int(rows.section_id[at])]
        first, last = int(rows.start_line[at]), int(rows.end_line[at])
        texts[unit_id] = "\n".join(section.lines[first - section.start_line : last - section.start_line + 1])
    return texts


def embed(store: DuckStore, embedder: Any) -> VectorModel:
    """Give every unit a vector."""
    model = VectorModel(embedder.model, embedder.dimensions)
    while waiting := store.pending(model, 4096):
        store.put_vectors(model, [p.unit_id for p in waiting], embedder.embed_documents([p.text for p in waiting]))
    return model


def unit_vectors(n: int, dimensions: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    """``n`` directions, ``float32[n, d]``."""
    rows = np.random.default_rng(seed).standard_normal((n, dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A child process that runs ``code`` with the tests' modules at hand."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_MEMORY_")}
    if SERVER:
        environment["TEST_STORE_URL"] = SERVER[0]
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options,
    )  # fmt: skip


@contextmanager
def without_root() -> Iterator[None]:
    """Permissions do not stop root, so root looks as nobody for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
