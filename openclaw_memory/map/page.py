"""Page of a map: data, style and scripts in one HTML file; no text of a note can run as script or markup in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..system.sanitize import sanitize_values

#: Our scripts in the order in which they run; the drawing library comes before them.
SCRIPTS = tuple(f"{name}.js" for name in "core panel canvas network timeline space facts numbers main".split())
LIBRARY, LICENCE = "d3.min.js", "d3.LICENSE.txt"

#: JSON escapes of characters that end an element, begin a comment, or end a line in an old script.
_JSON_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render_page(data: Mapping[str, Any]) -> str:
    """Render the whole file from JSON ``data``, without invisible characters in its texts.

    The policy of the page lets only the scripts and the style run whose hashes it names, forbids every connection, and
    forbids scripts to make markup from text.
    """
    style, library, script = (
        read_asset("style.css"),
        read_asset(LIBRARY),
        "\n".join(read_asset(name) for name in SCRIPTS),
    )
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    parts = {"policy": policy, "style": style, "library": library, "script": script}
    parts |= {"licence": read_asset(LICENCE), "data": embed_json(data)}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read_asset("page.html"))


def embed_json(data: Mapping[str, Any]) -> str:
    """Return JSON for an element of a page: without characters that have a meaning in HTML."""
    text = json.dumps(sanitize_values(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_JSON_ESCAPES)


def read_asset(name: str) -> str:
    """Return a file of the page from the package."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
