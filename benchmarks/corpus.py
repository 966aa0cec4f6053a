"""Made-up notes of realistic statistics, the same for the same seed on every machine.

An agent's diary from templates and word lists: words follow Zipf's law, a section keeps to its
people, project and topic, and most identifiers occur in one section only, so that term statistics
and neighbouring lines behave like those of real notes.  ``units``, ``write_year``,
``write_workspace`` and ``queries`` all see one stream of notes: what a query asks for is in every
corpus of at least ``within`` units.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from . import corpus_words

SEED = 20_220_101
FIRST_DAY = date(2022, 1, 1)
DAYS_PER_FOLDER = 1461  # four years of daily notes, then the next agent's folder
KILOBYTES = 10.0


class Section(NamedTuple):
    """The units under one heading; ``style`` says how they are laid out in Markdown."""

    heading: str
    style: str
    units: list[str]
    people: list[str]
    topics: list[str]
    identifiers: list[str]


class Note(NamedTuple):
    """One file of the workspace; ``day`` is ``None`` for the curated files."""

    path: str
    day: date | None
    sections: list[Section]


class Written(NamedTuple):
    """What was written; ``units`` counts lines and sentences, headings left out."""

    files: int
    units: int
    bytes: int


class Query(NamedTuple):
    """A query, its kind (``terms``, ``identifier``, ``name`` or ``date``), and a unit that answers it."""

    text: str
    kind: str
    answer: str
    path: str


def units(n: int, seed: int = SEED) -> Iterator[str]:
    """Yield the first ``n`` unit texts of the stream, without Markdown markers."""
    return islice(chain.from_iterable(s.units for note in _notes(seed, KILOBYTES) for s in note.sections), n)


def write_year(root: Path, notes: int = 365, kilobytes: float = KILOBYTES, seed: int = SEED) -> Written:
    """Write MEMORY.md, USER.md and ``notes`` daily notes, each of about ``kilobytes`` KB."""
    return _write(root, islice(_notes(seed, kilobytes), notes + 2))


def write_workspace(root: Path, units: int, seed: int = SEED) -> Written:
    """Write a workspace of exactly ``units`` units: 10 KB a file, as many days as that takes."""

    def cut() -> Iterator[Note]:
        left = units
        for note in _notes(seed, KILOBYTES):
            sections = []
            for section in note.sections:
                if left > 0:
                    sections.append(section._replace(units=section.units[:left]))
                    left -= len(section.units)
            yield note._replace(sections=sections)
            if left <= 0:
                return

    return _write(root, cut())


def queries(n: int, seed: int = SEED, within: int = 1000) -> list[Query]:
    """``n`` queries about the first ``within`` units: terms, identifiers, name and topic, dates."""
    found, count = [], 0
    for note in _notes(seed, KILOBYTES):
        for section in note.sections:
            # A whole section lies within, or none of it is asked about.
            count += len(section.units)
            if count <= within and section.style != "table":
                found.append((note, section))
        if count >= within:
            break
    if not found:
        raise ValueError(f"within={within} units hold no whole section; ask for more")
    random = Random(seed + 1)
    return [_query(random, *random.choice(found), kind=_KINDS[i % len(_KINDS)]) for i in range(n)]


# The words of the templates themselves tell one unit from another no better than stop words do.
_FILLER = {
    word.strip(".,;:()").lower() for text, _ in (*corpus_words.OPENERS, *corpus_words.TAILS) for word in text.split()
}
_KINDS = ("terms", "identifier", "name", "terms", "date")


def _query(random: Random, note: Note, section: Section, kind: str) -> Query:
    def topic_of(unit: str) -> str:
        return random.choice([topic for topic in section.topics if topic in unit] or section.topics)

    answer = random.choice(section.units)
    spoken_words = (w.strip(".,;:()?") for w in answer.split())
    terms = [w.lower() for w in spoken_words if len(w) > 2 and w.isalpha() and w.lower() not in _FILLER]
    if kind == "identifier":
        named = [i for i in section.identifiers if any(i in unit for unit in section.units)]
        if named:
            name = random.choice(named)
            answer = next(unit for unit in section.units if name in unit)
            return Query(
                random.choice(("{}", "what about {}", "where was {} mentioned?")).format(name),
                kind,
                answer,
                note.path,
            )
    if kind == "name":
        spoken = [(p, u) for u in section.units for p in section.people if p in u]
        if spoken:
            person, answer = random.choice(spoken)
            text = random.choice(("what did {} say about the {}?", "{} and the {}", "did {} finish the {}?"))
            return Query(text.format(person, topic_of(answer)), kind, answer, note.path)
    if kind == "date" and note.day:
        day = f"{note.day.day} {note.day:%B} {note.day.year}"
        text = random.choice(("what did we decide about the {} on {}?", "what happened to the {} on {}?"))
        return Query(text.format(topic_of(answer), day), kind, answer, note.path)
    chosen = sorted(random.sample(range(len(terms)), min(len(terms), random.randint(2, 6))))
    return Query(" ".join(terms[i] for i in chosen) or answer, "terms", answer, note.path)


def _write(root: Path, notes: Iterator[Note]) -> Written:
    files = count = size = 0
    made = set()
    for note in notes:
        path = root / note.path
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        content = _render(note).encode()
        path.write_bytes(content)
        files, size = files + 1, size + len(content)
        count += sum(len(section.units) for section in note.sections)
    return Written(files, count, size)


def _notes(seed: int, kilobytes: float) -> Iterator[Note]:
    """The endless stream of notes: the curated files, then a note a day."""
    sections = _sections(seed)
    for i in range(-2, 10**9):
        size, chosen = 0.0, []
        while size < kilobytes * 1024 - 350:  # half a section short, so that the mean is met
            section = next(sections)
            chosen.append(section)
            size += len(section.heading) + 5 + sum(map(len, section.units)) + 2.5 * len(section.units)
        if i < 0:
            yield Note(("MEMORY.md", "USER.md")[i], None, chosen)
        else:
            folder, day = divmod(i, DAYS_PER_FOLDER)
            when = FIRST_DAY + timedelta(days=day)
            where = f"memory/agent-{folder}" if folder else "memory"
            yield Note(f"{where}/{when.isoformat()}.md", when, chosen)


def _sections(seed: int) -> Iterator[Section]:
    """The endless stream of sections, each with a cast of its own that its sentences draw from."""
    rnd = Random(seed).random
    zipf = {kind: _zipf(listed) for kind, listed in corpus_words.POOLS.items()}
    people, projects, hosts, nouns = (zipf[k] for k in ("person", "project", "host", "noun"))
    openers, tails = corpus_words.OPENERS, corpus_words.TAILS
    pools = dict(zipf)
    while True:
        cast = [people[int(rnd() * 4096)], people[int(rnd() * 4096)]]
        topics = [nouns[int(rnd() * 4096)] for _ in range(4)]
        identifiers = [_identifier(rnd) for _ in range(3)]
        project = projects[int(rnd() * 4096)]
        pools["person"] = cast
        pools["project"] = [project]
        pools["host"] = [hosts[int(rnd() * 4096)]]
        pools["ident"] = identifiers
        pools["rare"] = [_rare_name(rnd)]
        # Half of the nouns are the section's own, the other half come from everywhere.
        pools["topic"] = topics + [nouns[int(rnd() * 4096)] for _ in range(3)]
        style = corpus_words.STYLES[int(rnd() * len(corpus_words.STYLES))]
        made = []
        for i in range(4 + int(rnd() * 9)):
            if style == "table":
                text, slots = corpus_words.ROW
            else:
                text, slots = openers[int(rnd() * len(openers))]
                for chance in (0.85, 0.12):
                    if rnd() < chance:
                        tail, more = tails[int(rnd() * len(tails))]
                        text, slots = text + tail, slots + more
            filled = []
            for slot in slots:
                pool = pools[slot]
                filled.append(pool[int(rnd() * len(pool))])
            line = text % tuple(filled)
            if style == "chat":
                made.append(f"{cast[i % 2]}: {line}.")
            elif style == "table":
                made.append(line)
            elif slots[0] == "ident" and text[0] == "%":
                made.append(line + ".")  # an identifier keeps its case
            else:
                made.append(f"{line[0].upper()}{line[1:]}.")
        heading = corpus_words.HEADINGS[int(rnd() * len(corpus_words.HEADINGS))]
        yield Section(heading % (project, topics[0]), style, made, cast, topics, identifiers)


def _zipf(listed: list[str], size: int = 4096) -> list[str]:
    """``listed`` repeated so that a uniform draw follows Zipf's law with Mandelbrot's offset.

    The word of rank r (from 0) has weight 1 / (r + 12) (Mandelbrot 1953); each occurs at least once.
    """
    weights = [1 / (rank + 12) for rank in range(len(listed))]
    share = (size - len(listed)) / sum(weights)
    out = [word for word, weight in zip(listed, weights, strict=True) for _ in range(1 + int(weight * share))]
    return out + [listed[i % len(listed)] for i in range(size - len(out))]


def _identifier(rnd: corpus_words.Uniform) -> str:
    """A name as they occur in notes about software; most of them never come back."""
    form, a, b, c = int(rnd() * 8), int(rnd() * 4096), int(rnd() * 4096), int(rnd() * 4096)
    verbs, nouns = corpus_words.POOLS["verb"], corpus_words.SIMPLE_NOUNS
    verb, noun, other = verbs[a % len(verbs)], nouns[b % len(nouns)], nouns[c % len(nouns)]
    if form == 0:
        return f"{corpus_words.TICKETS[a % len(corpus_words.TICKETS)]}-{1000 + (b * 4096 + c) % 90_000}"
    if form == 1:
        return f"10.{a % 256}.{b % 256}.{c % 254 + 1}"
    if form == 2:
        return f"v{a % 6}.{b % 40}.{c % 120}"
    if form == 3:
        return f"`{verb}{noun.capitalize()}{other.capitalize()}`"
    if form == 4:
        return f"`{verb}_{noun}_{other}`"
    if form == 5:
        return f"`{noun}/{verb}_{other}.{corpus_words.SUFFIXES[a % len(corpus_words.SUFFIXES)]}`"
    if form == 6:
        return f"{(a * 4096 + b) * 4096 + c:09x}"[:9]
    return f"{noun.upper()}_{other.upper()}={a}"


def _rare_name(rnd: corpus_words.Uniform) -> str:
    """The name of a vendor, a library or a place: two to four syllables, one of half a million."""
    syllables = corpus_words.SYLLABLES
    made = [syllables[int(rnd() * len(syllables))] for _ in range(2 + int(rnd() * 3))]
    return "".join(made).capitalize()


def _render(note: Note) -> str:
    title = note.day.isoformat() if note.day else note.path
    lines = [f"# {title}"]
    for section in note.sections:
        lines += ["", f"## {section.heading}", ""]
        if section.style == "items":
            lines += [f"- {unit}" for unit in section.units]
        elif section.style == "tasks":
            lines += [f"- [{'x' if len(unit) % 3 else ' '}] {unit}" for unit in section.units]
        elif section.style == "prose":
            groups = [section.units[i : i + 3] for i in range(0, len(section.units), 3)]
            lines.append("\n\n".join(" ".join(group) for group in groups))
        elif section.style == "table":
            lines += ["| what | where | who | value |", "|---|---|---|---|", *section.units]
        else:
            lines += section.units
    return "\n".join(lines) + "\n"
