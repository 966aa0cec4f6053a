"""Turn text into terms, and extract the few features of a text that ranking uses.

Words are lower-cased, accents folded, English stop words dropped and the rest stemmed by Snowball in the
language of their script (English for Latin letters).  So a word has the same term in every text.  A text in
another language with Latin letters has the stems of that language too.  Identifiers are kept whole and in parts:
``10.0.0.17``, ``QX-7714``, ``v2.3.1``, ``snake_case`` and ``camelCase``.  Runs of scripts that put no spaces
between words become bigrams, and so do the syllables of Vietnamese, which has a space after each; a pictograph is a
term.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise

from .. import patterns as re
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
_CAMEL = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_CJK = re.compile(f"[{UNSPACED}{HANGUL}]+")
#: A word as people see it, with the accents and vowel signs that belong to it; or a run of letters without spaces.
_TOKEN = re.compile(
    rf"(?P<joined>[{UNSPACED}{HANGUL}]+)|[^\s!-,/:-@\[-^`{{-~\u00a0-\u00bf\u2010-\u206f\u3000-\u303f{UNSPACED}{HANGUL}]+"
)
_KANA = letter(KANA)
_PARTICLES = re.compile(f"[{HIRAGANA}]{{2}}")
_DIACRITICS = re.compile(f"[\u0300-\u036f{POINTS}]+")
#: Diacritics without those of scripts whose stemmers know them.
_LATIN_DIACRITICS = re.compile(f"(?<![\u0370-\u052f])[\u0300-\u036f{POINTS}]+")
#: Letters whose stroke, or missing dot, no normal form parts from them: people leave it out as they do an accent.
_STROKES = str.maketrans("łŁđĐøØħĦŧŦı", "lLdDoOhHtTi")
VIETNAMESE = "vietnamese"
#: Emoji and other small pictures, but for the modifiers of a skin's colour.
_PICTOGRAPH = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
#: A word of an alphabet, as long as people may misspell one; what digits or marks of programs join is none.
_SPELT = re.compile(rf"(?<![\w{INDIC}])(?:[{INDIC}]|[^\W\d_{UNSPACED}{HANGUL}]){{4,24}}(?![\w{INDIC}])")


def terms(text: str) -> list[str]:
    """Return the terms of a stored text, with repetitions, in no particular order."""
    return _terms(text, query=False)


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question in order; any text with its words has all of them."""
    return list(dict.fromkeys(_terms(text, query=True)))


def content_terms(text: str) -> list[tuple[str, ...]]:
    """Return for each content word of a question the terms that it may have in a text.

    Stop words of the question's language are left out, unless it has nothing else.
    """
    plain = query_terms(text)
    native = languages.latin_words(_composed(text).lower())
    language = languages.detect_language(native)
    others: dict[str, str] = {}
    silent: set[str] = set()
    if language != languages.ENGLISH:
        for word, stem in zip(native, languages.stems(native, language), strict=True):
            plain_terms = query_terms(word)
            if languages.is_stop_word(word, language):
                silent.update(plain_terms)
            elif len(plain_terms) == 1 and (stem := _folded(stem)) != plain_terms[0]:
                others[plain_terms[0]] = stem
    if not text.isascii():
        for word in _RUN.findall(text.lower()):
            script = languages.script_language(word)
            if script is not None and languages.is_stop_word(word, script):
                silent.update(query_terms(word))
        # A pair with a stop word in it crosses the border of a word; Japanese writes particles and endings in hiragana.
        crossing = _PARTICLES if _KANA.search(text) else languages.pair_of_chinese
        silent.update(term for term in plain if crossing.fullmatch(term))
        silent.update(
            _pair(*pair)
            for pair in _syllables(text)
            if all(languages.is_stop_word(syllable, VIETNAMESE) for syllable in pair)
        )
    content = [term for term in plain if term not in silent] or plain
    return [(term, others[term]) if term in others else (term,) for term in content]


def spellable_words(text: str) -> Iterator[re.Match[str]]:
    """Find the words of ``text`` that are long enough to be recognised with one wrong letter."""
    return _SPELT.finditer(text)


def fold_spelling(word: str) -> str:
    """Return ``word`` as spellings are compared: in small letters, Latin ones without accents."""
    return _plain(word).lower()


def vocabulary(texts: Iterable[str]) -> list[str]:
    """Return the folded spellings of the words in ``texts`` without stop words, in order."""
    words = {match[0] for text in texts for match in spellable_words(fold_spelling(text))}
    return sorted(word for word in words if len(query_terms(word)) == 1)


def words_by_term(text: str) -> dict[str, str]:
    """Return the terms of a question, each with the word that it comes from."""
    words = re.findall(r"(?<![^\s,;!?\"()])[^\s,;!?\"()]+(?<![.:'’])", text)
    return {term: word for word in words for term in query_terms(word)}


