"""Versions of the rules that read notes: files are read again where the index is of another one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ..plugins import redact

#: Grows when the mentions of a text change.
MENTIONS = 11
#: Grows when the facts of a text change.
FACTS = 34
#: Grows when files are read or trusted in another way.
READING = 3
EXTRACTION = (MENTIONS, FACTS, READING, redact.VERSION)


def extraction_version(allow: Sequence[str] = ()) -> str:
    """Return an identity of the rules with ``redaction.allow``."""
    allowed = "\0".join(sorted(allow)).encode("utf-8", "surrogatepass")
    return ".".join([*map(str, EXTRACTION), hashlib.sha256(allowed).hexdigest()[:16]])
