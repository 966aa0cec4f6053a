"""Split and join command lines as a person types them on this system."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence

WINDOWS = os.name == "nt"


def split(line: str, windows: bool = WINDOWS) -> list[str]:
    """Split a command line; on Windows a backslash is part of a path, and only double quotes join words."""
    if not windows:
        return shlex.split(line)
    words = re.findall(r'(?:[^\s"]|"[^"]*"?)+', line)
    return [word.replace('"', "") for word in words]


def join(words: Sequence[str], windows: bool = WINDOWS) -> str:
    """Join words to a command line."""
    return subprocess.list2cmdline(words) if windows else shlex.join(words)
