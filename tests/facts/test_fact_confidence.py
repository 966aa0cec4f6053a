"""What is surely right is listed; all the rest is a question away."""

from __future__ import annotations

import json

import pytest
from commands import run_command
from fakes import Notes, ingested

from openclaw_memory import Memory
from openclaw_memory.facts.confidence import BIAS, MIN_PROBABILITY, WEIGHTS, probability
from openclaw_memory.knowledge.headings import named_above

#: A report, in which a fact is rare.
REPORT = "# Yard\n\n" + "".join(f"The tide gauge showed {cm} centimetres.\n\n" for cm in range(110, 130))
ENTRY = f"{REPORT}## Bilge Sensor Wiring\n- Status: half of it is there\n- File: `yard/wiring.md`\n"


def listed(memory: Memory, **asked: object) -> list[tuple[str, str, str]]:
    return [(row.subject, row.predicate, row.object) for row in memory.facts.query(**asked).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("USER.md", "# About Ada\n\n- Name: Ada Vos\n- Timezone: Europe/Amsterdam\n", True),
        # A list of facts is kept as one, in a report they are chance.
        ("memory/boats.md", "# Boats\n\n## Heron\n- Version: 2.1\n\n## Egret\n- Version: 2.2\n", True),
        ("memory/2026-03-01.md", f"{REPORT}## Bilge Sensor Wiring\n- File: `yard/wiring.md`\n", False),
        # How something stands passes, and so does an amount.
        ("memory/boats.md", "# Boats\n\n## Heron\n- Status: half rigged\n", False),
        ("memory/boats.md", "# 船\n\n## Heron\n- 状态：刚开始\n", False),
        # Many words are rather a topic than a name.
        ("memory/boats.md", f"{REPORT}# Yard\n\n## Sister Boat Gauge Page Relay\n- URL: https://example.org\n", False),
        # A decision stands below whatever heading was at hand.
        (
            "memory/2026-03-01.md",
            "# Yard\n\n## Talk of the Slip and the New Crane\n- Decision: we keep the crane\n",
            True,
        ),
    ],
)
def test_what_surely_says_what_lasts_is_listed(notes: Notes, path: str, text: str, expected: bool) -> None:
    notes.write(path, text)
    with ingested(notes) as memory:
        assert listed(memory, all=True)
        assert bool(listed(memory)) is expected


def test_what_is_not_listed_is_there_when_it_is_asked_for(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    with ingested(notes) as memory:
        assert listed(memory) == []
        assert len(listed(memory, all=True)) == 2
        assert len(listed(memory, subject="bilge sensor wiring")) == 2
        assert len(listed(memory, history=True)) == 2
        why = [row.why or "" for row in memory.facts.query(all=True, explain=True).rows]
        assert all("not listed" in reason for reason in why)
        memory.facts.add("Bilge Sensor Wiring", "status", "done")
        assert ("Bilge Sensor Wiring", "status", "done") in listed(memory)


def test_the_command_shows_all_on_demand(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", ENTRY)
    for more, count in (((), 0), (("--all",), 2)):
        assert len(json.loads(run_command(notes, "--json", "facts", "query", *more).stdout)["rows"]) == count


@pytest.mark.parametrize(
    ("sign", "counts"), [("density", True), ("transient", False), ("owner", True), ("words", False)]
)
def test_each_sign_counts_for_a_fact_or_against_it(sign: str, counts: bool) -> None:
    none = dict.fromkeys(WEIGHTS, 0.0)
    assert 0 < probability({**none, sign: 1.0}) < 1
    assert (probability({**none, sign: 1.0}) > probability(none)) is counts
    assert probability(none) > MIN_PROBABILITY and BIAS > 0


TABLE = "| Service | Port |\n|---|---|\n| Berth Dashboard | 3014 |\n| Crane Dashboard | 3015 |\n"


@pytest.mark.parametrize(
    ("text", "below"),
    [
        (f"# Heron Tide App\n\n## Services\n\n{TABLE}", "Heron Tide App"),
        (f"# 日志\n\n## Heron 潮汐\n\n### 服务\n\n{TABLE}", "Heron 潮汐"),
        # The nearest name counts.
        (f"# Heron Tide App\n\n## Egret Relay\n\n### Services\n\n{TABLE}", "Egret Relay"),
        # Nothing above has a name.
        (f"# 2026-03-01\n\n## Services\n\n{TABLE}", None),
    ],
)
def test_a_fact_says_below_which_name_its_subject_stands(notes: Notes, text: str, below: str | None) -> None:
    notes.write("memory/boats.md", text)
    with ingested(notes) as memory:
        for options in ({"all": True}, {"subject": "berth dashboard"}, {"history": True}):
            rows = [row for row in memory.facts.query(**options).rows if row.subject == "Berth Dashboard"]  # type: ignore[arg-type]
            assert [(row.predicate, row.object, row.under) for row in rows] == [("port", "3014", below)]


def test_the_name_above_is_shown_beside_the_subject_and_changes_nothing_else(notes: Notes) -> None:
    notes.write("memory/boats.md", f"# Heron Tide App\n\n## Services\n\n{TABLE}")
    assert "Berth Dashboard (Heron Tide App) · port · 3014" in run_command(notes, "facts", "query", "--all").stdout
    with ingested(notes) as memory:
        (row,) = memory.facts.query(subject="Berth Dashboard").rows
        memory.facts.remove(row.id)
        notes.write("memory/boats.md", f"# Egret Tide App\n\n## Services\n\n{TABLE}")
        memory.ingest()
        assert listed(memory, subject="Berth Dashboard") == []  # what was removed stays so below another name


def test_what_is_the_owners_needs_no_name_above(notes: Notes) -> None:
    notes.write("USER.md", "# About Ada Vos\n\n## Heron Tide App\n\n- Timezone: Europe/Amsterdam\n")
    with ingested(notes) as memory:
        assert {row.under for row in memory.facts.query(all=True).rows} == {None}


def test_no_part_of_a_word_is_a_subject() -> None:
    assert named_above("Heron Tide App > Email", "AI") == "Heron Tide App"
    assert named_above("Heron Tide App > AI Relay", "AI") == "Heron Tide App"


def test_the_phone_book_is_looked_up_by_name(notes: Notes) -> None:
    notes.write(
        "memory/people.md", "# Contacts\n\n- Nora Lindqvist — plumber — +46 70 123 45 67\n- Ada Vos — sailmaker\n"
    )
    notes.write("memory/2026-03-01.md", "# Contacts\n\n- Tomás Rivera — 0151 5550 7788\n")
    notes.write("memory/2026-05-01.md", "# Contacts\n\n- Tomás Rivera — 0151 5550 9999\n")
    with ingested(notes) as memory:
        changed = ("Tomás Rivera", "phone", "0151 5550 9999")
        assert listed(memory) == [("Ada Vos", "about", "sailmaker"), changed]
        of_nora = [("Nora Lindqvist", "about", "plumber"), ("Nora Lindqvist", "phone", "+46 70 123 45 67")]
        assert listed(memory, subject="nora lindqvist") == of_nora
