"""Run the command line in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result
from fakes import Notes

from openclaw_memory.cli.main import cli


def run(*arguments: str, code: int = 0, given: str | None = None) -> Result:
    """The result of ``openclaw-memory ARGUMENTS``, which must end with this exit code."""
    done = CliRunner().invoke(cli, list(arguments), input=given, prog_name="openclaw-memory")
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def run_command(notes: Notes, *arguments: str, code: int = 0, given: str | None = None) -> Result:
    """The result of a command on the index beside the workspace of ``notes``, without a model."""
    index = str(notes.root.parent / "index.duckdb")
    return run(
        "--set", "embedding.model=none", "-w", str(notes.root), "--db", index, *arguments, code=code, given=given
    )
