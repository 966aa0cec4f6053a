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


def test_of_a_few_notes_is_listed_what_is_sure(tmp_path: Path) -> None:
    few = Notes(tmp_path)
    few.write("memory/2026-03-01.md", ENTRY)
    few.write("USER.md", "# About Ada\n\n- Name: Ada Vos\n- Timezone: Europe/Amsterdam\n")
    with open_memory(few) as memory:
        memory.ingest()
        assert {row[1] for row in listed(memory)} == {"name", "timezone"}


def listed(memory: Memory, **asked: object) -> list[tuple[str, str, str]]:
    return [(row.subject, row.predicate, row.object) for row in memory.facts.query(**asked).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("elsewhere", "known"),
    [
        ("Ada looked at the Bilge Sensor Wiring at {} o'clock.", True),
        ("- Bilge Sensor Wiring: ask Ada at {} o'clock", True),
        # Its words, but not its name; another heading; the same line once more.
        ("The wiring of lamp {} is next to the bilge sensor.", False),
        ("## Bilge Sensor Wiring {}\n\nNothing was done.", False),
        ("- File: `yard/wiring.md`", False),
        ("Nothing was done at {} o'clock.", False),
    ],
)
def test_a_fact_of_a_report_is_listed_where_other_lines_hold_its_whole_name(
    notes: Notes, elsewhere: str, known: bool
) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    lines = "\n\n".join(map(elsewhere.format, range(1, 9)))
    notes.write("memory/2026-03-02.md", f"# Day\n\n{lines}\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert (("Bilge Sensor Wiring", "file", "yard/wiring.md") in listed(memory)) is known


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("# Harbour\n\nIt rained.\n\nAda slept.\n\n## Heron\n- URL: https://example.org/heron\n", True),
        ("# Schepen\n\n## Heron\n- Versie: 2.1\n", True),
        ("# 船\n\n## Heron\n- 版本：2.1\n", True),
        # How something stands passes.
        ("# Boats\n\n## Heron\n- Status: half rigged\n", False),
        ("# 船\n\n## Heron\n- 状态：刚开始\n", False),
        # The last of many headings is rather for a part of something.
        ("# Harbour\n\nIt rained.\n\nAda slept.\n\n## Yard\n\n### Heron\n- URL: https://example.org/heron\n", False),
        ("# 船\n\n## 船厂\n\n### Heron\n- 版本：2.1\n", False),
        # More words than the name of a relation say that it is another thing's.
        ("# Boats\n\n## Heron\n- Sister URL: https://example.org/egret\n", False),
        # What is decided is ours, and whatever the heading is about decides nothing.
        ("# Boats\n\n## Heron\n- Decision: paint the deck in spring\n", False),
    ],
)
def test_a_key_is_listed_where_it_surely_says_what_lasts_of_a_thing(notes: Notes, text: str, known: bool) -> None:
    notes.write("memory/boats.md", text)
    with open_memory(notes) as memory:
        memory.ingest()
        assert len(listed(memory, all=True)) == 1
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


def test_a_fact_is_listed_once_its_subject_is_named_and_no_longer_when_it_is_not(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    with open_memory(notes) as memory:
        memory.ingest()
        assert listed(memory) == []
        memory.search("wiring")  # now the index is resident
        hums = "\n\n".join(f"The Bilge Sensor Wiring hums at {hour} o'clock." for hour in range(8))
        notes.write("memory/2026-03-02.md", f"# Day\n\n{hums}\n")
        memory.ingest()
        assert [row[1] for row in listed(memory)] == ["file"]
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
        ("Bilge Sensor Wiring", "File: yard/wiring.md", "Ada looked at the Bilge Sensor Wiring in room {}."),
        ("Lenzpumpe Achtern", "Datei: werft/pumpe.md", "Ada hat die Lenzpumpe Achtern {}-mal geölt."),
        ("Heron", "文件：yard/tide.md", "今天检查了 Heron，第 {} 次。"),
        ("Насос Heron", "Файл: yard/pump.md", "Насос Heron чинят в день {}."),
        ("潮汐アプリ", "ファイル: yard/tide.md", "夕方に潮汐アプリを {} 回開いた。"),
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
        mentions = "\n\n".join(map(mention.format, range(1, 12)))
        notes.write("memory/2026-03-02.md", f"# Day\n\n{mentions}\n")
        memory.ingest()
        assert [row[0] for row in listed(memory)] == [heading]


#: Things of one kind, whose states a table lists.
GAUGES = ("Bilge Gauge", "Lamp Gauge", "Oil Gauge", "Fuel Gauge", "Water Gauge", "Steam Gauge")


def test_how_something_stood_is_not_listed_once_newer_notes_say_something_else(notes: Notes) -> None:
    for day, state in ((1, "half of it is there"), (2, "all of it is there")):
        rows = "".join(f"| {name} | {state} |\n" for name in GAUGES)
        notes.write(f"memory/2026-03-0{day}.md", f"# Yard\n\n| Component | Status |\n|---|---|\n{rows}")
    with open_memory(notes) as memory:
        memory.ingest()
        assert set(listed(memory)) == {(name, "status", "all of it is there") for name in GAUGES}
        assert len(listed(memory, subject="Bilge Gauge")) == 2


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("State: half of it is there", False),
        ("Price: 12 EUR", False),
        ("Файл: yard/gauge.md", True),
        ("URL: https://example.org/gauge", True),
        # The page of somebody else about it.
        ("URL: https://example.org/2026/03/what-a-flood", False),
    ],
)
def test_a_days_file_says_what_lasts_and_not_how_something_stood(notes: Notes, line: str, known: bool) -> None:
    notes.write("memory/2026-03-01.md", f"# Day\n\n## Bilge Gauge\n- {line}\n\nIt rained.\n\nAda slept.\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert len(listed(memory, all=True)) == 1
        assert bool(listed(memory)) is known


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


@pytest.mark.parametrize(
    ("sign", "more", "counts"),
    [
        ("sparse", 2.0, False),
        ("stood", 1.0, False),
        ("common", 1.0, False),
        ("elsewhere", 1.0, False),
        ("alike", 2.0, True),
        ("whole", 1.0, True),
        ("figure", 1.0, True),
        ("owner", 1.0, True),
        ("longer", 1.0, False),
        ("deep", 1.0, False),
        ("loose", 1.0, False),
    ],
)
def test_each_sign_counts_for_a_fact_or_against_it(sign: str, more: float, counts: bool) -> None:
    none = dict.fromkeys(WEIGHTS, 0.0)
    assert 0 < sureness({**none, sign: more}) < 1
    assert (sureness({**none, sign: more}) > sureness(none)) is counts
