"""Captures: sentences of finished turns that are worth keeping, appended to a file of their day.

What is kept is new: nothing that the memory or the day's captures say already, and so nothing that we put into the
conversation ourselves.  ``memory/captures/2026-03-04.md`` holds what the owner's turns and the agent said; what other
people said stands in ``memory/captures/2026-03-04-untrusted.md``, whose front matter says so.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from ..config.settings import Settings
from ..context import prose
from ..errors import OpenClawMemoryError, WorkspaceError
from ..ingest.notes import lower_trust
from ..ingest.scan import CAPTURES as FOLDER
from ..model import TRUSTED, Captured, CaptureReport, Origin, SearchHit, citation, joined
from ..system import atomic
from ..system.deadline import Deadline
from ..system.inert import without_turns
from ..text import analysis, calendar, speech
from ..text.dates import MONTHS
from ..text.front_matter import parse_front_matter
from ..text.lines import split_lines
from ..text.negation import negations
from ..text.sentences import sentence_spans
from ..text.withheld import without_private
from .novelty import sentences, tidied, worth

Role = Literal["user", "assistant"]
#: ``redact(path, text)`` takes secrets out of a text that is to be written; it keeps the number of lines.
Redact = Callable[[str, str], str]
#: Finds what the memory says about a sentence, by its words, within so many seconds.
Find = Callable[[str, float | None], Iterable[SearchHit]]
#: Reads the file of this absolute path into the index, within so many seconds.
Ingest = Callable[[str, float | None], object]

#: At most so many sentences of a turn are kept, and only those worth so much; so many of the best are looked up.
_MOST, _WORTH, _LOOKED_UP = 5, 0.5, 20
#: So many characters of a message are looked through, unless all of it is to be kept.
_READ = 100_000
#: How a speaker is named in such a sentence; nobody's own name is "The sender".
_USER, _ASSISTANT, _SENDER = "User: ", "Assistant: ", "The sender: "
_SPEAKER = re.compile(f"(?:{_USER}|{_ASSISTANT}|{_SENDER})")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Message:
    """What one side of a conversation said."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The messages of a finished turn, or a text that somebody gives by hand.

    ``origin`` is who sent it: what the owner or the agent says is kept as the agent's, anything else as untrusted.
    ``session`` and ``agent`` are told beside what is kept; ``now`` is when it was.
    """

    messages: Sequence[Message]
    session: str = ""
    agent: str = "main"
    origin: Origin = Origin.OWNER
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence as it would be written, behind ``- ``; ``key`` is equal for the same words."""

    text: str
    key: str
    score: float
    order: int


