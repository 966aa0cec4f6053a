"""Split a text into the words by which it is compared, without the marks, stamps and names around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from .. import patterns as re
from ..records import NamedTuple
from ..text.characters import equivalents
from ..text.plain import without_lead
from ..text.sentences import sentence_spans
from ..text.turns import without_speaker

#: A text of this weight (in words) or more is a sentence: each sentence of a forgotten unit is forgotten by itself too.
SENTENCE_WEIGHT = 4
#: A text of this weight or more is rarely repeated by chance: it is forgotten inside longer sentences too.
DISTINCTIVE_WEIGHT = 6

#: Scripts without spaces between words: each of their characters counts as one.  These ranges stay as they are, as does
#: every pattern below: tombstones are hashes of what they find.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
#: Inside a word: combining accents, and invisible characters.
_INNER = "\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff"
#: Signs above and below the letters of Hebrew, Arabic and Syriac, which may be left out, and marks of direction.
_MARKS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0730-\u074a\u08ca-\u08e1\u08e3-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f"
)
#: The marks of a voiced syllable stand by themselves where kana are half as wide, or decomposed.
_WORD = re.compile(
    rf"[{_UNSPACED}][\u3099\u309a\uff9e\uff9f]?|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{_INNER}{_MARKS}])*"
)
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]+")

#: The source of a sentence of a summary, or of a fact: never a part of its words.
_CITATION = re.compile(r"\[[^\[\]\n]+?\.md#L\d{1,9}(?:-L\d{1,9})?\]", re.IGNORECASE)
#: Markup that a reader does not see: comments, images, targets and titles of links, footnotes, tags.
_UNREAD = re.compile(
    r"""<!--.*?(?:-->|\Z) | %%[^%\n]{1,800}%%
      | (?:!\[[^\[\]\n]{0,400})?\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,2000}\)
      | \[\[[^\[\]|\n]{1,400}\| | \]\[[^\[\]\n]{0,200}\] | \[\^[^\[\]\s]{1,100}\] | <sup\b.{0,300}?</sup>
      | (?P<between></?(?:br|p|div|li|tr|t[dh]|h\d|[ou]l)\b[^<>]{0,300}>) | </?[A-Za-z][^<>]{0,300}>""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
#: A tag may be one of the words that are read, or stand beside them.
_TAG = re.compile(r"(?<![\w#&/])#[^\W\d_][\w/-]{0,100}")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
#: Inside a word: emphasis, and an end of line behind a hyphen, with the marks that open the next one.
_INSIDE = re.compile("(?<=[\\w\u200b])(?:[*~=`]{1,3}|-[ \\t]*\\r?\\n[ \\t>]*)(?=[\\w\u200b])")
#: Replaces each character that is left out inside a word: it is no part of a word.
_JOINT = "\u200b"
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[apAP]\.?[mM]\.?)?"
_STAMP = re.compile(
    rf"(?:\*\*|__)?[\[(]?(?:\d{{4}}-\d\d-\d\d(?:[ T]{_TIME})?|{_TIME})[\])]?"
    r"(?:\*\*|__)?[:：]?(?:[ \t]+[-–—])?(?:[ \t]+|$)"
)
_NAME = r"[^\W\d_][\w'’.-]{0,30}"
_SPEAKER = re.compile(rf"(?:\*\*|__)?{_NAME}(?:[ ]{_NAME}){{0,2}}(?:(?:\*\*|__)?[:：]|[:：](?:\*\*|__))(?:[ \t]+|$)")


def weight(words: Sequence[str]) -> float:
    """Return the count of words; a character of a script without spaces counts as a part of one.

    An average word has four characters in the alphabets of South-East Asia, and two ideographs or kana.
    """
    return sum(map(_weight, words))


def _weight(word: str) -> float:
    if word <= "\u0dff" or re.fullmatch(f"[{_UNSPACED}]", word) is None:
        return 1.0
    return 0.25 if word < "\u1800" else 0.5


class Words(NamedTuple):
    """The words of a text: word ``i`` is ``text[starts[i]:ends[i]]``, and is compared as ``folded[i]``.

    ``read`` are the words that a reader sees, at the same places of the text, if markup makes them differ; its own
    ``read`` are those without tags.
    """

    text: str
    starts: list[int]
    ends: list[int]
    folded: list[str]
    read: Words | None = None

    def alone(self, first: int, last: int) -> bool:
        """Return true if words ``first..last`` are a whole line, cell or sentence rather than a part of one."""
        text = self.text
        before = text[self.ends[first - 1] if first else 0 : self.starts[first]]
        after = text[self.ends[last] : self.starts[last + 1] if last + 1 < len(self.starts) else len(text)]
        return (not first or _BORDER.search(before) is not None) and (
            last + 1 == len(self.starts) or _BORDER.search(after) is not None
        )


#: Signs between one text and the next.
_BORDER = re.compile(r"[\n\r|.!?…。！？;:：；()\[\]{}<>\"“”„«»—–]|[ \t]-[ \t]")


