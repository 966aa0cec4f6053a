"""The settings of the OpenClaw plugin, which count where its index is used."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fakes import Notes
from openclaw_double import OpenClawDouble

from openclaw_memory.cli.main import cli
from openclaw_memory.config.settings import config_path, load
from openclaw_memory.errors import SettingsError

KEY = "plugins.entries.openclaw-memory.config"


@pytest.fixture
def configure(tmp_path: Path) -> Callable[..., Path]:
    """Write the plugin's configuration into that of OpenClaw, and make the plugin's folder; returns the file."""

    def write(state: Path | None = None, **config: Any) -> Path:
        state = state or Path(os.environ["HOME"]) / ".openclaw"
        (state / "openclaw-memory" / "index").mkdir(parents=True, exist_ok=True)
        file = state / "openclaw.json"
        file.write_text("// mine\n" + json.dumps({"plugins": {"entries": {"openclaw-memory": {"config": config}}}}))
        return file

    return write


def test_they_count_above_the_usual_file_and_below_what_is_said_for_this_run(
    configure: Callable[..., Path], tmp_path: Path
) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text("search: {max_results: 7, min_score: 0.5, snippet_chars: 500}\n")
    file = configure(settings={"search.max_results": 8, "search.snippet_chars": 90, "search.min_score": "${LOW}"})
    environ = {"HOME": os.environ["HOME"], "LOW": "0.25", "OPENCLAW_MEMORY_SEARCH_SNIPPET_CHARS": "80"}
    settings, source = load(None, {}, environ)
    found = settings.search
    assert (found.max_results, found.min_score, found.snippet_chars) == (8, 0.25, 80)
    assert source["search.max_results"] == f"{file}: {KEY}.settings"
    assert load(None, {"search.max_results": 9}, environ)[0].search.max_results == 9
    mine = tmp_path / "mine.yaml"
    mine.write_text("search: {max_results: 10}\n")
    said = load(mine, {}, environ)[0].search
    assert (said.max_results, said.min_score, said.snippet_chars) == (10, 0.25, 80)


def test_its_file_takes_the_place_of_the_usual_one(configure: Callable[..., Path]) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text("search: {max_results: 7, min_score: 0.5}\n")
    theirs = Path(os.environ["HOME"]) / "theirs.yaml"
    theirs.write_text("search: {max_results: 8}\n")
    configure(configFile="~/theirs.yaml")
    settings, source = load()
    assert (settings.search.max_results, settings.search.min_score) == (8, 0.0)
    assert source["search.max_results"] == str(theirs)
    shown = json.loads(CliRunner().invoke(cli, ["config", "show", "search.max_results", "--json"]).stdout)
    assert shown["file"] == shown["settings"][0]["source"] == str(theirs)


@pytest.mark.parametrize(
    ("option", "theirs"),
    [
        ("store.path={elsewhere}/x.duckdb", False),
        ("store.folder={elsewhere}", False),
        ("store.folder={state}/openclaw-memory/index", True),
        ("store.path={state}/openclaw-memory/index/main/x.duckdb", True),
    ],
)
def test_they_count_for_the_plugins_index_only(
    configure: Callable[..., Path], tmp_path: Path, option: str, theirs: bool
) -> None:
    file = configure(settings={"search.max_results": 8})
    key, _, value = option.format(elsewhere=tmp_path, state=file.parent).partition("=")
    assert load(None, {key: value})[0].search.max_results == (8 if theirs else 6)
    assert load(None, {}, {"HOME": str(tmp_path)})[0].search.max_results == 6


def test_another_index_file_has_settings_of_its_own(configure: Callable[..., Path], notes: Notes) -> None:
    configure(settings={"embedding.model": "none", "search.max_results": 1})
    notes.write("MEMORY.md", "- a green lamp\n- a red lamp\n\n# Lamps\n\n- a blue lamp\n")
    shown = [
        json.loads(CliRunner().invoke(cli, [*options, "config", "show", "search.max_results", "--json"]).stdout)
        for options in ([], ["--db", str(notes.root.parent / "x.duckdb")])
    ]
    assert [one["settings"][0]["value"] for one in shown] == [1, 6]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"settings": {"search.mode": "hybird"}}, [f"{KEY}.settings: 'search.mode'", "did you mean 'hybrid'"]),
        ({"settings": [1]}, [f"{KEY}.settings must be an object"]),
        ({"configFile": 3}, [f"{KEY}.configFile must be text"]),
        ({"configFile": "/nowhere/x.yaml"}, ["/nowhere/x.yaml: no such configuration file", f"{KEY}.configFile"]),
    ],
)
def test_what_is_wrong_in_them_is_one_line(configure: Callable[..., Path], config: Any, words: list[str]) -> None:
    file = configure(**config)
    with pytest.raises(SettingsError) as caught:
        load()
    assert all(word in str(caught.value) for word in [str(file), *words]) and "\n" not in str(caught.value)
    done = CliRunner().invoke(cli, ["config", "show"])
    assert done.exit_code == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("profile", [None, "lab"])
def test_setup_and_the_command_line_embed_with_the_plugins_model(
    configure: Callable[..., Path],
    tiny_gguf: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    profile: str | None,
) -> None:
    monkeypatch.setenv("FAKE_LOG", "")
    home = Path(os.environ["HOME"])
    double = OpenClawDouble(tmp_path / "bin", home)
    state = home / f".openclaw-{profile}" if profile else double.state
    (state / "workspace").mkdir(parents=True)
    (state / "workspace" / "MEMORY.md").write_text("# Lamps\n\n- a green lamp by the door\n")
    configure(state, settings={"embedding.model": str(tiny_gguf)})

    def run(*arguments: str) -> Result:
        done = CliRunner().invoke(cli, list(arguments))
        assert done.exit_code == 0, done.output
        return done

    options = ["--profile", profile] if profile else []
    shown = run("setup", "--yes", "--openclaw", str(double.command), *options, "--query", "lamp").stdout
    assert f"model: {tiny_gguf.stem}" in shown or str(tiny_gguf) in shown
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    status = json.loads(run("status", "--json").stdout)
    assert status["database"].startswith(str(state / "openclaw-memory" / "index"))
    assert status["vectors"]["ready"] and not status["vectors"]["outdated"]
