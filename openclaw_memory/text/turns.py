"""Who speaks in a transcript: ``Speaker: text`` lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .lines import ITEM

#: Labels that open a turn wherever they stand.
ROLES = frozenset({"user", "assistant", "human", "agent", "ai", "bot"})

# Labels that recur in notes and are nobody's name.
_KEYS = """
    action actions answer author category conclusion cons context cost created date decision decisions
    description details due duration email example examples goal goals idea impact ingredients input instructions
    link location model name next note notes objective outcome output owner phone price priority problem pros
    purpose question reason result results role score solution source status step steps subject summary tag tags
    task tasks time tip tips title todo topic total type update updated url value version warning website
    when where why
"""

_IS_KEY = frozenset(_KEYS.split())
_LABEL_CHARS = 80
_WORD = r"[^\W\d_][\w'’.-]{0,30}"
_TURN = re.compile(
    rf"""[ \t>]*+
    (?P<item>{ITEM}[ \t]++)?
    (?:[\[(]?(?:\d{{4}}-\d\d-\d\d[ T])?\d{{1,2}}:\d\d(?::\d\d)?(?:[ ]?[apAP]\.?[mM]\.?)?[\])]?[ \t]*+[-–—]?[ \t]*+)?
    (?P<bold>\*\*|__)?
    (?P<label>{_WORD}(?:[ ]{_WORD}){{0,2}})
    (?(bold)(?:(?P=bold)[:：]|[:：](?P=bold))|[:：])
    (?P<text>[ \t]++\S|$|(?<=：).)""",
    re.VERBOSE,
)
_AFTER_LABEL = re.compile(r"(?:\*\*|__)?[:：](?:\*\*|__)?[ \t]*")


def find_turns(lines: Sequence[str]) -> dict[int, str]:
    """The lines (0-based) that open a turn, with the speaker's bare name.

    A chat role is a speaker at once, any other label when it opens at least two lines, or one beside a speaker's,
    and is no usual key of notes (``Status: …``).  Where two lines name roles, nothing else counts: an assistant's
    script or recipe has labels too.
    """
    found: dict[int, str] = {}
    for number, line in enumerate(lines):
        if 0 <= _colon(line) < _LABEL_CHARS and (match := _TURN.match(line)) is not None:
            label = match["label"]
            # Only a role may leave its text to the next lines: "Ingredients:" opens a list.
            if label.lower() in ROLES or (match["text"] and _is_name(label)):
                found[number] = label
    by_label = Counter(label.lower() for label in found.values())
    roles = sum(count for label, count in by_label.items() if label in ROLES)
    if roles >= 2:
        return {number: label for number, label in found.items() if label.lower() in ROLES}
    sure = {number for number, label in found.items() if label.lower() in ROLES or by_label[label.lower()] >= 2}
    # One who speaks once is known by the company: a speaker on the line before or after, or past a blank one.
    return {
        number: label
        for number, label in found.items()
        if number in sure or any(number + step in sure for step in (-1, 1, -2, 2))
    }


def without_speaker(text: str, speaker: str) -> str:
    """What ``speaker`` says in ``text``, which opens a turn; all of it where no such label opens it."""
    at = text.find(speaker, 0, _LABEL_CHARS)
    if at < 0 or any(map(str.isalpha, text[:at])):
        return text
    match = _AFTER_LABEL.match(text, at + len(speaker))
    return text[match.end() :] if match else text


def _colon(line: str) -> int:
    at = line.find(":", 0, _LABEL_CHARS)
    return at if at >= 0 else line.find("：", 0, _LABEL_CHARS)


def _is_name(label: str) -> bool:
    words = label.split(" ")
    return len(label) > 1 and words[0].lower() not in _IS_KEY and not any(word[0].islower() for word in words)
