"""``status`` and ``doctor``: what the memory holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import as_called
from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..memory import Memory
    from ..model import Check, ContextUse, GrainUse, Status


@click.command(short_help="Show what is remembered, what is not, and what to do next.")
@click.option("--verbose", "-v", is_flag=True, help="Show the inside too: files, counts, indexes, plugins.")
@common_options
def status(cli: CliContext, verbose: bool) -> None:
    """Show what is remembered and since when, what is not read and why, the model, and what to do next."""
    cli.noted = None
    with cli.memory() as memory:
        found = memory.status()
        checks = [] if cli.json else standing(memory, found)
    if cli.json:
        cli.emit(found)
        return
    for check in checks:
        cli.show_check(check)
    if verbose:
        say("")
        _show_inside(cli, found)
    for plugin, failure in found.plugin_failures.items():
        cli.remark(f"plugin {plugin} failed: {failure}")
    cli.remark(found.fallback)
    cli.remark(found.warning)
    steps = [check.fix for check in checks if check.fix and not check.ok]
    say(as_called(f"next: {steps[0].removeprefix('run: ') if steps else 'openclaw-memory search QUESTION'}"))


def standing(memory: Memory, found: Status) -> list[Check]:
    """What an owner asks first, as checks in the order of ``doctor``; nothing is changed, and no model is proved."""
    from ..ingest.scan import scan
    from ..model import Check, Grain, counted
    from .checks import freshness, recall_notes, unread_files, vectors

    knows = [name.title() for name, known in found.model_knows.items() if known >= 0.5]
    languages = f", knows {', '.join(knows)}" if knows else ""
    if found.model:
        model = Check("model", True, f"{found.model} by {found.binding or found.provider}{languages}")
    else:
        wanted = memory.settings.embedding.model.strip().lower() in ("none", "")
        model = Check("model", wanted, "none: searching by keywords")  # why is said below
    grains = [one for one in found.grains if one.files]
    days = [day for one in grains for day in (one.first, one.last) if day is not None]
    since = f", from {min(days)} to {max(days)}" if days else ""
    written = [f"{one.files} {one.grain.value}" for one in grains if one.grain is not Grain.WORKING]
    summaries = f"; summaries: {', '.join(written)}" if written else ""
    notes = f"{found.workspace}: {counted(found.files, 'file')}, {counted(found.chunks, 'unit')}{since}{summaries}"
    checks = [model, Check("notes", True, notes)]
    if found.private_lines:
        held = f"{counted(found.private_lines, 'line')} in {counted(found.private_files, 'file')}"
        checks.append(Check("private", True, f"{held} kept out of the memory"))
    checks += unread_files(found.unread_front_matter, found.skipped)
    with memory.store.session():
        documents = memory.store.documents()
    scanned = scan(memory.workspace, memory.settings.ingest)
    checks += freshness(documents, scanned, recall_notes(memory, scanned, documents))
    if found.embedding:
        ready, all_units = found.vectors["ready"], sum(found.vectors.values())
        share = f"{ready} of {counted(all_units, 'unit')} ({ready / max(1, all_units):.0%})"
        checks.append(Check("ingest", True, f"running, {share} embedded", remark=True))
    elif found.model and not (embedded := vectors(found.vectors)).ok:
        checks.append(embedded)
    return checks


def _show_inside(cli: CliContext, found: Status) -> None:
    from ..model import Grain, counted

    sort = f", {found.dimensions} dimensions" if found.dimensions else ""
    here = (f"{name} {'installed' if present else 'missing'}" for name, present in found.extensions.items())
    kinds = f" ({_counts(found.by_kind)})" if found.by_kind else ""
    rows: list[tuple[str, Any]] = [
        ("agent", found.agent),
        ("index", f"{found.database} ({found.bytes / 1e6:.1f} MB, schema {found.schema})"),
        ("files", found.files),
        ("units", f"{found.chunks} in {counted(found.sections, 'section')}{kinds}"),
        ("model", f"{found.model or 'none'} ({found.binding or found.provider}{sort})"),
        ("languages", ", ".join(f"{share:.0%} {name}" for name, share in found.languages.items()) or "none"),
        ("vectors", _counts({"of another model" if k == "outdated" else k: v for k, v in found.vectors.items()})),
        ("postings", f"{found.postings} compacted, {found.postings_delta} new"),
        ("indexes", f"keyword {found.keyword_index}, vector {found.vector_index}"),
        ("extensions", ", ".join(here)),
        ("plugins", ", ".join(found.plugins) or "none"),
        ("upkeep", found.consolidation),
        ("retention", found.retention),
        ("context", _context_use(found.context)),
    ]
    if found.http_usage:
        rows.append(("http usage", _counts(found.http_usage)))
    for name, value in rows:
        say(f"{name:<11} {value}")
    if any(one.grain is not Grain.WORKING for one in found.grains):
        _show_grains(cli, found.grains)


def _show_grains(cli: CliContext, grains: Sequence[GrainUse]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("grain", "files", "units", "archived", "hidden", "kB", "from", "to"):
        table.add_column(name, justify="left" if name in ("grain", "from", "to") else "right")
    for one in grains:
        table.add_row(
            one.grain.value, str(one.files), str(one.units), str(one.archived), str(one.hidden),
            f"{one.bytes / 1000:.1f}", str(one.first or ""), str(one.last or ""),
        )  # fmt: skip
    cli.out.print(table)


def _context_use(use: ContextUse | None) -> str:
    if use is None or not use.messages:
        return "no message has asked yet"
    given = f"given to {use.with_context} of {use.messages} messages since {use.since} ({use.share:.0%})"
    return f"{given}, {use.tokens_per_context:.0f} tokens each, {use.late} late"


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
