"""OpenClaw's configuration: read as it was authored, changed by a patch, and led back."""

from __future__ import annotations

import copy
import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import openclaw_memory
from openclaw_memory.config.openclaw_home import is_plain_json, read_config
from openclaw_memory.config.settings import Settings
from openclaw_memory.hosts import HostError, process
from openclaw_memory.hosts.openclaw_config import ConfigSnapshot, KeyChange, extra_paths, setup_changes, to_patch
from openclaw_memory.hosts.plugin_files import copy_plugin, plugin_source, plugin_version, same_files
from openclaw_memory.hosts.process import run_command

NAME = "openclaw-memory"
names = st.sampled_from([NAME, "memory-core", "x"])
values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2)),
    lambda inner: st.dictionaries(
        st.sampled_from(["enabled", "config", "hooks", "dreaming", "a.b"]), inner, max_size=3
    ),
    max_leaves=6,
)
entries = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "hooks": st.dictionaries(st.sampled_from(["allowPromptInjection", "x"]), st.booleans(), max_size=2),
        "config": st.dictionaries(st.sampled_from(["command", "settings", "é"]), values, max_size=3),
    },
)
lists = st.lists(names, min_size=1, max_size=3, unique=True)
plugins = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "allow": lists,
        "deny": lists,
        "slots": st.dictionaries(st.sampled_from(["memory", "contextEngine"]), names, max_size=2),
        "entries": st.dictionaries(names, entries, max_size=3),
    },
)
configs = st.fixed_dictionaries({"gateway": values}, optional={"plugins": plugins})


