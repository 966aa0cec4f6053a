"""``config``: which settings are in force, and where each comes from."""

from __future__ import annotations

import os
from pathlib import Path

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
    from ..config.openclaw_home import OpenClawHome
    from ..config.settings import config_path, walk

    settings, source = cli.load_settings()
    theirs = OpenClawHome.of().plugin_config()[0]
    usual = theirs if theirs is not None and str(theirs) in source.values() else config_path()
    file = cli.config or Path(os.environ.get("OPENCLAW_MEMORY_CONFIG") or usual)
    rows = [(key, value, source[key], meta["help"]) for key, value, meta in walk(settings) if key.startswith(prefix)]
    if not rows:
        raise click.UsageError(f"no setting begins with '{prefix}'; 'openclaw-memory config show' lists them all")
    if cli.json:
        from ..system.serialize import to_json

        shown = [
            {"key": key, "value": to_json(value), "source": where, "help": text} for key, value, where, text in rows
        ]
        cli.emit({"file": str(file), "settings": shown})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("setting", "value", "source", "meaning"):
        table.add_column(title, overflow="fold")
    for key, value, where, text in rows:
        table.add_row(key, repr(value) if value == "" or not isinstance(value, str) else value, where, text)
    cli.out.print(table, highlight=False)
    cli.remark(f"the settings file is {file}" + ("" if file.exists() else ", which is not there yet"))
