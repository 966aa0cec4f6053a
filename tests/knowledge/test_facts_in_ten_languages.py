"""Keys, tables and sentences that state a fact, and their neighbours that state none, in the languages of notes."""

from __future__ import annotations

from datetime import date

import pytest

from openclaw_memory.knowledge import facts as rules
from openclaw_memory.knowledge.fact_sentences import Speech, facts_in
from openclaw_memory.knowledge.predicates import is_single, kind_of_key, normalise
from openclaw_memory.text.markdown import parse

Triple = tuple[str, str, str]


def triples(text: str, path: str = "memory/note.md") -> list[Triple]:
    document = parse(text, path=path, mtime=date(2026, 3, 1), unit_tokens=60)
    person = rules.subject_of(path, document.sections)
    return [
        (fact.subject, fact.predicate, fact.object)
        for section in document.sections
        for above in [rules.parents(section)]
        for unit in section.units
        for fact in rules.found(unit, section.heading, person, above.get(unit.start_line, ""))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Mira Sommer\n\n- **Phone:** 030 555 0100\n", ("Mira Sommer", "phone", "030 555 0100")),
        ("# Lena Vogt\n\n- **Geburtstag:** 4. Mai 1990\n", ("Lena Vogt", "geburtstag", "4. Mai 1990")),
        ("# Claire Morel\n\n- **Adresse :** 12 rue du Lac\n", ("Claire Morel", "adresse", "12 rue du Lac")),
        ("# Ana Ruiz\n\n- **Correo:** ana@ejemplo.es\n", ("Ana Ruiz", "correo", "ana@ejemplo.es")),
        ("# João Prado\n\n- **Aniversário:** 3 de junho\n", ("João Prado", "aniversário", "3 de junho")),
        ("# Giulia Neri\n\n- **Telefono:** 055 123456\n", ("Giulia Neri", "telefono", "055 123456")),
        ("# Lantern\n\n- **Статус:** на паузе\n", ("Lantern", "статус", "на паузе")),
        ("# Marek Nowak\n\n- **Urodziny:** 7 maja\n", ("Marek Nowak", "urodziny", "7 maja")),
        ("# Lantern\n\n- **Durum:** beklemede\n", ("Lantern", "durum", "beklemede")),
        ("# Lantern\n\n- **Trạng thái:** tạm dừng\n", ("Lantern", "trạng thái", "tạm dừng")),
        ("# Lantern 项目\n\n- **状态**：暂停\n", ("Lantern", "状态", "暂停")),
        ("# Lantern\n\n- ポート：8080\n", ("Lantern", "ポート", "8080")),
        ("# Lantern\n\n- **상태:** 보류 중\n", ("Lantern", "상태", "보류 중")),
    ],
)
def test_keys(text: str, expected: Triple) -> None:
    assert triples(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mira lives in Porto with two cats.", ("Mira", "lives in", "Porto")),
        ("Lena wohnt in Köln.", ("Lena", "lives in", "Köln")),
        ("Claire habite à Lyon.", ("Claire", "lives in", "Lyon")),
        ("Ana trabaja en Telefónica.", ("Ana", "works at", "Telefónica")),
        ("João mora em Recife.", ("João", "lives in", "Recife")),
        ("Giulia lavora per Olivetti.", ("Giulia", "works at", "Olivetti")),
        ("Sanne is allergisch voor noten.", ("Sanne", "allergic to", "noten")),
        ("Ольга предпочитает чай.", ("Ольга", "prefers", "чай")),
        ("Marek mieszka w Gdańsku.", ("Marek", "lives in", "Gdańsku")),
        ("Elif İzmir'de yaşıyor.", ("Elif", "lives in", "İzmir")),
        ("Lan sống ở Huế.", ("Lan", "lives in", "Huế")),
        ("李雷对花生过敏。", ("李雷", "allergic to", "花生")),
        ("小林は京都に住んでいます。", ("小林", "lives in", "京都")),
        ("민수는 부산에서 일합니다.", ("민수", "works at", "부산")),
    ],
)
def test_sentences(text: str, expected: Triple) -> None:
    assert [(fact.subject, fact.predicate, fact.object) for fact in facts_in(text, Speech())] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Lena wohnt nicht in Köln.",
        "Wohnt Lena in Köln?",
        "Claire n'habite pas à Lyon.",
        "Ella vive en Bilbao.",
        "Ana no vive en Bilbao.",
        "Ольга не любит чай.",
        "Она живёт в Казани.",
        "CI-процесс живёт в отдельной папке.",
        "Lan không sống ở Huế.",
        "他住在杭州。",
        "李雷对花生不过敏吗？",
        "彼は京都に住んでいます。",
        "그는 부산에서 일합니다.",
    ],
)
def test_sentences_that_deny_ask_or_point(text: str) -> None:
    assert list(facts_in(text, Speech())) == []


