"""A memory provider in the real Hermes: its own loader, its own agent, a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from fakes import Notes
from host import COMMAND_TIMEOUT, ENVIRON, cache_folder
from model import ScriptedModel, call

from openclaw_memory.config.settings import data_dir

pytestmark = pytest.mark.e2e

TURNS = Path(__file__).with_name("hermes_turns.py")


@pytest.fixture
def hermes() -> Path:
    """The folder of Hermes' executables."""
    cache = Path(ENVIRON.get("OPENCLAW_E2E_CACHE") or cache_folder() / "openclaw-memory-e2e")
    folder = cache.parent / "openclaw-memory-hermes-0.19.0"
    if not (folder / "installed").is_file():
        pytest.fail(f"no Hermes in {folder}; run .ci/hermes, which installs it there")
    return folder / "bin"


@pytest.fixture
def home(notes: Notes) -> Iterator[Path]:
    """Hermes' home, with the provider set up; the server that a session started has ended afterwards."""
    notes.write("MEMORY.md", "# Servers\n\n- The backup server is called Alder and stands in Graz.\n")
    home = Path(os.environ["HOME"]) / ".hermes"
    home.mkdir()
    (home / "config.yaml").write_text("# mine\nmodel:\n  provider: custom  # a scripted one\n", encoding="utf-8")
    ours(notes, "config", "set", "embedding.model", "none")
    ours(notes, "config", "set", "capture.enabled", "true")
    ours(notes, "config", "set", "context.deadline_ms", "60000")
    ours(notes, "ingest")
    ours(notes, "setup", "hermes", "--yes")
    yield home
    for file in (data_dir() / "servers").glob("*.json"):
        with suppress(psutil.NoSuchProcess):
            server = psutil.Process(json.loads(file.read_bytes())["pid"])
            server.terminate()
            server.wait(COMMAND_TIMEOUT)


def ours(notes: Notes, *arguments: str) -> str:
    command = [sys.executable, "-m", "openclaw_memory", "-w", str(notes.root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMMAND_TIMEOUT).stdout


@pytest.fixture
def talk(hermes: Path, home: Path, model: ScriptedModel) -> Callable[..., int]:
    """Let the agent take these steps in a process of its own; its exit code."""
    before = len(model.requests)

    def talk(*steps: str) -> int:
        del model.requests[before:]
        command = [str(hermes / "python"), str(TURNS), model.url, *steps]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=COMMAND_TIMEOUT)
        assert done.returncode in (0, 9), done.stderr
        return done.returncode

    return talk


def captured(notes: Notes) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in (notes.root / "memory" / "captures").glob("*.md"))


def waiting() -> list[Path]:
    return list((data_dir() / "waiting").iterdir())


def test_hermes_finds_the_provider(hermes: Path, home: Path) -> None:
    command = [str(hermes / "hermes"), "memory", "status"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_TIMEOUT, check=True).stdout
    assert "Provider:  openclaw-memory" in said and "Status:    available" in said


def test_it_is_reminded_before_a_turn_and_remembers_after_it(
    talk: Callable[..., int], model: ScriptedModel, notes: Notes, home: Path
) -> None:
    talk(
        "What is the backup server called?",
        call("memory_search", query="Alder"),
        "We decided that Berta waters the garden from 2026-12-01 on.",
    )
    first = next(request for request in model.requests if request.messages and "backup" in request.messages[-1][1])
    assert "The backup server is called Alder" in first.messages[-1][1] and "<memory-context>" in first.messages[-1][1]
    assert "memory_search" in first.tools and "Call memory_search before" in first.system
    assert any("Alder" in json.dumps(result) for result in model.tool_results())
    assert "Berta waters the garden" in captured(notes) and waiting() == []


def test_what_is_said_before_a_compaction_is_known_after_it(
    talk: Callable[..., int], model: ScriptedModel, notes: Notes
) -> None:
    turns = [f"We decided that room {n} gets the lamp number {n + 40} on 2026-12-{n + 10}." for n in range(5)]
    talk(*turns, "COMPACT", "Which lamp does room 3 get?")
    assert all(turn in captured(notes) for turn in turns)
    asked = [text for request in model.requests for role, text in request.messages if text.startswith("Which lamp")]
    assert "lamp number 43" in asked[-1]


def test_a_turn_that_is_killed_in_a_compaction_is_kept(talk: Callable[..., int], notes: Notes, home: Path) -> None:
    said = "We decided that the boat is sold to Carla on 2026-12-24."
    assert talk("Hello!", f"KILLED {said}") == 9
    talk("Hello!")
    assert said in captured(notes) and waiting() == []


def test_it_leaves_as_it_came(hermes: Path, home: Path, notes: Notes, talk: Callable[..., int]) -> None:
    talk("Hello!")  # Python leaves its compiled modules beside the provider
    ours(notes, "setup", "hermes", "--uninstall", "--yes")
    assert (home / "config.yaml").read_bytes() == b"# mine\nmodel:\n  provider: custom  # a scripted one\n"
    assert not (home / "plugins").exists()
