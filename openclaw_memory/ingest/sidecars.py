"""Files of the workspace that are no notes: ``concepts.yaml`` and ``facts.yaml`` are taken over when they change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from ..errors import OpenClawMemoryError
from ..knowledge import linking
from ..knowledge.concepts_file import FILE_NAME, read
from ..knowledge.facts_file import NAME as FACTS
from ..knowledge.facts_file import take_over as take_facts
from ..model import SkippedFile
from ..plugins.manager import Plugins
from ..store.api import CuratedRow, OntologyRows, StatedFact, Store, WorkspaceFile
from ..system import atomic
from .reading import reason_of

#: The files of a workspace that are read here.
NAMES = (FILE_NAME, FACTS)


def sync(workspace: Path, store: Store, plugins: Plugins, forgotten: Callable[[StatedFact], bool]) -> list[SkippedFile]:
    """Take over what changed; a file that cannot be read is named, and what it held before stays."""

    def take_curated(workspace: Path, store: Store) -> int:
        return take_concepts(workspace, store, lambda text: plugins.redacted(FILE_NAME, text))

    def take_stated(workspace: Path, store: Store) -> object:
        return take_facts(workspace, store, lambda text: plugins.redacted(FACTS, text), forgotten)

    skipped = []
    takes: tuple[Callable[[Path, Store], object], ...] = (take_curated, take_stated)
    for name, take in zip(NAMES, takes, strict=True):
        if (problem := _synced(workspace, store, name, take)) is not None:
            skipped.append(problem)
    return skipped


def _synced(workspace: Path, store: Store, name: str, take: Callable[[Path, Store], object]) -> SkippedFile | None:
    known = store.workspace_file(name)
    path = workspace / name
    try:
        atomic.check(path)
        now = path.stat()
        if known is not None and (known.size, known.mtime_ns) == (now.st_size, now.st_mtime_ns):
            return None
    except FileNotFoundError:
        if known is None or known.mtime_ns == 0:
            return None
    except OpenClawMemoryError as problem:
        return SkippedFile(name, _reason(path, problem))
    except OSError as error:
        return SkippedFile(name, f"cannot be read now: {reason_of(error)}")
    try:
        take(workspace, store)
    except OpenClawMemoryError as problem:
        return SkippedFile(name, _reason(path, problem))
    except OSError as error:
        return SkippedFile(name, f"cannot be read now: {reason_of(error)}")
    return None


def _reason(path: Path, problem: OpenClawMemoryError) -> str:
    """What the problem is, without the path, which stands beside it."""
    return str(problem).removeprefix(f"{path}: ").removeprefix(f"{path}, ")


def stamp(workspace: Path, name: str) -> WorkspaceFile:
    """Identity of a file as it is now; one that is not there has size and time 0."""
    try:
        found = (workspace / name).stat()
        content = (workspace / name).read_bytes()
    except FileNotFoundError:
        return WorkspaceFile(name, 0, 0, "")
    return WorkspaceFile(name, found.st_size, found.st_mtime_ns, hashlib.sha256(content).hexdigest())


def take_concepts(workspace: Path, store: Store, redact: atomic.Redact) -> int:
    """Put the curated concepts of the workspace into the store; returns how many references that changed.

    Names that ``redact`` would change stay out.  Raises
    :class:`~openclaw_memory.knowledge.concepts_file.OntologyError` when the file is not valid.
    """
    atomic.check(workspace / FILE_NAME)
    file = stamp(workspace, FILE_NAME)
    rows = read(workspace / FILE_NAME, redact).rows(0)
    changed = _changed(store.ontology(), rows)
    matcher = linking.matcher_of(rows, changed)
    return store.put_ontology(file, rows, sorted(changed), lambda texts: linking.links(matcher, texts))


def _changed(old: OntologyRows, new: OntologyRows) -> set[int]:
    """Keys of the concepts whose names differ."""

    def names(row: CuratedRow) -> tuple[str, ...]:
        return row.name, *row.aliases

    before = {row.key: names(row) for row in old.concepts}
    after = {row.key: names(row) for row in new.concepts}
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
