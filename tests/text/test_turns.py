"""Who speaks: those who take turns, and no key of a record, in any language."""

from __future__ import annotations

from datetime import date

import pytest
from tables import table

from openclaw_memory.model import Unit
from openclaw_memory.text.markdown import parse
from openclaw_memory.text.turns import find_turns, is_role


def speakers(text: str) -> list[str | None]:
    return list(find_turns(text.split("\n")).values())


def units(text: str) -> list[Unit]:
    parsed = parse(text, path="memory/2026-02-13.md", mtime=date(2026, 2, 13), unit_tokens=60)
    return [unit for section in parsed.sections for unit in section.units]


@pytest.mark.parametrize(("first", "other", "speaker"), table("turns.tsv", "who takes turns is a speaker"))
def test_who_takes_turns_is_a_speaker(first: str, other: str, speaker: str) -> None:
    text = f"{first}\n\n{other}\n\n{first}\n\n{other}\n"
    speakers_of_units = [(unit.form, unit.speaker) for unit in units(text)]
    assert speakers_of_units[::2] == [("turn", speaker)] * 2 and all(name for _, name in speakers_of_units)
    assert speakers(f"{first}\n") == [] == speakers(f"{first}\n\n{first}\n")


@pytest.mark.parametrize("record", table("turns.tsv", "keys of records do not speak however often they come"))
@pytest.mark.parametrize("apart", ["\n", "\n## Next\n\n", ""])
def test_keys_of_records_do_not_speak_however_often_they_come(record: str, apart: str) -> None:
    assert speakers(apart.join([record] * 4)) == []


def test_those_who_speak_in_one_part_speak_in_others_too() -> None:
    talk = "Ana: Where is it?\nBo: Here.\nAna: Thanks.\n"
    assert speakers(f"## Monday\n\n{talk}\n## Tuesday\n\nBo: Bye.\n") == ["Ana", "Bo", "Ana", "Bo"]


@pytest.mark.parametrize("roles", table("turns.tsv", "a chat role speaks at once"))
def test_a_chat_role_speaks_at_once(roles: tuple[str, str]) -> None:
    person, machine = roles
    assert is_role(person) and is_role(machine.upper())
    (unit,) = units(f"{person}: what now?\n")
    assert (unit.form, unit.speaker) == ("turn", person)
    text = f"{machine}: Here:\n\n- **Model:** one\n- **Agent:** two\n\n{person}: thanks\n"
    assert speakers(text) == [machine, person]


@pytest.mark.parametrize("text", table("turns.tsv", "a role among keys does not speak"))
def test_a_role_among_keys_does_not_speak(text: str) -> None:
    assert speakers(text) == []


@pytest.mark.parametrize("opened", ["```bash\nls -l\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"])
def test_what_a_message_leaves_open_ends_with_it(opened: str) -> None:
    text = f"user: run it\nassistant: done\n{opened}user: And now?\nassistant: Bye.\n"
    speakers_of_units = [(unit.form, unit.speaker) for unit in units(text)]
    assert speakers_of_units[-2:] == [("turn", "user"), ("turn", "assistant")]
