"""``upgrade``: which version this is, how to get a newer one, and what is to be read again afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..system import shell
from ..version import __version__
from .checks import show_check
from .context import CliContext, common_options, say


@click.command(short_help="Say how to upgrade, and what is read again after it.")
@common_options
def upgrade(cli: CliContext) -> None:
    """Say which version is installed, which command installs a newer one, and what of the notes is to be read again.

    It asks no network, and neither the notes nor the program are changed.  Run it once more behind the upgrade: an
    index of any earlier version opens, and what is read in a better way now is counted there.
    """
    from ..upkeep.doctor import examine

    with cli.memory() as memory:
        # What an index of an earlier version lacks is found as what has changed since is.
        checks = [check for check in examine(memory, memory.store) if check.name in ("index", "freshness", "vectors")]
    command = _command(Path(sys.prefix))
    steps = [check.fix for check in checks if not check.ok and check.fix]
    after = [step.removeprefix("run: ") for step in dict.fromkeys([*steps, "run: openclaw-memory doctor"])]
    if cli.json:
        cli.emit({"version": __version__, "upgrade": command, "checks": checks, "next": after})
        return
    say(f"openclaw-memory {__version__}, in {sys.prefix}")
    say(f"to upgrade: {command}")
    for check in checks:
        show_check(cli, check)
    say(f"then: {'; '.join(after)}")


def _command(prefix: Path) -> str:
    """What installs a newer version where this one is."""
    from .main import DISTRIBUTION

    if {"pipx", "venvs"} <= set(prefix.parts):
        return f"pipx upgrade {DISTRIBUTION}"
    if {"uv", "tools"} <= set(prefix.parts):
        return f"uv tool upgrade {DISTRIBUTION}"
    from ..config.openclaw_home import OpenClawHome

    if prefix.is_relative_to(OpenClawHome.of().ours):
        return "openclaw memory setup --force"
    return shell.join([sys.executable, "-m", "pip", "install", "--upgrade", DISTRIBUTION])
