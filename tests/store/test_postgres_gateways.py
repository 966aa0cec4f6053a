"""Several gateways on one memory of a server: what one writes the others find, and nobody computes it twice."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fakes import CountingEmbedder, Notes
from indexing import put, unit_vectors
from postgres_server import Postgres, role

from openclaw_memory import Memory, Settings
from openclaw_memory.config.settings import StoreSettings
from openclaw_memory.store.api import VectorModel
from openclaw_memory.store.postgres.connections import Server
from openclaw_memory.store.postgres.database import Session
from openclaw_memory.store.postgres.store import PostgresStore
from openclaw_memory.text import analysis

pytestmark = pytest.mark.postgres

GARDEN = "# Garden\n\n- Ana Ruiz plants tulips in the autumn\n- the ferns are watered on Monday\n- 東京の庭は静かです\n"
HOUSE = "# House\n\n- the boiler was serviced in March 2026\n- Ana Ruiz has the attic key\n"


def gateway(
    url: str, notes: Notes, name: str, embedder: Any = None, plugins: Sequence[object] = (), **values: Any
) -> Memory:
    """A gateway's memory of ``notes``, called ``name`` on the server; it reads the files when it is told to."""
    given = {
        "embedding.model": "none", "ingest.fresh_seconds": 1e6, "ingest.embed": "eager", "store.workspace": name,
    }  # fmt: skip
    given |= {key.replace("__", "."): value for key, value in values.items()}
    settings = Settings().with_values(given)
    return Memory(notes.root, settings=settings, store=url, embedder=embedder, plugins=plugins)


def paths(memory: Memory, query: str, mode: str = "hybrid") -> list[str]:
    return [hit.path for hit in memory.search(query, mode=mode, deadline=30.0).results]


def test_what_one_gateway_writes_the_others_find_without_a_restart(postgres: Postgres, notes: Notes) -> None:
    url = postgres.url("owner")
    ours, theirs = CountingEmbedder(), CountingEmbedder()
    notes.write("MEMORY.md", GARDEN)
    with gateway(url, notes, "seen", ours) as a, gateway(url, notes, "seen", theirs) as b:
        a.ingest()
        assert paths(b, "tulips") == ["MEMORY.md"]
        notes.write("memory/2026-02-13.md", HOUSE)
        a.ingest(["memory/2026-02-13.md"])
        for memory in (a, b):  # one's own, and another one's
            for mode in ("keyword", "vector", "hybrid"):
                assert paths(memory, "attic key", mode)[0] == "memory/2026-02-13.md"
        notes.write("memory/2026-02-13.md", HOUSE.replace("attic", "cellar"))
        b.ingest(["memory/2026-02-13.md"])
        for memory in (b, a):
            hits = memory.search("Ana Ruiz has the key", deadline=30.0).results
            assert any("cellar key" in hit.snippet for hit in hits)
            assert not any("attic" in hit.snippet for hit in hits)
        notes.remove("memory/2026-02-13.md")
        a.ingest()
        for memory in (a, b):
            assert paths(memory, "boiler", "keyword") == []
            assert "memory/2026-02-13.md" not in paths(memory, "boiler")
        state = a.store.state()
        b.ingest()
        assert b.store.state() == state  # the same files again


def test_what_another_gateway_forgets_meanwhile_is_not_written_back(postgres: Postgres, notes: Notes) -> None:
    url = postgres.url("owner")
    notes.write("MEMORY.md", GARDEN)
    notes.write("memory/2026-02-13.md", HOUSE)
    forgotten: list[int] = []

    def elsewhere(query: str) -> int:  # no thread sees by another one's snapshot
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(b.forget, query=query).result().units

    def found(memory: Memory) -> str:
        return " ".join(hit.snippet for hit in memory.search("attic key swan", deadline=30.0).results)

    with (
        gateway(url, notes, "forgets", CountingEmbedder()) as a,
        gateway(url, notes, "forgets", CountingEmbedder()) as b,
    ):
        a.ingest()
        assert "attic" in found(a)
        with a.store.session():
            assert not a.forgotten.covers("Ana Ruiz has the attic key")
            assert a.store.documents().by_path  # the snapshot has begun
            assert elsewhere("attic key")
            assert a.forgotten.covers("Ana Ruiz has the attic key")  # at once, though the index is as of then
        assert "attic" not in found(a)

        def forget(_: str, done: int, total: int) -> None:
            if done == total:  # one note has been read, and nothing written
                forgotten.append(elsewhere("a swan came"))

        notes.write("memory/2026-02-14.md", "# Later\n\n- Ana Ruiz has the attic key\n- a swan came back\n")
        b.ingest()
        notes.write("memory/2026-02-15.md", "# Last\n\n- a swan came back\n- a heron flew\n")
        notes.write("memory/2026-02-16.md", "# Last\n\n- a swan came back\n- a heron left\n")
        a.ingest(progress=forget)
        assert forgotten and forgotten[0]
        for memory in (a, b):
            assert "heron" in (text := found(memory)) and "attic" not in text and "swan" not in text


