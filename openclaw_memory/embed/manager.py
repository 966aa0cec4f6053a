"""Choose the embedder that the settings name, and keep one of each for all memories of the process."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.settings import Settings, data_dir
from ..errors import ModelError
from ..model import Progress, silent
from ..model.embedder import LocalModel
from ..plugins.manager import Plugins
from ..records import NamedTuple
from ..store.api import VectorModel
from ..system.deadline import Deadline
from . import registry
from .bindings import install_advice, installed_bindings
from .gguf_file import check_gguf

if TYPE_CHECKING:
    from ..model.embedder import Embedder
    from .llama import LlamaCppEmbedder

T = TypeVar("T")
EmbedderFactory = Callable[[Settings], "Embedder"]


class EmbedderChoice(NamedTuple):
    """An embedder, or ``None`` for keywords only; ``reason`` is a sentence where it is not the configured one."""

    embedder: Embedder | None
    reason: str | None = None


class EmbedderManager:
    """The embedders by name, each chosen once.

    ``fixed`` replaces all of them and is never closed here.  Safe to use from several threads.
    """

    def __init__(self, settings: Settings, fixed: Embedder | None = None) -> None:
        self._settings = settings
        self._fixed = None if fixed is None else EmbedderChoice(fixed)
        self._choices: dict[str, EmbedderChoice] = {}
        self._tried: dict[str, float] = {}
        self._lock = threading.RLock()
        #: At most eight questions wait for the model beyond their deadlines at a time.
        self._waiting = threading.Semaphore(8)

    @property
    def name(self) -> str | None:
        """The configured model; ``None`` where the settings leave it to the languages of the notes."""
        name = self._settings.embedding.model
        return name if self._fixed is not None or name.strip().lower() != registry.AUTO else None

    def resolve(self, name: str, plugins: Plugins) -> EmbedderChoice:
        """Return the embedder ``name``, or the reason for its absence; loads no model.

        A missing one is looked for again every five seconds: another process may have pulled it.
        """
        with self._lock:
            now = time.monotonic()
            choice = self._fixed or self._choices.get(name)
            if choice is None or (choice.embedder is None and now >= self._tried[name] + 5.0):
                self._tried[name] = now
                factories: dict[str, Any] = {}
                plugins.notify("openclaw_memory_register_embedders", register=factories.__setitem__)
                fresh = choose_embedder(self._settings.with_values({"embedding.model": name}), extra=factories)
                if choice is None or fresh.embedder is not None:  # an earlier reason may say more
                    choice = self._choices[name] = fresh
            failure = choice.embedder.failure if isinstance(choice.embedder, LocalModel) else None
            return choice if failure is None else _keywords_only(failure)

    def pull(self, name: str, plugins: Plugins, progress: Progress = silent) -> str | None:
        """Fetch the model ``name`` if it is missing and known; returns the reason where there is none afterwards."""
        choice = self.resolve(name, plugins)
        if choice.embedder is not None or self._settings.embedding.provider != "local":
            return choice.reason
        entry = registry.get(name)
        if entry is None or entry.terms or is_path(name):  # terms are for a person to accept
            return choice.reason
        from .pull import pull

        try:
            pull(name, progress=progress, offline=self._settings.embedding.offline)
        except ModelError as error:
            with self._lock:
                self._choices[name] = EmbedderChoice(None, str(error))  # says more than that the model is missing
            return str(error)
        with self._lock:
            self._choices.pop(name, None)
        return self.resolve(name, plugins).reason

    def run_within(self, seconds: float | None, call: Callable[[], T]) -> T:
        """Return the result of ``call``; raises :class:`ModelError` when it takes longer than ``seconds``.

        Nothing can interrupt a model that is loading or an endpoint that is silent, so a call that takes too long
        goes on in its thread, and the next one finds the model loaded.  The number of such threads is bounded: when
        all are busy a call waits for one, no longer than ``seconds``.
        """
        if seconds is None:
            return call()
        until = Deadline.after(seconds)
        results: list[T] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                results.append(call())
            except Exception as error:
                errors.append(error)
            finally:
                self._waiting.release()

        if self._waiting.acquire(timeout=max(0.0, seconds)):
            thread = threading.Thread(target=run, name="deadline", daemon=True)
            thread.start()
            thread.join(until.left())
        if errors:
            raise errors[0]
        if not results:
            raise ModelError(
                f"the model did not answer within {max(0.0, seconds):.2g} s; the next search may find it ready"
            )
        return results[0]

    def close(self) -> None:
        """Release the models, except the fixed one."""
        with self._lock:
            for choice in self._choices.values():
                if choice.embedder is not None:
                    choice.embedder.close()
            self._choices.clear()


def model_of(embedder: Embedder) -> VectorModel:
    """Return the key of the embedder's vectors in the store."""
    return VectorModel(embedder.model, embedder.dimensions)


