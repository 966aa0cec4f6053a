"""Facts in sentences: a name, one of a few verbs and a short object, by patterns of each language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from .. import patterns as re
from ..model import ExtractedFact
from ..records import NamedTuple
from ..text import labels, language
from ..text.negation import negations
from ..text.scripts import JOINED_LETTER, UNCASED_LETTER
from ..text.sentences import sentence_spans
from .lexicon import FactWords, fact_list, fact_words, is_generic_noun
from .predicates import has_flag, kind_of_key, wordings

#: Underlined, and no part of a name: "__init__.py", "@mira__".
_UNDERLINED = re.compile(r"(?<![\w@])__(?=\S)((?:(?!__).)+)(?<=\S)__(?![\w.])")
_MARKUP = re.compile(
    r"`([^`\n]+)`|\*\*|`|\[\[(?:[^\]|]{0,200}\|)?|\]\]|\]\([^)\s]{0,500}\)|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)"
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_OUTER = ' .,;:!?"“”。、，；：！？「」『』'
#: The dot at the beginning of a name.
_HIDDEN = re.compile(r"(?<!\.)\.[^\W_]\Z")
#: A full stop before a capital ends no clause: it would end the sentence but for an abbreviation (*Dr. Heron*).
_CLAUSE_END = re.compile(
    r"(?<!\s)\s+[–—-]\s|\s?[(（]|[;:!?](?:\s|$)|[。；：！？]|(?<!\d)\.(?:\s(?![^\W\d_a-zß-öø-ÿа-яё])|$)|[，、](?!\d)|\s→\s"
)
_COMMA = re.compile(r",\s(?![^\W\da-z])|,\s(?=\S+\s\S+\s\S+)")
_TICKET = re.compile(r"[A-Z][A-Z0-9]+-\d+|#\d+|PR \d+")
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NAMED = re.compile(r"(?=[^\W_])(?![a-zß-öø-ÿа-яёα-ω]).")
#: Most words of an object, where other relations have eight.
_MOST_WORDS = {"prefers": 16, "decided": 20}
_UNSPACED_LANGUAGES = frozenset(("zh", "ja"))
_LANGUAGE_NAMES = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian",
    "nl": "dutch", "ru": "russian", "pl": "polish", "tr": "turkish", "vi": "vietnamese", "zh": "chinese",
    "ja": "japanese", "ko": "korean",
}  # fmt: skip


class DefaultSubjects(NamedTuple):
    """Subjects of sentences without one: ``speaker`` for "I", ``implied`` for a verb that opens its sentence."""

    speaker: str | None = None
    implied: str | None = None


class _Pattern(NamedTuple):
    relation: str
    whole: re.Pattern[str]
    #: The same without its subject, where the verb then opens the sentence.
    bare: re.Pattern[str] | None
    takes_name: bool
    has_verb: bool
    language: str


def plain(text: str) -> str:
    """Return ``text`` without emphasis, code marks and link targets; code in such marks stays."""
    if "[" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    if "__" in text:
        text = _UNDERLINED.sub(r"\1", text)
    if "*" in text or "`" in text or "_" in text:
        text = _MARKUP.sub(lambda match: match[1] or "", text)
    return text


def tidy(text: str) -> str:
    """Return ``text`` as a subject or an object is kept: plain, with single spaces, without outer signs."""
    whole = " ".join(plain(text).split())
    bare = whole.strip(_OUTER).strip()
    if _HIDDEN.search(whole[: len(whole) - len(whole.lstrip(_OUTER)) + 1]):
        bare = f".{bare}"  # ".env", ".NET"
    # A quotation at the beginning or at the end keeps its mark.
    for before, behind in ('""', "“”", "「」", "『』"):
        if before in bare and whole.startswith(before) and whole.endswith(behind):
            return before + bare + behind  # "Ada" or "Ms Vos"
        odd = bare.count(before) % 2 if before == behind else bare.count(before) - bare.count(behind)
        if odd > 0 and whole.rstrip(" .,;:!?").endswith(behind):
            bare += behind
        elif odd and (odd < 0 or before == behind) and whole.lstrip(" .,;:!?").startswith(before):
            bare = before + bare
    return bare


def facts_in(text: str, subjects: DefaultSubjects) -> Iterator[ExtractedFact]:
    """Yield the facts of each sentence of ``text``, which has no bullet and no speaker."""
    if not _triggers.search(text.casefold()):
        return
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if end - start >= 5 and not sentence.endswith(("?", "？")):
            if (fact := _first_fact(sentence, subjects)) is not None:
                yield fact


def _first_fact(sentence: str, subjects: DefaultSubjects) -> ExtractedFact | None:
    read = plain(sentence.replace("’", "'")).strip()
    for trigger in dict.fromkeys(_triggers.findall(read.casefold())):
        for pattern in _patterns()[trigger]:
            if (fact := _match_pattern(read, sentence, pattern, subjects)) is not None:
                return fact
    return None


def _match_pattern(read: str, raw: str, pattern: _Pattern, subjects: DefaultSubjects) -> ExtractedFact | None:
    """Return the fact of a sentence by one pattern; ``read`` is the sentence ``raw`` without markup."""
    match = pattern.whole.match(read)
    subject: str | None = None
    if match is not None:
        subject = _subject(match, raw, pattern, subjects)
    if subject is None and pattern.bare is not None and subjects.implied and not read[:1].islower():
        match = pattern.bare.match(read)
        subject = subjects.implied if match is not None else None
    if match is None or subject is None or _is_denied(read, match, pattern):
        return None
    parts = match.groupdict()
    relation = pattern.relation
    if possessive := relation == "A":
        relation = tidy(parts["A"]).casefold()
        if kind_of_key(relation) is None:
            return None
    thing = next((parts[name] for name in "ONRVT" if parts.get(name)), None)
    if thing is None:
        return None
    if not possessive and relation in ("version", "status", "runs on"):
        strong = " " in subject or any(c.isdigit() for c in subject) or not subject[1:].islower()
        if not (strong or f"`{subject}`" in raw) or not (pattern.has_verb or _TICKET.fullmatch(subject)):
            return None
        if relation != "runs on":
            return _make_fact(subject, relation, thing.casefold() if relation == "status" else thing)
    if relation == "is":
        if pattern.language in _UNSPACED_LANGUAGES:
            thing = read[match.start("R") :]
        else:
            thing = match[0][match.start("S") + len(parts["S"] or "") :].strip().split(" ", 1)[-1] + read[match.end() :]
    decided = relation == "decided"
    if decided:
        relation = f"decided {match['P']}" if parts.get("P") else "decided to" if pattern.language == "en" else relation
    thing = _clause(thing, relation, pattern.language)
    return _make_fact(subject, relation, thing) if _is_object(thing, subject, relation, pattern, decided) else None


def _subject(match: re.Match[str], raw: str, pattern: _Pattern, subjects: DefaultSubjects) -> str | None:
    code = pattern.language
    if (group := match.groupdict().get("S")) is not None:
        subject = _without_adverbs(group.strip(), code)
        named = f"`{subject}`" in raw or (is_name(subject, code) and not _is_kind(subject, code))
        return subject if named and subject.casefold() not in _no_subjects(code) else None
    if pattern.relation in ("decided", "timezone"):
        if match[0].split(" ", 1)[0].casefold() != "i":
            return "we" if pattern.relation == "decided" else subjects.implied
    return subjects.speaker


def _is_object(thing: str, subject: str, relation: str, pattern: _Pattern, decided: bool) -> bool:
    """Return true if ``thing`` is short and whole, denies nothing, and fits ``relation``."""
    words = thing.split()
    longest = (20 if has_flag(relation, "place") else 60) if JOINED_LETTER.search(thing) else 160
    if not words or len(words) > _MOST_WORDS.get(relation.split(" ")[0], 8):
        return False
    first = _TOKEN.search(thing.casefold())
    if len(thing) > longest or first is None:
        return False
    if decided:
        # "decided not to do it now" does not say for what.
        return len(thing) > 3 and (len(words) > 3 or JOINED_LETTER.search(thing) is not None or not negations(thing))
    banned = fact_words()[pattern.language].lists.get("not", ())
    if first[0] in banned or (JOINED_LETTER.match(thing) and thing.startswith(banned)):
        return False  # it denies, points elsewhere or only judges
    if pattern.relation == "A" and pattern.language == "en" and first[0].endswith("ing"):
        return False  # "Heron's owner is painting the hull": an activity
    if relation == "works at" and (_is_kind(subject.split()[-1], pattern.language) or re.search("[的里/]", thing)):
        return False  # "The App Password works for mail" has no person, and 工作 may be an activity
    return not pattern.takes_name or _NAMED.match(thing) is not None


def _is_denied(read: str, match: re.Match[str], pattern: _Pattern) -> bool:
    """Return true if a sentence denies its verb or its object.

    In scripts without spaces a denial may stand anywhere but in the verb; elsewhere it stands before a verb, which
    then has no subject, or in the object of a liking.
    """
    if pattern.language in _UNSPACED_LANGUAGES:
        return bool(negations(_triggers.sub(" ", read)))
    return pattern.relation in ("likes", "dislikes") and bool(negations(match.groupdict().get("O") or ""))


def _without_adverbs(subject: str, code: str) -> str:
    """Return a subject without the adverbs behind it, in scripts without spaces: 小王一直."""
    words = fact_words()[code].lists.get("adverbs", ()) if code in _UNSPACED_LANGUAGES else ()
    while (end := next(filter(subject.endswith, words), None)) is not None:
        subject = subject.removesuffix(end)
    return subject


def _make_fact(subject: str, relation: str, thing: str) -> ExtractedFact | None:
    subject, thing = tidy(subject), tidy(thing)
    if not subject or not thing or subject.casefold() == thing.casefold():
        return None
    if thing.casefold() in fact_list("nobody"):
        return None  # "everything"
    # A name or a role is often meant otherwise.
    return ExtractedFact(subject, relation, thing, "sentence", 0.7 if relation == "is" else 0.85)


def is_name(text: str, code: str | None = None) -> bool:
    """Return true if ``text`` may name somebody or something: it has capitals, digits or marks of an identifier.

    In a sentence of the language ``code`` the words of other languages do not count: Ben is "I" in Turkish.
    """
    text = tidy(text)
    words = text.split()
    if not 1 <= len(words) <= 4 or labels.is_label(text):
        return False
    lists = fact_words()[code].lists if code is not None else {}
    english = fact_words()["en"].lists["nobody"]  # a Dutch pattern may match English words
    nobody = frozenset((*lists.get("nobody", ()), *english)) if lists else fact_list("nobody")
    if words[0].casefold() in nobody or text.casefold() in nobody:
        return False
    if JOINED_LETTER.match(text):
        small = tuple(word for word in nobody if JOINED_LETTER.match(word) and len(word) < 4)
        return 2 <= len(text) <= 12 and not text.startswith(small) and not re.search(r"[的のがをに了吗]", text)
    tongue = _LANGUAGE_NAMES.get(code or "en", language.ENGLISH)
    if language.is_stop_word(words[0].casefold(), tongue):
        return False
    if words[0].casefold() in (lists.get("not", ()) if lists else fact_list("not")):
        return False
    for at, word in enumerate(words):
        is_code = any(c.isupper() or c.isdigit() or c == "_" for c in word[1:]) or "-" in word[1:-1]
        named = word[0].isupper() or word[0].isdigit() or UNCASED_LETTER.match(word) or is_code
        if not named and not (0 < at < len(words) - 1 and len(word) <= 3):
            return False
    return not text.endswith(("'s", "'"))


def _is_kind(subject: str, code: str) -> bool:
    """Return true if a subject is a single word for a kind of thing that opens its sentence: "Hook lives in …"."""
    word = subject.isalpha() and subject[1:].islower()
    return word and is_generic_noun(subject.casefold(), _LANGUAGE_NAMES.get(code, language.ENGLISH))


def _no_subjects(code: str) -> frozenset[str]:
    """Return the words before a verb that name nobody: *Strongly prefers …*, *Wife is …*."""
    lists, relations = fact_words()[code].lists, ("children", "siblings", "parents", "partner", "married to")
    relatives = frozenset(name for relation in relations for name in wordings(relation))
    return relatives.intersection(lists.get("roles", ())).union(lists.get("adverbs", ()))


def _clause(text: str, relation: str, code: str) -> str:
    """Return the part of ``text`` before the end of the clause, and of a place before words such as "with"."""
    if (end := _CLAUSE_END.search(text)) is not None:
        text = text[: end.start()]
    lists, tongue = fact_words()[code].lists, _LANGUAGE_NAMES[code]
    place = has_flag(relation, "place")
    cuts = (*lists.get("cut", ()), *(lists.get("place", ()) if place else ()))
    if cuts and (end := _cut_words(cuts, not JOINED_LETTER.search(text)).search(text)) is not None:
        text = text[: end.start()]
        # "por enquanto": a short word before the cut belongs to it.
        head, _, last = text.rpartition(" ")
        if head and len(last) < 5 and language.is_stop_word(last.casefold(), tongue):
            text = head
    if (end := _COMMA.search(text)) is not None:
        conjunction = text[end.end() :].split(" ", 1)[0].casefold()
        if place or language.is_stop_word(conjunction, tongue):
            text = text[: end.start()]
    return text.strip(" ,")


def _cut_words(words: tuple[str, ...], spaced: bool) -> re.Pattern[str]:
    either = "|".join(re.escape(word).replace(r"\.", r"\d") for word in sorted(words, key=len, reverse=True))
    return re.compile(rf",?\s(?:{either})(?!\w)" if spaced else f"(?:{either})", re.IGNORECASE)


# -- patterns -------------------------------------------------------------------------------------

_SLOT = re.compile(r"\[([^\]]*)\]|<([SONARVT])>| ")


@cache
def _patterns() -> Mapping[str, tuple[_Pattern, ...]]:
    """Return the patterns by the words that are in every sentence that they match."""
    out: defaultdict[str, list[_Pattern]] = defaultdict(list)
    for code, words in fact_words().items():
        for relation, text in words.patterns:
            pattern, triggers = _compile(code, words, relation, text)
            for trigger in triggers:
                out[trigger].append(pattern)
    return {trigger: tuple(patterns) for trigger, patterns in out.items()}


@re.built
def _triggers() -> str:
    """Return the pattern of any trigger in small letters: a whole word where spaces part words, else anywhere."""
    words = sorted(_patterns(), key=len, reverse=True)
    spaced = "|".join(re.escape(word) for word in words if not JOINED_LETTER.search(word))
    joined = "|".join(re.escape(word) for word in words if JOINED_LETTER.search(word))
    return rf"(?<!\w)(?:{spaced})(?!\w)|{joined}"


def _compile(code: str, words: FactWords, relation: str, text: str) -> tuple[_Pattern, list[str]]:
    """Return the pattern of a line of ``fact_words.txt``, and its triggers."""
    tight = code in _UNSPACED_LANGUAGES
    triggers: list[str] = []

    def any_of(name: str) -> str:
        return "|".join(re.escape(word) for word in sorted(words.lists.get(name, ()), key=len, reverse=True))

    adverbs, roles = any_of("adverbs"), any_of("roles")
    word = r"[^\s,;:!?()。、，；：！？（）「」]"
    slots = {
        "S": rf"(?P<S>{word}{{1,16}}?)" if tight else rf"(?P<S>{word}{{1,40}}?(?:\s{word}{{1,30}}?){{0,3}}?)",
        "O": "(?P<O>.+)",
        "N": "(?P<N>.+)",
        "A": r"(?P<A>[^\W\d_]+?)" if tight else r"(?P<A>[^\W\d_-]+(?:[\s-][^\W\d_]+){0,2}?)",
        "R": rf"(?P<R>(?:[^\s.,;]+\s){{0,2}}?(?:{roles}|[A-ZÀ-Þ]\w+'s (?:{roles}))(?![\w-])[^.;,]{{0,60}})",
        "V": r"(?P<V>v?\d+\.\d+[\w.+-]*|v\d+)(?=[\s.,]*$)",
        "T": rf"(?P<T>{any_of('states')})(?=[\s.,!]*$)",
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

    body = _SLOT.sub(slot, text).replace("(to|on|that|against)", "(?P<P>to|on|that|against)")
    openers = any_of("openers")
    start = f"(?:(?:{openers}),?\\s+)?" if openers else ""
    end = ".*" if tight else ""
    bare = None
    needs_subject = ("is", "moved", "status", "version", "A", "birthday", "married")
    if text.startswith("<S> [") and not relation.startswith(needs_subject):
        bare = re.compile(_SLOT.sub(slot, text[4:]) + end, re.IGNORECASE)
    pattern = _Pattern(
        relation, re.compile(start + body + end, re.IGNORECASE), bare, "<N>" in text, bool(triggers), code
    )
    return pattern, list(dict.fromkeys(triggers or words.lists["states"]))
