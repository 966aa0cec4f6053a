"""Keys of the hashes of forgotten words, kept apart from these: in a file that only its owner reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from ...errors import WorkspaceError, remedy
from ...system import atomic

_BYTES = 32
_HEAD = "# openclaw-memory: without these keys it is not known what was forgotten. Keep them apart from the state.\n"


def key_id(key: bytes) -> str:
    """What a tombstone says of its key: 16 hexadecimal digits that do not tell the key."""
    return blake2b(key, digest_size=8, person=b"key").hexdigest()


class Keys:
    """Keys by the name of a state, in files of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def where(self, name: str) -> str:
        """Where the keys of a state are, for people."""
        return str(self._file(name))

    def all(self, name: str) -> Mapping[str, bytes]:
        """The keys of a state by their ids, the one in use first; none where there are none.

        Raises :class:`~openclaw_memory.errors.WorkspaceError` when they cannot be read.
        """
        keys = []
        for line in self._read(name).splitlines():
            text = line.strip()
            if len(text) == 2 * _BYTES and not text.startswith("#"):
                try:
                    keys.append(bytes.fromhex(text))
                except ValueError:
                    continue
        return {key_id(key): key for key in keys}

    def add(self, name: str, key: bytes) -> None:
        """Keep another key.  Raises as :meth:`all`."""
        with atomic.locked(self._file(name)):
            known = dict(self.all(name))
            if key_id(key) not in known:
                known[key_id(key)] = key
                self._write(name, _HEAD + "".join(f"{each.hex()}\n" for each in known.values()))

    def check_new(self, name: str, wanted: bool) -> None:
        """Raise :class:`~openclaw_memory.errors.WorkspaceError` where keys are ``wanted`` in a file that is there."""
        if wanted and self._file(name).exists():
            raise WorkspaceError(f"{self._file(name)}: is there already; name a new file, or move that one away")

    def copy(self, name: str, to: str) -> None:
        """Keep the keys of one state for another too."""
        for key in self.all(name).values():
            self.add(to, key)

    def remove(self, name: str) -> None:
        """Delete the keys of a state."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.key"

    def _read(self, name: str) -> str:
        try:
            return self._file(name).read_text(encoding="ascii")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise WorkspaceError(f"{self._file(name)}: cannot be read ({why}); make the file readable") from error

    def _write(self, name: str, text: str) -> None:
        file = self._file(name)
        try:
            atomic.make_folder(file.parent, 0o700)
            atomic.swap(Path(os.path.realpath(file)), text.encode("ascii"), 0o600)
        except OSError as error:
            raise WorkspaceError(
                f"{file}: cannot be written ({error.strerror or error}); "
                f"{remedy(error, 'make the file and its folder writable')}"
            ) from error
