"""From the settings to an embedder, or to the reason why there is none.  Nothing is downloaded here."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError
from . import registry
from .pull import PULL_COMMAND, lookup, models_dir

if TYPE_CHECKING:
    from ..settings import Settings
    from .base import Embedder

EmbedderFactory = Callable[["Settings"], "Embedder"]

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
    folder by default).  Query embeddings are cached as
    ``embedding.query_cache`` says.  Never raises for a missing or unusable model: the reason says
    what to do.  The model's file is read on first use.
    """
    from .cache import CachedEmbedder

    try:
        found = _choose(settings, cache, extra or {}, state)
    except ModelError as error:
        return Resolved(None, str(error))
    size = settings.embedding.query_cache
    if found.embedder is None or size == 0:
        return found
    return Resolved(CachedEmbedder(found.embedder, size), found.reason)


def is_path(model: str) -> bool:
    """Whether a value of ``embedding.model`` is a path: it ends in ``.gguf`` or holds a separator."""
    separators = {os.sep, os.altsep, "/"} - {None}
    return model.lower().endswith(".gguf") or model.startswith("~") or any(str(s) in model for s in separators)


def _choose(
    settings: Settings, cache: Path | None, extra: Mapping[str, EmbedderFactory], state: Path | None
) -> Resolved:
    wanted = settings.embedding
    if wanted.provider == "http":
        try:
            return Resolved(_http(settings, state))
        except ModelError as error:
            local = _local(settings, cache, extra)
            instead = f"using {local.embedder.model} instead" if local.embedder else "searching by keywords"
            return Resolved(local.embedder, f"{error}; {instead}")
    return _local(settings, cache, extra)


def _http(settings: Settings, state: Path | None) -> Embedder:
    from ..settings import data_dir
    from .http import HttpEmbedder

    wanted = settings.embedding
    like = registry.matching_file(wanted.http_model.rpartition("/")[2])
    embedder = HttpEmbedder(
        wanted.http_url,
        wanted.http_model,
        usage_dir=state or data_dir(),
        api_key_env=wanted.http_api_key_env,
        dimensions=wanted.http_dimensions,
        requests_per_minute=wanted.http_requests_per_minute,
        tokens_per_day=wanted.http_tokens_per_day,
        timeout=wanted.http_timeout,
        max_tokens=wanted.max_tokens,
        query_prefix=like.query_prefix if like else "",
        document_prefix=like.document_prefix if like else "",
    )
    embedder.check_key()
    return embedder


def _local(settings: Settings, cache: Path | None, extra: Mapping[str, EmbedderFactory]) -> Resolved:
    model = settings.embedding.model.strip()
    if model.lower() in ("none", ""):
        return Resolved(None, "embedding.model is none: searching by keywords")
    if model in extra:
        try:
            return Resolved(extra[model](settings))
        except Exception as error:
            return Resolved(None, f"the embedder {model} of a plugin failed to start ({error}); mend or disable it")
    if find_spec("llama_cpp") is None:
        return Resolved(
            None,
            "llama-cpp-python is not installed, so there are no vectors; run 'pip install llama-cpp-python'",
        )
    if is_path(model):
        return Resolved(_from_file(settings, Path(model).expanduser(), cache))
    return _from_cache(settings, model, cache)


def _from_cache(settings: Settings, model: str, cache: Path | None) -> Resolved:
    entry, found = registry.get(model), lookup(model, cache)
    if found is None and entry is None:
        names = ", ".join(e.name for e in registry.ENTRIES)
        return Resolved(
            None,
            f"embedding.model: no model is called {model!r}; give one of {names}, or the path of a GGUF file",
        )
    if found is None:
        return Resolved(None, f"model {model} is not here yet; run '{PULL_COMMAND} {model}'")
    if entry is not None:
        return Resolved(_llama(settings, found.path, entry.name, entry, entry.dimensions))
    like = registry.matching_file(found.name)
    return Resolved(_llama(settings, found.path, f"{found.name}@{found.sha256[:12]}", like, None))


def _from_file(settings: Settings, path: Path, cache: Path | None) -> Embedder:
    """A GGUF file of the user's: pooling and dimensions are its own, prefixes those of a known namesake."""
    from .llama_session import check_gguf

    check_gguf(path)
    identity = f"{path.stem.lower()}@{_content_hash(path, cache)[:12]}"
    return _llama(settings, path, identity, registry.matching_file(path.stem), None)


def _llama(
    settings: Settings,
    path: Path,
    identity: str,
    prefixes: registry.ModelEntry | None,
    dimensions: int | None,
) -> Embedder:
    from .llama import LlamaCppEmbedder

    wanted = settings.embedding
    return LlamaCppEmbedder(
        path,
        model=identity,
        threads=wanted.threads or 1,
        gpu=wanted.gpu,
        batch_tokens=wanted.batch_tokens,
        max_tokens=wanted.max_tokens,
        dimensions=dimensions,
        query_prefix=prefixes.query_prefix if prefixes else "",
        document_prefix=prefixes.document_prefix if prefixes else "",
    )


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
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        temporary = memory.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps({**known, key: [*stamp, digest]}), encoding="utf-8")
        os.replace(temporary, memory)
    except OSError:
        # A read-only cache costs the time of hashing again, nothing else.
        pass
    return digest


def _read_hashes(memory: Path) -> dict[str, list[int | str]]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    valid = isinstance(known, dict) and all(isinstance(v, list) and len(v) == 3 for v in known.values())
    return known if valid else {}
