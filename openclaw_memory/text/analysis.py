"""From text to terms, and the few facts about a text that ranking uses.

Words are lower-cased, accents folded, English stop words dropped and the rest stemmed by Snowball in the
language of their script (English for Latin letters).  So a word has the same term in every text.  A text in
another language with Latin letters has the stems of that language too.  Identifiers are kept whole and in parts:
``10.0.0.17``, ``QX-7714``, ``v2.3.1``, ``snake_case`` and ``camelCase``.  Runs of scripts that put no spaces
between words become bigrams, and so do the syllables of Vietnamese, which has a space after each; a pictograph is a
term.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

from . import calendar_words, characters
from . import language as languages
from .scripts import HANGUL, HIRAGANA, INDIC, KANA, POINTS, SOUTH_EAST_ASIAN, UNSPACED, letter

#: Grows when the terms of a text change, so that stored postings are known to be of another make.
ANALYSIS_VERSION = 10

STOP_WORDS = frozenset(
    """
    a about after am an and any are as at be been before being between but by can could d did do does
    don during for from had has have having he her him his how i if in into is it its just ll m me my
    no not of on or our re s she should so some such t than that the their them then there these they
    this to too us ve very was we were what when where which who whom why will with would you your
    """.split()
)

POSSESSIVE = re.compile(r"['’]s\b")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
#: A run of word characters, vowel signs included, with the dots and hyphens that hold an identifier together.
_LETTERS = rf"[\w{INDIC}{SOUTH_EAST_ASIAN}]+"
_RUN = re.compile(rf"{_LETTERS}(?:[.\-]{_LETTERS})*")
#: Something in it that plain lower-case words do not have: joined parts, inner capitals, digits beside letters.
_COMPLEX = re.compile(r"[A-Za-z0-9_][.\-_][A-Za-z0-9_]|[a-z][A-Z]|[A-Z]{2}[a-z]|[^\x00-\x7f]")
_WORDS = re.compile(r"(?<![^\s,;!?\"()])[^\s,;!?\"()]+(?<![.:'’])")
_SPLIT = re.compile(r"[._\-]+")
_CAMEL = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_CJK = re.compile(f"[{UNSPACED}{HANGUL}]+")
#: What stands between words.
_BETWEEN = r"\s!-,/:-@\[-^`{-~\u00a0-\u00bf\u2010-\u206f\u3000-\u303f"
#: A word as people see it, with the accents and vowel signs that belong to it; or a run of letters without spaces.
_TOKEN = re.compile(f"(?P<joined>[{UNSPACED}{HANGUL}]+)|[^{_BETWEEN}{UNSPACED}{HANGUL}]+")
_KANA = letter(KANA)
_PARTICLES = re.compile(f"[{HIRAGANA}]{{2}}")
_DIACRITICS = re.compile(f"[\u0300-\u036f{POINTS}]+")
#: But for those of scripts whose stemmers know them.
_LATIN_DIACRITICS = re.compile(f"(?<![\u0370-\u052f])[\u0300-\u036f{POINTS}]+")
#: The hyphen that breaks no line is one, and the one that nobody sees is none.
_HYPHENS = {0x2010: "-", 0x00AD: None}
#: Letters whose stroke, or missing dot, no normal form parts from them: people leave it out as they do an accent.
_STROKES = str.maketrans("łŁđĐøØħĦŧŦı", "lLdDoOhHtTi")
VIETNAMESE = "vietnamese"
#: Emoji and other small pictures, but for the modifiers of a skin's colour.
_PICTOGRAPH = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
#: Letters that only Vietnamese has.
_VIETNAMESE = re.compile("[\u01a0\u01a1\u01af\u01b0\u1ea0-\u1ef9]")
#: A word of an alphabet, as long as people may misspell one; what digits or marks of programs join is none.
_SPELT = re.compile(rf"(?<![\w{INDIC}])(?:[{INDIC}]|[^\W\d_{UNSPACED}{HANGUL}]){{4,24}}(?![\w{INDIC}])")
#: Words with nothing but a space between them; each letter is looked at once, however long a word is.
_SYLLABLES = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:[ \t\n]++[^\W\d_]++)+")


def stems(words: list[str]) -> list[str]:
    """The stem of each of ``words``, which are in small letters."""
    return languages.stems(words)


def terms(text: str) -> list[str]:
    """Terms of a stored text, with repetitions, in no particular order."""
    return _terms(text, query=False)


def query_terms(text: str) -> list[str]:
    """Distinct terms of a question, in the order in which they appear; any text that has its words has all of them."""
    return list(dict.fromkeys(_terms(text, query=True)))


def content_terms(text: str) -> list[tuple[str, ...]]:
    """Words of a question that say something in its language, as the terms that any of its texts may have for them."""
    plain = query_terms(text)
    native = languages.latin_words(_composed(text).lower())
    language = languages.detect_language(native)
    others: dict[str, str] = {}
    silent: set[str] = set()
    if language != languages.ENGLISH:
        for word, own in zip(native, languages.stems(native, language), strict=True):
            known = query_terms(word)
            if languages.is_stop_word(word, language):
                silent.update(known)
            elif len(known) == 1 and (own := _folded(own)) != known[0]:
                others[known[0]] = own
    if not text.isascii():
        for word in _RUN.findall(text.lower()):
            script = languages.script_language(word)
            if script is not None and languages.is_stop_word(word, script):
                silent.update(query_terms(word))
        # A pair with a stop word in it crosses the border of a word; Japanese writes particles and endings in hiragana.
        pair = _PARTICLES if _KANA.search(text) else languages.pair_of_chinese()
        silent.update(term for term in plain if pair.fullmatch(term))
        silent.update(
            _pair(*both)
            for both in _syllables(text)
            if all(languages.is_stop_word(syllable, VIETNAMESE) for syllable in both)
        )
    said = [term for term in plain if term not in silent] or plain
    return [(term, others[term]) if term in others else (term,) for term in said]


def spellable_words(text: str) -> Iterator[re.Match[str]]:
    """Words of ``text`` that are long enough to be recognised where one letter is wrong, as they stand there."""
    return _SPELT.finditer(text)


def fold_spelling(word: str) -> str:
    """``word`` as spellings are compared: in small letters, Latin ones without accents."""
    return _plain(word).lower()


def vocabulary(texts: Iterable[str]) -> list[str]:
    """How the words in ``texts`` are spelt, but for stop words, in order."""
    words = {match[0] for text in texts for match in spellable_words(fold_spelling(text))}
    return sorted(word for word in words if len(query_terms(word)) == 1)


def words_by_term(text: str) -> dict[str, str]:
    """Terms of a question and the word of it that each comes from."""
    return {term: word for word in _WORDS.findall(text) for term in query_terms(word)}


def occurrences(question: str, text: str) -> Iterator[tuple[int, int]]:
    """Where words that ``question`` asks for stand in ``text``, in any form that has the same terms: ``start, end``."""
    wanted = {term for terms in content_terms(question) for term in terms}
    latin = languages.latin_words(_composed(question).lower())
    language = languages.detect_language(latin)
    for match in _TOKEN.finditer(text):
        word = match[0]
        if match.lastgroup == "joined":
            word = word.translate(characters.equivalents())
            pairs = [i for i in range(len(word)) if word[i : i + 2] in wanted or word[i] in wanted]
            for at in pairs:
                yield match.start() + at, match.start() + at + (2 if word[at : at + 2] in wanted else 1)
            continue
        native = languages.stems(languages.latin_words(_composed(word).lower()), language)
        if wanted & {*query_terms(word), *map(_folded, native)}:
            yield match.start(), match.end()


def _terms(text: str, query: bool) -> list[str]:
    text = POSSESSIVE.sub(" ", text)
    if not _COMPLEX.search(text):
        words = _ASCII_WORD.findall(text.lower())
        found = languages.stems([word for word in words if word not in STOP_WORDS])
        return found if query else found + _native(words, found)
    words = []
    whole: list[str] = []
    for run in _RUN.findall(_plain(text)):
        for part in _without_cjk(run, whole, query):
            if part.isascii() and part.islower() and part.isalpha():
                words.append(part)
            else:
                _split_identifier(part, words, whole)
    found = _stemmed([word for word in words if word not in STOP_WORDS])
    if not query:
        found += _native(languages.latin_words(_composed(text).lower()), found)
    found += whole + [_pair(*both) for both in _syllables(text)]
    # Who asks with words does not mean the pictures among them.
    return found if query and found else found + list(dict.fromkeys(_PICTOGRAPH.findall(text)))


def _stemmed(words: list[str]) -> list[str]:
    """Stems in the language of each word's script, accents folded."""
    latin = [word for word in words if word.isascii()]
    if len(latin) == len(words):
        return languages.stems(words)
    out = languages.stems(latin)
    for word in words:
        if not word.isascii():
            script = languages.script_language(word)
            out += map(_folded, languages.stems([word], script or languages.ENGLISH))
    return out


