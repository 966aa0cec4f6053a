"""``openclaw-memory model``: what is printed, and that ``use`` changes one line of the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from openclaw_memory.cli.context import CliContext
from openclaw_memory.cli.model import model
from openclaw_memory.config.settings import Settings
from openclaw_memory.errors import ModelError, OpenClawMemoryError, SettingsError
from openclaw_memory.evaluate.sample import take_sample
from openclaw_memory.model import Grain, Kind, Origin, SourceFile


class Context(CliContext):
    """The command line's context, with a settings file that need not be there."""

    def settings(self, **overrides: Any) -> Settings:
        assert self.config is not None
        return Settings.load(
            self.config if self.config.exists() else None, environ={"OPENCLAW_MEMORY_CONFIG": "/dev/null"}
        )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.yaml"


@pytest.fixture
def run(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("openclaw_memory.config.settings.cache_dir", lambda: tmp_path / "cache")

    def invoke(*arguments: str, as_json: bool = False, given: str | None = None) -> Result:
        result = CliRunner().invoke(
            model, arguments, obj=Context(as_json, workspace=tmp_path / "workspace", config=config), input=given
        )
        if isinstance(result.exception, OpenClawMemoryError):
            raise result.exception
        return result

    return invoke


def test_list_shows_every_entry_and_the_one_in_use(run: Any) -> None:
    rows = json.loads(run("list", as_json=True).stdout)["models"]
    assert rows[0]["name"] == "all-minilm-l6-v2"
    assert (rows[0]["inUse"], rows[0]["path"], rows[0]["verified"]) == (True, None, True)
    assert {row["name"]: row["dimensions"] for row in rows}["qwen3-embedding-0.6b"] == 1024
    for row in rows:
        assert row["name"] in run("list").stdout


def test_use_writes_one_line_and_keeps_the_rest(run: Any, config: Path) -> None:
    config.parent.mkdir()
    before = (
        "# mine\nsearch:\n  max_results: 9  # plenty\n\nembedding:\n  # small\n  gpu: false\n  model: none # for now\n"
    )
    config.write_text(before)
    config.chmod(0o600)
    out = json.loads(run("use", "BGE-M3", as_json=True).stdout)
    assert (out["model"], out["before"], out["present"]) == ("bge-m3", "none", False)
    assert config.read_text() == before.replace("model: none #", "model: bge-m3 #")
    assert config.stat().st_mode & 0o777 == 0o600
    assert [f.name for f in config.parent.iterdir()] == ["config.yaml"]


@pytest.mark.parametrize(
    "before",
    [
        None,
        "",
        "search:\n  max_results: 9\n",
        "embedding:\n    gpu: false\n",
        "embedding:\nsearch: {max_results: 9}\n",
        "embedding: {model: none, gpu: false}\n",
        "{embedding: {model: none}, search: {max_results: 9}}\n",
        "embedding:\n  'model': none\n",
        "embedding:\n  http_model: model\n  model: >\n    none\n",
    ],
)
def test_use_keeps_every_other_value(run: Any, config: Path, before: str | None) -> None:
    if before is not None:
        config.parent.mkdir()
        config.write_text(before)
    tree = yaml.safe_load(before or "") or {}
    run("use", "none")
    run("use", "all-minilm-l6-v2")
    tree["embedding"] = {**(tree.get("embedding") or {}), "model": "all-minilm-l6-v2"}
    assert yaml.safe_load(config.read_text()) == tree


def test_use_takes_a_file_and_makes_its_path_absolute(
    run: Any, config: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_gguf.parent)
    run("use", "./tiny.gguf")
    assert Settings.load(config).embedding.model == str(tiny_gguf.resolve())


@pytest.fixture
def memory_file(tmp_path: Path) -> Path:
    file = tmp_path / "workspace" / "memory" / "2026-03-01.md"
    file.parent.mkdir(parents=True)
    file.write_text("# 2026-03-01\n\n- The harmonium from Graz was repaired by the neighbour with part 17.\n")
    return file


def test_use_measures_before_it_changes_where_that_is_wanted(run: Any, memory_file: Path) -> None:
    answer = json.loads(run("use", "none", "--measure", as_json=True).stdout)
    assert answer["evaluation"]["comparison"]["settings"] == {"embedding.model": "none"}
    assert answer["evaluation"]["scores"]["found"]["at5"]["part"] == 1
    assert [file.name for file in memory_file.parent.parent.iterdir()] == ["memory"]  # nothing is left beside the notes
    assert json.loads(run("use", "auto", as_json=True).stdout)["evaluation"] is None
    assert "bge-m3 is not here yet" in run("use", "bge-m3", "--measure").output


def test_use_asks_in_a_terminal(run: Any, config: Path, memory_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    declined = run("use", "none", given="y\nn\n")
    assert declined.exit_code == 1 and not config.exists()
    assert "100% of your notes, about 1 min" in declined.output and "embedding.model=none finds 0" in declined.output
    assert run("use", "none", given="n\n").exit_code == 0 and "none" in config.read_text()
    assert "?" not in run("use", "auto", "--yes").output
    memory_file.unlink()
    assert "?" not in run("use", "none").output


def test_a_sample_is_the_same_each_time_and_smaller_for_a_dear_model() -> None:
    files = [
        SourceFile(f"memory/{number}.md", "", 5_000, 0, Kind.DAILY, Grain.DAILY, Origin.AGENT)
        for number in range(2_000)
    ]
    cheap, dear = take_sample(files, ["auto", "none"]), take_sample(files[::-1], ["qwen3-embedding-0.6b", "unknown"])
    assert dear.files == cheap.files[: len(dear.files)] and 0 < dear.share < cheap.share < 1
    assert max(cheap.seconds, dear.seconds) < 300


def test_use_refuses_what_is_no_model(run: Any, config: Path, tmp_path: Path) -> None:
    result = run("use", "nosuch")
    assert result.exit_code == click.UsageError.exit_code == 2
    assert "no model is called 'nosuch'" in result.output
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    with pytest.raises(ModelError, match="not a GGUF file"):
        run("use", str(page))
    config.parent.mkdir()
    for broken in ("embedding: [", "embedding:\n  gpu: maybe\n", "- a\n"):
        config.write_text(broken)
        with pytest.raises(SettingsError, match=r"config\.yaml"):
            run("use", "none")
        assert config.read_text() == broken


def test_pull_says_why_nothing_is_downloaded(run: Any, config: Path) -> None:
    config.parent.mkdir()
    config.write_text("embedding:\n  offline: true\n")
    with pytest.raises(ModelError, match="downloads are switched off"):
        run("pull", "bge-m3")


def test_terms_of_a_licence_are_shown_and_asked_for(run: Any, config: Path) -> None:
    config.parent.mkdir()
    config.write_text("embedding:\n  offline: true\n")
    asked = run("pull", "embeddinggemma-300m")
    assert asked.exit_code == 2 and "give --yes" in asked.output
    assert "334 MB, licence gemma" in asked.output and "terms: https://ai.google.dev/gemma/terms" in asked.output
    with pytest.raises(ModelError, match="downloads are switched off"):
        run("pull", "embeddinggemma-300m", "--yes")


def test_a_file_is_pulled_and_its_licence_is_told(run: Any, tiny_gguf: Path) -> None:
    done = run("pull", str(tiny_gguf))
    assert done.exit_code == 0 and "licence: mit, as the file says" in done.output
    row = next(row for row in json.loads(run("list", as_json=True).stdout)["models"] if row["name"] == "tiny")
    assert (row["licence"], row["time"], row["needs"]) == ("mit", None, None)


def test_what_is_known_of_a_model_is_listed(run: Any) -> None:
    rows = {row["name"]: row for row in json.loads(run("list", as_json=True).stdout)["models"]}
    gemma = rows["embeddinggemma-300m"]
    assert (gemma["recall"], gemma["retrieval"], gemma["retrievalBy"]) == (0.694, 62.5, "Google")
    assert all(row["memory"] and row["time"] for row in rows.values())
    assert "only xllamacpp loads it" in run("list").output
