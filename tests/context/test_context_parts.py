"""The parts of ambient context: plain sentences, courtesies, what sessions were given, counters."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import state_in
from tables import table

from openclaw_memory.context import prose
from openclaw_memory.context.compose import Item, compose
from openclaw_memory.context.usage import SessionHistory, UsageCounters
from openclaw_memory.model import FactRow, Origin, tokens_of
from openclaw_memory.text.speech import asks_for_answer, subject_terms, without_small_talk


@pytest.mark.parametrize(("markdown", "plain"), table("context_parts.tsv", "markdown becomes plain words"))
def test_markdown_becomes_plain_words(markdown: str, plain: str) -> None:
    assert prose.plain_text(markdown) == plain


@given(st.text(max_size=200))
def test_plain_text_is_one_line_without_unseen_characters(text: str) -> None:
    made = prose.plain_text(text)
    assert made == " ".join(made.split()) and not set(made) & set("\n\r\x00\u200b\u202e")


@given(st.text(alphabet="ab ,.", max_size=80), st.integers(0, 100))
def test_what_is_shortened_fits(text: str, most: int) -> None:
    made = prose.shorten(text, most)
    assert len(made) <= max(most, 0) or made == text
    assert len(made) <= most or len(text) <= most


def test_rows_of_tables_carry_their_header() -> None:
    table = ["| bay | pool | mood |", "|:--|---|--:|", "| A | `tank` | |", "| B | x \\| y | fine |"]
    assert prose.table_row(table[2], table[:2]) == "A, pool tank"
    assert prose.table_row(table[3], table[:3]) == "B, pool x | y, mood fine"
    assert prose.table_row("| lonely | row |", ["text"]) == "lonely, row"
    assert prose.table_row("no row", []) is None


def test_a_part_begins_with_its_sentence_and_not_behind_an_abbreviation() -> None:
    text = "The kiln is cold. We asked Dr. Okafor about the fan. He will come on Friday."
    assert prose.sentence_at(text, text.index("We") + 9, 34) == "We asked Dr. Okafor about the fan."
    assert prose.sentence_at(text, text.index("He"), 99) == "He will come on Friday."


def test_leads_name_the_day_and_the_heading() -> None:
    day = date(2026, 2, 24)
    assert (
        prose.format_lead(day, "memory/2026-02-24.md", "2026-02-24 > Benchmark for `QX`")
        == "On 24 Feb 2026 (Benchmark for QX)"
    )
    assert prose.format_lead(day, "memory/a.md", "2026-02-24 Fan swapped") == "On 24 Feb 2026 (Fan swapped)"
    assert prose.format_lead(day, "memory/a.md", "2026-02-24 (EST)") == "On 24 Feb 2026 (EST)"
    assert prose.format_lead(day, "memory/a.md", "2026-02-24 - Fan (bay 2)") == "On 24 Feb 2026 (Fan (bay 2))"
    assert prose.format_lead(None, "memory/hardware.md", "Hardware") == "In hardware"
    assert prose.format_lead(None, "memory/hardware.md", "Hardware > NAS") == "In hardware (NAS)"
    assert prose.format_lead(day, "memory/2026-02-24.md", "2026-02-24") == "On 24 Feb 2026"
    assert prose.format_lead(day, "memory/2026-02-24.md", "Orchard > What is left:") == "On 24 Feb 2026 (What is left)"
    assert prose.format_lead(None, "memory/orchard.md", "果樹園：") == "In orchard (果樹園)"


@pytest.mark.parametrize("heading", ["Orchard (2026-02-24)", "Orchard - 2026-02-24", "Orchard, 2026-02-24:"])
def test_a_lead_names_its_day_once(heading: str) -> None:
    assert prose.format_lead(date(2026, 2, 24), "memory/2026-02-24.md", heading) == "On 24 Feb 2026 (Orchard)"
    assert prose.format_lead(date(2026, 2, 25), "memory/2026-02-25.md", "Orchard, 2026-02-24") == (
        "On 25 Feb 2026 (Orchard, 2026-02-24)"
    )


def test_a_heading_costs_as_much_in_every_script() -> None:
    heading, wide = "how the orchard was planted", "果樹園の植え付けと剪定についての長い長い話"
    assert prose.format_lead(None, "memory/a.md", heading) == f"In a ({heading})"
    lead = prose.format_lead(None, "memory/a.md", wide)
    assert lead.endswith("…)") and tokens_of(lead) <= tokens_of(f"In a ({heading})") + 1


def test_a_tree_is_told_by_what_it_shows() -> None:
    tree = "orchard/\n├── apples.md — the old row\n│   └── notes/\n└── pears.md"
    assert prose.plain_text(tree) == "orchard/, apples.md — the old row, notes/, pears.md"
    assert prose.plain_text("│ alone │") == "│ alone │"


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "sentence"), table("context_parts.tsv", "facts become sentences")
)
def test_facts_become_sentences(subject: str, predicate: str, object_: str, sentence: str) -> None:
    row = FactRow("f-1", subject, predicate, object_, 1.0, Origin.AGENT, "stated", None, None, None, True)
    assert prose.format_fact(row) == sentence


def test_a_fact_says_since_when_or_when_it_was_noted() -> None:
    day = date(2026, 3, 1)
    stated = FactRow("f-1", "Petra", "lives in", "Utrecht", 1.0, Origin.AGENT, "stated", None, day, None, True)
    noted = FactRow("f-2", "Petra", "lives in", "Utrecht.", 0.8, Origin.AGENT, "says", None, day, None, True)
    assert prose.format_fact(stated) == "Petra lives in Utrecht (since 1 Mar 2026)."
    assert prose.format_fact(noted) == "Petra lives in Utrecht (noted 1 Mar 2026)."


def test_courtesies_are_about_nothing() -> None:
    assert subject_terms("Thanks a lot, that looks great! Please go ahead.") == ()
    assert subject_terms("Thanks! How is the kiln?") == ("kiln",)
    assert without_small_talk("Wow, awesome! Thanks.\nThe kiln is cold. OK?") == "The kiln is cold."
    assert without_small_talk("sounds good") == ""


@pytest.mark.parametrize(
    ("message", "is_one"),
    [("Is it cold?", True), ("when is the dentist", True), ("Remind me of the kiln", True), ("the kiln is cold", False), ("", False)],
)  # fmt: skip
def test_questions_are_told_from_remarks(message: str, is_one: bool) -> None:
    assert asks_for_answer(message) is is_one


@given(st.text(max_size=300))
def test_any_message_is_read(text: str) -> None:
    assert bool(subject_terms(without_small_talk(text))) <= bool(subject_terms(text))
    asks_for_answer(text)


_ITEMS = st.lists(
    st.builds(
        Item,
        key=st.integers(0, 20),
        order=st.floats(0, 1),
        text=st.text(alphabet="abcdefghij klm", min_size=1, max_size=300),
        lead=st.sampled_from(["On 1 Mar 2026", "In hardware (NAS)"]),
        group=st.integers(0, 3),
        day=st.none() | st.dates(),
        place=st.tuples(st.sampled_from("ab"), st.integers(0, 9)),
    ),
    max_size=12,
)


@pytest.mark.parametrize("budget", [200, 30])
def test_a_line_of_a_list_is_not_said_beside_the_list(budget: int) -> None:
    line = Item(1, 0.9, "Sand the oars.", "On 1 Mar 2026", 7, place=("a", 4))
    rest = "Varnish the thwarts. Order rope for the two anchors. Ask for a berth nearer to the harbour office."
    lead = Item(2, 0.5, f"Left before the launch: Sand the oars. {rest}", "On 1 Mar 2026", 7, place=("a", 3))
    made = compose([line, lead], "boat", budget, ())
    assert made.text.count("Sand the oars.") == 1
    assert (rest in made.text) is (budget == 200)
    elsewhere = Item(2, 0.5, lead.text, "On 2 Mar 2026", 8, place=("b", 3))
    assert [item.key for item in compose([line, elsewhere], "boat", 200, ()).items] == [1, 2]


@given(items=_ITEMS, budget=st.integers(1, 120), given_=st.sets(st.integers(0, 20), max_size=4))
def test_what_is_composed_keeps_the_budget_and_repeats_nothing(
    items: list[Item], budget: int, given_: set[int]
) -> None:
    made = compose(items, "message", budget, given_)
    assert len(made.text) <= 4 * budget and bool(made.text) == bool(made.items)
    assert not {item.key for item in made.items} & given_
    assert compose(list(reversed(items)), "message", budget, given_) == made or len({i.order for i in items}) < len(
        items
    )


def test_what_sessions_were_given_is_bounded() -> None:
    kept = SessionHistory(3600)
    for number in range(600):
        kept.add(f"session {number}", range(2000))
    assert len(kept) == 512
    assert kept.lately("session 0") == frozenset() and len(kept.lately("session 599")) == 1024
    kept.add(None, [1])
    assert kept.lately(None) == kept.lately("") == kept.lately("another") == frozenset()


def test_counters_add_up_over_processes(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite"
    first, other = UsageCounters(state_in(file)), UsageCounters(state_in(file))
    for counters in (first, other):
        counters.count(entities=2, tokens=100, late=False)
        counters.count(entities=0, tokens=0, late=True)
    first.flush()
    first.flush()
    other.flush()
    use = UsageCounters(state_in(file)).use()
    assert (use.messages, use.with_context, use.share, use.entities_per_message) == (4, 2, 0.5, 1.0)
    assert (use.tokens_per_context, use.late, use.since) == (100.0, 2, date.today())


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"messages": -1}', "\x00\xff", '{"since": "soon", "messages": 1}']
)
def test_what_is_not_ours_counts_as_none(tmp_path: Path, content: str) -> None:
    state = state_in(tmp_path / "state.sqlite")
    state.set_flag("context", content)
    counters = UsageCounters(state)
    counters.count(1, 1, False)
    assert counters.use().messages == 1
    counters.flush()
    assert UsageCounters(state).use().messages == 1


def test_counters_that_cannot_be_written_are_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    counters = UsageCounters(state_in(tmp_path / "file" / "below" / "state.sqlite"))
    counters.count(1, 1, False)
    counters.flush()
    assert counters.use().messages == 1
    assert UsageCounters(state_in(None)).use().messages == 0


def test_counting_from_several_threads_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite"
    counters = UsageCounters(state_in(file))
    threads = [threading.Thread(target=lambda: [counters.count(1, 1, False) for _ in range(120)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counters.flush()
    for thread in threading.enumerate():
        if thread.name == "context counters":
            thread.join()
    counters.flush()
    assert UsageCounters(state_in(file)).use().messages == 480


@pytest.mark.parametrize("heading", ["Done today", "进展", "Итоги", "Próximos pasos", "10:32", "✅ Status", "Erledigt"])
def test_a_heading_that_names_no_subject_leads_nothing(heading: str) -> None:
    day = date(2026, 2, 24)
    assert prose.format_lead(day, "memory/2026-02-24.md", f"Pump > {heading}") == "On 24 Feb 2026 (Pump)"
    assert prose.format_lead(day, "memory/2026-02-24.md", heading) == "On 24 Feb 2026"


def test_a_long_note_takes_no_place_of_several_that_are_nearly_as_good() -> None:
    rows = ["the oars are varnished twice", "a heron stood on the quay", "the ferry sails at nine"]
    short = [Item(at, 0.8, f"{row}.", "On 1 Mar 2026", at, place=("a", at)) for at, row in enumerate(rows)]
    words = " ".join(f"plank{number}" for number in range(60))
    long = Item(9, 0.85, f"The keel: {words}.", "On 2 Mar 2026", 9, place=("b", 1))
    made = compose([*short, long], "boat", 60, ())
    assert {item.key for item in made.items[:3]} == {0, 1, 2}
    better = compose([*short, replace(long, order=1.05)], "boat", 60, ())
    assert better.items[0].key == 9
