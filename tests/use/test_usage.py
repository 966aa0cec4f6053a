"""Use: what is shown, opened, quoted and judged adds up, fades, survives, and is forgotten."""

from __future__ import annotations

import math
import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested
from hypothesis import given
from hypothesis import strategies as st
from states import state_in
from tables import table, yes

from openclaw_memory.errors import RequestError, WorkspaceError
from openclaw_memory.model import Grain, Kind, Origin, SearchHit
from openclaw_memory.store.state import State, StateError
from openclaw_memory.store.state.use import NAME, UnitUsage, add_usage
from openclaw_memory.use import units
from openclaw_memory.use.tracker import Usage

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
    return tmp_path / "state.sqlite"


# -- counting -------------------------------------------------------------------------------------


def test_being_shown_is_counted_and_moves_nothing(file: Path) -> None:
    usage = Usage(state_in(file))
    usage.shown([_hit("a"), _hit("b"), _hit("a")], DAY)
    assert not file.exists(), "counted in memory first"
    usage.close()
    rows = Usage(state_in(file)).rows()
    assert [(row.id, row.shown, row.used, row.boost) for row in rows] == [("a", 2, 0, 0.0), ("b", 1, 0, 0.0)]
    uses = Usage(state_in(file)).boosts_on(DAY)
    assert uses.boosts == uses.paths == {}


def test_counts_of_a_unit_are_one_row(file: Path) -> None:
    usage = Usage(state_in(file))
    for _ in range(5):
        usage.shown([_hit("a")], DAY)
    usage.opened("memory/2026-03-01.md", day=DAY)
    usage.shown([_hit("a")], _days_after(1))
    usage.flush()
    usage.flush()
    rows = state_in(file).read("SELECT unit, path, first, last, shown, used FROM use")
    assert rows == [("a", "memory/2026-03-01.md", "2026-03-01", "2026-03-02", 6, 1)]
    assert all(SNIPPET[:20].encode() not in each.read_bytes() for each in file.parent.glob(f"{file.name}*"))


def _written_by_itself(file: Path) -> None:
    for thread in threading.enumerate():
        if thread.name == "usage":
            thread.join()
    assert file.exists()


def test_it_is_written_after_a_minute_or_many_hits(file: Path, tmp_path: Path) -> None:
    clock = Clock()
    usage = Usage(state_in(file), clock)
    usage.shown([_hit("a")], DAY)
    clock.now += 59
    usage.shown([_hit("b")], DAY)
    assert not file.exists()
    clock.now += 1
    usage.shown([_hit("c")], DAY)
    _written_by_itself(file)
    assert [row.id for row in usage.rows()] == ["a", "b", "c"]
    other = tmp_path / "other"
    usage = Usage(state_in(other), Clock())
    usage.shown([_hit(str(number)) for number in range(199)], DAY)
    assert not other.exists()
    usage.shown([_hit("x")], DAY)
    _written_by_itself(other)
    assert len(usage.rows()) == 200


def test_what_cannot_be_written_now_is_written_later(file: Path) -> None:
    usage = Usage(state_in(file))
    file.mkdir()
    usage.shown([_hit("a")], DAY)
    usage.flush()
    usage.shown([_hit("a")], DAY)
    usage.close()
    with pytest.raises(StateError, match="cannot be used"):
        usage.rows()
    assert usage.boosts_on(DAY).boosts == {}, "a search goes on without"
    file.rmdir()
    usage.close()
    assert [(row.id, row.shown) for row in Usage(state_in(file)).rows()] == [("a", 2)]


def test_who_forgets_drops_what_others_forgot_meanwhile(file: Path) -> None:
    ours, theirs = Usage(state_in(file)), Usage(state_in(file))
    ours.shown([_hit("a"), _hit("b"), _hit("c")], DAY)
    theirs.forget(["a"])
    ours.forget(["b"])
    ours.flush()
    assert ours.rows() == [], "it may have been just what the other one has forgotten"
    ours.shown([_hit("c")], DAY)
    ours.flush()
    assert [row.id for row in theirs.rows()] == ["c"]


def test_a_state_that_was_made_anew_is_counted_in(file: Path) -> None:
    usage = Usage(state_in(file))
    usage.shown([_hit("a")], DAY)
    usage.forget(["a"])
    state_in(file).purge()
    usage.shown([_hit("c")], DAY)
    usage.flush()
    usage.shown([_hit("d")], DAY)
    assert usage.rows()[-1].id == "d"


