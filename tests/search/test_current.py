"""What holds now comes before what it replaced, in search and in context."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import Any

import pytest
from fakes import Notes, ingested

from openclaw_memory import SearchRequest
from openclaw_memory.model import SearchResult
from openclaw_memory.search import current

TODAY = date(2026, 6, 1)


def ask(notes: Notes, question: str, **options: Any) -> SearchResult:
    with ingested(notes) as memory:
        return memory.search(SearchRequest(question, now=TODAY, mode="keyword", min_score=0.0, **options))


def first_and_successor(notes: Notes, question: str) -> tuple[str, dict[str, str]]:
    """Return the path of the first hit, and by the path of each replaced one that of what replaced it."""
    hits = ask(notes, question).results
    return hits[0].path, {hit.path: hit.superseded_by.path for hit in hits if hit.superseded_by is not None}


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What does the kiln rental cost?", "- **Kiln rental:** 40 € a day", "- **Kiln rental:** 55 € a day"),
        ("Was kostet die Ofenmiete?", "- Ofenmiete: 40 € am Tag", "- Ofenmiete: 55 € am Tag"),
        ("¿Cuánto cuesta el alquiler del horno?", "- Alquiler del horno: 40 €", "- Alquiler del horno: 55 €"),
        ("Сколько стоит аренда печи?", "- Аренда печи: 40 €", "- Аренда печи: 55 €"),
        ("窑炉租金是多少？", "- 窑炉租金：40 元", "- 窑炉租金：55 元"),
        ("How many seats has the kiln workshop?", "The kiln workshop has 8 seats.", "The kiln workshop has 12 seats."),
        ("Is the kiln workshop heated?", "The kiln workshop is heated.", "The kiln workshop is not heated."),
    ],
)  # fmt: skip
def test_a_later_value_leads_and_the_older_one_names_it(notes: Notes, question: str, older: str, newer: str) -> None:
    notes.write("memory/2026-03-02.md", f"# Pottery\n\n{older}\n")
    notes.write("memory/2026-05-04.md", f"# Pottery\n\n{newer}\n")
    path, successors = first_and_successor(notes, question)
    assert path == "memory/2026-05-04.md"
    assert successors == {"memory/2026-03-02.md": "memory/2026-05-04.md"}


@pytest.mark.parametrize(
    ("question", "heading", "older", "status"),
    [
        ("What is up with the plate picking?", "Plate picking", "Today watch 0418 and 0933", "**Status:** done (2026-05-03)"),
        ("What is up with the plate picking?", "Plate picking", "Watch 0418 and 0933", "Status: cancelled (2026-05-03)"),
        ("Wie steht es um die Kennzeichenwahl?", "Kennzeichenwahl", "Heute 0418 im Blick behalten", "**Status:** erledigt (3.5.2026)"),
        ("¿Cómo va la elección de matrícula?", "Elección de matrícula", "Hoy vigilar 0418", "**Estado**: terminado (2026-05-03)"),
        ("Как выбор номера?", "Выбор номера", "Сегодня следить за 0418", "**Статус**: готово (2026-05-03)"),
        ("车牌选号怎么样了？", "车牌选号", "今日盯紧号段：0418、0933", "**状态**：已完成（2026-05-03 已选好号）"),
        ("ナンバー選びはどうなった？", "ナンバー選び", "今日は0418を見張る", "**ステータス**: 完了（2026-05-03）"),
    ],
)  # fmt: skip
def test_a_status_ends_what_was_to_do(notes: Notes, question: str, heading: str, older: str, status: str) -> None:
    path = "MEMORY.md" if question.isascii() else "memory/2026-05-03.md"
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n## {heading}\n- {older}\n")
    notes.write(path, f"# Notes\n\n## {heading}\n- {status}\n")
    first, successors = first_and_successor(notes, question)
    assert (first, successors) == (path, {"memory/2026-03-02.md": path})


def test_a_status_does_not_end_what_is_known(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n## Plate picking\n- The office is in Mill Lane\n")
    notes.write("MEMORY.md", "# Notes\n\n## Plate picking\n- **Status:** done (2026-05-03)\n")
    assert not first_and_successor(notes, "Where is the office for plate picking?")[1]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("How often does the lamp check run?", "The lamp check can run every 2 min", "- Lamp check bumped from 3min → 5min a run"),
        ("Which model do the lamp agents use?", "The lamp agents use `quay-2`", "Changed the model of lamp agents to `quay-5`"),
        ("所有灯塔的默认模型是哪个？", "- 所有灯塔的默认模型是哪个：`quay-2`", "将所有灯塔的默认模型改为 `quay-5`："),
        ("Hat das Lampenpult eine Fotoseite?", "- Lampenpult: Fotoseite lädt wieder schnell", "- Fotoseite aus dem Lampenpult entfernt: Seite, Skripte und Bilder"),
    ],
)  # fmt: skip
def test_what_says_that_it_changed_leads_what_answers_as_well(
    notes: Notes, question: str, older: str, newer: str
) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n{older}\n")
    notes.write("memory/2026-05-04.md", f"# 2026-05-04\n\n{newer}\n")
    assert first_and_successor(notes, question)[0] == "memory/2026-05-04.md"


def test_a_change_of_another_part_replaces_nothing(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n- The lamp check of the quay runs every 2 min\n")
    notes.write(
        "memory/2026-05-04.md",
        "# 2026-05-04\n\n- Ladder of the quay moved from 3 m to 5 m\n- Removed the paint from the lamp\n",
    )
    assert first_and_successor(notes, "How often does the lamp check of the quay run?") == ("memory/2026-03-02.md", {})


def test_a_line_beside_the_answer_that_was_replaced_moves_nothing(notes: Notes) -> None:
    notes.write(
        "memory/2026-03-02.md",
        "# Pottery\n\n- The glaze supplier for the kiln is Tonhaus in Kassel.\n- Kiln alarm: every 5 minutes\n",
    )
    notes.write("memory/2026-05-04.md", "# Pottery\n\n- Kiln alarm: every 30 minutes\n")
    assert first_and_successor(notes, "Who is the glaze supplier for the kiln?") == ("memory/2026-03-02.md", {})


def test_what_a_person_says_later_replaces_nothing(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# Chat\n\nMara: The kiln stands in the old shed.\nOda: How nice!\n")
    notes.write("memory/2026-05-04.md", "# Chat\n\nMara: Hello, the weather is fine.\nOda: And the kiln is warm.\n")
    assert first_and_successor(notes, "Where does the kiln of Mara stand?") == ("memory/2026-03-02.md", {})


def test_another_subject_replaces_nothing(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# Heron\n\n- Port: 3013\n")
    notes.write("memory/2026-05-04.md", "# Kestrel\n\n- Port: 3014\n")
    path, successors = first_and_successor(notes, "Which port has Heron?")
    assert (path, successors) == ("memory/2026-03-02.md", {})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("## 1. Kiln pictures (raw)\n- **Script**: `kiln-raw.sh`", "## 2. Looking at kiln pictures\n- **Script**: `kiln-see.sh`"),
        ("## 1. Kiln pictures\n- **Status**: tested with a script", "## 2. Kiln speech\n- **Status**: set up by a script"),
        ("- Kiln script share: 12 €", "- Kiln script share: 43% (careful)"),
    ],
)  # fmt: skip
def test_sections_side_by_side_and_shares_replace_nothing(notes: Notes, first: str, second: str) -> None:
    notes.write("memory/2026-03-02.md", f"# Set-up of the kiln\n\n{first}\n\n## Rest\n\n{second}\n")
    notes.write("memory/2026-03-03.md", f"# Set-up of the kiln\n\n{second}\n")
    assert not first_and_successor(notes, "Which script makes kiln pictures?")[1]


def test_of_many_alike_lines_few_are_compared(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []
    replaces = current.replaces
    monkeypatch.setattr(current, "replaces", lambda *given: (compared.append(given), replaces(*given))[1])
    names = ["".join(syllables) for syllables in product(("ba", "ke", "lo", "mi", "nu", "ra", "si"), repeat=2)]
    for month in (2, 3, 4, 5):
        sections = (f"## {name.title()}\n\n- Kiln meter: {at + month} units\n" for at, name in enumerate(names))
        notes.write(f"memory/2026-0{month}-02.md", "\n".join(sections))
    assert ask(notes, "What does the kiln meter of Bake say?").results
    assert 0 < len(compared) <= 400


def test_a_question_for_what_was_before_keeps_its_order(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# Pottery\n\n- Kiln rental: 40 € a day\n")
    notes.write("memory/2026-05-04.md", "# Pottery\n\n- Kiln rental: 55 € a day\n")
    for question in ("What did the kiln rental cost before?", "What did the kiln rental cost in March?"):
        assert all(hit.superseded_by is None for hit in ask(notes, question).results)


def test_a_text_without_a_day_is_of_the_day_that_confirms_its_figures(notes: Notes) -> None:
    notes.write("memory/2026-03-02.md", "# Sailing\n\n- Plan for the regatta: 3 to 14 July\n")
    notes.write("memory/regatta.md", "# Sailing\n\n- Plan for the regatta: 29 June to 10 July\n")
    question = "What is the plan for the regatta?"
    assert first_and_successor(notes, question)[1] == {}  # nothing tells which is newer
    notes.write("memory/2026-05-22.md", "- The harbour has us down from 29 June to 10 July.\n")
    path, successors = first_and_successor(notes, question)
    assert path == "memory/regatta.md"
    assert successors["memory/2026-03-02.md"] == "memory/regatta.md"


@pytest.mark.parametrize(
    ("title", "title_that_ends", "question"),
    [
        ("Newsletter on Sundays", "Newsletter discontinued", "Get the newsletter ready."),
        ("Rundbrief am Sonntag", "Rundbrief eingestellt", "Mach den Rundbrief fertig."),
        ("Rassegna stampa", "Rassegna annullata", "Prepara la rassegna."),
    ],
)
def test_context_tells_that_something_ended_and_not_how_it_was(
    notes: Notes, title: str, title_that_ends: str, question: str
) -> None:
    notes.write("memory/2026-03-02.md", f"# {title}\n\n- 700 readers, sent by Ada at nine\n")
    notes.write("memory/2026-05-04.md", f"# {title_that_ends}\n\n- Ada says: never send it again\n")
    notes.write("memory/2026-05-05.md", "# Garden\n\n- The hedge was cut\n- A new gate\n")
    with ingested(notes) as memory:
        text = memory.context(question, now=TODAY).text
    assert "never send it again" in text or not text
    assert "700 readers" not in text


def test_notes_rank_before_what_a_chat_with_a_machine_says(notes: Notes) -> None:
    chat = "user: tell me what you see\nassistant: the roof of the barn is red\nuser: thanks\nassistant: at any time\n"
    notes.write("memory/2026-05-04-chat.md", f"# Monday\n\n{chat}")
    notes.write(
        "memory/2026-05-04.md", "# Monday\n\n- the roof of the barn is green\n- the gate is open\n- the hens laid\n"
    )
    assert ask(notes, "roof of the barn").results[0].path == "memory/2026-05-04.md"


@pytest.mark.parametrize(
    ("note", "question", "answer"),
    [
        ("- **Kiln tariff:** night rate, the real one since 20.05.2026", "Which kiln tariff do we have now?",
         "The kiln tariff we have now is the day rate."),
        ("- **Ofentarif:** Nachttarif, der echte seit 20.05.2026", "Welchen Ofentarif haben wir jetzt?",
         "Der Ofentarif, den wir jetzt haben, ist der Tagtarif."),
        ("- **Tarifa del horno:** nocturna, la real desde el 20.05.2026", "¿Qué tarifa del horno tenemos ahora?",
         "La tarifa del horno que tenemos ahora es la diurna."),
        ("- **窑炉电价：** 夜间电价，2026年5月20日起", "现在窑炉电价是哪一种？", "现在窑炉电价是白天电价。"),
    ],
)  # fmt: skip
def test_what_was_written_to_be_kept_leads_the_talk_of_how_things_are(
    notes: Notes, note: str, question: str, answer: str
) -> None:
    notes.write("MEMORY.md", f"# Pottery\n\n{note}\n")
    for day in (11, 12, 13):
        chat = f"user: {question}\nassistant: {answer}\nuser: ok\nassistant: ok\n"
        notes.write(f"memory/2026-05-{day}-s.md", f"# Session: 2026-05-{day}\n\n{chat}")
    assert ask(notes, question).results[0].path == "MEMORY.md"


def test_a_chat_alone_still_answers_how_things_are(notes: Notes) -> None:
    chat = "user: Which kiln tariff do we have now?\nassistant: The kiln tariff is the day rate.\nuser: ok\nassistant: ok\n"
    notes.write("memory/2026-05-11-s.md", f"# Session\n\n{chat}")
    notes.write("memory/2026-05-12.md", "# Garden\n\n- The pump is green.\n")
    assert ask(notes, "Which kiln tariff do we have now?").results[0].path == "memory/2026-05-11-s.md"
