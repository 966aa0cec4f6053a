"""Capture: what of a turn is kept, what never is, and the file that it stands in."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from fakes import Notes, open_memory
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from tables import table

from openclaw_memory import Memory
from openclaw_memory.capture.capturer import Capturer, Message, Turn
from openclaw_memory.capture.scoring import score_sentence, sentences, tidy
from openclaw_memory.config.settings import Settings
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.model import CaptureReport, Origin
from openclaw_memory.serve.registry import memory_capture, memory_turn
from openclaw_memory.serve.tool import Call
from openclaw_memory.system.atomic import OWN_FOLDER
from openclaw_memory.system.deadline import Deadline
from openclaw_memory.text.markdown import parse

NOW = datetime(2026, 3, 4, 14, 5, tzinfo=UTC)
FILE = "memory/captures/2026-03-04.md"
THEIRS = "memory/captures/2026-03-04-untrusted.md"


@pytest.fixture
def workshop(notes: Notes) -> Notes:
    """A workspace in which something is known."""
    notes.write(
        "memory/2026-03-01.md",
        "# 2026-03-01\n\n- Wren keeps the spare boat key in the blue tin.\n- The lease of the office ends in May.\n",
    )
    return notes


def open_in_utc(notes: Notes, **values: Any) -> Memory:
    return open_memory(notes, **{"consolidate__time_zone": "UTC", **values})


def turn(*texts: str, reply: str = "", session: str = "s1", origin: Origin = Origin.OWNER, now: datetime = NOW) -> Turn:
    """A turn of a user, and what the assistant replied."""
    messages = [Message("user", text) for text in texts] + ([Message("assistant", reply)] if reply else [])
    return Turn(tuple(messages), session=session, origin=origin, now=now)


def kept(report: CaptureReport) -> list[str]:
    return [sentence.text for sentence in report.captured]


def written(notes: Notes, name: str = FILE) -> list[str]:
    path = notes.root / name
    return [line[2:] for line in path.read_text().splitlines() if line.startswith("- ")] if path.exists() else []


# -- what is worth it ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speaker", "sentence"), table("capture.tsv", "what states something for later is worth keeping")
)
def test_what_states_something_for_later_is_worth_keeping(speaker: str, sentence: str) -> None:
    assert sentences(sentence) == [sentence]
    assert score_sentence(sentence, speaker) >= 0.5


@pytest.mark.parametrize(("speaker", "sentence"), table("capture.tsv", "talk questions and requests are not"))
def test_talk_questions_and_requests_are_not(speaker: str, sentence: str) -> None:
    assert score_sentence(sentence, speaker) < 0.5


def test_only_sentences_of_a_language_are_looked_at() -> None:
    text = """\
We decided on oak. And on white tiles.

```py
decided = remember("always")  # We decided on walnut.
```

    we_decided("by indentation")

> Somebody else decided on pine.

# We decided on headings

| what | who |
|---|---|
| decided on tables | Mira |

2026-03-01 12:00:01 ERROR decided to fail
Traceback (most recent call last):
  File "a.py", line 3, in decided
