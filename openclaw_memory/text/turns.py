"""Find the speakers of a transcript: ``Speaker: text`` lines that alternate.

A label at the line's start is mostly the key of a record (``Status: …``), in any language, and repeats as often as
a name does.  So a label alone makes no speaker: speakers take turns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from .. import patterns as re
from ..records import NamedTuple
from . import word_lists
from .labels import is_label
from .lines import FENCE, ITEM
from .sentences import QUESTION_MARKS, ends_sentence

_LABEL_CHARS = 80
#: A word, with signs for vowels and tones, which are no letters to a pattern: of Hebrew, Arabic, India, Thai to Khmer.
_WORD = (
    r"[^\W\d_][\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963"
    r"\u0966-\u0dff\u0e31-\u0e4e\u102b-\u103e\u17b4-\u17d3'’.-]{0,30}"
)
_TIME = r"\d{1,2}[:.]\d\d(?::\d\d)?(?:[ ]?[apAP]\.?[mM]\.?)?"
_TURN = re.compile(
    rf"""[ \t>]*+
    (?P<item>{ITEM}[ \t]++)?
    (?P<stamp>[\[(]?(?:\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}}(?:,[ ]|[ T]))?{_TIME}[\])]?[ \t]*+[-–—]?[ \t]*+)?
    (?P<bold>\*\*|__)?
    (?P<label>{_WORD}(?:[ ](?:{_WORD}|\d{{1,3}})){{0,2}})
    (?:[ ]?[\[(]{_TIME}[\])])?
    (?(bold)(?:(?P=bold)[:：]|[:：](?P=bold))|[:：])
    (?:[ \t]*+$|(?P<text>[ \t]++\S|(?<=：).))""",
    re.VERBOSE,
)


class _Label(NamedTuple):
    """A line that begins with a label: its number, its part of the text, and its style."""

    line: int
    part: int
    name: str
    style: tuple[bool, bool, bool]
    words: str


@cache
def roles() -> dict[str, frozenset[str]]:
    """Return the names of ``person`` and ``assistant`` in a chat, in small letters."""
    out: dict[str, set[str]] = {}
    for role, line in word_lists.lines_of(__package__, "roles.txt"):
        out.setdefault(role, set()).update(word.replace("_", " ") for word in line.split())
    return {name: frozenset(words) for name, words in out.items()}


def is_role(label: str) -> bool:
    """Return true if ``label`` names a part in a chat with a machine, in any language."""
    return any(label.lower() in words for words in roles().values())


def find_turns(lines: Sequence[str]) -> dict[int, str]:
    """Return the lines (0-based) that open a turn, with the speaker's bare name.

    Several labels that alternate within a part of the text (up to the next heading) are speakers, and so they are in
    the other parts.  In a list or in bold, where labels are mostly keys, they must also ask and tell.  A chat role is
    known by its name: it speaks beside another one, more than once, or alone on a line among unlabelled ones.  Where
    roles speak, no other label does: an assistant's script or recipe has labels too.
    """
    labels = list(_labels(lines))
    chat = [label for label in labels if is_role(label.name)]
    if chat and (spoken := _chat_turns(chat, labels)):
        return spoken
    candidates = [label for label in labels if label.words and len(label.name) > 1]
    candidates = [label for label in candidates if not any(word[0].islower() for word in label.name.split(" "))]
    line_counts = Counter(part for _, part, fenced, line in _parts(lines) if not fenced and line.strip())
    by_part: defaultdict[tuple[int, tuple[bool, bool, bool]], list[_Label]] = defaultdict(list)
    for label in candidates:
        by_part[label.part, label.style].append(label)
    conversations = {
        key: part
        for key, part in by_part.items()
        if len(part) >= 0.3 * line_counts[key[0]] and _is_conversation(part, key[1])
    }
    speakers = {(style, label.name.lower()) for (_, style), part in conversations.items() for label in part}
    out: dict[int, str] = {}
    for key, part in by_part.items():
        if key in conversations or all((key[1], label.name.lower()) in speakers for label in part):
            out |= {label.line: label.name for label in part}
    return dict(sorted(out.items()))


def without_speaker(text: str, speaker: str) -> str:
    """Return the words of ``speaker`` in ``text``, which opens a turn; all of it without such a label."""
    at = text.find(speaker, 0, _LABEL_CHARS)
    if at < 0 or any(map(str.isalpha, text[:at])):
        return text
    behind = text[at + len(speaker) :]
    match = re.match(rf"(?:[ ]?[\[(]{_TIME}[\])])?(?:\*\*|__)?[:：](?:\*\*|__)?[ \t]*", behind)
    return behind[match.end() :] if match else text


def _parts(lines: Sequence[str]) -> Iterator[tuple[int, int, bool, str]]:
    """Yield the lines but for fences and headings: number, number of the part of the text, true for code, line."""
    part, fenced = 0, False
    for number, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif re.match(r" {0,3}#{1,6}(?:[ \t]|$)", line):
            part += not fenced
        else:
            yield number, part, fenced, line


def _labels(lines: Sequence[str]) -> Iterator[_Label]:
    for number, part, fenced, line in _parts(lines):
        head = line[:_LABEL_CHARS]
        if (":" in head or "：" in head) and (match := _TURN.match(line)) is not None:
            name = match["label"]
            if not fenced or is_role(name):
                style = (match["item"] is not None, match["stamp"] is not None, match["bold"] is not None)
                yield _Label(number, part, name, style, (match["text"] and line[match.start("text") :].strip()) or "")


def _chat_turns(chat: Sequence[_Label], labels: Sequence[_Label]) -> dict[int, str]:
    """Return the turns of a chat, if it is one: in the style that most of its roles have."""
    style, _ = Counter(label.style for label in chat).most_common(1)[0]
    chat = [label for label in chat if label.style == style]
    plain = not (style[0] or style[2])
    if not (_count_returns(chat) or (plain and len(chat) > 1)):
        # Beside "Model: …" a role is one key of several.
        near = {label.line + step for label in labels if not is_role(label.name) for step in (-1, 1)}
        if any(label.line in near for label in chat) or not (plain or len({label.name.lower() for label in chat}) > 1):
            return {}
    return {label.line: label.name for label in chat}


def _count_returns(labels: Sequence[_Label]) -> int:
    """Return the number of times that a label comes back after another one."""
    seen: set[str] = set()
    back = 0
    for before, label in pairwise([None, *labels]):
        name = label.name.lower() if label else ""
        back += name in seen and before is not None and before.name.lower() != name
        seen.add(name)
    return back


def _is_conversation(labels: Sequence[_Label], style: tuple[bool, bool, bool]) -> bool:
    """Return true if labels of one part and style take turns as people do."""
    names = [label.name.lower() for label in labels]
    different = len(set(names))
    back = _count_returns(labels)
    if different < 2 or not back or len(names) < 1.5 * different:
        return False
    if different > 2 and len(names) >= 2 * different and names[different:] == names[:-different]:
        # The same keys in the same order: records.
        return False
    keys = sum(map(is_label, set(names)))
    if 2 * keys >= different:
        return False
    tells = sum(ends_sentence(label.words) for label in labels) >= 0.3 * len(labels)
    asks = any(re.search(rf"[{QUESTION_MARKS}](?:\W|$)", label.words) for label in labels)
    if style[0] or style[2]:
        return tells and asks
    return tells or asks or back > 1
