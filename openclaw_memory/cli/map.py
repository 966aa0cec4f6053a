"""``map``: draw the memory as an HTML page."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import click

from ..model import counted
from .context import CliContext, common_options, ingest_progress, say


@click.command()
@click.option("--out", "-o", metavar="FILE", type=click.Path(path_type=Path),
              help="Write the page here; default: beside the index.")  # fmt: skip
@click.option("--no-open", is_flag=True, help="Do not open it in the browser.")
@common_options
def map(cli: CliContext, out: Path | None, no_open: bool) -> None:  # noqa: A001 - a command is the function of its name
    """Draw what hangs together, when it was noted, how near it is in meaning, which facts hold, and numbers.

    It is one HTML file that needs no network.  It holds your notes, so only you can read it: look before you share
    it.  With --json nothing is opened.
    """
    with cli.memory() as memory, ingest_progress(cli) as show:
        report = memory.map(out, progress=show)
    if cli.json:
        cli.emit(report)
        return  # and nothing is opened
    shown = ((report.lines, report.total_lines, "line"), (report.concepts, report.total_concepts, "concept"))
    parts = [f"{f'{some} of ' if some < every else ''}{counted(every, what)}" for some, every, what in shown]
    parts.append(counted(report.facts, "fact"))
    say(f"{report.file}: {', '.join(parts)}; {report.bytes / 1e6:.1f} MB in {report.seconds:.1f} s")
    cli.remark(None if report.fallback is None else f"without the space of meaning: {report.fallback}")
    cli.remark(report.warning)
    if not no_open and not _open_page(Path(report.file)):
        cli.remark("there is no browser to open it in; open the file yourself")


def _open_page(file: Path) -> bool:
    """Open the file in a browser; return false without a screen, where a browser in the terminal shows nothing."""
    import webbrowser

    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        with contextlib.chdir(sys.prefix):  # else an entry "." of PATH would name programs of the notes
            return bool(screen) and webbrowser.open(file.as_uri())
    except webbrowser.Error:
        return False
