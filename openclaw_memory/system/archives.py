"""ZIP archives that come from elsewhere."""

from __future__ import annotations

import zlib
from pathlib import Path
from zipfile import BadZipFile

#: What reading a damaged or encrypted archive raises.
DAMAGED = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def begins_as_one(file: Path) -> bool:
    """Whether ``file`` begins as an archive does, even if its end is missing.  Raises ``OSError``."""
    with file.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"
