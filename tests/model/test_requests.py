"""Requests say what they cannot mean, to the library as to a shell and a model, and hostile ones cost little."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, ingested

from openclaw_memory import Memory, SearchRequest
from openclaw_memory.errors import RequestError
from openclaw_memory.model import SEARCH_OPTIONS, Grain, Kind
from openclaw_memory.search.question import Question
from openclaw_memory.search.timeline import bounded

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"max_results": -1}, "max_results must be from 1 to 1000, not -1"),
    ({"max_results": 0}, "max_results must be from 1 to 1000, not 0"),
    ({"max_results": 1001}, "max_results must be from 1 to 1000, not 1001"),
    ({"max_results": True}, "max_results must be a whole number, not True"),
    ({"max_results": "3"}, "max_results must be a whole number, not '3'"),
    ({"budget": -5}, "budget must be from 1 to 100000, not -5"),
    ({"budget": 10, "max_results": 1}, "give max_results or budget, not both"),
    ({"min_score": math.nan}, "min_score must be a number, not nan"),
    ({"min_score": 1.5}, "min_score must be from 0 to 1, not 1.5"),
    ({"recency_weight": -0.1}, "recency_weight must be from 0 to 1, not -0.1"),
    ({"vector_weight": math.inf}, "vector_weight must be a number, not inf"),
    ({"vector_weight": None}, "vector_weight must be a number, not None"),
    ({"max_distance": 7}, "max_distance must be from 1 to 6, not 7"),
    ({"deadline": -1.0}, "deadline must be from 0 to 86400, not -1.0"),
    ({"deadline": math.nan}, "deadline must be a number, not nan"),
    ({"mode": "nonsense"}, "mode must be one of hybrid, vector, keyword, graph, not 'nonsense'"),
    ({"fusion": "magic"}, "fusion must be one of score, rrf, not 'magic'"),
    ({"kinds": "daily"}, "kinds must be a list, not 'daily'"),
    ({"kinds": ("dayly",)}, "kinds must be a list of curated, daily, note, session, not ('dayly',)"),
    ({"grains": (1,)}, "grains must be a list of working, daily, weekly, monthly, quarterly, yearly, not (1,)"),
    ({"concepts": "lamp"}, "concepts must be a list, not 'lamp'"),
    ({"near": [3]}, "near must be a list of names, not [3]"),
    ({"now": "2026-03-01"}, "now must be a datetime.date, not '2026-03-01'"),
    ({"since": datetime(2026, 3, 1)}, "since must be a datetime.date, not datetime.datetime(2026, 3, 1, 0, 0)"),
    ({"since": date(2026, 3, 2), "until": date(2026, 3, 1)}, "since (2026-03-02) is after until (2026-03-01)"),
]


@pytest.fixture
def memory(notes: Notes, embedder: CountingEmbedder) -> Iterator[Memory]:
    notes.write("MEMORY.md", "- the lamp is green\n")
    with ingested(notes, embedder) as memory:
        yield memory


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_a_request_that_cannot_be_meant_is_not_made(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError) as caught:
        SearchRequest("lamp", **options)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(("options", "words"), [WRONG[0], WRONG[7], WRONG[15]])
def test_no_way_of_asking_takes_such_a_request(memory: Memory, options: dict[str, Any], words: str) -> None:
    for ask in (memory.search, memory.recall, memory.timeline):
        with pytest.raises(RequestError) as caught:
            ask("lamp", **options)
        assert str(caught.value).startswith(words)


@pytest.mark.parametrize("query", [None, 3, b"lamp"])
def test_a_query_is_text(query: Any) -> None:
    with pytest.raises(RequestError, match=r"^query must be text, not "):
        SearchRequest(query)


def test_lists_and_plain_names_are_taken_for_what_they_mean() -> None:
    request = SearchRequest("lamp", kinds=["daily"], grains=["working"], near=["a"], max_results=3.0)  # type: ignore[arg-type]
    assert (request.kinds, request.grains, request.near) == ((Kind.DAILY,), (Grain.WORKING,), ("a",))
    assert request.max_results == 3 and isinstance(request.max_results, int)


def test_options_beside_a_request_are_refused_rather_than_dropped(memory: Memory) -> None:
    request = SearchRequest("lamp")
    for ask in (memory.search, memory.recall, memory.timeline):
        assert ask(request).results
        with pytest.raises(RequestError, match="give a SearchRequest or options, not both: put max_results into"):
            ask(request, max_results=1)


@pytest.mark.parametrize(
    ("method", "valid"),
    [
        ("search", SEARCH_OPTIONS),
        ("recall", ("hops", *SEARCH_OPTIONS)),
        ("timeline", ("minimum_days_ago", "maximum_days_ago", *SEARCH_OPTIONS)),
        ("context", ("budget", "session", "now", "as_of", "deadline", "explain")),
        ("forget", ("path", "query", "concept", "fact", "since", "until", "dry_run")),
        ("consolidate", ("now", "older_than_days", "grain", "dry_run", "deadline", "progress")),
        ("map", ("progress",)),
    ],
)
def test_an_unknown_argument_is_named_with_the_valid_ones(memory: Memory, method: str, valid: Sequence[str]) -> None:
    given = {} if method in ("forget", "consolidate", "map") else {"query" if method != "context" else "message": "x"}
    with pytest.raises(RequestError) as caught:
        getattr(memory, method)(**given, max_result=3, dryrun=True)
    words = f"{method}: there is no argument max_result, dryrun; valid are {', '.join(valid)}"
    assert str(caught.value) == words


def test_the_options_of_a_question_are_the_fields_of_a_request() -> None:
    assert ["query", *SEARCH_OPTIONS] == [field.name for field in fields(SearchRequest)]


def test_the_steps_of_a_thread_are_few(memory: Memory) -> None:
    for hops in (0, 5, True, 1.5, math.nan):
        with pytest.raises(RequestError, match=r"^hops must be "):
            memory.recall("lamp", hops=hops)


def test_days_count_back(memory: Memory) -> None:
    with pytest.raises(RequestError, match=r"^minimum_days_ago must be 0 or more, not -1"):
        memory.timeline(minimum_days_ago=-1)
    with pytest.raises(RequestError, match=r"^maximum_days_ago must be a whole number, not 0.5"):
        bounded(SearchRequest("lamp"), None, 0.5, date(2026, 1, 1))  # type: ignore[arg-type]


def test_a_table_query_has_bounds_too(memory: Memory) -> None:
    for options, words in (
        ({"limit": 0}, "limit must be 1 or more, not 0"),
        ({"limit": -3}, "limit must be 1 or more, not -3"),
        ({"timeout": math.nan}, "timeout must be a number, not nan"),
        ({"timeout": -1}, "timeout must be from 0 to 86400, not -1"),
    ):
        with pytest.raises(RequestError, match=rf"^{words}"):
            memory.sql("SELECT 1", **options)


# -- hostile questions ------------------------------------------------------------------------------------


def test_a_huge_question_is_cut_before_anybody_works_on_it(memory: Memory, embedder: CountingEmbedder) -> None:
    huge = "where is the lamp? " + "x" * 10_000_000 + " is it green?"
    request = SearchRequest(huge)
    assert len(request.query) < 8_100
    assert request.query.startswith("where is the lamp?") and request.query.endswith("is it green?")
    assert memory.search(huge).results
    assert embedder.questions and max(map(len, embedder.questions)) < 8_100


def test_a_question_names_few_days() -> None:
    first = date(2020, 1, 1)
    every = [first + timedelta(days) for days in range(2000)]
    found = Question(" ".join(map(str, every)), date(2026, 3, 1)).days
    assert found == [(day, day) for day in every[:16]]
    assert Question("2024-03-01 " * 2_000, date(2026, 3, 1)).days == [(date(2024, 3, 1), date(2024, 3, 1))]
    assert Question("may " * 2_000 + "in may", date(2026, 6, 1)).days == [(date(2026, 5, 1), date(2026, 5, 31))]


@pytest.mark.parametrize("name", ["concepts", "near"])
def test_a_name_without_end_is_refused_in_a_short_line(name: str) -> None:
    with pytest.raises(RequestError) as caught:
        SearchRequest("x", **{name: ("y" * 5_000,)})
    assert name in str(caught.value) and len(str(caught.value)) < 200


def test_a_path_or_a_citation_without_end_names_nothing(memory: Memory) -> None:
    found = memory.get("y" * 5_000)
    assert found.status == "error" and len(found.path) < 100
    with pytest.raises(RequestError) as caught:
        memory.feedback("y" * 5_000 + "#L3", "useful")
    assert len(str(caught.value)) < 300
