"""The text of a file that a scan found, or the reason why there is none."""

from __future__ import annotations

import os
import re
import stat
from pathlib import PurePath

from ..errors import OpenClawMemoryError
from ..model import SourceFile
from ..system import descent

MEGABYTE = 1_000_000

_LINE_END = re.compile(rb"\r\n|\r|\n")
#: Share of NUL bytes from which on a file is binary; a few stray ones, which crashes leave in files, are left out.
_NULS = 0.01
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(OpenClawMemoryError):
    """A file's text cannot be had; ``reason`` says why, in words, without the path.

    ``content`` is set when it was read and is no text: what an index holds of it is out of date.
    """

    def __init__(self, reason: str, content: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.content = content


def read_text(file: SourceFile, max_bytes: int) -> str:
    """The text of ``file``, without a byte order mark and stray NUL bytes; line ends are kept as they are.

    Raises :class:`Unreadable` when the file is gone, may not be read, has grown past ``max_bytes``,
    holds many NUL bytes or broken UTF-8, or when a link has taken its place since the scan.
    """
    data = _read(file, max_bytes)
    if data[:2] in _UTF16:
        raise Unreadable("it is UTF-16 text; save it as UTF-8", content=True)
    if data.count(0) > _NULS * len(data):
        nul = data.find(b"\0")
        raise Unreadable(f"binary content: a NUL byte in line {_line(data, nul)}", content=True)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        raise Unreadable(
            f"not valid UTF-8: line {_line(data, at)}, byte 0x{data[at]:02x} at offset {at}; save it as UTF-8",
            content=True,
        ) from error
    return text.removeprefix("\ufeff").replace("\0", "")


def reason_of(error: OSError) -> str:
    """What the operating system said, in lower case."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def human_size(size: int) -> str:
    """``size`` in bytes, as a person would say it: ``12.3 MB``."""
    if size >= MEGABYTE:
        return f"{size / MEGABYTE:.4g} MB"
    return f"{size / 1000:.4g} kB" if size >= 1000 else f"{size} bytes"


def _read(file: SourceFile, max_bytes: int) -> bytes:
    path = PurePath(file.absolute)
    try:
        with descent.opened(path.parent, file.top or path.parent) as folder:
            name = descent.name_in(folder, path)
            try:
                descriptor = os.open(name, os.O_RDONLY | descent.FILE, dir_fd=folder)
            except FileNotFoundError as error:
                raise Unreadable("it has vanished since the scan") from error
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable("not a regular file any more")
            if folder is None and os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
                raise Unreadable("a link has taken the place of a folder above it since the scan")
            data = stream.read(max_bytes + 1)
    except OSError as error:
        if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
            raise Unreadable("a link has taken its place, or that of a folder above it, since the scan") from error
        raise Unreadable(reason_of(error)) from error
    if len(data) > max_bytes:
        raise Unreadable(f"it has grown past {human_size(max_bytes)} (ingest.max_file_mb)", content=True)
    return data


def _line(data: bytes, offset: int) -> int:
    return len(_LINE_END.findall(data, 0, offset)) + 1
