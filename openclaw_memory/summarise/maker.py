"""Making the text of one summary from the notes or finer summaries below it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

from ..config.settings import Settings
from ..errors import RedactionError
from ..ingest.notes import NoteReader
from ..ingest.origin import lowered
from ..ingest.scan import Unreadable
from ..ingest.summary_files import DATED, front_of
from ..knowledge import mentions
from ..model import TRUSTED, Grain, Origin, SourceFile, SummaryPlan
from ..plugins import redact
from ..plugins.manager import Plugins
from ..text import analysis, calendar
from ..text.markdown import UNIT_TOKENS
from .document import LINKER, Source, render, sentences_in
from .inventory import FINER, GRAINS, Key, Leaf, Leaves
from .sentences import Note, Sentence, line_of, sentences_of, tokens
from .summary import BUDGETS, VERSION, Rules, summarise


class Changed(Exception):
    """A file is not what the index holds of it; its summary is for the next run."""


class Blocked(Exception):
    """A file cannot be read; its summary waits until a person has put that right.  Says which file, and why."""


@dataclass(frozen=True, slots=True)
class Made:
    """A period's summary: the text of its file, and what it was made of."""

    sources: tuple[Source, ...]
    origin: Origin
    text: str
    plan: SummaryPlan


def budget_of(settings: Settings, grain: Grain) -> float:
    """Most tokens of a summary."""
    return float(settings.consolidate.budgets.get(grain.value, BUDGETS[grain]))


def fingerprints(settings: Settings) -> dict[Grain, str]:
    """For each grain what, beside its sources, decides how a summary reads."""
    versions = [analysis.ANALYSIS_VERSION, mentions.VERSION, VERSION, redact.VERSION]
    common = [UNIT_TOKENS, versions, sorted(settings.redaction.allow)]
    return {
        grain: hashlib.sha256(json.dumps([budget_of(settings, grain), common]).encode("utf-8")).hexdigest()[:16]
        for grain in GRAINS
    }


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Say which file it is that cannot be read."""
    try:
        yield
    except Unreadable as problem:
        raise Blocked(f"{path}: {problem.reason}") from problem
    except RedactionError as problem:
        raise Blocked(f"{path}: {problem}") from problem


class Maker:
    """Makes summaries of one workspace as it stands in one run; each is made at most once.

    Every method that reads files raises :class:`Changed` and :class:`Blocked`.
    """

    def __init__(
        self,
        settings: Settings,
        reader: NoteReader,
        plugins: Plugins,
        leaves: Leaves,
        files: Mapping[str, SourceFile],
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._plugins = plugins
        self._leaves = leaves
        self._files = files
        self._made: dict[Key, Made | None] = {}
        #: The sentences of the notes of a day, once they were asked for, counted from nought.
        self._days: dict[str, list[tuple[Source, Sentence]]] = {}

    def make(self, grain: Grain, period: str) -> Made | None:
        """A period's summary, from its notes or finer summaries as they are, or are to be.

        ``None`` where nothing is said, and for a day whose summary would be no shorter than its notes.
        """
        key = grain, period
        if key not in self._made:
            self._made[key] = self._make(grain, period)
        return self._made[key]

    def _make(self, grain: Grain, period: str) -> Made | None:
        below = self._notes(period) if grain is Grain.DAILY else self._finer(grain, period)
        if any(sentence.origin in TRUSTED for _, sentence in below):
            below = [(source, sentence) for source, sentence in below if sentence.origin in TRUSTED]
        given = [sentence for _, sentence in below]
        rules = Rules(budget_of(self._settings, grain), grows=grain.value not in self._settings.consolidate.budgets)
        chosen = (summary := summarise(given, grain, rules)).sentences() if given else []
        if not chosen:
            return None
        sources = tuple(source for source, _ in groupby(source for source, _ in below))
        origin = max((sentence.origin for sentence in given), key=list(Origin).index)
        plan = SummaryPlan(
            path=calendar.path_of(grain, period),
            grain=grain,
            period=period,
            sources=len(sources),
            sentences=len(chosen),
            tokens=sum(tokens(line_of(sentence, grain in DATED)) for sentence in chosen),
            source_tokens=sum(tokens(line_of(sentence, False)) for sentence in given),
            groups=summary.groups,
        )
        if grain is Grain.DAILY and plan.tokens >= plan.source_tokens:
            return None
        text = render(grain, period, summary, sources, origin, self._leaves.digest(grain, period))
        return Made(sources, origin, text, plan)

    # -- what it is made of -------------------------------------------------------------------------

    def _finer(self, grain: Grain, period: str) -> list[tuple[Source, Sentence]]:
        """The sentences of the finer summaries of a period, or of the notes of days that have none, in order.

        A week may have days of another month, which are told there.
        """
        found: list[tuple[Source, Sentence]] = []
        fine = FINER[grain]
        begin, end = calendar.bounds(grain, period)
        for child in self._leaves.children(grain, period):
            entry, order = (found[-1][1].entry + 1, len(found)) if found else (0, 0)
            made = None if fine is Grain.DAILY and self._leaves.is_short(child) else self._text_of(fine, child)
            if made is None:
                found += self._notes(child, entry, order) if fine is Grain.DAILY else []
                continue
            text, origin = made
            path, day = calendar.path_of(fine, child), calendar.bounds(fine, child)[1]
            found += [
                (Source(path), sentence)
                for sentence in sentences_in(path, fine, text, day, origin, self._plugins, entry, order)
                if begin <= sentence.day <= end
            ]
        return found

    def _text_of(self, grain: Grain, period: str) -> tuple[str, Origin] | None:
        """The text of a finer summary: the file's if a person edited it or it is current, else as it is to be."""
        info = self._leaves.summaries.get((grain, period))
        file = None if info is None else self._files.get(info.path)
        stands = self._leaves.stands(grain, period)
        if info is not None and file is not None and (stands or self._leaves.is_current(grain, period)):
            with _named(file.path):
                known = self._reader.text(file)
            if known.sha256 != info.sha256:
                raise Changed(f"{info.path} has changed meanwhile")
            return known.text, lowered(file.origin, front_of(known.raw))
        if info is not None and stands:
            raise Changed(f"{info.path} is gone")
        made = self.make(grain, period)
        if made is None:
            return None
        path = calendar.path_of(grain, period)
        with _named(path):
            return self._reader.cleared(path, made.text), made.origin

    def _notes(self, day: str, entry: int = 0, order: int = 0) -> list[tuple[Source, Sentence]]:
        """The sentences of a day's notes, in order; entries and places are counted on."""
        return [
            (source, replace(sentence, entry=entry + sentence.entry, order=order + sentence.order))
            for source, sentence in self._of_day(day)
        ]

    def _of_day(self, day: str) -> list[tuple[Source, Sentence]]:
        if day not in self._days:
            found: list[tuple[Source, Sentence]] = []
            for leaf in self._leaves.of(day):
                said = self._said(leaf, found[-1][1].entry + 1 if found else 0, len(found))
                found += [(Source(leaf.path, leaf.sha256), sentence) for sentence in said]
            self._days[day] = found
        return self._days[day]

    def _said(self, leaf: Leaf, entry: int, order: int) -> list[Sentence]:
        file = self._files.get(leaf.path)
        if file is None:
            raise Changed(f"{leaf.path} is gone")
        with _named(leaf.path):
            read = self._reader.read(file, LINKER, analysed=False)
        if read.sha256 != leaf.sha256:
            raise Changed(f"{leaf.path} has changed meanwhile")
        return sentences_of(Note(leaf.path, leaf.day, read.file.origin, read.sections, read.units), entry, order)
