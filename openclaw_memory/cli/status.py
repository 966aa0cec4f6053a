"""``status`` and ``doctor``: contents of the memory, and its problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import substitute_command
from .context import CliContext, common_options, say, table

if TYPE_CHECKING:
    from ..memory import Memory
    from ..model import Check, ContextUse, Status


@click.command(short_help="Show what is remembered, what is not, and what to do next.")
@click.option("--verbose", "-v", is_flag=True, help="Show the inside too: files, counts, indexes, plugins.")
@common_options
def status(cli: CliContext, verbose: bool) -> None:
    """Show what is remembered and since when, what is not read and why, the model, and what to do next."""
    cli.noted = None
    with cli.memory() as memory:
        state = memory.status()
        checks = [] if cli.json else status_checks(memory, state)
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


def status_checks(memory: Memory, state: Status) -> list[Check]:
    """Return the state as checks in the order of ``doctor``; opens no note and proves no model."""
    from ..ingest.scan import scan
    from ..model import Check, Grain, counted
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
    with memory.store.session():
        documents = memory.store.documents()
    scanned = scan(memory.workspace, memory.settings.ingest)
    checks += freshness(documents, scanned, find_changed_notes(memory, scanned, documents))
    if state.embedding:
        ready, all_units = state.vectors["ready"], sum(state.vectors.values())
        share = f"{ready} of {counted(all_units, 'unit')} ({ready / max(1, all_units):.0%})"
        checks.append(Check("ingest", True, f"running, {share} embedded", remark=True))
    elif state.model and not (embedded := vectors(state.vectors)).ok:
        checks.append(embedded)
    return checks


def _show_inside(cli: CliContext, state: Status) -> None:
    from ..model import Grain, counted

    sort = f", {state.dimensions} dimensions" if state.dimensions else ""
    extensions = (f"{name} {'installed' if present else 'missing'}" for name, present in state.extensions.items())
    kinds = f" ({_counts(state.by_kind)})" if state.by_kind else ""
    rows: list[tuple[str, Any]] = [
        ("agent", state.agent),
        ("index", f"{state.database} ({state.bytes / 1e6:.1f} MB, schema {state.schema})"),
        ("files", state.files),
        ("units", f"{state.chunks} in {counted(state.sections, 'section')}{kinds}"),
        ("model", f"{state.model or 'none'} ({state.binding or state.provider}{sort})"),
        ("languages", ", ".join(f"{share:.0%} {name}" for name, share in state.languages.items()) or "none"),
        ("vectors", _counts({"of another model" if k == "outdated" else k: v for k, v in state.vectors.items()})),
        ("postings", f"{state.postings} compacted, {state.postings_delta} new"),
        ("indexes", f"keyword {state.keyword_index}, vector {state.vector_index}"),
        ("extensions", ", ".join(extensions)),
        ("plugins", ", ".join(state.plugins) or "none"),
        ("upkeep", state.consolidation),
        ("retention", state.retention),
        ("context", _context_use(state.context)),
    ]
    if state.http_usage:
        rows.append(("http usage", _counts(state.http_usage)))
    for name, value in rows:
        say(f"{name:<11} {value}")
    if any(use.grain is not Grain.WORKING for use in state.grains):
        cells = (
            (use.grain.value, str(use.files), str(use.units), str(use.archived), str(use.hidden),
             f"{use.bytes / 1000:.1f}", str(use.first or ""), str(use.last or ""))
            for use in state.grains
        )  # fmt: skip
        numbers = ("files", "units", "archived", "hidden", "kB")
        cli.out.print(table(cells, "grain", *numbers, "from", "to", right=numbers))


def _context_use(use: ContextUse | None) -> str:
    if use is None or not use.messages:
        return "no message has asked yet"
    usage = f"given to {use.with_context} of {use.messages} messages since {use.since} ({use.share:.0%})"
    return f"{usage}, {use.tokens_per_context:.0f} tokens each, {use.late} late"


def _counts(counts: dict[str, Any]) -> str:
    return ", ".join(f"{value} {name}" for name, value in counts.items())


@click.command(short_help="Look for what is wrong and say how to mend it.")
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
