"""Ambient context: what is given for a message, and above all what is not."""

from __future__ import annotations

import threading
from datetime import date
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table

from openclaw_memory import Memory, hookimpl
from openclaw_memory.cli.checks import examine
from openclaw_memory.context import candidates
from openclaw_memory.errors import RequestError
from openclaw_memory.model import ContextResult, Kind, Origin

NOW = date(2026, 3, 10)


@pytest.fixture
def workshop(notes: Notes) -> Notes:
    """Some weeks of a small workshop."""
    notes.write("MEMORY.md", "# Memory\n\n- The kiln Vesuvius belongs to Ottoline, who bought it in Delft.\n")
    notes.write(
        "memory/2026-03-01.md",
        "# 2026-03-01\n\n## Kiln trouble\n\n"
        "- The kiln Vesuvius tripped the fuse when its lower element glowed, so Ottoline ordered a **new element**.\n"
        "- Lunch was lentils, twice.\n\n"
        "## Glaze\n\n- Marigold is the glaze `GZ-412`, fired at 1220 degrees in Vesuvius.\n",
    )
    notes.write(
        "memory/2026-03-05.md",
        "# 2026-03-05\n\n## Deliveries\n\n- The courier left forty boxes of porcelain clay behind the bicycle shed.\n"
        "- Ottoline paid the invoice of the clay merchant with a bank transfer.\n\n"
        "## Kiln\n\n- The element for Vesuvius arrived; `GZ-412` can be fired again on Saturday.\n",
    )
    notes.write(
        "memory/garden.md", "# Garden\n\n- The rosemary survives frost under the fleece.\n- Snails prefer the hostas.\n"
    )
    return notes


#: So that what is mentioned a few times is not in every tenth unit.
LEDGER = "".join(f"- Ledger line {number}: {number * 7} paid in instalment {number}.\n" for number in range(100))


def memory_of(notes: Notes, embedder: CountingEmbedder | None = None, **values: object) -> Memory:
    notes.write("memory/ledger.md", LEDGER)
    memory = open_memory(notes, embedder, **values)
    memory.ingest()
    return memory


def citations(result: ContextResult) -> list[str]:
    return [hit.citation for hit in result.sources]


@pytest.mark.parametrize(("line", "question"), table("context.tsv", "what no summary took over is still told"))
def test_what_no_summary_took_over_is_still_told(notes: Notes, line: str, question: str) -> None:
    day = [f"- Decided: shelf {n} of the workshop is painted in colour {n * 17} on day {n}." for n in range(40)]
    notes.write("memory/2026-01-05.md", "\n".join(["# Day", "", *day, f"- {line}", ""]))
    with memory_of(notes, consolidate__budgets={"daily": 30.0}, consolidate__time_zone="UTC") as memory:
        assert line in memory.context(question, now=NOW).text
        memory.consolidate(older_than_days=0)
        assert line not in (notes.root / "memory/consolidated/daily/2026-01-05.md").read_text(encoding="utf-8")
        assert line in memory.context(question, now=NOW).text
        assert memory.context("good morning!", now=NOW).text == ""


def test_what_a_program_wrote_is_found_and_never_given(notes: Notes) -> None:
    log = "2026-03-04 10:00:01 ERROR kiln Vesuvius tripped the fuse of the lower element"
    text = "Ottoline says the kiln Vesuvius tripped the fuse of the lower element again."
    notes.write("memory/2026-03-04.md", f"# 2026-03-04\n\n{log}\n\n{text}\n")
    with memory_of(notes) as memory:
        hits = memory.search("kiln Vesuvius tripped the fuse of the lower element", mode="keyword").results
        assert any(log in hit.snippet for hit in hits)
        given = memory.context("Why did the kiln Vesuvius trip the fuse?", now=NOW)
    assert "Ottoline says" in given.text and "ERROR" not in given.text


# -- what is given ------------------------------------------------------------------------------------


