"""Measure how much evidence for later questions extractive summaries keep, against random and lead-sentence selection.

    python -m benchmarks.consolidation --workspaces DIR [--seeds 10] [--unit-tokens 60] [--json]

DIR is as for ``benchmarks.workspaces``; its rows have ``answer`` and ``evidence`` (``[{path, line}]``).  Every daily
note is summarised, its summaries are written and read again as files are, and so on up to the years.  For each grain:

- *evidence*: the share of the questions' evidence lines that a summary cites;
- *answer*: of an answer's words that stand in its evidence line, the share that the summary's text of that line still
  contains, so that citing a line and keeping only its beginning gains nothing;
- *length*: the length of the summaries' files, with front matter and citations, as a share of the notes' length.

Random selection takes sentences in random order, lead selection from the top of each day; both stop when they have
spent as many tokens in a period as ours.  For a coarser grain both choose among the sentences that they kept before.

The points of ``summarise/scoring.py`` are few and round.  They were set on conversations between two people (short
turns, one a line), checked on long chats with an assistant, and inspected on a diary of a machine's work.  Halving or
doubling any one of them loses at most 3.5 percentage points of the evidence of a day; ``docs/consolidation.md``
explains each.  In chats with an assistant the decisive rule is that the assistant's turns score lower.  Tried and left
out: points for the first person, for greetings, for a place at the beginning of a day (no gain); coverage that counts
once only (worse); centrality as in LexRank (no gain: nobody asks for what all sentences
share); the gain per token raised to a power below one (no better than adding a constant to the length of each line);
turns cut into sentences (5 points more evidence and 1 more of the answers, but then a line no longer says who speaks).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.workspaces import questions
from openclaw_memory.ingest.notes import build_units
from openclaw_memory.ingest.summary_files import DATED
from openclaw_memory.model import CHARS_PER_TOKEN, Grain, Origin
from openclaw_memory.plugins.manager import Plugins
from openclaw_memory.summarise.document import LINKER, parse_sentences, render
from openclaw_memory.summarise.sentences import Sentence, extract_sentences, format_line, line_tokens
from openclaw_memory.summarise.summary import BUDGETS, Part, Summary, summarise
from openclaw_memory.text import analysis, calendar
from openclaw_memory.text.dates import date_in_name
from openclaw_memory.text.markdown import parse

GRAINS = tuple(Grain)[1:]

#: A period: its grain and its name.
Period = tuple[Grain, str]
#: Makes the summary of a period from its sentences.
Summariser = Callable[[Sequence[Sentence], Period], Summary]
Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Diary:
    """The daily notes of a workspace: their texts by path, and what each says."""

    texts: Mapping[str, str]
    said: Mapping[str, list[Sentence]]


@dataclass
class Tally:
    """Sums over the questions and periods of one grain."""

    lines: int = 0
    cited: int = 0
    answers: int = 0
    answered: float = 0.0
    tokens: float = 0.0
    source_tokens: float = 0.0
    sentences: int = 0

    def figures(self) -> dict[str, float]:
        """The shares that the module's docstring names."""
        return {
            "evidence": self.cited / max(1, self.lines),
            "answer": self.answered / max(1, self.answers),
            "length": self.tokens / max(1.0, self.source_tokens),
        }


@dataclass
class Kept:
    """What the summaries of a grain kept: the terms of the text that stands for each line, and their length."""

    terms: defaultdict[Line, set[str]] = field(default_factory=lambda: defaultdict(set))
    tokens: float = 0.0
    sentences: int = 0


def diary(root: Path, plugins: Plugins) -> Diary:
    """Read the daily notes below ``root``/memory as ingest does."""
    texts: dict[str, str] = {}
    said: dict[str, list[Sentence]] = {}
    for file in sorted((root / "memory").rglob("*.md")):
        path = file.relative_to(root).as_posix()
        day = date_in_name(path)
        if day is None:
            continue
        texts[path] = file.read_text(encoding="utf-8")
        parsed = parse(texts[path], path=path, mtime=day)
        sections, units = build_units(path, parsed, parsed.front_matter, plugins, LINKER)
        said[path] = extract_sentences(path, day, Origin.AGENT, sections, units)
    return Diary(texts, said)


def chain(given: Diary, make: Summariser, plugins: Plugins) -> dict[Grain, Kept]:
    """Summarise a diary up to its years; what each grain kept of it."""
    kept: dict[Grain, Kept] = {}
    below: dict[Period, tuple[date, list[Sentence]]] = {}
    for path, said in given.said.items():
        if said:
            day = said[0].day
            _append(below, (Grain.WORKING, f"{day.isoformat()} {path}"), day, said)
    for grain in GRAINS:
        grouped: dict[Period, tuple[date, list[Sentence]]] = {}
        for day, said in below.values():
            _append(grouped, (grain, calendar.period_of(day, grain)), day, said)
        below = {}
        kept[grain] = Kept()
        for key, (day, said) in grouped.items():
            summary = make(said, key)
            text = render(grain, key[1], summary, (), Origin.AGENT, "0" * 64)
            path = calendar.path_of(grain, key[1])
            last = calendar.bounds(grain, key[1])[1]
            below[key] = day, parse_sentences(path, grain, text, last, Origin.AGENT, plugins, 0, 0)
            _note(kept[grain], summary, text)
    return kept


