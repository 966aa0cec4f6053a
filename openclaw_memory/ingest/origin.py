"""How far a file may be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import Origin

#: Most trusted first, as the enumeration declares them.
_RANK = {origin.value: rank for rank, origin in enumerate(Origin)}


def lowered(origin: Origin, front_matter: Mapping[str, Any]) -> Origin:
    """``origin``, or the less trusted one that the front matter's ``origin:`` names.

    A file cannot promote itself: a more trusted word is ignored, and so is an unknown one.
    """
    stated = str(front_matter.get("origin", "")).strip().lower()
    if _RANK.get(stated, -1) <= _RANK[origin.value]:
        return origin
    return Origin(stated)
