"""Forgotten words are recognised whatever they look like, and nothing else is touched."""

from __future__ import annotations

import re
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from states import content, state_in
from tables import table

from openclaw_memory.forget.masking import INDEX_MARK, READ_MARK, mask, mask_for_index, mask_for_reader, masked_lines
from openclaw_memory.forget.tombstones import NAME, Matcher, Scope, Tombstones, insert_tombstones
from openclaw_memory.forget.words import SENTENCE_WEIGHT, extract_needles, extract_phrases, split_words
from openclaw_memory.model import Origin
from openclaw_memory.store.api import StatedFact
from openclaw_memory.store.state import State, StateError
from openclaw_memory.text.front_matter import parse_front_matter, read_values
from openclaw_memory.text.lines import split_lines
from openclaw_memory.text.markdown import parse

SECRET = "The vault opens with 7714 zebra"


def forgetting(*texts: str, speaker: str | None = None, path: str = "") -> Matcher:
    """A matcher of units that were forgotten: everywhere, or in the file ``path`` alone."""
    matcher = Matcher(b"k" * 32)
    for text in texts:
        for phrase in extract_phrases(text, speaker):
            scope: Scope = "file" if path else "anywhere" if len(phrase.words) >= SENTENCE_WEIGHT else "alone"
            matcher.add(matcher.tombstone(phrase.words, scope, path))
    return matcher


def folded_words(text: str) -> list[str]:
    return split_words(text).folded


@pytest.mark.parametrize(
    "text",
    [*table("forgetting.tsv", "a forgotten text in any dress"), "# The vault opens with 7714 zebra"],
)
def test_it_is_recognised_in_any_dress(text: str) -> None:
    matcher = forgetting(f"- {SECRET}.")
    hidden = mask(text, "memory/any.md", matcher)
    assert "opens" not in hidden.lower() and "7714" not in hidden
    assert "zebra" not in hidden
    assert len(split_lines(hidden)) == len(split_lines(text))
    assert masked_lines(text, "memory/any.md", matcher)


@pytest.mark.parametrize("text", table("forgetting.tsv", "other words than the forgotten ones"))
def test_other_words_stay(text: str) -> None:
    assert mask(text, "memory/any.md", forgetting(SECRET)) == text


def test_what_was_forgotten_in_markup_is_recognised_without() -> None:
    matcher = forgetting("The <b>va</b>ult op-\nens [with](http://a.b) 7714[^1]&nbsp;zebra")
    assert mask(f"- {SECRET}", "a.md", matcher) == f"- {INDEX_MARK}"


def test_a_tag_is_a_word_or_stands_beside_the_words() -> None:
    for forgotten in (SECRET, f"The vault opens #door with {SECRET[-10:]}"):
        for text in ("The #vault opens with 7714 zebra", "The vault opens #x with 7714 zebra #y"):
            assert "zebra" not in mask(text, "a.md", forgetting(forgotten)), (forgotten, text)
    matcher = forgetting("- #shopping milk")
    assert mask("- #list milk", "a.md", matcher) == "- #list milk"


def test_a_sentence_of_a_unit_goes_by_itself_too() -> None:
    matcher = forgetting("- Met Mira for lunch today. The vault opens with 7714 zebra! Fine.")
    assert mask("Yes. The vault opens with 7714 zebra. Good.", "a.md", matcher) == f"Yes. {INDEX_MARK}. Good."
    assert mask("Fine. It was fine.", "a.md", matcher) == "Fine. It was fine."


def test_a_few_words_count_only_where_they_stand_alone() -> None:
    matcher = forgetting("- PIN 7714")
    for text in (
        "PIN 7714",
        "- [ ] pin: 7714",
        "2026-02-16: PIN 7714 [memory/a.md#L3]",
        "| Mira | PIN 7714 |",
        "(PIN 7714)",
    ):
        assert "7714" not in mask(text, "a.md", matcher), text
    for text in ("the PIN 7714 is old", "PIN 7714 is old", "no PIN 7714"):
        assert mask(text, "a.md", matcher) == text


