"""The command ``openclaw-memory``: its groups, global options, and errors as one line and an exit code."""

from __future__ import annotations

import json
import logging
import os
import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NoReturn

import click

from ..config.store_url import is_url
from ..errors import substitute_command
from ..system.sanitize import sanitize
from ..version import DISTRIBUTION, __version__, build_id

#: Commands in the order of the help, with their modules, which are imported when a command is run, and what each does.
GROUPS = {
    "Read and ask": {
        "demo": ("demo", "Ingest, search and recall a small example."),
        "ingest": ("ingest", "Read what changed into the index; also called index."),
        "search": ("search", "Find what the memory says about a question."),
        "recall": ("search", "Follow the thread behind an answer, in order of time."),
        "timeline": ("search", "Show what was noted when, in order of time."),
        "get": ("search", "Print lines of a memory file."),
        "open": ("open", "Open a hit in your editor, at its line."),
        "context": ("turns", "Say what memory knows about a message."),
        "map": ("map", "Draw the memory as a page, and open it."),
        "changes": ("review", "Show what it believes now that it did not."),
    },
    "Change what it knows": {
        "concepts": ("knowledge", "List and curate concepts."),
        "facts": ("knowledge", "Ask for facts, and state them."),
        "conflicts": ("review", "Show statements that contradict each other, and settle them."),
        "capture": ("turns", "Keep what is worth remembering of a text."),
        "feedback": ("open", "Say whether a hit was of use."),
        "forget": ("forget", "Forget for good; shows what goes and asks first."),
        "consolidate": ("consolidate", "Turn old notes into short summaries; no note is changed."),
    },
    "Look inside and keep safe": {
        "status": ("status", "Show what is remembered, what is not, and what to do next."),
        "doctor": ("status", "Look for what is wrong and say how to mend it."),
        "evaluate": ("evaluate", "Measure how many questions of your own notes it answers."),
        "sql": ("sql", "Ask the index with SQL that only reads."),
        "export": ("sql", "Write the memory as Parquet files."),
        "import": ("import_", "Take over memories of other programs; shows its plan and asks."),
        "state": ("state", "What was forgotten, judged and allowed: show or delete it."),
        "backup": ("state", "Write state, curated files and settings to one file."),
        "restore": ("state", "Put a backup in its place; replaces nothing unasked."),
    },
    "Set up": {
        "setup": ("setup", "Connect OpenClaw or another host with this memory."),
        "serve": ("serve", "Serve this memory to MCP clients, on stdio or over HTTP."),
        "config": ("config", "Show and change the settings."),
        "model": ("model", "List, pull and choose embedding models."),
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}
#: Names of commands in other programs.
ALIASES = {"index": "ingest"}

#: Key in the context's ``meta``: true if ``--json`` stands anywhere on the command line.
_JSON = f"{__name__}.json"


class LazyGroup(click.Group):
    """A group that imports its commands by name, and prints failures on one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command = getattr(import_module(f"{__package__}.{COMMANDS[cmd_name]}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                rows = [(name, summary) for name, (_, summary) in commands.items()]
                formatter.write_dl(rows, col_max=max(map(len, COMMANDS)) + 2)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the closest command when one is misspelt."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1) if args else []
            if near and "did you mean" not in error.message.lower():
                raise click.UsageError(f"{error.message} Did you mean '{near[0]}'?", ctx) from error
            raise

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the global options, and print wrong usage on one line."""
        as_json = "--json" in (args[: args.index("--")] if "--" in args else args)  # parsing takes from them
        try:
            ctx = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            raise _in_one_line(error, as_json) from error
        ctx.meta[_JSON] = as_json or ctx.params.get("as_json", False)
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; exit 1 with one line on stderr when it fails, 2 when it is used wrongly."""
        from ..errors import OpenClawMemoryError, describe_failure

        def fail(message: str) -> NoReturn:
            _print_failure(message, ctx.meta[_JSON], ctx)
            ctx.exit(1)

        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _in_one_line(error, ctx.meta[_JSON], ctx) from error
        except BrokenPipeError:
            raise  # click ends quietly when the reader of a pipe has left
        except (OpenClawMemoryError, OSError) as error:
            fail(describe_failure(error))
        except KeyboardInterrupt:
            fail("interrupted: what was written is kept; run it again to go on")
        except MemoryError:
            fail("out of memory; close other programs, or choose a smaller embedding.model")
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("verbose"):
                raise
            defect = f"a defect of openclaw-memory ({type(error).__name__}: {error})"
            fail(f"{defect}; run it with -v and report what it prints")


class _Lines(logging.Formatter):
    """Formats log records as :func:`~.context.say` prints lines."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitize(super().format(record))


def _in_one_line(error: click.UsageError, as_json: bool, ctx: click.Context | None = None) -> Exception:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error
    command = error.ctx.command_path if error.ctx is not None else "openclaw-memory"
    _print_failure(error.format_message(), as_json, ctx, end=f" (see {command} --help)")
    return click.exceptions.Exit(error.exit_code)


def _print_failure(message: str, as_json: bool, ctx: click.Context | None, end: str = "") -> None:
    """Print a failure on one line of stderr, and with ``as_json`` as a document on stdout unless there is one."""
    from .context import CliContext, failure, say

    message, end = substitute_command(" ".join(message.split())), substitute_command(end)
    if as_json:
        obj = ctx.obj if ctx is not None and isinstance(ctx.obj, CliContext) else CliContext(json=True)
        if obj.emitted != "whole":
            obj.emit(failure(message, end.strip(" ()")), one_line=obj.emitted == "line")
    say(f"error: {message}{end}", err=True)


def _show_version(ctx: click.Context, option: click.Parameter, requested: bool) -> None:
    if not requested or ctx.resilient_parsing:
        return
    from .context import say

    # Only where --json is given: a variable must not change what other programs read.
    if ctx.get_parameter_source("as_json") is click.core.ParameterSource.COMMANDLINE:
        say(json.dumps({"name": DISTRIBUTION, "version": __version__, "build": build_id()}))
    else:
        say(f"openclaw-memory, version {__version__}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": None,
        "max_content_width": get_terminal_size().columns,
    },
)
@click.option("--workspace", "-w", metavar="DIR", envvar="OPENCLAW_MEMORY_WORKSPACE", help="The agent's workspace.")
@click.option("--agent", metavar="ID", envvar="OPENCLAW_MEMORY_AGENT", default="main", show_default=True,
              help="Whose memory it is; each agent has an index of its own.")  # fmt: skip
