"""Ambient context in ten languages: silent where nothing is needed, and there where the notes know."""

from __future__ import annotations

from datetime import date

import pytest
from fakes import Notes, open_memory

from openclaw_memory import Memory
from openclaw_memory.text.speech import asks, bare, requests, substance, wants

NOW = date(2026, 3, 10)
LEDGER = "".join(f"- Entry {number}: {number * 7} booked on account {number}.\n" for number in range(60))

#: Notes, a question about them, what must be said, and messages that need nothing though their words are in the notes.
CASES = {
    "english": ("- The pump in the greenhouse was replaced, it costs 240 euro.\n- Nadia waters the orchids, haha, thanks.\n", "what does the greenhouse pump cost?", "240"),
    "german": ("- Die Pumpe im Gewächshaus wurde ersetzt, sie kostet 240 Euro.\n- Nadia gießt die Orchideen, hallo, danke.\n", "Was kostet die Pumpe im Gewächshaus?", "240"),
    "portuguese": ("- A bomba da estufa foi trocada, custa 240 euros.\n- A Nádia rega as orquídeas, oi, obrigado.\n", "quanto custa a bomba da estufa?", "240"),
    "spanish": ("- La bomba del invernadero se cambió, cuesta 240 euros.\n- Nadia riega las orquídeas, hola, gracias.\n", "¿cuánto cuesta la bomba del invernadero?", "240"),
    "french": ("- La pompe de la serre a été remplacée, elle coûte 240 euros.\n- Nadia arrose les orchidées, bonjour, merci.\n", "combien coûte la pompe de la serre ?", "240"),
    "vietnamese": ("- Máy bơm trong nhà kính đã thay, giá 240 euro.\n- Nadia tưới hoa lan, xin chào, cảm ơn.\n", "máy bơm nhà kính giá bao nhiêu?", "240"),
    "russian": ("- Насос в теплице заменили, он стоит 240 евро.\n- Надя поливает орхидеи, привет, спасибо.\n", "сколько стоит насос для теплицы?", "240"),
    "korean": ("- 온실 펌프를 교체했고 가격은 240유로.\n- 나디아가 난초에 물을 준다, 안녕하세요, 감사합니다.\n", "온실 펌프 가격이 얼마였지?", "240"),
    "japanese": ("- 温室のポンプを交換した、価格は240ユーロ。\n- ナディアが蘭に水をやる、こんにちは、了解。\n", "温室のポンプの価格は？", "240"),
    "chinese": ("- 温室的水泵换了，价格是240欧元。\n- 娜迪亚给兰花浇水，你好，谢谢。\n", "温室水泵的价格是多少？", "240"),
}  # fmt: skip
NOTHING = {
    "english": ["hi", "thanks!", "haha ok", "what is the capital of Peru?", "write me a haiku about rain"],
    "german": ["hallo", "danke dir!", "haha ok", "Was ist die Hauptstadt von Peru?", "Schreib ein Haiku über Regen"],
    "portuguese": ["oi, tudo bem?", "muito obrigado!", "kkk beleza", "qual é a capital do Peru?", "conta uma piada"],
    "spanish": [
        "hola, ¿qué tal?",
        "muchas gracias",
        "jaja vale",
        "¿cuál es la capital del Perú?",
        "cuéntame un chiste",
    ],
    "french": ["bonjour", "merci beaucoup", "haha ok", "quelle est la capitale du Pérou ?", "raconte-moi une blague"],
    "vietnamese": ["xin chào", "cảm ơn nhiều nhé", "haha ok", "thủ đô của Peru là gì?", "kể chuyện cười đi"],
    "russian": ["привет", "спасибо большое!", "ахаха, смешно", "какая столица Перу?", "расскажи анекдот"],
    "korean": ["안녕하세요", "감사합니다!", "하하 알겠어", "페루의 수도는 어디야?", "농담 하나 해줘"],
    "japanese": ["こんにちは", "ありがとう！", "ははは、了解", "ペルーの首都はどこ？", "冗談を言って"],
    "chinese": ["你好", "谢谢！", "哈哈好的", "秘鲁的首都是哪里？", "讲个笑话"],
}


def memory_of(notes: Notes, text: str) -> Memory:
    notes.write("memory/2026-03-05.md", f"# 2026-03-05\n\n{text}")
    notes.write("memory/ledger.md", LEDGER)
    memory = open_memory(notes, None)
    memory.ingest()
    return memory


