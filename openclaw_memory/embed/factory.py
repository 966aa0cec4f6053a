"""From the settings to an embedder, or to the reason why there is none.  Nothing is downloaded here."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ModelError
from . import registry
from .bindings import candidates, missing
from .fetch import PULL_COMMAND
from .pull import lookup, models_dir

if TYPE_CHECKING:
    from ..config.settings import Settings
    from ..model.embedder import Embedder
    from .llama import LlamaCppEmbedder

EmbedderFactory = Callable[["Settings"], "Embedder"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """An embedder (``None``: keywords only) and, when it is not the one asked for, why, in a sentence."""

    embedder: Embedder | None
    reason: str | None = None


def resolve(settings: Settings, extra: Mapping[str, EmbedderFactory] | None = None) -> Resolved:
    """Choose the embedder that ``settings.embedding`` asks for.

    ``extra`` are the embedders of plugins by name, which come before the registry.  Never raises for a missing or
    unusable model: the reason says what to do.  The model's file is read on first use.
    """
    http = settings.embedding.provider == "http"
    try:
        return Resolved(_http(settings)) if http else _local(settings, extra or {})
    except ModelError as error:
        return Resolved(None, f"{error}; searching by keywords" if http else str(error))


def is_path(model: str) -> bool:
    """Whether a value of ``embedding.model`` is a path: it ends in ``.gguf`` or holds a separator."""
    separators = {os.sep, os.altsep, "/"} - {None}
    return model.lower().endswith(".gguf") or model.startswith("~") or any(str(s) in model for s in separators)


def _http(settings: Settings) -> Embedder:
    from ..config.settings import data_dir
    from .http import HttpEmbedder

    wanted = settings.embedding
    like = registry.like(wanted.http_model)
    embedder = HttpEmbedder(
        wanted.http_url,
        wanted.http_model,
        usage_dir=data_dir(),
        api_key_env=wanted.http_api_key_env,
        dimensions=wanted.http_dimensions,
        query_prefix=like.query_prefix if like else "",
        document_prefix=like.document_prefix if like else "",
    )
    embedder.check_key()
    return embedder


def _local(settings: Settings, extra: Mapping[str, EmbedderFactory]) -> Resolved:
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
    found = _from_file(settings, model) if is_path(model) else _from_cache(settings, model)
    if isinstance(found, str):
        return Resolved(None, found)
    failure = found.failure
    return Resolved(found) if failure is None else Resolved(None, f"searching by keywords: {failure}")


def _from_cache(settings: Settings, model: str) -> LlamaCppEmbedder | str:
    """The embedder of a model in the cache, or why there is none."""
    entry, found = registry.get(model), lookup(model)
    if found is not None:
        return _llama(settings, found.path, entry.name if entry else f"{found.name}@{found.sha256[:12]}")
    if entry is not None:
        return f"model {model} is not here yet; run '{PULL_COMMAND} {model}'"
    names = ", ".join(e.name for e in registry.ENTRIES)
    return f"embedding.model: no model is called {model!r}; give one of {names}, or the path of a GGUF file"


def _from_file(settings: Settings, model: str) -> LlamaCppEmbedder:
    from .gguf_file import check_gguf

    path = Path(model).expanduser()
    check_gguf(path)
    return _llama(settings, path, _identity(path))


def _llama(settings: Settings, path: Path, identity: str) -> LlamaCppEmbedder:
    """An embedder with the prefixes of a known namesake; one that the registry has must have its dimensions too."""
    from .llama import LlamaCppEmbedder
    from .proofs import Proofs

    wanted, entry, namesake = settings.embedding, registry.get(identity), registry.like(identity)
    return LlamaCppEmbedder(
        path,
        model=identity,
        threads=wanted.threads or 1,
        gpu=wanted.gpu,
        repack=repacks(wanted.repack),
        dimensions=entry.dimensions if entry else None,
        context=entry.context if entry else 0,
        query_prefix=namesake.query_prefix if namesake else "",
        document_prefix=namesake.document_prefix if namesake else "",
        binding=wanted.binding,
        proofs=Proofs(models_dir()),
    )


def repacks(setting: str) -> bool:
    """Whether weights are repacked on this machine.

    llama.cpp's AMX path, which repacking leads to, crashes on some CPUs (ggml-org/llama.cpp#20824); on x86-64 without
    AMX repacking changes neither speed nor vectors of Q8_0 models, and on ARM it is what makes them fast.
    """
    return setting == "on" or (setting == "auto" and platform.machine().lower() not in ("x86_64", "amd64"))


def _identity(path: Path) -> str:
    """The name of a GGUF file with a hash of its size and of 64 places in it: reading gigabytes takes seconds."""
    try:
        size = path.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with path.open("rb") as file:
            for place in range(0, size, size // 64 + 1):
                file.seek(place)
                digest.update(file.read(1 << 16))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); set embedding.model to another") from error
    return f"{path.stem.lower()}@{digest.hexdigest()[:12]}"
