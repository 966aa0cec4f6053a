"""Recognise text that programs wrote for programs: logs, traces, JSON, control words; by its form, in any language.

It can be searched, as people look for the words of an error; nobody is quoted by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import patterns as re

#: OpenClaw's own words in a turn, "System: [2026-03-04 10:00:00 UTC] Exec completed", and its fixed phrases.
_HOST = (
    r"System(?: \(untrusted\))?: \[\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?[^\]\n]{0,12}\]|\[System Message\]"
    r"|\[Queued messages while agent|\[media attached[: ]|\[cron:[0-9a-f-]+|Read HEARTBEAT\.md if it exists"
    r"|A new session was started via /new"
    r"|Pre-compaction memory flush|Note: The previous agent run was aborted|(?:✅ )?New session started · model"
)
#: The line of a log (a day with its seconds or a time zone before a mark or level, or a level before a mark), output of
#: programs (traces, lists of files, prompts, diffs), and words of OpenClaw.
_OPENS = re.compile(
    r"\W{0,3}(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*"
    r"(?:\[|[A-Z]{4,8}\b|\S+\[\d+\]:)"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL)\]?[:\]|]\s"
    r"|Traceback \(|File \"[^\"]+\", line \d|npm (?:ERR|WARN|error|warn)\b|(?:at|in) \S+ ?\(\S+:\d+(?::\d+)?\)"
    r"|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): |\$ [A-Za-z./]|>>> |#!/|(?:diff --git|index [0-9a-f]{7}) "
    r"|[\w.-]+@[\w.-]+:[~/][\w./~-]*[$#] |[-dlbcps](?:[r-][w-][-xsStT]){3}[.+@]?\s+\d"
    r"|@@ -\d|(?:HTTP/\d(?:\.\d)? |HTTP )\d{3}\b|[A-Z]+ https?://\S+ \d{3}\b"
    rf"|{_HOST})"
)
#: A line of JSON, or all of it; words such as HEARTBEAT_OK or [[reply_to_current]]; bare identifiers.
_WHOLE = re.compile(
    r"""\s*(?:
        "[\w.@-]{1,60}"\s*:\s*(?:"[^"\n]*"|[-\d.eE]+|true|false|null|[\[{][^"\n]*|[\[{].*[\]}])\s*,?
        | [{\[]\s*(?:"[^"\n]*"\s*[:,]|[{\[]).*[}\]]\s*,?
        | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[.!]?
        | \[\[[^\[\]\n]*:?[^\[\]\n]*_[^\[\]\n]*\]\]
        | [0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}
        )\s*""",
    re.VERBOSE | re.DOTALL,
)

#: Directives of an agent to OpenClaw for the delivery of its answer.
DIRECTIVE = re.compile(r"\[\[\s*(?:reply_to(?:_current|\s*:[^\[\]\n]*)|audio_as_voice)\s*\]\]")

#: Identifiers of machines: marks of redaction, UUIDs, keys with parts, hexadecimal digests, and long tokens with a
#: digit.
OPAQUE = re.compile(
    r"\[redacted:[\w-]{1,40}\]"
    r"|(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)|(?<!\w)(?=\S{0,200}[a-z])(?:[\w.+-]{1,200}+:){2,}[\w.+-]{1,200}+"
    r"|(?<!\w)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,}(?!\w)"
    r"|(?<![\w/.+=-])(?=[\w+/=-]{0,200}\d)[\w+/=-]{20,}+",
    re.ASCII | re.IGNORECASE,
)

#: The beginning of text by OpenClaw's dreaming about sessions, within a note, under a heading of its own.
_STARTS = re.compile(r"\s*<!--\s*openclaw:dreaming:(\w+):start\s*-->")
#: The end of a model's thoughts in the transcript of a session; the answer may begin on their last line.
_THOUGHT = re.compile(r"</think(?:ing)?>(?P<answer>.*)")


def machine_blocks(path: str, lines: Sequence[str]) -> list[range]:
    """Return the ranges of lines (1-based) of the file at ``path`` that OpenClaw's dreaming wrote, with their headings.

    In a session's transcript also the lines that a model only thought.
    """
    # That folder has candidates with scores, cut off and many times over.
    if "/memory/dreaming/" in f"/{path}":
        return [range(1, len(lines) + 1)]
    blocks: list[range] = []
    at = 0
    while at < len(lines):
        if "<think" in lines[at] and re.match(r"\s*(?:[\w .-]{1,40}:[ \t]*)?<think(?:ing)?>", lines[at]):
            last = _last_of_block(lines, at, _THOUGHT)
            end = _THOUGHT.search(lines[last])
            stop = last + 1 if end is not None and end["answer"].strip() else last + 2
            if stop > at + 1:
                blocks.append(range(at + 1, stop))
            at = last + 1
            continue
        opens = _STARTS.match(lines[at])
        if opens is None:
            at += 1
            continue
        last = _last_of_block(lines, at, re.compile(rf"<!--\s*openclaw:dreaming:{opens[1]}:end\s*-->"))
        first = at
        while first and not lines[first - 1].strip():
            first -= 1
        headed = first > 0 and lines[first - 1].startswith("#")
        blocks.append(range(first if headed else at + 1, last + 2))
        at = last + 1
    return blocks


def _last_of_block(lines: Sequence[str], first: int, ends: re.Pattern[str]) -> int:
    """Return the last line of a block; without an end, the line before the next section or the next block."""
    for at in range(first, len(lines)):
        if ends.search(lines[at]):
            return at
        if at > first and (lines[at].startswith(("# ", "## ")) or _STARTS.match(lines[at])):
            return at - 1
    return len(lines) - 1


def is_machine(text: str) -> bool:
    """Return true if programs wrote most lines of ``text``, which has no marks of lists around it."""
    if "\n" not in text:
        return _is_machine_line(text)
    lines = [line for line in text.split("\n") if line.strip()]
    return 2 * sum(map(_is_machine_line, lines)) > len(lines) or _WHOLE.fullmatch(text) is not None


def is_mostly_signs(text: str) -> bool:
    """Return true if a text consists mostly of signs of programs, or is part of a drawing."""
    if "\u2500" <= text.lstrip()[:1] <= "\u259f":  # what boxes and bars are drawn with
        return True
    signs = "{}[]<>=|\\;$#^~\"'()/_"
    return sum(map(text.count, signs)) > max(5, 0.2 * len(text.replace(" ", "")))


def is_host_message(text: str) -> bool:
    """Return true if ``text`` opens as OpenClaw's own words in a turn; the paragraph that follows is its output."""
    return re.match(rf"\s*(?:{_HOST})", text) is not None


def _is_machine_line(line: str) -> bool:
    return _OPENS.match(line) is not None or _WHOLE.fullmatch(line) is not None
