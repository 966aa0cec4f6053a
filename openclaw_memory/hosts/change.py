"""A change of one configuration file: shown as a diff, then written in one atomic step."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config.openclaw_home import read_text as read_text
from ..errors import remedy
from ..system import atomic
from . import HostError


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a file holds and what it shall hold; ``None``: it is not there, or shall go.

    ``folders`` go with it, from the inside out, if nothing else is in them.
    """

    file: Path
    before: str | None
    after: str | None
    folders: tuple[Path, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether anything changes."""
        return (self.before or "") != (self.after or "") or (self.after is None and self.before is not None)

    def diff(self) -> list[str]:
        """The changed lines with two lines of context, as ``diff -u`` prints them."""
        old, new = (self.before or "").splitlines(), (self.after or "").splitlines()
        lines = difflib.unified_diff(old, new, str(self.file), str(self.file), lineterm="", n=2)
        return list(lines)

    def write(self) -> None:
        """Replace the file, make it, or remove it; links are followed and the mode is kept.

        Raises :class:`HostError` when the file has changed since it was read, or cannot be written.
        """
        if read_text(self.file) != self.before:
            raise HostError(f"{self.file}: it has changed meanwhile; run the command again")
        with writable(self.file):
            target = self.file.resolve()
            if self.after is not None:
                # New files are for their owner only: these hold commands that a host will run.
                atomic.swap(target, self.after.encode("utf-8"), 0o600)
                return
            target.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                for folder in self.folders:
                    folder.rmdir()


@contextlib.contextmanager
def writable(file: Path, why: str = "") -> Iterator[None]:
    """Raise :class:`HostError`, which says ``why`` it matters, where ``file`` cannot be written in the block."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"{file}: cannot be written ({error.strerror or error}){why}; {remedy(error, 'make its folder writable')}"
        ) from error


def member(tree: dict[str, Any], group: str, name: str, file: Path, kind: str) -> dict[str, Any] | None:
    """The entry ``tree[group][name]``, or ``None`` when it is not there; raises unless both are of the ``kind``."""
    inner = tree.get(group, {})
    found = inner.get(name) if isinstance(inner, dict) else None
    for key, value in ((group, inner), (f"{group}.{name}", found)):
        if value is not None and not isinstance(value, dict):
            raise HostError(f"{file}: {key} must be {kind}; mend it and try again")
    return found