@pytest.mark.parametrize("language", CASES)
def test_what_the_notes_know_is_told_and_nothing_else(notes: Notes, language: str) -> None:
    text, question, said = CASES[language]
    with memory_of(notes, text) as memory:
        assert said in memory.context(question, now=NOW).text
        for message in NOTHING[language]:
            assert memory.context(message, now=NOW).text == "", message


YESTERDAY = {
    "english": "what did we do yesterday?",
    "german": "Was haben wir gestern gemacht?",
    "portuguese": "o que fizemos ontem?",
    "spanish": "¿qué hicimos ayer?",
    "french": "qu'avons-nous fait hier ?",
    "vietnamese": "hôm qua chúng ta làm gì?",
    "russian": "что мы делали вчера?",
    "korean": "어제 뭐 했지?",
    "japanese": "昨日は何をした?",
    "chinese": "昨天做了什么?",
}


@pytest.mark.parametrize("language", CASES)
def test_what_was_done_on_a_day_is_told_of_that_day_and_of_no_other(notes: Notes, language: str) -> None:
    text, _, said = CASES[language]
    notes.write("memory/2026-03-08.md", f"# 2026-03-08\n\n- 9 x 9\n- {YESTERDAY[language]} 99\n")
    with memory_of(notes, text) as memory:
        told = memory.context(YESTERDAY[language], now=date(2026, 3, 6)).text
        assert said in told and "99" not in told
        assert memory.context(YESTERDAY[language], now=date(2026, 3, 20)).text == ""
        for message in ("how are you today?", "wie geht es dir heute?", "你今天怎么样？", "как ты сегодня?"):
            assert memory.context(message, now=date(2026, 3, 5)).text == "", message


@pytest.mark.parametrize("message", ["bari luis", "ndewo", "mambo vipi"])
def test_one_word_that_the_notes_have_proves_nothing_in_any_language(notes: Notes, message: str) -> None:
    with memory_of(notes, "- Okoro greets with ndewo and bari.\n- Mambo is a dance.\n") as memory:
        assert memory.context(message, now=NOW).text == ""


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("english", "what did Bartholomew pay for his greenhouse in the mountains?"),
        ("french", "combien coûte la montre de Barthélemy ?"),
        ("spanish", "¿cuánto cuesta el reloj de Bartolomé?"),
        ("russian", "сколько стоят часы Варфоломея?"),
    ],
)
def test_what_is_asked_of_somebody_whom_no_note_knows_is_not_told(notes: Notes, language: str, message: str) -> None:
    """The words are in the notes, and another one's affairs are not."""
    with memory_of(notes, CASES[language][0]) as memory:
        assert memory.context(message, now=NOW).text == ""


@pytest.mark.parametrize(
    ("note", "message"),
    [
        (CASES["german"][0], "Was kostet die Pumpe im Gewächshaus laut Abrechnung?"),
        ("- המשאבה בחממה הוחלפה והיא עולה 240 יורו.\n", "כמה עולה המשאבה בחממה לפי החשבונית?"),
        ("- Pompa w szklarni kosztuje 240 euro.\n", "ile kosztuje pompa w szklarni według ścisłej umowy?"),
        ("- पंप की कीमत 240 यूरो है, ग्रीनहाउस में बदला गया।\n", "ग्रीनहाउस के पंप की कीमत बिल में कितनी है?"),
    ],
)
def test_a_noun_or_a_letter_beyond_ascii_is_no_name(notes: Notes, note: str, message: str) -> None:
    """A word that no note has is somebody only where it has a capital, in a language that keeps these for names."""
    with memory_of(notes, note) as memory:
        assert "240" in memory.context(message, now=NOW).text


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("let's go back to the pump, what about its price", True),
        ("давай вернёмся к насосу, что там с ценой", True),
        ("gut, zeig mir die Pumpe", True),
        ("谢谢，给我看水泵的价格", True),
        ("prepare the bill for the pump", True),
        ("Кран течёт, проверь насос", True),
        ("Verlängere den Vertrag mit dem Gärtner", True),
        ("prépare la facture de la pompe", True),
        ("renueva el contrato de la bomba", True),
        ("prenota il giardiniere", True),
        ("przedłuż umowę na pompę", True),
        ("温室のポンプを直して", True),
        ("온실 펌프 예약해줘", True),
        ("chuẩn bị hóa đơn máy bơm", True),
        ("把水泵的价格发给我", True),
        ("the pump hums", False),
        ("насос гудит", False),
    ],
)
def test_what_wants_to_be_told_something(message: str, wanted: bool) -> None:
    assert wants(message) is wanted


