"""Misspelt words of a question, in any alphabet: what is read for them, what is left alone, and that nothing is kept."""

from __future__ import annotations

from pathlib import Path

from fakes import CountingEmbedder, Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st
from indexing import drop, open_store, put
from markers import both
from properties import examples
from tables import table

from benchmarks import slips
from openclaw_memory.model.embedder import LocalModel
from openclaw_memory.search.spelling import is_one_slip
from openclaw_memory.text import analysis

#: By language: a line, a question with a slip in it, the word as it is typed and as it is read.
MISSPELT = {
    language: row
    for language, *row in table(
        "search_languages.tsv", "a line, a question with a slip, the word as it is typed and as it is read"
    )
}
#: What hides a line from those who only look for their words.
OTHERS = [f"Note {n} about nothing of interest, as always." for n in range(30)]


def test_a_slip_of_the_finger_hides_no_line(notes: Notes) -> None:
    notes.write("MEMORY.md", "\n\n".join([*OTHERS, *(line for line, *_ in MISSPELT.values())]))
    with open_memory(notes) as memory:
        for language, (line, question, typed, read) in MISSPELT.items():
            result = memory.search(question, mode="keyword", max_results=1)
            assert dict(result.corrected) == {typed: read}, language
            assert line in result.results[0].snippet
            assert dict(memory.recall(question).corrected) == {typed: read}


def test_what_the_notes_have_is_read_as_it_is_typed(notes: Notes) -> None:
    texts = [text for line, question, *_ in MISSPELT.values() for text in (line, question)]
    notes.write("MEMORY.md", "\n\n".join(texts))
    with open_memory(notes) as memory:
        assert not [text for text in texts if memory.search(text).corrected]


def test_short_words_first_letters_and_words_of_no_content_stay(notes: Notes) -> None:
    notes.write("MEMORY.md", "The gate code hangs by the kettle, and thesis number nine is with Whitney.\n")
    with open_memory(notes) as memory:
        for question in ("gaet", "bettle", "where", "hxngz", "g4te-code", "1234567", "热水壶", "theese"):
            assert not memory.search(question).corrected, question


def test_the_more_frequent_of_two_words_is_read(notes: Notes) -> None:
    notes.write("MEMORY.md", "- The planks lie in the yard.\n\n- Plants need water.\n\n- Plants need light.\n")
    with open_memory(notes) as memory:
        assert dict(memory.search("plansk").corrected) == {"plansk": "planks"}
        assert dict(memory.search("plaxxs").corrected) == {}  # two slips away from each
        assert dict(memory.search("PLANSK and plnats").corrected) == {"PLANSK": "Planks", "plnats": "plants"}
        assert dict(memory.search("plaxts").corrected) == {"plaxts": "plants"}
        assert dict(memory.search("plants").corrected) == {}


def test_the_question_is_embedded_as_it_is_read(notes: Notes) -> None:
    notes.write("MEMORY.md", "The gardening tools hang in the shed.\n")
    embedder = CountingEmbedder()
    with open_memory(notes, embedder) as memory:
        memory.search("Gardning, gardning")
        assert "Gardening, gardening" in embedder.questions


class LocalEmbedder(CountingEmbedder, LocalModel):
    """An embedder with a model file."""

    failure = None

    def start(self) -> None:
        pass


def test_a_word_that_the_model_has_a_token_for_is_no_slip(notes: Notes, tmp_path: Path) -> None:
    notes.write("MEMORY.md", "The tanks are full, and the planks are dry.\n")
    embedder = LocalEmbedder()
    embedder.path = tmp_path / "model.gguf"
    token = "\u2581thanks".encode()
    embedder.path.write_bytes(b"GGUF" + len(token).to_bytes(8, "little") + token)
    with open_memory(notes, embedder) as memory:
        assert dict(memory.search("thanks for the plansk").corrected) == {"plansk": "planks"}
    with open_memory(notes) as memory:
        assert memory.search("thanks for the plansk").corrected["thanks"] == "tanks"


