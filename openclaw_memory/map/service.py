"""Drawing a memory: what is in it is collected, and written as one HTML file that only its owner can read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..config.workspace import expanded
from ..errors import WorkspaceError
from ..hookspecs import MemoryApi
from ..model import FactRow, Grain, Kind, MapReport, Progress, Status, joined, silent
from ..model.map import BESIDE
from ..store.api import Bools, Floats, Ints, Store
from ..system import atomic
from ..text.dates import date_in_name
from ..version import __version__
from . import choice, collect
from .page import page

if TYPE_CHECKING:
    from ..facts.service import FactBook
    from ..graph.view import GraphView
    from ..model.embedder import Embedder
    from ..search.service import Questions
    from ..store.api import VectorIndex, VectorModel
    from ..summarise.retired import DayNote
    from ..use.tracker import Usage

#: How the file begins, by which an older map is told from a file that is not ours to replace.
MARK = "<!doctype html>\n<!-- openclaw-memory map -->"
_STEPS = 6


class Drawn(MemoryApi, Protocol):
    """The memory, as far as it is drawn."""

    facts: FactBook
    usage: Usage

    @property
    def store(self) -> Store: ...
    def vectors_in_use(self) -> tuple[Embedder | None, VectorModel | None, str | None]: ...


def draw(
    memory: Drawn,
    questions: Questions,
    retired: Callable[[], Iterable[DayNote]],
    file: str | Path | None = None,
    *,
    concept: str | None = None,
    since: date | None = None,
    progress: Progress = silent,
) -> MapReport:
    """See :meth:`openclaw_memory.memory.Memory.map`."""
    started = time.monotonic()
    as_of = memory.usage.forgot()
    target = _target(memory.store, file)
    remarks: list[str] = []
    progress("map", 0, _STEPS)
    status = memory.status()
    _, model, fallback = memory.vectors_in_use()  # before the store is held: it may load the model
    progress("map", 1, _STEPS)
    rows = memory.facts.query(history=True, explain=True).rows
    with questions.graph(remarks=remarks) as view:
        index = None if model is None else questions.vectors(model)
        within = choice.scope(view, concept, since)
        known = [row for row in rows if _concerns(row, view, concept, since)]
        progress("map", 2, _STEPS)
        told = collect.said(memory.store, view.corpus.rows.unit_id, within.rows)
        progress("map", 3, _STEPS)
        plane, kept = _plane(view, index, within.rows)
        sources = collect.sources_of(view, known)
        shown = choice.readable(view, within, sources, told.decided)
        lines = collect.lines(view, memory.store, shown, within, told.decided, plane)
        progress("map", 4, _STEPS)
        network = collect.network(view, within)
        data: dict[str, Any] = {
            "lines": lines,
            "network": network,
            "days": collect.days(view, within, told.decided),
            "summaries": collect.summaries(view, memory.store, since),
            "facts": collect.facts(view, known, within.concepts),
            "density": collect.density(plane, within.rows),
        }
        totals = {"lines": int(within.rows.sum()), "concepts": len(within.concepts), "facts": len(known)}
    progress("map", 5, _STEPS)
    if index is None or not data["density"]:
        kept, fallback = None, fallback or "no line has a vector yet; run: openclaw-memory ingest"
    data |= {
        "made": {
            "version": __version__,
            "at": datetime.now(UTC).astimezone().isoformat(timespec="minutes"),
            "day": date.today().toordinal(),
            "workspace": memory.workspace.name or str(memory.workspace),
            "agent": memory.agent,
            "concept": concept,
            "since": None if since is None else since.toordinal(),
        },
        "kinds": [kind.value for kind in Kind],
        "grains": [grain.value for grain in Grain],
        "totals": totals,
        "space": {"model": None if model is None else model.name, "kept": kept, "why": None if kept else fallback},
        "retired": sorted(
            [_day(note.path), note.path] for note in retired() if since is None or _day(note.path) >= since.toordinal()
        ),
        "numbers": _numbers(status, told.redacted) | {"used": collect.used(memory.usage.rows())},
    }
    text = page(data)
    size = _write(target, text)
    if memory.usage.forgot() != as_of:  # who forgets after this deletes the file after this
        atomic.remove(target)
        raise WorkspaceError("something was forgotten while the map was drawn, so it was deleted; draw it again")
    progress("map", _STEPS, _STEPS)
    return MapReport(
        file=str(target),
        bytes=size,
        lines=lines["repeats"].count(0),
        total_lines=totals["lines"],
        concepts=len(network["name"]),
        total_concepts=totals["concepts"],
        facts=len(data["facts"]),
        projected=None if kept is None else round(kept, 4),
        seconds=time.monotonic() - started,
        fallback=None if kept is not None else fallback,
        warning=joined(remarks),
    )


def _target(store: Store, file: str | Path | None) -> Path:
    """Where the map goes.  Raises :class:`WorkspaceError` for a file that is there and is no map."""
    found = store.beside(BESIDE) if file is None else expanded(file).absolute()
    if found is None:
        raise WorkspaceError("the index is no local file, so no place for a map follows from it; name one with --out")
    target = Path(os.path.realpath(found)) if found.is_symlink() else found
    atomic.check(target)
    if target.exists():
        with target.open("rb") as there:
            if there.read(len(MARK)) != MARK.encode("ascii"):
                raise WorkspaceError(f"{target}: is there and is no map; choose another file with --out")
    return target


def _write(target: Path, text: str) -> int:
    """Put the page there, for its owner's eyes only; its size in bytes."""
    data = text.encode("utf-8")
    try:
        if target.exists():
            target.chmod(0o600)
        atomic.swap(target, data, 0o600)
    except OSError as error:
        why = error.strerror or error
        raise WorkspaceError(f"{target}: cannot be written ({why}); choose another file with --out") from error
    return len(data)


