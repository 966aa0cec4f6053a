"""``setup openclaw``: check, install, switch over, read the notes, search; and all of it back again."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..hosts import NAME
from ..system import shell
from .context import CliContext
from .teller import Options, Teller

if TYPE_CHECKING:
    from ..config.settings import Settings
    from ..hosts.openclaw import Agent, OpenClaw
    from ..hosts.openclaw_config import KeyChange
    from ..memory import Memory


def install(cli: CliContext, chosen: Options, teller: Teller) -> None:
    """Put this memory into OpenClaw's memory slot, and show that it answers."""
    from ..hosts import HostError
    from ..hosts.openclaw_config import wanted_changes, without_slot
    from ..hosts.plugin_files import same_files

    if cli.db is not None:
        raise click.UsageError("--db cannot be given: the plugin chooses the index file, and setup fills that one")
    host = _found(chosen, teller)
    settings = _settings(cli, chosen, host)
    host.validate()
    command, config = _command(host), host.home.config()
    changes, folder, agents = wanted_changes(config, command), host.plugin_folder(), _agents(cli, host)
    installs = not chosen.installed and (folder is None or not same_files(folder))
    if not (changes or installs):
        teller.step("openclaw", "the plugin is installed and has the memory slot; nothing to change")
        if not chosen.dry_run:
            _read_and_search(cli, chosen, teller, settings, _remembering(teller, host, agents))
            if chosen.installed:
                _remove_old_environments(teller, host)
        return
    _show(teller, host, changes, _plugin_lines(folder) if installs else [])
    _refuse_read_only(chosen, host)
    if not teller.agreed("Install the plugin and change OpenClaw's configuration?"):
        return
    home = _home(host, config, installed=folder is not None or chosen.installed)
    with _as_it_was(chosen, host):
        if installs:
            teller.say("\ninstalling the plugin …")
            host.change(without_slot(config))
            host.install_plugin()
            teller.step("plugin", f"installed in {host.plugin_folder()}")
        # The slot comes last: until this memory has answered, OpenClaw keeps the one that it has.
        _read_and_search(cli, chosen, teller, settings, _remembering(teller, host, agents))
        host.change(wanted_changes(host.home.config(), command))
        if left := wanted_changes(host.home.config(), command):
            keys = ", ".join(".".join(change.path) for change in left)
            raise HostError(f"{host.home.config_file}: OpenClaw did not take {keys}; run: openclaw doctor")
    teller.record["applied"] = True
    teller.step("configuration", f"{host.home.config_file}; what it was before is kept in {home / 'setup.json'}")
    if chosen.installed:
        _remove_old_environments(teller, host)
    _next(teller, host, bool(host.said))


def uninstall(cli: CliContext, chosen: Options, teller: Teller) -> None:
    """Put back what OpenClaw's configuration was, and remove the plugin."""
    from ..config.openclaw_home import value_at
    from ..hosts import HostError
    from ..hosts.environments import made
    from ..hosts.openclaw_config import SLOT
    from ..hosts.remembered import Before, forget, recall

    host = _found(chosen, teller)
    host.validate()
    config, home = host.home.config(), host.home.ours
    before, folder = recall(home), host.plugin_folder()
    if before is None and (folder is not None or value_at(config, SLOT) == NAME):
        where = f"{home / 'setup.json'}: is not there or not readable, so what was before is not known"
        undo = f"config unset {'.'.join(SLOT)}" if folder is None else f"plugins uninstall {NAME}"
        raise HostError(f"{where}; run: openclaw {undo}")
    before = before or Before.of(config, host.home.config_file, plugin_installed=False)
    changes = before.restoring(config)
    removes = folder is not None and not before.plugin_installed
    if removes or changes:
        _show(teller, host, changes, [f"- plugin in {folder}"] if removes else [])
        _refuse_read_only(chosen, host)
    states = _states(cli, chosen, host)
    if not (removes or changes):
        teller.step("openclaw", "nothing of openclaw-memory is set up here; nothing to put back")
    elif not teller.agreed("Put OpenClaw's configuration back and remove the plugin?"):
        return
    else:
        if removes:
            teller.say("\nremoving the plugin …")
            host.uninstall_plugin()
        host.change(before.restoring(host.home.config()))
        teller.record["applied"] = True
        what = "what concerns this memory is as it was before setup; the notes were not touched"
        teller.step("configuration", f"{host.home.config_file}: {what}")
        if (copy := _copy(home, host)).is_file():
            teller.step("comments", f"the file as it was before setup, with its comments, is {copy}")
    if chosen.dry_run:
        return
    forget(home)
    if folder is not None and before.plugin_installed:
        teller.step("plugin", f"it was there before setup and stays; to remove it: openclaw plugins uninstall {NAME}")
    if any((home / "index").glob("*/*.duckdb")):
        teller.step("index", f"kept in {home / 'index'}; to remove it: delete that folder")
    for workspace, state in states.items():
        purge = shell.join(["openclaw-memory", "-w", str(workspace), "state", "purge"])
        teller.step("state", f"kept in {state}; to remove it: {purge}")
    for environment in made(home):
        teller.step("environment", f"kept in {environment}; to remove it: delete that folder")
    _next(teller, host, bool(host.said), gone=True)


