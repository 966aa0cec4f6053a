"""Use: what is shown, opened, quoted and judged adds up, fades, survives, and is forgotten."""

from __future__ import annotations

import json
import math
import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory import feedback, workfiles
from openclaw_memory.errors import RequestError, WorkspaceError
from openclaw_memory.journal import Journal
from openclaw_memory.types import Grain, Kind, Origin, SearchHit
from openclaw_memory.usage import Usage
from openclaw_memory.usage_table import boost_of

DAY = date(2026, 3, 1)
SNIPPET = "- The kiln Vesuvius tripped the fuse again when its lower element glowed, so we ordered a new one."
NOTE = "# 2026-03-01\n\n## Kiln trouble\n\n- The kiln Vesuvius tripped the fuse.\n- Glaze **Celadon** ran off the plates.\n\nThe fan is loud.\n"


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _hit(
    name: str = "a", path: str = "memory/2026-03-01.md", lines: tuple[int, int] = (5, 6), text: str = SNIPPET
) -> SearchHit:
    return SearchHit(
        path=path, start_line=lines[0], end_line=lines[1], score=0.5, snippet=text, citation="", id=name, heading="",
        date=None, kind=Kind.DAILY, grain=Grain.WORKING, origin=Origin.AGENT,
    )  # fmt: skip


def _days_after(days: int) -> date:
    return DAY + timedelta(days)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.duckdb.journal"


# -- counting -------------------------------------------------------------------------------------


def test_being_shown_is_counted_and_moves_nothing(file: Path) -> None:
    usage = Usage(Journal(file))
    usage.shown([_hit("a"), _hit("b"), _hit("a")], DAY)
    assert not file.exists(), "counted in memory first"
    assert usage.state(DAY).last == {}
    usage.close()
    rows = Usage(Journal(file)).rows(DAY)
    assert [(row.id, row.shown, row.used, row.boost) for row in rows] == [("a", 2, 0, 0.0), ("b", 1, 0, 0.0)]
    uses = Usage(Journal(file)).state(DAY)
    assert uses.boosts == {}
    assert uses.last == {"a": DAY, "b": DAY}
    assert uses.paths == {"a": "memory/2026-03-01.md", "b": "memory/2026-03-01.md"}


def test_counts_of_a_day_are_one_record(file: Path) -> None:
    usage = Usage(Journal(file))
    for _ in range(5):
        usage.shown([_hit("a")], DAY)
    usage.used("a", "memory/2026-03-01.md", DAY)
    usage.shown([_hit("a")], _days_after(1))
    usage.flush()
    usage.flush()
    said = [{key: record[key] for key in record if key != "at"} for record in Journal(file).records()]
    assert said == [
        {"kind": "use", "day": "2026-03-01", "id": "a", "path": "memory/2026-03-01.md", "shown": 5, "used": 1},
        {"kind": "use", "day": "2026-03-02", "id": "a", "path": "memory/2026-03-01.md", "shown": 1},
    ]
    assert SNIPPET[:20] not in file.read_text(), "the journal holds no text"


def _written_by_itself(file: Path) -> None:
    for thread in threading.enumerate():
        if thread.name == "usage":
            thread.join()
    assert file.exists()


def test_it_is_written_after_a_minute_or_many_hits(file: Path, tmp_path: Path) -> None:
    clock = Clock()
    usage = Usage(Journal(file), clock)
    usage.shown([_hit("a")], DAY)
    clock.now += 59
    usage.shown([_hit("b")], DAY)
    assert not file.exists()
    clock.now += 1
    usage.shown([_hit("c")], DAY)
    _written_by_itself(file)
    assert sorted(usage.state(DAY).last) == ["a", "b", "c"]
    other = tmp_path / "other"
    usage = Usage(Journal(other), Clock())
    usage.shown([_hit(str(number)) for number in range(199)], DAY)
    assert not other.exists()
    usage.shown([_hit("x")], DAY)
    _written_by_itself(other)
    assert len(usage.state(DAY).last) == 200


def test_what_cannot_be_written_now_is_written_later(file: Path) -> None:
    journal = Journal(file)
    usage = Usage(journal)
    file.mkdir()
    usage.shown([_hit("a")], DAY)
    usage.flush()
    usage.shown([_hit("a")], DAY)
    usage.close()
    assert usage.rows(DAY) == []
    file.rmdir()
    usage.close()
    assert [(row.id, row.shown) for row in Usage(Journal(file)).rows(DAY)] == [("a", 2)]


