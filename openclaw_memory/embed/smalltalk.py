"""Compare a message with what people say to any assistant: thanks, small talk, general knowledge, programs, jokes.

The similarity of notes to a message is no evidence by itself: some texts, and texts of some languages, are close to
everything in a model.  It is compared with the similarity of the message to a cohort of other texts, those of
``smalltalk.txt``: Auckenthaler, Carey and Lloyd-Thomas (2000), "Score normalization for text-independent speaker
verification systems".

The form of a question is evidence too: "when was that again?" asks one's own notes, "how does one do that?" asks
anyone.  ``personal_questions.txt`` holds questions of the first kind, and the discriminant of Fisher (1936), "The use
of multiple measurements in taxonomic problems", over the vectors of both kinds separates them.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from math import ceil

import numpy as np

from ..config.settings import cache_dir
from ..model import script_of
from ..model.embedder import Embedder, LocalModel, Vectors
from ..records import NamedTuple
from ..system import atomic
from ..text import word_lists
from .vocabulary import language_coverage


class SmalltalkMatch(NamedTuple):
    """Cosines of a message to the texts of the closest language: their mean, and the highest.

    ``vectors`` are those of the texts, ``float32[n, d]``.  ``personal`` is the distance of the message from the middle
    between small talk and personal questions, in deviations: above 0 on the side of the latter.
    """

    mean: float
    highest: float
    vectors: Vectors
    personal: float


class Cohort(NamedTuple):
    """Vectors ``float32[n, d]`` of the small talk in each language, and the discriminant of personal questions.

    That is a direction, ``axis`` (``float32[d]``), and ``middle``, the point between both along it.
    """

    languages: tuple[Vectors, ...]
    axis: Vectors
    middle: float


def read_texts(file: str = "smalltalk.txt") -> dict[str, tuple[str, ...]]:
    """Return the texts of each section, which is mostly a language."""
    texts: dict[str, list[str]] = {}
    for line in word_lists.read_text(__package__, file).splitlines():
        if line.startswith("["):
            section = texts.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return {name: tuple(lines) for name, lines in texts.items()}


def embed_cohort(embedder: Embedder, script: int) -> Cohort | None:
    """Embed the texts of the languages in ``script`` that the model knows; ``None`` where it knows none.

    The vectors of a local model are kept in the cache folder.  Raises
    :class:`~openclaw_memory.errors.ModelError` when the model cannot embed.
    """
    questions = read_texts("personal_questions.txt")
    languages = [
        (lines, questions[language])
        for language, lines in read_texts().items()
        if script_of("".join(lines)) == script and language_coverage(embedder, " ".join(lines)) > 0.8
    ]
    if not languages:
        return None
    # Of many languages each gives some texts: 210 tell as much as all, and embedding all takes its time.
    step = ceil(sum(len(own) for _, own in languages) / 210)
    smalltalk = [_embed(embedder, lines) for lines, _ in languages]
    personal = [_embed(embedder, own[::step]) for _, own in languages]
    axis, middle = _discriminant(np.concatenate(personal), np.concatenate(smalltalk))
    return Cohort(tuple(smalltalk), axis, middle)


def _discriminant(a: Vectors, b: Vectors) -> tuple[Vectors, float]:
    """Return the direction along which two sets differ most for their spread, scaled to spread 1, and their middle.

    A ridge of ten times the mean spread is added in each direction: there are fewer texts than it takes to tell
    directions apart (Friedman, 1989, "Regularized discriminant analysis").
    """
    spread = (np.cov(a, rowvar=False) + np.cov(b, rowvar=False)) / 2
    spread += (10 * np.trace(spread) / len(spread) + 1e-9) * np.eye(len(spread))  # also where all texts are one
    axis = np.linalg.solve(spread, a.mean(axis=0) - b.mean(axis=0))
    axis /= np.sqrt(axis @ spread @ axis) or 1.0
    return axis.astype(np.float32), float((a.mean(axis=0) + b.mean(axis=0)) @ axis / 2)


def _embed(embedder: Embedder, lines: tuple[str, ...], batch: int = 16) -> Vectors:
    """Embed the texts, or read them from the cache; a waiting question has its turn after each ``batch``."""
    file = None
    if isinstance(embedder, LocalModel):
        key = repr((embedder.model, embedder.dimensions, lines)).encode()
        file = cache_dir() / "general" / f"{blake2b(key, digest_size=16).hexdigest()}.f32"
        with suppress(OSError, ValueError):
            return np.frombuffer(file.read_bytes(), "<f4").reshape(len(lines), embedder.dimensions)
    parts = [embedder.embed_query(lines[at : at + batch]) for at in range(0, len(lines), batch)]
    vectors: Vectors = np.concatenate(parts)
    if file is not None:
        with suppress(OSError):  # where nothing can be written they are embedded again
            atomic.write_bytes(file, vectors.astype("<f4").tobytes())
    return vectors


def compare(vector: Vectors, cohort: Cohort | None) -> SmalltalkMatch | None:
    """Compare the vector ``float32[d]`` of a message with a cohort; ``None`` where there is none."""
    if cohort is None:
        return None
    cosines, vectors = max(((rows @ vector, rows) for rows in cohort.languages), key=lambda pair: float(pair[0].max()))
    return SmalltalkMatch(
        float(cosines.mean()), float(cosines.max()), vectors, float(vector @ cohort.axis) - cohort.middle
    )
