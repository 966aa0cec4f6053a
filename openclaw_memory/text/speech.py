"""Recognise courtesies, questions, requests, and words that mark a decision, a preference or a promise.

The words are data (``speech.txt``), in the languages of notes.  A short word counts in the language of its text only,
as ``no`` and ``ne`` mean different things in different ones.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice

from .. import patterns as re
from ..records import NamedTuple
from . import analysis, language, word_lists
from .scripts import GREEK, HIRAGANA, UNSPACED, UNSPACED_LETTER, letter
from .sentences import sentence_spans

#: Words, with the vowels and marks within them that are no letters, and what joins their parts; of scripts that put no
#: spaces between them, single characters.
_ATOM = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]"
    rf"(?:[^\W_{UNSPACED}]|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0980-\u0d7f\u200c])*"
    r"(?:['’][^\W_]+)?",
)
_CLAUSES = re.compile(r"[,.;:!，。；：！、]\s*|\s[–—-]\s")


class PhraseMatch(NamedTuple):
    """A phrase of ``speech.txt`` in a text: its kind and its place."""

    kind: str
    start: int
    end: int


class _Phrase(NamedTuple):
    atoms: tuple[str, ...]
    #: The same with their accents.
    accented: tuple[str, ...]
    #: True if the last atom stands for any ending, and if the first one does for any beginning.
    open: bool
    headless: bool
    kind: str
    language: str

    @property
    def sure(self) -> bool:
        """True if it means the same whatever language the text is in."""
        first = self.atoms[0]
        # A word of six letters is not taken for one of another language.
        return len(self.atoms) > 1 or len(first) >= 6 or not "a" <= first[0] <= "z"


def asks_for_answer(message: str) -> bool:
    """Return true if a message asks for an answer."""
    mark = re.search("[?？؟՞;]\\s*$|[?？؟]", message)
    if mark is not None and (mark[0].strip() != ";" or letter(GREEK).search(message)):
        return True
    first = next((at for at, char in enumerate(message) if char.isalnum()), len(message))
    return any(
        match.start == first or UNSPACED_LETTER.match(message[match.start])
        for match in find_phrases(message, ("asking",))
    )


def ends_as_question(sentence: str) -> bool:
    """Return true if a sentence of a script without spaces ends with a word that asks: "ですか。", "吗"."""
    end = len(sentence.rstrip(" .。")) if UNSPACED_LETTER.search(sentence) else 0
    return bool(end) and any(match.end == end for match in find_phrases(sentence, ("asking",)))


def has_request(message: str) -> bool:
    """Return true if a sentence of a message, or a clause of it, begins with a request or a question."""
    return any(is_request(part) or asks_for_answer(part) for part in _CLAUSES.split(message) if part.strip())


def is_request(sentence: str) -> bool:
    """Return true if a sentence begins with a request, courtesies before it aside."""
    at = 0
    stated = [(match.start, match.end) for match in find_phrases(sentence, ("decision", "person", "remember"))]
    for match in find_phrases(sentence, ("courtesy", "request")):
        if any(map(str.isalnum, sentence[at : match.start])):
            break
        if match.kind == "request" and not any(start <= match.start and match.end < end for start, end in stated):
            return True
        at = max(at, match.end)
    if any("a" <= char <= "z" for char in sentence) and "turkish" not in spoken_languages(sentence):
        return False
    # In Japanese, Korean and Turkish the verb stands at the end.
    end = len(sentence.rstrip(" .!。！")) - 1
    return any(match.end >= end for match in find_phrases(sentence, ("request",)))


def is_thanks(sentence: str) -> bool:
    """Return true if a sentence goes on from its thanks without a pause or a request: "thank you for your help"."""
    return _behind_thanks(sentence)[:1].isalnum() and not has_request(sentence)


def _behind_thanks(sentence: str) -> str:
    """Return what stands behind the thanks that open a sentence; empty without such."""
    first = next(find_phrases(sentence, ("thanks",)), None)
    if first is None or any(map(str.isalnum, sentence[: first.start])):
        return ""
    return sentence[first.end :].lstrip()


def asks_to_remember(sentence: str) -> bool:
    """Return true if a sentence asks to be remembered: "remember" opens it, which "I remember" does not."""
    rest, at = _without(sentence, [*find_phrases(sentence, ("courtesy",))]), 0
    for match in find_phrases(sentence, ("remember",)):
        between = rest[at : match.start].rstrip()
        opens = not between[-1].isalnum() if between else not at
        if opens or len(_ATOM.findall(sentence[match.start : match.end])) > 1:
            return True
        at = match.end
    return False


def is_reported(sentence: str) -> bool:
    """Return true if a sentence tells what somebody else says or wrote, and nothing of its speaker or listener."""
    own = [(match.start, match.end) for match in find_phrases(sentence, ("personal",))]
    for match in find_phrases(sentence, ("reported",)):
        if any(end <= match.start and not sentence[end : match.start].strip() for _, end in own):
            continue  # "I said"
        # In Japanese, Korean and Turkish the verb stands at the end.
        is_last = not any(map(str.isalnum, sentence[match.end :]))
        return not any(is_last or start >= match.end for start, _ in own)
    return False


def phrase_kinds(sentence: str) -> frozenset[str]:
    """Return the kinds of phrases in a sentence; one within a longer courtesy is part of that ("cảm ơn", "cấm").

    So is one within a longer phrase about a person: in "ela se chama" nothing is supposed.
    """
    every = list(find_phrases(sentence))
    # In order, and none within another.
    wholes = [[match for match in every if match.kind == kind] for kind in ("courtesy", "person")]

    def within(match: PhraseMatch, longer: Sequence[PhraseMatch]) -> bool:
        before = bisect_right(longer, match.start, key=lambda other: other.start)
        whole = longer[before - 1] if before else match
        return match.end <= whole.end and match.end - match.start < whole.end - whole.start

    return frozenset(match.kind for match in every if not any(within(match, longer) for longer in wholes))


def without_small_talk(message: str) -> str:
    """Return the sentences of a message that have a subject; empty when none has."""
    parts = []
    for line in message.strip().splitlines():
        for start, end in sentence_spans(line):
            # In "thanks for your help, …" nobody asks for it.
            pause = _CLAUSES.search(line, start, end)
            begin = end if pause is None else pause.end()
            part = line[begin:end] if is_thanks(line[start:begin]) else line[start:end]
            # Nor in "thanks, it works".
            least = 2 if _behind_thanks(part) and not has_request(part) else 1
            parts += [part] if len(subject_terms(part)) >= least else []
    return " ".join(parts)


@lru_cache(maxsize=4096)
def subject_terms(message: str) -> tuple[str, ...]:
    """Return the distinct terms of a message's subject; none in a courtesy."""
    if not message.strip():
        return ()
    # A message of nothing but courtesies may be in any language, a sentence with others is in its own.
    polite = [*find_phrases(message, ("courtesy",), every=True)]
    if not any(map(str.isalnum, _without(message, polite))):
        return ()
    rest = _without(message, [*find_phrases(message, ("courtesy",))]) if polite else message
    terms = dict.fromkeys(word[0] for word in analysis.content_terms(rest))
    silent = stop_word_terms(rest)
    return tuple(term for term in terms if term not in silent and not letter(HIRAGANA).fullmatch(term))


