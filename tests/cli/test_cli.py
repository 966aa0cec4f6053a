"""Every command, for people and as JSON, before and after its name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import pytest
from click.testing import CliRunner, Result
from fakes import Notes

from openclaw_memory import __version__, example
from openclaw_memory.cli.main import COMMANDS, cli
from openclaw_memory.version import build_id

TEXT = "# Lamps\n\n- a green lamp by the door\n- a red lamp in the hall\n"


@pytest.fixture
def run(notes: Notes, tiny_gguf: Path) -> Callable[..., Result]:
    notes.write("MEMORY.md", TEXT)

    def invoke(*arguments: str, model: str | None = None, workspace: bool = True, code: int = 0) -> Result:
        before = ["--set", f"embedding.model={model or tiny_gguf}", *(["-w", str(notes.root)] if workspace else [])]
        return commands.run(*before, *arguments, code=code)

    return invoke


def read(run: Callable[..., Result], *arguments: str, **options: Any) -> Any:
    """The JSON of a command, and nothing else on stdout."""
    return json.loads(run(*arguments, "--json", **options).stdout)


def test_json_may_be_asked_for_before_and_after_a_command(run: Callable[..., Result]) -> None:
    assert json.loads(run("--json", "status").stdout).keys() == read(run, "status").keys()


def test_ingest(run: Callable[..., Result]) -> None:
    first = run("ingest")
    assert re.fullmatch(
        r"1 file, 3 units: 3 added, 0 updated, 0 deleted, 0 unchanged; 3 embedded; \d+\.\d\d s\n", first.stdout
    )
    assert first.stderr == ""
    assert read(run, "ingest")["unchanged"] == 3


def test_ingest_lazily_and_then_for_good(run: Callable[..., Result], notes: Notes) -> None:
    assert "0 embedded, 3 pending" in run("ingest", "--lazy").stdout
    assert json.loads(run("search", "green", "--json").stdout)["results"][0]["vectorScore"] is not None
    run("--set", "ingest.embed=lazy", "ingest")
    notes.write("memory/a.md", "- a chair\n")
    assert read(run, "--set", "ingest.embed=lazy", "ingest")["pending"] == 1
    assert json.loads(run("--set", "ingest.embed=background", "ingest", "--json").stdout)["pending"] == 0


def test_ingest_of_paths(run: Callable[..., Result], notes: Notes) -> None:
    notes.write("memory/a.md", "- a chair\n")
    assert read(run, "ingest", "memory", model="none")["files"] == 1


def test_search(run: Callable[..., Result]) -> None:
    found = run("search", "green", "lamp", "--explain").stdout
    assert re.match(r" 1  \d\.\d\d  MEMORY\.md:\d", found)
    assert "      - a green lamp by the door\n" in found and "      why: keywords" in found
    result = read(run, "search", "green lamp", "-n", "1")
    assert len(result["results"]) == 1 and result["mode"] == "hybrid" and result["provider"] == "llama.cpp"
    for option in (["--budget", "20"], ["--mode", "keyword"], ["--kind", "curated", "--kind", "daily"], ["--grain", "working"],
                   ["--now", "2026-02-13"], ["--since", "2020-01-01", "--until", "2999-12-31"], ["--min-score", "0.1"]):  # fmt: skip
        undated = "--since" in option  # the time of a file says nothing about its lines
        assert bool(read(run, "search", "green", *option, model="none")["results"]) != undated, option
    assert run("search", "green", "--since", "2999-01-01", model="none").stdout == "no good match\n"
    assert read(run, "search", "green", "--kind", "daily", model="none")["results"] == []


def test_search_says_when_it_has_keywords_only(run: Callable[..., Result]) -> None:
    found = run("search", "green", model="none")
    assert found.stderr == "note: embedding.model is none: searching by keywords\n"
    assert read(run, "search", "green", model="none")["fallback"] == "embedding.model is none: searching by keywords"


def test_get(run: Callable[..., Result]) -> None:
    assert run("get", "MEMORY.md").stdout == TEXT
    page = run("get", "MEMORY.md", "--from", "3", "--lines", "1")
    assert page.stdout == "- a green lamp by the door\n"
    assert page.stderr == "note: there is more: --from 4\n"
    assert read(run, "get", "MEMORY.md:3-4") == {
        "status": "ok", "path": "MEMORY.md", "text": "- a green lamp by the door\n- a red lamp in the hall",
        "from": 3, "lines": 2,
    }  # fmt: skip


def test_status(run: Callable[..., Result], notes: Notes) -> None:
    run("ingest")
    short = run("status").stdout
    assert [line.split(":")[0] for line in short.splitlines()] == ["✓ model", "✓ notes", "✓ freshness", "next"]
    assert f"✓ notes: {notes.root}: 1 file, 3 units" in short and "postings" not in short
    assert short.endswith("next: openclaw-memory search QUESTION\n")
    inside = run("status", "--verbose").stdout
    assert inside.startswith(short.partition("next:")[0])
    lines = dict(line.split(None, 1) for line in inside.partition("\n\n")[2].splitlines())
    assert (lines["chunks"], lines["byKind"]) == ("3", "curated 3")
    assert lines["vectors"] == "ready 3, pending 0, failed 0, outdated 0"
    assert read(run, "status")["vectors"]["ready"] == 3


def test_doctor(run: Callable[..., Result], notes: Notes) -> None:
    run("ingest", model="none")
    healthy = run("doctor", model="none").stdout
    assert "✗" not in healthy and "✓ freshness: the index is up to date\n" in healthy
    assert read(run, "doctor", model="none")["ok"] is True
    notes.write("memory/b.md", b"\0")
    notes.touch("MEMORY.md")
    ill = run("doctor", code=1, model="none").stdout
    assert "✗ freshness: 1 file to be read again: MEMORY.md\n  run: openclaw-memory ingest\n" in ill
    assert read(run, "doctor", code=1, model="none")["ok"] is False
    assert json.loads(run("status", "--json", model="none").stdout)["files"] == 1  # a look changes nothing


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("search.weights={dat: 1}", "no feature 'dat'"),
        ("consolidate.time_zone=Mars/Base", "no time zone 'Mars/Base'"),
    ],
)  # fmt: skip
def test_doctor_names_values_that_fail_only_where_they_are_used(
    run: Callable[..., Result], setting: str, words: str
) -> None:
    run("ingest", model="none")
    ill = run("--set", setting, "doctor", code=1, model="none").stdout
    assert f"✗ settings: {setting.partition('=')[0]}: " in ill and words in ill


SKIPPED: dict[str, tuple[Callable[[Path], object], str]] = {
    "binary": (lambda file: file.write_bytes(b"\0"), "binary content"),
    "no text": (lambda file: file.write_bytes(b"caf\xe9\x01\n"), "binary content"),
    "UTF-16": (lambda file: file.write_bytes("é".encode("utf-16")), "UTF-16"),
    "too large": (lambda file: file.write_bytes(b"a" * 9_000_000), "ingest.max_file_mb"),
    "a link to nothing": (lambda file: file.symlink_to("none.md"), "a link to nothing"),
    "a link out": (lambda file: file.symlink_to("/nowhere/none.md"), "leads out of its root"),
}


@pytest.mark.parametrize(
    ("make", "words", "when"), [*((*each, "before") for each in SKIPPED.values()), (*SKIPPED["binary"], "later")]
)
def test_a_note_that_cannot_be_read_is_no_failure_of_the_memory(
    run: Callable[..., Result], notes: Notes, make: Callable[[Path], object], words: str, when: str
) -> None:
    file = notes.write("memory/b.md", "- a note\n")
    if when == "later":
        run("ingest", model="none")
    file.unlink()
    make(file)
    run("ingest", model="none")
    shown = run("doctor", model="none").stdout
    assert "! file: memory/b.md is skipped: " in shown and words in shown and "✓ freshness" in shown
    assert "ignore it in .memoryignore" in shown and "✗" not in shown
    assert ("save it as UTF-8, or" in shown) + ("mend it or make it readable, or" in shown) <= 1, "one step a file"
    assert read(run, "doctor", model="none")["ok"] is True


def test_model(run: Callable[..., Result], tiny_gguf: Path) -> None:
    assert "all-minilm-l6-v2" in run("model", "list").stdout
    assert read(run, "model", "list", workspace=False)["models"][0]["dimensions"] == 384
    assert read(run, "model", "use", str(tiny_gguf), workspace=False)["model"] == str(tiny_gguf)


def test_config(run: Callable[..., Result], tiny_gguf: Path) -> None:
    shown = run("config", "show", "embedding.model", workspace=False).stdout
    assert re.search(rf"^embedding.model +{tiny_gguf} +argument ", shown, re.MULTILINE)  # not wrapped in a pipe
    settings = read(run, "config", "show", workspace=False)["settings"]
    assert {"key", "value", "source", "help"} == set(settings[0])
    weights = read(run, "--set", "search.weights={bm25_unit: 2}", "config", "show", "search.weights")["settings"]
    assert weights[0]["value"] == {"bm25_unit": 2.0}


# -- demo -------------------------------------------------------------------------------------------


def test_the_demo_runs_offline_reads_no_folder_of_the_users_and_finds_what_it_promises(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the demo used the network"))
    Notes(tmp_path / "private").write("a.md", "- blue bunny is private\n")
    extra = f"ingest.extra_paths=[{{path: {tmp_path / 'private'}, name: private}}]"
    record = read(run, "--set", extra, "demo", "--offline", workspace=False)
    assert record["files"] == record["ingest"]["files"] == 8
    assert record["ingest"]["added"] == record["ingest"]["embedded"] == record["reingest"]["unchanged"]
    found = {search["query"]: search["result"]["results"] for search in record["searches"]}
    assert list(found) == [query for query, _ in example.QUERIES]
    assert "JR's code phrase is blue bunny" in found["blue bunny"][0]["snippet"]
    assert "RTX 5070 Ti" in found["RTX 5070 Ti"][0]["snippet"]
    assert not list(tmp_path.glob("**/openclaw-memory-demo-*"))


def test_the_demo_prints_what_each_signal_contributed(run: Callable[..., Result], tmp_path: Path) -> None:
    shown = run("demo", "--offline", "--dir", str(tmp_path / "demo"), workspace=False)
    assert re.search(r"why: keywords 1\.00 .*; meaning ", shown.stdout)
    assert "JR's code phrase is blue bunny" in shown.stdout and shown.stderr == ""
    assert (tmp_path / "demo" / "workspace" / "MEMORY.md").is_file()
    again = run("demo", "--offline", "--dir", str(tmp_path / "demo"), workspace=False)
    assert "0 embedded" in again.stdout


def test_the_demo_without_a_model_finds_by_keywords_and_says_so(run: Callable[..., Result]) -> None:
    result = run("demo", "--offline", workspace=False, model="none")
    assert "no model: keywords only" in result.stdout
    assert result.stderr == "note: embedding.model is none: searching by keywords\n"
    record = json.loads(run("demo", "--json", workspace=False, model="none").stdout)
    found = {search["query"]: search["result"]["results"] for search in record["searches"]}
    assert "blue bunny" in found["blue bunny"][0]["snippet"] and "RTX 5070 Ti" in found["RTX 5070 Ti"][0]["snippet"]


# -- help -------------------------------------------------------------------------------------------


def test_every_command_has_help_and_a_summary_that_is_not_cut() -> None:
    top = CliRunner().invoke(cli, ["--help"]).stdout
    for name in COMMANDS:
        result = CliRunner().invoke(cli, [name, "--help"])
        assert result.exit_code == 0 and "Usage:" in result.stdout
        summary = re.search(rf"^  {name} +(.+)$", top, re.MULTILINE)
        assert summary is not None and not summary[1].endswith("..."), name


def test_a_variable_that_is_no_setting_is_said_once_and_stops_nothing(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_MEMORY_SERCH_MODE", "keyword")
    said = "'OPENCLAW_MEMORY_SERCH_MODE' is no setting and changes nothing; did you mean 'OPENCLAW_MEMORY_SEARCH_MODE'?"
    run("ingest", model="none")
    assert [run(*command, model="none").stderr.count(said) for command in (["search", "green"], ["status"])] == [1, 1]
    assert said in read(run, "status", model="none")["warning"]
    doctor = run("doctor", model="none")
    assert doctor.stderr == "" and "! environment: 'OPENCLAW_MEMORY_SERCH_MODE'" in doctor.stdout
    (check,) = [check for check in read(run, "doctor", model="none")["checks"] if check["name"] == "environment"]
    assert check["ok"] is check["remark"] is True and "OPENCLAW_MEMORY_SEARCH_MODE" in check["fix"]
    monkeypatch.setenv("OPENCLAW_MEMORY_SEARCH_MODE", "no")
    assert "OPENCLAW_MEMORY_SEARCH_MODE" in run("search", "green", code=1, model="none").stderr


@pytest.mark.parametrize("arguments", [["--version", "--json"], ["--json", "--version"]], ids=" ".join)
def test_who_it_is(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "openclaw_memory", *arguments], capture_output=True, text=True, check=True
    )
    expected = {"name": "openclaw-memory-graph", "version": __version__, "build": build_id()}
    assert json.loads(done.stdout) == expected and done.stderr == ""
    project = tomllib.loads((Path(__file__).parent.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert project["name"] == json.loads(done.stdout)["name"]


def test_the_version_for_people_is_the_same_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [CliRunner().invoke(cli, ["--version"])]
    monkeypatch.setenv("OPENCLAW_MEMORY_JSON", "1")
    said.append(CliRunner().invoke(cli, ["--version"]))
    assert [result.output for result in said] == [f"openclaw-memory, version {__version__}\n"] * 2


def test_help_imports_nothing_heavy() -> None:
    calls = [["--help"], ["--version"], ["model", "pull", "--help"], *[[name, "--help"] for name in COMMANDS]]
    code = (
        "import sys\nfrom openclaw_memory.cli.main import cli\n"
        "heavy = {'numpy', '_duckdb', 'llama_cpp', 'httpx', 'rich', 'markdown_it', 'gguf', 'yaml', 'pluggy',\n"
        "    'mcp', 'mcp_types', 'anyio', 'pydantic', 'starlette'}\n"
        f"for arguments in {calls!r}:\n"
        "    try: cli(arguments)\n"
        "    except SystemExit: pass\n"
        "    assert not heavy & set(sys.modules), (arguments, heavy & set(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_lines_are_shown_without_what_searches(notes: Notes) -> None:
    notes.write("MEMORY.md", TEXT)
    code = (
        "import sys\nfrom openclaw_memory.cli.main import cli\n"
        "for command in (['config', 'show'], ['get', 'MEMORY.md'], ['open', 'MEMORY.md']):\n"
        f"    try: cli(['--workspace', {str(notes.root)!r}, *command])\n"
        "    except SystemExit as end: assert not end.code\n"
        "heavy = {'numpy', '_duckdb', 'openclaw_memory.search.service', 'openclaw_memory.model.reports'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    environ = os.environ | {"EDITOR": "true"}
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, env=environ, check=True)


def test_a_server_is_there_before_it_loads_what_memories_are_made_of() -> None:
    heavy = "{'numpy', '_duckdb', 'yaml', 'markdown_it', 'openclaw_memory.memory', 'openclaw_memory.text.markdown'}"
    code = (
        f"import sys, openclaw_memory.serve.server\nassert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_can_be_run(notes: Notes) -> None:
    notes.write("MEMORY.md", TEXT)
    shutil.rmtree(notes.root / "memory", ignore_errors=True)
    command = [sys.executable, "-m", "openclaw_memory", "--set", "embedding.model=none", "search", "green", "--json"]
    done = subprocess.run(command, cwd=notes.root, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["results"][0]["path"] == "MEMORY.md"
    assert done.stderr == ""


def test_get_names_the_nearest_paths(run: Callable[..., Result], notes: Notes) -> None:
    notes.write("memory/2026-02-05.md", "- a lamp\n")
    assert "did you mean MEMORY.md?" in run("get", "MEMORI.md", code=1).stderr
    assert "did you mean memory/2026-02-05.md?" in run("get", "2026-02-5.md", code=1).stderr
    assert "no facts" in run("facts", "query", "Lamp").stdout


def test_a_hit_shows_its_best_line_and_two_around_it(run: Callable[..., Result], notes: Notes) -> None:
    notes.write(
        "memory/long.md",
        "# Long\n\n" + "".join(f"- line {n} of the {'zebra' if n == 9 else 'list'}\n" for n in range(20)),
    )
    run("ingest")
    shown = [line.strip() for line in run("search", "zebra", "-n", "1").stdout.splitlines()[1:] if line.strip()]
    assert shown == [f"- line {n} of the {'zebra' if n == 9 else 'list'}" for n in (8, 9, 10)]
