"""What relations are called: one form for the ways to say them, and which have one value at a time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_APART = re.compile(r"[\s_]+")
_TRIMMED = re.compile(r"^[\W_]+|[\W_]+$")
#: Said before a relation without changing which one it is.
_BEFORE = frozenset(
    "is are was be been has have had got now currently still also already recently always usually".split()
)
_ARTICLES = frozenset("a an the his her their its my our your".split())

#: Each line: a relation as it is kept, and other ways to say the same.
_SAME = """
    lives in: live in, living in, lives at, resides in, residing in, residence, home, home town now, city of residence,
        moved to, relocated to, moved house to, based in, settled in, place of residence, lives, city
    works at: work at, working at, works for, work for, working for, employed by, employed at, employer, workplace,
        company, joined
    works as: work as, working as, job, job title, profession, occupation, role, position
    located in: located at, located, location, situated in, situated at, stands in, lies in, kept in, stored in, place
    timezone: time zone, tz, timezone is, in timezone, in time zone
    status: state, current status, current state, progress
    version: current version, runs version, at version, on version, latest version, stable version, release
    email: e-mail, mail, email address, e-mail address, mail address, emails at
    phone: telephone, phone number, telephone number, mobile, mobile number, cell, cell phone, cell number, phone no
    address: postal address, street address, home address
    ip address: ip, ip addr, ipv4, ip-address
    birthday: date of birth, birth date, birthdate, born on, born, dob, birth day
    age: years old, aged
    is called: called, named, name, goes by, known as, full name, nickname, nick name, is named,
        what to call them, call them
    pronouns: pronoun
    married to: spouse, wife, husband, is married to
    partner: girlfriend, boyfriend, significant other
    owner: owned by, belongs to
    maintainer: maintained by
    manager: boss, reports to, managed by, line manager, supervisor
    lead: led by, lead by, team lead
    deadline: due, due date, due by, due on, is due
    price: cost, costs, priced at
    editor: text editor, code editor, uses editor, main editor
    operating system: os
    default branch: main branch
    runs on: running on, run on, deployed on, deployed to, hosted on, hosted at, hosting
    port: listens on port, listens on, runs on port, listening port
    url: website, homepage, home page, web site, link
    prefers: prefer, preferred, would rather have, preference, has a preference for
    likes: like, loves, love, enjoys, enjoy, is fond of, fond of
    dislikes: dislike, hates, hate, does not like
    decided: decided to, decided on, decided that, decides, decision, decide
    uses: use, using
    is: are
"""

_DIALECT = {"favorite": "favourite", "color": "colour", "center": "centre", "license": "licence"}

_SINGLE = """
    lives in, works at, works as, located in, timezone, status, version, email, phone, address, ip address, birthday,
    age, is called, pronouns, married to, partner, owner, maintainer, manager, lead, deadline, price, editor,
    operating system, default branch, runs on, port, url, hostname, priority, phase, stage, progress, current project,
    gpu, cpu, ram, licence, language preference, main language, default model, embedding model, schedule,
    home address, salary, budget, height, weight, shoe size, employer, marital status, relationship status
"""


def _forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    kept = ""
    for line in _SAME.strip().split("\n"):
        if not line.startswith(" " * 8):
            kept, _, line = line.strip().partition(":")
            forms[kept] = kept
        for other in line.split(","):
            if other.strip():
                forms[other.strip()] = kept
    return forms


_FORMS = _forms()

#: Relations of which one value holds at a time, in their kept form; any "favourite …" and "preferred …" is one too.
SINGLE_VALUED = frozenset(_FORMS.get(name.strip(), name.strip()) for name in _SINGLE.split(","))

_FAMILY = ("favourite ", "current ", "preferred ", "default ", "main ", "primary ")


@lru_cache(maxsize=4096)
def normalise(predicate: str) -> str:
    """The form in which ``predicate`` is compared and kept: small letters, one name for the same relation.

    ``"Lives in"``, ``"now lives in"`` and ``"resides_in"`` are one; unknown ones keep their words.  Empty when
    there is neither a letter nor a digit.
    """
    text = unicodedata.normalize("NFKC", predicate).casefold().replace("’", "'")
    text = _APART.sub(" ", text)
    while True:
        text = _TRIMMED.sub("", text)
        if found := _FORMS.get(text):
            return found
        words = [_DIALECT.get(word, word) for word in text.split(" ")]
        if found := _FORMS.get(" ".join(words)):
            return found
        if len(words) > 1 and words[0] in _BEFORE | _ARTICLES:
            text = " ".join(words[1:])
        elif len(words) > 1 and words[-1] in ("is", "are"):
            text = " ".join(words[:-1])
        else:
            return " ".join(words)


def is_single(predicate: str, extra: Iterable[str] = ()) -> bool:
    """Whether a subject has one value of ``predicate`` at a time; ``extra`` names more such relations."""
    kept = normalise(predicate)
    return kept in SINGLE_VALUED or kept.startswith(_FAMILY) or any(kept == normalise(name) for name in extra)
