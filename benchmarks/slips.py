"""Put a typing error into a question: ``--misspelt`` of ``benchmarks.public`` and ``benchmarks.real``.

In one word of five letters or more a letter is dropped, doubled, replaced by its neighbour on the keyboard, or swapped
with the next one; the first and the last letter stay.
"""

from __future__ import annotations

import random

from openclaw_memory.text import analysis

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
_BESIDE = {
    letter: [row[place] for place in (at - 1, at + 1) if 0 <= place < len(row)]
    for row in _ROWS
    for at, letter in enumerate(row)
}
_LETTERS = 5


def misspelt(question: str) -> str:
    """``question`` with a slip, the same one each time; as it is where no word of it is long enough."""
    words = [at for at in analysis.spellable_words(question) if len(at[0]) >= _LETTERS and analysis.query_terms(at[0])]
    if not words:
        return question
    chance = random.Random(question)
    at = chance.choice(words)
    word = at[0]
    while word == at[0]:
        place = chance.randrange(1, len(word) - 2)
        head, letter, after, tail = word[:place], word[place], word[place + 1], word[place + 2 :]
        beside = chance.choice(_BESIDE.get(letter.lower(), [letter]))
        word = head + chance.choice([after + letter, after, letter * 2 + after, beside + after]) + tail
    return question[: at.start()] + word + question[at.end() :]
