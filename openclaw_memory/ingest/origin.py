"""How far a file may be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Origin
from ..text.front_matter import bare


def lowered(origin: Origin, front_matter: Mapping[str, Any]) -> Origin:
    """``origin``, or the less trusted one that the front matter's ``origin:`` names, however it is written.

    A file cannot promote itself: a more trusted word is ignored, and so is an unknown one.
    """
    words = [bare(str(value)) for key, value in front_matter.items() if bare(key) == "origin"]
    named = [one for one in Origin for word in words if one == word or (one is Origin.UNTRUSTED and one in word)]
    return max([origin, *named], key=list(Origin).index)
