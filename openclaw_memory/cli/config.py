"""``config``: show the settings in force with their sources, and change them in the settings file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import click

from ..config.openclaw_home import OpenClawHome, read_text
from ..config.settings import Settings, check_key, config_path, load, read_tree, value_of, walk
from ..config.store_url import hide_password
from ..errors import SettingsError, writing
from ..system import atomic, yaml_edit
from ..system.serialize import to_json
from .context import CliContext, common_options, json_option, without_password


@click.group()
def config() -> None:
    """Show and change the settings.

    \b
      openclaw-memory config show search
      openclaw-memory config set search.max_results 10
      openclaw-memory config unset search.max_results
    """


def settings_file(cli: CliContext) -> Path:
    """Return the settings file: the one that is named, that of OpenClaw's plugin if it applies, or the default."""
    named = cli.config or os.environ.get("OPENCLAW_MEMORY_CONFIG")
    if named:
        return Path(named)
    plugin_file = OpenClawHome.for_environment().plugin_config()[0]
    try:
        applies = plugin_file is not None and str(plugin_file) in cli.load_settings()[1].values()
    except SettingsError:
        applies = plugin_file is not None and plugin_file.exists()  # it may be the broken one
    return plugin_file if plugin_file is not None and applies else config_path()


@config.command("show")
@click.argument("prefix", default="")
@common_options
def show(cli: CliContext, prefix: str) -> None:
    """Print each setting (that begins with PREFIX), its value and its source."""
    settings, source = cli.load_settings()
    file = settings_file(cli)
    rows = [
        (key, hide_password(key, value), source[key], meta["help"])
        for key, value, meta in walk(settings)
        if key.startswith(prefix) or prefix.startswith(f"{key}.")
    ]
    if not rows:
        raise click.UsageError(f"no setting begins with '{prefix}'; 'openclaw-memory config show' lists them all")
    if cli.json:
        shown = [
            {"key": key, "value": to_json(value), "source": where, "help": text} for key, value, where, text in rows
        ]
        cli.emit({"file": str(file), "settings": shown})
        return
    cells = (
        (key, repr(value) if value == "" or not isinstance(value, str) else value, where, text)
        for key, value, where, text in rows
    )
    cli.table(cells, "setting", "value", "source", "meaning")
    cli.remark(f"the settings file is {file}" + ("" if file.exists() else ", which is not there yet"))


@config.command("set", short_help="Change a setting in the settings file.")
@click.argument("key")
@click.argument("value")
@json_option
def set_setting(cli: CliContext, key: str, value: str) -> None:
    """Write KEY: VALUE into the settings file, where everything else, comments too, stays as it is.

    VALUE is checked as the file is; lists and mappings are YAML in one line.  A KEY may be an entry of a mapping.

    \b
      openclaw-memory config set search.max_results 10
      openclaw-memory config set retention.plan pro
      openclaw-memory config set plugins.disabled '[my_plugin]'
    """
    from .checks import invalid_values

    if key == "store.url":
        without_password(value)
    try:
        changed = Settings().with_values({key: value})
        for error in invalid_values(changed):
            raise error
    except SettingsError as error:
        raise click.UsageError(str(replace(error.problem, path=None))) from error
    file = settings_file(cli)
    new = to_json(value_of(changed, key))
    set_value(file, key, new)
    now, sources = cli.load_settings()
    value_now, source = value_of(now, key), sources[check_key(now, key)[0]]
    if cli.json:
        in_force = to_json(hide_password(key, value_now))
        cli.emit({"file": str(file), "key": key, "value": new, "inForce": in_force, "source": source})
    cli.say(f"{file}: {key} is {value}")
    if to_json(value_now) != new:
        cli.remark(f"it does not count here: {source} says {hide_password(key, value_now)!r}")


@config.command(short_help="Take a setting out of the settings file.")
@click.argument("key")
@json_option
def unset(cli: CliContext, key: str) -> None:
    """Take KEY out of the settings file, so that its default counts again; the rest of the file stays as it is."""
    try:
        check_key(Settings(), key)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    file = settings_file(cli)
    there = unset_value(file, key)
    now, sources = cli.load_settings()
    value, source = to_json(hide_password(key, value_of(now, key))), sources[check_key(now, key)[0]]
    if cli.json:
        cli.emit({"file": str(file), "key": key, "removed": there, "inForce": value, "source": source})
    cli.say(f"{file}: {key} {'is taken out' if there else 'is not in it'}; {value!r} counts ({source})")


# -- the file -------------------------------------------------------------------------------------------


def set_value(file: Path, key: str, value: Any) -> None:
    """Write the setting ``key`` into the YAML ``file`` in one atomic step; create the file if it is missing.

    ``value`` is a text or number, or a list or mapping of such, which is written in one line.  Raises
    :class:`~openclaw_memory.errors.SettingsError` when the file is not valid before or after.
    """
    import yaml

    file = file.resolve()
    text = read_text(file) or ""
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
        document[name] = yaml_edit.to_yaml(value)

    if yaml.safe_load(text):
        _write(file, yaml_edit.edit(text, change))
    else:  # nothing, or comments alone
        _write(file, (text if not text or text.endswith("\n") else f"{text}\n") + yaml_edit.edit("", change))


def unset_value(file: Path, key: str) -> bool:
    """Remove the setting ``key`` from the YAML ``file``; false if it is missing.  Raises as :func:`set_value`."""
    file = file.resolve()
    text = read_text(file) or ""
    keys = key.split(".", 2)
    held: list[Any] = [read_tree(file) if text else {}]
    for name in keys:
        if not isinstance(held[-1], dict) or name not in held[-1]:
            return False
        held.append(held[-1][name])
    while len(keys) > 1 and len(held[len(keys) - 1]) == 1:  # remove a group that would be empty
        keys.pop()
    *groups, name = keys
    try:
        node = yaml_edit.parse(text)
    except yaml_edit.YamlTextError:  # anchors or tags
        _write(file, yaml_edit.edit(text, lambda document: reduce(getitem, groups, document).pop(name)))
        return True
    for group in groups:
        node = None if node is None else node.get(group)
    assert node is not None
    _write(file, yaml_edit.remove_items(text, node, [each.text == name for each, _ in node.pairs]))
    return True


def _write(file: Path, text: str) -> None:
    with writing(file, SettingsError):
        atomic.write_bytes(file, text.encode("utf-8"))