def stop_word_terms(text: str) -> set[str]:
    """Return the terms of the stop words of a text in its language."""
    return {term for word in language.stop_words_in(text) for term in _terms_of(word)}


def _terms_of(word: str) -> tuple[str, ...]:
    return tuple(analysis.query_terms(word))


def without_request(message: str) -> str:
    """Return a message without its courtesies and without the words that make it a question or a request."""
    text = _without(message, [*find_phrases(message, ("courtesy",))])
    third = next(islice(_ATOM.finditer(text), 2, None), None)
    last = len(text) if third is None else third.start()
    # A leading phrase has only one or two words before it, or is in a script without spaces.
    leading = [
        match
        for match in find_phrases(text, ("asking", "request"))
        if match.start <= last or UNSPACED_LETTER.match(text[match.start])
    ]
    return _without(text, leading)


def _without(text: str, phrases: Collection[PhraseMatch]) -> str:
    """Return ``text`` with blanks in the place of phrases, which are in order."""
    parts: list[str] = []
    at = 0
    for match in phrases:
        if match.end > at:
            start = max(match.start, at)
            parts += (text[at:start], " " * (match.end - start))
            at = match.end
    return "".join([*parts, text[at:]])


def find_phrases(text: str, kinds: Collection[str] | None = None, every: bool = False) -> Iterator[PhraseMatch]:
    """Yield the phrases in a text, the longest at each place, in order and without overlap of one kind.

    With ``every`` short words count in whatever language they are.
    """
    atoms = _atoms(text)
    # In a text with accents a word without one, or with another one, is another word: "lắm" is not "làm".
    accent = None if text.isascii() else re.search("[\u00c0-\u024f\u1e00-\u1eff]|[A-Za-z][\u0300-\u036f]", text)
    exact = _words(text) if accent else []
    spoken: frozenset[str] | None = None
    free: dict[str, int] = {}
    for at, (atom, start, _) in enumerate(atoms):
        best: dict[str, int] = {}
        for phrase in _beginning(atom):
            if kinds is not None and phrase.kind not in kinds:
                continue
            size = len(phrase.atoms)
            if size <= best.get(phrase.kind, 0) or at < free.get(phrase.kind, 0):
                continue
            if not _fits(phrase, atoms, exact, at):
                continue
            # A word with an accent of its own is hardly one of another language.
            if not (phrase.sure or every or (exact and not "".join(phrase.accented).isascii())):
                spoken = spoken_languages(text) if spoken is None else spoken
                if spoken and phrase.language not in spoken:
                    continue
            best[phrase.kind] = size
        for kind, size in best.items():
            free[kind] = at + size
            yield PhraseMatch(kind, start, atoms[at + size - 1][2])


