"""Sentences of many scripts, with their offsets."""

from __future__ import annotations

import pytest

from openclaw_memory.text.sentences import ends_sentence, sentence_spans


@pytest.mark.parametrize(
    "sentences",
    [
        ["We met Dr. Smith at 5 p.m. in No. 5.", "He said: no!", "(It was late.)"],
        ["Am 13. Mai war z. B. Hr. Meier da.", "Gut."],
        ["La Sra. García vive en la Avda. Sol.", "¿Dónde?", "Aquí."],
        ["Mme. Leroy arrive à 5 heures.", "Bien sûr !", "Oui."],
        ["A Dra. Lima ligou.", "Pago aprox. 50 euros.", "Certo?"],
        ["Tôi đi.", "Bạn ở đâu?", "Xong."],
        ["Это т. е. хорошо.", "Он на ул. Ленина.", "Пора!"],
        ["Dne 3. května jsme jeli.", "Potom nic."],
        ["मैं गया।", "तुम कहाँ हो?", "ठीक।"],
        ["ሰላም።", "እንዴት ነህ።"],
        ["Πού είναι;", "Εδώ.", "Ναι."],
        ["أين المفتاح؟", "على الطاولة.", "نعم"],
        ["کیا حال ہے؟", "ٹھیک ہے۔", "اچھا"],
        ["Բարեւ։", "Լավ։"],
        ["Her sey tamam.", "Dr. Kaya geldi.", "Güzel!"],
    ],
)
def test_a_sentence_ends_where_its_script_says(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize("sentences", [["他说：“好。”", "然后走了！", "明天见"], ["元気ですか？", "はい。", "では"]])
def test_sentences_without_blanks_between_them(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize("text", ["Done.", "好。", "ठीक। ✅", "**Fertig!**", "“Quoi ?”", "نعم۔", "Да… 🙂"])
def test_what_ends_as_a_sentence(text: str) -> None:
    assert ends_sentence(text)


@pytest.mark.parametrize("text", ["Done", "v1.2", "10.0.0.1", "好", "a.b"])
def test_what_does_not(text: str) -> None:
    assert not ends_sentence(text)
