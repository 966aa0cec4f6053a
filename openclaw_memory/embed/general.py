"""How close a message is to what is said to any assistant: thanks, small talk, what everybody knows, programs, jokes.

How close the notes are to a message tells little alone: a model finds some texts, and texts of some languages, close to
anything.  A cohort of other texts tells what that is worth: Auckenthaler, Carey and Lloyd-Thomas (2000), "Score
normalization for text-independent speaker verification systems".  Its texts are data, ``general.txt``.

How a message is asked tells something as well: "when was that again?" is asked of notes, "how does one do that?" of
anybody.  Texts of the other kind are ``particular.txt``, and what tells both apart is the discriminant of Fisher
(1936), "The use of multiple measurements in taxonomic problems", over their vectors.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from math import ceil
from pathlib import Path

import numpy as np

from ..config.settings import cache_dir
from ..model import script_of
from ..model.embedder import Embedder, LocalModel, Vectors
from ..system import atomic
from .noise import knowledge

#: Of a language that the model knows less of, its texts tell nothing.
_KNOWN = 0.8
#: What is added to the spread of the texts in each direction, as a multiple of the mean spread: they are fewer than it
#: takes to tell directions apart (Friedman, 1989, "Regularized discriminant analysis").
_EVENLY = 10.0
#: The same for a model to which all texts are one.
_LEAST = 1e-9
#: So many texts that are asked of notes are enough for a script.
_ASKED = 210


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


def cohort(embedder: Embedder, script: int) -> Cohort | None:
    """The texts in the languages that are written in ``script`` and that the model knows; ``None`` where it knows none.

    What a model on this machine has embedded is kept beside it.  Raises
    :class:`~openclaw_memory.errors.ModelError` when the model cannot embed.
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
    general = [_vectors(embedder, lines) for lines, _ in known]
    particular = [_vectors(embedder, asked[::step]) for _, asked in known]
    axis, middle = _discriminant(np.concatenate(particular), np.concatenate(general))
    return Cohort(tuple(general), axis, middle)


def _discriminant(one: Vectors, other: Vectors) -> tuple[Vectors, float]:
    """The direction along which two sets of vectors differ most for their spread, and their middle; the spread is 1."""
    spread = (np.cov(one, rowvar=False) + np.cov(other, rowvar=False)) / 2
    spread += (_EVENLY * np.trace(spread) / len(spread) + _LEAST) * np.eye(len(spread))
    axis = np.linalg.solve(spread, one.mean(axis=0) - other.mean(axis=0))
    axis /= np.sqrt(axis @ spread @ axis) or 1.0
    return axis.astype(np.float32), float((one.mean(axis=0) + other.mean(axis=0)) @ axis / 2)


def _vectors(embedder: Embedder, lines: tuple[str, ...], at_once: int = 16) -> Vectors:
    """Those of the texts, ``at_once`` in a request: a question that comes meanwhile has its turn after them."""
    kept = _file(embedder, lines) if isinstance(embedder, LocalModel) else None
    if kept is not None and (known := _read(kept, len(lines), embedder.dimensions)) is not None:
        return known
    parts = [embedder.embed_query(lines[at : at + at_once]) for at in range(0, len(lines), at_once)]
    vectors: Vectors = np.concatenate(parts)
    if kept is not None:
        with suppress(OSError):  # where nothing can be written they are made again
            atomic.swap(kept, vectors.astype("<f4").tobytes())
    return vectors


def _file(embedder: Embedder, lines: tuple[str, ...]) -> Path:
    made_by = repr((embedder.model, embedder.dimensions, lines)).encode()
    return cache_dir() / "general" / f"{blake2b(made_by, digest_size=16).hexdigest()}.f32"


def _read(file: Path, rows: int, dimensions: int) -> Vectors | None:
    try:
        return np.frombuffer(file.read_bytes(), "<f4").reshape(rows, dimensions)
    except (OSError, ValueError):
        return None


def compared(vector: Vectors, to: Cohort | None) -> General | None:
    """How close the vector ``float32[d]`` of a message is to a cohort; ``None`` where there is none."""
    if to is None:
        return None
    cosines, vectors = max(((own @ vector, own) for own in to.languages), key=lambda one: float(one[0].max()))
    return General(float(cosines.mean()), float(cosines.max()), vectors, float(vector @ to.axis) - to.middle)