class Phrase(NamedTuple):
    """Words to forget; ``part``: they are only a part of a unit, such as one of its sentences."""

    words: tuple[str, ...]
    part: bool

    @property
    def long(self) -> bool:
        """Return true if they are a sentence rather than a few words."""
        return weight(self.words) >= SENTENCE_WEIGHT


def split_words(text: str) -> Words:
    """Split ``text`` into words, citations left out."""
    scanned = _CITATION.sub(_blank, text) if "#" in text else text
    read = _INSIDE.sub(_join, _ENTITY.sub(_decode, _UNREAD.sub(_hide, scanned)))
    untagged = _TAG.sub(_blank, read)
    without_tags = None if untagged == read else _words(untagged, untagged)
    as_read = None if read == scanned and without_tags is None else _words(read, read, without_tags)
    return _words(text, scanned, as_read)


def _words(text: str, scanned: str, read: Words | None = None) -> Words:
    words = Words(text, [], [], [], read)
    for match in _WORD.finditer(scanned):
        # Nothing is left of a stroke that lengthens a letter where it stands alone.
        if folded := _fold(match[0]):
            words.starts.append(match.start())
            words.ends.append(match.end())
            words.folded.append(folded)
    return words


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _join(match: re.Match[str]) -> str:
    return _JOINT * len(match[0])


def _hide(match: re.Match[str]) -> str:
    """Return nothing, or a gap, in the place of markup; as long as that was."""
    return (_blank if match["between"] or match[0].startswith("[[") else _join)(match)


def _decode(match: re.Match[str]) -> str:
    from html import unescape

    return unescape(match[0])[:1].ljust(len(match[0]), _JOINT)


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", word)).casefold().translate(_folded_characters())


@cache
def _folded_characters() -> dict[int, str | None]:
    """Return the replacements of characters for comparison; ``None`` drops one.

    Readers do not tell them apart: ``I`` is the capital of ``ı`` in Turkish and of ``i`` elsewhere, and the small
    letter of ``İ`` is ``i`` with a dot above; ``ё`` is written ``е`` as a rule.
    """
    marks: dict[int, str | None] = {n: None for n in range(0x591, 0x2070) if re.match(f"[{_MARKS}]", chr(n))}
    return marks | dict.fromkeys(range(0xFE00, 0xFE10)) | equivalents() | {ord("ı"): "i", 0x307: None, ord("ё"): "е"}


def extract_phrases(text: str, speaker: str | None = None, code: bool = False) -> list[Phrase]:
    """Return the phrases of a unit's text to forget: the whole, with and without what is around it, and its sentences.

    With ``code`` its lines count as its sentences do.
    """
    by_words: dict[tuple[str, ...], Phrase] = {}
    forms = _forms(text, speaker)
    for form in forms:
        _add(by_words, form, part=False)
    for piece in (*_sentences(forms[-1]), *(_lines(forms[-1]) if code else ())):
        _add(by_words, piece, part=True, least=SENTENCE_WEIGHT)
    return list(by_words.values())


def extract_needles(text: str, speaker: str | None = None) -> list[str]:
    """Return the texts, as they are written, by which a unit is recognised among the bytes of a file."""
    core = _forms(text, speaker)[-1]
    pieces = dict.fromkeys((*_lines(core), *_sentences(core)))
    return [piece for piece in pieces if weight(split_words(piece).folded) >= SENTENCE_WEIGHT]


def is_wordless(line: str) -> bool:
    """Return true if a line has no word besides marks, stamps, a speaker's name and citations."""
    rest = _STAMP.sub("", _CITATION.sub(" ", line.removeprefix(leading_marks(line))), count=1)
    if speaker := _SPEAKER.match(rest):
        rest = rest[speaker.end() :]
    return _WORD.search(rest) is None


def leading_marks(line: str) -> str:
    """Return the marks that open a line: of a list, a quote, a heading, a task."""
    return line.removesuffix(without_lead(line, item=True))


def _add(phrases: dict[tuple[str, ...], Phrase], text: str, part: bool, least: int = 0) -> None:
    written = split_words(text)
    read = written.read
    for form, enough in ((written, least), (read, least), (read and read.read, max(least, SENTENCE_WEIGHT))):
        words = tuple(form.folded) if form else ()
        if words and weight(words) >= enough:
            phrases.setdefault(words, Phrase(words, part))


def _forms(text: str, speaker: str | None) -> list[str]:
    """Return ``text`` with less and less around it: marks of Markdown, a day or time, the speaker's name."""
    bare = _CITATION.sub(" ", "\n".join(line.removeprefix(leading_marks(line)) for line in text.split("\n"))).strip()
    forms = [text, bare]
    stamped = _STAMP.match(bare)
    if stamped and stamped.end() < len(bare):
        forms.append(bare[stamped.end() :])
    if speaker is not None and (spoken := without_speaker(forms[-1], speaker)):
        forms.append(spoken)
    return forms


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _sentences(text: str) -> Iterator[str]:
    """Yield sentences, and the cells of a row."""
    text = " ".join(_lines(text))
    for start, end in sentence_spans(text):
        yield text[start:end]
    if "|" in text:
        yield from filter(None, map(str.strip, text.split("|")))
