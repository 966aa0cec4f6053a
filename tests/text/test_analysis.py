"""Terms of texts and questions: identifiers, scripts, stop words, odd input."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import table

from benchmarks import corpus
from openclaw_memory.text import analysis
from openclaw_memory.text import language as languages
from openclaw_memory.text.analysis import query_terms, terms


@pytest.mark.parametrize(("text", "word"), table("analysis.tsv", "a word keeps its vowel signs and loses its points"))
def test_a_word_keeps_its_vowel_signs_and_loses_its_points(text: str, word: str) -> None:
    words = set(analysis.query_terms(word))
    assert words and words <= set(analysis.terms(text))
    assert all(len(term) > 1 for term in words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [*table("analysis.tsv", "a text has these terms"), ("\ud800", "")],
)
def test_a_text_has_these_terms(text: str, expected: str) -> None:
    assert set(terms(text)) == set(expected.split())


def test_voiced_kana_are_other_letters_however_they_are_written() -> None:
    assert set(terms("が")) != set(terms("か"))
    assert terms("が") == terms("か\u3099") == terms("ｶﾞ".replace("ｶ", "か").replace("ﾞ", "\u3099"))
    assert set(terms("ガ")) == set(terms("ｶﾞ"))


def test_other_scripts_keep_their_vowel_signs() -> None:
    assert terms("हिन्दी") != terms("हनद")
    assert terms("ещё") == terms("еще")


#: A note, a question, and the terms that they should share.
NATIVE = table("analysis.tsv", "a note, a question, and a term that they share")


@pytest.mark.parametrize(("note", "question", "shared"), NATIVE)
def test_a_question_finds_other_forms_of_its_words_in_its_language(note: str, question: str, shared: str) -> None:
    words = set(terms(note))
    matched = {form for word in analysis.content_terms(question) for form in word if form in words}
    assert shared in matched, (words, analysis.content_terms(question))


@pytest.mark.parametrize(("note", "question", "shared"), NATIVE)
def test_a_word_has_the_same_term_in_every_text(note: str, question: str, shared: str) -> None:
    """Words alone find a text, as forgetting does, whatever the language of the rest."""
    mixed = set(terms(f"The invoice was lost. {note} Und das ist nicht alles, was wir haben. {question}"))
    for word in f"{note} {question}".split():
        assert set(query_terms(word)) <= mixed


@pytest.mark.parametrize(
    ("first", "other"), table("analysis.tsv", "characters that are one written another way have the same terms")
)
def test_characters_that_are_one_written_another_way_have_the_same_terms(first: str, other: str) -> None:
    assert sorted(terms(first)) == sorted(terms(other))
    assert analysis.content_terms(first) == analysis.content_terms(other)
    assert [first[a:b] for a, b in analysis.occurrences(other, first)]


def test_what_is_noted_of_spellings_are_words_of_content() -> None:
    words = analysis.vocabulary(["The Gardening tools, on_disk a1b2c3 of Zürich's and the café 東京 नमस्ते", "tools"])
    assert words == ["cafe", "gardening", "tools", "zurich", "नमस्ते"]
    assert not analysis.vocabulary(["x" * 25, "abc", "about", "1234567"])


def test_stop_words_of_a_questions_language_are_not_asked() -> None:
    words = [word[0] for word in analysis.content_terms("Wann haben wir die Rechnung des Zahnarztes bezahlt?")]
    assert not {"wann", "haben", "wir", "die", "des"} & set(words) and len(words) == 3
    assert [word[0] for word in analysis.content_terms("Когда мы это решили?")] == query_terms("решили")
    pairs = analysis.content_terms("なぜサーバーを変えたのですか")
    assert ("サー",) in pairs and ("变え",) in pairs and ("ので",) not in pairs and ("です",) not in pairs
    assert analysis.content_terms("我们的端口是") == [("端口",)]
    assert analysis.content_terms("是的") == [("是的",)], "nothing but stop words is asked as it is"


@pytest.mark.parametrize(("question", "language"), table("analysis.tsv", "the language of a short question"))
def test_the_language_of_a_short_question(question: str, language: str) -> None:
    assert languages.detect_language(languages.latin_words(question.lower())) == language


@pytest.mark.parametrize(
    "text", ["The die was cast in the mould", "what was the war about", "in die", "Mar expenses", "go on, also man"]
)
def test_english_is_english(text: str) -> None:
    assert all(len(word) == 1 for word in analysis.content_terms(text))
    assert [word[0] for word in analysis.content_terms(text)] == query_terms(text)
    assert set(terms(text)) == set(query_terms(text))


def test_repetitions_count_and_questions_have_each_term_once() -> None:
    assert sorted(terms("fox fox wolf")) == ["fox", "fox", "wolf"]
    assert query_terms("wolf fox fox wolf") == ["wolf", "fox"]


def test_a_question_asks_for_pairs_of_cjk_and_single_ones_alone() -> None:
    assert query_terms("東京") == ["东京"]
    assert query_terms("東") == ["东"]


def test_a_joined_name_is_found_in_small_letters() -> None:
    """Joined words are stemmed alike in both, whatever their ending."""
    for name in ("getUserNames", "openFiles", "RTX3090s", "myTesting"):
        for text in (f"call {name} now", f"call {name} in state-of-the-art café"):
            assert set(query_terms(name.lower())) <= set(terms(text)), (name, text)
            assert set(query_terms(name)) <= set(terms(text)), (name, text)


WORDS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.text("aAbB1._-'’s é東京パﾞ゛ßﬁ", max_size=10),
    st.sampled_from(["getUserName", "v2.3.1", "QX-7714", "Ab1s", "snake_case", "the", "running", "A.B", "x_", "_X_"]),
)


@given(st.lists(WORDS, max_size=6))
@example(["Ab1s", "foo-bar"])
@example(["getNames", "é"])
def test_a_texts_own_words_are_found_in_it(words: list[str]) -> None:
    text = " ".join(words)
    term_set = set(terms(text))
    assert set(query_terms(text)) <= term_set
    for word in text.split():
        assert set(query_terms(word)) <= term_set, word


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    assert all(isinstance(term, str) and term for term in terms(text))
    analysis.is_question(text)
    assert 0 <= analysis.time_words(text) <= 2
    assert 0 <= analysis.unit_hash(text) < 2**63
    analysis.name_key(text)


def test_threads_stem_independently() -> None:
    texts = list(corpus.units(300))
    expected = [terms(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(terms, texts)) == expected


@pytest.mark.parametrize(("text", "expected"), table("analysis.tsv", "a question, or none"))
def test_a_question_ends_in_a_question_mark(text: str, expected: str) -> None:
    assert analysis.is_question(text) is (expected == "1")


def test_words_of_time_are_counted_to_two() -> None:
    assert [analysis.time_words(t) for t in ("fox", "last fox", "last week in May 2024", "someday")] == [0, 1, 2, 0]


def test_stop_words_are_dropped_and_negations_of_sense_kept() -> None:
    assert terms("I was not there with them") == []
    assert "never" in terms("never again")


@pytest.mark.parametrize(
    ("text", "expected"),
    table("analysis.tsv", "a number that is an amount, or none"),
)
def test_a_number_of_the_calendar_is_no_amount(text: str, expected: str) -> None:
    assert analysis.has_amount(text) is (expected == "1")


def test_syllables_of_vietnamese_are_words_in_pairs() -> None:
    text = terms("Dữ liệu công việc nằm trong thư mục riêng. Zalo vẫn chạy.")
    assert {"du lieu", "cong viec", "thu muc"} <= set(text)
    assert "rieng zalo" not in text, "no word goes over the end of a sentence"
    words = analysis.content_terms("Công việc của tôi nằm ở đâu?")
    assert ("cong viec",) in words
    assert ("cua toi",) not in words, "two words that say nothing say nothing together"
    assert not any(" " in term for term in terms("Le café de la gare coûte cher") + terms("Der Ofen läuft wieder"))


def test_a_word_without_end_takes_no_longer_than_its_letters() -> None:
    long = "ơ" * 50_000
    assert terms(long) and terms(f"{long} {long}")[-1] == query_terms(f"{long} {long}")[-1]


def test_a_hyphen_that_breaks_no_line_is_a_hyphen() -> None:
    for written in ("Push\u2011уведомления", "Push\u2010уведомления"):
        assert set(query_terms("push-уведомления")) <= set(terms(written))
    assert set(query_terms("Wochenplan")) <= set(terms("Wo\u00adchen\u00adplan öffnen"))
