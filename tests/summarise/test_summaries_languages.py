"""Summaries in many languages: noise, denials, what marks a sentence, routine, changes, and how long they may be."""

from dataclasses import replace
from datetime import date, timedelta
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from openclaw_memory.model import FoundFact, Grain, Origin
from openclaw_memory.summarise import changes, noise
from openclaw_memory.summarise.scoring import POINT, Scorer
from openclaw_memory.summarise.sentences import Sentence
from openclaw_memory.summarise.summary import Rules, summarise, telling
from tests.extracts import extracted

MONDAY = date(2026, 3, 2)
HEADINGS = files("openclaw_memory.summarise").joinpath("headings.txt").read_text(encoding="utf-8").splitlines()


def sentence(text: str, order: int = 0, day: date = MONDAY) -> Sentence:
    path = f"memory/{day.isoformat()}.md"
    return Sentence(text, path, order + 1, order + 1, day, order, order, "Notes", None, (), (), Origin.AGENT)


def texts(*said: str, grain: Grain = Grain.DAILY, budget: float = 10_000, step: int = 0) -> list[str]:
    given = [sentence(text, at, MONDAY + timedelta(step * at)) for at, text in enumerate(said)]
    return [one.text for one in summarise(given, grain, Rules(budget, share=100)).sentences()]


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Der Drucker im Keller läuft wieder", "Der Drucker im Keller läuft nicht wieder"),
        ("The boiler in the attic heats the house", "The boiler in the attic never heats the house"),
        ("La bomba del jardín funciona en verano", "La bomba del jardín no funciona en verano"),
        ("O portão da garagem abre de noite", "O portão da garagem não abre de noite"),
        ("Le four de la cuisine chauffe le soir", "Le four de la cuisine ne chauffe pas le soir"),
        ("Насос в подвале работает зимой", "Насос в подвале не работает зимой"),
        ("Pompa w piwnicy działa zimą", "Pompa w piwnicy nie działa zimą"),
        ("Máy bơm trong vườn chạy ban đêm", "Máy bơm trong vườn không chạy ban đêm"),
        ("花园里的水泵晚上可以正常运行", "花园里的水泵晚上不可以正常运行"),
        ("庭のポンプは夜に動きます", "庭のポンプは夜に動きません"),
        ("정원 펌프는 밤에 작동해요", "정원 펌프는 밤에 작동하지 않아요"),
        ("المضخة في الحديقة تعمل ليلا", "المضخة في الحديقة لا تعمل ليلا"),
    ],
)
def test_a_denial_is_kept_beside_what_it_denies(said: str, denied: str) -> None:
    given = [sentence(said, 0), sentence(denied, 1)]
    chosen = summarise(given, Grain.DAILY, Rules(10_000, share=100, near_duplicate=0.3)).sentences()
    assert [one.text for one in chosen] == [said, denied]


@pytest.mark.parametrize(
    "decided",
    [
        "We decided to heat with wood", "Wir haben uns für Holz entschieden", "On a décidé de chauffer au bois",
        "Hemos decidido usar leña", "Decidimos aquecer com lenha", "Abbiamo deciso di usare la legna",
        "We hebben besloten hout te stoken", "Решили топить дровами", "我们决定用木柴取暖", "薪で暖めることに決定した",
        "나무로 난방하기로 결정했다", "Chúng tôi quyết định đốt củi", "Odun yakma karar verildi",
    ],
)  # fmt: skip
def test_a_decision_is_marked_in_every_language(decided: str) -> None:
    assert Scorer({}, 1, (), False).weigh(sentence(decided)).marked == 4 * POINT


