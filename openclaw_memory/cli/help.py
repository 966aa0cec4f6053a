"""``help``: the help of a command, as ``--help`` behind it."""

from __future__ import annotations

import click


@click.command(short_help="Show the help of a command.")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help(ctx: click.Context, names: tuple[str, ...]) -> None:  # noqa: A001 - a command is the function of its name
    """Show the help of COMMAND, as of "config set"; without one, what commands there are."""
    root = ctx.find_root().command
    path = "openclaw-memory"
    ctx.exit(root.main([*names, "--help"], prog_name=path, standalone_mode=False) or 0)
