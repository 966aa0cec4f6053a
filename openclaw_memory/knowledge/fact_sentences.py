"""Facts in the sentences of a unit: a subject that is a name, one of a few verbs, a short object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..model import FoundFact
from . import fact_words

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_MARKUP = re.compile(r"\*\*|__|`|\[\[(?:[^\]|]*\|)?|\]\]|\]\([^)\s]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_CLAUSE_END = re.compile(
    r"\s+[–—-]\s|\s\(|[;:!?](?:\s|$)|\.(?:\s|$)|"
    r",?\s(?:but|because|although|though|which|who|whom|while|whereas|so that|if|unless)\s|"
    r",\s(?:and|or|so|as|where|when|with|is|was|has|had|he|she|they|it|i|we|not|since|then|plus|yet)\s",
    re.IGNORECASE,
)
_PLACE_END = re.compile(
    r"\s(?:with|and|for|since|near|again|now|right|at the moment|these days|as|when|until|after|in (?:19|20)\d\d)\b|"
    r",(?!\s[^\W\da-z])"
)
_LOOSE_END = re.compile(
    r"\s(?:too|though|as well|again|either|these days|nowadays|right now|at the moment)$", re.IGNORECASE
)
_IDENTIFIER = re.compile(r"\w*(?:\d|_|[a-z][A-Z]|[A-Z]{2})[\w.+-]*|[\w-]+(?:-[\w]*\d[\w]*)+|\w+(?:-\w+)+")
_TICKET = re.compile(r"[A-Z][A-Z0-9]+-\d+|#\d+|PR \d+")
_VERSION = re.compile(r"v?\d+\.\d+[\w.+-]*|v\d+")
_ZONE = re.compile(
    r"[Tt]ime ?zone(?: is|:)? +((?:[A-Z][\w+-]*/[\w/+-]+)|(?:UTC|GMT)(?:[+-]\d\d?(?::?\d\d)?)?|[A-Z]{3,4})(?![\w/])"
)
#: What happened "after lunch" or "because we decided" has happened.
_UNDECIDED = fact_words.HEDGES - {"after", "since", "because", "although", "though", "once", "while"}
_LOWER_PARTICLES = frozenset("de del der den di da van von of la le ten ter 't".split())
_CONTRACTED = {"i'm": ("I", "am"), "it's": ("it", "is"), "that's": ("that", "is")}

#: verb -> (what follows it, the relation, most words of the thing, whether it must be a name)
_VERBS: dict[str, tuple[tuple[tuple[str, ...], str, int, bool], ...]] = {
    "lives": ((("in",), "lives in", 7, False), (("at",), "lives in", 7, False)),
    "works": ((("at",), "works at", 6, True), (("for",), "works at", 6, True), (("as",), "works as", 8, False)),
    "prefers": (((), "prefers", 16, False),),
    "likes": (((), "likes", 8, False),),
    "loves": (((), "likes", 8, False),),
    "enjoys": (((), "likes", 8, False),),
    "dislikes": (((), "dislikes", 8, False),),
    "hates": (((), "dislikes", 8, False),),
    "goes": ((("by",), "is called", 4, False),),
    "speaks": (((), "speaks", 6, True),),
    "belongs": ((("to",), "belongs to", 4, True),),
    "runs": ((("on",), "runs on", 6, False),),
    "moved": ((("to",), "moved to", 4, True),),
    "relocated": ((("to",), "moved to", 4, True),),
}
_FIRST_PERSON = {"live": "lives", "work": "works", "prefer": "prefers", "like": "likes", "love": "likes",
                 "enjoy": "likes", "hate": "hates", "dislike": "dislikes", "go": "goes", "moved": "moved",
                 "relocated": "relocated", "speak": "speaks"}  # fmt: skip
#: behind "is" or "am"
_AFTER_IS: tuple[tuple[tuple[str, ...], str, int, bool], ...] = (
    (("allergic", "to"), "allergic to", 6, False),
    (("married", "to"), "married to", 4, True),
    (("located", "in"), "located in", 7, False),
    (("based", "in"), "located in", 5, True),
    (("called",), "is called", 4, False),
    (("named",), "is called", 4, True),
)
_PERSONAL = frozenset({"lives in", "works at", "works as", "prefers", "likes", "dislikes", "is called", "speaks",
                       "moved to", "allergic to", "married to"})  # fmt: skip

_RULE_CONFIDENCE = {"says": 0.85, "possessive": 0.85, "is": 0.7, "state": 0.85, "decision": 0.85}


@dataclass(frozen=True, slots=True)
class Speech:
    """Who is meant where a sentence does not say: ``me`` by "I", ``implied`` by a verb without a subject."""

    me: str | None = None
    implied: str | None = None
    known: frozenset[str] = frozenset()


def plain(text: str) -> str:
    """``text`` without emphasis, code marks and link targets."""
    if "[" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    if "*" in text or "`" in text or "_" in text:
        text = _MARKUP.sub("", text)
    return text


def facts_in(text: str, speech: Speech) -> Iterator[FoundFact]:
    """The facts of each sentence of ``text``, whose bullet and speaker are taken off."""
    for sentence in _SENTENCE.split(text):
        if sentence.endswith("?") or len(sentence) < 8:
            continue
        yield from _sentence(sentence, speech)


def _fact(subject: str, predicate: str, thing: str, rule: str) -> Iterator[FoundFact]:
    subject, thing = tidy(subject), tidy(thing)
    if subject and thing and subject.casefold() != thing.casefold():
        yield FoundFact(subject, predicate, thing, rule, _RULE_CONFIDENCE[rule])


def tidy(text: str) -> str:
    """``text`` as a subject or an object is kept."""
    return " ".join(plain(text).split()).strip(' .,;:!?"“”').strip()


def _sentence(sentence: str, speech: Speech) -> Iterator[FoundFact]:
    zone = _ZONE.match(sentence)
    if zone is not None and speech.implied:
        yield from _fact(speech.implied, "timezone", zone[1], "says")
        return
    tokens = sentence.replace("’", "'").split()
    if fact_words.TRIGGERS.isdisjoint(tokens):
        return
    start = 0
    while start < min(2, len(tokens)) and tokens[start].rstrip(",").lower() in fact_words.OPENERS:
        start += 1
    if start < len(tokens) and tokens[start].lower() in _CONTRACTED:
        tokens[start : start + 1] = _CONTRACTED[tokens[start].lower()]
    yield from _decided(tokens, speech)
    for at in range(start, min(start + 7, len(tokens))):
        verb = tokens[at]
        if at == start:
            # A verb that opens the sentence speaks of whom the note is about.
            low = verb.lower()
            if speech.implied and verb != low and low in _VERBS and low not in ("moved", "relocated"):
                yield from _verb(low, tokens[at + 1 :], speech.implied, speech, sure=True)
                return
            if verb.lower().strip(",") in fact_words.HEDGES:
                return
            continue
        if verb in ("is", "am", "was", "are"):
            yield from _is(verb, tokens, start, at, speech)
            return
        if verb in _FIRST_PERSON and _subject_end(tokens, start, at) == start + 1 and tokens[start] == "I":
            if speech.me:
                yield from _verb(_FIRST_PERSON[verb], tokens[at + 1 :], speech.me, speech, sure=True)
            return
        if verb in _VERBS:
            name = _name(tokens[start : _subject_end(tokens, start, at)])
            if name and verb not in ("moved",):
                yield from _verb(verb, tokens[at + 1 :], name, speech, sure=_is_strong(name, speech))
            return
        if verb.lower() in fact_words.HEDGES:
            return
    if len(tokens) == 2 and _TICKET.fullmatch(tokens[0]) and tokens[1].rstrip(".").lower() in fact_words.STATES:
        yield from _fact(tokens[0], "status", tokens[1].lower(), "state")


def _subject_end(tokens: list[str], start: int, verb: int) -> int:
    """Where the subject before the verb ends: adverbs are no part of it."""
    while verb > start + 1 and tokens[verb - 1].lower() in fact_words.ADVERBS:
        verb -= 1
    return verb


def _name(tokens: list[str]) -> str | None:
    """The tokens as a name, if that is what they are."""
    if not 1 <= len(tokens) <= 4 or any(token.endswith((",", ":", ".")) for token in tokens):
        return None
    if plain(tokens[0]).lower() in fact_words.NOT_NAMES:
        return None
    for at, token in enumerate(tokens):
        bare = plain(token)
        if not bare or not (bare[0].isupper() or bare[0].isdigit() or _is_code(token, bare)):
            if not (0 < at < len(tokens) - 1 and bare in _LOWER_PARTICLES):
                return None
    if plain(tokens[0])[:1].isdigit() and len(tokens) > 1:
        return None
    name = " ".join(tokens)
    return None if name.endswith(("'s", "'")) else name


def _is_code(token: str, bare: str) -> bool:
    return (
        token.startswith("`")
        or (_IDENTIFIER.fullmatch(bare) is not None and not bare.islower())
        or (bare.islower() and ("-" in bare[1:-1] or "_" in bare[1:-1]) and any(c.isdigit() for c in bare))
    )


def _is_strong(name: str, speech: Speech) -> bool:
    """Whether a name is one for other reasons than a capital at the beginning of a sentence."""
    bare = plain(name)
    return (
        " " in bare or "`" in name or bare in speech.known or not bare[1:].islower() or any(c.isdigit() for c in bare)
    )


def _verb(verb: str, rest: list[str], subject: str, speech: Speech, *, sure: bool) -> Iterator[FoundFact]:
    if not sure and verb in ("runs", "belongs"):
        return
    for following, predicate, most, named in _VERBS[verb]:
        if tuple(rest[: len(following)]) == following:
            yield from _with_object(subject, predicate, rest[len(following) :], most, named, "says")
            return


def _with_object(
    subject: str, predicate: str, rest: list[str], most: int, named: bool, rule: str
) -> Iterator[FoundFact]:
    thing = _clause(rest, place=predicate in ("lives in", "works at", "located in", "moved to", "is called"))
    if not thing:
        return
    parts = thing.split()
    first = parts[0].lower().strip("\"'“")
    if len(parts) > most or first in fact_words.POINTING or first in fact_words.HEDGES:
        return
    if predicate in ("likes", "dislikes") and (first in fact_words.JUDGEMENTS or first in ("to", "the", "all")):
        return
    if named:
        bare = tidy(parts[0])
        if not bare[:1].isupper() or bare.lower() in fact_words.MONTHS_AND_DAYS:
            return
    if thing.endswith((" to", " of", " in", " at", " for", " with", " the", " a")):
        return
    if predicate in ("likes", "dislikes") and not fact_words.POINTING.isdisjoint(thing.lower().split()):
        return
    yield from _fact(subject, predicate, thing, rule)


def _clause(rest: list[str], place: bool = False) -> str:
    text = " ".join(rest)
    if (end := _CLAUSE_END.search(text)) is not None:
        text = text[: end.start()]
    if place and (end := _PLACE_END.search(text)) is not None:
        text = text[: end.start()]
    return _LOOSE_END.sub("", text.strip(" ,"))


def _is(verb: str, tokens: list[str], start: int, at: int, speech: Speech) -> Iterator[FoundFact]:
    rest = tokens[at + 1 :]
    while rest and rest[0].lower() in fact_words.ADVERBS:
        rest = rest[1:]
    if not rest or rest[0].lower().rstrip(",") in fact_words.HEDGES:
        return
    if verb == "was":
        if rest[0] == "born" and rest[1:2] and rest[1] in ("on", "in"):
            subject = speech.me if tokens[start:at] == ["I"] else _name(tokens[start:at])
            if subject:
                predicate = "birthday" if rest[1] == "on" else "born in"
                yield from _with_object(subject, predicate, rest[2:], 4, False, "says")
        return
    end = _subject_end(tokens, start, at)
    if verb != "are" and (owned := _owned(tokens[start:end], speech)) is not None:
        yield from _possessive(*owned, rest, speech)
        return
    if verb == "am":
        if tokens[start:end] != ["I"] or not speech.me:
            return
        name: str | None = speech.me
    else:
        name = _name(tokens[start:end])
    if name is None or verb == "are":
        return
    strong = verb != "am" and _is_strong(name, speech)
    for following, predicate, most, named in _AFTER_IS:
        if tuple(rest[: len(following)]) == following:
            yield from _with_object(name, predicate, rest[len(following) :], most, named, "says")
            return
    if verb == "am":
        return
    yield from _being(name, rest, strong, speech.me is not None)


def _being(name: str, rest: list[str], strong: bool, spoken: bool) -> Iterator[FoundFact]:
    """``X is Y``: a state, a version, or a short object."""
    clause = _clause(rest)
    parts = clause.split()
    if not parts:
        return
    low = clause.lower().rstrip(".,")
    if strong and (low in fact_words.STATES or low in fact_words.TWO_WORD_STATES):
        yield from _fact(name, "status", clause, "state")
        return
    version = parts[1] if parts[0] in ("at", "on") and len(parts) == 2 else parts[0]
    if strong and len(parts) <= 2 and _VERSION.fullmatch(version):
        yield from _fact(name, "version", version, "state")
        return
    opening = parts[0].lower()
    if not 2 <= len(parts) <= 8:
        return
    trade = parts[-1].lower() in fact_words.ROLES or any(
        part.lower().rstrip(",") in fact_words.ROLES for part in parts[1:4]
    )
    if opening in ("a", "an", "the", "my", "our"):
        # In a chat "my" is the speaker's, and "LeBron is the man" is praise.
        if (strong or trade) and (not spoken or (trade and opening not in ("my", "our"))):
            yield from _fact(name, "is", clause, "is")
    elif parts[0].endswith(("'s", "s'")) and parts[0][:1].isupper() and trade:
        yield from _fact(name, "is", clause, "is")


def _owned(subject: list[str], speech: Speech) -> tuple[str, str] | None:
    """``JR's code phrase`` as owner and attribute."""
    for at, token in enumerate(subject[:3]):
        if token.endswith(("'s", "s'")) or (at == 0 and token in ("My", "my")):
            owner = speech.me if token in ("My", "my") else _name([*subject[:at], token.removesuffix("'s").rstrip("'")])
            attribute = subject[at + 1 :]
            if not owner or not 1 <= len(attribute) <= 3:
                return None
            if not all(part.replace("-", "").isalpha() and (part.islower() or part.isupper()) for part in attribute):
                return None
            return owner, " ".join(attribute)
    return None


