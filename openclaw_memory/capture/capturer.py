"""Append the sentences of finished turns that are worth keeping to a file of their day.

Kept sentences are new: neither the memory nor the day's captures say them already, so nothing is kept that this package
itself put into the conversation.  ``memory/captures/2026-03-04.md`` holds sentences of the owner and the agent; those
of other people stand in ``memory/captures/2026-03-04-untrusted.md``, whose front matter says so.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from .. import patterns as re
from ..config.settings import Settings
from ..context import prose
from ..errors import OpenClawMemoryError, WorkspaceError
from ..ingest.notes import lower_trust
from ..ingest.scan import CAPTURES as FOLDER
from ..model import TRUSTED, CapturedSentence, CaptureReport, Origin, SearchHit, citation, joined
from ..records import NamedTuple, dataclass
from ..system import atomic
from ..system.deadline import Deadline
from ..system.sanitize import sanitize_turns
from ..text import analysis, calendar, speech
from ..text.dates import MONTHS
from ..text.front_matter import parse_front_matter
from ..text.lines import split_lines
from ..text.negation import negations
from ..text.sentences import sentence_spans
from ..text.withheld import without_private
from .scoring import score_sentence, sentences, split_request, tidy

Role = Literal["user", "assistant"]
#: ``redact(path, text)`` takes secrets out of a text that is to be written; it keeps the number of lines.
Redact = Callable[[str, str], str]
#: ``find(sentence, seconds)`` returns the hits of its words.
Find = Callable[[str, float | None], Iterable[SearchHit]]
#: ``ingest(path, seconds)`` reads the file of this absolute path into the index.
Ingest = Callable[[str, float | None], object]

#: Sentences of a turn that are kept at most, the least score of one, and how many of the best are looked up.
_MAX_KEPT, _MIN_SCORE, _MAX_LOOKED_UP = 5, 0.5, 20
#: Characters of a message that are looked through, unless all of it is to be kept.
_READ_CHARS = 100_000
#: Names of speakers before personal sentences; no person is called "The sender".
_USER, _ASSISTANT, _SENDER = "User: ", "Assistant: ", "The sender: "


@dataclass(frozen=True, slots=True)
class Message:
    """A message of one side of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages of a finished turn, or a text given by hand.

    ``origin`` is the sender: sentences of the owner or the agent are kept as the agent's, others as untrusted.
    ``session``, ``agent`` and the time ``now`` are written above them.
    """

    messages: Sequence[Message]
    session: str = ""
    agent: str = "main"
    origin: Origin = Origin.OWNER
    now: datetime | None = None


class _Candidate(NamedTuple):
    """A sentence as it would be written behind ``- ``; ``key`` is equal for the same words, ``order`` its place."""

    text: str
    key: str
    score: float
    order: int


@dataclass(frozen=True, slots=True)
class Capturer:
    """Keeps sentences of the turns of one workspace; safe to use from several threads and processes.

    ``forgotten(text)`` is true of a text that must not come back.
    """

    workspace: Path
    settings: Settings
    redact: Redact
    find: Find
    ingest: Ingest
    forgotten: Callable[[str], bool] = lambda text: False

    def capture(self, turn: Turn, *, everything: bool = False, deadline: float | None = None) -> CaptureReport:
        """Write the sentences of ``turn`` that are worth keeping and new, and read them into the index.

        The five best are kept, in the order of the turn; with ``everything`` all but those that are written word for
        word already.  The same turn again adds nothing.  A sentence that is not looked up within ``deadline`` seconds
        is not kept.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the file cannot be written,
        :class:`~openclaw_memory.errors.RedactionError` when secrets could not be taken out, and
        :class:`~openclaw_memory.errors.SettingsError` for an unknown time zone.
        """
        started = time.monotonic()
        until = Deadline.after(deadline)
        moment = calendar.now_in(self.settings.consolidate.time_zone, turn.now)
        day, trusted = moment.date().isoformat(), turn.origin in TRUSTED
        path = f"{FOLDER}/{day}.md" if trusted else f"{FOLDER}/{day}-untrusted.md"
        candidates, seen, rest = self._candidates(turn, path, trusted, everything)
        warnings: list[str] = []
        if not everything and any(len(message.text) > _READ_CHARS for message in turn.messages):
            warnings.append(f"only the first {_READ_CHARS:,} characters of a message are looked through")
        chosen = candidates
        if not everything:
            chosen, late = self._select_new(candidates, path, trusted, moment.date(), until)
            if late:
                warnings.append("not everything was looked up in time; what was not is not kept")
        rest += [candidate.text for candidate in candidates if candidate not in chosen]
        captured = self._write(path, _heading(moment, turn), chosen, trusted, until.left()) if chosen else ()
        if captured:
            try:
                self.ingest(str(self.workspace / path), until.left())
            except OpenClawMemoryError as problem:
                warnings.append(f"written to {path}, but not read into the index yet: {problem}")
        return CaptureReport(
            captured=captured,
            path=path if captured else None,
            seen=seen,
            took_ms=(time.monotonic() - started) * 1000,
            warning=joined(warnings),
            not_kept=tuple(rest[:_MAX_LOOKED_UP]),
        )

    # -- what is worth keeping ------------------------------------------------------------------------

    def _candidates(
        self, turn: Turn, path: str, trusted: bool, everything: bool
    ) -> tuple[list[_Candidate], int, list[str]]:
        """Return the sentences that may be kept, each once and in order, the count of all, and those not worth it."""
        by_key: dict[str, _Candidate] = {}
        rest: list[str] = []
        seen = 0
        for message in turn.messages:
            # Only the end is cut off: a private or inserted block may begin before the rest of it.
            text = message.text if everything else message.text[:_READ_CHARS]
            # As a whole first: a key block has many lines.
            for sentence in sentences(self.redact(path, "\n".join(split_lines(without_private(text)))), everything):
                seen += 1
                if self.forgotten(sentence):
                    continue
                score = score_sentence(sentence, message.role)
                if not everything and score < _MIN_SCORE:
                    rest.append(tidy(self.redact(path, sentence)))
                    continue
                line = tidy(sanitize_turns(self.redact(path, _attribute(sentence, message.role, trusted))))
                if (key := _key(line)) and not self.forgotten(line):
                    by_key.setdefault(key, _Candidate(line, key, score, len(by_key)))
        return list(by_key.values()), seen, rest

    def _select_new(
        self, candidates: list[_Candidate], path: str, trusted: bool, today: date, until: Deadline
    ) -> tuple[list[_Candidate], bool]:
        """Return the best candidates that say something new, in order, and true if time ran out.

        Sentences that were captured before count among those of their turn: else the same turn again would add its next
        best ones.  A sentence of other people does not keep the owner from saying the same.
        """
        written = self._written(path)
        captured = {_key(line) for line in written}
        known_sentences = _KnownSentences()
        for line in written:
            known_sentences.add(line)
        new: list[_Candidate] = []
        room, late = _MAX_KEPT, False
        for candidate in sorted(candidates, key=lambda candidate: (-candidate.score, candidate.order))[:_MAX_LOOKED_UP]:
            late = until.passed
            if room <= 0 or late:
                break
            captured_before = candidate.key in captured
            text = _without_speaker(candidate.text)
            is_request, content = split_request(text)
            is_noted = False
            for hit in self.find(content if is_request else text, until.left()):
                if trusted and hit.origin not in TRUSTED:
                    continue
                context = _context(hit)
                for line in hit.snippet.split("\n"):
                    known_sentences.add(line, context)
                    key = _key(tidy(line))
                    captured_before |= hit.path.startswith(f"{FOLDER}/") and key == candidate.key
                    is_noted |= bool(content) and hit.date == today and key == _key(content)
            if is_noted or (is_request and known_sentences.contains(content)):
                continue
            if captured_before:
                room -= 1
            elif not known_sentences.contains(text):
                room -= 1
                new.append(candidate)
                known_sentences.add(candidate.text)
        return sorted(new, key=lambda candidate: candidate.order), late and room > 0

    # -- the file -------------------------------------------------------------------------------------

    def _write(
        self, path: str, heading: str, chosen: Sequence[_Candidate], trusted: bool, timeout: float | None
    ) -> tuple[CapturedSentence, ...]:
        """Append the sentences that the file does not have yet, and return them."""
        file = self.workspace / path
        timeout = atomic.LOCK_TIMEOUT if timeout is None else max(0.5, timeout)  # however little time is left
        with atomic.locked(self.workspace / FOLDER, timeout, self.workspace):
            lines = self._lines(path)
            there = {_key(line) for line in self._written(path)}
            new = [candidate for candidate in chosen if candidate.key not in there]
            if not new:
                return ()
            if lines and not trusted and lower_trust(Origin.AGENT, parse_front_matter(lines).values) is Origin.AGENT:
                raise WorkspaceError(
                    f"{file}: does not say 'origin: untrusted' in its front matter any more; put that back, or move "
                    "the file"
                )
            block = [] if lines else _opening(file.stem[:10], trusted)
            last = next((line for line in reversed(lines) if line.startswith("#")), None)
            if last != heading or not lines[-1].startswith("- "):
                block += ["", heading, ""]
            first = len(lines) + len(block) + 1
            block += [f"- {candidate.text}" for candidate in new]
            # Once more, as one line may make a secret of the next.
            block = split_lines(self.redact(path, "\n".join(block)))
            unended = bool(lines) and not atomic.read_bytes(file, self.workspace).endswith((b"\n", b"\r"))
            atomic.append_text(file, "\n".join([*[""] * unended, *block, ""]), self.workspace)
        return tuple(
            CapturedSentence(line.removeprefix("- "), candidate.score, citation(path, number, number))
            for number, (line, candidate) in enumerate(zip(block[-len(new) :], new, strict=True), first)
        )

    def _written(self, path: str) -> list[str]:
        """Return the sentences of a capture file."""
        return [line.removeprefix("- ") for line in self._lines(path) if line.startswith("- ")]

    def _lines(self, path: str) -> list[str]:
        """Return the lines of a capture file; none when there is none."""
        file = self.workspace / path
        try:
            return split_lines(atomic.read_bytes(file, self.workspace).decode("utf-8", "replace"))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise WorkspaceError(f"{file}: cannot be read ({error.strerror or error}); make it readable") from error


class _KnownSentence(NamedTuple):
    """The terms of a sentence, also with those of its day and its heading, and true if it is negated."""

    terms: frozenset[str]
    with_context: frozenset[str]
    negated: bool


class _KnownSentences:
    """Sentences that are known already."""

    def __init__(self) -> None:
        self._sentences: dict[tuple[str, frozenset[str]], _KnownSentence] = {}
        self._keys: set[str] = set()

    def add(self, line: str, context: frozenset[str] = frozenset()) -> None:
        """Add the sentences of a line that stands below headings and a day of the terms ``context``."""
        line = _without_speaker(tidy(line))
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            if (sentence, context) not in self._sentences and (terms := frozenset(analysis.terms(sentence))):
                self._sentences[sentence, context] = _KnownSentence(terms, terms | context, bool(negations(sentence)))
                self._keys.add(_key(sentence))

    def contains(self, sentence: str) -> bool:
        """Return true if a known sentence has most of the words, all names and numbers, and as much negation."""
        sentence = _without_speaker(sentence)
        if _key(sentence) in self._keys:
            return True
        terms = frozenset(analysis.terms(sentence))
        names, negated = _names_and_numbers(sentence), bool(negations(sentence))
        return bool(terms) and any(
            negated == other.negated
            and names <= other.with_context
            and len(terms & other.with_context) >= 0.8 * len(terms)
            # A short one is the same as another only if that is about as short.
            and (len(terms) >= 4 or len(other.terms) <= len(terms) + 1)
            for other in self._sentences.values()
        )


def _context(hit: SearchHit) -> frozenset[str]:
    """Return the terms of the day and the heading of a hit."""
    days = [] if hit.date is None else [hit.date.isoformat(), MONTHS[hit.date.month - 1], prose.format_day(hit.date)]
    return frozenset(analysis.terms(" ".join([*days, hit.heading])))


def _heading(moment: datetime, turn: Turn) -> str:
    session, agent = _identifier(turn.session), _identifier(turn.agent)
    parts = [moment.strftime("%H:%M"), f"session {session}" if session else "", f"agent {agent}" if agent else ""]
    return "## " + " · ".join(filter(None, parts))


def _identifier(text: str) -> str:
    """Return a host's identifier as plain words, without any mark of Markdown or of this package."""
    plain = "".join(char if char.isalnum() or char in "-_.:@+/" else " " for char in text)
    return " ".join(plain.strip("_-").split())[:80].strip()


def _opening(day: str, trusted: bool) -> list[str]:
    title = [f"# Captured on {day}"]
    return title if trusted else ["---", f"origin: {Origin.UNTRUSTED.value}", "---", *title]


def _attribute(sentence: str, role: Role, trusted: bool) -> str:
    """Return ``sentence`` behind its speaker's name if it speaks of its speaker or listener."""
    if not any(match.kind == "personal" for match in speech.find_phrases(sentence, ("personal",))):
        return sentence
    return (_ASSISTANT if role == "assistant" else _USER if trusted else _SENDER) + sentence


def _without_speaker(line: str) -> str:
    return line.removeprefix(_USER).removeprefix(_ASSISTANT).removeprefix(_SENDER)


def _key(line: str) -> str:
    """Return a text that is equal for lines of the same words."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", _without_speaker(line)).casefold()))


def _names_and_numbers(sentence: str) -> frozenset[str]:
    """Return the terms without which a sentence says something else: of names inside it, and of numbers."""
    bare = (word.strip(".,;:!?\"'()[]*_`“”") for word in sentence.split())
    kept = [word for n, word in enumerate(bare) if any(map(str.isdigit, word)) or (n and word[:1].isupper())]
    return frozenset(term for word in kept for term in analysis.terms(word))