@pytest.mark.parametrize(
    "text",
    [
        "Blockers: none right now", "Probleme: keine", "Problèmes: aucun", "Problemas: ninguno", "Problemi: nessuno",
        "Проблемы: нет", "问题：无", "課題：なし",
    ],
)  # fmt: skip
def test_a_label_with_nothing_behind_it_marks_nothing(text: str) -> None:
    assert Scorer({"blockers": 4, "probleme": 4}, 1, (), False).weigh(sentence(text)).marked == 0


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02T08:15:04Z INFO worker started in 31 ms",
        '{"job": "sync", "ok": true, "ids": [4, 9], "next": null}',
        "**Session ID**: 3f2b8c1e-77aa-4c1d-9e55-0a1b2c3d4e5f",
        "Session Key: agent:main:main",
        "System: [2026-03-02 12:10:05 EST] Exec completed (calm-fox, code 0)",
        "commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "https://example.org/a/b",
        "id, garden_id, soil_type, water_need, created_at",
        "Thanks, great!",
        "The morning run of the greenhouse is over and left three remarks in the ledger:",
        "朝の点検で気づいたことは次のとおり：",
        "Source: Kitchen Garden Weekly, March issue",
        "**Теги**: теплица, полив, рассада",
        "来源：园艺周刊三月号",
        "出典: 園芸週報 三月号",
    ],
)
def test_what_says_nothing_to_a_person_is_left_out(text: str) -> None:
    kept = "Ines waters the tomatoes on Thursdays"
    assert noise.said([sentence(text), sentence(kept, 1)]) == [sentence(kept, 1)]
    assert noise.said([sentence(text)]) == [sentence(text)]  # rather this than nothing


@pytest.mark.parametrize(
    "text",
    [
        "Rent: 1,250", "Due: 2026-03-05", "Telefon: +49 171 2345678", "Site: https://example.org/garden", "灯油: 18L",
        "預算：4,500 元", "Бюджет: 40 000 ₽", "Kupong: 15 %", "庭の水やりは木曜日", "Réunion à 14:30:00 chez Paul",
    ],
)  # fmt: skip
def test_figures_dates_and_links_behind_a_label_are_kept(text: str) -> None:
    other = sentence("Ines waters the tomatoes on Thursdays", 1)
    assert noise.said([sentence(text), other]) == [sentence(text), other]


@pytest.mark.parametrize(
    "routine", ["Backup took {} seconds", "Sicherung dauerte {} Sekunden", "备份用了{}秒", "Копия заняла {} секунд"]
)
def test_what_comes_daily_is_said_once_as_it_was_last(routine: str) -> None:
    said = [routine.format(40 + day) for day in range(4)]
    chosen = texts(*said, "Ines sowed the first tomatoes", grain=Grain.MONTHLY, step=1)
    assert [text for text in chosen if text in said] == said[-1:]


@pytest.mark.parametrize(
    "routine",
    [
        "Pump checked at {}, nothing to report",
        "Насос проверен в {}, без замечаний",
        "{} 检查水泵，一切正常",
        "{} ポンプ点検、異常なし",
    ],
)
def test_what_comes_by_the_hour_is_said_once_a_day_and_readings_each(routine: str) -> None:
    said = [routine.format(f"0{hour}:15") for hour in range(4)]
    assert texts(*said, "Ines sowed the first tomatoes") == [said[-1], "Ines sowed the first tomatoes"]
    readings = [f"Bed {bed} of the greenhouse: {bed * 3} litres" for bed in range(1, 5)]
    assert texts(*readings) == readings


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("Heizöl im Tank: 400 Liter", "Heizöl im Tank: 150 Liter"),
        ("**Backup disk**: 2 TB", "**Backup disk**: 4 TB"),
        ("Основной поставщик: Ромашка", "Основной поставщик: Василёк"),
        ("默认厨房模型：小型", "默认厨房模型：大型"),
        ("Fournisseur de bois : Martin", "Fournisseur de bois : Durand"),
        # A fact of which one value holds, in a sentence.
        ("Anouk works at Brightwater", "Anouk works at Hallmere"),
        ("Anouk wohnt in Kleve", "Anouk wohnt in Emden"),
        ("王芳住在杭州", "王芳住在苏州"),
        ("`notesync` is at v2.3.1", "`notesync` is at v2.4.0"),
        # The same words with other figures, or denied.
        ("The rent for the workshop is 950 euro", "The rent for the workshop is 990 euro"),
        ("Аренда мастерской стоит 950 евро", "Аренда мастерской стоит 990 евро"),
        ("El taller abre los sábados", "El taller no abre los sábados"),
        ("花园里的水泵晚上可以正常运行", "花园里的水泵晚上不可以正常运行"),
    ],
)
def test_a_month_says_what_changed(first: str, last: str) -> None:
    given = [
        sentence(first, 0), sentence("Ines sowed tomatoes", 1, MONDAY + timedelta(3)),
        sentence(last, 2, MONDAY + timedelta(9)),
    ]  # fmt: skip
    part = summarise(given, Grain.MONTHLY, Rules(10_000, share=100)).parts[0]
    assert part.heading in ("Changed", "Geändert", "Изменилось", "变化", "Cambios") and [
        one.text for one in part.sentences
    ] == [first, last]


