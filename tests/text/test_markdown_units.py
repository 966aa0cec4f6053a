"""Which sections and units a Markdown file becomes."""

from __future__ import annotations

import json
import textwrap
import time
from datetime import date

import pytest
from tables import table

from openclaw_memory.model import ParsedDocument, Section, Unit
from openclaw_memory.text.front_matter import withholds
from openclaw_memory.text.markdown import parse
from openclaw_memory.text.turns import without_speaker

CHANGED = date(2026, 3, 1)
UNIT_TOKENS = 60


def document(text: str, path: str = "memory/note.md") -> ParsedDocument:
    return parse(text, path=path, mtime=CHANGED, unit_tokens=UNIT_TOKENS)


def sections(text: str, path: str = "memory/note.md") -> list[Section]:
    return list(document(text, path).sections)


def units(text: str) -> list[Unit]:
    return [unit for section in document(text).sections for unit in section.units]


def shape(text: str) -> list[tuple[int, int, str, str]]:
    return [(unit.start_line, unit.end_line, unit.form, unit.text) for unit in units(text)]


@pytest.mark.parametrize(("text", "expected"), table("markdown_units.tsv", "a text has these units"))
def test_a_text_has_these_units(text: str, expected: str) -> None:
    """Each unit has its first and last line, form and text, then its indexed text and its speaker, if any."""
    for unit, values in zip(units(text), json.loads(expected), strict=True):
        assert [unit.start_line, unit.end_line, unit.form, unit.text, unit.indexed, unit.speaker][
            : len(values)
        ] == values
        assert len(values) > 4 or (unit.indexed, unit.speaker) == (None, None)
        assert len(values) > 5 or unit.speaker is None


def test_sections_carry_their_path_of_headings_and_their_exact_lines() -> None:
    text = "Before.\n\n# Projects\n\n## Search #\nFast.\n\n\n### Index\n## Graph\n"
    shown = [(s.heading, s.start_line, s.end_line, s.lines) for s in sections(text)]
    assert shown == [
        ("", 1, 1, ("Before.",)),
        ("Projects", 3, 3, ("# Projects",)),
        ("Projects > Search", 5, 6, ("## Search #", "Fast.")),
        ("Projects > Search > Index", 9, 9, ("### Index",)),
        ("Projects > Graph", 10, 10, ("## Graph",)),
    ]


@pytest.mark.parametrize("title", ["# 2026-02-13", "# Friday, February 13, 2026", "# 2026-02-13-planning"])
def test_a_title_that_repeats_the_file_name_is_left_out_of_the_path(title: str) -> None:
    parsed = sections(f"{title}\n## Talks\n", "memory/2026-02-13-planning.md")
    assert [section.heading for section in parsed] == [title[2:], "Talks"]


def test_a_title_that_says_more_stays_in_the_path() -> None:
    parsed = sections("# 2026-02-13 in Rome\n## Talks\n", "memory/2026-02-13.md")
    assert parsed[1].heading == "2026-02-13 in Rome > Talks"


def test_an_underlined_heading_opens_a_section() -> None:
    parsed = sections("Title\n=====\n\nText\n\nPart\n----\nMore\n")
    assert [(s.heading, s.start_line, s.end_line) for s in parsed] == [("Title", 1, 4), ("Title > Part", 6, 8)]
    assert parsed[0].units[0] == Unit("Title", 1, 1, "heading")


def test_headings_inside_code_and_quotes_open_no_section() -> None:
    assert len(sections("# A\n```\n# comment\n```\n> # quoted\n\n- # listed\n")) == 1


def test_an_endless_heading_does_not_swell_the_paths_below() -> None:
    parsed = sections("# " + "word " * 10_000 + "\n## B\n")
    assert len(parsed[1].heading) < 200
    assert max(len(unit.text) for unit in parsed[0].units) <= 4 * UNIT_TOKENS * 4


@pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n", "\r\n"])
def test_a_file_without_text_has_no_section(text: str) -> None:
    assert document(text) == ParsedDocument(())


def dated(text: str, path: str) -> list[tuple[date | None, str]]:
    return [(section.date, section.date_source) for section in sections(text, path)]


def test_the_date_in_the_name_wins() -> None:
    text = "---\ndate: 2026-01-05\n---\n# 2026-01-06\n"
    assert set(dated(text, "memory/2026-02-13.md")) == {(date(2026, 2, 13), "name")}


def test_without_one_the_nearest_heading_dates_a_section() -> None:
    text = "Top.\n# January 5, 2026\n## Morning\n## 6 Jan 2026\n### Noon\n# Other\n"
    assert dated(text, "MEMORY.md") == [
        (CHANGED, "mtime"),
        (date(2026, 1, 5), "heading"),
        (date(2026, 1, 5), "heading"),
        (date(2026, 1, 6), "heading"),
        (date(2026, 1, 6), "heading"),
        (CHANGED, "mtime"),
    ]


