"""What an HNSW graph of one memory costs and finds: ``python -m benchmarks.postgres_graph --store URL --copies 10``.

The vectors of the largest memory on the server are copied into a table of their own, those of some lines left out to
ask by; further copies are turned a little at random, as :mod:`benchmarks.copies` does.  Each question is asked in
turns: of every vector, of the graph, and of what a search scores besides its candidates.  By a superuser.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.copies import JITTER
from openclaw_memory.store.api import Floats
from openclaw_memory.store.postgres.halfvec import bound, read

#: Candidates of a search, and units that it scores besides with their neighbours on both sides.
CANDIDATES, SAMPLED, RADIUS = 512, 4_096, 2
_BATCH = 10_000
_EXACT = "SELECT unit_id, -(v <#> %s::HALFVEC)::REAL AS c FROM benchmark.vectors"
_SENT = "SELECT string_agg(int4send(unit_id), ''), string_agg(float4send(c), '') FROM ({}) q"


def run(
    url: str, lines: int, copies: int, questions: int, width: int, efforts: Sequence[int], memory_mb: int
) -> dict[str, Any]:
    """Figures by name; ``width`` is ``ef_construction`` and ``efforts`` are values of ``hnsw.ef_search``."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as c:
        vectors = _largest(c, lines)
        chance = np.random.default_rng(1)
        chosen = chance.permutation(len(vectors))
        asked, kept = vectors[chosen[:questions]], vectors[np.sort(chosen[questions:])]
        try:
            n = _fill(c, kept, copies, chance)
            figures: dict[str, Any] = {"vectors": n, "MB of vectors": _megabytes(c, "benchmark.vectors")}
            c.execute(f"SET maintenance_work_mem TO '{memory_mb:d}MB'")
            began = time.monotonic()
            c.execute(
                f"CREATE INDEX graph ON benchmark.vectors USING hnsw ((v::HALFVEC({vectors.shape[1]:d})) "
                f"halfvec_ip_ops) WITH (ef_construction = {width:d})"
            )
            figures["graph s"] = round(time.monotonic() - began, 1)
            figures["MB of the graph"] = _megabytes(c, "benchmark.graph")
            return figures | _asked(c, asked, n, efforts)
        finally:
            c.execute("DROP SCHEMA IF EXISTS benchmark CASCADE")


def _largest(c: Any, most: int) -> Floats:
    ready = "openclaw_memory.vectors WHERE status = 'ready'"
    asked = f"SELECT memory, model_id, max(vector_dims(v)) FROM {ready} GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT 1"
    found = c.execute(asked).fetchone()
    assert found is not None, "no memory on this server has vectors: let one be ingested first"
    memory, model_id, dimensions = found
    data, n = c.execute(
        "SELECT string_agg(halfvec_send(v), ''), count(*) FROM "
        f"(SELECT v FROM {ready} AND memory = %s AND model_id = %s ORDER BY unit_id LIMIT %s) q",
        [memory, model_id, most],
        binary=True,
    ).fetchone()
    return read(np.frombuffer(data, np.uint8), n, dimensions).astype(np.float32)


def _fill(c: Any, vectors: Floats, copies: int, chance: np.random.Generator) -> int:
    c.execute(
        "CREATE SCHEMA benchmark; CREATE UNLOGGED TABLE benchmark.vectors (unit_id INTEGER PRIMARY KEY, v HALFVEC)"
    )
    n = 0
    for copy in range(copies):
        turned = vectors
        if copy:
            turned = vectors + chance.normal(0, JITTER / vectors.shape[1] ** 0.5, vectors.shape).astype(np.float32)
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        for at in range(0, len(turned), _BATCH):
            some = turned[at : at + _BATCH]
            ids = list(range(n + 1, n + 1 + len(some)))
            insert = "INSERT INTO benchmark.vectors SELECT * FROM unnest(%s::INTEGER[], %s::HALFVEC[])"
            c.execute(insert, [ids, bound(c, some)])
            n += len(some)
    c.execute("VACUUM ANALYZE benchmark.vectors")
    return n


def _asked(c: Any, asked: Floats, n: int, efforts: Sequence[int]) -> dict[str, Any]:
    dimensions = asked.shape[1]
    sampled = (np.arange(1, n + 1, max(1, -(-n // SAMPLED)))[:, None] + np.arange(-RADIUS, RADIUS + 1)).ravel()
    beside = np.unique(sampled[(sampled > 0) & (sampled <= n)]).tolist()
    times: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}

    def timed(name: str, sql: str, given: list[Any]) -> Any:
        began = time.perf_counter()
        row = c.execute(_SENT.format(sql), given, binary=True).fetchone()
        times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        return np.frombuffer(row[0], ">i4"), np.frombuffer(row[1], ">f4")

    c.execute("SET hnsw.iterative_scan TO strict_order")
    for vector in asked:
        query = str(vector.astype(np.float16).tolist())
        unit_ids, cosines = timed("ms of every vector", _EXACT, [query])
        best = set(unit_ids[np.argsort(-cosines, kind="stable")[:CANDIDATES]].tolist())
        timed("ms of what is scored besides", f"{_EXACT} WHERE unit_id = ANY (%s::INTEGER[])", [query, beside])
        for effort in efforts:
            c.execute(f"SET hnsw.ef_search TO {effort:d}")
            near = f"{_EXACT} ORDER BY v::HALFVEC({dimensions:d}) <#> %s::HALFVEC({dimensions:d}) LIMIT {CANDIDATES:d}"
            found, _ = timed(f"ms of the graph, ef_search {effort}", near, [query, query])
            name = f"share of the best {CANDIDATES}, ef_search {effort}"
            shares.setdefault(name, []).append(len(best & set(found.tolist())) / CANDIDATES)
    shown = {
        name: f"{statistics.median(ms):.0f} / {statistics.quantiles(ms, n=20)[-1]:.0f}" for name, ms in times.items()
    }
    return shown | {name: f"{statistics.mean(found):.3f}, least {min(found):.3f}" for name, found in shares.items()}


def _megabytes(c: Any, name: str) -> int:
    return round(float(c.execute("SELECT pg_table_size(%s::REGCLASS)", [name]).fetchone()[0]) / 1e6)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, metavar="URL")
    parser.add_argument("--lines", type=int, default=100_000, help="of that memory, at most")
    parser.add_argument("--copies", type=int, default=1, help="of the vectors that there are")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--width", type=int, default=64, help="ef_construction of the graph")
    parser.add_argument("--efforts", type=int, nargs="+", default=[512, 1000], help="values of hnsw.ef_search")
    parser.add_argument("--memory-mb", type=int, default=1024, help="that the server may take to make the graph")
    given = parser.parse_args()
    some = given.lines, given.copies, given.questions, given.width, given.efforts, given.memory_mb
    print(json.dumps(run(given.store, *some), indent=2))


if __name__ == "__main__":
    main()