class Capturer:
    """Keeps what is worth it of the turns of one workspace; safe to use from several threads and processes.

    ``forgotten`` says of a text that it must not come back.
    """

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        redact: Redact,
        find: Find,
        ingest: Ingest,
        forgotten: Callable[[str], bool] | None = None,
    ) -> None:
        self._workspace = workspace
        self._zone = settings.consolidate.time_zone
        self._redact = redact
        self._find = find
        self._ingest = ingest
        self._forgotten = forgotten or (lambda text: False)

    def capture(self, turn: Turn, *, everything: bool = False, deadline: float | None = None) -> CaptureReport:
        """Write what of ``turn`` is worth keeping and new, and read it into the index.

        At most five sentences that are worth it, the best first, and then in the order in which they were said; with
        ``everything`` all but those that are written word for word already.  The same turn again adds nothing.
        ``deadline`` is in seconds: what is not looked up by then is not kept.  Raises
        :class:`~openclaw_memory.errors.WorkspaceError` when the file cannot be written,
        :class:`~openclaw_memory.errors.RedactionError` when secrets could not be taken out, and
        :class:`~openclaw_memory.errors.SettingsError` for an unknown time zone.
        """
        started = time.monotonic()
        until = Deadline.after(deadline)
        moment = calendar.now_in(self._zone, turn.now)
        day, trusted = moment.date().isoformat(), turn.origin in TRUSTED
        path = f"{FOLDER}/{day}.md" if trusted else f"{FOLDER}/{day}-untrusted.md"
        candidates, seen, rest = self._candidates(turn, path, trusted, everything)
        warnings: list[str] = []
        if not everything and any(len(message.text) > _READ for message in turn.messages):
            warnings.append(f"only the first {_READ:,} characters of a message are looked through")
        chosen = candidates
        if not everything:
            chosen, late = self._new(candidates, path, trusted, moment.date(), until)
            if late:
                warnings.append("not everything was looked up in time; what was not is not kept")
        rest = [*rest, *(one.text for one in candidates if one not in chosen)]
        captured = self._write(path, _heading(moment, turn), chosen, trusted, until.left()) if chosen else ()
        if captured:
            try:
                self._ingest(str(self._workspace / path), until.left())
            except OpenClawMemoryError as problem:
                warnings.append(f"written to {path}, but not read into the index yet: {problem}")
        return CaptureReport(
            captured=captured,
            path=path if captured else None,
            seen=seen,
            took_ms=(time.monotonic() - started) * 1000,
            warning=joined(warnings),
            not_kept=tuple(rest[:_LOOKED_UP]),
        )

    # -- what is worth it -----------------------------------------------------------------------------

    def _candidates(
        self, turn: Turn, path: str, trusted: bool, everything: bool
    ) -> tuple[list[_Candidate], int, list[str]]:
        """The sentences that may be kept, each once and in order; how many there were; those not worth it."""
        found: dict[str, _Candidate] = {}
        rest: list[str] = []
        seen = 0
        for message in turn.messages:
            # Only the end is cut off: what is private, or was put in, may begin before what would be left of it.
            text = message.text if everything else message.text[:_READ]
            # As a whole first: a key block has many lines.
            for sentence in sentences(self._redact(path, "\n".join(split_lines(without_private(text)))), everything):
                seen += 1
                score = worth(sentence, message.role)
                if not everything and score < _WORTH:
                    if not self._forgotten(sentence):
                        rest.append(tidied(self._redact(path, sentence)))
                    continue
                line = tidied(without_turns(self._redact(path, _attributed(sentence, message.role, trusted))))
                key = _key(line)
                if not key or self._forgotten(line) or self._forgotten(sentence):
                    continue
                found.setdefault(key, _Candidate(line, key, score, len(found)))
        return list(found.values()), seen, rest

    def _new(
        self, candidates: list[_Candidate], path: str, trusted: bool, today: date, until: Deadline
    ) -> tuple[list[_Candidate], bool]:
        """Those of the best candidates that say something new, in order; and whether time ran out.

        What was captured before counts among the sentences of its turn: else the same turn again would add its next
        best ones.  What other people said makes nothing known that the owner says.
        """
        written = [line.removeprefix("- ") for line in self._lines(path) if line.startswith("- ")]
        captured = {_key(line) for line in written}
        said = _Said()
        for line in written:
            said.add(line)
        kept: list[_Candidate] = []
        most = _MOST
        best = sorted(candidates, key=lambda one: (-one.score, one.order))
        for one in best[:_LOOKED_UP]:
            if most <= 0:
                break
            if until.passed:
                return sorted(kept, key=lambda one: one.order), True
            before = one.key in captured
            text = _unattributed(one.text)
            order, ordered = _order(text)
            done = False
            for hit in self._find(ordered if order else text, until.left()):
                if trusted and hit.origin not in TRUSTED:
                    continue
                where = _context(hit)
                for line in hit.snippet.split("\n"):
                    said.add(line, where)
                    before |= hit.path.startswith(f"{FOLDER}/") and _key(tidied(line)) == one.key
                    done |= bool(ordered) and hit.date == today and _key(tidied(line)) == _key(ordered)
            if done or (order and said.holds(ordered)):
                continue
            if before or not said.holds(text):
                most -= 1
                if not before:
                    kept.append(one)
                    said.add(one.text)
        return sorted(kept, key=lambda one: one.order), False

    # -- the file -------------------------------------------------------------------------------------

    def _write(
        self, path: str, heading: str, chosen: Sequence[_Candidate], trusted: bool, timeout: float | None
    ) -> tuple[Captured, ...]:
        """Append what the file does not have yet; what was appended."""
        file = self._workspace / path
        patience = atomic.LOCK_TIMEOUT if timeout is None else max(0.5, timeout)  # however little time is left
        with atomic.locked(self._workspace / FOLDER, patience, self._workspace):
            lines = self._lines(path)
            there = {_key(line.removeprefix("- ")) for line in lines if line.startswith("- ")}
            new = [one for one in chosen if one.key not in there]
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
            block += [f"- {one.text}" for one in new]
            # Once more, as one line may make a secret of the next.
            block = split_lines(self._redact(path, "\n".join(block)))
            unended = bool(lines) and not atomic.read(file, self._workspace).endswith((b"\n", b"\r"))
            atomic.append(file, "\n".join([*[""] * unended, *block, ""]), self._workspace)
        texts = [line.removeprefix("- ") for line in block[-len(new) :]]
        return tuple(
            Captured(said, one.score, citation(path, first + at, first + at))
            for at, (said, one) in enumerate(zip(texts, new, strict=True))
        )

    def _lines(self, path: str) -> list[str]:
        """The lines of a capture file; none when there is none."""
        file = self._workspace / path
        try:
            return split_lines(atomic.read(file, self._workspace).decode("utf-8", "replace"))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise WorkspaceError(f"{file}: cannot be read ({error.strerror or error}); make it readable") from error


