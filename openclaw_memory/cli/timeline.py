"""``timeline``: what was noted when."""

from __future__ import annotations

from typing import Any

import click

from .context import CliContext, common_options
from .open import remember
from .search import show, which_options


@click.command(short_help="Show what was noted when, in order of time.")
@click.argument("query", nargs=-1)
@which_options
@common_options
def timeline(
    cli: CliContext, query: tuple[str, ...], min_days_ago: int | None, max_days_ago: int | None, **options: Any
) -> None:
    """Show what was noted when, in order of time; with QUERY only what is about it.

    Without QUERY: the newest sections of the range, one hit each.  Sections whose file name, heading or
    front matter states a day come before those that have only the day of the file's last change.
    """
    from ..errors import RequestError
    from ..model import Grain, Kind

    asked = " ".join(query).strip()
    kinds = tuple(Kind(kind) for kind in options.pop("kind"))
    grains = tuple(Grain(grain) for grain in options.pop("grain"))
    with cli.memory() as memory:
        as_of = memory.usage.forgot()
        try:
            result = memory.timeline(
                asked,
                minimum_days_ago=min_days_ago,
                maximum_days_ago=max_days_ago,
                kinds=kinds,
                grains=grains,
                **options,
            )
        except RequestError as error:
            raise click.UsageError(str(error)) from error
        bounded = any((options["since"], options["until"], min_days_ago, max_days_ago))
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
