"""The simulated year, cut down to days: its figures are there and make sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import year


def test_a_simulated_fortnight(tmp_path: Path) -> None:
    kept = year.simulate(tmp_path, "keep", 14, 3)
    (mark,) = kept.marks
    assert mark.day == 14 and mark.summaries > 7
    assert 0 < mark.searched < mark.units
    assert mark.summaries_bytes < mark.notes_bytes
    assert 0 < kept.first <= kept.slowest and mark.index_bytes > 0


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--days", "3", "--kilobytes", "1", "--plans", "pro"]
    assert year.main(arguments) == 0
    assert "plan pro: a day takes" in capsys.readouterr().out
    assert year.main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["entries"] == year.ENTRIES and report["entries_seconds"] > 0
    assert [sentence["plan"] for sentence in report["years"]] == ["pro"]
