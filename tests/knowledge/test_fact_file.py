"""``facts.yaml``: what is written is read again, and nothing that stands there is lost."""

from __future__ import annotations

import os
import threading
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table

from openclaw_memory.errors import WorkspaceError
from openclaw_memory.knowledge import FACTS as NAME
from openclaw_memory.knowledge import facts_file
from openclaw_memory.knowledge.facts_file import FactFileError
from openclaw_memory.model import Origin
from openclaw_memory.store.api import StatedFact, WorkspaceFile
from openclaw_memory.system import atomic


def fact(id: str = "f-1", subject: str = "JR", object: str = "Utrecht", **values: object) -> StatedFact:
    given = {
        "id": id, "subject": subject, "predicate": "lives in", "object": object, "confidence": 1.0,
        "origin": Origin.AGENT, "source": None, "valid_from": date(2026, 3, 1), "valid_to": None,
        "recorded": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    return StatedFact(**{**given, **values})  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


def test_no_file_is_no_facts(path: Path) -> None:
    assert facts_file.read(path) == []
    facts_file.append(path, [])
    assert not path.exists()


def test_it_is_readable(path: Path) -> None:
    facts_file.append(path, [fact(source="memory/2026-03-01.md#L3", replaces=("f-0",))])
    facts_file.append(path, [fact("f-2", retracts="f-1", valid_from=None, valid_to=date(2026, 5, 1))])
    lines = path.read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "- {id: f-1, subject: JR, predicate: lives in, object: Utrecht, from: 2026-03-01, confidence: 1.0, "
        "origin: agent, source: memory/2026-03-01.md#L3, recorded: 2026-03-01T10:00:00Z, replaces: [f-0]}",
        "- {id: f-2, retracts: f-1, subject: JR, predicate: lives in, object: Utrecht, to: 2026-05-01, "
        "origin: agent, recorded: 2026-03-01T10:00:00Z}",
    ]
    assert lines[0].startswith("# Facts")
    assert [(fact.id, fact.retracts, fact.replaces) for fact in facts_file.read(path)] == [
        ("f-1", None, ("f-0",)),
        ("f-2", "f-1", ()),
    ]


# What YAML would take for something else, and what JSON escapes.
TRICKY = st.sampled_from(
    ["yes", "No", "null", "~", "1", "1.5", "2026-03-01", "a: b", "a #b", "- a", "{a}", "[a]", "&a", "*a", "!a", "|", ">",
     "'", '"', "\\", "a\tb", "\x85", "\u2028", "\ufeff", "\x00", "é", "日本語", "😀", "=", "<<", "%a", "@a", "`a`", ",", "a,b", "#"]
)  # fmt: skip
TEXTS = (
    (TRICKY | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)).map(str.strip).filter(bool)
)
DAYS = st.none() | st.dates(date(1, 1, 2))
FACTS = st.builds(
    StatedFact,
    id=st.uuids().map(lambda made: f"f-{made.hex}"),
    subject=TEXTS,
    predicate=TEXTS,
    object=TEXTS,
    confidence=st.floats(0, 1),
    origin=st.sampled_from(Origin),
    source=st.none() | TEXTS,
    valid_from=DAYS,
    valid_to=DAYS,
    recorded=TEXTS,
    replaces=st.lists(TEXTS, max_size=2).map(tuple),
    retracts=st.none(),
)


@examples(150)
@given(batches=st.lists(st.lists(FACTS, max_size=4), max_size=3), cut=st.booleans())
def test_any_text_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[StatedFact]], cut: bool
) -> None:
    path = tmp_path_factory.mktemp("facts") / NAME
    for entries in batches:
        before = path.read_bytes() if path.exists() else b""
        if cut and before.endswith(b"\n"):
            before = before[:-1]  # an editor that leaves out the last line feed
            path.write_bytes(before)
        facts_file.append(path, entries)
        assert (path.read_bytes() if path.exists() else b"").startswith(before)
    written = [entry for entries in batches for entry in entries]
    assert facts_file.read(path) == written
    if written:
        assert len(path.read_text().rstrip("\n").split("\n")) == 2 + len(written)  # one line an entry


