"""Fit the weights of the relevance features of ambient context, and measure how well they separate messages.

    python -m benchmarks.relevance --workspaces DIR --messages FILE [--index DIR]

FILE has a JSON object a line: ``workspace`` (a folder of DIR), ``message``, ``needs`` (whether the notes are needed for
it), ``kind`` (a word to group the rows by) and ``now`` (a day).  Each message is asked twice, with vectors of the model
that the settings name, or the notes choose, and without them.  It prints the weights for both, and for each kind and
workspace the share of messages above the required probability, by weights fitted on the other workspaces alone.
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
from openclaw_memory.context import candidates, relevance
from openclaw_memory.context.relevance import KEYWORD_WEIGHTS, MIN_COVERAGE, RELEVANT, WEIGHTS

#: What a squared weight costs, features being scaled to deviations.
RIDGE = 3.0


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a message; ``features`` is ``None`` where it is about nothing."""

    workspace: str
    kind: str
    needs: bool
    features: Mapping[str, float] | None

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights that judge it: those for vectors, where a model knows the language, or those for words alone."""
        has_vectors = self.features is not None and self.features["language_coverage"] > MIN_COVERAGE
        return WEIGHTS if has_vectors else KEYWORD_WEIGHTS


@contextmanager
def recorded() -> Iterator[list[Mapping[str, float]]]:
    """The features of the messages asked meanwhile."""
    seen: list[Mapping[str, float]] = []

    def extract(*arguments: Any) -> dict[str, float]:
        seen.append(relevance.extract_features(*arguments))
        return dict(seen[-1])

    with patch.object(candidates, "extract_features", extract):
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
            yield Told(name, row["kind"], bool(row["needs"]), seen[-1] if seen else None)


def fitted(features: NDArray[np.float64], needs: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights and, last, the bias of a logistic regression with a ridge, by Newton's method: ``float64[k + 1]``.

    ``features`` is ``float64[n, k]``; both answers count alike in sum.
    """
    counts = np.where(needs, 1.0, needs.sum() / (~needs).sum())
    middle, width = features.mean(axis=0), features.std(axis=0) + 1e-9
    x = np.column_stack([(features - middle) / width, np.ones(len(features))])
    cost = np.diag([RIDGE] * features.shape[1] + [0.0])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (counts * (needs - p)) - cost @ weights
        weights += np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + cost, slope)
    return np.append(weights[:-1] / width, weights[-1] - (weights[:-1] / width * middle).sum())


def odds(told: Sequence[Told], names: Sequence[str], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the weights make of each message, as a logarithm of odds."""
    rows = [
        [-np.inf] if row.features is None else [sum(row.features[n] * w for n, w in zip(names, weights, strict=False))]
        for row in told
    ]
    out: NDArray[np.float64] = np.array(rows, np.float64).ravel() + weights[-1]
    return out


def weights_of(told: Sequence[Told], names: Sequence[str], silent: float) -> NDArray[np.float64]:
    """Weights fitted on what was told, with the bias at which a share ``silent`` of what needs nothing gets nothing."""
    known = [row for row in told if row.features is not None]
    features = np.array([[row.features[name] for name in names] for row in known if row.features is not None])
    weights = fitted(features, np.array([row.needs for row in known]))
    nothing = odds([row for row in told if not row.needs], names, weights)
    weights[-1] += np.log(RELEVANT / (1 - RELEVANT)) - float(np.quantile(nothing, silent, method="higher"))
    return weights


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with a folder for each workspace")
    parser.add_argument("--messages", type=Path, required=True, help="file with a message a line")
    parser.add_argument("--index", type=Path, help="folder that keeps indexes between runs")
    parser.add_argument("--silent", type=float, default=0.96, help="share of what needs nothing that is to get nothing")
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in options.messages.read_text(encoding="utf-8").splitlines() if line.strip()]
    told: list[Told] = []
    workspaces = list(dict.fromkeys(row["workspace"] for row in rows))
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        for name in workspaces:
            for vectors in (True, False):
                own = [row for row in rows if row["workspace"] == name]
                told += ask(options.workspaces / name, own, options.index or Path(folder), vectors)
    for title, weights in (("beside vectors", WEIGHTS), ("by words alone", KEYWORD_WEIGHTS)):
        names, judged = list(weights), [row for row in told if row.weights is weights]
        print(f"\n{title}")
        for name, weight in zip([*names, "bias"], weights_of(judged, names, options.silent), strict=True):
            print(f"{name:<12}{weight:8.3f}")
        print("\n| workspace | kind | messages | with context |", "|---|---|---|---|", sep="\n")
        for workspace in workspaces:
            others = weights_of([row for row in judged if row.workspace != workspace], names, options.silent)
            for kind in dict.fromkeys(row.kind for row in judged):
                own_rows = [row for row in judged if (row.workspace, row.kind) == (workspace, kind)]
                if own_rows:
                    share = float(np.mean(odds(own_rows, names, others) > np.log(RELEVANT / (1 - RELEVANT))))
                    print(f"| {workspace} | {kind} | {len(own_rows)} | {share:.3f} |")


if __name__ == "__main__":
    main()
