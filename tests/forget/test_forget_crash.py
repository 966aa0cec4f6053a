"""Forgetting that is cut short or crossed by others: it is finished, and nothing slips through."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import Notes, ingested, open_memory, snippets
from forgetting import traces
from indexing import python
from states import content, noted, state_file

from openclaw_memory.errors import OpenClawMemoryError, RedactionError, WorkspaceError
from openclaw_memory.forget import operations
from openclaw_memory.forget.pending import unfinished
from openclaw_memory.hookspecs import hookimpl
from openclaw_memory.system import atomic
from openclaw_memory.text import calendar

SECRET = "The vault of the bakery opens with 7714 zebra"
DAY = "memory/2026-02-16.md"
CAPTURE = "memory/captures/2026-02-16.md"

#: Forgets in a child for each line of its input, which is killed when it comes to a step; imports once for all.
_FORGETS = """
import json, os, sys
from pathlib import Path
from fakes import Notes, open_memory
from openclaw_memory.forget import operations, generated_files
from openclaw_memory.store.duckdb.store import DuckStore
from openclaw_memory.use.tracker import Usage
STEPS = {
    "state": (operations.Forgetter, "_begin"), "notes": (generated_files, "edit_notes"), "facts": (generated_files, "edit_facts"),
    "concepts": (generated_files, "edit_concepts"), "marks": (DuckStore, "schedule_reread"), "write": (DuckStore, "apply"),
    "records": (Usage, "forget"), "purge": (DuckStore, "purge"), "close": (operations.Forgetter, "_end"),
}
def forget(root, step, when, environ):
    os.environ.update(environ)
    memory = open_memory(Notes(Path(root)))
    memory.ingest()
    owner, name = STEPS[step]
    whole = getattr(owner, name)
    def killed(*given, **more):
        if when == "before":
            os.kill(os.getpid(), 9)
        whole(*given, **more)
        os.kill(os.getpid(), 9)
    setattr(owner, name, killed)
    memory.forget(concept="Zebra")
for line in sys.stdin:
    child = os.fork()
    if not child:
        forget(*json.loads(line))
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def database(notes: Notes) -> Path:
    return notes.root.parent / "index.duckdb"


def filled(notes: Notes) -> None:
    notes.write(DAY, f"# Monday\n\n- Bought milk at the market.\n- {SECRET}.\n- The Zebra came to the vault.\n")
    notes.write(CAPTURE, f"# Captures\n\n- User: {SECRET}.\n- User: Tea.\n")
    notes.write("concepts.yaml", "concepts:\n  zebra: {name: Zebra, kind: animal}\n")
    facts = ("Zebra", "sleeps in", "the vault of the bakery"), ("Mira", "drinks", "tea")
    lines = ("- {{subject: {}, predicate: {}, object: {}}}\n".format(*fact) for fact in facts)
    notes.write("facts.yaml", "".join(lines))


@pytest.fixture(scope="module")
def killed() -> Iterator[Callable[..., None]]:
    """Have a process killed at a step of forgetting."""
    with python(_FORGETS) as process:
        assert process.stdin is not None and process.stdout is not None
        requests, statuses = process.stdin, process.stdout

        def kill(notes: Notes, step: str, when: str = "before") -> None:
            folders = {name: value for name, value in os.environ.items() if name.startswith(("HOME", "XDG_"))}
            requests.write(json.dumps([str(notes.root), step, when, folders]) + "\n")
            requests.flush()
            assert statuses.readline() == f"{-signal.SIGKILL}\n"

        yield kill
        process.communicate(timeout=120)


#: After one step is before the next.
STEPS = ["state", "notes", "facts", "concepts", "marks", "write", "records", "purge", "close"]


@pytest.mark.parametrize(("step", "when"), [*((step, "before") for step in STEPS), ("close", "after")])
def test_killed_at_any_step_the_next_ingest_finishes_it(
    killed: Callable[..., None], notes: Notes, step: str, when: str
) -> None:
    filled(notes)
    killed(notes, step, when)
    begun = (step, when) != ("state", "before")
    with open_memory(notes) as memory:
        assert bool(unfinished(memory.state)) is (begun and (step, when) != ("close", "after"))
        assert not begun or b"zebra" not in content(state_file()).lower()
        # A search before that finds it no more, if it was written down at all.
        assert any("zebra" in text for text in snippets(memory, "vault zebra bakery")) is not begun
        memory.ingest()
        if not begun:
            assert memory.forget(concept="Zebra").verified
        assert not unfinished(memory.state)
        assert snippets(memory, "milk") and [row.object for row in memory.facts.query(subject="Mira").rows] == ["tea"]
    assert traces(database(notes), "zebra") == []
    for name in (CAPTURE, "facts.yaml", "concepts.yaml"):
        assert "zebra" not in (notes.root / name).read_text().lower()
    assert "User: Tea." in (notes.root / CAPTURE).read_text()