def test_of_a_statement_that_is_repeated_the_newest_state_is_told(notes: Notes) -> None:
    for day, price, state in ((1, 7, "läuft"), (3, 8, "läuft"), (5, 9, "läuft nicht")):
        notes.write(
            f"memory/2026-03-0{day}.md", f"- Der Backofen Hestia {state}, der Strompreis steht bei {price} Cent.\n"
        )
    notes.write("memory/ledger.md", LEDGER)
    with open_memory(notes, None) as memory:
        memory.ingest()
        text = memory.context("Läuft der Backofen Hestia?", now=NOW).text
    assert "läuft nicht" in text and "9 Cent" in text and "7 Cent" not in text and "8 Cent" not in text


def test_no_heading_log_or_opening_line_is_told_alone(notes: Notes) -> None:
    text = (
        "## Turbine Helios\n\nThe turbine Helios needs these parts:\n\n- a bearing\n- two seals\n\n"
        '{"turbine": "Helios", "level": "error"}\n\n2026-03-05 10:00:01 ERROR turbine Helios restarted\n\n## Turbine Helios later\n'
    )
    with memory_of(notes, text) as memory:
        said = memory.context("Which parts does the turbine Helios need?", now=NOW).text
    assert "these parts: a bearing" in said and "{" not in said and "ERROR" not in said
    assert not said.rstrip().endswith(":")


@pytest.mark.parametrize(
    "message",
    [
        "Write a Cobol function that reverses a linked list",
        "Schreib eine Funktion in Cobol, die eine verkettete Liste umkehrt",
        "Напиши на Cobol функцию, которая разворачивает связный список",
        "escribe una función en Cobol que invierta una lista enlazada",
    ],
)
def test_the_name_of_a_tool_among_much_else_says_nothing(notes: Notes, message: str) -> None:
    text = "".join(f"- The {part} of the ledger is written in Cobol now.\n" for part in ("parser", "printer", "index"))
    with memory_of(notes, text) as memory:
        assert memory.context(message, now=NOW).text == ""
        assert "Cobol" in memory.context("What is written in Cobol?", now=NOW).text


def test_a_name_of_two_parts_is_one_word(notes: Notes) -> None:
    """What is asked is not there: only the name is, and its parts are no further words."""
    text = "".join(f"- TideReview got a new {part}.\n" for part in ("footer", "logo", "privacy page", "font"))
    with memory_of(notes, text) as memory:
        assert memory.context("To whom does TideReview sell, to dentists or to bakeries?", now=NOW).text == ""
        assert "logo" in memory.context("Which logo has TideReview?", now=NOW).text


def test_no_drawing_and_no_row_of_opening_lines_is_told(notes: Notes) -> None:
    text = (
        "## Turbine Helios\n\nassistant: Now let me look at the turbine Helios:\nassistant: Now let me read its manual:\n"
        "assistant: The turbine Helios needs two seals.\n\n"
        "Parts of the turbine Helios:\n\n┌────────────┐\n│ Helios     │\n│ └─ turbine │\n└────────────┘\n"
    )
    with memory_of(notes, text) as memory:
        said = memory.context("What does the turbine Helios need?", now=NOW).text
    assert "two seals" in said and "manual" not in said and "│" not in said


def test_what_a_host_does_not_show_of_a_long_file_is_told(notes: Notes) -> None:
    filler = "".join(f"- Standing rule {number} about ledgers and accounts of the office.\n" for number in range(150))
    notes.write(
        "MEMORY.md",
        "# Memory\n\n- The boiler Vulcan stands in the attic.\n"
        + filler
        + "- The turbine Helios needs two seals.\n"
        + filler,
    )
    with open_memory(notes, None) as memory:
        memory.ingest()
        assert "two seals" in memory.context("what does the turbine Helios need?", now=NOW).text
        assert memory.context("where does the boiler Vulcan stand?", now=NOW).text == ""


@pytest.mark.parametrize(
    ("message", "asked", "requested"),
    [
        ("wann kommt der Zug", True, False), ("где лежит ключ", True, False), ("钥匙在哪里", True, False),
        ("онлайн", False, False), ("escreva um poema", False, True), ("напиши стих", False, True),
        ("schreib ein Gedicht", False, True), ("viết một bài thơ", False, True), ("où est la clé", True, False),
    ],
)  # fmt: skip
def test_questions_and_requests_are_known_by_their_words(message: str, asked: bool, requested: bool) -> None:
    assert (asks(message), requests(message)) == (asked, requested)


def test_a_word_of_another_language_is_no_courtesy_within_a_sentence() -> None:
    assert "dag" in substance("the DAG failed in the scheduler")
    assert substance("Danke! Der Ofen ist kalt.")[-1] == "kalt"


