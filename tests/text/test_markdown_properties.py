"""What holds for the units of any text at all."""

from __future__ import annotations

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.ingest.notes import lower_trust
from openclaw_memory.model import Origin, ParsedDocument, Section, Unit
from openclaw_memory.text.lines import split_lines
from openclaw_memory.text.markdown import parse
from openclaw_memory.text.sentences import CEILING, pieces, sentence_spans

WORD = re.compile(r"[^\W_]")
UNIT_TOKENS = 10
LONGEST = CEILING * UNIT_TOKENS * 4

WORDS = st.sampled_from(
    [*"word Word e.g. v2.3.1 end. End! 测试。 a|b **bold** Alice: user: https://a.b/c".split(), "x" * 70]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
PREFIXES = st.sampled_from(
    ["", "", "# ", "## ", "- ", "  - ", "1. ", "10. ", "> ", "> - ", ">> ", "    ", "\t", "| ", "User: ", "Alice: ",
     "- Bob: ", "<div> "]
)  # fmt: skip
BARE = st.sampled_from(
    ["", "", "| a | b |", "[a]: b", "key: value", "\x0c", "\u2028",
     *"--- === *** ___ ``` ~~~ ```py |--|--| |-|-| <!-- --> <pre> ... - > # 1.".split()]
)  # fmt: skip
LINES = st.one_of(st.builds("{}{}".format, PREFIXES, SENTENCES), BARE, st.text(max_size=60))
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
MARKDOWN = st.lists(st.builds("{}{}".format, LINES, ENDS), max_size=25).map("".join)


def document(text: str) -> ParsedDocument:
    return parse(text, path="memory/note.md", mtime=date(2026, 3, 1), unit_tokens=UNIT_TOKENS)


def bare(text: str) -> str:
    """``text`` without blanks and quote marks, which the joining of wrapped lines may change."""
    return re.sub(r"[\s>]+", "", text)


def check_sections(lines: list[str], parsed: tuple[Section, ...]) -> None:
    claimed: list[int] = []
    for section in parsed:
        assert 1 <= section.start_line <= section.end_line <= len(lines)
        assert section.lines == tuple(lines[section.start_line - 1 : section.end_line])
        claimed += range(section.start_line, section.end_line + 1)
    assert claimed == sorted(set(claimed)), "sections are in order and do not overlap"
    assert {number for number, line in enumerate(lines, start=1) if line.strip()} <= set(claimed)


def check_unit(lines: list[str], section: Section, unit: Unit) -> None:
    assert section.start_line <= unit.start_line <= unit.end_line <= section.end_line
    assert WORD.search(unit.text) and WORD.search(unit.search_text)
    assert len(unit.text) <= LONGEST
    source = "\n".join(lines[unit.start_line - 1 : unit.end_line])
    if unit.form == "sentence":
        assert bare(unit.text) in bare(source)
        assert "\n" not in unit.text
        if unit.start_line == unit.end_line:
            assert unit.text in source
    else:
        assert unit.text.strip() == source.strip()


@given(MARKDOWN)
@examples(600)
def test_every_line_with_text_is_covered_by_exact_ordered_units(text: str) -> None:
    lines = split_lines(text)
    parsed = document(text).sections
    check_sections(lines, parsed)
    covered: set[int] = set()
    before: Unit | None = None
    for section in parsed:
        for unit in section.units:
            check_unit(lines, section, unit)
            if before is not None:
                assert unit.start_line >= before.end_line
                if unit.start_line == before.end_line:
                    assert {unit.form, before.form} == {"sentence"}
            covered.update(range(unit.start_line, unit.end_line + 1))
            before = unit
    assert {number for number, line in enumerate(lines, start=1) if WORD.search(line)} <= covered


@given(MARKDOWN)
def test_line_ends_change_nothing(text: str) -> None:
    lines = split_lines(text)
    assert document("\n".join(lines)) == document("\r\n".join(lines)) == document("\r".join(lines)) == document(text)


@given(st.text(max_size=400))
@examples(200)
def test_front_matter_of_any_kind_is_harmless(inner: str) -> None:
    text = f"---\nkey: {inner}\n---\nBody.\n"
    lines = split_lines(text)
    parsed = document(text).sections
    check_sections(lines, parsed)
    assert parsed[-1].units[-1].text.endswith("Body.")


@given(
    st.lists(st.text(max_size=40), max_size=8),
    st.integers(min_value=0, max_value=8),
    st.sampled_from(["", "---", "..."]),
)
@examples(300)
def test_front_matter_that_says_untrusted_is_never_taken_for_the_agents_own(
    origin_line: list[str], at: int, end: str
) -> None:
    lines = split_lines("\n".join(["---", "key: value", *origin_line]))
    if not {"---", "..."} & {line.rstrip() for line in lines[1:]}:
        lines.insert(2 + at, "origin: untrusted")
        stated = document("\n".join([*lines, end, "Body."])).front_matter
        assert lower_trust(Origin.AGENT, stated) is not Origin.AGENT or any(
            "origin" in str(value) for value in stated.values()
        )


@given(st.text(max_size=300))
def test_lines_are_what_an_editor_shows(text: str) -> None:
    lines = split_lines(text)
    assert "\n".join(lines) == re.sub(r"\r\n?", "\n", text).removesuffix("\n")
    assert not any("\n" in line or "\r" in line for line in lines)


@given(st.one_of(SENTENCES, st.text(max_size=2_000)), st.integers(min_value=8, max_value=240))
@examples(300)
def test_pieces_cover_the_text_in_order_and_stay_short(text: str, size: int) -> None:
    for spans in (sentence_spans(text), pieces(text, size)):
        at = 0
        for start, end in spans:
            assert start < end and not text[at:start].strip()
            at = end
        assert not text[at:].strip()
    assert all(end - start <= CEILING * size for start, end in pieces(text, size))
