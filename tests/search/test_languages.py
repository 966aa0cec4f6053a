"""Notes and questions in ten languages, in one real index: the words alone find the note, and know when there is none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from openclaw_memory.config.settings import Settings
from openclaw_memory.memory import Memory
from openclaw_memory.model import SearchHit, SearchRequest

NOTES = {
    "de": "Die Handwerker haben die alten Fenster im Bad ausgetauscht.\nDer Zahnarzt hat die Rechnungen geschickt.",
    "fr": "Nous avons vendu la vieille voiture de ma tante.\nLe plombier est venu réparer les robinets de la cuisine.",
    "es": "Hemos cambiado las cerraduras de la oficina.\nLos vecinos se quejaron de los perros del jardín.",
    "pt": "Pagamos as contas da luz com atraso.\nOs técnicos instalaram as impressoras na sala.",
    "it": "Abbiamo spostato i mobili della nonna in cantina.\nI ragazzi hanno dipinto le pareti del salotto.",
    "ru": "Мы перенесли базу данных на новые серверы.\nБабушка продала дачу соседям.",
    "el": "Τα αυτοκίνητα πουλήθηκαν στον γείτονα.\nΟι βιβλιοθήκες μεταφέρθηκαν στο υπόγειο.",
    "zh": "团队决定把数据库迁移到新的服务器。\n奶奶把老房子卖给了邻居。",
    "ja": "データベースを新しいサーバーへ移行した。\n祖母は古い家を隣人に売った。",
    "th": "ทีมย้ายฐานข้อมูลไปยังเซิร์ฟเวอร์ใหม่\nคุณยายขายบ้านหลังเก่าให้เพื่อนบ้าน",
}
ASKED = [
    ("de", 2, "Wann kam die Rechnung des Zahnarztes?"),
    ("fr", 2, "Qui a réparé le robinet de la cuisine ?"),
    ("es", 1, "¿Cuándo se cambió la cerradura de la oficina?"),
    ("pt", 1, "Qual foi a conta da luz que pagamos com atraso?"),
    ("it", 2, "Chi ha dipinto la parete del salotto?"),
    ("ru", 1, "Когда была перенесена база данных на сервер?"),
    ("el", 1, "Σε ποιον πουλήθηκε το αυτοκίνητο;"),
    ("zh", 1, "我们什么时候决定迁移数据库的？"),
    ("ja", 1, "データベースはいつ移行しましたか。"),
    ("th", 2, "คุณยายขายบ้านให้ใคร"),
]
#: Questions about what no note tells.
UNTOLD = {
    "de": "Wie heißt der Trainer der Schwimmmannschaft?",
    "fr": "Quel est le numéro du vol pour Lisbonne ?",
    "es": "¿Cuál es la receta del gazpacho de la abuela?",
    "pt": "Qual é o prazo do passaporte?",
    "it": "Qual è il nome del medico di famiglia?",
    "ru": "Какой пароль от почтового ящика?",
    "el": "Πόσο κοστίζει το εισιτήριο του πλοίου;",
    "zh": "我们什么时候去医院看牙医？",
    "ja": "いつ飛行機の切符を予約しましたか。",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    workspace = tmp_path_factory.mktemp("languages") / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for language, text in NOTES.items():
        Path(workspace, "memory", f"{language}.md").write_text(f"{text}\n", encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"}, environ={})
    with Memory(workspace, settings=settings, db=workspace.parent / "i.duckdb") as made:
        made.ingest()
        yield made


def ask(memory: Memory, query: str) -> tuple[SearchHit, ...]:
    return memory.search(SearchRequest(query, mode="keyword", budget=200, now=date(2026, 3, 1))).results


@pytest.mark.parametrize(("language", "line", "query"), ASKED)
def test_a_question_finds_the_line_that_answers_it(memory: Memory, language: str, line: int, query: str) -> None:
    first = ask(memory, query)[0]
    assert first.path == f"memory/{language}.md" and first.start_line <= line <= first.end_line
    assert first.score > 0.25


@pytest.mark.parametrize("language", sorted(UNTOLD))
def test_a_question_about_nothing_that_is_told_scores_low(memory: Memory, language: str) -> None:
    assert max((hit.score for hit in ask(memory, UNTOLD[language])), default=0) < 0.25


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Was ist im Mai mit der Reise?", "Die Reise nach Rom beginnt am 2026-05-03."),
        ("五月的旅行", "2026/05/03去罗马旅行。"),
        ("5月の旅行は？", "2026.05.03にローマへ旅行する。"),
        ("Что с поездкой в мае?", "Поездка в Рим 03.05.2026."),
        ("A viagem em maio?", "A viagem a Roma é no dia 03-05-2026, não 23-04-2026."),
        ("what about the trip in May?", "The trip to Rome starts on 3 Mai 2026."),
        ("Was ist mit der Reise nächsten Monat?", "Die Reise nach Rom beginnt am 3. Mai."),
    ],
)
def test_a_day_that_a_line_names_is_one_of_its_days(tmp_path: Path, question: str, line: str) -> None:
    other = line.replace("05", "08").replace("Mai", "August")
    (tmp_path / "w" / "memory").mkdir(parents=True)
    text = f"# A\n\n{other}\n\n# B\n\n{line}\n\n# C\n\n{other}\n\n# D\n\n- ...and 1 more\n"
    (tmp_path / "w" / "memory" / "2026-02-02.md").write_text(text, encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"}, environ={})
    with Memory(tmp_path / "w", settings=settings, db=tmp_path / "i.duckdb") as memory:
        memory.ingest()
        best = memory.search(SearchRequest(question, now=date(2026, 4, 20), budget=200)).results[0]
    assert line in best.snippet


def test_a_files_time_is_no_day(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "MEMORY.md").write_text("- the lamp is green\n", encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"}, environ={})
    with Memory(tmp_path / "w", settings=settings, db=tmp_path / "i.duckdb") as memory:
        memory.ingest()
        today = date.today()
        assert [hit.date for hit in memory.search("lamp").results] == [None]
        assert not memory.search("lamp", since=today).results and not memory.search("lamp", until=today).results
        assert [hit.snippet for hit in memory.timeline().results] == ["- the lamp is green"]


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("That was so many days ago.", "How many days ago did I meet Petra?"),
        ("Vor vielen Tagen war das so, vor wie vielen Tagen?", "Vor wie vielen Tagen traf ich Petra?"),
        ("Всё это было много дней назад.", "Сколько дней назад тут была Petra?"),
    ],
)
def test_who_asks_how_many_days_ago_looks_for_no_days(tmp_path: Path, line: str, question: str) -> None:
    (tmp_path / "memory").mkdir()
    other = "".join(f"- The fence has got its coat of paint number {n}.\n" for n in range(30))
    for name, text in (("a", f"- {line}\n"), ("b", "- Coffee with Petra by the harbour.\n"), ("c", other)):
        Path(tmp_path, "memory", f"{name}.md").write_text(text, encoding="utf-8")
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, "embedding.model": "none"}, environ={})
    with Memory(tmp_path, settings=settings, db=tmp_path / "i.duckdb") as memory:
        memory.ingest()
        assert memory.search(question).results[0].path == "memory/b.md"
