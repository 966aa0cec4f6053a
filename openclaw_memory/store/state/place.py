"""Which file holds the state of a workspace: an identity in the workspace names it, so that it moves along.

A workspace that cannot be written goes by its path.  A copy whose original is still on this machine becomes a workspace
of its own: it takes what the original has forgotten, used and judged with it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from ...errors import WorkspaceError
from ...system import atomic
from .keys import Keys

log = logging.getLogger("openclaw_memory")

#: The file in our folder of the workspace that holds its identity: 32 hexadecimal digits.
_FILE = "id"
_SUFFIX = ".sqlite"


class Place:
    """Where a state lies: in one ``file``, whatever workspace it is about."""

    #: The workspace that it is about; ``None`` where that is not said.
    root: Path | None = None

    def __init__(self, file: Path, keys: Keys) -> None:
        self._file = file
        self.keys = keys

    def stamp(self) -> object:
        """Another value when :meth:`find` may find another file."""
        return None

    def find(self) -> Path:
        """The file as things are; it need not be there."""
        return self._file

    def claim(self, lasting: bool = True) -> Path:
        """The file to write to, its folder made; with ``lasting`` it is found after a move too.  Raises ``OSError``."""
        atomic.make_folder(self._file.parent, 0o700)
        return self._file

    def disown(self) -> None:
        """Take the identity out of the workspace.  Raises ``OSError``."""


class Workplace(Place):
    """The state of a ``workspace``, one of the files in ``folder``."""

    def __init__(self, workspace: Path, folder: Path, keys: Keys) -> None:
        root = Path(os.path.realpath(workspace))
        # By its path where it has no identity.
        super().__init__(folder / f"path-{hashlib.sha256(os.fsencode(root)).hexdigest()[:24]}{_SUFFIX}", keys)
        self.root = self._root = root
        self._folder = folder
        self._mark = _mark_of(root)

    def stamp(self) -> object:
        """What tells that the identity is another."""
        try:
            found = os.stat(self._mark)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def find(self) -> Path:
        """The file by the identity of the workspace, else by its path."""
        identity = self._identity()
        if identity is None:
            return self._file
        if self._is_copy(identity):
            # What was forgotten in the original must hold before the first note of the copy is read.
            with suppress(OSError, WorkspaceError):
                return self.claim()
            return self._file
        named = self._named(identity)
        # Who was stopped between giving the identity and moving the state is finished by the next one who writes.
        return self._file if self._file.exists() and not named.exists() else named

    def claim(self, lasting: bool = True) -> Path:
        """The file to write to; for what is to be ``lasting`` the workspace is given an identity if it can be written.

        Counts of use do not ask for one: who only looks leaves nothing in the workspace.
        """
        atomic.make_folder(self._folder, 0o700)
        if (file := self._claimed()) is not None:
            return file
        if not lasting and self._identity() is None:
            return self._file
        with atomic.locked(self._file):
            if (file := self._claimed()) is not None:
                return file
            identity = self._identity()
            new = identity
            if identity is None or self._is_copy(identity):
                if identity is not None and not self._file.exists():
                    self._move(self._named(identity), self._file, keep=True)
                new = secrets.token_hex(16)
            assert new is not None
            try:
                self._mark.parent.mkdir(exist_ok=True)
                atomic.replace(self._mark, f"{new}\n", self._root)
                for made in (self._mark.parent, self._mark):
                    atomic.give(made, self._root)
            except (OSError, WorkspaceError) as problem:
                log.debug("%s: the state goes by the path of the workspace: %s", self._root, problem)
                return self._file
            if self._file.exists():
                self._move(self._file, self._named(new))
            atomic.swap(self._pointer, new.encode("ascii"), 0o600)
            return self._named(new)

    def disown(self) -> None:
        """Take the identity out of the workspace."""
        self._pointer.unlink(missing_ok=True)
        self._mark.unlink(missing_ok=True)

    def _claimed(self) -> Path | None:
        """The file of the identity, if that is in the workspace, known by its path too, and nobody else's."""
        identity = _identity(self._mark)
        if identity is None or identity != _identity(self._pointer) or self._is_copy(identity):
            return None
        return self._named(identity)

    def _identity(self) -> str | None:
        """What the workspace says, or what it said before somebody deleted that."""
        if (identity := _identity(self._mark)) is not None:
            return identity
        known = _identity(self._pointer)
        return known if known is not None and home_of(self._named(known)) == self._root else None

    @property
    def _pointer(self) -> Path:
        return self._file.with_suffix(".id")

    def _named(self, identity: str) -> Path:
        return self._folder / f"{identity}{_SUFFIX}"

    def _is_copy(self, identity: str) -> bool:
        """Whether the identity belongs to another folder that is still there."""
        home = home_of(self._named(identity))
        if home is None or home == self._root:
            return False
        with suppress(OSError):
            return _identity(_mark_of(home)) == identity and not os.path.samefile(home, self._root)
        return False

    def _move(self, source: Path, target: Path, keep: bool = False) -> None:
        """Put the state ``source`` and its keys in the place of ``target``; ``keep`` the source, as it is another's."""
        copy(source, target)
        with closing(sqlite3.connect(target)) as connection, connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'home'", [os.fspath(self._root)])
            if keep:
                # That heartbeats may write was said of the original alone.
                connection.execute("DELETE FROM flags")
        self.keys.copy(source.stem, target.stem)
        if not keep:
            remove(source)
            self.keys.remove(source.stem)


def copy(source: Path, target: Path) -> None:
    """Write what the state ``source`` holds to ``target``, as of one moment.  Raises ``sqlite3.Error``, ``OSError``."""
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(read_only(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def read_only(file: Path) -> sqlite3.Connection:
    """A connection that only reads.  Raises ``sqlite3.Error``."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def remove(file: Path) -> None:
    """Delete a state and what SQLite keeps beside it."""
    for each in beside(file):
        each.unlink(missing_ok=True)


def beside(file: Path) -> list[Path]:
    """A state and what SQLite keeps beside it."""
    return [file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm")]


def home_of(file: Path) -> Path | None:
    """The workspace that the state in ``file`` was last used for; ``None`` where that cannot be known."""
    if not file.exists():
        return None
    try:
        with closing(read_only(file)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = 'home'").fetchone()
    except sqlite3.Error:
        return None
    return Path(row[0]) if row else None


def _mark_of(workspace: Path) -> Path:
    return workspace / atomic.OWN_FOLDER / _FILE


def _identity(mark: Path) -> str | None:
    try:
        said = mark.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return said if re.fullmatch(r"[0-9a-f]{32}", said) else None
