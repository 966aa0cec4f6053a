"""What is surely right is listed, by what else the notes say; all the rest is a question away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.facts.things import WEIGHTS, says, sureness

#: A report, in which a fact is rare.
REPORT = "# Yard\n\n" + "".join(f"The tide gauge showed {cm} centimetres.\n\n" for cm in range(110, 160))
ENTRY = f"{REPORT}## Bilge Sensor Wiring\n- Status: half of it is there\n- File: `yard/wiring.md`\n"


@pytest.fixture
def notes(notes: Notes) -> Notes:
    """Notes among so many others that a name which stands once is no thing's."""
    for day in range(10, 20):
        notes.write(f"memory/2026-02-{day}.md", f"# Day\n\nThe tide was low at {day - 4} o'clock.\n")
    return notes


def test_of_a_few_notes_everything_is_listed(tmp_path: Path) -> None:
    few = Notes(tmp_path)
    few.write("memory/2026-03-01.md", ENTRY)
    with open_memory(few) as memory:
        memory.ingest()
        assert len(listed(memory)) == 2


def listed(memory: Memory, **asked: object) -> list[tuple[str, str, str]]:
    return [(row.subject, row.predicate, row.object) for row in memory.facts.query(**asked).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("elsewhere", "known"),
    [
        ("Ada looked at the Bilge Sensor Wiring today.", True),
        ("- Bilge Sensor Wiring: ask Ada", True),
        # Its words, but not its name; another heading; the same line once more.
        ("The wiring of the lamp is next to the bilge sensor.", False),
        ("## Bilge Sensor Wiring\n\nNothing was done.", False),
        ("- Status: half of it is there", False),
        ("Nothing was done.", False),
    ],
)
def test_a_fact_of_a_report_is_listed_of_what_another_line_names(notes: Notes, elsewhere: str, known: bool) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    notes.write("memory/2026-03-02.md", f"# Day\n\n{elsewhere}\n")
    with open_memory(notes) as memory:
        memory.ingest()
        states = [row for row in listed(memory) if row[0] == "Bilge Sensor Wiring"]
    assert bool(states) is known


@pytest.mark.parametrize(("path", "known"), [("memory/wiring.md", True), ("memory/2026-03-01-wiring.md", False)])
def test_what_has_a_file_of_its_own_has_a_state(notes: Notes, path: str, known: bool) -> None:
    notes.write(path, "# Bilge Sensor Wiring\n\nIt was laid in spring.\n\n- Status: half of it is there\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert bool(listed(memory)) is known


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Насос в трюме", "Вчера проверила насос в трюме."),
        ("Насосная станция", "Ада чинит насосную станцию."),
        ("水泵控制器", "今天检查了水泵控制器的电压。"),
        ("潮汐アプリ", "夕方に潮汐アプリを開いた。"),
        ("Pump Controller", "Three pump controllers are on the shelf."),
    ],
)
def test_a_name_is_found_in_whatever_form(name: str, text: str) -> None:
    assert says(name, text)


def test_a_name_is_its_words_after_one_another() -> None:
    assert not says("Pump Controller", "The controller, which Ada likes, has no pump.")
    assert not says("水泵控制器", "水泵坏了，控制器没有坏。")