def patched(config: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """As OpenClaw does it: objects are merged, other values replaced, ``null`` removes."""
    config = copy.deepcopy(config)
    for key, value in patch.items():
        if value is None:
            config.pop(key, None)
        elif isinstance(value, dict):
            below = config.get(key)
            config[key] = patched(below if isinstance(below, dict) else {}, value)
        else:
            config[key] = value
    return config


@given(configs)
def test_the_way_there_and_back_leaves_nothing(config: dict[str, Any]) -> None:
    before = ConfigSnapshot.take(config, Path("openclaw.json"), plugin_installed=False)
    there = patched(config, to_patch(setup_changes(config, "/bin/x")))
    assert setup_changes(there, "/bin/x") == []
    back = patched(there, to_patch(before.restoring_changes(there)))
    assert back == config
    assert before.restoring_changes(back) == []


def test_folders_that_openclaw_searched_are_searched_on(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    config = {
        "memory": {"search": {"extraPaths": ["/srv/Team Docs", "../shared", {"path": "/srv/x", "pattern": "*.md"}]}},
        "agents": {"entries": {"two": {"memory": {"search": {"extraPaths": ["/mnt/team-docs", "/srv/Team Docs"]}}}}},
    }
    rows, left_out = extra_paths(config, {"one": one, "two": two})
    assert rows == [
        {"path": "/srv/Team Docs", "name": "team-docs"},
        {"path": str(tmp_path / "shared"), "name": "shared"},
        {"path": "/mnt/team-docs", "name": "team-docs-2", "workspace": str(two)},
    ]
    assert left_out == ['{"path": "/srv/x", "pattern": "*.md"}']
    before = ConfigSnapshot.take(config, Path("openclaw.json"), plugin_installed=False)
    there = patched(config, to_patch(setup_changes(config, None, rows)))
    entry = there["plugins"]["entries"]["openclaw-memory"]["config"]["settings"]
    assert Settings().with_values(entry).ingest.extra_paths[2].workspace == str(two)
    assert setup_changes(there, None, [*rows, {"path": "/new", "name": "new"}]) == [], "what is there stays"
    assert patched(there, to_patch(before.restoring_changes(there))) == config
    assert extra_paths({"memory": {"search": {"extraPaths": "x"}}}, {"one": one}) == ([], [])


@given(configs, configs)
def test_a_patch_leads_from_one_object_to_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert patched({"k": one}, to_patch([KeyChange(("k",), one, other)])) == {"k": other}
    lines = KeyChange(("k",), one, other).lines()
    assert all(line[:2] in ("+ ", "- ", "~ ") and "\n" not in line for line in lines)


def test_what_was_before_is_written_and_read(tmp_path: Path) -> None:
    before = ConfigSnapshot.take(
        {"plugins": {"slots": {"memory": "é"}}}, tmp_path / "openclaw.json", plugin_installed=True
    )
    assert ConfigSnapshot.load(tmp_path) is None
    before.save(tmp_path)
    assert ConfigSnapshot.load(tmp_path) == before and [file.name for file in tmp_path.iterdir()] == ["setup.json"]
    with pytest.raises(HostError, match="could not be undone; make its folder writable"):
        before.save(tmp_path / "setup.json")


def test_json5_and_includes_are_read(tmp_path: Path) -> None:
    file = tmp_path / "openclaw.json"
    assert read_config(file) == {} and is_plain_json(file)
    file.write_text("// c\n{ plugins: { $include: './p.json5' }, a: { $include: ['b.json', 'c.json'], z: 3, }, }\n")
    (tmp_path / "p.json5").write_text("{ slots: { memory: 'x' } }")
    (tmp_path / "b.json").write_text('{"y": {"one": 1}, "l": [1]}')
    (tmp_path / "c.json").write_text('{"y": {"two": 2}, "l": [2]}')
    assert read_config(file) == {
        "plugins": {"slots": {"memory": "x"}},
        "a": {"y": {"one": 1, "two": 2}, "l": [1, 2], "z": 3},
    }
    assert not is_plain_json(file)


# -- the plugin's files -------------------------------------------------------------------------------


def test_the_plugin_is_staged_as_its_npm_package_is(tmp_path: Path) -> None:
    folder = copy_plugin(tmp_path / NAME)
    packed = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    root = plugin_source()
    assert {"package.json", "openclaw.plugin.json", "README.md", "LICENSE", "pyproject.toml"} <= packed
    hooks = {file.name for file in (root / "hooks").iterdir() if file.is_file()} - {
        "hooks.json"
    }  # that is Gemini CLI's
    assert {f"hooks/{name}" for name in hooks} <= packed
    assert {"openclaw_memory/__init__.py", "openclaw_memory/py.typed", "openclaw_memory/embed/llama-only.cmake",
            "openclaw_memory/example/MEMORY.md"} <= packed  # fmt: skip
    assert not any("__pycache__" in name or name.startswith("tests") for name in packed)
    manifest = json.loads((folder / "openclaw.plugin.json").read_text(encoding="utf-8"))
    assert plugin_version(folder) == manifest["version"] and manifest["id"] == NAME
    extensions = json.loads((folder / "package.json").read_text(encoding="utf-8"))["openclaw"]["extensions"]
    assert all((folder / extension).is_file() for extension in extensions)
    assert same_files(folder)
    (folder / "hooks" / "index.mjs").write_text("x")
    assert not same_files(folder) and not same_files(tmp_path)


def test_every_file_of_the_python_package_is_in_the_plugin(tmp_path: Path) -> None:
    """OpenClaw installs the Python package from there."""
    package = Path(openclaw_memory.__file__).parent
    staged = copy_plugin(tmp_path / "plugin") / package.name
    left_out = {"__pycache__", "_openclaw"}

    def files(folder: Path) -> set[Path]:
        found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
        return {file for file in found if not left_out.intersection(file.parts)}

    assert files(staged) == files(package)


# -- running a host's command -------------------------------------------------------------------------


@pytest.mark.parametrize("platform", [sys.platform, "win32"], ids=["here", "without process groups"])
def test_a_command_that_does_not_end_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(process.sys, "platform", platform)  # type: ignore[attr-defined,unused-ignore]
    file = tmp_path / "pid"
    with pytest.raises(HostError, match=r"did not end within 2 s; run it yourself"):
        run_command(["/bin/sh", "-c", f"trap '' TERM; sleep 600 & echo $! > '{file}'; wait"], timeout=2)
    pid = int(file.read_text())
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("out", "err", "reason"),
    [
        ("", "", "exit code 3 and no message"),
        ("", "Config warnings: x\n\x1b[31mno\x1b[0m way\n", "no way"),
        ("│ boxed │", "", "boxed"),
        ('{"error": {"message": "bad"}, "issues": [{"path": "a.b", "message": "worse"}]}', "noise", "bad; a.b: worse"),
    ],
)
def test_a_failure_is_one_line(out: str, err: str, reason: str) -> None:
    code = (
        f"import sys; sys.stdout.buffer.write({out.encode()!r}); sys.stderr.buffer.write({err.encode()!r}); sys.exit(3)"
    )
    assert run_command([sys.executable, "-c", code], timeout=60).reason == reason
