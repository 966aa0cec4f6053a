"""Days that a question names, seen from the day on which it is asked."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_memory.search import question

ASKED = date(2024, 8, 14)  # a Wednesday


def days(first: str, last: str | None = None) -> list[tuple[date, date]]:
    return [(date.fromisoformat(first), date.fromisoformat(last or first))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what happened on 2024-05-03?", days("2024-05-03")),
        ("notes of 2024-02", days("2024-02-01", "2024-02-29")),
        ("on 3 May 2023", days("2023-05-03")),
        ("on the 3rd of May, 2023", days("2023-05-03")),
        ("May 3, 2023", days("2023-05-03")),
        ("May 3rd", days("2024-05-03")),
        ("on Dec 24", days("2023-12-24") + days("2024-12-24")),  # the last one, or the next
        ("on 1 September", days("2024-09-01")),  # soon enough to be meant
        ("in May", days("2024-05-01", "2024-05-31")),
        ("in October", days("2023-10-01", "2023-10-31") + days("2024-10-01", "2024-10-31")),
        ("in october 2022?", days("2022-10-01", "2022-10-31")),
        ("early June", days("2024-06-01", "2024-06-11")),
        ("mid-June", days("2024-06-10", "2024-06-21")),
        ("late June", days("2024-06-20", "2024-06-30")),
        ("the first week of July", days("2024-07-01", "2024-07-07")),
        ("the second week of July", days("2024-07-08", "2024-07-14")),
        ("the third week of July", days("2024-07-15", "2024-07-21")),
        ("the last week of July", days("2024-07-25", "2024-07-31")),
        ("in Q3 2023", days("2023-07-01", "2023-09-30")),
        ("q1", days("2024-01-01", "2024-03-31")),
        ("q4-2022 results", days("2022-10-01", "2022-12-31")),
        ("in 2021", days("2021-01-01", "2021-12-31")),
        ("yesterday", days("2024-08-13")),
        ("today", days("2024-08-14")),
        ("this week", days("2024-08-08", "2024-08-14")),
        ("last week", days("2024-08-01", "2024-08-13")),
        ("last year", days("2023-01-01", "2023-12-31")),
        ("last Monday", days("2024-08-12")),
        ("last wednesday", days("2024-08-07")),
        ("3 days ago", days("2024-08-11")),
        ("a week ago", days("2024-08-06", "2024-08-08")),
        ("two months ago", days("2024-05-31", "2024-06-30")),
        ("in the past two weeks", days("2024-07-31", "2024-08-14")),
        ("last 10 days", days("2024-08-04", "2024-08-14")),
        ("what may happen", []),
        ("march on", []),
        ("30 February 2024", days("2024-02-01", "2024-02-29")),  # there is none: the month is what is left
        ("2024-13-01", days("2024-01-01", "2024-12-31")),
        ("the 2024-05-03T10:00 log", days("2024-05-03")),
        ("who likes tea?", []),
        ("", []),
    ],
)
def test_a_question_names_these_days(text: str, expected: list[tuple[date, date]]) -> None:
    assert question.intervals(text, ASKED) == expected


def test_a_question_may_name_several_days() -> None:
    found = question.intervals("between 2024-01-02 and 5 March 2024, or yesterday", ASKED)
    assert found == [*days("2024-01-02"), *days("2024-03-05"), *days("2024-08-13")]


MARCH = date(2024, 3, 1)
OLDEST = date(1200, 1, 1)


@pytest.mark.parametrize(
    "texts",
    [
        "what was decided since March? | and after March? | and until March? | what was bought before March?",
        "was wurde seit März entschieden? | und nach März? | was galt bis März? | und was war vor dem März?",
        "qu'avons-nous décidé depuis mars ? | et après mars ? | et jusqu'en mars ? | qu'y avait-il avant mars ?",
        "¿qué decidimos desde marzo? | ¿y después de marzo? | ¿y hasta marzo? | ¿qué había antes de marzo?",
        "o que decidimos desde março? | e depois de março? | e até março? | o que havia antes de março?",
        "cosa abbiamo deciso da marzo? | e dopo marzo? | e fino a marzo? | cosa c'era prima di marzo?",
        "wat is er sinds maart besloten? | en na maart? | en tot maart? | wat was er vóór maart?",
        "co ustalono od marca? | co było po marcu? | a co do marca? | -",
        "что решили с марта? | что было после марта? | - | что было до марта?",
        "Mart'tan beri ne oldu? | Mart'tan sonra ne oldu? | Mart'a kadar ne oldu? | Mart'tan önce ne oldu?",
        "apa yang diputuskan sejak Maret? | dan setelah Maret? | sampai Maret? | apa sebelum Maret?",
        "kể từ tháng 3 đã quyết định gì? | sau tháng 3 | cho đến tháng 3 | trước tháng 3",
        "自三月以来决定了什么？ | 三月之后呢？ | 三月为止呢？ | 三月之前呢？",
        "三月から何を決めた？ | 三月の後は？ | 三月までは？ | 三月より前は？",
        "3월부터 무엇을 정했나? | 3월 이후에는? | 3월까지는? | 3월 이전에는?",
        "ماذا قررنا منذ مارس؟ | وماذا بعد مارس؟ | حتى مارس؟ | وماذا كان قبل مارس؟",
    ],
)
def test_a_time_may_begin_or_end_what_is_meant_in_many_languages(texts: str) -> None:
    last = date(2024, 3, 31)
    expected = [(MARCH, ASKED), (last + timedelta(1), ASKED), (OLDEST, last), (OLDEST, MARCH - timedelta(1))]
    for text, interval in zip(texts.split(" | "), expected, strict=True):
        assert text == "-" or question.intervals(text, ASKED) == [interval], text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since March 3 and until March 10", days("2024-03-03", "2024-03-10")),
        ("what changed after the 3rd of May?", days("2024-05-04", "2024-08-14")),
        ("since yesterday", days("2024-08-13", "2024-08-14")),
        ("since 2024-03-01", days("2024-03-01", "2024-08-14")),
        ("before 2024", days("1200-01-01", "2023-12-31")),
        ("2024年之前", days("1200-01-01", "2023-12-31")),
        ("до 2024 года", days("1200-01-01", "2023-12-31")),
        ("since tomorrow", days("2024-08-15")),  # nothing is between
        ("after lunch in May", days("2024-05-01", "2024-05-31")),
        ("where were we the week before May 3?", days("2024-05-03")),
        ("what was on the Sunday after May 3?", days("2024-05-03")),
        ("wo waren wir in der Woche vor dem 3. Mai?", days("2024-05-03")),
        ("¿dónde estuvimos la semana antes del 3 de mayo?", days("2024-05-03")),
        ("5月3日前的一周去了哪里？", days("1200-01-01", "2024-05-02")),
        ("notes from March", days("2024-03-01", "2024-03-31")),
        ("wat staat er gepland voor maart?", days("2024-03-01", "2024-03-31")),
        ("从三月的笔记里找", days("2024-03-01", "2024-03-31")),
        ("三月开始的项目", days("2024-03-01", "2024-03-31")),
        ("5月3日前后发生了什么？", days("2024-05-03")),
        ("5月3日前後に何があった？", days("2024-05-03")),
        ("ghi chú từ tháng 3", days("2024-03-01", "2024-03-31")),
        ("нотатки з березня", days("2024-03-01", "2024-03-31")),
        ("3 days ago", days("2024-08-11")),
        ("vor 3 Tagen", days("2024-08-11")),
        ("3天前", days("2024-08-11")),
    ],
)
def test_only_a_time_beside_such_a_word_is_bounded(text: str, expected: list[tuple[date, date]]) -> None:
    assert question.intervals(text, ASKED) == expected


def test_a_year_inside_a_date_is_not_named_again() -> None:
    assert question.intervals("on 3 May 2023", ASKED) == days("2023-05-03")


@pytest.mark.parametrize("text", ["in may", "last week", "yesterday", "two months ago", "q2", "last friday"])
@given(asked=st.dates(date(1990, 1, 1), date(2100, 1, 1)))
def test_relative_days_lie_before_the_asking_day(text: str, asked: date) -> None:
    (first, last), *coming = question.intervals(text, asked)
    assert all(begin > asked for begin, _ in coming) and len(coming) <= (text == "in may")
    assert first <= last
    if text != "q2":
        assert first <= asked
    assert question.intervals(text.upper(), asked) == [(first, last), *coming]


PIECES = st.sampled_from(
    "last past previous next a an two twelve a few a couple of 3 99 999 31 30 0 2024 1999 2099 2024-02-30 2024-00 day "
    "days week weeks month months year years ago may march sept sep. february 29 of , - in q1 q5 first week of early "
    "late middle of end of today yesterday this week monday last monday ٣ ² İ 12:30 st nd th since after until before 1000-01-01".split(
        " "
    )
)


@given(
    st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=9).map(" ".join)),
    st.dates(date(1970, 1, 1), date(2200, 1, 1)),
)
@example("last 999 years and 999 years ago", date(1970, 1, 1))
@example("29 february", date(2023, 1, 1))
@example("\ud800 2024-02-30", ASKED)
@example("what was until 1000-01-01?", ASKED)
def test_no_text_raises_and_intervals_are_in_order(text: str, asked: date) -> None:
    for first, last in question.intervals(text, asked):
        assert isinstance(first, date) and first <= last
        assert last <= asked + timedelta(370) or last.year >= 1900
    question.asks_when(text)
    question.asks_now(text)
    question.asks_amount(text)
    question.content(text)
    question.named(text)


@pytest.mark.parametrize(
    "text", ["When did JR move?", "how long was it", "On which date?", "what day was that", " in what year"]
)
def test_asking_for_a_time(text: str) -> None:
    assert question.asks_when(text)


@pytest.mark.parametrize("text", ["Where is it?", "I forgot when", "whenever", ""])
def test_not_asking_for_a_time(text: str) -> None:
    assert not question.asks_when(text)


@pytest.mark.parametrize(
    "text",
    "What is the current budget?|Which model do we use now?|What's the latest plan|Welches Modell nutzen wir jetzt?|"
    "Quel est le budget actuel ?|¿Dónde vive ahora?|Onde ela mora atualmente?|Dove abita adesso?|Waar woont ze momenteel?|"
    "Gdzie teraz mieszka?|Kde teď bydlí?|Где она сейчас живёт?|Де вона зараз живе?|Şimdi nerede oturuyor?|"
    "Hiện tại cô ấy sống ở đâu?|目前用的是哪个模型？|今はどのモデルを使っていますか？|지금 어디에 살아요?|הוא גר עכשיו איפה?|أين يسكن الآن؟".split(
        "|"
    ),
)
def test_how_things_are_is_asked_for_in_many_languages(text: str) -> None:
    assert question.asks_now(text)


@pytest.mark.parametrize(
    "text", ["What do we know of snow?", "Where did she live?", "Wo wohnte sie früher?", "他住在哪里？", ""]
)
def test_not_asking_for_how_things_are(text: str) -> None:
    assert not question.asks_now(text)


@pytest.mark.parametrize(
    "text",
    "How many hives are left?|Which port does the greenhouse use?|Wie viele Bienenstöcke sind übrig?|Combien de ruches restent ?|"
    "¿Cuántas colmenas quedan?|Quantas colmeias restam?|Quante arnie restano?|Hoeveel korven zijn er?|Ile uli zostało?|"
    "Kolik úlů zbývá?|Сколько ульев осталось?|Скільки вуликів залишилось?|Kaç kovan kaldı?|Còn bao nhiêu tổ ong?|还剩多少蜂箱？|"
    "巣箱はいくつ残っていますか？|벌통이 몇 개 남았어요?|כמה כוורות נשארו?|كم خلية بقيت؟|कितने छत्ते बचे हैं?".split("|"),
)
def test_an_amount_is_asked_for_in_many_languages(text: str) -> None:
    assert question.asks_amount(text)


@pytest.mark.parametrize(
    "text", ["Where are the hives?", "Show the harbour", "Wo stehen die Stöcke?", "蜂箱在哪里？", ""]
)
def test_not_asking_for_an_amount(text: str) -> None:
    assert not question.asks_amount(text)


AGO = (
    "How many days ago did I meet Petra?|Vor wie vielen Wochen traf ich Petra?|Il y a combien de jours que j'ai vu Petra ?|"
    "¿Hace cuántas semanas vi a Petra?|Há quantos dias vi a Petra?|Quanti mesi fa ho visto Petra?|Hoeveel weken geleden zag ik Petra?|"
    "Ile dni temu widziałem: Petra?|Před kolika dny tu byla Petra?|Сколько дней назад тут была Petra?|Скільки тижнів тому тут була Petra?|"
    "Kaç gün önce Petra geldi?|Mấy ngày trước tôi gặp Petra?|几个月前我见过Petra？|何日前にPetraに会った？|몇 주 전에 Petra를 만났지?|"
    "πριν από πόσες ημέρες ήρθε Petra;|לפני כמה ימים Petra?|Pred koliko dnevi je prišla Petra?"
).split("|")


@pytest.mark.parametrize("text", AGO)
def test_how_many_days_ago_asks_for_a_time_and_is_not_looked_for(text: str) -> None:
    assert question.asks_when(text) and not question.asks_amount(text)
    left = question.content(text)
    assert "Petra" in left and len("".join(left.split())) < len("".join(text.split()))
    assert question.content(left) == left


@pytest.mark.parametrize("text", ["How many hives are there?", "What was 3 days ago?", "many days ago", "多少蜂箱", ""])
def test_other_words_are_looked_for(text: str) -> None:
    assert question.content(text) == text


def test_names_are_compared_folded_and_without_the_possessive() -> None:
    assert question.named("What did José tell Anna's mother?") == ["jose", "tell", "anna", "mother"]
    assert "x" * 5 in question.named("x" * 5)


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("last week", "2024-08-14", days("2024-08-05", "2024-08-11")),
        ("上周", "2024-08-12", days("2024-08-05", "2024-08-11")),
        ("на прошлой неделе", "2024-08-17", days("2024-08-05", "2024-08-11")),
        ("this week", "2024-08-14", days("2024-08-12", "2024-08-18")),
        ("letzten Monat", "2024-01-14", days("2023-12-01", "2023-12-31")),
        ("next month", "2024-12-14", days("2025-01-01", "2025-01-31")),
        # A Sunday ends a week or begins one.
        ("last week", "2024-08-18", days("2024-08-05", "2024-08-17")),
        ("two weeks ago", "2024-08-14", days("2024-07-28", "2024-08-03")),
    ],
)
def test_exact_weeks_and_months_are_those_of_the_calendar(
    text: str, asked: str, expected: list[tuple[date, date]]
) -> None:
    assert question.intervals(text, date.fromisoformat(asked), exact=True) == expected


#: Asked on a Wednesday; "last week" and the like count back from then.
LAST_WEEK = days("2024-08-01", "2024-08-13")
THREE_WEEKS_AGO = days("2024-07-19", "2024-07-29")
MAY = days("2024-05-01", "2024-05-31")
LAST_MONDAY = days("2024-08-12")


@pytest.mark.parametrize(
    ("expected", "texts"),
    [
        (
            LAST_WEEK,
            "letzte Woche|la semana pasada|semana passada|la semaine dernière|la settimana scorsa|vorige week|förra veckan|"
            "sidste uge|forrige uke|viime viikolla|w zeszłym tygodniu|minulý týden|на прошлой неделе|минулого тижня|"
            "geçen hafta|tuần trước|minggu lalu|上周|上星期|上週|先週|지난주|पिछले सप्ताह|الأسبوع الماضي|בשבוע שעבר|"
            "την περασμένη εβδομάδα|săptămâna trecută|múlt héten",
        ),
        (
            THREE_WEEKS_AGO,
            "vor drei Wochen|vor 3 Wochen|hace tres semanas|há três semanas|il y a trois semaines|tre settimane fa|"
            "drie weken geleden|för tre veckor sedan|for tre uger siden|for tre uker siden|kolme viikkoa sitten|"
            "trzy tygodnie temu|před třemi týdny|три недели назад|три тижні тому|üç hafta önce|ba tuần trước|"
            "tiga minggu yang lalu|三周前|３周前|3週間前|3주 전|तीन सप्ताह पहले|3 सप्ताह पहले|قبل ثلاثة أسابيع|לפני שלושה שבועות|"
            "πριν από τρεις εβδομάδες|acum trei săptămâni|három héttel ezelőtt",
        ),
        (
            MAY,
            "im Mai|en mayo|em maio|en mai|a maggio|in mei|i maj|i mai|toukokuussa|w maju|v květnu|в мае|у травні|"
            "mayısta|tháng 5|tháng năm|bulan Mei|五月|5月|５月份|5월|मई में|في مايو|במאי|τον Μάιο|în mai|májusban",
        ),
        (
            LAST_MONDAY,
            "letzten Montag|el lunes pasado|na segunda passada|lundi dernier|lunedì scorso|afgelopen maandag|"
            "в прошлый понедельник|上周一|上星期一|先週の月曜日|지난 월요일|thứ hai tuần trước|geçen pazartesi",
        ),
        (days("2024-08-12"), "vorgestern|anteayer|anteontem|avant-hier|позавчера|前天|おととい|그저께|hôm kia"),
        (days("2024-05-01", "2024-05-11"), "Anfang Mai|a principios de mayo|início de maio|début mai|в начале мая|五月初|5月上旬|5월 초"),
        (days("2024-05-21", "2024-05-31"), "Ende Mai|finales de mayo|no final de maio|fin mai|в конце мая|五月底|5月末|cuối tháng 5"),
        (days("2024-07-31", "2024-08-14"), "in den letzten zwei Wochen|en las últimas dos semanas|за последние две недели|最近两周|過去2週間|지난 2주"),
        (days("2023-02-13"), "13. Februar 2023|el 13 de febrero de 2023|13 février 2023|13 февраля 2023 года|2023年2月13日|"
         "2023년 2월 13일|13 tháng 2 năm 2023|ngày 13 tháng 2 năm 2023|13.02.2023|2023.02.13|02/13/2023|13/02/2023"),
        (days("2024-03-04"), "3月4号深夜|3月4日の朝|am 4. März|el 4 de marzo|4 марта|4 Mart'ta|le 4 mars|ngày 4 tháng 3"),
    ],
)  # fmt: skip
def test_days_are_named_in_many_languages(expected: list[tuple[date, date]], texts: str) -> None:
    for text in texts.split("|"):
        assert question.intervals(text, ASKED) == expected, text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What was due on 02/03/2023?", "2023-02-03"),
        ("Was haben wir am 02/03/2023 gemacht?", "2023-03-02"),
        ("¿Qué hicimos el 02/03/2023?", "2023-03-02"),
    ],
)
def test_numbers_that_leave_the_day_open_are_read_as_the_question_s_language_writes_them(text: str, day: str) -> None:
    assert question.intervals(text, ASKED) == days(day)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What did we decide on 3/9?", "2026-03-09"),
        ("What have I written on 03-09?", "2026-03-09"),
        ("Was habe ich am 9.3. gesagt?", "2026-03-09"),
        ("Was war am 9.03 los?", "2026-03-09"),
        ("¿Qué decidimos el 9/3?", "2026-03-09"),
        ("Quanto sobrou no dia 16/3?", "2026-03-16"),
        ("Qu'est-ce qu'on a décidé le 9/3 ?", "2026-03-09"),
        ("Ngày 9/3 sếp dặn gì?", "2026-03-09"),
        ("Co robiliśmy dnia 9.03?", "2026-03-09"),
        ("О чём договорились на 9.03?", "2026-03-09"),
        ("Vad sa jag den 9/3?", "2026-03-09"),
        ("9/3'te ne yaptık?", "2026-03-09"),
        ("3/9に何をしましたか", "2026-03-09"),
        ("3/9에 뭐 했어?", "2026-03-09"),
        ("When did it happen, on 3/16?", "2026-03-16"),
    ],
)
def test_a_day_and_a_month_in_numbers_are_a_day_beside_a_word_that_says_so(text: str, day: str) -> None:
    only = date.fromisoformat(day)
    assert question.intervals(text, date(2026, 3, 20)) == [(only, only)]


@pytest.mark.parametrize(
    "text",
    ["Is it on 24/7?", "Did we cut it to 1/2?", "What came with 9.3.?", "Is the disk on 10/12% load?", "on 2/30?"],
)
def test_other_numbers_are_no_day(text: str) -> None:
    assert question.intervals(text, date(2026, 3, 20)) == []


@pytest.mark.parametrize(
    "text",
    [
        "who likes mayo?",
        "What did Jan say?",
        "the marca of the shoes",
        "Mars bars",
        "sun and sand",
        "die Ausgabe 3.20.26",
    ],
)
def test_words_of_other_meaning_name_no_month(text: str) -> None:
    assert question.intervals(text, ASKED) == []


@pytest.mark.parametrize(
    "text",
    "Wann war das?|Seit wann läuft er?|An welchem Tag kam es?|¿Cuándo llegó?|Quando foi a reunião?|Quand est-il venu ?|"
    "Da quando lavora qui?|Wanneer was dat?|När kom hon?|Hvornår kom hun?|Milloin se oli?|Kiedy to było?|Kdy to bylo?|"
    "Когда это было?|С каких пор?|Коли це було?|Ne zaman taşındık?|Khi nào chuyển nhà?|Họ chuyển nhà khi nào?|Kapan pindah?|"
    "我们什么时候搬家？|他是哪天来的？|健康診断はいつ？|언제 이사했어?|वह कब आया?|متى انتقلنا؟|מתי עברנו?|Πότε έγινε;|Când a fost?|"
    "Mikor volt?".split("|"),
)
def test_a_time_is_asked_for_in_many_languages(text: str) -> None:
    assert question.asks_when(text)


@pytest.mark.parametrize(
    "text",
    [
        "what did we do yesterday?", "what happened last week", "summarise last month", "notes of 2024-02", "what happened in 2023?",
        "tell me what was going on on May 3", "what did I work on since March?", "was war letzte Woche los?", "was ist am 3. Mai passiert?",
        "que s'est-il passé la semaine dernière ?", "¿qué pasó la semana pasada?", "o que aconteceu na semana passada?",
        "cosa è successo la settimana scorsa?", "что произошло на прошлой неделе?", "що ми робили вчора?", "昨天我们做了什么？", "上周发生了什么事",
        "先週は何がありましたか", "지난주에 무슨 일이 있었어?", "wat hebben we gisteren gedaan?", "vad gjorde vi igår?", "hvad lavede vi i går?",
        "hva skjedde i går?", "mitä teimme eilen?", "co robiliśmy wczoraj?", "co se stalo včera?", "dün ne yaptık?", "geçen hafta ne oldu?",
        "ماذا فعلنا أمس؟", "מה עשינו אתמול?", "hôm qua chúng ta làm gì?", "apa yang kita lakukan kemarin?", "mit csináltunk tegnap?",
        "ce am făcut ieri?", "دیروز چه کار کردیم؟", "เมื่อวานทำอะไร",
        "sum up last week", "what did we accomplish last month?", "was haben wir letzte Woche geschafft?", "Rückblick auf letzte Woche",
        "donne-moi un résumé de la semaine dernière", "hazme un resumen de la semana pasada", "faça um resumo da semana passada",
        "fammi un riassunto della settimana scorsa", "подведи итоги прошлой недели", "帮我总结一下上周的工作", "上周完成了什么", "先週の振り返り",
        "geef me een samenvatting van vorige week",
    ],
)  # fmt: skip
def test_a_question_may_ask_for_nothing_but_days(text: str) -> None:
    assert question.asks_only_days(text, ASKED)


@pytest.mark.parametrize(
    "text",
    [
        "what did Mira say about the pump yesterday?", "which paint did we order in May?", "when does the contract end in 2027?",
        "room 3 yesterday", "was hat Emma gestern über das Boot gesagt?", "昨天的会议讨论了什么预算", "昨日、ミラはポンプについて何と言った?",
        "어제 펌프는 어떻게 됐지?", "qu'a dit Marie hier sur le budget ?", "how many articles since August 15?", "what did we do?",
        "was haben wir gemacht?", "做了什么", "yesterday " * 30,
    ],
)  # fmt: skip
def test_a_question_that_names_a_thing_asks_for_more_than_days(text: str) -> None:
    assert not question.asks_only_days(text, ASKED)
