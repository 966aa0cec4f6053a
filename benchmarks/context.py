"""Measure how often a message gets ambient context, and how often that context is right.

    python -m benchmarks.context --workspaces DIR
    python -m benchmarks.context --example
    python -m benchmarks.context --silence DIR

DIR is as for ``benchmarks.workspaces``, with ``evidence`` (rows of ``path`` and ``line``) in each question.  It
prints three shares:

- of the labelled questions, those whose context holds a line of evidence, beside ``search --budget`` with as many
  tokens, and the same search over the files that context may use (not MEMORY.md and USER.md);
- of questions about another workspace, of which this one knows nothing, those that get context all the same;
- of ordinary messages, those that get context: each line of the last files of a workspace, before these are read.

``--example`` takes the shipped example and ``context_messages.jsonl`` beside this file: half of the messages are about
something in the notes (``path`` is the file, ``says`` the words that the context must contain), half need no context.

``--silence`` asks ``context_silence.jsonl`` of every workspace in a folder: courtesies, small talk, jokes, general
knowledge and code in eight languages, none of which needs a note.  Each workspace gets those in the language of most of
its files, and those in English; the share that gets no context is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workspaces import DiskCachedEmbedder, questions
from openclaw_memory import Memory, Settings
from openclaw_memory.model import ContextResult, Kind, SearchHit
from openclaw_memory.model.embedder import Embedder
from openclaw_memory.text import analysis, language

#: Of the files of a workspace in order of their names, the last ones are kept back for ordinary messages.
_HELD_BACK = 0.2
#: Scripts that tell the language, in this order, where a twentieth of a text is in them.
_SCRIPTS = {
    "[\u3040-\u30ff]": "japanese",
    "[\uac00-\ud7af]": "korean",
    "[\u4e00-\u9fff]": "chinese",
    "[\u0400-\u04ff]": "russian",
}
_SHARE = 0.05


@dataclass
class Tally:
    """Shares and means of a run."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        """Note one value."""
        self.values.setdefault(name, []).append(value)

    def table(self) -> Iterator[str]:
        """A line a name: mean, and of how many."""
        for name, values in self.values.items():
            if name.endswith(" ms"):
                p50, p95 = np.percentile(values, [50, 95])
                yield f"{name:<58} p50 {p50:6.1f}  p95 {p95:6.1f}"
            else:
                yield f"{name:<58} {np.mean(values):7.3f}  of {len(values)}"


def holds(found: Sequence[SearchHit], evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the lines of some hits hold a line of evidence."""
    return any(
        hit.path == line["path"] and hit.start_line <= int(line["line"]) <= hit.end_line
        for hit in found
        for line in evidence
    )


