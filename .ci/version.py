"""Hold the version in one place: python3 .ci/version.py [--set VERSION] [--tag vVERSION]

openclaw_memory/version.py has it, and pyproject.toml reads it there. What cannot has a copy: --set writes them all,
and version and day into CHANGELOG.md. Without an option the copies are compared, and the changelog must begin with what
is unreleased or with this version. --tag refuses a tag that is not the version or whose version has no day, and
everything while the account of the repository is not filled in.
Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import date
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
#: Heading of the changelog's first section before a release, and files that name the account of the repository.
UNRELEASED, NAMED = "## Unreleased", ("package.json", "server.json", "README.md")


def versions() -> dict[str, set[str]]:
    """Every version that each place names."""
    return {name: set(re.findall(pattern, _text(name))) for name, pattern in PLACES.items()}


def write(version: str) -> None:
    """Put ``version`` in every place, and today's date beside it into the changelog."""
    for name, pattern in PLACES.items():
        (ROOT / name).write_text(re.sub(pattern, version, _text(name)), encoding="utf-8")
    log = _text("CHANGELOG.md").replace(f"{UNRELEASED}\n", f"## {version} ({date.today()})\n", 1)
    (ROOT / "CHANGELOG.md").write_text(log, encoding="utf-8")


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
    first = re.search(r"^## .*$", _text("CHANGELOG.md"), re.MULTILINE)
    dated = re.fullmatch(rf"## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first[0] if first else "")
    if not dated and (options.tag or not first or first[0] != UNRELEASED):
        wrong.append(f"CHANGELOG.md does not begin with '## {version} (YYYY-MM-DD)'")
    if options.tag:
        if options.tag != f"v{version}":
            wrong.append(f"the tag is {options.tag}")
        wrong += [f"{name}: OWNER stands for the account of the repository" for name in NAMED if "OWNER" in _text(name)]
    if wrong:
        sys.exit("\n".join([f"{version} is not the version of everything; docs/releasing.md says what to do:", *wrong]))
    print(version)


if __name__ == "__main__":
    main()