def is_path(model: str) -> bool:
    """Return true if a value of ``embedding.model`` is a path: it ends in ``.gguf`` or holds a separator."""
    separators = {os.sep, os.altsep, "/"} - {None}
    return model.lower().endswith(".gguf") or model.startswith("~") or any(str(s) in model for s in separators)


def choose_embedder(settings: Settings, extra: Mapping[str, EmbedderFactory] | None = None) -> EmbedderChoice:
    """Choose the embedder that ``settings.embedding`` names; downloads nothing, reads the model on first use.

    ``extra`` are the embedders of plugins by name, which precede the registry.  Never raises for a missing or
    unusable model: the reason names the next step.
    """
    http = settings.embedding.provider == "http"
    try:
        return EmbedderChoice(_http(settings)) if http else _local(settings, extra or {})
    except ModelError as error:
        return EmbedderChoice(None, f"{error}; searching by keywords" if http else str(error))


def _http(settings: Settings) -> Embedder:
    from .http import HttpEmbedder

    options = settings.embedding
    return HttpEmbedder(
        options.http_url,
        options.http_model,
        usage_dir=data_dir(),
        api_key_env=options.http_api_key_env,
        dimensions=options.http_dimensions,
        **_prefixes(options.http_model),
    )


def _local(settings: Settings, extra: Mapping[str, EmbedderFactory]) -> EmbedderChoice:
    model = settings.embedding.model.strip()
    if model.lower() == registry.AUTO:  # there are no notes to choose by
        model = registry.DEFAULT.name
    if model.lower() in ("none", ""):
        return EmbedderChoice(None, "embedding.model is none: searching by keywords")
    if model in extra:
        try:
            return EmbedderChoice(extra[model](settings))
        except Exception as error:
            reason = f"the embedder {model} of a plugin failed to start ({error}); mend or disable it"
            return EmbedderChoice(None, reason)
    if not installed_bindings(settings.embedding.binding):
        return EmbedderChoice(None, install_advice(settings.embedding.binding))
    if is_path(model):
        path = Path(model).expanduser()
        check_gguf(path)
        embedder = _llama(settings, path, _identity(path))
    else:
        embedder = _from_cache(settings, model)
    if embedder.failure is not None:
        return _keywords_only(embedder.failure)
    return EmbedderChoice(embedder)


def _keywords_only(failure: str) -> EmbedderChoice:
    return EmbedderChoice(None, f"searching by keywords: {failure}")


def _from_cache(settings: Settings, model: str) -> LlamaCppEmbedder:
    from .pull import PULL_COMMAND, find_installed

    entry, installed = registry.get(model), find_installed(model)
    if installed is not None:
        return _llama(settings, installed.path, entry.name if entry else f"{installed.name}@{installed.sha256[:12]}")
    if entry is not None:
        raise ModelError(f"model {model} is not here yet; run '{PULL_COMMAND} {model}'")
    raise ModelError(
        f"embedding.model: no model is called {model!r}; give one of {registry.list_names()}, "
        "or the path of a GGUF file"
    )


def _llama(settings: Settings, path: Path, identity: str) -> LlamaCppEmbedder:
    """Build the embedder with the prefixes of a similar known model; a registered one must have its dimensions too."""
    from .llama import CrashRecord, LlamaCppEmbedder
    from .pull import models_dir

    options, entry = settings.embedding, registry.get(identity)
    return LlamaCppEmbedder(
        path,
        model=identity,
        threads=options.threads or 1,
        gpu=options.gpu,
        repack=options.repack,
        dimensions=entry.dimensions if entry else None,
        context=entry.context if entry else 0,
        pooling=entry.pooling if entry else "",
        binding=options.binding,
        crashes=CrashRecord(models_dir()),
        **_prefixes(identity),
    )


def _prefixes(identity: str) -> dict[str, Any]:
    """Return the prefixes of a known model that is called like ``identity``."""
    similar = registry.find_similar(identity)
    return {name: getattr(similar, name) for name in ("query_prefix", "document_prefix")} if similar else {}


def _identity(path: Path) -> str:
    """Name a GGUF file with a hash of its size and of 64 places in it: reading gigabytes takes seconds."""
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