def says(result: ContextResult, root: Path, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the text of a context has nearly all terms of a line of evidence: what is cut off does not count."""
    said = set(analysis.terms(result.text))
    for line in evidence:
        text = (root / line["path"]).read_text(encoding="utf-8").splitlines()[int(line["line"]) - 1]
        wanted = set(analysis.terms(text))
        if holds(result.sources, [line]) and len(wanted & said) >= 0.9 * len(wanted):
            return True
    return False


@contextmanager
def opened(root: Path, settings: Settings, embedder: Embedder | None) -> Iterator[Memory]:
    """A memory of a workspace whose index is thrown away."""
    with (
        tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder,
        Memory(
            root,
            settings=settings,
            db=Path(folder) / "index.duckdb",
            state=Path(folder) / "state.sqlite",
            embedder=embedder,
        ) as memory,
    ):
        memory.ingest()
        memory.search("warm")
        yield memory


def asked(memory: Memory, message: str, budget: int, now: date, tally: Tally) -> ContextResult:
    """The context of a message, timed."""
    began = time.perf_counter()
    result = memory.context(message, budget=budget, now=now)
    tally.add("context ms", (time.perf_counter() - began) * 1000)
    assert len(result.text) <= 4 * budget
    return result


def day_of(row: Mapping[str, Any]) -> date:
    """The day on which a question is asked."""
    return date.fromisoformat(str(row["date_asked"])[:10].replace("/", "-"))


def labelled(root: Path, settings: Settings, embedder: Embedder | None, budget: int, tally: Tally) -> None:
    """Questions with evidence, and the same ones asked of a workspace that knows nothing of them."""
    by_workspace = questions(root)
    names = list(by_workspace)
    for at, name in enumerate(names):
        with opened(root / name, settings, embedder) as memory:
            for row in by_workspace[name]:
                question, now = str(row["question"]), day_of(row)
                evidence: Any = row["evidence"]
                spans = memory.search(question, now=now, budget=budget).results
                notes = memory.search(question, now=now, budget=budget, kinds=(Kind.DAILY, Kind.NOTE)).results
                result = asked(memory, question, budget, now, tally)
                tally.add("questions: search --budget holds evidence", holds(spans, evidence))
                tally.add("questions: search --budget in notes holds evidence", holds(notes, evidence))
                tally.add("questions: context holds evidence", holds(result.sources, evidence))
                tally.add("questions: context says all of it", says(result, root / name, evidence))
                tally.add("questions: with context", bool(result.text))
                if result.text:
                    tally.add("questions: context holds evidence when given", holds(result.sources, evidence))
                    tally.add("tokens of a context", result.tokens)
                    tally.add("notes in a context", len(result.sources))
                tally.add("entities of a question", len(result.entities))
            for row in by_workspace[names[(at + 1) % len(names)]] if len(names) > 1 else ():
                result = asked(memory, str(row["question"]), budget, day_of(row), tally)
                tally.add("questions about another workspace: with context", bool(result.text))
        print(f"{name}: done", file=sys.stderr)


def ordinary(root: Path, settings: Settings, embedder: Embedder | None, budget: int, tally: Tally) -> None:
    """What was said in the last files, asked of what was known before."""
    for name in questions(root):
        files = sorted((root / name / "memory").glob("*.md"))
        kept_back = files[len(files) - max(1, round(len(files) * _HELD_BACK)) :]
        with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
            copy = Path(folder) / "workspace"
            shutil.copytree(root / name, copy)
            for file in kept_back:
                (copy / "memory" / file.name).unlink()
            with opened(copy, settings, embedder) as memory:
                for file in kept_back:
                    for line in file.read_text(encoding="utf-8").splitlines():
                        speaker, colon, words = line.partition(": ")
                        if colon and speaker.isalpha() and words.strip():
                            result = asked(memory, words, budget, date.fromisoformat(file.stem[:10]), tally)
                            tally.add("ordinary messages: with context", bool(result.text))


def example(settings: Settings, embedder: Embedder | None, budget: int, tally: Tally, show: bool) -> None:
    """Messages of our own about the shipped example."""
    from openclaw_memory.example import copy_to

    rows = [json.loads(line) for line in (Path(__file__).parent / "context_messages.jsonl").open(encoding="utf-8")]
    with tempfile.TemporaryDirectory(prefix="openclaw-memory-bench-") as folder:
        workspace = Path(folder) / "workspace"
        copy_to(workspace)
        with opened(workspace, settings, embedder) as memory:
            for row in rows:
                result = asked(memory, row["message"], budget, date(2026, 3, 7), tally)
                tally.add("messages: with context", bool(result.text))
                if row.get("path") is None:
                    tally.add("messages that need nothing: with context", bool(result.text))
                    good = not result.text
                else:
                    from_it = any(hit.path == row["path"] for hit in result.sources)
                    good = from_it and row["says"].casefold() in result.text.casefold()
                    tally.add("messages that it knows about: with context", bool(result.text))
                    tally.add("messages that it knows about: the right file", from_it)
                    tally.add("messages that it knows about: says it", good)
                tally.add("messages: answered as they should be", good)
                if show:
                    print(f"{'ok   ' if good else 'WRONG'} {row['message']}  {list(result.entities)}\n{result.text}\n")


def silence(folder: Path, settings: Settings, budget: int, tally: Tally) -> None:
    """Messages that need nothing, asked of every workspace of a folder in its language and in English.

    The notes of each choose the model, unless the settings do.
    """
    rows = [json.loads(line) for line in (Path(__file__).parent / "context_silence.jsonl").open(encoding="utf-8")]
    known = dict.fromkeys(row["language"] for row in rows)
    for root in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = [spoken(file.read_text(encoding="utf-8", errors="replace")) for file in root.rglob("*.md")]
        own = max(known, key=files.count)
        with opened(root, settings, None) as memory:
            for row in rows:
                if row["language"] in (own, "english"):
                    result = memory.context(row["message"], budget=budget)
                    tally.add(f"{root.name}: silent, {row['language']}", not result.text)
                    tally.add("silent", not result.text)


def spoken(text: str) -> str | None:
    """The language of a text, of those that have messages."""
    for script, name in _SCRIPTS.items():
        if len(re.findall(script, text)) > _SHARE * len(text):
            return name
    return language.detect_language(language.latin_words(text.lower()))


def timed(memory: Memory, messages: Sequence[str], **options: Any) -> dict[str, float]:
    """Milliseconds on a warm memory, the messages' embedding excluded: ``p50`` and ``p95`` of whole calls.

    ``entities_p50`` and ``entities_p95`` are those of finding the known concepts alone.
    """
    whole, matching = [], []
    for message in messages:
        memory.context(message, **options)  # embeds it, which is not measured
        began = time.perf_counter()
        memory.context(message, **options)
        whole.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        memory.ambient.entities(message)
        matching.append((time.perf_counter() - began) * 1000)
    p50, p95 = np.percentile(whole, [50, 95])
    entities_p50, entities_p95 = np.percentile(matching, [50, 95])
    return {
        "p50": float(p50),
        "p95": float(p95),
        "entities_p50": float(entities_p50),
        "entities_p95": float(entities_p95),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path, help="folder with queries.jsonl and the workspaces")
    parser.add_argument("--example", action="store_true", help="messages about the shipped example")
    parser.add_argument("--silence", type=Path, metavar="DIR", help="messages that need nothing, of these workspaces")
    parser.add_argument("--show", action="store_true", help="print each message of the example with its context")
    parser.add_argument("--budget", type=int, default=200, help="tokens")
    parser.add_argument("--model", help="embedding.model: a registry name, the path of a GGUF file, or none")
    parser.add_argument("--embedding-cache", type=Path, help="folder that keeps vectors between runs")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting")
    options = parser.parse_args(arguments)
    if not (options.workspaces or options.example or options.silence):
        parser.error("give --workspaces DIR, --example or --silence DIR")
    values: dict[str, object] = dict(item.split("=", 1) for item in options.set)
    if options.model:
        values["embedding.model"] = options.model
    settings = Settings.load(overrides={"ingest.fresh_seconds": 1e9, **values})
    from openclaw_memory.embed.manager import choose_embedder

    embedder: Embedder | None = choose_embedder(settings).embedder
    if embedder is not None and options.embedding_cache:
        embedder = DiskCachedEmbedder(embedder, options.embedding_cache)
    tally = Tally()
    if options.example:
        example(settings, embedder, options.budget, tally, options.show)
    if options.silence:
        silence(options.silence, settings, options.budget, tally)
    if options.workspaces:
        labelled(options.workspaces, settings, embedder, options.budget, tally)
        ordinary(options.workspaces, settings, embedder, options.budget, tally)
    if isinstance(embedder, DiskCachedEmbedder):
        embedder.save()
    print("\n".join(tally.table()))


if __name__ == "__main__":
    main()