def test_hand_written_entries(path: Path) -> None:
    path.write_text(
        "# mine\n- subject: JR\n  predicate: lives in\n  object: Utrecht   # for now\n"
        "- {subject: JR, predicate: drinks, object: on, from: 2026-03-01T08:00:00}\n"
        "- {subject: JR, predicate: drinks, object: on, from: 2026-03-01T08:00:00}\n"
        "- {subject: JR, predicate: age, object: 41, confidence: 0.5, replaces: f-9}\n"
    )
    first, second, third, fourth = facts_file.read(path)
    assert (first.object, first.origin, first.confidence, first.valid_from, first.recorded) == (
        "Utrecht",
        Origin.AGENT,
        1.0,
        None,
        "",
    )
    assert (second.object, second.valid_from) == ("on", date(2026, 3, 1))
    assert len({first.id, second.id, third.id, fourth.id}) == 4 and third.id == f"{second.id}-2"
    assert (fourth.object, fourth.confidence, fourth.replaces) == ("41", 0.5, ("f-9",))
    assert facts_file.read(path) == [first, second, third, fourth]
    facts_file.append(path, [fact()])
    assert facts_file.read(path) == [first, second, third, fourth, fact()]
    assert "# for now" in path.read_text()


@pytest.mark.parametrize("text", table("fact_file.tsv", "entries are added to any layout of lines"))
def test_entries_are_added_to_any_layout_of_lines(path: Path, text: str) -> None:
    path.write_text(text)
    (before,) = facts_file.read(path)
    facts_file.append(path, [fact(), fact("f-2")])
    assert facts_file.read(path) == [before, fact(), fact("f-2")] and path.read_text().startswith(text)


@pytest.mark.parametrize(
    "text",
    ["[{subject: JR, predicate: likes, object: tea}]\n", "- {subject: JR, predicate: likes, object: tea}\n...\n"],
)
def test_a_layout_that_takes_no_more_lines_is_left_alone(path: Path, text: str) -> None:
    path.write_text(text)
    assert len(facts_file.read(path)) == 1
    with pytest.raises(FactFileError, match="no line can be added"):
        facts_file.append(path, [fact()])
    assert path.read_text() == text


def test_the_same_line_twice_counts_once(path: Path) -> None:
    facts_file.append(path, [fact()])
    path.write_text(path.read_text() + path.read_text())
    assert facts_file.read(path) == [fact()]


@pytest.mark.parametrize(
    ("text", "line", "message"), table("fact_file.tsv", "what is wrong is named with its line", str, int, str)
)
def test_what_is_wrong_is_named_with_its_line(path: Path, text: str, line: int, message: str) -> None:
    path.write_text(text)
    with pytest.raises(FactFileError) as caught:
        facts_file.read(path)
    assert f"{path}, line {line}: " in str(caught.value) and message in str(caught.value)
    if "not valid YAML" in message or "list" in message or "entry" in message:
        with pytest.raises(FactFileError):
            facts_file.append(path, [fact("f-9")])
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "- " + "[" * 100_000 + "]" * 100_000 + "\n",
        "- " * 50_000 + "a\n",
        "- " + "{a: " * 20_000 + "\n",
        "[" * 100_000 + "\n- {}\n",
    ],
)
def test_deep_nesting_is_a_wrong_line(path: Path, text: str) -> None:
    path.write_text(text)
    for attempt in (lambda: facts_file.read(path), lambda: facts_file.append(path, [fact()])):
        with pytest.raises(FactFileError, match=r"facts\.yaml, line 1: .*nest"):
            attempt()
    assert path.read_text() == text


def test_a_torn_line_may_be_nested_deep_too(path: Path) -> None:
    path.write_text("- " + "[" * 100_000 + "]" * 100_000)
    assert facts_file.read(path) == []


