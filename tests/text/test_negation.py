"""What denies: the same statement with and without a word of negation, in many languages."""

import pytest
from tables import table

from openclaw_memory.text.negation import negations


@pytest.mark.parametrize(("statement", "denied"), table("negation.tsv", "a denial differs from what it denies"))
def test_a_denial_differs_from_what_it_denies(statement: str, denied: str) -> None:
    assert negations(statement) != negations(denied)
    assert negations(denied)


@pytest.mark.parametrize("text", table("negation.tsv", "words that only look like a denial"))
def test_words_that_only_look_like_a_denial(text: str) -> None:
    assert negations(text) == frozenset()


def test_case_and_apostrophes_do_not_count() -> None:
    assert negations("It DOESN’T work") == negations("it doesn't work")
