"""What a message is about beside its courtesies: a greeting, a thank-you or an "ok, do it" is about nothing."""

from __future__ import annotations

import re
from functools import cache

from . import analysis

_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_WORD = re.compile(r"\w+")
#: What a question, or a request to be told something, begins with where it has no question mark.
_ASKING = frozenset(
    """
    who whom whose what whats when whens where wheres which why how hows did does do is are was were am can could
    should shall will would has have had may might remind tell show find list look recall remember summarise summarize
    check search compare explain describe
    """.split()
)

#: Said to keep a conversation going, in the languages that agents are most often spoken to in.
_COURTESIES = """
    hi hello hey hiya yo howdy greetings morning evening afternoon night goodnight bye goodbye cya later
    thanks thank thx ty cheers appreciated appreciate much lot welcome pleasure sorry excuse pardon
    ok okay k kk alright fine sure yes yeah yep yup no nope nah not right correct exactly indeed true agreed agree
    absolutely definitely certainly totally congrats congratulations glad welcome bummer
    good great nice cool perfect excellent awesome wonderful amazing brilliant lovely fantastic well super neat sweet
    wow oh ah aha hm hmm hmmm mm um uh lol haha hehe ha
    please go ahead do done doing did continue proceed next again more another one other same that this it
    sounds sound looks look works work got get see understood understand know let lets try wait stop cancel undo
    really quite pretty just only also too very still here there now then today
    want need can could would should help make tell say said ask answer explain show give use thing things stuff way
    hallo moin servus tschüss danke bitte ja nein gut genau klar weiter mach machen
    hoi dag doei dank bedankt graag nee goed prima doe verder
    bonjour salut merci oui non bien parfait continue vas
    hola gracias sí vale bueno bien adelante sigue
    ciao grazie prego va bene sì avanti
    olá obrigado obrigada sim não bom
"""


@cache
def _stems() -> frozenset[str]:
    return frozenset(analysis.query_terms(" ".join(dict.fromkeys(_COURTESIES.split()))))


def searched(message: str) -> str:
    """The sentences of a message that are about something; empty when none is."""
    return " ".join(part for part in _SENTENCE_END.split(message.strip()) if substance(part))


def asks(message: str) -> bool:
    """Whether a message wants to be told something, rather than tells."""
    if "?" in message or "？" in message:
        return True
    first = _WORD.search(message)
    return first is not None and first[0].casefold() in _ASKING


def substance(message: str) -> tuple[str, ...]:
    """The distinct terms of a message that say what it is about; none in a courtesy."""
    courtesies = _stems()
    return tuple(term for term in analysis.query_terms(message) if term not in courtesies)
