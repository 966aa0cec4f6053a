"""The text of a file that a scan found, or the reason why there is none."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import PurePath

from ..errors import OpenClawMemoryError
from ..model import SourceFile
from ..system import descent

MEGABYTE = 1_000_000

#: Share of NUL bytes from which on a file is binary; a few stray ones, which crashes leave in files, are left out.
_NULS = 0.01
#: What text does not have that is no UTF-8 either: control characters but for tabs, ends of lines and escapes.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))


class Unreadable(OpenClawMemoryError):
    """A file's text cannot be had; ``reason`` says why, in words, without the path.

    ``content`` is set when it was read and is no text: what an index holds of it is out of date.
    """

    def __init__(self, reason: str, content: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.content = content


def decoded(data: bytes) -> tuple[str, str | None]:
    """The text in ``data`` without a byte order mark and stray NUL bytes, and what is to be said of it.

    Bytes that are not UTF-8 are read as Windows-1252, for whoever reads a note; nobody writes it in another encoding.
    Raises :class:`Unreadable` for UTF-16 and for what is no text.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("it is UTF-16 text; save it as UTF-8", content=True)
    if data.count(0) > _NULS * len(data):
        nul = data.find(b"\0")
        raise Unreadable(f"binary content: a NUL byte in line {_line(data, nul)}", content=True)
    remark = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"line {_line(data, error.start)}, byte 0x{data[error.start]:02x}"
        if len(data) - len(data.translate(None, _CONTROLS)) > _NULS * len(data):
            raise Unreadable(f"binary content: {where}", content=True) from error
        remark = f"not valid UTF-8 ({where}), read as Windows-1252; save it as UTF-8"
        text = data.decode("utf-8", "windows")
    return text.removeprefix("\ufeff").replace("\0", ""), remark


def _from_windows(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("windows", _from_windows)


def read_text(file: SourceFile, max_bytes: int) -> str:
    """As :func:`read_note`, without the remark."""
    return read_note(file, max_bytes)[0]


def read_note(file: SourceFile, max_bytes: int) -> tuple[str, str | None]:
    """The text of ``file`` and a remark as of :func:`decoded`; line ends are kept as they are.

    Raises :class:`Unreadable` as that, when the file is gone, may not be read or has grown past ``max_bytes``, and when
    a link has taken its place since the scan.
    """
    return decoded(_read(file, max_bytes))


def defect(error: Exception) -> str:
    """What is said of a file that something failed on which should not have."""
    return f"a defect of openclaw-memory ({type(error).__name__}: {' '.join(str(error).split())[:200]}); report it"


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
    before = data[:offset]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1
