"""Change one value of the settings file, and keep the rest of it, comments too."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from ..errors import SettingsError, remedy
from ..system import atomic, yaml_edit


def set_value(file: Path, key: str, value: Any) -> None:
    """Write the setting ``key`` into the YAML ``file`` in one atomic step; create the file if it is missing.

    ``value`` is a text or number, or a list or mapping of such, which is written in one line.  Raises
    :class:`~openclaw_memory.errors.SettingsError` when the file is not valid before or after.
    """
    from ..config.settings import Settings, load

    file = file.resolve()
    text = _text(file)
    if file.exists():
        load(file, {key: value}, {})
    else:
        Settings().with_values({key: value})
    *groups, name = key.split(".", 2)

    def change(document: Any) -> None:
        for group in groups:
            if document.get(group) is None:
                document[group] = {}
            document = document[group]
        document[name] = yaml_edit.value(value)

    if _tree(text, file):
        _write(file, yaml_edit.changed(text, change))
    else:  # nothing, or comments alone
        _write(file, (text if not text or text.endswith("\n") else f"{text}\n") + yaml_edit.changed("", change))


def unset_value(file: Path, key: str) -> bool:
    """Remove the setting ``key`` from the YAML ``file``; false if it is missing.  Raises as :func:`set_value`."""
    file = file.resolve()
    text = _text(file)
    keys = key.split(".", 2)
    held: list[Any] = [_tree(text, file)]
    for name in keys:
        if not isinstance(held[-1], dict) or name not in held[-1]:
            return False
        held.append(held[-1][name])
    while len(keys) > 1 and len(held[len(keys) - 1]) == 1:  # a group of which nothing is left goes too
        keys.pop()
    *groups, name = keys
    try:
        node = yaml_edit.parse(text)
    except yaml_edit.YamlTextError:  # anchors or tags
        _write(file, yaml_edit.changed(text, lambda document: reduce(getitem, groups, document).pop(name)))
        return True
    for group in groups:
        node = None if node is None else node.get(group)
    assert node is not None
    _write(file, yaml_edit.without(text, node, [each.text == name for each, _ in node.pairs]))
    return True


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: cannot be read ({error}); mend or move it") from error


def _tree(text: str, file: Path) -> dict[str, Any]:
    import yaml

    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{file}: cannot be read as YAML ({reason}); mend or move it") from error
    if tree is not None and not isinstance(tree, dict):
        raise SettingsError(f"{file}: the top level must be a mapping such as 'search:'")
    return tree or {}


def _write(file: Path, text: str) -> None:
    try:
        atomic.swap(file, text.encode("utf-8"))
    except OSError as error:
        step = remedy(error, "make its folder writable")
        raise SettingsError(f"{file}: cannot be written ({error.strerror}); {step}") from error
