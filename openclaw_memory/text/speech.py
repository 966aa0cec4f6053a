"""What people say to their agent besides what they talk about: courtesies, questions, requests, and words that mark a
statement as a decision, a preference or a promise.

The words are data (``speech.txt``), in the languages of notes.  A short word counts in the language of its text only,
as ``no`` and ``ne`` mean different things in different ones.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice

from . import analysis, language, word_lists
from .scripts import GREEK, HIRAGANA, UNSPACED, UNSPACED_LETTER, letter
from .sentences import sentence_spans

#: Vowels and marks that are written into a word of which they are no letters, and what joins its parts.
_JOINED = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0980-\u0d7f\u200c"
#: Words, with the marks within them; of scripts that put no spaces between them, single characters.
_ATOM = re.compile(
    rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_])(?:(?![{UNSPACED}])[^\W_]|[{_JOINED}])*(?:['’][^\W_]+)?",
)
_MARKS = re.compile("[\u0300-\u036f\u064b-\u0652\u200c]+")
_ASKS = re.compile("[?？؟՞;]\\s*$|[?？؟]")
_CLAUSES = re.compile(r"[,.;:!，。；：！、]\s*|\s[–—-]\s")
_LATIN = re.compile("[a-z]")
#: A Latin letter with an accent, as one character or with one behind it.
_ACCENT = re.compile("[\u00c0-\u024f\u1e00-\u1eff]|[A-Za-z][\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase of ``speech.txt`` in a text: its kind, and the characters that it takes."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Phrase:
    atoms: tuple[str, ...]
    #: The same with their accents.
    accented: tuple[str, ...]
    #: Whether the last atom stands for any ending.
    open: bool
    kind: str
    language: str

    @property
    def sure(self) -> bool:
        """Whether it means the same whatever language the text is in."""
        first = self.atoms[0]
        # A word of six letters is not taken for one of another language.
        return len(self.atoms) > 1 or len(first) >= 6 or not _LATIN.match(first)


def asks(message: str) -> bool:
    """Whether a message wants to be told something, rather than tells."""
    mark = _ASKS.search(message)
    if mark is not None and (mark[0].strip() != ";" or letter(GREEK).search(message)):
        return True
    first = next((at for at, char in enumerate(message) if char.isalnum()), len(message))
    return any(
        one.start == first or UNSPACED_LETTER.match(message[one.start]) for one in find_phrases(message, ("asking",))
    )


def wants(message: str) -> bool:
    """Whether a sentence of a message, or what stands behind a comma in it, begins with a request or a question."""
    return any(requests(part) or asks(part) for part in _CLAUSES.split(message) if part.strip())


def requests(sentence: str) -> bool:
    """Whether a sentence begins with what is to be done now, courtesies before it aside."""
    at = 0
    stated = [(one.start, one.end) for one in find_phrases(sentence, ("decision", "person", "remember"))]
    for one in find_phrases(sentence, ("courtesy", "request")):
        if any(map(str.isalnum, sentence[at : one.start])):
            break
        if one.kind == "request" and not any(start <= one.start and one.end < end for start, end in stated):
            return True
        at = max(at, one.end)
    # In Japanese and Korean the verb stands at the end.
    tail = sentence.rstrip(" .!。！")
    return any(one.end >= len(tail) - 1 and not _LATIN.search(sentence) for one in find_phrases(sentence, ("request",)))


def thanks(sentence: str) -> bool:
    """Whether a sentence goes on from its thanks without a pause and asks for nothing: "thank you for your help"."""
    first = next(find_phrases(sentence, ("thanks",)), None)
    if first is None or any(map(str.isalnum, sentence[: first.start])):
        return False
    rest = sentence[first.end :].lstrip()
    return rest[:1].isalnum() and not wants(sentence)


def reminds(sentence: str) -> bool:
    """Whether a sentence asks to be remembered: "remember" opens it, which "I remember" does not."""
    rest, at = _without(sentence, [*find_phrases(sentence, ("courtesy",))]), 0
    for one in find_phrases(sentence, ("remember",)):
        between = rest[at : one.start].rstrip()
        opens = not between[-1].isalnum() if between else not at
        if opens or len(_ATOM.findall(sentence[one.start : one.end])) > 1:
            return True
        at = one.end
    return False


def phrase_kinds(sentence: str) -> frozenset[str]:
    """Which kinds of phrases a sentence holds; what a longer courtesy holds is a part of that ("cảm ơn", "cấm")."""
    every = list(find_phrases(sentence))
    polite = [one for one in every if one.kind == "courtesy"]  # in order, and none within another
    begins = [one.start for one in polite]

    def within(one: PhraseMatch) -> bool:
        before = bisect_right(begins, one.start)
        whole = polite[before - 1] if before else one
        return one.end <= whole.end and one.end - one.start < whole.end - whole.start

    return frozenset(one.kind for one in every if not within(one))


def without_small_talk(message: str) -> str:
    """The sentences of a message that are about something; empty when none is."""
    said = []
    for line in message.strip().splitlines():
        said += [part for start, end in sentence_spans(line) if subject_terms(part := _unthanked(line[start:end]))]
    return " ".join(said)


def _unthanked(sentence: str) -> str:
    """A sentence without what it begins with, where that is a courtesy: in "thanks for your help, …" nobody asks."""
    first = _CLAUSES.search(sentence)
    end = len(sentence) if first is None else first.end()
    return sentence[end:] if thanks(sentence[:end]) else sentence


@lru_cache(maxsize=4096)
def subject_terms(message: str) -> tuple[str, ...]:
    """The distinct terms of a message that say what it is about; none in a courtesy."""
    if not message.strip():
        return ()
    # A message of nothing but courtesies may be in any language, a sentence with others is in its own.
    polite = [*find_phrases(message, ("courtesy",), every=True)]
    if not any(map(str.isalnum, _without(message, polite))):
        return ()
    rest = _without(message, [*find_phrases(message, ("courtesy",))]) if polite else message
    terms = dict.fromkeys(word[0] for word in analysis.content_terms(rest))
    silent = silent_terms(rest)
    return tuple(term for term in terms if term not in silent and not letter(HIRAGANA).fullmatch(term))


def silent_terms(text: str) -> set[str]:
    """Terms of the stop words of a text in its language."""
    return {term for word in language.silent_words(text) for term in _terms_of(word)}


@lru_cache(maxsize=2048)
def _terms_of(word: str) -> tuple[str, ...]:
    return tuple(analysis.query_terms(word))


def without_request(message: str) -> str:
    """A message without its courtesies and without what makes a question or a request of it."""
    text = _without(message, [*find_phrases(message, ("courtesy",))])
    third = next(islice(_ATOM.finditer(text), 2, None), None)
    last = len(text) if third is None else third.start()
    # What leads has nothing but one or two words before it, or a script without spaces.
    leading = [
        one
        for one in find_phrases(text, ("asking", "request"))
        if one.start <= last or UNSPACED_LETTER.match(text[one.start])
    ]
    return _without(text, leading)


def _without(text: str, phrases: Collection[PhraseMatch]) -> str:
    """``text`` with blanks in the place of phrases, which are in order."""
    parts: list[str] = []
    at = 0
    for one in phrases:
        if one.end > at:
            start = max(one.start, at)
            parts += (text[at:start], " " * (one.end - start))
            at = one.end
    return "".join([*parts, text[at:]])


def find_phrases(text: str, wanted: Collection[str] | None = None, every: bool = False) -> Iterator[PhraseMatch]:
    """The phrases in a text, the longest where several begin at one place, in order and without overlap by kind.

    With ``every`` short words count in whatever language they are.
    """
    atoms = _atoms(text)
    # Who writes accents at all means a word without one, or with another one, as it stands: "lắm" is not "làm".
    exact = _accented(text)
    spoken: frozenset[str] | None = None
    free: dict[str, int] = {}
    for at, (atom, start, _) in enumerate(atoms):
        best: dict[str, int] = {}
        for phrase in _beginning(atom):
            if wanted is not None and phrase.kind not in wanted:
                continue
            size = len(phrase.atoms)
            if size <= best.get(phrase.kind, 0) or at < free.get(phrase.kind, 0) or not _fits(phrase, atoms, at):
                continue
            if exact and not _accents_fit(phrase, exact[at : at + size]):
                continue
            # A word with an accent of its own is hardly one of another language.
            if not (phrase.sure or every or (exact and not "".join(phrase.accented).isascii())):
                spoken = _spoken(text) if spoken is None else spoken
                if spoken and phrase.language not in spoken:
                    continue
            best[phrase.kind] = size
        for kind, size in best.items():
            free[kind] = at + size
            yield PhraseMatch(kind, start, atoms[at + size - 1][2])


def _fits(phrase: _Phrase, atoms: list[tuple[str, int, int]], at: int) -> bool:
    size = len(phrase.atoms)
    if at + size > len(atoms):
        return False
    if any(phrase.atoms[i] != atoms[at + i][0] for i in range(size - 1)):
        return False
    last = atoms[at + size - 1][0]
    return last.startswith(phrase.atoms[-1]) if phrase.open else last == phrase.atoms[-1]


def _accents_fit(phrase: _Phrase, words: Sequence[str]) -> bool:
    """Whether words that are those of a phrase but for their accents have its accents too.

    In Vietnamese a word in another tone is another word, so there none may have more of them either.
    """
    for i, (wanted, word) in enumerate(zip(phrase.accented, words, strict=True)):
        open_end = phrase.open and i == len(words) - 1
        told = not wanted.isascii() or phrase.language == analysis.VIETNAMESE
        if told and not (word.startswith(wanted) if open_end else word == wanted):
            return False
    return True


@lru_cache(maxsize=2048)
def _beginning(atom: str) -> tuple[_Phrase, ...]:
    """The phrases that may begin with ``atom``."""
    closed, opened, longest = _phrases()
    starts = (opened.get(atom[:size], ()) for size in range(1, min(len(atom), longest) + 1))
    return (*closed.get(atom, ()), *(phrase for some in starts for phrase in some))


@cache
def _phrases() -> tuple[dict[str, list[_Phrase]], dict[str, list[_Phrase]], int]:
    """Phrases by their first atom: those that begin with just it, and those whose one atom has any ending.

    The last is the length of the longest atom of these.
    """
    closed: dict[str, list[_Phrase]] = {}
    opened: dict[str, list[_Phrase]] = {}
    for spoken, line in word_lists.lines_of(__package__, "speech.txt"):
        kind, _, words = line.partition(":")
        for word in words.split(";"):
            bare = word.strip().removesuffix("*")
            atoms = tuple(atom for atom, _, _ in _atoms(bare))
            if atoms:
                phrase = _Phrase(atoms, tuple(_words(bare)), word.strip().endswith("*"), kind, spoken)
                (opened if phrase.open and len(atoms) == 1 else closed).setdefault(atoms[0], []).append(phrase)
    return closed, opened, max(map(len, opened))


def _atoms(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as they are compared, case and accents aside, with where they stand."""
    return [(_folded(match[0]), match.start(), match.end()) for match in _ATOM.finditer(text)]


def _accented(text: str) -> list[str]:
    """The words of a text as they are written, but for their case; empty where no Latin letter has an accent."""
    if text.isascii() or not _ACCENT.search(text):
        return []
    return _words(text)


def _words(text: str) -> list[str]:
    """The words of a text as they are written, but for their case."""
    return [unicodedata.normalize("NFC", match[0].casefold().replace("’", "'")) for match in _ATOM.finditer(text)]


@lru_cache(maxsize=16384)
def _folded(word: str) -> str:
    plain = word.casefold().replace("’", "'")
    if plain.isascii():
        return plain
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", plain)))


@lru_cache(maxsize=1024)
def _spoken(text: str) -> frozenset[str]:
    """The languages with the most stop words in a text, less letters that they lack; none where nothing tells."""
    votes: Counter[str] = Counter()
    words = set(language.latin_words(unicodedata.normalize("NFC", text).lower()))
    for word in words:
        votes.update(language.voters(word))
    foreign = language.accents(words)
    for name in votes:
        votes[name] -= len(foreign - language.letters(name))
    most = max(votes.values(), default=0)
    return frozenset(name for name, count in votes.items() if count == most)
