"""Take as many notes as two models embed in a few minutes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ..embed import registry
from ..embed.llama import available_cores
from ..model import SourceFile
from ..records import NamedTuple


class NoteSample(NamedTuple):
    """Files of a sample, their share of all notes in [0, 1], and the seconds that a comparison is expected to take."""

    files: tuple[SourceFile, ...]
    share: float
    seconds: float

    def copy_to(self, folder: Path) -> None:
        """Write the files below ``folder``; a file that has gone meanwhile is left out."""
        for file in self.files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                shutil.copyfile(file.absolute, target)


def take_sample(files: Sequence[SourceFile], models: Sequence[str]) -> NoteSample:
    """Take files by the hashes of their paths until the ``models`` need three minutes to embed them."""
    # In a second a core embeds 5000 bytes of notes with the default model.
    rate = 5000 * available_cores() / max(1e-9, sum(map(_cost, models)))
    taken: list[SourceFile] = []
    enough, size = 180 * rate, 0
    for file in sorted(files, key=lambda file: blake2b(file.path.encode()).digest()):
        if not taken or size + file.size <= enough:
            taken.append(file)
            size += file.size
    seconds = size / rate + 40  # to answer all questions
    return NoteSample(tuple(taken), size / max(1, sum(file.size for file in files)), seconds)


def _cost(model: str) -> float:
    """Return the time of a line beside that of the default model; the highest of all for a model without a figure."""
    if model == "none":
        return 0.0
    entries = [registry.get(name) or registry.find_similar(name) for name in registry.candidate_names(model)]
    return max((entry and entry.time) or max(each.time for each in registry.ENTRIES) for entry in entries)
