"""Problems a person can act on, and the errors that carry them: each names the cause and the next step."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .records import dataclass


def substitute_command(text: str) -> str:
    """Return ``text`` with the program's name replaced by ``OPENCLAW_MEMORY_COMMAND``.

    A host may start this program by a path, with no ``openclaw-memory`` on PATH.
    """
    command = os.environ.get("OPENCLAW_MEMORY_COMMAND")
    before_a_command = r"(?:(?<=: )|(?<=')|(?<=see )|(?<=run ))openclaw-memory (?!of\b)(?=[a-z])"
    return re.sub(before_a_command, lambda _: f"{command} ", text) if command else text


def next_step_for(error: Exception, otherwise: str) -> str:
    """Return the next step after an operating-system error: free space if the disk is full, else ``otherwise``."""
    full = "disk is full" in str(error)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return "free some space and run it again" if full else otherwise


@dataclass(frozen=True, slots=True)
class Problem:
    """A cause, the step that mends it, and the file, folder or setting that it concerns.

    As text it reads ``path: what; next_step``.
    """

    what: str
    next_step: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return self.summary + (f"; {self.next_step}" if self.next_step else "")

    @property
    def summary(self) -> str:
        """The text without the next step."""
        return self.what if self.path is None else f"{self.path}: {self.what}"

    @classmethod
    def parse(cls, message: str) -> Problem:
        """Parse the text of a problem, from a result or another process: the last semicolon begins the next step."""
        what, _, step = message.rpartition("; ")
        return cls(what, step) if what and step else cls(message)


class OpenClawMemoryError(Exception):
    """Base of every error raised on purpose; the CLI prints it on one line and exits 1.

    It takes the parts of a :class:`Problem`, or its text.
    """

    def __init__(self, what: object = "", next_step: str | None = None, path: object = None) -> None:
        whole = next_step is None and path is None
        self._problem = (
            Problem.parse(str(what)) if whole else Problem(str(what), next_step, None if path is None else str(path))
        )
        super().__init__(str(self._problem))

    def __str__(self) -> str:
        return substitute_command(super().__str__())

    @property
    def problem(self) -> Problem:
        """The problem, with the program's name in commands as :func:`substitute_command` writes it."""
        step = self._problem.next_step
        return Problem(substitute_command(self._problem.what), step and substitute_command(step), self._problem.path)


class SettingsError(OpenClawMemoryError):
    """An unknown setting or an invalid value."""


class WorkspaceError(OpenClawMemoryError):
    """A workspace, or a path inside it, that cannot be used."""


class StoreError(OpenClawMemoryError):
    """An index that cannot be opened, read or written."""


class TextRefused(StoreError):
    """A text that the database cannot store, although the index works; other texts can be written."""


class LeaseTimeout(StoreError):
    """An index that another process has held for longer than ``store.lock_timeout``."""


class StoreUnreachable(StoreError):
    """A server with the index that does not answer."""


class RequestError(OpenClawMemoryError):
    """An invalid argument, or arguments that contradict each other."""


class Stopped(OpenClawMemoryError):
    """A call that was cancelled; what was committed is kept."""


class RedactionError(OpenClawMemoryError):
    """A text that could not be redacted, so it must not be indexed."""


class ModelError(OpenClawMemoryError):
    """An embedding model that is missing, broken, or another than expected."""


class EngineError(ModelError):
    """A llama.cpp that does not work on this machine: no binding, a crash, or wrong vectors."""


class HostError(OpenClawMemoryError):
    """A host that is missing or too old, or whose configuration cannot be read or changed."""


def describe_failure(error: Exception) -> str:
    """Return any error as one sentence with its next step; one that is not raised on purpose is a defect to report."""
    if isinstance(error, OpenClawMemoryError):
        return str(error) or type(error).__name__
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}; {next_step_for(error, 'check the path and its permissions')}"
    return f"a defect of openclaw-memory ({type(error).__name__}: {error}); please report it"


@contextmanager
def writing(
    file: object, kind: type[OpenClawMemoryError], step: str = "make its folder writable", why: str = ""
) -> Iterator[None]:
    """Turn an ``OSError`` in the block into a ``kind`` of error about ``file``; ``why`` says what it prevents."""
    try:
        yield
    except OSError as error:
        raise kind(f"cannot be written ({error.strerror or error}){why}", next_step_for(error, step), file) from error
