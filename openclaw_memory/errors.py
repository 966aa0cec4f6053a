"""Errors a person can act on: each message names the cause and the next step."""

from __future__ import annotations

import errno
import os
import re

#: No room is left, or no more is allowed.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: Where a message names a command of ours.
_CALL = re.compile(r"(?:(?<=: )|(?<=')|(?<=see )|(?<=run ))openclaw-memory (?!of\b)(?=[a-z])")


def as_called(text: str) -> str:
    """``text`` with our commands as they are called here: inside a host, ``openclaw-memory`` may be on no PATH."""
    command = os.environ.get("OPENCLAW_MEMORY_COMMAND")
    return _CALL.sub(lambda _: f"{command} ", text) if command else text


def remedy(error: Exception, otherwise: str) -> str:
    """The step to take after an error of the system: to make room where there is none, else ``otherwise``."""
    full = error.errno in _FULL if isinstance(error, OSError) else "disk is full" in str(error)
    return "free some space and run it again" if full else otherwise


class OpenClawMemoryError(Exception):
    """Base of every error raised on purpose; the CLI prints it on one line and exits 1."""

    def __str__(self) -> str:
        return as_called(super().__str__())


class SettingsError(OpenClawMemoryError):
    """A configuration value is unknown or invalid."""


class WorkspaceError(OpenClawMemoryError):
    """The workspace, or a path inside it, cannot be used."""


class StoreError(OpenClawMemoryError):
    """The index file cannot be opened, read or written."""


class Refused(StoreError):
    """The index works, and refuses what it was given: one text is to blame and not the others."""


class LeaseTimeout(StoreError):
    """Another process kept the index file for longer than ``store.lock_timeout``."""


class StoreUnreachable(StoreError):
    """The server that holds the index does not answer."""


class RequestError(OpenClawMemoryError):
    """A question contradicts itself, or an argument is not what it has to be."""


class Stopped(OpenClawMemoryError):
    """Whoever asked no longer wants the answer; what was committed is kept."""


class RedactionError(OpenClawMemoryError):
    """A text could not be redacted, so it must not be indexed."""


class ModelError(OpenClawMemoryError):
    """The embedding model is missing, broken, or not what was expected."""


class EngineError(ModelError):
    """llama.cpp itself cannot be used on this machine: no binding, or its native code ended or computed nonsense."""


class HostError(OpenClawMemoryError):
    """A host is missing, too old, or its configuration cannot be read or changed."""