def _native(words: list[str], known: list[str]) -> list[str]:
    """Stems of a text's words in its own language, where that is not English: those that it does not have already."""
    language = languages.detect_language(words)
    if language == languages.ENGLISH:
        return []
    content = [word for word in words if not languages.is_stop_word(word, language)]
    has = set(known)
    return [stem for stem in map(_folded, languages.stems(content, language)) if stem not in has]


def _syllables(text: str) -> Iterator[tuple[str, str]]:
    """Syllables of a Vietnamese text that stand beside each other, which most of its words are two of."""
    if text.isascii():
        return
    text = _composed(text)
    if _VIETNAMESE.search(text) is None:
        return
    for run in _SYLLABLES.findall(text.lower()):
        yield from ((one, other) for one, other in pairwise(run.split()) if not (one + other).isascii())


def _pair(one: str, other: str) -> str:
    return f"{_folded(one)} {_folded(other)}"


def _folded(text: str) -> str:
    """Accents removed and compatibility forms (full-width letters, ligatures) made plain."""
    if text.isascii():
        return text
    return _composed(_DIACRITICS.sub("", unicodedata.normalize("NFKD", text).translate(_STROKES)))


def _plain(text: str) -> str:
    """As :func:`_folded`, but with the accents of letters that are not Latin; characters as they are compared."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text).translate(_HYPHENS).translate(_STROKES)
    return _DIACRITICS.sub("", _composed(_LATIN_DIACRITICS.sub("", text))).translate(characters.equivalents())


def _composed(text: str) -> str:
    """Compatibility forms made plain, accents kept."""
    return text if text.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text))


def _without_cjk(run: str, whole: list[str], query: bool) -> Iterator[str]:
    if run.isascii() or not _CJK.search(run):
        yield run
        return
    at = 0
    for match in _CJK.finditer(run):
        if match.start() > at:
            yield run[at : match.start()].strip(".-")
        characters = match[0]
        pairs = [characters[i : i + 2] for i in range(len(characters) - 1)]
        whole += pairs
        if not query or not pairs:
            whole += characters
        at = match.end()
    if at < len(run):
        yield run[at:].strip(".-")


def _split_identifier(run: str, words: list[str], whole: list[str]) -> None:
    pieces: list[str] = []
    for piece in _SPLIT.split(run):
        if not piece:
            continue
        camel = _CAMEL.findall(piece) if piece != piece.casefold() and not piece.isupper() else [piece]
        if len(camel) > 1:
            words.append(piece.casefold())  # stemmed, as it is when it is written in small letters
        pieces += camel
    words += [piece.casefold() for piece in pieces]
    if len(pieces) > 1 and _SPLIT.search(run.strip("_")):
        joined = run.casefold().strip("_")
        whole.append(joined)
        if joined.startswith("v") and joined[1:2].isdecimal():
            whole.append(joined[1:])


#: Days and times in digits.
_MOMENT = re.compile(r"\d{1,4}[-./年]\d{1,2}(?:[-./月]\d{1,4}日?)?|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2}月\d{1,2}日")
#: Figures that say how much of nothing: days, times, years, the number of an item.
_UNCOUNTED = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d(?:[-./年]\d{1,2}(?:[-./月]\d{1,2}日?)?)?(?!\d)|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}月\d{1,2}日)"
    r"|^\s*\d+[.)]\s"
)
_MARKS = re.compile(r"[\W_]+")
_BRACKETED_END = re.compile(r"[\[(][^\[\]()]*[\])]$")


def is_question(text: str) -> bool:
    """Whether a text ends in a question mark, a bracketed remark behind it aside."""
    stripped = text.rstrip()
    if stripped.endswith(("]", ")")):
        stripped = _BRACKETED_END.sub("", stripped).rstrip()
    return stripped.endswith(("?", "？"))


def time_words(text: str) -> int:
    """How many words of time a text has, in any language, at most 2."""
    lower = text.lower()
    plainly = calendar_words.time_words()
    found = sum(word in plainly for word in calendar_words.WORD.findall(lower))
    if found < 2 and not text.isascii():
        found += sum(1 for _ in calendar_words.time_phrases().finditer(lower))
    return min(found, 2)


def has_amount(text: str) -> bool:
    """Whether a text has a figure that may say how much: of no day, time, year or item of a list."""
    return any(map(str.isdecimal, _UNCOUNTED.sub(" ", text)))


def name_key(name: str) -> str:
    """First word of a person's name as it is compared between a speaker and a question."""
    parts = name.split()
    return _folded(parts[0]).casefold() if parts else ""


def unit_hash(text: str) -> int:
    """63-bit hash that identifies a unit's search text."""
    from hashlib import blake2b

    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def likeness(text: str) -> int:
    """What texts share that say the same but for their days and times, their marks and their capitals."""
    return unit_hash(_MARKS.sub("", _MOMENT.sub("", text.casefold())) or text)


def hit_id(path: str, text_hash: int, occurrence: int) -> str:
    """What a hit is called by its best unit: the same after a rebuild of the index."""
    from hashlib import blake2b

    return blake2b(f"{path}\0{text_hash}\0{occurrence}".encode(), digest_size=8).hexdigest()
