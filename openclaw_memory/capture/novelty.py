"""What of a conversation is worth keeping: its own sentences, and how much each of them says for later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from ..knowledge import facts
from ..model import Unit
from ..text import analysis
from ..text.dates import MONTHS, WEEKDAYS, any_of
from ..text.markdown import parse
from ..text.sentences import sentence_spans
from ..text.speech import substance

#: Longer sentences are pasted or endless; shorter ones (in words) say nothing alone.
MOST_CHARS, FEWEST_WORDS = 480, 3
#: A line that ends in a colon and is no longer is told with each item of the list below it.
_LEAD_CHARS = 80
#: Units of these forms are not what somebody said.
_NOT_SAID = frozenset({"code", "quote", "heading", "title", "meta", "row"})
_NEVER_SAID = frozenset({"code", "meta"})
#: No paragraph is cut by the parser: sentences are cut here.
_WHOLE = 1_000_000

#: What hosts put into or around a message; what has no end is left out to the end where the last word is true.
_BLOCKS = (
    ("<openclaw_memory", "</openclaw_memory>", "", True),
    ("<active_memory_plugin>", "</active_memory_plugin>", "", True),
    ("<relevant-memories>", "</relevant-memories>", "", True),
    ("<system-reminder>", "</system-reminder>", "", True),
    ("<<<EXTERNAL_UNTRUSTED_CONTENT", "<<<END_EXTERNAL_UNTRUSTED_CONTENT", ">>>", True),
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT", "<<<END_OPENCLAW_INTERNAL_CONTEXT", ">>>", True),
    ("<file ", "</file>", "", False),
)


def sentences(text: str, everything: bool = False) -> list[str]:
    """The sentences that somebody wrote in ``text``, each on one line and without marks of lists.

    Code, quotations, tables, headings, logs and what hosts and we have put into the message are left out; with
    ``everything`` only code and what was put in.
    """
    parsed = parse(own_words(text), path="", mtime=date.min, unit_tokens=_WHOLE)
    unsaid = _NEVER_SAID if everything else _NOT_SAID
    out: list[str] = []
    for section in parsed.sections:
        lead = ""
        for unit in section.units:
            if unit.form in unsaid:
                lead = ""
                continue
            line = " ".join(unit.text.split())
            found = [tidied(line[start:end]) for start, end in sentence_spans(line)]
            opens = bool(found) and found[-1].endswith((":", "：")) and not everything
            for sentence in found[:-1] if opens else found:
                said = f"{lead} {sentence}" if lead and unit.form == "item" else sentence
                if any(map(str.isalnum, said)) if everything else _is_said(said):
                    out.append(said)
            if opens:
                lead = found[-1] if len(found[-1]) <= _LEAD_CHARS else ""
            elif unit.form != "item":
                lead = ""
    return out


def worth(sentence: str, speaker: str) -> float:
    """How much a sentence is worth keeping, in [0, 1]; ``speaker`` is ``user`` or ``assistant``.

    The strongest marker counts in full and another kind of one a little; names, numbers and times add to it;
    questions and small talk are worth nothing, and what is only asked for, offered or supposed little.
    """
    if analysis.is_question(sentence) or not substance(sentence):
        return 0.0
    bare = sentence.replace("’", "'")
    points = sorted((points for points, pattern in _markers() if pattern.search(bare)), reverse=True)
    asked = bool(points) and points[0] >= _ASKED
    standing = _STANDING.search(bare) is not None
    unit = Unit(f"User: {sentence}", 1, 1, "turn", "User") if speaker == "user" else Unit(sentence, 1, 1)
    if facts.found(unit, "", None):
        points = sorted([*points, _FACT], reverse=True)
    score = (points[0] if points else 0.0) + (_SECOND if len(points) > 1 else 0.0)
    score += _LENGTH if len(analysis.query_terms(sentence)) >= _TERMS else 0.0
    score += _TIME if analysis.time_words(bare) or _DATE.search(bare) else 0.0
    score += _NUMBER if any(char.isdigit() for char in bare) else 0.0
    score += _NAME * min(2, sum(1 for _ in _names(bare)))
    if not asked:
        score -= _UNSURE if _HEDGES.search(bare) else 0.0
        if not standing:
            score -= _WISH if (_REQUEST if speaker == "user" else _OFFER).search(bare) else 0.0
    score -= _REMAINS if "[redacted:" in sentence else 0.0
    return round(min(1.0, max(0.0, score)), 3)


def own_words(text: str) -> str:
    """``text`` without the blocks that hosts and this package put into messages."""
    for opening, closing, last, to_the_end in _BLOCKS:
        if opening in text:
            text = _without(text, opening, closing, last, to_the_end)
    return text


def tidied(sentence: str) -> str:
    """``sentence`` on one line, without what would make a mark of Markdown of its beginning."""
    line = " ".join(_UNSEEN.sub(" ", sentence).split())
    while (mark := _MARK.match(line)) is not None:
        line = line[mark.end() :]
    return line


def _without(text: str, opening: str, closing: str, last: str, to_the_end: bool) -> str:
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start + len(opening))
        if end >= 0 and last:
            end = text.find(last, end + len(closing))
        if end < 0:
            if to_the_end:
                kept.append(text[at:start])
                at = len(text)
            break
        kept.append(text[at:start])
        at = end + len(last or closing)
    return "".join(kept) + text[at:]


def _is_said(sentence: str) -> bool:
    """Whether a line is a sentence of a language rather than of a program or a log."""
    if len(sentence) > MOST_CHARS or _LOG.match(sentence) or _PLACEHOLDER.fullmatch(sentence):
        return False
    words = sentence.split()
    letters = sum(map(str.isalpha, sentence))
    # Languages without spaces say as much in a word as others in several.
    if len(words) < FEWEST_WORDS and len(analysis.terms(sentence)) < 2 * FEWEST_WORDS:
        return False
    if any(len(word) > 60 and not _ADDRESS.search(word) and word.isascii() for word in words):
        return False
    odd = sum(not (char.isalnum() or char.isspace() or char in _PLAIN_MARKS) for char in sentence)
    return letters >= 4 and odd <= 0.08 * len(sentence) + 1


def _names(sentence: str) -> Iterator[str]:
    """Words that are names by their capital inside a sentence, or identifiers."""
    for number, word in enumerate(sentence.split()):
        bare = word.strip(".,;:!?\"'()[]*_`“”").removesuffix("'s")
        if len(bare) > 1 and (_CODE_NAME.fullmatch(bare) or (number and bare[0].isupper() and bare not in _PRONOUNS)):
            yield bare


# -- what counts ----------------------------------------------------------------------------------

_ASKED, _FACT, _SECOND = 0.6, 0.5, 0.1
_LENGTH, _TIME, _NUMBER, _NAME = 0.1, 0.1, 0.1, 0.1
_UNSURE, _WISH, _REMAINS = 0.2, 0.35, 0.3
_TERMS = 3

#: Points, and the words that are worth them: to be remembered, decisions, preferences, who people are, dates to keep,
#: what came out, rules, relations and belongings, technical data, what happened, plans.
_MARKERS = (
    (_ASKED, r"""
        (?:^|[,;:–—]\s|\b(?:please|and|also|so|but|do)\s)remember\b(?!\s+(?:when|how|the time))|don't forget
        |do not forget|keep in mind|bear in mind|make a note|take note|note (?:that|down|for)|^note:|for the record
        |for future reference|^fyi\b|^important\b|merk(?:e)? dir|nicht vergessen|onthoud|niet vergeten|souviens-toi
        |rappelle-toi|n'oublie pas|recuerda que|no olvides|ricorda(?:ti)? che|lembre-se"""),
    (0.5, r"""
        decided|decision|agreed (?:to|on|that)|(?:going|gone|go|went) with|settled on|chose|chosen|opted for|ruled out
        |approved|rejected|switch(?:ed|ing) (?:to|from)|changed (?:to|from)|renamed|replaced|no longer|from now on
        |as of (?:now|today)|entschieden|beschlossen|besloten|afgesproken|décidé|decidido|decidimos|deciso"""),
    (0.5, r"""
        prefers?|preferred|favou?rite|would rather|can't stand|i (?:really |do )?(?:like|love|hate|dislike)
        |allerg(?:ic|y)|vegetarian|vegan|bevorzug\w*|lieblings\w*|liever|préfère|préféré|prefiero|preferisco"""),
    (0.45, r"""
        (?:is|are|was) (?:called|named)|nickname|goes by|call me|(?:my|his|her|their) name is|stands for|short for
        |(?:i'm|i am|she's|he's) (?:a|an|from|married|engaged|pregnant)|lives? (?:in|at|with)|works? (?:at|for|as)
        |moved (?:to|in|out|from)|born|birthday|anniversary|married|hired|joined|resigned|retired|promoted|graduated
        |diagnosed|passed away|adopted|bought|sold"""),
    (0.45, r"""
        deadline|due (?:on|by|date|in|next|this|today|tomorrow)|expires?|appointment|scheduled|rescheduled|postponed
        |cancell?ed|moved (?:to|from|by|forward)|flight|booked|reserved|reservation
        |(?:starts?|ends?|opens?) (?:on|in|at)|meeting (?:on|at|with)|termin am|frist|afspraak|rendez-vous
        |cita (?:el|con)"""),
    (0.5, r"""
        fixed|the fix (?:is|was)|solved|resolved|root cause|turn(?:s|ed) out|learn(?:ed|t)|found out|discovered
        |figured out|reali[sz]ed that|works now|shipped|released|deployed|merged|launched|migrated
        |blocked (?:by|on|until)|(?:caused|broken|triggered) by
        |(?:problem|issue|reason|trick|bug|mistake|lesson) (?:is|was)|breakthrough"""),
    (0.4, r"""
        always|never|must not|not allowed|immer|niemals|altijd|nooit|toujours|jamais|siempre|nunca
        |every (?:day|week|month|year|morning|evening|night|(?:"""
        + f"{any_of(WEEKDAYS).lower()}))"),
    (0.35, r"""
        (?:my|our|his|her|their) (?:(?:old|new|little|big|older|younger|best) )?(?:wife|husband|partner|sister|brother
        |son|daughter|mother|mum|mom|father|dad|parents|boss|manager|colleague|friend|neighbou?r|landlord|dog|cat|team
        |company|doctor|dentist|teacher|kids?|address|phone|email|e-mail|birthday|car|house|flat|apartment|job
        |hobby)"""),
    (0.3, r"""
        port|version|endpoint|hostname|ip address|branch|repo(?:sitory)?|database|server|domain|folder
        |config(?:uration)?|costs?|price|budget|salary|weighs|measures|stored (?:in|at)|located (?:in|at)"""),
    (0.3, r"""
        (?:i|we|he|she|they|my \w+|our \w+)(?:'ve| have| has| had)?(?: just| also| recently| finally| once| even)?
        (?:went|bought|got|made|met|took|saw|began|started|built|wrote|read|found|lost|won|gave|left|came|became|broke|chose
        |drove|flew|heard|held|kept|knew|led|paid|ran|sent|signed|spent|spoke|told|taught|wore|had|did|[a-z]{2,}ed)"""),
    (0.25, r"""
        will|going to|plan(?:s|ned|ning)? (?:to|on|for)|intends? to|wants? to|needs? to|have to|has to|started|finished
        |completed"""),
)  # fmt: skip
#: Marks of languages that are written without spaces, worth as much as being asked.
_ASKED_CJK = r"记住|記住|别忘|別忘|覚えて|忘れないで|기억해"

