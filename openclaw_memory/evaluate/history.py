"""Keep the counts of evaluations in the state: no question and no text."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date
from hashlib import blake2b
from typing import Any

from ..config.settings import Settings
from ..model import EvaluationRun
from ..store.state import State

#: Name of the runs in the state.
_NAME = "evaluations"


def settings_hash(settings: Settings) -> str:
    """Return a hash of the settings that decide answers."""
    parts = [asdict(part) for part in (settings.search, settings.context, settings.embedding, settings.ingest)]
    return blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=4).hexdigest()


def last_run(state: State, settings: Settings) -> EvaluationRun | None:
    """Return the latest run with these ``settings``.  Raises :class:`~openclaw_memory.store.state.StateError`."""
    key = settings_hash(settings)
    runs = (row for row in reversed(state.flag(_NAME) or []) if row["settings"] == key)
    return next((EvaluationRun(**{**row, "day": date.fromisoformat(row["day"])}) for row in runs), None)


def add_run(state: State, run: EvaluationRun) -> None:
    """Add a run.  Raises as :meth:`~openclaw_memory.store.state.State.writing`."""
    row: dict[str, Any] = {**asdict(run), "day": run.day.isoformat()}
    state.change_flag(_NAME, lambda rows: [*(rows or []), row][-100:], lasting=False)
