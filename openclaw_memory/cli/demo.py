"""``demo``: the main job on a small example, in one command."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import example
from .context import CliContext, common_options, offline_option, say

if TYPE_CHECKING:
    from ..model import RecallResult, SearchHit


@click.command(short_help="Ingest, search and recall a small example.")
@click.option("--dir", "folder", type=click.Path(path_type=Path, file_okay=False),
              help="Keep the example workspace and its index here; default: a temporary folder.")  # fmt: skip
@offline_option
@common_options
def demo(cli: CliContext, folder: Path | None, offline: bool) -> None:
    """Ingest a small example workspace, search it four times and follow one thread.

    Gets the embedding model on first use, then needs no network.
    """
    import tempfile

    if folder is not None:
        _run(cli, folder.expanduser().absolute(), offline)
        return
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-demo-") as temporary:
        _run(cli, Path(temporary), offline)


def _run(cli: CliContext, folder: Path, offline: bool) -> None:
    from ..config.settings import IngestSettings
    from ..memory import Memory
    from .progress import ingest_progress, pull_if_missing

    workspace = folder / "workspace"
    copied = example.copy_to(workspace)
    # The defaults: no folders of the user, and eager embedding.
    settings = replace(cli.settings(embedding__offline=True if offline else None), ingest=IngestSettings())
    record: dict[str, Any] = {"workspace": str(workspace), "files": len(copied), "searches": []}
    with Memory(
        workspace, settings=settings, db=cli.db or folder / "index.duckdb", state=folder / "state.sqlite"
    ) as memory:
        pull_if_missing(cli, memory)
        _say(cli, f"{len(copied)} notes of an example agent in {workspace}")
        with ingest_progress(cli) as show:
            first = memory.ingest(progress=show)
        embedder = memory.resolve_embedder().embedder  # now it is known whether it runs here
        name = "no model: keywords only" if embedder is None else f"model {embedder.model}"
        again = memory.ingest()
        record |= {"ingest": first, "reingest": again}
        _say(cli, f"ingested {first.chunks} units in {first.seconds:.2f} s ({name}, {first.embedded} embedded)")
        _say(cli, f"ingested again in {again.seconds:.3f} s: {again.unchanged} units unchanged\n")
        for query, shows in example.QUERIES:
            started = time.perf_counter()
            result = memory.search(query, max_results=3, explain=True)
            seconds = time.perf_counter() - started
            record["searches"].append({"query": query, "shows": shows, "result": result})
            if not cli.json:
                _show(cli, query, shows, result.results, seconds)
        started = time.perf_counter()
        thread = memory.recall(example.THREAD)
        seconds = time.perf_counter() - started
        record["recall"] = {"query": example.THREAD, "result": thread}
        if not cli.json:
            _show_thread(cli, thread, seconds)
        cli.remark(memory.resolve_embedder().reason)
    if cli.json:
        cli.emit(record)
    else:
        _say(
            cli,
            "now your own: openclaw-memory --workspace DIR ingest, "
            "then openclaw-memory --workspace DIR search QUESTION",
        )


def _say(cli: CliContext, text: str) -> None:
    if not cli.json:
        say(text)


def _show(cli: CliContext, query: str, shows: str, hits: tuple[SearchHit, ...], seconds: float) -> None:
    from rich.table import Table
    from rich.text import Text

    out = cli.out
    out.print(Text(f"search: {query}", style="bold"), Text(f"  {seconds * 1000:.1f} ms", style="dim"), sep="")
    out.print(Text(f"  {shows}", style="dim"))
    table = Table(box=None, padding=(0, 1), show_edge=False)
    for title in ("score", "text", "vector", "time", "lines"):
        table.add_column(title, justify="left" if title == "lines" else "right", no_wrap=title != "lines")
    for hit in hits:
        table.add_row(
            f"{hit.score:.2f}", *(_part(part) for part in (hit.text_score, hit.vector_score, hit.time_score)),
            Text(f"{hit.path}:{hit.start_line}-{hit.end_line}"),
        )  # fmt: skip
    out.print(table)
    if hits:
        out.print(Text("  " + _best_line(hits[0].snippet, query)))
    out.print()


def _show_thread(cli: CliContext, thread: RecallResult, seconds: float) -> None:
    from rich.text import Text

    from .recall import show_stop
    from .search import marking

    out = cli.out
    out.print(Text(f"recall: {example.THREAD}", style="bold"), Text(f"  {seconds * 1000:.1f} ms", style="dim"), sep="")
    out.print(
        Text("  the thread behind it, in order of time: every step names the line that it rests on\n", style="dim")
    )
    for hit in thread.results:
        show_stop(out, hit, 1, marking(example.THREAD))


def _part(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _best_line(snippet: str, query: str) -> str:
    """Return the line of a snippet that shares most words with the query; the longest of equals."""
    from ..text.analysis import query_terms, terms

    query_words = set(query_terms(query))
    lines = [line.strip() for line in snippet.split("\n") if line.strip()]
    return max(lines, key=lambda line: (len(query_words & set(terms(line))), len(line)), default="")
