"""``setup``: connect this memory with OpenClaw or another host, and remove it again.

For OpenClaw that is: check, install the plugin, switch the memory slot, read the notes, search.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..config.openclaw_home import is_plain_json, value_at
from ..config.settings import Settings
from ..embed import registry
from ..errors import OpenClawMemoryError, writing
from ..hosts import HOSTS, NAME, HostError, bundles, claude_code, codex, hermes
from ..hosts.config_file import read_text
from ..hosts.events import ACTIONS
from ..hosts.mcp import JSON_HOSTS, SERVERS, Server
from ..hosts.memories import own_memories
from ..hosts.openclaw import Agent, OpenClaw, find_openclaw
from ..hosts.openclaw_config import (
    SLOT,
    ConfigSnapshot,
    KeyChange,
    disable_before_install,
    extra_paths,
    memory_search_enabled,
    setup_changes,
)
from ..hosts.plugin_files import list_environments, plugin_version, remove_unused_environments, same_files
from ..hosts.process import own_command
from ..model import Check, counted
from ..records import dataclass
from ..system import atomic, shell
from ..version import __version__
from .context import CliContext, common_options, ingest_progress, offline_option, pull_if_missing, say, yes_option
from .import_ import read_live
from .search import show

if TYPE_CHECKING:
    from ..memory import Memory


#: What OpenClaw does without its own memory.
_LOST = (
    "OpenClaw's own memory stops: it promotes nothing into MEMORY.md, searches session transcripts only with "
    "ingest.session_days, and recalls no standing intents; one that you write into a note ('When somebody mentions the "
    "launch, ask Wren about it') is given beside a message that mentions it. setup --uninstall brings it all back"
)


@click.command()
@click.argument("host", required=False, type=click.Choice(HOSTS))
@yes_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--uninstall", is_flag=True, help="Put everything back; notes stay as they are.")
@click.option("--openclaw", "executable", metavar="PATH", help="The openclaw command; default: the one on PATH.")
@click.option("--profile", metavar="NAME", help="The profile of OpenClaw.")
@click.option("--installed", is_flag=True, help="OpenClaw has the plugin already: leave its files as they are.")
@offline_option
@click.option("--query", metavar="TEXT", help="What to search for at the end; default: a heading of the newest note.")
@click.option("--project", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="For this project only, with a host that has such settings; default: for all of them.")  # fmt: skip
@click.option("--print", "printed", is_flag=True, help="Print the entry for any other MCP client, and change nothing.")
@common_options
def setup(cli: CliContext, host: str | None, project: Path | None, printed: bool, **options: Any) -> None:
    """Connect HOST with this memory: openclaw, or one that is told of an MCP server.

    Shows what will change and asks before it changes anything.  For OpenClaw it checks what is needed,
    installs the plugin, gives it the memory slot, reads the notes of every agent and ends with a search.
    The other hosts get the MCP server 'openclaw-memory serve' and hooks, by which it reminds and remembers by itself;
    --print shows the server, for clients not named here.
    """
    if printed and host is not None:
        raise click.UsageError(f"--print goes without a host; 'setup {host} --dry-run' shows its change")
    if printed:
        cli.emit({SERVERS: {NAME: _server(cli).entry()}})
        return
    run = SetupRun(cli, host or "openclaw", host is not None, project=project, **options)
    if run.host != "openclaw":
        _register(run)
    elif project is not None:
        raise click.UsageError("--project is for the other hosts; name one, such as claude-code")
    elif run.uninstall:
        uninstall(run)
    else:
        install(run)
    run.end()


def _register(run: SetupRun) -> None:
    """Add the MCP server to a host's configuration, or remove it."""
    for option, value in (
        ("--openclaw", run.executable), ("--profile", run.profile), ("--query", run.query),
        ("--offline", run.cli.overrides.get("embedding.offline") is True), ("--installed", run.installed),
    ):  # fmt: skip
        if value:
            raise click.UsageError(f"{option} is for openclaw")
    host: Any = {**JSON_HOSTS, "claude-code": claude_code, "codex": codex, "hermes": hermes}.get(run.host)
    title = host.TITLE if host is not None else bundles.TITLES[run.host]
    project = run.project.absolute() if run.project is not None else None
    server = None if run.uninstall else _server(run.cli, hooks=run.host in ACTIONS)
    entries = [host.register(server, project) if server else host.unregister(project)] if host is not None else []
    plugin = bundles.plan_plugin(run.host, server, project)
    planned = [*entries, *plugin] if server else [*plugin, *entries]
    changes = [change for change in planned if change.diff]
    if not changes:
        what = "not there" if run.uninstall else "there already"
        where = f"{planned[0].location}: our entry" if planned else "our plugin"
        run.step(title, f"{where} is {what}; nothing to change")
        if server is not None:
            _offer_own_memories(run, title, run.cli.find_workspace())
        return
    for change in changes:
        run.plan(change.location, change.diff)
    if server is not None and server.capture:
        run.cli.say(
            "\nSentences of your turns that are worth keeping will be kept in memory/captures/ of the workspace."
        )
    if not run.confirm(f"Change {title}'s configuration?"):
        return
    for change in changes:
        change.apply()
        run.step(title, f"{change.location}: {'removed' if run.uninstall else 'written'}")
    run.record["applied"] = True
    if server is not None:
        _offer_own_memories(run, title, run.cli.find_workspace())
    run.next_step(changes[0].next_step)