def test_only_a_file_of_the_folder_is_read(path: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("- {subject: JR, predicate: likes, object: tea}\n")
    path.symlink_to(outside)
    for attempt in (lambda: facts_file.read(path), lambda: facts_file.append(path, [fact()])):
        with pytest.raises(WorkspaceError, match="leads out of its folder"):
            attempt()
    path.unlink()
    os.mkfifo(path)
    for attempt in (lambda: facts_file.read(path), lambda: facts_file.append(path, [fact()])):
        with pytest.raises(WorkspaceError, match="no regular file"):
            attempt()
    assert "JR" in outside.read_text() and len(outside.read_text().splitlines()) == 1


def test_secrets_in_any_text_are_replaced() -> None:
    secret = fact(object="a key", source="memory/ghp_key.md#L1")
    kept = facts_file.redacted(secret, lambda text: text.replace("key", "…"))
    assert (kept.object, kept.source) == ("a …", "memory/ghp_….md#L1")
    assert facts_file.redacted(fact(source=None), str).source is None


def test_bytes_that_are_no_text(path: Path) -> None:
    path.write_bytes(b"\n- {subject: \xff}\n")
    with pytest.raises(FactFileError, match="line 2: not UTF-8"):
        facts_file.read(path)


@pytest.mark.parametrize("keep", range(1, 120, 7))
def test_a_line_that_was_cut_short_loses_nothing_else(path: Path, keep: int) -> None:
    facts_file.append(path, [fact(), fact("f-2", object="Zürich – 日本")])
    whole = path.read_bytes()
    start = whole.rindex(b"\n- ") + 1
    path.write_bytes(whole[: start + keep])
    assert facts_file.read(path) == [fact()]
    facts_file.append(path, [fact("f-3")])
    assert facts_file.read(path) == [fact(), fact("f-3")]
    assert "# incomplete: -" in path.read_text()


def test_the_first_write_was_cut_short(path: Path) -> None:
    facts_file.append(path, [fact()])
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert facts_file.read(path) == ([fact()] if size == len(whole) - 1 else [])
    path.write_bytes(whole[:20])
    facts_file.append(path, [fact("f-2")])
    assert facts_file.read(path) == [fact("f-2")]


def test_a_failed_write_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts_file.append(path, [fact()])
    before = path.read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[: len(data) // 2]))
    with pytest.raises(WorkspaceError, match="no space left"):
        facts_file.append(path, [fact("f-2")])
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_writers_wait_for_each_other(path: Path, tmp_path: Path) -> None:
    def work(name: str) -> None:
        for number in range(10):
            with atomic.locked(path, root=tmp_path):
                facts_file.append(path, [fact(f"f-{name}-{number}")])

    threads = [threading.Thread(target=work, args=(str(at),)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(facts_file.read(path)) == 40
    assert {entry.name for entry in tmp_path.iterdir()} == {NAME, atomic.OWN_FOLDER}  # no lock beside it
    with (
        atomic.locked(path, root=tmp_path),
        pytest.raises(WorkspaceError, match="another process"),
        atomic.locked(path, timeout=0, root=tmp_path),
    ):
        pass


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    atomic.write_text(real, "a\n")
    real.chmod(0o640)
    link.symlink_to(real)
    atomic.write_text(link, "b\n")
    assert link.is_symlink() and real.read_text() == "b\n" and real.stat().st_mode & 0o777 == 0o640
    with pytest.raises(WorkspaceError, match="is a folder"):
        atomic.write_text(tmp_path, "c\n")
    with pytest.raises(WorkspaceError, match="is a folder"):
        atomic.append_text(tmp_path, "c\n")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.yaml", "real.yaml"]


class Shelf:
    """The part of a store that keeps the file."""

    def __init__(self) -> None:
        self.file: WorkspaceFile | None = None
        self.facts: list[StatedFact] = []
        self.writes = 0

    def workspace_file(self, name: str) -> WorkspaceFile | None:
        assert name == NAME
        return self.file

    def put_stated_facts(self, facts_file: WorkspaceFile, facts: list[StatedFact]) -> None:
        self.file, self.facts = facts_file, list(facts)
        self.writes += 1


def test_the_index_takes_it_over(path: Path) -> None:
    store = Shelf()
    take = lambda: facts_file.take_over(path.parent, store, str, lambda fact: False)  # type: ignore[arg-type]  # noqa: E731
    assert not take() and store.writes == 0
    facts_file.append(path, [fact()])
    assert take() and store.facts == [fact()]
    assert not take() and store.writes == 1
    os.utime(path, (1, 1))
    assert not take() and not take() and store.writes == 2
    path.write_text("- {broken\n")
    with pytest.raises(FactFileError):
        take()
    assert store.facts == [fact()]
    path.unlink()
    assert take() and store.facts == [] and not take()
