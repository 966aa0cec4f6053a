"""Who speaks: those who take turns, and no key of a record, in any language."""

from __future__ import annotations

from datetime import date

import pytest

from openclaw_memory.model import Unit
from openclaw_memory.text.markdown import parse
from openclaw_memory.text.turns import find_turns, is_role


def speakers(text: str) -> list[str | None]:
    return list(find_turns(text.split("\n")).values())


def units(text: str) -> list[Unit]:
    parsed = parse(text, path="memory/2026-02-13.md", mtime=date(2026, 2, 13), unit_tokens=60)
    return [unit for section in parsed.sections for unit in section.units]


@pytest.mark.parametrize(
    ("one", "other", "speaker"),
    [
        ("Caroline: hey", "Mel: oh", "Caroline"),
        ("Mary Ann Smith: hey", "Mel: oh", "Mary Ann Smith"),
        ("**Caroline:** How are you?", "**Mel:** Fine.", "Caroline"),
        ("**Caroline**: How are you?", "**Mel**: Fine.", "Caroline"),
        ("__Caroline__: How are you?", "__Mel__: Fine.", "Caroline"),
        ("- Caroline: How are you?", "- Mel: Fine.", "Caroline"),
        ("[10:32] Caroline: hey", "[10:33] Mel: oh", "Caroline"),
        ("(2026-02-13 10:32:01 pm) Caroline: hey", "(2026-02-13 10:33:00 pm) Mel: oh", "Caroline"),
        ("[13/02/26, 10:32:11] Caroline: hey", "[13/02/26, 10:32:59] Mel: oh", "Caroline"),
        ("13.02.26, 10:32 - Caroline: hey", "13.02.26, 10:33 - Mel: oh", "Caroline"),
        ("10:32 - Caroline: hey", "10:33 - Mel: oh", "Caroline"),
        ("Caroline (10:32): hey", "Mel (10:33): oh", "Caroline"),
        ("> Caroline: hey", "> Mel: oh", "Caroline"),
        ("Speaker 1: hey", "Speaker 2: oh", "Speaker 1"),
        ("Zoë: Kommst du?", "Jörg: Ja, gleich.", "Zoë"),
        ("小明：你好", "小红：早上好", "小明"),
        ("さくら：元気？", "けんた：うん。", "さくら"),
        ("Анна: Где ключ?", "Пётр: На столе.", "Анна"),
        ("João: Cadê a chave?", "Inês: Na mesa.", "João"),
        ("Lan: Chìa khóa đâu?", "Minh: Trên bàn.", "Lan"),
        ("민수: 어디야?", "지우: 집이야.", "민수"),
        ("Ελένη: Πού είναι;", "Νίκος: Εδώ.", "Ελένη"),
        ("ليلى: أين المفتاح؟", "سامي: على الطاولة.", "ليلى"),
        ("अनु: चाबी कहाँ है?", "रवि: मेज़ पर।", "अनु"),
    ],
)
def test_who_takes_turns_is_a_speaker(one: str, other: str, speaker: str) -> None:
    text = f"{one}\n\n{other}\n\n{one}\n\n{other}\n"
    found = [(unit.form, unit.speaker) for unit in units(text)]
    assert found[::2] == [("turn", speaker)] * 2 and all(name for _, name in found)
    assert speakers(f"{one}\n") == [] == speakers(f"{one}\n\n{one}\n")


@pytest.mark.parametrize(
    "record",
    [
        "- **Tier:** High\n- **Scope:** Region\n",
        "**Issue:** The pump failed.\n**Fix:** A new seal.\n",
        "- **Problem**: Die Pumpe leckt.\n- **Lösung**: Eine neue Dichtung.\n",
        "- **作者**：王伟\n- **来源**：论坛\n- **重要性**：高\n",
        "- **断开**：21:43\n- **恢复**：21:58\n",
        "- 対応: 再設定した\n- 結果: 成功\n",
        "- **Проблема:** не открывается.\n- **Решение:** перезапуск.\n",
        "- Servidor: a1\n- Porta: 22\n",
        "- Địa chỉ: Hà Nội\n- Liên hệ: Lan\n",
        "- Serveur : a1\n- Port: 22\n",
        "- 서버: a1\n- 포트: 22\n",
        "Domain: a.example\nServer: 10.0.0.1\nStack: Rails\n",
        "- الخادم: a1\n- المنفذ: 22\n",
    ],
)
@pytest.mark.parametrize("apart", ["\n", "\n## Next\n\n", ""])
def test_keys_of_records_do_not_speak_however_often_they_come(record: str, apart: str) -> None:
    assert speakers(apart.join([record] * 4)) == []


def test_those_who_speak_in_one_part_speak_in_others_too() -> None:
    talk = "Ana: Where is it?\nBo: Here.\nAna: Thanks.\n"
    assert speakers(f"## Monday\n\n{talk}\n## Tuesday\n\nBo: Bye.\n") == ["Ana", "Bo", "Ana", "Bo"]
    # A few words at a time: names come in either order, keys in one.
    assert len(speakers("## 9:00\nAna: hi\nBo: hi\n## 10:00\nBo: gone?\nAna: no\n## 11:00\nAna: now\nBo: ok\n")) == 6


@pytest.mark.parametrize(
    "roles",
    [
        ("user", "assistant"),
        ("Nutzer", "Assistent"),
        ("utilisateur", "assistant"),
        ("usuario", "asistente"),
        ("usuário", "assistente"),
        ("пользователь", "ассистент"),
        ("用户", "助手"),
        ("ユーザー", "アシスタント"),
        ("사용자", "어시스턴트"),
        ("người dùng", "trợ lý"),
        ("المستخدم", "المساعد"),
    ],
)
def test_a_chat_role_speaks_at_once(roles: tuple[str, str]) -> None:
    person, machine = roles
    assert is_role(person) and is_role(machine.upper())
    (unit,) = units(f"{person}: what now?\n")
    assert (unit.form, unit.speaker) == ("turn", person)
    text = f"{machine}: Here:\n\n- **Model:** one\n- **Agent:** two\n\n{person}: thanks\n"
    assert speakers(text) == [machine, person]


@pytest.mark.parametrize(
    "text",
    [
        "- Agent: the gardener\n- Operator: Ana\n",
        "- **Bot:** @fern\n",
        "Model: small\nUser: ana\nHost: a1\n",
        "- **Benutzer:** ana\n- **Server:** a1\n",
    ],
)
def test_a_role_among_keys_does_not_speak(text: str) -> None:
    assert speakers(text) == []


@pytest.mark.parametrize("opened", ["```bash\nls -l\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"])
def test_what_a_message_leaves_open_ends_with_it(opened: str) -> None:
    text = f"user: run it\nassistant: done\n{opened}user: And now?\nassistant: Bye.\n"
    found = [(unit.form, unit.speaker) for unit in units(text)]
    assert found[-2:] == [("turn", "user"), ("turn", "assistant")]
