"""The map: one file for its owner's eyes, in which notes are data, whatever they say."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fakes import CountingEmbedder, Notes, ingested, open_memory
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from summarising import summarised, write

from benchmarks.map_library import ASSETS, FILES
from openclaw_memory.cli.main import cli
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.map import data as columns
from openclaw_memory.map.service import SCRIPTS, embed_json, read_asset, render_page
from openclaw_memory.model import Origin
from openclaw_memory.summarise.inventory import DayNote

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[press](javascript:alert(1))",
    "<!-- <script> --><svg/onload=alert(1)>",
    "a\u2028b\u2029c {{script}} {{data}} \\u003c",
)


def data_of(file: Path | str) -> dict[str, Any]:
    """What a map holds, as its scripts read it."""
    text = Path(file).read_text(encoding="utf-8")
    [held] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    found = json.loads(held)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def told(notes: Notes) -> Notes:
    """Some days about two projects, a correction, and a curated name."""
    for day in range(1, 9):
        notes.write(
            f"memory/2026-03-{day:02}.md",
            f"# Day {day}\n\n- Mirabel tuned the Harbor engine\n- Decision: the Harbor engine keeps its old valve {day}\n"
            f"\n## Garden\n\n- Oswin planted beans beside the Quill shed\n",
        )
    notes.write(
        "MEMORY.md", "# Facts\n\n- Mirabel lives in Ghent\n- password: hunter2-Zebra-77\n- Undated line of Oswin\n"
    )
    notes.write(
        "concepts.yaml",
        "concepts:\n  harbor: {name: Harbor, kind: project, related: [mirabel]}\n  mirabel: {name: Mirabel, kind: person}\n",
    )
    return notes


def test_it_is_one_file_that_only_its_owner_can_read(told: Notes, tmp_path: Path) -> None:
    with open_memory(told, CountingEmbedder()) as memory:
        report = memory.map()
        assert report.file == str(memory.store.sidecar(".map.html"))
        assert report.fallback is None
    file = Path(report.file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_size == report.bytes
    text = file.read_text(encoding="utf-8")
    markup = re.sub(r"<script.*?</script>|<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(?:src|href|action|srcset|on\w+)\s*=", markup)
    assert not re.search(r"@import|url\(", read_asset("style.css"))


def test_its_policy_lets_only_its_own_scripts_run(told: Notes) -> None:
    with open_memory(told) as memory:
        text = Path(memory.map().file).read_text(encoding="utf-8")
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy and "require-trusted-types-for 'script'" in policy
    for tag, directive, held in (("script", "script-src", 2), ("style", "style-src", 1)):
        [allowed] = re.findall(rf"{directive} ([^;]*)", policy)
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(inside) == held
        for one in inside:
            digest = base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed.split()


def test_no_text_of_a_note_is_markup(notes: Notes) -> None:
    notes.write("MEMORY.md", "# Hostile <b>\n\n" + "".join(f"- {text} Zebedee\n" for text in HOSTILE))
    notes.write("memory/2026-03-01.md", "".join(f"- {text} again, Zebedee\n" for text in HOSTILE))
    notes.write(
        "concepts.yaml", 'concepts:\n  evil: {name: "<img src=x onerror=alert(2)> Zebedee", kind: "</script>"}\n'
    )
    with open_memory(notes) as memory:
        memory.facts.add("Zebedee", "says", "</script><script>alert(3)</script>")
        report = memory.map()
    text = Path(report.file).read_text(encoding="utf-8")
    assert "alert" not in re.sub(r'<script type="application/json" id="data">.*?</script>', "", text, flags=re.DOTALL)
    [held] = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert not set("<>&\u2028\u2029") & set(held)
    said = "\n".join(data_of(report.file)["lines"]["text"])
    assert "</script><script>alert(1)</script>" in said and "{{script}}" in said


@examples(60)
@given(
    st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
)
def test_what_is_embedded_is_read_back_and_holds_no_markup(value: Any) -> None:
    from openclaw_memory.system.sanitize import sanitize_values

    text = embed_json({"value": value})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == sanitize_values({"value": value})
    assert render_page({"value": value}).count("</script>") == 3


def test_scripts_make_no_markup_from_text_and_nothing_leaves_the_page() -> None:
    ours = "\n".join(map(read_asset, SCRIPTS))
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", ".html(", "fetch(", "XMLHttp",
                 "WebSocket", "sendBeacon", "window.open", "import(", "href", "location ="):  # fmt: skip
        assert sink not in ours, sink
    assert "</script" not in ours + read_asset("d3.min.js") and "<!--" not in ours + read_asset("d3.min.js")


def test_the_library_is_the_one_that_its_authors_published() -> None:
    for name, (_, wanted) in FILES.items():
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == wanted
    assert "Permission to use, copy, modify" in render_page({})


def test_it_shows_lines_days_concepts_facts_and_numbers(told: Notes) -> None:
    with open_memory(told, CountingEmbedder()) as memory:
        memory.facts.add("Mirabel", "lives in", "Bruges", source="MEMORY.md#L3", since=date(2026, 3, 5))
        report = memory.map()
    data = data_of(report.file)
    lines, net = data["lines"], data["network"]
    at = lines["text"].index("Mirabel lives in Ghent")
    assert (lines["files"][lines["file"][at]], lines["line"][at], lines["day"][at]) == ("MEMORY.md", 3, 0)
    assert len({len(column) for name, column in lines.items() if name not in ("files", "languages")}) == 1
    harbor = net["name"].index("Harbor")
    assert net["kind"][harbor] == "project" and net["curated"][harbor] == 1 and net["units"][harbor] == 16
    assert (net["first"][harbor], net["last"][harbor]) == (date(2026, 3, 1).toordinal(), date(2026, 3, 8).toordinal())
    assert sum(harbor in held for held in lines["concepts"]) == 16
    linked = {tuple(sorted((net["name"][a], net["name"][b]))) for a, b, _ in net["links"]}
    assert ("Harbor", "Mirabel") in linked
    assert all(0 <= value <= 4000 for axis in "xy" for value in net[axis])
    assert data["days"]["day"] == [date(2026, 3, day).toordinal() for day in range(1, 9)]
    assert data["days"]["decided"] == [1] * 8
    lives = {fact["o"]: fact for fact in data["facts"] if fact["p"] == "lives in"}
    assert lives["Bruges"]["now"] == 1 and lives["Bruges"]["concept"] == net["name"].index("Mirabel")
    assert all(net["name"][fact["concept"]] == "Mirabel" for fact in lives.values())
    assert "now" not in lives["Ghent"] and lives["Ghent"]["to"] == date(2026, 3, 5).toordinal()
    assert sum(data["numbers"]["redacted"].values()) == 1
    assert "hunter2" not in Path(report.file).read_text(encoding="utf-8")
    assert all(value >= 0 for axis in "xy" for value in lines[axis])


def test_contradictions_are_shown_with_the_command_that_settles_them(told: Notes) -> None:
    told.write("MEMORY.md", "## Quay Lamp\n- **Version:** 2.1.3\n")
    told.write("memory/lamps.md", "# Lamps\n\n## Quay Lamp\n- **Version:** 2.1.9 (since 2026-03-24)\n")
    with open_memory(told, CountingEmbedder()) as memory:
        (conflict,) = memory.facts.conflicts().conflicts
        (pair,) = data_of(memory.map().file)["conflicts"]
    assert pair["id"] == conflict.id
    assert [(value["s"], value["o"], value["from"]) for value in pair["values"]] == [
        ("Quay Lamp", "2.1.9 (since 2026-03-24)", date(2026, 3, 24).toordinal()), ("Quay Lamp", "2.1.3", 0)
    ]  # fmt: skip


def test_summaries_and_what_they_stand_for_are_on_the_timeline(told: Notes) -> None:
    for day in range(1, 9):  # long enough to be summarised
        write(told, date(2026, 3, day), lines=16)
    with summarised(told) as memory:
        before = data_of(memory.map().file)
        memory.consolidate(now=date(2026, 6, 1))
        data = data_of(memory.map().file)
    assert before["summaries"] == [] and not any(before["lines"]["repeats"])
    assert next(one for one in data["summaries"] if one[0] == 1)[1:4] == [
        date(2026, 3, 1).toordinal(), date(2026, 3, 1).toordinal(), "memory/consolidated/daily/2026-03-01.md",
    ]  # fmt: skip
    assert {one[0] for one in data["summaries"]} >= {1, 2, 3}
    assert sum(data["days"]["archived"]) > 0
    again = [text for text, repeats in zip(data["lines"]["text"], data["lines"]["repeats"], strict=True) if repeats]
    assert again and not any("#L" in text for text in again)
    assert data["totals"]["lines"] == before["totals"]["lines"]


def test_retired_notes_are_named_with_their_day(told: Notes) -> None:
    file = told.root / "memory" / "2026-03-02.md"
    with ingested(told, retention__plan="free") as memory:
        stamp = file.stat()
        memory._retired.add(
            [DayNote("memory/2026-03-02.md", "0", stamp.st_size, stamp.st_mtime_ns, date(2026, 3, 2), Origin.AGENT)]
        )
        data = data_of(memory.map().file)
    assert data["retired"] == [[date(2026, 3, 2).toordinal(), "memory/2026-03-02.md"]]


def test_without_a_model_it_says_so_and_has_the_rest(told: Notes) -> None:
    with open_memory(told) as memory:
        report = memory.map()
    assert report.fallback
    data = data_of(report.file)
    assert data["space"]["why"] == report.fallback
    assert set(data["lines"]["x"]) == {-1} and len(data["lines"]["text"]) == report.lines == report.total_lines


def test_of_many_lines_it_holds_some_and_counts_all(told: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory(told, CountingEmbedder()) as memory:
        whole = memory.map()
        monkeypatch.setattr(columns, "LINES", 9)
        part = memory.map()
    assert (part.lines, part.total_lines) == (9, whole.lines)
    data = data_of(part.file)
    assert "Mirabel lives in Ghent" in data["lines"]["text"]  # a fact rests on it
    assert sum(map(sum, data["days"]["kinds"])) + sum(data["days"]["undated"]) == whole.lines


def test_an_empty_workspace_has_a_map(notes: Notes) -> None:
    with open_memory(notes) as memory:
        report = memory.map()
    assert (report.lines, report.concepts, report.facts) == (0, 0, 0)
    assert data_of(report.file)["network"]["name"] == []


def test_it_replaces_only_a_map(told: Notes, tmp_path: Path) -> None:
    mine, old = tmp_path / "letter.html", tmp_path / "old.html"
    mine.write_text("<!doctype html><p>mine", encoding="utf-8")
    with open_memory(told) as memory:
        with pytest.raises(WorkspaceError, match=re.escape(f"{mine}: is there and is no map")):
            memory.map(mine)
        memory.map(old)
        old.chmod(0o644)
        memory.map(old)
    assert mine.read_text(encoding="utf-8") == "<!doctype html><p>mine"
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_what_is_forgotten_is_on_no_map_beside_the_index(told: Notes) -> None:
    with open_memory(told) as memory:
        file = Path(memory.map().file)
        memory.forget(query="beans Quill", dry_run=True)
        assert file.exists()
        memory.forget(query="beans Quill")
        assert not file.exists()
        assert "Quill" not in Path(memory.map().file).read_text(encoding="utf-8")


def test_no_map_is_left_of_what_is_forgotten_while_it_is_drawn(told: Notes) -> None:
    with open_memory(told) as memory, open_memory(told) as other:

        def meanwhile(_stage: str, done: int, _total: int) -> None:
            if done == 5:  # all is read, and nothing is written yet
                other.forget(query="beans Quill")

        with pytest.raises(WorkspaceError, match="draw it again"):
            memory.map(progress=meanwhile)
        assert not list(told.root.parent.glob("*.html"))
        assert "Quill" not in Path(memory.map().file).read_text(encoding="utf-8")


def test_the_command_says_where_it_is(told: Notes, tmp_path: Path) -> None:
    given = ["--db", str(tmp_path / "i.duckdb"), "--set", "embedding.model=none", "-w", str(told.root)]
    out = tmp_path / "deep" / "map.html"
    done = CliRunner().invoke(cli, [*given, "map", "--json", "--out", str(out)])
    said = json.loads(done.stdout)
    assert (said["file"], said["totalLines"]) == (str(out), 27)
    assert out.stat().st_size == said["bytes"]
    done = CliRunner().invoke(cli, [*given, "map", "--no-open"])
    assert re.match(
        rf"{re.escape(str(tmp_path))}/i\.duckdb\.map\.html: \d+ lines, \d+ concepts, \d+ facts; 0\.4 MB", done.stdout
    )
    assert "without the space of meaning" in done.stderr