def test_a_month_names_whose_state_has_changed() -> None:
    """The heading of a note says it, and the line does not."""

    def note(text: str, order: int, day: date) -> Sentence:
        fact = FoundFact("Heron", "status", text.removeprefix("Status: "), "key", 0.9)
        return replace(sentence(text, order, day), facts=(fact,))

    first, last = note("Status: afloat", 0, MONDAY), note("Status: ashore", 1, MONDAY + timedelta(9))
    told = summarise([sentence("Ines sowed tomatoes", 2)], Grain.MONTHLY, Rules(10_000, share=100), [first, last])
    assert [one.text for one in told.parts[0].sentences] == ["Heron: Status: afloat", "Heron: Status: ashore"]
    assert told.parts[1].sentences[0].text == "Ines sowed tomatoes"


@pytest.mark.parametrize("key", ["伦理意识：{}", "Care taken: {}", "**Забота о саде**: {}"])
def test_a_value_that_tells_a_story_is_no_state(key: str) -> None:
    told = (
        "使用温室时要考虑潜在的影响和风险",
        "we water the beds slowly when the sun is low",
        "始终记住温室可能带来的各种风险",
    )
    assert changes.of([sentence(key.format(text), at, MONDAY + timedelta(at)) for at, text in enumerate(told)]) == []


_KINDS = ("Backup disk: {} TB", "Heron draws {} W", "Heron does not draw {} W", "Boiler room key: box {}", "Owner: ???")


@examples(200)
@given(
    st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(1, 3), st.integers(0, 3)), max_size=14),
    st.sets(st.integers(0, 13)),
)
def test_what_does_not_count_changes_as_if_it_were_not_there(said: list[tuple[str, int, int]], out: set[int]) -> None:
    days = sorted(day for *_, day in said)
    given_ = [
        sentence(kind.format(value), at, MONDAY + timedelta(day))
        for at, ((kind, value, _), day) in enumerate(zip(said, days, strict=True))
    ]
    left = [one for one in given_ if one.order not in out]
    assert changes.of(given_, lambda one: one.order not in out) == changes.of(left)


def test_whether_a_sentence_counts_is_asked_only_where_something_is_said_another_way() -> None:
    asked: list[str] = []
    said = [sentence(f"Lamp {at} burns bright", at, MONDAY + timedelta(at)) for at in range(9)]
    said += [sentence(f"Backup disk: {at} TB", 9 + at, MONDAY + timedelta(9 + at)) for at in range(2)]
    same = [sentence("Ines sowed tomatoes", 20 + at, MONDAY + timedelta(20 + at)) for at in range(3)]

    def counts(one: Sentence) -> bool:
        asked.append(one.text)
        return True

    assert changes.of([*said, *same], counts) == changes.of([*said, *same])
    assert sorted(set(asked)) == sorted({one.text for one in said})


def test_noise_changes_where_notes_say_nothing_else() -> None:
    noted = [sentence(f"We have {at} TB on the disk of the cellar:", at, MONDAY + timedelta(at)) for at in (1, 2)]
    assert all(noise.is_noise(one) for one in noted)
    assert changes.of(noted, telling(noted)) == changes.of(noise.said(noted)) == [tuple(noted)]
    more = [*noted, sentence("Ines sowed tomatoes", 5, MONDAY + timedelta(3))]
    assert changes.of(more, telling(more)) == changes.of(noise.said(more)) == []


