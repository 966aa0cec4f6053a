"""``doctor`` in OpenClaw: what keeps its agents from this memory, and how to mend it."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fakes import Notes

import openclaw_memory
from openclaw_memory import __version__
from openclaw_memory.cli.main import cli
from openclaw_memory.hosts.process import own_command
from openclaw_memory.version import build_id

NAME = "openclaw-memory"
GOOD: dict[str, Any] = {
    "plugins": {
        "slots": {"memory": NAME},
        "entries": {
            NAME: {
                "enabled": True,
                "hooks": {"allowConversationAccess": True, "allowPromptInjection": True},
                "config": {"command": own_command(), "dreaming": {"enabled": False}},
            }
        },
    }
}


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Path:
    """OpenClaw's state with the plugin installed; the command itself is not on PATH."""
    monkeypatch.setenv("PATH", "/nowhere")
    state = Path(os.environ["HOME"]) / ".openclaw"
    install(state / "extensions" / NAME)
    write(state, GOOD)
    return state


@pytest.fixture
def examine(notes: Notes) -> Callable[..., dict[str, dict[str, Any]]]:
    """The checks of ``doctor`` by name."""
    notes.write("MEMORY.md", "- a lamp\n")
    read: list[bool] = []

    def run(*options: str) -> dict[str, dict[str, Any]]:
        before = ["--set", "embedding.model=none", "-w", str(notes.root), *options]
        if options or not read:
            assert CliRunner().invoke(cli, [*before, "ingest"]).exit_code == 0
            read.append(True)
        result = CliRunner().invoke(cli, [*before, "doctor", "--json"])
        found = json.loads(result.stdout)
        assert result.exit_code == (0 if found["ok"] else 1)
        return {check["name"]: check for check in found["checks"]}

    return run


def install(folder: Path, version: str = __version__) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openclaw.plugin.json").write_text(json.dumps({"id": NAME, "version": version}))


def write(state: Path, config: dict[str, Any], path: str = "", value: Any = None) -> None:
    config = copy.deepcopy(config)
    *before, last = path.split("/") if path else [""]
    inner = config
    for key in before:
        inner = inner.setdefault(key, {})
    if path and value is None:
        del inner[last]
    elif path:
        inner[last] = value
    state.mkdir(parents=True, exist_ok=True)
    (state / "openclaw.json").write_text(json.dumps(config))


def test_without_openclaw_nothing_is_said_of_it(examine: Callable[..., Any]) -> None:
    assert not [name for name in examine() if name.startswith("openclaw")]


def test_a_good_setup_is_all_well(state: Path, examine: Callable[..., Any]) -> None:
    checks = examine()
    assert [name for name in checks if name.startswith("openclaw")] == [
        "openclaw plugin", "openclaw configuration", "openclaw python",
    ]  # fmt: skip
    assert all(check["ok"] for check in checks.values())
    (state / "openclaw.json").write_text("// by hand\n" + json.dumps(GOOD).replace('"plugins"', "plugins"))
    assert examine() == checks