def test_two_processes_add_up(file: Path) -> None:
    ours, theirs = Usage(state_in(file)), Usage(state_in(file))
    ours.shown([_hit("a")], DAY)
    theirs.shown([_hit("a")], DAY)
    ours.flush()
    theirs.feedback("a", "memory/2026-03-01.md", "useful", DAY)
    assert ours.rows() == theirs.rows()
    assert [(row.shown, row.useful) for row in ours.rows()] == [(2, 1)]
    assert ours.boosts_on(DAY).boosts == theirs.boosts_on(DAY).boosts == {"a": pytest.approx(1 - 2**-1.5, abs=1e-4)}


def test_without_a_file_it_counts_in_memory() -> None:
    usage = Usage(state_in(None))
    usage.shown([_hit("a")], DAY)
    assert usage.feedback("a", "memory/2026-03-01.md", "irrelevant", DAY).boost < 0
    assert usage.forget(["a"]) == 1
    assert usage.rows() == []


def test_threads_lose_no_count(file: Path) -> None:
    usage = Usage(state_in(file))

    def work() -> None:
        for number in range(120):
            usage.shown([_hit("a"), _hit(str(number))], DAY)
            usage.boosts_on(DAY)
            usage.opened("memory/2026-03-01.md", 5, 5, DAY)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _written_by_itself(file)
    usage.close()
    rows = {row.id: row.shown for row in Usage(state_in(file)).rows()}
    assert rows == {"a": 480, **{str(number): 4 for number in range(120)}}


# -- opened and quoted ----------------------------------------------------------------------------


def test_a_hit_whose_lines_are_read_was_used_once(file: Path) -> None:
    clock = Clock()
    usage = Usage(state_in(file), clock)
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
    assert [(row.id, row.used) for row in usage.rows()] == [("a", 2), ("b", 1), ("c", 0)]


@pytest.mark.parametrize(("reply", "quotes"), table("usage.tsv", "a hit that a reply quotes was used", str, yes))
def test_a_hit_that_a_reply_quotes_was_used(reply: str, quotes: bool) -> None:
    usage = Usage(state_in(None))
    usage.shown([_hit("a"), _hit("b", text="- Something else that nobody ever says in any reply to anybody.")], DAY)
    expected = ["a"] if quotes else []
    assert usage.quoted(reply, DAY) == expected
    assert usage.quoted(reply, DAY) == []
    assert usage.opened("memory/2026-03-01.md", day=DAY) == [name for name in ("a", "b") if name not in expected]


def test_quotations_of_scripts_without_spaces_are_found() -> None:
    usage = Usage(state_in(None))
    usage.shown(
        [_hit("a", text="- 窑炉维苏威昨天又跳闸了，需要更换下部元件。"), _hit("b", text="- 가마가 어제 또 멈췄다")], DAY
    )
    assert usage.quoted("你写道：窑炉维苏威昨天又跳闸了。", DAY) == ["a"]
    assert usage.quoted("窑炉维苏威", DAY) == []


@given(st.text(), st.text(), st.text())
def test_a_whole_snippet_in_a_reply_is_a_quotation_if_it_is_long_enough(snippet: str, before: str, after: str) -> None:
    usage = Usage(state_in(None))
    usage.shown([_hit("a", text=snippet), _hit("b", text=SNIPPET)], DAY)
    usage.quoted(f"{before}\n{snippet}\n{after}", DAY)
    usage.shown([_hit("c", text=SNIPPET)], DAY)
    assert usage.quoted(f"{before}\n{SNIPPET}\n{after}", DAY) == ["b", "c"]


def test_only_so_much_is_remembered() -> None:
    usage = Usage(state_in(None))
    usage.shown([_hit(str(number)) for number in range(5000)], DAY)
    assert len(usage.opened("memory/2026-03-01.md", day=DAY)) == 600


# -- boosts ---------------------------------------------------------------------------------------