def _concerns(row: FactRow, view: GraphView, concept: str | None, since: date | None) -> bool:
    """Whether a fact is about the concept, and began, ended or was written down on the day or later."""
    if concept is not None:
        about = view.concept(concept)
        if about not in (view.index.named(row.subject), view.index.named(row.object)):
            return False
    days = [str(day)[:10] for day in (row.valid_from, row.valid_to, row.recorded_at) if day is not None]
    return since is None or max(days, default="") >= since.isoformat()


def _plane(view: GraphView, index: VectorIndex | None, rows: Bools) -> tuple[NDArray[np.float64], float | None]:
    """Places of all rows in ``[0, 1]``, ``float64[n, 2]``, NaN without one, and the share of the variance."""
    out = np.full((len(rows), 2), np.nan)
    if index is None:
        return out, None
    at = np.flatnonzero(rows)
    found, kept = spread(index, view.corpus.rows.unit_id[at])
    known = ~np.isnan(found[:, 0])
    if not known.any():
        return out, None
    # A few lines lie far out: the rest fills the page, and these stand at its border.
    low, high = np.quantile(found[known], [0.001, 0.999], axis=0)
    out[at[known]] = ((found[known] - low) / np.maximum(high - low, 1e-9)).clip(0, 1)
    return out, kept


def _day(path: str) -> int:
    day = date_in_name(path)
    return 0 if day is None else day.toordinal()


def _numbers(status: Status, redacted: dict[str, int]) -> dict[str, Any]:
    def ordinal(day: date | None) -> int:
        return 0 if day is None else day.toordinal()

    return {
        "bytes": status.bytes,
        "files": status.files,
        "sections": status.sections,
        "units": status.chunks,
        "model": status.model,
        "vectors": status.vectors,
        "languages": status.languages,
        "knows": status.model_knows,
        "private": status.private_lines,
        "redacted": redacted,
        "consolidation": status.consolidation,
        "grains": [
            asdict(one) | {"grain": one.grain.value, "first": ordinal(one.first), "last": ordinal(one.last)}
            for one in status.grains
        ],
    }


def spread(
    index: VectorIndex, unit_ids: Ints, sample: int = 6_000, rounds: int = 40
) -> tuple[NDArray[np.float64], float]:
    """Principal components of the units' vectors: ``float64[n, 2]``, NaN without a vector, and what they explain.

    That is the share, from 0 to 1, of the vectors' variance.  Subspace iteration (Halko, Martinsson and Tropp, 2011,
    "Finding structure with randomness") in ``rounds`` over an even ``sample``: more units turn the directions by less
    than is seen.  Every unit is then projected by its cosine with the two directions.
    """
    out = np.full((len(unit_ids), 2), np.nan)
    known = unit_ids[index.has(unit_ids)]
    if len(known) < 3:
        return out, 0.0
    rows: Floats = index.vectors(known[np.unique(np.linspace(0, len(known) - 1, sample).astype(np.int64))])
    rows = rows - rows.mean(axis=0)
    basis = np.random.default_rng(0).standard_normal((rows.shape[1], 6)).astype(np.float32)
    for _ in range(rounds):
        basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
    variance = ((rows @ basis) ** 2).sum(axis=0)
    chosen = np.argsort(-variance)[:2]
    for place, at in enumerate(chosen.tolist()):
        direction = basis[:, at] * np.sign(basis[np.abs(basis[:, at]).argmax(), at])
        out[:, place] = index.similarities(np.ascontiguousarray(direction, np.float32), unit_ids)
    total = float((rows**2).sum())
    return out, float(variance[chosen].sum()) / total if total else 0.0
