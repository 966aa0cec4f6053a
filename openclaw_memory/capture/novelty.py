"""What of a conversation is worth keeping: its own sentences, and how much each of them says for later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from ..knowledge import facts
from ..model import Unit
from ..text import analysis, speech
from ..text.dates import MONTHS, any_of
from ..text.machine import is_machine
from ..text.markdown import parse
from ..text.sentences import sentence_spans
from ..text.withheld import HOST_BLOCKS, host_block

#: Longer sentences are pasted or endless; shorter ones (in words) say nothing alone.
MOST_CHARS, FEWEST_WORDS = 480, 3
#: A line that ends in a colon and is no longer is told with each item of the list below it.
_LEAD_CHARS = 80
#: Units of these forms are not what somebody said.
_NEVER_SAID = frozenset({"code", "meta", "machine"})
_NOT_SAID = _NEVER_SAID | {"quote", "heading", "title", "row"}
#: No paragraph is cut by the parser: sentences are cut here.
_WHOLE = 1_000_000


def sentences(text: str, everything: bool = False) -> list[str]:
    """The sentences that somebody wrote in ``text``, each on one line and without marks of lists.

    Code, quotations, tables, headings, logs and what hosts and we have put into the message are left out; with
    ``everything`` only code and what was put in.
    """
    parsed = parse(own_words(text), path="", mtime=date.min, unit_tokens=_WHOLE)
    unsaid = _NEVER_SAID if everything else _NOT_SAID
    out: list[str] = []
    for section in parsed.sections:
        lead = ""
        for unit in section.units:
            if unit.form in unsaid:
                lead = ""
                continue
            line = " ".join(unit.text.split())
            found = [tidied(line[start:end]) for start, end in sentence_spans(line)]
            opens = bool(found) and found[-1].endswith((":", "：")) and not everything
            for sentence in found[:-1] if opens else found:
                said = f"{lead} {sentence}" if lead and unit.form == "item" else sentence
                if any(map(str.isalnum, said)) if everything else _is_said(said):
                    out.append(said)
            if opens:
                lead = found[-1] if len(found[-1]) <= _LEAD_CHARS else ""
            elif unit.form != "item":
                lead = ""
    return out


def worth(sentence: str, speaker: str) -> float:
    """How much a sentence is worth keeping, in [0, 1]; ``speaker`` is ``user`` or ``assistant``.

    The strongest marker counts in full and another kind of one a little; names, numbers and times add to it;
    questions and small talk are worth nothing, and what is only asked for, offered or supposed little.  The markers are
    data (:mod:`~openclaw_memory.text.speech`), and worth the same in every language.
    """
    if analysis.is_question(sentence) or _ASKING_END.search(sentence) or not speech.substance(sentence):
        return 0.0
    bare = sentence.replace("’", "'")
    kinds = speech.kinds(bare)
    if "remember" in kinds and not speech.reminds(bare):
        kinds -= {"remember"}
    points = sorted((points for kind, points in _MARKERS.items() if kind in kinds), reverse=True)
    asked = "remember" in kinds
    unit = Unit(f"User: {sentence}", 1, 1, "turn", "User") if speaker == "user" else Unit(sentence, 1, 1)
    if facts.found(unit, "", None):
        points = sorted([*points, _FACT], reverse=True)
    score = (points[0] if points else 0.0) + (_SECOND if len(points) > 1 else 0.0)
    score += _LENGTH if len(analysis.query_terms(sentence)) >= _TERMS else 0.0
    score += _TIME if analysis.time_words(bare) or _DATE.search(bare) else 0.0
    score += _NUMBER if any(char.isdigit() for char in bare) else 0.0
    score += _NAME * min(2, sum(1 for _ in _names(bare)))
    if not asked:
        score -= _UNSURE if "unsure" in kinds else 0.0
        if "standing" not in kinds:
            wished = speech.requests(bare) if speaker == "user" else "offer" in kinds
            score -= _WISH if wished else 0.0
    score -= _REMAINS if "[redacted:" in sentence else 0.0
    return round(min(1.0, max(0.0, score)), 3)


def own_words(text: str) -> str:
    """``text`` without the blocks that hosts and this package put into messages."""
    for opening, closing, last in HOST_BLOCKS:
        text = _without(text, host_block(text, opening, closing, last))
    return _without(text, host_block(text, "<file ", "</file>", endless=False))


def tidied(sentence: str) -> str:
    """``sentence`` on one line, without what would make a mark of Markdown of its beginning."""
    line = " ".join(_UNSEEN.sub(" ", sentence).split())
    while (mark := _MARK.match(line)) is not None:
        line = line[mark.end() :]
    return line


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    return "".join(kept) + text[at:]


def _is_said(sentence: str) -> bool:
    """Whether a line is a sentence of a language rather than of a program or a log."""
    if len(sentence) > MOST_CHARS or _LOG.match(sentence) or is_machine(sentence) or _PLACEHOLDER.fullmatch(sentence):
        return False
    words = sentence.split()
    letters = sum(map(str.isalpha, sentence))
    # Languages without spaces say as much in a word as others in several.
    if len(words) < FEWEST_WORDS and len(analysis.terms(sentence)) < 2 * FEWEST_WORDS:
        return False
    if any(len(word) > 60 and not _ADDRESS.search(word) and word.isascii() for word in words):
        return False
    odd = sum(not (char.isalnum() or char.isspace() or char in _PLAIN_MARKS) for char in sentence)
    return letters >= 4 and odd <= 0.08 * len(sentence) + 1


def _names(sentence: str) -> Iterator[str]:
    """Words that are names by their capital inside a sentence, or identifiers."""
    for number, word in enumerate(sentence.split()):
        bare = word.strip(".,;:!?\"'()[]*_`“”").removesuffix("'s")
        if len(bare) > 1 and (_CODE_NAME.fullmatch(bare) or (number and bare[0].isupper() and bare not in _PRONOUNS)):
            yield bare


# -- what counts ----------------------------------------------------------------------------------

_ASKED, _FACT, _SECOND = 0.6, 0.5, 0.1
_LENGTH, _TIME, _NUMBER, _NAME = 0.1, 0.1, 0.1, 0.1
_UNSURE, _WISH, _REMAINS = 0.2, 0.35, 0.3
_TERMS = 3

#: What the kinds of markers are worth.
_MARKERS = {
    "remember": _ASKED,
    "decision": 0.5,
    "preference": 0.5,
    "outcome": 0.5,
    "person": 0.45,
    "dated": 0.45,
    "standing": 0.4,
    "detail": 0.3,
}
#: Particles that make a question of a sentence without a mark.
_ASKING_END = re.compile(r"(?:[吗嗎呢么]|ですか|ますか|でしょうか|かな|ไหม)[。.!！\s]*$")

#: How the name of a month begins, in most languages of Europe.
_MONTH = any_of(name[:3].lower() for name in MONTHS)
_DATE = re.compile(
    r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]m\b|"
    rf"\b(?!may)(?:{_MONTH})[a-z]*\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(
    r"(?=\S*[A-Za-z])(?=\S*\d)[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*|[A-Za-z]+_[A-Za-z_]+|[a-z]+[A-Z]\w+"
)
_PRONOUNS = frozenset("I I'm I've I'll I'd OK".split())
_ADDRESS = re.compile(r"://|@|^www\.|/")
_PLAIN_MARKS = ".,;:!?'’\"“”()-–—/%€$£&#@+…。，、！？：；「」『』"
_PLACEHOLDER = re.compile(r"(?:NO_REPLY|HEARTBEAT_OK|ANNOUNCE_SKIP|\[\[.*\]\]|MEDIA:.*|Source: .*#L\d+.*)", re.DOTALL)
#: What of a log or a diff may be a person's line in a note, and is not in what is said.
_LOG = re.compile(r"\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d\b|(?:diff|index) [-\w]|[+-]{3} |@@ )")
#: List markers, quotes, hashes, boxes and fences at the beginning of a line.
_MARK = re.compile(r">\s*|(?:[-*+•_]+|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?:\s+|$)|`{3,}|~{3,}")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\x85\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
