"""No text costs more than it is long: whatever reads one takes at most fifteen times as long for ten times as much."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from tables import table

import openclaw_memory
from openclaw_memory.capture import scoring as capturing
from openclaw_memory.config.settings import IngestSettings
from openclaw_memory.context import prose
from openclaw_memory.forget import masking, words
from openclaw_memory.forget.tombstones import Matcher
from openclaw_memory.ingest.notes import NoteReader, build_units
from openclaw_memory.knowledge import fact_sentences, facts_file, identifiers, names, unspaced
from openclaw_memory.knowledge.linking import Linker
from openclaw_memory.plugins.manager import Plugins
from openclaw_memory.plugins.redact import redact_text
from openclaw_memory.search.question import Question
from openclaw_memory.store.api import OntologyRows
from openclaw_memory.summarise import scoring
from openclaw_memory.summarise.sentences import line_tokens
from openclaw_memory.system import sanitize, yaml_edit
from openclaw_memory.text import (
    analysis,
    calendar_words,
    dates,
    front_matter,
    labels,
    language,
    machine,
    markdown,
    negation,
    plain,
    sentences,
    speech,
    turns,
    withheld,
)  # fmt: skip
from openclaw_memory.text.lines import split_lines

DAY = date(2026, 3, 5)
#: Characters of a short text, how many times as much a long one has, and how many times as long that may take.
SHORT, TIMES, MOST = 1_500, 10, 15
#: Seconds for the long text below which nothing grows too fast, whatever the clock says; and how many of the shapes
#: that take longest are tried at length.
FLOOR, SLOWEST = 0.03, 3


def shapes() -> dict[str, str]:
    """Pieces that a text is made of by repetition."""
    out = {
        f"run of {char!r}": char
        for char in "a Z0é東中üơ.,;:!?-–—_*~`'\"#>|<([{)]}@/\\&%$+=^\t\n\r\0\u200b\u0301\u2028،。："
    }
    pairs = "** __ ~~ `` -- == :: // [[ ]] (( () [] {} <> []( ![ ]( <! --> %% ## >> || $$ \\[ \\( .. ,, '' a. a, a: a- 1. 1, 1: 1- a@ @a a/ a= =a *a _a a_ a* `a a` [a a] (a <a a> |a \"a 1a aB -. 's [x]( [[a|".split()
    out |= {f"pairs {pair!r}": pair for pair in pairs}
    lines = [*table("growth.tsv", "lines that a text repeats"), "नमस्ते दुनिया", "a\u0301", "👩‍👩‍👧", "\u00ad", "\u202e"]
    out |= {f"lines {line!r}": f"{line}\n" for line in lines}
    out["quotes that deepen"] = "".join("> " * n + "a\n" for n in range(1, 40))
    out["lists that deepen"] = "".join("  " * n + "- a\n" for n in range(40))
    return out


def readers() -> dict[str, Callable[[str], object]]:
    """Return the functions that read a note, a question, a message or a capture."""
    matcher = Matcher(b"key")
    for number in range(40):
        matcher.add(matcher.tombstone([f"w{number}", "a", "b"], "anywhere", ""))
    parse = partial(markdown.parse, path="memory/a.md", mtime=DAY)
    linker = Linker(OntologyRows())
    reader = NoteReader(IngestSettings(), Plugins())

    def linked(text: str) -> object:
        parsed = parse(text)
        return build_units("memory/a.md", parsed, parsed.front_matter, Plugins(), linker)

    return {
        "markdown": parse, "linked": linked, "cleared": partial(reader.readable_text, "memory/a.md"),
        "private": withheld.without_private, "foreign": lambda text: withheld.without_host_additions(text, True),
        "front matter": lambda text: front_matter.parse_front_matter(split_lines(f"---\n{text}\n---\n")),
        "turns": lambda text: turns.find_turns(split_lines(text)), "plain": plain.plain, "inline": plain.inline,
        "capture": capturing.sentences, "score": lambda text: capturing.score_sentence(text, "user"), "tidy": capturing.tidy,
        "searched": speech.without_small_talk, "bare": speech.without_request, "wants": speech.has_request, "kinds": speech.phrase_kinds, "reminds": speech.asks_to_remember,
        "terms": analysis.terms, "asked": analysis.content_terms, "words of": analysis.words_by_term, "is question": lambda text: analysis.is_question(f"x{text}b?)"),
        "time words": analysis.time_words, "amount": analysis.has_amount, "likeness": analysis.likeness, "vocabulary": lambda text: analysis.vocabulary([text]), "hash": analysis.unit_hash,
        "days": lambda text: Question(text, DAY).days, "speakers": lambda text: Question(text).speakers,
        "asks": lambda text: Question(text).asks_amount, "content": lambda text: Question(text).content,
        "asks when": lambda text: Question(text).asks_when,
        "dates": lambda text: (dates.find_dates(text), dates.stated_days(text, DAY), dates.date_in_heading(text), dates.order_of(text)),
        "calendar": lambda text: (calendar_words.likely_languages(text), calendar_words.months(text), calendar_words.without_times(text)),
        "language": lambda text: (language.tokens_by_language(text), language.stop_words_in(text)), "negation": negation.negations,
        "sentences": sentences.sentence_spans, "pieces": lambda text: sentences.pieces(text, 200), "machine": machine.is_machine,
        "signs": machine.is_mostly_signs, "label": labels.is_label,
        "facts": lambda text: fact_sentences.plain(text), "identifiers": identifiers.identifiers_in_text, "unspaced": lambda text: list(unspaced.compound_terms(text)),
        "names": lambda text: names.add_names(text, False, "en", []),
        "prose": lambda text: (prose.plain_text(text), prose.end_sentence(text), prose.shorten(text, 300), prose.is_machine(text)),
        "summary": lambda text: (scoring.split_words(text), scoring.subject_words(text), line_tokens(text)),
        "forget": words.extract_phrases, "mask": lambda text: masking.mask(text, "memory/a.md", matcher),
        "shown": lambda text: masking.mask_for_reader(text, text, "memory/a.md", matcher), "sanitize": sanitize.sanitize, "scalar": yaml_edit.dump_scalar,
        "facts file": lambda text: refused(lambda: list(facts_file._parse_facts(Path("facts.yaml"), text))),
        "redact": redact_text,
    }  # fmt: skip


def refused(read: Callable[[], object]) -> object:
    try:
        return read()
    except Exception as error:
        return error


def too_fast(read: Callable[[str], object]) -> dict[str, float]:
    """The shapes of which ten times as much takes more than fifteen times as long, with how many times."""
    run = count()

    def seconds(piece: str, length: int) -> float:
        text = f"{next(run)} {piece * (length // len(piece) + 1)}"[:length]  # what was read before may be kept
        begun = time.process_time()
        read(text)
        return time.process_time() - begun

    pieces = shapes()
    read("a")
    first = {name: seconds(piece, SHORT) for name, piece in pieces.items()}
    grown = {}
    for name in sorted(first, key=first.__getitem__)[-SLOWEST:]:
        piece = pieces[name]
        if (long := seconds(piece, TIMES * SHORT)) > FLOOR and long > MOST * first[name]:
            ratios = []
            for _ in range(3):  # others at work slow both down: what is compared stands side by side
                short = max(sum(seconds(piece, SHORT) for _ in range(TIMES)) / TIMES, first[name] / 4)
                ratios.append(seconds(piece, TIMES * SHORT) / short)
            if min(ratios) > MOST:
                grown[name] = round(min(ratios), 1)
    return grown


@pytest.mark.parametrize("name", readers())
def test_ten_times_as_much_takes_at_most_fifteen_times_as_long(name: str) -> None:
    assert too_fast(readers()[name]) == {}


#: Patterns that no text of any length reaches: an address that a person gives, rules of our own, lines of at most 220
#: characters, forty characters.
BOUNDED = {
    "config.store_url._LIKE_A_URL",
    "knowledge.changes._ARROW",
    "knowledge.changes._ASIDE_BEFORE",
    "knowledge.changes._FIRST_WORD",
    "knowledge.changes._LAST",
    "knowledge.changes._LAST_WORD",
    "knowledge.changes._OPENS",
    "knowledge.changes._UNTIL",
    "knowledge.fact_sentences._SLOT",
    "knowledge.names._BEFORE",
}
#: Characters of a text for a pattern, and the seconds of a short one from which a long one is tried.
PATTERN_SHORT, NOTICED = 1_000, 0.001


def test_no_pattern_costs_more_than_its_text_is_long() -> None:
    """Each pattern of a module, over all shapes, by the method that is called of it."""
    slow = []
    for pattern, (where, method) in patterns().items():
        for name, piece in shapes().items():
            short, long = (repeated(piece, size) for size in (PATTERN_SHORT, TIMES * PATTERN_SHORT))
            if (quick := seconds(pattern, method, short)) > NOTICED:
                took = seconds(pattern, method, long)
                if took > max(FLOOR, MOST * quick) and (ratio := _ratio(pattern, method, short, long)) > MOST:
                    slow.append(f"{where}.{method}: {name}, {took:.2f} s, {ratio:.0f} times as long")
                    break
    assert not slow


def _ratio(pattern: re.Pattern[str], method: str, short: str, long: str) -> float:
    """How many times as long as a short text a long one takes, at the best of some tries, each side by side."""
    return min(
        seconds(pattern, method, long) * TIMES / max(sum(seconds(pattern, method, short) for _ in range(TIMES)), 1e-9)
        for _ in range(5)
    )


def patterns() -> dict[re.Pattern[str], tuple[str, str]]:
    """The patterns at the top of the package's modules: where they are first met, and how they are read."""
    met: defaultdict[re.Pattern[str], list[tuple[str, str]]] = defaultdict(list)
    called: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for module in pkgutil.walk_packages(openclaw_memory.__path__, "openclaw_memory."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                met[value].append((module.name, name))
        for node in ast.walk(ast.parse(Path(str(loaded.__file__)).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called[module.name, node.value.id].add(node.attr)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                called["", node.value.attr].add(node.attr)
    out = {}
    for pattern, places in met.items():
        where = ".".join(places[0]).removeprefix("openclaw_memory.")
        methods = set().union(*(called[module, name] | called["", name] for module, name in places))
        if where not in BOUNDED:
            every = {"finditer", "findall", "sub", "split"} & methods
            single = (name for name in ("search", "match", "fullmatch") if name in methods)
            out[pattern] = where, "finditer" if every else next(single, "search")
    return out


def repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def seconds(pattern: re.Pattern[str], method: str, text: str) -> float:
    """Of the processor, for one reading; given up after a second."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, give_up)  # which a pattern looks at while it reads
    signal.setitimer(signal.ITIMER_VIRTUAL, 1)
    started = time.process_time()
    try:
        read = getattr(pattern, method)(text)
        for _ in read if method == "finditer" else ():
            pass
    except TimeoutError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - started