def test_a_state_is_listed_once_its_subject_is_named_and_no_longer_when_it_is_not(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    with open_memory(notes) as memory:
        memory.ingest()
        assert listed(memory) == []
        memory.search("wiring")  # now the index is resident
        notes.write("memory/2026-03-02.md", "# Day\n\nThe Bilge Sensor Wiring hums.\n")
        memory.ingest()
        assert len(listed(memory)) == 2
        notes.remove("memory/2026-03-02.md")
        memory.ingest()
        assert listed(memory) == []


def test_what_is_not_listed_is_there_when_it_is_asked_for(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    with open_memory(notes) as memory:
        memory.ingest()
        assert len(listed(memory, all=True)) == 2
        assert len(listed(memory, subject="bilge sensor wiring")) == 2
        assert len(listed(memory, history=True)) == 2
        why = [row.why or "" for row in memory.facts.query(all=True, explain=True).rows]
        assert all("not listed" in one for one in why)
        memory.facts.add("Bilge Sensor Wiring", "status", "done")
        assert ("Bilge Sensor Wiring", "status", "done") in listed(memory)


def test_the_command_shows_all_on_demand(notes: Notes) -> None:
    from openclaw_memory.cli.main import cli

    notes.write("memory/2026-03-01.md", ENTRY)
    for more, count in (((), 0), (("--all",), 2)):
        words = ["--set", "embedding.model=none", "-w", str(notes.root), "--json", "facts", "query", *more]
        result = CliRunner().invoke(cli, words, prog_name="openclaw-memory")
        assert result.exit_code == 0, result.output
        assert len(json.loads(result.stdout)["rows"]) == count


@pytest.mark.parametrize(
    ("heading", "line", "mention"),
    [
        ("Bilge Sensor Wiring", "Status: half of it is there", "Ada looked at the Bilge Sensor Wiring."),
        ("Lenzpumpe Achtern", "Status: läuft wieder", "Ada hat die Lenzpumpe achtern geölt."),
        ("Heron", "状态：暂停", "今天检查了 Heron 的电压。"),
        ("Heron", "Версия: 2.1", "Ада чинит Heron."),
        ("潮汐アプリ", "状態: 停止中", "夕方に潮汐アプリを開いた。"),
    ],
)
def test_what_a_report_says_of_a_thing_is_listed_in_any_language(
    notes: Notes, heading: str, line: str, mention: str
) -> None:
    notes.write("memory/2026-03-01.md", f"{REPORT}## {heading}\n- {line}\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert listed(memory) == []
        assert [row[0] for row in listed(memory, all=True)] == [heading]
        notes.write("memory/2026-03-02.md", f"# Day\n\n{mention}\n")
        notes.write("memory/2026-03-03.md", f"# Day\n\n## {heading}\n- URL: https://example.org/yard\n")
        memory.ingest()
        assert {row[0] for row in listed(memory)} == {heading}


def test_how_something_stood_is_not_listed_once_newer_notes_say_something_else(notes: Notes) -> None:
    for day, state in ((1, "half of it is there"), (2, "all of it is there")):
        notes.write(
            f"memory/2026-03-0{day}.md", f"# Yard\n\n| Component | Status |\n|---|---|\n| Bilge Gauge | {state} |\n"
        )
    with open_memory(notes) as memory:
        memory.ingest()
        assert listed(memory) == [("Bilge Gauge", "status", "all of it is there")]
        assert len(listed(memory, subject="Bilge Gauge")) == 2


def test_a_list_of_facts_is_listed_though_nothing_else_names_its_subjects(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", "# Day\n\n## Heron\n- URL: https://example.org/heron\n- Version: 2.1\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert {row[1] for row in listed(memory)} == {"URL", "version"}


@pytest.mark.parametrize(("path", "known"), [("MEMORY.md", True), ("memory/2026-03-01.md", False)])
def test_what_the_owner_keeps_is_listed_though_nothing_else_names_it(notes: Notes, path: str, known: bool) -> None:
    notes.write(path, ENTRY)
    with open_memory(notes) as memory:
        memory.ingest()
        assert bool(listed(memory)) is known


@pytest.mark.parametrize(("sign", "more"), [("sparse", 2.0), ("astray", 2.0), ("passing", 1.0), ("common", 1.0)])
def test_each_sign_against_a_fact_counts_against_it(sign: str, more: float) -> None:
    none = dict.fromkeys(WEIGHTS, 0.0)
    assert 0 < sureness({**none, sign: more}) < sureness(none) < 1
    assert sureness(none) < sureness({**none, "whole": 1.0})
