"""``model``: list, pull and choose embedding models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..embed import registry
from .config import set_value, settings_file
from .context import CliContext, json_option, model_progress


@click.group()
def model() -> None:
    """List, pull and choose embedding models."""


@model.command("list")
@json_option
def list_models(cli: CliContext) -> None:
    """Show the models that are known by name and those that are in the cache."""
    from ..embed.pull import list_installed

    cached = {file.name: file for file in list_installed()}
    chosen = cli.settings().embedding.model
    in_use = registry.candidate_names(chosen.lower())
    rows = []
    for name in dict.fromkeys([*(entry.name for entry in registry.ENTRIES), *cached]):
        entry, local = registry.get(name), cached.get(name)
        file = entry or local
        assert file is not None
        row = {
            "name": name,
            "title": entry.title if entry else name,
            "dimensions": entry.dimensions if entry else None,
            "context": entry.context if entry else None,
            "download": file.size,
            "licence": entry.licence if entry else "unknown",
            "verified": local.verified if local else file.verified,
            "source": file.source,
            "multilingual": entry.multilingual if entry else None,
            "path": str(local.path) if local else None,
            "inUse": name in in_use,
        }
        rows.append(row)
    cli.answer({"models": rows}, _show)
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
            str(row["context"] or ""),
            f"{row['download'] / 1e6:,.0f} MB",
            {True: "many", False: "en", None: ""}[row["multilingual"]],
            row["licence"],
            "yes" if row["verified"] else "no",
            "yes" if row["path"] else "",
        )
        for row in answer["models"]
    )
    right = ("dims", "context", "download")
    cli.table(cells, "", "model", *right, "lang", "licence", "checked", "here", right=right)


@model.command("pull")
@click.argument("name", required=False, metavar="[NAME|URL]")
@click.option("--sha256", metavar="HEX", help="What the file must have; a mismatch is an error.")
@json_option
def pull_model(cli: CliContext, name: str | None, sha256: str | None) -> None:
    """Fetch a model, check it and put it into the cache.

    Without NAME: the model of the configuration, or the two that 'auto' chooses from.  A URL is that of a GGUF file.
    """
    from ..embed.manager import is_path
    from ..embed.pull import pull

    settings = cli.settings()
    chosen = name or settings.embedding.model
    if name is None and (chosen.lower() == "none" or is_path(chosen)):
        chosen = registry.DEFAULT.name
    rows: list[dict[str, Any]] = []
    for each in registry.candidate_names(chosen)[: 1 if sha256 else None]:
        with model_progress(cli) as progress:
            pulled = pull(each, progress=progress, offline=settings.embedding.offline, sha256=sha256)
        row = {"name": pulled.name, "path": str(pulled.path), "size": pulled.size, "sha256": pulled.sha256}
        rows.append({**row, "sourceSha256": pulled.source_sha256, "verified": pulled.verified})
        cli.say(f"{pulled.name}: {pulled.path}")
        if not pulled.verified:
            cli.remark(f"not verified: its sha256 {pulled.source_sha256} was pinned on first use")
    if cli.json:
        cli.emit(rows[0] if len(rows) == 1 else {**rows[0], "further": rows[1:]})


@model.command("use")
@click.argument("name", metavar="NAME|PATH")
@json_option
def use_model(cli: CliContext, name: str) -> None:
    """Make NAME (or a GGUF file, 'none', or 'auto' by the notes' languages) the model of the configuration file."""
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
            names = ", ".join(["none", registry.AUTO, *(entry.name for entry in registry.ENTRIES)])
            raise click.UsageError(f"no model is called {name!r}; give one of {names}, or the path of a GGUF file")
    file = settings_file(cli)
    before = cli.settings().embedding.model
    set_value(file, "embedding.model", value)
    if cli.json:
        cli.emit({"model": value, "before": before, "config": str(file), "present": present})
    cli.say(f"{file}: embedding.model is {value}")
    if not present:
        cli.say(f"it is not here yet; run '{PULL_COMMAND} {value}'")
    if value != before:
        if present:
            cli.say(f"to compare both on your notes: openclaw-memory evaluate --against embedding.model={before}")
        cli.say("what is indexed gets new vectors with the next 'openclaw-memory ingest'")
