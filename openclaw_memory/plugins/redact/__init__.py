"""Keep secrets out of the index: private keys, tokens of providers, passwords behind a label, account numbers.

A secret becomes ``[redacted:<type>]``; line feeds are never added or removed, so line numbers stay exact.  Secrets are
recognised by their shape, by a label near them in some thirty languages, or by disorder that no word has; words about
secrets stay.  Every pattern is linear in the length of its line.

A line is read as plain signs (:mod:`.plain`).  Of a document (:mod:`.document`) the lines that may hold a secret are
found in one pass (:mod:`.vocabulary`); key blocks, known shapes (:mod:`.shapes`), random strings and
numbers (:mod:`.opaque`), seed phrases (:mod:`.seeds`), values near a label (:mod:`.labels`, :mod:`.values`) and below
one (:mod:`.below`) are replaced.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import replace

from ...hookspecs import hookimpl
from ...model import Unit

#: Grows when more or less is redacted: an index of another version is read again.
VERSION = 11


def redact_lines(lines: Iterable[str], allow: Collection[str] = ()) -> list[str]:
    """Return the lines of a document with its secrets but those in ``allow`` replaced; as many come out as went in.

    Works on a whole document because a private key, the header of a table, or a value below its label spans lines.
    What was hidden beside a secret shows once that is gone, so the document is read again until nothing changes.
    """
    from .document import Document

    raw = list(lines)
    flat = before = [line.replace("\n", " ") for line in raw]
    for _ in range(16):  # a note takes two; more are needed only where secrets are glued to one another
        document = Document(before, allow)
        document.redact()
        if document.lines == before:
            break
        before = document.lines
    return [line if line != unchanged else text for text, unchanged, line in zip(raw, flat, before, strict=True)]


def redact_text(text: str, allow: Collection[str] = ()) -> str:
    """Return ``text`` with its secrets replaced and its line feeds where they were."""
    from . import seeds
    from .document import candidates

    lines = text.split("\n")
    if "PRIVATE KEY" in text or "Private-Lines" in text or candidates(text) or any(seeds.find_blocks(lines)):
        return "\n".join(redact_lines(lines, allow) if allow else redact_lines(lines))
    return text


class Redaction:
    """The built-in plugin; ``allow`` lists texts that stay although they look like secrets."""

    def __init__(self, allow: Collection[str] = ()) -> None:
        self._allow = (frozenset(allow),) if allow else ()
        #: Identity of what is taken out.
        self.rules = repr((VERSION, *sorted(allow)))
        self._file = threading.local()

    def redact(self, text: str) -> str:
        """Return ``text`` with its secrets replaced."""
        return redact_text(text, *self._allow)

    @hookimpl
    def openclaw_memory_prepare_lines(self, lines: list[str]) -> list[str] | None:
        """Redact a whole file: only here is a key block of many lines seen as one."""
        redacted = redact_lines(lines, *self._allow)
        self._file.text = "\n".join(redacted)
        return None if redacted == lines else redacted

    @hookimpl
    def openclaw_memory_prepare_unit(self, unit: Unit) -> Unit | None:
        """Redact a unit's text and its indexed text; ``None`` when there is nothing to redact."""
        text = self._redact_unless_seen(unit.text)
        indexed = None if unit.indexed is None else self._redact_unless_seen(unit.indexed)
        if text == unit.text and indexed == unit.indexed:
            return None
        return replace(unit, text=text, indexed=indexed)

    def _redact_unless_seen(self, text: str) -> str:
        # What stands so in the file that this thread has just redacted was looked at there.
        return text if text in getattr(self._file, "text", "") else self.redact(text)
