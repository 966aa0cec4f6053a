"""Changing one value of the configuration file while the rest of it, comments too, stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SettingsError, remedy
from ..system import atomic, yaml_edit


def set_value(file: Path, group: str, key: str, value: Any) -> None:
    """Write ``group.key: value`` into the YAML ``file``, made if need be, in one atomic step.

    ``value`` is a text, or a list or mapping of texts, which is written in one line.

    Raises :class:`~openclaw_memory.errors.SettingsError` when the file is not valid before or after.
    """
    from ..config.settings import Settings, load

    file = file.resolve()
    text = _text(file)
    wanted = {f"{group}.{key}": value}
    if file.exists():
        load(file, wanted, {})
    else:
        Settings().with_values(wanted)
    if not _tree(text, file):  # nothing, or comments alone
        begun = text if not text or text.endswith("\n") else f"{text}\n"
        _write(
            file,
            begun + yaml_edit.changed("", lambda document: document.update({group: {key: yaml_edit.value(value)}})),
        )
        return

    def change(document: Any) -> None:
        if document.get(group) is None:
            document[group] = {}
        document[group][key] = yaml_edit.value(value)

    _write(file, yaml_edit.changed(text, change))


def unset_value(file: Path, group: str, key: str) -> bool:
    """Take ``group.key`` out of the YAML ``file``; whether it was there.  Raises as :func:`set_value`."""
    file = file.resolve()
    text = _text(file)
    inner = _tree(text, file).get(group)
    if not isinstance(inner, dict) or key not in inner:
        return False
    try:
        node, name = yaml_edit.parse(text), group
    except yaml_edit.YamlTextError:  # anchors or tags
        _write(file, yaml_edit.changed(text, lambda document: document[group].pop(key)))
        return True
    if len(inner) > 1 and node is not None:
        node, name = node.get(group), key
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
