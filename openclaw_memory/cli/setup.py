"""``setup``: connect this memory with OpenClaw or another host, and take it out again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..hosts import HOSTS
from .context import CliContext, common_options, offline_option, yes_option
from .teller import Options, Teller

if TYPE_CHECKING:
    from ..hosts.mcp import Server


@click.command(short_help="Connect OpenClaw or another host with this memory.")
@click.argument("host", required=False, type=click.Choice(HOSTS))
@yes_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--uninstall", is_flag=True, help="Put everything back; notes stay as they are.")
@click.option("--openclaw", "executable", metavar="PATH", help="The openclaw command; default: the one on PATH.")
@click.option("--profile", metavar="NAME", help="The profile of OpenClaw.")
@click.option("--installed", is_flag=True, help="OpenClaw has the plugin already: leave its files as they are.")
@offline_option
@click.option("--query", metavar="TEXT", help="What to search for at the end; default: a heading of the newest note.")
@click.option("--project", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="For this project only, with a host that has such settings; default: for all of them.")  # fmt: skip
@click.option("--print", "printed", is_flag=True, help="Print the entry for any other MCP client, and change nothing.")
@common_options
def setup(cli: CliContext, host: str | None, project: Path | None, printed: bool, **options: Any) -> None:
    """Connect HOST with this memory: openclaw, or one that is told of an MCP server.

    Shows what will change and asks before it changes anything.  For OpenClaw it checks what is needed,
    installs the plugin, gives it the memory slot, reads the notes of every agent and ends with a search.
    The other hosts are told of the MCP server 'openclaw-memory serve'; --print shows how, for clients not named here.
    """
    if printed:
        _print(cli, host)
        return
    chosen = Options(host or "openclaw", host is not None, project=project, **options)
    if chosen.host == "openclaw" and project is not None:
        raise click.UsageError("--project is for the other hosts; name one, such as claude-code")
    teller = Teller(cli, chosen)
    if chosen.host == "openclaw":
        from .setup_openclaw import install, uninstall

        (uninstall if chosen.uninstall else install)(cli, chosen, teller)
    else:
        _register(cli, chosen, teller)
    teller.end()


def _register(cli: CliContext, chosen: Options, teller: Teller) -> None:
    """Tell a host of the MCP server, or no longer."""
    from importlib import import_module

    from ..hosts.json_hosts import JSON_HOSTS
    from ..hosts.mcp import Registration

    for option, value in (
        ("--openclaw", chosen.executable), ("--profile", chosen.profile), ("--query", chosen.query),
        ("--offline", chosen.offline), ("--installed", chosen.installed),
    ):  # fmt: skip
        if value:
            raise click.UsageError(f"{option} is for openclaw")
    host: Any = JSON_HOSTS.get(chosen.host) or import_module(f"openclaw_memory.hosts.{chosen.host.replace('-', '_')}")
    project = chosen.project.absolute() if chosen.project is not None else None
    if chosen.uninstall:
        change: Registration = host.unregister(project)
    else:
        change = host.register(_server(cli), project)
    if not change.needed:
        what = "not there" if chosen.uninstall else "there already"
        teller.step(host.TITLE, f"{change.where}: our entry is {what}; nothing to change")
        return
    teller.plan(change.where, change.lines)
    if not teller.agreed(f"Change {host.TITLE}'s configuration?"):
        return
    change.apply()
    teller.record["applied"] = True
    teller.step(host.TITLE, f"{change.where}: {'removed' if chosen.uninstall else 'written'}")
    teller.then(change.then)


def _print(cli: CliContext, host: str | None) -> None:
    from ..hosts import NAME
    from ..hosts.mcp import SERVERS

    if host is not None:
        raise click.UsageError(f"--print goes without a host; 'setup {host} --dry-run' shows its change")
    cli.emit({SERVERS: {NAME: _server(cli).entry()}})


def _server(cli: CliContext) -> Server:
    from ..hosts.mcp import Server
    from ..hosts.process import own_command

    return Server(own_command(), cli.find_workspace(), cli.agent, cli.config)
