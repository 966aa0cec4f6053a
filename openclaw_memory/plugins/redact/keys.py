"""Blocks of private keys, which span many lines."""

from __future__ import annotations

import re

_KEY = r"(?:[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)"
_KEY_BEGIN = re.compile(rf"-{{4,5}} ?BEGIN {_KEY} ?-{{4,5}}")
_KEY_END = re.compile(rf"-{{4,5}} ?END {_KEY} ?-{{4,5}}")
#: The private part of a key of PuTTY, and how many lines it has.
_PUTTY = re.compile(r"(?P<head>[\s>|\"'+-]*)Private-Lines: (?P<count>\d{1,3})\s*$")
_PUTTY_LINE = re.compile(r"[\s>|\"'+-]*[A-Za-z0-9+/=]{4,80}\s*")
_KEY_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16}")
# Up to the next row of dashes: the body of a key that is written on one line, ``\n`` and all.
_KEY_INLINE_BODY = re.compile(r"(?:[^-]|-(?!---))*+")
_KEY_LINE = re.compile(
    r"""[\s>|"'`+*]*+ (?: (?P<long>[A-Za-z0-9+/]{16,}+=*+) | =?[A-Za-z0-9+/]{0,15}+=*+
        | (?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[\w-]{1,40}+):.* )
        (?:\\n|[\s"'`,;+\\])*+""",
    re.VERBOSE | re.ASCII,
)
KEY_MARK = "[redacted:private-key]"


def redact_key_blocks(lines: list[str]) -> None:
    """Replace private-key blocks, in place: the mark where the key began, then empty lines."""
    for i, line in enumerate(lines):
        if "Private-Lines:" in line and (putty := _PUTTY.match(line)):
            for n in range(i + 1, min(i + 1 + int(putty["count"]), len(lines))):
                if _PUTTY_LINE.fullmatch(lines[n]):
                    lines[n] = putty["head"] + KEY_MARK if n == i + 1 else ""
        if "BEGIN " not in line:
            continue
        parts: list[str] = []
        copied = at = 0
        while begin := _KEY_BEGIN.search(line, at):
            body = _KEY_INLINE_BODY.match(line, begin.end())
            assert body is not None  # the pattern matches the empty string
            at = body.end()
            if at == len(line):
                last, tail = _key_block_end(lines, i, body[0])
                if last is not None:
                    parts, copied = [*parts, line[copied : begin.start()], KEY_MARK], at
                    lines[i + 1 : last + 1] = ["" for _ in range(last - i)]
                    if last > i:
                        lines[last] = tail
                break
            if closed := _KEY_END.match(line, at):
                at = closed.end()
            if _KEY_BASE64.search(body[0]):
                parts, copied = [*parts, line[copied : begin.start()], KEY_MARK], at
        if parts:
            lines[i] = "".join([*parts, line[copied:]])


def _key_block_end(lines: list[str], first: int, rest: str) -> tuple[int | None, str]:
    """Last line of the key that begins on line ``first``, and what follows its END mark there.

    A block without END (a note that was cut off) ends with its last line of key material; a BEGIN
    without key material is prose about keys: ``None``.
    """
    last = first if _KEY_BASE64.search(rest) else None
    for i in range(first + 1, len(lines)):
        if end := _KEY_END.search(lines[i]):
            if last is None and not _KEY_BASE64.search(lines[i][: end.start()]):
                return None, ""
            return i, lines[i][end.end() :].rstrip()
        found = _KEY_LINE.fullmatch(lines[i])
        if not found:
            break
        if found["long"]:
            last = i
    return last, ""
