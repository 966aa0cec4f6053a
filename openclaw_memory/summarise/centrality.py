"""How much a sentence has in common with all the others: degree centrality as in LexRank, in whole numbers.

G. Erkan and D. R. Radev, LexRank: Graph-based Lexical Centrality as Salience in Text Summarization, JAIR 22 (2004),
the continuous degree: the sum of a sentence's cosines with the others, over vectors of the inverse document
frequencies of its words.  The sum over all others is one product with the sum of their vectors, so time grows with
the number of words and not with that of pairs; and whole numbers make it the same on every machine and in any order.
Words are all words: without "the" and "was" a fragment would be as central as a sentence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from math import isqrt

_BITS = 20
#: What a cosine of 1 is in the whole numbers that are reckoned with.
ONE = 1 << _BITS
#: Inverse document frequencies are kept as this many parts of a doubling.
_PARTS = 16


def centrality(sentences: Sequence[Collection[str]]) -> list[int]:
    """For each of the *n* sentences, given as distinct words, its mean cosine with the others, times :data:`ONE`."""
    total = len(sentences)
    frequency = Counter(word for words in sentences for word in words)
    weight = {word: _log2(total, count) for word, count in frequency.items()}
    vectors = []
    mass: defaultdict[str, int] = defaultdict(int)
    for words in sentences:
        length = isqrt(sum(weight[word] ** 2 for word in words) * ONE)
        vector = {word: (weight[word] << _BITS + _BITS // 2) // length for word in words}
        for word, share in vector.items():
            mass[word] += share
        vectors.append(vector)
    degrees = (sum(share * (mass[word] - share) for word, share in vector.items()) for vector in vectors)
    return [(degree >> _BITS) // max(1, total - 1) for degree in degrees]


def _log2(total: int, count: int) -> int:
    """``log2(1 + total / count)`` in sixteenths, exactly rounded down."""
    return int((total + count) ** _PARTS // count**_PARTS).bit_length() - 1
