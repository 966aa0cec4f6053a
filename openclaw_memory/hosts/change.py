"""What changing any host's file of settings needs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..config.openclaw_home import read_text as read_text
from ..errors import remedy
from . import HostError


@contextlib.contextmanager
def writable(file: Path, why: str = "") -> Iterator[None]:
    """Raise :class:`HostError`, which says ``why`` it matters, where ``file`` cannot be written in the block."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"{file}: cannot be written ({error.strerror or error}){why}; {remedy(error, 'make its folder writable')}"
        ) from error


def member(tree: dict[str, Any], group: str, name: str, file: Path, kind: str) -> dict[str, Any] | None:
    """The entry ``tree[group][name]``, or ``None`` when it is not there; raises unless both are of the ``kind``."""
    inner = tree.get(group, {})
    found = inner.get(name) if isinstance(inner, dict) else None
    for key, value in ((group, inner), (f"{group}.{name}", found)):
        if value is not None and not isinstance(value, dict):
            raise HostError(f"{file}: {key} must be {kind}; mend it and try again")
    return found
