"""``setup``: connect this memory with OpenClaw or another host, and take it out again."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..hosts import HOSTS
from .context import CliContext, common_options, say

if TYPE_CHECKING:
    from ..model import Check


@click.command(short_help="Connect OpenClaw, Claude Code, Codex or Cursor with this memory.")
@click.argument("host", required=False, type=click.Choice(HOSTS))
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--uninstall", is_flag=True, help="Put everything back; notes stay as they are.")
@click.option("--openclaw", "executable", metavar="PATH", help="The openclaw command; default: the one on PATH.")
@click.option("--profile", metavar="NAME", help="The profile of OpenClaw.")
@click.option("--installed", is_flag=True, help="OpenClaw has the plugin already: leave its files as they are.")
@click.option("--offline", is_flag=True, help="Do not download a missing model.")
@click.option("--query", metavar="TEXT", help="What to search for at the end; default: a heading of the newest note.")
@click.option("--purge-index", is_flag=True, help="With --uninstall: remove the index files too.")
@click.option("--purge-state", is_flag=True,
              help="With --uninstall: delete what the agents' workspaces had forgotten, judged and allowed, too.",
              )  # fmt: skip
@click.option("--project", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="Claude Code, Codex, Cursor: for this project only; default: for all of them.")  # fmt: skip
@common_options
def setup(cli: CliContext, host: str | None, project: Path | None, **options: Any) -> None:
    """Connect HOST with this memory: openclaw (the default), claude-code, codex or cursor.

    Shows what will change and asks before it changes anything.  For OpenClaw it checks what is needed,
    installs the plugin, gives it the memory slot, reads the notes of every agent and ends with a search.
    The other hosts are told of the MCP server 'openclaw-memory serve'.
    """
    chosen = Options(host or "openclaw", host is not None, project=project, **options)
    if chosen.host == "openclaw" and project is not None:
        raise click.UsageError("--project is for claude-code, codex and cursor")
    if chosen.purge_index and not chosen.uninstall:
        raise click.UsageError("--purge-index goes with --uninstall")
    if chosen.purge_state and not chosen.uninstall:
        raise click.UsageError("--purge-state goes with --uninstall")
    teller = Teller(cli, chosen)
    if chosen.host == "openclaw":
        from .setup_openclaw import install, uninstall

        (uninstall if chosen.uninstall else install)(cli, chosen, teller)
    else:
        _register(cli, chosen, teller)
    teller.end()


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``setup``; ``named`` says whether the host was given."""

    host: str
    named: bool
    yes: bool = False
    dry_run: bool = False
    uninstall: bool = False
    executable: str | None = None
    profile: str | None = None
    installed: bool = False
    offline: bool = False
    query: str | None = None
    purge_index: bool = False
    purge_state: bool = False
    project: Path | None = None

    def again(self, cli: CliContext) -> str:
        """The command line that does the same without asking."""
        words = ["openclaw-memory"]
        words += ["--agent", cli.agent] if cli.agent != "main" else []
        words += ["--config", str(cli.config)] if cli.config is not None else []
        for key, value in cli.overrides.items():
            words += ["--set", f"{key}={value}"]
        words += ["setup", self.host]
        for flag, given in (
            ("--uninstall", self.uninstall), ("--purge-index", self.purge_index),
            ("--purge-state", self.purge_state), ("--offline", self.offline), ("--installed", self.installed),
        ):  # fmt: skip
            words += [flag] if given else []
        for option, value in (
            ("--openclaw", self.executable), ("--profile", self.profile), ("--query", self.query),
            ("--project", self.project), ("--workspace", cli.workspace),
        ):  # fmt: skip
            words += [option, str(value)] if value is not None else []
        return shlex.join([*words, "--yes"])