def _append(groups: dict[Period, tuple[date, list[Sentence]]], key: Period, day: date, said: list[Sentence]) -> None:
    """Add sentences to a period, with entries and places counted on; its day is the last one."""
    _, members = groups.get(key, (day, []))
    entry, order = (members[-1].entry + 1, len(members)) if members else (0, 0)
    moved = [replace(one, entry=entry + one.entry, order=order + at) for at, one in enumerate(said)]
    groups[key] = day, members + moved


def _note(kept: Kept, summary: Summary, text: str) -> None:
    kept.tokens += len(text) / CHARS_PER_TOKEN
    for sentence in summary.sentences():
        kept.sentences += 1
        terms = analysis.terms(sentence.text)
        for line in range(sentence.start_line, sentence.end_line + 1):
            kept.terms[sentence.path, line].update(terms)


def count(tally: Tally, kept: Kept, given: Diary, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add what ``kept`` holds of the evidence of the questions of one workspace."""
    tally.tokens += kept.tokens
    tally.sentences += kept.sentences
    tally.source_tokens += sum(map(len, given.texts.values())) / CHARS_PER_TOKEN
    lines = {path: text.split("\n") for path, text in given.texts.items()}
    for row in rows:
        answer = set(analysis.terms(str(row.get("answer", ""))))
        for evidence in row["evidence"]:
            path, line = evidence["path"], int(evidence["line"])
            if path not in lines:
                continue
            tally.lines += 1
            tally.cited += (path, line) in kept.terms
            wanted = answer.intersection(analysis.terms(lines[path][line - 1]))
            if wanted:
                tally.answers += 1
                tally.answered += len(wanted & kept.terms.get((path, line), set())) / len(wanted)


class Ours:
    """The summaries of this package; remembers how many tokens each took."""

    def __init__(self) -> None:
        self.spent: dict[Period, int] = {}

    def __call__(self, said: Sequence[Sentence], key: Period) -> Summary:
        """A summary by the default rules."""
        summary = summarise(said, key[0], BUDGETS[key[0]])
        self.spent[key] = sum(line_tokens(format_line(one, key[0] in DATED)) for one in summary.sentences())
        return summary


class Baseline:
    """Sentences in a given order, until as much is spent as ``spent`` says of the period."""

    def __init__(self, spent: Mapping[Period, int], order: Callable[[list[Sentence]], list[Sentence]]) -> None:
        self._spent = spent
        self._order = order

    def __call__(self, said: Sequence[Sentence], key: Period) -> Summary:
        """What fits, under one heading a day."""
        left = self._spent[key]
        chosen: list[Sentence] = []
        for one in self._order(list(said)):
            price = line_tokens(format_line(one, key[0] in DATED))
            if not chosen or price <= left:
                chosen.append(one)
                left -= price
        by_day: defaultdict[date, list[Sentence]] = defaultdict(list)
        for one in sorted(chosen, key=lambda sentence: (sentence.day, sentence.order)):
            by_day[one.day].append(one)
        return Summary(tuple(Part(day.isoformat(), tuple(members)) for day, members in by_day.items()))


def leading(said: list[Sentence]) -> list[Sentence]:
    """The first sentence of each day, then the second ones, and so on."""
    place: defaultdict[date, int] = defaultdict(int)
    ranked = []
    for one in said:
        ranked.append((place[one.day], one.day, one.order, one))
        place[one.day] += 1
    return [row[-1] for row in sorted(ranked, key=lambda row: row[:3])]


def shuffled(seed: int) -> Callable[[list[Sentence]], list[Sentence]]:
    """Random order, the same for a seed."""
    chance = random.Random(seed)

    def order(said: list[Sentence]) -> list[Sentence]:
        chance.shuffle(said)
        return said

    return order


def measure(root: Path, seeds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Figures by way of selection and grain; those of random selection are means, with the least and the most."""
    plugins = Plugins(entry_points=False)
    names = ["ours", "lead", *(f"random {seed}" for seed in range(seeds))]
    tallies = {name: {grain: Tally() for grain in GRAINS} for name in names}
    for workspace, rows in questions(root).items():
        given = diary(root / workspace, plugins)
        ours = Ours()
        ways: dict[str, Summariser] = {"ours": ours}
        ways["lead"] = Baseline(ours.spent, leading)
        ways |= {f"random {seed}": Baseline(ours.spent, shuffled(seed)) for seed in range(seeds)}
        for name, make in ways.items():
            for grain, kept in chain(given, make, plugins).items():
                count(tallies[name][grain], kept, given, rows)
    found: dict[str, dict[str, dict[str, float]]] = {"ours": {}, "lead": {}, "random": {}}
    for grain in GRAINS:
        for name in ("ours", "lead"):
            found[name][grain.value] = tallies[name][grain].figures()
        runs = [tallies[f"random {seed}"][grain].figures() for seed in range(seeds)]
        if runs:
            mean = {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}
            evidence = [run["evidence"] for run in runs]
            found["random"][grain.value] = mean | {"least": min(evidence), "most": max(evidence)}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, required=True, help="folder with queries.jsonl and the workspaces")
    parser.add_argument("--seeds", type=int, default=10, help="runs of random selection")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    found = measure(options.workspaces, options.seeds)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'grain':<10}{'way':<8}{'evidence':>10}{'answer':>10}{'length':>10}")
    for grain in GRAINS:
        for way in ("ours", "lead", "random"):
            row = found[way].get(grain.value)
            if row is None:
                continue
            span = f"   {row['least']:.3f} to {row['most']:.3f}" if "least" in row else ""
            shares = "".join(f"{row[key]:>10.3f}" for key in ("evidence", "answer", "length"))
            print(f"{grain.value:<10}{way:<8}{shares}{span}")


if __name__ == "__main__":
    main()