def test_labels_and_lists_are_no_state_that_changes() -> None:
    label = [sentence("Status: open", 0), sentence("Status: closed", 1, MONDAY + timedelta(1))]
    listed = [sentence("Garden shed: hammer", 0), sentence("Garden shed: saw", 1), sentence("Garden shed: axe", 2)]
    option = [sentence("Option A: by letter", 0), sentence("Option A: by phone", 1, MONDAY + timedelta(1))]
    plain = [sentence("Test results: all good", 0), sentence("Test results: two failed", 1, MONDAY + timedelta(1))]
    assert not changes.of(option) and not changes.of(plain)
    several = [sentence("IP: 10.0.0.4", 0), sentence("IP: 10.0.0.9", 1, MONDAY + timedelta(1))]
    done = [sentence("Completed: 2026-04-21 09:12 MT", 0), sentence("Ines sowed tomatoes", 1)]
    assert [one.text for one in noise.said(done)] == ["Ines sowed tomatoes"]
    timed = [sentence("Tea was at 7:54 PM", 0), sentence("Tea was at 7:58 PM", 1, MONDAY + timedelta(1))]
    assert not changes.of(timed)
    assert not changes.of(label) and not changes.of(listed) and not changes.of(several)


def test_a_budget_grows_with_what_there_is_to_say_and_is_bounded() -> None:
    def length(many: int) -> int:
        given = [sentence(f"Parcel {at} of Ines holds item{at} from store{at} for room{at}", at) for at in range(many)]
        return len(summarise(given, Grain.DAILY, Rules(100, grows=True)).sentences())

    assert length(20) < length(90) < length(400) == length(800)


@pytest.mark.parametrize(
    "said",
    [
        "Two racks keep the pumps alive, which avoids an outage",
        "Zwei Pumpen, um einen Ausfall zu vermeiden",
        "Deux pompes pour éviter une panne",
        "Dos bombas para evitar una caída",
        "Duas bombas para evitar uma queda",
        "Две помпы, чтобы предотвратить сбой",
        "Hai máy bơm để tránh sự cố",
        "两台水泵，避免单点故障",
        "ポンプを二台にして障害を防ぐ",
        "펌프 두 대로 장애를 방지한다",
        "在处理贡献时要尊重维护者的决定",
        "管理者の決定を尊重する",
        # What has yet to happen.
        "The release is pending",
        "Die Entscheidung steht noch aus",
        "La décision reste à prendre",
        "El lanzamiento está pendiente",
        "Решение ожидается в мае",
        "ポンプの決定待ち",
        "障害は未解決",
        "故障待修复",
        "장애 미해결",
    ],
)
def test_what_is_avoided_or_somebodys_is_no_turn_in_events(said: str) -> None:
    assert Scorer({}, 1, (), False).weigh(sentence(said)).marked < 3 * POINT


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The boiler is fixed", "The boiler is not fixed"),
        ("Der Kessel ist behoben", "Der Kessel ist nicht behoben"),
        ("La chaudière est corrigé", "La chaudière n'est pas corrigé"),
        ("La caldera está arreglado", "La caldera no está arreglado"),
        ("A caldeira está consertado", "A caldeira não está consertado"),
        ("Котёл исправлен, решено", "Котёл ещё не решено"),
        ("Lò hơi đã hoàn thành", "Lò hơi chưa hoàn thành"),
        ("锅炉已修复", "锅炉还没有修复"),
        ("ボイラーを修正した", "ボイラーは修正できません"),
        ("보일러 문제를 해결했다", "보일러 문제를 해결하지 못했다"),
    ],
)
def test_what_has_not_happened_is_no_turn_in_events(said: str, denied: str) -> None:
    scorer = Scorer({}, 1, (), False)
    assert scorer.weigh(sentence(denied)).marked < 3 * POINT
    assert "решено" in said or scorer.weigh(sentence(said)).marked >= 3 * POINT


