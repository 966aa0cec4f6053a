"""Scores, budgets and repetitions in notes of any language, in a real index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from tables import table

from openclaw_memory.cli.search import format_other_places
from openclaw_memory.config.settings import Settings
from openclaw_memory.memory import Memory
from openclaw_memory.model import SearchHit, SearchRequest, tokens_of
from openclaw_memory.search import confidence, features
from openclaw_memory.text.analysis import likeness
from openclaw_memory.text.language import tokens_by_language
from openclaw_memory.upkeep.languages import Languages, unknown_languages

WORDS = "search_languages.tsv"
#: By language: a heading, a line that the question asks for, the question, whose words stand in the heading, and filler.
HEADED = {
    language: row
    for language, *row in table(
        WORDS, "a heading, a line below it, and a question for the line with the words of the heading"
    )
}
YESTERDAY = table(WORDS, "what was done yesterday, and the same of a person")
DAILY = table(WORDS, "a line of every day")
THINGS = "alfa beta gamma delta epsilon zeta eta theta iota kappa lambda omega sigma tau".split()


def opened(root: Path, notes: dict[str, str]) -> Memory:
    for name, text in notes.items():
        file = root / "workspace" / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"}, environ={})
    memory = Memory(root / "workspace", settings=settings, db=root / "i.duckdb")
    memory.ingest()
    return memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    notes = {}
    for language, (heading, line, _, filler) in HEADED.items():
        filler = "\n".join(f"- {filler.format(thing)}" for thing in THINGS)
        notes[f"{language}.md"] = f"# Log\n\n## {heading}\n\n- {line}.\n\n## Rest\n\n{filler}\n"
    with opened(tmp_path_factory.mktemp("any"), notes) as made:
        yield made


def ask(memory: Memory, query: str, now: date = date(2026, 5, 1), **options: object) -> tuple[SearchHit, ...]:
    return memory.search(SearchRequest(query, min_score=0.0, now=now, **options)).results  # type: ignore[arg-type]


@pytest.mark.parametrize("language", sorted(HEADED))
def test_a_line_is_found_by_the_words_of_its_heading(memory: Memory, language: str) -> None:
    _, line, query, _ = HEADED[language]
    first = ask(memory, query, budget=60)[0]
    assert first.path == f"memory/{language}.md" and line in first.snippet
    assert first.score > 0.35


@pytest.mark.parametrize("query", table(WORDS, "questions that no note is about"))
def test_what_no_note_is_about_scores_low(memory: Memory, query: str) -> None:
    assert max((hit.score for hit in ask(memory, query)), default=0) < 0.35


def test_a_budget_is_spent_however_many_lines_it_takes(tmp_path: Path) -> None:
    lines = "\n".join(f"- garden bed {number} has been watered and weeded" for number in range(900))
    with opened(tmp_path, {"2026-04-01.md": f"# Day\n\n{lines}\n"}) as memory:
        hits = ask(memory, "garden bed", budget=8000)
        spent = sum(tokens_of(hit.snippet) + 0.25 for hit in hits)
        assert len(hits) > 200 and 7_900 < spent <= 8_000


@pytest.mark.parametrize("language", ["zh", "ja", "ru", "ko", "de"])
def test_a_budget_is_counted_by_script(memory: Memory, language: str) -> None:
    hits = ask(memory, HEADED[language][3].format("alfa"), budget=120)
    assert 60 < sum(tokens_of(hit.snippet) + 0.25 for hit in hits) <= 120


@pytest.mark.parametrize(("language", "question", "other"), YESTERDAY[::2])
def test_a_question_of_nothing_but_days_is_answered_by_what_is_of_them(
    tmp_path: Path, language: str, question: str, other: str
) -> None:
    texts = [f"- {each}" for each in (other, question)]  # on another day somebody asked the same
    notes = {
        f"2026-04-{day:02}.md": "\n".join(
            ["# Log", "", *(texts if day == 17 else ()), f"- {thing}", f"- {thing} {day}"]
        )
        for day, thing in zip(range(10, 20), THINGS, strict=False)
    }
    with opened(tmp_path, notes) as memory:
        for options in ({"budget": 400}, {"max_results": 5}):
            hits = ask(memory, question, now=date(2026, 4, 15), **options)
            assert {hit.date for hit in hits} == {date(2026, 4, 14)} and hits[0].score == 0.6
            assert date(2026, 4, 17) in {hit.date for hit in ask(memory, other, now=date(2026, 4, 15), **options)}
            # Nothing was written then: what is nearest is not sure.
            assert max((hit.score for hit in ask(memory, question, now=date(2026, 9, 1), **options)), default=0) < 0.35


@pytest.mark.parametrize("question", table(WORDS, "what was done last week"))
def test_a_week_is_that_of_the_calendar_where_something_is_of_it(tmp_path: Path, question: str) -> None:
    notes = {f"2026-04-{day:02}.md": f"# Log\n\n- {thing}\n" for day, thing in zip((3, 8, 11), THINGS, strict=False)}
    with opened(tmp_path, notes) as memory:
        # On Wednesday the 15th it is the week before; on the 20th nothing is of that, and what lies around it is told.
        for today in (15, 20):
            for options in ({"budget": 400}, {"max_results": 5}):
                hits = ask(memory, question, now=date(2026, 4, today), **options)
                assert {hit.date for hit in hits} == {date(2026, 4, 8), date(2026, 4, 11)}


@pytest.mark.parametrize(("language", "line"), DAILY)
def test_of_lines_that_say_the_same_the_newest_is_shown_unless_a_day_is_named(
    tmp_path: Path, language: str, line: str
) -> None:
    text = line.format("")
    notes = {
        f"2026-04-{day:02}.md": f"# Report\n\n{f'- {text}' if day % 3 == 1 else '- a garden bed was weeded'}\n\n- {thing}\n"
        for day, thing in zip(range(10, 20), THINGS, strict=False)
    }
    with opened(tmp_path, notes) as memory:
        for options in ({"budget": 400}, {"max_results": 5}):
            hits = ask(memory, text, **options)
            assert [hit.date.day for hit in hits if hit.also and hit.date] == [19]
            hits = ask(memory, f"{text} 2026-04-13", **options)
            assert [hit.date.day for hit in hits if hit.also and hit.date] == [13]


@pytest.mark.parametrize(("language", "line"), DAILY)
def test_a_line_of_every_day_is_one_hit(tmp_path: Path, language: str, line: str) -> None:
    notes = {
        f"2026-04-{day:02}.md": f"# Report\n\n- {line.format(f'2026-04-{day:02} 08:{day}')}\n\n- {thing}\n"
        for day, thing in zip(range(10, 20), THINGS, strict=False)
    }
    with opened(tmp_path, notes) as memory:
        for options in ({"budget": 400}, {"max_results": 5}):
            hits = ask(memory, line.format(""), **options)
            folded = [hit for hit in hits if hit.also]
            assert len(folded) == 1 and folded[0] is hits[0]
            days = [place.date for place in folded[0].also]
            assert len(days) == 9 and days == sorted(days, key=str) and folded[0].date not in days
            assert format_other_places(folded[0]).startswith("also on 2026-04-1")


@pytest.mark.parametrize(("first", "other", "alike"), table(WORDS, "texts that are alike"))
def test_what_is_alike_differs_in_days_and_times_alone(first: str, other: str, alike: str) -> None:
    assert (likeness(first) == likeness(other)) == (alike == "True")


def test_short_lines_under_other_headings_are_not_one(tmp_path: Path) -> None:
    note = "# Projects\n\n## Harbour\n\n- Status: done\n\n## Mill\n\n- Status: done\n"
    with opened(tmp_path, {"2026-04-01.md": note}) as memory:
        assert len(ask(memory, "status of the mill and the harbour", budget=300)) == 2


def test_no_script_drowns_another() -> None:
    # The model finds all rows of script 2 alike, and near to any question; one of script 0 stands out among its own.
    cosine = np.array([0.1, 0.12, 0.45, 0.09] * 50 + [0.6, 0.61, 0.62, 0.6] * 50, np.float32)
    script = np.array([0] * 200 + [2] * 200, np.int8)
    cosine[3] = 0.5
    assert int(np.argmax(cosine)) >= 200
    assert int(np.argmax(features._normalised_by_script(cosine, script))) == 3
    alone = features._normalised_by_script(cosine, np.zeros(400, np.int8))
    assert np.array_equal(np.argsort(alone, kind="stable"), np.argsort(cosine, kind="stable"))
    noise, telling = features._noise_by_script(cosine, script)
    assert noise[0] < noise[2] and telling[1] == 0


@pytest.mark.parametrize(("text", "language"), table(WORDS, "the language of a text"))
def test_the_language_of_a_text_is_told(text: str, language: str) -> None:
    tokens = tokens_by_language(text)
    assert max(tokens, key=lambda name: tokens[name]) == language


def test_it_is_said_which_languages_the_model_does_not_know() -> None:
    seen = Languages()
    seen.add(["锅炉修好了，家里暖和了。"] * 4 + ["The boiler was repaired."])
    shares = seen.shares()
    assert list(shares) == ["chinese", "english"] and 0.8 < shares["chinese"] < 1
    assert unknown_languages(shares, {"chinese": 1.0, "english": 1.0}, "m", "m") is None
    assert unknown_languages(shares, {}, None, "auto") is None
    for wanted, verb in (("m", "model use"), ("auto", "model pull")):
        problem = unknown_languages(shares, {"chinese": 0.0, "english": 1.0}, "m", wanted)
        assert (
            problem is not None and "Chinese, which m does not know" in problem.what and verb in str(problem.next_step)
        )


@pytest.mark.parametrize(
    ("language", "question", "words", "figure", "turned"),
    [
        (*row, bool(at % 2))
        for at, row in enumerate(table(WORDS, "a question for a figure, a line without it, and the one with it"))
    ],
)
def test_who_asks_how_much_gets_the_line_with_the_figure(
    tmp_path: Path, language: str, question: str, words: str, figure: str, turned: bool
) -> None:
    lines = [figure, words] if turned else [words, figure]
    others = [f"note {thing}" for thing in THINGS]
    with opened(
        tmp_path, {"2026-03-01.md": "\n".join(f"- {line}" for line in [lines[0], *others, lines[1]])}
    ) as memory:
        first, *_ = memory.search(SearchRequest(question, budget=20)).results
        assert "340" in first.snippet
        assert "has a figure" in (
            memory.search(SearchRequest(question, max_results=1, explain=True)).results[0].why or ""
        )


def test_what_dreaming_reports_stands_behind_notes_unless_it_answers_best(tmp_path: Path) -> None:
    text = "the kiln Vesuvius tripped the fuse in the cellar"
    report = "# Light Sleep\n\n" + "".join(
        f"- Candidate: User: {each}\n  - confidence: 0.58\n  - recalls: 0\n  - status: staged\n"
        for each in (text, "a kiln has a fuse of its own", "which ferry leaves at nine")
    )
    notes = {"2026-03-01.md": f"# Pottery\n\n- {text}\n", "2026-03-05.md": "# House\n\n- the kiln is red\n"}
    notes["dreaming/light/2026-03-02.md"] = report
    with opened(tmp_path, notes) as memory:
        paths = [hit.path for hit in memory.search(SearchRequest("which fuse did the kiln trip")).results]
        assert paths == ["memory/2026-03-01.md", "memory/2026-03-05.md", "memory/dreaming/light/2026-03-02.md"]
        first, *_ = memory.search(SearchRequest("does the ferry leave at nine?")).results
        assert first.path == "memory/dreaming/light/2026-03-02.md"
        assert not [row for row in memory.facts.query().rows if "dreaming" in (row.source or "")]
        assert not [
            row for row in memory.concepts.list().rows if row.name.casefold() in ("candidate", "staged", "confidence")
        ]


def test_a_language_is_sampled_from_lines_that_are_in_it() -> None:
    seen = Languages()
    seen.add(["Máy bơm cũ vẫn chạy tốt trong nhà kính."] * 6 + ["The greenhouse workspace has a dashboard for water."])
    assert "bơm" in seen.samples["vietnamese"] and "dashboard" not in seen.samples["vietnamese"]


def test_a_heading_with_a_figure_comes_with_the_line_that_is_found_below_it(tmp_path: Path) -> None:
    others = "\n".join(f"- note {thing}" for thing in THINGS)
    note = (
        f"# Hives\n\n## Hives grew from 8 to 33\n\n- hives of the valley, all of them counted\n- others\n\n{others}\n"
    )
    plain = note.replace(" from 8 to 33", "")
    with opened(tmp_path, {"2026-03-01.md": note, "2026-03-09.md": plain.replace("valley", "harbour")}) as memory:
        first, *_ = memory.search(SearchRequest("counted hives of the valley", budget=40)).results
        assert first.snippet.startswith("## Hives grew from 8 to 33\n\n- hives of the valley")
        first, *_ = memory.search(SearchRequest("counted hives of the harbour", budget=40)).results
        assert first.snippet.startswith("- hives of the harbour")


@pytest.mark.parametrize("least", [0.2, 0.77])
def test_a_model_that_finds_all_texts_alike_has_its_own_noise(least: float) -> None:
    """What is no nearer than unrelated texts are says nothing; half of the rest of the way is as much with any model."""
    near = least + 0.5 * (1 - least)
    scores = [
        confidence.combine_evidence(None, confidence.normalise_cosine(cosine, least, 0.69), None, language_coverage=1.0)
        for cosine in (least - 0.1, least, near, 1.0)
    ]
    assert scores[0] == scores[1] == 0.0
    assert scores[2] == pytest.approx(0.8 * 0.5 / 0.69)
    assert scores[3] == pytest.approx(0.8)


def test_only_the_weights_of_vectors_are_those_of_the_model() -> None:
    plain, many = features.weights_for({}, "all-minilm-l6-v2"), features.weights_for({}, "multilingual-e5-small")
    assert plain == features.weights_for({}) == features.weights_for({}, "a model of somebody's") == features.WEIGHTS
    assert {name for name in plain if plain[name] != many[name]} == set(features.VECTOR_FEATURES)
    for own_file in ("multilingual-e5-small-q8_0@0123456789ab", "http:localhost:8080/intfloat/multilingual-e5-small"):
        assert features.weights_for({}, own_file) == many
        assert features.sure_share(own_file) == features.sure_share("multilingual-e5-small") < features.SURE
    for larger in ("embeddinggemma-300m", "embeddinggemma-300M-Q8_0@0123456789ab", "http:localhost:8080/bge-m3"):
        assert features.weights_for({}, larger) == many
    own = features.weights_for({"vector_unit": 0.3}, "multilingual-e5-small")
    assert own["vector_unit"] == 0.3 and own["vector_window"] == many["vector_window"]


@pytest.mark.parametrize(("language", "question", "other"), YESTERDAY[1::2])
def test_of_the_days_that_are_asked_for_a_line_with_the_words_of_the_question_goes_before_no_other(
    tmp_path: Path, language: str, question: str, other: str
) -> None:
    notes = {"2026-04-14.md": f"# Log\n\n## Echo\n\n{question}\n\n## Pump\n\n{'The pump was mended by Mira. ' * 9}\n"}
    with opened(tmp_path, notes) as memory:
        hits = ask(memory, question, now=date(2026, 4, 15), budget=90)
        assert "pump" in hits[0].snippet


def test_terse_lines_of_another_language_are_not_taken_for_english() -> None:
    german = "- Heizung entlüftet, Druck 1,5 bar\n- Router neu gestartet\n- Mira angerufen wegen Räume\n"
    english = "- We moved the backup to the new server.\n- The router was reset.\n- Fix backup script\n"
    assert set(tokens_by_language(german)) == {"german"}
    assert tokens_by_language(german + english)["german"] > 0.2 * sum(tokens_by_language(german + english).values())
    assert set(tokens_by_language("- fix backup script\n")) == {"english"}


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    notes = {f"{language}.md": f"{text}\n" for language, text in table(WORDS, "notes of two lines")}
    with opened(tmp_path_factory.mktemp("languages"), notes) as memory:
        yield memory


def by_words(memory: Memory, query: str) -> tuple[SearchHit, ...]:
    return memory.search(SearchRequest(query, mode="keyword", budget=200, now=date(2026, 3, 1))).results


@pytest.mark.parametrize(("language", "line", "query"), table(WORDS, "questions to the notes of two lines"))
def test_a_question_finds_the_line_that_answers_it(lines: Memory, language: str, line: str, query: str) -> None:
    first = by_words(lines, query)[0]
    assert first.path == f"memory/{language}.md" and first.start_line <= int(line) <= first.end_line
    assert first.score > 0.25


@pytest.mark.parametrize(("language", "query"), table(WORDS, "questions that the notes of two lines do not answer"))
def test_a_question_about_nothing_that_is_told_scores_low(lines: Memory, language: str, query: str) -> None:
    assert max((hit.score for hit in by_words(lines, query)), default=0) < 0.25


@pytest.mark.parametrize(("question", "line"), table(WORDS, "lines that name a day"))
def test_a_day_that_a_line_names_is_one_of_its_days(tmp_path: Path, question: str, line: str) -> None:
    other = line.replace("05", "08").replace("Mai", "August")
    text = f"# A\n\n{other}\n\n# B\n\n{line}\n\n# C\n\n{other}\n\n# D\n\n- ...and 1 more\n"
    with opened(tmp_path, {"2026-02-02.md": text}) as memory:
        best = memory.search(SearchRequest(question, now=date(2026, 4, 20), budget=200)).results[0]
    assert line in best.snippet


def test_a_files_time_is_no_day(tmp_path: Path) -> None:
    with opened(tmp_path, {"../MEMORY.md": "- the lamp is green\n"}) as memory:
        today = date.today()
        assert [hit.date for hit in memory.search("lamp").results] == [None]
        assert not memory.search("lamp", since=today).results and not memory.search("lamp", until=today).results
        assert [hit.snippet for hit in memory.timeline().results] == ["- the lamp is green"]


@pytest.mark.parametrize(("line", "question"), table(WORDS, "how many days ago"))
def test_who_asks_how_many_days_ago_looks_for_no_days(tmp_path: Path, line: str, question: str) -> None:
    other = "".join(f"- The fence has got its coat of paint number {n}.\n" for n in range(30))
    notes = {"a.md": f"- {line}\n", "b.md": "- Coffee with Petra by the harbour.\n", "c.md": other}
    with opened(tmp_path, notes) as memory:
        assert memory.search(question).results[0].path == "memory/b.md"