# -- checks -----------------------------------------------------------------------------------------


def _found(chosen: Options, teller: Teller) -> OpenClaw:
    from ..hosts import HostError
    from ..hosts.openclaw import OpenClaw, find_openclaw

    command = find_openclaw(chosen.executable)
    if command is None:
        where = f"{chosen.executable}: no such program" if chosen.executable else "openclaw is not on PATH"
        others = "" if chosen.named else "; for another host: openclaw-memory setup claude-code, codex or cursor"
        raise HostError(
            f"{where}; install OpenClaw (npm install -g openclaw) or give its command with --openclaw PATH{others}"
        )
    host = OpenClaw(command, chosen.profile)
    version = ".".join(map(str, host.version()))
    teller.step("openclaw", f"{version} at {command}, state in {host.home.state}")
    return host


def _refuse_read_only(chosen: Options, host: OpenClaw) -> None:
    from ..hosts import HostError

    reason = host.read_only()
    if reason and not chosen.dry_run:
        raise HostError(f"{reason}; make the change above there, and install the plugin there")


def _agents(cli: CliContext, host: OpenClaw) -> list[Agent]:
    from ..hosts.openclaw import Agent

    agents = host.agents()
    if cli.workspace is None:
        return agents
    folder = Path(os.path.expanduser(cli.workspace)).resolve()
    theirs = [agent for agent in agents if agent.workspace.resolve() == folder]
    return theirs or [Agent(cli.agent, folder, True)]


def _settings(cli: CliContext, chosen: Options, host: OpenClaw) -> Settings:
    """The settings in force, with the plugin's folder for the index files, so that both use the same ones."""
    given = {"embedding.offline": True} if chosen.offline else {}
    folder = host.home.ours / "index"
    settings, source = cli.load_settings(given, folder, chosen.profile)
    if os.environ.get("OPENCLAW_MEMORY_STORE_FOLDER") or source["store.folder"] == host.home.plugin_key("settings"):
        return settings
    return settings.with_values({"store.folder": str(folder)})


def _command(host: OpenClaw) -> str | None:
    """What the plugin is told to start; nothing when it is in an environment that the plugin made, and finds."""
    from ..hosts.environments import made
    from ..hosts.process import own_command

    command = Path(own_command())
    return None if any(map(command.is_relative_to, made(host.home.ours))) else str(command)


def _remove_old_environments(teller: Teller, host: OpenClaw) -> None:
    from ..hosts.environments import remove_unused

    for environment in remove_unused(host.home.ours):
        teller.step("environment", f"removed {environment}: another one is in use, and nothing ran from it")


# -- the change -------------------------------------------------------------------------------------


def _plugin_lines(folder: Path | None) -> list[str]:
    from ..hosts.plugin_files import plugin_version
    from ..version import __version__

    if folder is None:
        return [f"+ plugin {__version__}"]
    version = plugin_version(folder)
    if version == __version__:
        return [f"~ plugin {version} in {folder}: its files are not those of this package"]
    return [f"~ plugin {version} → {__version__} in {folder}"]


def _show(teller: Teller, host: OpenClaw, changes: list[KeyChange], plugin: list[str]) -> None:
    from ..config.openclaw_home import is_plain_json

    file = host.home.config_file
    if plugin:
        teller.plan("plugins of OpenClaw", plugin)
    if changes:
        teller.plan(str(file), [line for change in changes for line in change.lines()])
    if not is_plain_json(file):
        teller.say(
            f"\nnote: OpenClaw writes {file.name} as plain JSON; comments in it are lost, now or at its next change"
        )


def _home(host: OpenClaw, config: dict[str, object], installed: bool) -> Path:
    """Our folder in OpenClaw's state, with what is now remembered there unless an earlier setup did."""
    from ..config.openclaw_home import is_plain_json, value_at
    from ..errors import remedy
    from ..hosts import HostError
    from ..hosts.change import read_text
    from ..hosts.openclaw_config import SLOT
    from ..hosts.remembered import Before, recall, remember
    from ..system import atomic

    home, file = host.home.ours, host.home.config_file
    try:
        atomic.make_folder(home, 0o700)
        ours = installed or value_at(config, SLOT) == NAME
        if recall(home) is None or not ours:
            remember(home, Before.of(config, file, installed))
            if not is_plain_json(file):
                atomic.swap(_copy(home, host), (read_text(file) or "").encode("utf-8"), 0o600)
    except OSError as error:
        step = remedy(error, f"make {host.home.state} writable")
        raise HostError(f"{home}: {error.strerror or error}; {step}") from error
    return home


@contextlib.contextmanager
def _as_it_was(chosen: Options, host: OpenClaw) -> Iterator[None]:
    """Put OpenClaw's configuration back when the block fails, and say what failed and what to do."""
    from ..errors import OpenClawMemoryError
    from ..hosts import HostError
    from ..hosts.remembered import Before

    before = Before.of(host.home.config(), host.home.config_file, plugin_installed=False)
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(HostError):
            host.change(before.restoring(host.home.config()))
        if not isinstance(error, OpenClawMemoryError):
            raise
        profile = f" --profile {chosen.profile}" if chosen.profile else ""
        raise HostError(
            f"{error}; OpenClaw keeps the memory that it had; "
            f"run this again, or put everything back: openclaw-memory setup openclaw{profile} --uninstall"
        ) from error


