"""``status`` and ``doctor``: what the memory holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..model import ContextUse, GrainUse

#: Files named one by one.
_NAMED = 5


@click.command(short_help="Show counts, sizes, the model and its vectors.")
@click.option("--context", "with_context", is_flag=True, help="Show how ambient context was used instead.")
@common_options
def status(cli: CliContext, with_context: bool) -> None:
    """Show counts, sizes, the model and the state of the embeddings."""
    cli.noted = None
    with cli.memory() as memory:
        found = memory.status()
    if cli.json:
        cli.emit(found)
        return
    if with_context and found.context is not None:
        _show_use(found.context)
        return
    from ..model import Grain, counted

    sort = f", {found.dimensions} dimensions" if found.dimensions else ""
    here = (f"{name} {'installed' if present else 'missing'}" for name, present in found.extensions.items())
    kinds = f" ({_counts(found.by_kind)})" if found.by_kind else ""
    rows: list[tuple[str, Any]] = [
        ("workspace", found.workspace),
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
    ]
    if found.private_lines:
        held = f"{counted(found.private_lines, 'line')} in {counted(found.private_files, 'file')} kept out"
        rows.append(("private", held))
    for name, files, why in (
        ("untrusted", found.unread_front_matter, "front matter that cannot be read"),
        ("skipped", found.skipped, "not read"),
    ):
        if files:
            more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
            named = ", ".join(one.path for one in files[:_NAMED])
            rows.append((name, f"{named}{more}: {why}; run: openclaw-memory doctor"))
    if found.http_usage:
        rows.append(("http usage", _counts(found.http_usage)))
    for name, value in rows:
        say(f"{name:<11} {value}")
    if any(one.grain is not Grain.WORKING for one in found.grains):
        _show_grains(cli, found.grains)
    for plugin, failure in found.plugin_failures.items():
        cli.remark(f"plugin {plugin} failed: {failure}")
    cli.remark(found.fallback)
    cli.remark(found.warning)


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


def _show_use(use: ContextUse) -> None:
    if not use.messages:
        say("no message has asked for context yet")
        return
    latency = f"p50 {use.p50_ms:.3g} ms, p95 {use.p95_ms:.3g} ms" if use.p50_ms is not None else "unknown"
    rows = [
        ("messages", f"{use.messages} since {use.since}"),
        ("context", f"{use.with_context} of them ({use.share:.0%}), {use.tokens_per_context:.0f} tokens each"),
        ("entities", f"{use.entities_per_message:.2f} a message"),
        ("latency", f"{latency}, {use.late} not done by their deadline"),
    ]
    for name, value in rows:
        say(f"{name:<11} {value}")


def _counts(counts: dict[str, Any]) -> str:
    return ", ".join(f"{value} {name}" for name, value in counts.items())


@click.command(short_help="Look for what is wrong and say how to mend it.")
@common_options
def doctor(cli: CliContext) -> None:
    """Look for what is wrong and say how to mend it; exits 1 when something is.

    A note is worth knowing and breaks nothing.  Neither the notes nor the index are changed.
    """
    from ..upkeep.doctor import examine

    cli.noted = None
    with cli.memory() as memory:
        checks = examine(memory, memory.store)
    healthy = all(check.ok for check in checks)
    if cli.json:
        cli.emit({"ok": healthy, "checks": checks})
    else:
        from rich.text import Text

        for check in checks:
            word, colour = ("wrong", "red") if not check.ok else ("note", "yellow") if check.remark else ("ok", "green")
            line = Text(f"{word:<6}", style=colour)
            line.append(f"{check.name}: ", style="bold").append(check.detail, style="default")
            cli.out.print(line, highlight=False)
            if check.fix:
                cli.out.print(Text(f"      {check.fix}", style="yellow"), highlight=False)
    if not healthy:
        raise SystemExit(1)