def test_a_named_concept_brings_what_was_noted_about_it(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        result = memory.context("How is Vesuvius doing?", now=NOW)
    assert result.entities == ("Vesuvius",)
    assert "On 1 Mar 2026 (Kiln trouble): The kiln Vesuvius tripped the fuse" in result.text
    assert "On 5 Mar 2026 (Kiln): The element for Vesuvius arrived" in result.text
    assert result.text.index("5 Mar") < result.text.index("1 Mar"), "the newest first"
    assert "**" not in result.text and "`" not in result.text and "\n- " not in result.text
    assert 0 < result.tokens <= 200 and result.warning is None


def test_what_answers_a_question_needs_no_concept(workshop: Notes) -> None:
    with memory_of(workshop, CountingEmbedder()) as memory:
        result = memory.context("Where did the courier leave the boxes of porcelain clay?", now=NOW)
    assert result.entities == () and citations(result)[0] == "memory/2026-03-05.md#L5"
    assert "behind the bicycle shed" in result.text


def test_courtesies_get_none(workshop: Notes) -> None:
    messages = [
        "hi", "Hello!", "thanks", "Thanks a lot!", "ok do it", "yes please, go ahead", "no, the other one", "hm",
        "Sounds good.", "great, thank you", "can you try that again?", "👍", "", "   ", "danke!", "ok ok ok", "…",
    ]  # fmt: skip
    workshop.write(
        "memory/2026-03-06.md", "- Hello, thanks a lot, ok, please go ahead and try it again, said nobody.\n"
    )
    embedder = CountingEmbedder()
    with memory_of(workshop, embedder) as memory:
        for message in messages:
            result = memory.context(message, now=NOW)
            assert (result.text, result.tokens, result.sources, result.facts) == ("", 0, (), ()), message
    assert not set(messages) & set(embedder.questions), "nothing is embedded for them either"


@pytest.mark.parametrize("vectors", [True, False])
def test_what_the_notes_know_nothing_of_gets_none(workshop: Notes, vectors: bool) -> None:
    with memory_of(workshop, CountingEmbedder(dimensions=256) if vectors else None) as memory:
        for message in (
            "What is 17 times 23?",
            "Write a haiku about penguins",
            "how tall is the Matterhorn",
            "rename it",
        ):
            assert memory.context(message, now=NOW).text == "", message


def test_the_head_of_a_table_is_told_with_its_cells(workshop: Notes) -> None:
    workshop.write(
        "memory/2026-03-07.md", "# 2026-03-07\n\n| glaze | cone | price |\n|---|---|---|\n| Zaffre | 6 | 14 euro |\n"
    )
    with memory_of(workshop) as memory:
        text = memory.context("what cone and price has Zaffre?", now=NOW).text
    assert text == "On 7 Mar 2026: Zaffre, cone 6, price 14 euro."


def test_of_a_long_paragraph_its_own_sentence_is_told(notes: Notes) -> None:
    filler = [f"Sentence {number} talks about barley, oats and rye in field {number}." for number in range(12)]
    filler[7] = "The combine harvester Goliath lost its left belt near the quarry."
    notes.write("memory/2026-03-02.md", " ".join(filler) + "\n")
    with memory_of(notes) as memory:
        text = memory.context("where did Goliath the combine harvester lose its left belt?", now=NOW).text
    assert "The combine harvester Goliath lost its left belt near the quarry." in text
    assert "Sentence 0" not in text


# -- curated concepts ----------------------------------------------------------------------


def test_a_curated_concept_always_passes(workshop: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "THRESHOLD", 1.0)
    monkeypatch.setattr(candidates, "RELEVANT", 1.0)
    with memory_of(workshop) as memory:
        assert memory.context("Tell me about the weather and about Vesuvius", now=NOW).text == ""
        memory.concepts.add("Vesuvius", aliases=("the oven",))
        result = memory.context("Tell me about the weather and about the oven", now=NOW)
        assert result.entities == ("Vesuvius",) and "Vesuvius" in result.text
        assert all("Vesuvius" in hit.snippet for hit in result.sources)


def test_what_is_below_a_curated_concept_counts_for_it(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        memory.concepts.add("Vesuvius", parents=("furnace",))
        result = memory.context("anything on the furnace", now=NOW)
        assert result.entities == ("furnace",) and "Vesuvius" in result.text


def test_curated_and_rare_concepts_come_first_and_are_few(workshop: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_ENTITIES", 2)
    with memory_of(workshop) as memory:
        memory.concepts.add("porcelain")
        message = "Vesuvius, GZ-412, Ottoline and porcelain"
        assert memory.context(message, now=NOW).entities == ("porcelain", "GZ-412")


# -- what is never given ------------------------------------------------------------------------------


def test_untrusted_and_system_content_is_never_given(notes: Notes) -> None:
    text = "- The vault code of Zanzibar is kept by Ignatius behind the portrait.\n"
    notes.write("memory/2026-03-01.md", f"---\norigin: untrusted\n---\n{text}")
    notes.write("memory/2026-03-02.md", f"---\norigin: system\n---\n{text}")
    with memory_of(notes) as memory:
        memory.concepts.add("Zanzibar")
        result = memory.context("Where does Ignatius keep the vault code of Zanzibar?", now=NOW)
        assert "Zanzibar" in result.entities and (result.text, result.facts) == ("", ())
        notes.write("memory/2026-03-03.md", text)
        result = memory.context("Where does Ignatius keep the vault code of Zanzibar?", now=NOW)
        assert citations(result) == ["memory/2026-03-03.md#L1"]
        assert {hit.origin for hit in result.sources} <= {Origin.OWNER, Origin.AGENT}


UNREADABLE = {
    "broken": "---\norigin: untrusted\ntitle: [a\n---\n",
    "twice": "---\norigin: untrusted\norigin: agent\n---\n",
    "tab": "---\nname: x\n\torigin: untrusted\n---\n",
    "capital": "---\nOrigin: untrusted\n---\n",
    "long": "---\norigin: untrusted\n" + "".join(f"k{n}: v\n" for n in range(450)) + "---\n",
    "open": "---\norigin: untrusted\n\n",
    "bomb": "---\norigin: untrusted\na0: &a0 [x]\n"
    + "".join(f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]\n" for n in range(1, 10)) + "---\n",
    "merged": "---\norigin: untrusted\na0: &a0 {x: y}\n"
    + "".join(f"a{n}: &a{n} {{<<: [" + ", ".join([f"*a{n - 1}"] * 10) + "]}\n" for n in range(1, 10)) + "---\n",
    "blank": "\n---\norigin: untrusted\n---\n",
}  # fmt: skip


def test_front_matter_that_cannot_be_read_makes_a_note_untrusted(notes: Notes) -> None:
    text = "# Kiln\n\n- The kiln Vesuvius belongs to Ottoline, who bought it in Delft.\n"
    message = "To whom does the kiln Vesuvius belong?"
    for kind, head in UNREADABLE.items():
        notes.write(f"memory/{kind}.md", head + text)
    with memory_of(notes) as memory:
        origins = {info.path: info.origin for info in memory.store.document_infos()}
        assert {origins[f"memory/{kind}.md"] for kind in UNREADABLE} == {Origin.UNTRUSTED}
        assert memory.context(message, now=NOW).text == ""
        notes.write("memory/open.md", text)
        assert "bought it in Delft" in memory.context(message, now=NOW).text


def test_untrusted_facts_are_never_given(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", "---\norigin: untrusted\n---\n- **Zanzibar:** timezone is the moon\n")
    with memory_of(notes) as memory:
        memory.facts.add("Zanzibar", "timezone", "the moon", origin=Origin.UNTRUSTED)
        memory.concepts.add("Zanzibar")
        assert memory.context("which timezone has Zanzibar?", now=NOW).text == ""


def test_what_is_in_the_prompt_already_is_left_out_unless_configured(workshop: Notes) -> None:
    message = "Who bought Vesuvius in Delft?"
    with memory_of(workshop) as memory:
        result = memory.context(message, now=NOW)
        assert "Delft" not in result.text and Kind.CURATED not in {hit.kind for hit in result.sources}
    with memory_of(workshop, context__curated_files=True) as memory:
        assert "Ottoline, who bought it in Delft" in memory.context(message, now=NOW).text


def test_a_superseded_value_is_never_given(notes: Notes) -> None:
    notes.write("memory/2026-01-10.md", "# 2026-01-10\n\n- Petra lives in Lyon.\n- Petra plays the cello on Sundays.\n")
    notes.write("memory/2026-02-20.md", "# 2026-02-20\n\n- Petra lives in Utrecht.\n")
    with memory_of(notes) as memory:
        memory.concepts.add("Petra")
        for message in ("Where does Petra live?", "Does Petra live in Lyon?", "Petra"):
            result = memory.context(message, now=NOW)
            assert "Lyon" not in result.text and "Utrecht" in result.text, message
        memory.facts.add("Petra", "lives in", "Bergen", since=date(2026, 3, 1))
        result = memory.context("Where does Petra live?", now=NOW)
        assert "Petra lives in Bergen (since 1 Mar 2026)." in result.text
        assert "Lyon" not in result.text and "Utrecht" not in result.text
        assert [fact.object for fact in result.facts if fact.predicate == "lives in"] == ["Bergen"]
        assert "cello" in memory.context("Does Petra still play the cello?", now=NOW).text


def test_undated_notes_are_named_by_their_file_and_a_message_is_not_told_what_it_says(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        assert memory.context("does rosemary survive frost?", now=NOW).text == (
            "In garden: The rosemary survives frost under the fleece."
        )
        text = memory.context("The courier left forty boxes of porcelain clay behind the bicycle shed.", now=NOW).text
    assert "forty boxes" not in text


def test_nearly_the_same_is_told_once(notes: Notes) -> None:
    notes.write("memory/2026-03-01.md", "- The greenhouse thermostat Boreas is set to eighteen degrees at night.\n")
    notes.write("memory/2026-03-02.md", "- The greenhouse thermostat Boreas is set to eighteen degrees at night!\n")
    with memory_of(notes) as memory:
        result = memory.context("what is the greenhouse thermostat Boreas set to at night?", now=NOW)
    assert len(result.sources) == 1 and result.text.count("eighteen degrees") == 1


# -- sessions -------------------------------------------------------------------------------------------


def test_a_session_is_not_given_the_same_again_and_others_are(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        memory.facts.add("Vesuvius", "maximum temperature", "1280 degrees")
        first = memory.context("How is Vesuvius doing?", session="a", now=NOW)
        again = memory.context("And Vesuvius again?", session="a", now=NOW)
        other = memory.context("How is Vesuvius doing?", session="b", now=NOW)
        assert first.text and "1280 degrees" in first.text
        assert not set(citations(first)) & set(citations(again)) and not set(first.facts) & set(again.facts)
        assert other.text == first.text
        assert memory.context("How is Vesuvius doing?", now=NOW).text == first.text, "without a session nothing is kept"


def test_a_changed_note_is_given_again(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        assert "arrived" in memory.context("How is Vesuvius doing?", session="a", now=NOW).text
        workshop.write("memory/2026-03-09.md", "# 2026-03-09\n\n- Vesuvius reached 1220 degrees in seven hours.\n")
        assert citations(memory.context("How is Vesuvius doing?", session="a", now=NOW)) == ["memory/2026-03-09.md#L3"]


# -- the budget -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_notes(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    notes = Notes(tmp_path_factory.mktemp("long") / "workspace")
    words = "The turbine Aeolus " + "needs new bearings because the old ones rattle in the wind " * 6
    for day in range(1, 20):
        notes.write(
            f"memory/2026-01-{day:02}.md",
            f"# 2026-01-{day:02}\n\n## Turbine {day}\n\n- {words} {day}.\n- Aeolus {day * 31}\n",
        )
    notes.write("memory/ledger.md", LEDGER * 10)
    memory = open_memory(notes, ingest__fresh_seconds=1e9)
    memory.ingest()
    memory.facts.add("Aeolus", "rated power", "4.2 kW " + "and then some " * 20)
    return memory


@examples(40)
@given(
    budget=st.integers(1, 700), message=st.sampled_from(["Aeolus", "why does Aeolus need new bearings?", "wind rattle"])
)
def test_the_budget_is_never_exceeded(long_notes: Memory, budget: int, message: str) -> None:
    result = long_notes.context(message, budget=budget, now=NOW)
    assert len(result.text) <= 4 * budget and result.tokens <= budget
    assert bool(result.text) == bool(result.sources or result.facts)
    if budget >= 60 and "Aeolus" in message:
        assert result.text


def test_options_that_cannot_be_meant_are_refused(workshop: Notes) -> None:
    with memory_of(workshop) as memory, pytest.raises(RequestError, match="budget must be 1 token or more, not 0"):
        memory.context("Vesuvius", budget=0)


def test_it_can_be_switched_off(workshop: Notes) -> None:
    with memory_of(workshop, context__enabled=False) as memory:
        result = memory.context("How is Vesuvius doing?", now=NOW)
        assert (result.text, result.warning) == ("", "context is switched off (context.enabled)")
        assert memory.ambient.use().messages == 0


# -- the deadline ---------------------------------------------------------------------------------------


def test_without_its_model_in_time_it_goes_on_by_words(workshop: Notes) -> None:
    embedder = CountingEmbedder()
    with memory_of(workshop, embedder) as memory:
        memory.context("How is the greenhouse doing?", now=NOW)
        embedder.gate.clear()
        result = memory.context("How is Vesuvius doing?", now=NOW, deadline=2.0)
        embedder.gate.set()
        assert "Vesuvius" in result.text and result.entities == ("Vesuvius",)
        assert result.took_ms < 10_000, "it did not wait for the gate"
        assert result.warning is not None and "did not answer within" in result.warning


def test_what_is_not_ready_by_the_deadline_is_left_out(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        memory.context("warm", now=NOW)
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with memory._questions.index().lock:
                held.set()
                assert release.wait(20)

        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(20)
        result = memory.context("How is Vesuvius doing?", now=NOW, deadline=0.05)
        assert (result.text, result.sources) == ("", ())
        assert result.warning == "not done by the deadline; nothing was ready"
        more = [memory.context("How is Vesuvius doing?", now=NOW, deadline=0.01) for _ in range(3)]
        assert all(result.text == "" and result.warning for result in more)
        release.set()
        thread.join()
        late = memory.ambient.use().late
        assert 1 <= late <= 4
        memory.ambient.count_missed(3)  # a host waited in vain
        assert memory.ambient.use().late == late + 3
        (check,) = [check for check in examine(memory) if check.name == "context"]
        assert check.remark and f"{late + 3} of" in check.detail and "contextTimeoutMs" in str(check.fix)
    with memory_of(workshop) as memory:
        assert memory.context("How is Vesuvius doing?", now=NOW, deadline=30.0).warning is None


def test_failures_are_told_and_never_raised_to_a_host(workshop: Notes) -> None:
    def defect(*_: object) -> object:
        raise ZeroDivisionError("a bug")

    with memory_of(workshop) as memory:
        memory.facts.about = defect  # type: ignore[method-assign, assignment]
        result = memory.context("How is Vesuvius doing?", now=NOW, deadline=30.0)
        assert "Vesuvius" in result.text, "what was ready before is given"
        assert result.warning == "a defect of openclaw-memory (ZeroDivisionError: a bug); please report it"
        with pytest.raises(ZeroDivisionError):
            memory.context("How is Vesuvius doing?", now=NOW)


def test_new_notes_are_known_at_once(workshop: Notes) -> None:
    with memory_of(workshop) as memory:
        assert memory.context("what about Calliope?", now=NOW).text == ""
        workshop.write("memory/2026-03-09.md", "- Calliope sings in the choir of Saint Vitus, says Calliope herself.\n")
        workshop.write("memory/2026-03-10.md", "- Met Calliope at the tram stop.\n")
        result = memory.context("what about Calliope?", now=NOW, deadline=30.0)
        assert "choir of Saint Vitus" in result.text


def test_an_empty_workspace_has_nothing_to_say(notes: Notes) -> None:
    with open_memory(notes) as memory:
        assert memory.context("How is Vesuvius doing?", now=NOW).text == ""


# -- messages without end, and questions without answer ----------------------------------------------------


class Overhears:
    """A plugin that notes how long the messages are that it is told of."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    @hookimpl
    def openclaw_memory_rerank(self, query: str, hits: Any) -> None:
        self.lengths.append(len(query))


def test_of_a_message_of_ten_megabytes_the_beginning_and_the_end_are_read(workshop: Notes) -> None:
    overhears, embedder = Overhears(), CountingEmbedder()
    pasted = "gravel and sand on the road by the mill " * 250_000
    with memory_of(workshop, embedder, plugins=[overhears]) as memory:
        text = f"{pasted}\nHow is Vesuvius doing?"
        embedder.questions.clear()
        result = memory.context(text, now=NOW)
        assert memory.ambient.entities(text) == result.entities == ("Vesuvius",)
        assert max(overhears.lengths) <= 20_001
        assert max(map(len, embedder.questions)) <= 1_001
        assert memory.context("How is Vesuvius doing? " + pasted, now=NOW).entities == ("Vesuvius",)
    with memory_of(workshop) as memory:
        assert "Vesuvius" in memory.context(text, now=NOW).text


def test_slow_messages_leave_few_threads(workshop: Notes) -> None:
    embedder = CountingEmbedder()
    before = set(threading.enumerate())
    with memory_of(workshop, embedder) as memory:
        memory.context("warm up the kiln", now=NOW)
        embedder.gate.clear()
        for n in range(15):
            memory.context(f"How is Vesuvius doing on day {n}?", now=NOW, deadline=0.02)
            memory.search(f"Vesuvius {n}", deadline=0.02)
        late = [
            thread
            for thread in threading.enumerate()
            if thread not in before and thread.name in ("context", "deadline")
        ]
        embedder.gate.set()
        for thread in late:
            thread.join(20)
        assert sum(thread.name == "context" for thread in late) <= 2
        assert sum(thread.name == "deadline" for thread in late) <= 8
