"""Ambient context in ten languages: silent where nothing is needed, and there where the notes know."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import Notes, ingested, open_memory
from tables import table

from openclaw_memory import Memory
from openclaw_memory.text.speech import asks_for_answer, has_request, is_request, subject_terms, without_request

NOW = date(2026, 3, 10)
TABLES = "context_languages.tsv"
LEDGER = "".join(f"- Entry {number}: {number * 7} booked on account {number}.\n" for number in range(60))

#: Notes, questions and messages that need nothing, by language.
CASES = {row[0]: row[1:] for row in table(TABLES, "what the notes know is told and nothing else")}
SILENT = [
    *table(TABLES, "a question about somebody whom no note knows gets nothing"),
    *table(TABLES, "a message that shares a word is about something else"),
    *table(TABLES, "thanks ask about nothing"),
]


def memory_of(notes: Notes, text: str) -> Memory:
    notes.write("memory/2026-03-05.md", f"# 2026-03-05\n\n{text}")
    notes.write("memory/ledger.md", LEDGER)
    memory = open_memory(notes, None)
    memory.ingest()
    return memory


@pytest.mark.parametrize("language", CASES)
def test_what_the_notes_know_is_told_and_nothing_else(notes: Notes, language: str) -> None:
    text, question, yesterday, task, *nothing = CASES[language]
    notes.write("memory/2026-03-08.md", f"# 2026-03-08\n\n- 9 x 9\n- {yesterday} 99\n")
    with memory_of(notes, text) as memory:
        assert "240" in memory.context(question, now=NOW).text
        assert "240" in memory.context(task, now=NOW).text, "a task is given the notes that it needs"
        for message in nothing:
            assert memory.context(message, now=NOW).text == "", message
        # Of a day the notes of that day are told, and of no other.
        told_text = memory.context(yesterday, now=date(2026, 3, 6)).text
        assert "240" in told_text and "99" not in told_text
        assert memory.context(yesterday, now=date(2026, 3, 20)).text == ""
        for message in ("how are you today?", "wie geht es dir heute?", "你今天怎么样？", "как ты сегодня?"):
            assert memory.context(message, now=date(2026, 3, 5)).text == "", message


@pytest.mark.parametrize("message", ["bari luis", "ndewo", "mambo vipi"])
def test_one_word_that_the_notes_have_proves_nothing_in_any_language(notes: Notes, message: str) -> None:
    with memory_of(notes, "- Okoro greets with ndewo and bari.\n- Mambo is a dance.\n") as memory:
        assert memory.context(message, now=NOW).text == ""


@pytest.mark.parametrize(("text", "message"), SILENT)
def test_words_in_the_notes_do_not_make_a_message_one_about_them(notes: Notes, text: str, message: str) -> None:
    with memory_of(notes, text) as memory:
        assert memory.context(message, now=NOW).text == ""


@pytest.mark.parametrize(("note", "message"), table(TABLES, "a noun or a letter beyond ascii is no name"))
def test_a_noun_or_a_letter_beyond_ascii_is_no_name(notes: Notes, note: str, message: str) -> None:
    """A word that no note has is somebody only where it has a capital, in a language that keeps these for names."""
    with memory_of(notes, note) as memory:
        assert "240" in memory.context(message, now=NOW).text


def test_a_message_wants_to_be_told_something() -> None:
    for message in table(TABLES, "a message wants to be told something"):
        assert has_request(message), message
    assert not has_request("the pump hums") and not has_request("насос гудит")


def test_of_a_statement_that_is_repeated_the_newest_state_is_told(notes: Notes) -> None:
    for day, price, state in ((1, 7, "läuft"), (3, 8, "läuft"), (5, 9, "läuft nicht")):
        notes.write(
            f"memory/2026-03-0{day}.md", f"- Der Backofen Hestia {state}, der Strompreis steht bei {price} Cent.\n"
        )
    notes.write("memory/ledger.md", LEDGER)
    with ingested(notes, None) as memory:
        text = memory.context("Läuft der Backofen Hestia?", now=NOW).text
    assert "läuft nicht" in text and "9 Cent" in text and "7 Cent" not in text and "8 Cent" not in text


def test_no_heading_log_or_opening_line_is_told_alone(notes: Notes) -> None:
    text = (
        "## Turbine Helios\n\nThe turbine Helios needs these parts:\n\n- a bearing\n- two seals\n\n"
        '{"turbine": "Helios", "level": "error"}\n\n2026-03-05 10:00:01 ERROR turbine Helios restarted\n\n## Turbine Helios later\n'
    )
    with memory_of(notes, text) as memory:
        told_text = memory.context("Which parts does the turbine Helios need?", now=NOW).text
    assert "these parts: a bearing" in told_text and "{" not in told_text and "ERROR" not in told_text
    assert not told_text.rstrip().endswith(":")


@pytest.mark.parametrize("message", table("context_languages.tsv", "the name of a tool among much else says nothing"))
def test_the_name_of_a_tool_among_much_else_says_nothing(notes: Notes, message: str) -> None:
    text = "".join(f"- The {part} of the ledger is written in Cobol now.\n" for part in ("parser", "printer", "index"))
    with memory_of(notes, text) as memory:
        assert memory.context(message, now=NOW).text == ""
        assert "Cobol" in memory.context("What is written in Cobol?", now=NOW).text


def test_a_name_of_two_parts_is_one_word(notes: Notes) -> None:
    """What is asked is not there: only the name is, and its parts are no further words."""
    text = "".join(f"- TideReview got a new {part}.\n" for part in ("footer", "logo", "privacy page", "font"))
    with memory_of(notes, text) as memory:
        assert memory.context("To whom does TideReview sell, to dentists or to bakeries?", now=NOW).text == ""
        assert "logo" in memory.context("Which logo has TideReview?", now=NOW).text


def test_no_drawing_and_no_row_of_opening_lines_is_told(notes: Notes) -> None:
    text = (
        "## Turbine Helios\n\nassistant: Now let me look at the turbine Helios:\nassistant: Now let me read its manual:\n"
        "assistant: The turbine Helios needs two seals.\n\n"
        "Parts of the turbine Helios:\n\n┌────────────┐\n│ Helios     │\n│ └─ turbine │\n└────────────┘\n"
    )
    with memory_of(notes, text) as memory:
        told_text = memory.context("What does the turbine Helios need?", now=NOW).text
    assert "two seals" in told_text and "manual" not in told_text and "│" not in told_text


def test_what_a_host_does_not_show_of_a_long_file_is_told(notes: Notes) -> None:
    filler = "".join(f"- Standing rule {number} about ledgers and accounts of the office.\n" for number in range(150))
    notes.write(
        "MEMORY.md",
        "# Memory\n\n- The boiler Vulcan stands in the attic.\n"
        + filler
        + "- The turbine Helios needs two seals.\n"
        + filler,
    )
    with ingested(notes, None) as memory:
        assert "two seals" in memory.context("what does the turbine Helios need?", now=NOW).text
        assert memory.context("where does the boiler Vulcan stand?", now=NOW).text == ""


@pytest.mark.parametrize(("message", "question", "request_"), table(TABLES, "questions and requests"))
def test_questions_and_requests_are_known_by_their_words(message: str, question: str, request_: str) -> None:
    assert (asks_for_answer(message), is_request(message)) == (question == "yes", request_ == "yes")


def test_a_word_of_another_language_is_no_courtesy_within_a_sentence() -> None:
    assert "dag" in subject_terms("the DAG failed in the scheduler")
    assert subject_terms("Danke! Der Ofen ist kalt.")[-1] == "kalt"


def test_what_is_to_be_cancelled_is_asked_about(notes: Notes) -> None:
    with memory_of(notes, "- GrowLamp costs 24 a month, since May.\n- GrowLamp is dear.\n- GrowLamp came.\n") as memory:
        assert "24" in memory.context("Cancel GrowLamp if it costs more than 20 a month.", now=NOW).text


def test_a_word_of_another_tone_is_no_courtesy() -> None:
    assert without_request("máy bơm nhà kính") == "máy bơm nhà kính"
    assert without_request("cảm ơn nhiều").strip() == without_request("cam on nhieu").strip() == ""


def test_chinese_is_cut_at_its_particles(notes: Notes) -> None:
    with memory_of(notes, "- 左脑用硬盘 DuckDB 存东西。\n") as memory:
        assert "DuckDB" in memory.context("左脑的硬盘用的是什么？", now=NOW).text


def test_two_syllables_of_one_vietnamese_word_are_one_word(notes: Notes) -> None:
    text = "".join(f"- Điện thoại số {n} đặt ở kệ {n % 7}, thời tiết khô.\n" for n in range(12))
    with memory_of(notes, text) as memory:
        assert memory.context("thời tiết Paris hôm nay thế nào?", now=NOW).text == ""


@pytest.mark.parametrize("word", ["备份地下室", "ภาษาไทย", "thờitiết"])
def test_a_word_without_end_is_read_to_its_end(notes: Notes, word: str) -> None:
    with memory_of(notes, f"- {word} 12\n- {word} 13\n") as memory:
        assert memory.context(word * (18_000 // len(word)), now=NOW).text == ""