def test_the_speaker_is_no_part_of_it() -> None:
    matcher = forgetting("Mira: the vault opens with 7714 zebra", speaker="Mira")
    assert mask("Ben: The vault opens with 7714 zebra", "a.md", matcher) == INDEX_MARK


def test_without_spaces_between_words() -> None:
    matcher = forgetting("- 金库的密码是七七一四。")
    assert "密码" not in mask("我说过,金库的密码是七七一四,对吗?", "a.md", matcher)
    assert mask("金库的密码是七七一五", "a.md", matcher) == "金库的密码是七七一五"


def test_in_one_file_alone() -> None:
    matcher = forgetting("- Drink some water", path="memory/a.md")
    assert mask("- Drink some water", "memory/a.md", matcher) == f"- {INDEX_MARK}"
    assert mask("- Drink some water", "memory/b.md", matcher) == "- Drink some water"


def test_a_whole_file_stays_out_under_any_name_while_it_is_the_same() -> None:
    text = "# A day\n\n" + "\n".join(f"- thing {n} of many" for n in range(10)) + "\n"
    matcher = Matcher(b"k" * 32)
    matcher.add(matcher.tombstone_of_text(text, "memory/a.md"))
    for path in ("memory/a.md", "memory/renamed.md"):
        assert folded_words(mask(text, path, matcher)) == []
        assert mask(text, path, matcher, READ_MARK).startswith(READ_MARK)
        assert mask(text.replace("- ", "* "), path, matcher).count("\n") == text.count("\n")
    assert mask(text + "- more\n", "memory/a.md", matcher) == text + "- more\n"
    short = Matcher(b"k" * 32)
    short.add(short.tombstone_of_text("# Notes\nTODO\n", "memory/a.md"))
    assert mask("# Notes\nTODO\n", "memory/b.md", short) == "# Notes\nTODO\n"
    assert folded_words(mask("# Notes\nTODO\n", "memory/a.md", short)) == []


def test_front_matter_keeps_what_lowers_trust() -> None:
    text = "---\ntitle: The vault opens with 7714 zebra\norigin: untrusted\ndate: 2026-02-16\n---\nMore.\n"
    hidden = mask(text, "memory/a.md", forgetting(SECRET))
    assert read_values(hidden.split("\n")[1:4])[0] == {
        "title": ["…"],
        "origin": "untrusted",
        "date": "2026-02-16",
    }
    # The words reach over the end of a value, and would take the key of the next with them.
    result = mask(text, "memory/a.md", forgetting("opens with 7714 zebra origin untrusted"))
    assert parse_front_matter(result.split("\n")).values["origin"] == "untrusted"
    assert "zebra" not in result
    assert result.count("\n") == text.count("\n")
    first = "---\norigin: untrusted\n---\nMore.\n"
    assert mask(first, "memory/a.md", forgetting("- origin untrusted more")) != first
    parsed = parse(
        mask(first, "memory/a.md", forgetting("origin: untrusted")),
        path="memory/a.md",
        mtime=date(2026, 1, 1),
        unit_tokens=60,
    )
    assert parsed.front_matter == {"origin": "untrusted"}


def test_front_matter_and_citations_of_summaries_are_left_alone() -> None:
    text = (
        "---\ngrain: daily\nperiod: 2026-02-16\nsources:\n  - memory/2026-02-16-the-vault-opens-with-7714-zebra.md\n---\n"
        "# 2026-02-16\n\n- Bought milk [memory/2026-02-16-the-vault-opens-with-7714-zebra.md#L3]\n"
    )
    assert mask(text, "memory/consolidated/daily/2026-02-16.md", forgetting(SECRET)) == text


def test_rows_of_tables_stay_rows() -> None:
    text = "| who | what | when |\n|---|---|---|\n| Mira | opens the vault | with 7714 |\n| Ben | sleeps | now |\n"
    hidden = mask(text, "a.md", forgetting("| Mira | opens the vault | with 7714 |"))
    assert hidden.split("\n")[2].count("|") == 4
    assert "Ben" in hidden and "vault" not in hidden


def test_line_ends_stay(tmp_path: Path) -> None:
    text = f"One.\r\n- {SECRET}\r\nTwo.\rThree\n"
    assert mask(text, "a.md", forgetting(SECRET)) == f"One.\r\n- {INDEX_MARK}\r\nTwo.\rThree\n"


