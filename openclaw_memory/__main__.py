"""``python -m openclaw_memory``."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]  # which may be the notes' folder: no module there is ours

from .cli.main import main

main()