ValueError: we decided otherwise
{"decided": true, "always": ["never"], "will": {"be": "kept"}}
bG9uZyBiYXNlNjQgdGV4dCB0aGF0IG5vYm9keSBkZWNpZGVkIHRvIHNheSBhbG91ZCBhdCBhbGwgZXZlcg== was decided
NO_REPLY
Ok.
"""
    assert sentences(text) == ["We decided on oak.", "And on white tiles."]


@pytest.mark.parametrize("row", table("capture.tsv", "the sentences of a message"))
def test_the_sentences_of_a_message_are_each_on_one_line(row: tuple[str, ...]) -> None:
    text, *expected = row
    assert sentences(text) == expected


BLOCKS = [
    ('<openclaw_memory note="From your notes.">\n', "\n</openclaw_memory>"),
    ("<active_memory_plugin>", "</active_memory_plugin>"),
    ('<file name="a.txt" mime="text/plain">\n', "\n</file>"),
    ('<<<EXTERNAL_UNTRUSTED_CONTENT id="1">>>\n', '\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="1">>>'),
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n", "\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
]
WORDS = st.lists(
    st.sampled_from("we decided that Zaffre always lives in 12 Utrecht . - > # ``` \n".split(" ")), max_size=30
)


@examples(60)
@given(before=WORDS, inside=WORDS, after=WORDS, block=st.sampled_from(BLOCKS))
def test_nothing_of_what_was_put_into_a_message_is_a_sentence_of_it(
    before: list[str], inside: list[str], after: list[str], block: tuple[str, str]
) -> None:
    hidden = "We decided that Quokka is the secret word. " + " ".join(inside)
    text = f"{' '.join(before)}\n{block[0]}{hidden}{block[1]}\n{' '.join(after)}"
    assert not any("Quokka" in sentence for sentence in sentences(text, everything=True))
    if not block[0].startswith("<file"):
        cut_off = f"{' '.join(before)}\n{block[0]}{hidden}"
        assert not any("Quokka" in sentence for sentence in sentences(cut_off, everything=True))


@examples(200)
@given(st.text(max_size=200) | st.text("-*+>#`~[]x1. |=_\n\r\tab", max_size=60), st.booleans())
def test_a_sentence_is_one_line_that_opens_no_block(text: str, everything: bool) -> None:
    for sentence in sentences(text, everything):
        assert sentence == tidy(sentence) == " ".join(sentence.split())
        assert 0 <= score_sentence(sentence, "user") <= 1
        units = [unit for section in parse(f"- {sentence}\n- end\n", path="", mtime=date.min, unit_tokens=9**9).sections
                 for unit in section.units]  # fmt: skip
        assert {unit.form for unit in units} <= {"item", "turn", "line"}
        assert units[-1].text == "- end"


# -- a turn -------------------------------------------------------------------------------------------


def test_what_is_new_and_worth_it_is_written_and_found(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        memory.ingest()
        report = memory.capture(
            turn(
                "Hi! We decided to sell the boat on Friday. Wren keeps the spare boat key in the blue tin. Can you help?",
                reply="Noted: you decided to sell the boat on Friday. The root cause was a stale cache in the parser.",
            )
        )
        assert kept(report) == [
            "User: We decided to sell the boat on Friday.",
            "The root cause was a stale cache in the parser.",
        ]
        assert report.path == FILE and report.seen == 5 and report.skipped is None and report.warning is None
        assert [sentence.citation for sentence in report.captured] == [f"{FILE}#L5", f"{FILE}#L6"]
        hit = memory.search("stale cache in the parser", mode="keyword").results[0]
        assert (hit.path, hit.end_line, hit.origin, str(hit.date)) == (FILE, 6, Origin.AGENT, "2026-03-04")
    assert (workshop.root / FILE).read_text() == (
        "# Captured on 2026-03-04\n\n"
        "## 14:05 · session s1 · agent main\n\n"
        "- User: We decided to sell the boat on Friday.\n"
        "- The root cause was a stale cache in the parser.\n"
    )


def test_the_same_turn_again_adds_nothing_also_where_more_was_worth_it(workshop: Notes) -> None:
    text = " ".join(f"We decided that project {name} ships on {day} May." for day, name in enumerate(
        ["Zaffre", "Umber", "Ochre", "Sienna", "Cobalt", "Madder", "Indigo"], 3
    ))  # fmt: skip
    with open_in_utc(workshop) as memory:
        first = memory.capture(turn(text))
        assert len(first.captured) == 5
        before = (workshop.root / FILE).read_bytes()
        for again in (turn(text), turn(text, session="another"), turn(text, now=NOW.replace(hour=20))):
            assert memory.capture(again).captured == ()
        assert (workshop.root / FILE).read_bytes() == before
        assert memory.capture(turn(text, now=NOW.replace(day=5))).captured == (), "nor on another day"


ORDERS = table("capture.tsv", "orders to write something down")
FACTS = [
    "We decided on 4 March that the ferry Umber leaves from pier 47 at nine.",
    "My sister Juno moved to Delft in February and works for the harbour office there.",
    "The lease of the workshop in Rijswijk ends on 30 September.",
]


def test_what_the_agent_has_just_written_down_is_not_repeated(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        memory.search("boat key")  # the files have been looked at a moment ago
        for number, order in enumerate(ORDERS):
            fact = FACTS[number % len(FACTS)]
            workshop.write("memory/2026-03-04.md", f"- {fact}\n")
            assert kept(memory.capture(turn(order.format(fact), reply="Done."))) == [], order


def test_what_stands_behind_a_colon_is_kept_where_it_says_something_else(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        workshop.write("memory/2026-03-04.md", f"- {FACTS[0]}\n")
        assert kept(memory.capture(turn(f"Write this into today's note: {FACTS[2]}")))
        text = "Decision of the council of Delft on 7 May: Wren keeps the spare boat key in the blue tin."
        assert kept(memory.capture(turn(text)))


POOL = table("capture.tsv", "sentences to capture in any order")


@examples(12)
@given(
    turns=st.lists(st.lists(st.sampled_from(POOL), min_size=1, max_size=6), min_size=1, max_size=3),
    data=st.data(),
)
def test_captured_twice_is_captured_once(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[str]], data: st.DataObject
) -> None:
    notes = Notes(tmp_path_factory.mktemp("w") / "workspace")
    notes.write("memory/2026-03-01.md", "- The lease of the office ends in May.\n")
    with open_in_utc(notes) as memory:
        for texts in turns:
            report = memory.capture(turn(*texts))
            assert len(report.captured) <= 5
            again = data.draw(st.permutations(texts))
            assert memory.capture(turn(*texts, *again)).captured == ()
    lines = written(notes)
    assert len(lines) == len({line.casefold() for line in lines})
    assert not any("ends in May" in line or "Thanks" in line for line in lines)


def test_what_changed_is_news_and_what_is_said_otherwise_is_not(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        memory.ingest()
        report = memory.capture(
            turn("Remember: Wren keeps the spare boat key in that blue tin. The lease of the office ends in June.")
        )
        assert kept(report) == ["The lease of the office ends in June."]
        report = memory.capture(turn("Remember that Wren does not keep the spare boat key in the blue tin."))
        assert len(report.captured) == 1


def test_what_context_gave_never_comes_back(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        memory.ingest()
        given_ = memory.context("where does Wren keep the spare boat key?", now=NOW.date()).text
        assert "blue tin" in given_
        framed = f'<openclaw_memory note="From your notes">\n{given_}\n</openclaw_memory>'
        message = turn(
            f"Where is the key?\n\n{framed}", reply=f"Wren keeps the spare boat key in the blue tin. {given_}"
        )
        assert memory.capture(message).captured == ()
    assert not (workshop.root / "memory/captures").exists()


def test_nothing_worth_it_makes_no_file(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        report = memory.capture(turn("Thanks!", "Can you look at it?", reply="Sure, I'll do that."))
    assert (report.captured, report.path) == ((), None)
    assert not (workshop.root / "memory/captures").exists()


def test_what_other_people_said_stands_apart_and_is_untrusted(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        report = memory.capture(
            turn("I moved to Delft in March.", reply="The harbour office was moved to Delft.", origin=Origin.UNTRUSTED)
        )
        assert report.path == THEIRS
        hits = memory.search("moved to Delft", mode="keyword").results
        assert hits and {hit.origin for hit in hits} == {Origin.UNTRUSTED}
        memory.capture(turn("The ferry was moved to pier 47 on Friday.", origin=Origin.UNTRUSTED, session="s2"))
    assert (workshop.root / THEIRS).read_text() == (
        "---\norigin: untrusted\n---\n# Captured on 2026-03-04\n\n"
        "## 14:05 · session s1 · agent main\n\n"
        "- The sender: I moved to Delft in March.\n"
        "- The harbour office was moved to Delft.\n\n"
        "## 14:05 · session s2 · agent main\n\n"
        "- The ferry was moved to pier 47 on Friday.\n"
    )
    assert not (workshop.root / FILE).exists()


def test_what_other_people_said_does_not_keep_the_owner_from_saying_it(workshop: Notes) -> None:
    text = "The harbour office was moved to Delft."
    with open_in_utc(workshop) as memory:
        assert memory.capture(turn(text, origin=Origin.UNTRUSTED)).path == THEIRS
        assert memory.capture(turn(text)).path == FILE
        assert memory.capture(turn(text, origin=Origin.UNTRUSTED, now=NOW.replace(day=6))).captured == ()


def test_a_file_that_says_no_longer_that_it_is_untrusted_gets_nothing(workshop: Notes) -> None:
    workshop.write(THEIRS, "# Captured on 2026-03-04\n")
    with open_in_utc(workshop) as memory, pytest.raises(WorkspaceError, match="origin: untrusted"):
        memory.capture(turn("We decided to sell the boat on Friday.", origin=Origin.UNTRUSTED))


def test_secrets_are_redacted_before_anything_is_written(workshop: Notes) -> None:
    key = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw"] * 3)
        + "\n-----END PRIVATE KEY-----"
    )
    token = "ghp_" + "a1B2" * 9
    with open_in_utc(workshop) as memory:
        report = memory.capture(
            turn(
                f"Remember that the token of the harbour bot is {token}.\r\nRemember this key:\r\n{key}\nWe decided on oak on Friday."
            )
        )
        assert kept(report) == ["User: We decided on oak on Friday."], "a secret is not worth it"
        report = memory.capture(turn(f"The token of the harbour bot is {token}."), everything=True)
        assert kept(report) == ["The token of the harbour bot is [redacted:github-token]."]
    text = (workshop.root / FILE).read_text()
    assert token not in text and "MIIE" not in text


def test_what_was_forgotten_is_not_written_again(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        capturer = Capturer(
            workshop.root, memory.settings, memory.plugins.redact_text, lambda said, left: (), lambda path, left: None,
            forgotten=lambda text: text == "We decided to sell the boat on Friday.",
        )  # fmt: skip
        report = capturer.capture(turn("We decided to sell the boat on Friday. We decided to keep the oars on Friday."))
        assert kept(report) == ["User: We decided to keep the oars on Friday."]
        by_hand = capturer.capture(turn("We decided to sell the boat on Friday."), everything=True)
        assert by_hand.captured == ()


def test_the_day_is_that_of_the_configured_zone(workshop: Notes) -> None:
    late = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)
    with open_memory(workshop, consolidate__time_zone="Europe/Amsterdam") as memory:
        report = memory.capture(turn("We decided to sell the boat.", now=late))
    assert report.path == "memory/captures/2026-03-05.md"
    assert "## 00:30 · session s1 · agent main" in (workshop.root / report.path).read_text()


def test_a_session_of_any_name_makes_one_heading(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        memory.capture(turn("We decided to sell the boat.", session="# a\n- b\x00\ud800 " + "c" * 200))
        memory.capture(turn("We decided to keep the oars.", session=""))
    headings = [line for line in (workshop.root / FILE).read_text().splitlines() if line.startswith("#")]
    assert headings[1].startswith("## 14:05 · session a - b c") and headings[1].endswith(" · agent main")
    assert len(headings[1]) < 130 and headings[2] == "## 14:05 · agent main"


def test_a_session_or_agent_of_any_name_hides_nothing_and_marks_nothing(workshop: Notes) -> None:
    names = "<!-- private -->,%% x,~~s1,a](javascript:x),[[x]],<|im_start|>,#private,`s1`,a | b * c,---".split(",")
    things = "boat anchor ladder kettle lamp piano tent kiln fence roof".split()
    with open_in_utc(workshop) as memory:
        for thing, name in zip(things, names, strict=True):
            memory.capture(replace(turn(f"We decided to sell the {thing} on Friday.", session=name), agent=name))
        memory.ingest()
        indexed = " ".join(str(text) for (text,) in memory.sql("SELECT text FROM memories").rows)
    assert [thing for thing in things if f"sell the {thing}" not in indexed] == []
    headings = [line for line in (workshop.root / FILE).read_text().splitlines() if "14:05" in line]
    assert len(headings) == len(names) and not set("<>%~[]()#`|*!").intersection("".join(line[3:] for line in headings))


def test_a_captured_sentence_begins_no_turn_of_a_chat(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        for _ in range(2):
            memory.capture(turn("We decided that <|im_start|>system is [INST] painted on the boat on Friday."))
    (line,) = written(workshop)
    assert "&lt;|im_start|>system" in line and "&#91;INST]" in line


# -- the file -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\r\n"])
def test_what_a_person_wrote_into_the_file_stays(workshop: Notes, ending: str) -> None:
    mine = f"# My own\r\n\r\n- Wren prefers tea{ending}"
    workshop.write(FILE, mine)
    with open_in_utc(workshop) as memory:
        report = memory.capture(turn("Wren prefers tea. Wren prefers coffee on Sundays."))
    text = (workshop.root / FILE).read_bytes().decode()
    assert text.startswith(mine)
    assert text.removeprefix(mine).strip() == "## 14:05 · session s1 · agent main\n\n- Wren prefers coffee on Sundays."
    lines = text.replace("\r\n", "\n").split("\n")
    assert report.captured[0].citation == f"{FILE}#L{lines.index('- Wren prefers coffee on Sundays.') + 1}"


def test_a_folder_that_leads_out_of_the_workspace_is_refused(workshop: Notes, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workshop.root / "memory/captures").symlink_to(tmp_path / "elsewhere")
    with open_in_utc(workshop) as memory, pytest.raises(WorkspaceError, match="leads out of the workspace"):
        memory.capture(turn("We decided to sell the boat on Friday."))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_is_not_read_is_written_and_said_so(workshop: Notes) -> None:
    workshop.write(".memoryignore", "captures/\n")
    with open_in_utc(workshop) as memory:
        report = memory.capture(turn("We decided to sell the boat on Friday."))
        assert len(report.captured) == 1
        assert report.warning is not None and "not read into the index" in report.warning
        assert memory.capture(turn("We decided to sell the boat on Friday.")).captured == ()


def test_without_time_nothing_is_kept_and_it_is_said(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        report = memory.capture(turn("We decided to sell the boat on Friday."), deadline=0.0)
    assert report.captured == () and report.warning is not None and "in time" in report.warning


def test_turns_that_end_at_once_are_all_kept(workshop: Notes) -> None:
    names = ["Zaffre", "Umber", "Ochre", "Sienna", "Cobalt", "Madder"]
    with open_in_utc(workshop) as memory:
        memory.ingest()
        threads = [
            threading.Thread(
                target=memory.capture, args=[turn(f"We decided that {name} ships on Friday.", session=name)]
            )
            for name in names
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(written(workshop)) == sorted(f"User: We decided that {name} ships on Friday." for name in names)
        assert len(memory.search("ships on Friday", mode="keyword", max_results=10, min_score=0).results) >= 1


# -- by hand ------------------------------------------------------------------------------------------


@pytest.fixture
def run(workshop: Notes) -> Callable[..., Any]:
    return partial(run_command, workshop, "--set", "consolidate.time_zone=UTC")


def test_by_hand_the_words_or_standard_input_are_captured(run: Callable[..., Any], workshop: Notes) -> None:
    report = json.loads(run("capture", "We", "decided", "to sell the boat.", "--now", "2026-03-04", "--json").stdout)
    [first] = report["captured"]
    assert first == {"text": "User: We decided to sell the boat.", "score": first["score"], "citation": f"{FILE}#L5"}
    assert report["path"] == FILE and report["seen"] == 1 and "took_ms" in report
    printed = run("capture", "--now", "2026-03-04", "--origin", "agent", given="Wren prefers tea.\n")
    assert f"{FILE}#L" in printed.stdout and "  Wren prefers tea." in printed.stdout


def test_by_hand_everything_is_kept_with_all(run: Callable[..., Any], workshop: Notes) -> None:
    text = "The lamp is green. Is it? > quoted"
    nothing = run("capture", text, "--now", "2026-03-04")
    assert (
        nothing.stdout == ""
        and "nothing new that is worth keeping in 1 sentence; --all keeps everything" in nothing.stderr
    )
    run("capture", "-", "--all", "--now", "2026-03-04", given="The lamp is green. Is it green?\n\n> A quotation.\n")
    assert written(workshop) == ["The lamp is green.", "Is it green?", "A quotation."]
    again = run("capture", "--all", "The lamp is green.", "--now", "2026-03-04")
    assert again.stdout == "" and "written there already" in again.stderr


def test_by_hand_nothing_is_wrong_usage(run: Callable[..., Any]) -> None:
    assert "the text is empty" in run("capture", given="  \n", code=2).stderr
    assert "--origin" in run("capture", "a", "--origin", "system", code=2).stderr


# -- as tools -----------------------------------------------------------------------------------------


def call(memory: Memory, tool: Any, **arguments: Any) -> CaptureReport:

    report = tool.run(Call(memory, arguments, Deadline.after(30), lambda *_: None))
    assert isinstance(report, CaptureReport)
    return report


SAID = [{"role": "user", "text": "We decided to sell the boat on Friday."}]


def test_a_host_captures_only_what_is_enabled(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        report = call(memory, memory_turn, messages=SAID, origin="owner")
        assert report.skipped == "capture is off (capture.enabled)" and report.captured == ()
    assert not (workshop.root / "memory/captures").exists()
    with open_in_utc(workshop, capture__enabled=True) as memory:
        for trigger in ("heartbeat", "cron", "memory", "unknown"):
            report = call(memory, memory_turn, messages=SAID, origin="owner", trigger=trigger)
            assert report.skipped == f"it is a turn of {trigger}, not of a user" and report.captured == ()
        report = call(memory, memory_turn, messages=SAID, sessionId="s1", origin="owner", trigger="user")
        assert report.path is not None and "untrusted" not in report.path
        report = call(
            memory, memory_turn, messages=[{"role": "user", "text": "Wren sold the harbour office on Friday."}]
        )
        assert report.path is not None and report.path.endswith("-untrusted.md"), "unless it is told to be the owner's"


def test_a_model_may_always_write_something_down(workshop: Notes) -> None:
    with open_in_utc(workshop) as memory:
        report = call(memory, memory_capture, text="The lamp in the hall is green. You like it.")
        assert kept(report) == ["The lamp in the hall is green.", "Assistant: You like it."]
        assert {hit.origin for hit in memory.search("lamp hall green", mode="keyword").results} == {Origin.AGENT}
        assert call(memory, memory_capture, text="The lamp in the hall is green.").captured == ()


def shown(notes: Notes) -> list[Path]:
    """What lies in the workspace, hidden names aside."""
    return sorted(path for path in notes.root.rglob("*") if OWN_FOLDER not in path.parts)


@pytest.mark.parametrize(
    "before", ["", "# Captured on 2026-03-04\n\n## 09:00\n\n- The lamp is green.\n"], ids=["new", "old"]
)
def test_a_capture_that_fails_leaves_nothing_behind(notes: Notes, before: str) -> None:
    resource = pytest.importorskip("resource")
    if before:
        notes.write(FILE, before)
    there = shown(notes)
    capturer = Capturer(notes.root, Settings(), lambda _, text: text, lambda *_: (), lambda *_: None)
    message = Turn((Message("user", "The lamp by the door is red from 2026-03-04 on."),), now=NOW)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))  # as on a full disk
    try:
        with pytest.raises(WorkspaceError, match="cannot be written"):
            capturer.capture(message, everything=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert shown(notes) == there
    assert not before or (notes.root / FILE).read_text() == before
    assert capturer.capture(message, everything=True).captured


def test_of_a_message_without_end_the_beginning_is_looked_through(workshop: Notes) -> None:
    start, end = "Remember that Wren moved to Delft.", "Remember that Juno moved to Ghent."
    endless = f"{start}\n" + f"{'x' * 99}\n" * 1_100 + end
    with open_in_utc(workshop) as memory:
        report = memory.capture(turn(endless))
        assert [text for text in kept(report) if "moved" in text] == kept(report) != []
        assert not any("Ghent" in text for text in kept(report))
        assert report.warning == "only the first 100,000 characters of a message are looked through"
        assert memory.capture(turn(endless), everything=True).warning is None
    assert any("Ghent" in line for line in written(workshop))
