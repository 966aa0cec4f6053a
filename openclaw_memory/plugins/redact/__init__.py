"""Keeps secrets out of the index: private keys, tokens of providers, passwords behind a label, account numbers.

A secret becomes ``[redacted:<type>]``; line feeds are never added or removed, so line numbers stay exact.  What is
looked for is told by shape, by a label before it in some thirty languages, or by disorder that no word has; words
about secrets stay.  Every pattern is linear in the length of its line.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from ...hookspecs import hookimpl
from . import below, labels, opaque, seeds, shapes, values, vocabulary
from .keys import redact_key_blocks
from .plain import Plain, joined, plain, plain_text
from .shapes import rules as rules

if TYPE_CHECKING:
    from ...model import Unit

#: Grows when more or less is redacted: an index of another version is read again.
VERSION = 10

#: A place in a line: first character, the one after the last, and the type of the secret there.
Span = tuple[int, int, str]

#: Why a line is looked at.
_LABEL, _TOKEN, _NUMBER, _PHRASE, _SIGN = 1, 2, 4, 8, 16

#: Of a longer line nobody has wrapped the end.
_LONGEST_WRAPPED = 400

#: A note takes two; more are needed only where secrets are glued to one another.
_PASSES = 16

_RUN = b"x" * 15  # the shortest token that is told by its shape alone
_RUNS = bytes(0x78 if chr(c) in "+/=_-" or (chr(c).isascii() and chr(c).isalnum()) else 0x20 for c in range(256))
_CAPITALS = bytes(c - 0x20 if 0x61 <= c <= 0x7A else c for c in range(256))
_NUMBERS = (b"0000 0000 0000 0", b"0" * 15, b"0000 000000 0", b"0000.0000.0000")
_IBAN = b"AA00"

_BROKEN_NUMBER = re.compile(r"\d[ -]?\n[ \t>]*\d")
_HEAD = re.compile(r"[ \t]*(?:>[ \t]*)*")
_ENTRY = re.compile(r"(?:[-*+#|>]|\d{1,3}[.)])[ \t]|[|`~]|[-=]{3}")
_TAIL_RUN = re.compile(r"[\w+/=.-]{4,200}$", re.ASCII)
_HEAD_RUN = re.compile(r"[\w+/=.-]{4,200}", re.ASCII)
_REST = re.compile(r"(?:(?<=[A-Za-z0-9_-])[A-Za-z0-9_-]+)?")
_MARK_END = re.compile(r"\[redacted:[\w-]{1,40}\]$")


def redact_lines(lines: Iterable[str], allow: Collection[str] = ()) -> list[str]:
    """The lines of a document with its secrets replaced, but those in ``allow``; as many come out as went in.

    Works on a whole document because a private key, the header of a table, or a value below its label spans lines.
    What was hidden beside a secret shows once that is gone, so the document is read again until nothing changes.
    """
    before = list(lines)
    for _ in range(_PASSES):
        after = _redact_once(before, allow)
        if after == before:
            break
        before = after
    return before


def _redact_once(lines: list[str], allow: Collection[str]) -> list[str]:
    out = [line.replace("\n", " ") for line in lines] if any("\n" in line for line in lines) else list(lines)
    redact_key_blocks(out)
    whole = "\n".join(out)
    found = _candidates(whole)
    _redact_words(out, allow)
    tokens = [at for at, why in found.items() if why & _TOKEN]
    for at in tokens:
        _redact_split(out, at - 1, allow)
        _redact_split(out, at, allow)
    for at, why in found.items():
        if why & _LABEL:
            _redact_columns(out, at, allow)
        head = _is_head(out, at)
        if why & _TOKEN and any(map(opaque.is_data, out[max(0, at - 1) : at + 1])):
            why &= ~_TOKEN
        line = plain(out[at], at)
        spans = _spans(line.text, why, head)
        _replace_in(out, line, spans, allow)
        if why & (_LABEL | _NUMBER) or (why & _SIGN and out[at].endswith("\\")):
            _redact_wrapped(out, at, why, allow)
        if why & _LABEL:
            _redact_below(out, at, allow)
    for at in tokens:
        _redact_rest(out, at, allow)
        _redact_rest(out, at + 1, allow)
    return [before if after == line else after for before, line, after in zip(lines, lines, out, strict=True)]


def _candidates(whole: str) -> dict[int, int]:
    """The lines that may hold a secret, in order, and what may be there: a label, a token, a number."""
    seen = plain_text(whole)
    low = _lower(seen)
    seen_labels = list(vocabulary.places(low))
    announced = [end for end, is_label in seen_labels if is_label]
    signs = [*(end for end, is_label in seen_labels if not is_label), *labels.unannounced(seen)]
    raw = seen.encode("latin-1", "replace")
    classes = raw.translate(opaque.CLASSES)
    runs, tokens = raw.translate(_RUNS), []
    for start in _found(runs, _RUN):
        # A token without a digit is rarer than an identifier of that length.
        end = runs.find(b" ", start)
        if classes.find(b"0", start, end if end >= 0 else None) >= 0:
            tokens.append(start)
    numbers = [start for number in (*_NUMBERS, *opaque.person_forms()) for start in _found(classes, number)]
    numbers += _found(raw.translate(_CAPITALS).translate(opaque.CLASSES), _IBAN)
    numbers += [match.start() for match in _BROKEN_NUMBER.finditer(seen)]
    phrases = list(seeds.places(seen))
    if not (seen_labels or signs or tokens or numbers or phrases):
        return {}
    starts = [0, *accumulate(len(line) + 1 for line in seen.split("\n"))]
    found: dict[int, int] = {}
    for why, places in ((_LABEL, announced), (_SIGN, signs), (_TOKEN, tokens), (_NUMBER, numbers), (_PHRASE, phrases)):
        for place in places:
            at = bisect_right(starts, place) - 1
            found[at] = found.get(at, 0) | why
    return dict(sorted(found.items()))


def _found(text: bytes, what: bytes) -> Iterator[int]:
    """Where ``what`` begins in ``text``, once in each run of what is no space."""
    at = text.find(what)
    while at >= 0:
        yield at
        end = text.find(b" ", at + len(what))
        at = -1 if end < 0 else text.find(what, end)


def _lower(text: str) -> str:
    """``text`` in small letters, character by character, so that places stay."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _spans(line: str, why: int, head: bool = False) -> list[Span]:
    """All secrets of a line, those of known shapes first."""
    low = _lower(line)
    found = list(shapes.spans(line, low))
    if why & _NUMBER:
        found += opaque.account_numbers(line)
        found += opaque.person_numbers(line)
    # Beside a label in the head of a table stands the next label.
    if why & (_LABEL | _SIGN) and not head:
        found += labels.labelled(line, low)
    if why & _TOKEN:
        found += opaque.bare_tokens(line)
    if why & _PHRASE:
        found += seeds.in_line(line)
    return found


