"""How many tokens texts cost, in the scripts of the world."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.model import chars_of, script_of, tokens_of


@pytest.mark.parametrize(("text", "tokens"), table("size.tsv", "tokens of a text"))
def test_tokens_are_counted_by_script(text: str, tokens: str) -> None:
    assert tokens_of(text) == pytest.approx(float(tokens))


@pytest.mark.parametrize("text", table("size.tsv", "four characters cost a token"))
def test_latin_cyrillic_and_greek_cost_the_same(text: str) -> None:
    assert tokens_of(text) == len(text) / 4


@pytest.mark.parametrize(("text", "script"), table("size.tsv", "what a text is written in"))
def test_the_script_of_most_of_a_text(text: str, script: str) -> None:
    assert script_of(text) == int(script)


@given(st.text(), st.text())
def test_a_whole_costs_what_its_parts_cost(one: str, other: str) -> None:
    assert tokens_of(one + other) == pytest.approx(tokens_of(one) + tokens_of(other))


@given(st.text(min_size=1))
def test_characters_are_the_inverse(text: str) -> None:
    assert chars_of(tokens_of(text), text) in (len(text) - 1, len(text))
    assert chars_of(10, "") == 40
