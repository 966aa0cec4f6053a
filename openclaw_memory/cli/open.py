"""``open``: a hit in the editor, at its line."""

from __future__ import annotations

import re
from pathlib import Path

import click

from .context import CliContext, common_options

_ID = re.compile(r"[0-9a-f]{16}")


# A command is the function of its name.
@click.command("open", short_help="Open a hit in your editor, at its line.")
@click.argument("hit")
@common_options
def open(  # noqa: A001
    cli: CliContext, hit: str
) -> None:
    """Open HIT in $VISUAL or $EDITOR, at its line.

    HIT is what a search shows: memory/a.md:3-9, memory/a.md#L3-L9, the path alone, or the id that --json names.

    \b
      openclaw-memory open memory/2026-03-03.md:12
      EDITOR='code --wait' openclaw-memory open MEMORY.md
    """
    from ..errors import RequestError, WorkspaceError
    from ..ingest.scan import scan
    from ..use.feedback import line_of
    from .editor import open_in_editor

    with cli.memory() as memory:
        named, line = hit.strip(), None
        if _ID.fullmatch(named):
            memory.freshen()
            try:
                named, line = line_of(memory.store, memory.usage, named)
            except RequestError as error:
                raise WorkspaceError(str(error)) from error
        found = memory.get(named, line, None if line is None else 1)
        if found.status == "error":
            raise WorkspaceError(f"{hit}: {found.error}; 'openclaw-memory search' shows lines as they are")
        files = scan(memory.workspace, memory.settings.ingest).files
        place = next((file.absolute for file in files if file.path == found.path), None)
        if place is None:
            raise WorkspaceError(f"{hit}: not among the memory files; 'openclaw-memory search' names paths as they are")
    open_in_editor(Path(place), found.from_line)
    if cli.json:
        cli.emit({"path": found.path, "file": str(place), "line": found.from_line})
