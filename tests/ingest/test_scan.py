"""What a scan of a workspace finds, refuses and reports."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from indexing import without_root

from openclaw_memory.config.settings import ExtraPath, IngestSettings
from openclaw_memory.errors import SettingsError, WorkspaceError
from openclaw_memory.ingest.notes import lower_trust
from openclaw_memory.ingest.scan import Unreadable, read_note, scan
from openclaw_memory.model import Grain, Kind, Origin, ScanResult, SourceFile

DEFAULT = IngestSettings()
LIMIT = 1_000_000


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    return root


def write(path: Path, data: str | bytes = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def settings(*extras: ExtraPath, **changes: Any) -> IngestSettings:
    return replace(DEFAULT, extra_paths=list(extras), **changes)


def paths(result: ScanResult) -> list[str]:
    return [file.path for file in result.files]


def reasons(result: ScanResult) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in result.skipped}


def test_texts_that_are_no_markdown_are_named(workspace: Path) -> None:
    for name in (
        "memory/notes.txt",
        "memory/papers/Vertrag.DOCX",
        "memory/plan.canvas",
        "memory/state.json",
        "memory/a.png",
        "notes.txt",
    ):
        write(workspace / name)
    write(workspace / "memory/.hidden.txt")
    write(workspace / "memory/quiet.txt")
    write(workspace / ".memoryignore", "quiet.txt\n")
    found = scan(workspace, DEFAULT)
    assert paths(found) == []
    assert list(reasons(found)) == ["memory/notes.txt", "memory/papers/Vertrag.DOCX", "memory/plan.canvas"]
    assert all("only Markdown" in reason for reason in reasons(found).values())


# -- what is found ----------------------------------------------------------------------------------


def test_memory_files_are_found_sorted_and_classified(workspace: Path) -> None:
    for name in (
        "USER.md",
        "MEMORY.md",
        "memory/2026-02-13.md",
        "memory/2026-02-13-slug.md",
        "memory/projects/search.md",
        "memory/projects/2026-01-02.MD",
        "memory/2026-99-99.md",
        "memory/consolidated/weekly/2026-W07.md",
        "memory/consolidated/daily/2026-02-13.md",
        "memory/consolidated/README.md",
        "memory/consolidated/daily/notes.md",
        "memory/consolidated/daily/2026-02-13-slug.md",
        "memory/consolidated/monthly/2026-W07.md",
        "memory/consolidated/weekly/old/2026-W07.md",
    ):
        write(workspace / name)
    for other in ("README.md", "memory/picture.png", "memory/notes.txt", "notes/a.md"):
        write(workspace / other)
    found = {file.path: (file.kind, file.grain, file.origin) for file in scan(workspace, DEFAULT).files}
    agent = Origin.AGENT
    assert found == {
        "MEMORY.md": (Kind.CURATED, Grain.WORKING, Origin.OWNER),
        "USER.md": (Kind.CURATED, Grain.WORKING, Origin.OWNER),
        "memory/2026-02-13-slug.md": (Kind.DAILY, Grain.WORKING, agent),
        "memory/2026-02-13.md": (Kind.DAILY, Grain.WORKING, agent),
        "memory/2026-99-99.md": (Kind.NOTE, Grain.WORKING, agent),
        "memory/consolidated/README.md": (Kind.NOTE, Grain.WORKING, agent),
        "memory/consolidated/daily/2026-02-13.md": (Kind.DAILY, Grain.DAILY, agent),
        "memory/consolidated/weekly/2026-W07.md": (Kind.NOTE, Grain.WEEKLY, agent),
        # What is not named as a summary is none.
        "memory/consolidated/daily/notes.md": (Kind.NOTE, Grain.WORKING, agent),
        "memory/consolidated/daily/2026-02-13-slug.md": (Kind.DAILY, Grain.WORKING, agent),
        "memory/consolidated/monthly/2026-W07.md": (Kind.NOTE, Grain.WORKING, agent),
        "memory/consolidated/weekly/old/2026-W07.md": (Kind.NOTE, Grain.WORKING, agent),
        "memory/projects/2026-01-02.MD": (Kind.DAILY, Grain.WORKING, agent),
        "memory/projects/search.md": (Kind.NOTE, Grain.WORKING, agent),
    }
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("files", "links", "ignored", "expected"),
    [
        (".draft.md .obsidian/a.md kept.md", {}, "", "kept"),
        ("a.md b.tmp.md keep.tmp.md private/c.md", {}, "# drafts\n*.tmp.md\n!keep.tmp.md\n/memory/private/\n", "a keep.tmp"),
        ("private/b.md ../docs/s.md", {"d.md": "private/b.md", "e": "private", "f": "../docs"}, "private/\n/docs/s.md\n", ""),
        ("z/real.md", {"a.md": "z/real.md", "b": "z"}, "", "z/real"),
        ("../../workspace-old/a.md", {"a.md": "../../workspace-old/a.md"}, "", ""),
        ("sub/a.md", {"sub/up": "..", "sub/here": ".", "root": "..", "self.md": "self.md"}, "", "sub/a"),
    ],
    ids=["hidden", "gitignore", "links to ignored files", "the own name first", "a neighbour's name", "loops of links"],
)  # fmt: skip
def test_files_are_found_by_their_own_names(
    workspace: Path, files: str, links: dict[str, str], ignored: str, expected: str
) -> None:
    for name in files.split():
        write(workspace / "memory" / name)
    for name, target in links.items():
        (workspace / "memory" / name).symlink_to(target)
    write(workspace / ".memoryignore", ignored)
    result = scan(workspace, DEFAULT)
    assert paths(result) == [f"memory/{stem}.md" for stem in expected.split()]
    assert links or result.skipped == ()


def test_a_file_carries_its_place_size_and_time(workspace: Path) -> None:
    file = write(workspace / "memory" / "a.md", "four")
    os.utime(file, ns=(1, 1_700_000_000_123_456_789))
    (found,) = scan(workspace, DEFAULT).files
    assert (found.absolute, found.size) == (str(file.resolve()), 4)
    assert found.mtime_ns == file.stat().st_mtime_ns


def test_a_workspace_needs_no_folder_for_memory(tmp_path: Path) -> None:
    assert scan(tmp_path, DEFAULT) == ScanResult((), ())
    write(tmp_path / "memory.md")
    (file,) = scan(tmp_path, DEFAULT).files
    assert (file.path, file.kind, file.origin) == ("memory.md", Kind.CURATED, Origin.OWNER)


def test_what_is_no_regular_file_is_left_out(workspace: Path) -> None:
    os.mkfifo(workspace / "memory" / "pipe.md")
    (workspace / "MEMORY.md").mkdir()
    write(workspace / "memory" / "folder.md" / "inner.md")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(workspace / "memory")  # the name of a socket has room for a hundred bytes only
        server.bind("socket.md")
        assert paths(scan(workspace, DEFAULT)) == ["memory/folder.md/inner.md"]


@pytest.fixture(autouse=True)
def _stay_here() -> Iterator[None]:
    before = Path.cwd()
    yield
    os.chdir(before)


# -- the ignore file --------------------------------------------------------------------------------


def test_the_ignore_file_reaches_curated_files_and_extra_paths(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "USER.md")
    write(tmp_path / "notes" / "drafts" / "a.md")
    write(tmp_path / "notes" / "b.md")
    write(workspace / ".memoryignore", "/USER.md\n/@notes/drafts/\n")
    extra = ExtraPath(str(tmp_path / "notes"), "notes")
    assert paths(scan(workspace, settings(extra))) == ["@notes/b.md"]


def test_a_broken_ignore_file_stops_the_scan(workspace: Path) -> None:
    write(workspace / ".memoryignore", "fine\n!\n")
    with pytest.raises(WorkspaceError, match=r"\.memoryignore, line 2"):
        scan(workspace, DEFAULT)
    write(workspace / ".memoryignore", b"\xff\xfe")
    with pytest.raises(WorkspaceError, match="UTF-16"):
        scan(workspace, DEFAULT)


# -- extra paths ------------------------------------------------------------------------------------


def test_extra_folders_and_files_are_shown_by_their_name(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path / "vault" / "sub" / "2026-01-01.md")
    write(tmp_path / "one" / "log.md")
    result = scan(
        workspace,
        settings(
            ExtraPath(str(tmp_path / "vault"), "vault"),
            ExtraPath("../one/log.md", "log", "owner"),
        ),
    )
    assert [(file.path, file.kind, file.grain, file.origin) for file in result.files] == [
        ("@log/log.md", Kind.NOTE, Grain.WORKING, Origin.OWNER),
        ("@vault/sub/2026-01-01.md", Kind.NOTE, Grain.WORKING, Origin.UNTRUSTED),
    ]


def test_a_missing_extra_path_is_reported_and_its_index_kept(workspace: Path, tmp_path: Path) -> None:
    result = scan(workspace, settings(ExtraPath(str(tmp_path / "gone"), "gone")))
    assert result.unreadable == ("@gone/",)
    assert "ingest.extra_paths" in reasons(result)["@gone/"]


@pytest.mark.parametrize("name", ["a/b", "a\\b", "", " ", "..", ".", "@x", "a\nb"])
def test_a_name_that_cannot_be_shown_is_refused(workspace: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"ingest\.extra_paths"):
        scan(workspace, settings(ExtraPath("somewhere", name)))


def test_two_extra_paths_need_two_names(workspace: Path) -> None:
    with pytest.raises(SettingsError, match="two entries"):
        scan(workspace, settings(ExtraPath("a", "notes"), ExtraPath("b", "Notes")))


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_an_extra_path_must_be_a_path(workspace: Path, path: str) -> None:
    with pytest.raises(SettingsError, match="no path"):
        scan(workspace, settings(ExtraPath(path, "notes")))


def test_a_root_inside_another_is_listed_once(workspace: Path) -> None:
    write(workspace / "memory" / "sub" / "a.md")
    result = scan(workspace, settings(ExtraPath(str(workspace), "all"), ExtraPath("memory/sub", "sub")))
    assert paths(result) == ["memory/sub/a.md"]


# -- links ------------------------------------------------------------------------------------------


def test_links_inside_the_workspace_are_followed_to_their_files(workspace: Path) -> None:
    target = write(workspace / "docs" / "guide.md")
    (workspace / "memory" / "guide.md").symlink_to("../docs/guide.md")
    (workspace / "memory" / "more").symlink_to("../docs")
    found = scan(workspace, DEFAULT).files
    assert [(file.path, file.absolute) for file in found] == [("memory/guide.md", str(target.resolve()))]


def test_links_out_of_their_root_are_refused_and_reported(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.md")
    write(tmp_path / "vault" / "fine.md")
    (workspace / "MEMORY.md").symlink_to(tmp_path / "outside" / "secret.md")
    (workspace / "memory" / "secret.md").symlink_to("../../outside/secret.md")
    (workspace / "memory" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "vault" / "out.md").symlink_to("../outside/secret.md")
    result = scan(workspace, settings(ExtraPath(str(tmp_path / "vault"), "vault")))
    assert paths(result) == ["@vault/fine.md"]
    assert sorted(reasons(result)) == ["@vault/out.md", "MEMORY.md", "memory/folder", "memory/secret.md"]
    assert all("ingest.extra_paths" in reason for reason in reasons(result).values())
    assert result.unreadable == ()


def test_the_workspace_itself_may_be_a_link(workspace: Path, tmp_path: Path) -> None:
    write(workspace / "memory" / "a.md")
    (tmp_path / "door").symlink_to(workspace)
    assert paths(scan(tmp_path / "door", DEFAULT)) == ["memory/a.md"]


# -- what cannot be read ----------------------------------------------------------------------------


def test_a_link_to_nothing_keeps_the_index_below_it(workspace: Path) -> None:
    (workspace / "memory" / "gone.md").symlink_to("nowhere.md")
    (workspace / "memory" / "disk").symlink_to("nowhere")
    result = scan(workspace, DEFAULT)
    assert result.unreadable == ("memory/disk/", "memory/gone.md")
    assert all("link to nothing" in reason for reason in reasons(result).values())


def test_a_folder_without_permission_keeps_the_index_below_it() -> None:
    # pytest's own folders are closed to others, nobody included.
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name)
        workspace.chmod(0o755)
        closed = workspace / "memory" / "closed"
        write(closed / "a.md")
        closed.chmod(0)
        try:
            with without_root():
                result = scan(workspace, DEFAULT)
        finally:
            closed.chmod(0o700)
    assert result.unreadable == ("memory/closed/",)
    assert "permission denied" in reasons(result)["memory/closed/"]


def test_a_large_file_is_reported_with_sizes_and_the_setting(workspace: Path) -> None:
    write(workspace / "memory" / "a.md", "x" * 2_500_000)
    write(workspace / "memory" / "b.md", "x" * 1_000_000)
    result = scan(workspace, settings(max_file_mb=1.0))
    assert paths(result) == ["memory/b.md"]
    assert reasons(result) == {"memory/a.md": "2.5 MB is more than ingest.max_file_mb allows (1 MB)"}


def test_names_that_are_not_utf8_are_reported(workspace: Path) -> None:
    memory = os.fsencode(workspace / "memory")
    try:
        with open(memory + b"/caf\xe9.md", "wb"):
            os.mkdir(memory + b"/d\xff")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    write(workspace / "memory" / "café.md")
    result = scan(workspace, DEFAULT)
    assert paths(result) == ["memory/café.md"]
    assert sorted(reasons(result)) == ["memory/caf\\xe9.md", "memory/d\\xff"]
    assert all("UTF-8" in reason for reason in reasons(result).values())


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_workspace_that_is_no_folder_names_the_next_step(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "place"
    if kind == "file":
        target.write_text("x")
    with pytest.raises(WorkspaceError, match="--workspace"):
        scan(target, DEFAULT)


# -- reading ----------------------------------------------------------------------------------------


def one_file(workspace: Path, data: str | bytes) -> SourceFile:
    write(workspace / "memory" / "a.md", data)
    (found,) = scan(workspace, DEFAULT).files
    return found


def reason(file: SourceFile, limit: int = LIMIT) -> str:
    with pytest.raises(Unreadable) as caught:
        read_note(file, limit)
    return caught.value.reason


def test_text_is_read_as_it_is_without_the_byte_order_mark(workspace: Path) -> None:
    assert read_note(one_file(workspace, "\ufeffé\r\nb\u2028\n"), LIMIT)[0] == "é\r\nb\u2028\n"


def test_binary_content_is_refused_with_its_line(workspace: Path) -> None:
    assert "NUL byte in line 3" in reason(one_file(workspace, b"a\r\nb\rc\0"))
    assert "UTF-16" in reason(one_file(workspace, "text".encode("utf-16")))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"one\r\ntwo\ncaf\xe9 three\n", "one\r\ntwo\ncafé three\n"),
        ("Übung: “Grüße”\n".encode("cp1252"), "Übung: “Grüße”\n"),
        ("Übung – 東京\n".encode() + b"caf\xe9", "Übung – 東京\ncafé"),  # what is UTF-8 is read as that
        ("😀".encode()[:3] + b"\n\x81", "ðŸ˜\n\ufffd"),
        (b"\xef\xbb\xbfa\xff\n", "aÿ\n"),
    ],
)
def test_what_is_not_utf8_is_read_as_windows_has_it_and_that_is_said(workspace: Path, data: bytes, text: str) -> None:
    read, remark = read_note(one_file(workspace, data), LIMIT)
    assert read == text and read.encode()
    assert str(remark).startswith("not valid UTF-8 (line ") and "; save it as UTF-8" in str(remark)


def test_a_file_that_grew_since_the_scan_is_refused(workspace: Path) -> None:
    file = one_file(workspace, "x" * 10)
    assert read_note(file, 10)[0] == "x" * 10
    write(Path(file.absolute), "x" * 11)
    assert "ingest.max_file_mb" in reason(file, 10)


def test_a_vanished_file_is_refused(workspace: Path) -> None:
    file = one_file(workspace, "x")
    Path(file.absolute).unlink()
    assert "vanished" in reason(file)


def test_a_file_turned_into_something_else_is_refused(workspace: Path) -> None:
    file = one_file(workspace, "x")
    Path(file.absolute).unlink()
    os.mkfifo(Path(file.absolute))
    assert "regular" in reason(file)
    Path(file.absolute).unlink()
    Path(file.absolute).mkdir()
    assert reason(file)


def test_a_link_in_place_of_the_file_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    file = one_file(workspace, "x")
    write(tmp_path / "secret.md", "secret")
    Path(file.absolute).unlink()
    Path(file.absolute).symlink_to(tmp_path / "secret.md")
    assert "link" in reason(file)


def test_a_link_in_place_of_a_folder_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    file = one_file(workspace, "x")
    write(tmp_path / "elsewhere" / "a.md", "secret")
    (workspace / "memory").rename(workspace / "was")
    (workspace / "memory").symlink_to(tmp_path / "elsewhere")
    assert "link" in reason(file)


# -- trust ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "stated", "expected"),
    [
        (Origin.OWNER, "untrusted", Origin.UNTRUSTED),
        (Origin.OWNER, " Agent ", Origin.AGENT),
        (Origin.AGENT, "owner", Origin.AGENT),
        (Origin.UNTRUSTED, "agent", Origin.UNTRUSTED),
        (Origin.UNTRUSTED, "system", Origin.SYSTEM),
        (Origin.AGENT, "Paris", Origin.AGENT),
        (Origin.AGENT, None, Origin.AGENT),
        (Origin.AGENT, ["untrusted"], Origin.UNTRUSTED),
        (Origin.AGENT, {"mail": "Untrusted"}, Origin.UNTRUSTED),
        (Origin.AGENT, "un-trusted (mail)", Origin.UNTRUSTED),
        (Origin.AGENT, "\u200buntrusted", Origin.UNTRUSTED),
    ],
)
def test_front_matter_lowers_trust_and_never_raises_it(origin: Origin, stated: object, expected: Origin) -> None:
    for key in ("origin", "Origin", " ORIGIN ", "ori\u200dgin"):
        assert lower_trust(origin, {key: stated}) is expected
    assert lower_trust(origin, {"origin": "agent", "Origin": stated}) is max(
        expected, lower_trust(origin, {"origin": "agent"}), key=list(Origin).index
    )
    assert lower_trust(origin, {}) is origin


def test_copies_are_left_out_and_named_and_memory_is_read_in_any_case(tmp_path: Path) -> None:
    names = {
        "Memory/2026-02-03.md": "a\n", "Memory/2026-02-03 (1).md": "a\n", "Memory/2026-02-03 2.md": "b\n",
        "Memory/2026-02-03-b.md": "a\n", "Memory/2026-02-03.sync-conflict-20260204-120000-ABC.md": "aa\n",
        "Memory/2026-02-031.md": "a\n", "Memory/x/2026-02-03 (1).md": "a\n",
    }  # fmt: skip
    for name, text in names.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = scan(tmp_path, IngestSettings())
    left_out = {"Memory/2026-02-03 (1).md"}
    assert {skip.path: skip.reason for skip in found.skipped} == dict.fromkeys(
        left_out, "a copy of Memory/2026-02-03.md; delete it"
    )
    assert {file.path for file in found.files} == names.keys() - left_out
    daily = {file.path for file in found.files if file.kind is Kind.DAILY}
    assert daily == {
        "Memory/2026-02-03.md",
        "Memory/2026-02-03-b.md",
        "Memory/2026-02-03 2.md",
        "Memory/x/2026-02-03 (1).md",
    }
