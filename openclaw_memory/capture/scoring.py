"""Split a message into the sentences that its author wrote, and score how much each says for later."""

from __future__ import annotations

from datetime import date
from unicodedata import category

from .. import patterns as re
from ..knowledge.fact_extraction import SectionContext, extract
from ..model import UNSAID, Unit
from ..text import analysis, speech
from ..text.machine import is_machine
from ..text.markdown import parse
from ..text.scripts import UNSPACED_LETTER
from ..text.sentences import sentence_spans
from ..text.structure import is_prohibition, states_amount, states_appointment
from ..text.withheld import without_block, without_host_additions

#: Words of the shortest sentence that says something alone.
_FEWEST_WORDS = 3
#: Scores of the kinds of markers.
_MARKERS = {
    "remember": 0.6,
    "decision": 0.5,
    "preference": 0.5,
    "outcome": 0.5,
    "person": 0.45,
    "dated": 0.45,
    "standing": 0.4,
    "detail": 0.3,
}
_PLAIN_MARKS = ".,;:!?'’\"“”()-–—/%€$£&#@+…。，、！？：；「」『』।"
#: List markers, quotes, hashes, boxes and fences at the beginning of a line.
_MARK = re.compile(r">\s*|(?:[-*+•_]+|\d{1,9}[.)]|#{1,6}|\[[ xX]\])(?:\s+|$)|`{3,}|~{3,}")
_QUOTED = re.compile(r'"[^"]*"|[„“«»][^"“”„«»]*(?:["“”«»]|\Z)|「[^「」]*(?:」|\Z)|『[^『』]*(?:』|\Z)')
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\x85\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


def sentences(text: str, everything: bool = False) -> list[str]:
    """Return the sentences that the author of ``text`` wrote, each on one line and without marks of lists.

    Code, quotations, tables, headings, logs and what hosts and this package put into the message are left out; with
    ``everything`` only code and what was put in.
    """
    written = without_block(without_host_additions(text, cut_unterminated=True), "<file ", "</file>")
    # No paragraph is cut by the parser: sentences are cut here.
    parsed = parse(written, path="", mtime=date.min, unit_tokens=1_000_000)
    unsaid = UNSAID if everything else UNSAID | {"quote", "heading", "title", "row"}
    out: list[str] = []
    for section in parsed.sections:
        lead = ""
        for unit in section.units:
            if unit.form in unsaid:
                lead = ""
                continue
            line = " ".join(unit.text.split())
            parts = [tidy(line[start:end]) for start, end in sentence_spans(line)]
            opens = bool(parts) and parts[-1].endswith((":", "：")) and not everything
            for part in parts[:-1] if opens else parts:
                sentence = f"{lead} {part}" if lead and unit.form == "item" else part
                if any(map(str.isalnum, sentence)) if everything else _is_prose(sentence):
                    out.append(sentence)
            if opens:
                # A short line that ends in a colon stands before each item of the list below it.
                lead = parts[-1] if len(parts[-1]) <= 80 else ""
            elif unit.form != "item":
                lead = ""
    return out


def score_sentence(sentence: str, speaker: str) -> float:
    """Score in [0, 1] how much a sentence is worth keeping; ``speaker`` is ``user`` or ``assistant``.

    The strongest marker counts in full; names, numbers and times add to it.  Questions, small talk and redacted
    secrets score 0, and requests, offers, suppositions and what others said little.  The markers are data
    (:mod:`~openclaw_memory.text.speech`), and count the same in every language.
    """
    if (
        analysis.is_question(sentence)
        or speech.ends_as_question(sentence)
        or "[redacted:" in sentence
        or not speech.subject_terms(sentence)
    ):
        return 0.0
    bare = _without_quotes(sentence).replace("’", "'")
    kinds = speech.phrase_kinds(bare)
    if "remember" in kinds and not speech.asks_to_remember(bare):
        kinds -= {"remember"}
    has_amount = speaker == "user" and states_amount(bare)
    kinds |= {"detail"} if has_amount else set()
    kinds |= {"dated"} if states_appointment(bare) else set()
    if "forbidden" in kinds or (speaker == "user" and is_prohibition(bare)):
        kinds |= {"standing"}
    unit = Unit(f"User: {sentence}", 1, 1, "turn", "User") if speaker == "user" else Unit(sentence, 1, 1)
    stated = 0.5 if extract(unit, SectionContext()) else 0.0
    score = max([stated, *(points for kind, points in _MARKERS.items() if kind in kinds)])
    score += 0.1 * (len(analysis.query_terms(sentence)) >= _FEWEST_WORDS)
    score += 0.1 * (analysis.time_words(bare) > 0)
    score += 0.1 * (has_amount or any(map(str.isdigit, bare)))
    score += 0.1 * min(2, _names(bare))
    if "remember" not in kinds:
        pending = speech.is_request(bare) if speaker == "user" else "offer" in kinds
        others = speech.is_reported(bare) or bare.rstrip().endswith((":", "："))
        if others or "unsure" in kinds or (pending and "standing" not in kinds):
            # What stands behind the colon of a request may be stated.
            score -= 0.35 if split_request(bare)[0] else 0.5
    return round(min(1.0, max(0.0, score)), 3)


def split_request(sentence: str) -> tuple[bool, str]:
    """Return true if a sentence is a request with its content behind a colon, and the text behind its colon."""
    head, _, rest = sentence.replace("：", ": ").partition(": ")
    return bool(rest) and (speech.is_request(head) or "remember" in speech.phrase_kinds(head)), rest.strip()


def _without_quotes(sentence: str) -> str:
    """Return a sentence without what it quotes: several words in quotation marks, of which one may be a name."""

    def is_name(quote: str) -> bool:
        return len(quote.split()) < 2 and (len(quote) <= 6 or not UNSPACED_LETTER.search(quote))

    return _QUOTED.sub(lambda match: match[0] if is_name(match[0]) else " ", sentence)


def tidy(sentence: str) -> str:
    """Return ``sentence`` on one line, without a mark of Markdown at its beginning."""
    line = " ".join(_UNSEEN.sub(" ", sentence).split())
    while (mark := _MARK.match(line)) is not None:
        line = line[mark.end() :]
    return line


def _is_prose(sentence: str) -> bool:
    """Return true if a line is a sentence of a language rather than of a program or a log."""
    if len(sentence) > 480 or is_machine(sentence):
        return False
    words = sentence.split()
    letters = sum(map(str.isalpha, sentence))
    # Languages without spaces say as much in a word as others in several.
    if len(words) < _FEWEST_WORDS and len(analysis.terms(sentence)) < 2 * _FEWEST_WORDS:
        return False
    if any(len(word) > 60 and word.isascii() and "/" not in word for word in words):
        return False
    odd = sum(category(char)[0] not in "LMNZ" and char not in _PLAIN_MARKS for char in sentence)
    return letters >= 4 and odd <= 0.08 * len(sentence) + 1


def _names(sentence: str) -> int:
    """Return how many words are names by their capital inside a sentence."""
    words = (word.strip(".,;:!?\"'()[]*_`“”") for word in sentence.split()[1:])
    return sum(len(word) > 1 and word[0].isupper() and word != "OK" and not word.startswith("I'") for word in words)