def _offer_own_memories(run: SetupRun, title: str, workspace: Path) -> None:
    """Tell of the notes that the host writes itself and that are not read yet, and how to have them read, or ask."""
    read = [os.path.realpath(os.path.expanduser(each.path)) for each in run.cli.settings().ingest.extra_paths]
    for place in own_memories(run.host, (run.project or workspace).absolute()):
        if os.path.realpath(place) in read or place.resolve().is_relative_to(workspace.resolve() / "memory"):
            continue
        command = shell.join([NAME, "-w", str(workspace), "import", "folder", str(place), "--trust", "agent"])
        run.record["memories"] = [*run.record.get("memories", []), {"path": str(place), "command": command}]
        run.cli.say(f"\n{title} has notes of its own in {place}.")
        if run.yes or run.cli.json or run.dry_run or not sys.stdin.isatty():
            run.cli.say(f"to have them read where they are: {command}")
        elif click.confirm("Read them where they are?", default=False):
            read_live(run.cli, place, "agent", ask=False)


def _server(cli: CliContext, hooks: bool = False) -> Server:
    """Return the server of the memory; with ``hooks`` it captures, unless the settings say otherwise."""
    capture = hooks and cli.load_settings()[1]["capture.enabled"] == "default"
    return Server(own_command(), cli.find_workspace(), cli.agent, cli.config, capture)


# -- output ------------------------------------------------------------------------------------------


@dataclass
class SetupRun:
    """One run of ``setup`` with its options; prints checks, plans and steps, with ``--json`` one document at the end.

    ``named`` is true if the host was given.
    """

    cli: CliContext
    host: str
    named: bool
    yes: bool = False
    dry_run: bool = False
    uninstall: bool = False
    executable: str | None = None
    profile: str | None = None
    installed: bool = False
    query: str | None = None
    project: Path | None = None
    record: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.record = {"host": self.host, "steps": [], "changes": [], "applied": False, "next": None}

    def step(self, name: str, detail: str) -> None:
        """Print a step that was checked or done."""
        self.check(Check(name, True, detail))

    def check(self, check: Check) -> None:
        """Print a check as ``doctor`` does."""
        self.record["steps"].append(check)
        if not self.cli.json:
            self.cli.show_check(check)

    def plan(self, where: str, lines: list[str]) -> None:
        """Print a planned change as a diff."""
        self.record["changes"].append({"where": where, "lines": lines})
        if self.cli.json:
            return
        say(f"\n{where}")
        colours = {"+": "green", "-": "red", "~": "yellow"}
        for line in lines:
            self.cli.line("  ", (line, colours.get(line[:1], "")), soft_wrap=True)

    def confirm(self, question: str) -> bool:
        """Ask to go on; false with ``--dry-run``, true with ``--yes``.  Exits 2 if nobody can answer, 1 if refused."""
        if self.dry_run:
            self.cli.say("\nnothing was changed (--dry-run)")
            return False
        if self.yes:
            return True
        if self.cli.json or not sys.stdin.isatty():
            self.record["next"] = "run the same again with --yes"
            self.end()
            say("nothing was changed: nobody is here to agree; run the same again with --yes", err=True)
            raise SystemExit(2)
        self.cli.say("")
        if click.confirm(question):
            return True
        self.cli.say("nothing was changed")
        raise SystemExit(1)

    def next_step(self, text: str) -> None:
        """Print the next step."""
        self.record["next"] = text
        self.cli.say(f"next: {text}")

    def end(self) -> None:
        """Print the JSON document."""
        if self.cli.json:
            self.cli.emit(self.record)


# -- OpenClaw -------------------------------------------------------------------------------------------