def test_a_line_that_is_read_otherwise_is_not_shown() -> None:
    matcher = forgetting("- The key is [redacted:token] for now")
    text = "One.\n- The key is tok-1234 for now\nTwo.\n"
    read = mask(text.replace("tok-1234", "[redacted:token]"), "a.md", matcher)
    assert mask_for_reader(text, read, "a.md", matcher) == f"One.\n- {READ_MARK}\nTwo.\n"
    assert mask_for_reader(text, text, "a.md", matcher) == text


def test_needles_are_what_stands_in_the_lines() -> None:
    text = "- [ ] 10:30 Mira: The vault opens\n  with 7714 zebra today. And that was all of it."
    needles = extract_needles(text, "Mira")
    assert "The vault opens with 7714 zebra today." in needles
    assert "with 7714 zebra today. And that was all of it." in needles
    assert all(len(folded_words(needle)) >= SENTENCE_WEIGHT for needle in needles)


WORD = st.text("abcdefghijABCDEéüß0123", min_size=1, max_size=6)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n", exclude_categories=("Cs", "Cc")), max_size=40)
TEXT = st.lists(st.one_of(LINE, st.sampled_from(["", "---", "# Head", "- item", "> quote", "```", "| a | b |"]))).map(
    "\n".join
)


@given(
    st.lists(WORD, min_size=SENTENCE_WEIGHT, max_size=12),
    st.lists(st.sampled_from([" ", "\n", "  ", ", ", "\n- ", "** ", "\t", " | "]), min_size=11, max_size=11),
    TEXT,
    TEXT,
)
def test_forgotten_words_are_gone_wherever_they_stand(
    words: list[str], gaps: list[str], before: str, after: str
) -> None:
    matcher = forgetting(" ".join(words))
    written = "".join(word + gap for word, gap in zip(words, gaps, strict=False)).upper()
    assume(folded_words(written) == folded_words(" ".join(words)))
    text = f"{before}\n{written}\n{after}"
    hidden = mask(text, "memory/a.md", matcher)
    assert len(split_lines(hidden)) == len(split_lines(text))
    run = "\0".join(folded_words(" ".join(words)))
    assert run not in "\0".join(folded_words(hidden)) or run in "\0".join(folded_words(before + "\n" + after))
    assert mask(hidden, "memory/a.md", matcher) == hidden


@given(TEXT, st.lists(WORD, min_size=1, max_size=8))
def test_texts_without_them_are_the_very_same(text: str, words: list[str]) -> None:
    matcher = forgetting(" ".join(words))
    gone = tuple(folded_words(" ".join(words)))
    has = folded_words(text)
    assume(not any(tuple(has[at : at + len(gone)]) == gone for at in range(len(has))))
    assert mask(text, "memory/a.md", matcher) == text
    assert masked_lines(text, "memory/a.md", matcher) == []


@given(TEXT)
def test_what_is_forgotten_of_a_text_is_all_of_it(text: str) -> None:
    matcher = forgetting(text)
    assert folded_words(mask(text, "a.md", matcher).replace(INDEX_MARK, " ")) == [] or text.startswith("---")


@pytest.mark.parametrize(("text", "again"), table("forgetting.tsv", "a forgotten text in the letters of its language"))
@pytest.mark.parametrize("turned", [False, True])
def test_it_is_recognised_in_the_letters_of_its_language(text: str, again: str, turned: bool) -> None:
    text, again = (again, text) if turned else (text, again)
    assert mask(f"- {again}", "a.md", forgetting(text)) == f"- {INDEX_MARK}"


KEY = b"k" * 32


def set_in(state: State, key: bytes, hashes: list[str]) -> None:
    state.add_key(key)
    with state.writing(NAME) as connection:
        insert_tombstones(connection, key, hashes)


