"""The packed plugin, installed on a machine that has no Python package of ours, from there to an answer."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from host import ENVIRON, PLUGIN, ROOT, Host, cache_folder, running
from model import ScriptedModel, ask
from probe import write

pytestmark = pytest.mark.e2e

SETUP_TIMEOUT = 1800.0  # seconds; on a small machine llama.cpp takes long to compile
QUESTION = "which doctor treats our cat?"
RIGHT = "- Our cat is a patient of the veterinarian Okafor in Lindenstrasse, open until six.\n"
# It has a word of the question as well, and in a shorter line: by words alone it comes first.
DECOY = "- A spin doctor spoke.\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, openclaw: Path) -> Path:
    """The npm package of the plugin, packed from this repository."""
    folder = tmp_path_factory.mktemp("package")
    npm = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    subprocess.run(npm, cwd=ROOT, env=ENVIRON | {"npm_config_cache": str(folder / "cache")}, check=True)
    [packed] = folder.glob("*.tgz")
    return packed


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], package: Path) -> Iterator[Host]:
    host = new_host("installed")
    host.configure()
    write(host.workspace, "memory/2026-03-01.md", DECOY)
    write(host.workspace, "memory/2026-03-02.md", RIGHT)
    host.run("plugins", "install", f"npm-pack:{package}", "--force", "--accept-capabilities")
    yield host
    host.kill_all()


def test_installed_plugin_says_what_to_do_without_python(host: Host, model: ScriptedModel) -> None:
    assert host.local_turn(ask(QUESTION)).startswith("FINAL:")
    result = model.tool_results()[-1]
    assert (result["results"], result["unavailable"]) == ([], True)
    assert "openclaw memory setup" in result["action"]


def test_setup_installs_the_python_part_and_takes_the_slot(host: Host) -> None:
    copy_model(host)
    host.run("memory", "setup", "--yes", timeout=SETUP_TIMEOUT)
    host.assert_nothing_runs()
    seen = host.run_json("plugins", "inspect", PLUGIN, "--runtime")
    hooks = {"session_start", "after_compaction", "before_agent_reply", "before_prompt_build"}
    assert {hook["name"] for hook in seen["typedHooks"]} >= hooks
    assert set(seen["plugin"]["toolNames"]) == {
        "memory_search",
        "memory_get",
        "memory_timeline",
        "graph_recall",
        "memory_facts",
    }
    assert seen["diagnostics"] == []


def test_local_turn_answers_from_the_right_note_although_a_decoy_shares_its_words(host: Host) -> None:
    executable = host.state / PLUGIN / "venv" / "bin" / PLUGIN
    by_words = json.loads(host.execute(executable, "--json", "search", "--mode", "keyword", QUESTION))
    assert "spin doctor" in by_words["results"][0]["snippet"]
    assert "Okafor" in host.local_turn(ask(QUESTION))
    host.assert_nothing_runs()


def test_gateway_turn_answers_likewise(host: Host, model: ScriptedModel) -> None:
    with running(host):
        assert "Okafor" in host.cli_turn(ask(QUESTION))
        assert model.tool_results()[-1]["debug"]["backend"] == PLUGIN


def copy_model(host: Host) -> None:
    """Give the host the default model if whoever runs the tests has it; else setup gets it."""
    there = host.home / ".cache" / PLUGIN / "models"
    there.mkdir(parents=True)
    for file in (cache_folder() / PLUGIN / "models").glob("all-minilm-l6-v2*"):
        shutil.copy(file, there)
