"""Folders of a workspace, opened from its top down: whatever moves meanwhile, no link on the way is followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath

#: Whether names can be looked up below an open folder; elsewhere paths are used as they are.
_BELOW = {os.open, os.mkdir, os.rename, os.stat, os.unlink} <= os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
#: For a file: not blocking, in case a pipe has taken its place.
FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(folder: str | PurePath, top: str | PurePath, make: bool = False) -> Iterator[int | None]:
    """The descriptor of ``folder``, which is ``top`` or below it; ``None`` where the system has none for folders.

    Both are named without a link.  With ``make`` what is missing is made.  Raises ``OSError``, also where a link has
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
                    os.mkdir(name, 0o775, dir_fd=descriptor)  # whatever the umask, not for everybody
            above, descriptor = descriptor, os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(above)
        yield descriptor
    finally:
        os.close(descriptor)


def name_in(descriptor: int | None, path: PurePath) -> str:
    """What the file ``path`` is called for a call that is given the descriptor of its folder."""
    return str(path) if descriptor is None else path.name
