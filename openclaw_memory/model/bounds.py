"""Checks of values in requests: the library, the command line and the tools raise the same messages."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any, ParamSpec, TypeVar

from ..errors import RequestError

P = ParamSpec("P")
T = TypeVar("T")

#: Characters of the longest name of a concept or a file, as of a path.
LONGEST_NAME = 4_096


def named_arguments(*options: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that refuses keyword arguments that a method does not have.

    The method takes its own keyword-only arguments and ``options``.  Any other raises :class:`RequestError` with the
    valid ones, instead of a ``TypeError``.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(method).parameters.values()
        named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        accepted = {*options, *(each.name for each in parameters if each.kind is not each.VAR_KEYWORD)}

        @functools.wraps(method)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            if unknown := [name for name in kwargs if name not in accepted]:
                valid = ", ".join([*named, *options])
                raise RequestError(
                    f"{method.__name__}: there is no argument {', '.join(unknown)}", f"valid are {valid}"
                )
            return method(*args, **kwargs)

        return wrapper

    return decorate


def check_number(name: str, value: Any, low: float | None, high: float | None = None, whole: bool = False) -> float:
    """Return ``value`` if it is a finite number within the bounds, else raise :class:`RequestError`."""
    noun = "a whole number" if whole else "a number"
    # A whole number is finite, and may be too large for a float.
    usable = not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    )
    if not usable or (whole and value != int(value)):
        raise RequestError(f"{name} must be {noun}, not {shorten(value)}")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"from {low} to {high}" if high is not None else f"{low} or more"
        raise RequestError(f"{name} must be {bounds}, not {shorten(value)}")
    return int(value) if whole else value


def check_choice(name: str, value: Any, valid: Iterable[str]) -> None:
    """Raise :class:`RequestError` unless ``value`` is one of ``valid``."""
    if not isinstance(value, str) or value not in valid:
        raise RequestError(f"{name} must be one of {', '.join(valid)}, not {shorten(value)}")


def check_day(name: str, value: Any) -> None:
    """Raise :class:`RequestError` unless ``value`` is a ``date`` without a time."""
    if not isinstance(value, date) or isinstance(value, datetime):
        raise RequestError(f"{name} must be a datetime.date, not {shorten(value)}")


def convert_items(name: str, values: Any, convert: Callable[[Any], T], noun: str) -> tuple[T, ...]:
    """Convert each of ``values``, a list or tuple; raise :class:`RequestError` if that fails."""
    if not isinstance(values, (list, tuple)):
        raise RequestError(f"{name} must be a list, not {shorten(values)}")
    try:
        return tuple(map(convert, values))
    except (ValueError, TypeError):
        raise RequestError(f"{name} must be a list of {noun}, not {shorten(values)}") from None


def check_name(value: Any) -> str:
    """Return ``value`` if it is text of a valid length, else raise ``TypeError`` or ``ValueError``."""
    if not isinstance(value, str):
        raise TypeError
    if len(value) > LONGEST_NAME:
        raise ValueError
    return value


def shorten(value: Any) -> str:
    """Return ``value`` on one short line."""
    line = " ".join(repr(value)[:600].split())
    return line if len(line) <= 60 else f"{line[:57]}..."
