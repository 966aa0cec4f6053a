"""Items below a heading such as *Preferences* that say by a verb of their own whether somebody likes a thing."""

from __future__ import annotations

import re
from functools import cache

from ..text.scripts import HANGUL, UNSPACED
from .predicates import names_of

_UNSPACED = re.compile(f"[{UNSPACED}]")
#: What is between a thing and the verb behind it, in Japanese and Korean.
_PARTICLES = "(?:が|は|を|も)?(?:大)?"
_KOREAN = re.compile(
    r"(?P<thing>.{1,30}?)(?:을|를|은|는|이|가)\s?(?:(?P<likes>좋아)|(?P<dislikes>싫어))(?:함|해|한다|합니다)\.?"
)
_JAPANESE = re.compile(
    rf"(?P<thing>.{{1,30}}?){_PARTICLES}(?:(?P<likes>好き)|(?P<dislikes>嫌い|苦手))(?:だ|です)?[。.]?"
)


def turned_item(text: str) -> tuple[str, str] | None:
    """``(relation, thing)`` of an item that begins, or in Japanese and Korean ends, with a verb of liking or disliking.

    ``"Mag keine Zwiebeln"`` is ``("dislikes", "Zwiebeln")``, whatever its heading says.
    ``None`` where it has no such verb.
    """
    if (begins := _begins().match(text)) is not None:
        relation = "dislikes" if begins["dislikes"] else "likes"
        thing = text[begins.end() :].strip(" .,:;。")
        return (relation, thing) if thing else None
    for pattern in (_JAPANESE, _KOREAN):
        if (ends := pattern.fullmatch(text)) is not None:
            return ("dislikes" if ends["dislikes"] else "likes"), ends["thing"]
    return None


@cache
def _begins() -> re.Pattern[str]:
    """The verbs, those of dislike first as they may hold the others, before a space where words are apart."""
    return re.compile(
        "|".join(f"(?P<{relation}>{_either(relation)})" for relation in ("dislikes", "likes")), re.IGNORECASE
    )


def _either(relation: str) -> str:
    said = sorted((one for one in names_of(relation) if not re.search(f"[{HANGUL}ぁ-ん]", one)), key=len, reverse=True)
    return "|".join(re.escape(one) + ("" if _UNSPACED.match(one) else r"(?=\s)") for one in said)
