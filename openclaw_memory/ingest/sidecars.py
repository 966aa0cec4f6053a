"""Take over ``concepts.yaml`` and ``facts.yaml`` when they change: files of the workspace that are no notes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import OpenClawMemoryError
from ..knowledge import CONCEPTS, FACTS
from ..plugins.manager import Plugins
from ..store.api import CuratedRow, OntologyRows, StatedFact, Store, WorkspaceFile
from ..system import atomic
from .scan import describe_defect, describe_error


def sync(workspace: Path, store: Store, plugins: Plugins, forgotten: Callable[[StatedFact], bool]) -> Mapping[str, str]:
    """Take over the files that changed; return the fault of each that cannot be read, whose old content stays."""
    takes: dict[str, Callable[[], object]] = {
        CONCEPTS: lambda: take_concepts(workspace, store, partial(plugins.redact_text, CONCEPTS)),
        FACTS: lambda: take_facts(workspace, store, partial(plugins.redact_text, FACTS), forgotten),
    }
    broken = {}
    for name, take in takes.items():
        try:
            if not _is_unchanged(workspace / name, store.workspace_file(name)):
                take()
        except OpenClawMemoryError as problem:
            broken[name] = _reason(workspace / name, problem)
        except OSError as error:
            broken[name] = f"cannot be read now: {describe_error(error)}"
        except Exception as error:  # a broken sidecar must not keep the notes from being read
            broken[name] = describe_defect(error)
    return broken


def take_facts(workspace: Path, store: Store, *given: Any) -> None:
    """Put the stated facts of the workspace into the store."""
    from ..knowledge.facts_file import take_over

    take_over(workspace, store, *given)


def _is_unchanged(path: Path, before: WorkspaceFile | None) -> bool:
    try:
        atomic.check_regular(path)
        now = path.stat()
    except FileNotFoundError:
        return before is None or before.mtime_ns == 0
    return before is not None and (before.size, before.mtime_ns) == (now.st_size, now.st_mtime_ns)


def _reason(path: Path, problem: OpenClawMemoryError) -> str:
    """Return the message of the problem without the path, which stands beside it."""
    return str(problem).removeprefix(f"{path}: ").removeprefix(f"{path}, ")


def file_state(workspace: Path, name: str) -> WorkspaceFile:
    """Return the size, time and hash of a file as it is now; a missing file has size and time 0."""
    try:
        status = (workspace / name).stat()
        content = atomic.read_bytes(workspace / name)
    except FileNotFoundError:
        return WorkspaceFile(name, 0, 0, "")
    return WorkspaceFile(name, status.st_size, status.st_mtime_ns, hashlib.sha256(content).hexdigest())


def take_concepts(workspace: Path, store: Store, redact: atomic.Redact) -> int:
    """Put the curated concepts of the workspace into the store; return the number of references that changed.

    Names that ``redact`` would change stay out.  Raises
    :class:`~openclaw_memory.knowledge.concepts_file.OntologyError` when the file is not valid.
    """
    from ..knowledge import linking
    from ..knowledge.concepts_file import read

    atomic.check_regular(workspace / CONCEPTS)
    file = file_state(workspace, CONCEPTS)
    rows = read(workspace / CONCEPTS, redact).rows(0)
    changed = _changed(store.ontology(), rows)
    matcher = linking.curated_matcher(rows, changed)
    return store.put_ontology(file, rows, sorted(changed), lambda texts: linking.curated_links(matcher, texts))


def _changed(old: OntologyRows, new: OntologyRows) -> set[int]:
    """Return the keys of the concepts whose names differ."""

    def names(row: CuratedRow) -> tuple[str, ...]:
        return row.name, *row.aliases

    before = {row.key: names(row) for row in old.concepts}
    after = {row.key: names(row) for row in new.concepts}
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
