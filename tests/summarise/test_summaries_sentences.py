"""What of a note is a sentence, and that its lines hold it."""

from __future__ import annotations

import re

import pytest
from extracts import extracted
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.summarise.sentences import format_line, line_tokens
from openclaw_memory.text.lines import split_lines


def texts(markdown: str) -> list[str]:
    return [sentence.text for sentence in extracted(markdown)]


def plain(lines: list[str]) -> str:
    """Lines as one, without the marks of quotes at their beginnings."""
    return " ".join(" ".join(re.sub(r"^[ \t]*(?:>[ \t]*)*", "", line) for line in lines).split())


@pytest.mark.parametrize(
    ("line", "text"), table("summaries_sentences.tsv", "the text is as it stands without the marks around it")
)
def test_the_text_is_as_it_stands_without_the_marks_around_it(line: str, text: str) -> None:
    assert texts(f"# Day\n\n{line}\n") == [text]


def test_code_front_matter_labels_and_comments_say_nothing() -> None:
    note = """---
tags: [home]
---
# 2026-02-16

## Reasons

What still worked:

**Reasons:**

- the doorbell

```python
print("no sentence")
```

<!-- draft -->

***

- 42
"""
    assert texts(note) == ["Reasons", "the doorbell"]


def test_rows_of_a_table_are_sentences_and_its_head_is_none() -> None:
    note = "| model | size |\n|---|---|\n| bge-m3 | 0.6 GB |\n| a \\| b | |\n"
    assert texts(note) == ["bge-m3 | 0.6 GB", "a \\| b |"]


def test_a_wrapped_line_is_one_sentence_with_all_its_lines() -> None:
    note = "# Day\n\n- Mira asked for the list of files\n  that were ever affected\n- next\n"
    first, second = extracted(note)
    assert (first.text, first.start_line, first.end_line) == (
        "Mira asked for the list of files that were ever affected",
        3,
        4,
    )
    assert (second.start_line, second.end_line) == (5, 5)


def test_a_long_paragraph_is_cut_and_each_piece_keeps_its_lines() -> None:
    lines = [f"On run {number} the pump in the cellar stopped after some {number}7 seconds." for number in range(6)]
    pieces = extracted("# Day\n\n" + "\n".join(lines) + "\n", unit_tokens=20)
    assert [piece.text for piece in pieces] == lines
    assert [piece.start_line for piece in pieces] == [3, 4, 5, 6, 7, 8]


def test_a_turn_stays_whole_so_that_it_says_who_speaks() -> None:
    long = " ".join(f"I painted the fence number {number} in green yesterday." for number in range(6))
    note = f"## Chat\n\nAnouk: {long}\nJR: which green?\nAnouk: the usual one\n"
    first, second, third = (turn for turn in extracted(note) if not turn.title)
    assert first.text == f"Anouk: {long}"
    assert [turn.speaker for turn in (first, second, third)] == ["Anouk", "JR", "Anouk"]
    assert second.text == "JR: which green?"


def test_an_endless_turn_is_cut_all_the_same() -> None:
    long = " ".join(f"I painted the fence number {number} in green yesterday." for number in range(60))
    note = f"Anouk: {long}\nJR: which green?\nAnouk: the usual one\n"
    sentences = extracted(note)
    assert len(sentences) > 3
    assert all(line_tokens(sentence.text) < 300 for sentence in sentences)


def test_done_is_what_is_ticked() -> None:
    sentences = extracted("- [x] one thing\n- [X] two things\n- [ ] three things\n- four [x] things\n")
    assert [sentence.done for sentence in sentences] == [True, True, False, False]


def test_tags_are_those_of_the_sentence_its_section_and_the_note() -> None:
    note = """---
tags: [house rules]
---
# 2026-02-16

Tags: #winter

## Cellar

#pump #water

- the pump stopped #urgent
- it runs again

## Attic

- the bird is a fan
"""
    pump, again, bird = (sentence for sentence in extracted(note) if not sentence.title)
    assert pump.tags == ("house rules", "winter", "pump", "water", "urgent")
    assert again.tags == ("house rules", "winter", "pump", "water")
    assert bird.tags == ("house rules", "winter")


def test_a_heading_mentions_for_the_sentences_below_it() -> None:
    sentences = extracted("## Benchmark for QX-7714\n\n- it took a day\n\n## Lunch\n\n- there was soup\n")
    named = {sentence.text: "QX-7714" in {mention.text for mention in sentence.mentions} for sentence in sentences}
    assert named["it took a day"] and not named["there was soup"]


def test_headings_are_titles_but_for_days_labels_and_what_is_below_another() -> None:
    note = "# 2026-02-16 — Boat house sold\n\n## Kiln ✅\n\n### Bricks\n\n- red\n\n## Done today\n\n### Яхта\n\n- быстрая\n\n## 検討\n\n### 窯の契約\n\n- 済\n"
    titles = [(sentence.text, sentence.start_line) for sentence in extracted(note) if sentence.title]
    assert titles == [("Boat house sold", 1), ("Kiln ✅", 3), ("Яхта", 11), ("窯の契約", 17)]


def test_the_line_cites_the_note() -> None:
    sentence = extracted("# Day\n\n- the pump\n  stopped\n")[0]
    assert format_line(sentence, dated=False) == "- the pump stopped [memory/2026-02-16.md#L3-L4]"
    assert format_line(sentence, dated=True) == "- 2026-02-16: the pump stopped [memory/2026-02-16.md#L3-L4]"


WORDS = st.sampled_from(
    "the pump stopped QX-7714 Mira's `code` #tag 02:10 e.g. v2.3.1 「测试」 **bold:** a|b [x] #L3 2026-02-11: > 1. # - <b> *".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=24).map(" ".join)
MARKS = st.sampled_from(
    ["", "- ", "* ", "1. ", "> ", "> - ", "- [x] ", "- [ ] ", "  ", "  - ", "## ", "JR: ", "**Mira:** ", "| "]
)
LINES = st.lists(
    st.one_of(
        st.tuples(MARKS, TEXTS).map("".join),
        st.sampled_from(["", "---", "| a | b |", "|---|---|", "```", "- ", ">"]),
    ),
    max_size=16,
).map("\n".join)


@given(LINES)
def test_every_sentence_is_in_its_lines(note: str) -> None:
    lines = split_lines(note)
    sentences = extracted(note, unit_tokens=10)
    assert [sentence.order for sentence in sentences] == list(range(len(sentences)))
    for quote in sentences:
        assert quote.text
        assert quote.text == " ".join(quote.text.split())
        assert quote.text in plain(lines[quote.start_line - 1 : quote.end_line])
