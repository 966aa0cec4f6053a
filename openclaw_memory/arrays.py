"""numpy under its names, imported when one is first used: it takes 0.1 seconds, and commands that count need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import *  # noqa: F403 as modules import this one under the name np
else:

    def __getattr__(name):
        """Import numpy, and keep what is looked up as a name of this module."""
        import numpy

        value = globals()[name] = getattr(numpy, name)
        return value
