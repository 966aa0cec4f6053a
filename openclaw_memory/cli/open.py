"""``open`` and ``feedback``: hits of the last search by their numbers, in the editor or judged."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import patterns as re
from ..errors import OpenClawMemoryError, RequestError, WorkspaceError
from ..ingest.scan import scan
from ..model import LAST_SHOWN
from ..system import atomic
from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..memory import Memory
    from ..model import FeedbackReport, SearchHit

#: Number of a hit.
NUMBER = re.compile(r"[0-9]{1,4}")


# A command is the function of its name.
@click.command("open")
@click.argument("hit")
@common_options
def open(cli: CliContext, hit: str) -> None:  # noqa: A001
    """Open HIT in $VISUAL or $EDITOR, at its line.

    HIT is what a search shows: the number of a hit of the last search or timeline, memory/a.md:3-9,
    memory/a.md#L3-L9, the path alone, or the id that --json names.

    \b
      openclaw-memory open 1
      openclaw-memory open memory/2026-03-03.md:12
      EDITOR='code --wait' openclaw-memory open MEMORY.md
    """
    with cli.memory() as memory:
        named, line, unit = hit.strip(), None, ""
        if NUMBER.fullmatch(named):
            named, line, unit = load_hit(memory, int(named))
        elif re.fullmatch(r"[0-9a-f]{16}", named):
            unit = named
        if unit:
            from ..use.units import line_of

            memory.freshen()
            try:
                named, line = line_of(memory.store, memory.usage, unit)
            except RequestError as error:
                if line is None:
                    raise WorkspaceError(str(error)) from error
                cli.remark(f"{named} has changed since that search: line {line} may be another one")
        text = memory.get(named, line, None if line is None else 1)
        if text.status == "error":
            raise WorkspaceError(f"{hit}: {text.error}", "'openclaw-memory search' shows lines as they are")
        files = scan(memory.workspace, memory.settings.ingest).files
        place = next((file.absolute for file in files if file.path == text.path), None)
        if place is None:
            step = "'openclaw-memory search' names paths as they are"
            raise WorkspaceError(f"{hit}: not among the memory files", step)
    open_in_editor(Path(place), text.from_line)
    if cli.json:
        cli.emit({"path": text.path, "file": str(place), "line": text.from_line})


def save_hits(memory: Memory, hits: Iterable[SearchHit], as_of: str | None) -> None:
    """Write path, line and id of ``hits`` beside the index, to open them by number; ignore a folder without permission.

    Nothing is kept if something was forgotten since ``usage.forget_version()`` was ``as_of``, before the search.  A hit
    in another memory is kept as the name of that memory alone, as what is forgotten there is unknown here.
    """
    if (file := memory.store.sidecar(LAST_SHOWN)) is not None:
        rows = [[f"@{hit.memory}", 0, ""] if hit.memory else [hit.path, hit.start_line, hit.id] for hit in hits]
        with contextlib.suppress(OSError):
            atomic.write_bytes(file, json.dumps(rows).encode(), 0o600)
            if as_of is None or memory.usage.forget_version() != as_of:  # a later forget deletes the file itself
                file.unlink(missing_ok=True)


def load_hit(memory: Memory, number: int) -> tuple[str, int, str]:
    """Return path, line and id of hit ``number``, counted from 1, of the last search."""
    file = memory.store.sidecar(LAST_SHOWN)
    if file is None:
        raise WorkspaceError("hits have no numbers while the index is on a server", "name the file and line of one")
    rows: list[tuple[str, int, str]] = []
    with contextlib.suppress(OSError, ValueError):
        rows = [(str(path), int(line), str(unit)) for path, line, unit in json.loads(file.read_bytes())]
    if not 1 <= number <= len(rows):
        held = f"the last search here showed {len(rows)}" if rows else "no search was made here"
        raise WorkspaceError(f"there is no hit {number}, {held}", "run: openclaw-memory search QUESTION")
    path, line, unit = rows[number - 1]
    if not unit:
        what = f"hit {number} is in the memory {path}, which is only read here"
        raise WorkspaceError(what, "run: openclaw-memory get")
    return path, line, unit


# -- the editor -----------------------------------------------------------------------------------------


def open_in_editor(file: Path, line: int | None = None) -> None:
    """Run $VISUAL, $EDITOR or the default editor on ``file``, at ``line`` (counted from 1), until it is closed.

    Raises :class:`~openclaw_memory.errors.OpenClawMemoryError` when there is no such program, or it fails.
    """
    from ..system import shell
    from ..system.child import find_programs, start

    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    command = shell.split(chosen) if chosen else _default_editor()
    name = Path(command[0]).stem.lower()
    if line is None:
        place = [str(file)]
    elif name in ("code", "code-insiders", "codium", "cursor", "windsurf"):
        place = ["--goto", f"{file}:{line}"]
    elif name in ("subl", "zed", "hx", "helix", "micro"):
        place = [f"{file}:{line}"]
    else:
        place = [str(file)] if os.name == "nt" and name == "notepad" else [f"+{line}", str(file)]
    try:
        # Where standard output is read as JSON, an editor in the terminal takes that of errors.
        stdout = None if sys.stdout.isatty() else 2
        # With its ending, which Windows wants of scripts such as code.cmd.
        program = next(find_programs(os.path.expanduser(command[0])), command[0])
        with start([program, *command[1:], *place], stdout=stdout) as editor:
            code = editor.wait()
    except OSError as error:
        what = f"{command[0]} cannot be started ({error.strerror or error})"
        raise OpenClawMemoryError(what, "set EDITOR to your editor") from error
    if code:
        raise OpenClawMemoryError(f"{command[0]} ended with exit code {code}", "set EDITOR to your editor")


def _default_editor() -> list[str]:
    from ..system.child import find_programs

    names = ["notepad"] if os.name == "nt" else ["sensible-editor", "nano", "vim", "vi"]
    program = next((file for name in names for file in find_programs(name)), None)
    if program is None:
        raise OpenClawMemoryError("there is no editor", "set EDITOR to yours")
    return [program]


# -- feedback -------------------------------------------------------------------------------------------


@click.command()
@click.argument("chunk")
@click.argument("verdict", type=click.Choice(["useful", "irrelevant"]))
@common_options
def feedback(cli: CliContext, chunk: str, verdict: str) -> None:
    """Say that CHUNK was useful or irrelevant: it will rank a little higher or lower, ever less so as time passes.

    CHUNK is the number of a hit of the last search or timeline, its id, as --json shows it, or its lines:
    memory/a.md:3-9 or memory/a.md#L3-L9.  Of several units in those lines the one is meant that a search showed last.
    """
    with cli.memory() as memory:
        if NUMBER.fullmatch(chunk.strip()):
            _, _, chunk = load_hit(memory, int(chunk))
        report = memory.feedback(chunk, verdict)
    cli.answer(report, _show)


def _show(cli: CliContext, report: FeedbackReport) -> None:
    counts = [f"{getattr(report, name)} {name}" for name in ("useful", "irrelevant", "used", "shown")]
    say(f"{report.id}: {', '.join(counts)}; boost {report.boost:+.2f}")
