"""Strip the marks of Markdown from a text."""

from __future__ import annotations

from .. import patterns as re
from .lines import BULLET, FENCE, ITEM, NUMBER
from .machine import DIRECTIVE
from .struck import without_struck

_MARKS = r"[ \t]*(?:>[ \t]*|(?:%s|#{1,6})(?:[ \t]+|$)|\[[ xX]\](?:[ \t]+|$))*"
#: "1986. What a year" is a sentence, unless it is an item of a list or another mark follows.
_LEAD = re.compile(_MARKS % rf"[-*+•]|{NUMBER}(?=[ \t]+(?:{ITEM}|#{{1,6}})(?:[ \t]|$))")
_ITEM_LEAD = re.compile(_MARKS % BULLET)
_DELIMITER = re.compile(r"[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)*+")
_WIKI = re.compile(r"\[\[([^\]|\[]+)(?:\|([^\]\[]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\]\[]{0,400})\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s+\"[^\"]{0,200}\")?\)"
)
#: An address, and a break, which has none.
_ANGLES = re.compile(r"<(?:((?:https?://|mailto:|[\w.+-]{1,80}@)[^<>\s]{1,2000})|[Bb][Rr]\s*/?)>")
#: Code, and an escaped mark.
_LITERAL = re.compile(r"(`{1,3})(?=[^`])(.{1,800}?)(?<!`)\1(?!`)|\\([!-/:-@\[-`{-~])")
# A parser of CommonMark leaves "**重要：**说明" as it stands; people read bold words.
_STRONG = re.compile(r"(\*\*\*|\*\*|___|__)(?=[^\s*_])(.{1,800}?)(?<=[^\s])\1")
_EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9*])\*(?=[^\s*])([^*]{0,800}[^\s*])\*(?![A-Za-z0-9*])|(?<![\w_])_(?=[^\s_])([^_]{0,800}[^\s_])_(?![\w_])"
)


def without_lead(line: str, item: bool = False) -> str:
    """Return ``line`` without its leading marks of quotes, lists, headings, tasks; an ``item`` may have a number."""
    lead = (_ITEM_LEAD if item else _LEAD).match(line)
    return line[lead.end() :] if lead else line


def is_delimiter(line: str) -> bool:
    """Return true if ``line`` stands between the head and the rows of a table, or is a rule."""
    return "-" in line and _DELIMITER.fullmatch(line) is not None


def plain(text: str) -> str:
    """Return the visible text of Markdown on one line, without marks and without struck parts."""
    text = without_struck(text)
    if "<!--" in text:
        text = re.sub(r"(?s)<!--.*?(?:-->|\Z)", " ", text)
    lines = [
        without_lead(line, item=True) for line in text.split("\n") if not FENCE.match(line) and not is_delimiter(line)
    ]
    return " ".join(inline(" ".join(lines)).split())


def inline(text: str) -> str:
    """Return ``text``, which is one paragraph, without marks: links by their words, images by their description."""
    if not any(mark in text for mark in "*_`[<\\"):
        return text
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        # Marks inside of code are its own, and so are those that a backslash takes out.
        held.append((match[2] or match[3]).strip())
        return f"\0{len(held) - 1}\0"

    text = _LITERAL.sub(hold, text.replace("\0", ""))
    if "[[" in text:
        text = _WIKI.sub(lambda match: match[2] or match[1], DIRECTIVE.sub("", text))
    if "](" in text:
        text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    if "<" in text:
        text = _ANGLES.sub(lambda match: match[1] or " ", text)
    text = _STRONG.sub(r"\2", _STRONG.sub(r"\2", text))
    text = _EMPHASIS.sub(lambda match: match[1] or match[2], text)
    return re.sub("\0(\\d+)\0", lambda match: held[int(match[1])], text) if held else text
