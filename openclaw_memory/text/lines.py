"""Lines of a text, counted as an editor counts them."""

from __future__ import annotations

#: Parts of patterns for what opens an item of a list: a number, any mark of Markdown, or also a bullet that was pasted.
NUMBER = r"\d{1,9}[.)]"
ITEM = rf"(?:[-*+]|{NUMBER})"
BULLET = rf"(?:[-*+•]|{NUMBER})"


def split_lines(text: str) -> list[str]:
    """Split ``text`` into lines at ``\\n``, ``\\r\\n`` and ``\\r``, and nowhere else.

    ``str.splitlines`` also breaks at form feeds, U+0085 and U+2028, which no editor and no Markdown
    parser counts; every line number of this package comes from this function.  A final line end does
    not open one more, empty line.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
