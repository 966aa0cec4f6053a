"""Find the file of a workspace's state, and its keys: an identity in the workspace names them, so that it may move.

A workspace that cannot be written is identified by its path.  A copy whose original is still on this machine becomes a
workspace of its own, with a copy of the original's state.  The keys are apart from the states, in a file that only its
owner reads.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path

from ...errors import WorkspaceError, next_step_for
from ...system import atomic

log = logging.getLogger("openclaw_memory")

_SUFFIX = ".sqlite"
_HEAD = "# openclaw-memory: without these keys it is not known what was forgotten. Keep them apart from the state.\n"


def key_id(key: bytes) -> str:
    """Return the id of a key in tombstones: 16 hexadecimal digits that do not reveal the key."""
    return blake2b(key, digest_size=8, person=b"key").hexdigest()


class Keys:
    """Keys by the name of a state, in files of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def location(self, name: str) -> str:
        """Return the place of a state's keys, for people."""
        return str(self._file(name))

    def all(self, name: str) -> Mapping[str, bytes]:
        """Return the keys of a state by their ids, the one in use first.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when they cannot be read.
        """
        file = self._file(name)
        try:
            text = file.read_text(encoding="ascii")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise WorkspaceError(f"{file}: cannot be read ({why}); make the file readable") from error
        keys = [
            bytes.fromhex(line) for line in map(str.strip, text.splitlines()) if re.fullmatch(r"[0-9a-fA-F]{64}", line)
        ]
        return {key_id(key): key for key in keys}

    def add(self, name: str, key: bytes) -> None:
        """Store another key.  Raises as :meth:`all`."""
        file = self._file(name)
        with atomic.locked(file):
            keys = dict(self.all(name))
            if key_id(key) in keys:
                return
            keys[key_id(key)] = key
            text = _HEAD + "".join(f"{each.hex()}\n" for each in keys.values())
            try:
                atomic.make_folder(file.parent, 0o700)
                atomic.write_bytes(Path(os.path.realpath(file)), text.encode("ascii"), 0o600)
            except OSError as error:
                raise WorkspaceError(
                    f"{file}: cannot be written ({error.strerror or error}); "
                    f"{next_step_for(error, 'make the file and its folder writable')}"
                ) from error

    def remove(self, name: str) -> None:
        """Delete the keys of a state."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.key"


class StateLocation:
    """The location of a state: one ``file``, whatever its workspace."""

    #: The workspace of the state, if it is known.
    root: Path | None = None

    def __init__(self, file: Path, keys: Keys) -> None:
        self._file = file
        self.keys = keys

    def stamp(self) -> object:
        """Return a value that differs when :meth:`find` may find another file."""
        return None

    def find(self) -> Path:
        """Return the path of the file, which may not exist yet."""
        return self._file

    def file_for_writing(self, lasting: bool = True) -> Path:
        """Return the file to write, its folder made; a ``lasting`` one is found after a move.  Raises ``OSError``."""
        atomic.make_folder(self._file.parent, 0o700)
        return self._file

    def remove_identity(self) -> None:
        """Remove the identity from the workspace.  Raises ``OSError``."""


class WorkspaceStateLocation(StateLocation):
    """The location of a workspace's state: one of the files in ``folder``, named by the identity or the path."""

    def __init__(self, workspace: Path, folder: Path, keys: Keys) -> None:
        root = Path(os.path.realpath(workspace))
        # Named after the path for a workspace without identity.
        super().__init__(folder / f"path-{hashlib.sha256(os.fsencode(root)).hexdigest()[:24]}{_SUFFIX}", keys)
        self.root = self._root = root
        self._folder = folder
        self._identity_file = _identity_file(root)

    def stamp(self) -> object:
        """Return the stamp of the identity's file."""
        try:
            status = os.stat(self._identity_file)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def find(self) -> Path:
        """Return the file by the identity of the workspace, without one by its path."""
        identity = self._identity()
        if identity is None:
            return self._file
        if self._is_copy(identity):
            # Texts forgotten in the original must be masked before the first note of the copy is read.
            with suppress(OSError, WorkspaceError):
                return self.file_for_writing()
            return self._file
        identity_state = self._state_file(identity)
        # A process was stopped between writing the identity and moving the state: the next write moves it.
        return self._file if self._file.exists() and not identity_state.exists() else identity_state

    def file_for_writing(self, lasting: bool = True) -> Path:
        """Return the file to write; a ``lasting`` write gives the workspace an identity if it can be written.

        Counts of use are not lasting: a search leaves nothing in the workspace.
        """
        atomic.make_folder(self._folder, 0o700)
        if (file := self._settled_state_file()) is not None:
            return file
        if not lasting and self._identity() is None:
            return self._file
        with atomic.locked(self._file):
            if (file := self._settled_state_file()) is not None:
                return file
            identity = self._identity()
            new = identity
            if identity is None or self._is_copy(identity):
                if identity is not None and not self._file.exists():
                    self._move(self._state_file(identity), self._file, keep=True)
                new = os.urandom(16).hex()
            assert new is not None
            try:
                self._identity_file.parent.mkdir(exist_ok=True)
                atomic.write_text(self._identity_file, f"{new}\n", self._root)
                for path in (self._identity_file.parent, self._identity_file):
                    atomic.copy_ownership(path, self._root)
            except (OSError, WorkspaceError) as problem:
                log.debug("%s: the state goes by the path of the workspace: %s", self._root, problem)
                return self._file
            if self._file.exists():
                self._move(self._file, self._state_file(new))
            atomic.write_bytes(self._pointer, new.encode("ascii"), 0o600)
            return self._state_file(new)

    def remove_identity(self) -> None:
        """Remove the identity from the workspace."""
        self._pointer.unlink(missing_ok=True)
        self._identity_file.unlink(missing_ok=True)

    def _settled_state_file(self) -> Path | None:
        """Return the state file by the identity; ``None`` without one, for a copied one, and before its first write."""
        identity = _read_identity(self._identity_file)
        if identity is None or identity != _read_identity(self._pointer) or self._is_copy(identity):
            return None
        return self._state_file(identity)

    def _identity(self) -> str | None:
        """Return the workspace's identity, or the last one if its file was deleted."""
        if (identity := _read_identity(self._identity_file)) is not None:
            return identity
        last = _read_identity(self._pointer)
        return last if last is not None and last_workspace(self._state_file(last)) == self._root else None

    @property
    def _pointer(self) -> Path:
        return self._file.with_suffix(".id")

    def _state_file(self, identity: str) -> Path:
        return self._folder / f"{identity}{_SUFFIX}"

    def _is_copy(self, identity: str) -> bool:
        """Return true if the identity belongs to another folder that still exists."""
        home = last_workspace(self._state_file(identity))
        if home is None or home == self._root:
            return False
        with suppress(OSError):
            return _read_identity(_identity_file(home)) == identity and not os.path.samefile(home, self._root)
        return False

    def _move(self, source: Path, target: Path, keep: bool = False) -> None:
        """Replace the state ``target`` and its keys by ``source``, which stays if ``keep`` is true."""
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(read_only(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
        with closing(sqlite3.connect(target)) as connection, connection:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'home'", [os.fspath(self._root)])
            if keep:
                # Permissions, such as that of heartbeats to write, were given to the original alone.
                connection.execute("DELETE FROM flags")
        for key in self.keys.all(source.stem).values():
            self.keys.add(target.stem, key)
        if not keep:
            remove(source)
            self.keys.remove(source.stem)


def read_only(file: Path) -> sqlite3.Connection:
    """Connect for reading only.  Raises ``sqlite3.Error``."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def remove(file: Path) -> None:
    """Delete a state and SQLite's files beside it."""
    for each in sqlite_files(file):
        each.unlink(missing_ok=True)


def sqlite_files(file: Path) -> list[Path]:
    """Return the paths of a state and of SQLite's files beside it."""
    return [file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm")]


def last_workspace(file: Path) -> Path | None:
    """Return the workspace that last used the state in ``file``; ``None`` if unknown."""
    if not file.exists():
        return None
    try:
        with closing(read_only(file)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = 'home'").fetchone()
    except sqlite3.Error:
        return None
    return Path(row[0]) if row else None


def _identity_file(workspace: Path) -> Path:
    """Return the file with the identity, 32 hexadecimal digits, in the workspace's folder of this program."""
    return workspace / atomic.OWN_FOLDER / "id"


def _read_identity(identity_file: Path) -> str | None:
    try:
        text = identity_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if re.fullmatch(r"[0-9a-f]{32}", text) else None
