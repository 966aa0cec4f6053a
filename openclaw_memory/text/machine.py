"""Text that a machine wrote for machines: logs, traces, JSON, control words.  Told by its shape, in any language.

It can be searched, as an error's words may be asked for; nobody is quoted by it.
"""

from __future__ import annotations

import re

#: The line of a log: a day with its seconds or a time zone before a mark or level, or a level before a mark.
_LOG = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*(?:\[|[A-Z]{4,8}\b|\S+\[\d+\]:)"
_LEVEL = r"\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL)\]?[:\]|]\s"
#: What programs print of themselves: traces, diffs, prompts.
_PROGRAM = (
    r"Traceback \(|File \"[^\"]+\", line \d|npm (?:ERR|WARN|error|warn)\b|(?:at|in) \S+ ?\(\S+:\d+(?::\d+)?\)"
    r"|(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): |\$ [A-Za-z./]|>>> |#!/|(?:diff --git|index [0-9a-f]{7}) "
    r"|@@ -\d|(?:HTTP/\d(?:\.\d)? |HTTP )\d{3}\b|[A-Z]+ https?://\S+ \d{3}\b"
)
#: OpenClaw's own words in a turn, "System: [2026-03-04 10:00:00 UTC] Exec completed", and what it always says alike.
_HOST = (
    r"System: \[\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?[^\]\n]{0,12}\]|\[System Message\]|\[Queued messages while agent"
    r"|\[media attached[: ]|\[cron:[0-9a-f-]+|Read HEARTBEAT\.md if it exists|A new session was started via /new"
    r"|Pre-compaction memory flush|Note: The previous agent run was aborted|(?:✅ )?New session started · model"
)
_SAYS = re.compile(rf"\s*(?:{_HOST})")
_OPENS = re.compile(rf"\W{{0,3}}(?:{_LOG}|{_LEVEL}|{_PROGRAM}|{_HOST})")
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


def is_machine(text: str) -> bool:
    """Whether most lines of ``text``, which has no marks of lists around it, are a machine's."""
    if "\n" not in text:
        return _of_machine(text)
    lines = [line for line in text.split("\n") if line.strip()]
    return 2 * sum(map(_of_machine, lines)) > len(lines) or _WHOLE.fullmatch(text) is not None


def is_host(text: str) -> bool:
    """Whether ``text`` opens as what OpenClaw itself puts into a turn; the paragraph that follows is its output."""
    return _SAYS.match(text) is not None


def _of_machine(line: str) -> bool:
    return _OPENS.match(line) is not None or _WHOLE.fullmatch(line) is not None
