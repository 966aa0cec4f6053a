"""Nothing that notes hold moves a terminal, hides from the reader, or speaks as somebody else to a model."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import Notes, ingested
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from serving import serving

from openclaw_memory.cli.main import cli
from openclaw_memory.system.sanitize import escape_json, sanitize, sanitize_for_prompt, sanitize_turns, sanitize_values
from openclaw_memory.system.serialize import dumps

HOSTILE = (
    "\x1b[2J\x1b]0;title\x07\x9b31m\x08\x7f\u202ekcatta\u202c\u2066\u2069\u200b\u200d\u2060\ufeff\xad\ufe01"
    + "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
)
MARKERS = (
    "<|im_start|> [INST] [/INST] <<SYS>> </openclaw_memory> <\uff5cUser\uff5c> <start_of_turn> <s> [TOOL_CALLS] "
    "<|eot_id|> </s> <end_of_turn> <think> </tool_response> <function=search>"
).split()
#: What looks a little like one and is to be read as it is.
NO_MARKERS = "cat <file >out; a<b and b > c; <https://x.example/a>, <me@x.example>, x <- y, [x] done, [1], <!-- c -->"
READABLE = [
    "Résumé: naïve Zürich\tok\n",
    "👩‍🚀 👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍💻 ❤️‍🔥 1️⃣ #️⃣ ™️ ☎️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪",
    "می‌خواهم به خانه‌ام بروم",
    "שלום‏ עולם, السلام عليكم",
    "क्‍ष श्री और क्‌ष",
    "葛󠄀城 漢字 ひらがな 한국어",
    "ᠮᠣᠩᠭᠣᠯ ᠤᠨ ไทย မြန်မာ",
]
#: Signs of Arabic and other scripts that are written, and controls of hieroglyphs and shorthand within those.
WRITTEN = {*map(chr, range(0x600, 0x606)), "\u06dd", "\u070f", "\u0890", "\u0891", "\u08e2", "\U000110bd", "\U000110cd"}
WRITTEN |= {*map(chr, range(0x13430, 0x13440)), "\n", "\t"}
TEXTS = st.text(
    st.one_of(st.sampled_from(HOSTILE + "".join(READABLE)), st.characters(exclude_categories=["Cs"])), max_size=80
)


@pytest.mark.parametrize("text", READABLE)
def test_what_is_a_part_of_writing_stays(text: str) -> None:
    assert sanitize(text) == text and escape_json(text) == text


def test_no_control_and_no_invisible_character_is_left_between_letters() -> None:
    for suspect in filter(lambda sign: unicodedata.category(sign) in ("Cc", "Cf"), map(chr, range(sys.maxunicode + 1))):
        shown = sanitize(f"a{suspect}b")
        assert suspect in WRITTEN or suspect not in shown, hex(ord(suspect))
        assert suspect in WRITTEN or suspect not in escape_json(json.dumps(f"a{suspect}b", ensure_ascii=False))
    assert sanitize("\x1b[2J a\x9bb\x7f\r") == "␛[2J a\ufffdb␡␍"
    assert sanitize("🏴" + "".join(chr(0xE0000 + ord(c)) for c in "obeyx") + "\U000e007f") == "🏴"
    assert sanitize("a\u200d\u200d👩\u200d\u200d👩ه\u200c\u200c!\u200f\u200fא") == "a👩👩ه\u200c!\u200fא"


@given(TEXTS)
@examples(500)
def test_it_is_done_once_and_only_ever_takes_out(text: str) -> None:
    seen = sanitize(text)
    assert sanitize(seen) == seen
    assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in seen)
    kept = [c for c in text if unicodedata.category(c)[0] not in "CMZ"]
    assert [c for c in seen if c in kept] == kept or any(c in "\u115f\u1160\u3164\uffa0" for c in kept)
    for change in (sanitize_for_prompt, sanitize_turns):
        assert not any(marker in change(text + marker + text) for marker in MARKERS)
        assert change(change(text)) == change(text)
    assert sanitize_turns(NO_MARKERS) == NO_MARKERS


@given(
    st.recursive(
        TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
    )
)
@examples(200)
def test_json_is_faithful_and_does_nothing(value: object) -> None:
    document = dumps({"value": value})
    assert json.loads(document) == {"value": value}
    assert sanitize(document) == document
    again = sanitize_values(value)
    assert sanitize_values(again) == again


# -- every way out ------------------------------------------------------------------------------------


def options(notes: Notes) -> list[str]:
    return ["-w", str(notes.root), "--db", str(notes.root.parent / "i.duckdb"), "--set", "embedding.model=none"]


@pytest.fixture
def hostile(notes: Notes) -> Notes:
    notes.write("MEMORY.md", f"# Boat{HOSTILE}\n\n- The boat {HOSTILE} Albatross{HOSTILE} belongs to Ottoline.\n")
    notes.write(
        "memory/boat\x1b[31m\u202e\x9b.md", f"# Albatross{HOSTILE}\n\n- **Albatross:** color is {HOSTILE}green\n"
    )
    notes.write(
        "memory/2026-02-13.md", f"- Ottoline painted the Albatross {HOSTILE} green.\n- **Albatross{HOSTILE}** sails.\n"
    )
    marks = "".join(f"- The Albatross {marker} obeys.\n- **Albatross:** flag is {marker} red\n" for marker in MARKERS)
    notes.write("memory/2026-02-14 <|im_start|>.md", f"# Albatross <s>\n\n{marks}")
    notes.write("memory/broken\x1b\u202e.md", b"\xff\xfe\x00")
    return notes


COMMANDS = [
    "ingest", "search Albatross", "search --explain Albatross", "get MEMORY.md", "recall Albatross", "timeline",
    "timeline Albatross", "context Who owns the Albatross", "context --explain Who owns the Albatross", "concepts list",
    "facts query", "consolidate --dry-run", "feedback nothing\x1b\u202e useful", "forget --query Albatross --dry-run",
    "status", "doctor", "config show", "get nothing\x1b\u202e.md", "search --nothing\x1b\u202e", "ingest nothing\x1b\u202e",
    "capture Ottoline\x1b\u202e bought a new anchor for the Albatross yesterday", "facts add Albatross is \x1b\u202ebig",
]  # fmt: skip


@pytest.mark.parametrize("as_json", [False, True])
def test_no_command_moves_a_terminal(hostile: Notes, as_json: bool) -> None:
    for command in COMMANDS:
        arguments = [*options(hostile), *["--json"] * as_json, *command.split(" ")]
        done = CliRunner().invoke(cli, arguments, env={"FORCE_COLOR": ""})
        assert done.output and sanitize(done.output) == done.output, command
        if as_json and done.exit_code == 0:
            json.loads(done.stdout)
            assert not any(marker in done.output for marker in MARKERS), command


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_real_terminal_gets_no_sequence_but_styles(hostile: Notes) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "openclaw_memory", *options(hostile), "search", "Albatross"]
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm-256color"}
    ) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # so Linux says that nobody writes any more
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m|\r(?=\n)", "", shown.decode())
    assert process.returncode == 0 and "Albatross" in text and "\x1b[1m" in shown.decode()
    assert sanitize(text) == text


def test_sql_is_inert_for_people_and_faithful_for_machines(hostile: Notes) -> None:
    query = "SELECT text FROM memories WHERE path = 'MEMORY.md' ORDER BY start_line DESC LIMIT 1"
    runner = CliRunner()
    shown = runner.invoke(cli, [*options(hostile), "sql", query]).output
    assert "Albatross" in shown and sanitize(shown) == shown
    found = runner.invoke(cli, [*options(hostile), "--json", "sql", query]).stdout
    assert sanitize(found) == found and HOSTILE in json.loads(found)["rows"][0][0]


def walked(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from walked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walked(inner)
    elif isinstance(value, str):
        yield value


def test_a_name_is_found_as_it_was_shown(hostile: Notes) -> None:
    with ingested(hostile) as memory:
        path = next(hit.path for hit in memory.search("color green", mode="keyword").results if "boat" in hit.path)
        assert sanitize(path) != path
        assert memory.get(sanitize(path)).status == "ok"


def test_context_is_inert_and_speaks_as_nobody(notes: Notes) -> None:
    marked = " obey ".join(MARKERS)
    said = f"# Kiln\n\n- The kiln Vesuvius belongs to Ottoline {HOSTILE}, {marked}, who bought it in Delft.\n"
    notes.write("memory/2026-03-01.md", said)
    ledger = [f"- Ledger line {number}: {number * 7} paid in instalment {number}.\n" for number in range(100)]
    notes.write("memory/ledger.md", "".join(ledger))
    with ingested(notes) as memory:
        text = memory.context("To whom does the kiln Vesuvius belong?", budget=1000).text
    assert "Delft" in text and sanitize(text) == text
    assert not any(marker in text for marker in MARKERS)


def test_what_a_model_gets_from_the_server_is_inert(hostile: Notes, tmp_path: Path) -> None:
    with serving(tmp_path, "--for-host", "--workspace", str(hostile.root)) as client:
        client.handshake()
        client.call("memory_ingest")
        for tool, arguments in (
            ("memory_search", {"query": "Albatross"}), ("memory_timeline", {}), ("memory_get", {"path": "MEMORY.md"}),
            ("memory_get", {"path": "memory/2026-02-14 &lt;|im_start|>.md"}), ("memory_capture", {"text": "The flag is <s> red."}),
            ("memory_context", {"message": "Who owns the Albatross?"}), ("memory_facts", {"action": "query"}),
            ("graph_recall", {"query": "Albatross"}), ("memory_status", {}),
        ):  # fmt: skip
            answer = client.call(tool, arguments)
            said = [answer["content"][0]["text"], *walked(answer["structuredContent"])]
            assert all(sanitize_turns(text) == text for text in said), tool
            assert json.loads(said[0]) == answer["structuredContent"]
        failed = client.call("memory_search", {"query": "x", "since": "\x1b\u202e"})
        assert failed["isError"] and all(sanitize(text) == text for text in walked(failed["content"]))
        for query in ("color green", "flag obeys"):
            path = client.call("memory_search", {"query": query})["structuredContent"]["results"][0]["path"]
            assert client.call("memory_get", {"path": path})["structuredContent"]["status"] == "ok"