@pytest.mark.parametrize("front", table("markdown_units.tsv", "front matter that states the fifth of January"))
def test_then_the_front_matter_then_the_time_of_change(front: str) -> None:
    assert dated(f"{front}\n# Other\n", "MEMORY.md") == [
        (date(2026, 1, 5), "front-matter"),
        (date(2026, 1, 5), "front-matter"),
    ]
    assert dated("# Other\n", "MEMORY.md") == [(CHANGED, "mtime")]


def test_front_matter_is_data() -> None:
    text = "---\ntitle: A note\ncreated: 2026-01-05\ntags:\n  - a\nnested: {at: 2026-01-05 10:00:00}\n---\nBody.\n"
    values = {"title": "A note", "created": "2026-01-05", "tags": ["a"], "nested": {"at": "2026-01-05T10:00:00"}}
    assert document(text).front_matter == values
    broken = "---\ntitle: A note\ntags:\n  - a\n- b\n---\nBody.\n"
    assert shape(broken)[0] == (2, 2, "meta", "title: A note")


@pytest.mark.parametrize(
    "broken",
    [
        *table("markdown_units.tsv", "broken front matter is text all the same"),
        "deep: " + "[" * 5_000,
        "long: " + "word " * 5_000,
    ],
)
def test_broken_front_matter_is_text_all_the_same(broken: str) -> None:
    parsed = document(f"---\ntitle2: x\n{broken}\n---\nBody.\n")
    assert parsed.front_matter["title2"] == "x"
    assert [unit.form for unit in parsed.sections[0].units][-1] == "line"
    assert len(parsed.sections[0].units) > 1


def test_a_small_text_cannot_become_a_huge_tree() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 12)]
    assert len(str(document("---\n" + "\n".join(rows) + "\n---\n").front_matter)) < 2 * len(str(rows))


@pytest.mark.parametrize(("stated", "read"), table("markdown_units.tsv", "front matter is read as far as it can be"))
def test_front_matter_is_read_as_far_as_it_can_be(stated: str, read: str) -> None:
    """A note keeps its day and its trust; who may have said something of that is untrusted."""
    assert document(f"---\n{stated}\n---\nBody.\n").front_matter == json.loads(read)


@pytest.mark.parametrize("opening", ["\n---\n", "---\n\n", " \n\t\n--- \n", "---\n# said by a stranger\n", " ---\n  "])
def test_blank_lines_and_remarks_may_stand_around_the_first_fence(opening: str) -> None:
    assert document(f"{opening}origin: untrusted\n---\nBody.\n").front_matter == {"origin": "untrusted"}


@pytest.mark.parametrize("held", ["memory: false", "Memory: FALSE", "'memory' : no", "  memory: off # mine"])
def test_what_cannot_be_read_still_keeps_a_note_out(held: str) -> None:
    assert withholds(document(f"---\ntitle: [\n{held}\n---\nBody.\n").front_matter)


def test_a_note_that_begins_with_a_rule_has_no_front_matter() -> None:
    text = "---\nWe met in Rome.\n\n---\nBody.\n"
    assert document(text).front_matter == {}
    assert [(unit.start_line, unit.form) for unit in units(text)] == [(2, "line"), (5, "line")]


def test_front_matter_that_is_never_closed_is_text() -> None:
    for text in ("---\ntitle: x\n\nBody.\n", "---\ntitle: x\n" + "tags:\n" * 500 + "---\n"):
        assert {unit.form for unit in units(text)} == {"line"}
        assert document(text).front_matter == {"origin": "untrusted"}


@pytest.mark.parametrize(("text", "words"), table("markdown_units.tsv", "what is said comes without who says it"))
def test_what_is_said_comes_without_who_says_it(text: str, words: str) -> None:
    assert without_speaker(text, "Caroline") == words


def test_later_sentences_of_a_turn_are_indexed_with_the_speaker() -> None:
    sentence = "We talked about the garden and the roses that she planted in spring. "
    first, *later = units("Alice: " + sentence * 8 + "\n\nBob: ok\n\nAlice: fine\n")
    assert (first.form, first.indexed) == ("sentence", None)
    assert first.text.startswith("Alice: We talked")
    *later, _, _ = later
    assert len(later) >= 2
    assert all(unit.indexed == f"Alice: {unit.text}" and unit.speaker == "Alice" for unit in later)


