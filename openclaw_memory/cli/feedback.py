"""``feedback``: whether what was found was of use."""

from __future__ import annotations

import click

from .context import CliContext, common_options, say


@click.command(short_help="Say whether a hit was of use.")
@click.argument("chunk")
@click.argument("verdict", type=click.Choice(["useful", "irrelevant"]))
@common_options
def feedback(cli: CliContext, chunk: str, verdict: str) -> None:
    """Say that CHUNK was useful or irrelevant: it will rank a little higher or lower, ever less so as time passes.

    CHUNK is the number of a hit of the last search or timeline, its id, as --json shows it, or its lines:
    memory/a.md:3-9 or memory/a.md#L3-L9.  Of several
    units in those lines the one is meant that a search showed last.
    """
    from .open import NUMBER, remembered

    with cli.memory() as memory:
        if NUMBER.fullmatch(chunk.strip()):
            _, _, chunk = remembered(memory, int(chunk))
        report = memory.feedback(chunk, verdict)
    if cli.json:
        cli.emit(report)
        return
    counts = [f"{getattr(report, name)} {name}" for name in ("useful", "irrelevant", "used", "shown")]
    say(f"{report.id}: {', '.join(counts)}; boost {report.boost:+.2f}")
