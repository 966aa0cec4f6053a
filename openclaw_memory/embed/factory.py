"""From the settings to an embedder, or to the reason why there is none.  Nothing is downloaded here."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError
from ..system import atomic
from . import registry
from .bindings import candidates, missing
from .fetch import PULL_COMMAND
from .gguf_file import is_reranker, no_reranker
from .pull import lookup, models_dir

if TYPE_CHECKING:
    from ..config.settings import Settings
    from ..model.embedder import Embedder
    from .llama import LlamaCppEmbedder, LlamaCppReranker

EmbedderFactory = Callable[["Settings"], "Embedder"]

#: Longest question and text that a reranker reads together, in its tokens: a hit's snippet is half of it.
_PAIR_TOKENS = 512
#: Remembers the sha256 of GGUF files outside the cache by path, size and time of change.
_HASHES = ".hashes.json"


@dataclass(frozen=True, slots=True)
class Resolved:
    """An embedder (``None``: keywords only) and, when it is not the one asked for, why, in a sentence."""

    embedder: Embedder | None
    reason: str | None = None


def resolve(
    settings: Settings,
    *,
    cache: Path | None = None,
    extra: Mapping[str, EmbedderFactory] | None = None,
    state: Path | None = None,
) -> Resolved:
    """Choose the embedder that ``settings.embedding`` asks for.

    ``cache`` is the cache folder (the platform's by default); ``extra`` are the embedders of plugins
    by name, which come before the registry; ``state`` is the folder of the HTTP usage counter (the data
    folder by default).  Never raises for a missing or unusable model: the reason says what to do.  The model's file is
    read on first use.
    """
    http = settings.embedding.provider == "http"
    try:
        return Resolved(_http(settings, state)) if http else _local(settings, cache, extra or {})
    except ModelError as error:
        return Resolved(None, f"{error}; searching by keywords" if http else str(error))


def is_path(model: str) -> bool:
    """Whether a value of ``embedding.model`` is a path: it ends in ``.gguf`` or holds a separator."""
    separators = {os.sep, os.altsep, "/"} - {None}
    return model.lower().endswith(".gguf") or model.startswith("~") or any(str(s) in model for s in separators)


def _http(settings: Settings, state: Path | None) -> Embedder:
    from ..config.settings import data_dir
    from .http import HttpEmbedder

    wanted = settings.embedding
    like = registry.matching_file(wanted.http_model.rpartition("/")[2])
    embedder = HttpEmbedder(
        wanted.http_url,
        wanted.http_model,
        usage_dir=state or data_dir(),
        api_key_env=wanted.http_api_key_env,
        dimensions=wanted.http_dimensions,
        query_prefix=like.query_prefix if like else "",
        document_prefix=like.document_prefix if like else "",
    )
    embedder.check_key()
    return embedder


def _local(settings: Settings, cache: Path | None, extra: Mapping[str, EmbedderFactory]) -> Resolved:
    model = settings.embedding.model.strip()
    if model.lower() == registry.AUTO:  # who asks without notes at hand
        model = registry.DEFAULT.name
    if model.lower() in ("none", ""):
        return Resolved(None, "embedding.model is none: searching by keywords")
    if model in extra:
        try:
            return Resolved(extra[model](settings))
        except Exception as error:
            return Resolved(None, f"the embedder {model} of a plugin failed to start ({error}); mend or disable it")
    if not candidates(settings.embedding.binding):
        return Resolved(None, missing(settings.embedding.binding))
    if is_path(model):
        found = _from_file(settings, Path(model).expanduser(), cache)
    else:
        named = _from_cache(settings, model, cache)
        if isinstance(named, str):
            return Resolved(None, named)
        found = named
    failure = found.failure
    return Resolved(found) if failure is None else Resolved(None, f"searching by keywords: {failure}")


def _from_cache(settings: Settings, model: str, cache: Path | None) -> LlamaCppEmbedder | str:
    """The embedder of a model in the cache, or why there is none."""
    entry, found = registry.get(model), lookup(model, cache)
    if found is None and entry is None:
        names = ", ".join(e.name for e in registry.ENTRIES)
        return f"embedding.model: no model is called {model!r}; give one of {names}, or the path of a GGUF file"
    if found is None:
        return f"model {model} is not here yet; run '{PULL_COMMAND} {model}'"
    if entry is not None:
        return _llama(settings, found.path, entry.name, cache, entry, entry)
    identity = f"{found.name}@{found.sha256[:12]}"
    return _llama(settings, found.path, identity, cache, registry.matching_file(found.name))


def _from_file(settings: Settings, path: Path, cache: Path | None) -> LlamaCppEmbedder:
    """A GGUF file of the user's: pooling and dimensions are its own, prefixes those of a known namesake."""
    from .gguf_file import check_gguf

    check_gguf(path)
    identity = f"{path.stem.lower()}@{_content_hash(path, cache)[:12]}"
    return _llama(settings, path, identity, cache, registry.matching_file(path.stem))


def _llama(
    settings: Settings,
    path: Path,
    identity: str,
    cache: Path | None,
    prefixes: registry.ModelEntry | None,
    shape: registry.ModelEntry | None = None,
) -> LlamaCppEmbedder:
    """An embedder with the ``prefixes`` of one entry; ``shape`` is the entry whose dimensions it must have."""
    from .llama import LlamaCppEmbedder
    from .proofs import Proofs

    wanted = settings.embedding
    return LlamaCppEmbedder(
        path,
        model=identity,
        threads=wanted.threads or 1,
        gpu=wanted.gpu,
        repack=repacks(wanted.repack),
        dimensions=shape.dimensions if shape else None,
        context=shape.context if shape else 0,
        query_prefix=prefixes.query_prefix if prefixes else "",
        document_prefix=prefixes.document_prefix if prefixes else "",
        binding=wanted.binding,
        proofs=Proofs(models_dir(cache)),
    )


def reranker(settings: Settings, *, threads: int = 1, cache: Path | None = None) -> LlamaCppReranker | None:
    """The cross-encoder that ``search.reranker`` names, ``None`` for none; the file is read on first use.

    Raises :class:`~openclaw_memory.errors.ModelError` when there is no such file, or nothing that runs it.
    """
    from .llama import LlamaCppReranker
    from .proofs import Proofs

    name, wanted = settings.search.reranker.strip(), settings.embedding
    if name.lower() in ("none", ""):
        return None
    path = Path(name).expanduser()
    if not path.is_file():
        raise ModelError(f"search.reranker: there is no file {path}; name the GGUF file of a cross-encoder, or none")
    if not is_reranker(path):  # before a worker is started for it, with every question
        raise ModelError(no_reranker(path))
    if not candidates(wanted.binding):
        raise ModelError(missing(wanted.binding))
    return LlamaCppReranker(
        path,
        model=f"{path.stem.lower()}@{_content_hash(path, cache)[:12]}",
        threads=wanted.threads or threads,
        gpu=wanted.gpu,
        repack=repacks(wanted.repack),
        batch_tokens=_PAIR_TOKENS,
        max_tokens=_PAIR_TOKENS,
        pooling="rank",
        binding=wanted.binding,
        proofs=Proofs(models_dir(cache)),
    )


def repacks(setting: str) -> bool:
    """Whether weights are repacked on this machine.

    llama.cpp's AMX path, which repacking leads to, crashes on some CPUs (ggml-org/llama.cpp#20824); on x86-64 without
    AMX repacking changes neither speed nor vectors of Q8_0 models, and on ARM it is what makes them fast.
    """
    return setting == "on" or (setting == "auto" and platform.machine().lower() not in ("x86_64", "amd64"))


def _content_hash(path: Path, cache: Path | None) -> str:
    """The sha256 of a file, remembered in the cache folder: hashing gigabytes takes seconds."""
    memory = models_dir(cache) / _HASHES
    key = str(path.resolve())
    try:
        stat = path.stat()
        stamp = [stat.st_size, stat.st_mtime_ns]
        known = _read_hashes(memory)
        if known.get(key, [])[:2] == stamp:
            return str(known[key][2])
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); set embedding.model to another") from error
    with suppress(OSError):  # a read-only cache costs the time of hashing again, nothing else
        atomic.swap(memory, json.dumps({**known, key: [*stamp, digest]}).encode())
    return digest


def _read_hashes(memory: Path) -> dict[str, list[int | str]]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    valid = isinstance(known, dict) and all(isinstance(v, list) and len(v) == 3 for v in known.values())
    return known if valid else {}
