"""What the comparison with other memories counts, and what it draws."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from benchmarks.peers.linear_scan import LinearScan
from benchmarks.peers.measures import Question, recall, recall_by_tokens
from benchmarks.peers.peer import CHUNK, Span, chunks
from benchmarks.peers.plots import chart

ASKED = Question("where is the spare key", "2026-01-01", frozenset({("a.md", 2), ("b.md", 1)}))


def test_recall_counts_lines_of_evidence() -> None:
    spans = [Span("a.md", 1, 3), Span("b.md", 4, 9), Span("b.md", 1, 1)]
    assert [recall(ASKED, spans, number) for number in (0, 1, 2, 3)] == [0, 0.5, 0.5, 1]


def test_a_line_is_paid_once_and_reading_ends_with_the_budget() -> None:
    cost = {"a.md": [10.0, 10.0, 10.0], "b.md": [5.0]}
    spans = [Span("a.md", 1, 2), Span("a.md", 2, 3), Span("b.md", 1, 7), Span("gone.md", 1, 2)]
    assert recall_by_tokens(ASKED, spans, cost, (9, 20, 34, 35)) == [0, 0.5, 0.5, 1]


@given(st.lists(st.text("ab \n", max_size=900), max_size=12))
@settings(examples(40))
def test_chunks_leave_no_line_out(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "a.md"
        note.write_text("\n".join(texts), encoding="utf-8")
        lines = note.read_text(encoding="utf-8").splitlines()
        made = chunks(Path(folder))
    held = {number for chunk in made for number in range(chunk.first, chunk.last + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= held
    for piece in made:
        assert piece.text == "\n".join(lines[piece.first - 1 : piece.last])
        assert len(piece.text) <= CHUNK or piece.first == piece.last
    assert [chunk.first for chunk in made] == sorted({chunk.first for chunk in made})


def test_a_linear_scan_ranks_by_words(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("the gate squeaks\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("the spare key is under the pot\n", encoding="utf-8")
    peer = LinearScan("")
    peer.index(tmp_path, tmp_path)
    assert [span.path for span in peer.search(ASKED.text, date(2026, 1, 1), 5)] == ["b.md", "a.md"]


def test_charts_are_well_formed_and_name_every_line() -> None:
    lines = {"one & two": [(30, 0.5), (365, 20.0)], "three": [(30, 3.0), (90, 7.0)]}
    for logarithmic in ("", "y", "xy"):
        drawn = ET.fromstring(chart("Time <ms>", "days", "ms", lines, logarithmic))
        texts = {element.text for element in drawn.iter() if element.text}
        assert {"Time <ms>", "one & two", "three", "30", "90", "365"} <= texts
