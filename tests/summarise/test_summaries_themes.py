"""The headings of a summary: shared concepts, the notes' own headings, days, milestones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

import pytest
from extracts import DAY, extracted, period, read_back
from tables import table

from openclaw_memory.example import copy_to
from openclaw_memory.model import Grain
from openclaw_memory.summarise.summary import Summary, heading_subject, summarise

#: Enough for every sentence.
LONG: dict[str, float] = {"budget": 10**6, "share": 9}
COARSE = (Grain.MONTHLY, Grain.QUARTERLY, Grain.YEARLY)


def shown(summary: Summary) -> dict[str, list[str]]:
    return {part.heading: [sentence.text for sentence in part.sentences] for part in summary.parts}


def days(*notes: str) -> Mapping[date, str]:
    return {DAY + timedelta(days=at): note for at, note in enumerate(notes)}


NOTE = """# 2026-02-16

walked to the harbour before breakfast

## Standup

- benchmark of QX-7714 is running on the attic
- the printer in the hallway wants cyan

## Benchmark

- QX-7714 finds 31 of 34 lines #search
- the small model used 25 MB

## Chores

- watered the basil slowly
"""


def test_a_day_has_its_own_headings_and_one_for_a_concept_that_entries_share() -> None:
    summary = summarise(extracted(NOTE), Grain.DAILY, **LONG)
    assert shown(summary) == {
        "2026-02-16": ["walked to the harbour before breakfast"],
        "QX-7714": [
            "benchmark of QX-7714 is running on the attic",
            "QX-7714 finds 31 of 34 lines #search",
        ],
        "Standup": ["the printer in the hallway wants cyan"],
        "Benchmark": ["the small model used 25 MB"],
        "Chores": ["watered the basil slowly"],
    }
    assert [part.concept for part in summary.parts] == [None, "QX-7714", None, None, None]
    assert summary.groups == 1


def test_what_has_no_heading_stands_under_notes() -> None:
    assert shown(summarise(extracted("the kiln is hot\n"), Grain.DAILY, **LONG)) == {"Notes": ["the kiln is hot"]}


def test_a_concept_of_one_entry_is_no_group() -> None:
    note = "## Kiln\n\n- QX-7714 is hot\n- QX-7714 is cold again\n\n## Rest\n\n- the basil is green\n"
    summary = summarise(extracted(note), Grain.DAILY, **LONG)
    assert list(shown(summary)) == ["Kiln", "Rest"]
    assert summary.groups == 0


def test_two_notes_of_a_day_share_a_heading() -> None:
    sentences = extracted("## Chores\n\n- watered the basil\n")
    sentences += extracted("## Chores\n\n- mended the ladder\n", entry=1, order=1)
    assert shown(summarise(sentences, Grain.DAILY, **LONG)) == {"Chores": ["watered the basil", "mended the ladder"]}


def test_tags_of_merged_entries_are_united() -> None:
    note = """## One

Tags: #home

- the canary of `tank_notes` is green #nas

## Two

- `tank_notes` has room again #disks

## Three

#garden