def test_two_processes_add_up(file: Path) -> None:
    ours, theirs = Usage(Journal(file)), Usage(Journal(file))
    ours.shown([_hit("a")], DAY)
    theirs.shown([_hit("a")], DAY)
    ours.flush()
    theirs.feedback("a", "memory/2026-03-01.md", "useful", DAY)
    assert ours.rows(DAY) == theirs.rows(DAY)
    assert [(row.shown, row.useful) for row in ours.rows(DAY)] == [(2, 1)]
    assert ours.state(DAY).boosts == theirs.state(DAY).boosts == {"a": pytest.approx(1 - 2**-1.5, abs=1e-4)}


def test_without_a_file_it_counts_in_memory() -> None:
    usage = Usage(Journal(None))
    usage.shown([_hit("a")], DAY)
    assert usage.feedback("a", "memory/2026-03-01.md", "irrelevant", DAY).boost < 0
    assert usage.forget(["a"]) == 1
    assert usage.rows(DAY) == []


def test_threads_lose_no_count(file: Path) -> None:
    usage = Usage(Journal(file))

    def work() -> None:
        for number in range(120):
            usage.shown([_hit("a"), _hit(str(number))], DAY)
            usage.state(DAY)
            usage.opened("memory/2026-03-01.md", 5, 5, DAY)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _written_by_itself(file)
    usage.close()
    rows = {row.id: row.shown for row in Usage(Journal(file)).rows(DAY)}
    assert rows == {"a": 480, **{str(number): 4 for number in range(120)}}


# -- opened and quoted ----------------------------------------------------------------------------


def test_a_hit_whose_lines_are_read_was_used_once(file: Path) -> None:
    clock = Clock()
    usage = Usage(Journal(file), clock)
    path = "memory/2026-03-01.md"
    usage.shown([_hit("a", lines=(5, 6)), _hit("b", lines=(9, 12)), _hit("c", path="memory/other.md")], DAY)
    assert usage.opened(path, 7, 8, DAY) == []
    assert usage.opened("memory/2026-03-02.md", None, None, DAY) == []
    assert usage.opened(path, 6, 9, DAY) == ["a", "b"]
    assert usage.opened(path, 6, 9, DAY) == [], "once for each time it was shown"
    usage.shown([_hit("a", lines=(5, 6))], DAY)
    assert usage.opened(path, day=DAY) == ["a"]
    clock.now += 1801
    assert usage.opened("memory/other.md", day=DAY) == [], "too long ago"
    assert [(row.id, row.used) for row in usage.rows(DAY)] == [("a", 2), ("b", 1), ("c", 0)]


@pytest.mark.parametrize(
    ("reply", "quotes"),
    [
        ("You wrote: **the kiln Vesuvius tripped the fuse again** when it glowed.", True),
        ("THE KILN “VESUVIUS”\ntripped the\n> fuse again, when it was hot", True),
        ("The kiln Vesuvius tripped the fuse, again (when its element was hot).", True),
        ("The kiln Vesuvius tripped the fuse.", False),
        ("Its lower element glowed while the kiln tripped the old fuse again.", False),
        ("", False),
    ],
)  # fmt: skip
def test_a_hit_that_a_reply_quotes_was_used(reply: str, quotes: bool) -> None:
    usage = Usage(Journal(None))
    usage.shown([_hit("a"), _hit("b", text="- Something else that nobody ever says in any reply to anybody.")], DAY)
    expected = ["a"] if quotes else []
    assert usage.quoted(reply, DAY) == expected
    assert usage.quoted(reply, DAY) == []
    assert usage.opened("memory/2026-03-01.md", day=DAY) == [name for name in ("a", "b") if name not in expected]


def test_quotations_of_scripts_without_spaces_are_found() -> None:
    usage = Usage(Journal(None))
    usage.shown(
        [_hit("a", text="- 窑炉维苏威昨天又跳闸了，需要更换下部元件。"), _hit("b", text="- 가마가 어제 또 멈췄다")], DAY
    )
    assert usage.quoted("你写道：窑炉维苏威昨天又跳闸了。", DAY) == ["a"]
    assert usage.quoted("窑炉维苏威", DAY) == []


@given(st.text(), st.text(), st.text())
def test_a_whole_snippet_in_a_reply_is_a_quotation_if_it_is_long_enough(snippet: str, before: str, after: str) -> None:
    usage = Usage(Journal(None))
    usage.shown([_hit("a", text=snippet), _hit("b", text=SNIPPET)], DAY)
    usage.quoted(f"{before}\n{snippet}\n{after}", DAY)
    usage.shown([_hit("c", text=SNIPPET)], DAY)
    assert usage.quoted(f"{before}\n{SNIPPET}\n{after}", DAY) == ["b", "c"]