def occurrences(question: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the ``start, end`` of words in ``text`` that share a term with ``question``, in any form."""
    sought = {term for terms in content_terms(question) for term in terms}
    latin = languages.latin_words(_composed(question).lower())
    language = languages.detect_language(latin)
    for match in _TOKEN.finditer(text):
        word = match[0]
        if match.lastgroup == "joined":
            word = word.translate(characters.equivalents())
            for at, character in enumerate(word, match.start()):
                pair = word[at - match.start() :][:2]
                if pair in sought or character in sought:
                    yield at, at + (2 if pair in sought else 1)
            continue
        native = languages.stems(languages.latin_words(_composed(word).lower()), language)
        if sought & {*query_terms(word), *map(_folded, native)}:
            yield match.start(), match.end()


def _terms(text: str, query: bool) -> list[str]:
    text = POSSESSIVE.sub(" ", text)
    if not _COMPLEX.search(text):
        words = _ASCII_WORD.findall(text.lower())
        stemmed_words = languages.stems([word for word in words if word not in STOP_WORDS])
        return stemmed_words if query else stemmed_words + _native(words, stemmed_words)
    words = []
    whole: list[str] = []
    for run in _RUN.findall(_plain(text)):
        for part in _without_cjk(run, whole, query):
            if part.isascii() and part.islower() and part.isalpha():
                words.append(part)
            else:
                _split_identifier(part, words, whole)
    stemmed_words = _stemmed([word for word in words if word not in STOP_WORDS])
    if not query:
        stemmed_words += _native(languages.latin_words(_composed(text).lower()), stemmed_words)
    stemmed_words += whole + [_pair(*pair) for pair in _syllables(text)]
    # Who asks with words does not mean the pictures among them.
    return stemmed_words if query and stemmed_words else stemmed_words + list(dict.fromkeys(_PICTOGRAPH.findall(text)))


def _stemmed(words: list[str]) -> list[str]:
    """Return the stems of words in the language of each word's script, accents folded."""
    out = languages.stems([word for word in words if word.isascii()])
    for word in words:
        if not word.isascii():
            script = languages.script_language(word)
            out += map(_folded, languages.stems([word], script or languages.ENGLISH))
    return out


def _native(words: list[str], present: list[str]) -> list[str]:
    """Return the stems of a text's words in its own language, unless that is English, without those ``present``."""
    language = languages.detect_language(words)
    if language == languages.ENGLISH:
        return []
    content = [word for word in words if not languages.is_stop_word(word, language)]
    has = set(present)
    return [stem for stem in map(_folded, languages.stems(content, language)) if stem not in has]


def _syllables(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of adjacent syllables of a Vietnamese text: most of its words are such a pair."""
    if text.isascii():
        return
    text = _composed(text)
    if re.search("[\u01a0\u01a1\u01af\u01b0\u1ea0-\u1ef9]", text) is None:
        return  # it has no letter that only Vietnamese has
    # Words with nothing but a space between them; each letter is looked at once, however long a word is.
    for run in re.findall(r"(?<![^\W\d_])[^\W\d_]++(?:[ \t\n]++[^\W\d_]++)+", text.lower()):
        yield from (pair for pair in pairwise(run.split()) if not "".join(pair).isascii())


def _pair(first: str, second: str) -> str:
    return f"{_folded(first)} {_folded(second)}"


def _folded(text: str) -> str:
    """Return ``text`` without accents, and with plain characters for full-width letters and ligatures."""
    if text.isascii():
        return text
    return _composed(_DIACRITICS.sub("", unicodedata.normalize("NFKD", text).translate(_STROKES)))


def _plain(text: str) -> str:
    """Return ``text`` as :func:`_folded`, but keep the accents of other letters than Latin ones."""
    if text.isascii():
        return text
    # The hyphen that breaks no line is one, and the one that nobody sees is none.
    text = unicodedata.normalize("NFKD", text).replace("\u2010", "-").replace("\u00ad", "").translate(_STROKES)
    return _DIACRITICS.sub("", _composed(_LATIN_DIACRITICS.sub("", text))).translate(characters.equivalents())


def _composed(text: str) -> str:
    """Return ``text`` in plain forms of its characters, accents kept."""
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
    for piece in run.replace(".", " ").replace("-", " ").replace("_", " ").split():
        camel = _CAMEL.findall(piece) if piece != piece.casefold() and not piece.isupper() else [piece]
        if len(camel) > 1:
            words.append(piece.casefold())  # stemmed, as it is when it is written in small letters
        pieces += camel
    words += [piece.casefold() for piece in pieces]
    if len(pieces) > 1 and not set("._-").isdisjoint(run.strip("_")):
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


def is_question(text: str) -> bool:
    """Return true if a text ends in a question mark, a bracketed remark behind it aside."""
    stripped = text.rstrip()
    opening = max(stripped.rfind("["), stripped.rfind("("))
    if stripped.endswith(("]", ")")) and opening >= 0 and set("])").isdisjoint(stripped[opening:-1]):
        stripped = stripped[:opening].rstrip()
    return stripped.endswith(("?", "？"))


def time_words(text: str) -> int:
    """Return the number of words of time in a text in any language, at most 2."""
    lower = text.lower()
    plainly = calendar_words.time_words()
    count = sum(word in plainly for word in calendar_words.WORD.findall(lower))
    if count < 2 and not text.isascii():
        count += sum(1 for _ in calendar_words.time_phrases.finditer(lower))
    return min(count, 2)


def has_amount(text: str) -> bool:
    """Return true if a text has a number that is no day, time, year or number of an item."""
    return re.search(r"\d", _UNCOUNTED.sub(" ", text)) is not None


def name_key(name: str) -> str:
    """Return the first word of a person's name in the form that speakers and questions are compared by."""
    parts = name.split()
    return _folded(parts[0]).casefold() if parts else ""


def unit_hash(text: str) -> int:
    """Return the 63-bit hash that identifies a unit's search text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def likeness(text: str) -> int:
    """Return a hash that texts share if they differ only in days, times, marks and capitals."""
    return unit_hash(re.sub(r"[\W_]+", "", _MOMENT.sub("", text.casefold())) or text)


def hit_id(path: str, text_hash: int, occurrence: int) -> str:
    """Return the id of a hit by its best unit: it stays the same when the index is rebuilt."""
    return blake2b(f"{path}\0{text_hash}\0{occurrence}".encode(), digest_size=8).hexdigest()
