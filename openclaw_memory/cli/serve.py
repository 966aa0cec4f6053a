"""``serve``: run the MCP server on stdin and stdout, or over HTTP."""

from __future__ import annotations

import gc
import hashlib
import sys
from contextlib import suppress

import click

from ..config.settings import data_dir
from ..config.workspace import expand_home, find_workspace
from ..errors import WorkspaceError
from ..serve.attach import Attachment
from ..serve.endpoint import Endpoint
from ..system.heap import share_one_heap
from ..version import __version__
from .context import CliContext, offline_option, say


@click.command()
@click.option("--for-host", is_flag=True, help="Offer the tools that only a host such as OpenClaw should call, too.")
@offline_option
@click.option("--http", is_flag=True, help="Listen on loopback, for any number of clients; those on stdio join them.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of --http; without it the last one, or a free one.")
@click.option("--idle", type=click.FloatRange(1), metavar="SECONDS", help="End --http after so long without a client.")
@click.option("--workspace", "-w", metavar="DIR", help="The workspace of calls that name none.")
@click.pass_obj
def serve(
    cli: CliContext,
    for_host: bool,
    http: bool,
    port: int | None,
    idle: float | None,
    workspace: str | None,
) -> None:
    """Serve this memory to MCP clients on stdin and stdout, until stdin closes.

    Logs go to stderr.  One process serves any number of agents and workspaces; each has an index of its
    own, and the embedding model is loaded once.  Example, for Claude Code:

    claude mcp add memory -- openclaw-memory serve --workspace ~/notes
    """
    gc.set_threshold(20_000)  # a command ends before its garbage is much
    cli.note_openclaw()
    settings, sources = cli.load_settings()
    if not for_host and sources["context.curated_files"] == "default":  # OpenClaw alone shows them to its model
        settings = settings.with_values({"context.curated_files": True})
    folder = workspace or cli.workspace
    if (cli.db or settings.store.path) and not folder:
        try:
            folder = str(find_workspace(None, agent=cli.agent))
        except WorkspaceError as error:
            raise click.UsageError(f"an index file holds one memory, and {error}") from error
    place = ""
    with suppress(WorkspaceError):
        place = str(expand_home(folder).resolve() if folder else find_workspace(None, agent=cli.agent))
    endpoint = Endpoint(data_dir(), cli.agent, place, cli.db or "")
    identity = hashlib.sha256(repr((settings, __version__)).encode("utf-8", "surrogateescape")).hexdigest()
    attachment = None
    if not http:
        if sys.stdin is not None and sys.stdin.isatty():
            cli.remark("this speaks MCP on stdin and stdout and is meant to be started by a client; end it with Ctrl-D")
        if endpoint.running:
            attachment = Attachment(endpoint, identity, for_host)
            attachment.run()
    from ..serve.pool import Pool

    share_one_heap()
    pool = Pool(settings, workspace=(place if http else folder) or None, agent=cli.agent, db=cli.db)
    if http:
        from ..serve.http import HttpServer

        HttpServer(pool, endpoint, identity, for_host, idle).run(
            port,
            lambda url: say(f"serving {place or 'any workspace'} at {url}; the token is in {endpoint.file}", err=True),
        )
    from ..serve.server import serve_stdio

    serve_stdio(pool, for_host, attachment)
