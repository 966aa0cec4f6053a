"""Recognize ZIP archives of other programs, and their errors."""

from __future__ import annotations

import zlib
from pathlib import Path
from zipfile import BadZipFile

#: Errors of reading a damaged or encrypted archive.
DAMAGED = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def has_zip_signature(file: Path) -> bool:
    """Return true if ``file`` begins as a ZIP archive, even if its end is missing.  Raises ``OSError``."""
    with file.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"