def install(run: SetupRun) -> None:
    """Put this memory into OpenClaw's memory slot, and run a search."""
    if run.cli.db is not None:
        raise click.UsageError("--db cannot be given: the plugin chooses the index file, and setup fills that one")
    host = _find_host(run)
    settings = _settings(run, host)
    host.validate()
    executable, config = Path(own_command()), host.home.config()
    # In an environment that the plugin made, it finds the command to start itself.
    found = any(map(executable.is_relative_to, list_environments(host.home.plugin_state)))
    command = None if found else str(executable)
    folder, agents = host.plugin_folder(), _agents(run, host)
    extra, left_out = extra_paths(config, {agent.id: agent.workspace for agent in agents})
    extra = [] if settings.ingest.extra_paths else extra
    changes = setup_changes(config, command, extra)
    installs = not run.installed and (folder is None or not same_files(folder))
    if not (changes or installs):
        run.step("openclaw", "the plugin is installed and has the memory slot; nothing to change")
        if not run.dry_run:
            _read_and_search(run, settings, host, agents)
            if run.installed:
                _remove_old_environments(run, host)
        return
    _plan(run, host, changes, _plugin_lines(folder) if installs else [])
    if value_at(config, SLOT) != NAME:
        run.cli.say(f"\nnote: {_LOST}")
        for entry in left_out:
            run.cli.say(f"note: memory.search.extraPaths: {entry} has a pattern, which this memory cannot follow")
    if not run.confirm("Install the plugin and change OpenClaw's configuration?"):
        return
    home = _home(host, config, installed=folder is not None or run.installed)
    with _restore_on_failure(run, host):
        if installs:
            run.cli.say("\ninstalling the plugin …")
            host.change(disable_before_install(config))
            host.install_plugin()
            run.step("plugin", f"installed in {host.plugin_folder()}")
        # The slot comes last: until this memory has answered, OpenClaw keeps the one that it has.
        _read_and_search(run, settings, host, agents)
        host.change(setup_changes(host.home.config(), command, extra))
        if left := setup_changes(host.home.config(), command, extra):
            keys = ", ".join(".".join(change.path) for change in left)
            raise HostError(f"OpenClaw did not take {keys}", "run: openclaw doctor", host.home.config_file)
    run.record["applied"] = True
    run.step("configuration", f"{host.home.config_file}; what it was before is kept in {home / 'setup.json'}")
    if run.installed:
        _remove_old_environments(run, host)
    _next(run, host)


def uninstall(run: SetupRun) -> None:
    """Restore OpenClaw's configuration, and remove the plugin."""
    host = _find_host(run)
    host.validate()
    config, home = host.home.config(), host.home.plugin_state
    before, folder = ConfigSnapshot.load(home), host.plugin_folder()
    if before is None and (folder is not None or value_at(config, SLOT) == NAME):
        where = f"{home / 'setup.json'}: is not there or not readable, so what was before is not known"
        undo = f"config unset {'.'.join(SLOT)}" if folder is None else f"plugins uninstall {NAME}"
        raise HostError(where, f"run: openclaw {undo}")
    before = before or ConfigSnapshot.take(config, host.home.config_file, plugin_installed=False)
    changes = before.restoring_changes(config)
    removes = folder is not None and not before.plugin_installed
    if removes or changes:
        _plan(run, host, changes, [f"- plugin in {folder}"] if removes else [])
    states = _states(run, host)
    if not (removes or changes):
        run.step("openclaw", "nothing of openclaw-memory is set up here; nothing to put back")
    elif not run.confirm("Put OpenClaw's configuration back and remove the plugin?"):
        return
    else:
        if removes:
            run.cli.say("\nremoving the plugin …")
            host.uninstall_plugin()
        host.change(before.restoring_changes(host.home.config()))
        run.record["applied"] = True
        what = "what concerns this memory is as it was before setup; the notes were not touched"
        run.step("configuration", f"{host.home.config_file}: {what}")
        if (copy := _copy(home, host)).is_file():
            run.step("comments", f"the file as it was before setup, with its comments, is {copy}")
    if run.dry_run:
        return
    ConfigSnapshot.delete(home)
    if folder is not None and before.plugin_installed:
        run.step("plugin", f"it was there before setup and stays; to remove it: openclaw plugins uninstall {NAME}")
    if any((home / "index").glob("*/*.duckdb")):
        run.step("index", f"kept in {home / 'index'}; to remove it: delete that folder")
    for workspace, state in states.items():
        purge = shell.join(["openclaw-memory", "-w", str(workspace), "state", "purge"])
        run.step("state", f"kept in {state}; to remove it: {purge}")
    for environment in list_environments(home):
        run.step("environment", f"kept in {environment}; to remove it: delete that folder")
    _next(run, host, gone=True)


