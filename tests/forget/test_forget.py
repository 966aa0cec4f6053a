"""Forgetting: what goes is gone from columns, bytes and our files, and no way leads it back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory, snippets
from forgetting import traces
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from states import content, noted, state_file
from summarising import summarised, tree, write
from tables import parts, table, yes

from openclaw_memory import Memory
from openclaw_memory.config.settings import data_dir
from openclaw_memory.errors import OpenClawMemoryError, RequestError
from openclaw_memory.forget.pending import lost_state, unfinished
from openclaw_memory.hookspecs import hookimpl
from openclaw_memory.model import ForgetReport, Origin, Unit

#: What is forgotten; no other text of the workspace has one of these words.
SECRET = "The vault of the bakery opens with 7714 zebra"
DAY = "memory/2026-02-16.md"


def database(notes: Notes) -> Path:
    return notes.root.parent / "index.duckdb"


def gone(notes: Notes, *texts: str) -> None:
    """Assert that no trace is left in the index or beside it."""
    assert traces(database(notes), *(texts or ("zebra", "vault of"))) == []


def filled(notes: Notes) -> None:
    """A workspace that says it once, beside much else."""
    notes.write("MEMORY.md", "# About\n\n- Mira likes tea in the evening.\n- Ben lives in Utrecht.\n")
    notes.write(
        DAY, f"# Monday\n\n- Bought milk at the market.\n- {SECRET}.\n\n## Later\n\n- Walked along the canal.\n"
    )
    notes.write("memory/2026-02-17.md", "# Tuesday\n\n- Bought milk at the market.\n- The zoo has a giraffe.\n")


def forgotten(memory: Memory, **named: Any) -> ForgetReport:
    """Forget something, and see that it says so."""
    report = memory.forget(**named)
    assert report.verified and not report.dry_run
    assert not unfinished(memory.state)
    return report


def announced(memory: Memory, **named: Any) -> ForgetReport:
    """Forget something, and see that it does what it announces."""
    preview = memory.forget(dry_run=True, **named)
    assert preview.dry_run and not preview.verified
    report = forgotten(memory, **named)
    assert report.texts == preview.texts
    assert (report.units, report.vectors, report.mentions, report.facts, report.files) == (
        preview.units,
        preview.vectors,
        preview.mentions,
        preview.facts,
        preview.files,
    )
    return report


# -- ways of naming it ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "named",
    [
        {"query": "vault zebra"},
        {"path": f"./{DAY}:4-4"},
        {"path": DAY},
        {"since": date(2026, 2, 16), "until": date(2026, 2, 16)},
    ],
    ids=str,
)
def test_each_way_of_naming_it_leaves_no_trace(notes: Notes, named: dict[str, Any]) -> None:
    filled(notes)
    with ingested(notes, CountingEmbedder()) as memory:
        assert any("zebra" in text for text in snippets(memory, "vault zebra"))
        report = announced(memory, **named)
        assert f"- {SECRET}." in [entry.text for entry in report.texts]
        assert report.vectors == report.units
        assert any(place.startswith(DAY) for place in report.remains)
        assert not any("zebra" in text for text in snippets(memory, "vault zebra bakery 7714"))
        assert [text for text in snippets(memory, "giraffe") if "giraffe" in text]
    gone(notes)
    assert SECRET in (notes.root / DAY).read_text()  # the person's own


def test_only_what_has_all_words_goes(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        report = memory.forget(query="milk market Tuesday", dry_run=True)
        assert not report.texts  # the heading above it has the last word, the line itself has not
        report = forgotten(memory, query="zoo giraffe")
        assert [entry.citation for entry in report.texts] == ["memory/2026-02-17.md#L4"]
        assert len(snippets(memory, "milk")) == 2


def test_a_dry_run_and_a_request_that_nothing_matches_change_nothing(notes: Notes) -> None:
    filled(notes)
    with ingested(notes) as memory:
        before = memory.store.state()
        report = memory.forget(query="vault zebra", dry_run=True)
        assert report.units == 1
        assert memory.store.state() == before
        assert "tombstones" not in noted(memory)
        assert not (notes.root / ".openclaw-memory").exists()
        assert snippets(memory, "vault zebra")
        report = memory.forget(query="nothing of the kind")
        assert not report.texts and not report.units and "tombstones" not in noted(memory)


def test_what_cannot_be_meant_is_refused(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        for named, message in (
            *table("forgetting.tsv", "what cannot be meant is refused", json.loads, str),
            ({"since": date(2026, 2, 2), "until": date(2026, 2, 1)}, "before since"),
        ):
            with pytest.raises(RequestError, match=message):
                memory.forget(**named)


def test_a_folder_goes_as_a_whole(notes: Notes) -> None:
    filled(notes)
    notes.write("memory/private/a.md", "# Plans\n\n- A giraffe of paper for Ben.\n")
    notes.write("memory/private/b.md", "- Another elephant of paper.\n")
    with open_memory(notes) as memory:
        report = forgotten(memory, path="memory/private/")
        assert report.remains == ("memory/private/a.md", "memory/private/b.md")
        assert snippets(memory, "paper") == []
        assert snippets(memory, "zoo giraffe")
    gone(notes, "of paper")


def test_days_are_those_that_the_text_states(notes: Notes) -> None:
    notes.write("memory/plans.md", "# Plans\n\n- Undated giraffe.\n\n## 2026-02-16\n\n- Dated elephant came here.\n")
    with open_memory(notes) as memory:
        report = forgotten(memory, since=date(2000, 1, 1))
        assert [entry.text for entry in report.texts] == ["- Dated elephant came here."]
        assert snippets(memory, "giraffe")
        hits = memory.search("2026-02-16 plans", mode="keyword").results
        assert hits  # what merely states a day is nothing to forget
    gone(notes, "elephant")


# -- copies and other dress -------------------------------------------------------------------------


def test_copies_go_with_it_and_are_listed(notes: Notes) -> None:
    filled(notes)
    notes.write(
        "memory/old/backup.md", f"# Copy\n\n* [x] 10:15 Mira: **{SECRET.upper()}**!\n- Something else entirely.\n"
    )
    notes.write("memory/letter.md", "I wrote that the vault of the\nbakery opens with\n7714 zebra, and went to bed.\n")
    with open_memory(notes, CountingEmbedder()) as memory:
        report = announced(memory, path=f"{DAY}#L4")
        listed = {entry.citation for entry in report.texts}
        assert f"{DAY}#L4" in listed and "memory/old/backup.md#L3" in listed
        assert any(place.startswith("memory/letter.md") for place in listed)
        assert {"memory/old/backup.md#L3", f"{DAY}#L4"} <= set(report.remains)
        assert any("entirely" in text for text in snippets(memory, "something entirely"))
        assert any("went to bed" in text for text in snippets(memory, "went bed"))
    gone(notes)


def test_what_other_notes_have_too_stays_there(notes: Notes) -> None:
    form = "# Day\n\n## What did I learn today?\n\n- {}\n- Drink a glass of water\n- [ ] Stretch\n"
    for day in range(1, 8):
        notes.write(f"memory/2026-03-0{day}.md", form.format(f"learned number {day} about giraffes"))
    with open_memory(notes) as memory:
        report = forgotten(memory, path="memory/2026-03-04.md")
        assert "other notes too have " in (report.warning or "")
        assert {entry.citation.partition("#")[0] for entry in report.texts} == {"memory/2026-03-04.md"}
        hits = memory.search("drink glass water", mode="keyword", max_results=50).results
        assert {hit.path for hit in hits} == {f"memory/2026-03-0{day}.md" for day in range(1, 8) if day != 4}
        assert all("learn today" in hit.heading for hit in hits)
        # A later change lets the file in again, but for what was forgotten of it.
        notes.write("memory/2026-03-04.md", form.format("learned number 4 about giraffes") + "- Saw an elephant\n")
        assert snippets(memory, "elephant")
        hits = memory.search("learn giraffes water stretch", mode="keyword", max_results=50).results
        assert not [hit for hit in hits if hit.path == "memory/2026-03-04.md"]
    gone(notes, "number 4")


def test_what_is_short_stays_as_a_part_of_something_longer(notes: Notes) -> None:
    notes.write("memory/a.md", "- Had lunch with Mira.\n- Bus 7714\n- Bread\n")
    notes.write("memory/b.md", "- Had lunch with Mira and Ben.\n- The Bus 7714 is old.\n- Bread is good.\n")
    with open_memory(notes) as memory:
        forgotten(memory, path="memory/a.md")
        texts = [text for text in snippets(memory, "lunch Mira Ben") if "lunch" in text]
        assert texts == ["- Had lunch with Mira and Ben.\n- The Bus 7714 is old.\n- Bread is good."]
        notes.write("memory/c.md", "# Bread\n\n* had lunch with mira!\n* bus 7714\n* Had lunch with Mira today.\n")
        hits = memory.search("lunch Mira Ben bus bread", mode="keyword", max_results=20).results
        text = "\n".join(hit.snippet for hit in hits)
        assert "Bread" in text and "Mira today" in text and "bus 7714" not in text and "mira!" not in text
        # Named itself it goes from everywhere.
        forgotten(memory, query="lunch with Mira")
        hits = memory.search("lunch Mira Ben", mode="keyword", max_results=20).results
        assert not [hit for hit in hits if "unch with Mira" in hit.snippet]
    gone(notes, "lunch with Mira")


@pytest.mark.parametrize(
    ("query", "name", "concept", "spelling"), table("forgetting.tsv", "names that still hold it are told")
)
def test_names_that_still_hold_it_are_told(notes: Notes, query: str, name: str, concept: str, spelling: str) -> None:
    notes.write(f"memory/{name}.md", f"# Plans\n\n- We saw {query} at the zoo.\n- A lamp.\n")
    notes.write("memory/lamp.md", "- Another lamp.\n")
    with open_memory(notes) as memory:
        memory.concepts.add(concept, aliases=[] if spelling == concept else ["another", spelling])
        memory.concepts.add("Lamp")
        for report in (memory.forget(query=query, dry_run=True), memory.forget(query=query)):
            called = [place for place in report.remains if place.endswith(")")]
            assert called == [f"memory/{name}.md (its name)", f"concepts.yaml (the concept {concept})"]
        assert report.verified
        memory.concepts.remove(concept)
        shutil.move(notes.root / f"memory/{name}.md", notes.root / "memory/other.md")
        assert memory.forget(query=query).remains == ()


@pytest.mark.parametrize(("query", "is_named"), [("memory", False), ("2026", True)])
def test_of_words_that_every_path_has_no_file_is_named(notes: Notes, query: str, is_named: bool) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        remains = memory.forget(query=query, dry_run=True).remains
        assert any(place.endswith("(its name)") for place in remains) is is_named


def test_what_goes_is_not_told_as_what_stays(notes: Notes) -> None:
    notes.write("MEMORY.md", "- Project Falcon starts soon.\n- Lunch was late.\n")
    notes.write(
        "concepts.yaml",
        "# The falcon flies.\nconcepts:\n  falcon: {aliases: [k7]}\n  k8: {aliases: [red falcon]}\nignore: [the falcon]\n",
    )
    with open_memory(notes) as memory:
        memory.facts.add("Falcon", "belongs to", "Mira")
        (other,) = memory.facts.add("Red falcon", "belongs to", "Ben").rows
        wanted = {
            "concepts.yaml (the concept k8)", "concepts.yaml (the ignored name the falcon)",
            f"facts.yaml (the fact {other.id})", "concepts.yaml#L1",
        }  # fmt: skip
        for report in (memory.forget(concept="falcon", dry_run=True), memory.forget(concept="falcon")):
            assert {place for place in report.remains if "yaml" in place} == wanted


def test_a_name_without_spaces_in_it_goes_from_everywhere(notes: Notes) -> None:
    notes.write("memory/a.md", "- 斑马项目的秋季计划会议\n- 我们在河边看到了一只红色的小鸟。\n")
    with open_memory(notes) as memory:
        forgotten(memory, query="斑马项目的秋季计划会议")
        notes.write("memory/b.md", "- 我们讨论了斑马项目的秋季计划会议的事情。\n- 我们在桥上。\n")
        memory.ingest()
        assert any("桥上" in text for text in snippets(memory, "我们"))
    gone(notes, "斑马项目的秋季计划会议")


@pytest.mark.parametrize(("query", "lines"), table("forgetting.tsv", "a name goes however it is written", str, parts))
def test_a_name_goes_however_it_is_written(notes: Notes, query: str, lines: list[str]) -> None:
    notes.write("memory/a.md", f"- {lines[0]}\n- The pump is green.\n")
    notes.write("memory/b.md", f"- {lines[1]}\n")
    with open_memory(notes) as memory:
        report = forgotten(memory, query=query)
        assert sorted(entry.text for entry in report.texts) == sorted(f"- {line}" for line in lines)
        assert snippets(memory, "pump")
    gone(notes, *lines)


def test_copies_of_a_file_do_not_make_it_common(notes: Notes) -> None:
    text = "# Trip\n\n" + "".join(f"- On stop {n} we saw the harbour of town {n}.\n" for n in range(6))
    for name in ("a", "b", "c", "d", "e"):
        notes.write(f"memory/{name}.md", text)
    with open_memory(notes) as memory:
        report = forgotten(memory, path="memory/c.md")
        assert {entry.citation.partition("#")[0] for entry in report.texts} >= {f"memory/{name}.md" for name in "abcde"}
        assert snippets(memory, "harbour") == []
    gone(notes, "harbour")


def test_it_does_not_come_back_from_a_file_or_with_a_new_index(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        forgotten(memory, path=DAY)
        notes.touch(DAY)
        shutil.copy(notes.root / DAY, notes.root / "memory/copy.md")
        memory.ingest()
        assert not any("zebra" in text for text in snippets(memory, "vault zebra bakery"))
        notes.move(DAY, "memory/other.md")
        notes.write("memory/x.md", "Then:  the vault\nof the bakery opens\n  with 7714  zebra; *so what*.\n")
        notes.write("MEMORY.md", f"# About\n\n1. {SECRET}\n")
        notes.write(DAY, (notes.root / "memory/other.md").read_text() + "- Later that day we went home.\n")
        memory.ingest()
        assert not any("zebra" in text for text in snippets(memory, "vault zebra bakery"))
        assert snippets(memory, "went home")
    gone(notes)
    for file in notes.root.parent.glob("index.duckdb*"):
        file.unlink()
    with open_memory(notes) as memory:
        assert snippets(memory, "giraffe")
        assert not any("zebra" in text for text in snippets(memory, "vault zebra bakery"))
    gone(notes)


def test_reading_the_file_does_not_show_it(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        forgotten(memory, query="vault zebra")
        shown = memory.get(DAY)
        assert shown.text.split("\n")[3] == "- [forgotten]"
        assert shown.lines == 8
        assert memory.get(f"{DAY}#L4").text == "- [forgotten]"
        forgotten(memory, path=DAY)
        assert memory.get(DAY).text.strip() == "[forgotten]"


def test_secrets_of_what_was_forgotten_are_not_shown_either(notes: Notes) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    notes.write(DAY, f"- Bought milk.\n- The giraffe opens the gate with {secret} each day.\n")
    with ingested(notes) as memory:
        assert snippets(memory, "giraffe gate") and secret not in memory.get(DAY).text
        report = forgotten(memory, query="giraffe gate")
        assert "redacted" in report.texts[0].text
        assert memory.get(DAY).text == "- Bought milk.\n- [forgotten]"
    gone(notes, "giraffe", secret)


def test_what_a_plugin_makes_of_a_text_is_forgotten_as_it_is_written(notes: Notes) -> None:
    class Upper:
        @hookimpl
        def openclaw_memory_prepare_unit(self, unit: Unit) -> Unit:
            return replace(unit, text=unit.text.replace("giraffe", "animal of the long neck"))

    notes.write(DAY, "- Bought milk.\n- The giraffe opens the gate of the zoo.\n")
    with open_memory(notes, plugins=[Upper()]) as memory:
        forgotten(memory, query="long neck")
        notes.write("memory/copy.md", "- The giraffe opens the gate of the zoo.\n- Bread.\n")
        assert not [text for text in snippets(memory, "neck gate zoo") if "gate" in text]
        assert memory.get(DAY).text == "- Bought milk.\n- [forgotten]"
    gone(notes, "long neck", "giraffe")


def test_headings_front_matter_and_tags_go_too(notes: Notes) -> None:
    notes.write(
        "memory/case.md",
        "---\ntitle: Divorce papers of Mira Zebra\ntags: [zebra, court]\norigin: untrusted\n---\n"
        "# Work\n\n## Divorce papers of Mira Zebra\n\n- Went to court #zebra on foot.\n- Bought a lamp.\n",
    )
    notes.write("memory/other.md", "- The court is next to the lamp shop.\n")
    with ingested(notes, CountingEmbedder()) as memory:
        report = forgotten(memory, query="zebra")
        assert report.mentions
        (hit,) = memory.search("bought lamp", mode="keyword", max_results=1).results
        assert hit.heading == "Work > […]"
        assert hit.origin is Origin.UNTRUSTED
        assert not [row for row in memory.concepts.list().rows if "zebra" in row.slug]
    gone(notes, "zebra", "divorce")


# -- summaries and captures -------------------------------------------------------------------------


#: Room enough that the sentence is in the summaries of each grain but the year's.
ROOM = {"daily": 150, "weekly": 500, "monthly": 900, "quarterly": 1200, "yearly": 60}


def _with_summaries(notes: Notes) -> None:
    for day in range(14, 19):
        write(notes, date(2026, 2, day))
    text = (notes.root / DAY).read_text()
    notes.write(DAY, f"{text}- Lesson learned: {SECRET.lower()}, says Mira #vaults\n")


def test_summaries_lose_their_sentences_and_are_made_anew(notes: Notes) -> None:
    _with_summaries(notes)
    with summarised(notes, consolidate__budgets=ROOM) as memory:
        memory.consolidate(now=_later())
        assert [path for path, data in tree(notes).items() if b"zebra" in data]
        report = announced(memory, query="zebra vault")
        assert report.summary_sentences
        assert {path for path in report.edited if "/daily/" in path} == {"memory/consolidated/daily/2026-02-16.md"}
        assert not [path for path, data in tree(notes).items() if b"zebra" in data or b"vaults" in data]
        assert not any(info.edited for info in memory.store.summaries())
        again = memory.consolidate(now=_later())
        assert set(again.rebuilt) >= {path for path in report.edited if path in again.rebuilt} and again.rebuilt
        made = tree(notes)
        assert not [path for path, data in made.items() if b"zebra" in data or "…".encode() in data]
        assert memory.consolidate(now=_later()).created == ()
        # They are what they would be if it had never been there.
        shutil.rmtree(notes.root / "memory/consolidated")
        memory.consolidate(now=_later())
        assert tree(notes) == made
    gone(notes)


def _later() -> date:
    return date(2030, 1, 1)


def test_an_edited_summary_loses_it_and_stays_edited(notes: Notes) -> None:
    _with_summaries(notes)
    weekly = "memory/consolidated/weekly/2026-W08.md"
    with summarised(notes, consolidate__budgets=ROOM) as memory:
        memory.consolidate(now=_later())
        text = (notes.root / weekly).read_text()
        by_hand = "- I never liked that the vault of the bakery opens with 7714 zebra, honestly\n- My own remark about lamps\n"
        notes.write(weekly, text + by_hand)
        report = forgotten(memory, query="zebra vault")
        assert weekly in report.edited
        now = (notes.root / weekly).read_text()
        assert "zebra" not in now and "My own remark about lamps" in now
        assert len(now.splitlines()) == len((text + by_hand).splitlines())
        assert weekly in memory.consolidate(now=_later()).kept
        assert [info.path for info in memory.store.summaries() if info.edited] == [weekly]
        # Put back by a person it is still not read.
        notes.write(weekly, text + by_hand)
        memory.consolidate(now=_later())
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))
        assert not [path for path, data in tree(notes).items() if b"zebra" in data and path != weekly]
    gone(notes)


def test_what_a_summary_says_in_other_words_goes_with_its_source(notes: Notes) -> None:
    _with_summaries(notes)
    weekly = "memory/consolidated/weekly/2026-W08.md"
    line = len((notes.root / DAY).read_text().splitlines())
    with summarised(notes, consolidate__budgets=ROOM) as memory:
        memory.consolidate(now=_later())
        text = (notes.root / weekly).read_text()
        notes.write(
            weekly, f"{text}- Mira told how to get at the bread money [{DAY}#L{line}]\n- Mira bakes [{DAY}#L5]\n"
        )
        report = forgotten(memory, query="zebra vault")
        assert any("bread money" in entry.text for entry in report.texts)
        now = (notes.root / weekly).read_text()
        assert "bread money" not in now and "Mira bakes" in now
    gone(notes, "bread money")


def test_a_deleted_note_is_forgotten_in_its_summaries(notes: Notes) -> None:
    _with_summaries(notes)
    with summarised(notes, consolidate__budgets=ROOM) as memory:
        memory.consolidate(now=_later())
        notes.remove(DAY)
        memory.ingest()
        report = forgotten(memory, path=DAY)
        assert report.summary_sentences and not report.remains
        assert not [path for path, data in tree(notes).items() if b"zebra" in data]
    gone(notes)


def test_captures_lose_it_and_keep_their_lines(notes: Notes) -> None:
    filled(notes)
    capture = "memory/captures/2026-02-16.md"
    notes.write(
        capture, f"# Captures\n\n- User: {SECRET}.\n- Assistant: Noted. {SECRET}, I will keep it.\n- User: Tea.\n"
    )
    notes.write("memory/captures-of-mine.md", f"- {SECRET}\n")
    with open_memory(notes) as memory:
        report = forgotten(memory, query="zebra vault")
        assert capture in report.edited
        lines = (notes.root / capture).read_text().splitlines()
        assert lines[0] == "# Captures" and lines[2] == "" and lines[4] == "- User: Tea."
        assert "zebra" not in "".join(lines)
        assert not any(place.startswith("memory/captures/") for place in report.remains)
        assert "memory/captures-of-mine.md" in report.remains
    gone(notes)


# -- facts and concepts -----------------------------------------------------------------------------


def test_a_stated_fact_goes_from_its_file_and_its_note(notes: Notes) -> None:
    filled(notes)
    notes.write("memory/2026-02-18.md", "- The giraffe of Ben is called Zebulon.\n- Ben went home.\n")
    with open_memory(notes) as memory:
        (fact,) = memory.facts.add("Ben", "has a pet", "Zebulon", source="memory/2026-02-18.md#L1").rows
        memory.facts.add("Ben", "likes", "tea")
        report = announced(memory, fact=fact.id)
        assert "memory/2026-02-18.md#L1" in report.remains and "facts.yaml" in report.edited
        assert [row.object for row in memory.facts.query(subject="Ben", predicate="likes", history=True).rows] == [
            "tea"
        ]
        assert not memory.facts.query(object="Zebulon", history=True).rows
        assert "Zebulon" not in (notes.root / "facts.yaml").read_text()
        assert any("went home" in text for text in snippets(memory, "Ben home"))
        # Stated anew it is known again; put back as it was it is not.
        assert memory.facts.add("Ben", "has a pet", "Zebulon").added == 1
    with open_memory(notes, name="other") as memory:
        assert memory.facts.query(object="Zebulon").rows


@pytest.mark.parametrize("change", ["update", "remove"])
def test_entries_that_are_put_back_stay_out_when_others_change(notes: Notes, change: str) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        (other,) = memory.facts.add("Ben", "likes", "tea").rows
        (fact,) = memory.facts.add("Mira", "said", SECRET).rows
        before = (notes.root / "facts.yaml").read_bytes()
        forgotten(memory, fact=fact.id)
        notes.write("facts.yaml", before)
        if change == "update":
            memory.facts.update(other.id, object="milk")
        else:
            memory.facts.remove(other.id)
        notes.touch("facts.yaml")
        memory.facts.add("Olu", "likes", "bread")
        stated = [row for row in memory.facts.query(history=True).rows if row.rule == "stated"]
        assert {row.subject for row in stated} == {"Ben", "Olu"}
        assert not memory.sql("SELECT * FROM facts WHERE object LIKE '%zebra%'").rows
        memory.ingest()
    assert not [place for place in traces(database(notes), "zebra") if place.startswith("stated_facts")]


def test_entries_that_are_put_back_with_an_older_index_stay_out(notes: Notes) -> None:
    filled(notes)
    kept = notes.root.parent / "kept"
    kept.mkdir()
    with open_memory(notes) as memory:
        (row,) = memory.facts.add("Mira", "said", SECRET).rows
        memory.facts.query()
    for file in (database(notes), notes.root / "facts.yaml"):
        shutil.copy2(file, kept)
    with open_memory(notes) as memory:
        forgotten(memory, fact=row.id)
    shutil.copy2(kept / database(notes).name, database(notes))
    shutil.copy2(kept / "facts.yaml", notes.root)  # with the size and time that the index remembers
    with open_memory(notes) as memory:
        assert not memory.facts.query(subject="Mira", predicate="said", history=True).rows
    assert not [place for place in traces(database(notes), "zebra") if place.startswith("stated_facts")]


def test_what_was_forgotten_is_not_stated_again(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        (other,) = memory.facts.add("Mira", "says", "nothing").rows
        forgotten(memory, query="vault zebra")
        before = (notes.root / "facts.yaml").read_bytes()
        first = {"action": "add", "subject": "Ben", "predicate": "likes", "object": "tea"}
        for second in (
            {"action": "add", "subject": "Mira", "predicate": "said", "object": SECRET},
            {"action": "update", "id": other.id, "object": SECRET},
        ):
            with pytest.raises(RequestError, match=r"operation 2: .*was forgotten"):
                memory.facts.batch([first, second])
            assert (notes.root / "facts.yaml").read_bytes() == before


def test_what_a_forgotten_fact_replaced_does_not_hold_again(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.facts.add("Olu", "lives in", "Ghent", since=date(2020, 1, 1))
        (new,) = memory.facts.add("Olu", "lives in", "Zebraville", since=date(2024, 5, 1)).rows
        forgotten(memory, fact=new.id)
        assert memory.facts.query(subject="Olu").rows == ()
        (old,) = memory.facts.query(subject="Olu", history=True).rows
        assert (old.object, old.valid_to) == ("Ghent", date(2024, 5, 1))
        assert "Zebraville" not in (notes.root / "facts.yaml").read_text()
    gone(notes, "zebraville")


def test_a_found_fact_goes_with_the_units_that_state_it(notes: Notes) -> None:
    filled(notes)
    with ingested(notes) as memory:
        (row,) = memory.facts.query(subject="Ben", predicate="lives in").rows
        report = forgotten(memory, fact=row.id)
        assert report.facts == 1 and report.remains == ("MEMORY.md#L4",)
        assert not memory.facts.query(subject="Ben", history=True).rows
        assert snippets(memory, "Mira tea")
    gone(notes, "utrecht")


def test_facts_that_cite_it_go_with_it(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        memory.facts.add("Mira", "knows", "the way to the bread money", source=f"{DAY}#L4")
        memory.facts.add("Mira", "buys", "milk", source=f"{DAY}#L3")
        report = forgotten(memory, path=f"{DAY}#L4")
        assert report.facts >= 1
        assert [row.object for row in memory.facts.query(subject="Mira", predicate="buys").rows] == ["milk"]
        assert not memory.facts.query(predicate="knows", history=True).rows
    gone(notes, "bread money")


def test_hand_written_entries_and_comments_go_and_the_rest_stays(notes: Notes) -> None:
    filled(notes)
    text = (
        "# my facts\n# the vault of the bakery opens with 7714 zebra\n"
        "- {subject: Mira, predicate: said, object: the vault of the bakery opens with 7714 zebra}\n"
        "- subject: Ben   # a friend\n  predicate: likes\n  object: tea\n"
    )
    notes.write("facts.yaml", text)
    with open_memory(notes) as memory:
        report = forgotten(memory, query="zebra vault")
        assert "facts.yaml" in report.edited
        assert (notes.root / "facts.yaml").read_text() == (
            "# my facts\n- subject: Ben   # a friend\n  predicate: likes\n  object: tea\n"
        )
        assert [row.object for row in memory.facts.query(subject="Ben", predicate="likes").rows] == ["tea"]
    gone(notes)


def test_a_broken_file_is_said_before_anything_is_done(notes: Notes) -> None:
    filled(notes)
    notes.write("facts.yaml", "- {subject: Mira\n")
    with open_memory(notes) as memory, pytest.raises(OpenClawMemoryError, match=r"facts\.yaml"):
        memory.forget(query="zebra vault")
    with open_memory(notes) as memory:
        assert "tombstones" not in noted(memory)


def test_a_concept_goes_with_all_that_mentions_it(notes: Notes) -> None:
    filled(notes)
    notes.write(
        "memory/falcon.md",
        "---\ntags: [falcon, rocketry]\n---\n# Rockets\n\n- Project Falcon starts soon.\n- Lunch was late.\n"
        "- We asked k7 for money.\n\n## Falcon\n\n- Ben paints the fins.\n",
    )
    with open_memory(notes) as memory:
        memory.concepts.add("Falcon", aliases=["k7"], parents=["Rocketry"])
        memory.facts.add("Falcon", "belongs to", "Mira")
        report = announced(memory, concept="falcon")
        texts = [entry.text for entry in report.texts]
        assert "- Project Falcon starts soon." in texts and "- We asked k7 for money." in texts and "## Falcon" in texts
        assert "- Lunch was late." not in texts and "- Ben paints the fins." not in texts
        assert {"concepts.yaml", "facts.yaml"} <= set(report.edited)
        assert "alcon" not in (notes.root / "concepts.yaml").read_text()
        assert "rocketry" in (notes.root / "concepts.yaml").read_text().lower()
        assert any("fins" in text for text in snippets(memory, "Ben fins"))
        with pytest.raises(RequestError):
            memory.forget(concept="falcon")
        # It may be curated again; what was forgotten stays so.
        memory.concepts.add("Falcon")
        with pytest.raises(RequestError, match="was forgotten"):
            memory.concepts.add("Moon", aliases=["Project Falcon starts soon"])
        assert not snippets(memory, "starts soon")
    gone(notes, "project falcon", "asked k7")


# -- what is known of use, and what is kept in memory ------------------------------------------------


def test_records_of_use_and_questions_are_dropped(notes: Notes) -> None:
    filled(notes)
    counting = CountingEmbedder()
    with ingested(notes, counting) as memory:
        (secret, *_) = memory.search("vault zebra bakery", max_results=1).results
        (other, *_) = memory.search("zoo giraffe", max_results=1).results
        memory.usage.shown([secret], date(2026, 3, 1))
        memory.feedback(secret.id, "useful")
        memory.feedback(other.id, "useful")
        count = len(counting.questions)
        memory.search("zoo giraffe")
        assert len(counting.questions) == count  # it is kept
        report = forgotten(memory, query="zebra vault")
        assert report.access_records == 1
        days = memory.usage.last_days()
        assert secret.id not in days and other.id in days
        assert secret.id.encode() not in content(state_file())
        memory.search("zoo giraffe")
        assert len(counting.questions) == count + 1


# -- what is not in the index, and what is only alike -----------------------------------------------

RETIRED_DAY = "memory/2026-02-18.md"


def _retired(notes: Notes) -> None:
    """A note that is retired, of which the summary leaves out what is to be forgotten."""
    for day in (16, 18, 19):
        write(notes, date(2026, 2, day))
    text = (notes.root / RETIRED_DAY).read_text()
    notes.write(RETIRED_DAY, f"{text}\n- The vault has a zebra.\n- Ben lives in Zebraville.\n")
    notes.write("MEMORY.md", "- Mira likes tea in the evening.\n- Ben lives in Zebraville.\n")


@pytest.mark.parametrize(
    "named",
    [
        {"query": "vault zebra"},
        {"since": date(2026, 2, 18), "until": date(2026, 2, 18)},
    ],
    ids=str,
)
def test_what_is_said_in_a_retired_note_is_forgotten_too(notes: Notes, named: dict[str, Any]) -> None:
    _retired(notes)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=date(2026, 3, 3))
        assert RETIRED_DAY not in memory.store.documents().by_path
        assert "The vault has a zebra." not in "".join(data.decode() for data in tree(notes).values())
        report = forgotten(memory, **named)
        assert "- The vault has a zebra." in [entry.text for entry in report.texts]
        assert memory.get(RETIRED_DAY).text.count("zebra") == 0
    with summarised(notes) as memory:  # a plan that keeps everything brings the note back
        memory.ingest()
        assert RETIRED_DAY in memory.store.documents().by_path
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))
    gone(notes, "vault has")


def test_a_fact_is_forgotten_in_a_retired_note_too(notes: Notes) -> None:
    _retired(notes)
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=date(2026, 3, 3))
        with pytest.raises(RequestError, match="no concept is called 'Giraffe'"):
            memory.forget(concept="Giraffe")
        (row,) = memory.facts.query(subject="Ben", predicate="lives in").rows
        report = announced(memory, fact=row.id)
        assert any(entry.citation.startswith(RETIRED_DAY) for entry in report.texts)
        assert not [entry for entry in report.texts if "vault" in entry.text]
    with summarised(notes) as memory:
        assert not memory.facts.query(subject="Ben", history=True).rows
        assert any("vault" in text for text in snippets(memory, "vault zebra", include_archived=True))
    gone(notes, "zebraville")


def test_other_words_for_a_sentence_of_a_retired_note_go_with_it(notes: Notes) -> None:
    _retired(notes)
    line = (notes.root / RETIRED_DAY).read_text().splitlines().index("- The vault has a zebra.") + 1
    weekly = "memory/consolidated/weekly/2026-W08.md"
    with summarised(notes, retention__plan="free") as memory:
        memory.consolidate(now=date(2026, 3, 3))
        text = (notes.root / weekly).read_text()
        notes.write(weekly, f"{text}- An animal guards the money [{RETIRED_DAY}#L{line}]\n")
        report = forgotten(memory, query="vault zebra")
        assert any("animal guards" in entry.text for entry in report.texts)
        assert "animal guards" not in (notes.root / weekly).read_text()
    gone(notes, "animal guards")


def test_a_summary_as_a_whole_is_no_thing_to_forget(notes: Notes) -> None:
    _with_summaries(notes)
    daily = "memory/consolidated/daily/2026-02-16.md"
    with summarised(notes, consolidate__budgets=ROOM) as memory:
        memory.consolidate(now=_later())
        before = tree(notes)
        for path in (daily, "memory/consolidated/daily", "memory/consolidated/"):
            with pytest.raises(RequestError, match="is made from notes; forget those"):
                memory.forget(path=path)
        assert "tombstones" not in noted(memory) and tree(notes) == before
        lines = before[daily].decode().splitlines()
        line = next(at for at, text in enumerate(lines, start=1) if "zebra" in text)
        assert forgotten(memory, path=f"{daily}#L{line}").summary_sentences
        # What a person has written may go as a whole.
        notes.write(daily, (notes.root / daily).read_text() + "- My own remark about lamps\n")
        assert any("remark" in entry.text for entry in forgotten(memory, path=daily).texts)
    gone(notes, "zebra", "own remark")


def test_front_matter_of_which_nothing_is_left_says_nothing(notes: Notes) -> None:
    notes.write("memory/case.md", "---\nzebra: [vault\n---\n- Bought a lamp.\n")
    notes.write("memory/court.md", "---\ntitle: The vault of the zebra: a tale\n---\n- Bought a chair.\n")
    with ingested(notes) as memory:
        forgotten(memory, query="vault zebra")
        texts = [text for _, text in _texts(memory)]
        assert sorted(set(texts)) == ["- Bought a chair.", "- Bought a lamp."]
    gone(notes)


# -- the state --------------------------------------------------------------------------------------


def test_the_state_is_all_that_is_kept_and_says_nothing_and_its_loss_is_said(notes: Notes) -> None:
    filled(notes)
    damaged = notes.root.parent / "index.duckdb.damaged-20260101-000000"
    damaged.write_text("old")
    with open_memory(notes) as memory:
        assert any(str(damaged) in place for place in forgotten(memory, query="zebra vault").remains)
        assert noted(memory) == {"tombstones"} and lost_state(memory.store, memory.forgotten) is None
        key = memory.state.key()
    kept = content(state_file())
    assert b"zebra" not in kept.lower() and DAY.encode() not in kept
    assert key not in kept and key.hex().encode() not in kept
    state_file().unlink()
    with open_memory(notes) as memory:
        assert "put it back" in (lost_state(memory.store, memory.forgotten) or "")
        assert not any("zebra" in text for text in snippets(memory, "vault zebra"))


# -- whatever is forgotten ---------------------------------------------------------------------------

#: None of them is in a list of seed phrases, of which redaction would take a column for one.
WORDS = "lantern kettle barge pebbles gravel ferries willow thistle harbour cellar plums geese oars ropes tiles".split()
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=4, max_size=7).map(lambda words: f"{' '.join(words)}.")


@examples(8)
@given(st.lists(st.lists(SENTENCE, min_size=1, max_size=4), min_size=2, max_size=4), st.data())
def test_unrelated_texts_stay(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], data: st.DataObject
) -> None:
    notes = Notes(tmp_path_factory.mktemp("unrelated") / "workspace")
    for at, sentences in enumerate(files):
        notes.write(f"memory/{at}.md", "".join(f"- {sentence}\n" for sentence in sentences))
    chosen = data.draw(st.integers(0, len(files) - 1))
    line = data.draw(st.integers(1, len(files[chosen])))
    away = files[chosen][line - 1].rstrip(".")
    with ingested(notes) as memory:
        before = _texts(memory)
        memory.forget(path=f"memory/{chosen}.md#L{line}")
        after = _texts(memory)
    assert all(text.strip("- .") != away for _, text in after)
    expected = {(path, text) for path, text in before if f" {away}" not in f" {text}".replace("- ", " ")}
    assert expected <= after


def _texts(memory: Memory) -> set[tuple[str, str]]:
    rows = memory.sql("SELECT path, text FROM memories").rows
    return {(str(path), str(text)) for path, text in rows}


@pytest.mark.parametrize(
    ("text", "longer", "stays"),
    table("forgetting.tsv", "a few words stay inside of longer sentences and a sentence goes", str, str, yes),
)
def test_a_few_words_of_a_script_without_spaces_stay_inside_of_longer_sentences_and_a_sentence_goes(
    notes: Notes, text: str, longer: str, stays: bool
) -> None:
    notes.write(DAY, f"- {text}。\n- Bought milk.\n")
    with open_memory(notes) as memory:
        memory.forget(path=f"{DAY}#L1")
        notes.write("memory/2026-02-17.md", f"- {longer}\n")
        memory.ingest()
        texts = [row for _, row in _texts(memory)]
        assert any(text in row for row in texts) is any(longer in row for row in texts) is stays
        assert not any(row.strip("- 。") == text for row in texts)


def test_lines_below_a_heading_that_goes_are_named(notes: Notes) -> None:
    people = "# People\n\n### Ada Quill\n\n- Sister of Ben.\n- Born on 3 May.\n\n### Ben\n\n- Knows Ada Quill well.\n"
    notes.write("MEMORY.md", people)
    with open_memory(notes) as memory:
        assert memory.forget(query="Quill", dry_run=True).below == ("MEMORY.md#L5-L6",)
        assert memory.forget(query="giraffe", dry_run=True).below == ()
        report = forgotten(memory, query="Ada Quill")
        assert report.below == ("MEMORY.md#L5-L6",)
        assert forgotten(memory, path=report.below[0]).below == ()
        assert "3 May" not in "".join(snippets(memory, "when was she born"))


@pytest.mark.parametrize("host", ["openclaw", "other"])
def test_what_a_hosts_hooks_have_yet_to_hand_over_goes_too(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    filled(notes)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "state"))
    folder = (tmp_path / "state" / "openclaw-memory" if host == "openclaw" else data_dir()) / "waiting"
    folder.mkdir(parents=True)

    def waits(name: str, workspace: Path) -> Path:
        messages = [{"role": "user", "text": f"{SECRET}. The ferry leaves at six."}]
        turn = {"subject": {"workspaceDir": str(workspace)}, "parts": [{"origin": "owner", "messages": messages}]}
        (folder / name).write_text(json.dumps(turn))
        return folder / name

    ours, theirs = waits("1.json", notes.root), waits("2.json", tmp_path)
    (folder / "3.json").write_text("{")
    with ingested(notes) as memory:
        forgotten(memory, query="vault zebra")
    assert "zebra" not in ours.read_text() and "ferry leaves at six" in ours.read_text()
    assert "zebra" in theirs.read_text(), "another memory has not forgotten it"


def test_what_waits_and_has_a_secret_goes_too(notes: Notes) -> None:
    said = "The gate code of the boathouse is 4711-Cedar"
    notes.write("memory/boats.md", f"- {said}\n")
    file = data_dir() / "waiting" / "1.json"
    file.parent.mkdir(parents=True)
    messages = [{"role": "user", "text": f"{said}.\nThe ferry leaves at six."}]
    turn = {"subject": {"workspaceDir": str(notes.root)}, "parts": [{"origin": "owner", "messages": messages}]}
    file.write_text(json.dumps(turn))
    with ingested(notes) as memory:
        forgotten(memory, query="gate boathouse")
    assert "4711" not in file.read_text() and "ferry leaves at six" in file.read_text()
