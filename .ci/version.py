"""Hold the version in one place: python3 .ci/version.py [--set VERSION] [--tag vVERSION]

openclaw_memory/version.py has it, and pyproject.toml reads it there. What cannot has a copy: --set writes them all,
--tag checks that a tag names it and that CHANGELOG.md has its day. Without an option the copies are compared.
Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Where the version stands, and what it stands in.
PLACES = {
    "openclaw_memory/version.py": r'(?<=__version__ = ")[^"]+',
    "package.json": r'(?<="version": ")[^"]+',
    "server.json": r'(?<="version": ")[^"]+',
    "hooks/openclaw-memory-ingest/package.json": r'(?<="version": ")[^"]+',
    **dict.fromkeys(  # .ci/bundles makes these
        (
            "gemini-extension.json",
            "plugin.json",
            ".cursor-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
            "bundles/claude-code/.claude-plugin/plugin.json",
            "bundles/claude-code/.codex-plugin/plugin.json",
        ),
        r'(?<="version": ")[^"]+',
    ),
    "openclaw.plugin.json": r'(?<="version": ")[^"]+|(?<=openclaw-memory/venv-)\d+\.\d+\.\d+',
    "docs/openclaw.md": r"(?<=openclaw-memory-)\d+\.\d+\.\d+(?=\.tgz)|(?<=openclaw-memory/venv-)\d+\.\d+\.\d+",
}


def versions() -> dict[str, set[str]]:
    """Every version that each place names."""
    return {name: set(re.findall(pattern, _text(name))) for name, pattern in PLACES.items()}


def write(version: str) -> None:
    """Put ``version`` in every place."""
    for name, pattern in PLACES.items():
        (ROOT / name).write_text(re.sub(pattern, version, _text(name)), encoding="utf-8")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def main() -> None:
    """Read the options; exits 1 with what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", metavar="VERSION")
    parser.add_argument("--tag", metavar="vVERSION")
    options = parser.parse_args()
    if options.set:
        if not re.fullmatch(r"\d+\.\d+\.\d+", options.set):  # what PyPI and npm write alike
            parser.error(f"{options.set!r} is no version such as 1.2.3")
        write(options.set)
    found = versions()
    (version,) = found["openclaw_memory/version.py"]
    wrong = [f"{name}: {', '.join(sorted(named)) or 'none'}" for name, named in found.items() if named != {version}]
    if options.tag and options.tag != f"v{version}":
        wrong.append(f"the tag is {options.tag}")
    if options.tag and not re.search(
        rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", _text("CHANGELOG.md"), re.MULTILINE
    ):
        wrong.append(f"CHANGELOG.md has no '## {version} (YYYY-MM-DD)'")
    if wrong:
        sys.exit("\n".join([f"the version is {version}, but not everywhere (.ci/version.py --set writes it):", *wrong]))
    print(version)


if __name__ == "__main__":
    main()
