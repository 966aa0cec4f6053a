"""The parts of the server: which memory a call means, how many stay open, what is shared, and how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory import Settings
from openclaw_memory.config.settings import data_dir
from openclaw_memory.config.workspace import default_path, index_folder
from openclaw_memory.embed import pull as pulling
from openclaw_memory.embed.manager import EmbedderManager
from openclaw_memory.errors import ModelError, OpenClawMemoryError, RequestError, Stopped, WorkspaceError
from openclaw_memory.memory import Memory
from openclaw_memory.serve.pool import Pool
from openclaw_memory.serve.server import AGENT, DEADLINE_MS, WORKSPACE, CallState, HostMetadata, MemoryServer


@pytest.fixture
def settings(tiny_gguf: Path) -> Settings:
    return Settings().with_values({"embedding.model": str(tiny_gguf)})


@pytest.fixture
def pool(notes: Notes, settings: Settings) -> Any:
    notes.write("MEMORY.md", "- a green lamp\n")
    pool = Pool(settings, workspace=notes.root, most_bytes=17_000_000)
    yield pool
    assert pool.close(30)


def eventually(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


# -- the pool ---------------------------------------------------------------------------------------


def test_a_call_means_the_servers_memory_unless_it_says_otherwise(pool: Pool, notes: Notes, tmp_path: Path) -> None:
    assert pool.key() == ("main", notes.root.resolve())
    assert pool.key("magpie") == ("magpie", notes.root.resolve())
    (tmp_path / "link").symlink_to(notes.root)
    assert pool.key(None, str(tmp_path / "link")) == pool.key("", "")
    with pytest.raises(WorkspaceError, match="must be an absolute folder"):
        pool.key(None, "~/notes")


def test_memories_stay_open_and_share_one_model(pool: Pool, tmp_path: Path) -> None:
    with pool.use(pool.key()) as first, pool.use(pool.key("magpie")) as second:
        assert first is not second
        assert first.resolve_embedder().embedder is second.resolve_embedder().embedder is not None
        assert first.status().database != second.status().database
    with pool.use(pool.key()) as again:
        assert again is first


def test_a_pair_is_warm_after_its_first_use(pool: Pool) -> None:
    with pool.use(pool.key()) as memory:
        assert memory.status().chunks == 0
    eventually(lambda: memory.status().vectors["ready"] == 1)


def test_the_least_recently_used_is_closed_when_nobody_uses_it(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    real = Memory.close
    monkeypatch.setattr(pool, "warm", lambda key: None)
    monkeypatch.setattr(Memory, "close", lambda memory: (closed.append(memory.agent), real(memory))[1])
    with pool.use(pool.key("a")) as held:
        for agent in "bcd":
            with pool.use(pool.key(agent)):
                pass
        eventually(lambda: sorted(closed) == ["b", "c"])
        assert held.search("lamp").results
    with pool.use(pool.key("e")), pool.use(pool.key("f")), pool.use(pool.key("g")):
        pass
    eventually(lambda: sorted(closed) == ["a", "b", "c", "d"])
    with pool.use(pool.key("a")) as again:
        assert again is not held and again.search("lamp").results


def test_a_large_memory_is_closed_before_small_ones_are_many(
    notes: Notes, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("MEMORY.md", "".join(f"- lamp {number} is green\n" for number in range(600)))
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "MEMORY.md").write_text("- a red lamp\n", encoding="utf-8")
    pool = Pool(settings.with_values({"embedding.model": "none"}), workspace=notes.root, most_bytes=25_000_000)
    monkeypatch.setattr(pool, "warm", lambda key: None)
    opened = []
    for agent, workspace in (("a", None), ("b", str(tmp_path / "small")), ("c", str(tmp_path / "small"))):
        with pool.use(pool.key(agent, workspace)) as memory:
            opened.append(memory)
            assert memory.search("lamp").results
    with pool.use(pool.key("b", str(tmp_path / "small"))) as small, pool.use(pool.key("a")) as large:
        assert small is opened[1]
        assert large is not opened[0]
    assert pool.close(30)


def test_no_call_waits_for_a_memory_that_was_put_out(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    real, go_on = Memory.close, threading.Event()
    monkeypatch.setattr(pool, "warm", lambda key: None)
    monkeypatch.setattr(Memory, "close", lambda memory: (go_on.wait(30), real(memory))[1])
    for agent in "abc":
        with pool.use(pool.key(agent)) as memory:
            assert memory.search("lamp").results
    assert not go_on.is_set() and not pool.close(0.01)
    go_on.set()


def test_a_workspace_that_is_not_there_leaves_nothing_in_the_pool(pool: Pool, tmp_path: Path) -> None:
    key = pool.key(None, str(tmp_path / "missing"))
    for _ in range(3):
        with pytest.raises(WorkspaceError, match="no such folder"), pool.use(key):
            pass
    (tmp_path / "missing").mkdir()
    with pool.use(key) as memory:
        assert memory.workspace == (tmp_path / "missing").resolve()


def test_a_closed_pool_hands_out_nothing(notes: Notes, settings: Settings) -> None:
    pool = Pool(settings, workspace=notes.root)
    with pool.use(pool.key()):
        pass
    assert pool.close(30) and pool.close(30)
    with pytest.raises(Stopped), pool.use(pool.key()):
        pass


# -- the model ----------------------------------------------------------------------------------------


def test_a_missing_model_is_fetched_while_warming_up(
    notes: Notes, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def pull(name: str, progress: Any = None, offline: bool = False) -> None:
        asked.append(name)
        progress("downloading", 1, 2)
        raise ModelError("there is no network; try again later")

    monkeypatch.setattr(pulling, "pull", pull)
    notes.write("MEMORY.md", "- a green lamp\n")
    pool = Pool(Settings(), workspace=notes.root)
    pool.warm(pool.key())
    eventually(lambda: bool(asked))
    with pool.use(pool.key()) as memory:
        eventually(lambda: memory.search("lamp").fallback == "there is no network; try again later")
        assert memory.search("lamp").results[0].snippet == "- a green lamp"
    assert asked == ["all-minilm-l6-v2"]
    assert pool.close(30)


def test_a_model_that_comes_later_is_noticed(
    notes: Notes, tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = tmp_path / "late.gguf"
    models = EmbedderManager(Settings().with_values({"embedding.model": str(late)}))
    with Memory(notes.root, settings=Settings(), models=models) as memory:
        assert memory.resolve_embedder().embedder is None
        late.write_bytes(tiny_gguf.read_bytes())
        assert memory.resolve_embedder().embedder is None  # not looked for at every call
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 6)
        assert memory.resolve_embedder().embedder is not None
    embedder = memory.resolve_embedder().embedder
    assert embedder is not None and len(embedder.embed_query(["still open"])) == 1
    models.close()


# -- what the host says -------------------------------------------------------------------------------


def test_the_host_says_whose_memory_and_how_long() -> None:
    assert HostMetadata.parse({}) == HostMetadata(None, None, None)
    assert HostMetadata.parse({AGENT: "a", WORKSPACE: "/w", DEADLINE_MS: 1500}) == HostMetadata("a", "/w", 1.5)
    assert HostMetadata.parse({DEADLINE_MS: float("inf")}).deadline == 86_400


@given(
    st.sampled_from([AGENT, WORKSPACE, DEADLINE_MS]),
    st.booleans() | st.lists(st.text()) | st.just(-1) | st.just(float("nan")),
)
def test_what_cannot_be_meant_is_refused(key: str, value: Any) -> None:
    with pytest.raises(RequestError, match=f"_meta {key} must be"):
        HostMetadata.parse({key: value})


def test_a_tool_that_may_call_an_endpoint_says_so(notes: Notes) -> None:
    values = {"embedding.provider": "http", "embedding.http_url": "http://localhost:1/v1"}
    for provider, open_world in (
        (
            values,
            {
                "memory_search",
                "graph_recall",
                "memory_timeline",
                "memory_context",
                "memory_capture",
            },
        ),
        ({}, set()),
    ):
        server = MemoryServer(Pool(Settings().with_values(provider), workspace=notes.root))
        hints = {tool.name: tool.annotations for tool in server._listed[False]}
        assert {name for name, hint in hints.items() if hint is not None and hint.open_world_hint} == open_world


# -- progress -----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["read", "embed"]), st.integers(1, 5))))
def test_progress_never_falls_and_never_passes_the_total(stages: list[tuple[str, int]]) -> None:
    state = CallState()
    seen: list[int] = []
    for stage, total in dict(stages).items():
        for done in range(1, total + 1):
            state.progress(stage, done, total)
            assert state.reached is not None and state.reached[0] <= state.reached[1]
            seen.append(state.reached[0])
    assert seen == sorted(set(seen))


def test_a_stopped_call_ends_at_its_next_step() -> None:
    state = CallState()
    state.progress("read", 1, 2)
    state.stop.set()
    with pytest.raises(Stopped, match="what was written is kept"):
        state.progress("read", 2, 2)
    assert issubclass(Stopped, OpenClawMemoryError)


# -- where the index lies -----------------------------------------------------------------------------


def test_the_index_lies_where_the_settings_say_else_with_the_plugin_else_in_the_data_folder(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index_folder() == data_dir()
    state = tmp_path / "state"
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(state))
    state.mkdir()
    assert index_folder() == data_dir()
    (state / "openclaw-memory").mkdir()
    assert index_folder() == state / "openclaw-memory" / "index"
    given_ = Settings.load(environ={"OPENCLAW_MEMORY_STORE_FOLDER": str(tmp_path / "mine")})
    assert index_folder(given_.store.folder) == tmp_path / "mine"
    with Memory(notes.root, agent="magpie", settings=given_.with_values({"embedding.model": "none"})) as memory:
        memory.ingest()
        path = Path(memory.status().database)
    assert (
        path == default_path(notes.root, "magpie", str(tmp_path / "mine"))
        and path.parent == tmp_path / "mine" / "magpie"
    )


ALIKE = [
    "main", "Main", "MAIN", "ops-1", "ops/1", "ops 1", "ops.1", "ops_1", "-ops-1", ".ops-1", "ops-1.", "..", "-", "é", "büro", "b-ro",
    "bu\u0308ro", "x" * 300, "x" * 301, "a\n", "a",
]  # fmt: skip


def test_two_agents_never_share_an_index(notes: Notes, tmp_path: Path) -> None:
    found = {str(default_path(notes.root, agent, str(tmp_path))).lower() for agent in ALIKE}
    assert len(found) == len(ALIKE)


def test_all_agents_of_a_workspace_know_what_one_has_forgotten(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", "- The vault has a zebra.\n- The attic has a lamp.\n")
    given_ = Settings().with_values({"embedding.model": "none", "store.folder": str(tmp_path / "index")})
    with Memory(notes.root, agent="ops-1", settings=given_) as memory:
        memory.ingest()
        memory.forget(query="vault zebra")
        first = memory.status().database
    with Memory(notes.root, agent="ops/1", settings=given_) as memory:
        memory.ingest()
        assert memory.status().database != first
        assert not any("zebra" in hit.snippet for hit in memory.search("vault zebra").results)