def test_the_next_forgetting_finishes_it_too(killed: Callable[..., None], notes: Notes) -> None:
    filled(notes)
    killed(notes, "marks")
    with open_memory(notes) as memory:
        assert unfinished(memory.state)
        assert memory.forget(query="milk market").verified
        assert not unfinished(memory.state)
    assert traces(database(notes), "zebra", "milk") == []


@pytest.mark.parametrize("way", ["watch", "heartbeat"])
def test_it_is_said_until_watching_or_a_heartbeat_finishes_it(
    killed: Callable[..., None], notes: Notes, way: str
) -> None:
    filled(notes)
    killed(notes, "purge")
    text = "something is still to be forgotten; run: openclaw-memory ingest"
    with open_memory(notes) as memory:
        assert text in (memory.search("milk").warning or "")
        assert text in memory.remarks() and text in (memory.status().warning or "")
        assert text in (memory.ingest(deadline=30.0).warning or "")
        if way == "watch":
            assert text not in (next(memory.watch()).warning or "")
        else:
            memory.heartbeat()
        assert not unfinished(memory.state)
        assert text not in (memory.search("milk").warning or "") and text not in memory.remarks()
    assert traces(database(notes), "zebra") == []


def test_watching_goes_on_when_it_cannot_be_finished(killed: Callable[..., None], notes: Notes) -> None:
    filled(notes)
    killed(notes, "facts")
    broken = notes.write("facts.yaml", "- {subject: Mira\n")
    with open_memory(notes) as memory:
        assert "still to be forgotten" in (next(memory.watch()).warning or "")
        memory.heartbeat()
        assert unfinished(memory.state)
        broken.unlink()
        memory.heartbeat()
        assert not unfinished(memory.state)
    assert traces(database(notes), "zebra") == []


def test_who_reads_a_file_meanwhile_must_read_it_again(notes: Notes) -> None:
    filled(notes)
    with ingested(notes, idle=0.0) as here:

        class Meanwhile:
            """Forgets in another memory of the same index when a file has been read, and masked, already."""

            def __init__(self) -> None:
                self.done = False

            @hookimpl
            def openclaw_memory_prepare_unit(self, unit: Any) -> None:
                if "copied" in unit.text and not self.done:
                    self.done = True
                    assert here.forget(query="zebra bakery").verified

        late = Meanwhile()
        with open_memory(notes, idle=0.0, plugins=[late]) as there:
            notes.write("memory/copy.md", f"- copied from Monday:\n- {SECRET}\n")
            there.ingest()
            assert late.done
            assert snippets(there, "copied Monday")
            assert not any("7714" in text for text in snippets(there, "vault bakery opens"))
    assert traces(database(notes), "7714 zebra") == []


def test_another_process_that_runs_on_does_not_bring_it_back(notes: Notes) -> None:
    filled(notes)
    code = (
        "import sys\nfrom pathlib import Path\nfrom fakes import Notes, open_memory, snippets\n"
        "notes = Notes(Path(sys.argv[1]))\nmemory = open_memory(notes)\nmemory.ingest()\n"
        "print(len(snippets(memory, 'vault zebra bakery')), flush=True)\n"
        "sys.stdin.readline()\n"
        "notes.write('memory/again.md', '- ' + sys.argv[2] + '\\n- And a lamp.\\n')\n"
        "notes._time += 10000\nnotes.touch('memory/2026-02-16.md')\n"
        "found = snippets(memory, 'vault zebra bakery lamp')\n"
        "print(any('7714' in text for text in found), any('lamp' in text for text in found), flush=True)\n"
        "print('7714' in memory.get('memory/2026-02-16.md').text, flush=True)\nmemory.close()"
    )
    child = python(code, str(notes.root), SECRET)
    assert child.stdout is not None and child.stdin is not None
    assert int(child.stdout.readline()) > 0
    with open_memory(notes) as memory:
        assert memory.forget(query="zebra bakery").verified
    out, err = child.communicate("go on\n", timeout=120)
    assert out.split() == ["False", "True", "False"], err
    assert traces(database(notes), "7714 zebra") == []