def test_the_state_holds_no_word(tmp_path: Path) -> None:
    state = state_in(tmp_path / "state")
    matcher = Matcher(KEY)
    set_in(
        state,
        KEY,
        [matcher.tombstone(phrase.words, "anywhere", "") for phrase in extract_phrases(SECRET)],
    )
    assert not re.search(b"vault|zebra|7714", content(tmp_path / "state"))
    again = Tombstones(state_in(tmp_path / "state"))
    assert again and again.covers(f"they said {SECRET}")
    assert not again.covers("they said nothing")
    assert mask_for_index(again, "a.md", f"- {SECRET}") == f"- {INDEX_MARK}"


def test_without_any_it_costs_no_key(tmp_path: Path) -> None:
    tombstones = Tombstones(state_in(tmp_path / "state"))
    assert not tombstones and tombstones.version == ""
    assert mask_for_index(tombstones, "a.md", SECRET) == SECRET
    assert not tombstones.covers(SECRET)
    assert not list(tmp_path.iterdir())


def test_another_process_is_heard_of(tmp_path: Path) -> None:
    ours, there = Tombstones(state_in(tmp_path / "state")), state_in(tmp_path / "state")
    assert mask_for_index(ours, "a.md", SECRET) == SECRET
    set_in(there, KEY, [Matcher(KEY).tombstone(tuple(folded_words(SECRET)), "anywhere", "")])
    assert mask_for_index(ours, "a.md", SECRET) == INDEX_MARK


def test_a_damaged_tombstone_is_an_error_of_the_state(tmp_path: Path) -> None:
    state = state_in(tmp_path / "state")
    set_in(state, KEY, ["nonsense"])
    with pytest.raises(StateError, match="is damaged"):
        Tombstones(state).check()


def test_two_keys_give_two_hashes() -> None:
    words = tuple(folded_words(SECRET))
    first, other = (Matcher(key * 32).tombstone(words, "anywhere", "") for key in (b"a", b"b"))
    assert first.rsplit(".", 1)[1] != other.rsplit(".", 1)[1]


def test_facts_are_covered_by_id_and_by_their_words(tmp_path: Path) -> None:
    state = state_in(tmp_path / "state")
    matcher = Matcher(KEY)
    hashes = [
        matcher.tombstone(phrase.words, "anywhere", "")
        for text in (SECRET, "PIN 7714")
        for phrase in extract_phrases(text)
    ]
    set_in(state, KEY, [*hashes, matcher.tombstone_of_fact("f-1")])
    tombstones = Tombstones(state)

    def fact(id: str, thing: str) -> StatedFact:
        return StatedFact(id, "Mira", "said", thing, 1.0, Origin.AGENT, None, None, None, "")

    assert tombstones.covers_fact(fact("f-1", "anything"))
    assert tombstones.covers_fact(fact("f-2", SECRET))
    assert not tombstones.covers_fact(fact("f-3", "PIN 7714"))  # a few words may be said of something else
    assert not Tombstones(state_in(None)).covers_fact(fact("f-1", SECRET))


@given(st.lists(st.lists(WORD, min_size=1, max_size=9).map(tuple), min_size=1, max_size=60, unique=True))
def test_every_one_of_many_is_found(many: list[tuple[str, ...]]) -> None:
    matcher = Matcher(b"k" * 32)
    for words in many:
        matcher.add(matcher.tombstone(tuple(folded_words(" ".join(words))), "anywhere", ""))
    for words in many:
        text = " ".join(words)
        matches = matcher.find(split_words(text), "any.md")
        assert matches and matches[0].first == 0 and matches[0].last == len(folded_words(text)) - 1


def test_a_row_keeps_its_cells_in_their_places() -> None:
    row = "| The vault | opens with | 7714 zebra |"
    assert mask(row, "memory/any.md", forgetting(row), READ_MARK) == "| [forgotten] | | |"


def test_no_character_is_compared_as_one_that_is_compared_as_another() -> None:
    lines = files("openclaw_memory.text").joinpath("characters.txt").read_text(encoding="utf-8").splitlines()
    pairs = [pair for line in lines if not line.startswith("#") for pair in line.split()]
    written, read = [pair[0] for pair in pairs], {pair[1] for pair in pairs}
    assert {len(pair) for pair in pairs} == {2} and len(pairs) > 4000
    assert written == sorted(set(written)) and read.isdisjoint(written)
