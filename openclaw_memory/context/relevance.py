"""Relevance of the notes to a message: the words of it that stand in them, and the probability that it is about them.

The probability is that of a logistic regression (Cox, 1958) over features, none of which is a word of a language. Where
the model knows the language of the message, :data:`WEIGHTS` decide, fitted with both default models on notes in seven
languages; elsewhere :data:`KEYWORD_WEIGHTS`, by words, fitted on notes in eight. ``docs/context.md`` gives the numbers
of messages and the results on others; ``benchmarks/relevance.py`` fits them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import exp, log, log1p

import numpy as np
from numpy.typing import NDArray

from .. import patterns as re
from ..embed.smalltalk import SmalltalkMatch
from ..search.bm25 import KeywordScores
from ..search.hits import Scores
from ..search.ranking import Ranking
from ..store.api import Bools, Floats, Ints
from ..text import analysis, calendar_words, characters, language, speech
from ..text.scripts import HAN, HANGUL, KANA, SOUTH_EAST_ASIAN, UNSPACED_LETTER, letter
from ..text.sentences import sentence_spans

#: Weights of the features beside vectors, and the intercept.
WEIGHTS: dict[str, float] = {
    "words": 1.041,
    "unknown_name": -1.623,
    "small_corpus": 1.5,
    "closeness": 3.133,
    "smalltalk": -9.016,
    "margin": 6.632,
    "personal": 1.585,
    "shared": 2.086,
    "agreement": 1.811,
}
BIAS = -7.287
#: The same without vectors, or with those of a model that does not know the language, or was not compared yet.
KEYWORD_WEIGHTS: dict[str, float] = {
    "matched": 1.676,
    "share": -2.637,
    "unknown": -1.842,
    "unknown_name": -0.891,
    "score": 0.564,
    "agreement": 0.689,
    "language_coverage": -2.270,
    "size": -0.283,
}
KEYWORD_BIAS = 0.880

#: Probability from which a message counts as about the notes.
RELEVANT = 0.65
#: Least coverage of the message's language by a model whose vectors count.
MIN_COVERAGE = 0.8
#: Returns the vectors of rows, ``float32[n, d]``.
Rows = Callable[[Ints], Floats]
#: Numbers of the best rows by words and by meaning that are intersected, and of the closest small talk compared.
_COMPARED, _CLOSEST = 20, 3

#: Runs of words without spaces.  A word in katakana has all its characters, one in Korean the first two, as endings
#: follow, one of South East Asia about four.
_RUNS = re.compile(
    rf"(?P<kana>[\u30a1-\u30ff]{{2,}})|(?P<han>[{HAN}]{{2,}})|(?P<hangul>[{HANGUL}]{{2,}})|(?P<asian>[{SOUTH_EAST_ASIAN}]{{3,}})"
)
_ASIAN_WORD = 4
#: A word that is not the first of its sentence.
_LATER_WORD = re.compile(r"(?<=[\w,;]\s)[^\W\d_]\w+")
#: A Vietnamese syllable without its tone.
_SYLLABLE = re.compile("(?:ngh?|nh|gh|gi|kh|ph|qu|th|tr|ch|[bcdđghklmnprstvx])?[aeiouy]{1,3}(?:ch|nh|ng|[cmnpt])?")


def extract_features(
    ranking: Ranking,
    evidence: Evidence | None,
    best: Sequence[tuple[int, Scores]],
    smalltalk: SmalltalkMatch | None,
    allowed: Bools,
    vectors: Rows,
) -> dict[str, float]:
    """Return the features of a message.

    ``best`` are its best rows, best first; ``smalltalk`` is the similarity of the message to small talk, and
    ``vectors`` returns those of rows.

    By words: ``matched`` is the most words of the message around one row, ``share`` that of all its words, ``words``
    the logarithm of their number, ``unknown`` the share of those that no note has, and ``unknown_name`` 1 where one of
    these is a name. ``score`` is the logarithm of the highest reported score, and ``agreement`` the highest fused one,
    which is high where the signals of the search meet in one row. ``size`` is the logarithm of the number of rows: of
    many some match by chance. ``small_corpus`` is the logarithm of how many times fewer than a hundred they are: among
    few rows none stands out.

    By meaning, as shares of the distance from the noise of the model to 1: ``closeness`` is how much closer the message
    is to the best row than to small talk in the mean, ``smalltalk`` how much closer it is to one of those texts, and
    ``margin`` how much closer it is to one of the closest rows than the small talk closest to that row. ``personal`` is
    how much more it is like what notes are asked than like small talk, in deviations. ``shared`` is the logarithm of
    the number of rows among the best both by words and by meaning, times the share of the words around the best row
    that name no time, and ``language_coverage`` is how well the model knows the language. All are 0 without vectors.
    """
    rows = [row for row, _ in best]
    words = max(1, evidence.words) if evidence is not None else 1
    matched = 0
    if evidence is not None:
        matched = max((min(5, evidence.matched(row)) for row in rows), default=0)  # more words do not tell more
    coverage = ranking.features.language_coverage if ranking.similarities is not None and smalltalk is not None else 0.0
    features = dict.fromkeys(WEIGHTS, 0.0) | {
        "matched": float(matched),
        "share": matched / words,
        "words": log1p(evidence.words) if evidence is not None else 0.0,
        "unknown": evidence.unknown / words if evidence is not None else 0.0,
        "unknown_name": float(evidence is not None and evidence.has_unknown_name),
        "score": log(0.02 + max((scores.score for _, scores in best), default=0.0)),
        "agreement": float(ranking.score[rows[0]]) if rows else 0.0,
        "size": log(max(1, len(ranking.score))),
        "small_corpus": log(max(1.0, 100 / max(1, len(ranking.score)))),
        "language_coverage": coverage,
    }
    if rows and smalltalk is not None and coverage > MIN_COVERAGE:
        features |= _vector_features(ranking, rows[0], smalltalk, allowed, vectors)
        features["shared"] *= evidence.matched_untimed(rows[0]) / words if evidence is not None else 0.0
    return features


def _vector_features(
    ranking: Ranking, best: int, smalltalk: SmalltalkMatch, allowed: Bools, vectors: Rows
) -> dict[str, float]:
    """Return the features by meaning."""
    similarities, noise = ranking.similarities, ranking.query.noise
    if similarities is None:
        return {}
    cosines = np.where(allowed & ~np.isnan(similarities), similarities, -1.0)
    closest = np.argpartition(-cosines, min(_COMPARED, len(cosines)) - 1)[:_COMPARED]
    near: Ints = closest[cosines[closest] > -1].astype(np.int32)
    features = {
        "smalltalk": min(0.5, (smalltalk.highest - smalltalk.mean) / (1 - noise)),  # closer ones do not tell more
        "personal": smalltalk.personal,
    }
    if len(near):
        # A row as close to small talk as to the message is close to anything: Conneau et al. (2018), "Word
        # translation without parallel data", weigh neighbours so (CSLS).
        # Row by row: a product of two matrices wakes BLAS's threads, which cost more than it does.
        each = np.stack([smalltalk.vectors @ vector for vector in vectors(near)])
        closest_smalltalk = np.sort(each, axis=1)[:, -_CLOSEST:].mean(axis=1)
        features["margin"] = float((cosines[near] - closest_smalltalk).max()) / (1 - noise)
        cosine = float(cosines[best]) if cosines[best] > -1 else float(cosines[near].max())
        features["closeness"] = (cosine - smalltalk.mean) / (1 - noise)
    if (keyword := ranking.features.keyword) is not None:
        shared = _highest(keyword.unit[allowed]) & _highest(np.nan_to_num(similarities[allowed]))
        features["shared"] = log1p(len(shared))
    return features


def _highest(values: Floats) -> set[int]:
    """Return the places of the highest values above 0."""
    most = min(_COMPARED, len(values))
    places = np.argpartition(-values, most - 1)[:most]
    return set(places[values[places] > 0].tolist())


def probability(features: Mapping[str, float]) -> float:
    """Return the probability that a message with these features is about the notes, in (0, 1)."""
    has_vectors = features["language_coverage"] > MIN_COVERAGE
    weights, bias = (WEIGHTS, BIAS) if has_vectors else (KEYWORD_WEIGHTS, KEYWORD_BIAS)
    return 1 / (1 + exp(-bias - sum(weight * features[name] for name, weight in weights.items())))


# -- words of the message in the notes ----------------------------------------------------------------


class Evidence:
    """The words of one message in the notes.

    ``words`` counts the words that carry meaning, ``unknown`` those that no note has. ``has_unknown_name`` is true
    where one of these is a name: a message about somebody whom no note knows is hardly about the notes.
    """

    def __init__(self, message: str, keyword: KeywordScores, n: int) -> None:
        text = speech.without_request(message)
        rows_by_word = list(_word_rows(text, keyword))
        self.has_unknown_name = _has_unknown_name(text, keyword)
        self.words = len(rows_by_word)
        self.unknown = sum(not len(rows) for rows in rows_by_word)
        self._matched = _count_words(rows_by_word, n)
        untimed = calendar_words.without_times(text)
        self._untimed = self._matched if untimed == text else _count_words(_word_rows(untimed, keyword), n)

    def matched(self, row: int) -> int:
        """Return the number of words in the window of a row."""
        return int(self._matched[row])

    def matched_untimed(self, row: int) -> int:
        """Return the same without words that name a time: any notes have days and weeks, and so has small talk."""
        return int(self._untimed[row])


def _count_words(rows_by_word: Iterable[Ints], n: int) -> NDArray[np.int16]:
    """Return the number of words around each of ``n`` rows, from the rows of each word."""
    counts = np.zeros(n, np.int16)
    for rows in rows_by_word:
        counts[rows] += 1
    return counts


def _has_unknown_name(text: str, keyword: KeywordScores) -> bool:
    """Return true if no note has a capitalised word within a sentence, in a language that capitalises names alone."""
    if language.detect_language(language.latin_words(text.lower())) == language.CAPITAL_NOUNS:
        return False
    rows = dict(zip(keyword.terms, keyword.windows, strict=True))
    spaced = _RUNS.sub(" ", text)
    for start, end in sentence_spans(spaced):
        for word in _LATER_WORD.findall(spaced[start:end]):
            forms = analysis.content_terms(word) if word[0].isupper() else []
            if forms and forms[0][0] in rows and not len(rows[forms[0][0]]):
                return True
    return False


def _word_rows(text: str, keyword: KeywordScores) -> Iterator[Ints]:
    """Yield for each word of a text the rows around which it stands."""
    at = {term: i for i, term in enumerate(keyword.terms)}
    silent = speech.stop_word_terms(text)
    spaced = _RUNS.sub(" ", text)
    whole = analysis.words_by_term(spaced)
    words: dict[str, Ints] = {}
    terms = [term for term, *_ in analysis.content_terms(spaced) if term in at and term not in silent]
    for term in _join_syllables(terms, at, keyword.windows):
        if len(term) > 2 or not term.isdecimal():  # such figures stand in any notes
            # "GeoReview" is one word, also where its parts are terms: the rarest of them that the notes have.
            rows, word = keyword.windows[at[term]], whole.get(term, term)
            word = term if UNSPACED_LETTER.search(word) else word
            if word not in words or 0 < len(rows) < (len(words[word]) or len(rows) + 1):
                words[word] = rows
    yield from words.values()
    japanese = letter(KANA).search(text) is not None
    for run in _RUNS.finditer(text):
        yield from _run_rows(run, at, keyword.windows, japanese)


def _join_syllables(terms: Sequence[str], at: dict[str, int], windows: Sequence[Ints]) -> list[str]:
    """Join two syllables (Vietnamese) to one word where notes have both together, and drop the others.

    Without its tones, which are no part of a term, a syllable alone is any of a dozen words.
    """
    if not any(" " in term for term in terms):
        return list(terms)
    pairs = [term for term in terms if " " in term and all(map(_SYLLABLE.fullmatch, term.split()))]
    taken: set[str] = set()
    words: set[str] = set()
    # Pairs that no note has come last.
    for pair in sorted(pairs, key=lambda pair: len(windows[at[pair]]) or 1 << 31):
        if taken.isdisjoint(pair.split()):
            taken.update(pair.split())
            words.add(pair)
    return [term for term in terms if term in words or not (" " in term or term in taken or _SYLLABLE.fullmatch(term))]


def _run_rows(run: re.Match[str], at: dict[str, int], windows: Sequence[Ints], japanese: bool) -> Iterator[Ints]:
    """Yield the rows of the words in a run without spaces."""

    def rows_of(word: str) -> Ints:
        word = word.translate(characters.equivalents())
        pairs = [word[i : i + 2] for i in range(len(word) - 1)]
        rows = [windows[at[pair]] for pair in pairs if pair in at]
        if len(rows) < len(pairs):
            return np.zeros(0, np.int32)
        shared = rows[0]
        for other in rows[1:]:
            shared = np.intersect1d(shared, other, assume_unique=True)
        return shared

    text = run[0]
    if run.lastgroup == "kana":
        # A long run may be two words, where the notes have both.
        parts = range(2, len(text) - 1) if 5 < len(text) <= 40 else ()
        ways = [[rows_of(text)], *([rows_of(text[:i]), rows_of(text[i:])] for i in parts)]
        yield from max(ways, key=lambda way: (all(map(len, way)), -len(way), sum(map(len, way))))
    elif run.lastgroup == "hangul":
        yield rows_of(text[:2])
    elif run.lastgroup == "asian":
        yield from (rows_of(text[i : i + _ASIAN_WORD]) for i in range(0, len(text) - 2, _ASIAN_WORD))
    else:
        for part in [text] if japanese else _particles.split(text):
            yield from _han_rows(part, rows_of)


def _han_rows(text: str, rows_of: Callable[[str], Ints]) -> Iterator[Ints]:
    """Cut a text into words of two characters: so that most are known, then so that most of it is in one."""
    pairs = [rows_of(text[i : i + 2]) for i in range(len(text) - 1)]
    # Of the best way to cut the first n characters: known pairs, pairs, and whether the last one ends there.
    best: list[tuple[int, int, bool]] = [(0, 0, False), (0, 0, False)]
    for pair in pairs:
        matched, count, _ = best[-2]
        cut = matched + (len(pair) > 0), count + 1
        best.append((*cut, True) if cut >= best[-1][:2] else (*best[-1][:2], False))
    chosen: list[Ints] = []
    end = len(text)
    while end > 1:
        chosen += [pairs[end - 2]] if best[end][2] else []
        end -= 2 if best[end][2] else 1
    yield from reversed(chosen)


@re.built
def _particles() -> str:
    """Return the pattern of Chinese stop words of one character."""
    return "|".join(sorted(word for word in language.stop_words()["chinese"] if len(word) == 1))
