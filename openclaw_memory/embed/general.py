"""How close a message is to what is said to any assistant: thanks, small talk, what everybody knows, programs, jokes.

How close the notes are to a message tells little alone: a model finds some texts, and texts of some languages, close to
anything.  A cohort of other texts tells what that is worth: Auckenthaler, Carey and Lloyd-Thomas (2000), "Score
normalization for text-independent speaker verification systems".  Its texts are data, ``general.txt``.

How a message is asked tells something as well: "when was that again?" is asked of notes, "how does one do that?" of
anybody.  Texts of the other kind are ``particular.txt``, and what tells both apart is the discriminant of Fisher
(1936), "The use of multiple measurements in taxonomic problems", over their vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import script_of
from ..model.embedder import Embedder, Vectors
from . import registry
from .noise import knowledge
from .vector_cache import VectorCache

#: Texts that are embedded at once: a question that comes meanwhile has its turn after them.
_AT_ONCE = 16
#: Of a language that the model knows less of, its texts tell nothing.
_KNOWN = 0.8
#: What is added to the spread of the texts in each direction, as a multiple of the mean spread: they are fewer than it
#: takes to tell directions apart (Friedman, 1989, "Regularized discriminant analysis").
_EVENLY = 10.0
#: The same for a model to which all texts are one.
_LEAST = 1e-9
#: So many texts that are asked of notes are enough for a script.
_ASKED = 210
#: Vectors of the texts by the model for many languages, which takes 20 seconds to embed them
#: (``benchmarks/general_vectors.py``).
KEPT = "general.npz"
#: Values of a number that is kept, and the share of the largest number beyond which all are one.
_STEPS, _CLIPPED = 16, 0.85
_SCALE = np.dtype("<f2")
#: What the mean of all kept vectors is called there.
MEAN = "mean"
#: What the cache knows a text by: it is embedded as a question, and no text of a note begins so.
_AS_QUESTION = "\0general\0"


@dataclass(frozen=True, slots=True)
class General:
    """Cosines of a message to the texts of the language that has the closest one: their mean, and the highest.

    ``vectors`` are those of the texts, ``float32[n, d]``.  ``particular`` is how far the message is from the middle
    between them and what is asked of notes, in deviations: above 0 where it is more like the latter.
    """

    mean: float
    highest: float
    vectors: Vectors
    particular: float


@dataclass(frozen=True, slots=True)
class Cohort:
    """Vectors ``float32[n, d]`` of what is said to any assistant in each language, and what tells it from the rest.

    That is a direction, ``axis`` (``float32[d]``), and ``middle``, what lies between both along it.
    """

    languages: tuple[Vectors, ...]
    axis: Vectors
    middle: float


@cache
def texts(file: str = "general.txt") -> dict[str, tuple[str, ...]]:
    """The texts of each language."""
    out: dict[str, list[str]] = {}
    for line in files(__package__).joinpath(file).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            own = out.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            own.append(line)
    return {language: tuple(lines) for language, lines in out.items()}


def cohort(embedder: Embedder, cache: VectorCache | None, script: int) -> Cohort | None:
    """The texts in the languages that are written in ``script`` and that the model knows; ``None`` where it knows none.

    What is in the ``cache`` is not embedded again.  Raises :class:`~openclaw_memory.errors.ModelError` when the model
    cannot embed.
    """
    known = [
        (lines, texts("particular.txt")[language])
        for language, lines in texts().items()
        if script_of("".join(lines)) == script and knowledge(embedder, " ".join(lines)) > _KNOWN
    ]
    if not known:
        return None
    # Of many languages each gives some texts: together they tell as much, and embedding all takes its time.
    step = ceil(sum(len(asked) for _, asked in known) / _ASKED)
    asked = [lines[::step] for _, lines in known]
    kept = stored() if embedder.model == registry.MULTILINGUAL.name and embedder.provider == "llama.cpp" else {}
    general = [
        unpacked(kept[key], kept[MEAN]) if (key := key_of(lines)) in kept else _vectors(embedder, cache, lines)
        for lines, _ in known
    ]
    key = key_of([line for lines, _ in known for line in lines] + [line for lines in asked for line in lines])
    if key in kept:
        return Cohort(tuple(general), kept[key][:-1], float(kept[key][-1]))
    particular = [_vectors(embedder, cache, lines) for lines in asked]
    return Cohort(tuple(general), *_discriminant(np.concatenate(particular), np.concatenate(general)))


def key_of(lines: Sequence[str]) -> str:
    """What the kept vectors of texts are called; another text has another name, and so none are out of date."""
    return blake2b("\n".join(lines).encode("utf-8"), digest_size=8).hexdigest()


@cache
def stored() -> dict[str, NDArray[Any]]:
    """The kept vectors of each language, packed, the direction and the middle of each script, and the mean, by name."""
    with files(__package__).joinpath(KEPT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
        return {name: kept[name] for name in kept.files}


def packed(vectors: Vectors, mean: Vectors) -> NDArray[np.uint8]:
    """Four bits for each number of the vectors ``float32[n, d]`` less their mean, and a scale for each vector.

    Cosines to a text are off by 0.0014 in the mean then, and by 0.005 for one in a hundred.
    """
    rest = vectors - mean
    scale = (_CLIPPED * np.abs(rest).max(axis=1, keepdims=True) / (_STEPS / 2)).astype(_SCALE)
    codes = np.clip(np.floor(rest / scale) + _STEPS / 2, 0, _STEPS - 1).astype(np.uint8)
    return np.hstack([codes[:, ::2] << 4 | codes[:, 1::2], scale.view(np.uint8)])


def unpacked(rows: NDArray[np.uint8], mean: Vectors) -> Vectors:
    """The vectors ``float32[n, d]``, of unit length, that were :func:`packed`."""
    codes = np.stack([rows[:, :-2] >> 4, rows[:, :-2] & 15], axis=2).reshape(len(rows), -1)
    scale = np.ascontiguousarray(rows[:, -2:]).view(_SCALE).astype(np.float32)
    vectors = (codes - np.float32(_STEPS / 2 - 0.5)) * scale + mean
    out: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return out


def _discriminant(one: Vectors, other: Vectors) -> tuple[Vectors, float]:
    """The direction along which two sets of vectors differ most for their spread, and their middle; the spread is 1."""
    spread = (np.cov(one, rowvar=False) + np.cov(other, rowvar=False)) / 2
    spread += (_EVENLY * np.trace(spread) / len(spread) + _LEAST) * np.eye(len(spread))
    axis = np.linalg.solve(spread, one.mean(axis=0) - other.mean(axis=0))
    axis /= np.sqrt(axis @ spread @ axis) or 1.0
    return axis.astype(np.float32), float((one.mean(axis=0) + other.mean(axis=0)) @ axis / 2)


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


def compared(vector: Vectors, to: Cohort | None) -> General | None:
    """How close the vector ``float32[d]`` of a message is to a cohort; ``None`` where there is none."""
    if to is None:
        return None
    cosines, vectors = max(((own @ vector, own) for own in to.languages), key=lambda one: float(one[0].max()))
    return General(float(cosines.mean()), float(cosines.max()), vectors, float(vector @ to.axis) - to.middle)
