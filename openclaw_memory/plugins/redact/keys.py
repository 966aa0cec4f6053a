"""Redact blocks of private keys, which span many lines."""

from __future__ import annotations

from ... import patterns as re

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
