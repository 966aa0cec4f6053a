"""What is found in a text as a candidate, and which candidates make concepts."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from openclaw_memory.graph.evidence import EXPLICIT, POINTS, STRONG, Nesting, burst, decide, kind_of, reason, salience
from openclaw_memory.knowledge.concept_keys import concept_key
from openclaw_memory.knowledge.mentions import FileContext, candidates, file_mentions, front_matter_mentions
from openclaw_memory.knowledge.unspaced import repeated
from openclaw_memory.model import Unit, UnitForm
from openclaw_memory.store.api import RULES, Mention
from openclaw_memory.text.markdown import parse


def rules_by_name(text: str, form: UnitForm = "item", speaker: str | None = None) -> dict[str, str]:
    return {mention.text: mention.rule for mention in candidates(Unit(text, 1, 1, form, speaker))}


def strong(text: str, form: UnitForm = "item") -> set[str]:
    return {
        name for name, rule in rules_by_name(text, form).items() if rule not in ("start", "phrase", "plain", "part")
    }


# -- rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "name", "text"), table("mentions.tsv", "a mention by its rule"))
def test_a_text_mentions_a_name_by_a_rule(rule: str, name: str, text: str) -> None:
    assert rules_by_name(text)[name] == rule


@pytest.mark.parametrize(("rule", "text"), table("mentions.tsv", "no mention by a rule"))
def test_a_text_has_no_mention_by_a_rule(rule: str, text: str) -> None:
    assert not strong(text) if rule == "strong" else rule not in rules_by_name(text).values()


@pytest.mark.parametrize(("rule", "names", "text"), table("mentions.tsv", "all mentions by a rule"))
def test_a_text_has_just_these_mentions_by_a_rule(rule: str, names: str, text: str) -> None:
    assert {name for name, other in rules_by_name(text).items() if other == rule} == set(filter(None, names.split("|")))


def test_code_blocks_give_identifiers_only() -> None:
    block = '```python\ndef wait_before(attempt: int) -> float:\n    """Never Trust Mira here."""\n    return min(9, x)\n```'
    assert rules_by_name(block, "code") == {"wait_before": "code"}


@pytest.mark.parametrize(("text", "form"), table("candidates.tsv", "capitals that every sentence has are weak"))
def test_capitals_that_every_sentence_has_are_weak(text: str, form: UnitForm) -> None:
    rules = rules_by_name(text, form)
    assert next(rule for name, rule in rules.items() if name.startswith("Greenhouse")) == "start"


def test_the_speaker_of_a_turn_is_no_mention() -> None:
    for text in ("Joanna: hi", "> **JR:** hi", "- [12:30] Joanna: hi", "**JR**: hi"):
        speaker = "JR" if "JR" in text else "Joanna"
        assert rules_by_name(text, "turn", speaker) == {}
    assert rules_by_name("Joanna: I told Joanna so", "turn", "Joanna") == {"Joanna": "name"}
    assert rules_by_name("we asked Joanna: no", "line", "Joanna")["Joanna"] == "name"


def test_front_matter_is_read_from_the_mapping_not_from_its_text() -> None:
    assert rules_by_name("tags: [Raspberry Pi, `dns`]", "meta") == {}
    front = {
        "title": "Some Title", "date": "2026-03-01", "origin": "agent", "sources": ["memory/a.md"],
        "tags": ["#home-lab", "dns", 3, "2026"], "People": "Mira, [[Wren]]", "projects": {"a": "b"},
    }  # fmt: skip
    assert {(mention.text, mention.rule) for mention in front_matter_mentions(front)} == {
        ("home-lab", "meta"), ("dns", "meta"), ("Mira", "meta"), ("Wren", "meta"),
    }  # fmt: skip
    assert front_matter_mentions({}) == []


@pytest.mark.parametrize(("path", "stem"), table("candidates.tsv", "a note is mentioned by its name"))
def test_a_note_is_mentioned_by_its_name(path: str, stem: str) -> None:
    assert file_mentions(path) == [Mention(concept_key(stem), stem, "file")]


def test_files_that_every_workspace_has_are_no_notes() -> None:
    assert file_mentions("MEMORY.md") == file_mentions("USER.md") == file_mentions("projects/README.md") == []


@pytest.mark.parametrize("text", table("candidates.tsv", "what stands for a secret names nothing"))
@pytest.mark.parametrize("form", ["item", "code", "heading"])
def test_what_stands_for_a_secret_names_nothing(text: str, form: UnitForm) -> None:
    assert not [name for name in rules_by_name(text, form) if "redacted" in name.lower() or "github" in name.lower()]


@pytest.mark.parametrize("value", ["[redacted:github-token]", ["redacted:github-token"], "redacted:github-token"])
def test_what_stands_for_a_secret_is_no_tag(value: str | list[str]) -> None:
    assert front_matter_mentions({"tags": value}) == []


def test_a_key_counts_once_under_its_strongest_rule() -> None:
    mentions = candidates(Unit("Tidepool, `tidepool`, “tidepool” and [[Tidepool]] in tidepool", 1, 1))
    assert [(mention.text, mention.rule) for mention in mentions if mention.key == concept_key("tidepool")] == [
        ("Tidepool", "link")
    ]


def test_of_many_the_strongest_are_kept() -> None:
    words = " ".join(f"wobble{letter} gizmo{letter}" for letter in "abcdefghijklmnop")
    mentions = candidates(Unit(f"{words} of [[garage]] and Mira", 1, 1))
    assert len(mentions) == 12
    assert {"garage", "Mira"} <= {mention.text for mention in mentions}


_MARKUP = st.lists(
    st.sampled_from([" ", "\n", *"""[[ ]] ` # ** ]( / @ :// " „ Mira a _ - . 5 's of é 漢 | () x1""".split()])
    | st.text(max_size=6),
    max_size=60,
).map("".join)


@given(text=_MARKUP | st.text(max_size=300), form=st.sampled_from(["line", "turn", "row", "code", "quote", "heading"]))
def test_any_text_gives_a_bounded_list_of_distinct_mentions(text: str, form: UnitForm) -> None:
    mentions = candidates(Unit(text, 1, 1, form, speaker="Mira"))
    assert mentions == candidates(Unit(text, 1, 1, form, speaker="Mira"))
    assert len(mentions) <= 12
    assert len({mention.key for mention in mentions}) == len(mentions)
    for mention in mentions:
        assert mention.rule in RULES
        assert 2 <= len(mention.text) <= 80
        assert mention.key == concept_key(mention.text) != 0


@pytest.mark.parametrize(
    "piece", ["a", "A ", "Aa-", "`", "[[", "](", "#a", "a/", "a@", "**", '"a', "_", "1.", "漢", "Dr. "]
)
def test_a_line_without_end_is_read_to_its_end(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + " seen by [[garage]] today"
    assert len(candidates(Unit(text, 1, 1))) <= 12


# -- decisions ----------------------------------------------------------------------------------


def decided(*mentions: tuple[str, int], total: int = 1000, documents: int = 2, total_documents: int = 100) -> bool:
    """Whether a key is a concept that these rules found in so many units each."""
    counts = np.zeros((1, len(RULES)), np.int64)
    for rule, count in mentions:
        counts[0, RULES.index(rule)] += count
    mask = decide(counts, np.array([documents]), total, total_documents)
    assert mask.dtype == np.bool_
    return bool(mask[0])


def test_every_rule_has_points() -> None:
    assert set(POINTS) == set(RULES)
    assert set(RULES) >= STRONG >= EXPLICIT
    assert all(points > 0 for rule, points in POINTS.items() if rule != "part") and POINTS["part"] == 0


def test_once_is_not_enough() -> None:
    assert not any(decided((rule, 1)) for rule in RULES)


@pytest.mark.parametrize("rule", ["link", "tag", "meta", "code", "name"])
def test_a_strong_mention_needs_one_other(rule: str) -> None:
    assert decided((rule, 2))
    assert decided((rule, 1), ("start", 1))


def test_a_link_and_its_note_are_two() -> None:
    assert decided(("link", 1), ("file", 1))


def test_sentence_starts_alone_never_suffice() -> None:
    assert not any(decided(("start", count)) for count in range(1, 200))
    assert not any(decided(("start", count), ("file", files)) for count in range(20) for files in range(5))


def test_one_capital_among_many_plain_uses_is_no_name() -> None:
    assert decided(("name", 1), ("start", 5))
    assert not decided(("name", 1), ("start", 40))
    assert decided(("name", 5), ("plain", 5))
    assert not decided(("name", 5), ("plain", 6))
    # What a person marks needs no capital, and neither does an identifier.
    assert decided(("code", 2), ("plain", 40)) and decided(("tag", 1), ("plain", 9))


def test_a_phrase_needs_three_and_more_in_a_large_corpus() -> None:
    assert not decided(("phrase", 2))
    assert decided(("phrase", 3))
    assert not decided(("phrase", 3), total=100_000)
    assert decided(("phrase", 10), total=100_000)


def test_what_is_everywhere_is_routine_unless_it_is_a_name_or_comes_in_bursts() -> None:
    assert not decided(("phrase", 200), documents=90)
    assert not decided(("name", 100), ("start", 200), documents=95)
    assert decided(("name", 800), ("start", 100), documents=100), "a name that is in nearly every unit"
    assert decided(("phrase", 200), documents=20), "two hundred times in a fifth of the notes is a subject of these"
    assert decided(("name", 200), ("tag", 1), documents=95)


def test_bursts_are_told_from_chance() -> None:
    units, total = np.array([100, 100, 1]), 100
    spread, clumped, once = burst(units, np.array([63, 10, 1]), total)
    assert abs(spread) < 0.1 < 2 < clumped and abs(once) < 0.1


def test_a_name_in_many_notes_matters_more_than_a_phrase_and_an_abbreviation() -> None:
    counts = np.zeros((4, len(RULES)), np.int64)
    for at, (rule, count) in enumerate([("name", 20), ("phrase", 20), ("name", 20), ("name", 2)]):
        counts[at, RULES.index(rule)] = count
    weights = salience(
        counts, counts.sum(axis=1), np.array([10, 10, 10, 2]), 100, ["Osgood", "oak beam", "XQ", "Pemberton"]
    )
    assert weights[0] > max(weights[1:])


@pytest.mark.parametrize(
    ("names", "units", "left"),
    [
        ({1: "cron-memory", 2: "cron-memory-refresh"}, {1: 100, 2: 100}, {2}),
        ({1: "embedding-model", 2: "embedding-model-choice"}, {1: 12, 2: 3}, {1, 2}),
        ({1: "claude", 2: "claude-code", 3: "claude-opus"}, {1: 9, 2: 5, 3: 4}, {1, 2, 3}),
        ({1: "raspberry-pi", 2: "raspberry-pi-5"}, {1: 6, 2: 6}, {1}),
        ({1: "postgresql", 2: "postgresql-16"}, {1: 9, 2: 3}, {1, 2}),
        ({1: "记忆", 2: "记忆系统"}, {1: 8, 2: 8}, {2}),
        ({1: "温室", 2: "温室自动化"}, {1: 20, 2: 4}, {1, 2}),
    ],
)
def test_a_term_that_stands_only_within_longer_ones_is_none(
    names: dict[int, str], units: dict[int, int], left: set[int]
) -> None:
    nesting, counts = Nesting.build(tuple(names.values())), np.array(list(units.values()))
    none = np.zeros(len(names), bool)
    gone = nesting.nested(counts, none)
    assert {key for key, out in zip(names, gone.tolist(), strict=True) if not out} == left
    assert not nesting.nested(counts, ~none).any()


@given(st.lists(st.sampled_from(RULES), min_size=1, max_size=30), st.sampled_from([r for r in RULES if r in EXPLICIT]))
def test_an_explicit_mention_never_takes_a_concept_away(rules: list[str], explicit: str) -> None:
    before = decided(*((rule, 1) for rule in rules))
    assert decided(*((rule, 1) for rule in [*rules, explicit])) >= before


def test_kinds_are_said_only_when_rules_tell() -> None:
    assert kind_of({"tag", "name"}, "work") == "tag"
    assert kind_of({"link", "file"}, "hardware") == "note"
    assert kind_of({"code", "start"}, "fetchTiles") == "code"
    assert kind_of({"code", "name"}, "GitHub") is None
    assert kind_of({"name", "start"}, "Mira") is None


# -- the example workspace ----------------------------------------------------------------------


def _units(root: Path) -> list[list[Mention]]:
    """What each unit of a workspace mentions, as ingest finds it."""
    out = []
    for path in sorted([*root.glob("*.md"), *root.glob("memory/*.md")]):
        name = path.relative_to(root).as_posix()
        parsed = parse(path.read_text(encoding="utf-8"), path=name, mtime=date(2026, 3, 7), unit_tokens=64)
        mentions = [candidates(unit) for section in parsed.sections for unit in section.units]
        mentions[0] += file_mentions(name)
        out += mentions
    return out


def _concepts(units: Iterable[list[Mention]], total: int) -> set[int]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for mentions in units:
        best: dict[int, str] = {}
        for mention in sorted(mentions, key=lambda mention: RULES.index(mention.rule)):
            best.setdefault(mention.key, mention.rule)
        for key, rule in best.items():
            counts[key][rule] += 1
    keys = list(counts)
    table = np.array([[counts[key][rule] for rule in RULES] for key in keys])
    mask = decide(table, np.minimum(table.sum(axis=1), 12), total, 12)
    return {key for key, chosen in zip(keys, mask, strict=True) if chosen}


@pytest.fixture(scope="module")
def example() -> list[list[Mention]]:
    return _units(Path(str(files("openclaw_memory"))) / "example")


def test_the_example_has_the_concepts_that_a_reader_would_name(example: list[list[Mention]]) -> None:
    concepts = _concepts(example, len(example))
    expected = """
        QX-7714 QX-7731 Mira Wren Dario Juno Anouk Ottilie Biscuit notesync tidepool parrot-board dario-mirror
        all-MiniLM-L6-v2 bge-m3 Qwen3-Embedding-4B 10.0.0.17 tank_notes attic pantry VRAM hardware 2026-02-16
    """.split()
    expected += ["Raspberry Pi", "RTX 5070 Ti", "embedding model", "memory search", "security review"]
    assert [name for name in expected if concept_key(name) not in concepts] == []


def test_the_example_has_no_concept_of_routine(example: list[list[Mention]]) -> None:
    concepts = _concepts(example, len(example))
    routine = """
        Standup chores yesterday today tomorrow blocked reminder decision reason monday friday sunday march last-week
        good-idea looking-forward next-step own-notes one-file three-conditions gb tb none true everything two nobody
        memory user md
    """.split()
    assert [name for name in routine if concept_key(name) in concepts] == []
    assert len(concepts) < 70


def test_units_have_few_mentions(example: list[list[Mention]]) -> None:
    assert sum(map(len, example)) <= 5 * len(example)


def test_concepts_do_not_depend_on_the_order_of_ingest(example: list[list[Mention]]) -> None:
    shuffled = list(example)
    random.Random(3).shuffle(shuffled)
    assert _concepts(shuffled, len(example)) == _concepts(example, len(example))


# -- languages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["今天发了5条高质量岩画", "今天发了 12 条高质量岩画", "写了 10+ 条高质量岩画"])
def test_what_counts_things_is_no_part_of_a_chinese_term(text: str) -> None:
    assert not [name for name in rules_by_name(text) if name.startswith("条")]
    terms = repeated([text, "8条高质量岩画！", "20条高质量岩画的事", "3 条高质量岩画在哪"])
    assert terms is None or not [term for term in terms.findall(text) if term.startswith("条")]


def test_a_number_within_a_name_counts_nothing() -> None:
    lines = ["买ESP32岩画板了", "把ESP32岩画板装好", "说ESP32岩画板坏了", "问ESP32岩画板在哪"]
    terms = repeated(lines)
    assert terms is not None and terms.findall(lines[0]) == ["岩画板"]


def test_a_line_of_japanese_notes_without_kana_is_not_read_as_chinese() -> None:
    lines = ["湯川棚卸確認", "温室棚卸送付", "市場棚卸再送", "箱舟棚卸済"]
    kana = ["今日は温室を直した", "湯川さんに会った", "市場へ行った", "箱舟を見た", "水をやった"]
    assert repeated(lines) is not None and repeated(lines + kana) is None


def test_words_of_everyday_chinese_and_sentences_are_no_terms() -> None:
    for text in (
        "我们需要继续检查，今天可以；「我不想让它消失」",
        "我們需要繼續檢查，今天可以；一個檔案，執行，資訊，網路",
    ):
        assert not [name for name, rule in rules_by_name(text).items() if rule != "part"]


def test_what_a_file_repeats_between_changing_characters_is_a_term() -> None:
    chinese = [
        "早上检修蓄水池的泵", "晚上蓄水池满了", "明天去看蓄水池", "说蓄水池漏水", "把蓄水池盖好", "又问蓄水池在哪",
    ]  # fmt: skip
    found_there = repeated(chinese)
    assert found_there is not None and found_there.findall("他们修好蓄水池之后") == ["蓄水池"]
    thai = ["ซ่อมเรือนกระจกวันนี้", "ไปดูเรือนกระจกแล้ว", "ทาสีเรือนกระจกใหม่", "ที่เรือนกระจกมีน้ำ"]
    found_there = repeated(thai)
    assert found_there is not None and "เรือนกระจก" in found_there.findall("ล้างเรือนกระจก")
    assert repeated(["no such script", "at all"]) is None and repeated([]) is None


def repeats(*lines: str) -> set[str]:
    pattern = repeated(lines)
    return set(pattern.pattern.split("|")) if pattern is not None else set()


def test_a_chinese_term_does_not_begin_or_end_within_a_word() -> None:
    around = ("昨天", "去年", "他家", "老王", "河边", "山里")
    lines = [f"{prefix}浇花仪式" for prefix in around] + [f"{hour}:45 上午浇花仪式" for hour in range(1, 9)]
    found_there = repeats(*lines, *(f"{prefix}{half}午浇花仪式" for prefix in around for half in "上下"))
    assert "浇花仪式" in found_there and not any(term.startswith("午") for term in found_there)


@pytest.mark.parametrize("statement", ["鱼缸水泵稳定", "无漏水鱼缸", "换水鱼缸后", "魚缸水泵穩定"])
def test_what_says_how_a_thing_is_or_when_is_no_chinese_term(statement: str) -> None:
    lines = [f"{prefix}{statement}" for prefix in ("甲", "乙", "丙", "丁", "戊")]
    assert statement not in repeats(*lines) and not {
        name for name, rule in rules_by_name(statement).items() if rule != "part" and name == statement
    }


def test_a_chinese_word_that_begins_like_a_denial_is_a_term() -> None:
    assert "无人机航线" in repeats(*(f"{prefix}无人机航线" for prefix in ("甲", "乙", "丙", "丁", "戊")))


def test_what_lines_repeat_word_for_word_matters_less() -> None:
    counts = np.zeros((2, len(RULES)), np.int64)
    counts[:, RULES.index("name")] = 40, 10
    routine, own = salience(counts, np.array([10, 10]), np.array([5, 5]), 20, ["Heron", "Petrel"])
    assert routine < own


def test_cases_and_plurals_are_one_key() -> None:
    assert concept_key("Кирилл") == concept_key("Кирилла") and concept_key("Sensor") == concept_key("sensors")
    assert concept_key("Кирилл") != concept_key("Тимур")


def test_a_reason_says_what_was_counted() -> None:
    counts = np.zeros(len(RULES), np.int64)
    counts[RULES.index("name")], counts[RULES.index("start")] = 7, 2
    assert reason(counts, 4) == "7× a name within a sentence, 2× at the beginning of a sentence; in 4 notes"
    assert reason(np.zeros(len(RULES), np.int64), 0) == "named in concepts.yaml"


def test_what_one_line_repeats_and_rows_of_numbers_matter_less() -> None:
    counts = np.zeros((6, len(RULES)), np.int64)
    counts[:, RULES.index("name")] = 20
    counts[5, RULES.index("plain")] = 20
    distinct, documents = np.array([20, 1, 20, 20, 20, 20]), np.array([10] * 6)
    names = ["Osgood", "Pemberton", "V1", "V2", "V3", "Harbour"]
    first, *rest = salience(counts, distinct, documents, 100, names).tolist()
    assert first > max(rest)


@pytest.mark.parametrize(
    "name",
    ["daily", "undefined", "waiting visitors"],
)
def test_an_everyday_tag_and_a_phrase_matter_less(name: str) -> None:
    counts = np.zeros((2, len(RULES)), np.int64)
    rule = "meta" if name.islower() and " " not in name else "phrase" if name.islower() else "name"
    counts[:, RULES.index(rule)] = 12
    names = [name, "oak beam Osgood" if rule == "phrase" else "Osgood"]
    less, own = salience(counts, np.array([12, 12]), np.array([4, 4]), 40, names)
    assert less <= own / 2


@pytest.mark.parametrize("text", table("candidates.tsv", "a word for a kind of thing names nothing in any language"))
def test_a_word_for_a_kind_of_thing_names_nothing_in_any_language(text: str) -> None:
    assert not {name for name, rule in rules_by_name(text).items() if rule in ("name", "phrase", "code")}


def test_a_name_of_words_for_kinds_matters_less() -> None:
    counts = np.zeros((2, len(RULES)), np.int64)
    counts[:, RULES.index("name")] = 6
    names = ["Agent Pipeline Status", "Heron Pipeline Status"]
    general, own = salience(counts, np.array([6, 6]), np.array([4, 4]), 40, names)
    assert general < own


_COLUMNS = "tide_id, gauge_id, moored_at, hauled_at, skipper_name"


@pytest.mark.parametrize(
    ("text", "form"), [(f"TIDES: {_COLUMNS}, Notes Field", "item"), (f"CREATE TABLE tides ({_COLUMNS})", "code")]
)
def test_a_line_of_columns_names_nothing_but_what_it_links(text: str, form: UnitForm) -> None:
    assert rules_by_name(text, form) == {}
    if form == "item":
        assert rules_by_name(f"{text} [[Heron]] #boats") == {"Heron": "link", "boats": "tag"}


def test_the_host_of_an_address_in_code_is_no_name() -> None:
    assert strong("curl https://tides.example.org/v1/gauge.json -o gauge_now.json", "code") == {"gauge_now.json"}


def test_a_line_is_read_in_its_own_language() -> None:
    english = ["The gauge is read at noon and it is written down", "We have been there and it was not the tide"]
    german = "Bitte prüfe für mich die Tabelle und den Aufruf, damit es nicht noch länger dauert"
    unit = Unit(german, 1, 1, "item")
    names = {mention.text: mention.rule for mention in candidates(unit, FileContext.for_texts([*english, german]))}
    assert names.get("Tabelle") == "plain" and names.get("Aufruf") == "plain"


@pytest.mark.parametrize("statement", ["距满潮", "待换水"])
def test_a_chinese_term_does_not_begin_with_how_far_it_is(statement: str) -> None:
    pattern = repeated([f"今晚{statement}，", f"鱼缸{statement}。", f"明天{statement}！", f"{statement}时看看"])
    assert pattern is None or statement not in pattern.pattern.split("|")