def _replace_in(lines: list[str], read: Plain, spans: Iterable[Span], allow: Collection[str]) -> None:
    """Replace what is at ``spans`` of lines as they were ``read``, in place."""
    by_line: dict[int, list[Span]] = {}
    for start, end, kind in spans:
        if read.text[start:end] not in allow:
            for line, first, last in read.spans(start, end):
                by_line.setdefault(line, []).append((first, last, kind))
    for line, several in by_line.items():
        lines[line] = _replaced(lines[line], several, allow)


def _redact_wrapped(lines: list[str], at: int, why: int, allow: Collection[str]) -> None:
    """Redact what begins on line ``at``, or is announced there, and goes on in the next, as a mail or a scan wraps it."""
    if at + 1 >= len(lines) or len(lines[at]) > _LONGEST_WRAPPED or not (tail := lines[at].rstrip(" \t*_`")):
        return
    goes_on = tail[-1] == "\\"  # as a command does
    following = lines[at + 1].strip(" \t>")
    if not following or (not goes_on and (tail[-1] in ".!?;|:" or _ENTRY.match(following))):
        return
    first, second = plain(tail.removesuffix("\\"), at), plain(lines[at + 1][:_LONGEST_WRAPPED], at + 1)
    head = _HEAD.match(second.text).end()  # type: ignore[union-attr]
    second = Plain(second.text[head:], second.places[head:])
    both = joined(first, second, " ")
    behind = len(first.text) + 1
    _replace_in(lines, both, [span for span in _spans(both.text, why & ~_TOKEN) if span[1] > behind], allow)


