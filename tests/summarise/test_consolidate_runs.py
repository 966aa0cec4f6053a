"""However consolidation gets there, the files are the same: in steps, cut short, killed, twice at once, elsewhere."""

from __future__ import annotations

import os
import random
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes
from hypothesis import given
from hypothesis import strategies as st
from indexing import python
from properties import examples
from summarising import FOLDER, days, diary, summarised, tree, write

from openclaw_memory import Memory
from openclaw_memory.model import Grain
from openclaw_memory.system.atomic import OWN_FOLDER

FIRST, LAST = date(2026, 1, 2), date(2026, 2, 18)
LATER = date(2027, 6, 1)

#: One run of a child process: what it is to do stands in ``argv``.
CHILD = """
import os, sys
from datetime import date
from pathlib import Path
from fakes import Notes
from summarising import summarised

root, db, now = Path(sys.argv[1]), sys.argv[2], date.fromisoformat(sys.argv[3])
values = dict(part.split("=") for part in sys.argv[4:])
values = {name: int(value) if value.isdigit() else value for name, value in values.items()}
with summarised(Notes(root), db=db, **values) as memory:
    print("begin", flush=True)
    report = memory.consolidate(now=now)
    print(len(report.created), report.complete, flush=True)
"""


def spread(notes: Notes, after: date | None = None, last: date = LAST) -> None:
    """Notes of every fifth day, some of them short, from the day behind ``after`` on."""
    for number, day in enumerate(days(FIRST, last, 5)):
        if after is not None and day <= after:
            continue
        if number % 6 == 3:
            notes.write(
                f"memory/{day}.md", f"- We weighed the ladder-{number} and the anchor.\n- A quiet day {number}.\n"
            )
        else:
            write(notes, day)


def count(notes: Notes) -> int:
    """Files among the summaries, those that are being written too."""
    return sum(len(files) for _, _, files in os.walk(notes.root / FOLDER))


def litter(notes: Notes) -> list[str]:
    return [
        path.name
        for path in notes.root.rglob("*")
        if path.is_file() and path.suffix != ".md" and OWN_FOLDER not in path.parts
    ]


