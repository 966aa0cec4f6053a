"""Write small files whole or not at all, those of a workspace by one writer at a time."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..config.settings import data_dir
from ..errors import WorkspaceError, next_step_for
from . import descent

if TYPE_CHECKING:
    import filelock

#: Removes secrets from a text that is to be written or kept.
Redact = Callable[[str], str]

#: Seconds to wait for another process that writes the same file.
LOCK_TIMEOUT = 30.0

#: Seconds for which a reader may keep Windows from replacing a file.
_BUSY_SECONDS = 1.0

#: Folder of a workspace for internal files of this package, such as locks.
OWN_FOLDER = ".openclaw-memory"

#: Errors that keep every process from making a lock file: a read-only folder, or a file in the folder's place.
_NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR)


@contextmanager
def locked(path: Path, timeout: float = LOCK_TIMEOUT, root: Path | None = None) -> Iterator[None]:
    """Exclude every other writer of ``path``, in this process and in others, during the block.

    The lock of a file of the workspace ``root`` lies in that workspace, under a name that is the same wherever the
    workspace is mounted; that of any other file lies beside it.  Where nothing may be written, it lies in the data
    folder and excludes the processes that share that.  It is not re-entrant.  Raises
    :class:`~openclaw_memory.errors.WorkspaceError` after ``timeout`` seconds, or when no lock can be kept; a negative
    timeout waits without a limit.
    """
    import filelock

    if root is not None and not root.is_dir():  # a lock in it would create it again
        raise WorkspaceError(f"{root}: the workspace is gone; start again when it is back")
    real = Path(os.path.realpath(path))
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:24]
    spare = data_dir() / "locks" / f"{digest}.lock"
    lock_file = real.with_name(f"{real.name}.lock") if root is None else _lock_file(real, Path(os.path.realpath(root)))
    for file, owner in ((lock_file, root), (spare, None)):
        try:
            lock = _acquire(file, timeout, owner)
            break
        except filelock.Timeout:
            raise WorkspaceError(
                f"{path}: another process has been writing it for {timeout:.0f} s; try again when that has ended"
            ) from None
        except OSError as error:
            if file == spare or error.errno not in _NO_PLACE:
                step = next_step_for(error, "make the folder writable")
                raise WorkspaceError(
                    f"no lock can be kept there ({error.strerror or error})", step, file.parent
                ) from error
    try:
        yield
    finally:
        lock.release()


def _lock_file(real: Path, root: Path) -> Path:
    """Return the lock file of ``real`` in the workspace ``root``; neither path has a link in it."""
    folder = root / OWN_FOLDER / "locks"
    if os.path.realpath(folder) != str(folder):
        raise WorkspaceError(f"{folder}: is reached by a link; put a folder in its place")
    name = real.relative_to(root) if real.is_relative_to(root) else real
    return folder / f"{quote(name.as_posix(), safe='')}.lock"


def _acquire(lock_file: Path, timeout: float, root: Path | None) -> filelock.BaseFileLock:
    """Acquire the lock ``lock_file``, as open to other users as the workspace ``root``, else private.

    Raises ``OSError``, of which ``filelock.Timeout`` is one, and errors of :func:`check_regular`.
    """
    import filelock

    if root is None:
        make_folder(lock_file.parent, 0o700)
    else:
        for folder in (lock_file.parent.parent, lock_file.parent):
            if not folder.is_dir():
                make_folder(folder)
                copy_ownership(folder, root)
                if folder == lock_file.parent:  # nobody keeps locks in git; the files beside may be kept
                    (folder / ".gitignore").write_text("*\n", encoding="ascii")
                    copy_ownership(folder / ".gitignore", root)
    check_regular(lock_file)
    fresh = not lock_file.exists()
    mode = 0o600 if root is None else 0o600 | stat.S_IMODE(root.stat().st_mode) & 0o666
    lock = filelock.FileLock(lock_file, timeout=timeout, mode=mode)
    lock.acquire()
    if fresh and root is not None:
        copy_ownership(lock_file, root)
    return lock


def is_held(file: Path | None) -> bool:
    """Return true if a process holds the lock ``file``, as far as can be seen."""
    if file is None or not file.exists():
        return False
    from filelock import FileLock, Timeout

    try:
        FileLock(file).acquire(timeout=0).lock.release()
    except OSError as error:
        return isinstance(error, Timeout)
    return False


def copy_ownership(path: Path, root: Path) -> None:
    """Give ``path`` the owner and mode of ``root``: a container may run as another user than its host.

    The owner may always write it.
    """
    stats = root.stat()
    with suppress(OSError):
        mode = 0o700 | stat.S_IMODE(stats.st_mode)
        # Where everybody may write, nobody may delete the files of others.
        sticky = stat.S_ISVTX if mode & 0o002 else 0
        os.chmod(path, mode & 0o777 | sticky if path.is_dir() else mode & 0o666)
        if hasattr(os, "chown"):
            os.chown(path, stats.st_uid, stats.st_gid)


def make_folder(path: Path, mode: int = 0o775) -> None:
    """Make the folder ``path`` and those missing above it, never writable for everybody, whatever the umask."""
    for missing in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        missing.mkdir(mode, exist_ok=True)


def check_regular(path: Path) -> None:
    """Raise unless ``path`` is missing or a regular file in its own folder.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` for a link that leads out of the folder of ``path``, for a
    folder, a FIFO and the like, and for a file whose state cannot be read.  Nothing is opened, so nothing can hang.
    """
    try:
        folder, real = os.path.realpath(path.parent), os.path.realpath(path)
        if os.path.commonpath((folder, real)) != folder:
            raise WorkspaceError(f"{path}: is a link that leads out of its folder; put the file itself there")
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"{path}: cannot be looked at ({reason}); make it a readable file") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise WorkspaceError(f"{path}: is {kind}, which cannot be written or read as one; move it away")


def read_bytes(path: Path, root: Path | None = None) -> bytes:
    """Read the file ``path`` of the workspace ``root``, or of a trusted folder.

    Raises ``OSError``, and :class:`~openclaw_memory.errors.WorkspaceError` as :func:`check_regular` does.
    """
    check_regular(path)
    real = Path(os.path.realpath(path))
    with _folder(real.parent, root) as folder:
        descriptor = os.open(descent.entry_name(folder, real), os.O_RDONLY | descent.FILE_FLAGS, dir_fd=folder)
    with open(descriptor, "rb") as file:
        return file.read()


def write_text(path: Path, text: str, root: Path | None = None) -> None:
    """Replace the file ``path`` of the workspace ``root``, or of a trusted folder, as :func:`write_bytes` does.

    A link within the folder is followed, the file's permissions stay.  Raises
    :class:`~openclaw_memory.errors.WorkspaceError`, also as :func:`check_regular` does.
    """
    check_regular(path)
    try:
        write_bytes(path, text.encode("utf-8"), root=root)
    except OSError as error:
        raise _unwritable(path, error) from error


def write_bytes(target: Path, data: bytes, new_mode: int = 0o666, root: Path | None = None) -> None:
    """Replace the file ``target`` in one step that survives a power cut.

    Its permissions stay; a new file gets ``new_mode`` less the umask, and its folder is made.  Raises ``OSError``, and
    :class:`~openclaw_memory.errors.WorkspaceError` where a link leads out of the workspace ``root``.
    """
    real = Path(os.path.realpath(target))
    with _folder(real.parent, root, make=True) as folder:
        name = descent.entry_name(folder, real)
        unfinished = real.with_name(f".{real.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        temporary = descent.entry_name(folder, unfinished)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(temporary, flags, new_mode, dir_fd=folder), "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
                with suppress(FileNotFoundError):
                    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
                    os.chmod(out.fileno() if os.chmod in os.supports_fd else temporary, mode)
            _rename(temporary, name, folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
        _sync_folder(real.parent, folder)


@contextmanager
def _folder(folder: Path, root: Path | None, make: bool = False) -> Iterator[int | None]:
    """Open ``folder``, a path without links, from the workspace ``root`` down; yields its descriptor."""
    if make and root is None:
        make_folder(folder)
    top = folder if root is None else Path(os.path.realpath(root))
    if not folder.is_relative_to(top):
        raise WorkspaceError(f"{folder}: a link that leads out of the workspace; put a folder in its place")
    with descent.open_folder(folder, top, make) as descriptor:
        yield descriptor


def delete(target: Path, root: Path) -> None:
    """Delete the file ``target`` of the workspace ``root``, if it exists, or a link itself.  Raises ``OSError``."""
    with suppress(FileNotFoundError), _folder(Path(os.path.realpath(target.parent)), root) as folder:
        os.unlink(descent.entry_name(folder, target), dir_fd=folder)


def remove(target: Path) -> None:
    """Delete the file ``target``, if it exists, and what processes left of it that died in :func:`write_bytes`."""
    unfinished = glob.escape(f".{target.name}.")
    for file in (target, *target.parent.glob(f"{unfinished}*-*.tmp")):
        file.unlink(missing_ok=True)


def delete_leftovers(workspace: Path) -> None:
    """Delete the unfinished files in a workspace of processes that died in :func:`write_bytes`."""
    import psutil

    for folder, _, names in chain(islice(os.walk(workspace), 1), os.walk(workspace / "memory")):
        for name in names:
            if (match := re.fullmatch(r"\..+\.(\d{1,10})-[0-9a-f]{8}\.tmp", name)) is None:
                continue
            file = Path(folder, name)
            with suppress(OSError):
                age = time.time() - file.lstat().st_mtime
                # A process of another container has no number here, and writes for a moment only.
                if age > 3600 or (age > _BUSY_SECONDS and not psutil.pid_exists(int(match[1]))):
                    file.unlink()


def replace_file(source: Path, target: Path) -> None:
    """Rename the finished file ``source`` to ``target`` in the same file system, as :func:`write_bytes` does."""
    with source.open("r+b") as file:
        os.fsync(file.fileno())
    _rename(str(source), str(target))
    _sync_folder(target.parent)


def append_text(path: Path, text: str, root: Path | None = None) -> None:
    """Append ``text`` to the file ``path``, in one step that survives a power cut; makes the file if need be.

    ``root`` is as for :func:`write_text`.  Raises :class:`~openclaw_memory.errors.WorkspaceError`, also as
    :func:`check_regular` does; the file and its folders are then as before.
    """
    check_regular(path)
    data = text.encode("utf-8")
    fresh, new_folders = not path.exists(), [folder for folder in path.parents if not folder.exists()]
    try:
        real = Path(os.path.realpath(path))
        with _folder(real.parent, root, make=True) as folder:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | descent.FILE_FLAGS
            name = descent.entry_name(folder, real)
            handle = os.open(name, flags, 0o666, dir_fd=folder)
            try:
                before = os.fstat(handle).st_size
                try:
                    if os.write(handle, data) != len(data):
                        raise OSError(28, "no space left on device")
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, before)
                    raise
            finally:
                os.close(handle)
            if fresh:
                _sync_folder(real.parent, folder)
    except OSError as error:
        with suppress(OSError):
            if fresh and path.stat().st_size == 0:
                path.unlink()
            for new_folder in new_folders:
                new_folder.rmdir()  # fails unless it is empty
        raise _unwritable(path, error) from error


def _rename(source: str, target: str, folder: int | None = None) -> None:
    """Rename ``source`` to ``target``; Windows refuses that for a moment while a process reads ``target``."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
        except PermissionError as error:
            # Windows' "access denied" and "used by another process".
            if getattr(error, "winerror", None) not in (5, 32) or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _unwritable(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"{path}: cannot be written ({error.strerror or error}); "
        f"{next_step_for(error, 'make the file and its folder writable')}"
    )


def _sync_folder(folder: Path, opened: int | None = None) -> None:
    # So that the new name survives a power cut; not every system can open a folder.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY) if opened is None else opened
        try:
            os.fsync(handle)
        finally:
            if opened is None:
                os.close(handle)
