"""What denies: the same statement with and without a word of negation, in many languages."""

import pytest

from openclaw_memory.text.negation import negations


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("The backup runs at night.", "The backup doesn't run at night."),
        ("The export works since Monday.", "The export has never worked since Monday."),
        ("Der Drucker läuft im Keller.", "Der Drucker läuft im Keller nicht."),
        ("Wir haben einen Vertrag mit Ostwind.", "Wir haben keinen Vertrag mit Ostwind."),
        ("Le train passe par Lyon.", "Le train ne passe pas par Lyon."),
        ("La caldera funciona.", "La caldera no funciona."),
        ("O portão abre sozinho.", "O portão não abre sozinho."),
        ("Il forno scalda bene.", "Il forno non scalda bene."),
        ("De pomp draait vandaag.", "De pomp draait vandaag niet."),
        ("Servern svarar snabbt.", "Servern svarar inte."),
        ("Serwer działa.", "Serwer nie działa."),
        ("Záloha je hotová a běží každý den", "Záloha není hotová a neběží každý den"),
        ("Сервер работает.", "Сервер не работает."),
        ("Є вода у підвалі.", "Немає води у підвалі."),
        ("Η αντλία λειτουργεί.", "Η αντλία δεν λειτουργεί."),
        ("Yedekleme çalışıyor.", "Yedekleme çalışmıyor."),
        ("Máy in chạy tốt.", "Máy in không chạy."),
        ("Mesin cuci menyala.", "Mesin cuci tidak menyala."),
        ("الخادم يعمل الآن.", "الخادم لا يعمل الآن."),
        ("השרת עובד.", "השרת לא עובד."),
        ("सर्वर चल रहा है।", "सर्वर नहीं चल रहा है।"),
        ("เครื่องพิมพ์ทำงาน", "เครื่องพิมพ์ไม่ทำงาน"),
        ("서버가 작동해요.", "서버가 작동하지 않아요."),
        ("备份已经运行。", "备份没有运行。"),
        ("プリンターは動きます。", "プリンターは動きません。"),
        ("灯油は届いた。", "灯油は届かなかった。"),
        ("Rain sensor ✅", "Rain sensor ❌"),
    ],
)
def test_a_denial_differs_from_what_it_denies(said: str, denied: str) -> None:
    assert negations(said) != negations(denied)
    assert negations(denied)


@pytest.mark.parametrize(
    "text",
    [
        "New network for the nephew next week.",
        "特别好的面包，非常便宜，不过有点远",
        "値段が少ない店は無料で案内してくれた",
        "Der Mai war warm, und die Notiz ist neu.",
        "Anna könnte am Ende der Woche kommen.",
        "The Hindi course starts in May.",
    ],
)
def test_words_that_only_look_like_a_denial(text: str) -> None:
    assert negations(text) == frozenset()


def test_case_and_apostrophes_do_not_count() -> None:
    assert negations("It DOESN’T work") == negations("it doesn't work")