def test_a_long_paragraph_is_cut_at_sentences_of_the_wanted_length() -> None:
    sentence = "Dr. Smith of Acme Inc. moved v2.3.1 to 10.0.0.1 at 3.5 GHz, e.g. for https://a.b/c.d today"
    parsed = units(". ".join([sentence] * 8) + ".\n")
    assert all(unit.form == "sentence" and unit.text.startswith("Dr. Smith") for unit in parsed)
    assert all(unit.text.endswith("today.") for unit in parsed)
    assert all(30 <= len(unit.text) / 4 <= UNIT_TOKENS for unit in parsed)


def test_sentences_over_wrapped_lines_know_their_lines_and_read_well() -> None:
    words = "Every sentence of this text goes on for a good while and finds its end on another line than it began. " * 6
    lines = textwrap.wrap(words, 72)
    parsed = units("\n".join(lines) + "\n")
    assert len(parsed) == 3
    assert all(unit.text.startswith("Every sentence") and unit.text.endswith("began.") for unit in parsed)
    assert all(unit.text in " ".join(lines[unit.start_line - 1 : unit.end_line]) for unit in parsed)
    assert [unit.start_line for unit in parsed] == [1, 3, 6]
    assert parsed[-1].end_line == len(lines)


@pytest.mark.parametrize("mark", ["。", "！", "？"])
def test_chinese_and_japanese_sentences_end_without_a_blank(mark: str) -> None:
    parsed = units((("今天天气很好" * 6) + mark) * 20 + "\n")
    assert len(parsed) > 3
    assert all(unit.text.endswith(mark) and len(unit.text) <= UNIT_TOKENS * 4 for unit in parsed)


def test_a_numbered_run_in_one_line_keeps_its_numbers_with_their_texts() -> None:
    text = " ".join(f"{n}. Point number {n} says that the garden needs water every morning." for n in range(1, 12))
    assert all(unit.text[0].isdigit() for unit in units(text + "\n"))


def test_a_sentence_without_end_is_cut_at_clauses_and_words() -> None:
    parsed = units("and then we went on, " * 200 + "\n")
    assert max(len(unit.text) for unit in parsed) <= UNIT_TOKENS * 4 * 1.25
    assert all(unit.text.endswith(("on,", "on")) for unit in parsed)


@pytest.mark.parametrize(
    "filler", ["a", "ab ", "1.", '."', "测，", "e.g. ", "> ", "- ", "[", "<a ", "`", "|", "\t", "A:"]
)
def test_a_line_of_a_megabyte_takes_linear_time(filler: str) -> None:
    text = "x " + filler * (1_000_000 // len(filler)) + " x"
    began = time.process_time()
    found = units(text)
    assert time.process_time() - began < 2.0
    assert max(len(unit.text) for unit in found) <= 4 * UNIT_TOKENS * 4


def test_a_long_item_is_cut_into_sentences() -> None:
    parsed = units("- " + "The garden needs water every morning before nine. " * 12 + "\n")
    assert len(parsed) > 1 and {unit.form for unit in parsed} == {"sentence"}


def test_long_code_is_cut_at_blank_lines() -> None:
    body = "\n\n".join("\n".join(f"value_{n}_{m} = {m}" for m in range(8)) for n in range(20))
    parsed = units(f"```\n{body}\n```\n")
    assert len(parsed) > 2
    assert all(len(unit.text) <= 4 * UNIT_TOKENS * 4 for unit in parsed)
    assert all("value_" in unit.text.split("\n")[0] for unit in parsed[1:])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_three_line_ends_count(end: str) -> None:
    parsed = sections(end.join(["# A", "", "one", "- two", ""]))
    assert [(unit.start_line, unit.text) for unit in parsed[0].units] == [(1, "# A"), (3, "one"), (4, "- two")]
    assert parsed[0].lines == ("# A", "", "one", "- two")


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_nothing_else_ends_a_line(mark: str) -> None:
    assert shape(f"one{mark}two\nthree\n") == [(1, 1, "line", f"one{mark}two"), (2, 2, "line", "three")]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + " end",
        "> " * 10_000 + "end",
        "- " * 10_000 + "end",
        "".join("  " * n + "- item\n" for n in range(600)) + "end",
        ("> " * 200 + "end\n") * 200,
        "1. " * 10_000 + "end",
    ],
    ids=["quotes", "spaced quotes", "bullets", "nested bullets", "quoted lines", "numbers"],
)
def test_deep_nesting_is_read_as_plain_lines(text: str) -> None:
    began = time.process_time()
    parsed = sections(text + "\n# After\nstill here\n")
    assert time.process_time() - began < 2.0
    *_, end, heading, last = [unit.text for section in parsed for unit in section.units]
    assert end.endswith("end") and (heading, last) == ("# After", "still here")


def test_ten_levels_of_lists_are_read_as_lists() -> None:
    assert {form for _, _, form, _ in shape("".join("  " * n + "- item\n" for n in range(10)))} == {"item"}
