"""What a context tells first, whole, with its change, or last; each in several languages."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import Notes, open_memory

from openclaw_memory.context import candidates
from openclaw_memory.text.structure import is_rule

NOW = date(2026, 3, 10)


def told(notes: Notes, message: str, budget: int = 200) -> str:
    notes.write("memory/ledger.md", "".join(f"- {day} x {day + 3}\n" for day in range(1, 9)))
    with open_memory(notes, None) as memory:
        memory.ingest()
        return memory.context(message, now=NOW, budget=budget).text


@pytest.mark.parametrize(
    "text",
    [
        "RULE: never sell the blue boat.",
        "Das Boot darf nicht verkauft werden.",
        "Ne vends jamais le bateau.",
        "⚠️ The left oar is cracked.",
        "Siempre con chaleco.",
        "绝不卖船。",
        "Лодку нельзя продавать.",
        "ボートは売却禁止。",
        "Sprints: contraindicated for Mira.",
        "Keine Sprints (kontraindiziert bei Asthma)",
        "Sem saltos (contraindicados p/ asma)",
        "Прыжки противопоказаны при астме.",
    ],
)
def test_a_rule_forbids_warns_or_begins_with_always(text: str) -> None:
    assert is_rule(text)


@pytest.mark.parametrize(
    "text",
    [
        "The boat was painted.",
        "Every Monday we row.",
        "Jeden Montag wird gerudert.",
        "每周一划船。",
        "Каждый день гребём.",
        "No sales today.",
        "No oars changed hands today",
    ],
)
def test_what_recurs_or_was_not_done_is_no_rule(text: str) -> None:
    assert not is_rule(text)


@pytest.mark.parametrize(
    ("incident", "lesson", "rule", "message"),
    [
        ("`~/quay/lamp.env` lost an entry", "Treat `lamp.env` as precious", "Never edit it in place", "edit lamp.env"),
        ("`~/quay/lamp.env` verlor einen Eintrag", "`lamp.env` ist heikel", "Niemals direkt ändern", "ändere lamp.env"),
        ("В `~/quay/lamp.env` пропала запись", "`lamp.env` важен", "Никогда не править на месте", "исправь lamp.env"),
        ("`~/quay/lamp.env` 丢了一条记录", "`lamp.env` 很重要", "绝不直接修改", "修改 lamp.env"),
    ],
)  # fmt: skip
def test_a_rule_beside_the_line_that_names_a_file_is_about_it(
    notes: Notes, incident: str, lesson: str, rule: str, message: str
) -> None:
    text = f"## Incident\n\n- {incident}\n\n## Lesson\n\n- {lesson}\n- {rule}\n"
    notes.write("memory/2026-02-05.md", f"# 2026-02-05\n\n{text}")
    assert rule in told(notes, message)


@pytest.mark.parametrize(
    ("heading", "line", "rule", "message"),
    [
        ("Greenhouse", "the heating has a new valve", "never open the roof above 40 km/h", "check the greenhouse heating"),
        ("Gewächshaus", "die Heizung hat ein neues Ventil", "das Dach nie bei Wind öffnen", "prüf die Gewächshaus Heizung"),
        ("Invernadero", "la calefacción tiene válvula nueva", "nunca abrir el techo", "revisa la calefacción del invernadero"),
        ("Теплица", "у отопления новый клапан", "никогда не открывать крышу", "проверь отопление теплицы"),
        ("温室", "暖气换了新的阀门", "绝不打开屋顶", "检查温室的暖气"),
    ],
)  # fmt: skip
def test_the_rule_of_a_section_comes_before_its_other_lines(
    notes: Notes, heading: str, line: str, rule: str, message: str
) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n## {heading}\n\n- {line}\n- {rule}\n")
    text = told(notes, message)
    assert 0 < text.find(rule) < text.find(line)


@pytest.mark.parametrize(
    ("line", "rule", "message"),
    [
        (
            "The greenhouse got a new valve.",
            "Never open the greenhouse in a storm.",
            "repair the valve of the greenhouse",
        ),
        (
            "Das Gewächshaus bekam ein Ventil.",
            "Nie das Gewächshaus bei Sturm öffnen.",
            "repariere das Ventil vom Gewächshaus",
        ),
        (
            "El invernadero recibió una válvula.",
            "Nunca abrir el invernadero con viento.",
            "repara la válvula del invernadero",
        ),
        ("温室换了新的阀门。", "大风时绝不打开温室。", "修理温室的阀门"),
    ],
)
def test_a_rule_about_the_same_comes_first_wherever_it_is_written(
    notes: Notes, line: str, rule: str, message: str
) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n{line}\n")
    notes.write("memory/habits.md", f"# x\n\n{rule}\n\nNever sell the boat.\n")
    text = told(notes, message)
    assert 0 < text.find(rule) < text.find(line) and "boat" not in text


@pytest.mark.parametrize(
    ("heading", "line", "rule", "message"),
    [
        ("Projects", "The greenhouse got a new valve.", "⚠️ Never lend the boat.", "repair the greenhouse valve"),
        ("Projekte", "Das Gewächshaus bekam ein Ventil.", "⚠️ Boot nie verleihen.", "repariere das Gewächshaus Ventil"),
        ("项目", "温室换了新的阀门。", "⚠️ 绝不外借小船。", "修理温室的阀门"),
    ],
)
def test_a_rule_about_another_thing_of_the_section_is_left_out(
    notes: Notes, heading: str, line: str, rule: str, message: str
) -> None:
    notes.write("memory/projects.md", f"# x\n\n## {heading}\n\n- {line}\n- {rule}\n")
    text = told(notes, message)
    assert line in text and rule not in text


@pytest.mark.parametrize(
    ("label", "rule", "now", "word", "message"),
    [
        ("Greenhouse watering:", "never at noon", "at any hour", "valve", "repair the greenhouse valve"),
        ("Riego del invernadero:", "nunca al sol", "a cualquier hora", "válvula", "repara la válvula del invernadero"),
        ("温室浇水：", "绝不在中午", "任何时候", "阀门", "修理温室的阀门"),
    ],
)
def test_what_replaced_a_rule_is_told_in_its_place(
    notes: Notes, label: str, rule: str, now: str, word: str, message: str
) -> None:
    notes.write("memory/2026-02-01.md", f"# 2026-02-01\n\n- {label} {rule}\n")
    notes.write("memory/2026-03-01.md", f"# 2026-03-01\n\n- {label} {now}\n")
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n{label[:-1]} {word}\n")
    notes.write("memory/stock.md", "# x\n\n" + "".join(f"{word} {at}\n\n" for at in ("red", "blue", "green", "old")))
    text = told(notes, message)
    assert now in text and f"{label} {rule}" not in text


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("Do not mail the price list to the bakery.", "Mail the price list to the bakery."),
        ("- Keine Preisliste an die Bäckerei schicken, das ist verboten.", "Schick die Preisliste an die Bäckerei."),
        ("不要把价目表寄给面包店。", "把价目表寄给面包店。"),
    ],
)
def test_a_message_that_breaks_a_rule_is_told_it(notes: Notes, rule: str, message: str) -> None:
    notes.write(
        "memory/2026-03-01.md", "# 2026-03-01\n\n- Printed the price list.\n- 打印了价目表。\n- Preisliste gedruckt.\n"
    )
    notes.write("memory/shop.md", f"# Shop\n\n{rule}\n")
    assert rule.strip("- .。") in told(notes, message)


@pytest.mark.parametrize(
    ("heading", "label", "old", "new", "message"),
    [
        ("Choir", "Rehearsal room", "17", "23", "which rehearsal room does the choir have?"),
        ("Chor", "Probenraum", "17", "23", "welchen Probenraum hat der Chor?"),
        ("Chœur", "Salle de répétition", "17", "23", "quelle salle de répétition a le chœur ?"),
        ("Хор", "Зал для репетиций", "17", "23", "какой зал для репетиций у хора?"),
    ],
)
def test_a_recent_change_is_told_with_what_was_before(
    notes: Notes, heading: str, label: str, old: str, new: str, message: str
) -> None:
    notes.write("memory/2026-02-20.md", f"# 2026-02-20\n\n## {heading}\n\n- {label}: {old}\n")
    notes.write("memory/2026-03-05.md", f"# 2026-03-05\n\n## {heading}\n\n- {label}: {new}\n")
    text = told(notes, message)
    assert f"{label}: {new} (before: {old})" in text
    assert f"{label}: {old}" not in text


@pytest.mark.parametrize(
    ("label", "value", "explained", "message"),
    [
        ("State", "not started", "not started — the hall is closed", "what is the state of the choir tour?"),
        ("状态", "未触发", "未触发 — 利率全面回落", "choir tour 的状态怎么样？"),
        ("State", "3 rows are full", "all is well", "what is the state of the choir tour?"),
    ],
)
def test_words_and_explanations_are_no_value_before(
    notes: Notes, label: str, value: str, explained: str, message: str
) -> None:
    notes.write("memory/2026-02-20.md", f"# 2026-02-20\n\n## Choir tour\n\n- {label}: {value}\n")
    notes.write("memory/2026-03-05.md", f"# 2026-03-05\n\n## Choir tour\n\n- {label}: {explained}\n")
    assert "before" not in told(notes, message)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Write back to Ottilie.", "email only"),
        ("Schreib bitte Ottilie zurück.", "email only"),
        ("Responde a Ottilie, por favor.", "email only"),
        ("Écris à Ottilie.", "email only"),
    ],
)
def test_a_first_name_that_one_person_has_is_that_person(notes: Notes, message: str, line: str) -> None:
    notes.write(
        "memory/people.md", f"# People\n\n### Ottilie Brandt\n- Phone: 12\n- ⚠️ {line}\n\n### Per Lund\n- Phone: 13\n"
    )
    text = told(notes, message)
    assert text.startswith(f"In people (Ottilie Brandt): ⚠️ {line}") and "13" not in text


def test_a_first_name_that_two_persons_have_is_nobody(notes: Notes) -> None:
    notes.write("memory/people.md", "# People\n\n### Ottilie Brandt\n- Fon: 12\n\n### Ottilie Sand\n- Fon: 13\n")
    assert told(notes, "Write back to Ottilie.") == ""
    assert "13" in told(notes, "Write back to Ottilie Sand.")


def test_thanks_to_somebody_get_nothing(notes: Notes) -> None:
    notes.write("memory/people.md", "# People\n\n### Ottilie Brandt\n- Phone: 12\n")
    for message in ("Thanks, Ottilie!", "Danke, Ottilie!", "Gracias, Ottilie", "Merci Ottilie"):
        assert told(notes, message) == ""


@pytest.mark.parametrize(
    ("heading", "message"),
    [("New beehive: steps", "I set up a new beehive, which steps?"), ("Neuer Bienenstock: Schritte", "Welche Schritte hat ein neuer Bienenstock?")],
)  # fmt: skip
def test_a_list_is_told_whole_or_the_rest_is_counted(notes: Notes, heading: str, message: str) -> None:
    items = [
        "smoke the lid",
        "weigh the frame",
        "paint two rows",
        "oil every hinge",
        "lock the gate",
        "wash both gloves",
    ]
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n## {heading}\n" + "".join(f"- {item}\n" for item in items))
    assert all(item in told(notes, message).casefold() for item in items)
    short = told(notes, message, budget=36)
    left = sum(item not in short.casefold() for item in items)
    assert 0 < left < len(items) and f"(and {left} more: memory/2026-03-02.md)" in short


def test_of_a_list_only_what_holds_is_told(notes: Notes) -> None:
    notes.write("memory/2026-02-05.md", "# 2026-02-05\n\n## Plate picking\n- Today watch 0418\n- Show me new plates\n")
    notes.write("memory/2026-02-09.md", "# 2026-02-09\n\n## Plate picking\n- **Status:** done\n")
    text = told(notes, "Show me new plates for the plate picking")
    assert "0418" not in text and "done" in text


@pytest.mark.parametrize("remark", ["wrong", "falsch", "descartada", "错误"])
def test_a_refuted_idea_comes_last(notes: Notes, remark: str) -> None:
    notes.write(
        "memory/2026-03-02.md",
        f"# 2026-03-02\n\n## Kiln\n\n- Idea ({remark}): the kiln fuse is weak\n- Cause: the kiln door was open\n",
    )
    text = told(notes, "the kiln stays cold, what was the cause?")
    assert 0 < text.find("door was open") < text.find("fuse is weak")


def test_what_was_written_to_be_kept_is_told_before_older_chats(notes: Notes) -> None:
    notes.write("MEMORY.md", "# MEMORY.md\n\n## Agents\n- Loom (a planner): stopped on 4 March 2026, too slow\n")
    chat = "user: does Loom answer?\nassistant: Loom is set up. Loom plans at 07:00.\n"
    for day in (1, 3, 8):
        notes.write(f"memory/2026-03-{day:02}.md", f"# Session: 2026-03-{day:02}\n\n## Conversation Summary\n\n{chat}")
    text = told(notes, "Start Loom again, does Loom plan and answer?")
    assert text.startswith("In MEMORY (Agents): Loom (a planner): stopped")
    assert "On 3 Mar 2026" not in text


@pytest.mark.parametrize("line", ["Older notes on it no longer hold.", "Ältere Notizen dazu gelten nicht mehr."])
def test_a_line_that_ends_older_notes_leaves_out_those_of_its_subject(notes: Notes, line: str) -> None:
    notes.write(
        "memory/2026-02-20.md", "# 2026-02-20\n\n## Ferry trip\n\n- Ferry trip leaves from: Harwich\n- Cabin: 12\n"
    )
    notes.write(
        "memory/2026-03-05.md", f"# 2026-03-05\n\n## Ferry trip\n\n- Ferry trip leaves from: Esbjerg\n- {line}\n"
    )
    text = told(notes, "book the ferry trip, where does it leave from?")
    assert "Esbjerg" in text and "Cabin" not in text


def test_the_section_that_stands_clear_of_the_others_is_told_across_languages(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_GOOD", 0.25)  # words alone score low
    notes.write("memory/2026-03-05.md", "# 2026-03-05\n\n## Dream log\n- Dreams go under `## Sueños`, word for word.\n")
    assert told(notes, "Tuve un gato raro ayer, mételo.") == ""
    assert "word for word" in told(notes, "Tuve un sueño raro anoche, anotalo.")


@pytest.mark.parametrize(
    "text",
    [
        "Invoices MUST be signed.",
        "Nur als Entwurf speichern.",
        "Solo bozze.",
        "Только карандашом.",
        "只用铅笔。",
        "下書きのみ。",
        "署名は必須です。",
        "请勿在午后来电。",
        "Send the list, but do NOT name the price.",
        "必须签字。",
    ],
)
def test_a_limit_and_what_is_stressed_are_rules(text: str) -> None:
    assert is_rule(text)


@pytest.mark.parametrize("text", ["Anrufe nie mittags.", "No calls at noon.", "Dach nicht öffnen!", "昼は電話しない。"])
def test_a_short_denial_is_a_rule_where_no_day_is_reported(text: str) -> None:
    assert is_rule(text, undated=True) and not is_rule(text)


@pytest.mark.parametrize(
    ("heading", "line", "rule", "message"),
    [
        (
            "Never below five degrees",
            "lime for the walls is mixed by Ida in the shed",
            "lime for walls sets slowly",
            "is the lime for the walls mixed?",
        ),
        (
            "Nunca con lluvia",
            "la cal de las paredes está mezclada por Ida en el cobertizo",
            "la cal de paredes tarda en secar",
            "¿está mezclada la cal de las paredes?",
        ),
        ("雨天禁止", "墙上的石灰已经搅拌", "墙上的石灰干得慢", "墙上的石灰搅拌了吗？"),
    ],
)
def test_a_rule_in_a_heading_governs_the_lines_below(
    notes: Notes, heading: str, line: str, rule: str, message: str
) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n## A\n\n- {line}\n\n## {heading}\n\n- {rule}\n")
    text = told(notes, message)
    assert 0 <= text.find(heading) < text.find(rule) < text.find(line)


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (
            "The greenhouse got a new valve.",
            "## Rule from Ida\n\n- ask Ida before work on the greenhouse",
            "repair the valve of the greenhouse",
        ),
        (
            "The greenhouse got a new valve.",
            "- **House rule (May):** ask Ida before work on the greenhouse",
            "repair the valve of the greenhouse",
        ),
        (
            "Das Gewächshaus bekam ein Ventil.",
            "## Hausregeln\n\n- Ida fragen vor Arbeit am Gewächshaus",
            "repariere das Ventil vom Gewächshaus",
        ),
        (
            "El invernadero recibió una válvula.",
            "- Regla: preguntar a Ida antes de tocar el invernadero",
            "repara la válvula del invernadero",
        ),
        ("温室换了新的阀门。", "## 温室的规则\n\n- 修温室之前先问艾达", "修理温室的阀门"),
    ],
)
def test_what_stands_below_or_behind_the_word_rule_is_told_first(
    notes: Notes, line: str, text: str, message: str
) -> None:
    notes.write("memory/2026-03-01.md", f"# 2026-03-01\n\n## A\n\n{line}\n")
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n{text}\n")
    context = told(notes, message)
    assert 0 <= context.find(text.rpartition("- ")[2].replace("*", "")) < context.find(line)


def test_a_warning_in_capitals_is_no_line_of_a_log(notes: Notes) -> None:
    text = "## Greenhouse\n\n- the valve is new\n\n**⚠️ WARNING:** the valve holds lead.\n"
    notes.write("memory/house.md", f"# x\n\n{text}")
    assert "holds lead" in told(notes, "repair the valve of the greenhouse")


@pytest.mark.parametrize(
    ("line", "order", "passage"),
    [
        ("the kiln meeting is in the barn, bring clay", "Translate to German", "where is the kiln meeting?"),
        ("la reunión del horno es en el granero con arcilla", "Traduce al inglés", "¿dónde es la reunión del horno?"),
        (
            "die Ofensitzung ist in der Scheune, mit Ton",
            "Übersetze ins Englische",
            "wo in der Scheune ist die Ofensitzung?",
        ),
        ("собрание у печи будет в амбаре с глиной", "Переведи на английский", "где собрание у печи?"),
        ("窑炉会议在谷仓，请带黏土", "翻译成英文", "窑炉会议在哪里？"),
        ("窯の会議は納屋で、粘土を持参", "英語に訳して", "窯の会議はどこ？"),
    ],
)
def test_of_a_passage_to_translate_nothing_is_told(notes: Notes, line: str, order: str, passage: str) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n- {line}\n")
    assert line[:10] in told(notes, passage)
    assert not told(notes, f"{order}: {passage}")