def _fits(phrase: _Phrase, atoms: list[tuple[str, int, int]], exact: Sequence[str], at: int) -> bool:
    """Return true if the words from ``at`` on are a phrase; ``exact`` are all words with their accents, or none.

    Words that keep their accents have those of the phrase too.  In Vietnamese a word in another tone is another word,
    so there none may have more of them either.
    """
    end = at + len(phrase.atoms)
    if end > len(atoms):
        return False
    for place, atom, accented in zip(range(at, end), phrase.atoms, phrase.accented, strict=True):
        same = str.startswith if phrase.open and place == end - 1 else str.__eq__
        same = str.endswith if phrase.headless and place == at else same
        if not same(atoms[place][0], atom):
            return False
        significant = exact and (not accented.isascii() or phrase.language == analysis.VIETNAMESE)
        if significant and not same(exact[place], accented):
            return False
    return True


@lru_cache(maxsize=2048)
def _beginning(atom: str) -> tuple[_Phrase, ...]:
    """Return the phrases that may begin with ``atom``."""
    closed, opened, headless, longest = _phrases()
    sizes = range(1, min(len(atom), longest) + 1)
    parts = (*(opened.get(atom[:size], ()) for size in sizes), *(headless.get(atom[-size:], ()) for size in sizes))
    return (*closed.get(atom, ()), *(phrase for some in parts for phrase in some))


@cache
def _phrases() -> tuple[dict[str, list[_Phrase]], dict[str, list[_Phrase]], dict[str, list[_Phrase]], int]:
    """Return phrases by their first atom: those that begin with just it, with any ending of it, with any beginning.

    The last value is the length of the longest atom of the latter two.
    """
    closed: dict[str, list[_Phrase]] = {}
    opened: dict[str, list[_Phrase]] = {}
    headless: dict[str, list[_Phrase]] = {}
    for spoken, line in word_lists.lines_of(__package__, "speech.txt"):
        kind, _, words = line.partition(":")
        for word in words.split(";"):
            word = word.strip()
            bare = word.strip("*")
            atoms = tuple(atom for atom, _, _ in _atoms(bare))
            if atoms:
                phrase = _Phrase(atoms, tuple(_words(bare)), word.endswith("*"), word.startswith("*"), kind, spoken)
                begins = headless if phrase.headless else opened if phrase.open and len(atoms) == 1 else closed
                begins.setdefault(atoms[0], []).append(phrase)
    return closed, opened, headless, max(map(len, (*opened, *headless)))


def _atoms(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text as they are compared, case and accents aside, with their places."""
    return [(_folded(match[0]), match.start(), match.end()) for match in _ATOM.finditer(text)]


def _words(text: str) -> list[str]:
    """Return the words of a text without case."""
    return [unicodedata.normalize("NFC", match[0].casefold().replace("’", "'")) for match in _ATOM.finditer(text)]


@lru_cache(maxsize=16384)
def _folded(word: str) -> str:
    plain = word.casefold().replace("’", "'")
    if plain.isascii():
        return plain
    return unicodedata.normalize(
        "NFC", re.sub("[\u0300-\u036f\u064b-\u0652\u200c]+", "", unicodedata.normalize("NFKD", plain))
    )


def spoken_languages(text: str) -> frozenset[str]:
    """Return the languages with the most stop words in a text, less letters that they lack; none without any."""
    votes = language.count_votes(set(language.latin_words(unicodedata.normalize("NFC", text).lower())))
    most = max(votes.values(), default=0)
    return frozenset(name for name, count in votes.items() if count == most)