@pytest.mark.parametrize(
    ("text", "who", "expected"),
    [
        ("Ich wohne in Ulm.", "Bo", ("Bo", "lives in", "Ulm")),
        ("J'habite à Nantes.", "Bo", ("Bo", "lives in", "Nantes")),
        ("Vivo en Sevilla.", "Bo", ("Bo", "lives in", "Sevilla")),
        ("Я живу в Твери.", "Bo", ("Bo", "lives in", "Твери")),
        ("我住在成都。", "Bo", ("Bo", "lives in", "成都")),
        ("私は大阪に住んでいます。", "Bo", ("Bo", "lives in", "大阪")),
        ("Meine Lieblingsfarbe ist Grün.", "Bo", ("Bo", "lieblingsfarbe", "Grün")),
    ],
)
def test_who_speaks(text: str, who: str, expected: Triple) -> None:
    assert [(fact.subject, fact.predicate, fact.object) for fact in facts_in(text, Speech(me=who))] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "## 2026-03-04\n\n- **Status:** done for today\n",
        "## Session: 10:15 UTC\n\n- **Status**: fine\n- **URL**: https://example.org\n",
        "## 今日进展\n\n- **状态**：正常\n",
        "## Zugangsdaten\n\n- **Server:** alpha.example.org\n",
        "## Архитектура\n\n- **Модель:** большая\n",
        "## 技術構成\n\n- **ホスティング**: どこか\n",
        "## Lantern\n\n- **Email:** [your email]\n- **Phone:** <number>\n- **Website:** https://…\n- **Status:** *(optional)*\n",
        "## Lantern\n\n- **Theme colours:** amber, brown\n- **Fixed the lamp:** it hummed\n- **Owner:** see below:\n",
    ],
)
def test_what_is_no_subject_or_no_value(text: str) -> None:
    assert triples(text) == []


def test_a_leaf_heading_does_not_beat_the_person_above() -> None:
    text = "# Mira Sommer\n\n## Contact\n\n- Birthday: 4 May\n\n## Berlin trip\n\n- Allergies: peanuts\n"
    assert {subject for subject, _, _ in triples(text)} == {"Mira Sommer"}
    user = "# USER.md\n\n- **Name:** Ada\n\n## Lantern project\n\n- **Timezone:** Europe/Lisbon\n- **URL:** https://lamp.example\n"
    assert triples(user, "USER.md") == [
        ("Ada", "timezone", "Europe/Lisbon"),
        ("Lantern", "URL", "https://lamp.example"),
    ]


def test_a_nested_item_is_about_the_one_above_it() -> None:
    text = "## Crew\n\n- **Tobi**\n  - Phone: 030 555 0101\n- **What we did:**\n  - Phone: called all of them\n"
    assert triples(text) == [("Tobi", "phone", "030 555 0101")]


@pytest.mark.parametrize("value", ["Dr. Anna Weiss", "St. Mary's Clinic", "Prof. J. Ito"])
def test_values_are_not_cut_at_abbreviations(value: str) -> None:
    assert triples(f"# Mira Sommer\n\n## Contact\n\n- **Manager:** {value}\n") == [("Mira Sommer", "manager", value)]


def test_several_pairs_on_a_line() -> None:
    text = "## Lantern\n\n**Domain:** lamp.example | **Port:** 8080 | **Status:** live\n"
    assert triples(text) == [
        ("Lantern", "domain", "lamp.example"),
        ("Lantern", "port", "8080"),
        ("Lantern", "status", "live"),
    ]


def test_tables_in_other_languages() -> None:
    text = "| Projekt | Verantwortlich | Notiz |\n|---|---|---|\n| Lantern | Mira Sommer | laut |\n"
    assert triples(f"## Übersicht\n\n{text}") == [("Lantern", "verantwortlich", "Mira Sommer")]
    asked = "| Decision | What we need |\n|---|---|\n| the colour of the lamp | which one do you want? |\n"
    assert triples(f"## Lamp\n\n{asked}") == []


def test_relations_have_one_form_in_all_languages() -> None:
    assert {normalise(name) for name in ("Geburtstag", "生日", "生年月日", "день рождения", "sinh nhật")} == {
        "birthday"
    }
    assert {kind_of_key(name) for name in ("Telefon", "電話", "số điện thoại")} == {"phone"}
    assert is_single("Wohnort") and is_single("状态") and not is_single("Allergie") and not is_single("过敏")


