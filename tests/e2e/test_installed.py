"""The packed plugin, installed on a machine that has no Python package of ours, from there to an answer."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from host import PLUGIN, Host, cache_folder, running
from model import ScriptedModel, ask
from probe import write

from openclaw_memory.serve.registry import listed_tools

pytestmark = pytest.mark.e2e

SETUP_TIMEOUT = 600.0  # seconds; nothing is compiled
QUESTION = "which doctor treats our cat?"
RIGHT = "- Our cat is a patient of the veterinarian Okafor in Lindenstrasse, open until six.\n"
# It has a word of the question as well, and in a shorter line: by words alone it comes first.
DECOY = "- A spin doctor spoke.\n"


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], package: Path) -> Iterator[Host]:
    host = new_host("installed")
    host.configure()
    write(host.workspace, "memory/2026-03-01.md", DECOY)
    write(host.workspace, "memory/2026-03-02.md", RIGHT)
    host.run("plugins", "install", f"npm-pack:{package}", "--accept-capabilities", "--force")
    yield host
    host.kill_all()


def test_until_setup_the_commands_of_memory_name_it(host: Host) -> None:
    # OpenClaw's own memory is loaded beside ours then, and has a `memory status` and a `memory search`, too.
    for arguments in (["status", "--json"], ["search", QUESTION]):
        assert "Run: openclaw memory setup" in host.ends("memory", *arguments, code=1)


def test_setup_installs_the_python_part_and_takes_the_slot(host: Host) -> None:
    copy_model(host)
    said = host.run("memory", "setup", "--yes", timeout=SETUP_TIMEOUT)
    assert "prebuilt llama.cpp" in said and "keywords only" not in said
    assert [folder.name for folder in (host.state / PLUGIN).glob("venv-*")] == [environment(host).name]
    host.assert_nothing_runs()
    listed = host.run_json("plugins", "list")
    [ours] = [plugin for plugin in listed["plugins"] if plugin["id"] == PLUGIN]
    assert (ours["status"], listed["diagnostics"]) == ("loaded", [])
    assert set(ours["toolNames"]) == set(listed_tools(for_host=False))


def test_a_decoy_shares_the_words_of_the_question(host: Host) -> None:
    by_words = json.loads(
        host.execute(environment(host) / "bin" / PLUGIN, "--json", "search", "--mode", "keyword", QUESTION)
    )
    assert "spin doctor" in by_words["results"][0]["snippet"]


def test_a_turn_answers_by_meaning_and_a_new_environment_takes_over_meanwhile(host: Host, model: ScriptedModel) -> None:
    old = environment(host)
    with running(host):
        assert "Okafor" in host.turn(ask(QUESTION))
        assert model.tool_results()[-1]["debug"]["backend"] == PLUGIN
        [before] = host.servers()
        # The first environment is pip's. This one is uv's, which takes less time; pip's too if there is no uv.
        (host.folder / "bin" / "uv").symlink_to(Path(sys.executable).with_name("uv"))
        host.run("memory", "setup", "--yes", "--force", timeout=SETUP_TIMEOUT)
        new = environment(host)
        assert new != old and old.is_dir(), "the gateway's process runs from it"
        assert [server.pid for server in host.servers()] == [before.pid]
        assert "Okafor" in host.turn(ask(QUESTION))
        before.kill()
        before.wait(20)
        assert "Okafor" in host.turn(ask(QUESTION))
        [after] = host.servers()
        assert any(str(new) in part for part in after.cmdline())
        host.run("memory", "setup", "--yes")
        assert not old.exists(), "nothing uses it any more"


def environment(host: Host) -> Path:
    """The plugin's environment that is in use."""
    return host.state / PLUGIN / (host.state / PLUGIN / "venv.current").read_text().strip()


def copy_model(host: Host) -> None:
    """Give the host the default model if whoever runs the tests has it; else setup gets it."""
    there = host.home / ".cache" / PLUGIN / "models"
    there.mkdir(parents=True)
    for file in (cache_folder() / PLUGIN / "models").glob("all-minilm-l6-v2*"):
        shutil.copy(file, there)
