"""Fixtures for all tests."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import indexing
import markers
import pytest
from fakes import CountingEmbedder, Notes, ingested
from postgres_server import Postgres
from properties import register_profiles
from tiny_gguf import make_tiny_gguf

from openclaw_memory.capture.capturer import Message, Turn

register_profiles()

if importlib.util.find_spec("pandas") is None:
    # DuckDB looks for it with each value that a statement binds: a twelfth of what a small memory costs.
    sys.modules["pandas"] = None  # type: ignore[assignment]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark before ``-m`` chooses; leave out what a server does alike, as it has one index of each sort."""
    items[:] = [item for item in items if not _is_alike(item)]
    markers.mark(items)


def _is_alike(item: pytest.Item) -> bool:
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return given.get("over_both") == "server" and given.get("kind") in ("fts", "vss")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note what a test computed, for ``markers.py``."""
    before = markers.processor_seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append(("processor_seconds", round(markers.processor_seconds() - before, 3)))


def _own_folders(patch: pytest.MonkeyPatch, home: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("OPENCLAW_", "XDG_"))]:
        patch.delenv(name)
    patch.setenv("HOME", str(home))
    patch.setenv("USERPROFILE", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))


@pytest.fixture(scope="session", autouse=True)
def _nobodys_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No fixture reads or writes the configuration, the data or the models of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        homes = tmp_path_factory.mktemp("homes")
        _own_folders(patch, Path(tempfile.mkdtemp(dir=homes)))
        if "PYTEST_XDIST_WORKER" in os.environ:
            _use_everything_once(Notes(homes / "notes"))
        yield homes


def _use_everything_once(notes: Notes) -> None:
    """Have a process read what it reads once, such as word lists: that is no test's time."""
    notes.write("memory/2026-03-01.md", "# Harbour\n\n- **City:** Ghent -> Bruges\n- Always close the gate at 18:00.\n")
    with ingested(notes) as memory:
        memory.search("when does the gate close?")
        memory.context("Does the gate close at six?")
        memory.capture(Turn([Message("user", "From now on the rent of the boathouse is 930 euros a month.")]))
        memory.consolidate(now=date(2026, 6, 1), dry_run=True)


@pytest.fixture(autouse=True)
def _folders_of_a_test(_nobodys_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a test read or write those of another one."""
    _own_folders(monkeypatch, Path(tempfile.mkdtemp(dir=_nobodys_folders)))


@pytest.fixture(autouse=True)
def _patient_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no answer stale."""
    monkeypatch.setattr("openclaw_memory.ingest.freshness.LOOK_SECONDS", 30.0)


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real BERT of 32 dimensions that llama.cpp loads in milliseconds."""
    return make_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, for the tests of this process."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """One that a test may stop and kill."""
    made = Postgres()
    yield made
    made.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what every store promises over a file and over a server."""
    if "over_both" in metafunc.fixturenames:
        server = (
            []
            if metafunc.definition.get_closest_marker("file_only")
            else [pytest.param("server", marks=pytest.mark.postgres)]
        )
        metafunc.parametrize("over_both", ["file", *server], indirect=True)


@pytest.fixture
def over_both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What ``open_store`` and the settings of a test name: the URL of a server, or nothing, which is a file."""
    if request.param == "file":
        return ""
    url: str = request.getfixturevalue("postgres").url("owner")
    monkeypatch.setattr(indexing, "SERVER", [url])
    monkeypatch.setenv("OPENCLAW_MEMORY_STORE_URL", url)
    return url


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """An empty workspace."""
    return Notes(tmp_path / "workspace")


@pytest.fixture
def embedder() -> CountingEmbedder:
    """An embedder that costs nothing and remembers what it was given."""
    return CountingEmbedder()
