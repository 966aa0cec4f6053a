"""How close a message is to what is said to any assistant: thanks, small talk, what everybody knows, programs, jokes.

How close the notes are to a message tells little alone: a model finds some texts, and texts of some languages, close to
anything.  A cohort of other texts tells what that is worth: Auckenthaler, Carey and Lloyd-Thomas (2000), "Score
normalization for text-independent speaker verification systems".  Its texts are data, ``general.txt``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from ..model import script_of
from ..model.embedder import Embedder, Vectors
from .noise import knowledge
from .vector_cache import VectorCache

#: Texts that are embedded at once: a question that comes meanwhile has its turn after them.
_AT_ONCE = 16
#: Of a language that the model knows less of, its texts tell nothing.
_KNOWN = 0.8
#: What the cache knows a text by: it is embedded as a question, and no text of a note begins so.
_AS_QUESTION = "\0general\0"


@dataclass(frozen=True, slots=True)
class General:
    """Cosines of a message to the texts of the language that has the closest one: their mean, and the highest.

    ``vectors`` are those of the texts, ``float32[n, d]``.
    """

    mean: float
    highest: float
    vectors: Vectors


@cache
def texts() -> dict[str, tuple[str, ...]]:
    """The texts of each language."""
    out: dict[str, list[str]] = {}
    for line in files(__package__).joinpath("general.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            own = out.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            own.append(line)
    return {language: tuple(lines) for language, lines in out.items()}


def cohort(embedder: Embedder, cache: VectorCache | None, script: int) -> tuple[Vectors, ...]:
    """The vectors ``float32[n, d]`` of each language that is written in ``script`` and that the model knows.

    What is in the ``cache`` is not embedded again.  Raises :class:`~openclaw_memory.errors.ModelError` when the model
    cannot embed.
    """
    out: list[Vectors] = []
    for lines in texts().values():
        if script_of("".join(lines)) == script and knowledge(embedder, " ".join(lines)) > _KNOWN:
            out.append(_vectors(embedder, cache, lines))
    return tuple(out)


def _vectors(embedder: Embedder, cache: VectorCache | None, lines: tuple[str, ...]) -> Vectors:
    keys = [_AS_QUESTION + line for line in lines]
    token = "" if cache is None else cache.token()
    known = {} if cache is None else cache.known(embedder, keys)
    # Not by way of the questions that it keeps, which these would drive out.
    inner: Embedder = getattr(embedder, "inner", embedder)
    missing = [at for at in range(len(lines)) if at not in known]
    for first in range(0, len(missing), _AT_ONCE):
        some = missing[first : first + _AT_ONCE]
        vectors = inner.embed_query([lines[at] for at in some])
        known |= dict(zip(some, vectors, strict=True))
        if cache is not None:
            cache.put(token, embedder, [keys[at] for at in some], vectors)
    return np.stack([known[at] for at in range(len(lines))])


def compared(vector: Vectors, to: tuple[Vectors, ...]) -> General | None:
    """How close the vector ``float32[d]`` of a message is to a cohort; ``None`` where there is none."""
    each = [(vectors @ vector, vectors) for vectors in to]
    if not each:
        return None
    cosines, vectors = max(each, key=lambda one: float(one[0].max()))
    return General(float(cosines.mean()), float(cosines.max()), vectors)
