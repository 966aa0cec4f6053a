"""Run the command line in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from openclaw_memory.cli.main import cli


def run(*arguments: str, code: int = 0) -> Result:
    """The result of ``openclaw-memory ARGUMENTS``, which must end with this exit code."""
    done = CliRunner().invoke(cli, list(arguments), prog_name="openclaw-memory")
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done
