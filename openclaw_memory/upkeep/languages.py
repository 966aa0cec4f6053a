"""Languages of the notes, and how well a model knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from ..config.settings import IngestSettings
from ..errors import OpenClawMemoryError, Problem
from ..ingest.scan import Unreadable, decode, scan
from ..ingest.survey import language_weights
from ..model.embedder import Embedder
from ..records import dataclass
from ..text import language

#: Characters of each language that are kept as a sample.
_SAMPLE = 4_000


@dataclass(slots=True)
class Languages:
    """Counts tokens by language, and keeps a sample of each language."""

    weights: dict[str, float] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)

    def add(self, lines: Sequence[str]) -> None:
        """Count a text and sample it."""
        self.count(language_weights(lines))
        self.sample(lines)

    def count(self, weights: Mapping[str, float]) -> None:
        """Add tokens by language."""
        for name, weight in weights.items():
            self.weights[name] = self.weights.get(name, 0.0) + weight

    def sample(self, lines: Sequence[str], enough: int = 60) -> None:
        """Add about ``enough`` of the lines to the samples of their languages."""
        lines = lines[:: max(1, len(lines) // enough)]
        for name in language.tokens_by_language("\n".join(lines)):
            if len(self.samples.get(name, "")) < _SAMPLE:
                self.samples[name] = f"{self.samples.get(name, '')}{_lines_in(name, lines)}\n"

    def shares(self) -> dict[str, float]:
        """Return the share of each language with 1 % or more, the largest first."""
        total = sum(self.weights.values())
        ranked = sorted(self.weights.items(), key=lambda item: (-item[1], item[0]))
        return {name: round(weight / total, 3) for name, weight in ranked if weight >= 0.01 * total}

    def coverage(self, embedder: Embedder | None) -> dict[str, float]:
        """Return how well a model knows each language, from 0 to 1; empty without a model."""
        from ..embed.vocabulary import language_coverage

        if embedder is None:
            return {}
        return {
            name: 1.0
            if name == language.ENGLISH
            else round(language_coverage(embedder, "\n".join(language.words_in(self.samples.get(name, ""), name))), 2)
            for name in self.shares()
        }


def _lines_in(name: str, lines: Sequence[str]) -> str:
    """Return the lines that are mostly in a language, whose letters others may share; all lines if none is."""
    weighed = [(line, language.tokens_by_language(line)) for line in lines]
    matching = [line for line, weights in weighed if weights.get(name, 0.0) == max(weights.values(), default=0.0) > 0]
    return "\n".join(matching or lines)[:_SAMPLE]


def other_than_english(workspace: Path, settings: IngestSettings, enough: int = 64, characters: int = 16_384) -> float:
    """Return the share of the notes in other languages than English, from the first characters of some files."""
    languages = Languages()
    try:
        files = scan(workspace, settings).files
    except OpenClawMemoryError:
        return 0.0  # reading the notes raises it again
    for file in files[:: max(1, len(files) // enough)]:
        with suppress(OSError, Unreadable), open(file.absolute, "rb") as data:
            languages.add(decode(data.read(characters))[0].split("\n"))
    return 1 - languages.shares().get(language.ENGLISH, 0.0) if languages.weights else 0.0


def unknown_languages(
    shares: Mapping[str, float], knowledge: Mapping[str, float], model: str | None, setting: str
) -> Problem | None:
    """Return the problem of notes in languages that ``model`` does not know; ``None`` below a fifth of the notes.

    ``shares`` and ``knowledge`` are those of :class:`Languages`; ``setting`` is ``embedding.model``.
    """
    from ..embed.registry import AUTO, MULTILINGUAL

    unknown = {name: share for name, share in shares.items() if knowledge.get(name, 1.0) < 0.7}
    if sum(unknown.values()) < 0.2:
        return None
    languages = " and ".join(f"{share:.0%} {name.title()}" for name, share in list(unknown.items())[:2])
    verb = "pull" if setting.strip().lower() == AUTO else "use"
    return Problem(
        f"your notes are {languages}, which {model} does not know: they are found by their words",
        f"run: openclaw-memory model {verb} {MULTILINGUAL.name} "
        "(or use another one that knows many: openclaw-memory model list)",
    )
