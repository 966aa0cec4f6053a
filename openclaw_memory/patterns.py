"""The standard ``re`` with a lazy ``compile``: a command uses few of the package's patterns; all take 0.2 seconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import *  # noqa: F403 as modules import this one under the name re
from typing import Any, cast


class LazyPattern:
    """A regular expression that is compiled when it is first used; ``isinstance`` takes it for a ``re.Pattern``."""

    __class__ = re.Pattern  # type: ignore[assignment]

    def __init__(self, source: Callable[[], str], flags: int = 0) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Look up an attribute of the pattern once; from then on it is one of this object."""
        value: Any
        if name == "pattern":  # a part of other patterns need not be compiled
            value = self._source()
        else:
            value = re.compile(self.pattern, self._flags) if name == "_compiled" else getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:  # type: ignore[no-redef]  # noqa: A001
    """Return a pattern to be compiled on first use, when an error in it shows."""
    return cast("re.Pattern[str]", LazyPattern(lambda: pattern, flags))


def built(source: Callable[[], str]) -> re.Pattern[str]:
    """Return the pattern of a function that builds it, of word lists for example; both wait for its first use."""
    return cast("re.Pattern[str]", LazyPattern(source))
