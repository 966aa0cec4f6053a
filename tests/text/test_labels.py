"""What a heading says of its lines: a subject, or only when and of what kind they are."""

import pytest

from openclaw_memory.text.labels import is_label, names_subject


@pytest.mark.parametrize(
    "heading",
    [
        "2026-03-04",
        "2026-03-04 14:30 UTC",
        "✅ Done today",
        "Current status",
        "Monday, March 4",
        "## 3. Next steps",
        "Conversation Summary",
        "Zusammenfassung des Gesprächs",
        "Resumo da conversa",
        "Итоги беседы",
        "Konuşmanın özeti",
        "對話摘要",
        "会話のまとめ",
        "대화 요약",
        "How it works",
        "今日进展",
        "下一步计划",
        "5月3日",
        "五月三日",
        "進捗",
        "今日やったこと",
        "회의 기록",
        "Итоги дня",
        "Nächste Schritte",
        "Próximos passos (hoje)",
        "Résumé de la réunion",
        "Bài học",
        "Decisioni",
        "Podsumowanie",
        "---",
        "",
    ],
)
def test_a_heading_of_labels_dates_and_signs_names_no_subject(heading: str) -> None:
    assert not names_subject(heading)


@pytest.mark.parametrize(
    "heading",
    [
        "Project Falcon",
        "Conversation with Ella",
        "会話のブログ",
        "Ella",
        "Мария",
        "Дача",
        "小白",
        "三里屯",
        "ブログの進捗",
        "Notes on Lisbon",
        "Ghi chú về Lan",
        "Küche",
        "API",
        "Status of the boiler",
    ],
)
def test_a_heading_with_a_word_of_its_own_names_a_subject(heading: str) -> None:
    assert names_subject(heading)


def test_a_label_is_one_in_any_case_and_without_its_accents() -> None:
    assert is_label("DECISAO")
    assert is_label("Entscheidungen")
    assert is_label("下一步")
    assert not is_label("Lisbon")
    assert not is_label("")