def test_only_so_much_is_remembered() -> None:
    usage = Usage(Journal(None))
    usage.shown([_hit(str(number)) for number in range(5000)], DAY)
    assert len(usage.opened("memory/2026-03-01.md", day=DAY)) == 600


# -- boosts ---------------------------------------------------------------------------------------


def test_a_verdict_is_written_at_once(file: Path) -> None:
    usage = Usage(Journal(file))
    usage.shown([_hit("a")], DAY)
    report = usage.feedback("a", "memory/2026-03-01.md", "useful", DAY)
    assert (report.id, report.verdict, report.useful, report.irrelevant, report.used, report.shown) == (
        "a",
        "useful",
        1,
        0,
        0,
        1,
    )
    assert report.boost == pytest.approx(1 - 2**-1.5, abs=1e-4)
    assert report.last == DAY
    assert Usage(Journal(file)).state(DAY).boosts == {"a": report.boost}
    worse = usage.feedback("a", "memory/2026-03-01.md", "irrelevant", DAY)
    assert worse.boost == pytest.approx(-(1 - 2**-0.5), abs=1e-4)
    with pytest.raises(RequestError, match="useful or irrelevant"):
        usage.feedback("a", "memory/2026-03-01.md", "great", DAY)


def test_a_verdict_that_cannot_be_written_is_said(file: Path) -> None:
    file.mkdir()
    with pytest.raises(WorkspaceError):
        Usage(Journal(file)).feedback("a", "memory/a.md", "useful", DAY)


def test_boosts_fade_by_half_in_a_month_and_vanish() -> None:
    usage = Usage(Journal(None))
    usage.feedback("a", "memory/a.md", "useful", DAY)
    usage.feedback("b", "memory/a.md", "irrelevant", DAY)
    after = [usage.state(_days_after(days)).boosts for days in (0, 30, 60)]
    assert [uses["a"] for uses in after] == [round(boost_of(worth), 4) for worth in (3, 1.5, 0.75)]
    assert [uses["b"] for uses in after] == [round(boost_of(worth), 4) for worth in (-4, -2, -1)]
    assert usage.state(_days_after(2000)).boosts == {}
    assert usage.state(_days_after(2000)).last == {"a": DAY, "b": DAY}
    assert usage.state(_days_after(-7)).boosts == usage.state(DAY).boosts, "what is to come counts in full"


def test_the_state_is_the_same_object_until_it_changes(file: Path) -> None:
    journal = Journal(file)
    usage = Usage(journal)
    usage.feedback("a", "memory/a.md", "useful", DAY)
    first = usage.state(DAY)
    journal.append([{"kind": "other"}])
    assert usage.state(DAY) is first
    usage.shown([_hit("a", path="memory/a.md")], DAY)
    usage.flush()
    assert usage.state(DAY) is first, "being shown again on the same day changes nothing that ranks"
    usage.feedback("a", "memory/a.md", "useful", DAY)
    second = usage.state(DAY)
    assert second.version != first.version
    assert second.boosts["a"] > first.boosts["a"]
    assert usage.state(_days_after(1)).version != second.version


EVENTS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["shown", "used", "useful", "irrelevant"]), st.integers(-40, 40),
        st.integers(1, 3),
    ),
    max_size=25,
)  # fmt: skip


def _journal(events: list[tuple[str, str, int, int]]) -> Journal:
    journal = Journal(None)
    records = [{"kind": "use", "id": name, "path": f"memory/{name}.md", "day": _days_after(days).isoformat(), what: number}
               for name, what, days, number in events]  # fmt: skip
    journal.append(records)
    return journal


@given(EVENTS, st.randoms(use_true_random=False), st.integers(-60, 800))
def test_boosts_are_bounded_follow_the_events_and_no_order(
    events: list[tuple[str, str, int, int]], random: Any, later: int
) -> None:
    shuffled = random.sample(events, len(events))
    today = _days_after(later)
    usage = Usage(_journal(events))
    rows, others = usage.rows(today), Usage(_journal(shuffled)).rows(today)
    assert [row.id for row in rows] == [row.id for row in others] == sorted({event[0] for event in events})
    worth = {"shown": 0, "used": 1, "useful": 3, "irrelevant": -4}
    for row, other in zip(rows, others, strict=True):
        mine = [event for event in events if event[0] == row.id]
        assert row.first == _days_after(min(days for _, _, days, _ in mine))
        assert row.last == _days_after(max(days for _, _, days, _ in mine))
        assert row.boost == pytest.approx(other.boost, abs=1.1e-4)
        assert -1 <= row.boost <= 1
        assert {name: getattr(row, name) for name in worth} == {
            name: sum(number for _, what, _, number in mine if what == name) for name in worth
        }
        if today >= row.last:
            now = sum(worth[what] * number * 0.5 ** ((later - days) / 30) for _, what, days, number in mine)
            assert row.boost == pytest.approx(math.copysign(1 - 2 ** (-abs(now) / 2), now), abs=1.1e-4)
        assert usage.state(today).boosts.get(row.id, 0) == row.boost