def _replaced(line: str, spans: Iterable[Span], allow: Collection[str]) -> str:
    """``line`` with what is at ``spans`` replaced; of two that overlap the first in the list names the whole."""
    joined: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in sorted(
        # No half of a token stays behind.
        (start, _REST.match(line, end).end(), rank, kind)  # type: ignore[union-attr]
        for rank, (start, end, kind) in enumerate(spans)
        if start < end and line[start:end] not in allow and "[redacted:" not in line[max(0, start - 10) : end]
    ):
        if joined and start < joined[-1][1]:
            first, last, best, name = joined.pop()
            joined.append((first, max(end, last), *min((best, name), (rank, kind))))
        else:
            joined.append((start, end, rank, kind))
    parts: list[str] = []
    copied = 0
    for start, end, _, kind in joined:
        parts += [line[copied:start], f"[redacted:{kind}]"]
        copied = end
    return "".join([*parts, line[copied:]]) if parts else line


def _is_head(lines: list[str], at: int) -> bool:
    """Whether a line is the head of a table."""
    under = lines[at + 1] if "|" in lines[at] and at + 1 < len(lines) else ""
    return "--" in under and not under.strip(" \t|:->")


def _redact_columns(lines: list[str], at: int, allow: Collection[str]) -> None:
    """Redact the cells below the heads that are labels, such as ``Password``, in place."""
    for line, span in below.columns(lines, at):
        lines[line] = _replaced(lines[line], [span], allow)


def _redact_words(lines: list[str], allow: Collection[str]) -> None:
    """Redact seed phrases that stand one word a line, in place."""
    for first, last in seeds.below(lines):
        for at in range(first, last):
            lines[at] = _replaced(lines[at], [(*seeds.bare(lines[at]), "seed-phrase")], allow)


def _redact_below(lines: list[str], at: int, allow: Collection[str]) -> None:
    """Redact the value that stands below its label on line ``at``, or answers the question there, in place."""
    how = below.announces(lines[at])
    if not how:
        return
    first = plain(lines[at].rstrip(), at)
    first = Plain(text := first.text.rstrip(" \t:：=>?？|\"'`*_)]"), first.places[: len(text)])
    for i in range(at + 1, min(at + 5, len(lines))):
        if lines[i].strip(" \t>").startswith(("```", "~~~")):
            how = "fence"
        elif lines[i].strip(" \t>"):
            if len(lines[i]) > _LONGEST_WRAPPED or (how == "short" and i > at + 1 and not lines[at].startswith("#")):
                break
            kind = vocabulary.announced(text)
            if not (kind or how == "question") or opaque.is_data(lines[i]):
                break
            for n, several in enumerate(below.listed(lines[i : i + 100], kind), i):
                lines[n] = _replaced(lines[n], several, allow)
            second = plain(lines[i], i)
            if below.is_chat(first.text) and below.is_chat(second.text):
                how = "question"
            if below.is_stamp(second.text):
                continue
            head = below.content(second.text, how in ("question", "chat"))
            both = joined(first, Plain(second.text[head:], second.places[head:]), ": ")
            behind = len(text) + 2
            before = lines[i]
            low = _lower(both.text)
            shaped = [span for span in shapes.spans(both.text, low) if span[0] >= behind]
            for span in labels.labelled(both.text, low):
                if span[0] >= behind and (
                    how == "question" or below.is_all(both.text[behind:], span[0] - behind, span[1] - behind, how)
                ):
                    _replace_in(lines, both, [*shaped, span], allow)
            if how == "question" and kind in ("password", "pin") and (found := labels.answer(second.text[head:])):
                _replace_in(lines, both, [(found[0] + behind, found[1] + behind, found[2])], allow)
            if how != "question" or lines[i] != before:
                break


