"""The name and the version of this package, and which build of it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__version__ = "0.1.0"

#: The name under which every host knows this memory: OpenClaw's plugin id, and the MCP server's name.
NAME = "openclaw-memory"
#: The name of the package where packages are installed from.
DISTRIBUTION = "openclaw-memory-graph"


def build_id(package: Path | None = None) -> str:
    """A hash of the files of ``package``, this one unless told: two builds of one version differ in it.

    The OpenClaw plugin makes the same of the package that it carries: ``buildOf`` in hooks/provision.mjs.
    """
    import hashlib
    from pathlib import Path

    root = package or Path(__file__).parent
    names = (file.relative_to(root) for file in root.rglob("*") if file.is_file())
    own = [
        name.as_posix()
        for name in names
        if not any(part.startswith(".") or part in ("__pycache__", "_openclaw") for part in name.parts)
    ]
    digest = hashlib.sha256()
    for name in sorted(own):
        digest.update(f"{name}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return digest.hexdigest()[:16]
