"""Summaries in many languages: noise, denials, routine, and how long they may be."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from tables import table

from openclaw_memory.model import Grain, Origin
from openclaw_memory.summarise.scoring import drop_noise
from openclaw_memory.summarise.sentences import Sentence
from openclaw_memory.summarise.summary import summarise
from tests.extracts import period

MONDAY = date(2026, 3, 2)


def sentence(text: str, order: int = 0, day: date = MONDAY) -> Sentence:
    path = f"memory/{day.isoformat()}.md"
    return Sentence(text, path, order + 1, order + 1, day, order, order, "Notes", None, (), (), Origin.AGENT)


def texts(*statements: str, grain: Grain = Grain.DAILY, budget: float = 10_000, step: int = 0) -> list[str]:
    given = [sentence(text, at, MONDAY + timedelta(step * at)) for at, text in enumerate(statements)]
    return [sentence.text for sentence in summarise(given, grain, budget, share=100).sentences()]


@pytest.mark.parametrize(
    ("statement", "denied"), table("summaries_languages.tsv", "a denial is kept beside what it denies")
)
def test_a_denial_is_kept_beside_what_it_denies(statement: str, denied: str) -> None:
    given = [sentence(statement, 0), sentence(denied, 1)]
    chosen = summarise(given, Grain.DAILY, 10_000, share=100).sentences()
    assert [sentence.text for sentence in chosen] == [statement, denied]


@pytest.mark.parametrize("text", table("summaries_languages.tsv", "what says nothing to a person is left out"))
def test_what_says_nothing_to_a_person_is_left_out(text: str) -> None:
    kept = "Ines waters the tomatoes on Thursdays"
    assert drop_noise([sentence(text), sentence(kept, 1)]) == [sentence(kept, 1)]
    assert drop_noise([sentence(text)]) == [sentence(text)]  # rather this than nothing


@pytest.mark.parametrize("text", table("summaries_languages.tsv", "figures dates and links behind a label are kept"))
def test_figures_dates_and_links_behind_a_label_are_kept(text: str) -> None:
    other = sentence("Ines waters the tomatoes on Thursdays", 1)
    assert drop_noise([sentence(text), other]) == [sentence(text), other]


@pytest.mark.parametrize(
    "routine", ["Backup took {} seconds", "Sicherung dauerte {} Sekunden", "备份用了{}秒", "Копия заняла {} секунд"]
)
def test_what_comes_daily_is_said_once_as_it_was_last(routine: str) -> None:
    shown_text = [routine.format(40 + day) for day in range(4)]
    chosen = texts(*shown_text, "Ines sowed the first tomatoes", grain=Grain.MONTHLY, step=1)
    assert [text for text in chosen if text in shown_text] == shown_text[-1:]


@pytest.mark.parametrize(
    "routine", table("summaries_languages.tsv", "what comes by the hour is said once a day and readings each")
)
def test_what_comes_by_the_hour_is_said_once_a_day_and_readings_each(routine: str) -> None:
    text = [routine.format(f"0{hour}:15") for hour in range(4)]
    assert texts(*text, "Ines sowed the first tomatoes") == [text[-1], "Ines sowed the first tomatoes"]
    readings = [f"Bed {bed} of the greenhouse: {bed * 3} litres" for bed in range(1, 5)]
    assert texts(*readings) == readings


def test_a_budget_grows_with_what_there_is_to_say_and_is_bounded() -> None:
    def length(many: int) -> int:
        given = [sentence(f"Parcel {at} of Ines holds item{at} from store{at} for room{at}", at) for at in range(many)]
        return len(summarise(given, Grain.DAILY, 100, grows=True).sentences())

    assert length(20) < length(90) < length(400) == length(800)


@pytest.mark.parametrize("statement", table("summaries_languages.tsv", "an appointment on another day is kept"))
def test_an_appointment_on_another_day_is_kept(statement: str) -> None:
    assert texts(statement, "Ines sowed the first tomatoes") == [statement, "Ines sowed the first tomatoes"]


@pytest.mark.parametrize(
    ("text", "other"), table("summaries_languages.tsv", "headings of ours are in the language of the notes")
)
def test_headings_of_ours_are_in_the_language_of_the_notes(text: str, other: str) -> None:
    summary = summarise([replace(sentence(text), heading="")], Grain.MONTHLY, 10_000, share=100)
    assert [part.heading for part in summary.parts] == [other]


@pytest.mark.parametrize("nothing", table("summaries_languages.tsv", "a day without decisions"))
def test_a_day_without_decisions_does_not_lead_a_month(nothing: str) -> None:
    notes = [
        f"# Log\n\n## {title}\n\n- {nothing if at == 1 else title}\n"
        for at, title in enumerate(("Boat house: stove", "Rest", "Boat house: new roof", "Boat house sold ✅"))
    ]
    told = summarise(
        period({MONDAY + timedelta(at): note for at, note in enumerate(notes)}), Grain.MONTHLY, 10_000, share=100
    )
    assert [line.text for line in told.parts[0].sentences if line.title] == [
        "Boat house: stove", "Boat house: new roof", "Boat house sold ✅"
    ]  # fmt: skip
