"""A value for a setting: of the right type and within its bounds, or an error that names the closest right key."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..errors import Problem, SettingsError

S = TypeVar("S")


class UnknownSettingError(SettingsError):
    """There is no setting of this name."""


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
    """Every key that may be set: the settings, and the entries of those that are mappings with names of their own."""
    keys = []
    for key, _, meta in walk(settings):
        keys += [key, *(f"{key}.{entry}" for entry in meta["entries"])]
    return keys


def closest_key(settings: Any, key: str) -> str | None:
    """Return the valid key that ``key`` was probably meant to be."""
    names = [*(each.name for each in fields(settings)), *all_keys(settings)]
    return next(iter(difflib.get_close_matches(key, names, n=1, cutoff=0.7)), None)


def check_key(settings: Any, key: str) -> tuple[str, str]:
    """Return the setting that ``key`` names and the entry of it, ``""`` for the whole setting.

    Raises :class:`UnknownSettingError` with the closest valid key, where there is one.
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
    """The value of the setting, or of the entry of a mapping, that ``key`` names; ``None`` for an entry not there."""
    whole, entry = check_key(settings, key)
    value: Any = next(value for each, value, _ in walk(settings) if each == whole)
    return value.get(entry) if entry else value


def assign(settings: S, key: str, value: Any, where: str, ignored: list[Problem] | None = None) -> S:
    """A copy with the setting ``key`` set to ``value``, of which ``where`` says whence it comes.

    A mapping's entries are set one by one, the rest of it stays; a ``key`` below a mapping sets one entry.  What is no
    setting is named in ``ignored`` where that is given.

    Raises :class:`~openclaw_memory.errors.SettingsError` naming it.
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
        loaded = _loaded(value, key, where)
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
    made: S = replace(outer, **{group: replace(holder, **{name: checked}) if name else checked})
    return made


def _check_bounds(value: Any, meta: Mapping[str, Any], key: str, where: str) -> None:
    low, high = meta["minimum"], meta["maximum"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise SettingsError(f"{where}: '{key}' must be {bounds}, not {value}")


def _refuse(expected: str, value: Any, key: str, where: str) -> typing.NoReturn:
    raise SettingsError(f"{where}: '{key}' must be {expected}, not {value!r}")


def _loaded(value: Any, key: str, where: str) -> Any:
    """``value`` as YAML says it where it is text."""
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
    value = _loaded(value, key, where)
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
                hint_text = f"did you mean '{close[0]}'?" if close else f"valid are {', '.join(hints)}"
                raise SettingsError(f"{where}: unknown key '{key}.{name}'; {hint_text}")
        try:
            made = typing.cast(Any, hint)(**{k: _coerce(hints[k], v, f"{key}.{k}", where) for k, v in value.items()})
        except TypeError:
            fail(f"a mapping of {', '.join(hints)}")
        return made
    raise AssertionError(f"setting {key} has a type that is not handled: {hint!r}")
