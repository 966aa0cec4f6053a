"""Write docs/images/terminal.svg: what the program answers about the shipped example.

python docs/record.py
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree, ignore_patterns

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
COMMANDS = (
    "ingest",
    'search "what broke in early March?" --max-results 2',
    'recall "why did we choose this embedding model?" --max-results 3',
    'context "Is Juno\'s dentist still on Thursday?"',
)
WIDTH = 112


def main() -> None:
    """Run the commands in a copy of the example with an index of its own, and draw what they print."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "workspace")
        copytree(ROOT / "openclaw_memory" / "example", notes, ignore=ignore_patterns("__*"))
        console = Console(record=True, width=WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        surroundings = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "XDG_DATA_HOME": folder}
        for command in COMMANDS:
            made = subprocess.run(
                [sys.executable, "-m", "openclaw_memory", "-w", str(notes), *shlex.split(command)],
                env=surroundings, stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            console.print(Text(f"$ openclaw-memory {command}", style="bold magenta"))
            console.print(Text.from_ansi(made.stdout.rstrip()), overflow="ellipsis", no_wrap=True)
            console.print()
        out = ROOT / "docs" / "images" / "terminal.svg"
        # The fonts of whoever looks at it: a picture fetches nothing.
        own = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
        console.save_svg(str(out), title="openclaw-memory", code_format=own)
        print(f"{out.relative_to(ROOT)}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