def _redact_split(lines: list[str], at: int, allow: Collection[str]) -> None:
    """Redact a token that begins at the end of line ``at`` and goes on in the next, in place."""
    if not 0 <= at < len(lines) - 1:
        return
    tail, rest = _TAIL_RUN.search(lines[at].rstrip()), _head_run(lines[at + 1])
    if tail is None or rest is None or any(shapes.spans(text[0], _lower(text[0])) for text in (tail, rest)):
        return
    joined = tail[0] + rest[0]
    for start, end, kind in shapes.spans(joined, _lower(joined)):
        if start < len(tail[0]) < end and joined[start:end] not in allow:
            lines[at] = _replaced(lines[at], [(tail.start() + start, tail.end(), kind)], allow)
            stop = rest.start() + end - len(tail[0])
            lines[at + 1] = _replaced(lines[at + 1], [(rest.start(), stop, kind)], allow)
            return


def _redact_rest(lines: list[str], at: int, allow: Collection[str]) -> None:
    """Redact line ``at`` if it is what is left of a token whose beginning was known by itself, in place."""
    if 0 < at < len(lines) and _MARK_END.search(lines[at - 1].rstrip()) and (rest := _head_run(lines[at])):
        if rest.end() == len(lines[at].rstrip()) and values.is_disorderly(rest[0]):
            lines[at] = _replaced(lines[at], [(*rest.span(), "token")], allow)


def _head_run(line: str) -> re.Match[str] | None:
    return _HEAD_RUN.match(line, _HEAD.match(line).end())  # type: ignore[union-attr]


def redact_text(text: str, allow: Collection[str] = ()) -> str:
    """``text`` with its secrets replaced and its line feeds where they were."""
    lines = text.split("\n")
    if "PRIVATE KEY" in text or "Private-Lines" in text or _candidates(text) or any(seeds.below(lines)):
        return "\n".join(redact_lines(lines, allow) if allow else redact_lines(lines))
    return text


class Redaction:
    """The built-in plugin; ``allow`` are texts that are no secrets, whatever they look like."""

    def __init__(self, allow: Collection[str] = ()) -> None:
        self._allow = (frozenset(allow),) if allow else ()
        self._file = threading.local()

    def redact(self, text: str) -> str:
        """``text`` with its secrets replaced."""
        return redact_text(text, *self._allow)

    @hookimpl
    def openclaw_memory_prepare_lines(self, lines: list[str]) -> list[str] | None:
        """Redact a whole file: only here is a key block of many lines seen as one."""
        redacted = redact_lines(lines, *self._allow)
        self._file.text = "\n".join(redacted)
        return None if redacted == lines else redacted

    @hookimpl
    def openclaw_memory_prepare_unit(self, unit: Unit) -> Unit | None:
        """Redact a unit's text and what is indexed of it; ``None`` when there is nothing to redact."""
        text = self._redacted(unit.text)
        indexed = None if unit.indexed is None else self._redacted(unit.indexed)
        if text == unit.text and indexed == unit.indexed:
            return None
        return replace(unit, text=text, indexed=indexed)

    def _redacted(self, text: str) -> str:
        # What stands so in the file that this thread has just redacted was looked at there.
        return text if text in getattr(self._file, "text", "") else self.redact(text)