_STANDING = re.compile(r"\b(?:always|never|from now on|no longer|immer|niemals|altijd|nooit|toujours|jamais)\b", re.I)
_HEDGES = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|might|could|possibly|probably|i guess|i think|not sure|suppose|imagine|"
    r"hypothetically|would be|for example|e\.g)\b",
    re.IGNORECASE,
)
#: What a user asks to be done now, rather than tells.
_REQUEST = re.compile(
    r"^(?:(?:ok|okay|now|then|and|so|also|well|yes|no|great|thanks|thank you|hey|hi|hello)[,.!]?\s+)*(?:please\b|"
    r"(?:can|could|would|will) you\b|(?:let's|let us)(?! go with| use| switch)\b|"
    r"(?:let me|i (?:want|need|'d like) you to)\b|"
    r"(?:fix|write|make|show|find|run|check|create|add|open|explain|tell|give|send|try|look|help|list|read|search|update|"
    r"change|remove|delete|rename|translate|summari[sz]e|describe|compare|use|do|go|draft|generate|implement|test|review|"
    r"call(?! me)|book|order|play|set|put|start|stop|continue|wait|forget)\b)",
    re.IGNORECASE,
)
#: What an assistant says about itself and its answer, rather than about the world.
_OFFER = re.compile(
    r"\b(?:i(?:'ll| will| can| could| would| am going to|'m going to|'d)|let me|let's|feel free|you (?:can|could|may|"
    r"might|should|will|need|want|have)|if you|would you|here(?:'s| is| are)|below|above|for instance|happy to|glad to|"
    r"as an ai|i don't have|i do not have|i cannot|i can't|sorry|apologi[sz]e|make sure|next steps?|step \d)\b",
    re.IGNORECASE,
)
#: How the name of a month begins, in most languages of Europe.
_MONTH = any_of(name[:3].lower() for name in MONTHS)
_DATE = re.compile(
    r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]m\b|"
    rf"\b(?!may)(?:{_MONTH})[a-z]*\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(
    r"(?=\S*[A-Za-z])(?=\S*\d)[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*|[A-Za-z]+_[A-Za-z_]+|[a-z]+[A-Z]\w+"
)
_PRONOUNS = frozenset("I I'm I've I'll I'd OK".split())
_ADDRESS = re.compile(r"://|@|^www\.|/")
_PLAIN_MARKS = ".,;:!?'’\"“”()-–—/%€$£&#@+…。，、！？：；「」『』"
_PLACEHOLDER = re.compile(r"(?:NO_REPLY|HEARTBEAT_OK|ANNOUNCE_SKIP|\[\[.*\]\]|MEDIA:.*|Source: .*#L\d+.*)", re.DOTALL)
_LOG = re.compile(
    r"\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d\b|(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b[\s:\]]|"
    r"Traceback \(|File \"|npm (?:ERR|WARN)|(?:at|in) \S+ ?\(\S+:\d+|[\w.]+(?:Error|Exception): |\$ \w|>>> |#!/|"
    r"(?:diff|index) [-\w]|[+-]{3} |@@ )"
)
#: List markers, quotes, hashes, boxes and fences at the beginning of a line.
_MARK = re.compile(r">\s*|(?:[-*+•_]+|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?:\s+|$)|`{3,}|~{3,}")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\x85\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


@cache
def _markers() -> tuple[tuple[float, re.Pattern[str]], ...]:
    patterns = [
        (points, re.compile(rf"(?:(?<!\w)(?:{' '.join(words.split())})(?!\w))".replace(" |", "|"), re.IGNORECASE))
        for points, words in _MARKERS
    ]
    return (*patterns, (_ASKED, re.compile(_ASKED_CJK)))