@given(EVENTS, EVENTS)
def test_putting_records_together_changes_nothing(
    events: list[tuple[str, str, int, int]], more: list[tuple[str, str, int, int]]
) -> None:
    journal = _journal(events)
    journal.append([{"kind": "other", "n": 1}])
    usage = Usage(journal)
    before, state = usage.rows(DAY), usage.state(DAY)
    names = {event[0] for event in events}
    assert usage.compact(_days_after(40)) == len(events) - len(names)
    assert Usage(journal).rows(DAY) == usage.rows(DAY) == before
    assert usage.state(DAY) is state
    assert [record["n"] for record in journal.records("other")] == [1]
    journal.append(_journal(more).records())
    expected = Usage(_journal([*events, *more])).rows(DAY)
    for row, other in zip(usage.rows(DAY), expected, strict=True):
        assert (row.id, row.shown, row.used, row.first, row.last) == (
            other.id,
            other.shown,
            other.used,
            other.first,
            other.last,
        )
        assert row.boost == pytest.approx(other.boost, abs=1.1e-4)


def test_a_large_journal_is_put_together_by_itself(file: Path) -> None:
    journal = Journal(file)
    day = date.today()
    records = [
        {"kind": "use", "day": (day - timedelta(number % 25)).isoformat(), "id": f"{number % 400:016x}", "path": "memory/a.md", "shown": 1}
        for number in range(10_000)
    ]  # fmt: skip
    journal.append([*records, {"kind": "other"}])
    usage = Usage(journal)
    before = usage.rows(day)
    assert journal.size > 1_000_000
    usage.used("0" * 16, "memory/a.md", day)
    usage.flush()
    assert journal.size < 100_000
    after = usage.rows(day)
    assert after[1:] == before[1:]
    assert (after[0].shown, after[0].used) == (25, 1)
    assert len(journal.records("other")) == 1


def test_what_was_shown_long_ago_and_nothing_more_is_dropped_when_records_are_put_together() -> None:
    usage = Usage(_journal([("a", "shown", 0, 1), ("b", "useful", 0, 1), ("c", "shown", 100, 1)]))
    usage.compact(_days_after(401))
    assert [row.id for row in usage.rows(DAY)] == ["b", "c"]


def test_records_that_make_no_sense_do_not_count(file: Path) -> None:
    good = {"kind": "use", "day": "2026-03-01", "id": "a", "path": "memory/a.md", "shown": 1}
    wrong = [{"day": "never"}, {"day": 5}, {"shown": "x"}, {"shown": None}, {"worth": "much"}, {"first": 3}]
    journal = Journal(file)
    journal.append([good, *({**good, **each} for each in wrong), {"kind": "use"}, good])
    with file.open("a") as out:
        out.write(json.dumps({**good, "worth": 1}).replace("1}", "NaN}") + "\n")
    assert [(row.id, row.shown, row.boost) for row in Usage(Journal(file)).rows(DAY)] == [("a", 2, 0.0)]


# -- forgetting -----------------------------------------------------------------------------------


def test_what_is_forgotten_is_nowhere(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "other", "id": "a"}])
    usage = Usage(journal)
    usage.shown([_hit("aaa"), _hit("bbb"), _hit("ccc", path="memory/topics/x.md")], DAY)
    usage.feedback("aaa", "memory/2026-03-01.md", "useful", DAY)
    usage.shown([_hit("aaa"), _hit("ddd")], DAY)
    assert usage.forget(["aaa", "ddd", "unknown"]) == 2
    assert [row.id for row in usage.rows(DAY)] == ["bbb", "ccc"]
    assert usage.quoted(SNIPPET, DAY) == ["bbb", "ccc"]
    assert usage.state(DAY).boosts == {}
    usage.close()
    assert "aaa" not in file.read_text()
    assert usage.forget_path("memory/topics/") == 1
    assert usage.forget_path("memory/2026-03-01") == 0
    assert usage.forget_path("memory/2026-03-01.md") == 1
    assert usage.rows(DAY) == []
    assert [record["kind"] for record in journal.records()] == ["other", "forgot"]


