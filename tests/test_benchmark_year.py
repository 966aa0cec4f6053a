"""The simulated year, cut down to days: its figures are there and make sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import year


def test_simulated_days(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = year.simulate(tmp_path, "keep", 9, 2)
    (mark,) = kept.marks
    assert mark.day == 9 and mark.summaries > 3
    assert 0 < mark.searched < mark.units
    assert mark.summaries_bytes < mark.notes_bytes
    assert 0 < kept.first <= kept.slowest and mark.index_bytes > 0
    year._show([kept], 1.0)
    assert "plan keep: a day takes" in capsys.readouterr().out


def test_the_report_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert year.main(["--days", "2", "--kilobytes", "1", "--plans", "pro", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["entries"] == year.ENTRIES and report["entries_seconds"] > 0
    assert [sentence["plan"] for sentence in report["years"]] == ["pro"]
