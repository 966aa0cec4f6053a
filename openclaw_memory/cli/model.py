"""``model``: list, pull and choose embedding models."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ..embed import registry
from ..system.serialize import camel
from .config import set_value, settings_file
from .context import CliContext, ingest_progress, json_option, model_progress, yes_option
from .evaluate import show_report

if TYPE_CHECKING:
    from ..model import EvaluationReport


@click.group()
def model() -> None:
    """List, pull and choose embedding models."""


@model.command("list")
@json_option
def list_models(cli: CliContext) -> None:
    """Show the models that are known by name and those that are here: what each costs, and what is known of its worth.

    'memory' is that of the process that computes, 'time' that of a line beside all-MiniLM-L6-v2.  'first hit' is the
    share of 124 questions that it answers, measured on notes in four languages; 'MTEB' the retrieval of MTEB
    (Multilingual, v2), as others report it.
    """
    from ..embed.gguf_file import read_licence
    from ..embed.pull import list_installed

    cached = {file.name: file for file in list_installed()}
    chosen = cli.settings().embedding.model
    in_use = registry.candidate_names(chosen.lower())
    rows = []
    for name in dict.fromkeys([*(entry.name for entry in registry.ENTRIES), *cached]):
        entry, local = registry.get(name), cached.get(name)
        file = entry or local
        assert file is not None
        figures = ("dimensions", "context", "memory", "time", "recall", "retrieval", "retrieval_by", "needs")
        row = {
            "name": name,
            "title": entry.title if entry else name,
            "download": file.size,
            **{camel(figure): getattr(entry, figure, None) or None for figure in figures},
            "licence": entry.licence if entry else read_licence(local.path) if local else "unknown",
            "verified": local.verified if local else file.verified,
            "source": file.source,
            "multilingual": entry.multilingual if entry else None,
            "path": str(local.path) if local else None,
            "inUse": name in in_use,
        }
        rows.append(row)
    cli.answer({"models": rows}, _show)
    for row in rows:
        if row["needs"] and not cli.json:
            cli.say(f"{row['name']}: of the builds of llama.cpp only {row['needs']} loads it")
    if len(in_use) > 1:
        english, many = in_use
        cli.say(f"embedding.model is {chosen}: {english} for notes in English, {many} for others; 'status' says which")
    elif not any(row["inUse"] for row in rows):
        cli.say(f"embedding.model is {chosen}")


def _show(cli: CliContext, answer: dict[str, list[dict[str, Any]]]) -> None:
    cells = (
        (
            "*" if row["inUse"] else "",
            row["name"],
            str(row["dimensions"] or ""),
            f"{row['download'] / 1e6:,.0f} MB",
            f"{row['memory'] / 1e6:,.0f} MB" if row["memory"] else "",
            f"{row['time']:.1f}" if row["time"] else "",
            f"{row['recall']:.0%}" if row["recall"] else "",
            f"{row['retrieval']:.1f}, {row['retrievalBy']}" if row["retrieval"] else "",
            {True: "many", False: "en", None: ""}[row["multilingual"]],
            row["licence"] + ("" if row["verified"] else ", unchecked"),
            "yes" if row["path"] else "",
        )
        for row in answer["models"]
    )
    right = ("dims", "download", "memory", "time", "first hit")
    cli.table(cells, "", "model", *right, "MTEB", "lang", "licence", "here", right=right)


@model.command("pull")
@click.argument("name", required=False, metavar="[NAME|URL|FILE]")
@click.option("--sha256", metavar="HEX", help="What the file must have; a mismatch is an error.")
@yes_option
@json_option
def pull_model(cli: CliContext, name: str | None, sha256: str | None, yes: bool) -> None:
    """Fetch a model, check it and put it into the cache.

    Without NAME: the model of the configuration, or the two that 'auto' chooses from.  A URL or FILE is that of a GGUF
    file.  HF_ENDPOINT names a mirror of the hub, HTTPS_PROXY a proxy.  A download that broke off goes on.
    """
    from ..embed.gguf_file import read_licence
    from ..embed.manager import is_path
    from ..embed.pull import find_installed, pull

    settings = cli.settings()
    chosen = name or settings.embedding.model
    if name is None and (chosen.lower() == "none" or is_path(chosen)):
        chosen = registry.DEFAULT.name
    rows: list[dict[str, Any]] = []
    for each in registry.candidate_names(chosen)[: 1 if sha256 else None]:
        entry = registry.get(each)
        if entry is not None and find_installed(each) is None:
            _agree(cli, entry, yes)
        with model_progress(cli) as progress:
            pulled = pull(each, progress=progress, offline=settings.embedding.offline, sha256=sha256)
        row = {"name": pulled.name, "path": str(pulled.path), "size": pulled.size, "sha256": pulled.sha256}
        rows.append({**row, "sourceSha256": pulled.source_sha256, "verified": pulled.verified})
        cli.say(f"{pulled.name}: {pulled.path}")
        if registry.get(pulled.name) is None:
            cli.say(f"licence: {read_licence(pulled.path)}, as the file says; {pulled.source}")
        if not pulled.verified:
            cli.remark(f"not verified: its sha256 {pulled.source_sha256} was pinned on first use")
    if cli.json:
        cli.emit(rows[0] if len(rows) == 1 else {**rows[0], "further": rows[1:]})


def _agree(cli: CliContext, entry: registry.ModelEntry, yes: bool) -> None:
    """Show the licence, and ask where it has terms; exits 1 if they are refused, 2 if nobody can answer."""
    cli.say(f"{entry.title}: {entry.size / 1e6:,.0f} MB, licence {entry.licence}, from {entry.source}")
    if entry.terms is None:
        return
    cli.say(f"its terms: {entry.terms}")
    if cli.must_ask(yes) and not click.confirm("Do you agree to them?"):
        cli.say("nothing was fetched")
        raise SystemExit(1)


@model.command("use")
@click.argument("name", metavar="NAME|PATH")
@click.option("--measure", is_flag=True, help="Ask both models about a sample of the notes first, some minutes long.")
@yes_option
@json_option
def use_model(cli: CliContext, name: str, measure: bool, yes: bool) -> None:
    """Make NAME (or a GGUF file, 'none', or 'auto' by the notes' languages) the model of the configuration file.

    In a terminal it offers to measure first what the change brings on your notes, and asks again when you have seen it.
    """
    from ..embed.gguf_file import check_gguf
    from ..embed.manager import is_path
    from ..embed.pull import PULL_COMMAND, find_installed

    value, present = name, True
    if is_path(name):
        path = Path(name).expanduser().resolve()
        check_gguf(path)
        value = str(path)
    elif name.lower() not in ("none", registry.AUTO):
        value = name.lower()
        present = find_installed(value) is not None
        if not present and registry.get(value) is None:
            names = f"none, {registry.AUTO}, {registry.list_names()}"
            raise click.UsageError(f"no model is called {name!r}; give one of {names}, or the path of a GGUF file")
    pull_first = f"{value} is not here yet; run '{PULL_COMMAND} {value}'"
    if measure and not present:
        raise click.UsageError(pull_first)
    file = settings_file(cli)
    before = cli.settings().embedding.model
    asks = not (yes or cli.json) and sys.stdin.isatty()
    report = _measure(cli, before, value, asks and not measure) if measure or (asks and present) else None
    if report is not None and asks and not click.confirm(f"Use {value}?", default=True):
        cli.say(f"embedding.model is still {before}")
        raise SystemExit(1)
    set_value(file, "embedding.model", value)
    if cli.json:
        cli.emit({"model": value, "before": before, "config": str(file), "present": present, "evaluation": report})
    cli.say(f"{file}: embedding.model is {value}")
    if not present:
        cli.say(pull_first)
    if value != before:
        cli.say("what is indexed gets new vectors with the next 'openclaw-memory ingest'")


def _measure(cli: CliContext, before: str, value: str, asks: bool) -> EvaluationReport | None:
    """Ask both models about a sample of the notes, and show what they answer; ``None`` if there is nothing to ask."""
    from ..evaluate.sample import take_sample
    from ..ingest.scan import scan
    from ..memory import Memory

    settings = cli.settings().with_values({"ingest.extra_paths": [], "ingest.session_days": 0, "sharing.read_from": []})
    try:
        files = scan(cli.find_workspace(), settings.ingest).files
    except click.UsageError:  # a model may be chosen before there are notes
        if not asks:
            raise
        files = ()
    if value == before or not files:
        return None
    sample = take_sample(files, (before, value))
    about = f"{sample.share:.0%} of your notes, about {-(-sample.seconds // 60):.0f} min"
    if asks and not click.confirm(f"Ask {before} and {value} about your notes first ({about})?", default=True):
        return None
    with TemporaryDirectory(prefix="openclaw-memory-") as folder, ingest_progress(cli) as progress:
        notes = Path(folder, "notes")
        notes.mkdir()
        sample.copy_to(notes)
        index, state = Path(folder, "index.duckdb"), Path(folder, "state.sqlite")
        with Memory(notes, settings=settings, db=index, state=state) as memory:
            memory.ingest(embed="eager", progress=progress)
            report = memory.evaluate(against={"embedding.model": value}, progress=progress)
    if not cli.json:
        show_report(cli, report)
    return report