def _copy(home: Path, host: OpenClaw) -> Path:
    """Where the configuration is kept as it was, when it had comments."""
    return home / f"{host.home.config_file.name}.before"


def _states(cli: CliContext, chosen: Options, host: OpenClaw) -> dict[Path, Path]:
    """The states of the agents' workspaces that hold anything, by workspace."""
    from ..store.state.opening import open_state

    settings = _settings(cli, chosen, host)
    found = {}
    for agent in _agents(cli, host):
        state = open_state(agent.workspace, settings.state)
        if state.file is not None and state.file.exists():
            found[agent.workspace] = state.file
    return found


# -- the first ingest and search --------------------------------------------------------------------


def _remembering(teller: Teller, host: OpenClaw, agents: list[Agent]) -> list[Agent]:
    """The agents whose notes may be read."""
    from ..hosts.openclaw_config import remembers

    config = host.home.config()
    for agent in agents:
        if not remembers(config, agent.id):
            teller.step(f"notes of {agent.id}", "not read: memory search is off for this agent")
    return [agent for agent in agents if remembers(config, agent.id)]


def _read_and_search(cli: CliContext, chosen: Options, teller: Teller, settings: Settings, agents: list[Agent]) -> None:
    """Read the notes of every agent, then ask the first one that has any."""
    from ..memory import Memory
    from .search import show

    teller.record["ingest"] = []
    with contextlib.ExitStack() as stack:
        asked: Memory | None = None
        for agent in agents:
            if not agent.workspace.is_dir():
                detail = f"{agent.workspace} is not there yet; its first session reads it"
                teller.step(f"notes of {agent.id}", detail)
                continue
            with contextlib.ExitStack() as until_read:
                memory = until_read.enter_context(Memory(agent.workspace, agent=agent.id, settings=settings))
                if _ingest(cli, teller, memory, agent) and asked is None:
                    asked = memory
                    stack.push(until_read.pop_all())
        query = (chosen.query or _query(asked)) if asked is not None else None
        if asked is None or not query:
            teller.say("no notes to search yet: the agent writes them as you talk to it")
            return
        result = asked.search(query, max_results=3)
    teller.record["search"] = {"query": query, "agent": asked.agent, "result": result}
    teller.say(f"\nsearch: {query}\n")
    if not cli.json:
        show(cli, result)


def _ingest(cli: CliContext, teller: Teller, memory: Memory, agent: Agent) -> bool:
    """Read the notes of one agent; whether there are any."""
    from ..model import counted
    from .checks import model_checks
    from .progress import ingest_progress, pull_if_missing

    pull_if_missing(cli, memory)
    resolved = memory.prove_embedder()
    if not teller.record["ingest"]:
        for check in model_checks(resolved, memory.settings):
            teller.check(check)
    with ingest_progress(cli) as show:
        report = memory.ingest(embed="eager", progress=show)
    teller.record["ingest"].append({"agent": agent.id, "workspace": str(memory.workspace), "report": report})
    if not report.files:
        teller.step(f"notes of {agent.id}", f"none in {memory.workspace} yet")
        return False
    pending = f", {report.pending} still to embed" if report.pending and resolved.embedder is not None else ""
    teller.step(
        f"notes of {agent.id}",
        f"{counted(report.files, 'file')} in {memory.workspace}, {counted(report.chunks, 'unit')}, "
        f"{report.embedded} embedded{pending}, {report.seconds:.1f} s",
    )
    if report.warning != resolved.reason:  # the search says that once more
        cli.remark(report.warning)
    return True


def _query(memory: Memory) -> str | None:
    """A heading of the newest note, below its title, which often is its date; else a line of it."""
    from ..ingest.scan import scan

    files = sorted(scan(memory.workspace, memory.settings.ingest).files, key=lambda file: -file.mtime_ns)
    lines = []
    for file in files[:20]:
        text = memory.get(file.path).text.split("\n")
        lines += [line.strip() for line in text if re.search(r"[^\W\d_]{3}", line)]
    headings = [line for line in lines if line.startswith("##")]
    plain = [line for line in lines if not line.startswith("#")]
    words = [" ".join(re.sub(r"[*_`\[\]>#|-]+", " ", line).split())[:80] for line in [*headings, *plain, *lines]]
    return next((each for each in words if each), None)


def _next(teller: Teller, host: OpenClaw, changed: bool, gone: bool = False) -> None:
    if not changed:
        return
    openclaw = "openclaw" + (f" --profile {host.profile}" if host.profile else "")
    if not host.gateway_runs():
        if not gone:
            teller.then(f"start the gateway: {openclaw} gateway")
    elif host.wants_restart:
        teller.then(f"restart the gateway: {openclaw} gateway restart")
    else:
        teller.step("gateway", "it runs, and has taken the change over without a restart")
