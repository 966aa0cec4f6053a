"""Checks of ``doctor`` that OpenClaw's agents really get this memory.

Nothing is started but the configured executable, to ask for its version: a start of OpenClaw takes seconds.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..config.openclaw_home import MISSING, OpenClawHome, value_at
from ..model import Check
from ..system.child import find_programs
from ..version import DISTRIBUTION, __version__, build_id
from . import NAME, HostError
from .openclaw import OpenClaw, find_plugin_folder
from .openclaw_config import COMMAND, HOOKS, SLOT, setup_changes
from .plugin_files import current_environment, plugin_version
from .process import find_program, own_command, run_command

_SETUP = f"run: {NAME} setup"


def check_openclaw() -> list[Check]:
    """Run the checks in the order in which one failure explains the next; none where OpenClaw is not installed."""
    home = OpenClawHome.for_environment()
    if not os.path.lexists(home.config_file):
        return []
    try:
        config = home.config()
    except HostError as error:
        return [Check("openclaw", False, str(error))]  # the reason names the next step
    folder = find_plugin_folder(home.state)
    if folder is None and (command := find_program("openclaw")) is not None:
        with suppress(HostError):
            folder = OpenClaw(command).reported_plugin_folder()
    if folder is None and value_at(config, SLOT) != NAME:
        return [Check("openclaw", True, f"its memory is not this one; to change that, run: {NAME} setup")]
    if folder is None:
        return [Check("openclaw plugin", False, "the plugin is not installed in OpenClaw", _SETUP)]
    return [_plugin(folder), _configuration(config), _executable(config, home)]


def _plugin(folder: Path) -> Check:
    version = plugin_version(folder)
    if version not in (None, __version__):
        detail = f"plugin {version} in {folder}, Python package {__version__}"
    elif (folder / "openclaw_memory").is_dir() and build_id(folder / "openclaw_memory") != build_id():
        detail = f"plugin {version} in {folder} is another build of that version than this Python package"
    else:
        return Check("openclaw plugin", True, f"{version or 'unknown version'} in {folder}")
    return Check("openclaw plugin", False, detail, _SETUP)


def _configuration(config: dict[str, Any]) -> Check:
    """Check that setup would change no key, except those that may be left out."""
    name = "openclaw configuration"
    if value_at(config, ("plugins", "enabled")) is False:
        fix = "run: openclaw config set plugins.enabled true"
        return Check(name, False, "plugins.enabled is false: OpenClaw loads no plugin", fix)
    command = value_at(config, COMMAND)
    planned = setup_changes(config, command if isinstance(command, str) else None)
    changes = [change for change in planned if change.before is not MISSING or change.path in (SLOT, HOOKS[0])]
    if not changes:
        return Check(name, True, f"the memory slot is {NAME}'s, which may see conversations and add to prompts")
    lines = "; ".join(line for change in changes for line in change.lines())
    return Check(name, False, f"it keeps agents from this memory, or from a part of it: {lines}", _SETUP)


def _executable(config: dict[str, Any], home: OpenClawHome) -> Check:
    name = "openclaw python"
    configured = value_at(config, COMMAND)
    ending = ("Scripts", f"{NAME}.exe") if sys.platform == "win32" else ("bin", NAME)
    private = current_environment(home.plugin_state).joinpath(*ending)
    if isinstance(configured, str) and configured:
        command, where = home.substitute_variables(configured, config), ".".join(COMMAND)
    elif private.is_file():
        command, where = str(private), "the plugin's own environment"
    else:
        command, where = _find_on_path() or "", "PATH"
    if not command:
        others = f"; {find_program(NAME)} does not say that it is {DISTRIBUTION}" if find_program(NAME) else ""
        return Check(name, False, f"{'.'.join(COMMAND)} is not set, and {NAME} is not on PATH{others}", _SETUP)
    with suppress(HostError, OSError):
        if os.path.samefile(command, own_command()):
            return Check(name, True, f"{command}, this one")
    try:
        result = run_command([command, "--version", "--json"], timeout=60)
    except HostError as error:
        return Check(name, False, f"{where}: {error}", _SETUP)
    report = result.json
    if result.code or not isinstance(report, dict):
        return Check(name, False, f"{where}: {command} does not run: {result.reason}", _SETUP)
    version, build = report.get("version"), report.get("build")
    if version != __version__:
        return Check(name, False, f"{where}: {command} is {version}, this is {__version__}", _SETUP)
    if build != build_id():
        return Check(name, False, f"{where}: {command} is another build of {version} than this one", _SETUP)
    return Check(name, True, f"{command}, {version}")


def _find_on_path() -> str | None:
    """Return the first executable on PATH that says it is ours, as the plugin does: another project shares the name."""
    for command in find_programs(NAME):
        try:
            report = run_command([command, "--version", "--json"], timeout=5).json
        except HostError:
            continue
        if isinstance(report, dict) and report.get("name") == DISTRIBUTION:
            return command
    return None
