"""How many tokens texts cost, in the scripts of the world."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.model import chars_of, tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("The boiler was repaired.", 6),
        ("锅炉昨天修好了", 4.9),
        ("ボイラーを直した", 5.6),
        ("보일러", 2.1),
        ("котёл", 2),
        ("λέβητ", 2),
        ("ｶﾅ、！", 2.8),
        ("🔥", 0.7),
        ("abcd锅炉", 2.4),
    ],
)
def test_tokens_are_counted_by_script(text: str, tokens: float) -> None:
    assert tokens_of(text) == pytest.approx(tokens)


@pytest.mark.parametrize("text", ["Die Heizung läuft wieder", "Máy sưởi đã được sửa", "A caldeira está quente"])
def test_accents_cost_a_little(text: str) -> None:
    assert len(text) / 4 < tokens_of(text) < len(text) / 3


@given(st.text(), st.text())
def test_a_whole_costs_what_its_parts_cost(one: str, other: str) -> None:
    assert tokens_of(one + other) == pytest.approx(tokens_of(one) + tokens_of(other))


@given(st.text(min_size=1))
def test_characters_are_the_inverse(text: str) -> None:
    assert chars_of(tokens_of(text), text) in (len(text) - 1, len(text))
    assert chars_of(10, "") == 40