def test_what_another_process_has_counted_does_not_bring_back_what_is_forgotten(file: Path) -> None:
    server, command = Usage(Journal(file)), Usage(Journal(file))
    server.shown([_hit("aaa")], DAY)
    assert command.forget(["aaa"]) == 0
    server.close()
    server.shown([_hit("bbb")], DAY)
    assert command.forget(["aaa"]) == 0
    assert server.quoted(SNIPPET, DAY) == []
    assert server.opened("memory/2026-03-01.md", day=DAY) == []
    server.shown([_hit("ccc")], DAY)
    server.close()
    assert [row.id for row in command.rows(DAY)] == ["ccc"]
    assert "aaa" not in file.read_text()


def test_forgetting_fails_loudly_and_counting_never_waits(file: Path) -> None:
    usage = Usage(Journal(file))
    usage.feedback("aaa", "memory/a.md", "useful", DAY)
    aside = file.with_name("aside")
    file.rename(aside)
    file.mkdir()
    with pytest.raises(Exception, match="folder"):
        usage.forget(["aaa"])
    file.rmdir()
    aside.rename(file)
    assert usage.forget(["aaa"]) == 1
    with workfiles.locked(file):
        usage.shown([_hit("bbb")], DAY)  # never waits
    assert usage.forget_path("memory/2026-03-01.md") == 1


# -- which unit is meant --------------------------------------------------------------------------


@pytest.fixture
def kiln(notes: Notes) -> Notes:
    notes.write("memory/2026-03-01.md", NOTE)
    notes.write("memory/more.md", "".join(f"- Line {number}: {number * 7} paid.\n" for number in range(60)))
    return notes


def test_a_unit_is_named_by_its_id_or_its_lines(kiln: Notes, file: Path) -> None:
    with open_memory(kiln) as memory:
        memory.ingest()
        hit = memory.search("fuse Vesuvius", mode="keyword", max_results=1).results[0]
        path, store, usage = hit.path, memory.store, Usage(Journal(file))
        for chunk in (hit.id, f" {hit.id} ", f"{path}#L5", f"{path}:5", f"./{path}#L5-L5"):
            assert feedback.place(store, usage, chunk) == (hit.id, path)
        other = feedback.place(store, usage, f"{path}#L6")[0]
        assert other != hit.id
        assert feedback.place(store, usage, f"{path}#L3-L6") == (hit.id, path), "the first that is no heading"
        usage.shown([_hit(other)], DAY)
        assert feedback.place(store, usage, f"{path}#L3-L6") == (other, path), "what was shown"
        usage.flush()
        usage.shown([_hit(hit.id)], _days_after(1))
        assert feedback.place(store, usage, f"{path}#L3-L6") == (hit.id, path), "what was shown last"
        assert feedback.place(store, usage, f"{path}:3-4")[0] not in (hit.id, other), (
            "a heading, if nothing else is there"
        )
        report = feedback.give(store, usage, f"{path}#L5", "useful", _days_after(1))
        assert (report.id, report.useful, report.shown) == (hit.id, 1, 1)


@pytest.mark.parametrize(
    ("chunk", "says"),
    [
        ("0123456789abcdef", "no unit has the id"),
        ("memory/none.md#L3", "names nothing"),
        ("memory/2026-03-01.md", "names nothing"),
        ("", "names nothing"),
        ("memory/2026-03-01.md#L40-L50", "no text in line 40 to 50"),
        ("memory/2026-03-01.md#L0", "no text in line 0"),
    ],
)
def test_what_names_no_unit_is_said(kiln: Notes, file: Path, chunk: str, says: str) -> None:
    with open_memory(kiln) as memory:
        memory.ingest()
        with pytest.raises(RequestError, match=says):
            feedback.give(memory.store, Usage(Journal(file)), chunk, "useful", DAY)
    assert not file.exists()


def test_an_id_is_found_where_its_file_was_moved_from_under_the_counts(kiln: Notes, file: Path) -> None:
    with open_memory(kiln) as memory:
        memory.ingest()
        usage = Usage(Journal(file))
        hit = memory.search("fuse Vesuvius", mode="keyword", max_results=1).results[0]
        usage.feedback(hit.id, "memory/more.md", "useful", DAY)  # the path of a record may be an old one
        assert feedback.place(memory.store, usage, hit.id) == (hit.id, hit.path)
        kiln.write("memory/2026-03-01.md", "# 2026-03-01\n\n- All is well.\n")
        memory.ingest()
        with pytest.raises(RequestError, match="no unit has the id"):
            feedback.place(memory.store, usage, hit.id)
