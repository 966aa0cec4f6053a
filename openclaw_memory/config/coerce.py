"""A value for a setting: of the right type and within its bounds, or an error that names the closest right key."""

from __future__ import annotations

import difflib
import types as _types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..errors import SettingsError

S = TypeVar("S")


def walk(settings: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield ``(dotted key, value, metadata)`` of every setting, in order of declaration."""
    for group in fields(settings):
        inner = getattr(settings, group.name)
        for f in fields(inner):
            yield f"{group.name}.{f.name}", getattr(inner, f.name), f.metadata


def closest(name: str, valid: list[str]) -> str:
    """What to say of a ``name`` that is none of the ``valid`` ones."""
    match = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    return f"; did you mean '{match[0]}'?" if match else f"; valid are {', '.join(sorted(valid))}"


def closest_key(settings: Any, group: str, name: str, of_group: list[str]) -> str:
    """The closest key, by its name within a known group, else among all of them."""
    if of_group:
        match = difflib.get_close_matches(name, of_group, n=1, cutoff=0.5)
        return closest(f"{group}.{match[0]}" if match else "", [f"{group}.{each}" for each in of_group])
    keys = [key for key, _, _ in walk(settings)]
    given = f"{group}.{name}" if name else group
    by_name = [key for key in keys if key.partition(".")[2] == (name or group)]
    if by_name or difflib.get_close_matches(given, keys, n=1, cutoff=0.5):
        return f"; did you mean '{by_name[0]}'?" if by_name else closest(given, keys)
    return closest("", [f"{each.name}.…" for each in fields(settings)])


def assign(settings: S, key: str, value: Any, where: str) -> S:
    """A copy with the setting ``key`` set to ``value``, of which ``where`` says whence it comes.

    Raises :class:`~openclaw_memory.errors.SettingsError` naming it.
    """
    group, _, name = key.partition(".")
    inner = getattr(settings, group, None)
    by_name = {f.name: f for f in fields(inner)} if is_dataclass(inner) else {}
    if inner is None or name not in by_name:
        raise SettingsError(f"{where}: unknown key '{key}'{closest_key(settings, group, name, list(by_name))}")
    hint = get_type_hints(type(inner))[name]
    checked = _coerce(hint, value, key, where)
    low, high = by_name[name].metadata["minimum"], by_name[name].metadata["maximum"]
    if isinstance(checked, (int, float)) and not isinstance(checked, bool):
        if (low is not None and checked < low) or (high is not None and checked > high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise SettingsError(f"{where}: '{key}' must be {bounds}, not {checked}")
    if valid := by_name[name].metadata["names"]:
        for each, number in checked.items():
            if each not in valid:
                raise SettingsError(f"{where}: unknown key '{key}.{each}'{closest(each, list(valid))}")
            if number <= 0:
                raise SettingsError(f"{where}: '{key}.{each}' must be more than 0, not {number:g}")
    whole: Any = settings
    made: S = replace(whole, **{group: replace(inner, **{name: checked})})
    return made


def _coerce(hint: Any, value: Any, key: str, where: str) -> Any:
    def fail(expected: str) -> typing.NoReturn:
        raise SettingsError(f"{where}: '{key}' must be {expected}, not {value!r}")

    origin = get_origin(hint)
    if origin is Literal:
        options = [str(o) for o in get_args(hint)]
        if str(value) not in options:
            match = difflib.get_close_matches(str(value), options, n=1, cutoff=0.5)
            closest = f" (did you mean '{match[0]}'?)" if match else ""
            fail(f"one of {', '.join(options)}{closest}")
        return str(value)
    if hint is bool:
        if isinstance(value, bool):
            return value
        words = {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }
        if str(value).lower() not in words:
            fail("true or false")
        return words[str(value).lower()]
    if hint in (int, float):
        if isinstance(value, bool):
            fail("a number")
        try:
            number = hint(value)
        except (TypeError, ValueError, OverflowError):
            fail("a whole number" if hint is int else "a number")
        if hint is int and isinstance(value, float) and value != number:
            fail("a whole number")
        if number != number or number in (float("inf"), float("-inf")):
            fail("a finite number")
        return number
    if hint is str:
        if isinstance(value, bool):
            fail("text; YAML reads yes, no, on and off as true or false, so put it in quotes")
        if value is None or isinstance(value, (dict, list)):
            fail("text")
        return str(value)
    return _coerce_tree(hint, origin, value, key, where, fail)


def _coerce_tree(hint: Any, origin: Any, value: Any, key: str, where: str, fail: Any) -> Any:
    if isinstance(value, str):
        import yaml

        try:
            value = yaml.safe_load(value)
        except yaml.YAMLError:
            fail("YAML, such as [a, b]")
    if origin is dict:
        if not isinstance(value, dict):
            fail("a mapping of names to numbers")
        _, inner = get_args(hint)
        return {str(k): _coerce(inner, v, f"{key}.{k}", where) for k, v in value.items()}
    if origin is list:
        if isinstance(value, (str, int, float)):
            value = [value]
        if not isinstance(value, list):
            fail("a list")
        (inner,) = get_args(hint)
        return [_coerce(inner, v, f"{key}[{i}]", where) for i, v in enumerate(value)]
    if is_dataclass(hint):
        if not isinstance(value, dict):
            fail(f"a mapping of {', '.join(f.name for f in fields(hint))}")
        hints = get_type_hints(hint)
        for name in value:
            if name not in hints:
                raise SettingsError(f"{where}: unknown key '{key}.{name}'{closest(str(name), list(hints))}")
        try:
            made = typing.cast(Any, hint)(**{k: _coerce(hints[k], v, f"{key}.{k}", where) for k, v in value.items()})
        except TypeError:
            fail(f"a mapping of {', '.join(hints)}")
        return made
    raise AssertionError(f"setting {key} has a type that is not handled: {hint!r} {_types.__name__}")