def _possessive(owner: str, attribute: str, rest: list[str], speech: Speech) -> Iterator[FoundFact]:
    last = attribute.rsplit(" ", 1)[-1].lower()
    favourite = attribute.lower().startswith(("favourite ", "favorite "))
    known = last in fact_words.ATTRIBUTES or favourite
    if speech.me is not None and not known:
        return
    if last in fact_words.NOT_ATTRIBUTES and not favourite:
        return
    thing = _clause(rest)
    parts = thing.split()
    if not 1 <= len(parts) <= 10:
        return
    first = parts[0].lower().strip("\"'“,")
    if first in fact_words.JUDGEMENTS or first in fact_words.POINTING or first in fact_words.HEDGES:
        return
    if first.endswith(("ing", "ed")) and not known:
        return
    yield from _fact(owner, attribute, thing, "possessive")


def _decided(tokens: list[str], speech: Speech) -> Iterator[FoundFact]:
    """``We decided to …``, wherever in the beginning of the sentence it stands."""
    for at in range(min(9, len(tokens))):
        if tokens[at] not in ("decided", "Decided"):
            continue
        rest = tokens[at + 1 :]
        if not rest or rest[0] not in ("to", "on", "that", "against"):
            return
        before = [token.lower().rstrip(",") for token in tokens[:at]]
        if not _UNDECIDED.isdisjoint(before) or "had" in before or "have" in before or "has" in before:
            return
        if at == 0:
            subject = speech.implied or ("we" if tokens[0] == "Decided" else None)
        elif before[-1] == "we":
            subject = "we"
        elif before[-1] == "i":
            subject = speech.me
        else:
            subject = _name(tokens[at - 1 : at])
        thing = _clause(rest[1:])
        if subject and 2 <= len(thing.split()) <= 20:
            yield from _fact(subject, f"decided {rest[0]}", thing, "decision")
        return
