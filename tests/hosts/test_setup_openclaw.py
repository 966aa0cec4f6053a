"""``setup openclaw``: everything is shown, asked, done, and put back."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import pytest
from click.testing import CliRunner, Result
from openclaw_double import OpenClawDouble

from openclaw_memory import Memory, Settings, __version__
from openclaw_memory.cli.main import cli
from openclaw_memory.hosts import plugin_files
from openclaw_memory.hosts.openclaw_config import ConfigSnapshot
from openclaw_memory.hosts.plugin_files import MANIFEST, plugin_source
from openclaw_memory.hosts.process import own_command

NAME = "openclaw-memory"
NOTE = "# 2026-03-03\n\n## The backups moved to the attic\n\n- because the pantry was full\n"
ENTRY = {
    "enabled": True,
    "hooks": {"allowConversationAccess": True, "allowPromptInjection": True},
    "config": {"command": own_command(), "dreaming": {"enabled": False}},
}


@pytest.fixture(scope="module")
def bare_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plugin of few files, as copying all four hundred is what most of a setup takes."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copy(plugin_source() / MANIFEST, folder)
    (folder / "package.json").write_text('{"files": []}')
    return folder


@pytest.fixture
def openclaw(tmp_path: Path, bare_plugin: Path, monkeypatch: pytest.MonkeyPatch) -> OpenClawDouble:
    monkeypatch.setattr(plugin_files, "plugin_source", lambda: bare_plugin)
    monkeypatch.setenv("FAKE_LOG", "")
    double = OpenClawDouble(tmp_path / "bin", Path(os.environ["HOME"]))
    monkeypatch.setenv("PATH", f"{double.command.parent}{os.pathsep}{os.environ['PATH']}")
    note = double.workspace / "memory" / "2026-03-03.md"
    note.parent.mkdir(parents=True)
    note.write_text(NOTE, encoding="utf-8")
    return double


@pytest.fixture
def run(tiny_gguf: Path) -> Callable[..., Result]:
    def invoke(*arguments: str, code: int = 0, model: str | None = None) -> Result:
        return commands.run("--set", f"embedding.model={model or tiny_gguf}", "setup", *arguments, code=code)

    return invoke


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_setup_installs_switches_over_reads_and_searches(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_files, "plugin_source", plugin_source)
    openclaw.write({"gateway": {"port": 1}, "plugins": {"slots": {"memory": "memory-core"}}})
    shown = run("--yes").stdout
    assert f"  + plugin {__version__}\n" in shown
    assert '  ~ plugins.slots.memory: "memory-core" → "openclaw-memory"\n' in shown
    assert "  + plugins.entries.openclaw-memory.hooks.allowConversationAccess: true\n" in shown
    assert f"✓ notes of main: 1 file in {openclaw.workspace}, 3 units, 3 embedded" in shown
    assert "search: The backups moved to the attic\n\n 1  " in shown and "memory/2026-03-03.md" in shown
    assert shown.endswith("next: start the gateway: openclaw gateway\n")
    assert openclaw.config() == {
        "gateway": {"port": 1},
        "plugins": {"slots": {"memory": NAME}, "entries": {NAME: ENTRY}},
    }
    home = openclaw.state / NAME
    assert [file.suffix for file in (home / "index" / "main").glob("workspace-*.duckdb")] == [".duckdb"]
    assert (home / "setup.json").stat().st_mode & 0o777 == 0o600 and home.stat().st_mode & 0o777 == 0o700
    installed = openclaw.state / "extensions" / NAME
    assert (installed / "openclaw_memory" / "cli" / "setup.py").is_file() and (installed / "pyproject.toml").is_file()
    assert not list(installed.rglob("__pycache__"))
    assert json.loads((installed / "openclaw.plugin.json").read_text())["version"] == __version__


def test_a_larger_model_is_named_to_who_has_chosen_none(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    offer = "EmbeddingGemma 300M finds more: its first hit answers 69% of questions instead of 64%, for 334 MB"
    assert offer not in run("--yes").stdout
    assert offer in run(model="auto").stdout
    assert offer not in run("--offline", model="auto").stdout


def test_a_second_setup_changes_nothing_and_forgets_nothing(
    openclaw: OpenClawDouble, run: Callable[..., Result]
) -> None:
    openclaw.write({"plugins": {"slots": {"memory": "memory-core"}}})
    run("--yes")
    before, calls = tree(openclaw.state), len(openclaw.calls("config patch"))
    shown = run(model="none").stdout  # nothing to agree to, so nobody need be asked
    assert "nothing to change" in shown and "search: " in shown
    after = tree(openclaw.state)
    kept = [name for name in before if ".duckdb" not in name]
    assert [name for name in after if ".duckdb" not in name] == kept
    assert all(after[name] == before[name] for name in kept)
    assert len(openclaw.calls("plugins install")) == 1 and len(openclaw.calls("config patch")) == calls


BEFORE: dict[str, Any] = {
    "no configuration": None,
    "another's memory": {"plugins": {"slots": {"memory": "other", "contextEngine": "x"}, "entries": {"other": {"enabled": True}}}},
    "denied with others": {"plugins": {"deny": ["x", NAME]}},
    "an entry of ours": {"plugins": {"allow": [NAME, "x"], "entries": {NAME: {"enabled": False, "config": {"settings": {"search.max_results": 1}}}}}},
}  # fmt: skip


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_uninstall_puts_back_what_was_there(openclaw: OpenClawDouble, run: Callable[..., Result], before: Any) -> None:
    if before is not None:
        openclaw.write(before)
    notes = tree(openclaw.workspace)
    run("--yes", model="none")
    plugins = openclaw.config()["plugins"]
    assert plugins["slots"]["memory"] == NAME and NAME not in plugins.get("deny", [])
    assert ("allow" in plugins) == ("allow" in ((before or {}).get("plugins") or {}))
    shown = run("--uninstall", "--yes").stdout
    assert "is as it was before setup" in shown
    assert openclaw.config() == (before or {})
    assert not (openclaw.state / "extensions" / NAME).exists() and tree(openclaw.workspace) == notes
    assert "nothing to put back" in run("--uninstall", "--yes").stdout
    assert not (openclaw.state / NAME / "setup.json").exists()


def test_uninstall_keeps_index_and_state_and_says_what_deletes_them(
    openclaw: OpenClawDouble, run: Callable[..., Result]
) -> None:
    run("--yes", model="none")
    with Memory(openclaw.workspace, settings=Settings().with_values({"embedding.model": "none"})) as memory:
        memory.upkeep.enable(True)
        file = memory.state.file
    assert file is not None
    shown = run("--uninstall", "--yes").stdout
    assert f"✓ index: kept in {openclaw.state / NAME / 'index'}" in shown
    assert f"✓ state: kept in {file}" in shown and file.exists()
    assert f"openclaw-memory -w {openclaw.workspace} state purge" in shown


def test_uninstall_without_a_record_says_what_to_run(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    run("--yes", model="none")
    for record in ("{", '{"version": 99}', None):
        file = openclaw.state / NAME / "setup.json"
        file.unlink() if record is None else file.write_text(record)
        assert f"run: openclaw plugins uninstall {NAME}" in run("--uninstall", "--yes", code=1).stderr


def test_uninstall_leaves_the_slot_to_who_took_it_since(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    openclaw.write({"plugins": {"slots": {"memory": "memory-core"}}})
    run("--yes", model="none")
    config = openclaw.config()
    config["plugins"]["slots"]["memory"] = "newcomer"
    openclaw.write(config)
    before = (openclaw.state / NAME / "setup.json").read_text()
    assert "~ plugins.slots.memory" not in run("--uninstall", "--dry-run").stdout
    assert (openclaw.state / NAME / "setup.json").read_text() == before


def test_a_plugin_that_was_there_before_stays(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    old = openclaw.state / "extensions" / NAME
    old.mkdir(parents=True)
    (old / "openclaw.plugin.json").write_text(json.dumps({"id": NAME, "version": "0.0.9"}))
    before = {"plugins": {"slots": {"memory": NAME}, "entries": {NAME: {"enabled": True}}}}
    openclaw.write(before)
    assert f"  ~ plugin 0.0.9 → {__version__} in {old}\n" in run("--yes", model="none").stdout
    assert "it was there before setup and stays" in run("--uninstall", "--yes").stdout
    assert openclaw.config() == before and old.is_dir()


def test_openclaws_own_setup_leaves_the_plugin_and_its_choice_of_python(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = openclaw.state / "extensions" / NAME
    old.mkdir(parents=True)
    (old / "openclaw.plugin.json").write_text(json.dumps({"id": NAME, "version": "0.0.9"}))
    private = openclaw.state / NAME / "venv-0.2.0" / "bin"
    private.mkdir(parents=True)
    (openclaw.state / NAME / "venv").mkdir()
    (openclaw.state / NAME / "venv.current").write_text("venv-0.2.0\n")
    (private / NAME).symlink_to(own_command())
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(private))
    script = openclaw.command.with_suffix(".mjs")  # as OpenClaw names itself: run by the node that is first on PATH
    openclaw.command.rename(script)
    (script.parent / "node").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (script.parent / "node").chmod(0o755)
    openclaw.write({"plugins": {"entries": {NAME: {"config": {"command": "/old"}}}}})
    shown = run("--installed", "--yes", "--openclaw", str(script), model="none").stdout
    assert f"✓ environment: removed {openclaw.state / NAME / 'venv'}: " in shown and private.is_dir()
    entry = {**ENTRY, "config": {"dreaming": {"enabled": False}}}
    assert openclaw.config()["plugins"]["entries"][NAME] == entry and not openclaw.calls("plugins install")


def test_after_removal_by_hand_the_next_setup_remembers_anew(
    openclaw: OpenClawDouble, run: Callable[..., Result]
) -> None:
    run("--yes", model="none")
    shutil.rmtree(openclaw.state / "extensions")
    openclaw.write({"plugins": {"slots": {"memory": "newcomer"}}})
    run("--yes", model="none")
    run("--uninstall", "--yes")
    assert openclaw.config() == {"plugins": {"slots": {"memory": "newcomer"}}}


# -- asking -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--uninstall"]])
def test_a_dry_run_and_nobody_to_ask_change_nothing(
    openclaw: OpenClawDouble, run: Callable[..., Result], arguments: list[str]
) -> None:
    openclaw.write('{plugins: {slots: {memory: "openclaw-memory"}}} // mine\n' if arguments else "{} // mine\n")
    (openclaw.state / NAME).mkdir()
    snapshot = ConfigSnapshot.take({}, openclaw.state / "openclaw.json", plugin_installed=False)
    snapshot.save(openclaw.state / NAME)
    before = tree(openclaw.state)
    assert "nothing was changed (--dry-run)\n" in run(*arguments, "--dry-run").stdout
    refused = run(*arguments, "--openclaw", str(openclaw.command), code=2)
    assert refused.stderr == "nothing was changed: nobody is here to agree; run the same again with --yes\n"
    assert "plugins.slots.memory" in refused.stdout
    assert tree(openclaw.state) == before


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_on_a_terminal_it_asks(openclaw: OpenClawDouble, answer: str, code: int) -> None:
    openclaw.write({"plugins": {"slots": {"memory": "memory-core"}}})
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "openclaw_memory", "--set", "embedding.model=none", "setup"]
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root
    ) as process:
        os.write(ours, f"{answer}\n".encode())
        out, err = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == code, err
    assert "Install the plugin and change OpenClaw's configuration? [y/N]:" in out
    assert ("nothing was changed" in out) == (answer == "n")
    assert openclaw.config()["plugins"]["slots"]["memory"] == (NAME if answer == "y" else "memory-core")


def test_as_json(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    plan = json.loads(run("--json", code=2).stdout)
    assert plan["applied"] is False and plan["next"].endswith(" with --yes")
    assert plan["changes"][1]["where"] == str(openclaw.file)
    done = json.loads(run("--json", "--yes", "--query", "pantry").stdout)
    assert done["applied"] and all(step["ok"] for step in done["steps"])
    assert done["ingest"][0]["report"]["added"] == 3 and done["search"]["query"] == "pantry"
    assert done["search"]["result"]["results"][0]["path"] == "memory/2026-03-03.md"


# -- agents, profiles, gateways -----------------------------------------------------------------------


def test_every_agents_workspace_is_read_into_its_own_index(
    openclaw: OpenClawDouble, run: Callable[..., Result], tmp_path: Path
) -> None:
    work = tmp_path / "work é"
    work.mkdir()
    (work / "MEMORY.md").write_text("- the tax number is in the blue folder\n")
    entries = {"work": {"workspace": str(work)}, "main": {}, "new": {"workspace": str(tmp_path / "none")}}
    openclaw.write({"agents": {"entries": entries}})
    shown = run("--yes", model="none").stdout
    assert f"✓ notes of work: 1 file in {work}" in shown
    assert f"✓ notes of new: {tmp_path / 'none'} is not there yet" in shown
    assert "search: The backups" in shown  # of the default agent
    index = openclaw.state / NAME / "index"
    assert sorted(folder.name for folder in index.iterdir()) == ["main", "work"]
    only = json.loads(run("--json", "-w", str(work)).stdout)
    assert [each["agent"] for each in only["ingest"]] == ["work"]


def test_an_agent_without_memory_is_not_read(
    openclaw: OpenClawDouble, run: Callable[..., Result], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "MEMORY.md").write_text("- the tax number is in the blue folder\n")
    off = {"workspace": str(work), "memory": {"search": {"enabled": False}}}
    openclaw.write({"agents": {"entries": {"Work": off, "main": {}}}})
    assert "✓ notes of Work: not read: memory search is off for this agent" in run("--yes", model="none").stdout
    assert [folder.name for folder in (openclaw.state / NAME / "index").iterdir()] == ["main"]


def test_a_workspace_without_notes_is_no_failure(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    shutil.rmtree(openclaw.workspace)
    assert "is not there yet; its first session reads it" in run("--yes", model="none").stdout
    openclaw.workspace.mkdir()
    assert "no notes to search yet" in run("--yes", model="none").stdout


def test_a_profile_has_a_state_of_its_own(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    run("--profile", "lab", "--yes", model="none")
    lab = openclaw.state.parent / ".openclaw-lab"
    assert json.loads((lab / "openclaw.json").read_text())["plugins"]["slots"]["memory"] == NAME
    assert (lab / NAME / "setup.json").is_file() and not (openclaw.state / NAME).exists()
    run("--profile", "lab", "--uninstall", "--yes")
    assert "plugins" not in json.loads((lab / "openclaw.json").read_text())


def test_a_state_folder_from_the_environment(
    openclaw: OpenClawDouble, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    run("--yes", "-w", str(openclaw.workspace), model="none")
    assert (tmp_path / "state" / NAME / "index" / "main").is_dir() and not (openclaw.state / NAME).exists()


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ("Restart the gateway to apply.", "next: restart the gateway: openclaw gateway restart\n"),
        ("No gateway restart needed.", "next: restart the gateway: openclaw gateway restart\n"),
    ],
)
def test_a_running_gateway_is_restarted_when_it_must(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, hint: str, words: str
) -> None:
    # The double's install says "Saved for the next Gateway start", as the real one without a way to the gateway.
    monkeypatch.setenv("FAKE_GATEWAY", "1")
    monkeypatch.setenv("FAKE_HINT", hint)
    assert run("--yes", model="none").stdout.endswith(words)
    config = openclaw.config()
    del config["plugins"]["entries"][NAME]["hooks"]
    openclaw.write(config)
    again = run("--yes", model="none").stdout
    assert again.endswith(words) == hint.startswith("Restart")
    assert ("has taken the change over without a restart" in again) != hint.startswith("Restart")


def test_comments_in_the_configuration_are_kept_beside(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    text = "// mine\n{ plugins: { slots: { memory: 'memory-core', }, }, }\n"
    openclaw.write(text)
    assert "comments in it are lost" in run("--yes", model="none").stdout
    copy = openclaw.state / NAME / "openclaw.json.before"
    assert copy.read_text() == text and copy.stat().st_mode & 0o777 == 0o600
    assert f"is {copy}\n" in run("--uninstall", "--yes").stdout
    assert openclaw.config() == {"plugins": {"slots": {"memory": "memory-core"}}}


# -- failures -----------------------------------------------------------------------------------------


def failure(result: Result) -> str:
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr


def test_without_openclaw_the_other_hosts_are_named(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = failure(run(code=1))
    assert "openclaw is not on PATH" in said and "--openclaw PATH" in said and "setup claude-code" in said
    assert "claude-code" not in failure(run("openclaw", code=1))
    assert "/nowhere/openclaw: no such program" in failure(run("--openclaw", "/nowhere/openclaw", code=1))


def test_an_openclaw_that_does_not_do_is_named(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("2026.7.35", "2026.8.2", "2026.9.1"):
        monkeypatch.setenv("FAKE_VERSION", f"OpenClaw {version} (abc)")
        refused = f"OpenClaw {version} is too old: this needs 2026.9.6, as earlier ones do not say who wrote a message"
        assert refused in failure(run(code=1))
    monkeypatch.setenv("FAKE_FAIL", "--version")
    assert f"'{openclaw.command} --version' failed: it went wrong for a reason" in failure(run(code=1))
    monkeypatch.delenv("FAKE_FAIL")
    monkeypatch.delenv("FAKE_VERSION")
    openclaw.write({})
    monkeypatch.setenv("FAKE_INVALID", "1")
    assert "OpenClaw config is invalid; agents: bad; run: openclaw doctor --fix" in failure(run(code=1))
    openclaw.command.write_text("no script")
    assert "cannot be run" in failure(run(code=1))


@pytest.mark.parametrize("step", ["plugins install", "config patch", "agents list"])
def test_a_failing_step_names_the_cause_and_can_be_undone(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = {"plugins": {"slots": {"memory": "memory-core"}}}
    openclaw.write(before)
    monkeypatch.setenv("FAKE_FAIL", step)
    said = failure(run("--yes", code=1, model="none"))
    assert f"'openclaw {step}' failed: it went wrong for a reason" in said
    assert ("setup openclaw --uninstall" in said) == (step != "agents list")
    monkeypatch.delenv("FAKE_FAIL")
    run("--uninstall", "--yes")
    assert openclaw.config() == before and not (openclaw.state / "extensions" / NAME).exists()


SLOTS: dict[str, Any] = {
    "nothing": {},
    "another's memory": {"plugins": {"slots": {"memory": "other"}, "entries": {NAME: {"config": {"context": False}}}}},
}


@pytest.mark.parametrize("before", SLOTS.values(), ids=SLOTS)
def test_the_slot_is_taken_last(
    openclaw: OpenClawDouble, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Any
) -> None:
    openclaw.write(before)
    (tmp_path / "file").touch()
    monkeypatch.setenv("OPENCLAW_MEMORY_STORE_FOLDER", str(tmp_path / "file"))
    said = failure(run("--yes", code=1, model="none"))
    assert str(tmp_path / "file") in said and "keeps the memory that it had" in said and "--uninstall" in said
    assert openclaw.config() == before and (openclaw.state / "extensions" / NAME).is_dir()
    assert openclaw.slots() and NAME not in openclaw.slots(), "not even for a moment"
    monkeypatch.delenv("OPENCLAW_MEMORY_STORE_FOLDER")
    shown = run("--yes", model="none").stdout
    assert shown.index("search: ") < shown.index("configuration: ")
    assert openclaw.config()["plugins"]["slots"]["memory"] == NAME
    run("--uninstall", "--yes")
    assert openclaw.config() == before


def test_a_configuration_that_is_managed_elsewhere_is_left_alone(
    openclaw: OpenClawDouble, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_NIX_MODE", "1")
    result = run("--yes", code=1, model="none")
    assert "plugins.slots.memory" in result.stdout and "OPENCLAW_NIX_MODE=1" in failure(result)
    run("--dry-run", model="none")
    assert not (openclaw.state / NAME).exists()


def test_a_broken_configuration_is_named_with_its_line(openclaw: OpenClawDouble, run: Callable[..., Result]) -> None:
    openclaw.write("{\n  a: 1,\n  b 2\n}\n")
    said = failure(run("--yes", code=1, model="none"))
    assert f"{openclaw.file}: not valid JSON5 (line 3" in said and not openclaw.calls("plugins install")


def test_options_of_other_hosts_are_refused(
    openclaw: OpenClawDouble, run: Callable[..., Result], tmp_path: Path
) -> None:
    assert "--project is for" in run("--project", str(tmp_path), code=2).stderr
    assert "--db cannot be given" in CliRunner().invoke(cli, ["--db", "x", "setup", "--yes"]).stderr
    assert "--query is for openclaw" in run("cursor", "--query", "x", code=2).stderr
