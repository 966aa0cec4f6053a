"""``status`` and ``doctor``: contents of the memory, and its problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..errors import substitute_command
from ..ingest.scan import scan
from ..model import Check, Grain, ScanResult, Status, counted
from ..system.serialize import to_json
from .context import CliContext, common_options, say
from .evaluate import describe_run

if TYPE_CHECKING:
    from ..memory import Memory


@click.command()
@click.option("--verbose", "-v", is_flag=True, help="Show the inside too, by the names of --json.")
@common_options
def status(cli: CliContext, verbose: bool) -> None:
    """Show what is remembered and since when, what is not read and why, the model, and what to do next."""
    cli.noted = None
    with cli.memory() as memory:
        scanned = scan(memory.workspace, memory.settings.ingest)
        state = memory.status(scanned)
        checks = [] if cli.json else status_checks(memory, state, scanned)
    cli.answer(state, _show, checks, verbose)


def _show(cli: CliContext, state: Status, checks: Sequence[Check], verbose: bool) -> None:
    for check in checks:
        cli.show_check(check)
    if verbose:
        say("")
        _show_inside(cli, state)
    for plugin, failure in state.plugin_failures.items():
        cli.remark(f"plugin {plugin} failed: {failure}")
    cli.remark(state.fallback)
    cli.remark(state.warning)
    steps = [check.fix for check in checks if check.fix and not check.ok]
    say(substitute_command(f"next: {steps[0].removeprefix('run: ') if steps else 'openclaw-memory search QUESTION'}"))


def status_checks(memory: Memory, state: Status, scanned: ScanResult) -> list[Check]:
    """Return the state as checks in the order of ``doctor``; opens no note and proves no model."""
    from .checks import find_changed_notes, freshness, unread_files, vectors

    knows = [name.title() for name, share in state.model_knows.items() if share >= 0.5]
    languages = f", knows {', '.join(knows)}" if knows else ""
    if state.model:
        model = Check("model", True, f"{state.model} by {state.binding or state.provider}{languages}")
    else:
        unwanted = memory.settings.embedding.model.strip().lower() in ("none", "")
        model = Check("model", unwanted, "none: searching by keywords")  # the fallback below names the reason
    grains = [grain for grain in state.grains if grain.files]
    days = [day for grain in grains for day in (grain.first, grain.last) if day is not None]
    since = f", from {min(days)} to {max(days)}" if days else ""
    written = [f"{use.files} {use.grain.value}" for use in grains if use.grain is not Grain.WORKING]
    summaries = f"; summaries: {', '.join(written)}" if written else ""
    notes = f"{state.workspace}: {counted(state.files, 'file')}, {counted(state.chunks, 'unit')}{since}{summaries}"
    checks = [model, Check("notes", True, notes)]
    if state.private_lines:
        held = f"{counted(state.private_lines, 'line')} in {counted(state.private_files, 'file')}"
        checks.append(Check("private", True, f"{held} kept out of the memory"))
    checks += unread_files(state.unread_front_matter, state.skipped)
    documents = memory.store.documents()
    checks += freshness(documents, scanned, find_changed_notes(memory, scanned, documents))
    if state.evaluation is not None:
        checks.append(Check("answers", True, f"your memory {describe_run(state.evaluation)}"))
    if state.conflicts:
        detail = f"{counted(state.conflicts, 'contradiction')} among the facts"
        checks.append(Check("facts", True, detail, "openclaw-memory conflicts", remark=True))
    if state.embedding:
        ready, all_units = state.vectors["ready"], sum(state.vectors.values())
        share = f"{ready} of {counted(all_units, 'unit')} ({ready / max(1, all_units):.0%})"
        checks.append(Check("ingest", True, f"running, {share} embedded", remark=True))
    elif state.model and not (embedded := vectors(state.vectors)).ok:
        checks.append(embedded)
    return checks


def _show_inside(cli: CliContext, state: Status) -> None:
    """Print what ``--json`` has beside problems, a line per field, and the grains as a table."""
    for name, value in to_json(replace(state, skipped=(), grains=(), fallback=None, warning=None)).items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {number}" for key, number in value.items())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value not in (None, ""):
            say(f"{name:<17} {value}")
    if any(use.grain is not Grain.WORKING for use in state.grains):
        cells = (
            (use.grain.value, str(use.files), str(use.units), str(use.archived), str(use.hidden),
             f"{use.bytes / 1000:.1f}", str(use.first or ""), str(use.last or ""))
            for use in state.grains
        )  # fmt: skip
        numbers = ("files", "units", "archived", "hidden", "kB")
        cli.table(cells, "grain", *numbers, "from", "to", right=numbers)


@click.command()
@common_options
def doctor(cli: CliContext) -> None:
    """Look for what is wrong and say how to mend it; exits 1 when something is.

    A note is worth knowing and breaks nothing.  Neither the notes nor the index are changed.
    """
    from .checks import examine

    cli.noted = None
    with cli.memory() as memory:
        checks = examine(memory)
    healthy = all(check.ok for check in checks)
    if cli.json:
        cli.emit({"ok": healthy, "checks": checks})
    else:
        for check in checks:
            cli.show_check(check)
    if not healthy:
        raise SystemExit(1)
