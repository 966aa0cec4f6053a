"""The weights by which ambient context tells what a message is about, fitted again, and how well they tell it.

    python -m benchmarks.relevance --workspaces DIR --messages FILE [--index DIR]

FILE has a JSON object a line: ``workspace`` (a folder of DIR), ``message``, ``needs`` (whether the notes are needed for
it), ``kind`` (a word to group the rows by) and ``now`` (a day).  Each message is asked twice, with vectors and without
them; without counts less.  Printed are the weights, and of each kind the share of messages above the sureness of the
settings, by weights that were fitted on the other languages alone.  The first two letters of a workspace's name are its
language.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from openclaw_memory import Memory, Settings
from openclaw_memory.context import ambient, relevance
from openclaw_memory.context.relevance import WEIGHTS

#: What a message counts that is asked without vectors; what a squared weight costs, signs being scaled to deviations.
ALONE, RIDGE = 0.3, 3.0


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a message; ``signs`` is ``None`` where it is about nothing."""

    workspace: str
    kind: str
    needs: bool
    vectors: bool
    signs: NDArray[np.float64] | None

    @property
    def language(self) -> str:
        """The language of the workspace."""
        return self.workspace[:2]


@contextmanager
def recorded() -> Iterator[list[Mapping[str, float]]]:
    """The signs of the messages asked meanwhile."""
    seen: list[Mapping[str, float]] = []

    def signs(*arguments: Any) -> dict[str, float]:
        seen.append(relevance.signs(*arguments))
        return dict(seen[-1])

    with patch.object(ambient, "signs", signs):
        yield seen


def ask(workspace: Path, messages: Sequence[Mapping[str, Any]], index: Path, vectors: bool) -> Iterator[Told]:
    """Ask all messages of one workspace."""
    name = workspace.name
    settings = Settings.load(
        overrides={
            "ingest.fresh_seconds": 1e9,
            "context.curated_files": True,
            "search.mode": "hybrid" if vectors else "keyword",
        }
    )
    with (
        Memory(workspace, settings=settings, db=index / f"{name}.duckdb", state=index / f"{name}.sqlite") as memory,
        recorded() as seen,
    ):
        memory.ingest()
        for row in messages:
            seen.clear()
            memory.context(row["message"], now=date.fromisoformat(row["now"]))
            signs = np.array([seen[-1][name] for name in WEIGHTS]) if seen else None
            yield Told(name, row["kind"], bool(row["needs"]), vectors, signs)


def fitted(signs: NDArray[np.float64], needs: NDArray[np.bool_], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights and, last, the bias of a logistic regression with a ridge, by Newton's method: ``float64[k + 1]``.

    ``signs`` is ``float64[n, k]``, ``counts`` what each row counts; both answers count alike in sum.
    """
    counts = counts * np.where(needs, 1.0, counts[needs].sum() / counts[~needs].sum())
    middle, width = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    x = np.column_stack([(signs - middle) / width, np.ones(len(signs))])
    cost = np.diag([RIDGE] * signs.shape[1] + [0.0])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (counts * (needs - p)) - cost @ weights
        weights += np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + cost, slope)
    return np.append(weights[:-1] / width, weights[-1] - (weights[:-1] / width * middle).sum())


def left_out(told: Sequence[Told], language: str) -> list[Told]:
    """What may be fitted on to judge a language: nothing that is in it."""
    return [row for row in told if row.language != language]


def weights_of(told: Sequence[Told]) -> NDArray[np.float64]:
    """Weights fitted on what was told."""
    known = [(row.signs, row.needs, 1.0 if row.vectors else ALONE) for row in told if row.signs is not None]
    return fitted(*(np.array(column) for column in zip(*known, strict=True)))


def value_of(row: Told, weights: NDArray[np.float64]) -> float:
    """What the weights make of a message, as a logarithm of odds."""
    return -np.inf if row.signs is None else float(row.signs @ weights[:-1] + weights[-1])


def threshold(values: Sequence[tuple[Told, float]], silent: float) -> float:
    """The value that at most ``1 - silent`` of each kind whose name begins with "nothing" are above, with vectors."""
    kinds = dict.fromkeys(row.kind for row, _ in values if row.kind.startswith("nothing"))
    return max(
        float(np.quantile([v for row, v in values if row.kind == kind and row.vectors], silent, method="lower"))
        for kind in kinds
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--messages", type=Path, required=True, help="file with a message a line")
    parser.add_argument("--index", type=Path, help="folder that keeps indexes between runs")
    parser.add_argument(
        "--silent", type=float, default=0.96, help="share of each kind named 'nothing …' that is to get nothing"
    )
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in options.messages.read_text(encoding="utf-8").splitlines() if line.strip()]
    told: list[Told] = []
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        for name in dict.fromkeys(row["workspace"] for row in rows):
            for vectors in (True, False):
                own = [row for row in rows if row["workspace"] == name]
                told += ask(options.workspaces / name, own, options.index or Path(folder), vectors)
    sure = Settings().context.sure
    least = np.log(sure / (1 - sure))
    weights = weights_of(told)
    shift = least - threshold([(row, value_of(row, weights)) for row in told], options.silent)
    values: list[tuple[Told, float]] = []
    for language in dict.fromkeys(row.language for row in told):
        others = weights_of(left_out(told, language))
        moved = least - threshold([(row, value_of(row, others)) for row in left_out(told, language)], options.silent)
        values += [(row, value_of(row, others) + moved) for row in told if row.language == language]
    for name, weight in zip([*WEIGHTS, "bias"], [*weights[:-1], weights[-1] + shift], strict=True):
        print(f"{name:<12}{weight:8.3f}")
    print("\n| kind | messages | with context | by words alone |", "|---|---|---|---|", sep="\n")
    for kind in dict.fromkeys(row.kind for row in told):
        shares = [
            float(np.mean([value > least for row, value in values if row.kind == kind and row.vectors == way]))
            for way in (True, False)
        ]
        count = sum(row.kind == kind and row.vectors for row in told)
        print(f"| {kind} | {count} | {shares[0]:.3f} | {shares[1]:.3f} |")


if __name__ == "__main__":
    main()
