"""``timeline``: what was noted when."""

from __future__ import annotations

from typing import Any

import click

from .context import CliContext, common_options
from .open import remember
from .search import requested, show, which_options


@click.command(short_help="Show what was noted when, in order of time.")
@click.argument("query", nargs=-1)
@which_options
@common_options
def timeline(cli: CliContext, query: tuple[str, ...], **options: Any) -> None:
    """Show what was noted when, in order of time; with QUERY only what is about it.

    Without QUERY: the newest sections of the range, one hit each.  Sections whose file name, heading or
    front matter states a day come before those that have only the day of the file's last change.
    """
    asked = " ".join(query).strip()
    request = requested(asked, options)
    with cli.memory() as memory:
        as_of = memory.usage.forgot()
        result = memory.timeline(request)
        bounded = request.since is not None or request.until is not None
        missed = bounded and not (cli.json or asked or result.results)
        newest = memory.timeline(max_results=1).results if missed else ()
        if not cli.json:
            remember(memory, result.results, as_of)
    if cli.json:
        cli.emit(result)
    else:
        show(cli, result, asked)
        for hit in newest:
            cli.remark(f"the newest note is of {hit.date or 'no day'}; give another --since or --until")
