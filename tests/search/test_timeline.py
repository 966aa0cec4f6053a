"""Memory in order of time: what is in a range, what is chosen, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from fakes import CountingEmbedder, Notes, ingested, open_memory
from hypothesis import given
from hypothesis import strategies as st
from tables import parts, table

from openclaw_memory import Memory, SearchRequest, hookimpl
from openclaw_memory.errors import RequestError
from openclaw_memory.model import Grain, Kind, SearchHit
from openclaw_memory.search.timeline import bounded, in_order

TODAY = date(2026, 3, 10)


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    notes.write("MEMORY.md", "# Lasting\n\n- the lamp is green\n")  # without a day: its file's time is none
    notes.write("memory/2026-03-01.md", "# Morning\n\n- a lamp broke\n- tea\n\n# Evening\n\n- a chair broke\n")
    notes.write("memory/2026-03-08.md", "- a new lamp came\n")
    notes.write("memory/2025-12-24.md", "- presents and a lamp\n")
    notes.write("memory/consolidated/weekly/2026-W09.md", "- a week of broken lamps\n")
    with ingested(notes) as memory:
        yield memory


def shown(memory: Memory, query: str = "", **options: Any) -> list[str]:
    options.setdefault("now", TODAY)
    return [hit.snippet for hit in memory.timeline(query, **options).results]


def test_a_listing_shows_each_section_once_in_order_of_time(memory: Memory) -> None:
    assert shown(memory, max_results=10) == [
        "[2025-12-24] - presents and a lamp", "[2026-03-01] - a lamp broke\n- tea", "[2026-03-01] - a chair broke",
        "[2026-03-01] - a week of broken lamps", "[2026-03-08] - a new lamp came", "- the lamp is green",
    ]  # fmt: skip


def test_the_newest_are_chosen_and_those_without_a_day_last(memory: Memory, notes: Notes) -> None:
    assert shown(memory, max_results=2) == ["[2026-03-01] - a lamp broke\n- tea", "[2026-03-08] - a new lamp came"]
    notes.write("USER.md", "- likes lamps\n")
    assert shown(memory, max_results=5)[0] == "[2025-12-24] - presents and a lamp"


def test_a_hit_of_a_listing_is_whole_and_honest(memory: Memory) -> None:
    result = memory.timeline(max_results=1, explain=True)
    (hit,) = result.results
    assert (hit.start_line, hit.end_line, hit.citation) == (1, 1, "memory/2026-03-08.md#L1")
    assert (hit.score, hit.text_score, hit.vector_score, hit.why) == (1.0, None, None, "in the range; newest first")
    assert (result.mode, result.provider, result.stale) == ("timeline", "none", False)
    assert result.model is result.fallback is None
    assert memory.timeline(max_results=1).results[0].why is None
    assert hit.id == memory.search("new lamp", max_results=1).results[0].id


def test_a_budget_is_kept_and_what_no_longer_fits_is_cut(memory: Memory, notes: Notes) -> None:
    notes.write("memory/2026-03-09.md", "- " + "word " * 100 + "\n")
    assert shown(memory, budget=12) == ["[2026-03-09] - word word word word word word…"]
    assert shown(memory, budget=1) == []


def test_what_dreaming_wrote_takes_one_line_a_day_and_a_day_of_it_alone_is_named(notes: Notes) -> None:
    report = "# {0}\n\n- Candidate: the boat [score=0.8]\n- Candidate: the shed [score=0.7]\n"
    for phase in ("light", "rem", "deep"):
        for day in ("2026-03-07", "2026-03-08"):
            notes.write(f"memory/dreaming/{phase}/{day}.md", report.format(phase))
    notes.write("memory/2026-03-08.md", "- a new lamp came\n")
    with open_memory(notes) as memory:
        day = {"now": TODAY, "max_results": 10}
        assert [hit.path for hit in memory.timeline(**day).results] == [
            "memory/dreaming/deep/2026-03-07.md", "memory/2026-03-08.md", "memory/dreaming/deep/2026-03-08.md",
        ]  # fmt: skip
        assert [len(text.splitlines()) for text in shown(memory, max_results=10)] == [1, 1, 1]
        for ask in (memory.timeline, lambda **range_: memory.search("boat", **range_)):
            alone = ask(since=date(2026, 3, 7), until=date(2026, 3, 7), **day)
            assert "only what programs wrote" in (alone.warning or "")
            assert alone.results
        assert memory.timeline(since=date(2026, 3, 8), **day).warning is None
        assert "only what programs" in (memory.search("What happened on 7 March 2026?", now=TODAY).warning or "")
        assert memory.search("What happened on 8 March 2026?", now=TODAY).warning is None


def test_a_long_section_is_shown_from_its_beginning(notes: Notes) -> None:
    notes.write("memory/2026-03-08.md", "".join(f"- line {n} of a long day\n" for n in range(200)))
    with open_memory(notes) as memory:
        (hit,) = memory.timeline().results
        assert hit.start_line == 1 and 50 <= hit.end_line <= 80
        assert hit.snippet.startswith("[2026-03-08] - line 0 of a long day\n- line 1")


def test_a_range_and_filters(memory: Memory) -> None:
    for options, days in (
        ({"since": date(2026, 3, 1)}, ["2026-03-01"] * 3 + ["2026-03-08"]),
        ({"until": date(2026, 2, 1)}, ["2025-12-24"]),
        ({"maximum_days_ago": 2}, ["2026-03-08"]),
        ({"maximum_days_ago": 1}, []),
        ({"minimum_days_ago": 9}, ["2025-12-24"] + ["2026-03-01"] * 3),
        ({"minimum_days_ago": 2, "maximum_days_ago": 8}, ["2026-03-08"]),
        ({"minimum_days_ago": 10**9}, []),
        ({"maximum_days_ago": 10**9, "since": date(2026, 3, 2)}, ["2026-03-08"]),
        ({"kinds": (Kind.CURATED,)}, ["None"]),
        ({"grains": (Grain.WEEKLY,)}, ["2026-03-01"]),
        ({"kinds": (Kind.CURATED,), "since": date(2026, 1, 1)}, []),
    ):
        hits = memory.timeline(now=TODAY, max_results=10, **options).results
        assert [str(hit.date) for hit in hits] == days
        if days:
            about = memory.timeline("lamp", now=TODAY, max_results=10, **options).results
            assert {str(hit.date) for hit in about if "lamp" in hit.snippet} == {
                day for hit, day in zip(hits, days, strict=True) if "lamp" in hit.snippet
            }


def test_a_range_without_a_day_is_refused_in_words(memory: Memory) -> None:
    for options, message in (
        ({"minimum_days_ago": 9, "maximum_days_ago": 2}, "at least 9 and at most 2 days ago"),
        ({"since": date(2026, 3, 2), "until": date(2026, 3, 1)}, r"since \(2026-03-02\) is after until \(2026-03-01\)"),
        ({"since": date(2026, 3, 9), "minimum_days_ago": 5}, "from 2026-03-09 to 2026-03-05, counted from 2026-03-10"),
        ({"until": date(2026, 1, 1), "maximum_days_ago": 5}, "leave none"),
    ):
        for query in ("", "lamp"):
            with pytest.raises(RequestError, match=message):
                memory.timeline(query, now=TODAY, **options)


_DAYS = st.dates(date(2000, 1, 1), date(2030, 1, 1))


@given(
    _DAYS,
    st.none() | _DAYS,
    st.none() | _DAYS,
    st.none() | st.integers(0, 10**7),
    st.none() | st.integers(0, 10**7),
    _DAYS,
)
def test_a_day_is_in_the_range_when_every_bound_holds(
    now: date, since: date | None, until: date | None, least: int | None, most: int | None, day: date
) -> None:
    ago = (now - day).days
    wanted = all(
        (since is None or day >= since, until is None or day <= until, least is None or ago >= least, most is None or ago <= most)
    )  # fmt: skip
    try:
        request = bounded(SearchRequest("", now=now, since=since, until=until), least, most, now)
    except RequestError:
        assert not wanted
        return
    assert wanted == (
        (request.since is None or day >= request.since) and (request.until is None or day <= request.until)
    )


@given(st.lists(st.none() | _DAYS))
def test_hits_come_by_date_and_undated_ones_last(days: list[date | None]) -> None:
    hits = [
        SearchHit("a.md", n, n, 0.5, "text", "", "", "", day, Kind.NOTE, Grain.WORKING, "agent")  # type: ignore[arg-type]
        for n, day in enumerate(days)
    ]
    ordered = in_order(hits)
    assert sorted(hit.start_line for hit in ordered) == list(range(len(days)))
    dated = [hit.date for hit in ordered if hit.date is not None]
    assert dated == sorted(dated) and all(hit.date is None for hit in ordered[len(dated) :])
    assert all(hit.snippet == (f"[{hit.date}] text" if hit.date else "text") for hit in ordered)


def test_a_question_is_a_search_shown_in_order_of_time(memory: Memory) -> None:
    result = memory.timeline("lamp", now=TODAY, max_results=3)
    best = memory.search("lamp", now=TODAY, max_results=3)
    assert {hit.id for hit in result.results} == {hit.id for hit in best.results}
    days = [hit.date for hit in result.results if hit.date]
    assert days == sorted(hit.date for hit in best.results if hit.date)
    assert all(hit.snippet.startswith(f"[{hit.date}] ") == (hit.date is not None) for hit in result.results)
    assert {hit.id: hit.score for hit in result.results} == {hit.id: hit.score for hit in best.results}
    assert result.mode == "keyword"


def test_a_listing_sees_changes_and_keeps_the_vectors_in_step(notes: Notes, embedder: CountingEmbedder) -> None:
    notes.write("memory/2026-03-01.md", "- a lamp broke\n")
    with ingested(notes, embedder) as memory:
        assert memory.search("lamp").warning is None
        notes.write("memory/2026-03-02.md", "- the stove smokes\n")
        assert shown(memory) == ["[2026-03-01] - a lamp broke", "[2026-03-02] - the stove smokes"]
        result = memory.search("stove")
        assert result.warning is None
        assert result.results[0].vector_score is not None


def test_plugins_may_drop_hits_of_a_listing(notes: Notes) -> None:
    class Discreet:
        @hookimpl
        def openclaw_memory_rerank(self, query: str, hits: list[SearchHit]) -> list[SearchHit]:
            return [hit for hit in hits if "secret" not in hit.snippet]

    notes.write("memory/2026-03-01.md", "- a secret\n")
    notes.write("memory/2026-03-02.md", "- a lamp\n")
    with open_memory(notes, plugins=[Discreet()]) as memory:
        assert shown(memory) == ["[2026-03-02] - a lamp"]


def test_an_empty_memory_has_an_empty_timeline(notes: Notes) -> None:
    with open_memory(notes) as memory:
        result = memory.timeline()
        assert result.results == () and result.warning is not None and "no notes" in result.warning


def run(notes: Notes, *arguments: str, code: int = 0) -> Any:
    return run_command(notes, "timeline", *arguments, code=code)


def test_the_command(notes: Notes, tmp_path: Path) -> None:
    yesterday = date.today() - timedelta(days=1)
    notes.write(f"memory/{yesterday}.md", "- a lamp broke\n")
    notes.write("memory/2026-03-01.md", "- the stove smokes\n")
    assert f"[{yesterday}] - a lamp broke" in run(notes).stdout
    assert run(notes, "--max-days-ago", "0").stdout == "nothing found\n"
    options = ["--kind", "daily", "--grain", "working", "--since", "2026-01-01", "--until", "2999-01-01", "-n", "3"]
    report = json.loads(run(notes, "stove", "smokes", *options, "--json").stdout)
    assert [hit["snippet"] for hit in report["results"]] == ["[2026-03-01] - the stove smokes"]
    days = ["--now", "2026-03-10", "--min-days-ago", "9", "--max-days-ago", "9", "--budget", "100", "--json"]
    assert [hit["date"] for hit in json.loads(run(notes, *days).stdout)["results"]] == ["2026-03-01"]


@pytest.mark.parametrize(("arguments", "message"), table("timeline.tsv", "wrong usage of the command", parts, str))
def test_wrong_usage_of_the_command(notes: Notes, arguments: list[str], message: str) -> None:
    result = run(notes, *arguments, code=2)
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_what_is_next_to_nothing_beside_the_best_is_in_no_timeline_of_a_question(notes: Notes) -> None:
    for day in range(1, 7):
        notes.write(f"memory/2026-03-0{day}.md", f"# Day {day}\n\n- Watered the fern in room {day}.\n")
    notes.write("memory/2026-03-07.md", "# Day 7\n\n- The emblem of the guild was painted.\n")
    with open_memory(notes, CountingEmbedder()) as memory:
        assert len(memory.search("guild emblem painted", max_results=5).results) > 1
        [hit] = memory.timeline("guild emblem painted", max_results=5).results
        assert hit.path == "memory/2026-03-07.md"
