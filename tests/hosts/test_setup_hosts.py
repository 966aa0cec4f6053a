"""``setup claude-code|codex|cursor``: the MCP entry is added and removed, and nothing else is touched."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from click.testing import CliRunner, Result
from fakes import Notes
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.cli.main import cli
from openclaw_memory.config.settings import data_dir
from openclaw_memory.hosts import HostError, config_file
from openclaw_memory.hosts.process import own_command

NAME = "openclaw-memory"
FILE = Path("x.json")


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture
def run(notes: Notes) -> Callable[..., Result]:
    notes.write("MEMORY.md", "- a lamp\n")

    return partial(commands.run, "-w", str(notes.root), "setup")


@pytest.fixture
def cursor(home: Path) -> Path:
    """Cursor's file, in a folder that is there."""
    (home / ".cursor").mkdir()
    return home / ".cursor" / "mcp.json"


@pytest.fixture
def codex(home: Path) -> Path:
    (home / ".codex").mkdir()
    return home / ".codex" / "config.toml"


def args(notes: Notes, *options: str) -> list[str]:
    return ["--workspace", str(notes.root), *options, "--set", "capture.enabled=true", "serve"]


# -- hosts with a JSON file ----------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="where desktop programs keep their settings on Linux")
def test_vscode_has_a_file_and_a_key_of_its_own(run: Callable[..., Result], notes: Notes, home: Path) -> None:
    run("vscode", "--yes")
    entry = {"type": "stdio", "command": own_command(), "args": args(notes)}
    assert json.loads((home / "config/Code/User/mcp.json").read_text()) == {"servers": {NAME: entry}}
    assert "nothing to change" in run("vscode").stdout


def test_any_other_client_is_told_by_hand(run: Callable[..., Result], notes: Notes) -> None:
    entry = {"type": "stdio", "command": own_command(), "args": ["--workspace", str(notes.root), "serve"]}
    assert json.loads(run("--print").stdout) == {"mcpServers": {NAME: entry}}
    assert "goes without a host" in run("cursor", "--print", code=2).stderr


# -- Cursor -------------------------------------------------------------------------------------------


