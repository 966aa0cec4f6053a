"""Changing one value of the configuration file while the rest of it, comments too, stays as it is."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from ..errors import SettingsError


def set_value(file: Path, group: str, key: str, value: str) -> None:
    """Write ``group.key: value`` into the YAML ``file``, made if need be, in one atomic step.

    Raises :class:`~openclaw_memory.errors.SettingsError` when the file is not valid before or after.
    """
    import yaml

    from ..settings import load

    file = file.resolve()
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        tree = _tree(yaml.safe_load(text), file) if text.strip() else {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{file}: cannot be read as YAML ({reason}); mend or move it") from error
    if file.exists():
        load(file, environ={})
    wanted = {**tree, group: {**(tree.get(group) or {}), key: value}}
    changed = _edited(text, group, key, value)
    try:
        kept = yaml.safe_load(changed) == wanted
    except yaml.YAMLError:
        kept = False
    if not kept:
        # Flow style, anchors or odd indentation: the values are kept, the layout cannot be.
        changed = yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)
    _replace(file, changed, load)


def _tree(loaded: Any, file: Path) -> dict[str, Any]:
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise SettingsError(f"{file}: the top level must be a mapping such as 'search:'")
    return loaded


def _edited(text: str, group: str, key: str, value: str) -> str:
    """``text`` with the one line changed or added; right for block style, checked by the caller."""
    import json

    # JSON's quoted form is valid YAML for every text.
    scalar = value if re.fullmatch(r"[a-z][a-z0-9._-]*", value) else json.dumps(value, ensure_ascii=False)
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(rf"{group}\s*:", line)), None)
    if start is None:
        return "\n".join([*lines, f"{group}:", f"  {key}: {scalar}", ""])
    indent = "  "
    for i in range(start + 1, len(lines)):
        if lines[i].strip() and not lines[i][0].isspace() and not lines[i].startswith("#"):
            break
        found = re.match(rf"(\s+){key}\s*:([^#]*?)(\s+#.*)?$", lines[i])
        if found:
            lines[i] = f"{found[1]}{key}: {scalar}{found[3] or ''}"
            return "\n".join([*lines, ""])
        other = re.match(r"(\s+)[a-z]", lines[i])
        if other:
            indent = other[1]
    lines.insert(start + 1, f"{indent}{key}: {scalar}")
    return "\n".join([*lines, ""])


def _replace(file: Path, text: str, load: Any) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".config-", suffix=".yaml")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            load(temporary, environ={})
            if file.exists():
                os.chmod(temporary, file.stat().st_mode & 0o777)
            os.replace(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{file}: cannot be written ({error.strerror}); make its folder writable") from error