@pytest.mark.parametrize("name", ["Ben", "Ella", "Max", "Mina", "Dan"])
@pytest.mark.parametrize("said", ["{} lives in Utrecht.", "{} wohnt in Utrecht."])
def test_a_name_that_is_a_pronoun_elsewhere_is_a_name(name: str, said: str) -> None:
    assert (name, "lives in", "Utrecht") in triples(f"# Notes\n\n- {said.format(name)}\n")


OWNER = "# USER.md\n\n- **Name:** Mira\n\n"


@pytest.mark.parametrize(
    ("heading", "item", "expected"),
    [
        ("Preferences", "Doesn't like onions", ("dislikes", "onions")),
        ("Pet peeves", "Slow replies", ("dislikes", "Slow replies")),
        ("Präferenzen", "Mag keine Zwiebeln", ("dislikes", "Zwiebeln")),
        ("Préférences", "N'aime pas les oignons", ("dislikes", "les oignons")),
        ("Preferências", "Não gosta de cebola", ("dislikes", "cebola")),
        ("Preferenze", "Non ama la cipolla", ("dislikes", "la cipolla")),
        ("Voorkeuren", "Houdt niet van uien", ("dislikes", "uien")),
        ("Предпочтения", "Не любит лук", ("dislikes", "лук")),
        ("Preferencje", "Nie lubi cebuli", ("dislikes", "cebuli")),
        ("偏好", "不喜欢香菜", ("dislikes", "香菜")),
        ("不喜欢的食物", "香菜", ("dislikes", "香菜")),
        ("喜欢的食物", "饺子", ("likes", "饺子")),
        ("好み", "パクチーが嫌い", ("dislikes", "パクチー")),
        ("嫌いな食べ物", "パクチー", ("dislikes", "パクチー")),
        ("선호", "고수를 싫어함", ("dislikes", "고수")),
        ("싫어하는 음식", "고수", ("dislikes", "고수")),
    ],
)
def test_an_item_says_itself_whether_somebody_likes_it(heading: str, item: str, expected: tuple[str, str]) -> None:
    assert triples(f"{OWNER}## {heading}\n\n- {item}\n", "USER.md") == [("Mira", *expected)]


@pytest.mark.parametrize(
    ("heading", "item"),
    [("Likes", "No onions"), ("Dislikes", "Doesn't eat onions"), ("Vorlieben", "Keine Zwiebeln"), ("喜欢", "不吃香菜")],
)
def test_what_is_denied_below_likes_or_dislikes_is_neither(heading: str, item: str) -> None:
    assert triples(f"{OWNER}## {heading}\n\n- {item}\n", "USER.md") == []


@pytest.mark.parametrize(
    ("key", "relation"),
    [
        ("Dislikes", "dislikes"), ("Mag nicht", "dislikes"), ("N'aime pas", "dislikes"), ("No le gusta", "dislikes"),
        ("Não gosta de", "dislikes"), ("Не любит", "dislikes"), ("Любит", "likes"), ("Không thích", "dislikes"),
        ("不喜欢", "dislikes"), ("喜欢", "likes"), ("嫌い", "dislikes"), ("싫어하는 것", "dislikes"), ("Likes", "likes"),
    ],
)  # fmt: skip
def test_likes_and_dislikes_are_keys_of_a_person_only(key: str, relation: str) -> None:
    line = f"- **{key}:** Lakritz\n"
    ((subject, predicate, thing),) = triples(OWNER + line, "USER.md")
    assert (subject, normalise(predicate), thing) == ("Mira", relation, "Lakritz")
    assert triples(f"# Team\n\n## Lena Vogt\n\n{line}", "memory/people.md")[0][0] == "Lena Vogt"
    assert triples(f"# Lantern\n\n{line}") == []


@pytest.mark.parametrize(
    "text",
    [
        "Mira mag Zwiebeln nicht.", "Mira likes nothing of it.", "小王不太喜欢香菜。", "小王并不讨厌香菜。",
        "小王没有住在杭州。", "田中は納豆が好きではない。", "田中は納豆が嫌いではない。", "田中さんは東京に住んでいない。",
    ],
)  # fmt: skip
def test_a_denial_states_nothing_wherever_it_stands(text: str) -> None:
    assert triples(text) == []


def test_an_adverb_is_no_part_of_a_chinese_name() -> None:
    assert triples("小王从来不喜欢香菜。") == [("小王", "dislikes", "香菜")]


def test_a_german_preposition_denies_nothing() -> None:
    assert triples(OWNER + "- Mag die Reise nach Reims\n", "USER.md") == [("Mira", "likes", "die Reise nach Reims")]
