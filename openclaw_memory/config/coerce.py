"""Check and convert the values of settings, and name the closest valid key in errors."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterator, Mapping
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


def closest_key(settings: Any, key: str) -> str | None:
    """Return the valid key that is spelt most like ``key``, if any is close."""
    names = [*(each.name for each in fields(settings)), *all_keys(settings)]
    return next(iter(difflib.get_close_matches(key, names, n=1, cutoff=0.7)), None)


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
    closest = closest_key(settings, key)
    step = f"did you mean '{closest}'?" if closest else "see: openclaw-memory config show"
    raise UnknownSettingError(f"unknown key '{key}'", step)


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
    except UnknownSettingError as error:
        if ignored is None:
            raise UnknownSettingError(error.problem.what, error.problem.next_step, where) from None
        ignored.append(Problem(f"'{key}' is no setting and changes nothing", error.problem.next_step, where))
        return settings
    current, meta = next((value, meta) for each, value, meta in walk(settings) if each == whole)
    group, _, name = whole.partition(".")
    outer: Any = settings
    holder = getattr(outer, group) if name else outer
    hint = get_type_hints(type(holder))[name or group]
    if isinstance(current, dict) and not entry:
        loaded = _load_yaml(value, key, where)
        if not isinstance(loaded, dict):
            _refuse("a mapping", value, key, where)
        for each, inner in loaded.items():
            settings = assign(settings, f"{key}.{each}", inner, where, ignored)
        return settings
    if isinstance(current, dict):
        checked = {**current, entry: _coerce(meta["entries"].get(entry, get_args(hint)[1]), value, key, where)}
        _check_bounds(checked[entry], meta, key, where)
    else:
        checked = _coerce(hint, value, key, where)
        _check_bounds(checked, meta, key, where)
    changed: S = replace(outer, **{group: replace(holder, **{name: checked}) if name else checked})
    return changed


def _check_bounds(value: Any, meta: Mapping[str, Any], key: str, where: str) -> None:
    low, high = meta["minimum"], meta["maximum"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise SettingsError(f"'{key}' must be {bounds}, not {value}", path=where)


def _refuse(expected: str, value: Any, key: str, where: str) -> typing.NoReturn:
    raise SettingsError(f"'{key}' must be {expected}, not {value!r}", path=where)


def _load_yaml(value: Any, key: str, where: str) -> Any:
    """Return ``value``, parsed as YAML if it is text."""
    import yaml

    try:
        return yaml.safe_load(value) if isinstance(value, str) else value
    except yaml.YAMLError:
        _refuse("YAML, such as [a, b]", value, key, where)


def _coerce(hint: Any, value: Any, key: str, where: str) -> Any:
    def fail(expected: str) -> typing.NoReturn:
        _refuse(expected, value, key, where)

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
        word = str(value).lower()
        if word not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            fail("true or false")
        return word in ("1", "true", "yes", "on")
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
    value = _load_yaml(value, key, where)
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
                close = difflib.get_close_matches(str(name), hints, n=1, cutoff=0.5)
                step = f"did you mean '{close[0]}'?" if close else f"valid are {', '.join(hints)}"
                raise SettingsError(f"unknown key '{key}.{name}'", step, where)
        try:
            return typing.cast(Any, hint)(**{k: _coerce(hints[k], v, f"{key}.{k}", where) for k, v in value.items()})
        except TypeError:
            fail(f"a mapping of {', '.join(hints)}")
    raise AssertionError(f"setting {key} has a type that is not handled: {hint!r}")
