"""What a month tells of what came daily, of what changed, and of what is done every day."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from datetime import date, timedelta

import pytest
from extracts import period, read_back
from fakes import Notes
from summarising import summarised
from tables import table

from openclaw_memory.model import Grain
from openclaw_memory.summarise.summary import summarise

FIRST = date(2026, 4, 6)


def month(notes: Mapping[int, str], changed: Collection[str] = ()) -> dict[str, list[str]]:
    """The lines of a month by heading, from notes by the number of their day, some of which tell ``changed`` values."""
    said = period({FIRST + timedelta(days=at): text for at, text in notes.items()})
    places = {(sentence.path, sentence.start_line): frozenset(changed) for sentence in said}
    parts = summarise(said, Grain.MONTHLY, 10_000, changed=places, share=9).parts
    return {part.heading: [sentence.text for sentence in part.sentences] for part in parts}


# -- routine ------------------------------------------------------------------------------------------


def test_routine_is_told_once_with_its_count_through_all_grains() -> None:
    said = period(
        {
            FIRST + timedelta(days=at): f"## Stable\n\n- Fed {at + 3} ponies\n- Swept {at + 9} boxes\n\n## Yard\n\n"
            f"- The {'oak elm ash fir yew larch'.split()[at]} fell on the fence.\n"
            for at in range(6)
        }
    )
    early = [sentence for sentence in said if sentence.day < FIRST + timedelta(days=3)]
    week = read_back(summarise(early, Grain.WEEKLY, 10_000, share=9), Grain.WEEKLY, "2026-W15")
    assert [sentence.count for sentence in week if "Fed" in sentence.text] == [3]
    told = summarise([*week, *said[len(early) :]], Grain.MONTHLY, 10_000, share=9).sentences()
    routine = [(sentence.text, sentence.count) for sentence in told if sentence.count > 1 and not sentence.title]
    assert routine == [("Fed 8 ponies", 6)]
    assert len([sentence for sentence in told if "fell" in sentence.text]) == 6


@pytest.mark.parametrize("line", ["**Sync** — {} files", "Sync: {} Dateien!", "同期 {} 件", "Синхронизация {}"])
def test_marks_around_a_routine_line_are_of_no_matter(line: str) -> None:
    notes = {at: f"- {line.format(40 + at)}{' ⚠️' * (at % 2)}\n" for at in range(5)}
    assert sum(map(len, month(notes).values())) == 1


@pytest.mark.parametrize("lines", table("summaries_changes.tsv", "the same with other figures and words"))
def test_what_comes_daily_in_other_words_is_told_once(lines: tuple[str, ...]) -> None:
    new, *usual = lines
    notes = {at: f"- {usual[at % len(usual)].format(at + 3)}\n" for at in range(9)}
    told = [text for texts in month({**notes, 4: notes[4] + f"- {new}\n"}).values() for text in texts]
    assert len(told) <= len(usual) and new in told


def test_reports_of_a_machine_do_not_crowd_out_what_a_person_did() -> None:
    beats = "".join(f"## 0{hour}:30 - Heartbeat check\n\n- System: normal\n- Nothing to do\n\n" for hour in range(9))
    deeds = {2: "Boat house: plan", 5: "Boat house: roof", 7: "Boat house sold 🎉"}
    notes = {at: beats + (f"## {deeds[at]}\n\n- Mira was there\n" if at in deeds else "") for at in range(9)}
    told = month(notes)
    assert told["Boat house"] == list(deeds.values()) and next(iter(told)) == "Boat house"
    assert sum("Heartbeat" in text for texts in told.values() for text in texts) == 1


# -- changes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "label", "other"),
    [
        ("Changed", "Rent of the barn: {} €", "The heron is on the roof and does not want to leave it"),
        ("Geändert", "Miete der Scheune: {} €", "Der Reiher ist auf dem Dach und will nicht von dort weg"),
        ("Cambios", "Alquiler del granero: {} €", "La garza está en el tejado y no quiere salir de ahí"),
        ("変更", "納屋の家賃：{}円", "サギが屋根の上にいて、そこから動こうとしません。"),
        ("Изменения", "Аренда сарая: {} €", "Цапля сидит на крыше и не хочет оттуда улетать"),
    ],
)
def test_a_value_that_changed_is_told_with_both_days(heading: str, label: str, other: str) -> None:
    old, new = label.format(410), label.format(380)
    notes = {at: f"## Barn\n\n- {text}\n" for at, text in ((0, old), (4, other), (9, new))}
    assert month(notes, ("410", "380")).get(heading) == [old, new]


LINES = """- The pass fell from 12 days to 5 days.
- Der Beitrag wurde von 29 € auf 19 € gesenkt.
- 通行证从12天改为5天。
- Пропуск сократили с 12 дней до 5 дней.
- App: 4.1.8 → 4.1.12
- Walked from 9 March to 12 March along the coast.
- Planks of 3 cm and 5 cm for the shed.
- The market grows from 30 % to 46 % by 2035.
- Commit: "Fix the doors (wood->iron), lint"
"""


def test_a_month_tells_the_changes_that_facts_know(notes: Notes) -> None:
    notes.write("memory/2026-04-06.md", f"# 2026-04-06\n\n## Quay\n\n{LINES}")
    birds = "heron swan coot grebe teal crane stork gull tern wren robin finch lark".split()
    sights = "".join(f"- Saw a {bird} near the {other} of the pond\n" for bird, other in itertools.pairwise(birds))
    notes.write("memory/2026-04-08.md", f"# 2026-04-08\n\n## Pond\n\n{sights}")
    with summarised(notes, consolidate__budgets={"daily": 9000, "weekly": 9000, "monthly": 9000}) as memory:
        memory.consolidate(now=date(2026, 7, 1))
        known = memory.facts.changes(date(2026, 1, 1)).changes or ()
    told = (notes.root / "memory/consolidated/monthly/2026-04.md").read_text(encoding="utf-8")
    sections = [
        [line.partition(" [")[0].partition(": ")[2] for line in section.splitlines()[1:] if line.startswith("- ")]
        for section in told.split("\n## ")[1:]
    ]
    assert len(known) == 5
    assert [line.removeprefix("- ") for line in LINES.splitlines()[:5]] in sections, told


# -- a week of two months -----------------------------------------------------------------------------


def test_a_month_that_begins_within_a_week_loses_no_sentence(notes: Notes) -> None:
    things = "oak elm ash fir yew larch birch alder maple linden".split()
    turns = ["Decided on", "Sold", "Shipped", "Released", "Chose", *["Saw"] * 7]
    chores = "Fed {0} ponies,Swept {0} boxes,Filled {0} buckets,Raked {0} paths,Oiled {0} hinges".split(",")
    for at in range(-2, 10):
        day = date(2026, 4, 1) + timedelta(days=at)
        routine = "".join(f"- {chore.format(at + 9)}\n" for chore in chores)
        own = f"- {turns[at]} the {things[at]} near the mill\n- Saw a {things[at]} hare{' run' * (at < 0)}\n"
        notes.write(f"memory/{day}.md", f"# {day}\n\n## Stable\n\n{routine}\n## Mill\n\n{own}")
    with summarised(notes, consolidate__budgets={"daily": 9000, "weekly": 9000, "monthly": 9000}) as memory:
        memory.consolidate(now=date(2026, 7, 1))
    told = (notes.root / "memory/consolidated/monthly/2026-04.md").read_text(encoding="utf-8")
    # The last days may be left out, as a month is shorter than its weeks.
    assert [at for at in range(8) if f"the {things[at]} near the mill" not in told] == []