@pytest.mark.parametrize(
    ("path", "value", "name", "words", "fix"),
    [
        ("plugins/slots/memory", None, "configuration", '+ plugins.slots.memory: "openclaw-memory"', "openclaw-memory setup"),
        ("plugins/enabled", False, "configuration", "plugins.enabled is false", "openclaw config set plugins.enabled true"),
        ("plugins/deny", [NAME], "configuration", "- plugins.deny", "openclaw-memory setup"),
        (f"plugins/entries/{NAME}/enabled", False, "configuration", "enabled: false → true", "setup"),
        (f"plugins/entries/{NAME}/hooks", None, "configuration", "+ plugins.entries.openclaw-memory.hooks.allowConv", "setup"),
        (f"plugins/entries/{NAME}/config/dreaming/enabled", True, "configuration", "enabled: true → false", "setup"),
        (f"plugins/entries/{NAME}/config/command", "/none/openclaw-memory", "python", "/none/openclaw-memory: cannot be run", "setup"),
        (f"plugins/entries/{NAME}/config/command", None, "python", "not on PATH", "setup"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_fix(
    state: Path, examine: Callable[..., Any], path: str, value: Any, name: str, words: str, fix: str
) -> None:
    write(state, GOOD, path, value)
    checks = examine()
    found = checks.pop(f"openclaw {name}")
    assert not found["ok"] and words in found["detail"] and fix in found["fix"]
    assert all(check["ok"] for check in checks.values())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("plugins/allow", []),
        ("plugins/allow", ["x", NAME]),
        ("plugins/entries/memory-core", {"enabled": True, "config": {"dreaming": {"enabled": True}}}),
        (f"plugins/entries/{NAME}/enabled", None),
        (f"plugins/entries/{NAME}/config/dreaming", None),
        (f"plugins/entries/{NAME}/hooks/allowPromptInjection", None),
    ],
)
def test_what_openclaw_takes_is_not_called_wrong(
    state: Path, examine: Callable[..., Any], path: str, value: Any
) -> None:
    write(state, GOOD, path, value)
    assert all(check["ok"] for check in examine().values())


def test_who_keeps_another_memory_is_not_told_that_this_is_wrong(state: Path, examine: Callable[..., Any]) -> None:
    (state / "extensions" / NAME / "openclaw.plugin.json").unlink()
    write(state, GOOD, "plugins/slots", {})
    found = examine()
    assert found["openclaw"]["ok"] and "openclaw-memory setup" in found["openclaw"]["detail"]
    assert not [name for name in found if name.startswith("openclaw ")]


def test_a_missing_plugin(state: Path, examine: Callable[..., Any]) -> None:
    (state / "extensions" / NAME / "openclaw.plugin.json").unlink()
    assert examine()["openclaw plugin"]["detail"] == "the plugin is not installed in OpenClaw"
    install(state / "npm" / "projects" / "abc" / "node_modules" / NAME)
    assert examine()["openclaw plugin"]["ok"]


def test_openclaw_is_asked_before_the_plugin_is_called_missing(
    state: Path, examine: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "extensions" / NAME / "openclaw.plugin.json").unlink()
    install(tmp_path / "elsewhere")
    command = tmp_path / "bin" / "openclaw"
    command.parent.mkdir()
    answer = json.dumps({"plugins": [{"id": NAME, "rootDir": str(tmp_path / "elsewhere")}]})
    command.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    assert examine()["openclaw plugin"]["ok"]
    command.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    assert not examine()["openclaw plugin"]["ok"]


def test_a_plugin_of_another_version(state: Path, examine: Callable[..., Any]) -> None:
    install(state / "extensions" / NAME, "0.0.1")
    found = examine()["openclaw plugin"]
    assert found["detail"].startswith("plugin 0.0.1 in ") and "setup" in found["fix"]
    install(state / "extensions" / NAME)
    shutil.copytree(Path(openclaw_memory.__file__).parent, state / "extensions" / NAME / "openclaw_memory")
    assert examine()["openclaw plugin"]["ok"]
    (state / "extensions" / NAME / "openclaw_memory" / "errors.py").write_text("# an older tree")
    assert "is another build of that version" in examine()["openclaw plugin"]["detail"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('print(\'{"version": "0.0.1"}\')', "is 0.0.1, this is"),
        ('print(\'{"version": "0.1.0", "build": "0123"}\')', "is another build of"),
        ('print(\'{"version": "0.1.0"}\')', "is another build of"),
        ("raise SystemExit('broken\\nenvironment')", "does not run: broken environment"),
    ],
)
def test_an_executable_of_another_environment(
    state: Path, examine: Callable[..., Any], tmp_path: Path, script: str, words: str
) -> None:
    command = tmp_path / NAME
    command.write_text(f"#!{sys.executable}\n{script.replace('0.1.0', __version__)}\n")
    command.chmod(0o755)
    write(state, GOOD, f"plugins/entries/{NAME}/config/command", str(command))
    found = examine()["openclaw python"]
    assert not found["ok"] and words in found["detail"]


