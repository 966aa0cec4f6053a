"""What the rules find in notes, and above all what they leave alone."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import parts, table

from openclaw_memory.knowledge import fact_extraction as rules
from openclaw_memory.knowledge.fact_sentences import DefaultSubjects, facts_in
from openclaw_memory.knowledge.headings import is_template, topic_of
from openclaw_memory.knowledge.predicates import is_single, kind_of_key, normalise
from openclaw_memory.model import Unit, UnitForm
from openclaw_memory.text.markdown import parse

Triple = tuple[str, str, str]
#: Made-up notes and what they state, many of them such as look like a fact and are none.
NOTES = Path(__file__).parents[1] / "data" / "facts.jsonl"


def triples(text: str, path: str = "memory/note.md") -> list[Triple]:
    """Subject, predicate and object of all facts in a note."""
    document = parse(text, path=path, mtime=date(2026, 3, 1), unit_tokens=60)
    person = rules.person_of_file(path, document.sections)
    return [
        (fact.subject, fact.predicate, fact.object)
        for section in document.sections
        for context in [rules.SectionContext.for_section(section, person)]
        for unit in section.units
        for fact in rules.extract(unit, context)
        if fact.rule not in ("value", "change")  # kept for their changes alone: tests/facts/test_value_changes.py
    ]


def test_nearly_all_of_many_notes_are_read_as_they_are_meant() -> None:
    counts: Counter[str] = Counter()
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        facts, meant = set(triples(note["text"], note["path"])), set(map(tuple, note["facts"]))
        counts.update(right=len(facts & meant), wrong=len(facts - meant), missed=len(meant - facts))
        counts.update(silent=not meant, spoken=not meant and bool(facts))
    assert counts["right"] / (counts["right"] + counts["missed"]) > 0.85
    assert counts["right"] / (counts["right"] + counts["wrong"]) > 0.8
    assert counts["spoken"] / counts["silent"] < 0.25


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    table("facts_found.tsv", "each form states a fact", str, str, parts),
)
def test_each_form_states_a_fact(text: str, path: str, expected: list[str]) -> None:
    assert [fact for fact in triples(text, path or "memory/note.md") if fact[1] != "name"] == [tuple(expected)]


@pytest.mark.parametrize(
    "text", table("facts_found.tsv", "what is denied asked passing or about nobody states nothing")
)
def test_what_is_denied_asked_passing_or_about_nobody_states_nothing(text: str) -> None:
    assert triples(text) == []


@pytest.mark.parametrize(("text", "name"), table("facts_found.tsv", "the person of user md"))
def test_the_person_of_user_md(text: str, name: str) -> None:
    document = parse(text, path="USER.md", mtime=date(2026, 3, 1), unit_tokens=60)
    assert rules.person_of_file("USER.md", document.sections) == name
    assert rules.person_of_file("memory/a.md", document.sections) is None


def test_others_in_a_persons_file_keep_what_is_theirs() -> None:
    several = "# USER.md - Our Users\n\n## Wren\n- **Timezone:** Europe/Oslo\n\n## Ada\n- **Timezone:** Asia/Tokyo\n"
    assert triples(several, "USER.md") == [("Wren", "timezone", "Europe/Oslo"), ("Ada", "timezone", "Asia/Tokyo")]
    relative = "# USER.md\n\n- **Name:** Wren Maddox\n\n## Sohn\n- Birthday: 2011-05-04\n"
    assert triples(relative, "USER.md") == []


def test_a_nested_item_is_about_the_one_above_it() -> None:
    text = "## Crew\n\n- **Tobi**\n  - Phone: 030 555 0101\n- **What we did:**\n  - Phone: called all of them\n"
    assert triples(text) == [("Tobi", "phone", "030 555 0101")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Contacts | - Nora Lindqvist — plumber — +46 70 123 45 67", "phone +46 70 123 45 67; about plumber"),
        ("Kontakte | - Ali Demir, Tischler, 0151 5550 7788", "phone 0151 5550 7788; about Tischler"),
        ("Contactos | - Tomás Rivera – electricista – tomas@rivera.example", "email tomas@rivera.example; about electricista"),
        ("Contacts | - Lucie Moreau (kiné, 01 55 50 12 34)", "phone 01 55 50 12 34; about kiné"),
        ("Контакты | - Ольга Титова: бухгалтер, +7 911 555 01 02", "phone +7 911 555 01 02; about бухгалтер"),
        ("联系人 | - 李雷：水管工，13900139000", "phone 13900139000; about 水管工"),
        ("連絡先 | - 佐藤健 - 会計 - 03-1234-5678", "phone 03-1234-5678; about 会計"),
        ("연락처 | - 김민수 — 배관공 — 010-5550-1234", "phone 010-5550-1234; about 배관공"),
        ("Contacts | - Plumber: Nora Lindqvist, +46 70 123 45 67", "phone +46 70 123 45 67; about Plumber"),
        ("Garden | Nora Lindqvist, nora@pipes.example", "email nora@pipes.example"),
        ("Organigramm | - Clara Stone — CEO", "about CEO"),
        ("Team | - Mina Park — backend lead, reports to Dev Patel", "about backend lead, reports to Dev Patel"),
        ("Price list | - Small bowl — €12", "price €12"),
        ("Preise | - Brennen, pro Kilo: 4 €", "price 4 €"),
        ("料金表 | - 大人：1500円", "price 1500円"),
    ],
)  # fmt: skip
def test_a_line_of_a_list_states_what_the_form_of_its_parts_says(line: str, expected: str) -> None:
    heading, _, item = line.partition(" | ")
    assert "; ".join(f"{relation} {thing}" for _, relation, thing in triples(f"# {heading}\n\n{item}\n")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# Garden\n\n- Order — 0301234567",
        "# Garden\n\n- Called Nora Lindqvist, she will ring 0151 5550 7788 on Friday after the market closes",
        "# Garden\n\n- Nora Lindqvist — 2026-03-21",
        "# Garden\n\n- Lunch — €12",
        "# Contacts\n\n- Tuesday — dentist",
        "# Contacts\n\n- Email: nora@pipes.example, 0151 5550 7788",
        "# Prices\n\n- Everything got dearer, see the shop",
        "# 联系人\n\n- 电话：13900139000",
    ],
)
def test_a_line_that_is_no_list_states_none(text: str) -> None:
    assert triples(text) == []


def test_a_table_of_prices_names_things_by_common_nouns() -> None:
    table_of = "# Price list\n\n| {} | {} |\n|---|---|\n| {} | {} |\n".format
    assert triples(table_of("Product", "Price", "Mug", "14 €")) == [("Mug", "price", "14 €")]
    assert triples(table_of("料金", "価格", "大人", "1500円")) == [("大人", "価格", "1500円")]
    assert triples(table_of("Day", "Price", "2026-03-01", "14 €")) == []


def test_a_row_with_an_address_is_about_the_person_it_names() -> None:
    text = "# Office\n\n| Role | Employee | Phone |\n|---|---|---|\n| Plumber | Nora Lindqvist | +46 70 123 45 67 |\n"
    expected = [("Nora Lindqvist", "role", "Plumber"), ("Nora Lindqvist", "phone", "+46 70 123 45 67")]
    assert triples(text) == expected
    assert triples(text.replace("Nora Lindqvist", "somebody")) == []


def test_an_item_below_a_contact_is_about_them() -> None:
    text = "## Contacts\n\n- Nora Lindqvist — plumber\n  - Birthday: 3 May\n  - Ali Demir — 0151 5550 7788\n"
    assert ("Nora Lindqvist", "birthday", "3 May") in triples(text)
    assert ("Ali Demir", "phone", "0151 5550 7788") in triples(text)


@pytest.mark.parametrize(
    ("heading", "item", "expected"),
    [*table("facts_found.tsv", "what somebody likes", str, str, parts), ("Likes", "No onions", None)],
)
def test_what_somebody_likes(heading: str, item: str, expected: tuple[str, str] | None) -> None:
    facts = triples(f"# USER.md\n\n- **Name:** Mira\n\n## {heading}\n\n- {item}\n", "USER.md")
    assert facts == ([("Mira", *expected)] if expected else [])


@pytest.mark.parametrize(("text", "expected"), table("facts_found.tsv", "who speaks", str, parts))
def test_who_speaks(text: str, expected: list[str]) -> None:
    (fact,) = facts_in(text, DefaultSubjects(speaker="Bo"))
    assert [fact.subject, fact.predicate, fact.object] == expected


def test_relations_have_one_form_in_all_languages() -> None:
    assert {normalise(name) for name in ("Geburtstag", "生日", "生年月日", "день рождения")} == {"birthday"}
    assert {kind_of_key(name) for name in ("Telefon", "電話", "số điện thoại")} == {"phone"}
    assert is_single("Wohnort") and is_single("状态") and not is_single("Allergie") and not is_single("过敏")


FORMS: list[UnitForm] = ["line", "turn", "item", "sentence", "row", "code", "quote", "heading", "title", "meta"]
NOTE = st.lists(
    st.sampled_from(
        [
            *"Mira JR lives in Utrecht prefers is was decided to We I My favourite's colour: ** | ; . , ? `a_b` - [ ]".split(),
            *"# the not > ： / → 12:30 2026-03-01 1. 新增 を\n **Key:** ’s é 😀".split(),
            "| a | b |",
            "\n",
        ]
    ),
    max_size=30,
).map(" ".join)


@examples(300)
@given(
    text=NOTE | st.text(max_size=200),
    form=st.sampled_from(FORMS),
    heading=NOTE | st.text(max_size=40),
    above=NOTE,
    who=st.none() | st.just("JR"),
    speaker=st.none() | st.just("Ada"),
)
def test_any_text_is_read(
    text: str, form: UnitForm, heading: str, above: str, who: str | None, speaker: str | None
) -> None:
    unit = Unit(text, 1, 1, form, speaker, "header: " + text if form == "row" else None)
    topic, template = topic_of(heading, who), is_template(heading)
    context = rules.SectionContext(heading, who, topic, template, {1: above} if above else {})
    facts = rules.extract(unit, context)
    assert facts == rules.extract(unit, context) and len(facts) == len(set(facts))
    for fact in facts:
        assert fact.subject.strip() and fact.predicate.strip() and fact.object.strip()
        assert 0 < fact.confidence <= 1 and len(fact.object) <= 300 and "\n" not in fact.object + fact.subject
