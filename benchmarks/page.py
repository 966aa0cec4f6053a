"""Replace the part of a page between the marks of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


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
