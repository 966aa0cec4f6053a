"""The journal: what was appended is there, whatever happens to the machine, the file or other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory import workfiles
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.journal import Journal, JournalError


def _said(journal: Journal, kind: str | None = None) -> list[Any]:
    return [record["n"] for record in journal.records(kind)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.duckdb.journal"


def test_records_come_back_in_order_and_by_kind(file: Path) -> None:
    journal = Journal(file)
    assert journal.records() == []
    assert not file.exists(), "reading makes no file"
    journal.append([{"kind": "a", "n": 1, "at": "2026-03-01T10:00:00Z"}, {"kind": "b", "n": "zwei ☃\u2028"}])
    journal.append([{"kind": "a", "n": 3}])
    assert _said(journal) == [1, "zwei ☃\u2028", 3]
    assert _said(journal, "a") == [1, 3]
    assert _said(journal, "c") == []
    assert journal.records("a")[0]["at"] == "2026-03-01T10:00:00Z"
    assert journal.records("a")[1]["at"].endswith("Z")
    assert _said(Journal(file)) == _said(journal)
    assert journal.size == file.stat().st_size
    assert journal.warnings() == []


def test_it_is_readable_by_its_owner_only(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    assert file.stat().st_mode & 0o777 == 0o600
    journal.rewrite(lambda record: {**record, "n": 2})
    assert file.stat().st_mode & 0o777 == 0o600


def test_nothing_to_append_makes_no_file(file: Path) -> None:
    Journal(file).append([])
    assert not file.exists()


@pytest.mark.parametrize(
    "record", [{"n": 1}, {"kind": "key", "key": "00"}, {"kind": 3}, {"kind": "a", "n": float("nan")}]
)
def test_what_is_no_record_is_refused(file: Path, record: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json says what it dislikes in its own words
        Journal(file).append([{"kind": "a", "n": 1}, record])
    assert not file.exists()


def test_another_process_is_seen(file: Path) -> None:
    ours, theirs = Journal(file), Journal(file)
    ours.append([{"kind": "a", "n": 1}])
    assert _said(theirs) == [1]
    theirs.append([{"kind": "a", "n": 2}])
    ours.append([{"kind": "a", "n": 3}])
    assert _said(ours) == _said(theirs) == [1, 2, 3]
    ours.rewrite(lambda record: record if record["n"] != 2 else None)
    assert _said(theirs) == [1, 3]
    theirs.append([{"kind": "a", "n": 4}])
    assert _said(ours) == [1, 3, 4]
    file.unlink()
    assert _said(ours) == _said(theirs) == []


# -- the key --------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_stays(file: Path) -> None:
    key = Journal(file).key()
    assert len(key) == 32
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}, {"kind": "a", "n": 2}])
    assert journal.key() == key
    assert journal.rewrite(lambda record: None) == 2
    assert journal.key() == Journal(file).key() == key
    assert journal.records() == []


def test_every_journal_has_a_key_of_its_own(tmp_path: Path) -> None:
    keys = {Journal(tmp_path / "a").key(), Journal(tmp_path / "b").key(), Journal(None).key(), Journal(None).key()}
    assert len(keys) == 4


def test_a_lost_key_is_replaced_and_said(file: Path) -> None:
    before = Journal(file).key()
    file.write_bytes(b"#" + file.read_bytes() + b'{"kind":"a","n":1}\n')
    journal = Journal(file)
    assert journal.key() != before
    assert _said(journal) == [1]
    assert len(journal.warnings()) == 1


# -- crashes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_torn_last_line_does_not_count_and_is_mended_by_the_next(file: Path, cut: int) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}, {"kind": "a", "n": 2}])
    whole = file.read_bytes()
    os.truncate(file, len(whole) - 1 - cut)
    for reader in (journal, Journal(file)):
        assert _said(reader) == [1]
        assert reader.warnings() == []
    Journal(file).append([{"kind": "a", "n": 3}])
    assert _said(journal) == _said(Journal(file)) == [1, 3]
    assert all(json.loads(line) for line in file.read_text().splitlines())
    assert journal.warnings() == []


def test_zeros_behind_the_last_record_are_mended(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    with file.open("ab") as out:
        out.write(b"\0" * 4096)
    assert _said(journal) == [1]
    journal.append([{"kind": "a", "n": 2}])
    assert _said(journal) == [1, 2]
    assert b"\0" not in file.read_bytes()


def test_a_last_line_without_its_line_feed_counts_if_it_is_whole(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    os.truncate(file, file.stat().st_size - 1)
    assert _said(journal) == _said(Journal(file)) == [1]
    journal.append([{"kind": "a", "n": 2}])
    assert _said(journal) == _said(Journal(file)) == [1, 2]


def test_a_first_write_that_was_cut_short_leaves_a_usable_file(file: Path) -> None:
    file.write_bytes(b'{"kind":"key","ke')
    journal = Journal(file)
    assert journal.records() == []
    journal.append([{"kind": "a", "n": 1}])
    assert _said(Journal(file)) == [1]
    assert journal.warnings() == []


@examples(60)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 400), st.booleans())
def test_cut_anywhere_it_holds_a_beginning_of_what_was_written(numbers: list[int], cut: int, same: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "j"
        journal = Journal(file)
        for number in numbers:
            journal.append([{"kind": "a", "n": number}])
        os.truncate(file, max(0, file.stat().st_size - cut))
        if not same:
            journal = Journal(file)
        kept = _said(journal)
        assert kept == numbers[: len(kept)]
        journal.append([{"kind": "a", "n": 99}])
        assert _said(journal) == _said(Journal(file)) == [*kept, 99]
        assert journal.warnings() == []


def test_damaged_lines_are_named_and_the_rest_counts(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": n} for n in range(1, 6)])
    lines = file.read_bytes().splitlines()
    lines[2], lines[3], lines[4] = b"\xff\xfe", b'["kind"]', b'{"n": 4}'
    file.write_bytes(b"\n".join(lines) + b"\n\n")
    reader = Journal(file)
    assert _said(reader) == [1, 5]
    assert [f"line {number}" in said for number, said in zip((3, 4, 5), reader.warnings(), strict=True)] == [True] * 3
    assert str(file) in reader.warnings()[0]
    assert caplog.text.count("does not count") == 3
    reader.append([{"kind": "a", "n": 6}])
    assert _said(reader) == [1, 5, 6]
    assert reader.rewrite(lambda record: record if record["n"] > 1 else None) == 1
    assert _said(Journal(file)) == [5, 6]
    assert len(Journal(file).warnings()) == 3, "what cannot be read is not thrown away"


def test_deeply_nested_lines_harm_nobody(file: Path) -> None:
    file.write_bytes(b'{"kind":' + b"[" * 200_000 + b"\n")
    assert Journal(file).records() == []
    assert len(Journal(file).warnings()) == 1


def test_what_cannot_be_read_is_said_and_what_was_read_stays(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    assert _said(journal) == [1]
    file.rename(file.with_name("aside"))
    file.mkdir()
    assert _said(journal) == [1]
    assert _said(Journal(file)) == []
    for one in (journal, Journal(file)):
        assert len(one.warnings()) == 1
        with pytest.raises(JournalError, match="folder"):
            one.check()
        with pytest.raises(JournalError):
            one.rewrite(lambda record: record)
        with pytest.raises(WorkspaceError):
            one.append([{"kind": "a", "n": 2}])
    file.rmdir()
    file.with_name("aside").rename(file)
    journal.check()
    journal.append([{"kind": "a", "n": 2}])
    assert _said(journal) == [1, 2]


def test_a_full_disk_leaves_the_journal_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    before = file.read_bytes()
    write = os.write

    def short(handle: int, data: bytes) -> int:
        return write(handle, data[:7])

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(WorkspaceError, match="no space"):
        journal.append([{"kind": "a", "n": 2}])
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert _said(journal) == [1]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    target = tmp_path / "elsewhere"
    target.write_text('{"kind":"a","n":1}\n')
    link = tmp_path / "here" / "journal"
    link.symlink_to(target)
    assert Journal(link).records() == []
    with pytest.raises(WorkspaceError):
        Journal(link).append([{"kind": "a", "n": 2}])
    assert target.read_text() == '{"kind":"a","n":1}\n'


def test_a_writer_that_another_one_keeps_waiting_gives_up(file: Path) -> None:
    journal = Journal(file)
    with workfiles.locked(file), pytest.raises(WorkspaceError, match="another process"):
        journal.append([{"kind": "a", "n": 1}], patience=0.01)
    assert journal.records() == []


# -- versions -------------------------------------------------------------------------------------


def test_the_version_follows_the_content(file: Path, tmp_path: Path) -> None:
    journal = Journal(file)
    seen = [journal.version]
    journal.append([{"kind": "a", "n": 1}])
    seen.append(journal.version)
    a = journal.version_of("a", "c")
    journal.append([{"kind": "b", "n": 1}])
    seen.append(journal.version)
    assert journal.version_of("a", "c") == a
    assert journal.version_of("b") != journal.version_of("c")
    journal.rewrite(lambda record: record)
    assert journal.version == seen[-1], "rewriting nothing changes nothing"
    journal.rewrite(lambda record: {**record, "n": 2})
    seen.append(journal.version)
    assert len(set(seen)) == 4
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    assert Journal(copy).version == journal.version
    assert Journal(copy).version_of("a", "b") == journal.version_of("a", "b")


def test_a_rewrite_that_fails_leaves_everything(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}, {"kind": "a", "n": 2}])
    before = file.read_bytes()
    with pytest.raises(KeyError):
        journal.rewrite(lambda record: {"kind": record["none"]})
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_remaking_may_put_several_records_into_one(file: Path) -> None:
    journal = Journal(file)
    journal.append([{"kind": "a", "n": n} for n in (1, 2, 3)])
    assert journal.remake(lambda records: [{"kind": "a", "n": sum(record["n"] for record in records)}]) == 2
    assert _said(journal) == _said(Journal(file)) == [6]


def test_what_is_added_may_depend_on_what_is_there(file: Path) -> None:
    for journal in (Journal(file), Journal(None)):
        journal.extend(list)
        assert journal.size == 0
        for _ in range(3):
            journal.extend(lambda journal=journal: [{"kind": "a", "n": len(journal.records())}])
        assert _said(journal) == [0, 1, 2]


def test_what_a_killed_writer_left_is_cleared_away(file: Path) -> None:
    left = file.with_name(f".{file.name}.123-abc.tmp")
    journal = Journal(file)
    journal.append([{"kind": "a", "n": 1}])
    left.write_text("half of it")
    journal.rewrite(lambda record: {**record, "n": 2})
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_without_a_file_it_is_all_the_same() -> None:
    journal = Journal(None)
    empty = journal.version
    journal.append([{"kind": "a", "n": 1}, {"kind": "b", "n": 2}])
    assert _said(journal) == [1, 2]
    assert journal.version != empty
    assert journal.rewrite(lambda record: record if record["kind"] == "a" else None) == 1
    assert _said(journal, "a") == _said(journal) == [1]
    assert journal.key() == journal.key()
    journal.check()
    assert journal.warnings() == []


# -- several at once ------------------------------------------------------------------------------

_WRITER = """
import sys
from pathlib import Path
from openclaw_memory.journal import Journal