def test_where_an_executable_of_ours_may_be(state: Path, examine: Callable[..., Any], tmp_path: Path) -> None:
    command = tmp_path / NAME
    answer = json.dumps({"version": __version__, "build": build_id()})
    command.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    path = f"plugins/entries/{NAME}/config/command"
    write(state, GOOD, path, str(command))
    assert "cannot be run (Permission denied)" in examine()["openclaw python"]["detail"]
    command.chmod(0o755)
    assert examine()["openclaw python"]["ok"]
    private = state / NAME / "venv" / "bin" / NAME
    private.parent.mkdir(parents=True)
    command.rename(private)
    write(state, GOOD, path)
    found = examine()["openclaw python"]
    assert str(private) in found["detail"] and found["ok"]
    named = state / NAME / "venv-0.2.0"
    (state / NAME / "venv").rename(named)
    (state / NAME / "venv.current").write_text("venv-0.2.0\n")
    assert str(named) in examine()["openclaw python"]["detail"]


def test_an_executable_on_path_counts_only_if_it_says_that_it_is_ours(
    state: Path, examine: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(state, GOOD, f"plugins/entries/{NAME}/config/command")
    told = {
        "theirs": "openclaw-memory 3.0",
        "named": json.dumps({"name": NAME, "version": __version__}),
        "ours": json.dumps({"name": "openclaw-memory-graph", "version": __version__, "build": build_id()}),
    }
    for name, words in told.items():
        command = tmp_path / name / NAME
        command.parent.mkdir()
        answer = f"print({words!r} if '--json' in sys.argv else 'openclaw-memory, version {__version__}')"
        command.write_text(f"#!{sys.executable}\nimport sys\n{answer}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in ("theirs", "named")))
    found = examine()["openclaw python"]
    assert not found["ok"] and f"{tmp_path / 'theirs' / NAME} does not say that it is" in found["detail"]
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in told))
    found = examine()["openclaw python"]
    assert found["ok"] and str(tmp_path / "ours" / NAME) in found["detail"]


def test_another_projects_package_is_named_with_the_way_out(
    examine: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "package" not in examine()
    theirs = tmp_path / "site" / "openclaw_memory-0.2.1.dist-info" / "METADATA"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("Metadata-Version: 2.1\nName: openclaw-memory\nVersion: 0.2.1\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = examine()["package"]
    assert found["ok"] and "openclaw-memory 0.2.1 is installed beside openclaw-memory-graph" in found["detail"]
    assert found["fix"] == "unless you use it, run: pip uninstall openclaw-memory"


def test_a_broken_configuration_is_one_check(state: Path, examine: Callable[..., Any]) -> None:
    (state / "openclaw.json").write_text("{ plugins: ")
    checks = examine()
    assert str(state / "openclaw.json") in checks["openclaw"]["detail"] and "openclaw plugin" not in checks


@pytest.mark.parametrize("model", ["none", "auto"])
def test_the_holder_of_the_index_is_named(notes: Notes, tmp_path: Path, model: str) -> None:
    notes.write("MEMORY.md", "- лампа на чердаке, и она не горит\n")
    db = tmp_path / "index.duckdb"
    hold = (
        "import sys\nfrom openclaw_memory import Memory, Settings\n"
        f"with Memory({str(notes.root)!r}, db={str(db)!r}, settings=Settings().with_values({{'embedding.model': 'none'}})) as m:\n"
        "    with m.store.session():\n        print('held', flush=True)\n        sys.stdin.readline()\n"
    )
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        options = ["--set", f"embedding.model={model}", "--set", "store.lock_timeout=0.2"]
        options += ["-w", str(notes.root), "--db", str(db)]
        result = CliRunner().invoke(cli, [*options, "doctor", "--json"])
        holder.communicate("\n")
    assert result.exit_code == 1
    found = next(check for check in json.loads(result.stdout)["checks"] if check["name"] == "index")
    assert f"{db}: the index is in use by PID {holder.pid} " in found["detail"]
    assert "wait for that process or end it" in found["fix"]
