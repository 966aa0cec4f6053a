"""Taking an index and a state from one store to another: what cannot be made again from the notes, and vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from ..errors import StoreError, WorkspaceError
from ..model import IngestReport, MigrationReport, Progress, joined, silent
from ..store.api import Ints, Store, VectorIndex, VectorModel
from ..store.state import State
from ..store.state import rows as state_rows

#: Units whose vectors are written in one transaction.
_BATCH = 2_000

#: A unit in any store: path, hash of its text, how often that text came before in the file.
Name = tuple[str, int, int]


def migrated(
    source: tuple[Store, State],
    target: tuple[Store, State],
    replacing: bool,
    progress: Progress,
    read: Callable[[], IngestReport],
    model: VectorModel | None,
) -> MigrationReport:
    """Copy the state and its keys, have ``target`` ``read`` the notes, copy the vectors of ``model``, and compare.

    Each step may be done again, so a run that was cut short is finished by another one.  Raises
    :class:`StoreError` where both are the same store, :class:`WorkspaceError` where ``target`` has another state and
    not ``replacing``.
    """
    started = time.monotonic()
    (there, known), (here, new) = source, target
    names = there.statistics().path, here.statistics().path
    if names[0] == names[1]:
        raise StoreError(f"{names[0]}: is the store to go from and the one to go to; name two")
    rows = _state(known, new, replacing)
    if (choice := there.model_choice()) is not None:
        here.put_model_choice(choice)
    report = read()
    copied, ours, theirs, both, pending = 0, "", "", 0, report.pending
    if model is not None:
        copied = copy_vectors(there, here, model, progress)
        theirs, ours, both = digests(there, here, model)
        states = here.vector_states(model)
        pending = states.pending + states.outdated
    warnings = [report.warning] if report.warning else []
    if not both and report.chunks:
        warnings.append(f"{names[0]}: has no vectors of these notes, so the next ingest embeds all of them")
    digest = state_rows.digest(state_rows.all_of(new.read))
    return MigrationReport(
        source=names[0], target=names[1], files=report.files, units=report.chunks,
        rows=sum(map(len, rows.values())), keys=len(new.keys()), vectors=copied, same_vectors=both, pending=pending,
        state_digest=digest, vectors_digest=ours, verified=ours == theirs and digest == state_rows.digest(rows),
        seconds=time.monotonic() - started, warning=joined(warnings),
    )  # fmt: skip


def _state(known: State, new: State, replacing: bool) -> state_rows.Rows:
    """Copy the state, unless it is the same already; what is there now."""
    known.check()
    rows, there = state_rows.all_of(known.read), state_rows.all_of(new.read)
    for key in known.keys().values():
        new.add_key(key)
    if state_rows.digest(rows) == state_rows.digest(there):
        return rows
    if any(there.values()) and not replacing:
        raise WorkspaceError(
            "the target has a state of this workspace already, and it is another one; look at it with "
            "'openclaw-memory state', and replace it with --replace"
        )
    new.replace(rows)
    return rows


def copy_vectors(source: Store, target: Store, model: VectorModel, progress: Progress = silent) -> int:
    """Give units of ``target`` without a vector of ``model`` that of the same unit in ``source``; how many.

    Stopped in between it goes on where it was.  Both keep 16 bits a number, so nothing is lost.
    """
    with source.session():
        theirs, have = _vectors(source, model)
        with target.session():
            ours, index = _vectors(target, model)
            ids = np.fromiter(ours.values(), np.int32, len(ours))
            missing = dict(zip(ids.tolist(), ~index.has(ids), strict=True))
        wanted = [(ours[name], theirs[name]) for name in ours if missing[ours[name]] and name in theirs]
        there = have.has(np.array([unit for _, unit in wanted], np.int32))
        wanted = [pair for pair, has in zip(wanted, there.tolist(), strict=True) if has]
        for at in range(0, len(wanted), _BATCH):
            batch = wanted[at : at + _BATCH]
            vectors = have.vectors(np.array([unit for _, unit in batch], np.int32))
            target.put_vectors(model, [unit for unit, _ in batch], vectors)
            progress("copy", at + len(batch), len(wanted))
        noise = source.noise(model)
    if noise is not None and target.noise(model) is None:
        target.put_noise(model, noise)
    return len(wanted)


def digests(source: Store, target: Store, model: VectorModel) -> tuple[str, str, int]:
    """What the vectors of the units that both stores have add up to in each: 32 hexadecimal digits; and how many."""
    with source.session(), target.session():
        (ours, one), (theirs, other) = _vectors(source, model), _vectors(target, model)
        both = sorted(ours.keys() & theirs.keys())
        both = [name for name, has in zip(both, one.has(_ids(ours, both)).tolist(), strict=True) if has]
        return _digest(ours, one, both), _digest(theirs, other, both), len(both)


def _vectors(store: Store, model: VectorModel) -> tuple[dict[Name, int], VectorIndex]:
    """The ids of all units by their names, and their vectors; the caller holds a session."""
    paths = {info.id: info.path for info in store.document_infos()}
    rows = store.unit_rows(None)
    units = {
        (paths[document], hash_, occurrence): unit
        for document, hash_, occurrence, unit in zip(
            rows.document_id.tolist(), rows.hash.tolist(), rows.occurrence.tolist(), rows.unit_id.tolist(), strict=True
        )
    }
    index = store.vector_index(model)
    index.refresh()
    return units, index


def _ids(units: dict[Name, int], names: list[Name]) -> Ints:
    return np.array([units[name] for name in names], np.int32)


def _digest(units: dict[Name, int], index: VectorIndex, names: list[Name]) -> str:
    made = blake2b(digest_size=16)
    for at in range(0, len(names), _BATCH):
        batch = names[at : at + _BATCH]
        ids = _ids(units, batch)
        has = index.has(ids)
        made.update(repr(batch).encode("utf-8", "surrogatepass") + has.tobytes())
        made.update(index.vectors(ids[has]).astype(np.float16).tobytes())
    return made.hexdigest()