def test_no_count_of_a_line_comes_back_that_another_gateway_forgets(postgres: Postgres, notes: Notes) -> None:
    lines = [f"- Ana Ruiz has the {place} key\n" for place in ("attic", "cellar", "garden", "stable", "tower")]
    notes.write("MEMORY.md", "# Keys\n\n" + "".join(lines))
    url = postgres.url("owner")

    def counted() -> set[str]:
        a.usage.flush()
        with psycopg.connect(url) as c:
            rows = c.execute(
                "SELECT u.unit FROM openclaw_memory.use u JOIN openclaw_memory.memories USING (memory) "
                "WHERE workspace = 'flushes'"
            ).fetchall()
        return {unit for (unit,) in rows}

    with gateway(url, notes, "flushes") as a, gateway(url, notes, "flushes") as b:
        a.ingest()
        ids = {word: b.search(f"{word} key", max_results=1).results[0].id for word in ("attic", "cellar")}
        assert a.search("attic key").results
        assert b.forget(query="attic key").units == 1  # counted by a, and not yet written
        assert ids["attic"] not in counted()
        assert a.search("tower key").results and counted()


@pytest.mark.parametrize("replica", [False, True], ids=["", "cannot-write"])
def test_a_role_that_only_reads_searches_a_memory_that_exists(
    postgres: Postgres, notes: Notes, tmp_path: Path, replica: bool
) -> None:
    name = f"team{replica}"
    notes.write("MEMORY.md", GARDEN)
    with gateway(postgres.url("owner"), notes, name, CountingEmbedder()) as owner:
        owner.ingest()
        owner.search("tulips")
        url = role(postgres, "auditor", False)
        auditor = url.split("//")[1].split("@")[0]
        with Server.for_url(postgres.url("owner")).transaction() as c:
            c.execute("SELECT share(%s, 'main', %s, false), share(%s, '', %s, false)", [auditor, name, auditor, name])
        if replica:
            postgres.sql(f"ALTER ROLE {auditor} SET default_transaction_read_only = on")
        texts = CountingEmbedder()
        with gateway(url, notes, name, texts, ingest__fresh_seconds=0.0) as reader:
            for mode in ("keyword", "vector", "hybrid", "graph"):
                found, expected = (m.search("Ana Ruiz plants", mode=mode, deadline=30.0) for m in (reader, owner))
                assert [hit.id for hit in found.results] == [hit.id for hit in expected.results]
                assert found.results or mode == "graph"  # a name that stands in one note is no concept
                assert found.warning == expected.warning and not found.stale
            assert reader.recall("Ana Ruiz").results and not reader.context("who plants tulips?").warning
            assert reader.get("MEMORY.md").text
            notes.write("MEMORY.md", GARDEN + "- the heron is back\n")
            found = reader.search("tulips", deadline=30.0)
            assert found.stale and found.results
            owner.ingest()
            assert reader.search("heron", mode="keyword", deadline=30.0).results
            assert texts.taken() == []


def _work(plan: dict[str, Any]) -> float:
    """Rows that the steps of a plan have read, joined and thrown away."""
    rows = sum(plan.get(key, 0) for key in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter"))
    return float(rows * plan["Actual Loops"]) + sum(_work(part) for part in plan.get("Plans", ()))


def test_a_memory_that_the_server_has_not_counted_yet_is_not_read_once_for_each_row(
    own_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server knows of other memories how many rows they have, and may think that a new one has next to none."""
    units, model = 1_200, VectorModel("test", 8)

    def filled(name: str) -> PostgresStore:
        settings = StoreSettings()
        store = PostgresStore(own_server.url("owner"), "main", name, settings, analysis.terms)
        for at in range(0, units, 40):
            put(store, {f"{at}.md": [[f"{name} {part} line {at + i}" for i in range(20)] for part in "ab"]})
        with store._db.write() as c:
            c.execute(
                "INSERT INTO found_facts SELECT id, document_id, 'a', 'b', 'c', 'd', 1 FROM units WHERE id % 4 = 0"
            )
        store.put_vectors(model, list(range(1, units)), unit_vectors(units - 1, 8))
        return store

    for other in range(3):
        filled(f"counted {other}").close()
    own_server.sql("ANALYZE")
    store = filled("not counted")
    worked: dict[str, float] = {}
    plain = Session.execute

    def explained(self: Session, query: str, parameters: Any = ()) -> Any:
        if query.startswith("SELECT"):
            ((plan,),) = plain(self, f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", parameters).fetchall()
            worked[query] = _work(plan[0]["Plan"])
        return plain(self, query, parameters)

    monkeypatch.setattr(Session, "execute", explained)
    index = store.vector_index(model)
    index.refresh()
    ids = store.unit_rows(None).unit_id
    index.neighbour_similarities(ids, 4)
    index.similarities(unit_vectors(1, 8)[0], ids)
    assert len(store.extracted_facts()) == units // 4
    assert store.vector_states(model).pending == store.vector_states(None).outdated - units + 2 == 1
    store.put_vectors(model, [units], unit_vectors(1, 8))
    store.retry_failed(model)
    assert store.pending(model, 9) == []
    store.section_texts(range(1, 50))
    store.unit_rows([1, 2, 3])
    assert len(worked) > 10
    # None goes through all units for each of them; a few hundred sections for each is how little ones are joined.
    assert {query: work for query, work in worked.items() if work > units * units / 4} == {}
