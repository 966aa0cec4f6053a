"""The figures as Markdown tables and plots, between two marks of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.page import heading, replace

from . import PEERS
from .plots import chart

if TYPE_CHECKING:
    from .__main__ import Found, Grown


def write(answers: Sequence[Found], sizes: Sequence[Grown], skipped: Mapping[str, str], page: Path | None) -> str:
    """Return the tables; replace the part between the marks of ``page`` by that of the answers and the plots."""
    parts = [_answers(answers)] if answers else []
    left_out = [f"Left out: {name}, {why}." for name, why in skipped.items()]
    plots = _plots(answers, sizes)
    text = "\n\n".join(
        [
            heading("peers --workspaces DIR"),
            *parts,
            *left_out,
            *(f"![{name}](images/peers-{name}.svg)" for name in plots),
        ]
    )
    if page is not None:
        replace(page, "peers", text, {f"peers-{name}.svg": drawn for name, drawn in plots.items()})
    return "\n\n".join([*parts, *([_sizes(sizes)] if sizes else []), *left_out])


def _answers(rows: Sequence[Found]) -> str:
    of = {peer.name: peer for peer in (import_module(f"benchmarks.peers.{one}").PEER for one in PEERS)}
    first, tokens = list(rows[0].first), list(rows[0].tokens)
    head = ["", "version", *(f"R@{number}" for number in first), *(f"T@{budget}" for budget in tokens), "ms", "p95", ""]
    body = [
        [
            row.name, row.version,
            *(_share(row.first[number]) for number in first), *(_share(row.tokens[budget]) for budget in tokens),
            f"{row.median:.0f}", f"{row.slow:.0f}", of[row.name].remark,
        ]
        for row in rows
    ]  # fmt: skip
    return _table(head, body)


def _sizes(rows: Sequence[Grown]) -> str:
    days = list(dict.fromkeys(row.days for row in rows))
    names = list(dict.fromkeys(row.name for row in rows))
    by = {(row.name, row.days): row for row in rows}
    body = []
    for name in names:
        own = [by.get((name, day)) for day in days]
        parts = [
            " / ".join("-" if row is None else shown for row, shown in zip(own, texts, strict=True))
            for texts in (
                ["" if row is None else f"{row.index:.1f}" for row in own],
                ["" if row is None else f"{row.median:.0f}" for row in own],
                ["" if row is None else f"{row.resident / 1e6:.0f}" for row in own],
                ["" if row is None else f"{row.disk / 1e6:.1f}" for row in own],
            )
        ]
        body.append([name, *parts])
    said = " / ".join(map(str, days))
    return _table([f"after {said} days", "index anew, s", "search, ms", "memory, MB", "on disk, MB"], body)


def _plots(answers: Sequence[Found], sizes: Sequence[Grown]) -> dict[str, str]:
    out = {}
    if answers:
        lines = {row.name: list(row.tokens.items()) for row in answers}
        out["recall"] = chart("Evidence read within a budget", "tokens", "share of the evidence", lines)
    for name, title, up in (
        ("latency", "Search by days of notes", "median, ms"),
        ("memory", "Memory by days of notes", "resident, MB"),
        ("index", "Indexing all notes anew", "seconds"),
    ):
        points: dict[str, list[tuple[float, float]]] = {}
        for row in sizes:
            value = {"latency": row.median, "memory": row.resident / 1e6, "index": row.index}[name]
            points.setdefault(row.name, []).append((row.days, max(value, 0.01)))
        if points and len({row.days for row in sizes}) > 1:
            out[name] = chart(title, "days", up, points, logarithmic="y")
    return out


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