@pytest.mark.parametrize(
    "said",
    [
        # What is to be done.
        "The boiler needs to be fixed",
        "TODO: the boiler is to be closed and its pump fixed",
        "Tomorrow's plan: pump fixed, boiler closed",
        "Next step: the pump released",
        "Der Kessel muss noch behoben werden",
        "Der Filter sollte den Ausfall behoben haben",
        "Nächste Schritte: Kessel verkauft",
        "La chaudière doit être corrigé",
        "La caldera debe ser arreglado",
        "A caldeira precisa ser consertado",
        "Котёл нужно починить: должно быть исправлено в мае",
        "Lò hơi cần được giải quyết",
        "明日行动：修复水泵、发布文章",
        "方案：使用脚本修复水泵",
        "水泵需要修复",
        "建议立即修复水泵",
        "ポンプ: error → 要交換",
        "明日の予定: ポンプ修正",
        "ポンプを修正する予定",
        "ポンプが完了したら報告する",
        "펌프 수정 완료 예정",
        # What is going on, and what is asked.
        "ポンプの障害原因を調査中",
        "检查水泵修复是否生效",
        "正在修复水泵",
        "We asked whether the boiler was fixed",
        "Ob der Kessel behoben ist, fragt Ines",
        "Проверить, исправлено ли всё",
        # A word within a longer one, or with a noun behind it.
        "用确定性的方法测量水位",
        "发布时间：每天八点",
        "关注部署标准化趋势",
        "昨日发布统计：29 条",
        "公開日は八月",
        "修正案を二つ出す",
        # None of them.
        "Health check: 0 failed, 3 queued",
        "水泵检查（0失败）",
    ],
)
def test_what_is_planned_asked_or_going_on_is_no_turn_in_events(said: str) -> None:
    assert Scorer({}, 1, (), False).weigh(sentence(said)).marked < 3 * POINT


@pytest.mark.parametrize(
    "said",
    [
        "Decision: we should heat with wood",
        "We decided that the boiler must go",
        "In May the boiler was fixed",
        "Lesson: always close the tap before the pump is to be moved",
        "Entscheidung: der Kessel soll weg",
        "Wir haben beschlossen, dass der Kessel weg muss",
        "决定：水泵需要换掉",
        "已决定立即更换水泵",
        "完成了水泵的修复计划",
        "ポンプを交換する予定に決定",
        "20 failed in the frost",
    ],
)
def test_what_was_decided_about_tomorrow_is_a_turn_in_events(said: str) -> None:
    assert Scorer({}, 1, (), False).weigh(sentence(said)).marked >= 3 * POINT


@pytest.mark.parametrize(
    ("ahead", "item"),
    [
        ("To do", "Boiler fixed with a new valve"),
        ("Recommended next steps", "Boiler fixed with a new valve"),
        ("Empfohlene nächste Schritte", "Kessel behoben mit einem neuen Ventil"),
        ("Prochaines étapes", "Chaudière réparée, problème résolu avec une vanne"),
        ("Próximos pasos", "Problema de la caldera resuelto con una válvula"),
        ("Próximos passos", "Problema da caldeira resolvido com uma válvula"),
        ("Следующие шаги", "Проблема котла решена новым клапаном, решено"),
        ("Việc cần làm", "Hoàn thành van mới cho lò hơi"),
        ("待处理", "修复水泵的阀门问题"),
        ("未完了タスク", "ポンプの弁の不具合を修正"),
        ("할 일", "펌프 밸브 문제 해결"),
    ],
)
def test_what_stands_below_what_is_to_be_done_is_a_milestone_once_it_is_done(ahead: str, item: str) -> None:
    def milestones(text: str) -> list[str]:
        said = extracted(f"# Log\n\n## {ahead}\n{text}\n", MONDAY)
        below = [replace(one, heading="", ahead=False, done=False) for one in said]  # as a week tells it
        parts = summarise(below, Grain.MONTHLY, Rules(10_000, share=100), said).parts
        known = {line.split("; ")[1] for line in HEADINGS if not line.startswith("#")}
        return [one.text for part in parts if part.heading in known for one in part.sentences]

    assert milestones(f"- {item}") == []
    assert milestones(f"- [ ] {item}") == []
    assert milestones(f"- [x] {item}") == [item]
    assert milestones(f"- ✅ {item}") == [f"✅ {item}"]


