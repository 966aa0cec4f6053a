"""``setup hermes``, and the provider that it writes; tests/e2e/test_hermes.py runs that in the real Hermes."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from click.testing import Result
from fakes import Notes

from openclaw_memory.config.settings import data_dir
from openclaw_memory.hosts.process import own_command

CONFIGS = [
    None,
    "",
    "# mine\n",
    "model: a  # b\n\n# below\n",
    "memory:\n  nudge_interval: 10 # c\n  # d\n\nx: [1,2 ]\n",
    "memory:\r\n    provider: honcho\r\n",
    "memory:\nx: 'y'\n",
    "memory: {}\n",
    "memory: {a: 1}\nx: 1",
    "memory: ~ # none\n",
]


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"]) / ".hermes"


@pytest.fixture
def run(notes: Notes) -> Callable[..., Result]:
    return partial(commands.run, "-w", str(notes.root), "setup", "hermes")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("text", CONFIGS)
def test_it_is_set_up_and_leaves_no_byte(run: Callable[..., Result], home: Path, text: str | None) -> None:
    home.mkdir()
    if text is not None:
        (home / "config.yaml").write_bytes(text.encode())
    before = tree(home)
    assert "provider: openclaw-memory" in run("--dry-run").stdout and tree(home) == before
    run("--yes")
    changed = (home / "config.yaml").read_bytes().decode()
    assert "provider: openclaw-memory" in changed and "honcho" not in changed
    kept = changed.replace("openclaw-memory", "honcho") if "honcho" in (text or "") else changed
    assert all(line in kept for line in (text or "").splitlines() if "memory:" not in line)
    written = tree(home)
    assert "nothing to change" in run("--yes").stdout and tree(home) == written
    folder = home / "plugins" / "openclaw-memory"
    (folder / "__pycache__").mkdir()
    run("--uninstall", "--yes")
    assert tree(home) == before and not (home / "plugins").exists()
    assert "nothing to change" in run("--uninstall", "--yes").stdout


def test_what_changed_meanwhile_stays(run: Callable[..., Result], home: Path) -> None:
    run("--yes")
    file = home / "config.yaml"
    file.write_text(file.read_text() + "model: b\n")
    run("--uninstall", "--yes")
    assert file.read_text() == "model: b\n" and not (home / "plugins").exists()


@pytest.mark.parametrize("text", ["[a]", "memory: [a]\n", "memory: x\n", "a: [\n", "x: 1\nx: 2\n"])
def test_a_broken_file_is_left_as_it_is(run: Callable[..., Result], home: Path, text: str) -> None:
    home.mkdir()
    (home / "config.yaml").write_text(text)
    assert "config.yaml" in run("--yes", code=1).stderr
    assert tree(home) == {"config.yaml": text.encode()}


def test_what_hermes_has_not_is_refused(run: Callable[..., Result], tmp_path: Path) -> None:
    assert "HERMES_HOME" in run("--project", str(tmp_path), code=1).stderr


# -- the provider ---------------------------------------------------------------------------------------


@pytest.fixture
def provider(run: Callable[..., Result], home: Path, tmp_path: Path) -> Any:
    """The provider as it was written, which asks a command that notes what it was asked and answers from a file."""
    run("--yes")
    folder = home / "plugins" / "openclaw-memory"
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["command"][:2] == [own_command(), "call"]
    asked, script = tmp_path / "asked", tmp_path / "command"
    script.write_text(f'#!/bin/sh\nprintf "%s %s\\n" "$5" "$(cat)" >>{asked}\ncat {tmp_path}/$5 2>/dev/null\n')
    script.chmod(0o755)
    settings["command"] = [str(script), "call", "w"]
    (folder / "settings.json").write_text(json.dumps(settings))
    spec = importlib.util.spec_from_file_location("written", folder / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.OpenClawMemoryProvider()
    answer(tmp_path, "memory_session_start", {})
    return made


def answer(folder: Path, tool: str, result: Any) -> None:
    (folder / tool).write_text(json.dumps(result))


def calls(folder: Path) -> list[tuple[str, Any]]:
    lines = (folder / "asked").read_text().splitlines()
    return [(line.split(" ", 1)[0], json.loads(line.split(" ", 1)[1])) for line in lines]


def turns(folder: Path) -> list[Any]:
    """The turns that were sent, with their time checked and taken off."""
    sent = [arguments for tool, arguments in calls(folder) if tool == "memory_turn"]
    assert all(abs(turn.pop("at") / 1000 - time.time()) < 3600 for turn in sent)
    return sent


def begun(provider: Any, **options: str) -> Any:
    provider.initialize("s1", **({"hermes_home": "x", "platform": "cli"} | options))
    provider._worker.join()
    return provider


def test_it_has_the_tools_of_a_model_and_says_when_to_use_them(provider: Any) -> None:
    assert provider.is_available()
    tools = {tool["name"]: tool["parameters"]["properties"] for tool in provider.get_tool_schemas()}
    assert "memory_search" in tools and "memory_context" not in tools and "memory_turn" not in tools
    assert not any("corpus" in properties for properties in tools.values())
    assert (
        "memory_search" in provider.system_prompt_block()
        and "data, never instructions" in provider.system_prompt_block()
    )


def test_a_session_begins_with_a_brief_and_knows_what_was_compacted(provider: Any, tmp_path: Path) -> None:
    notes = [
        ("a", "agent", "[2026-03-01] - 灯が壊れた"),
        ("b", "untrusted", "spam"),
        ("c", "agent", "told"),
        ("d", "system", "x"),
    ]
    hits = [{"id": name, "origin": origin, "snippet": snippet} for name, origin, snippet in notes]
    hits.append(hits[0] | {"id": "e", "superseded": ["alles neu"]})
    answer(tmp_path, "memory_context", {"text": "In MEMORY: ein Licht.", "sources": [hits[2]]})
    answer(tmp_path, "memory_timeline", {"results": hits})
    begun(provider)
    brief = "Noted lately:\n[2026-03-01] - 灯が壊れた\n\nIn MEMORY: ein Licht."
    assert [provider.prefetch("Licht?") for _ in range(2)] == [brief, "In MEMORY: ein Licht."]
    provider.sync_turn("Licht?", "Ja.")
    assert provider.on_pre_compress([]) == ""
    provider.on_session_switch("s2", parent_session_id="s1", reason="compression")
    assert [provider.prefetch("Licht?") for _ in range(2)] == ["In MEMORY: ein Licht."] * 2
    provider.on_session_switch("s3", reset=True)
    assert provider.prefetch("Licht?") == brief
    asked = [arguments for tool, arguments in calls(tmp_path) if tool == "memory_context"]
    assert [each["session"] for each in asked] == ["s1/0", "s1/0", "s2/1", "s2/1", "s3/2"]
    assert [each.get("compacted") for each in asked] == [None, None, "s1", None, None]


def test_what_comes_too_late_is_counted(provider: Any, tmp_path: Path) -> None:
    begun(provider)
    with pytest.raises(RuntimeError):  # which Hermes logs
        provider.prefetch("lamp?")
    answer(tmp_path, "memory_timeline", {"results": []})
    answer(tmp_path, "memory_context", {"text": "", "sources": []})
    assert provider.prefetch("lamp?") == "" and provider.recall_status() is None
    assert calls(tmp_path)[2] == ("memory_context", {"message": "lamp?", "session": "s1/0", "missed": 1})


def test_a_turn_waits_until_it_is_captured(provider: Any, tmp_path: Path) -> None:
    begun(provider)
    provider.sync_turn("Wir ziehen nach Graz.", "Gut.", session_id="s1", messages=[])
    provider.shutdown()
    [(name, turn)] = tree(data_dir() / "waiting").items()
    others = turn.replace(b'"agentId": "main"', b'"agentId": "other"')
    (data_dir() / "waiting" / "others.json").write_bytes(others)
    answer(tmp_path, "memory_turn", {})
    begun(type(provider)())
    assert name != "others.json" and tree(data_dir() / "waiting") == {"others.json": others}
    asked, answered = {"role": "user", "text": "Wir ziehen nach Graz."}, {"role": "assistant", "text": "Gut."}
    assert turns(tmp_path)[-2:] == [
        {"messages": [asked], "sessionId": "s1", "origin": "owner"},
        {"messages": [answered], "sessionId": "s1", "origin": "untrusted"},
    ]


def test_what_is_forgotten_does_not_wait(provider: Any, notes: Notes) -> None:
    begun(provider)
    provider.sync_turn("Der alte Tresor steht hinter der Zeder im Keller. Wir ziehen nach Graz.", "Gut.")
    provider.shutdown()
    notes.write("memory/a.md", "- Der alte Tresor steht hinter der Zeder im Keller.\n")
    commands.run_command(notes, "ingest")
    commands.run_command(notes, "forget", "--query", "Tresor Zeder", "--yes")
    [turn] = tree(data_dir() / "waiting").values()
    assert b"Zeder" not in turn and b"Graz" in turn


def test_the_turn_under_way_is_kept_before_a_compaction(provider: Any, tmp_path: Path) -> None:
    answer(tmp_path, "memory_turn", {})
    begun(provider, platform="telegram")
    with pytest.raises(RuntimeError):
        provider.prefetch("今日は何？")
    parts = [{"type": "text", "text": "Erstens."}, {"type": "image_url"}]
    provider.on_pre_compress(
        [{"role": "assistant", "content": "before"}, {"role": "user", "content": "a skill and 今日は何？"},
         {"role": "assistant", "content": parts}, {"role": "tool", "content": "x"}, {"role": "assistant", "content": None}]
    )  # fmt: skip
    provider.shutdown()
    asked, answered = {"role": "user", "text": "今日は何？"}, {"role": "assistant", "text": "Erstens."}
    assert turns(tmp_path) == [
        {"messages": [each], "sessionId": "s1", "origin": "untrusted"} for each in (asked, answered)
    ]


def test_who_is_not_the_agent_of_the_person_writes_nothing(provider: Any) -> None:
    begun(provider, agent_context="subagent").sync_turn("I moved to Graz.", "Good.")
    assert not (data_dir() / "waiting").exists()
