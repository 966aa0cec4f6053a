"""A value that changed: what notes state of it, what ended when, what is unconfirmed, and what contradicts itself."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from click.testing import CliRunner
from fakes import Notes, open_memory

from openclaw_memory.errors import RequestError
from openclaw_memory.knowledge.changes import ValueChange, change_between, changes_in, day_since, new_value_in
from openclaw_memory.model import FactsResult
from openclaw_memory.serve.registry import memory_facts
from openclaw_memory.serve.tool import Call, check_arguments


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("Upgraded Quay Lamp from `2.1.3` to `2.1.9`", ("Quay Lamp", "2.1.3", "2.1.9")),
        ("Trial: 14 days → 3 days", ("Trial", "14 days", "3 days")),
        ("Beitrag von 29 € auf 19,50 € gesenkt", ("Beitrag", "29 €", "19,50 €")),
        ("Le prix est passé de 29 € à 19 €", ("Le prix", "29 €", "19 €")),
        ("La cuota pasó de 29 € a 19 €", ("La cuota", "29 €", "19 €")),
        ("O preço passou de 29 € para 19 €", ("O preço", "29 €", "19 €")),
        ("Prezzo aumentato da 29 € a 35 €", ("Prezzo", "29 €", "35 €")),
        ("Prijs verhoogd van 29 € naar 35 €", ("Prijs", "29 €", "35 €")),
        ("Подняли температуру с 18 °C до 21 °C", ("температуру", "18 °C", "21 °C")),
        ("Czas zmieniono z 3 dni na 5 dni", ("Czas", "3 dni", "5 dni")),
        ("Fiyat 29 TL'den 19 TL'ye güncellendi", ("Fiyat", "29 TL", "19 TL")),
        ("Giá giảm từ 29 € xuống 19 €", ("Giá", "29 €", "19 €")),
        ("灯塔从 1.2.0 升级到 1.3.0", ("灯塔", "1.2.0", "1.3.0")),
        ("会費を29ユーロから19ユーロに変更", ("会費", "29ユーロ", "19ユーロ")),
        ("Beitrag 19 € (vorher 29 €)", ("Beitrag", "29 €", "19 €")),
        ("Round of checks: changed from monthly to weekly", ("Round of checks", "monthly", "weekly")),
        ("Moved the wiki from Harbour Host to Quay Cloud", ("the wiki", "Harbour Host", "Quay Cloud")),
        ("Berth: $19/mo → $9/mo", ("Berth", "$19/mo", "$9/mo")),
        ("¥150 → ¥120", ("", "¥150", "¥120")),
        ("Changed keep_lit from true to false.", ("keep_lit", "true", "false")),
        ("Round moved from Tuesday to Thursday", ("Round", "Tuesday", "Thursday")),
        ("Renamed the label `Odd — Review` to `Odd Ends`", ("the label", "Odd — Review", "Odd Ends")),
        ("Lamp host now at 10.0.4.7:8080 (was 10.0.4.2:3000)", ("Lamp host", "10.0.4.2:3000", "10.0.4.7:8080")),
        ("Lieferant von Mühlbach auf Kornhof umgestellt", ("Lieferant", "Mühlbach", "Kornhof")),
        ("La reunión cambió del lunes al miércoles", ("La reunión", "lunes", "miércoles")),
        ("Переименовал папку `входящие` в `разбор`", ("папку", "входящие", "разбор")),
        ("各任务超时从180-480秒统一调整为600秒", ("各任务超时", "180-480秒", "600秒")),
        ("服务商由青禾云改为蓝鲸云", ("服务商", "青禾云", "蓝鲸云")),
        ("巡检从每小时1次调整为每3小时1次", ("巡检", "每小时1次", "每3小时1次")),
        ("料金を $19 から $9 に変更", ("料金", "$19", "$9")),
        ("フォルダ名を 下書き から 原稿 に変えた", ("フォルダ名", "下書き", "原稿")),
        ("入力: `open` → `allow` に変更、全件", ("入力", "open", "allow")),
        ("**Berths**: 83 → 70 places (the others were sold)", ("Berths", "83", "70")),
        ("Offene Mängel: 37 Lampen → 0", ("Offene Mängel", "37 Lampen", "0")),
        ("Tareas activas: 4 → 7", ("Tareas activas", "4", "7")),
        ("Berth 8: 8 → 2 places", ("Berth 8", "8", "2")),
        ("**q8s**: 8 → 2 Lampen (nur helle)", ("q8s", "8", "2")),
        ("**Quay 4.6 → 4.7** — in allen Häfen", ("Quay", "4.6", "4.7")),
        ("待办：8 → 2", ("待办", "8", "2")),
        ("2026-03-15 round changed from 5 min to 15 min", ("round", "5 min", "15 min")),
        ("2026-03-15 обход увеличен с 5 минут до 1 часа", ("обход", "5 минут", "1 часа")),
        ("灯塔大修完成！亮度: 14 → 15", ("亮度", "14", "15")),
        ("LAMP.md短縮（1,239語 → 479語、61%減）", ("LAMP.md", "1,239語", "479語")),
        (
            "LAMP.md reviewed and compressed: reduced from 48,686 bytes to 46,126 bytes",
            ("LAMP.md", "48,686 bytes", "46,126 bytes"),
        ),
        ("**Reemplazado `Muelle.jsx`** → `Puerto.jsx`", ("", "Muelle.jsx", "Puerto.jsx")),
    ],
)
def test_a_line_with_an_old_and_a_new_value_states_a_change(line: str, change: tuple[str, str, str]) -> None:
    assert changes_in(line) == [change]


@pytest.mark.parametrize(
    "line",
    [
        "Fallbacks: maple-4.6 → birch-5",
        "Build → check → send",
        "Open from 9:00 to 17:00",
        "Boats from 8 to 12 metres",
        "The light went away from 09:12 to 11:40",
        "1 ETH → 17,652 USDC",
        "Could raise the share from 40% to 60%",
        "Was it raised from 3 to 5 days?",
        "The market grows from 30 B$ in 2026 to 38 B$ by 2030",
        "`GLM` → `zai/glm-4.7`",
        "2026-03-01 → 2026-03-07",
        "Option B: raise the limit from 20 to 50",
        "Mara wants the price from $9 to $7",
        "News: the rate rose from 3 % to 4 %",
        "方案C：增加超时时间（150秒→300秒）",
        "改善幅: +0.80pt（7.90 → 8.70）",
        "Reads: 120 → 340 tokens is what a page takes",
        'Commit: "Fix checks: door (curl->wget), shed (v6->v4)"',
        "Standard endpoint (`/api/v4/`) → HTTP 429",
        'Last: "Fix lamps: quay (IPv6->IPv4), pier (v6->v4)"',
        "Kept in `/etc/quay.rules` (line inserted before `lamp-4`)",
        "Score: first 7.33 → 7.83 = +0.5pt",
        "深度：从简单罗列升级为深度信息挖掘",
        "Meta: 125 → 110 em 6 meses",
        "Ziel: 49 → 37 Lampen",
        "灯塔体验：2024 → 2026",
        "A mini lamp needs a 12V→19V converter",
        "Crate of 2018, 180 cm, 63 kg→85 kg, oak",
        "🔴 Água 1-2L → 3L+!",
        "Lamp goes from red, 31GB → 4GB of glass",
        "Joined the lamps: #453, #465, #466 → **#453**",
        "`low_tide`, `high_tide` → `tide`",
        "**Result:** 46,850 → 47,443 bytes after a round of painting + new lamps. 2.5 KB left.",
        "**関連:** 灯台。港町出身の囁き声から始まった小さな灯りの物語へ移行する前の作品。",
        "「港」という題は今日の五つの中で一番好きだ——船を数えて六十六日、見えたのは岸だけで2020→2021に移行した",
        "Crew 4x 1h (REDUCED from 6x 2h+)",
        "Successfully moved from Harbour Host to Quay Cloud",
        "3→5 lamps!",
        "Git repo: `~/quay` → `github.com/quay/lamp.git`",
        "**Old key of the gate:** `4458344999...` → 401 Unauthorized",
        "**Case: 5207 → 5195** on the small chart",
        "Mast height: 1.84 → 184cm",
    ],
)
def test_steps_ranges_forecasts_and_wishes_are_no_change(line: str) -> None:
    assert not changes_in(line)


def test_a_line_may_state_several_changes() -> None:
    assert changes_in("lamp 11.9.0→11.10.0, `fog_horn`: 2 min → 5 min") == [
        ("lamp", "11.9.0", "11.10.0"),
        ("fog_horn", "2 min", "5 min"),
    ]


def test_remarks_in_cells_are_no_part_of_their_values() -> None:
    change = change_between("Harbour key", "18 characters", "64 characters (cut by hand at the old forge)")
    assert change == ValueChange("Harbour key", "18 characters", "64 characters")


def test_a_heading_and_columns_state_changes(notes: Notes) -> None:
    table = "| Setting | Before | After |\n|---|---|---|\n| Gate code | 18 chars | 64 chars |\n| Paint | old | rust |\n"
    other = "| 項目 | 変更前 | 変更後 |\n|---|---|---|\n| 表示件数 | 10件 | 25件 |\n"
    log = "| Time | Task | Reason | Did |\n|---|---|---|---|\n| 05:30 | Tidy | old files | moved them |\n"
    text = f"# 2026-03-02\n\n## Quay Lamp upgrade: 1.2.2 → 1.2.3\n\n{table}\n{other}\n{log}"
    notes.write("memory/2026-03-02.md", text)
    with open_memory(notes) as memory:
        changes = memory.facts.changes(date(2026, 1, 1)).changes or ()
    assert {(each.subject, each.before.object, each.after.object) for each in changes if each.before} == {
        ("Quay Lamp", "1.2.2", "1.2.3"),
        ("Gate code", "18 chars", "64 chars"),
        ("Paint", "old", "rust"),
        ("表示件数", "10件", "25件"),
    }


@pytest.mark.parametrize(
    "line",
    [
        "Round of the quay changed from 5 min to 15 min on 2026-03-15",
        "**Rundgang alle Stunde** — am 15.03.2026 wurde der Rundgang von 5 Minuten auf 15 Minuten verlängert",
        "**Обход** — с 2026-03-15 интервал увеличен с 5 минут до 15 минут",
        "巡检间隔从5分钟调整为15分钟（2026-03-15）",
        "2026年3月15日 巡回間隔を5分から15分に変更",
    ],
)
def test_a_change_is_of_the_day_that_its_line_names(notes: Notes, line: str) -> None:
    notes.write("MEMORY.md" if line.isascii() else "memory/2026-04-02.md", f"# Quay\n\n- {line}\n")
    with open_memory(notes) as memory:
        (change,) = memory.facts.changes(date(2026, 1, 1)).changes
        (row,) = memory.facts.query(all=True).rows
    assert change.day == row.valid_from == date(2026, 3, 15)
    assert "2026" not in change.after.object + row.object


@pytest.mark.parametrize(
    "line", ["Lamp model: quay-2 → quay-5 (until 2026-03-20)", "Modell: quay-2 → quay-5 (bis 20.03.2026)"]
)
def test_a_change_does_not_begin_with_the_day_of_its_end(notes: Notes, line: str) -> None:
    notes.write("memory/2026-03-02.md", f"# 2026-03-02\n\n- {line}\n")
    with open_memory(notes) as memory:
        (change,) = memory.facts.changes(date(2026, 1, 1)).changes
    assert change.day == date(2026, 3, 2)


def test_the_first_part_of_a_heading_names_what_changed(notes: Notes) -> None:
    text = "## Lamp model switch to Maple 4\n\n- Switched from Birch 3.1 to Maple 4.0\n"
    notes.write("memory/2026-06-05.md", f"# 2026-06-05\n\n{text}")
    with open_memory(notes) as memory:
        (change,) = memory.facts.changes(date(2026, 1, 1)).changes
    assert change.subject == "Lamp model"


def test_a_decision_has_its_heading_and_the_day_of_its_row(notes: Notes) -> None:
    table = "| Datum | Entscheidung | Grund |\n|---|---|---|\n| 2026-03-26 | Kleine Boote zuerst holen | Sturm |\n"
    text = f"## Steg\n\n{table}\n## Quay Lamp — glass\n\n- **Decision:** Keep the old green glass for now.\n"
    text += "\n## 中午 12:37 - 码头灯\n\n- **决定**：本周之内继续用旧的绿色玻璃。\n"
    notes.write("memory/2026-06-05.md", f"# 2026-06-05\n\n{text}")
    with open_memory(notes) as memory:
        changes = memory.facts.changes(date(2026, 1, 1)).changes
    assert [(each.subject, each.after.object, each.day) for each in changes] == [
        ("we", "Kleine Boote zuerst holen", date(2026, 3, 26)),
        ("Quay Lamp glass", "Keep the old green glass for now", date(2026, 6, 5)),
        ("码头灯", "本周之内继续用旧的绿色玻璃", date(2026, 6, 5)),
    ]


def test_each_item_with_an_arrow_and_a_state_is_a_change(notes: Notes) -> None:
    items = "  - `QUAY-26` -> `done`\n  - ✅ Lamp #23 → **closed**\n"
    notes.write("memory/2026-06-05.md", f"# 2026-06-05\n\n- Wrote notes and moved statuses on the board:\n{items}")
    with open_memory(notes) as memory:
        changes = memory.facts.changes(date(2026, 1, 1)).changes
    assert [(each.subject, each.predicate, each.before, each.after.object) for each in changes] == [
        ("Lamp #23", "status", None, "closed"),
        ("QUAY-26", "status", None, "done"),
    ]


def test_of_one_day_the_later_section_holds(notes: Notes) -> None:
    text = "# 2026-03-02\n\n## Quay Lamp (noon)\n- **Version:** 2.1\n\n## Quay Lamp (18:26)\n- **Version:** 2.3\n"
    notes.write("memory/2026-03-02.md", text)
    with open_memory(notes) as memory:
        rows = memory.facts.query().rows
        changes = memory.facts.changes(date(2026, 1, 1)).changes or ()
    assert [(row.object, [past.object for past in row.before]) for row in rows] == [("2.3", ["2.1"])]
    assert [(each.before.object, each.after.object) for each in changes if each.before] == [("2.1", "2.3")]


def test_a_change_that_is_taken_back_on_its_day_ends_nothing(notes: Notes) -> None:
    text = "# 2026-03-02\n\n- Quay Lamp: 2.1.0 → 2.3.0\n- Quay Lamp: 2.3.0 → 2.1.0\n"
    notes.write("memory/2026-03-02.md", text)
    with open_memory(notes) as memory:
        assert [row.object for row in memory.facts.query().rows] == ["2.1.0"]


def test_a_change_ends_a_value_that_a_key_gave_in_another_language(notes: Notes) -> None:
    notes.write("memory/2026-02-19.md", "# 2026-02-19\n\n## Heron 配置\n- **版本**: 1.2.17\n")
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n## Heron 升级\n- 已从 1.2.25 升级到 **1.3.1**\n")
    notes.write("memory/2026-03-08.md", "# 2026-03-08\n\n- Heron 更新到 1.3.7\n")
    with open_memory(notes) as memory:
        (row,) = memory.facts.query().rows
    assert (row.object, [past.object for past in row.before]) == ("1.3.7", ["1.3.1", "1.2.17", "1.2.25"])


def test_what_begins_with_the_sign_of_its_currency_changed(notes: Notes) -> None:
    notes.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n- Berth: $19 → $9\n- 摊位费从 ¥150 降到 ¥120\n- 場所代を€40から€30に変更\n",
    )
    with open_memory(notes) as memory:
        assert len(memory.facts.changes(date(2026, 1, 1)).changes or ()) == 3


def test_a_new_version_needs_no_old_one() -> None:
    assert new_value_in("Updated Quay Lamp to v2.2.0") == ("Quay Lamp", "v2.2.0")
    assert new_value_in("Обновили маяк до 2.2.0") == ("маяк", "2.2.0")
    assert new_value_in("We may have to go to 2.2.0") is None


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("4.1.12 (since 2026-03-24)", date(2026, 3, 24)),
        ("19 € seit 24.3.2026", date(2026, 3, 24)),
        ("5日 (2026-03-24起)", date(2026, 3, 24)),
        ("19 € (2026-03-24)", date(2026, 3, 24)),
        ("19 € (until 2026-03-24)", None),
        ("due 2026-03-03", None),
    ],
)
def test_a_value_names_the_day_since_which_it_holds(value: str, day: date | None) -> None:
    assert day_since(value) == day


@pytest.fixture
def quay(notes: Notes) -> Notes:
    """Notes of a quay whose lamp, fee and trial changed."""
    notes.write("MEMORY.md", "## Quay Lamp\n- **Version:** 2.1.3\n")
    notes.write("memory/2026-03-02.md", "# 2026-03-02\n\n## Mooring fee\n- Price: 29 € a month\n- Trial: 14 days\n")
    fee = "# 2026-03-24\n\n## Mooring fee\n- Price: 19.50 € once\n- Trial: 3 days\n"
    notes.write("memory/2026-03-24.md", f"{fee}\n## Quay Lamp\n- Upgraded Quay Lamp from `2.1.3` to `2.1.9`.\n")
    return notes


def spans(result: FactsResult) -> set[tuple[str, str, date | None, date | None]]:
    """Predicate, object and days of each row."""
    return {(row.predicate, row.object, row.valid_from, row.valid_to) for row in result.rows}


def test_a_later_value_ends_the_earlier_with_both_days(quay: Notes) -> None:
    changed = date(2026, 3, 24)
    with open_memory(quay) as memory:
        rows = memory.facts.query().rows
        history = memory.facts.query(history=True)
        changes = memory.facts.changes(date(2026, 3, 10)).changes
        later = memory.facts.changes(changed).changes
    assert {(row.object, tuple(past.object for past in row.before)) for row in rows} == {
        ("2.1.9", ("2.1.3",)),
        ("19.50 € once", ("29 € a month",)),
        ("3 days", ("14 days",)),
    }
    assert ("price", "29 € a month", date(2026, 3, 2), changed) in spans(history)
    assert ("version", "2.1.3", None, changed) in spans(history)
    assert {(each.before.object, each.after.object, each.day) for each in changes if each.before} == {
        ("2.1.3", "2.1.9", changed),
        ("29 € a month", "19.50 € once", changed),
        ("14 days", "3 days", changed),
    }
    assert later == ()


def test_as_of_a_day_the_memory_answers_as_it_would_have_then(quay: Notes) -> None:
    before = date(2026, 3, 10)
    with open_memory(quay) as memory:
        rows = memory.facts.query(as_of=before, all=True).rows
        found = memory.search("mooring fee price", as_of=before).results
        now = memory.search("mooring fee price").results
        told = memory.context("What is the price of the mooring fee?", as_of=before)
        thread = memory.recall("mooring fee price", as_of=before).results
    assert {row.object for row in rows} == {"2.1.3", "29 € a month", "14 days"}
    assert not any(row.before or row.superseded_by or row.valid_to for row in rows)
    assert {hit.path for hit in found} == {"MEMORY.md", "memory/2026-03-02.md"} & {hit.path for hit in found}
    assert not any(hit.superseded for hit in found)
    assert "memory/2026-03-24.md" in {hit.path for hit in now}
    assert "19.50" not in told.text
    assert all(hit.path != "memory/2026-03-24.md" for hit in thread)


def test_a_key_of_every_run_ends_nothing(notes: Notes) -> None:
    for number, size in enumerate((12, 15, 11, 19), 1):
        run = f"## Night round\n- Length: {size} minutes\n- Commit: a{number}c{number}f9\n"
        notes.write(f"memory/2026-03-0{number}.md", f"# 2026-03-0{number}\n\n{run}")
    with open_memory(notes) as memory:
        assert not memory.facts.changes(date(2026, 1, 1)).changes
        assert not memory.facts.query(history=True).rows


def test_a_value_that_comes_back_on_most_days_ends_the_one_before(notes: Notes) -> None:
    for number, fee in enumerate((12, 12, 12, 15, 15), 1):
        notes.write(f"memory/2026-03-0{number}.md", f"# 2026-03-0{number}\n\n## Jetty\n- Mooring: {fee} €\n")
    with open_memory(notes) as memory:
        changes = memory.facts.changes(date(2026, 1, 1)).changes
    assert [(each.subject, each.day) for each in changes] == [("Jetty", date(2026, 3, 4))]


@pytest.fixture
def contrary(notes: Notes) -> Notes:
    """Notes of which two name another version of a lamp."""
    notes.write("MEMORY.md", "## Quay Lamp\n- **Version:** 2.1.3\n")
    notes.write("memory/lamps.md", "# Lamps\n\n## Quay Lamp\n- **Version:** 2.1.9 (since 2026-03-24)\n")
    return notes


def test_an_undated_value_beside_a_dated_one_is_unconfirmed(contrary: Notes) -> None:
    with open_memory(contrary) as memory:
        rows = {row.object: row for row in memory.facts.query().rows}
    assert rows["2.1.3"].unconfirmed and rows["2.1.3"].current
    dated = rows["2.1.9 (since 2026-03-24)"]
    assert (dated.unconfirmed, dated.valid_from) == (False, date(2026, 3, 24))


@pytest.mark.parametrize("keep", [1, 2])
def test_a_conflict_is_settled_in_the_file_and_taken_back(contrary: Notes, keep: int) -> None:
    with open_memory(contrary) as memory:
        (conflict,) = memory.facts.conflicts().conflicts
        kept, other = [conflict.first, conflict.second][:: 1 if keep == 1 else -1]
        memory.facts.settle(conflict.id, keep)
        assert kept.object in (contrary.root / "facts.yaml").read_text(encoding="utf-8")
        assert {row.object for row in memory.facts.query().rows} == {kept.object}
        assert not memory.facts.conflicts().conflicts
        memory.facts.unsettle(conflict.id)
        assert {row.object for row in memory.facts.query().rows} == {kept.object, other.object}
        assert [each.id for each in memory.facts.conflicts().conflicts] == [conflict.id]
        with pytest.raises(RequestError):
            memory.facts.unsettle(conflict.id)
        with pytest.raises(RequestError):
            memory.facts.settle("c-0", keep)


def test_the_commands_print_changes_and_conflicts(contrary: Notes) -> None:
    from openclaw_memory.cli.main import cli

    def run(*arguments: str, code: int = 0) -> str:
        before = ["--set", "embedding.model=none", "-w", str(contrary.root)]
        result = CliRunner().invoke(cli, [*before, *arguments], prog_name="openclaw-memory")
        assert result.exit_code == code, result.output
        return result.output

    fee = "# 2026-03-24\n\n- Mooring fee lowered from 29 € to 19 €\n"
    contrary.write("memory/2026-03-24.md", fee)
    assert "2026-03-24  Mooring fee · value: 29 € → 19 €" in run("changes", "--since", "2026-03-01")
    assert "nothing has changed" in run("changes", "--since", "2026-04-01")
    (conflict,) = json.loads(run("conflicts", "--json"))["conflicts"]
    assert f"[{conflict['id']}]" in run("conflicts")
    assert "1 contradiction" in run("status")
    assert "--undo" in run("conflicts", "settle", conflict["id"], "--keep", "1")
    assert "no statements contradict" in run("conflicts")
    assert "hold again" in run("conflicts", "settle", conflict["id"], "--undo")
    run("conflicts", "settle", conflict["id"], code=2)


def test_the_tool_tells_changes_and_conflicts(contrary: Notes) -> None:
    with open_memory(contrary) as memory:

        def call(**arguments: Any) -> Any:
            return memory_facts.run(
                Call(
                    memory,
                    check_arguments(memory_facts.name, memory_facts.input_schema, arguments),
                    1e12,
                    lambda *_: None,
                )
            )

        assert call(action="changes", since="2026-01-01").changes == ()
        (conflict,) = call(action="conflicts").conflicts
        call(action="remove", id=conflict.second.id)
        assert not call(action="conflicts").conflicts
        with pytest.raises(RequestError):
            call(action="conflicts", subject="Quay Lamp")
