"""Which languages the notes are in, and which of them the model in use knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError
from ..ingest.reading import Unreadable, decoded
from ..ingest.scan import scan
from ..model.embedder import Embedder
from ..text import language

#: Characters of a language that are looked at.
_SAMPLE = 4_000


@dataclass(slots=True)
class Languages:
    """Tokens by language, and texts in each of them."""

    weights: dict[str, float] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)

    def add(self, lines: Sequence[str], enough: int = 60) -> None:
        """Count a file, by about ``enough`` lines from all parts of it."""
        step = max(1, len(lines) // enough)
        text = "\n".join(lines[::step])
        for name, weight in language.weights(text).items():
            self.weights[name] = self.weights.get(name, 0.0) + step * weight
            if len(self.samples.get(name, "")) < _SAMPLE:
                self.samples[name] = f"{self.samples.get(name, '')}{_lines_in(name, lines[::step])}\n"

    def shares(self) -> dict[str, float]:
        """Share of each language that has one worth naming, the largest first."""
        total = sum(self.weights.values())
        found = sorted(self.weights.items(), key=lambda one: (-one[1], one[0]))
        return {name: round(weight / total, 3) for name, weight in found if weight >= 0.01 * total}

    def known(self, embedder: Embedder | None) -> dict[str, float]:
        """How well a model knows each language, from 0 to 1; nothing without a model."""
        from ..embed.noise import knowledge

        if embedder is None:
            return {}
        return {
            name: 1.0
            if name == language.ENGLISH
            else round(knowledge(embedder, "\n".join(language.words_in(self.samples[name], name))), 2)
            for name in self.shares()
        }


def _lines_in(name: str, lines: Sequence[str]) -> str:
    """The lines that are mostly in a language, whose letters others may share; all of them where none is."""
    weighed = [(line, language.weights(line)) for line in lines]
    own = [line for line, weights in weighed if weights.get(name, 0.0) == max(weights.values(), default=0.0) > 0]
    return "\n".join(own or lines)[:_SAMPLE]


def other_than_english(workspace: Path, settings: IngestSettings, enough: int = 64, characters: int = 16_384) -> float:
    """Share of the notes that is in other languages than English, by the first characters of ``enough`` files."""
    said = Languages()
    try:
        files = scan(workspace, settings).files
    except OpenClawMemoryError:
        return 0.0  # whoever reads the notes says so
    for file in files[:: max(1, len(files) // enough)]:
        with suppress(OSError, Unreadable), open(file.absolute, "rb") as data:
            said.add(decoded(data.read(characters))[0].split("\n"))
    return 1 - said.shares().get(language.ENGLISH, 0.0) if said.weights else 0.0


def unknown_ones(
    shares: Mapping[str, float], known: Mapping[str, float], model: str | None, wanted: str
) -> tuple[str, str] | None:
    """What to say of notes in languages that ``model`` does not know, and what to do; ``None`` where there are few.

    ``wanted`` is the one that the settings name.  A fifth of the notes is worth telling of.
    """
    from ..embed.registry import AUTO, MULTILINGUAL

    strange = {name: share for name, share in shares.items() if known.get(name, 1.0) < 0.7}
    if sum(strange.values()) < 0.2:
        return None
    said = " and ".join(f"{share:.0%} {name.title()}" for name, share in list(strange.items())[:2])
    what = f"your notes are {said}, which {model} does not know: they are found by their words"
    verb = "pull" if wanted.strip().lower() == AUTO else "use"
    many = f"run: openclaw-memory model {verb} {MULTILINGUAL.name}"
    return what, f"{many} (or use another one that knows many: openclaw-memory model list)"