- the basil is green
"""
    first, second = summarise(extracted(note), Grain.DAILY, **LONG).parts
    assert (first.heading, first.tags) == ("tank_notes", ("#home", "#nas", "#disks"))
    assert (second.heading, second.tags) == ("Three", ("#garden",))


def test_a_tag_that_its_sentence_shows_is_not_said_again() -> None:
    (part,) = summarise(extracted("## One\n\n- the basil is green #garden\n"), Grain.DAILY, **LONG).parts
    assert part.tags == ()


def test_whoever_is_in_most_entries_is_nobodys_theme() -> None:
    entries = [
        f"## Part {at}\n\n- we met Mira about the {noun}\n" for at, noun in enumerate(["kiln", "roof", "boat", "lamp"])
    ]
    assert summarise(extracted("\n".join(entries)), Grain.DAILY, **LONG).groups == 0


def test_who_speaks_is_no_theme() -> None:
    morning = (
        "## 9:00\n\nJoanna: Hey Nate, the ferry leaves at noon\nNate: thanks Joanna, I packed the tent\nJoanna: Good?\n"
    )
    two = "## 17:00\n\nJoanna: Hey Nate, the tickets are in the drawer\nNate: found them, Jo\n"
    three = "## 19:00\n\nNate: the kiln is hot, Joanna\nJoanna: then open the window\n"
    four = "## 20:00\n\nJoanna: the basil is green\nNate: and the roof is mended, Jo\n"
    assert summarise(extracted(morning + two + three + four), Grain.DAILY, **LONG).groups == 0


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
    assert len({sentence.heading for sentence in back}) == 4


def test_what_is_left_of_a_month_stands_under_what_it_is_about() -> None:
    week = summarise(period(days(SHED)), Grain.WEEKLY, **LONG)
    headings = shown(summarise(read_back(week, Grain.WEEKLY, "2026-W08"), Grain.MONTHLY, **LONG))
    assert headings == {
        "Storage · Attic server": ["**Limit:** 10 GB", "40 euro a month"],
        "Other": ["swept the yard of QX-7714 with Mira"],
    }


def test_a_month_tells_first_what_it_was_about_on_most_days() -> None:
    notes = [
        "# Yard\n\n## Gate\n\nthe old gate is green now\n",
        "# Attic\n\n## Fans\n\ntwo fans of the rack turn again\n",
        "# Attic\n\n## Cables\n\nlong copper wires are labelled in red\n",
        "# Attic\n\n## Roof\n\nslates above the window are sealed with tar\n",
    ]
    month = summarise(period(days(*notes)), Grain.MONTHLY, **LONG)
    assert [part.heading.split(" · ")[0] for part in month.parts] == ["Attic", "Attic", "Attic", "Yard"]


@pytest.mark.parametrize(
    ("heading", "subject"),
    [
        *table("summaries_themes.tsv", "what sentences are about is said by their last headings"),
        ("The boiler > " + "burner " * 20, ""),
    ],
)
def test_what_sentences_are_about_is_said_by_their_last_headings(heading: str, subject: str) -> None:
    assert heading_subject(heading) == subject


@pytest.mark.parametrize("grain", COARSE)
def test_months_have_milestones_and_themes(grain: Grain) -> None:
    sentences = period(
        days(
            "- the parcel is in Rotterdam\n- watered the basil slowly\n",
            "- decided on the kiln for the shed\n- the parcel left Rotterdam\n",
            "- shipped the new pages\n- important: the roof leaks\n",
        )
    )
    assert shown(summarise(sentences, grain, **LONG)) == {
        "Milestones": ["decided on the kiln for the shed", "shipped the new pages"],
        "Rotterdam": ["the parcel is in Rotterdam", "the parcel left Rotterdam"],
        "Other": ["watered the basil slowly", "important: the roof leaks"],
    }


@pytest.mark.parametrize(
    ("heading", "lines", "part"),
    [
        ("Boat house — SOLD", ("Ines keeps the key until Friday", "the ladder stays there"), "Milestones"),
        ("Пожар на складе — авария", ("сгорели два больших стеллажа", "сторож цел"), "Вехи"),
        ("窯の契約 — 完了", ("大谷さんが鍵を預かる", "棚はそのまま残す"), "節目"),
        ("窑炉签约", ("大谷先生保管钥匙", "旧架子留下"), "里程碑"),
    ],
)
def test_a_heading_that_tells_a_turn_of_events_names_one_milestone(
    heading: str, lines: tuple[str, str], part: str
) -> None:
    told = "".join(f"- {line}\n" for line in lines)
    parts = shown(summarise(period(days(f"## {heading}\n\n{told}")), Grain.MONTHLY, **LONG))
    assert parts == {f"{part} · {heading}": [lines[0]], heading: [lines[1]]}


@pytest.mark.parametrize(
    "line",
    [
        "教訓: 窯を見張ること",
        "教训：要看好窑炉",
        "Lesson: watch the kiln",
        "Lección: vigilar el horno",
        "完了後に鍵を大谷さんへ返す",
        "解决方案: 每天看窑炉两次",
    ],
)
def test_a_lesson_and_what_comes_after_the_end_are_no_milestones(line: str) -> None:
    sentences = period(days(f"- {line}\n", "- Mira sold the boat\n"))
    milestones = next(iter(shown(summarise(sentences, Grain.MONTHLY, **LONG)).values()))
    assert milestones == ["Mira sold the boat"]


def test_the_example_keeps_what_was_decided_and_leaves_the_jokes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    copy_to(tmp_path)
    notes = {
        date.fromisoformat(file.stem): file.read_text(encoding="utf-8")
        for file in sorted((tmp_path / "memory").glob("2026-*.md"))
    }
    assert len(notes) == 5
    weeks: list[str] = []
    for day, note in notes.items():
        summary = summarise(extracted(note, day), Grain.DAILY, 300)
        texts = [sentence.text for sentence in summary.sentences()]
        assert 6 <= len(texts) <= 14
        weeks += [sentence.text for sentence in read_back(summary, Grain.DAILY, day.isoformat())]
    text = "\n".join(weeks)
    for fact in ("Decision: the embedding model runs on our own", "Decision for QX-7714", "Decision: only safetensors"):
        assert fact in text
    assert "`fetchTiles()` retried at once" in text
    assert "QX-7714 closed" in text
    for joke in ("Mood of the rack", "good night", "Recipe received", "funeral at sea", "watered the basil"):
        assert joke not in text
