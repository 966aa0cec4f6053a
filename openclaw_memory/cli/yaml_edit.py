"""Changing one value of the configuration file while the rest of it, comments too, stays as it is."""

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
    text, tree = _read(file)
    said = {f"{group}.{key}": value}
    if file.exists():
        load(file, said, {})
    else:
        Settings().with_values(said)
    _write(file, _edited(text, group, key, value), {**tree, group: {**(tree.get(group) or {}), key: value}})


def unset_value(file: Path, group: str, key: str) -> bool:
    """Take ``group.key`` out of the YAML ``file``, as :func:`set_value` writes it; whether it was there."""
    file = file.resolve()
    text, tree = _read(file)
    inner = tree.get(group)
    if not isinstance(inner, dict) or key not in inner:
        return False
    rest = {name: value for name, value in inner.items() if name != key}
    wanted = {**tree, group: rest}
    if not rest:
        del wanted[group]
    _write(file, _without(text, group, key if rest else None), wanted)
    return True


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    """The text of ``file``, empty where there is none, and what it says."""
    import yaml

    try:
        text = file.read_bytes().decode("utf-8") if file.exists() else ""
        return text, _tree(yaml.safe_load(text), file) if text.strip() else {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{file}: cannot be read as YAML ({reason}); mend or move it") from error


def _write(file: Path, changed: str | None, wanted: dict[str, Any]) -> None:
    """Write ``changed`` if it says what is ``wanted``, else that in a layout of ours."""
    import yaml

    if changed is None or (yaml.safe_load(changed) or {}) != wanted:
        # Anchors or tags: the values are kept, the layout cannot be.
        changed = yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)
    try:
        atomic.swap(file, changed.encode("utf-8"))
    except OSError as error:
        step = remedy(error, "make its folder writable")
        raise SettingsError(f"{file}: cannot be written ({error.strerror}); {step}") from error


def _without(text: str, group: str, key: str | None) -> str | None:
    """``text`` without the one value, or without the group; ``None`` as for :func:`_edited`."""
    try:
        node = yaml_edit.parse(text)
    except yaml_edit.YamlTextError:
        return None
    name = group
    if node is not None and key is not None:
        node, name = node.get(group), key
    if node is None:
        return None
    return yaml_edit.apply(text, yaml_edit.delete(text, node, [each.text == name for each, _ in node.pairs]))


def _tree(loaded: Any, file: Path) -> dict[str, Any]:
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise SettingsError(f"{file}: the top level must be a mapping such as 'search:'")
    return loaded


def _edited(text: str, group: str, key: str, value: Any) -> str | None:
    """``text`` with the one value changed or added; ``None`` when it has what an edit of the text cannot keep."""
    try:
        root = yaml_edit.parse(text)
    except yaml_edit.YamlTextError:
        return None
    written = _in_one_line(value)
    end = yaml_edit.line_break(text)
    if root is None:
        begun = text if not text or text.endswith("\n") else text + end
        return f"{begun}{group}:{end}  {key}: {written}{end}"
    node = root.get(group)
    old = None if node is None else node.get(key)
    if old is not None:
        edits = yaml_edit.set_value(text, old, written)
    else:
        edits = yaml_edit.insert_in_group(text, root, group, [(key, written)])
    changed = yaml_edit.apply(text, edits)
    return changed if changed.endswith("\n") else changed + end


def _in_one_line(value: Any) -> str:
    """``value`` as YAML."""
    if isinstance(value, str):
        return yaml_edit.scalar(value)
    if isinstance(value, dict):
        return yaml_edit.flow_map((str(key), _in_one_line(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return f"[{', '.join(map(_in_one_line, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