def test_cursor_is_told_and_told_no_more(run: Callable[..., Result], notes: Notes, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    shown = run("cursor", "--yes").stdout
    assert f"✓ Cursor: {file}: written\n" in shown and '+  "mcpServers": {' in shown
    entry = {"type": "stdio", "command": own_command(), "args": args(notes)}
    assert json.loads(file.read_text()) == {"mcpServers": {NAME: entry}}
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_bytes(), file.stat().st_mtime_ns
    assert "there already; nothing to change" in run("cursor").stdout
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    run("cursor", "--uninstall", "--yes")
    assert not file.parent.exists(), "setup made both"
    assert "not there; nothing to change" in run("cursor", "--uninstall").stdout


def test_a_projects_file_keeps_every_other_byte(run: Callable[..., Result], notes: Notes, tmp_path: Path) -> None:
    file = tmp_path / "project" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    text = "\ufeff"[:0] + '{\r\n\t"mcpServers" : {\r\n\t\t"a": {"url": "http://é"}\r\n\t} ,\r\n\t"x": [1,2 ]\r\n}\r\n'
    file.write_bytes(text.encode())
    file.chmod(0o640)
    run("cursor", "--project", str(tmp_path / "project"), "--yes")
    changed = file.read_bytes().decode()
    assert changed.startswith('{\r\n\t"mcpServers" : {\r\n\t\t"openclaw-memory": {\r\n')
    assert changed.endswith(text.partition("{\r\n\t\t")[2]) and "\n" not in changed.replace("\r\n", "")
    assert file.stat().st_mode & 0o777 == 0o640
    run("cursor", "--project", str(tmp_path / "project"), "--uninstall", "--yes")
    assert file.read_bytes().decode() == text


def test_what_a_person_added_to_our_entry_stays(run: Callable[..., Result], notes: Notes, cursor: Path) -> None:
    entry = {"command": "/old/openclaw-memory", "args": ["serve"], "env": {"OPENCLAW_MEMORY_SEARCH_MODE": "keyword"}}
    cursor.write_text(json.dumps({"mcpServers": {NAME: entry}}))
    run("cursor", "--yes")
    told = json.loads(cursor.read_text())["mcpServers"][NAME]
    assert told["env"] == entry["env"] and told["command"] == own_command() and told["args"] == args(notes)


def test_links_are_followed(run: Callable[..., Result], cursor: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    cursor.symlink_to(real)
    run("cursor", "--yes")
    assert cursor.is_symlink() and NAME in real.read_text()
    assert [file.name for file in real.parent.iterdir()] == ["mcp.json"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n "a": 1, // a\n "b"\n}', "line 4, column 1: not valid JSON"),
        ("[]", "line 1: the top level must be an object"),
        ('{"mcpServers": []}', "mcpServers must be an object"),
        ('{"mcpServers": {"openclaw-memory": 1}}', "mcpServers.openclaw-memory must be an object"),
        ('{"mcpServers": {"openclaw-memory": {}}, "mcpServers": {"openclaw-memory": {}, "openclaw-memory": {"a": 1}}}', None),
        ("\xff", "not valid UTF-8"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_and_left_as_it_is(
    run: Callable[..., Result], cursor: Path, text: str, words: str | None
) -> None:
    cursor.write_bytes(text.encode("latin-1"))
    if words is None:  # a key that is there twice: the last one counts
        run("cursor", "--yes")
        assert json.loads(cursor.read_text())["mcpServers"][NAME]["command"] == own_command()
        return
    for arguments in (["cursor", "--yes"], ["cursor", "--uninstall", "--yes"]):
        said = run(*arguments, code=1).stderr
        assert str(cursor) in said and words in said and said.count("\n") == 1
    assert cursor.read_bytes() == text.encode("latin-1")


def test_nothing_is_written_unasked(run: Callable[..., Result], home: Path, notes: Notes) -> None:
    assert "(--dry-run)" in run("cursor", "--dry-run").stdout
    refused = run("cursor", code=2)
    assert "run the same again with --yes\n" in refused.stderr
    assert json.loads(run("cursor", "--json", code=2).stdout)["changes"][0]["where"].endswith("mcp.json")
    assert not (home / ".cursor").exists()
    assert json.loads(run("cursor", "--json", "--yes").stdout)["applied"] is True


# -- Codex --------------------------------------------------------------------------------------------

CONFIG = '# mine\nmodel = "o3"  # fast\n\n[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # yes\n]\n'


def test_codex_is_told_and_told_no_more(
    run: Callable[..., Result], notes: Notes, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("codex", "--yes")
    file = home / ".codex" / "config.toml"
    assert tomllib.loads(file.read_text())["mcp_servers"][NAME] == {"command": own_command(), "args": args(notes)}
    assert "there already" in run("codex").stdout
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    run("codex", "--yes")
    assert (tmp_path / "codex" / "config.toml").read_text() == file.read_text()
    run("codex", "--project", str(tmp_path), "--yes")
    assert (tmp_path / ".codex" / "config.toml").read_text() == file.read_text()
    run("codex", "--uninstall", "--yes")
    assert not (tmp_path / "codex").exists()


@pytest.mark.parametrize("text", [CONFIG, CONFIG.replace("\n", "\r\n"), CONFIG + "\n[other]\na = 1\n"])
def test_codex_keeps_every_other_byte(run: Callable[..., Result], codex: Path, text: str) -> None:
    codex.write_bytes(text.encode())
    run("codex", "--yes")
    changed = codex.read_bytes().decode()
    assert text.rstrip("\r\n").partition("[other]")[0] in changed and "\r\n" not in changed.replace("\r\n", "\n")
    run("codex", "--uninstall", "--yes")
    assert codex.read_bytes().decode() == text


@pytest.mark.parametrize(
    "text", ["mcp_servers = { docs = { command = 'x' } }\n", "[mcp_servers]\nopenclaw-memory = {}\n"]
)
def test_codex_may_have_tables_in_one_line(run: Callable[..., Result], codex: Path, text: str) -> None:
    codex.write_text(text)
    run("codex", "--yes")
    assert tomllib.loads(codex.read_text())["mcp_servers"][NAME]["command"] == own_command()
    run("codex", "--uninstall", "--yes")
    assert NAME not in codex.read_text()


def test_codex_keeps_what_belongs_to_our_table(run: Callable[..., Result], notes: Notes, codex: Path) -> None:
    ours = '[mcp_servers."openclaw-memory"]\ncommand = "/old"\nargs = [\n  "serve",\n]\nstartup_timeout_sec = 20\n'
    below = '\n[mcp_servers.openclaw-memory.tools.memory_search]\napproval_mode = "approve"\n\n# next\n[z]\n'
    codex.write_text(CONFIG + ours + below)
    run("codex", "--yes")
    text = codex.read_text()
    assert text.startswith(CONFIG) and below in text
    assert tomllib.loads(text)["mcp_servers"][NAME] == {
        "command": own_command(), "args": args(notes), "startup_timeout_sec": 20,
        "tools": {"memory_search": {"approval_mode": "approve"}},
    }  # fmt: skip
    run("codex", "--uninstall", "--yes")
    assert tomllib.loads(codex.read_text()) == tomllib.loads(CONFIG + "[z]\n")
    assert codex.read_text().startswith(CONFIG)


@pytest.mark.parametrize(
    ("text", "words"), [("a = \n", "not valid TOML"), ("mcp_servers = 1\n", "mcp_servers must be a table")]
)
def test_a_codex_file_that_cannot_be_edited_is_left_as_it_is(
    run: Callable[..., Result], codex: Path, text: str, words: str
) -> None:
    codex.write_text(text)
    said = run("codex", "--yes", code=1).stderr
    assert str(codex) in said and words in said and said.count("\n") == 1
    assert codex.read_text() == text


# -- what setup has made ------------------------------------------------------------------------------

PLACES = {
    "cursor": (".cursor/mcp.json", '{"mcpServers": {"mine": {"command": "x"}}}\n'),
    "codex": (".codex/config.toml", "[mcp_servers.mine]\ncommand = 'x'\n"),
    "claude-code": (".mcp.json", '{"mcpServers": {"mine": {"command": "x"}}}\n'),
    "vscode": (".vscode/mcp.json", '{"servers": {"mine": {"command": "x"}}}\n'),
}


@pytest.mark.parametrize("host", PLACES)
def test_what_setup_has_made_goes_with_the_entry(run: Callable[..., Result], tmp_path: Path, host: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for arguments in (["--yes"], ["--uninstall", "--yes"]):
        run(host, "--project", str(project), *arguments)
    assert list(project.iterdir()) == []
    assert "nothing to change" in run(host, "--project", str(project), "--uninstall").stdout


@pytest.mark.parametrize("host", PLACES)
def test_what_others_wrote_there_since_stays(run: Callable[..., Result], tmp_path: Path, host: str) -> None:
    name, theirs = PLACES[host]
    file = tmp_path / name
    run(host, "--project", str(tmp_path), "--yes")
    beside = file.with_name("beside")
    beside.touch()
    if file.suffix == ".toml":
        file.write_text(f"{theirs}\n{file.read_text()}")
    else:
        ((group, mine),) = json.loads(theirs).items()
        file.write_text(json.dumps({group: json.loads(file.read_text())[group] | mine}))
    run(host, "--project", str(tmp_path), "--uninstall", "--yes")
    assert "mine" in file.read_text() and NAME not in file.read_text() and beside.exists()


OWN = ["{}", "{}\n", '{"a": 1}', '{\n  "a": 1\n}\n', '{"mcpServers": {}}', '{"mcpServers": {"b": {}}, "c": 2}\n']


@pytest.mark.parametrize("text", OWN)
@pytest.mark.parametrize("host", ["cursor", "claude-code"])
def test_a_persons_own_file_is_as_it_was(run: Callable[..., Result], tmp_path: Path, host: str, text: str) -> None:
    file = tmp_path / PLACES[host][0]
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    for arguments in (["--yes"], ["--uninstall", "--yes"]):
        run(host, "--project", str(tmp_path), *arguments)
    assert file.read_text() == text


def test_an_entry_that_nobody_remembers_making_leaves_the_file(run: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {NAME: {"command": "x"}}}))
    run("claude-code", "--project", str(tmp_path), "--yes")
    run("claude-code", "--project", str(tmp_path), "--uninstall", "--yes")
    assert json.loads(file.read_text()) == {}


# -- Claude Code --------------------------------------------------------------------------------------

CLAUDE = """#!{python}
import json, os, sys
from pathlib import Path
file = Path(os.environ["HOME"], ".claude.json")
tree = json.loads(file.read_text()) if file.exists() else {{}}
servers = tree.setdefault("mcpServers", {{}})
assert sys.argv[1] == "mcp" and sys.argv[3:5] == ["--scope", "user"]
if sys.argv[2] == "add-json":
    if os.environ.get("FAKE_REFUSES", "nothing") in sys.argv[6]:
        sys.exit("no such schema")
    if sys.argv[5] in servers:
        sys.exit("MCP server openclaw-memory already exists in user config")
    servers[sys.argv[5]] = json.loads(sys.argv[6])
elif sys.argv[2] == "remove":
    del servers[sys.argv[5]]
file.write_text(json.dumps(tree))
"""


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's command, the only one on PATH."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLAUDE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def test_claude_code_changes_its_own_file(run: Callable[..., Result], notes: Notes, home: Path, claude: Path) -> None:
    file = home / ".claude.json"
    file.write_text(json.dumps({"numStartups": 3}))
    assert '+  "type": "stdio",' in run("claude-code", "--yes").stdout
    entry = {"type": "stdio", "command": own_command(), "args": args(notes)}
    assert json.loads(file.read_text()) == {"numStartups": 3, "mcpServers": {NAME: entry}}
    assert "there already" in run("claude-code").stdout
    file.write_text(json.dumps({"mcpServers": {NAME: {**entry, "command": "/old", "env": {"A": "b"}}}}))
    run("claude-code", "--yes")
    assert json.loads(file.read_text())["mcpServers"][NAME] == {**entry, "env": {"A": "b"}}
    run("claude-code", "--uninstall", "--yes")
    assert json.loads(file.read_text()) == {"mcpServers": {}}
    assert "not there" in run("claude-code", "--uninstall").stdout
    claude.write_text(f"#!{sys.executable}\nimport sys; sys.exit('no\\nnetwork')\n")
    assert "'claude mcp add-json' failed: no network" in run("claude-code", "--yes", code=1).stderr


@pytest.mark.parametrize(("refused", "said"), [("our own", "is back"), ("any", "is kept in")])
def test_claude_codes_entry_is_not_lost_when_the_new_one_is_refused(
    run: Callable[..., Result], notes: Notes, home: Path, claude: Path, monkeypatch: pytest.MonkeyPatch,
    refused: str, said: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("FAKE_REFUSES", "command" if refused == "any" else str(notes.root))
    mine = {"type": "stdio", "command": "/mine", "args": ["x"], "env": {"TOKEN": "t"}}
    file = home / ".claude.json"
    file.write_text(json.dumps({"numStartups": 3, "mcpServers": {NAME: mine}}))
    message = run("claude-code", "--yes", code=1).stderr
    assert "'claude mcp add-json' failed: no such schema" in message and said in message and message.count("\n") == 1
    copy = data_dir() / "claude-code-entry.json"
    if refused == "any":
        assert json.loads(copy.read_text()) == mine and copy.stat().st_mode & 0o777 == 0o600 and str(copy) in message
    else:
        assert json.loads(file.read_text()) == {"numStartups": 3, "mcpServers": {NAME: mine}} and not copy.exists()


def test_without_claude_a_project_can_be_told(
    run: Callable[..., Result], notes: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "--project DIR writes DIR/.mcp.json" in run("claude-code", "--yes", code=1).stderr
    run("claude-code", "--project", str(tmp_path), "--yes")
    told = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"][NAME]
    assert told == {"type": "stdio", "command": own_command(), "args": args(notes)}
    run("claude-code", "--project", str(tmp_path), "--uninstall", "--yes")
    assert not (tmp_path / ".mcp.json").exists() and tmp_path.is_dir()


def test_the_agent_and_the_settings_file_are_passed_on(notes: Notes, tmp_path: Path, home: Path) -> None:
    notes.write("MEMORY.md", "- a lamp\n")
    config = tmp_path / "c.yaml"
    config.write_text("search: {max_results: 3}\n")
    options = ["--agent", "work", "--config", str(config), "-w", str(notes.root), "setup", "cursor", "--yes"]
    assert CliRunner().invoke(cli, options).exit_code == 0
    told = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"][NAME]["args"]
    assert told == args(notes, "--agent", "work", "--config", str(config))


def test_a_missing_workspace_is_wrong_usage(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["-w", str(tmp_path / "none"), "setup", "cursor", "--yes"])
    assert result.exit_code == 2 and "no such folder" in result.stderr


# -- the editors, on anything -------------------------------------------------------------------------

keys = st.sampled_from(["mcpServers", "a", 'é"', "openclaw-memory"])
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.lists(st.integers(), max_size=2))
groups = st.dictionaries(
    st.sampled_from(["a", "openclaw-memory", "z"]), st.dictionaries(keys, leaves, max_size=2), max_size=3
)
trees = st.dictionaries(st.sampled_from(["x", "é"]), leaves, max_size=2).flatmap(
    lambda rest: st.one_of(st.just(rest), groups.map(lambda group: {**rest, "mcpServers": group}))
)
layouts = st.sampled_from(
    [{}, {"indent": 2}, {"indent": "\t"}, {"indent": 0}, {"separators": (" , ", " : ")}, {"ensure_ascii": False}]
)


@given(trees, layouts, st.sampled_from(["", "\n", "\r\n\r\n"]), st.dictionaries(keys, leaves, max_size=3))
def test_a_json_member_is_set_and_removed(
    tree: dict[str, Any], layout: dict[str, Any], end: str, value: dict[str, Any]
) -> None:
    text = json.dumps(tree, **layout) + end
    there = config_file.set_member(text, FILE, "mcpServers", NAME, value)
    wanted = {**tree, "mcpServers": {**tree.get("mcpServers", {}), NAME: value}}
    assert json.loads(there) == wanted
    assert config_file.set_member(there, FILE, "mcpServers", NAME, value) == there
    gone = config_file.remove_member(there, FILE, "mcpServers", NAME)
    del wanted["mcpServers"][NAME]
    assert json.loads(gone) == {key: value for key, value in wanted.items() if key != "mcpServers" or value}


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("{}")
    with pytest.raises(HostError, match="changed meanwhile"):
        config_file.write_change(file, None, "x")
    assert file.read_text() == "{}"


COMMENTED = [
    '{\n  // mine\n  "a": 1, // why\n}\n',
    '// mine\n{\n  "a": "//no", /* b */\n  "c": [1, 2,],\n  /* end\n     of it */\n}\n// after\n',
    '{\r\n\t"a": 1 // why, and "how"\r\n}\r\n',
    '{ "a": 1 /* x */ }',
    "{\n  // nothing yet\n}\n",
    '{\n  "servers": {\n    // mine\n    "b": {"x": "/* no */"}, // b\n  },\n  "z": 2 // z\n}\n',
    '{"servers": { /* none */ }, "url": "http://x//y",}',
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_and_last_commas_stay(text: str) -> None:
    value = {"command": "x", "args": ["serve", "//"]}
    there = config_file.set_member(text, FILE, "servers", NAME, value)
    assert config_file.entry_in(there, FILE, "servers", NAME) == value
    assert config_file.set_member(there, FILE, "servers", NAME, value) == there
    changed = config_file.set_member(there, FILE, "servers", NAME, {"command": "y"})
    assert config_file.entry_in(changed, FILE, "servers", NAME) == {"command": "y"}
    gone = config_file.remove_member(there, FILE, "servers", NAME)
    assert config_file.load(gone, FILE) == {
        key: value for key, value in config_file.load(text, FILE).items() if key != "servers" or value
    }
    rest = iter(there)
    assert all(character in rest for character in text)  # nothing of it is lost on the way


def test_what_stands_beside_a_comment_goes_without_it() -> None:
    text = '{"servers": {\n  // mine\n  "openclaw-memory": {}, "b": 1 // b\n}}'
    gone = config_file.remove_member(text, FILE, "servers", "openclaw-memory")
    assert gone == '{"servers": {\n  // mine\n  "b": 1 // b\n}}'


@pytest.mark.parametrize("text", ["/* open", '{"a": 1} /* open', '{"a": "// x\n"}', "//", "{/}"])
def test_half_a_comment_is_named(text: str) -> None:
    with pytest.raises(HostError, match="not valid JSON"):
        config_file.load(text, FILE)


# -- the host's own memory -----------------------------------------------------------------------------


def test_notes_that_a_host_writes_itself_are_offered_until_they_are_read(
    run: Callable[..., Result], notes: Notes, codex: Path
) -> None:
    memories = codex.parent / "memories"
    memories.mkdir()
    assert "of its own" not in run("codex", "--yes").output
    (memories / "MEMORY.md").write_text("- The boat is moored at pier nine.\n")
    (codex.parent / "AGENTS.md").write_text("- Answer in Dutch.\n")
    [command, other] = [each["command"] for each in json.loads(run("codex", "--yes", "--json").output)["memories"]]
    assert str(memories) in command and "AGENTS.md" in other
    commands.run(*command.split()[1:], "--yes")
    [left] = json.loads(run("codex", "--yes", "--json").output)["memories"]
    assert left["command"] == other
    found = commands.run("-w", str(notes.root), "--set", "embedding.model=none", "search", "boat", "--json")
    assert json.loads(found.output)["results"][0]["path"] == "@memories/MEMORY.md"
