"""What is said to any assistant, and how close a message is to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fakes import CountingEmbedder, Notes, ingested

from openclaw_memory.embed import smalltalk
from openclaw_memory.model import script_of
from openclaw_memory.model.embedder import LocalModel, Vectors
from openclaw_memory.text import language

DAY = """# Day

- Ada repaired the leaking bilge pump
- the lease of the boathouse ends in October
- a heron stood on the quay all morning
- paid the invoice of the sailmaker
- the ferry sails at nine on Sundays
- new varnish for the oars, two coats
"""


def test_every_language_has_as_many_texts_and_is_written_in_one_script() -> None:
    texts = smalltalk.read_texts()
    assert texts.keys() <= language.stop_words().keys()
    assert {script_of("".join(lines)) for lines in texts.values()} == {0, 1, 2}
    for name, lines in texts.items():
        asked = smalltalk.read_texts("personal_questions.txt")[name]
        assert len(set(lines)) == len(lines) >= 55 and len({*asked, *lines}) == 70 + len(lines), name


def test_the_language_with_the_closest_text_is_compared() -> None:
    one = np.array([[1.0, 0.0], [0.6, 0.8]], np.float32)
    other = np.array([[0.8, 0.6], [0.8, 0.6]], np.float32)
    to = smalltalk.Cohort((other, one), np.array([0.0, 2.0], np.float32), 0.5)
    found = smalltalk.compare(np.array([1.0, 0.0], np.float32), to)
    assert found is not None
    assert found.highest == np.float32(1.0)
    assert abs(found.mean - 0.8) < 1e-6
    assert found.personal == -0.5
    assert smalltalk.compare(np.array([1.0, 0.0], np.float32), None) is None


def test_what_is_asked_of_notes_lies_on_one_side_and_what_is_asked_of_anybody_on_the_other() -> None:
    """Also where another direction has most of the spread."""
    rng = np.random.default_rng(5)
    both = rng.normal(size=(80, 6)) * [9, 1, 1, 1, 1, 0.1]
    both[:40, 5] += 1
    axis, middle = smalltalk._discriminant(both[:40].astype(np.float32), both[40:].astype(np.float32))
    along = both @ axis - middle
    assert np.mean(along[:40]) > 0 > np.mean(along[40:])
    assert smalltalk._discriminant(both[:1].repeat(2, axis=0), both[:1].repeat(2, axis=0))[1] == 0.0


class Local(CountingEmbedder, LocalModel):
    """As a model on this machine."""

    failure = None
    path = Path("none.gguf")

    def start(self) -> None:
        pass


def test_texts_are_embedded_once_a_machine() -> None:
    first, second, remote = Local(), Local(), CountingEmbedder()
    made, again = smalltalk.embed_cohort(first, 2), smalltalk.embed_cohort(second, 2)
    own = {name for name, lines in smalltalk.read_texts().items() if script_of("".join(lines)) == 2}
    assert own == {"chinese", "japanese", "korean"}
    files = [smalltalk.read_texts(), smalltalk.read_texts("personal_questions.txt")]
    assert first.questions == [line for file in files for name in file if name in own for line in file[name]]
    assert not second.questions and smalltalk.embed_cohort(remote, 2) and remote.questions == first.questions
    assert made is not None and again is not None
    assert np.array_equal(made.axis, again.axis)
    for before, after in zip(made.languages, again.languages, strict=True):
        assert np.array_equal(before, after)


def test_of_many_languages_each_gives_some_of_what_is_asked_of_notes() -> None:
    embedder = CountingEmbedder()
    smalltalk.embed_cohort(embedder, 0)
    embedded, asked = set(embedder.questions), smalltalk.read_texts("personal_questions.txt")
    own = [name for name, lines in smalltalk.read_texts().items() if script_of("".join(lines)) == 0]
    shares = [len(embedded.intersection(asked[name])) for name in own]
    assert len(own) == 7 and min(shares) == max(shares) and 140 < sum(shares) <= 210


class Failing(CountingEmbedder):
    """Embeds few questions at a time only."""

    def embed_query(self, texts: Sequence[str]) -> Vectors:
        self.down = len(texts) > 8
        return super().embed_query(texts)


def test_without_anything_to_compare_with_the_words_decide(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", DAY)
    with ingested(notes, Failing()) as memory:
        given = memory.context("when does the lease of the boathouse end?")
        assert "October" in given.text
        assert given.warning is None


def test_who_is_in_a_hurry_does_not_wait(notes: Notes) -> None:
    embedder = CountingEmbedder()
    notes.write("memory/2026-03-01.md", "- Ada repaired the bilge pump\n")
    with ingested(notes, embedder) as memory:
        vectorizer = memory._vectorizer
        vector = embedder.embed_query(["the bilge pump"])[0]
        with vectorizer._cohort_lock:
            assert vectorizer.compare_with_smalltalk(embedder, "the bilge pump", vector, 5.0) is None
        assert vectorizer.compare_with_smalltalk(embedder, "the bilge pump", vector, 5.0) is not None


def test_what_is_said_to_any_assistant_is_not_about_notes_that_share_its_words(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", DAY + "- git: renamed the branch of the release to main\n")
    with ingested(notes, CountingEmbedder(dimensions=2048)) as memory:
        assert not memory.context("how do I rename a branch in git, please?").text
        assert "renamed the branch" in memory.context("what became of the branch of the release in git?").text
