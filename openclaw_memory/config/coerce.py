"""Check and convert the values of settings, and name the closest valid key in errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..errors import Problem, SettingsError

S = TypeVar("S")


class UnknownSettingError(SettingsError):
    """A key that names no setting."""


def walk(settings: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield ``(dotted key, value, metadata)`` of every setting, in order of declaration."""
    for group in fields(settings):
        inner = getattr(settings, group.name)
        if is_dataclass(inner):
            for f in fields(inner):
                yield f"{group.name}.{f.name}", getattr(inner, f.name), f.metadata
        elif group.metadata:
            yield group.name, inner, group.metadata


def all_keys(settings: Any) -> list[str]:
    """Return every valid key: the settings, and the entries of mappings with fixed names."""
    keys = []
    for key, _, meta in walk(settings):
        keys += [key, *(f"{key}.{entry}" for entry in meta["entries"])]
    return keys


def check_key(settings: Any, key: str) -> tuple[str, str]:
    """Return the setting that ``key`` names and its entry, ``""`` for the whole setting.

    Raises :class:`UnknownSettingError` with the closest valid key, if any is close.
    """
    for each, value, meta in walk(settings):
        if key == each:
            return each, ""
        entry = key.removeprefix(f"{each}.")
        if isinstance(value, dict) and entry not in (key, "") and (not meta["entries"] or entry in meta["entries"]):
            return each, entry
    names = [*(group.name for group in fields(settings)), *all_keys(settings)]
    closest = find_closest(key, names, 0.7)
    step = f"did you mean '{closest}'?" if closest else "see: openclaw-memory config show"
    raise UnknownSettingError(f"unknown key '{key}'", step)


def find_closest(name: str, names: Iterable[str], cutoff: float) -> str | None:
    """Return the one of ``names`` that is most like ``name``, if any is as much as ``cutoff``, in [0, 1]."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=cutoff)), None)


def value_of(settings: Any, key: str) -> Any:
    """Return the value of the setting or entry that ``key`` names; ``None`` for a missing entry."""
    whole, entry = check_key(settings, key)
    value: Any = next(value for each, value, _ in walk(settings) if each == whole)
    return value.get(entry) if entry else value


def assign(settings: S, key: str, value: Any, where: str, ignored: list[Problem] | None = None) -> S:
    """Return a copy with the setting ``key`` set to ``value``; ``where`` is its source for messages.

    A mapping replaces only the entries that it has; a ``key`` below a mapping sets one entry.  An unknown key is added
    to ``ignored``, if given.  Raises :class:`~openclaw_memory.errors.SettingsError` for an invalid value.
    """
    try:
        whole, entry = check_key(settings, key)
        current, meta = next((value, meta) for each, value, meta in walk(settings) if each == whole)
        if isinstance(current, dict) and not entry:
            loaded = _load_yaml(value, key)
            if not isinstance(loaded, dict):
                raise _mismatch("a mapping", value, key)
            for each, inner in loaded.items():
                settings = assign(settings, f"{key}.{each}", inner, where, ignored)
            return settings
        group, _, name = whole.partition(".")
        outer: Any = settings
        holder = getattr(outer, group) if name else outer
        hint = get_type_hints(type(holder))[name or group]
        new = _convert(meta["entries"].get(entry, get_args(hint)[1]) if entry else hint, value, key)
        _check_bounds(new, meta, key)
        new = {**current, entry: new} if entry else new
        changed: S = replace(outer, **{group: replace(holder, **{name: new}) if name else new})
        return changed
    except SettingsError as error:
        if not isinstance(error, UnknownSettingError) or ignored is None:
            raise type(error)(error.problem.what, error.problem.next_step, where) from None
        ignored.append(Problem(f"'{key}' is no setting and changes nothing", error.problem.next_step, where))
        return settings


def _check_bounds(value: Any, meta: Mapping[str, Any], key: str) -> None:
    low, high = meta["minimum"], meta["maximum"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if (low is not None and value < low) or (high is not None and value > high):
            raise _mismatch(f"at least {low:g}" if high is None else f"between {low:g} and {high:g}", value, key)


def _mismatch(expected: str, value: Any, key: str) -> SettingsError:
    return SettingsError(f"'{key}' must be {expected}, not {value!r}")


def _load_yaml(value: Any, key: str) -> Any:
    """Return ``value``, parsed as YAML if it is text."""
    import yaml

    try:
        return yaml.safe_load(value) if isinstance(value, str) else value
    except yaml.YAMLError:
        raise _mismatch("YAML, such as [a, b]", value, key) from None


def _convert(hint: Any, value: Any, key: str) -> Any:
    """Return ``value`` as the type ``hint``; raises :class:`SettingsError`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        if str(value) in arguments:
            return str(value)
        match = find_closest(str(value), arguments, 0.5)
        closest = f" (did you mean '{match}'?)" if match else ""
        raise _mismatch(f"one of {', '.join(arguments)}{closest}", value, key)
    if hint is bool:
        word = str(value).lower()
        if word not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            raise _mismatch("true or false", value, key)
        return word in ("1", "true", "yes", "on")
    if hint in (int, float):
        try:
            number = hint(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        fraction = hint is int and isinstance(value, float) and value != number
        if isinstance(value, bool) or fraction or number != number or abs(number) == math.inf:
            raise _mismatch("a whole number" if hint is int else "a number", value, key)
        return number
    if hint is str:
        if isinstance(value, bool):
            raise _mismatch("text; YAML reads yes, no, on and off as true or false, so put it in quotes", value, key)
        if value is None or isinstance(value, (dict, list)):
            raise _mismatch("text", value, key)
        return str(value)
    value = _load_yaml(value, key)
    if origin is list:
        items = [value] if isinstance(value, (str, int, float)) else value
        if not isinstance(items, list):
            raise _mismatch("a list", value, key)
        return [_convert(arguments[0], item, f"{key}[{at}]") for at, item in enumerate(items)]
    hints = get_type_hints(hint)  # of a dataclass
    if not isinstance(value, dict):
        raise _mismatch(f"a mapping of {', '.join(hints)}", value, key)
    for name in value:
        if name not in hints:
            close = find_closest(str(name), hints, 0.5)
            step = f"did you mean '{close}'?" if close else f"valid are {', '.join(hints)}"
            raise SettingsError(f"unknown key '{key}.{name}'", step)
    try:
        return hint(**{name: _convert(hints[name], inner, f"{key}.{name}") for name, inner in value.items()})
    except TypeError:
        raise _mismatch(f"a mapping of {', '.join(hints)}", value, key) from None
