"""What is surely right is listed, by what else the notes say; all the rest is a question away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.facts.things import WEIGHTS, says, sureness
from openclaw_memory.knowledge.fact_places import is_gathered, named_above

#: A report, in which a fact is rare.
REPORT = "# Yard\n\n" + "".join(f"The tide gauge showed {cm} centimetres.\n\n" for cm in range(110, 130))
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
        # Below a heading for several of a kind it is one of them, however many headings there are.
        ("# Projects\n\nIt rained.\n\nAda slept.\n\n## Heron\n- URL: https://example.org/heron\n", True),
        ("# Haven\n\n## Oude projecten\n\n### Heron\n- Versie: 2.1\n", True),
        ("# 船\n\n## 今年的项目\n\n### Heron\n- 版本：2.1\n", True),
        ("# Гавань\n\n## Наши серверы\n\n### Heron\n- Версия: 2.1\n", True),
        # How something stands passes.
        ("# Projects\n\n## Heron\n- Status: half rigged\n", False),
        ("# 项目\n\n## Heron\n- 状态：刚开始\n", False),
        # Elsewhere the last heading may be for a part of something.
        ("# Harbour\n\nIt rained.\n\nAda slept.\n\n## Yard\n\n### Heron\n- URL: https://example.org/heron\n", False),
        ("# 船\n\n## 船厂\n\n### Heron\n- 版本：2.1\n", False),
        # More words than the name of a relation say that it is another thing's.
        ("# Projects\n\n## Heron\n- Sister URL: https://example.org/egret\n", False),
        # What is decided is ours, and whatever the heading is about decides nothing.
        ("# Projects\n\n## Heron\n- Decision: paint the deck in spring\n", False),
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
    text = f"# Day\n\n## Devices\n\n### Bilge Gauge\n- {line}\n\nIt rained.\n\nAda slept.\n"
    notes.write("memory/2026-03-01.md", text)
    with open_memory(notes) as memory:
        memory.ingest()
        assert len(listed(memory, all=True)) == 1
        assert bool(listed(memory)) is known


def test_a_list_of_facts_is_listed_though_nothing_else_names_its_subjects(notes: Notes) -> None:
    boats = "".join(f"## {name}\n- Version: 2.1\n\n" for name in ("Heron", "Egret", "Bittern"))
    notes.write("memory/2026-03-01.md", f"# Day\n\n{boats}")
    with open_memory(notes) as memory:
        memory.ingest()
        assert {row[0] for row in listed(memory)} == {"Heron", "Egret", "Bittern"}


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
        ("keyed", 1.0, False),
        ("gathered", 1.0, True),
        ("loose", 1.0, False),
    ],
)
def test_each_sign_counts_for_a_fact_or_against_it(sign: str, more: float, counts: bool) -> None:
    none = dict.fromkeys(WEIGHTS, 0.0)
    assert 0 < sureness({**none, sign: more}) < 1
    assert (sureness({**none, sign: more}) > sureness(none)) is counts


TABLE = "| Service | Port |\n|---|---|\n| Berth Dashboard | 3014 |\n| Crane Dashboard | 3015 |\n"


@pytest.mark.parametrize(
    ("text", "below"),
    [
        (f"# Day\n\n## Heron Tide App — finished (two berths)\n\n### Services in use\n\n{TABLE}", "Heron Tide App"),
        (f"# Heron Tide App\n\n## Services\n\n{TABLE}", "Heron Tide App"),
        (f"# Журнал\n\n## Маяк Heron\n\n### Сервисы\n\n{TABLE}", "Маяк Heron"),
        (f"# 日志\n\n## Heron 潮汐\n\n### 服务\n\n{TABLE}", "Heron 潮汐"),
        # The nearest name counts, and no part of a word is the subject.
        (f"# Heron Tide App\n\n## Egret Relay\n\n### Services\n\n{TABLE}", "Egret Relay"),
        # Nothing above has a name.
        (f"# Notes\n\n## Services\n\n{TABLE}", None),
        (f"# 2026-03-01\n\n## Services\n\n{TABLE}", None),
    ],
)
def test_a_fact_says_below_which_name_its_subject_stands(notes: Notes, text: str, below: str | None) -> None:
    notes.write("memory/boats.md", text)
    with open_memory(notes) as memory:
        memory.ingest()
        for asked in ({"all": True}, {"subject": "berth dashboard"}, {"history": True}):
            rows = [row for row in memory.facts.query(**asked).rows if row.subject == "Berth Dashboard"]  # type: ignore[arg-type]
            assert [(row.predicate, row.object, row.under) for row in rows] == [("port", "3014", below)]


def test_the_name_above_is_shown_beside_the_subject_and_changes_nothing_else(notes: Notes) -> None:
    from openclaw_memory.cli.main import cli

    notes.write("memory/boats.md", f"# Heron Tide App\n\n## Services\n\n{TABLE}")
    words = ["--set", "embedding.model=none", "-w", str(notes.root), "facts", "query", "--all"]
    shown = CliRunner().invoke(cli, words, prog_name="openclaw-memory").stdout
    assert "Berth Dashboard (Heron Tide App) · port · 3014" in shown
    with open_memory(notes) as memory:
        memory.ingest()
        (row,) = memory.facts.query(subject="Berth Dashboard").rows
        memory.facts.remove(row.id)
        assert listed(memory, subject="Berth Dashboard") == []
        notes.write("memory/boats.md", f"# Egret Tide App\n\n## Services\n\n{TABLE}")
        memory.ingest()
        assert listed(memory, subject="Berth Dashboard") == []  # what was removed stays so below another name
        memory.facts.add("Wren", "lives in", "Utrecht")
        assert [one.under for one in memory.facts.query(subject="Wren").rows] == [None]


def test_what_is_the_owners_needs_no_name_above(notes: Notes) -> None:
    notes.write("USER.md", "# About Ada Vos\n\n## Heron Tide App\n\n- Timezone: Europe/Amsterdam\n")
    with open_memory(notes) as memory:
        memory.ingest()
        assert {row.under for row in memory.facts.query(all=True).rows} == {None}


def test_no_part_of_a_word_is_a_subject() -> None:
    assert named_above("Heron Tide App > Email", "AI") == "Heron Tide App"
    assert named_above("Heron Tide App > AI Relay", "AI") == "Heron Tide App"
    assert is_gathered("Boats > Devices > Email", "AI") is False
    assert is_gathered("Boats > Devices > AI Relay", "AI") is True
    for heading, part in (("Łódź", "Łód"), ("Ναύτης", "Ναύτη"), ("Насосы", "Насос"), ("Նավակ", "Նավ")):
        assert is_gathered(f"Boats > Devices > {heading}", part) is False
