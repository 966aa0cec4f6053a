"""Map of a memory: collect its data, and write them as one HTML file that only its owner can read.

Data, style and scripts are in that file; no text of a note can run as script or markup in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..config.workspace import expand_home
from ..errors import WorkspaceError, writing
from ..facts.service import FactService
from ..hookspecs import MemoryApi
from ..model import MAP_SUFFIX, Grain, Kind, MapReport, Progress, joined, silent
from ..model.embedder import Embedder
from ..search.service import SearchService
from ..store.api import Store, VectorModel
from ..summarise.inventory import DayNote
from ..system import atomic
from ..system.sanitize import sanitize_values
from ..use.tracker import Usage
from ..version import __version__
from . import data as columns
from .data import ordinal
from .layout import place_texts

#: Beginning of the file; a file without it is not ours to replace.
MARK = "<!doctype html>\n<!-- openclaw-memory map -->"
_STEPS = 6
#: Our scripts in the order in which they run; the drawing library comes before them.
SCRIPTS = tuple(f"{name}.js" for name in "core panel canvas network timeline space facts numbers main".split())


def draw(
    memory: MemoryApi,
    store: Store,
    questions: SearchService,
    facts: FactService,
    usage: Usage,
    vectors: Callable[[], tuple[Embedder | None, VectorModel | None, str | None]],
    retired: Callable[[], Iterable[DayNote]],
    file: str | Path | None = None,
    progress: Progress = silent,
) -> MapReport:
    """Draw the map of ``memory``; see :meth:`openclaw_memory.memory.Memory.map`."""
    started = time.monotonic()
    forgotten = usage.forget_version()
    target = _target(store, file)
    remarks: list[str] = []
    progress("map", 0, _STEPS)
    status = memory.status()
    _, model, fallback = vectors()  # before the store is held: it may load the model
    progress("map", 1, _STEPS)
    rows = facts.query(history=True, explain=True).rows
    with questions.graph(remarks=remarks) as view:
        index = None if model is None else questions.vectors(model)
        scope = columns.select_scope(view)
        progress("map", 2, _STEPS)
        unit_ids = view.corpus.rows.unit_id
        redacted = columns.count_redacted(store, unit_ids, scope.rows)
        decisions = columns.decided_rows(view, rows)
        progress("map", 3, _STEPS)
        shown = columns.select_lines(view, scope, columns.fact_sources(view, rows), decisions)
        plane = place_texts(index, unit_ids[shown])
        lines = columns.line_columns(view, store, shown, scope, decisions, plane)
        progress("map", 4, _STEPS)
        data: dict[str, Any] = {
            "lines": lines,
            "network": columns.network_columns(view, scope),
            "days": columns.day_columns(view, scope, decisions),
            "summaries": columns.summary_rows(view, store),
            "facts": columns.fact_rows(view, rows, scope.concepts),
            "conflicts": columns.conflict_rows(facts.conflicts(fresh=False).conflicts),
        }
        totals = {"lines": int(scope.rows.sum()), "concepts": len(scope.concepts), "facts": len(rows)}
    progress("map", 5, _STEPS)
    fallback = (fallback or "no line has a vector yet; run: openclaw-memory ingest") if np.isnan(plane).all() else None
    data |= {
        "made": {
            "version": __version__,
            "at": datetime.now(UTC).astimezone().isoformat(timespec="minutes"),
            "day": date.today().toordinal(),
            "workspace": memory.workspace.name or str(memory.workspace),
            "agent": memory.agent,
        },
        "kinds": [kind.value for kind in Kind],
        "grains": [grain.value for grain in Grain],
        "totals": totals,
        "space": {"model": None if model is None else model.name, "why": fallback},
        "retired": sorted((ordinal(note.day), note.path) for note in retired()),
        "numbers": {
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
                asdict(use) | {"grain": use.grain.value, "first": ordinal(use.first), "last": ordinal(use.last)}
                for use in status.grains
            ],
            "used": columns.most_used(usage.rows()),
        },
    }
    size = _write(target, render_page(data))
    if usage.forget_version() != forgotten:  # who forgets after this deletes the file after this
        atomic.remove(target)
        raise WorkspaceError("something was forgotten while the map was drawn, so it was deleted; draw it again")
    progress("map", _STEPS, _STEPS)
    return MapReport(
        file=str(target),
        bytes=size,
        lines=lines["repeats"].count(0),
        total_lines=totals["lines"],
        concepts=len(data["network"]["name"]),
        total_concepts=totals["concepts"],
        facts=len(data["facts"]),
        seconds=time.monotonic() - started,
        fallback=fallback,
        warning=joined(remarks),
    )


def _target(store: Store, file: str | Path | None) -> Path:
    """Return the file to write.  Raises :class:`WorkspaceError` for an existing file that is no map."""
    path = store.sidecar(MAP_SUFFIX) if file is None else expand_home(file).absolute()
    if path is None:
        raise WorkspaceError("the index is no local file, so no place for a map follows from it; name one with --out")
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    atomic.check_regular(target)
    if target.exists():
        with target.open("rb") as old:
            if old.read(len(MARK)) != MARK.encode("ascii"):
                raise WorkspaceError(f"{target}: is there and is no map; choose another file with --out")
    return target


def _write(target: Path, text: str) -> int:
    """Write the page for its owner alone; return its size in bytes."""
    data = text.encode("utf-8")
    with writing(target, WorkspaceError, "choose another file with --out"):
        if target.exists():
            target.chmod(0o600)
        atomic.write_bytes(target, data, 0o600)
    return len(data)


# -- the page ------------------------------------------------------------------------------------------


def render_page(data: Mapping[str, Any]) -> str:
    """Render the whole file from JSON ``data``, without invisible characters in its texts.

    The policy of the page lets only the scripts and the style run whose hashes it names, forbids every connection, and
    forbids scripts to make markup from text.
    """
    style, library, script = read_asset("style.css"), read_asset("d3.min.js"), "\n".join(map(read_asset, SCRIPTS))
    policy = (
        f"default-src 'none'; script-src {policy_hash(library)} {policy_hash(script)}; style-src {policy_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    parts = {"policy": policy, "style": style, "library": library, "script": script}
    parts |= {"licence": read_asset("d3.LICENSE.txt"), "data": embed_json(data)}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read_asset("page.html"))


def embed_json(data: Mapping[str, Any]) -> str:
    """Return JSON for an element of a page: without characters that have a meaning in HTML."""
    text = json.dumps(sanitize_values(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # These end an element, begin a comment, or end a line in an old script.
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)


def read_asset(name: str) -> str:
    """Return a file of the page from the package."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """Return the source of a policy that lets exactly this text run."""
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