def test_a_verdict_is_written_at_once(file: Path) -> None:
    usage = Usage(state_in(file))
    usage.shown([_hit("a")], DAY)
    report = usage.feedback("a", "memory/2026-03-01.md", "useful", DAY)
    assert (report.id, report.verdict) == ("a", "useful")
    assert (report.useful, report.irrelevant, report.used, report.shown) == (1, 0, 0, 1)
    assert report.boost == pytest.approx(1 - 2**-1.5, abs=1e-4)
    assert report.last == DAY
    assert Usage(state_in(file)).boosts_on(DAY).boosts == {"a": report.boost}
    worse = usage.feedback("a", "memory/2026-03-01.md", "irrelevant", DAY)
    assert worse.boost == pytest.approx(-(1 - 2**-0.5), abs=1e-4)
    with pytest.raises(RequestError, match="useful or irrelevant"):
        usage.feedback("a", "memory/2026-03-01.md", "great", DAY)


def test_a_verdict_that_cannot_be_written_is_said(file: Path) -> None:
    file.mkdir()
    with pytest.raises(WorkspaceError):
        Usage(state_in(file)).feedback("a", "memory/a.md", "useful", DAY)


def test_the_state_is_the_same_object_until_it_changes(file: Path) -> None:
    state = state_in(file)
    usage = Usage(state)
    usage.feedback("a", "memory/a.md", "useful", DAY)
    first = usage.boosts_on(DAY)
    state.set_flag("other", True)
    assert usage.boosts_on(DAY) is first
    usage.shown([_hit("a", path="memory/a.md")], DAY)
    usage.flush()
    assert usage.boosts_on(DAY) is first, "being shown again on the same day changes nothing that ranks"
    usage.feedback("a", "memory/a.md", "useful", DAY)
    second = usage.boosts_on(DAY)
    assert second.version != first.version
    assert second.boosts["a"] > first.boosts["a"]


EVENTS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["shown", "used", "useful", "irrelevant"]), st.integers(-40, 40),
        st.integers(1, 3),
    ),
    max_size=25,
)  # fmt: skip


def _state(events: list[tuple[str, str, int, int]]) -> State:
    state = state_in(None)
    with state.writing(NAME) as connection:
        for name, what, days, number in events:
            add_usage(connection, name, UnitUsage.for_day(f"memory/{name}.md", _days_after(days), {what: number}))
    return state


@given(EVENTS, st.randoms(use_true_random=False))
def test_boosts_are_bounded_follow_the_events_and_no_order(
    events: list[tuple[str, str, int, int]], random: Any
) -> None:
    shuffled = random.sample(events, len(events))
    usage = Usage(_state(events))
    rows, others = usage.rows(), Usage(_state(shuffled)).rows()
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
        now = sum(worth[what] * number for _, what, _, number in mine)
        assert row.boost == pytest.approx(math.copysign(1 - 2 ** (-abs(now) / 2), now), abs=1.1e-4)
        assert usage.boosts_on(DAY).boosts.get(row.id, 0) == row.boost


def test_what_was_shown_long_ago_and_nothing_more_is_dropped(file: Path) -> None:
    usage = Usage(state_in(file))
    today = date.today()
    for name, day in (("a", today - timedelta(401)), ("b", today - timedelta(401)), ("c", today - timedelta(399))):
        usage.shown([_hit(name)], day)
    usage.feedback("b", "memory/2026-03-01.md", "useful", today - timedelta(401))
    usage.shown([_hit("d")], today)
    usage.flush()
    assert [row.id for row in usage.rows()] == ["b", "c", "d"]


# -- forgetting -----------------------------------------------------------------------------------


def _holds(file: Path) -> set[str]:
    """Which of some ids are among the bytes of a state."""
    content = b"".join(each.read_bytes() for each in file.parent.glob(f"{file.name}*"))
    return {name for name in ("xaa", "xbb", "xcc", "xdd") if name.encode() in content}


def test_what_is_forgotten_is_nowhere(file: Path) -> None:
    usage = Usage(state_in(file))
    usage.shown([_hit("xaa"), _hit("xbb"), _hit("xcc", path="memory/topics/x.md")], DAY)
    usage.feedback("xaa", "memory/2026-03-01.md", "useful", DAY)
    usage.shown([_hit("xaa"), _hit("xdd")], DAY)
    assert usage.forget(["xaa", "xdd", "unknown"]) == 2
    assert [row.id for row in usage.rows()] == ["xbb", "xcc"]
    assert usage.quoted(SNIPPET, DAY) == ["xbb", "xcc"]
    assert usage.boosts_on(DAY).boosts == {}
    usage.close()
    assert _holds(file) == {"xbb", "xcc"}
    assert usage.forget(["xbb", "xcc"]) == 2
    assert usage.rows() == []
    assert _holds(file) == set()