def test_context_is_of_what_a_message_means(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", "\n\n".join([*OTHERS, "The zorblatt generator needs coolant every week."]))
    with open_memory(notes) as memory:
        assert "coolant" in memory.context("how does the zorbaltt generatr get its coolnat").text
        assert "Zorblatt" not in memory.context("what is the name of the moon?").text


def test_a_word_of_a_note_that_is_new_is_no_slip(notes: Notes) -> None:
    notes.write("MEMORY.md", "Carolina likes tea.\n")
    with open_memory(notes) as memory:
        assert dict(memory.search("what does Caroline like").corrected) == {"Caroline": "Carolina"}
        notes.write("memory/2026-03-01.md", "Caroline likes coffee.\n")
        assert not memory.search("what does Caroline like").corrected


def test_nothing_is_read_that_no_note_has_any_more(notes: Notes) -> None:
    notes.write("MEMORY.md", "The kettle is broken.\n")
    notes.write("memory/2026-03-01.md", "The zorblatt hums.\n")
    with open_memory(notes) as memory:
        assert memory.search("zorblat").corrected
        (notes.root / "memory" / "2026-03-01.md").unlink()
        memory.ingest()
        assert not memory.search("zorblat").corrected
        assert memory.search("ketle").corrected
    with open_memory(notes) as memory:  # nor by who has never seen it
        assert not memory.search("zorblat").corrected


@both
def test_words_go_with_their_notes(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.duckdb")
    put(store, {f"{n}.md": [[f"the lantern hangs by door {n}", "the ladder leans"]] for n in range(3)})
    put(store, {"3.md": [["a zeppelin passed"]]})
    assert {"lantern", "ladder", "zeppelin"} <= store.spellings(["lantrn", "laddre", "zepelin"])
    put(store, {"3.md": [["a zeppelin passed", "slowly"]], "0.md": [["the lamp hangs"]]})
    assert "zeppelin" in store.spellings(["zepelin"])
    put(store, {"3.md": [["slowly"]]})
    assert store.spellings(["zepelin"]) == set()
    drop(store, "1.md", "2.md")
    assert store.spellings(["lantrn", "laddre"]) == set()
    assert (
        store._db.rows("SELECT DISTINCT document_id FROM words WHERE document_id NOT IN (SELECT id FROM documents)")
        == []
    )
    store.close()


@both
def test_words_of_a_large_note_come_and_go_with_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.duckdb")
    lines = [f"line {n} of the zeppelin" for n in range(300)]
    put(store, {"1.md": [lines]})
    assert "zeppelin" in store.spellings(["zepelin"])
    put(store, {"1.md": [[f"line {n} of the lantern" for n in range(300)]]})
    assert store.spellings(["zepelin"]) == set()
    assert "lantern" in store.spellings(["lantrn"])
    drop(store, "1.md")
    assert store._db.rows("SELECT * FROM words") == []
    store.close()


letters = st.text("abcd", max_size=6)


def distance(first: str, other: str) -> int:
    """Letters more, less or other, and pairs in the other order, between two words: the textbook's table."""
    table = {(i, -1): i + 1 for i in range(-1, len(first))} | {(-1, j): j + 1 for j in range(-1, len(other))}
    for i, a in enumerate(first):
        for j, b in enumerate(other):
            best = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b))
            if i and j and a == other[j - 1] and first[i - 1] == b:
                best = min(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return table[len(first) - 1, len(other) - 1]


@given(letters, letters)
@examples(400)
def test_one_slip_is_a_distance_of_one(first: str, other: str) -> None:
    assert is_one_slip(f"x{first}", f"x{other}") == (distance(first, other) == 1)


words = st.text(st.sampled_from("abcdeklmnoprstuабвгдежклмноп"), min_size=5, max_size=12)


@given(words, st.integers(0, 1000))
@examples(300)
def test_what_a_slip_makes_of_a_word_is_looked_up_by_half_of_it(word: str, salt: int) -> None:
    question = slips.misspelt(f"{salt} {word}")
    typed = analysis.fold_spelling(question.split()[1])
    if typed == word:
        return
    half = len(typed) // 2
    assert is_one_slip(typed, word)
    assert word.startswith(typed[:half]) or word.endswith(typed[half + 1 :])
