"""``export``: the memory as Parquet files, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from .context import CliContext, common_options, say


@click.command(short_help="Write the memory as Parquet files.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace an older export in DIR; other files there are left alone.")
@common_options
def export(cli: CliContext, folder: Path, overwrite: bool) -> None:
    """Write memories, documents, concepts, edges, facts and usage as Parquet files into DIR.

    DIR is new or empty; it is there as a whole or not at all.  A manifest.json names the files, their columns and
    how many rows they have.
    """
    from ..model import counted
    from .progress import ingest_progress

    with cli.memory() as memory, ingest_progress(cli) as show:
        report = memory.export(folder, overwrite=overwrite, progress=show)
    if cli.json:
        cli.emit(report)
        return
    for table in report.tables:
        say(f"{table.name:<10} {counted(table.rows, 'row'):>12}  {table.bytes / 1e3:>9.1f} kB")
    say(f"{report.folder}: written in {report.seconds:.2f} s")
    cli.remark_on(report)
