"""Command lines as a person types them here: words from them, and words as they have to be typed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence

WINDOWS = os.name == "nt"


def split(line: str, windows: bool = WINDOWS) -> list[str]:
    """The words of a command line; on Windows a backslash is part of a path, and only double quotes join words."""
    if not windows:
        return shlex.split(line)
    held = re.findall(r'(?:[^\s"]|"[^"]*"?)+', line)
    return [word.replace('"', "") for word in held]


def join(words: Sequence[str], windows: bool = WINDOWS) -> str:
    """The command line that has these words."""
    return subprocess.list2cmdline(words) if windows else shlex.join(words)
