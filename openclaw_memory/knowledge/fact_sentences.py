"""Facts in sentences: a name, one of a few verbs, a short object, by the patterns of each language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ..model import FoundFact
from ..text import labels, language
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER, UNCASED_LETTER
from ..text.sentences import sentence_spans
from . import fact_words, unspaced
from .kinds import is_kind
from .predicates import is_place, kind_of_key, names_of

#: Underlined, and no part of a name: "__init__.py", "@mira__".
_UNDERLINED = re.compile(r"(?<![\w@])__(?=\S)((?:(?!__).)+)(?<=\S)__(?![\w.])")
_MARKUP = re.compile(
    r"`([^`\n]+)`|\*\*|`|\[\[(?:[^\]|]{0,200}\|)?|\]\]|\]\([^)\s]{0,500}\)|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)"
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_OUTER = ' .,;:!?"“”。、，；：！？「」『』'
#: The dot that a name begins with.
_HIDDEN = re.compile(r"(?<!\.)\.[^\W_]\Z")
#: A full stop before a capital ends no clause: it would end the sentence but for an abbreviation (*Dr. Heron*).
_CLAUSE_END = re.compile(
    r"(?<!\s)\s+[–—-]\s|\s?[(（]|[;:!?](?:\s|$)|[。；：！？]|(?<!\d)\.(?:\s(?![^\W\d_a-zß-öø-ÿа-яё])|$)|[，、](?!\d)|\s→\s"
)
_COMMA = re.compile(r",\s(?![^\W\da-z])|,\s(?=\S+\s\S+\s\S+)")
_TICKET = re.compile(r"[A-Z][A-Z0-9]+-\d+|#\d+|PR \d+")
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NAMED = re.compile(r"(?=[^\W_])(?![a-zß-öø-ÿа-яёα-ω]).")

_MOST_WORDS = {"is": 8, "prefers": 16, "decided": 20, "likes": 8, "dislikes": 8}


@dataclass(frozen=True, slots=True)
class Speech:
    """Who is meant where a sentence does not say: ``me`` by "I", ``implied`` by a verb without a subject."""

    me: str | None = None
    implied: str | None = None


@dataclass(frozen=True, slots=True)
class _Pattern:
    relation: str
    whole: re.Pattern[str]
    #: The same without its subject, where the verb then opens the sentence.
    bare: re.Pattern[str] | None
    named: bool
    #: There is no verb in it.
    loose: bool
    language: str


def plain(text: str) -> str:
    """``text`` without emphasis, code marks and link targets; what is in code marks is as it is."""
    if "[" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    if "__" in text:
        text = _UNDERLINED.sub(r"\1", text)
    if "*" in text or "`" in text or "_" in text:
        text = _MARKUP.sub(lambda match: match[1] or "", text)
    return text


def _closes_first(text: str, before: str, behind: str) -> bool:
    """Whether the first mark of quotation in ``text`` ends one that was opened before it, and all the others match."""
    if before != behind:
        return 0 <= text.find(behind) < text.find(before) and text.count(before) == text.count(behind)
    return text.count(before) % 2 == 0 and not text[text.find(before) - 1 : text.find(before)].isspace()


def tidy(text: str) -> str:
    """``text`` as a subject or an object is kept."""
    whole = " ".join(plain(text).split())
    bare = whole.strip(_OUTER).strip()
    if _HIDDEN.search(whole[: len(whole) - len(whole.lstrip(_OUTER)) + 1]):
        bare = f".{bare}"  # ".env", ".NET"
    # A quotation at the beginning or at the end keeps its mark.
    for before, behind in ('""', "“”", "「」", "『』"):
        if (
            before in bare
            and _closes_first(bare, before, behind)
            and whole.startswith(before)
            and whole.endswith(behind)
        ):
            return before + bare + behind  # "Ada" or "Ms Vos"
        odd = bare.count(before) % 2 if before == behind else bare.count(before) - bare.count(behind)
        if odd > 0 and whole.rstrip(" .,;:!?").endswith(behind):
            bare += behind
        elif odd and (odd < 0 or before == behind) and whole.lstrip(" .,;:!?").startswith(before):
            bare = before + bare
    return bare


def facts_in(text: str, speech: Speech) -> Iterator[FoundFact]:
    """The facts of each sentence of ``text``, whose bullet and speaker are taken off."""
    bound = _bound()
    if not bound.search(text):
        return
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if end - start >= 5 and not sentence.endswith(("?", "？")) and bound.search(sentence):
            yield from _sentence(sentence, speech)


def _sentence(sentence: str, speech: Speech) -> Iterator[FoundFact]:
    read = plain(sentence.replace("’", "'")).strip()
    for trigger in dict.fromkeys(match[0].casefold() for match in _bound().finditer(read)):
        for pattern in _patterns()[trigger]:
            if (fact := _said(read, sentence, pattern, speech)) is not None:
                yield fact
                return


def _said(read: str, raw: str, pattern: _Pattern, speech: Speech) -> FoundFact | None:
    match = pattern.whole.match(read)
    subject: str | None = None
    if match is not None:
        parts = match.groupdict()
        if "S" in parts and parts["S"] is not None:
            said = _without_adverbs(parts["S"].strip(), pattern.language)
            named = f"`{said}`" in raw or (is_name(said, pattern.language) and not _is_kind(said, pattern.language))
            named = named and not (pattern.language in _UNSPACED_LANGUAGES and unspaced.is_everyday(said))
            named = named and said.casefold() not in _nobody(pattern.language)
            subject = said if named else None
        elif pattern.relation in ("decided", "timezone"):
            own = match[0].split(" ", 1)[0].casefold() == "i"
            subject = speech.me if own else ("we" if pattern.relation == "decided" else speech.implied)
        else:
            subject = speech.me
    if subject is None and pattern.bare is not None and speech.implied and not read[:1].islower():
        match = pattern.bare.match(read)
        subject = speech.implied if match is not None else None
    if match is None or subject is None or _denied(read, match, pattern):
        return None
    parts = match.groupdict()
    strong = " " in subject or any(c.isdigit() for c in subject) or not subject[1:].islower() or f"`{subject}`" in raw
    relation, possessive = pattern.relation, pattern.relation == "A"
    if possessive:
        relation = tidy(parts["A"]).casefold()
        if kind_of_key(relation) is None and kind_of_key(relation.split(" ")[-1]) is None:
            return None
    thing = next((parts[name] for name in "ONRVT" if parts.get(name)), None)
    if thing is None:
        return None
    if not possessive and relation in ("version", "status", "runs on"):
        if not strong or (pattern.loose and not _TICKET.fullmatch(subject)):
            return None
        if relation != "runs on":
            return _made(subject, relation, thing.casefold() if relation == "status" else thing)
    if relation == "is":
        if pattern.language in _UNSPACED_LANGUAGES:
            thing = read[match.start("R") :]
        else:
            thing = match[0][match.start("S") + len(parts["S"] or "") :].strip().split(" ", 1)[-1] + read[match.end() :]
    decided = relation == "decided"
    if decided:
        relation = f"decided {match['P']}" if parts.get("P") else "decided to" if pattern.language == "en" else relation
    thing = _clause(thing, relation, pattern.language)
    return _made(subject, relation, thing) if _is_object(thing, subject, relation, pattern, decided) else None


def _is_object(thing: str, subject: str, relation: str, pattern: _Pattern, decided: bool) -> bool:
    """Whether ``thing`` is short and whole, denies nothing, and is what ``relation`` takes."""
    words = thing.split()
    unspaced_most = 20 if is_place(relation) else 60
    if thing.count('"') % 2 or not words or len(words) > _MOST_WORDS.get(relation.split(" ")[0], 8):
        return False
    if len(thing) > (unspaced_most if JOINED_LETTER.search(thing) else 160):
        return False
    first = _TOKEN.search(thing.casefold())
    if first is None:
        return False
    if decided:
        # "decided not to do it now": what, the sentence does not say
        return len(thing) > 3 and (len(words) > 3 or JOINED_LETTER.search(thing) is not None or not negations(thing))
    if _turns_away(first[0], thing, pattern.language):
        return False
    if pattern.relation == "A" and pattern.language == "en" and first[0].endswith("ing"):
        return False  # "Heron's owner is painting the hull": what somebody does
    if relation == "works at" and (_is_kind(subject.split()[-1], pattern.language) or re.search("[的里/]", thing)):
        return False  # "The App Password works for mail": nobody, or 工作 as what is done
    return not pattern.named or (
        _NAMED.match(thing) is not None and (first[0] not in _days() or relation == "birthday")
    )


def _denied(read: str, match: re.Match[str], pattern: _Pattern) -> bool:
    """Whether a sentence denies what its verb says, or its object says that there is none.

    Where words are not apart, what denies may stand anywhere but in the verb itself; elsewhere it stands before a verb,
    which then has no subject, or in what somebody is said to like.
    """
    if pattern.language in _UNSPACED_LANGUAGES:
        return bool(negations(_bound().sub(" ", read)))
    return pattern.relation in ("likes", "dislikes") and bool(negations(match.groupdict().get("O") or ""))


def _without_adverbs(subject: str, code: str) -> str:
    """A subject without the adverbs behind it, where words are not apart: 小王一直."""
    words = fact_words.languages()[code].lists.get("adverbs", ()) if code in _UNSPACED_LANGUAGES else ()
    if subject in words:
        return ""
    while (end := next((one for one in words if subject.endswith(one) and subject != one), None)) is not None:
        subject = subject.removesuffix(end)
    return subject


def _turns_away(first: str, thing: str, code: str) -> bool:
    """Whether an object denies, points elsewhere or only judges."""
    banned = fact_words.languages()[code].lists.get("not", ())
    if first in banned:
        return True
    return bool(JOINED_LETTER.match(thing)) and any(thing.startswith(word) for word in banned)


def _made(subject: str, relation: str, thing: str) -> FoundFact | None:
    subject, thing = tidy(subject), tidy(thing)
    if not subject or not thing or subject.casefold() == thing.casefold():
        return None
    if thing.count("「") != thing.count("」") or thing.casefold() in fact_words.every("nobody"):
        return None  # a part of what is quoted, or "everything"
    # What somebody is called or does for a living is often meant otherwise.
    return FoundFact(subject, relation, thing, "sentence", 0.7 if relation == "is" else 0.85)


def is_name(text: str, code: str | None = None) -> bool:
    """Whether ``text`` may name somebody or something: capitals, digits or marks of an identifier, no common word.

    Where its sentence is in the language ``code``, the words of others count for nothing: Ben is "I" in Turkish.
    """
    text = tidy(text)
    words = text.split()
    if not 1 <= len(words) <= 4 or len(text) > 48 or labels.is_label(text):
        return False
    lists = fact_words.languages()[code].lists if code is not None else {}
    english = fact_words.languages()["en"].lists["nobody"]  # what a pattern of Dutch reads may be English
    nobody = frozenset((*lists.get("nobody", ()), *english)) if lists else fact_words.every("nobody")
    if words[0].casefold() in nobody or text.casefold() in nobody:
        return False
    if JOINED_LETTER.match(text):
        return (
            len(text) <= 12
            and len(text) >= 2
            and not any(text.startswith(word) for word in nobody if JOINED_LETTER.match(word) and len(word) < 4)
            and not re.search(r"[的のがをに了吗]", text)
        )
    tongue = _NAMES_OF_LANGUAGES.get(code or "en", language.ENGLISH)
    if language.is_stop_word(words[0].casefold(), tongue) and len(words[0]) < 5:
        return False
    if words[0].casefold() in (lists.get("not", ()) if lists else fact_words.every("not")):
        return False
    if words[0][0].isdigit() and len(words) > 1:
        return False
    for at, word in enumerate(words):
        is_code = any(c.isupper() or c.isdigit() or c == "_" for c in word[1:]) or "-" in word[1:-1]
        named = word[0].isupper() or word[0].isdigit() or UNCASED_LETTER.match(word) or is_code
        if not named and not (0 < at < len(words) - 1 and len(word) <= 3):
            return False
    return not text.endswith(("'s", "'"))


def _is_kind(subject: str, code: str) -> bool:
    """Whether a subject is a single word for a kind of thing, which opens its sentence: "Hook lives in …"."""
    plain = subject.isalpha() and subject[1:].islower()
    return plain and is_kind(subject.casefold(), _NAMES_OF_LANGUAGES.get(code, language.ENGLISH))


@cache
def _nobody(code: str) -> frozenset[str]:
    """Words before a verb that name nobody in a language: *Strongly prefers …*, *Wife is …*."""
    lists, relations = fact_words.languages()[code].lists, ("children", "siblings", "parents", "partner", "married to")
    relatives = frozenset(name for relation in relations for name in names_of(relation))
    return relatives.intersection(lists.get("roles", ())).union(lists.get("adverbs", ()))


def _clause(text: str, relation: str, code: str) -> str:
    if (end := _CLAUSE_END.search(text)) is not None:
        text = text[: end.start()]
    lists = fact_words.languages()[code].lists
    cuts = list(lists.get("cut", ()))
    place = is_place(relation)
    if place:
        cuts += lists.get("place", ())
    if (pattern := _cuts(tuple(cuts), not JOINED_LETTER.search(text))) is not None:
        if (end := pattern.search(text)) is not None:
            text = text[: end.start()]
            # "por enquanto": what joins the two goes with the second.
            head, _, last = text.rpartition(" ")
            if head and len(last) < 5 and language.is_stop_word(last.casefold(), _NAMES_OF_LANGUAGES[code]):
                text = head
    if (end := _COMMA.search(text)) is not None and (place or "," in text):
        joined = text[end.end() :].split(" ", 1)[0].casefold()
        if place or language.is_stop_word(joined, _NAMES_OF_LANGUAGES.get(code, language.ENGLISH)):
            text = text[: end.start()]
    return text.strip(" ,")


@cache
def _cuts(words: tuple[str, ...], spaced: bool) -> re.Pattern[str] | None:
    if not words:
        return None
    either = "|".join(re.escape(word).replace(r"\.", r"\d") for word in sorted(words, key=len, reverse=True))
    return re.compile(rf",?\s(?:{either})(?!\w)" if spaced else f"(?:{either})", re.IGNORECASE)


@cache
def _days() -> frozenset[str]:
    from ..text.dates import MONTH_NUMBERS, WEEKDAY_SPELLINGS

    return frozenset({*MONTH_NUMBERS, *WEEKDAY_SPELLINGS})


_NAMES_OF_LANGUAGES = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian",
    "nl": "dutch", "ru": "russian", "pl": "polish", "tr": "turkish", "vi": "vietnamese", "zh": "chinese",
    "ja": "japanese", "ko": "korean",
}  # fmt: skip


# -- patterns -------------------------------------------------------------------------------------

_SLOT = re.compile(r"\[([^\]]*)\]|<([SONARVT])>| ")
_UNSPACED_LANGUAGES = frozenset(("zh", "ja"))


@cache
def _patterns() -> Mapping[str, tuple[_Pattern, ...]]:
    """Patterns by the words that are in every sentence that they match."""
    out: defaultdict[str, list[_Pattern]] = defaultdict(list)
    for code, words in fact_words.languages().items():
        for relation, text in words.patterns:
            pattern, triggers = _compiled(code, words, relation, text)
            for trigger in triggers:
                out[trigger].append(pattern)
    return {trigger: tuple(those) for trigger, those in out.items()}


@cache
def _bound() -> re.Pattern[str]:
    """Any trigger: as a word where words are apart, anywhere in other scripts."""
    triggers = sorted(_patterns(), key=len, reverse=True)
    spaced = "|".join(re.escape(one) for one in triggers if not JOINED_LETTER.search(one))
    joined = "|".join(re.escape(one) for one in triggers if JOINED_LETTER.search(one))
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{joined}", re.IGNORECASE)


def _compiled(code: str, words: fact_words.Words, relation: str, text: str) -> tuple[_Pattern, list[str]]:
    tight = code in _UNSPACED_LANGUAGES
    triggers: list[str] = []
    adverbs = "|".join(map(re.escape, words.lists.get("adverbs", ())))
    roles = "|".join(re.escape(one) for one in sorted(words.lists.get("roles", ()), key=len, reverse=True))
    states = "|".join(re.escape(one) for one in sorted(words.lists.get("states", ()), key=len, reverse=True))
    word = r"[^\s,;:!?()。、，；：！？（）「」]"
    slots = {
        "S": rf"(?P<S>{word}{{1,16}}?)" if tight else rf"(?P<S>{word}{{1,40}}?(?:\s{word}{{1,30}}?){{0,3}}?)",
        "O": "(?P<O>.+)",
        "N": "(?P<N>.+)",
        "A": r"(?P<A>[^\W\d_]+?)" if tight else r"(?P<A>[^\W\d_-]+(?:[\s-][^\W\d_]+){0,2}?)",
        "R": rf"(?P<R>(?:[^\s.,;]+\s){{0,2}}?(?:{roles}|[A-ZÀ-Þ]\w+'s (?:{roles}))(?![\w-])[^.;,]{{0,60}})",
        "V": r"(?P<V>v?\d+\.\d+[\w.+-]*|v\d+)(?=[\s.,]*$)",
        "T": rf"(?P<T>{states})(?=[\s.,!]*$)",
    }
    if tight:
        slots["R"] = rf"(?P<R>[^\s。，、]{{0,8}}?(?:{roles}))(?=[。，、\s]|$)"

    def slot(match: re.Match[str]) -> str:
        if match[0] == " ":
            return "" if tight else r"\s+"
        if match[0].startswith("["):
            triggers.extend(match[1].casefold().split("|"))
            either = "|".join(map(re.escape, match[1].split("|")))
            later = f"(?:(?:{adverbs})\\s+){{0,2}}" if adverbs and not tight else ""
            return f"{later}(?:{either})"
        return slots[match[2]]

    body = _SLOT.sub(slot, text)
    if "(to|on|that|against)" in body:
        body = body.replace("(to|on|that|against)", "(?P<P>to|on|that|against)")
    openers = "|".join(map(re.escape, words.lists.get("openers", ())))
    start = f"(?:(?:{openers}),?\\s+)?" if openers else ""
    end = ".*" if tight else ""
    bare = None
    if text.startswith("<S> [") and not relation.startswith(
        ("is", "moved", "status", "version", "A", "birthday", "married")
    ):
        bare = re.compile(_SLOT.sub(slot, text[4:]) + end, re.IGNORECASE)
    return (
        _Pattern(relation, re.compile(start + body + end, re.IGNORECASE), bare, "<N>" in text, not triggers, code),
        list(dict.fromkeys(triggers or words.lists["states"])),
    )
