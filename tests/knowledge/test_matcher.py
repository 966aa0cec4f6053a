"""Known names are found where they stand as words: leftmost, longest, in their case where it counts."""

from __future__ import annotations

import re
import threading
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import parts, table

from openclaw_memory.knowledge.matcher import ORDINARY, SHORT, NameMatcher


def matched_names(names: list[str], text: str) -> list[str]:
    matches = NameMatcher((name, i) for i, name in enumerate(names)).find(text)
    return [spaced(text)[each.start : each.end] for each in matches]


def spaced(text: str) -> str:
    """``text`` with single spaces, to which places refer."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    table("matcher.tsv", "names are found on word borders the longest first", parts, str, parts),
)
def test_names_are_found_on_word_borders_the_longest_first(names: list[str], text: str, expected: list[str]) -> None:
    assert matched_names(names, text) == expected


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    table("matcher.tsv", "short and ordinary names count only in their own case", parts, str, parts),
)
def test_short_and_ordinary_names_count_only_in_their_own_case(
    names: list[str], text: str, expected: list[str]
) -> None:
    assert matched_names(names, text) == expected


def test_an_exact_spelling_wins_over_another_in_another_case() -> None:
    matcher = NameMatcher([("IT", 1), ("It", 2)])
    assert [(each.key, each.name) for each in matcher.find("IT or It or it")] == [(1, "IT"), (2, "It")]


@pytest.mark.parametrize(("names", "text", "expected"), table("matcher.tsv", "scripts and accents", parts, str, parts))
def test_scripts_and_accents(names: list[str], text: str, expected: list[str]) -> None:
    assert matched_names(names, text) == expected


def test_accents_are_found_composed_or_not() -> None:
    for form in ("NFC", "NFD"):
        for other in ("NFC", "NFD"):
            text = unicodedata.normalize(other, "at the Café Ångström, then")
            name = unicodedata.normalize(form, "Café Ångström")
            assert matched_names([name], text) == [unicodedata.normalize(other, "Café Ångström")]


def test_found_names_carry_the_key_and_the_spelling_that_was_looked_for() -> None:
    matcher = NameMatcher([("Kubernetes", 7), ("k8s", 7)])
    assert [(each.key, each.name) for each in matcher.find("KUBERNETES is k8s")] == [(7, "Kubernetes"), (7, "k8s")]


def test_of_two_equal_spellings_the_first_counts() -> None:
    assert [each.key for each in NameMatcher([("Wren", 1), ("wren", 2), ("Wren", 3)]).find("Wren")] == [1]


def test_no_names_find_nothing() -> None:
    for names in ([], [("", 1), ("  ", 2)]):
        matcher = NameMatcher(names)
        assert not matcher
        assert matcher.find("anything") == []
    assert NameMatcher([("a", 1)])


def test_threads_share_one_matcher() -> None:
    names = [f"name {i}" for i in range(200)]
    matcher = NameMatcher((name, i) for i, name in enumerate(names))
    text = ", ".join(names)
    results: list[list[int]] = []

    def run() -> None:
        for _ in range(20):
            results.append([each.key for each in matcher.find(text)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(200))] * 80


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")


def unspaced(character: str) -> bool:
    return character in "東京サ"


def at_border(text: str, at: int) -> bool:
    if at in (0, len(text)):
        return True
    before, after = text[at - 1], text[at]
    return not (is_word(before) and is_word(after)) or unspaced(before) or unspaced(after)


def same(name: str, written: str) -> bool:
    if len(name) <= SHORT or name.casefold() in ORDINARY:
        return written == name or (name[0].islower() and written == name[0].upper() + name[1:])
    return written.lower() == name.lower()


def naive(names: list[str], text: str) -> list[tuple[int, int]]:
    """Every place tried with every name, the longest first."""
    out = []
    at = 0
    while at < len(text):
        for length in range(len(text) - at, 0, -1):
            written = " ".join(text[at : at + length].split())
            whole = written and not text[at].isspace() and not text[at + length - 1].isspace()
            if whole and at_border(text, at) and at_border(text, at + length):
                if any(same(name, written) for name in names):
                    out.append((at, at + length))
                    at += length
                    break
        else:
            at += 1
    return out


NAME = st.text("abAB_-. 1é東京", min_size=1, max_size=7).map(lambda text: " ".join(text.split())).filter(bool)


@given(
    st.lists(st.one_of(NAME, st.sampled_from(["Slack", "slack", "Will", "ab ab"])), max_size=6),
    st.text("abAB_-. 1é東京\n\tSlackWi", max_size=40),
)
@example(["a b", "b a b a"], "a b a b a")
@example(["ab-a", "ab"], "ab-ab ab-a")
def test_the_same_as_trying_every_name_at_every_place(names: list[str], text: str) -> None:
    matcher = NameMatcher((name, i) for i, name in enumerate(names))
    assert [(each.start, each.end) for each in matcher.find(text)] == naive(names, spaced(text))


@given(st.lists(st.text(max_size=12), max_size=8), st.text(max_size=80))
def test_any_text_gives_places_in_order_that_do_not_overlap(names: list[str], text: str) -> None:
    at = 0
    for each in NameMatcher((name, i) for i, name in enumerate(names)).find(text + " ".join(names)):
        assert at <= each.start < each.end
        at = each.end


@given(st.text(min_size=1, max_size=12))
def test_a_name_is_found_in_itself(name: str) -> None:
    spelling = " ".join(name.split())
    matches = NameMatcher([(name, 5)]).find(spelling)
    assert [(each.start, each.end, each.key) for each in matches] == ([(0, len(spelling), 5)] if spelling else [])
