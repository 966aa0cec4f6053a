"""Other memories beside one's own: what is read, how it is named and trusted, and that it is only read."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fakes import CountingEmbedder, Notes, open_memory
from indexing import python

from openclaw_memory import Memory, Settings
from openclaw_memory.cli.main import cli
from openclaw_memory.config.workspace import default_path
from openclaw_memory.errors import RequestError, SettingsError
from openclaw_memory.model import Origin, tokens_of
from openclaw_memory.serve.pool import Pool
from openclaw_memory.sharing import reading
from openclaw_memory.sharing.reading import find_sources

HOLD = """
import sys
from pathlib import Path
from indexing import open_store
store = open_store(Path(sys.argv[1]))
with store.session():
    store.state()
    print("held", flush=True)
    sys.stdin.readline()
store.close()
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no reason for another memory to be late."""
    monkeypatch.setattr(reading, "SECONDS", 30.0)


@pytest.fixture
def team(tmp_path: Path) -> Notes:
    """A team's workspace: what the owner wrote, a day's notes, and what a stranger wrote."""
    team = Notes(tmp_path / "team")
    team.write("MEMORY.md", "# Team\n\n- The staging server is called Ostrich.\n- Ana Ruiz leads the Lagoon project.\n")
    team.write("memory/2026-03-02.md", "# Monday\n\n- The Lagoon project moved its backups to Ostrich.\n")
    team.write("memory/web.md", "---\norigin: untrusted\n---\n\n- A web page says that Ostrich is slow.\n")
    return team


@pytest.fixture
def research(tmp_path: Path) -> Notes:
    research = Notes(tmp_path / "research")
    research.write("memory/2026-03-01.md", "# Sunday\n\n- Ostrich has 64 GB of memory.\n")
    return research


def sharing(*memories: dict[str, Any], names: list[str] | None = None) -> dict[str, Any]:
    """Settings that read from ``memories``."""
    listed = [one["name"] for one in memories] if names is None else names
    return {"sharing__read_from": listed, "sharing__memories": list(memories)}


def of(notes: Notes, name: str = "team", **more: Any) -> dict[str, Any]:
    return {"name": name, "workspace": str(notes.root), **more}


def agents(**workspaces: Notes) -> None:
    """Configure OpenClaw with agents that have these workspaces."""
    state = Path(os.environ["HOME"]) / ".openclaw"
    state.mkdir(parents=True)
    entries = {name: {"workspace": str(notes.root)} for name, notes in workspaces.items()}
    (state / "openclaw.json").write_text(json.dumps({"agents": {"entries": entries}}))


@pytest.fixture
def mine(notes: Notes) -> Notes:
    notes.write("MEMORY.md", "# Me\n\n- My own laptop is called Heron.\n- Ostrich is where I test.\n")
    return notes


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.fixture
def memory(mine: Notes, team: Notes) -> Iterator[Memory]:
    with open_memory(mine, **sharing(of(team))) as memory:
        yield memory


# -- what is read, and how it is named ----------------------------------------------------------------


def test_a_search_finds_what_the_team_noted_and_says_whose_it_is(memory: Memory, team: Notes) -> None:
    result = memory.search("Ostrich backups of the Lagoon project")
    best = result.results[0]
    assert (best.path, best.memory, best.citation) == (
        "@team/memory/2026-03-02.md", "team", "@team/memory/2026-03-02.md#L1-L3"
    )  # fmt: skip
    assert {hit.memory for hit in result.results} == {None, "team"}
    assert all(hit.path.startswith("@team/") == (hit.memory == "team") for hit in result.results)
    assert result.warning is None
    alone = Memory(team.root, agent="team", settings=memory.settings, read_from=())
    with alone:
        there = {hit.citation: hit.score for hit in alone.search("Ostrich backups of the Lagoon project").results}
    assert there == {hit.citation.removeprefix("@team/"): hit.score for hit in result.results if hit.memory}


def test_only_what_is_listed_is_read(mine: Notes, team: Notes, research: Notes) -> None:
    settings = sharing(of(team), of(research, "research"), names=["team"])
    with open_memory(mine, **settings) as memory:
        assert {hit.memory for hit in memory.search("Ostrich").results} == {None, "team"}
        assert memory.get("@research/memory/2026-03-01.md").status == "not_found"
        assert "64 GB" not in str(memory.recall("Ostrich")) + str(memory.timeline()) + str(memory.timeline("Ostrich"))
    assert not default_path(research.root, "research").exists()  # it was not even opened
    with open_memory(mine, **sharing(of(team), names=[])) as memory:
        assert {hit.memory for hit in memory.search("Ostrich").results} == {None}
        assert memory.get("@team/MEMORY.md").status == "not_found"


def test_who_is_no_reader_of_a_memory_reads_nothing_of_it(mine: Notes, team: Notes) -> None:
    settings = sharing(of(team, readers=["magpie"]))
    with open_memory(mine, **settings) as memory, open_memory(mine, agent="magpie", name="m", **settings) as magpie:
        assert {hit.memory for hit in memory.search("Ostrich").results} == {None}
        assert {hit.memory for hit in magpie.search("Ostrich").results} == {None, "team"}


def test_what_another_memory_reads_from_elsewhere_is_not_passed_on(mine: Notes, team: Notes, research: Notes) -> None:
    first = sharing(of(team), of(research, "research"), names=["team"])
    with (
        open_memory(team, agent="team", db=None, **sharing(of(research, "research"))) as theirs,
        open_memory(mine, **first) as memory,
    ):
        assert "research" in {hit.memory for hit in theirs.search("Ostrich").results}
        assert "research" not in str(memory.search("Ostrich").results)
        assert memory.get("@team/@research/memory/2026-03-01.md").status == "not_found"
    extra = {"ingest__extra_paths": [{"path": str(research.root), "name": "wiki"}]}
    with open_memory(mine, name="extra", **sharing(of(team)), **extra) as memory:
        paths = {hit.path for hit in memory.search("Ostrich", max_results=50).results}
        assert "@wiki/memory/2026-03-01.md" in paths and not any(path.startswith("@team/@") for path in paths)


def test_a_name_is_that_of_an_agent_of_openclaw_too(mine: Notes, research: Notes, tmp_path: Path) -> None:
    agents(research=research, main=mine)
    with open_memory(mine, **sharing(names=["research", "nobody"])) as memory:
        result = memory.search("Ostrich")
        assert "research" in {hit.memory for hit in result.results}
        assert result.warning is not None and "@nobody: not known; give it a workspace" in result.warning


def test_a_sub_agent_reads_its_parent_and_nobody_else_does(mine: Notes, research: Notes) -> None:
    agents(research=research, main=mine)
    with open_memory(mine, **sharing(names=["parent"])) as memory:
        assert {hit.memory for hit in memory.search("Ostrich").results} == {None}
        child = memory.under("research")
        assert {hit.memory for hit in child.search("Ostrich").results} == {None, "parent"}
        assert "64 GB" in child.get("@parent/memory/2026-03-01.md").text
        assert {hit.memory for hit in memory.under("main").search("Ostrich").results} == {None}  # its own memory
        assert {hit.memory for hit in memory.search("Ostrich").results} == {None}
    with open_memory(mine, name="other", **sharing(names=[])) as memory:
        assert {hit.memory for hit in memory.under("research").search("Ostrich").results} == {None}


def test_lines_of_another_memory_are_read_by_the_names_that_results_have(memory: Memory, team: Notes) -> None:
    team.write("memory/secret.md", "- before\n<!-- private -->\n- hidden\n<!-- /private -->\n- after\n")
    for hit in memory.search("Ostrich").results:
        found = memory.get(hit.citation)
        assert found.status == "ok" and found.path == hit.path and found.text == hit.snippet
    assert memory.get("@team/MEMORY.md", 3, 1).text == "- The staging server is called Ostrich."
    shown = memory.get("@team/memory/secret.md").text
    assert "hidden" not in shown and "[private]" in shown
    for outside in ("@team/../workspace/MEMORY.md", "@team/nothing.md", "@team/", "@tea/MEMORY.md", "@team"):
        assert memory.get(outside).status == "not_found", outside


def test_a_thread_and_a_timeline_tell_of_other_memories_in_order_of_time(memory: Memory) -> None:
    recalled = memory.recall("Lagoon project Ostrich", max_results=5)
    assert "team" in {hit.memory for hit in recalled.results}
    for edge in [edge for hit in recalled.results if hit.memory for edge in hit.via]:
        assert edge.text.count("@team/") == sum(place.startswith("@team/") for place in (edge.source, edge.target))
    days = [hit.date or date.max for hit in recalled.results]
    assert days == sorted(days)
    listed = memory.timeline(max_results=1)
    assert [hit.path for hit in listed.results] == ["@team/memory/2026-03-02.md"]
    assert listed.results[0].snippet.startswith("[2026-03-02] ")


# -- how much ------------------------------------------------------------------------------------------


def test_the_number_of_results_holds_for_all_memories_together(memory: Memory) -> None:
    for most in (1, 2, 3, 50):
        found = memory.search("Ostrich", max_results=most).results
        assert len(found) == min(most, len(memory.search("Ostrich", max_results=50).results))
        assert len(memory.recall("Ostrich", max_results=most).results) <= most
        assert len(memory.timeline(max_results=most).results) <= most
        assert found == memory.search("Ostrich", max_results=50).results[:most] or most > 1


def test_the_budget_holds_for_all_memories_together(memory: Memory) -> None:
    for budget in (1, 12, 25, 60, 1000):
        for found in (memory.search("Ostrich Lagoon", budget=budget), memory.recall("Ostrich Lagoon", budget=budget)):
            assert sum(tokens_of(hit.snippet) for hit in found.results) <= budget
        if budget == 1000:
            assert {hit.memory for hit in found.results} == {None, "team"}


def test_the_same_line_in_two_memories_is_given_once_as_ones_own(mine: Notes, team: Notes, research: Notes) -> None:
    for notes in (mine, team, research):
        notes.write("memory/2026-03-05.md", "- The kingfisher password policy changed to twelve characters.\n")
    with open_memory(mine, **sharing(of(team), of(research, "research"))) as memory:
        found = [hit for hit in memory.search("kingfisher policy").results if "kingfisher" in hit.snippet]
        assert [hit.memory for hit in found] == [None]


# -- trust ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ("owner", {"MEMORY.md": "owner", "memory/2026-03-02.md": "agent", "memory/web.md": "untrusted"}),
        ("agent", {"MEMORY.md": "agent", "memory/2026-03-02.md": "agent", "memory/web.md": "untrusted"}),
        ("untrusted", dict.fromkeys(["MEMORY.md", "memory/2026-03-02.md", "memory/web.md"], "untrusted")),
    ],
)
def test_nothing_is_more_trusted_than_it_is_there_nor_than_the_setting_says(
    mine: Notes, team: Notes, most: str, expected: dict[str, str]
) -> None:
    with open_memory(mine, **sharing(of(team, origin=most))) as memory:
        found = {hit.path: hit.origin for hit in memory.search("Ostrich", max_results=50).results if hit.memory}
    assert found == {f"@team/{path}": Origin(origin) for path, origin in expected.items()}


def test_another_memory_is_given_unasked_only_where_the_setting_says_so(mine: Notes, team: Notes) -> None:
    message = "Who leads the Lagoon project, and what is the staging server called?"
    with open_memory(mine, **sharing(of(team))) as memory:
        assert "Ana" not in memory.context(message).text
    with open_memory(mine, name="b", **sharing(of(team, context=True))) as memory:
        given = memory.context(message)
        assert "@team:\n" in given.text and "Ana Ruiz" in given.text
        assert given.tokens <= 200 and {hit.memory for hit in given.sources} >= {"team"}
        assert "web page" not in given.text
        small = memory.context(message, budget=20)
        assert small.tokens <= 20
        again = [memory.context(message, session="one").text for _ in range(2)]
        assert "Ana Ruiz" in again[0] and "Ana Ruiz" not in again[1]
    with open_memory(mine, name="c", **sharing(of(team, context=True, origin="untrusted"))) as memory:
        assert "Ana" not in memory.context(message).text


# -- read-only -----------------------------------------------------------------------------------------


def test_nothing_of_another_memory_changes_but_its_index(mine: Notes, team: Notes, tmp_path: Path) -> None:
    before = files_of(team.root)
    with open_memory(mine, **sharing(of(team, context=True)), capture__enabled=True) as memory:
        hit = next(hit for hit in memory.search("Ostrich backups").results if hit.memory)
        memory.recall("Ostrich")
        memory.context("What is Ostrich?")
        memory.get(hit.citation)
        memory.replied(hit.snippet)
        for place in (hit.id, hit.citation):
            with pytest.raises(RequestError, match="stands in the memory of team, which is only read here"):
                memory.feedback(place, "useful")
        with pytest.raises(RequestError):
            memory.forget(path=hit.path)
        memory.concepts.add("Ostrich")
        memory.facts.add("Ostrich", "runs", "Linux")
        memory.usage.flush()
        used = {row[0] for row in memory.state.read("SELECT path FROM use")}
    assert used and not any(path.startswith("@") for path in used)
    assert files_of(team.root) == before
    with Memory(team.root, agent="team", settings=Settings().with_values({"embedding.model": "none"})) as theirs:
        assert theirs.state.read("SELECT 1 FROM use") == [] and theirs.state.file is not None
        assert not theirs.state.file.exists()


def test_what_was_forgotten_there_is_not_found_here(memory: Memory, team: Notes) -> None:
    settings = Settings().with_values({"embedding.model": "none", "ingest.fresh_seconds": 0.0})
    assert "backups" in str(memory.search("Ostrich backups").results)
    with Memory(team.root, agent="team", settings=settings) as theirs:
        theirs.forget(query="Lagoon project moved its backups")
    assert "moved its backups" not in str(memory.search("Ostrich backups").results)
    assert "moved its backups" not in memory.get("@team/memory/2026-03-02.md").text


# -- what is missing, late or broken -------------------------------------------------------------------


def test_a_memory_that_is_missing_is_told_and_the_own_one_answers(mine: Notes, team: Notes, tmp_path: Path) -> None:
    gone = {"name": "gone", "workspace": str(tmp_path / "nowhere")}
    with open_memory(mine, **sharing(gone, of(team))) as memory:
        for result in (memory.search("Ostrich"), memory.recall("Ostrich"), memory.timeline()):
            assert result.warning is not None and "@gone was not read: " in result.warning
            assert "team" in {hit.memory for hit in result.results}
        found = memory.get("@gone/MEMORY.md")
        assert found.status == "error" and "nowhere: no such folder" in str(found.error)


def test_a_memory_that_is_locked_costs_its_share_of_the_time_and_a_warning(mine: Notes, team: Notes) -> None:
    with open_memory(mine, **sharing(of(team))) as memory:
        memory.search("Ostrich")
        memory.others._seconds = 0.3
        other = python(HOLD, str(default_path(team.root, "team")))
        try:
            assert other.stdout is not None and other.stdout.readline() == "held\n"
            result = memory.search("Ostrich")
        finally:
            other.communicate("\n", timeout=30)
        assert result.warning is not None and "@team was not read: " in result.warning
        assert [hit.memory for hit in result.results] == [None]
        for thread in memory.others._late.values():
            thread.join(30)
        memory.others._seconds = 30.0
        assert "team" in {hit.memory for hit in memory.search("Ostrich").results}


def test_a_memory_that_does_not_answer_is_asked_again_when_it_is_done(mine: Notes, team: Notes) -> None:
    embedder = CountingEmbedder()
    with open_memory(mine, embedder, **sharing(of(team))) as memory:
        memory.search("Ostrich")
        memory.others._seconds = 0.2
        entered, release = threading.Event(), threading.Event()
        use = memory.others._use

        class Slow:
            def __init__(self, source: Any) -> None:
                self.used = use(source)

            def __enter__(self) -> Any:
                entered.set()
                assert release.wait(30)
                return self.used.__enter__()

            def __exit__(self, *exc: Any) -> Any:
                return self.used.__exit__(*exc)

        memory.others._use = Slow  # type: ignore[assignment]
        late = memory.search("Ostrich").warning
        assert entered.is_set() and late is not None and "@team was not read: did not answer in time" in late
        busy = memory.search("Ostrich").warning
        assert busy is not None and "@team was not read: still at work on an earlier question" in busy
        release.set()
        for thread in list(memory.others._late.values()):
            thread.join(30)
        memory.others._use, memory.others._seconds = use, 30.0
        assert "team" in {hit.memory for hit in memory.search("Ostrich").results}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (sharing(names=["a/b"]), "'a/b' cannot be a name"),
        (sharing({"name": "a"}, {"name": "A"}), "two entries are named 'A'"),
        (
            {**sharing({"name": "wiki"}), "ingest__extra_paths": [{"path": "/x", "name": "wiki"}]},
            "'wiki' is a name in ingest.extra_paths too",
        ),
    ],
)
def test_names_that_cannot_be_shown_or_mean_two_things_are_refused(
    mine: Notes, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        open_memory(mine, **values)


def test_ones_own_memory_is_no_other_one(mine: Notes) -> None:
    settings = Settings().with_values({"sharing.memories": [of(mine, "me", agent="main")]})
    assert find_sources(settings, ["me"], "main", mine.root.resolve()) == ([], [])


# -- the surfaces --------------------------------------------------------------------------------------


def test_memories_of_one_server_are_opened_once(mine: Notes, team: Notes) -> None:
    settings = Settings().with_values(
        {"embedding.model": "none", **{k.replace("__", "."): v for k, v in sharing(of(team)).items()}}
    )
    pool = Pool(settings, workspace=mine.root)
    try:
        with pool.use(pool.key()) as memory, pool.use(("team", team.root.resolve())) as theirs:
            assert "team" in {hit.memory for hit in memory.search("Ostrich").results}
            with memory.others._use(find_sources(settings, ["team"], "main", memory.workspace)[0][0]) as used:
                assert used is theirs
    finally:
        assert pool.close(30)


def test_the_command_line_reads_others_by_name(mine: Notes, team: Notes, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"embedding": {"model": "none"}, "sharing": {"memories": [of(team)]}}))
    base = ["--config", str(config), "--workspace", str(mine.root)]
    alone = CliRunner().invoke(cli, [*base, "search", "Ostrich", "--json"])
    assert alone.exit_code == 0 and "@team" not in alone.stdout and '"memory": ' not in alone.stdout
    both = CliRunner().invoke(cli, [*base, "--set", "sharing.read_from=team", "search", "Ostrich", "--json"])
    assert {hit.get("memory") for hit in json.loads(both.stdout)["results"]} == {None, "team"}
    shown = CliRunner().invoke(cli, [*base, "--set", "sharing.read_from=team", "get", "@team/MEMORY.md"])
    assert "staging server" in shown.stdout


def test_hits_of_another_memory_leave_no_trace_of_their_lines(mine: Notes, team: Notes, tmp_path: Path) -> None:
    config, index = tmp_path / "config.yaml", tmp_path / "i.duckdb"
    config.write_text(json.dumps({"embedding": {"model": "none"}, "sharing": {"memories": [of(team)]}}))
    base = ["--config", str(config), "--workspace", str(mine.root), "--db", str(index)]
    base += ["--set", "sharing.read_from=team"]
    assert "@team" in CliRunner().invoke(cli, [*base, "search", "Ostrich"]).stdout
    rows = json.loads((tmp_path / "i.duckdb.shown.json").read_text())
    assert ["@team", 0, ""] in rows and ["MEMORY.md"] in [row[:1] for row in rows]
    assert not [row for row in rows if row[0].startswith("@team/")]
    for does in (["open"], ["feedback"]):
        number = str(rows.index(["@team", 0, ""]) + 1)
        done = CliRunner().invoke(cli, [*base, *does, number, *(["useful"] if does == ["feedback"] else [])])
        assert done.exit_code == 1 and f"hit {number} is in the memory @team" in done.stderr