def indexed(memory: Memory) -> dict[str, str]:
    return {path: row.sha256 for path, row in memory.store.documents().by_path.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The summaries of :func:`spread` by one run at the end."""
    notes = Notes(tmp_path_factory.mktemp("whole") / "workspace")
    spread(notes)
    with summarised(notes, store__path=str(notes.root.parent / "x.duckdb")) as memory:
        memory.consolidate(now=LATER)
    return tree(notes)


@pytest.mark.parametrize("plan", ["keep", "free"])
def test_day_by_day_gives_the_bytes_of_one_run_at_the_end(notes: Notes, whole: dict[str, bytes], plan: str) -> None:
    before = None
    with summarised(notes, retention__plan=plan) as memory:
        for now in (*days(FIRST, LAST, 12), *days(LAST, LATER, 100)):
            spread(notes, before, min(now, LAST))
            before = now
            memory.consolidate(now=now)
        memory.consolidate(now=LATER)
        left, held = tree(notes), indexed(memory)
    assert left == {path: whole[path] for path in left}
    if plan == "keep":
        assert left == whole
    with summarised(notes, name="afresh", retention__plan=plan) as memory:
        report = memory.consolidate(now=LATER)
        assert report.created == () and tree(notes) == left
        assert indexed(memory) == held


NAMES = st.sampled_from(
    ["2026-01-30", "2026-02-01", "2026-02-02", "captures/2026-02-02", "2026-02-09", "2026-03-01-talk"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.integers(0, 3)),
        st.tuples(st.just("short"), NAMES, st.integers(0, 3)),
        st.tuples(st.just("delete"), NAMES, st.just(0)),
        st.tuples(st.just("run"), st.just(""), st.integers(5, 120)),
        st.tuples(st.just("cut"), st.just(""), st.integers(5, 120)),
        st.tuples(st.just("grain"), st.sampled_from(["daily", "monthly"]), st.integers(5, 120)),
        st.tuples(st.just("lose"), st.just(""), st.just(0)),
    ),
    max_size=9,
)


@given(steps=STEPS, plan=st.sampled_from(["keep", "free"]))
@examples(12)
def test_whatever_happened_the_files_follow_from_the_notes(steps: list[tuple[str, str, int]], plan: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notes = Notes(Path(folder) / "workspace")
        now = date(2026, 2, 1)
        memory = summarised(notes, retention__plan=plan)
        for at, (what, name, number) in enumerate(steps):
            path = f"memory/{name}.md"
            if what in ("write", "short"):
                notes.write(path, diary(date(2026, 1, 1), number, 8 if what == "write" else 2))
            elif what == "delete" and (notes.root / path).exists():
                notes.remove(path)
            elif what in ("run", "cut", "grain"):
                now += timedelta(days=number)
                options: dict[str, Any] = {"grain": Grain(name)} if what == "grain" else {}
                memory.consolidate(now=now, deadline=0 if what == "cut" else None, **options)
            elif what == "lose":
                memory.close()
                memory = summarised(notes, name=f"index{at}", retention__plan=plan)
        report = memory.consolidate(now=now)
        assert report.complete and report.warning is None
        left, held = tree(notes), indexed(memory)
        again = memory.consolidate(now=now)
        assert (again.created, again.removed, again.retired) == ((), (), ())
        memory.close()
        for path in left:
            (notes.root / path).unlink()
        with summarised(notes, name="afresh", retention__plan=plan) as afresh:
            afresh.consolidate(now=now)
            assert tree(notes) == left
            assert indexed(afresh) == held


def test_slices_of_no_time_get_there_too(notes: Notes, whole: dict[str, bytes]) -> None:
    spread(notes)
    runs = 0
    with summarised(notes) as memory:
        first = memory.consolidate(now=LATER, deadline=0)  # not everything is read yet
        assert not first.complete and first.created == ()
        memory.ingest()
        while True:
            report = memory.consolidate(now=LATER, deadline=0)
            runs += 1
            assert len(report.created) == 1 or report.complete
            if report.complete:
                break
        assert runs in (len(whole), len(whole) + 1)
    assert tree(notes) == whole and litter(notes) == []


def test_a_dry_run_changes_nothing_and_says_what_will_be(notes: Notes) -> None:
    spread(notes)
    with summarised(notes) as memory:
        wanted = memory.consolidate(now=LATER, dry_run=True)
        assert wanted.dry_run and tree(notes) == {} and not (notes.root / FOLDER).exists()
        report = memory.consolidate(now=LATER)
    assert not report.dry_run
    assert wanted.summaries == report.summaries and wanted.archived == report.archived > 0
    assert (wanted.created, wanted.groups) == (report.created, report.groups)


def test_hash_seeds_and_threads_do_not_matter(
    notes: Notes, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    spread(notes)
    monkeypatch.setenv("PYTHONHASHSEED", "1234")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "3")
    child = python(CHILD, str(notes.root), str(notes.root.parent / "other.duckdb"), str(LATER))
    out, errors = child.communicate()
    assert out.split()[-1] == "True", errors
    assert tree(notes) == whole


def test_killed_at_any_moment_the_next_run_completes(notes: Notes, whole: dict[str, bytes]) -> None:
    spread(notes)
    chance = random.Random(5)
    db = str(notes.root.parent / "index.duckdb")
    killed = 0
    for _ in range(60):
        before = count(notes)
        child = python(CHILD, str(notes.root), db, str(LATER))
        assert child.stdout is not None
        child.stdout.readline()
        # After so many more files have come into being, not after so much time.
        wanted = before + chance.randrange(3, 11)
        while child.poll() is None and count(notes) < wanted:
            time.sleep(0.001)
        killed += child.poll() is None
        child.kill()
        child.communicate()
        if tree(notes) == whole and not litter(notes):
            break
        assert {path: data for path, data in tree(notes).items() if path.endswith(".md")}.items() <= whole.items()
    assert killed > 2
    (notes.root / FOLDER / "daily").mkdir(parents=True, exist_ok=True)
    (notes.root / FOLDER / "daily" / f".2026-01-02.md.{2**22 + 1}-0badcafe.tmp").write_text("half a summ")
    for path in notes.root.rglob("*.tmp"):  # their writers are long gone
        os.utime(path, (0, 0))
    with summarised(notes) as memory:
        assert memory.consolidate(now=LATER).complete
        assert memory.consolidate(now=LATER).created == ()
        assert set(indexed(memory)) >= set(whole)
    assert tree(notes) == whole and litter(notes) == []


def test_killed_during_retirement_the_next_run_completes(notes: Notes) -> None:
    spread(notes)
    now = LAST + timedelta(days=60)
    with summarised(notes, retention__plan="free", name="other") as memory:
        memory.consolidate(now=now)
        wanted, held = tree(notes), indexed(memory)
    with summarised(notes, retention__plan="keep") as memory:
        memory.consolidate(now=now)
        everything = count(notes)
    db = str(notes.root.parent / "index.duckdb")
    chance = random.Random(6)
    while tree(notes) != wanted:
        child = python(CHILD, str(notes.root), db, str(now), "retention__plan=free")
        assert child.stdout is not None
        child.stdout.readline()
        left = count(notes) - chance.randrange(3, 11)
        while child.poll() is None and count(notes) > left:
            time.sleep(0.001)
        child.kill()
        child.communicate()
        assert count(notes) < everything
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=now)
        assert indexed(memory) == held
    assert tree(notes) == wanted


def test_two_processes_at_once(notes: Notes, whole: dict[str, bytes]) -> None:
    spread(notes)
    db = str(notes.root.parent / "index.duckdb")
    children = [python(CHILD, str(notes.root), path, str(LATER)) for path in (db, db + "2")]
    outputs = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    assert all(out.split()[-1] == "True" for out, _ in outputs)
    assert sorted(int(out.split()[1]) for out, _ in outputs) == [0, len(whole)]  # nobody does it twice
    assert tree(notes) == whole and litter(notes) == []
