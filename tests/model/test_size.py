"""How many tokens texts cost, in the scripts of the world."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.model import chars_of, script_of, tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("The boiler was repaired.", 6),
        ("锅炉昨天修好了", 4.9),
        ("ボイラーを直した", 5.6),
        ("보일러", 2.1),
        ("котёл готов.", 3),
        ("λέβητας.", 2),
        ("Übung, à Łódź…", 3.5),
        ("דוד", 1.2),
        ("ｶﾅ、！", 2.8),
        ("🔥", 0.7),
        ("abcd锅炉", 2.4),
    ],
)
def test_tokens_are_counted_by_script(text: str, tokens: float) -> None:
    assert tokens_of(text) == pytest.approx(tokens)


@pytest.mark.parametrize(
    "text",
    [
        "Die Heizung läuft wieder",
        "Máy sưởi đã được sửa",
        "A caldeira está quente",
        "Котёл починили вчера",
        "Ο λέβητας δουλεύει",
    ],
)
def test_latin_cyrillic_and_greek_cost_the_same(text: str) -> None:
    assert tokens_of(text) == len(text) / 4


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", 0),
        ("Máy sưởi đã được sửa", 0),
        ("Das Café öffnet um 8 → 20 Uhr", 0),
        ("Котёл починили вчера", 1),
        ("Deploy of котёл", 1),
        ("ხვალ მოვა", 1),
        ("הדוד תוקן אתמול", 1),
        ("昨天 deploy 了 gateway", 1),
        ("锅炉昨天修好了", 2),
        ("보일러를 고쳤다", 2),
    ],
)
def test_the_script_of_most_of_a_text(text: str, script: int) -> None:
    assert script_of(text) == script


@given(st.text(), st.text())
def test_a_whole_costs_what_its_parts_cost(one: str, other: str) -> None:
    assert tokens_of(one + other) == pytest.approx(tokens_of(one) + tokens_of(other))


@given(st.text(min_size=1))
def test_characters_are_the_inverse(text: str) -> None:
    assert chars_of(tokens_of(text), text) in (len(text) - 1, len(text))
    assert chars_of(10, "") == 40