# -- checks -----------------------------------------------------------------------------------------


def _find_host(run: SetupRun) -> OpenClaw:
    command = find_openclaw(run.executable)
    if command is None:
        where = f"{run.executable}: no such program" if run.executable else "openclaw is not on PATH"
        others = "" if run.named else f"; for another host: openclaw-memory setup {' | '.join(HOSTS[1:])}"
        raise HostError(
            where, f"install OpenClaw (npm install -g openclaw) or give its command with --openclaw PATH{others}"
        )
    host = OpenClaw(command, run.profile)
    version = ".".join(map(str, host.version()))
    run.step("openclaw", f"{version} at {command}, state in {host.home.state}")
    return host


def _agents(run: SetupRun, host: OpenClaw) -> list[Agent]:
    agents = host.agents()
    if run.cli.workspace is None:
        return agents
    folder = Path(os.path.expanduser(run.cli.workspace)).resolve()
    matching = [agent for agent in agents if agent.workspace.resolve() == folder]
    return matching or [Agent(run.cli.agent, folder)]


def _settings(run: SetupRun, host: OpenClaw) -> Settings:
    """Return the settings in force with the plugin's folder of index files, so that both use the same ones."""
    folder = host.home.plugin_state / "index"
    settings, source = run.cli.load_settings(folder, run.profile)
    if os.environ.get("OPENCLAW_MEMORY_STORE_FOLDER") or source["store.folder"] == host.home.plugin_key("settings"):
        return settings
    return settings.with_values({"store.folder": str(folder)})


def _remove_old_environments(run: SetupRun, host: OpenClaw) -> None:
    for environment in remove_unused_environments(host.home.plugin_state):
        run.step("environment", f"removed {environment}: another one is in use, and nothing ran from it")


# -- the change -------------------------------------------------------------------------------------


def _plugin_lines(folder: Path | None) -> list[str]:
    if folder is None:
        return [f"+ plugin {__version__}"]
    version = plugin_version(folder)
    if version == __version__:
        return [f"~ plugin {version} in {folder}: its files are not those of this package"]
    return [f"~ plugin {version} → {__version__} in {folder}"]


def _plan(run: SetupRun, host: OpenClaw, changes: list[KeyChange], plugin: list[str]) -> None:
    """Print the planned changes; raise ``HostError`` if the configuration must be changed elsewhere."""
    file = host.home.config_file
    if plugin:
        run.plan("plugins of OpenClaw", plugin)
    if changes:
        run.plan(str(file), [line for change in changes for line in change.lines()])
    if not is_plain_json(file):
        run.cli.say(
            f"\nnote: OpenClaw writes {file.name} as plain JSON; comments in it are lost, now or at its next change"
        )
    if (reason := host.read_only()) and not run.dry_run:
        raise HostError(reason, "make the change above there, and install the plugin there")


def _home(host: OpenClaw, config: dict[str, object], installed: bool) -> Path:
    """Return our folder in OpenClaw's state after recording the configuration there, unless an earlier setup did."""
    home, file = host.home.plugin_state, host.home.config_file
    with writing(home, HostError, f"make {host.home.state} writable"):
        atomic.make_folder(home, 0o700)
        ours = installed or value_at(config, SLOT) == NAME
        if ConfigSnapshot.load(home) is None or not ours:
            ConfigSnapshot.take(config, file, installed).save(home)
            if not is_plain_json(file):
                atomic.write_bytes(_copy(home, host), (read_text(file) or "").encode("utf-8"), 0o600)
    return home


@contextlib.contextmanager
def _restore_on_failure(run: SetupRun, host: OpenClaw) -> Iterator[None]:
    """Restore OpenClaw's configuration when the block fails, and add the next step to the error."""
    before = ConfigSnapshot.take(host.home.config(), host.home.config_file, plugin_installed=False)
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(HostError):
            host.change(before.restoring_changes(host.home.config()))
        if not isinstance(error, OpenClawMemoryError):
            raise
        profile = f" --profile {run.profile}" if run.profile else ""
        raise HostError(
            f"{error}; OpenClaw keeps the memory that it had; "
            f"run this again, or put everything back: openclaw-memory setup openclaw{profile} --uninstall"
        ) from error


