"""``python -m openclaw_memory``."""

from .cli.main import main

main()
