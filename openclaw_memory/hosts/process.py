"""Run a host's own command: with a deadline, without questions, and with its failure in one line."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from ..records import dataclass
from ..system.child import find_programs, start
from . import NAME, HostError


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output parsed as JSON; ``None`` if it is none."""
        try:
            return json.loads(self.out)
        except json.JSONDecodeError:
            return None

    @property
    def reason(self) -> str:
        """The reason of its failure, in one line."""
        answer = self.json
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            issues = [
                f"{issue.get('path')}: {issue.get('message')}"
                for issue in answer.get("issues") or []
                if isinstance(issue, dict)
            ]
            return "; ".join([str(answer["error"].get("message", "")), *issues])
        for text in (self.err, self.out):
            plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
            lines = [line.strip("│╭╮╯╰├┤┼─◇┌┐└┘ \t\r") for line in plain.split("\n")]
            # The error comes first; warnings about the configuration are not the failure.
            lines = [line for line in lines if line and not re.match(r"(\[config\] )?(config )?warnings?:", line, re.I)]
            if lines:
                return " ".join(lines[:3])[:500]
        return f"exit code {self.code} and no message"


def run_command(
    command: Sequence[str],
    *,
    timeout: float,
    input: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> CommandResult:
    """Run ``command`` for at most ``timeout`` seconds; raises :class:`HostError` when it cannot run or does not end."""
    name = Path(command[0]).name
    shown = " ".join([name, *command[1:3]])
    try:
        process = start(
            command,
            {**(os.environ if environ is None else environ), "NO_COLOR": "1", "FORCE_COLOR": "0"},
            cwd=sys.prefix,  # settings of the notes, which a host may find beside them, may name programs
            stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that what it starts ends with it
        )
    except OSError as error:
        raise HostError(f"{command[0]}: cannot be run ({error.strerror or error}); check the path") from error
    with process:
        try:
            out, err = process.communicate(None if input is None else input.encode(), timeout=timeout)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise HostError(
                    f"'{shown}' did not end within {timeout:g} s; run it yourself to see why, then run this again"
                ) from None
            raise
    return CommandResult(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _end(process: subprocess.Popen[bytes], grace_seconds: float = 3.0) -> None:
    """End the command and its children; they get ``grace_seconds`` to tidy up."""
    if sys.platform == "win32":  # no process groups, and the command is often a script that started the program
        with contextlib.suppress(psutil.Error):
            for started in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    started.kill()
        process.kill()
        return
    for number, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, None)):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(seconds)


def find_program(name: str, path: str | Path | None = None) -> str | None:
    """Return the absolute path of a program: ``path``, which may be relative, else ``name`` on PATH; or ``None``."""
    program = os.path.expanduser(path) if path else name
    return next(find_programs(os.path.abspath(program) if os.path.dirname(program) else program), None)


def own_command() -> str:
    """Return the absolute path of the ``openclaw-memory`` that belongs to this Python.

    Raises :class:`HostError` when the package runs without being installed.
    """
    ending = ".exe" if sys.platform == "win32" else ""
    folders = [sysconfig.get_path("scripts"), os.path.dirname(os.path.abspath(sys.argv[0]))]
    if sysconfig.get_preferred_scheme("user") in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for folder in folders:
        file = os.path.join(folder, NAME + ending)
        if os.path.isfile(file) and os.access(file, os.X_OK):
            return os.path.abspath(file)
    raise HostError(
        f"no executable {NAME} in {folders[0]}, so a host could not start it; install the package: pip install ."
    )