def test_what_another_process_has_counted_does_not_bring_back_what_is_forgotten(file: Path) -> None:
    server, command = Usage(state_in(file)), Usage(state_in(file))
    server.shown([_hit("xaa")], DAY)
    assert command.forget(["xaa"]) == 0
    server.close()
    server.shown([_hit("xbb")], DAY)
    assert command.forget(["xaa"]) == 0
    assert server.quoted(SNIPPET, DAY) == []
    assert server.opened("memory/2026-03-01.md", day=DAY) == []
    server.shown([_hit("xcc")], DAY)
    server.close()
    assert [row.id for row in command.rows()] == ["xcc"]
    assert "xaa" not in _holds(file)


def test_forgetting_fails_loudly_and_counting_never_waits(file: Path) -> None:
    usage = Usage(state_in(file))
    usage.feedback("xaa", "memory/a.md", "useful", DAY)
    aside = file.with_name("aside")
    file.rename(aside)
    file.mkdir()
    with pytest.raises(StateError, match="cannot be used"):
        usage.forget(["xaa"])
    file.rmdir()
    aside.rename(file)
    assert usage.forget(["xaa"]) == 1
    with state_in(file).writing():
        usage.shown([_hit("xbb")], DAY)  # never waits
        assert usage.boosts_on(DAY).boosts == {}, "nor does who reads"
    assert usage.forget(["xbb"]) == 1


# -- which unit is meant --------------------------------------------------------------------------


@pytest.fixture
def kiln(notes: Notes) -> Notes:
    notes.write("memory/2026-03-01.md", NOTE)
    notes.write("memory/more.md", "".join(f"- Line {number}: {number * 7} paid.\n" for number in range(60)))
    return notes


def test_a_unit_is_named_by_its_id_or_its_lines(kiln: Notes, file: Path) -> None:
    with ingested(kiln) as memory:
        hit = memory.search("fuse Vesuvius", mode="keyword", max_results=1).results[0]
        path, store, usage = hit.path, memory.store, Usage(state_in(file))
        for chunk in (hit.id, f" {hit.id} ", f"{path}#L5", f"{path}:5", f"./{path}#L5-L5"):
            assert units.resolve_unit(store, usage, chunk) == (hit.id, path)
        other = units.resolve_unit(store, usage, f"{path}#L6")[0]
        assert other != hit.id
        assert units.resolve_unit(store, usage, f"{path}#L3-L6") == (hit.id, path), "the first that is no heading"
        usage.shown([_hit(other)], DAY)
        assert units.resolve_unit(store, usage, f"{path}#L3-L6") == (other, path), "what was shown"
        usage.flush()
        usage.shown([_hit(hit.id)], _days_after(1))
        assert units.resolve_unit(store, usage, f"{path}#L3-L6") == (hit.id, path), "what was shown last"
        assert units.resolve_unit(store, usage, f"{path}:3-4")[0] not in (hit.id, other), (
            "a heading, if nothing else is there"
        )
        report = units.record(store, usage, f"{path}#L5", "useful", _days_after(1))
        assert (report.id, report.useful, report.shown) == (hit.id, 1, 1)


@pytest.mark.parametrize(("chunk", "says"), table("usage.tsv", "what names no unit is said"))
def test_what_names_no_unit_is_said(kiln: Notes, file: Path, chunk: str, says: str) -> None:
    with ingested(kiln) as memory, pytest.raises(RequestError, match=says):
        units.record(memory.store, Usage(state_in(file)), chunk, "useful", DAY)
    assert not file.exists()


def test_an_id_is_found_where_its_file_was_moved_from_under_the_counts(kiln: Notes, file: Path) -> None:
    with ingested(kiln) as memory:
        usage = Usage(state_in(file))
        hit = memory.search("fuse Vesuvius", mode="keyword", max_results=1).results[0]
        usage.feedback(hit.id, "memory/more.md", "useful", DAY)  # the path of a record may be an old one
        assert units.resolve_unit(memory.store, usage, hit.id) == (hit.id, hit.path)
        kiln.write("memory/2026-03-01.md", "# 2026-03-01\n\n- All is well.\n")
        memory.ingest()
        with pytest.raises(RequestError, match="no unit has the id"):
            units.resolve_unit(memory.store, usage, hit.id)
