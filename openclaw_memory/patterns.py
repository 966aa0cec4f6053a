"""The standard ``re`` with a lazy ``compile``: a command uses few of the package's patterns; all take 0.2 seconds."""

from __future__ import annotations

import re
from re import *  # noqa: F403 as modules import this one under the name re
from typing import Any, cast


class LazyPattern:
    """A regular expression that is compiled when it is first used; ``isinstance`` takes it for a ``re.Pattern``."""

    __class__ = re.Pattern  # type: ignore[assignment]

    def __init__(self, *source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        """Look up an attribute of the pattern once; from then on it is one of this object."""
        value = re.compile(*self._source) if name == "_compiled" else getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]  # noqa: A001
    """Return a pattern to be compiled on first use, when an error in it shows."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
