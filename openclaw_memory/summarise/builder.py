"""Builder of summaries: read the notes or finer summaries of a period, choose sentences, render the document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import groupby

from ..config.settings import Settings
from ..errors import RedactionError
from ..ingest.notes import NoteReader, lower_trust
from ..ingest.scan import Unreadable
from ..ingest.summary_files import DATED, read_front
from ..knowledge.versions import MENTIONS
from ..model import TRUSTED, Grain, Origin, SourceFile, SummaryPlan
from ..plugins import redact
from ..plugins.manager import Plugins
from ..records import NamedTuple, dataclass
from ..text import analysis, calendar
from ..text.markdown import UNIT_TOKENS
from .changes import ChangedValues
from .document import LINKER, Source, parse_sentences, render
from .inventory import GRAINS, Inventory, PeriodKey
from .sentences import Sentence, extract_sentences, format_line, line_tokens
from .summary import BUDGETS, VERSION, summarise

#: A sentence with the note or summary that it was read from.
_SourcedSentence = tuple[Source, Sentence]


class SourceChanged(Exception):
    """A file differs from what the index holds; its summary is left to the next run."""


class SourceUnreadable(Exception):
    """A file cannot be read; its summary waits until a person has mended that.  Names the file and the reason."""


class BuiltSummary(NamedTuple):
    """The summary of a period: its sources, and the text of its file."""

    sources: tuple[Source, ...]
    origin: Origin
    text: str
    plan: SummaryPlan


def budget_for(settings: Settings, grain: Grain) -> float:
    """Return the length that a summary of ``grain`` may have, in tokens."""
    return float(settings.consolidate.budgets.get(grain.value, BUDGETS[grain]))


def fingerprints(settings: Settings) -> dict[Grain, str]:
    """Hash for each grain everything but the sources that its summaries depend on."""
    versions = [analysis.ANALYSIS_VERSION, MENTIONS, VERSION, redact.VERSION]
    common = [UNIT_TOKENS, versions, sorted(settings.redaction.allow)]
    return {
        grain: hashlib.sha256(json.dumps([budget_for(settings, grain), common]).encode("utf-8")).hexdigest()[:16]
        for grain in GRAINS
    }


@contextmanager
def _naming_unreadable(path: str) -> Iterator[None]:
    """Raise :class:`SourceUnreadable` with the path of a file that cannot be read."""
    try:
        yield
    except (Unreadable, RedactionError) as problem:
        reason = problem.reason if isinstance(problem, Unreadable) else problem
        raise SourceUnreadable(f"{path}: {reason}") from problem


@dataclass(frozen=True, slots=True)
class SummaryBuilder:
    """Builds the summaries of one run, each at most once.

    Methods that read files raise :class:`SourceChanged` and :class:`SourceUnreadable`.
    """

    settings: Settings
    reader: NoteReader
    plugins: Plugins
    inventory: Inventory
    files: Mapping[str, SourceFile]
    changed: ChangedValues
    _built: dict[PeriodKey, BuiltSummary | None] = field(default_factory=dict)
    #: Sentences by day; entries and places are counted from 0.
    _days: dict[str, list[_SourcedSentence]] = field(default_factory=dict)

    def build(self, key: PeriodKey) -> BuiltSummary | None:
        """Build a period's summary from its notes, or from finer summaries as they are or will be written.

        Returns ``None`` where no sentence remains, and for a day whose summary would be no shorter than its notes.
        """
        if key not in self._built:
            self._built[key] = self._build(key)
        return self._built[key]

    def _build(self, key: PeriodKey) -> BuiltSummary | None:
        grain, period = key
        below = self._read_day(period) if grain is Grain.DAILY else self._read_finer(key)
        if any(sentence.origin in TRUSTED for _, sentence in below):
            below = [(source, sentence) for source, sentence in below if sentence.origin in TRUSTED]
        sentences = [sentence for _, sentence in below]
        grows = grain.value not in self.settings.consolidate.budgets
        summary = summarise(sentences, grain, budget_for(self.settings, grain), changed=self.changed, grows=grows)
        chosen = summary.sentences()
        if not chosen:
            return None
        sources = tuple(source for source, _ in groupby(source for source, _ in below))
        origin = max((sentence.origin for sentence in sentences), key=list(Origin).index)
        plan = SummaryPlan(
            path=calendar.path_of(grain, period),
            grain=grain,
            period=period,
            sources=len(sources),
            sentences=len(chosen),
            tokens=sum(line_tokens(format_line(sentence, grain in DATED)) for sentence in chosen),
            source_tokens=sum(line_tokens(format_line(sentence, False)) for sentence in sentences),
            groups=summary.groups,
        )
        if grain is Grain.DAILY and plan.tokens >= plan.source_tokens:
            return None
        text = render(grain, period, summary, sources, origin, self.inventory.digest(key))
        return BuiltSummary(sources, origin, text, plan)

    def _read_finer(self, key: PeriodKey) -> list[_SourcedSentence]:
        """Read the finer summaries of a period, or the notes of days that have none, in order.

        The days of a week that belong to another month are left to that month.
        """
        sentences: list[_SourcedSentence] = []
        begin, end = calendar.bounds(*key)
        for child in self.inventory.children.get(key, ()):
            # Some sentences of a week may belong to another month, so their number says nothing.
            entry, order = (sentences[-1][1].entry + 1, sentences[-1][1].order + 1) if sentences else (0, 0)
            is_day = child[0] is Grain.DAILY
            summary = None if self.inventory.is_short(child) else self._summary_text(child)
            if summary is not None:
                text, origin = summary
                path, day = calendar.path_of(*child), calendar.bounds(*child)[1]
                sentences += [
                    (Source(path), sentence)
                    for sentence in parse_sentences(path, child[0], text, day, origin, self.plugins, entry, order)
                    if begin <= sentence.day <= end
                ]
            elif is_day:
                sentences += [
                    (source, replace(sentence, entry=entry + sentence.entry, order=order + sentence.order))
                    for source, sentence in self._read_day(child[1])
                ]
        return sentences

    def _summary_text(self, key: PeriodKey) -> tuple[str, Origin] | None:
        """Read a finer summary if it is current or a person's, else build it; ``None`` where there is nothing."""
        info = self.inventory.summaries.get(key)
        file = None if info is None else self.files.get(info.path)
        authoritative = self.inventory.is_authoritative(key)
        if info is not None and file is not None and (authoritative or self.inventory.is_current(key)):
            with _naming_unreadable(file.path):
                read = self.reader.text(file)
            if read.raw.sha256 != info.sha256:
                raise SourceChanged(f"{info.path} has changed meanwhile")
            return "\n".join(read.lines), lower_trust(file.origin, read_front(read.raw.text))
        if info is not None and authoritative:
            raise SourceChanged(f"{info.path} is gone")
        built = self.build(key)
        if built is None:
            return None
        with _naming_unreadable(built.plan.path):
            return self.reader.readable_text(built.plan.path, built.text), built.origin

    def _read_day(self, day: str) -> list[_SourcedSentence]:
        """Read the sentences of a day's notes, in order."""
        if day not in self._days:
            sentences: list[_SourcedSentence] = []
            for note in self.inventory.notes_of(day):
                file = self.files.get(note.path)
                if file is None:
                    raise SourceChanged(f"{note.path} is gone")
                with _naming_unreadable(note.path):
                    read = self.reader.read(file, LINKER, analysed=False)
                if read.sha256 != note.sha256:
                    raise SourceChanged(f"{note.path} has changed meanwhile")
                entry = sentences[-1][1].entry + 1 if sentences else 0
                content = (read.file.origin, read.sections, read.units)
                extracted = extract_sentences(note.path, note.day, *content, entry, len(sentences))
                sentences += [(Source(note.path, note.sha256), sentence) for sentence in extracted]
            self._days[day] = sentences
        return self._days[day]
