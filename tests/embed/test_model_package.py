"""A wheel that ``.ci/package-model`` makes of a GGUF file brings a model, by name, to whom installs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from wheels import sha, use_wheels

from openclaw_memory.embed import registry
from openclaw_memory.embed.pull import pull

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path) -> tuple[Path, str]:
    """The folder with the wheel, and the table that was printed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "LICENSE").write_text("Do as you like.\n")
    done = subprocess.run(
        [sys.executable, ROOT / ".ci/package-model", tiny_gguf, "--name", "Mine-0.1b", "--licence", "MIT",
         "--licence-file", folder / "LICENSE", "--query-prefix", "ask: ", "--out", folder / "dist"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "dist", done.stdout


def test_an_installed_wheel_is_a_model_by_name(made: tuple[Path, str], tiny_gguf: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", made[0], "--no-deps"]
    subprocess.run([*install, "--target", site, "openclaw-memory-model-mine-0.1b"], check=True)
    assert list(site.glob("*.dist-info/licenses/LICENSE"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "HOME": str(tmp_path)}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "OPENCLAW_MEMORY_EMBEDDING_MODEL": "mine-0.1b"}
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("- The boiler was repaired in March.\n")

    def run(*arguments: str) -> dict:
        command = [sys.executable, "-m", "openclaw_memory", "-w", str(tmp_path / "notes"), *arguments, "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    row = next(row for row in run("model", "list")["models"] if row["name"] == "mine-0.1b")
    assert (row["inUse"], row["licence"], row["dimensions"]) == (True, "mit", 32)
    assert Path(row["path"]).is_relative_to(site)
    assert run("model", "pull")["sha256"] == sha(tiny_gguf.read_bytes())
    assert run("ingest")["embedded"] == 1
    assert run("search", "boiler")["model"] == "mine-0.1b"
    assert not list((tmp_path / "cache").rglob("*.gguf"))


def test_the_registry_may_name_the_wheel(
    made: tuple[Path, str], tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tomllib.loads(made[1])["mine-0.1b"]["query_prefix"] == "ask: "
    (entry,) = registry._parse(made[1])
    use_wheels(made[0], monkeypatch)
    found = pull(entry)
    assert found.verified and found.path.read_bytes() == tiny_gguf.read_bytes()
