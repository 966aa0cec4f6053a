"""Fixtures for tests against a real OpenClaw, which `.ci/openclaw` installs."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from host import ENVIRON, EXECUTABLE, PLUGIN, ROOT, Host, cache_folder
from model import ScriptedModel, scripted_model

#: The files that take longest, so that no process works at one at the end while the other has none.
FIRST = ["test_installed", "test_agent_turns", "test_gateway", "test_setup", "test_local"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    items.sort(key=lambda item: FIRST.index(item.path.stem) if item.path.stem in FIRST else len(FIRST))


@pytest.fixture(scope="session")
def openclaw() -> Path:
    """Folder of the executables of OpenClaw and its Node."""
    folder = Path(ENVIRON.get("OPENCLAW_E2E_CACHE") or cache_folder() / "openclaw-memory-e2e")
    if not (folder / "installed.json").is_file():
        pytest.fail(f"no OpenClaw in {folder}; run .ci/openclaw, which installs it there")
    return folder / "node_modules" / ".bin"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    """The language model of all hosts of a module."""
    with scripted_model() as model:
        yield model


@pytest.fixture(scope="module")
def new_host(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel, openclaw: Path) -> Callable[[str], Host]:
    """Make a host in a folder of this name."""
    return lambda name: Host(tmp_path_factory.mktemp("host") / name, model, openclaw)


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory, openclaw: Path) -> Path:
    """The npm package of the plugin, packed from this repository."""
    folder = tmp_path_factory.mktemp("package")
    npm = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    subprocess.run(npm, cwd=ROOT, env=ENVIRON | {"npm_config_cache": str(folder / "cache")}, check=True)
    [packed] = folder.glob("*.tgz")
    return packed


@pytest.fixture(scope="session")
def unpacked(package: Path) -> Path:
    """The folder of the plugin, with what is in its package only.

    OpenClaw reads the whole folder whenever it loads a plugin, and refuses one that changes meanwhile: a repository, in
    which other tests run, does.
    """
    with tarfile.open(package) as archive:
        archive.extractall(package.parent, filter="data")
    return package.parent / "package"


@pytest.fixture(scope="session")
def plugin(tiny_gguf: Path, unpacked: Path) -> Callable[..., Mapping[str, Any]]:
    """The configuration of our plugin, with the Python package that is under test."""

    def configuration(command: Path | None = EXECUTABLE) -> Mapping[str, Any]:
        entry = {
            "enabled": True,
            "hooks": {"allowConversationAccess": True, "allowPromptInjection": True},
            "config": {
                "settings": {"embedding.model": str(tiny_gguf)},
                **({"command": str(command)} if command else {}),
            },
        }
        return {
            "plugins": {
                "allow": [PLUGIN],
                "load": {"paths": [str(unpacked)]},
                "slots": {"memory": PLUGIN},
                "entries": {PLUGIN: entry},
            }
        }

    return configuration
