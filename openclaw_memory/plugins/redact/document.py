"""Redact a document in one pass: find the lines that may hold a secret, and replace the secrets on and around them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate

from ... import patterns as re
from . import below, labels, opaque, seeds, shapes, values, vocabulary
from .labels import Span
from .plain import PlainLine, lower, plain_text, read_plain

#: Reasons to look at a line.
_LABEL, _TOKEN, _NUMBER, _PHRASE, _SIGN = 1, 2, 4, 8, 16
#: A longer line is not wrapped.
_LONGEST_WRAPPED = 400

_RUNS = bytes(0x78 if chr(c) in "+/=_-" or (chr(c).isascii() and chr(c).isalnum()) else 0x20 for c in range(256))

_BROKEN_NUMBER = re.compile(r"\d[ -]?\n[ \t>]*\d")
_HEAD = re.compile(r"[ \t]*(?:>[ \t]*)*")
_ENTRY = re.compile(r"(?:[-*+#|>]|\d{1,3}[.)])[ \t]|[|`~]|[-=]{3}")
_TAIL_RUN = re.compile(r"[\w+/=.-]{4,200}$", re.ASCII)
_HEAD_RUN = re.compile(r"[\w+/=.-]{4,200}", re.ASCII)
_REST = re.compile(r"(?:(?<=[A-Za-z0-9_-])[A-Za-z0-9_-]+)?")

_KEY = r"(?:[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)"
_KEY_END = re.compile(rf"-{{4,5}} ?END {_KEY} ?-{{4,5}}")
#: A key up to its end or the next row of dashes in its line (``\n`` and all), or to the end of the line.
_KEY_BEGIN = re.compile(
    rf"-{{4,5}} ?BEGIN {_KEY} ?-{{4,5}}(?P<body>(?:[^-]|-(?!---))*+)(?:(?P<open>$)|{_KEY_END.pattern}|)"
)
_KEY_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16}")
_KEY_LINE = re.compile(
    r"""[\s>|"'`+*]*+ (?: (?P<long>[A-Za-z0-9+/]{16,}+=*+) | =?[A-Za-z0-9+/]{0,15}+=*+
        | (?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[\w-]{1,40}+):.* )
        (?:\\n|[\s"'`,;+\\])*+""",
    re.VERBOSE | re.ASCII,
)
#: The private part of a key of PuTTY, and how many lines it has.
_PUTTY = re.compile(r"(?P<head>[\s>|\"'+-]*)Private-Lines: (?P<count>\d{1,3})\s*$")
_PUTTY_LINE = re.compile(r"[\s>|\"'+-]*[A-Za-z0-9+/=]{4,80}\s*")
_MARK = "[redacted:private-key]"


def candidates(whole: str) -> dict[int, int]:
    """Return the lines of a text that may hold a secret, in order, each with the reasons to look at it."""
    text = plain_text(whole)
    places: dict[int, list[int]] = {_LABEL: [], _SIGN: [], _TOKEN: [], _PHRASE: list(seeds.find_lines(text))}
    for _, end, kind in vocabulary.find_labels(lower(text)):
        places[_LABEL if kind else _SIGN].append(end - 1)
    if " / " in text:
        places[_SIGN] += [match.start() for match in labels.USER.finditer(text)]
    raw = text.encode("latin-1", "replace")
    classes = raw.translate(opaque.CLASSES)
    runs = raw.translate(_RUNS)
    for start in _in_runs(runs, b"x" * 15):  # the shortest token that its shape alone reveals
        # A token without a digit is rarer than an identifier of that length.
        end = runs.find(b" ", start)
        if classes.find(b"0", start, end if end >= 0 else None) >= 0:
            places[_TOKEN].append(start)
    account_forms = (b"0000 0000 0000 0", b"0" * 15, b"0000 000000 0", b"0000.0000.0000")
    places[_NUMBER] = [
        *(start for form in (*account_forms, *opaque.person_forms()) for start in _in_runs(classes, form)),
        *_in_runs(raw.upper().translate(opaque.CLASSES), b"AA00"),  # an IBAN
        *(match.start() for match in _BROKEN_NUMBER.finditer(text)),
    ]
    if not any(places.values()):
        return {}
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    reasons: defaultdict[int, int] = defaultdict(int)
    for reason, several in places.items():
        for place in several:
            reasons[bisect_right(starts, place) - 1] |= reason
    return dict(sorted(reasons.items()))


def _in_runs(text: bytes, part: bytes) -> Iterator[int]:
    """Yield where ``part`` begins in ``text``, once in each run without blanks."""
    at = text.find(part)
    while at >= 0:
        yield at
        end = text.find(b" ", at + len(part))
        at = -1 if end < 0 else text.find(part, end)


class Document:
    """The lines of a document, whose secrets are replaced, but for those in ``allow``."""

    def __init__(self, lines: Iterable[str], allow: Collection[str]) -> None:
        self.lines = list(lines)
        self._allow = allow

    def redact(self) -> None:
        """Replace every secret that is found by one look at each line."""
        lines = self.lines
        redact_key_blocks(lines)
        reasons = candidates("\n".join(lines))
        for first, last in seeds.find_blocks(lines):
            for at in range(first, last):
                self._replace(at, [(*seeds.trim(lines[at]), "seed-phrase")])
        for at, why in reasons.items():
            if why & _TOKEN:
                self._redact_split(at - 1)
                self._redact_split(at)
        for at, why in reasons.items():
            if why & _LABEL:
                for cell_at, span in below.find_in_columns(lines, at):
                    self._replace(cell_at, [span])
            if why & _TOKEN and any(map(opaque.is_data, lines[max(0, at - 1) : at + 1])):
                why &= ~_TOKEN
            line = read_plain(lines[at], at)
            # Beside a label in the head of a table stands the next label.
            beside = why & ~(_LABEL | _SIGN) if below.is_table_head(lines, at) else why
            self._replace_in(line, _spans(line.text, beside))
            if why & (_LABEL | _NUMBER) or (why & _SIGN and lines[at].endswith("\\")):
                self._redact_wrapped(at, why)
            if why & _LABEL:
                self._redact_below(at)

    def _replace(self, at: int, spans: Iterable[Span]) -> None:
        """Replace what is at ``spans`` of a line; of two that overlap the first in the list names the whole."""
        line = self.lines[at]
        joined: list[tuple[int, int, int, str]] = []
        for start, end, rank, kind in sorted(
            # No half of a token stays behind.
            (start, _REST.match(line, end).end(), rank, kind)  # type: ignore[union-attr]
            for rank, (start, end, kind) in enumerate(spans)
            if start < end and line[start:end] not in self._allow and "[redacted:" not in line[max(0, start - 10) : end]
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
        self.lines[at] = "".join([*parts, line[copied:]])

    def _replace_in(self, text: PlainLine, spans: Iterable[Span]) -> None:
        """Replace what is at ``spans`` of one line, or of two that were read as one."""
        by_line: defaultdict[int, list[Span]] = defaultdict(list)
        for start, end, kind in spans:
            if text.text[start:end] not in self._allow:
                for line, first, last in text.spans(start, end):
                    by_line[line].append((first, last, kind))
        for line, several in by_line.items():
            self._replace(line, several)

    # -- secrets of two lines, read as one ----------------------------------------------------------

    def _redact_wrapped(self, at: int, why: int) -> None:
        """Redact what begins on line ``at``, or is announced there, and goes on in the next, as a mail wraps it."""
        if at + 1 >= len(self.lines) or len(self.lines[at]) > _LONGEST_WRAPPED:
            return
        tail, following = self.lines[at].rstrip(" \t*_`"), self.lines[at + 1].strip(" \t>")
        goes_on = tail.endswith("\\")  # as a command does
        if not tail or not following or (not goes_on and (tail[-1] in ".!?;|:" or _ENTRY.match(following))):
            return
        second = read_plain(self.lines[at + 1][:_LONGEST_WRAPPED], at + 1)
        pair = read_plain(tail.removesuffix("\\"), at).join(second.cut(_head(second.text)), " ")
        self._replace_in(pair, [span for span in _spans(pair.text, why & ~_TOKEN) if span[1] > pair.border])

    def _redact_split(self, at: int) -> None:
        """Redact a token that begins at the end of line ``at`` and goes on in the next."""
        if not 0 <= at < len(self.lines) - 1:
            return
        first, second = read_plain(self.lines[at].rstrip(), at), read_plain(self.lines[at + 1], at + 1)
        tail, rest = _TAIL_RUN.search(first.text), _HEAD_RUN.match(second.text, _head(second.text))
        if tail is None or rest is None:
            return
        if any(shapes.find_shapes(run[0]) for run in (tail, rest)) and not values.looks_random(rest[0]):
            return  # a whole token, and a word behind it
        pair = first.cut(tail.start()).join(second.cut(rest.start(), rest.end()), "")
        self._replace_in(pair, [span for span in shapes.find_shapes(pair.text) if span[0] < pair.border < span[1]][:1])

    def _redact_below(self, at: int) -> None:
        """Redact the value that stands below its label on line ``at``, or answers the question there."""
        lines = self.lines
        announced_by = below.announcement(lines[at]) if len(lines[at]) <= _LONGEST_WRAPPED else ""
        if not announced_by:
            return
        label = read_plain(lines[at].rstrip(), at)
        label = label.cut(0, len(label.text.rstrip(" \t:：=>?？|\"'`*_)]")))
        kind = vocabulary.announced_kind(label.text)
        for i in range(at + 1, min(at + 5, len(lines))):
            if lines[i].strip(" \t>").startswith(("```", "~~~")):
                announced_by = "fence"
                continue
            if not lines[i].strip(" \t>"):
                continue
            if len(lines[i]) > _LONGEST_WRAPPED or (
                announced_by == "short" and i > at + 1 and not lines[at].startswith("#")
            ):
                return
            if not (kind or announced_by == "question") or opaque.is_data(lines[i]):
                return
            if kind == "recovery-code":
                for code_at, codes in enumerate(below.listed_codes(lines[i : i + 100]), i):
                    self._replace(code_at, codes)
            value = read_plain(lines[i], i)
            if below.is_chat(label.text) and below.is_chat(value.text):
                announced_by = "question"
            if below.is_stamp(value.text):
                continue
            value = value.cut(below.content_start(value.text, announced_by == "question" or below.is_chat(label.text)))
            pair = label.join(value, ": ")
            spans = [
                span
                for span in labels.find_labelled(pair.text)
                if span[0] >= pair.border
                and (
                    announced_by == "question"
                    or below.is_only(value.text, span[0] - pair.border, span[1] - pair.border, announced_by)
                )
            ]
            if spans:
                spans = [span for span in shapes.find_shapes(pair.text) if span[0] >= pair.border] + spans
            if (
                announced_by == "question"
                and kind in ("password", "pin")
                and (answer := labels.find_answer(value.text))
            ):
                spans.append((answer[0] + pair.border, answer[1] + pair.border, answer[2]))
            before = lines[i]
            self._replace_in(pair, spans)
            if announced_by != "question" or lines[i] != before:
                return


def _spans(line: str, why: int) -> list[Span]:
    """Return all secrets of a line, those of known shapes first."""
    spans = shapes.find_shapes(line)
    if why & _NUMBER:
        spans += opaque.find_account_numbers(line)
        spans += opaque.find_person_numbers(line)
    if why & (_LABEL | _SIGN):
        spans += labels.find_labelled(line)
    if why & _TOKEN:
        spans += opaque.find_tokens(line)
    if why & _PHRASE:
        spans += seeds.find_phrases(line)
    return spans


def _head(line: str) -> int:
    """Return where the words of a line begin that may be quoted."""
    return _HEAD.match(line).end()  # type: ignore[union-attr]


# -- private keys, which span many lines -------------------------------------------------------


def redact_key_blocks(lines: list[str]) -> None:
    """Replace private-key blocks, in place: the mark where the key began, then empty lines."""
    for i, line in enumerate(lines):
        if "Private-Lines:" in line and (putty := _PUTTY.match(line)):
            for n in range(i + 1, min(i + 1 + int(putty["count"]), len(lines))):
                if _PUTTY_LINE.fullmatch(lines[n]):
                    lines[n] = putty["head"] + _MARK if n == i + 1 else ""
        if "BEGIN " not in line:
            continue
        copied, parts = 0, []
        for begin in _KEY_BEGIN.finditer(line):
            if begin["open"] is not None:
                last, tail = _key_block_end(lines, i, begin["body"])
                if last is None:
                    continue
                lines[i + 1 : last + 1] = ["" for _ in range(last - i)]
                if last > i:
                    lines[last] = tail
            elif not _KEY_BASE64.search(begin["body"]):
                continue
            parts += [line[copied : begin.start()], _MARK]
            copied = begin.end()
        lines[i] = "".join([*parts, line[copied:]])


def _key_block_end(lines: list[str], first: int, rest: str) -> tuple[int | None, str]:
    """Return the last line of the key that begins on line ``first``, and the text behind its END mark there.

    A block without END (a note that was cut off) ends with its last line of key material; a BEGIN without key material
    is prose about keys: ``None``.
    """
    last = first if _KEY_BASE64.search(rest) else None
    for i in range(first + 1, len(lines)):
        if end := _KEY_END.search(lines[i]):
            if last is None and not _KEY_BASE64.search(lines[i][: end.start()]):
                return None, ""
            return i, lines[i][end.end() :].rstrip()
        line = _KEY_LINE.fullmatch(lines[i])
        if not line:
            break
        if line["long"]:
            last = i
    return last, ""
