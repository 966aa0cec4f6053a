"""Open the folders of a workspace from its top down, so that no link on the way is followed, whatever moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath

#: True if the system looks names up below an open folder; elsewhere whole paths are used.
_BELOW = {os.open, os.mkdir, os.rename, os.stat, os.unlink} <= os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
#: Flags for a file: not blocking, in case a pipe has taken its place.
FILE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def open_folder(folder: str | PurePath, top: str | PurePath, make: bool = False) -> Iterator[int | None]:
    """Yield the descriptor of ``folder``, which is ``top`` or below it; ``None`` where the system has none for folders.

    Both paths have no links.  With ``make`` missing folders are made.  Raises ``OSError``, also where a link has
    taken the place of a folder on the way.
    """
    if not _BELOW:
        if make:
            os.makedirs(folder, exist_ok=True)
        yield None
        return
    descriptor = os.open(top, _FOLDER)
    try:
        for name in PurePath(folder).relative_to(top).parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o775, dir_fd=descriptor)  # never writable for everybody, whatever the umask
            above, descriptor = descriptor, os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


def entry_name(descriptor: int | None, path: PurePath) -> str:
    """Return the name of the file ``path`` for a call with the descriptor of its folder."""
    return str(path) if descriptor is None else path.name