def _copy(home: Path, host: OpenClaw) -> Path:
    """Return the path of the copy of a configuration with comments."""
    return home / f"{host.home.config_file.name}.before"


def _states(run: SetupRun, host: OpenClaw) -> dict[Path, Path]:
    """Return the state files of the agents' workspaces that exist, by workspace."""
    from ..store.state.opening import open_state

    settings = _settings(run, host)
    states = {agent.workspace: open_state(agent.workspace, settings.state).file for agent in _agents(run, host)}
    return {workspace: file for workspace, file in states.items() if file is not None and file.exists()}


# -- the first ingest and search --------------------------------------------------------------------


def _read_and_search(run: SetupRun, settings: Settings, host: OpenClaw, agents: list[Agent]) -> None:
    """Ingest the notes of every agent that has memory search, then search those of the first one that has any."""
    from ..memory import Memory

    run.record["ingest"] = []
    config = host.home.config()
    with contextlib.ExitStack() as stack:
        searched: Memory | None = None
        for agent in agents:
            if not memory_search_enabled(config, agent.id):
                run.step(f"notes of {agent.id}", "not read: memory search is off for this agent")
                continue
            if not agent.workspace.is_dir():
                run.step(f"notes of {agent.id}", f"{agent.workspace} is not there yet; its first session reads it")
                continue
            with contextlib.ExitStack() as until_read:
                memory = until_read.enter_context(Memory(agent.workspace, agent=agent.id, settings=settings))
                if _ingest(run, memory, agent) and searched is None:
                    searched = memory
                    stack.push(until_read.pop_all())
        query = (run.query or _query(searched)) if searched is not None else None
        if searched is None or not query:
            run.cli.say("no notes to search yet: the agent writes them as you talk to it")
            return
        result = searched.search(query, max_results=3)
    run.record["search"] = {"query": query, "agent": searched.agent, "result": result}
    run.cli.say(f"\nsearch: {query}\n")
    if not run.cli.json:
        show(run.cli, result)
    # Where somebody reads it who has chosen no model, and who has a network.
    if settings.embedding.model == registry.AUTO and not (settings.embedding.offline or run.yes):
        run.cli.say(f"\n{registry.describe_larger()}")


def _ingest(run: SetupRun, memory: Memory, agent: Agent) -> bool:
    """Ingest the notes of one agent; return true if there are any."""
    from .checks import model_checks

    pull_if_missing(run.cli, memory)
    resolved = memory.prove_embedder()
    if not run.record["ingest"]:
        for check in model_checks(resolved, memory.settings):
            run.check(check)
    with ingest_progress(run.cli) as progress:
        report = memory.ingest(embed="eager", progress=progress)
    run.record["ingest"].append({"agent": agent.id, "workspace": str(memory.workspace), "report": report})
    if not report.files:
        run.step(f"notes of {agent.id}", f"none in {memory.workspace} yet")
        return False
    pending = f", {report.pending} still to embed" if report.pending and resolved.embedder is not None else ""
    run.step(
        f"notes of {agent.id}",
        f"{counted(report.files, 'file')} in {memory.workspace}, {counted(report.chunks, 'unit')}, "
        f"{report.embedded} embedded{pending}, {report.seconds:.1f} s",
    )
    if report.warning != resolved.reason:  # the search prints that reason
        run.cli.remark(report.warning)
    return True


def _query(memory: Memory) -> str | None:
    """Return a heading of the newest note below its title, which often is its date; else a line of it."""
    from ..ingest.scan import scan

    files = sorted(scan(memory.workspace, memory.settings.ingest).files, key=lambda file: -file.mtime_ns)[:20]
    lines = [line.strip() for file in files for line in memory.get(file.path).text.split("\n")]
    lines = [line for line in lines if re.search(r"[^\W\d_]{3}", line)]
    lines.sort(key=lambda line: 0 if line.startswith("##") else 2 if line.startswith("#") else 1)
    words = (" ".join(re.sub(r"[*_`\[\]>#|-]+", " ", line).split())[:80] for line in lines)
    return next(filter(None, words), None)


def _next(run: SetupRun, host: OpenClaw, gone: bool = False) -> None:
    if not host.outputs:
        return
    openclaw = "openclaw" + (f" --profile {host.profile}" if host.profile else "")
    if not host.gateway_runs():
        if not gone:
            run.next_step(f"start the gateway: {openclaw} gateway")
    elif host.wants_restart:
        run.next_step(f"restart the gateway: {openclaw} gateway restart")
    else:
        run.step("gateway", "it runs, and has taken the change over without a restart")
