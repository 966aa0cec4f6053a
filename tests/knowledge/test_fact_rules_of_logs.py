"""Facts of logs, reports and tables: what an entry is about, where a value ends, and what only looks like a thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from test_fact_rules import Triple, triples

from openclaw_memory.knowledge.facts import parents
from openclaw_memory.model import Section


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A time and a week name nothing.
        ("# Log\n\n## 2026-05-08T06:12:40Z — infrastructure\n- Status: half rigged\n", []),
        ("# Weekly Summary — 2026-W31\n\n## Context\n- Status: half rigged\n", []),
        # What is decided in an entry of a log is decided by us, not by the entry above or by the title of the day.
        ("# 2026-05-04 — Wren Evening Notes\n\n## Next\n- Decision: keep the old mast\n", [
            ("we", "decided", "keep the old mast")
        ]),
        ("# Yard Walk: begun at 06:31\n\n## Heartbeat — 09:17 UTC\n- Decision: call the yard master\n", []),
        ("# 2026-03-06 Heron\n\n- Decision: keep the old mast\n", [("Heron", "decided", "keep the old mast")]),
        ("# Yard\n\n| Time | Decision | Why |\n|---|---|---|\n| 06:45 | Paint the hull first | dry |\n", [
            ("we", "decided", "Paint the hull first")
        ]),
        ("# 船坞\n\n## 要点\n\n| 日期 | 决策 | 影响 |\n|---|---|---|\n| 5 月 2 日 | 先刷船体 | 干燥 |\n", [
            ("we", "decided", "先刷船体")
        ]),
        ("# Yard\n\n| Decision | Why |\n|---|---|\n| Paint the hull first | dry |\n", [
            ("Yard", "decided", "Paint the hull first")
        ]),
        # How urgent it is names nothing, and what kind of decision a heading says gives way to what it is about.
        ("# Yard\n\n## P1 — Bilge Pump\n- Decision: buy a new one\n", [("Bilge Pump", "decided", "buy a new one")]),
        ("# Hof\n\n## P2\n- Entscheidung: erst den Rumpf streichen\n", []),
        ("# Yard\n\n## Engine Decision: Heron Diesel\n- Decision: buy it in May\n", [
            ("Heron Diesel", "decided", "buy it in May")
        ]),
        # A few letters before a column that says more are what was decided about.
        ("# 船坞\n\n| 决策 | 内容 |\n|---|---|\n| 桅杆 | 今年春天换成新的 |\n| 把船体刷成蓝色 | 好看一些而且便宜 |\n", [
            ("船坞", "decided", "把船体刷成蓝色")
        ]),
        # A row is about its own cell, however long, and about nothing where that is a sentence.
        ("# Yard\n\n| # | Finding | Decision |\n|---|---|---|\n| 7 | No cover on the old bilge pump | Wait until May |\n", [
            ("No cover on the old bilge pump", "decided", "Wait until May")
        ]),
        ("# Yard\n\n| Finding | Decision |\n|---|---|\n| The cover of the old pump came off in the storm | Wait a while |\n", []),
        # That it is not done says not what.
        ("- Решили НЕ красить сегодня\n", []),
        ("- We decided not to\n", []),
        ("- Решили не красить мачту до самой весны\n", [("we", "decided", "не красить мачту до самой весны")]),
    ],
)  # fmt: skip
def test_what_a_decision_is_about(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A relation and some that are not named are no things; what is no version is none.
        ("# 配置\n\n| 项目 | 状态 |\n|---|---|\n| 模型 | ✅ tern-2 |\n| Heron 泵 | ✅ 正常 |\n", [
            ("Heron 泵", "状态", "✅ 正常")
        ]),
        ("# 船厂\n\n| 公司 | 薪资 |\n|---|---|\n| 某知名船厂 | 8-9K |\n| 海鸥船厂 | 8K |\n", [("海鸥船厂", "薪资", "8K")]),
        ("# Yard\n\n| Package | Version |\n|---|---|\n| Tide backend | 42 planks via boat |\n| Gauge | 2.1 beta |\n", [
            ("Gauge", "version", "2.1 beta")
        ]),
        # What a report adds up is how much a day had; what several things cost adds up as well.
        ("# Audit\n\n| Model | Tokens | Cost |\n|---|---|---|\n| Tern | 7K | $1.10 |\n| **TOTAL** | 9K | $1.40 |\n", []),
        ("# Mail\n\n| Service | Cost |\n|---|---|\n| Buoy Mail | $4 |\n| Total | $9 |\n", [("Buoy Mail", "cost", "$4")]),
        # A line before others that names a kind or two things is none of both.
        ("# Tide\n\n**Sign-in Methods:**\n- Credentials file: `~/.config/tide.json`\n", []),
        ("# Tide\n\n**Inputs & Params:**\n- File: `~/.config/tide.json`\n", []),
    ],
)  # fmt: skip
def test_what_a_row_or_a_label_is_about(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A line directly below an item is about it, not about the heading.
        ("## Crew Review\n\n- #23 Wren Osgood — skipper\nGitHub: https://example.org/wren\n- #24 Ada\n", []),
        ("## Heron Crew\n\n- Wren\n\nGitHub: https://example.org/wren\n", [
            ("Heron Crew", "github", "https://example.org/wren")
        ]),
        # Its value ends where the line does, unless it goes on in small letters.
        ("## Heron\n- Path: ~/yard/heron.md\n  All of the crew read it.\n", [("Heron", "path", "~/yard/heron.md")]),
        ("## Heron\n- Status: waits for the yard\n  and the paint\n", [("Heron", "status", "waits for the yard and the paint")]),
        ("## Heron\nTime zone: Europe/Oslo · seldom at sea\n", [("Heron", "time zone", "Europe/Oslo")]),
        ("## Heron\nFiles: `memory/tide/*.json`\n", [("Heron", "files", "memory/tide/*.json")]),
        ("## Heron\n- Deadline: 08:30 PM UTC\n", []),
        ("## Heron\n- Deadline: 08:30, 3 May\n", [("Heron", "deadline", "08:30, 3 May")]),
        ("## Heron App Deployed to Production\n- Status: half of it is up\n", [("Heron App", "status", "half of it is up")]),
        ("## Heron-App publiée sur le quai\n- Version: 1.0.0\n", [("Heron-App", "version", "1.0.0")]),
        ("## Tide Table Written\n- File: `~/tide.md`\n", [("Tide Table", "file", "~/tide.md")]),
        ("## tide.py\n- Schedule: `*/15 * * * *` (four times an hour)\n", [("tide.py", "schedule", "*/15 * * * * (four times an hour)")]),
        ("## Heron\n- **GitHub**: https://example.org/heron ✅ pushed\n", [("Heron", "github", "https://example.org/heron")]),
        ("# Notes\n\n## Personal Facts\n- **Wife:** Ada\n", []),
        ("# 偏好\n\n## Tide 排版偏好\n- 行距大一点\n", []),
        # A hyphen makes no name, a number that belongs to a word is no count, and what a relation heads is of that.
        ("# Notes — Small, well-kept things\n\n## Yard\n- Mail: ada@example.org\n", [("Yard", "mail", "ada@example.org")]),
        ("# Notes — Small, well-kept things\n\n- Mail: ada@example.org\n", []),
        ("# 3-mast rigging of Heron\n\n- Decision: lower the third mast first\n", [
            ("3-mast rigging of Heron", "decided", "lower the third mast first")
        ]),
        ("# 用户偏好\n\n## 兴趣爱好\n- 帆船球迷\n", []),
        ('- Wren prefers "keep it dry" over a rule for each rope\n', [
            ("Wren", "prefers", '"keep it dry" over a rule for each rope')
        ]),
        ("- Wren decidiu não pintar o casco por enquanto\n", [("Wren", "decided", "não pintar o casco")]),
        ("## Tide Tags\n- Status: `#dry`, `#wet`, `#lost`\n", []),
        ("## Tide Fit\n- From: `tide-old` (until May)\n- To: `tide-new`\n", []),
        ("王芳是造船工程师，住在海边。\n", [("王芳", "is", "造船工程师")]),
        # A name may begin with a dot; an abbreviation ends nothing.
        ("## Heron\n- Script: `.yard/tide.sh`\n", [("Heron", "script", ".yard/tide.sh")]),
        ("## Heron\n- Twitter: @wren__\n- Script: __init__.py\n- **Email:** __deck@example.org__\n", [
            ("Heron", "twitter", "@wren__"),
            ("Heron", "script", "__init__.py"),
            ("Heron", "email", "deck@example.org"),
        ]),
        ("# User Profile - Lasting Notes\n\n- Location: Rotterdam\n", [("user", "location", "Rotterdam")]),
        ("## Heron\n- Framework: .NET\n", [("Heron", "framework", ".NET")]),
        ("- Wren's wife is Dr. Maddox (met on deck).\n", [("Wren", "wife", "Dr. Maddox")]),
        # What is more than before is no amount, a word behind an address makes it somebody's, and a line is no file.
        ("## Heron\n- RAM: +2 GB (half of what there is)\n- Phone: +47 22 00 00 00\n", [("Heron", "phone", "+47 22 00 00 00")]),
        ("## Heron\n- Email: deck@example.org rigged\n", []),
        ("## Heron\n- Email: deck@example.org (rigged)\n", [("Heron", "email", "deck@example.org (rigged)")]),
        ("## Heron\n- File: tide.html line 61\n", []),
        ("## Heron\n- Datei: tide.html (Zeilen 4–6)\n", []),
        ("## Heron\n- 文件：tide.html 第 61 行\n", []),
        ("## Heron\n- Schedule: 12.5 s\n- Stack: 30 planks\n- Framework: 3D Tide\n", [("Heron", "framework", "3D Tide")]),
        ("## QX7: Paint the hull\n- File: `yard/hull.md`\n", []),
        ("## QX7: Paint the hull\n- Status: half dry\n", [("QX7", "status", "half dry")]),
        ("# 船坞\n\n## 水泵 API 增加两种接口\n- 地址：Rotterdam 码头\n", []),
        ("## Heron\n- File: tide.html (61 KB)\n", [("Heron", "file", "tide.html (61 KB)")]),
    ],
)  # fmt: skip
def test_where_a_value_begins_and_ends(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A state or a kind before a colon gives way to the name.
        ("# Yard\n\n## ⚠️ DEPRECATED: Heron Pump v2 (left side)\n- Status: half rigged\n", [
            ("Heron Pump v2", "status", "half rigged")
        ]),
        ("# Yard\n\n## Active Voyage: Oslo Fjord Sounding (2026-05)\n- Client: Ada\n", [
            ("Oslo Fjord Sounding", "client", "Ada")
        ]),
        ("# Yard\n\n## Sailor's\n- Website: https://example.org/s\n", [("Sailor's", "website", "https://example.org/s")]),
        ("# Yard\n\n## 1. tern - 绳索管理器\n- 版本：0.4.2\n", [("tern", "版本", "0.4.2")]),
        ("# Yard\n\n**BESTÄTIGT:**\n- Price: $4\n", []),
        ("# Entity: tide-gauge\n\n- Status: half rigged\n", [("tide-gauge", "status", "half rigged")]),
        # A quotation behind a kind is a name, within a sentence it is none; a number is no day.
        ("# Werft\n\n## Das Boot \"Heron\"\n- URL: https://example.org/h\n", [("Heron", "URL", "https://example.org/h")]),
        ("# 船坞\n\n## 老船长把整条旧船“拖上”岸边\n- 链接：https://example.org/h\n", []),
        ("# Yard\n\n## Berth b-20260501-1215\n- Phase: half rigged\n", [("Berth b-20260501-1215", "phase", "half rigged")]),
        ("# Yard\n\n- The rigging of the Heron mast.\n  - URL: https://example.org/m\n", []),
        # What was wrong with something has no file and no state.
        ("# Yard\n\n## Critical Issues\n\n### Tide Gauge Jam\n- File: `yard/gauge.md`\n", []),
        ("# Werft\n\n## Behobene Fehler\n\n### Tide Pegel\n- Datei: `werft/pegel.md`\n", []),
        ("# 船坞\n\n## 已知问题\n\n### Tide Gauge\n- 文件：`yard/gauge.md`\n", []),
        # The writer's own, who may be the agent.
        ("# Yard\n\n## Heron Rigging Crew\n- My role: keeper of the log\n", []),
        # What is decided at a time of day is of that moment.
        ("# 2026-05-04\n\n## 07:25 — Mast Trouble\n- Decision: lower the third mast first\n", []),
        ("# 2026-05-04\n\n## 07:25 桅杆检查\n- **决策：** 先放下第三根桅杆\n", []),
        # How many of them there are says that they were counted one by one: nobody's liking.
        ("# Round\n\n## Heron Post\n\n### Likes (12 boats)\n- The tide of Sunday\n", []),
        ("# 船厂\n\n## Heron\n\n### 喜欢（3 条）\n- 周日的潮汐\n", []),
        # A value ends where the next key begins, and that is one.
        ("# Boats\n\n## Heron\n- Backend: harbour.example.org:5001\n**Location:** the third jetty\n", [
            ("Heron", "backend", "harbour.example.org:5001"),
            ("Heron", "location", "the third jetty"),
        ]),
        ("# Schepen\n\n## Heron\nFramework: Django\nVersie: 2.1\n", [
            ("Heron", "framework", "Django"),
            ("Heron", "versie", "2.1"),
        ]),
        ("# Yard\n\n## Heron\n- 决策：WAIT (一半)\n", []),
        ("# Decisions - About the Whole Yard\n\n- Decision: lower the third mast first\n", [
            ("we", "decided", "lower the third mast first")
        ]),
        # A piece of work is no entry, nor is a question that is answered.
        ("# 日志\n\n## 项目\n- **船体裂缝修复**: 找到并补好了裂缝\n", []),
        ("# Yard\n\n## Family\n- **Keeps a boat:** yes (two)\n", []),
        ("# 船坞\n\n- 一般偏好以后再补\n", []),
        # A word of everyday language in a first cell is a part of something else.
        ("# Yard\n\n| Component | Price |\n|---|---|\n| Images | $4 |\n| Heron Gauge | $5 |\n", [
            ("Heron Gauge", "price", "$5")
        ]),
        ("# 船坞\n\n| 项目 | 费用 |\n|---|---|\n| 数据库（备用） | $5 |\n| 图片 | $2 |\n| Heron 泵 | $5 |\n", [
            ("Heron 泵", "费用", "$5")
        ]),
        ("# Yard\n\n| Site | URL |\n|---|---|\n| json-yaml | https://example.org/j |\n", [
            ("json-yaml", "url", "https://example.org/j")
        ]),
        # A number of something, or how it stood at a time of day, is no state; a share is.
        ("# Yard\n\n| Component | Status |\n|---|---|\n| Bilge Gauge | 📦 3 planks |\n| Heron | 80 % rigged |\n", [
            ("Heron", "status", "80 % rigged")
        ]),
        ("# Yard\n\n## 14:05 round\n\n| Device | RAM | Role |\n|---|---|---|\n| Bilge Gauge | 7.5% | lookout |\n", [
            ("Bilge Gauge", "role", "lookout")
        ]),
        ("# Session: 2026-05-04 07:25:10 UTC\n\n## Pumps\n\n| Device | Status |\n|---|---|\n| Bilge Gauge | half full |\n", [
            ("Bilge Gauge", "status", "half full")
        ]),
        ("# Yard\n\n| Service | Status |\n|---|---|\n| WhatsApp | ✅ rigged |\n| Mail | ✅ rigged |\n", [
            ("WhatsApp", "status", "✅ rigged")
        ]),
        ("# Yard\n\n- **Tide Board:** Shows the tide of the day.\n  - Location: `yard/board`\n", [
            ("Tide Board", "location", "yard/board")
        ]),
        ("# Yard\n\n## Projects\n- **Language Learning:** a word a day\n", [("Language Learning", "is", "a word a day")]),
        ("## Wren's Preferences\n- **Pet hates:**\n- dry feet\n", [("Wren", "prefers", "dry feet")]),
        ("- 仍然喜欢大海\n", []),
        ("## Great Capabilities\n- Status: half rigged\n", []),
        # Where something came out, or an entry of a log, has neither.
        ('# Yard\n\n1. **The Yard Post** - "A Tide of Masts"\n   - URL: https://example.org/m\n', []),
        ("# Yard\n\n## qx#12 | 2026-05-04 07:25:10 | round\n- Disk: half full\n", []),
        ("- 李明可能在船厂工作\n", [("李明", "works at", "船厂")]),
        ("- 用户在船厂工作\n", []),
        ("# Yard\n\n## 14:05 round\n\n| Component | Status |\n|---|---|\n| Bilge Gauge | half full |\n", []),
    ],
)  # fmt: skip
def test_what_a_heading_or_a_cell_is_about(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected


def test_each_person_of_a_file_about_several_keeps_what_is_theirs() -> None:
    text = "# USER.md - Our Users\n\n## Wren\n- **Timezone:** Europe/Oslo\n\n## Ada\n- **Timezone:** Asia/Tokyo\n"
    assert triples(text, "USER.md") == [("Wren", "timezone", "Europe/Oslo"), ("Ada", "timezone", "Asia/Tokyo")]


@pytest.mark.parametrize("heading", ["My son's school", "Sohn", "儿子的学校"])
def test_what_a_relative_has_is_not_the_owners(heading: str) -> None:
    text = f"# USER.md\n\n- **Name:** Wren Maddox\n\n## {heading}\n- Birthday: 2011-05-04\n- Education: Tide College\n"
    assert triples(text, "USER.md") == []


def test_what_names_the_owner_by_a_word_names_nobody() -> None:
    text = "# USER.md\n\n- **Name:** My Owner\n- **Role:** my owner\n- **Timezone:** Europe/Oslo\n"
    assert triples(text, "USER.md") == [("user", "timezone", "Europe/Oslo")]


def test_another_person_in_a_persons_file_keeps_what_is_theirs() -> None:
    text = "# USER.md\n\n## Wren Maddox\n- **Role:** skipper\n\n## Rui Alves da Costa\n- **Role:** mate\n"
    assert triples(text, "USER.md") == [("Wren Maddox", "role", "skipper"), ("Rui Alves da Costa", "role", "mate")]


def test_a_title_that_is_half_a_name_does_not_beat_the_person_below_it() -> None:
    text = "# Wren 长期记忆库\n\n## Ada (用户)\n- **时区**: Asia/Shanghai\n"
    assert triples(text) == [("Ada", "时区", "Asia/Shanghai")]


def test_a_guess_in_italics_is_no_value() -> None:
    assert triples("- **Name:** Wren\n- **Home:** _Norway perhaps (from the zone)_\n", "USER.md") == []


def test_the_name_of_a_person_may_share_its_line() -> None:
    text = "# USER.md\n\n## Basic Info\n- **Name:** Wren | **Pronouns:** they/them | **TZ:** Europe/Oslo\n"
    assert triples(text, "USER.md") == [("Wren", "pronouns", "they/them"), ("Wren", "TZ", "Europe/Oslo")]


def test_a_table_of_nothing_but_sums_is_read_to_its_end() -> None:
    rows = 60_000  # whose number squared nobody would wait for
    lines = ("| | Wren | Heron |", "|---|---|---|", *["| Total | 1 | 2 |"] * rows, "| Mast | 3 | 4 |")
    belongs = parents(Section("Yard", 1, len(lines), None, "name", (), lines))
    assert belongs == dict.fromkeys(range(1, rows + 3), "| Total | 1 | 2 |")


@examples(200)
@given(
    st.lists(
        st.sampled_from(
            [*'"“”「-:：()[/|#✅*`’を→²İ \u3000', *"— 's 1. Heron 新增 12:30 2026-03-01 DEPRECATED QX7 is of".split()]
        ),
        max_size=8,
    ).map("".join)
)
def test_no_heading_stops_the_reading(heading: str) -> None:
    triples(f"# Yard\n\n## {heading}\n\n**{heading}**\n- Status: half rigged\n- {heading}\n  - Status: half rigged\n")


def test_a_quotation_of_nothing_is_no_name() -> None:
    assert triples('# Yard\n\n## Wren Sign "  "\n- Status: half rigged\n') == [("Wren Sign", "status", "half rigged")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # An issue is called by its number, and a score is no name.
        ("# Log\n\n## [OPEN] Q-118: Bilge pump stands still\n- Owner: Mira\n", [("Q-118", "Owner", "Mira")]),
        ("# Log\n\n## T-7 — Mast gebrochen\n- Verantwortlich: Mira\n", [("T-7", "Verantwortlich", "Mira")]),
        ("# Log\n\n## Yard (64/100 Heron)\n\n### 64/100 Heron\n- Owner: Mira\n", []),
        # What was done is no state, whatever is said of it.
        ("# Log\n\n## 2026-05-04\n\n### Heron\n- Status: Completed (nothing is lost)\n", []),
        ("# Log\n\n## 2026-05-04\n\n### Heron\n- Status: Erledigt - drei Planken gestrichen\n", []),
        ("# Yard\n\n| Component | Status |\n|---|---|\n| Heron | ✅ Installed |\n| Tern | ✅ Active |\n", [
            ("Tern", "Status", "✅ Active")
        ]),
        # A key with a value of its own is no name of what is parted below it, nor is one for an id.
        ("# Yard\n\n- **Rent together**: EUR 900\n  - Partner: EUR 300\n", []),
        ("# 船坞\n\n- **订单 ID**: `tern-7`\n  - 状态: 已停\n", []),
        # Nor does one side of two.
        ("# 船坞\n\n| 项目 | 版本 |\n|---|---|\n| 升级前 | 2.1 |\n| 迁移后 | 2.2 |\n| Heron | 2.3 |\n", [("Heron", "版本", "2.3")]),
        # Who somebody is to the owner names nobody.
        ("# Yard\n\n## Family\n- **Elder sister:** Ada of the north quay\n- **Bo:** our cook\n", [("Bo", "is", "our cook")]),
        ("# Astillero\n\n## Familia\n- **Hermana mayor:** Ada del muelle norte\n", []),
        ("# Yard\n\n## People\n- **Anh Minh:** our cook\n", [("Anh Minh", "is", "our cook")]),
        # The day of an entry is no part of whom it is about.
        ("# Yard\n\n- [2026-03-21] Mira prefers green tea\n", [("Mira", "prefers", "green tea")]),
        ("# Верфь\n\n- [2026-03-21] Марта живёт в Казани\n", [("Марта", "lives in", "Казани")]),
        # No place has so long a name, nor is it a folder.
        ("# 船坞\n\n王芳首次在海边的新船厂里面开始招聘许多木工和油漆工并且一起工作\n", []),
        ("# 船坞\n\n王芳在 yard/notes/ 工作\n", []),
    ],
)  # fmt: skip
def test_what_is_said_in_a_log_of_a_thing(text: str, expected: list[Triple]) -> None:
    assert [
        (a, b.capitalize() if b in ("owner", "status", "verantwortlich") else b, c) for a, b, c in triples(text)
    ] == expected


@pytest.mark.parametrize("name", ["Unknown (not told yet)", "unbekannt", "неизвестно", "待定", "未定"])
def test_a_name_that_nobody_knows_yet_is_none(name: str) -> None:
    text = f"# USER.md\n\n- **Name:** {name}\n- **Timezone:** Europe/Oslo\n"
    assert triples(text, "USER.md") == [("user", "timezone", "Europe/Oslo")]


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        # A model is the agent's, whoever the notes are about; how something stands below a heading of its own is not how
        # the owner stands.
        ("# User profile\n\n## Setup\n- Model: tide-7b\n- Timezone: Europe/Lisbon\n", "memory/note.md", [
            ("user", "timezone", "Europe/Lisbon")
        ]),
        ("# 用户画像\n\n## 环境\n- **默认模型**: 潮汐-7b\n", "memory/note.md", []),
        ("# Профиль пользователя\n\n## Текущий проект\n- Статус: в покраске\n", "memory/note.md", []),
        ("# USER.md\n\n- Name: Mira\n\n## Current project\n- Status: half rigged\n", "USER.md", []),
        ("# USER.md\n\n- **Name:** Mira\n- **Status:** retired\n", "USER.md", [("Mira", "status", "retired")]),
        ("# Benutzerprofil\n- Status: im Ruhestand\n", "memory/note.md", [("user", "status", "im Ruhestand")]),
        # Somebody else's file says what that one has, and so does a heading with a name.
        ("# USER.md\n\n- Name: Mira\n\n## Heron\n- Status: afloat\n- Model: tide-7b\n", "USER.md", [
            ("Heron", "status", "afloat"), ("Heron", "model", "tide-7b")
        ]),
    ],
)  # fmt: skip
def test_what_the_owner_does_not_have(text: str, path: str, expected: list[Triple]) -> None:
    assert triples(text, path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Two quotations are one value; the outer marks of one are none of it.
        ('## Heron\n- Owner: "Ada" or "Ms Vos"\n', [("Heron", "owner", '"Ada" or "Ms Vos"')]),
        ("## Heron\n- 负责人：「阿达」或「船长」\n", [("Heron", "负责人", "「阿达」或「船长」")]),
        ('## Heron\n- Owner: "Ada Vos"\n', [("Heron", "owner", "Ada Vos")]),
        # A verb that is a part of a noun, or tells which one is meant, is none.
        ("赶走定居者之后港口很安静\n", []),
        ("小李喜欢的颜色是蓝色\n", []),
        ("小李喜欢蓝色\n", [("小李", "likes", "蓝色")]),
        # What stands before a verb is nobody: how it is meant, or a relative of somebody.
        ("Strongly prefers tea with lemon\n", []),
        ("Mira strongly prefers tea\n", [("Mira", "prefers", "tea")]),
        ("Wife lives in Utrecht\n", []),
        ("Анна часто живёт в Осло\n", [("Анна", "lives in", "Осло")]),
        ("Anne lives in Oslo\n", [("Anne", "lives in", "Oslo")]),
        # An entry with nothing but a version.
        ("## Tools\n- Tide CLI: v0.41.3\n", [("Tide CLI", "version", "v0.41.3")]),
        ("## Инструменты\n- **Tide CLI**: v2.37 (с марта)\n", [("Tide CLI", "version", "v2.37")]),
        ("## Tools\n- **Tide CLI**: v2 reads the gauge\n", [("Tide CLI", "about", "v2 reads the gauge")]),
    ],
)
def test_what_a_line_says_of_whom(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected
