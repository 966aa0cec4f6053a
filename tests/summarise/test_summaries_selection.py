"""Which sentences a summary keeps: what says most, nothing twice, within its budget, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest
from extracts import DAY, extracted, period
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.ingest.summary_files import DATED
from openclaw_memory.model import Grain, Origin
from openclaw_memory.summarise.scoring import drop_routine
from openclaw_memory.summarise.sentences import Sentence, format_line, line_tokens
from openclaw_memory.summarise.summary import Summary, summarise

GRAINS = tuple(Grain)[1:]


def kept(note: str, budget: float = 40, grain: Grain = Grain.DAILY, **rules: object) -> list[str]:
    """What a summary of so many tokens keeps of a note."""
    summary = summarise(extracted(note), grain, budget, share=9, **rules)  # type: ignore[arg-type]
    return [sentence.text for sentence in summary.sentences()]


def items(*texts: str) -> str:
    return "# 2026-02-16\n\n" + "".join(f"- {text}\n" for text in texts)


def price(summary: Summary, grain: Grain) -> int:
    return sum(line_tokens(format_line(sentence, grain in DATED)) for sentence in summary.sentences())


@pytest.mark.parametrize(("worth", "less"), table("summaries_selection.tsv", "what says more is kept"))
def test_what_says_more_is_kept(worth: str, less: str) -> None:
    for texts in ((worth, less), (less, worth)):
        note = "# Day\n\n" + "".join(f"{text if text.startswith('- ') else '- ' + text}\n" for text in texts)
        assert kept(note, budget=22) == [worth.removeprefix("- [x] ")]


def test_what_a_person_says_counts_for_more_than_an_assistants_answer() -> None:
    note = """## 09:12

