"""Shared parts of the commands: global options, settings, memory, output."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from ..config.openclaw_home import OpenClawHome
from ..config.settings import Settings, load
from ..config.store_url import has_password
from ..config.workspace import find_workspace
from ..errors import Problem, RequestError, SettingsError, WorkspaceError, substitute_command
from ..model import Grain, Progress, silent
from ..records import dataclass
from ..system.sanitize import sanitize
from ..system.serialize import dumps
from ..text.calendar import bounds

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..memory import Memory
    from ..model import Check

F = TypeVar("F", bound=Callable[..., Any])


def say(text: str, err: bool = False) -> None:
    """Print a line for people, with control characters made visible."""
    click.echo(sanitize(text), err=err)


def without_password(url: str) -> str:
    """Return ``url``; raise ``UsageError`` if it has a password, as other users can see the command line."""
    if has_password(url):
        raise click.UsageError(
            "a password on the command line is seen by everybody on this machine; put it into ~/.pgpass, into the "
            "variable OPENCLAW_MEMORY_STORE_URL, or into the settings file, which 'openclaw-memory config show' names"
        )
    return url


def failure(message: str, otherwise: str = "") -> dict[str, Any]:
    """Return the JSON of a failure; ``otherwise`` is the next step of a message that has none."""
    step = Problem.parse(message).next_step or otherwise or None
    return {"error": {"message": message, "next": step}, "warning": message}


@contextmanager
def wrong_usage() -> Iterator[None]:
    """Turn a :class:`RequestError` into a usage error (exit code 2)."""
    try:
        yield
    except RequestError as error:
        raise click.UsageError(str(error)) from error


def shorten(lines: Sequence[str], most: int = 12) -> list[str]:
    """Return at most ``most`` of the ``lines``, and the number of the others as a line."""
    rest = [f"… and {len(lines) - most} more; all of them with --json"] if len(lines) > most else []
    return [*lines[:most], *rest]


@dataclass
class CliContext:
    """The global options; ``json`` means that stdout gets one JSON document and nothing else."""

    json: bool = False
    workspace: str | None = None
    agent: str = "main"
    db: str | None = None
    config: Path | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    #: Remarks on the environment that were printed; ``None`` when they are part of the result.
    noted: set[str] | None = field(default_factory=set)
    #: Form of the last JSON document: one of several lines, or the whole output; ``None`` before the first.
    emitted: Literal["line", "whole"] | None = None

    def settings(self) -> Settings:
        """Return the settings in force."""
        return self.load_settings()[0]

    def load_settings(
        self, index: str | Path | None = None, profile: str | None = None
    ) -> tuple[Settings, dict[str, str]]:
        """Return the settings in force and the source of each; an invalid ``--set`` is wrong usage."""
        try:
            settings, sources = load(self.config, self.overrides, index=index or self.db, profile=profile)
        except SettingsError as error:
            if error.problem.path != "argument":
                raise
            raise click.UsageError(str(replace(error.problem, path="--set"))) from error
        ignored = tuple(replace(each, path="--set") if each.path == "argument" else each for each in settings.ignored)
        self.note(map(str, ignored))
        return replace(settings, ignored=ignored), sources

    def find_workspace(self) -> Path:
        """Return the workspace that the options name; a missing one is wrong usage."""
        try:
            return find_workspace(self.workspace, agent=self.agent)
        except WorkspaceError as error:
            raise click.UsageError(str(error)) from error

    def memory(self, settings: Settings | None = None) -> Memory:
        """Open the memory of the workspace that the options name."""
        from ..memory import Memory

        self.note_openclaw()
        workspace = self.find_workspace()
        settings = settings if settings is not None else self.settings()
        return Memory(workspace, agent=self.agent, settings=settings, db=self.db)

    @property
    def out(self) -> Console:
        """Return a console on stdout, for people."""
        # In a pipe nothing is wrapped: a line is a line for grep and for copying a path.
        terminal = sys.stdout.isatty()
        return console(soft_wrap=not terminal, width=None if terminal else 4096)

    def emit(self, value: Any, one_line: bool = False) -> None:
        """Print ``value`` as the JSON of the contract, on one line if the command prints several documents."""
        self.emitted = "line" if one_line else "whole"
        say(dumps(value, None if one_line else 2))

    def answer(self, value: Any, show: Callable[..., None], *args: Any) -> None:
        """Print ``value`` as JSON where that is asked for, else call ``show(self, value, *args)``."""
        if self.json:
            self.emit(value)
        else:
            show(self, value, *args)

    def say(self, text: str) -> None:
        """Print a line, unless the output is JSON."""
        if not self.json:
            say(text)

    def remark(self, text: str | None) -> None:
        """Print a remark on stderr, unless the output is JSON."""
        if text and not self.json:
            say(f"note: {substitute_command(text)}", err=True)

    def remark_on(self, answer: Any) -> None:
        """Print remarks on an answer: that it may be stale, its fallback, its warning."""
        if getattr(answer, "stale", False):
            self.remark("the answer may be stale: not every changed file was read in time")
        self.remark(getattr(answer, "fallback", None))
        self.remark(answer.warning)

    def show_check(self, check: Check) -> None:
        """Print a check behind its mark, and its next step on the line below."""
        if not check.ok:
            mark, word, colour = "✗", "wrong", "red"
        else:
            mark, word, colour = ("!", "note", "yellow") if check.remark else ("✓", "ok", "green")
        mark = mark if _has_marks() else word
        self.line((f"{mark} ", colour), (f"{check.name}: ", "bold"), substitute_command(check.detail), soft_wrap=True)
        if check.fix:
            self.line((f"  {substitute_command(check.fix)}", "yellow"), soft_wrap=True)

    def line(self, *parts: str | tuple[str, str] | Text, indent: int = 0, soft_wrap: bool | None = None) -> None:
        """Print a line of texts, or texts with their styles, ``indent`` columns in; a terminal wraps it there too."""
        if not has_styles():  # without a library that takes longer than most answers
            say(
                (
                    " " * indent + "".join(part[0] if isinstance(part, tuple) else str(part) for part in parts)
                ).expandtabs()
            )
            return
        from rich.padding import Padding
        from rich.text import Text

        line, out = Text.assemble(*parts), self.out
        if indent and out.is_terminal:
            out.print(Padding(line, (0, 0, 0, indent), expand=False))
        else:
            out.print(Text(" " * indent) + line, soft_wrap=soft_wrap)

    def table(
        self, rows: Iterable[Iterable[str]], *columns: str, right: Sequence[str] = (), caption: str | None = None
    ) -> None:
        """Print a table without lines; the columns named in ``right`` are aligned to the right."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, caption=caption, caption_justify="left")
        for column in columns:
            table.add_column(Text(column), justify="right" if column in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self.out.print(table)

    def must_ask(self, yes: bool, dry_run: bool | None = None) -> bool:
        """Return true if the command must ask first; raise ``UsageError`` if nobody can answer.

        ``dry_run`` is ``None`` for a command without that option.
        """
        if yes or dry_run:
            return False
        if self.json or not sys.stdin.isatty():
            look = "" if dry_run is None else ", or --dry-run to see what would be done"
            raise click.UsageError(f"nobody can be asked here: give --yes{look}")
        return True

    def note(self, texts: Iterable[str]) -> None:
        """Print each remark on the environment once."""
        for text in texts:
            if self.noted is not None and text not in self.noted:
                self.noted.add(text)
                self.remark(text)

    def note_openclaw(self) -> None:
        """Print the problem of OpenClaw's configuration, if there is one."""
        self.note(OpenClawHome.for_environment().problems())


def has_styles() -> bool:
    """Return true if stdout shows colours: it is a terminal, or the environment says so."""
    return sys.stdout.isatty() or any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def _has_marks() -> bool:
    """Return true if the encoding of stdout has the marks of checks."""
    try:
        "✓✗".encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def console(**options: Any) -> Console:
    """Return a console that prints text as :func:`say` does."""
    from rich.console import Console
    from rich.segment import Segment

    class InertConsole(Console):
        def render(self, *args: Any, **kwargs: Any) -> Iterator[Segment]:
            for segment in super().render(*args, **kwargs):
                yield segment if segment.control else segment._replace(text=sanitize(segment.text))

    return InertConsole(**options)


def json_option(command: F) -> F:
    """Add ``--json`` to a command that needs no workspace; the command line is searched for it before it is parsed."""
    option = click.option("--json", is_flag=True, expose_value=False, help="Print JSON.")
    return option(click.pass_obj(command))  # type: ignore[return-value]


def common_options(command: F) -> F:
    """Add ``--json`` and ``--workspace`` to a command."""

    def set_workspace(context: click.Context, _: click.Parameter, folder: str | None) -> None:
        context.obj.workspace = folder or context.obj.workspace

    return click.option(
        "--workspace", "-w", metavar="DIR", expose_value=False, callback=set_workspace, help="The agent's workspace."
    )(json_option(command))


def yes_option(command: F) -> F:
    """Add ``--yes`` to a command that asks first."""
    return click.option("--yes", "-y", is_flag=True, help="Do not ask.")(command)


def offline_option(command: F) -> F:
    """Add ``--offline``, which sets ``embedding.offline``, to a command that downloads a missing model."""

    def set_offline(context: click.Context, _: click.Parameter, offline: bool) -> None:
        context.obj.overrides |= {"embedding.offline": True} if offline else {}

    return click.option(
        "--offline", is_flag=True, expose_value=False, callback=set_offline, help="Do not download a missing model."
    )(command)


def parse_assignments(assignments: Sequence[str], option: str) -> dict[str, Any]:
    """Return the settings of an ``option`` that takes ``KEY=VALUE``; anything else is wrong usage."""
    for assignment in assignments:
        if "=" not in assignment:
            raise click.BadParameter(f"{assignment!r} is not KEY=VALUE", param_hint=option)
    return {key.strip(): value for key, _, value in (each.partition("=") for each in assignments)}


class DateOption(click.ParamType[date]):
    """A day, ``YYYY-MM-DD``; with an ``end``, 0 or 1, also a week, month, quarter or year, of which it is an end."""

    name = "date"

    def __init__(self, end: Literal[0, 1] | None = None) -> None:
        self._end = end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the ``datetime.date`` of ``value``; a time behind it is ignored."""
        if isinstance(value, date):
            return value
        text = str(value).strip()
        if self._end is not None:
            for grain in Grain:
                with suppress(ValueError):
                    return bounds(grain, text)[self._end]
        try:
            return date.fromisoformat(text[:10] if len(text) > 10 and text[10] in "T " else text)
        except ValueError:
            period = "" if self._end is None else ", or 2026-W07 or 2026-02"
            self.fail(f"{value!r} is not a day such as 2026-02-13{period}", param, ctx)


DATE, SINCE, UNTIL = DateOption(), DateOption(0), DateOption(1)


# -- progress on stderr: bars on a terminal, elsewhere a line now and then; none beside JSON -------------------

_TITLES = {
    "read": "reading files",
    "export": "reading the export",
    "embed": "embedding",
    "consolidated": "consolidating",
    "map": "drawing",
    "evaluate": "asking",
}
#: Seconds between two lines where there is no terminal.
_EVERY = 10.0


def ingest_progress(cli: CliContext) -> AbstractContextManager[Progress]:
    """Return a callback for ingest: a bar with counts and the time left per stage, or lines."""
    return _bars(cli, "MofNCompleteColumn")


def model_progress(cli: CliContext) -> AbstractContextManager[Progress]:
    """Return a callback for downloads in bytes: a bar per stage, or lines."""
    return _bars(cli, "DownloadColumn")


def pull_if_missing(cli: CliContext, memory: Memory) -> None:
    """Download the configured model if it is missing, with a bar; the report of the ingest has a failure."""
    with model_progress(cli) as show:
        memory.pull_model(show)


def _lines(size: float) -> Progress:
    """Return a callback that prints a line every ten seconds, in megabytes if ``size`` is a million."""
    printed = time.monotonic()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal printed
        if time.monotonic() - printed >= _EVERY:
            printed = time.monotonic()
            amount = f"{done / size:.0f}" + (f" of {total / size:.0f}" if total else "") + (" MB" if size > 1 else "")
            say(f"{_TITLES.get(stage, stage)}: {amount}", err=True)

    return show


@contextmanager
def _bars(cli: CliContext, amount: str) -> Iterator[Progress]:
    if cli.json or not sys.stderr.isatty():
        yield silent if cli.json else _lines(1e6 if amount == "DownloadColumn" else 1)
        return
    from rich import progress

    columns = progress.TextColumn("{task.description}"), progress.BarColumn(), getattr(progress, amount)()
    err = console(stderr=True)
    tasks: dict[str, Any] = {}
    with progress.Progress(*columns, progress.TimeRemainingColumn(), console=err, transient=True) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_TITLES.get(stage, stage), total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield show
