"""The page: data, style and scripts in one HTML file, in which no text of a note can act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..system.inert import inert_values

#: Our scripts in the order in which they run; the drawing library comes before them.
SCRIPTS = tuple(f"{name}.js" for name in "core panel canvas network timeline space facts numbers main".split())
LIBRARY, LICENCE = "d3.min.js", "d3.LICENSE.txt"

#: What ends an element, begins a comment, or ends a line in an old script, as JSON may write it too.
_ACTS = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def page(data: Mapping[str, Any]) -> str:
    """The whole file.  ``data`` is JSON data; what hides in its texts is taken out.

    The policy of the page lets only the scripts and the style run whose hashes it names, forbids every connection, and
    forbids scripts to make markup from text.
    """
    style, library, script = asset("style.css"), asset(LIBRARY), "\n".join(asset(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    parts = {"policy": policy, "style": style, "library": library, "script": script}
    parts |= {"licence": asset(LICENCE), "data": embedded(data)}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], asset("page.html"))


def embedded(data: Mapping[str, Any]) -> str:
    """JSON that may stand in an element of a page: it has no character that HTML gives a meaning to."""
    text = json.dumps(inert_values(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ACTS)


def asset(name: str) -> str:
    """A file of the page as it lies in the package."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
