"""``serve``: run the MCP server on stdin and stdout."""

from __future__ import annotations

import sys

import click

from ..config.workspace import find_workspace
from ..errors import WorkspaceError
from ..system.heap import share_one_heap
from .context import CliContext, offline_option


@click.command()
@click.option("--for-host", is_flag=True, help="Offer the tools that only a host such as OpenClaw should call, too.")
@offline_option
@click.option("--workspace", "-w", metavar="DIR", help="The workspace of calls that name none.")
@click.pass_obj
def serve(cli: CliContext, for_host: bool, offline: bool, workspace: str | None) -> None:
    """Serve this memory to MCP clients on stdin and stdout, until stdin closes.

    Logs go to stderr.  One process serves any number of agents and workspaces; each has an index of its
    own, and the embedding model is loaded once.  Example, for Claude Code:

    claude mcp add memory -- openclaw-memory serve --workspace ~/notes
    """
    cli.note_openclaw()
    settings, sources = cli.load_settings({"embedding.offline": True} if offline else {})
    if not for_host and sources["context.curated_files"] == "default":  # OpenClaw alone shows them to its model
        settings = settings.with_values({"context.curated_files": True})
    folder = workspace or cli.workspace
    if (cli.db or settings.store.path) and not folder:
        try:
            folder = str(find_workspace(None, agent=cli.agent))
        except WorkspaceError as error:
            raise click.UsageError(f"an index file holds one memory, and {error}") from error
    if sys.stdin is not None and sys.stdin.isatty():
        cli.remark("this speaks MCP on stdin and stdout and is meant to be started by a client; end it with Ctrl-D")
    from ..serve.pool import Pool
    from ..serve.server import MemoryServer

    share_one_heap()
    pool = Pool(settings, workspace=folder, agent=cli.agent, db=cli.db)
    MemoryServer(pool, for_host).run()