def test_an_index_that_has_not_heard_of_it_reads_everything_again(notes: Notes) -> None:
    filled(notes)
    ingested(notes).close()
    kept = database(notes).read_bytes()
    with open_memory(notes) as memory:
        assert memory.forget(query="zebra bakery").verified
    database(notes).write_bytes(kept)  # as from a backup, of which the state is no part
    with open_memory(notes) as memory:
        assert not any("7714" in text for text in snippets(memory, "vault bakery opens"))
        assert snippets(memory, "milk")
        assert unfinished(memory.state)
        memory.ingest()  # writes the file anew, as it still has the bytes
        assert not unfinished(memory.state)
    assert traces(database(notes), "7714 zebra") == []


def test_what_cannot_be_read_again_leaves_the_index(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(notes)
    with ingested(notes) as memory:
        whole = memory.plugins.prepare_lines

        def refuses(path: str, lines: list[str]) -> list[str]:
            if path == DAY:
                raise RedactionError("its secrets could not be redacted")
            return whole(path, lines)

        monkeypatch.setattr(memory.plugins, "prepare_lines", refuses)
        assert memory.forget(query="zebra bakery").verified
        assert DAY not in memory.store.documents().by_path
        monkeypatch.undo()
        memory.ingest()
        assert snippets(memory, "milk") and not any("7714" in text for text in snippets(memory, "vault bakery"))
    assert traces(database(notes), "7714 zebra") == []


def test_without_the_state_nothing_is_read(notes: Notes) -> None:
    filled(notes)
    with open_memory(notes) as memory:
        assert memory.forget(query="zebra bakery").verified
    state = state_file()
    kept = state.read_bytes()
    state.write_bytes(b"no state" * 1000)
    with open_memory(notes) as memory:
        notes.write("memory/copy.md", f"- {SECRET}\n")
        with pytest.raises(WorkspaceError, match="is damaged"):
            memory.ingest()
        result = memory.search("vault bakery opens", mode="keyword")
        assert result.stale and not any("7714" in hit.snippet for hit in result.results)
        state.unlink()
        state.write_bytes(kept)
        memory.ingest()
        assert not any("7714" in text for text in snippets(memory, "vault bakery"))
    assert traces(database(notes), "7714 zebra") == []


def test_while_summaries_are_written_it_waits(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(notes)
    monkeypatch.setattr(operations.atomic, "LOCK_TIMEOUT", 0.0)
    with open_memory(notes) as memory:
        consolidating = atomic.locked(notes.root / calendar.FOLDER, root=notes.root)
        with consolidating, pytest.raises(OpenClawMemoryError, match="another process"):
            memory.forget(query="zebra bakery")
        assert "tombstones" not in noted(memory)
        assert memory.forget(query="zebra bakery").verified


def test_many_at_once_all_forget(notes: Notes) -> None:
    notes.write(DAY, "".join(f"- The {name} of number {n} is here.\n" for n, name in enumerate("abc")))
    code = (
        "import sys\nfrom pathlib import Path\nfrom fakes import Notes, open_memory\n"
        "with open_memory(Notes(Path(sys.argv[1]))) as memory:\n"
        "    print(memory.forget(query=f'number {sys.argv[2]}').verified)"
    )
    children = [python(code, str(notes.root), str(n)) for n in range(2)]
    for child in children:
        out, err = child.communicate(timeout=120)
        assert out.split() == ["True"], err
    with open_memory(notes) as memory:
        assert snippets(memory, "number here") == ["- The c of number 2 is here."]
    assert traces(database(notes), "of number 0", "of number 1") == []


@pytest.mark.parametrize("step", ["write"])
def test_who_finishes_it_elsewhere_leaves_the_rest_to_the_index_where_it_began(
    killed: Callable[..., None], notes: Notes, step: str
) -> None:
    filled(notes)
    killed(notes, step)
    with open_memory(notes, name="other") as other:  # another agent's: the same workspace and state
        other.ingest()
        assert not snippets(other, "vault zebra bakery")
    with open_memory(notes) as memory:
        memory.freshen()
        assert unfinished(memory.state)
        memory.ingest()
        assert snippets(memory, "milk") and not unfinished(memory.state)
    assert traces(database(notes), "zebra") == [] and traces(notes.root.parent / "other.duckdb", "zebra") == []
