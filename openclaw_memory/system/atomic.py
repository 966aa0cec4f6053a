"""Writing small files: whole or not at all, and those of a workspace by one writer at a time."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..config.settings import data_dir
from ..errors import WorkspaceError, remedy
from . import descent

if TYPE_CHECKING:
    import filelock

#: Takes secrets out of a text that is to be written or kept.
Redact = Callable[[str], str]

#: Seconds to wait for another process that writes the same file.
LOCK_TIMEOUT = 30.0

#: Windows' "access denied" and "used by another process", and seconds for which a reader may cause them.
_HELD, _PATIENCE = (5, 32), 1.0

#: A file that :func:`swap` has not given its name yet, with the process that writes it; seconds until it never will.
_UNFINISHED, _STALE = re.compile(r"\..+\.(\d{1,10})-[0-9a-f]{8}\.tmp"), 3600.0

#: Folder of a workspace for what this package keeps in it beside the files that people read.
OWN_FOLDER = ".openclaw-memory"

#: Why no lock can lie where its file is, for everybody alike: nothing may be written there, or a file is in the way.
_NO_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR)


@contextmanager
def locked(path: Path, timeout: float = LOCK_TIMEOUT, root: Path | None = None) -> Iterator[None]:
    """Keep every other writer of ``path`` out, in this process and in others, for as long as the block runs.

    The lock of a file of the workspace ``root`` lies in that workspace, under a name that is the same wherever the
    workspace is mounted; that of any other file lies beside it.  Where it cannot lie there, as nothing may be written,
    it lies in the data folder and keeps out those who share that.  It is not re-entrant.  Raises
    :class:`~openclaw_memory.errors.WorkspaceError` after ``timeout`` seconds, or when no lock can be kept; one below
    0 waits for as long as it takes.
    """
    import filelock

    if root is not None and not root.is_dir():  # a lock in it would make it anew
        raise WorkspaceError(f"{root}: the workspace is gone; start again when it is back")
    real = Path(os.path.realpath(path))
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:24]
    spare = data_dir() / "locks" / f"{digest}.lock"
    place = real.with_name(f"{real.name}.lock") if root is None else _place(real, Path(os.path.realpath(root)))
    try:
        try:
            lock = _taken(place, timeout, root)
        except OSError as error:
            if error.errno not in _NO_PLACE:
                raise
            place = spare
            lock = _taken(place, timeout, None)
    except filelock.Timeout:
        raise WorkspaceError(
            f"{path}: another process has been writing it for {timeout:.0f} s; try again when that has ended"
        ) from None
    except OSError as error:
        raise WorkspaceError(
            f"{place.parent}: no lock can be kept there ({error.strerror or error}); "
            f"{remedy(error, 'make the folder writable')}"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _place(real: Path, root: Path) -> Path:
    """The lock of the file ``real`` in the workspace ``root``; neither has a link in it."""
    folder = root / OWN_FOLDER / "locks"
    if os.path.realpath(folder) != str(folder):
        raise WorkspaceError(f"{folder}: is reached by a link; put a folder in its place")
    name = real.relative_to(root) if real.is_relative_to(root) else real
    return folder / f"{quote(name.as_posix(), safe='')}.lock"


def _taken(place: Path, timeout: float, root: Path | None) -> filelock.BaseFileLock:
    """The lock ``place``, held; as open to others as the workspace ``root``, else ours alone.

    Raises ``OSError``, of which ``filelock.Timeout`` is one, and for what is no file as :func:`check`.
    """
    import filelock

    if root is None:
        make_folder(place.parent, 0o700)
    else:
        for folder in (place.parent.parent, place.parent):
            if not folder.is_dir():
                make_folder(folder)
                give(folder, root)
                if folder == place.parent:  # what is in it is nobody's to keep; what lies beside it may be
                    (folder / ".gitignore").write_text("*\n", encoding="ascii")
                    give(folder / ".gitignore", root)
    check(place)
    fresh = not place.exists()
    mode = 0o600 if root is None else stat.S_IMODE(root.stat().st_mode) & 0o666
    lock = filelock.FileLock(place, timeout=timeout, mode=mode)
    lock.acquire()
    if fresh and root is not None:
        give(place, root)
    return lock


def give(path: Path, root: Path) -> None:
    """Let those write ``path`` who may write in ``root``: a container may run as another user than its host."""
    own = root.stat()
    with suppress(OSError):
        mode = stat.S_IMODE(own.st_mode)
        # Where everybody may write, nobody may take away what others put there.
        everybody = stat.S_ISVTX if mode & 0o002 else 0
        os.chmod(path, mode & 0o777 | everybody if path.is_dir() else mode & 0o666)
        if hasattr(os, "chown"):
            os.chown(path, own.st_uid, own.st_gid)


def make_folder(path: Path, mode: int = 0o775) -> None:
    """Make the folder ``path`` and those missing above it; whatever the umask, not everybody may write in them."""
    for missing in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        missing.mkdir(mode, exist_ok=True)


def check(path: Path) -> None:
    """Refuse a ``path`` that is no file of its own folder; one that is not there is fine.

    Raises :class:`~openclaw_memory.errors.WorkspaceError` for a link that leads out of the folder of ``path``, for
    what is no regular file (a folder, a FIFO), and for what cannot be looked at.  Nothing is opened, so nothing
    can hang.
    """
    try:
        folder, real = os.path.realpath(path.parent), os.path.realpath(path)
        if os.path.commonpath((folder, real)) != folder:
            raise WorkspaceError(f"{path}: is a link that leads out of its folder; put the file itself there")
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise WorkspaceError(f"{path}: cannot be looked at ({why}); make it a readable file") from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise WorkspaceError(f"{path}: is {what}, which cannot be written or read as one; move it away")


def read(path: Path, root: Path | None = None) -> bytes:
    """The content of the file ``path`` of the workspace ``root``, or of a trusted folder.

    Raises ``OSError``, and :class:`~openclaw_memory.errors.WorkspaceError` for what :func:`check` refuses.
    """
    check(path)
    real = Path(os.path.realpath(path))
    with _folder(real.parent, root) as folder:
        descriptor = os.open(descent.name_in(folder, real), os.O_RDONLY | descent.FILE, dir_fd=folder)
    with open(descriptor, "rb") as file:
        return file.read()


def replace(path: Path, text: str, root: Path | None = None) -> None:
    """Put ``text`` in the place of the file ``path`` of the workspace ``root``, or of a trusted folder.

    That is one atomic step, kept through a power cut.  A link within the folder is followed, the file's permissions
    stay.  Raises :class:`~openclaw_memory.errors.WorkspaceError`, also for what :func:`check` refuses.
    """
    check(path)
    try:
        swap(path, text.encode("utf-8"), root=root)
    except OSError as error:
        raise _unwritable(path, error) from error


def swap(target: Path, data: bytes, new_mode: int = 0o666, root: Path | None = None) -> None:
    """Put ``data`` in the place of the file ``target`` in one step, kept through a power cut.

    Its permissions stay; a new file gets ``new_mode`` less the umask, and its folder is made.  Raises ``OSError``, and
    :class:`~openclaw_memory.errors.WorkspaceError` where a link leads out of the workspace ``root``.
    """
    real = Path(os.path.realpath(target))
    with _folder(real.parent, root, make=True) as folder:
        name = descent.name_in(folder, real)
        unfinished = real.with_name(f".{real.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        temporary = descent.name_in(folder, unfinished)
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
    """The descriptor of ``folder``, in which there is no link, opened from the workspace ``root`` down."""
    if make and root is None:
        make_folder(folder)
    top = folder if root is None else Path(os.path.realpath(root))
    if not folder.is_relative_to(top):
        raise WorkspaceError(f"{folder}: a link that leads out of the workspace; put a folder in its place")
    with descent.opened(folder, top, make) as opened:
        yield opened


def delete(target: Path, root: Path) -> None:
    """Delete the file ``target`` of the workspace ``root``, if it is there; a link goes itself.  Raises ``OSError``."""
    with suppress(FileNotFoundError), _folder(Path(os.path.realpath(target.parent)), root) as folder:
        os.unlink(descent.name_in(folder, target), dir_fd=folder)


def remove(target: Path) -> None:
    """Delete the file ``target``, if it is there, and what processes left of it that died in :func:`swap`."""
    unfinished = glob.escape(f".{target.name}.")
    for each in (target, *target.parent.glob(f"{unfinished}*-*.tmp")):
        each.unlink(missing_ok=True)


def sweep(workspace: Path) -> None:
    """Delete what processes left in a workspace that died in :func:`swap`."""
    import psutil

    for folder, _, names in chain(islice(os.walk(workspace), 1), os.walk(workspace / "memory")):
        for name in names:
            if (found := _UNFINISHED.fullmatch(name)) is None:
                continue
            left = Path(folder, name)
            with suppress(OSError):
                age = time.time() - left.lstat().st_mtime
                # A process of another container has no number here, and writes for a moment only.
                if age > _STALE or (age > _PATIENCE and not psutil.pid_exists(int(found[1]))):
                    left.unlink()


def move(made: Path, target: Path) -> None:
    """Put the finished file ``made`` in the place of ``target`` in the same file system, as :func:`swap` does."""
    with made.open("r+b") as file:
        os.fsync(file.fileno())
    _rename(str(made), str(target))
    _sync_folder(target.parent)


def append(path: Path, text: str, root: Path | None = None) -> None:
    """Write ``text`` behind what the file ``path`` holds, in one piece, kept through a power cut.

    Makes the file if need be.  ``root`` is as for :func:`replace`.  Raises
    :class:`~openclaw_memory.errors.WorkspaceError`, also for what :func:`check` refuses; the file is then as it was,
    and so are its folders.
    """
    check(path)
    data = text.encode("utf-8")
    fresh, made = not path.exists(), [folder for folder in path.parents if not folder.exists()]
    try:
        real = Path(os.path.realpath(path))
        with _folder(real.parent, root, make=True) as folder:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | descent.FILE
            name = descent.name_in(folder, real)
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
            for each in made:
                each.rmdir()  # only if nothing is in it
        raise _unwritable(path, error) from error


def _rename(made: str, target: str, folder: int | None = None) -> None:
    """Give ``made`` the name ``target``; Windows refuses that for a moment while somebody reads ``target``."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            os.replace(made, target, src_dir_fd=folder, dst_dir_fd=folder)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _HELD or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _unwritable(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"{path}: cannot be written ({error.strerror or error}); "
        f"{remedy(error, 'make the file and its folder writable')}"
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
