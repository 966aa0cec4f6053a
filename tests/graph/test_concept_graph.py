"""Which concepts there are, what joins them, and that neither depends on how the files were read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested, open_memory
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table

from openclaw_memory import Memory
from openclaw_memory.knowledge.concept_keys import concept_key, slug

NAMES = ("Zorblatt", "Quimby", "Marlowe", "Ticket QX-12", "Harbour Street", "wobble_board")

NOTES = {
    "memory/2026-01-05.md": "# Plan\n\n- We ask Zorblatt about the wobble_board.\n- Then Quimby signs.\n",
    "memory/2026-01-09.md": "# Visit\n\n- Saw Zorblatt at Harbour Street; he had the wobble_board.\n",
    "memory/2026-01-20.md": "# Later\n\n- Lunch with Quimby near Harbour Street.\n- Rain.\n",
    "memory/2026-02-01.md": "# Quiet\n\n- Nothing to tell.\n",
}


@pytest.fixture
def memory(notes: Notes) -> Iterator[Memory]:
    for path, text in NOTES.items():
        notes.write(path, text)
    with ingested(notes) as memory:
        yield memory


def picture(memory: Memory) -> dict[str, Any]:
    """Everything that the graph says, by names and lines rather than by numbers."""
    with memory._questions.graph() as view:
        network, corpus, references = view.network, view.corpus, view.index.references
        label = {place: found.slug for place, found in view.labels().items()}

        def line(row: int) -> str:
            path = corpus.documents[int(corpus.rows.document_id[row])].path
            return f"{path}:{corpus.rows.start_line[row]}"

        def entries(lists: Any, left: Any, right: Any) -> list[tuple[str, str, float]]:
            out = []
            for at in range(len(lists.offset) - 1):
                targets, weights = lists.row(at)
                out += [
                    (left(at), right(t), round(float(w), 4)) for t, w in zip(targets.tolist(), weights, strict=True)
                ]
            return sorted(out)

        def head(section: int) -> str:
            return line(int(network.first_row[section]))

        mentions = zip(references.concept.tolist(), references.row.tolist(), references.weight.tolist(), strict=True)
        return {
            "mentions": sorted((label[c], line(r), round(w, 4)) for c, r, w in mentions),
            "units": {label[c]: int(n) for c, n in enumerate(references.units)},
            "names": {label.slug: label.name for label in view.labels().values()},
            "related": entries(network.related, label.get, label.get),
            "after": entries(network.after, head, head),
            "before": entries(network.before, head, head),
            "parents": entries(network.parents, label.get, label.get),
        }


def test_what_several_units_name_is_a_concept_and_what_one_names_is_not(memory: Memory) -> None:
    rows = {row.name: row for row in memory.concepts.list().rows}
    assert {"Zorblatt", "Quimby", "Harbour Street", "wobble_board"} <= set(rows)
    assert not {"Lunch", "Rain", "Plan", "Visit", "Saw"} & set(rows)
    assert rows["Zorblatt"].units == 2
    assert str(rows["Zorblatt"].first) == "2026-01-05" and str(rows["Zorblatt"].last) == "2026-01-09"


def test_an_ingest_counts_what_the_written_units_name(memory: Memory, notes: Notes) -> None:
    assert memory.ingest().concepts_linked == 0
    notes.write("memory/2026-03-01.md", "# More\n\n- the `pump_rate` of Zorblatt and Quimby\n")
    assert memory.ingest().concepts_linked >= 3


def test_sections_of_a_shared_concept_follow_one_another_in_time_and_no_others(memory: Memory) -> None:
    after = {(a, b) for a, b, _ in picture(memory)["after"]}
    assert after == {
        ("memory/2026-01-05.md:1", "memory/2026-01-09.md:1"),
        ("memory/2026-01-05.md:1", "memory/2026-01-20.md:1"),
        ("memory/2026-01-09.md:1", "memory/2026-01-20.md:1"),
    }
    assert {(b, a) for a, b, _ in picture(memory)["before"]} == after


def test_what_is_mentioned_together_is_related_and_what_never_is_is_not(memory: Memory) -> None:
    related = {(a, b) for a, b, _ in picture(memory)["related"]}
    assert ("zorblatt", "wobble-board") in related and ("wobble-board", "zorblatt") in related
    assert ("wobble-board", "quimby") not in related  # once together is chance


def test_removing_a_file_removes_what_it_mentioned_and_every_edge_of_it(memory: Memory, notes: Notes) -> None:
    notes.remove("memory/2026-01-09.md")
    memory.ingest()
    now = picture(memory)
    assert not [entry for entry in now["mentions"] if "01-09" in entry[1]]
    assert not [edge for edge in now["after"] if "01-09" in edge[0] + edge[1]]
    assert "zorblatt" not in now["units"] and "quimby" in now["units"]
    store: Any = memory.store
    with store._db.read() as c:
        assert c.execute("SELECT count(*) FROM mentions WHERE unit_id NOT IN (SELECT id FROM units)").fetchone() == (0,)
        assert c.execute("SELECT count(*) FROM mentions WHERE text = 'Harbour Street'").fetchone() == (1,)


def test_a_unit_that_moves_to_another_file_takes_its_mentions_along(memory: Memory, notes: Notes) -> None:
    notes.write("memory/2026-01-09.md", "# Visit\n\n- Empty day.\n")
    notes.write("memory/2026-03-01.md", "# Moved\n\n- Saw Zorblatt at Harbour Street; he had the wobble_board.\n")
    memory.ingest()
    now = picture(memory)
    assert ("zorblatt", "memory/2026-03-01.md:3", 1.0) in now["mentions"]
    assert not [entry for entry in now["mentions"] if "2026-01-09" in entry[1]]


def test_a_linked_note_is_a_concept_that_leads_to_it(notes: Notes) -> None:
    notes.write("memory/2026-01-05.md", "# Day\n\n- the pump failed\n")
    notes.write("memory/report.md", "# Report\n\n- see [[2026-01-05]] for the cause\n")
    with ingested(notes) as memory:
        mentions = picture(memory)["mentions"]
    assert {line for name, line, _ in mentions if name == "2026-01-05"} == {
        "memory/2026-01-05.md:1",
        "memory/report.md:3",
    }


def test_front_matter_tags_hold_for_every_section(notes: Notes) -> None:
    text = "---\ntags: [irrigation]\n---\n\n# One\n\n- first\n\n# Two\n\n- second\n"
    notes.write("memory/a.md", text)
    with ingested(notes) as memory:
        assert [row.name for row in memory.concepts.list().rows] == ["irrigation"]
        hits = memory.search("second", mode="keyword", concepts=("irrigation",)).results
    assert "second" in hits[0].snippet


def test_a_tag_of_another_spelling_renames_its_concept(notes: Notes) -> None:
    text = "---\ntitle: Water\ntags: [{}]\n---\n\n- The first line.\n\n# Two\n\n- The second line.\n"
    notes.write("memory/a.md", text.format("valve"))
    with ingested(notes) as memory:
        assert picture(memory)["names"] == {"valve": "valve"}
        notes.write("memory/a.md", text.format("Valves"))
        memory.ingest()
        assert picture(memory)["names"] == {"valves": "Valves"}


WORDS = st.sampled_from([*NAMES, "the rain fell", "we met", "`pump_rate`", "[[Harbour Street]]", "#wobble"])
LINES = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: "- and then " + " and ".join(words))
BODIES = st.lists(LINES, min_size=1, max_size=4).map(lambda lines: "# Day\n\n" + "\n".join(lines) + "\n")


@examples(10)
@given(bodies=st.lists(BODIES, min_size=2, max_size=5), data=st.data())
def test_the_graph_does_not_depend_on_the_order_of_ingest_nor_on_detours(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[str], data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("order")
    paths = [f"memory/2026-01-{day:02}.md" for day in range(1, len(bodies) + 1)]
    at_once = Notes(root / "once")
    for path, body in zip(paths, bodies, strict=True):
        at_once.write(path, body)
    with ingested(at_once, name="once") as memory:
        wanted = picture(memory)
    step_by_step = Notes(root / "steps")
    order = data.draw(st.permutations(list(zip(paths, bodies, strict=True))))
    with open_memory(step_by_step, name="steps") as memory:
        for path, body in order:
            step_by_step.write(path, "# Detour\n\n- Zorblatt was here with Quimby and Marlowe\n")
            memory.ingest()
            picture(memory)  # so that the resident state has to follow each change
            step_by_step.write(path, body)
            memory.ingest()
        assert picture(memory) == wanted
    with open_memory(step_by_step, name="steps") as again:
        assert picture(again) == wanted


def test_what_goes_together_more_often_than_chance_is_related(notes: Notes) -> None:
    """Three pairs over forty days: one always together, one by chance, one that stands on the same words."""
    rnd = random.Random(4)
    for day in range(40):
        lines = ["- so it was" for _ in range(4)]
        if day % 5 == 0:
            lines += ["- they met Abelard today", "- and saw Benedek too"]
        lines += [f"- they called {name} today" for name in ("Cosima", "Dragan") if rnd.random() < 0.4]
        lines += ["- we asked Eudora Quill today" if day % 2 else "- we asked Eudora today"] if day % 4 == 0 else []
        notes.write(f"memory/2026-{day // 28 + 1:02}-{day % 28 + 1:02}.md", "# Meeting\n\n" + "\n".join(lines) + "\n")
    with ingested(notes) as memory:
        related = {(a, b): w for a, b, w in picture(memory)["related"]}
    assert 0.5 < related["abelard", "benedek"] == related["benedek", "abelard"] < 1
    assert ("cosima", "dragan") not in related
    assert ("eudora", "eudora-quill") not in related


def test_threads_are_chains_by_time_of_each_concept(notes: Notes) -> None:
    days = [3, 1, 9, 4, 7]
    for day in days:
        notes.write(
            f"memory/2026-01-{day:02}.md", f"# Note\n\n- so Zorblatt came on day {day}\n" + "- and so on\n" * 25
        )
    with ingested(notes) as memory:
        after = {(a, b) for a, b, _ in picture(memory)["after"]}
    ordered = [f"memory/2026-01-{day:02}.md:1" for day in sorted(days)]
    assert after == set(pairwise(ordered))


def test_adding_a_concept_links_existing_units_at_once(memory: Memory) -> None:
    made = memory.concepts.add("precipitation", aliases=["rain"], kind="weather")
    assert made.linked == 1
    (row,) = made.rows
    assert (row.name, row.kind, row.curated, row.units) == ("precipitation", "weather", True, 1)
    hits = memory.search("precipitation", mode="graph").results
    assert "Rain." in hits[0].snippet and hits[0].concepts[0] == "precipitation"


def test_an_alias_joins_what_was_found_under_both_names(memory: Memory) -> None:
    memory.concepts.add("Zorblatt", aliases=["Quimby"], kind="person")
    units = {row.name: row.units for row in memory.concepts.list().rows}
    assert units["Zorblatt"] == 4 and "Quimby" not in units


def test_a_removed_concept_stays_away_and_a_removed_curated_one_is_only_found(memory: Memory, notes: Notes) -> None:
    memory.concepts.remove("Zorblatt")
    assert "Zorblatt" not in {row.name for row in memory.concepts.list().rows}
    notes.write("memory/2026-03-09.md", "# More\n\n- again Zorblatt came\n")
    memory.ingest()
    assert "Zorblatt" not in {row.name for row in memory.concepts.list().rows}
    memory.concepts.add("Quimby", kind="person")
    memory.concepts.remove("Quimby")
    (row,) = [row for row in memory.concepts.list().rows if row.name == "Quimby"]
    assert not row.curated


@pytest.mark.parametrize("again", ["ZORBLATT", "Ｚｏｒｂｌａｔｔ", "Zorblatts", "Zorblatt's"])
def test_a_removed_concept_stays_away_in_any_spelling_and_in_another_index(
    memory: Memory, notes: Notes, again: str
) -> None:
    memory.concepts.remove("Zorblatt")
    plain = again.partition("'")[0]
    notes.write("memory/2026-03-09.md", f"# More\n\n- again we met {again} there\n- and #{plain} once more\n")
    memory.ingest()
    names = {row.name.casefold()[:4] for row in memory.concepts.list().rows}
    assert not names & {"zorb", "ｚｏｒｂ"}
    memory.close()
    for file in notes.root.parent.glob("index.duckdb*"):
        file.unlink()
    with ingested(notes) as rebuilt:
        assert {row.name.casefold()[:4] for row in rebuilt.concepts.list().rows} == names


def test_curated_concepts_outlive_the_index(memory: Memory, notes: Notes) -> None:
    memory.concepts.add("precipitation", aliases=["rain"], parents=["weather"])
    wanted = picture(memory)
    memory.close()
    for file in notes.root.parent.glob("index.duckdb*"):
        file.unlink()
    with ingested(notes) as again:
        assert picture(again) == wanted


def test_editing_the_file_by_hand_takes_effect_and_a_broken_file_changes_nothing(memory: Memory, notes: Notes) -> None:
    notes.write("concepts.yaml", "concepts:\n  precipitation: {name: precipitation, aliases: [rain]}\n")
    memory.ingest()
    assert "precipitation" in picture(memory)["units"]
    notes.write("concepts.yaml", "concepts: [\n")
    report = memory.ingest()
    assert [skip.path for skip in report.skipped] == ["concepts.yaml"]
    assert "precipitation" in picture(memory)["units"]
    notes.remove("concepts.yaml")
    assert memory.ingest().skipped == ()
    assert "precipitation" not in picture(memory)["units"]


def test_a_note_written_after_a_concept_was_curated_is_linked(memory: Memory, notes: Notes) -> None:
    memory.concepts.add("Kubernetes", aliases=["k8s"], kind="tool")
    notes.write("memory/2026-04-01.md", "# Cluster\n\n- moved the pods of k8s\n")
    memory.ingest()
    assert ("kubernetes", "memory/2026-04-01.md:3", 1.0) in picture(memory)["mentions"]


def test_children_are_found_by_their_parents(memory: Memory) -> None:
    memory.concepts.add("Zorblatt", parents=["person"])
    memory.concepts.add("person", parents=["being"])
    hits = memory.search("wobble_board", mode="keyword", concepts=("being",), max_results=10).results
    assert hits and all("Zorblatt" in hit.concepts for hit in hits)
    rows = {row.name: row for row in memory.concepts.list().rows}
    assert rows["person"].children == ("Zorblatt",) and rows["Zorblatt"].parents == ("person",)


@pytest.mark.parametrize(("same", "a", "b"), table("search_languages.tsv", "names with one key or another"))
def test_spellings_of_one_name_have_one_key_and_other_names_have_others(same: str, a: str, b: str) -> None:
    assert (concept_key(a) == concept_key(b) != 0) == (same == "same")


@given(st.text(max_size=40))
def test_a_slug_is_its_own_slug_and_has_the_key_of_its_name(name: str) -> None:
    made = slug(name)
    assert slug(made) == made
    assert bool(made) == bool(concept_key(name))
    if made:
        assert concept_key(made) == concept_key(name)


def test_an_index_of_an_older_extraction_is_read_again(memory: Memory, notes: Notes, tmp_path: Path) -> None:
    wanted = picture(memory)
    store: Any = memory.store
    with store._db.write() as c:
        c.execute("DELETE FROM mentions")
        c.execute("UPDATE meta SET value = 'older' WHERE key = 'extraction'")
    memory.close()
    with open_memory(notes) as again:
        report = again.ingest()
        assert (report.added, report.deleted) == (0, 0)
        assert picture(again) == wanted


@pytest.mark.parametrize(("line", "opening"), table("search_languages.tsv", "lines that a Latin name opens"))
def test_a_latin_name_that_opens_lines_of_another_script_is_a_concept(notes: Notes, line: str, opening: str) -> None:
    for day in range(1, 6):
        notes.write(f"memory/2026-03-0{day}.md", f"# 2026-03-0{day}\n\n{line.format(day)}\n\n{opening.format(day)}\n")
    notes.write("MEMORY.md", "- an English line\n\n- another one\n\n" * 30)
    with ingested(notes) as memory:
        assert "Mastodon" in {row.name for row in memory.concepts.list().rows}
