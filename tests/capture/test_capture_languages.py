"""Capture in ten languages and more: what is decided, preferred, promised and found out is worth the same in each."""

from __future__ import annotations

from datetime import datetime

import pytest
from fakes import Notes, open_memory

from openclaw_memory.capture.capturer import Message, Turn
from openclaw_memory.capture.novelty import worth

KEPT = """
Wir nehmen ab jetzt Postgres statt MySQL.|Mira isst keine Nüsse, sie ist allergisch.|Der Build läuft nicht mehr.
Merk dir: der Schlüssel liegt im Keller.|我们决定用 Postgres 代替 MySQL。|我女儿对花生过敏。|周五之前要交报告。|原来是缓存的问题，已经修好了。
Мы решили перейти на Postgres.|У моей сестры аллергия на орехи.|Встреча с Олегом 12 марта в 9:00.|Оказалось, что проблема в кэше.
データベースはPostgresに決めました。|締め切りは3月12日です。|原因は古いキャッシュでした。|妹は大阪に住んでいます。
Decidimos usar Postgres em vez de MySQL.|Minha irmã mora em Porto.|Prefiro café sem açúcar.|O prazo é sexta-feira.
Chúng tôi quyết định dùng Postgres.|Vợ tôi dị ứng với tôm.|Hóa ra lỗi do bộ nhớ đệm.|Decidimos mudarnos a Sevilla en mayo.
Mi hermano vive en Lima.|우리는 Postgres를 쓰기로 결정했어요.|제 딸은 땅콩 알레르기가 있어요.|마감은 금요일이에요.
Nous avons décidé de garder Postgres.|Ma sœur habite à Lyon.|Postgres kullanmaya karar verdik.|Zdecydowaliśmy się na Postgres.
We dropped the plan of a second barn.|Let's keep the old gate after all.|Wir behalten nun doch das alte Tor.
Jetzt nehmen wir das blaue Holz, von nun an immer.|仓库的门就用蓝色的木头吧。|旧的栅栏还是保留吧。|納屋の扉は青い木にします。|新しい柵の案は見送りになった。
Для ворот берём синие доски.|Мы отказались от второй теплицы.|Ficamos com o portão antigo.|Desistimos da segunda estufa.
Cái cổng cũ vẫn giữ lại.|Mình bỏ kế hoạch làm nhà kính thứ hai.|옛 대문은 그대로 두기로 했다.|두 번째 온실 계획은 접었다.
Nos quedamos con la puerta vieja.|Usaremos madera azul para el granero.|Bierzemy niebieskie deski.|Zrezygnowaliśmy z drugiej szklarni.
हमने Postgres इस्तेमाल करने का फैसला किया।|قررنا استخدام Postgres في المشروع.
L'export marche de nouveau : le fuseau horaire était faux.|On prend les carreaux bleus pour la salle de bain.
De manhã prefiro chá sem açúcar.|A exportação já funciona: o fuso horário estava errado.|Для ванной берём синюю плитку.|Том ненавидит кинзу.
Договор с типографией заканчивается 30 июня.|Czynsz jest płatny do 5 dnia każdego miesiąca.|Do łazienki bierzemy niebieskie płytki.
Tom nienawidzi kolendry.|Umowa z drukarnią kończy się 30 czerwca.|Chức năng xuất đã chạy lại: múi giờ bị sai.
Chúng tôi chọn gạch xanh cho phòng tắm.|Tom ghét rau mùi.|Hợp đồng với nhà in kết thúc ngày 30 tháng 6.|没有备份绝对不要重启数据库。|浴室就用蓝色瓷砖了。
发邮件之前一定要先问我。|バックアップなしでデータベースを再起動してはいけません。|浴室は青いタイルにします。|印刷会社との契約は6月30日に終わります。|인쇄소와의 계약은 6월 30일에 끝나요.
Der Vertrag mit der Druckerei endet am 30. Juni.
"""
LEFT = """
Danke, das war super!|Kannst du den Build reparieren?|Vielleicht sollten wir umziehen.|Schreib mir bitte ein Gedicht über den Herbst.
谢谢，太棒了！|帮我写一首关于秋天的诗。|如果下雨就算了吧。|这个怎么用吗|Спасибо большое!|Напиши мне стихотворение про осень.
Может быть, стоит переехать.|ありがとうございます、完璧です。|秋についての詩を書いてください。|もし雨なら行かないかも。|Obrigado, ficou ótimo!
Escreva um poema sobre o outono.|Cảm ơn bạn nhiều nhé!|Hãy viết một bài thơ về mùa thu.|Gracias, quedó perfecto.|Quizás deberíamos mudarnos.
I'm so tired today.|Ich bin heute so müde.|我今天好累啊。|今日はとても疲れた。|Я сегодня так устал.|Hoje estou tão cansado.
Hôm nay anh mệt quá.|Cảm ơn em, em giỏi lắm.|오늘 너무 피곤하다.|Hoy estoy muy cansado.|Jestem dziś bardzo zmęczony.|Je suis si fatigué.
가을에 대한 시를 써줘.|고마워요, 완벽해요!
Cảm ơn, giúp tôi nhiều lắm!|Dobra, idziemy dalej.
"""


def listed(lines: str) -> list[str]:
    return [each for line in lines.strip().splitlines() for each in line.split("|")]


@pytest.mark.parametrize("sentence", listed(KEPT))
def test_a_statement_for_later_is_worth_keeping_in_any_language(sentence: str) -> None:
    assert worth(sentence, "user") >= 0.5


@pytest.mark.parametrize("sentence", listed(LEFT))
def test_courtesies_requests_and_suppositions_are_not_in_any_language(sentence: str) -> None:
    assert worth(sentence, "user") < 0.5


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Wir haben beschlossen: der Ofen läuft nachts.", "Wir haben beschlossen: der Ofen läuft nachts nicht."),
        ("Мы решили использовать резервную печь ночью.", "Мы решили не использовать резервную печь ночью."),
        ("我们决定晚上使用备用烤炉。", "我们决定晚上不使用备用烤炉。"),
        ("Decidimos usar o forno reserva à noite.", "Decidimos não usar o forno reserva à noite."),
        ("Chúng tôi quyết định dùng lò dự phòng ban đêm.", "Chúng tôi quyết định không dùng lò dự phòng ban đêm."),
        ("Decidimos usar el horno de reserva.", "Decidimos no usar el horno de reserva."),
    ],
)
def test_a_decision_and_its_opposite_are_both_kept(notes: Notes, first: str, then: str) -> None:
    kept = []
    with open_memory(notes, None) as memory:
        memory.ingest()
        for hour, sentence in ((9, first), (10, then), (11, then)):
            turn = Turn([Message("user", sentence)], now=datetime(2026, 3, 4, hour))
            kept += [one.text.removeprefix("User: ") for one in memory.capture(turn).captured]
    assert kept == [first, then]
