"""``migrate-store``: from the DuckDB file to PostgreSQL, and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..config.store_url import is_url
from .context import CliContext, common_options, say, without_password

if TYPE_CHECKING:
    from ..memory import Memory

_HERE = "duckdb"
#: What stands in a DuckDB file after a checksum of eight bytes.
_MAGIC = b"DUCK"


@click.command("migrate-store", short_help="Take this memory from one store to another: a file, or PostgreSQL.")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--replace", "replacing", is_flag=True, help="Replace a state that TO has already and that is another.")
@common_options
def migrate_store(cli: CliContext, source: str, target: str, replacing: bool) -> None:
    """Take this agent's memory of this workspace FROM one store TO another.

    A store is the URL of a PostgreSQL server, the name of a DuckDB file, or 'duckdb' for the usual file. The notes are
    read again into TO; the state (what was forgotten, judged and allowed) and the vectors are copied, so that nothing
    is embedded again, and compared afterwards. FROM stays as it is. What was cut short goes on when it is run again.

    \b
      openclaw-memory migrate-store duckdb postgresql://gateway@db/memories
      openclaw-memory migrate-store postgresql://gateway@db/memories duckdb
    """
    from ..memory import migrate
    from .progress import ingest_progress

    if not is_url(source) and source != _HERE:
        _check(Path(source).expanduser())
    with _opened(cli, source) as there, _opened(cli, target) as here, ingest_progress(cli) as show:
        report = migrate(there, here, replacing, show)
    if cli.json:
        cli.emit(report)
    else:
        say(f"from        {report.source}")
        say(f"to          {report.target}")
        say(f"notes       {report.files} files, {report.units} units")
        say(f"state       {report.rows} rows, {report.keys} keys")
        say(f"vectors     {report.vectors} copied, {report.same_vectors} in both, {report.pending} to be embedded")
        say(f"verified    {'yes' if report.verified else 'NO'}")
        say(f"seconds     {report.seconds:.2f}")
        cli.remark(report.warning)
    if not report.verified:
        raise click.exceptions.Exit(1)


def _check(source: Path) -> None:
    """Refuse what would be made, or be taken for a damaged index and moved aside, when it is opened."""
    if not source.is_file():
        raise click.UsageError(f"{source}: no such file; FROM is a URL, a DuckDB file, or '{_HERE}' for the usual one")
    try:
        with source.open("rb") as file:
            begin = file.read(12)
    except OSError as error:
        raise click.UsageError(
            f"{source}: cannot be read ({error.strerror or error}); check its permissions"
        ) from error
    if begin[8:] != _MAGIC:
        raise click.UsageError(f"{source}: is no DuckDB file; it stays as it is")


def _opened(cli: CliContext, store: str) -> Memory:
    """The memory in ``store``, whose vectors are read as they are stored."""
    chosen = {"store.url": without_password(store) if is_url(store) else "", "store.path": ""}
    settings = cli.load_settings({**chosen, "store.vector_dtype": "float32", "store.vector_index": "exact"})[0]
    file = None if is_url(store) or store == _HERE else store
    return replace(cli, db=file).memory(settings)
