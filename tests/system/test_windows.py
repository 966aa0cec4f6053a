"""What Windows does otherwise, as far as it can be tried elsewhere: pure functions, and failures as Windows reports them."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.system import atomic, descent, shell


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r"notepad", ["notepad"]),
        (r'"C:\Program Files\VS Code\code.cmd" --wait', [r"C:\Program Files\VS Code\code.cmd", "--wait"]),
        (r"C:\tools\vim.exe -u D:\Mira's\_vimrc", [r"C:\tools\vim.exe", "-u", r"D:\Mira's\_vimrc"]),
        (r'C:\"Program Files"\x.exe', [r"C:\Program Files\x.exe"]),
        ("", []),
    ],
)
def test_an_editor_is_named_as_windows_writes_paths(line: str, words: list[str]) -> None:
    assert shell.split(line, windows=True) == words


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters='"\\\0', exclude_categories=("Z", "C")), min_size=1)
PATHS = st.lists(PLAIN, min_size=1, max_size=3).map(lambda parts: str(PureWindowsPath("C:/", *parts)))


@given(st.lists(PATHS | PLAIN | st.tuples(PLAIN, PLAIN).map(" ".join), min_size=1, max_size=5), st.booleans())
def test_words_that_are_joined_come_apart_again(words: list[str], windows: bool) -> None:
    assert shell.split(shell.join(words, windows), windows) == words


def refused(number: int) -> PermissionError:
    """What ``os.replace`` raises on Windows while another program has the target open."""
    error = PermissionError(13, "Access is denied")
    error.winerror = number  # type: ignore[attr-defined,unused-ignore]
    return error


@pytest.mark.parametrize("number", [5, 32])
def test_a_file_that_somebody_reads_is_replaced_when_they_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real, calls = os.replace, []

    def replace(made: Path, target: Path, **folder: Any) -> None:
        calls.append(target)
        if len(calls) < 4:
            raise refused(number)
        real(made, target, **folder)

    monkeypatch.setattr(os, "replace", replace)
    atomic.write_text(tmp_path / "facts.yaml", "new\n")
    assert (tmp_path / "facts.yaml").read_bytes() == b"new\n" and len(calls) == 4


def test_a_file_that_may_not_be_replaced_is_left_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, calls = tmp_path / "facts.yaml", []
    target.write_text("old\n", encoding="utf-8")

    def replace(made: Path, to: Path, **folder: Any) -> None:
        calls.append(to)
        raise refused(32) if held else PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(atomic, "_BUSY_SECONDS", 0.1)
    for held in (True, False):
        calls.clear()
        with pytest.raises(Exception, match="make the file and its folder writable"):
            atomic.write_text(target, "new\n")
        assert (len(calls) > 1) == held, "what will not pass is not waited for"
    assert [path.name for path in tmp_path.iterdir()] == ["facts.yaml"] and target.read_bytes() == b"old\n"


def test_what_is_appended_is_written_byte_by_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without O_BINARY Windows would end every line in two characters."""
    binary, real, flags = 0o100000000, os.open, []

    def opened(path: Any, how: int, *rest: Any, **more: Any) -> int:
        flags.append(how)
        return real(path, how & ~binary, *rest, **more)

    monkeypatch.setattr(descent, "FILE_FLAGS", binary)
    monkeypatch.setattr(os, "open", opened)
    atomic.append_text(tmp_path / "facts.yaml", "- a\n")
    assert flags[-1] & binary and (tmp_path / "facts.yaml").read_bytes() == b"- a\n"
