"""How surely a message is about the notes, whatever the model's cosines are like, and the messages that need nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from fakes import Notes, ingested, open_memory
from tables import table

from benchmarks.hashing import HashingEmbedder
from benchmarks.relevance import recorded
from openclaw_memory.context import candidates
from openclaw_memory.context.relevance import KEYWORD_WEIGHTS, WEIGHTS, probability
from openclaw_memory.model.embedder import Progress, Vectors

NOW = date(2026, 3, 10)
SAME = {"doctor": "врач", "sees": "принимает", "me": "пациентов"}


class Crowding(HashingEmbedder):
    """Knows some words of two languages, and finds all texts of one of them this much alike."""

    def __init__(self, common: float) -> None:
        super().__init__(256)
        self.model = f"crowding-{common:g}"
        self._common = common

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        plain = [re.sub(r"\w+", lambda word: SAME.get(word[0], word[0]), text.lower()) for text in texts]
        vectors = super().embed_documents(plain)
        vectors[:, 0] = [self._common * text.isascii() for text in texts]
        out: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return out

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        return self.embed_documents(texts)


@pytest.mark.parametrize("common", [0.0, 3.0])
def test_notes_in_another_language_are_given_whatever_texts_of_one_have_in_common(
    notes: Notes, common: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "RELEVANT", 0.0)
    rows = [f"- запись {number}: {number * 7} на счёт {number}\n" for number in range(60)]
    notes.write("memory/ledger.md", "".join([*rows, "- врач принимает пациентов по пятницам\n", *reversed(rows)]))
    with ingested(notes, Crowding(common)) as memory:
        given = memory.context("the doctor sees me", now=NOW).text
        assert "врач принимает" in given
        assert "счёт" not in given


def features(**values: float) -> dict[str, float]:
    return dict.fromkeys([*WEIGHTS, *KEYWORD_WEIGHTS], 0.0) | values


def test_meaning_decides_where_the_model_knows_the_language_only() -> None:
    assert probability(features(language_coverage=1.0, margin=0.9)) > probability(features(language_coverage=1.0))
    assert probability(features(language_coverage=0.3, margin=0.9)) == probability(features(language_coverage=0.3))
    assert probability(features(language_coverage=0.0, matched=3.0)) > probability(features(language_coverage=0.0))


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_a_few_notes_are_given_too(notes: Notes, common: float) -> None:
    """The best of three lines is no noise, though it is most of what the three have in common with a message."""
    notes.write("memory/2026-03-01.md", "# Day\n\n- Ada repaired the bilge pump\n- the lease ends in October\n")
    notes.write("memory/2026-03-02.md", "# Day\n\n- a heron stood on the quay\n")
    with ingested(notes, Crowding(common)) as memory:
        assert "bilge pump" in memory.context("has the bilge pump been repaired", now=NOW).text
        assert not memory.context("tell me a joke", now=NOW).text


def test_every_language_has_messages_that_need_nothing() -> None:
    lines = Path("benchmarks/context_silence.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["message"] for row in rows}) == len(rows)
    assert min(Counter(row["language"] for row in rows).values()) >= 20
    for language in {row["language"] for row in rows}:
        kinds = {row["kind"] for row in rows if row["language"] == language}
        assert kinds == {"courtesy", "small talk", "joke", "general knowledge", "code", "writing"}


def test_the_name_of_a_concept_does_not_make_general_knowledge_a_matter_of_the_notes(notes: Notes) -> None:
    lines = [
        "the hen Hamlet laid an egg",
        "gave Penicillin to the hen",
        "we moved Hamlet into the new coop",
        "Hamlet sleeps",
    ]
    rows = [
        *lines,
        "the vet says Penicillin twice a day",
        *(f"entry {row} of the ledger, {7 * row}" for row in range(60)),
    ]
    notes.write("memory/2026-03-02.md", "# Hens\n\n" + "".join(f"- {row}\n" for row in rows))
    with ingested(notes, HashingEmbedder(256)) as memory:
        memory.warm()
        assert "new coop" in memory.context("how is Hamlet?", now=NOW).text
        context = memory.context("who discovered penicillin?", now=NOW)
        assert context.entities == ("Penicillin",) and not context.text


def test_a_note_that_says_what_is_said_to_any_assistant_is_close_to_nothing(notes: Notes) -> None:
    """What is as close to small talk as to the message tells nothing of the notes."""
    rows = [
        "the bilge pump was repaired by Ada",
        "what is the capital of Australia, she asked",
        *(f"entry {row}" for row in range(60)),
    ]
    notes.write("memory/2026-03-02.md", "# Day\n\n" + "".join(f"- {row}\n" for row in rows))
    with open_memory(notes, HashingEmbedder(256)) as memory, recorded() as seen:
        memory.ingest()
        memory.warm()
        memory.context("was the bilge pump repaired", now=NOW)
        memory.context("what was the capital of Australia again", now=NOW)
    ours, anybody = seen
    assert ours["margin"] > 0.2 > anybody["margin"]
    assert probability(ours) > probability(anybody)


def test_of_a_few_notes_less_is_asked() -> None:
    assert probability(features(language_coverage=1.0, small_corpus=3.0)) > probability(features(language_coverage=1.0))


def test_what_is_asked_as_one_asks_notes_is_told_from_what_anybody_may_be_asked(notes: Notes) -> None:
    rows = ["the blue boat was repaired by Ada", *(f"entry {row}" for row in range(60))]
    notes.write("memory/2026-03-02.md", "# Day\n\n" + "".join(f"- {row}\n" for row in rows))
    with open_memory(notes, HashingEmbedder(256)) as memory, recorded() as seen:
        memory.ingest()
        memory.warm()
        memory.context("what did we decide about the blue boat?", now=NOW)
        memory.context("what is the difference between a boat and an alligator?", now=NOW)
    ours, anybody = seen
    assert ours["personal"] > anybody["personal"]
    assert probability(features(language_coverage=1.0, personal=1.0)) > probability(features(language_coverage=1.0))


@pytest.mark.parametrize(
    ("note", "small_talk", "question"),
    table("context_languages.tsv", "a word that names a time does not prove anything"),
)
def test_a_word_that_names_a_time_does_not_say_that_the_notes_are_meant(
    notes: Notes, note: str, small_talk: str, question: str
) -> None:
    notes.write("memory/2026-03-01.md", f"- {note}\n- 1\n")
    with open_memory(notes, HashingEmbedder(256)) as memory, recorded() as seen:
        memory.ingest()
        memory.context(small_talk, now=NOW)
        memory.context(question, now=NOW)
    assert seen[0]["matched"] and not seen[0]["shared"]
    assert seen[1]["matched"]
