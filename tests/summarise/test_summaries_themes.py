"""The headings of a summary: titles, subjects of several days, the notes' own headings, days."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest
from extracts import DAY, extracted, period, read_back
from tables import parts, table

from openclaw_memory.example import copy_to
from openclaw_memory.model import Grain
from openclaw_memory.summarise.summary import Summary, heading_subject, summarise

#: Enough for every sentence.
LONG: dict[str, float] = {"budget": 10**6, "share": 9}


def shown(summary: Summary) -> dict[str, list[str]]:
    return {part.heading: [sentence.text for sentence in part.sentences] for part in summary.parts}


def days(*notes: str) -> Mapping[date, str]:
    return {DAY + timedelta(days=at): note for at, note in enumerate(notes)}


def test_what_has_no_heading_stands_under_notes() -> None:
    assert shown(summarise(extracted("the kiln is hot\n"), Grain.DAILY, **LONG)) == {"Notes": ["the kiln is hot"]}


def test_two_notes_of_a_day_share_a_heading() -> None:
    sentences = extracted("## Chores\n\n- watered the basil\n")
    sentences += extracted("## Chores\n\n- mended the ladder\n", entry=1, order=1)
    told = shown(summarise(sentences, Grain.DAILY, **LONG))
    assert told == {"Topics": ["Chores"], "Chores": ["watered the basil", "mended the ladder"]}


def test_a_tag_that_its_sentence_shows_is_not_said_again() -> None:
    (part,) = summarise(extracted("## One\n\n- the basil is green #garden\n"), Grain.DAILY, **LONG).parts
    assert part.tags == ()


def test_a_week_is_told_day_by_day() -> None:
    sentences = period(
        days("- the kiln is hot\n- the kiln is cold\n", "- rain fell on the garden\n", "- mended the roof\n")
    )
    assert shown(summarise(sentences, Grain.WEEKLY, **LONG)) == {
        "2026-02-16": ["the kiln is hot", "the kiln is cold"],
        "2026-02-17": ["rain fell on the garden"],
        "2026-02-18": ["mended the roof"],
    }


def test_every_day_with_something_to_say_has_its_say() -> None:
    rich = "".join(f"- decided on QX-77{at} for Mira, Anouk and the attic in {at} May\n" for at in range(10, 40))
    poor = "- the basil on the balcony is green\n"
    sentences = period(days(rich, poor, rich.replace("QX", "RT"), poor.replace("basil", "thyme")))
    assert list(shown(summarise(sentences, Grain.WEEKLY, 200))) == [
        "2026-02-16",
        "2026-02-17",
        "2026-02-18",
        "2026-02-19",
    ]


SHED = "# 2026-02-16\n\n## Storage\n\n### Attic server\n\n- **Limit:** 10 GB\n- 40 euro a month\n\n## Done today\n\n- swept the yard of QX-7714 with Mira\n"


def test_a_week_says_what_its_sentences_are_about() -> None:
    headings = shown(summarise(period(days(SHED, "## TODO\n\n- mend the roof\n")), Grain.WEEKLY, **LONG))
    assert headings == {
        "2026-02-16 · Topics": ["Storage"],
        "2026-02-16 · Storage · Attic server": ["**Limit:** 10 GB", "40 euro a month"],
        "2026-02-16": ["swept the yard of QX-7714 with Mira"],
        "2026-02-17": ["mend the roof"],
    }


def test_a_day_of_a_week_is_one_entry_under_however_many_headings() -> None:
    week = summarise(
        period(days(SHED + "\n## Garden\n\n- the basil of Mira is green\n", "- rain fell on the garden\n")),
        Grain.WEEKLY,
        **LONG,
    )
    back = read_back(week, Grain.WEEKLY, "2026-W08")
    assert {sentence.day: sentence.entry for sentence in back} == {DAY: 0, DAY + timedelta(days=1): 1}
    assert len({sentence.heading for sentence in back}) == 5


def test_what_is_left_of_a_month_stands_under_what_it_is_about() -> None:
    week = summarise(period(days(SHED)), Grain.WEEKLY, **LONG)
    headings = shown(summarise(read_back(week, Grain.WEEKLY, "2026-W08"), Grain.MONTHLY, **LONG))
    assert headings == {
        "Topics": ["Storage"],
        "Storage · Attic server": ["**Limit:** 10 GB", "40 euro a month"],
        "Other": ["swept the yard of QX-7714 with Mira"],
    }


def test_a_day_tells_its_headings_first_and_then_stands_under_them() -> None:
    note = "# 2026-02-16\n\nwalked to the harbour\n\n## Kiln QX-7714 — sold\n\n- it left on a cart\n"
    assert shown(summarise(extracted(note), Grain.DAILY, **LONG)) == {
        "Topics": ["Kiln QX-7714 — sold"],
        "2026-02-16": ["walked to the harbour"],
        "Kiln QX-7714 — sold": ["it left on a cart"],
    }


@pytest.mark.parametrize("titles", table("summaries_themes.tsv", "titles of a month", parts))
def test_a_month_tells_first_what_it_was_about_on_most_days(titles: tuple[list[str], list[str], list[str]]) -> None:
    subject, most, rest = titles
    notes = [f"# Log\n\n## {title}\n\n- {7 * at} kg\n" for at, title in enumerate([*rest[:1], *most, *rest[1:]])]
    told = shown(summarise(period(days(*notes)), Grain.MONTHLY, **LONG))
    name, lines = next(iter(told.items()))
    assert name == subject[0] and [line for line in lines if "kg" not in line] == most
    assert set(rest) <= {text for texts in told.values() for text in texts}


def test_titles_stay_titles_through_days_and_weeks() -> None:
    sentences = period(days("## Kiln — bricks\n\n- red\n", "## Kiln — sold\n\n- at last\n"))
    days_read = [
        replace(line, order=len(sentences) * at + line.order, entry=at)
        for at in range(2)
        for line in read_back(
            summarise([each for each in sentences if each.day == DAY + timedelta(days=at)], Grain.DAILY, **LONG),
            Grain.DAILY, str(DAY + timedelta(days=at)),
        )
    ]  # fmt: skip
    week = read_back(summarise(days_read, Grain.WEEKLY, **LONG), Grain.WEEKLY, "2026-W08")
    month = summarise(week, Grain.MONTHLY, **LONG)
    assert shown(month)["Kiln"][:1] == ["Kiln — bricks"]
    assert [line.text for line in read_back(month, Grain.MONTHLY, "2026-02") if "Kiln" in line.text] == [
        "Kiln — bricks",
        "Kiln — sold",
    ]


@pytest.mark.parametrize(
    ("heading", "subject"),
    [
        *table("summaries_themes.tsv", "what sentences are about is said by their last headings"),
        ("The boiler > " + "burner " * 20, ""),
    ],
)
def test_what_sentences_are_about_is_said_by_their_last_headings(heading: str, subject: str) -> None:
    assert heading_subject(heading) == subject


def test_the_example_keeps_what_was_decided_and_leaves_the_jokes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    copy_to(tmp_path)
    notes = {
        date.fromisoformat(file.stem): file.read_text(encoding="utf-8")
        for file in sorted((tmp_path / "memory").glob("2026-*.md"))
    }
    assert len(notes) == 5
    weeks: list[str] = []
    for day, note in notes.items():
        summary = summarise(extracted(note, day), Grain.DAILY, 370)
        texts = [sentence.text for sentence in summary.sentences()]
        assert 6 <= len(texts) <= 18
        weeks += [sentence.text for sentence in read_back(summary, Grain.DAILY, day.isoformat())]
    text = "\n".join(weeks)
    for fact in ("Decision: memory search runs at home", "Decision for QX-7714", "Decision: only safetensors"):
        assert fact in text
    assert "QX-7714 closed" in text
    for joke in ("Mood of the rack", "good night", "Recipe received", "funeral at sea", "watered the basil"):
        assert joke not in text