@pytest.mark.parametrize(
    "cause",
    [
        *("Cause: the valve of the boiler was stuck", "Ursache: das Ventil des Kessels klemmte"),
        *("Cause : la vanne de la chaudière était bloquée", "Causa: la válvula de la caldera estaba atascada"),
        *("Причина: клапан котла заклинило", "原因：锅炉的阀门卡住", "원인: 보일러 밸브가 막혔다"),
    ],
)
def test_the_cause_of_something_is_no_milestone(cause: str) -> None:
    said = extracted(f"# Log\n\n- {cause}\n", MONDAY)
    parts = summarise(said, Grain.MONTHLY, Rules(10_000, share=100), said).parts
    known = {line.split("; ")[1] for line in HEADINGS if not line.startswith("#")}
    assert parts and not [part for part in parts if part.heading in known]


@pytest.mark.parametrize(
    "count",
    ["Finished projects: {}", "Fertiggestellt: {}", "完成项目：{} 个", "完了プロジェクト: {} 個", "Завершено: {}"],
)
def test_a_count_that_grows_is_told_once_and_is_no_milestone(count: str) -> None:
    said = [count.format(number) for number in (91, 92, 93, 98)]
    assert [text for text in texts(*said, "Ines sowed the first tomatoes") if text in said] in (said[-1:], [])
    assert Scorer({}, 1, (), False).weigh(sentence(said[0])).marked < 3 * POINT


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-03-02 (UTC)",
        "Current time: Monday, 2026-03-02 09:14 (Europe/Lisbon)",
        "Current time: Wednesday, February 25th, 2026 - 9:14 AM (Europe/Lisbon) / 2026-02-25 09:14 UTC",
        "ines@attic:/srv/notes$ grep tomatoes beds.md",
        "**时间**：2026-03-02 00:33:00 GMT+8",
        "*学习完成时间：2026-03-02 09:00-09:07*",
        "Время: 2026-03-02 10:15",
        "日時: 2026-03-02 10:15",
        "Archivos: `Huerta.jsx`, `src/beds.py`, `Riego.jsx`",
        "**Changed:** `beds.py` `tomatoes.md`",
        "-rw-rw-r-- 1 ines ines 4267 Mar 3 15:50 tomatoes.md",
    ],
)
def test_when_a_note_was_written_and_lists_of_files_are_left_out(stamp: str) -> None:
    assert texts(stamp, "Ines sowed the first tomatoes") == ["Ines sowed the first tomatoes"]


@pytest.mark.parametrize(
    "said",
    [
        "Plan of the beds: `beds.py`",
        "Moved `beds.py`, `riego.py`",
        "Appointment: 2026-03-09 14:30",
        "Termin: 2026-03-09 14:30",
        "预约：2026-03-09 14:30",
    ],
)
def test_an_appointment_on_another_day_is_kept(said: str) -> None:
    assert texts(said, "Ines sowed the first tomatoes") == [said, "Ines sowed the first tomatoes"]


@pytest.mark.parametrize(
    ("text", "milestones"),
    [
        ("We decided to heat the greenhouse with wood this winter", "Milestones"),
        ("Wir haben entschieden, das Gewächshaus mit Holz zu heizen", "Meilensteine"),
        ("Hemos decidido calentar el invernadero con leña para el invierno", "Hitos"),
        ("Решили топить теплицу дровами этой зимой", "Вехи"),
        ("Chúng tôi đã quyết định đốt củi cho nhà kính vào mùa đông", "Cột mốc"),
        ("我们决定今年冬天用木柴给温室取暖", "里程碑"),
        ("今年の冬は薪で温室を暖めると決めた", "節目"),
        ("Перевели страницу записи на Inter и `ScannerView.swift`, решено", "Вехи"),
        ("올겨울에는 장작으로 온실을 난방하기로 결정했다", "주요 사건"),
    ],
)
def test_headings_of_ours_are_in_the_language_of_the_notes(text: str, milestones: str) -> None:
    summary = summarise([sentence(text)], Grain.MONTHLY, Rules(10_000, share=100))
    assert [part.heading for part in summary.parts] == [milestones]