@click.option("--db", metavar="FILE|URL", envvar="OPENCLAW_MEMORY_DB",
              help="The index file, or the PostgreSQL server that holds the index.")  # fmt: skip
@click.option("--config", metavar="FILE", type=click.Path(path_type=Path), help="The YAML settings file.")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Change one setting for this run.")
@click.option("--json", "as_json", is_flag=True, is_eager=True, envvar="OPENCLAW_MEMORY_JSON", help="Print JSON.")
@click.option("--verbose", "-v", is_flag=True, help="Log what is done to stderr.")
@click.option("--version", is_flag=True, expose_value=False, callback=_show_version,
              help="Show the version and exit; with --json the name of the distribution too.")  # fmt: skip
@click.pass_context
def cli(
    ctx: click.Context,
    workspace: str | None,
    agent: str,
    db: str | None,
    config: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
    verbose: bool,
) -> None:
    """Local long-term memory for OpenClaw agents: no LLM call, no network.

    Reads MEMORY.md, USER.md and memory/**/*.md of a workspace into one DuckDB file, and answers
    questions with exact lines.

    \b
      openclaw-memory demo
      openclaw-memory ingest
      openclaw-memory search "why did we move the backups?"
    """
    from .context import CliContext, parse_assignments, without_password

    handler = logging.StreamHandler()
    if not verbose:
        # What these warn of is in the result too, and is shown from there.
        handler.addFilter(lambda record: record.name not in ("openclaw_memory", "openclaw_memory.store"))
    handler.setFormatter(_Lines("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler])
    for chatty in ("httpx", "httpcore", "filelock", "markdown_it"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    overrides = parse_assignments(assignments, "--set")
    without_password(overrides.get("store.url", ""))
    if db is not None and is_url(db):
        if ctx.get_parameter_source("db") is click.core.ParameterSource.COMMANDLINE:
            without_password(db)
        overrides["store.url"], db = db, None
    ctx.obj = CliContext(ctx.meta.get(_JSON, as_json), workspace, agent, db, config, overrides)


def _open_streams() -> None:
    """Open the null device for those of stdin, stdout and stderr that the parent process has closed.

    The next opened file, such as the index, would get the number of one of them, and messages would be written to it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r+" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def main() -> None:
    """Entry point of the console script."""
    if sys.argv[1:2] in (["call"], ["hook"]):  # for hosts, which wait: nothing else is loaded
        from importlib import import_module

        import_module(f"..serve.{sys.argv[1]}", __package__).main()
        return
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    cli.main(prog_name="openclaw-memory")