@dataclass
class Teller:
    """Says what is checked, planned and done; with ``--json`` it is one document at the end."""

    cli: CliContext
    options: Options
    record: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.record = {"host": self.options.host, "steps": [], "changes": [], "applied": False, "next": None}

    def step(self, name: str, detail: str, *, ok: bool = True, fix: str | None = None) -> None:
        """One line of what was found or done, and how to mend it when it is wrong."""
        from ..model import Check

        self.check(Check(name, ok, detail, fix))

    def check(self, check: Check) -> None:
        """The same as a line of ``doctor``."""
        self.record["steps"].append(check)
        if self.cli.json:
            return
        from rich.text import Text

        line = Text(f"{_mark(check.ok)} ", style="green" if check.ok else "red")
        line.append(f"{check.name}: ", style="bold").append(check.detail, style="default")
        self.cli.out.print(line, highlight=False, soft_wrap=True)
        if check.fix:
            self.cli.out.print(Text(f"  {check.fix}", style="yellow"), highlight=False, soft_wrap=True)

    def plan(self, where: str, lines: list[str]) -> None:
        """The change that is about to be made, as a diff."""
        self.record["changes"].append({"where": where, "lines": lines})
        if self.cli.json:
            return
        from rich.text import Text

        self.say(f"\n{where}")
        colours = {"+": "green", "-": "red", "~": "yellow"}
        for line in lines:
            shown = Text("  ") + Text(line, style=colours.get(line[:1], ""))
            self.cli.out.print(shown, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line for people."""
        if not self.cli.json:
            say(text)

    def agreed(self, question: str) -> bool:
        """Whether to go on: asked on a terminal, else only with ``--yes``; exits 2 where nobody can answer."""
        if self.options.dry_run:
            self.say("\nnothing was changed (--dry-run)")
            return False
        if self.options.yes:
            return True
        if self.cli.json or not sys.stdin.isatty():
            again = self.options.again(self.cli)
            self.record["next"] = again
            self.end()
            say(f"nothing was changed: nobody is here to agree; run: {again}", err=True)
            raise SystemExit(2)
        self.say("")
        if click.confirm(question):
            return True
        self.say("nothing was changed")
        raise SystemExit(1)

    def then(self, text: str) -> None:
        """The next step."""
        self.record["next"] = text
        self.say(f"next: {text}")

    def end(self) -> None:
        """Print the JSON document."""
        if self.cli.json:
            self.cli.emit(self.record)


def _mark(ok: bool) -> str:
    mark = "✓" if ok else "✗"
    try:
        mark.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "ok" if ok else "wrong:"
    return mark


def _register(cli: CliContext, chosen: Options, teller: Teller) -> None:
    """Tell a host of the MCP server, or no longer."""
    from importlib import import_module

    from ..config.workspace import find_workspace
    from ..errors import WorkspaceError
    from ..hosts.mcp import Registration, Server
    from ..hosts.process import own_command

    for option, value in (
        ("--openclaw", chosen.executable), ("--profile", chosen.profile), ("--query", chosen.query),
        ("--purge-index", chosen.purge_index), ("--purge-state", chosen.purge_state),
        ("--offline", chosen.offline), ("--installed", chosen.installed),
    ):  # fmt: skip
        if value:
            raise click.UsageError(f"{option} is for openclaw")
    host = import_module(f"openclaw_memory.hosts.{chosen.host.replace('-', '_')}")
    project = chosen.project.absolute() if chosen.project is not None else None
    if chosen.uninstall:
        change: Registration = host.unregister(project)
    else:
        try:
            workspace = find_workspace(cli.workspace, agent=cli.agent)
        except WorkspaceError as error:
            raise click.UsageError(str(error)) from error
        change = host.register(Server(own_command(), workspace, cli.agent, cli.config), project)
    if not change.needed:
        what = "not there" if chosen.uninstall else "there already"
        teller.step(host.TITLE, f"{change.where}: our entry is {what}; nothing to change")
        return
    teller.plan(change.where, change.lines)
    if not teller.agreed(f"Change {host.TITLE}'s configuration?"):
        return
    change.apply()
    teller.record["applied"] = True
    teller.step(host.TITLE, f"{change.where}: {'removed' if chosen.uninstall else 'written'}")
    teller.then(change.then)
