"""Replace the part of a page between the marks of a benchmark."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path


def heading(command: str, *about: str, spent: str = "") -> str:
    """Return the line above a part: the command, what else the run was about, its time, the machine and the day.

    ``spent`` defaults to the time of the processor that this process and those that it has ended took.
    """
    spent = spent or f"{sum(os.times()[:4]):,.0f} s of the processor"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}"
    return f"`python -m benchmarks.{command}` ({'; '.join([*about, spent])}; {machine})"


def replace(page: Path, name: str, text: str, plots: Mapping[str, str] | None = None) -> None:
    """Write ``text`` between ``<!-- benchmarks.NAME -->`` and its end, and plots by file name into ``images/``.

    Raises :class:`SystemExit` if the page has not exactly one such part.
    """
    begin, end = f"<!-- benchmarks.{name} -->", f"<!-- /benchmarks.{name} -->"
    before = page.read_text(encoding="utf-8")
    after, times = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", before, flags=re.DOTALL)
    if times != 1:
        raise SystemExit(f"{page}: there must be one part between {begin} and {end}")
    for file, drawn in (plots or {}).items():
        (page.parent / "images").mkdir(exist_ok=True)
        (page.parent / "images" / file).write_text(drawn, encoding="utf-8")
    page.write_text(after, encoding="utf-8")