@dataclass(frozen=True, slots=True)
class _Known:
    """A sentence by its terms, and those of its day and its heading, with which it may be told."""

    terms: frozenset[str]
    told_with: frozenset[str]
    negated: bool


class _Said:
    """What is known already."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, frozenset[str]], _Known] = {}
        self._keys: set[str] = set()

    def add(self, line: str, where: frozenset[str] = frozenset()) -> None:
        """Take in the sentences of a line that stands below headings and a day of the terms ``where``."""
        line = _unattributed(tidied(line))
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            if (sentence, where) not in self._known and (terms := frozenset(analysis.terms(sentence))):
                self._known[sentence, where] = _Known(terms, terms | where, bool(negations(sentence)))
                self._keys.add(_key(sentence))

    def holds(self, sentence: str) -> bool:
        """Whether something known has most of the words, all of the names and numbers, and "not" where this has it."""
        sentence = _unattributed(sentence)
        if _key(sentence) in self._keys:
            return True
        terms = frozenset(analysis.terms(sentence))
        if not terms:
            return False
        telling, negated = _telling(sentence), bool(negations(sentence))
        for known in self._known.values():
            if negated != known.negated or not telling <= known.told_with:
                continue
            if len(terms & known.told_with) < 0.8 * len(terms):
                continue
            # A short one is the same as another only if that is about as short.
            if len(terms) >= 4 or len(known.terms) <= len(terms) + 1:
                return True
        return False


def _context(hit: SearchHit) -> frozenset[str]:
    """Terms of the day and the heading of a hit: what was found is told with them."""
    days = [] if hit.date is None else [hit.date.isoformat(), MONTHS[hit.date.month - 1], prose.format_day(hit.date)]
    return frozenset(analysis.terms(" ".join([*days, hit.heading])))


def _heading(moment: datetime, turn: Turn) -> str:
    session, agent = _identifier(turn.session), _identifier(turn.agent)
    parts = [moment.strftime("%H:%M"), f"session {session}" if session else "", f"agent {agent}" if agent else ""]
    return "## " + " · ".join(part for part in parts if part)


def _identifier(text: str) -> str:
    """A host's name of something as plain words: no mark of Markdown or of ours is made of it."""
    plain = "".join(char if char.isalnum() or char in "-_.:@+/" else " " for char in text)
    return " ".join(plain.strip("_-").split())[:80].strip()


def _opening(day: str, trusted: bool) -> list[str]:
    title = [f"# Captured on {day}"]
    return title if trusted else ["---", f"origin: {Origin.UNTRUSTED.value}", "---", *title]


def _attributed(sentence: str, role: Role, trusted: bool) -> str:
    """``sentence`` with who says it where it speaks of its speaker or listener."""
    if not any(one.kind == "personal" for one in speech.find_phrases(sentence, ("personal",))):
        return sentence
    return (_ASSISTANT if role == "assistant" else _USER if trusted else _SENDER) + sentence


def _order(sentence: str) -> tuple[bool, str]:
    """Whether a sentence is an order with what it is about behind a colon, and what stands there."""
    head, _, rest = sentence.replace("：", ": ").partition(": ")
    return bool(rest) and (speech.requests(head) or "remember" in speech.phrase_kinds(head)), rest.strip()


def _unattributed(line: str) -> str:
    match = _SPEAKER.match(line)
    return line[match.end() :] if match else line


def _key(line: str) -> str:
    """What is equal for texts of the same words."""
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", _unattributed(line)).casefold()))


def _telling(sentence: str) -> frozenset[str]:
    """Terms without which a sentence says something else: of names inside it, and of numbers."""
    telling: list[str] = []
    for number, word in enumerate(sentence.split()):
        bare = word.strip(".,;:!?\"'()[]*_`“”")
        if any(map(str.isdigit, bare)) or (number and bare[:1].isupper()):
            telling += analysis.terms(bare)
    return frozenset(telling)