User: I moved to Utrecht in May and my sister Wren lives next door, can you list some museums?
Assistant: The Centraal Museum in Utrecht opened in 1838 and shows Van Doesburg and Rietveld.
Assistant: The Spoorwegmuseum in Utrecht is in the Maliebaan station of 1874 and shows trains.
"""
    assert kept(note, budget=40)[0].startswith("User: I moved")
    assert len(kept(note, budget=400)) == 3


def test_a_repeated_subject_is_covered_rather_than_repeated() -> None:
    note = items(
        "the heating pump in the cellar lost pressure",
        "the heating pump in the cellar lost pressure again at noon",
        "pressure of the heating pump in the cellar is lost",
        "Anouk booked a dentist for Juno in Amersfoort",
    )
    assert "Anouk booked a dentist for Juno in Amersfoort" in kept(note, budget=46)


def test_near_duplicates_are_merged() -> None:
    texts = ["Restarted the hallway printer after lunch today", "restarted the hallway printer, after lunch, today!"]
    assert len(kept(items(*texts), budget=400)) == 1
    assert len(kept(items(*texts[:1], "restarted the hallway printer before breakfast"), budget=400)) == 2


@pytest.mark.parametrize("texts", table("summaries_selection.tsv", "other figures and negations are no duplicates"))
def test_other_figures_and_negations_are_no_duplicates(texts: tuple[str, str]) -> None:
    assert kept(items(*texts), budget=400) == list(texts)


def test_the_same_words_of_another_speaker_are_no_duplicate() -> None:
    note = "Mira: the blue lantern is mine\nAnouk: the blue lantern is mine\nMira: the blue lantern is mine\n"
    assert kept(note, budget=400) == ["Mira: the blue lantern is mine", "Anouk: the blue lantern is mine"]


NOUNS = "lantern kettle bicycle ladder piano compass anchor teapot magnet telescope barometer suitcase".split()
PLACES = "harbour attic greenhouse station library cellar lighthouse market bakery observatory".split()


def diary(first: date = DAY, days: int = 7, lines: int = 12) -> list[Sentence]:
    """The notes of some days, always the same."""
    chance = Random(7)

    def line() -> str:
        return f"- {chance.choice(['decided on', 'saw', 'mended', 'sold'])} the {chance.choice(NOUNS)} {chance.randrange(99)} at the {chance.choice(PLACES)}"

    return period(
        {
            first + timedelta(days=at): "## Work\n\n" + "\n".join(line() for _ in range(lines)) + "\n"
            for at in range(days)
        }
    )


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("budget", [1, 60, 250, 1000])
def test_the_budget_holds_but_for_the_first_sentence(grain: Grain, budget: float) -> None:
    summary = summarise(diary(), grain, budget)
    assert summary.sentences()
    assert price(summary, grain) <= budget or len(summary.sentences()) == 1


@pytest.mark.parametrize("grain", GRAINS)
def test_a_summary_is_shorter_than_its_sources(grain: Grain) -> None:
    given_ = diary()
    summary = summarise(given_, grain, 10**6, share=0.5)
    assert price(summary, Grain.WEEKLY) <= 0.5 * sum(line_tokens(format_line(sentence, False)) for sentence in given_)


SAID = st.lists(
    st.lists(
        st.sampled_from("pump seal QX-7714 Mira decided not 14 41 the a `code` #tag tea? you Thanks! 测试".split()),
        min_size=1,
        max_size=12,
    ).map(" ".join),
    min_size=1,
    max_size=25,
)


@given(SAID, st.randoms(use_true_random=False), st.sampled_from(GRAINS), st.integers(10, 400))
def test_the_order_in_which_sentences_are_given_is_of_no_matter(
    texts: Sequence[str], chance: Random, grain: Grain, budget: int
) -> None:
    given_ = period({DAY + timedelta(days=at): items(*texts[at::3]) for at in range(min(3, len(texts)))})
    mixed = list(given_)
    chance.shuffle(mixed)
    first, second = summarise(given_, grain, budget), summarise(mixed, grain, budget)
    assert first == second


@given(SAID, st.sampled_from(GRAINS), st.integers(1, 400))
def test_each_sentence_once_and_whole(texts: Sequence[str], grain: Grain, budget: int) -> None:
    given_ = period({DAY + timedelta(days=at): items(*texts[at::3]) for at in range(min(3, len(texts)))})
    summary = summarise(given_, grain, budget)
    orders = [sentence.order for sentence in summary.sentences()]
    assert len(set(orders)) == len(orders)
    assert {replace(sentence, count=1) for sentence in summary.sentences()} <= set(given_)
    assert len({(sentence.speaker, sentence.text.casefold()) for sentence in summary.sentences()}) == len(orders)
    assert all(part.sentences for part in summary.parts)
    assert bool(orders) == bool(given_)
    if len(orders) > 1:
        assert price(summary, grain) <= budget
    for part in summary.parts:
        places = [(sentence.day, sentence.order) for sentence in part.sentences]
        assert places == sorted(places)


@pytest.mark.parametrize("line", table("summaries_selection.tsv", "a line that recurs daily is quoted once"))
def test_a_line_that_recurs_daily_is_quoted_once(line: str) -> None:
    days = [date(2026, 2, 16) + timedelta(days=n) for n in range(5)]
    sentences = []
    for n, day in enumerate(days):
        texts = (
            line.format(n=n),
            f"The {'oak elm ash fir yew'.split()[n]} in the garden was felled by storm number {n}",
        )
        sentences += [
            Sentence(text, f"memory/{day}.md", 3, 3, day, n, 2 * n + at, "", None, (), (), Origin.AGENT)
            for at, text in enumerate(texts)
        ]
    made = summarise(sentences, Grain.WEEKLY, 1000, share=9)
    lines = [sentence.text for sentence in made.sentences()]
    assert [text for text in lines if not text.startswith("The ")] == [line.format(n=4)]
    # Twice is no routine, nor what one day says several times, but with other times of the day.
    twice = [replace(sentence, day=days[0]) for sentence in sentences]
    assert (
        len(drop_routine(twice)) == len(twice) - (4 if ":0{n}" in line else 0) and len(drop_routine(sentences[:4])) == 4
    )