journal = Journal(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    journal.append([{"kind": "a", "n": [int(sys.argv[2]), n]}, {"kind": "b", "n": [int(sys.argv[2]), n]}])
    if n % 10 == 9:
        journal.rewrite(lambda record: None if record["kind"] == "b" else record)
    print(n, flush=True)
"""


def _writer(file: Path, name: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(file), str(name), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_many_processes_append_and_rewrite_at_once(file: Path) -> None:
    writers = [_writer(file, name, 30) for name in range(4)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    journal = Journal(file)
    said = _said(journal, "a")
    assert sorted(said) == [[name, n] for name in range(4) for n in range(30)]
    for name in range(4):
        assert [n for by, n in said if by == name] == list(range(30))
    assert sum(b'"kind":"key"' in line for line in file.read_bytes().splitlines()) == 1
    assert journal.warnings() == []
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("lines", [1, 9, 10, 25])
def test_killed_at_any_time_nothing_acknowledged_is_lost(file: Path, lines: int) -> None:
    writer = _writer(file, 0, 1000)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(lines)]
    writer.kill()
    told += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()
    journal = Journal(file)
    said = [n for _, n in _said(journal, "a")]
    assert said[: len(told)] == told
    assert said == list(range(len(said)))
    journal.append([{"kind": "a", "n": "after"}])
    assert _said(Journal(file), "a")[-1] == "after"
    assert journal.warnings() == []


def test_threads_share_a_journal(file: Path) -> None:
    journal = Journal(file)

    def work(name: int) -> None:
        for n in range(20):
            journal.append([{"kind": "a", "n": [name, n]}])
            assert [name, n] in _said(journal)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_said(journal)) == [[name, n] for name in range(4) for n in range(20)]
