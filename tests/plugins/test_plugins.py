"""Plugins: entry points and objects, on and off, in order, and never able to break a call."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory
from tables import table

from openclaw_memory import SearchHit, SearchRequest, Settings, hookimpl
from openclaw_memory.cli.checks import examine
from openclaw_memory.model import SearchResult, Section, Unit
from openclaw_memory.plugins.manager import Plugins


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Install a module as a distribution with an entry point, as pip would."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))

    def install(name: str, source: str) -> None:
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{name}.py").write_text("from openclaw_memory import hookimpl\n" + source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[openclaw_memory]\n{name} = {name}\n")
        monkeypatch.delitem(sys.modules, name, raising=False)

    return install


SHOUT = "@hookimpl\ndef openclaw_memory_prepare_lines(path, lines):\n    return [line.upper() for line in lines]\n"


def test_an_installed_plugin_is_found_and_called(install: Any, notes: Notes) -> None:
    install("shout_plugin", SHOUT)
    notes.write("MEMORY.md", "- a lamp\n")
    with ingested(notes) as memory:
        assert memory.search("lamp").results[0].snippet == "- A LAMP"
        assert memory.status().plugins == ("redact", "shout_plugin")


def test_plugins_are_left_out_by_name_built_in_ones_too(install: Any, notes: Notes) -> None:
    install("shout_plugin", SHOUT)
    key = "ghp_" + "aB3dE6gH9" * 4
    notes.write("MEMORY.md", f"- a lamp {key}\n")
    with open_memory(notes, plugins__disabled=["shout_plugin", "redact"]) as memory:
        assert memory.ingest().added == 1
        assert memory.search("lamp").results[0].snippet == f"- a lamp {key}"
        assert memory.status().plugins == ()
        assert all(check.ok for check in examine(memory) if check.name == "plugins")


def test_a_disabled_plugin_that_does_not_exist_is_said_by_doctor(notes: Notes) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    with open_memory(notes, plugins__disabled=["redcat"]) as memory:
        (check,) = [check for check in examine(memory) if check.name == "plugins"]
        assert not check.ok and "redcat" in check.detail


@pytest.mark.parametrize(
    ("source", "reason"), table("plugins.tsv", "a plugin that cannot be loaded is named and left out")
)
def test_a_plugin_that_cannot_be_loaded_is_named_and_left_out(
    install: Any, notes: Notes, caplog: pytest.LogCaptureFixture, source: str, reason: str
) -> None:
    install("wrong_plugin", SHOUT + source)
    notes.write("MEMORY.md", "- a lamp\n")
    with caplog.at_level(logging.WARNING, "openclaw_memory.plugins.manager"), open_memory(notes) as memory:
        memory.ingest()
        assert memory.search("lamp").results[0].snippet == "- a lamp"  # no half of it either
        status = memory.status()
        assert status.plugins == ("redact",)
        assert reason in status.plugin_failures["wrong_plugin"]
        assert "wrong_plugin" in caplog.text
        (check,) = [check for check in examine(memory) if check.name == "plugin wrong_plugin"]
        assert check.fix == "mend it, or list it in plugins.disabled: [wrong_plugin]"


def test_a_hook_of_a_later_version_may_be_marked_optional(notes: Notes) -> None:
    class Later:
        @hookimpl(optionalhook=True)
        def openclaw_memory_dream(self, memory: Any) -> None:
            """Not known yet."""

    assert Plugins(extra=[Later()], entry_points=False).failed == {}


class Answer:
    def __init__(self, name: str, log: list[str], result: Any = None) -> None:
        self._name, self._log, self._result = name, log, result

    @hookimpl
    def openclaw_memory_search(self, request: SearchRequest) -> Any:
        self._log.append(self._name)
        return self._result


def test_the_first_answer_wins_and_the_built_in_comes_last(notes: Notes, caplog: pytest.LogCaptureFixture) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    log: list[str] = []
    mine = SearchResult((), "mine", None, "hybrid")
    plugins = [Answer("first", log), Answer("second", log, mine), Answer("third", log, ["a lamp"])]
    with open_memory(notes, plugins=plugins) as memory:
        assert memory.search("lamp") is not mine and memory.search("lamp").provider == "mine"
    assert log[:2] == ["third", "second"]
    with open_memory(notes, plugins=plugins[::2]) as memory:
        assert memory.search("lamp").results[0].snippet == "- a lamp"
        assert "returned list, not SearchResult" in caplog.text


class Rerank:
    def __init__(self, change: Callable[[Sequence[SearchHit]], Any]) -> None:
        self._change = change

    @hookimpl
    def openclaw_memory_rerank(self, hits: Sequence[SearchHit]) -> Any:
        return self._change(hits)


def test_hits_can_be_reordered_dropped_and_changed(notes: Notes) -> None:
    for n in range(4):
        notes.write(f"memory/{n}.md", f"- lamp {n}\n")

    def order(*changes: Callable[[Sequence[SearchHit]], Any]) -> list[str]:
        with open_memory(notes, plugins=[Rerank(change) for change in changes]) as memory:
            return [hit.snippet for hit in memory.search("lamp").results]

    plain = order()
    assert order(lambda hits: None) == plain
    assert order(lambda hits: reversed(hits)) == plain[::-1]
    assert order(lambda hits: (hit for hit in hits if "2" not in hit.snippet)) == [s for s in plain if "2" not in s]
    assert order(lambda hits: [replace(hit, snippet="x") for hit in hits]) == ["x"] * 4
    assert order(lambda hits: hits[:3], lambda hits: hits[1:]) == plain[1:3]
    assert order(lambda hits: ["no hit"]) == plain
    assert order(lambda hits: 3) == plain


def test_a_section_can_be_cut_by_a_plugin(notes: Notes) -> None:
    class Clauses:
        @hookimpl
        def openclaw_memory_chunk(self, path: str, section: Section) -> list[Unit]:
            (unit,) = section.units
            return [Unit(part, unit.start_line, unit.end_line) for part in unit.text.split(", ")]

    notes.write("MEMORY.md", "the lamp is green, the chair is red\n")
    with open_memory(notes, plugins=[Clauses()]) as memory:
        assert memory.ingest().added == 2 and not memory.plugins.failed
        assert [row[0] for row in memory.sql("SELECT text FROM memories ORDER BY text").rows] == [
            "the chair is red",
            "the lamp is green",
        ]


@pytest.mark.parametrize(
    "units",
    [3, ["text"], [Unit("the lamp", 2, 2)], [Unit("the chair", 1, 1)], [Unit("the lamp", 1, 3)]],
)
def test_a_chunker_that_fails_is_left_out_and_said(notes: Notes, units: Any) -> None:
    class Wrong:
        @hookimpl
        def openclaw_memory_chunk(self) -> Any:
            return units

    notes.write("MEMORY.md", "the lamp is green\n")
    with open_memory(notes, plugins=[Wrong()]) as memory:
        assert memory.ingest().added == 1
        assert memory.search("lamp").results[0].snippet == "the lamp is green"
        assert "openclaw_memory_chunk" in memory.status().plugin_failures["Wrong"]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines, ""],
        lambda lines: "ab",
        lambda lines: ["a\nb", *lines[1:]],
        lambda lines: [None, *lines[1:]],
        lambda lines: 2,
    ],
)
def test_lines_that_would_shift_the_numbers_are_refused(notes: Notes, change: Callable[[list[str]], Any]) -> None:
    class Wrong:
        @hookimpl
        def openclaw_memory_prepare_lines(self, lines: list[str]) -> Any:
            return change(lines)

    notes.write("MEMORY.md", "- a lamp\n- a chair\n")
    with open_memory(notes, plugins=[Wrong()]) as memory:
        (skipped,) = memory.ingest().skipped  # what it was to keep out is not known
        assert skipped.path == "MEMORY.md" and "Wrong failed" in skipped.reason
        assert not memory.search("chair").results
        assert "prepare_lines" in memory.status().plugin_failures["Wrong"]


@pytest.mark.parametrize("result", ["text", 3, Unit("x", 7, 7)])
def test_a_unit_of_another_type_or_place_is_refused(notes: Notes, result: Any) -> None:
    class Wrong:
        @hookimpl
        def openclaw_memory_prepare_unit(self, unit: Unit) -> Any:
            return result

    notes.write("MEMORY.md", "- a lamp\n")
    with open_memory(notes, plugins=[Wrong()]) as memory:
        report = memory.ingest()
        assert report.added == 0 and "MEMORY.md: 1 unit left out (line 1): the plugin Wrong failed" in report.warning
        assert not memory.search("lamp").results
        assert "prepare_unit" in memory.status().plugin_failures["Wrong"]


def test_a_unit_that_a_plugin_failed_on_is_left_out_until_it_works(notes: Notes) -> None:
    failing = [True]

    class Filter:
        @hookimpl
        def openclaw_memory_prepare_unit(self, unit: Unit) -> Any:
            if failing and "4711" in unit.text:
                raise TimeoutError("the classifier did not answer")

    notes.write("MEMORY.md", "- my salary is 4711\n- the heron moved\n")
    with open_memory(notes, plugins=[Filter()], ingest__fresh_seconds=0) as memory:
        assert "TimeoutError" in str(memory.ingest().warning)
        for _ in range(2):  # it is looked at again, and nothing is written for that
            generation = memory.status().generation
            assert "4711" not in "".join(hit.snippet for hit in memory.search("salary heron").results)
            assert memory.status().generation == generation
        assert not all(check.ok for check in examine(memory) if check.name in ("freshness", "plugin Filter"))
        failing.clear()
        assert memory.search("salary").results[0].snippet.startswith("- my salary is 4711")
        assert memory.ingest().warning == "embedding.model is none: searching by keywords"


def test_an_embedder_of_a_plugin_is_chosen_by_name(notes: Notes) -> None:
    made: list[Settings] = []

    class Mine:
        @hookimpl
        def openclaw_memory_register_embedders(self, register: Callable[..., None]) -> None:
            register("mine", lambda settings: made.append(settings) or CountingEmbedder("mine"))
            register("broken", lambda settings: 1 / 0)

    notes.write("MEMORY.md", "- a lamp\n")
    with open_memory(notes, plugins=[Mine()], embedding__model="mine") as memory:
        assert memory.ingest().embedded == 1
        assert memory.search("lamp").model == "mine-64"
        assert made == [memory.settings]
    with open_memory(notes, plugins=[Mine()], embedding__model="broken") as memory:
        result = memory.search("lamp")
        assert result.results and "broken" in str(result.fallback)


def test_a_failure_of_a_built_in_is_the_callers_to_hear(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory(notes) as memory:
        asked: list[str] = []

        def fail(request: SearchRequest) -> SearchResult:
            asked.append(request.query)
            raise RuntimeError("a defect")

        monkeypatch.setattr(memory, "search_index", fail)
        with pytest.raises(RuntimeError, match="a defect"):
            memory.search("lamp")
        assert asked == ["lamp"]  # and not a second time


def test_a_failing_redaction_leaves_the_file_out(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    from openclaw_memory.plugins import redact

    def broken(lines: list[str]) -> list[str]:
        raise RuntimeError("no rules")

    notes.write("MEMORY.md", "- a note with a secret\n")
    monkeypatch.setattr(redact, "redact_lines", broken)
    with open_memory(notes) as memory:
        report = memory.ingest()
    assert report.chunks == 0
    assert [skipped.path for skipped in report.skipped] == ["MEMORY.md"]
    assert "could not be redacted (no rules)" in report.skipped[0].reason


def test_what_a_plugin_drops_is_in_no_thread_and_in_no_context(notes: Notes) -> None:
    class Discreet:
        @hookimpl
        def openclaw_memory_rerank(self, hits: Sequence[SearchHit]) -> Any:
            return [hit for hit in reversed(hits) if "private" not in hit.snippet]

    notes.write("memory/2026-01-01.md", "- met Zorblatt at the harbour about the pump\n")
    notes.write("memory/2026-01-02.md", "- private: Zorblatt is ill, the pump waits\n")
    notes.write("memory/2026-01-03.md", "- Zorblatt mended the pump\n")
    with ingested(notes, plugins=[Discreet()]) as memory:
        results = memory.recall("what about Zorblatt and the pump?").results
        assert [hit.path for hit in results] == ["memory/2026-01-01.md", "memory/2026-01-03.md"]
        memory.concepts.add("Zorblatt")
        given = memory.context("what about Zorblatt and the pump?")
        assert "mended" in given.text and "private" not in given.text
