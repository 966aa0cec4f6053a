"""The public API: one object, its life, its searches, the lines it gives, and its safety under threads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes import CountingEmbedder, Notes, ingested, open_memory

import openclaw_memory
from openclaw_memory import Memory, SearchRequest, Settings
from openclaw_memory.config.settings import data_dir
from openclaw_memory.config.workspace import find_workspace
from openclaw_memory.errors import WorkspaceError
from openclaw_memory.model import ConsolidateReport, Kind, Session

TEXT = "".join(f"## Topic {n}\n\n- the lamp number {n} is green\n- its cable is {n} metres long\n\n" for n in range(8))


@pytest.fixture
def memory(notes: Notes, embedder: CountingEmbedder) -> Iterator[Memory]:
    notes.write("MEMORY.md", TEXT)
    notes.write("memory/2026-02-13.md", "- a lamp broke\n")
    with ingested(notes, embedder) as memory:
        yield memory


def test_everything_public_can_be_imported_and_nothing_else() -> None:
    for name in openclaw_memory.__all__:
        assert getattr(openclaw_memory, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        openclaw_memory.nosuch  # noqa: B018


def test_a_memory_is_a_context_manager_and_may_be_closed_twice(notes: Notes) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    with open_memory(notes) as memory:
        assert memory.ingest().added == 1
    memory.close()
    with open_memory(notes) as memory:
        assert memory.ingest().unchanged == 1


def test_opening_creates_nothing(notes: Notes) -> None:
    with open_memory(notes):
        pass
    assert [path.name for path in notes.root.parent.iterdir()] == ["workspace"]


def test_each_workspace_and_agent_has_an_index_of_its_own_in_the_data_folder(notes: Notes, tmp_path: Path) -> None:
    other = Notes(tmp_path / "other" / "workspace")
    paths = set()
    none = Settings().with_values({"embedding.model": "none"})
    for root, agent in ((notes.root, "main"), (notes.root, "magpie"), (other.root, "main"), (notes.root, "../evil")):
        with Memory(root, agent=agent, settings=none) as memory:
            memory.ingest()
            paths.add(memory.status().database)
    assert len(paths) == 4
    assert all(Path(path).resolve().is_relative_to(data_dir().resolve()) for path in paths)
    assert all(Path(path).stat().st_mode & 0o077 == 0 for path in paths)


def test_the_workspace_is_openclaws_or_the_current_folder(
    notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceError, match="give one with --workspace"):
        find_workspace(None)
    notes.write("USER.md", "me\n")
    monkeypatch.chdir(notes.root)
    assert find_workspace(None) == notes.root.resolve()
    state = Path.home() / ".openclaw"
    (state / "workspace").mkdir(parents=True)
    assert find_workspace(None) == (state / "workspace").resolve()
    named = tmp_path / "named"
    named.mkdir()
    (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": {"workspace": str(named)}}}))
    assert find_workspace(None) == named.resolve()
    for without in (
        "// JSON5\n{agents: {}}",
        "[]",
        '{"agents": 1}',
        '{"agents":{"defaults":{"workspace":null}}}',
        "\0",
    ):
        (state / "openclaw.json").write_text(without)
        assert find_workspace(None) == (state / "workspace").resolve()
    monkeypatch.setenv("OPENCLAW_WORKSPACE_DIR", str(notes.root))
    assert find_workspace(None) == notes.root.resolve()
    for wrong in (tmp_path / "no", notes.root / "USER.md", "~nobody-has-this-name"):
        with pytest.raises(WorkspaceError, match="folder"):
            find_workspace(wrong)


def test_search_options_reach_the_answer(memory: Memory) -> None:
    def paths(**options: Any) -> list[str]:
        return [hit.citation for hit in memory.search("lamp", **options).results]

    assert len(paths()) == 2
    assert len(paths(max_results=1)) == 1
    assert paths(kinds=(Kind.DAILY,)) == ["memory/2026-02-13.md#L1"]
    assert paths(since=date(2026, 1, 1), until=date(2026, 12, 31), kinds=(Kind.DAILY,)) == ["memory/2026-02-13.md#L1"]
    assert paths(min_score=1.0, max_results=50) != paths(max_results=50)
    assert memory.search("lamp", fusion="rrf").results
    spans = memory.search("lamp green", budget=40).results
    assert spans and sum(len(hit.snippet) + 1 for hit in spans) / 4 <= 40
    assert all(hit.why for hit in memory.search("lamp", explain=True).results)
    assert not any(hit.why for hit in memory.search("lamp").results)
    assert memory.search(SearchRequest("lamp", max_results=2)).results == memory.search("lamp", max_results=2).results


def test_modes_say_what_ranked(memory: Memory) -> None:
    hybrid, vector, keyword = (memory.search("green lamp", mode=mode) for mode in ("hybrid", "vector", "keyword"))
    assert [r.mode for r in (hybrid, vector, keyword)] == ["hybrid", "vector", "keyword"]
    assert hybrid.results[0].text_score is not None and hybrid.results[0].vector_score is not None
    assert vector.results[0].text_score is None and vector.results[0].vector_score is not None
    assert keyword.results[0].text_score is not None and keyword.results[0].vector_score is None


def test_a_snippet_is_the_text_of_its_lines(memory: Memory, notes: Notes) -> None:
    for hit in memory.search("lamp cable", max_results=20).results:
        lines = (notes.root / hit.path).read_text().split("\n")
        assert hit.snippet == "\n".join(lines[hit.start_line - 1 : hit.end_line])
        assert memory.get(hit.path, hit.start_line, hit.end_line - hit.start_line + 1).text == hit.snippet
        assert memory.get(hit.citation).text == hit.snippet


def test_odd_questions_are_answered(memory: Memory) -> None:
    for query in ("", "   ", "???", "\0", "\ud800", "a" * 100_000, "🦜", "' OR 1=1 --", "%s"):
        result = memory.search(query)
        assert all(0 <= hit.score <= 1 for hit in result.results)


def test_a_weight_of_no_feature_is_named_and_changes_nothing(notes: Notes, caplog: pytest.LogCaptureFixture) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    with open_memory(notes) as memory, open_memory(notes, search__weights={"bm25_windw": 1}) as other:
        assert memory.search("lamp").results == other.search("lamp").results != ()
    assert "there is no feature 'bm25_windw'" in caplog.text and "changes nothing" in caplog.text


def test_hits_keep_their_ids_in_a_rebuilt_index(memory: Memory, notes: Notes, embedder: CountingEmbedder) -> None:
    before = {hit.citation: hit.id for hit in memory.search("lamp", max_results=20).results}
    with ingested(notes, embedder, name="rebuilt") as again:
        assert {hit.citation: hit.id for hit in again.search("lamp", max_results=20).results} == before
    assert len(set(before.values())) == len(before)


def test_get_pages_through_a_file(memory: Memory, notes: Notes) -> None:
    whole = memory.get("MEMORY.md")
    assert (whole.status, whole.text + "\n", whole.from_line, whole.next_from) == ("ok", TEXT, 1, None)
    seen, at = [], 1
    while at:
        page = memory.get("MEMORY.md", at, 7)
        assert page.from_line == at and page.lines == len(page.text.split("\n"))
        seen.append(page.text)
        assert page.truncated == (page.next_from is not None)
        at = page.next_from or 0
    assert "\n".join(seen) == whole.text
    notes.write("memory/long.md", "\n".join("x" * 99 for _ in range(1000)))
    page = memory.get("memory/long.md")
    assert (page.lines, page.next_from, page.truncated) == (120, 121, True)
    notes.write("memory/line.md", "y" * 50_000)
    assert memory.get("memory/line.md").lines == 1


def test_get_shows_the_file_as_it_is_now(memory: Memory, notes: Notes) -> None:
    notes.write("MEMORY.md", "- changed\r\n- twice\r\n")
    assert memory.get("MEMORY.md").text == "- changed\n- twice"
    notes.write("MEMORY.md", "")
    assert (memory.get("MEMORY.md").status, memory.get("MEMORY.md").lines) == ("ok", 0)


@pytest.mark.parametrize("given", ["MEMORY.md:3-4", "MEMORY.md#L3-L4", "MEMORY.md#L3-4"])
def test_get_takes_a_citation(memory: Memory, given: str) -> None:
    page = memory.get(given)
    assert (page.path, page.from_line, page.lines) == ("MEMORY.md", 3, 2)
    assert memory.get(given, 1, 1).from_line == 1


def test_get_takes_the_names_that_people_and_programs_write(memory: Memory, notes: Notes, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(notes.root)
    for given in ("memory/2026-02-13.md", "./memory/2026-02-13.md", "memory\\2026-02-13.md", " memory/2026-02-13.md ",
                  str(notes.root / "memory" / "2026-02-13.md"), str(link / "memory" / "2026-02-13.md")):  # fmt: skip
        assert memory.get(given).path == "memory/2026-02-13.md", given
    notes.write("memory/Caf\u00e9.md", "- coffee\n")  # composed
    notes.write("memory/Zoe\u0308.md", "- animals\n")  # decomposed, as macOS writes it
    assert memory.get("memory/Cafe\u0301.md").text == "- coffee"
    assert memory.get("memory/Zo\u00eb.md").text == "- animals"
    hits = memory.search("animals", mode="keyword").results
    assert memory.get(hits[0].path).text == "- animals"
    notes.write("memory/a:3.md", "- colon\n")
    notes.write("memory/back\\slash.md", "- slash\n")
    assert memory.get("memory/a:3.md").text == "- colon"
    assert memory.get("memory/back\\slash.md").text == "- slash"


def test_get_gives_nothing_but_memory_files(memory: Memory, notes: Notes) -> None:
    for name in ("../secret.md", "secret.md", ".env.md", "memory/.hidden.md", "memory/a.txt"):
        notes.write(name, "secret\n")
    (notes.root / "memory" / "link.md").symlink_to("../../secret.md")
    (notes.root / "memory" / "out").symlink_to("../..")
    for given in (
        "", ".", "/", "nope.md", "../secret.md", "memory/../../secret.md", "/etc/passwd", "memory", "memory/",
        "secret.md", ".env.md", "memory/.hidden.md", "memory/link.md", "memory/out/secret.md", "@x/../secret.md",
        "memory/a.txt", "..\\secret.md", "a\0b", "~/secret.md", "memory/2026-02-13.md/..", "file:///etc/passwd",
    ):  # fmt: skip
        page = memory.get(given)
        assert (page.status, page.text, page.path) == ("not_found", "", given)


def test_get_says_what_is_wrong_with_a_file_or_its_lines(memory: Memory, notes: Notes) -> None:
    notes.write(
        "memory/c.md",
        b"- The kiln \0is paid for, and the glaze is ordered from the works in the valley; it comes on Monday by the boat.\n",
    )
    assert memory.get("memory/c.md").text.startswith("- The kiln is paid for")
    notes.write("memory/b.md", b"\0\1")
    assert "NUL" in str(memory.get("memory/b.md").error)
    assert memory.get("MEMORY.md", 41).error == "there is no line 41: the last one is 40"
    for start, count in ((0, None), (-1, None), (None, 0), (1, -5)):
        assert memory.get("MEMORY.md", start, count).status == "error"
    notes.write(".memoryignore", "MEMORY.md\n")
    assert memory.get("MEMORY.md").status == "not_found"


def test_a_session_start_ingests_and_a_heartbeat_maintains(memory: Memory, notes: Notes) -> None:
    notes.write("memory/new.md", "- a chair\n")
    (report,) = memory.session_start(Session("s", "main"))
    assert report.added == 1
    (result,) = memory.heartbeat(datetime(2026, 2, 13, tzinfo=UTC))
    assert isinstance(result, ConsolidateReport) and result.dry_run
    assert memory.heartbeat(datetime(2026, 2, 13, 0, 59, tzinfo=UTC)) == [False]  # too soon for another look
    assert memory.maintain(force=True)
    assert memory.status().postings_delta == 0
    assert memory.search("chair").results


def test_status_counts_what_is_there(memory: Memory, notes: Notes) -> None:
    status = memory.status()
    assert (status.workspace, status.agent) == (str(notes.root), "main")
    assert (status.files, status.chunks, status.sections) == (2, 25, 9)
    assert (status.by_kind, status.by_grain) == ({"curated": 24, "daily": 1}, {"working": 25})
    assert status.vectors == {"ready": 25, "pending": 0, "failed": 0, "outdated": 0}
    assert (status.plugins, status.plugin_failures) == (("redact",), {})
    assert (status.provider, status.model, status.dimensions) == ("hashing", "counting-64", 64)


def test_warm_loads_what_a_search_needs(memory: Memory, embedder: CountingEmbedder) -> None:
    memory.warm()
    assert "warm" in embedder.questions


def test_threads_search_while_one_ingests(memory: Memory, notes: Notes) -> None:
    errors: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
            done.set()

    def search() -> None:
        while not done.is_set():
            result = memory.search("green lamp")
            assert result.results, result
            for hit in result.results:
                assert 1 <= hit.start_line <= hit.end_line
            memory.get("MEMORY.md", 1, 3)

    def ingest() -> None:
        try:
            for round_ in range(6):
                notes.write(f"memory/{round_ % 3}.md", f"- lamp of round {round_}\n" * (round_ + 1))
                memory.ingest()
                memory.status()
        finally:
            done.set()

    threads = [threading.Thread(target=guarded, args=(work,)) for work in [*[search] * 4, ingest]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    assert not any(thread.is_alive() for thread in threads)
    assert memory.ingest().chunks == 25 + 4 + 5 + 6


def test_two_threads_ingest_at_once_and_count_each_change_once(memory: Memory, notes: Notes) -> None:
    for n in range(30):
        notes.write(f"memory/n{n}.md", f"- note {n}\n")
    reports: list[Any] = []
    threads = [threading.Thread(target=lambda: reports.append(memory.ingest())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(report.added for report in reports) == 30
    assert memory.status().chunks == 55
