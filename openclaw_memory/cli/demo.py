"""``demo``: the main job on a small example, in one command."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .. import example
from ..config.settings import IngestSettings
from .context import CliContext, common_options, ingest_progress, offline_option, pull_if_missing, say
from .search import marking, show_hit, show_stop


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path, file_okay=False),
              help="Keep the example workspace and its index here; default: a temporary folder.")  # fmt: skip
@offline_option
@common_options
def demo(cli: CliContext, folder: Path | None) -> None:
    """Ingest a small example workspace, search it four times and follow one thread.

    Gets the embedding model on first use, then needs no network.
    """
    from ..memory import Memory

    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="openclaw-memory-demo-")))
        folder = folder.expanduser().absolute()
        workspace = folder / "workspace"
        files = len(example.copy_to(workspace))
        # The defaults: no folders of the user, and eager embedding.
        settings = replace(cli.settings(), ingest=IngestSettings())
        memory = stack.enter_context(
            Memory(workspace, settings=settings, db=cli.db or folder / "index.duckdb", state=folder / "state.sqlite")
        )
        pull_if_missing(cli, memory)
        cli.say(f"{files} notes of an example agent in {workspace}")
        with ingest_progress(cli) as progress:
            first = memory.ingest(progress=progress)
        choice = memory.resolve_embedder()  # now it is known whether the model runs here
        name = "no model: keywords only" if choice.embedder is None else f"model {choice.embedder.model}"
        cli.say(f"ingested {first.chunks} units in {first.seconds:.2f} s ({name}, {first.embedded} embedded)")
        again = memory.ingest()
        cli.say(f"ingested again in {again.seconds:.3f} s: {again.unchanged} units unchanged\n")
        searches: list[dict[str, Any]] = [
            {"query": query, "shows": shows, "result": memory.search(query, max_results=3, explain=True)}
            for query, shows in example.QUERIES
        ]
        thread = memory.recall(example.THREAD)
    record = {"workspace": str(workspace), "files": files, "ingest": first, "reingest": again, "searches": searches}
    if cli.json:
        cli.emit({**record, "recall": {"query": example.THREAD, "result": thread}})
        return
    for row in searches:
        cli.line((f"search: {row['query']}", "bold"), (f"  {row['result'].took_ms:.1f} ms", "dim"))
        cli.line((f"  {row['shows']}\n", "dim"))
        for rank, hit in enumerate(row["result"].results, 1):
            show_hit(cli, rank, hit, marking(row["query"]), 1)
    cli.line((f"recall: {example.THREAD}", "bold"), (f"  {thread.took_ms:.1f} ms", "dim"))
    cli.line(("  the thread behind it, in order of time: every step names the line that it rests on\n", "dim"))
    for hit in thread.results:
        show_stop(cli, hit, 1, marking(example.THREAD))
    cli.remark(choice.reason)
    say("now your own: openclaw-memory --workspace DIR ingest, then openclaw-memory --workspace DIR search QUESTION")
