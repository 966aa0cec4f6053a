"""``config``: which settings are in force, and where each comes from."""

from __future__ import annotations

import click

from .context import CliContext, common_options


@click.group()
def config() -> None:
    """Show the settings."""


@config.command("show")
@click.argument("prefix", default="")
@common_options
def show(cli: CliContext, prefix: str) -> None:
    """Print each setting (that begins with PREFIX), its value and its source."""
    from ..settings import config_path, load, walk

    settings, source = load(cli.config, cli.overrides)
    rows = [(key, value, source[key], meta["help"]) for key, value, meta in walk(settings) if key.startswith(prefix)]
    if not rows:
        raise click.UsageError(f"no setting begins with '{prefix}'")
    if cli.json:
        from ..serialize import to_json

        shown = [
            {"key": key, "value": to_json(value), "source": where, "help": text} for key, value, where, text in rows
        ]
        cli.emit({"file": str(cli.config or config_path()), "settings": shown})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("setting", "value", "source", "meaning"):
        table.add_column(title, overflow="fold")
    for key, value, where, text in rows:
        table.add_row(key, repr(value) if value == "" or not isinstance(value, str) else value, where, text)
    cli.out.print(table, highlight=False)
    cli.remark(f"the settings file is {cli.config or config_path()}")