#: Notes of which a request about something else shares a word or some syllables; and the request.
SHARED = {
    "english": ("- Reverse logistics are Nadia's.", "write a python function that reverses a list"),
    "german": ("- Eine Logik, die Funktion für sich.", "Schreib eine Funktion in Python, die Listen umdreht"),
    "spanish": ("- La función del flujo.", "escribe una función en python que invierte una lista"),
    "vietnamese": (
        "- Mặt hàng mới.\n- Trời mưa.\n- Hành lá, hành tím.\n- Tính tiền.\n- Hệ số.",
        "hệ mặt trời có bao nhiêu hành tinh?",
    ),
}


@pytest.mark.parametrize("language", SHARED)
def test_what_shares_a_word_may_be_about_something_else(notes: Notes, language: str) -> None:
    text, message = SHARED[language]
    with memory_of(notes, text) as memory:
        assert memory.context(message, now=NOW).text == ""


THANKED = {
    "english": ("- Help from Nadia: the orchids are watered.\n", "thank you for your help"),
    "german": ("- Hilfe von Nadia: die Orchideen sind gegossen.\n", "Vielen Dank für deine Hilfe, du bist toll"),
    "portuguese": ("- Ajuda da Nádia: as orquídeas estão regadas.\n", "muito obrigado pela tua ajuda"),
    "russian": ("- Помощь Нади: орхидеи политы.\n", "спасибо за помощь"),
    "vietnamese": ("- Giúp đỡ của Nadia: hoa lan đã tưới.\n", "cảm ơn sự giúp đỡ của em"),
}


@pytest.mark.parametrize("language", THANKED)
def test_what_somebody_is_thanked_for_is_not_asked_about(notes: Notes, language: str) -> None:
    text, message = THANKED[language]
    with memory_of(notes, text * 4) as memory:
        assert memory.context(message, now=NOW).text == ""


def test_what_is_to_be_cancelled_is_asked_about(notes: Notes) -> None:
    with memory_of(notes, "- GrowLamp costs 24 a month, since May.\n- GrowLamp is dear.\n- GrowLamp came.\n") as memory:
        assert "24" in memory.context("Cancel GrowLamp if it costs more than 20 a month.", now=NOW).text


#: Tasks for which the notes of CASES are needed though they do not say so, in words of their own.
TASKS = {
    "english": "order another pump for the greenhouse and tell Nadia",
    "german": "Bestell noch eine Pumpe für das Gewächshaus",
    "portuguese": "encomenda outra bomba para a estufa",
    "spanish": "pide una bomba como la que se cambió en el invernadero",
    "french": "commande une autre pompe pour la serre",
    "vietnamese": "đặt thêm một máy bơm cho nhà kính",
    "russian": "закажи такой же насос, какой заменили в теплице",
    "korean": "온실 펌프 하나 더 주문해줘",
    "japanese": "温室のポンプをもう一台注文して",
    "chinese": "温室的水泵又坏了，再换一台",
}


@pytest.mark.parametrize("language", TASKS)
def test_a_task_is_given_what_it_needs(notes: Notes, language: str) -> None:
    with memory_of(notes, CASES[language][0]) as memory:
        assert "240" in memory.context(TASKS[language], now=NOW).text


def test_a_word_of_another_tone_is_no_courtesy() -> None:
    assert bare("máy bơm nhà kính") == "máy bơm nhà kính"
    assert bare("cảm ơn nhiều").strip() == bare("cam on nhieu").strip() == ""


def test_chinese_is_cut_at_its_particles(notes: Notes) -> None:
    with memory_of(notes, "- 左脑用硬盘 DuckDB 存东西。\n") as memory:
        assert "DuckDB" in memory.context("左脑的硬盘用的是什么？", now=NOW).text


def test_two_syllables_of_one_vietnamese_word_are_one_word(notes: Notes) -> None:
    text = "".join(f"- Điện thoại số {n} đặt ở kệ {n % 7}, thời tiết khô.\n" for n in range(12))
    with memory_of(notes, text) as memory:
        assert memory.context("thời tiết Paris hôm nay thế nào?", now=NOW).text == ""


@pytest.mark.parametrize("word", ["备份地下室", "カメラ", "한국어", "ภาษาไทย", "thờitiết", "備カ"])
def test_a_word_without_end_is_read_to_its_end(notes: Notes, word: str) -> None:
    with memory_of(notes, f"- {word} 12\n- {word} 13\n") as memory:
        assert memory.context(word * (18_000 // len(word)), now=NOW).text == ""
