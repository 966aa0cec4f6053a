"""A memory taken from one store to another and back: nothing is lost, and nothing is embedded again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from fakes import CountingEmbedder, Notes, open_memory, snippets
from postgres_server import Postgres

from openclaw_memory.cli.main import cli
from openclaw_memory.errors import StoreError, WorkspaceError
from openclaw_memory.memory import migrate
from openclaw_memory.model import SearchResult
from openclaw_memory.store.state.rows import all_of

EXACT = {"store__vector_dtype": "float32", "store__vector_index": "exact"}


@pytest.fixture(scope="session")
def server(postgres: Postgres) -> str:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE ROLE mover LOGIN")
        connection.execute("CREATE DATABASE moved OWNER mover")
    return postgres.url("mover", "moved")


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.postgres)])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """How a memory in another store is opened: a file of its own, or a server; its state is another in both."""
    if request.param == "file":
        return {"name": "second", "state": tmp_path / "second.sqlite"}
    return {"db": request.getfixturevalue("server"), "store__workspace": str(tmp_path)}


@pytest.fixture
def lived(notes: Notes) -> Notes:
    """A workspace with some notes."""
    notes.write("MEMORY.md", "# Me\n\n- The vault of the bakery opens with 7714 zebra.\n- The attic has a lamp.\n")
    for day in range(1, 29):
        lines = "\n".join(f"- On day {day} the {word} was moved to shelf {day + at}." for at, word in enumerate(WORDS))
        notes.write(f"memory/2026-02-{day:02}.md", f"# Day {day}\n\n{lines}\n- Nothing new.\n- Nothing new.\n")
    return notes


WORDS = "lamp anchor basket candle drum easel flute garnet harp inkwell".split()


def answers(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.citation, hit.score) for hit in result.results]


def test_what_goes_there_and_back_is_the_same_and_is_not_embedded_again(
    lived: Notes, elsewhere: dict[str, Any], tmp_path: Path
) -> None:
    embedder = CountingEmbedder()
    with open_memory(lived, embedder, **EXACT) as first, open_memory(lived, embedder, **EXACT, **elsewhere) as second:
        first.ingest()
        first.feedback(first.search("attic lamp").results[0].id, "useful")
        first.forget(query="vault zebra")
        first.ingest()
        first.upkeep.enable(True)
        embedder.taken()
        report = migrate(first, second)
        assert report.verified and report.pending == 0 and report.keys == 1 and report.rows
        assert report.vectors == report.same_vectors == report.units > 300
        again = migrate(first, second)
        assert again.verified and again.vectors == 0 and again.same_vectors == report.units
        third = {"name": "third", "state": tmp_path / "third.sqlite"}
        with open_memory(lived, embedder, **EXACT, **third) as back:
            returned = migrate(second, back)
            assert returned.verified and returned.vectors == report.units
            assert (returned.state_digest, returned.vectors_digest) == (report.state_digest, report.vectors_digest)
            assert embedder.taken() == []
            questions = ("where was the anchor moved on day 7", "attic lamp", "shelf 12", "zebra vault")
            for question in questions:
                one, other = answers(first.search(question)), answers(second.search(question))
                assert one == answers(back.search(question)) and [hit for hit, _ in one] == [hit for hit, _ in other]
            lived.write("memory/copy.md", "- The vault of the bakery opens with 7714 zebra.\n")
            for memory in (second, back):
                assert memory.upkeep.enabled and memory.usage.rows()[0].useful == 1
                assert not any("zebra" in text for text in snippets(memory, "vault zebra bakery"))


def test_what_was_cut_short_goes_on(lived: Notes, elsewhere: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_memory.index.migration._BATCH", 50)
    embedder = CountingEmbedder()
    with open_memory(lived, embedder, **EXACT) as first, open_memory(lived, embedder, **EXACT, **elsewhere) as second:
        first.ingest()
        embedder.taken()

        def stop(stage: str, done: int, total: int) -> None:
            if stage == "copy" and done >= 100:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            migrate(first, second, progress=stop)
        report = migrate(first, second)
        assert report.verified and report.vectors == report.units - 100 and report.same_vectors == report.units
        assert embedder.taken() == []


def test_what_is_new_since_is_embedded_by_the_next_ingest(lived: Notes, elsewhere: dict[str, Any]) -> None:
    embedder = CountingEmbedder()
    with open_memory(lived, embedder, **EXACT) as first, open_memory(lived, embedder, **EXACT, **elsewhere) as second:
        assert "has no vectors of these notes" in str(migrate(first, second).warning)
        first.ingest()
        lived.write("memory/new.md", "- A heron stood in the pond.\n")
        embedder.taken()
        report = migrate(first, second)
        assert report.verified and report.pending == 1 and report.vectors == report.units - 1
        second.ingest()
        assert embedder.taken() == ["- A heron stood in the pond."]


def test_another_state_is_replaced_only_when_told(lived: Notes, elsewhere: dict[str, Any]) -> None:
    with open_memory(lived, **EXACT) as first, open_memory(lived, **EXACT, **elsewhere) as second:
        first.state.set_flag("x", 1)
        second.state.set_flag("x", 2)
        with pytest.raises(WorkspaceError, match="replace it with --replace"):
            migrate(first, second)
        assert second.state.flag("x") == 2
        assert migrate(first, second, replacing=True).verified and second.state.flag("x") == 1
        with pytest.raises(StoreError, match="name two"):
            migrate(first, first)


def test_without_the_key_nothing_is_taken_along(lived: Notes, elsewhere: dict[str, Any]) -> None:
    with open_memory(lived, **EXACT) as first, open_memory(lived, **EXACT, **elsewhere) as second:
        first.ingest()
        first.forget(query="vault zebra")
        file = first.state.where_keys()
        Path(file).rename(f"{file}.away")
        with pytest.raises(WorkspaceError, match="the key of what was forgotten is missing"):
            migrate(first, second)
        assert not any(all_of(second.state.read).values())
        Path(f"{file}.away").rename(file)


@pytest.mark.postgres
def test_the_command_goes_both_ways_and_shows_no_password(lived: Notes, server: str, tmp_path: Path) -> None:
    base = ["--set", "embedding.model=none", "--set", f"store.workspace={tmp_path}", "-w", str(lived.root)]

    def run(*arguments: str, code: int = 0) -> Any:
        done = CliRunner().invoke(cli, [*base, *arguments])
        assert done.exit_code == code, done.output
        return done

    run("ingest")
    run("forget", "--query", "vault zebra", "--yes", "--json")
    there = json.loads(run("migrate-store", "duckdb", server, "--json").stdout)
    assert there["verified"] and there["files"] == 29 and there["keys"] == 1
    assert there["target"] == "postgresql://mover@/moved"
    on_server = ["--set", f"store.url={server}"]
    shown = CliRunner().invoke(cli, [*base, *on_server, "state", "--json"])
    assert json.loads(shown.stdout)["server"] == "postgresql://mover@/moved" and "zebra" not in shown.stdout
    back = run("migrate-store", server, str(tmp_path / "back.duckdb"))
    assert "verified    yes" in back.stdout
    assert "no such file" in run("migrate-store", str(tmp_path / "none.duckdb"), server, code=2).output
    assert "none.duckdb" not in {file.name for file in tmp_path.iterdir()}
    wrong = run("migrate-store", "duckdb", "postgresql://me:secret-word@db/x", code=2)
    assert "secret-word" not in wrong.output
