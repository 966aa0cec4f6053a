"""The skill and the hook pack say what is there: commands, options, files, messages and no package that is not."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from openclaw_memory.cli.main import cli

ROOT = Path(__file__).parent.parent.parent
SKILL = ROOT / "skill"
HOOK = ROOT / "hooks" / "openclaw-memory-ingest"
EXAMPLE = ROOT / "openclaw_memory" / "example"
INSTALL = SKILL / "scripts" / "install.sh"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in sorted(SKILL.rglob("*.md"))}
CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)


def frontmatter(file: Path) -> tuple[dict[str, Any], str]:
    _before, head, body = file.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def code() -> Iterator[tuple[str, str]]:
    """Page and line of all that is set as code."""
    for page, text in PAGES.items():
        for fence, span in CODE.findall(text):
            yield from ((page, line) for line in (fence or span).splitlines())


def invocations() -> list[tuple[str, str]]:
    """Page and arguments of every call of the command."""
    return [(page, found[1]) for page, line in code() if (found := re.match(r"openclaw-memory (.+)", line))]


# -- frontmatter ------------------------------------------------------------------------------------------------------


def test_frontmatter_is_what_openclaw_and_the_skills_specification_ask_for() -> None:
    head, body = frontmatter(SKILL / "SKILL.md")
    assert "{" not in PAGES["skill/SKILL.md"].split("---\n")[1], "the specification's validator refuses flow mappings"
    assert set(head) == {"name", "description", "metadata"}
    assert head["name"] == "openclaw-memory"
    assert 40 <= len(head["description"]) <= 300, "it stands in every prompt"
    openclaw = head["metadata"]["openclaw"]
    assert openclaw["emoji"]
    assert openclaw["requires"]["bins"] == [next(iter(PROJECT["scripts"]))]
    assert len(body) < 5000, "a model reads all of it"


def test_the_root_and_the_folder_are_one_skill() -> None:
    assert (ROOT / "SKILL.md").is_symlink(), "OpenClaw's plugins take a real file only in the folder itself"
    assert (ROOT / "SKILL.md").resolve() == (SKILL / "SKILL.md").resolve()
    assert not (SKILL / "SKILL.md").is_symlink()


def test_the_plugin_brings_the_skill() -> None:
    manifest = json.loads((ROOT / "openclaw.plugin.json").read_text(encoding="utf-8"))
    assert [folder.rstrip("/").removeprefix("./") for folder in manifest["skills"]] == ["skill"]


def test_hook_frontmatter() -> None:
    head, _body = frontmatter(HOOK / "HOOK.md")
    assert head["name"] == HOOK.name == json.loads((HOOK / "package.json").read_text(encoding="utf-8"))["name"]
    assert head["description"]
    openclaw = head["metadata"]["openclaw"]
    assert openclaw["events"] == ["gateway:startup", "command:new"]
    assert openclaw["requires"]["bins"] == [next(iter(PROJECT["scripts"]))]


# -- what the pages say -----------------------------------------------------------------------------------------------


def test_there_are_invocations_to_check() -> None:
    assert {arguments.split()[0] for _page, arguments in invocations()} >= {"search", "get", "timeline", "ingest"}


@pytest.mark.parametrize(("page", "arguments"), invocations())
def test_every_invocation_is_understood(page: str, arguments: str) -> None:
    command: click.Command = cli
    rest = [word for word in shlex.split(arguments) if word != "…"]
    while True:
        _values, rest, _order = command.make_parser(click.Context(command)).parse_args(rest)
        if not isinstance(command, click.Group):
            break
        name, *rest = rest
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"{page}: no command {name}"
        command = found


def test_every_option_that_is_named_alone_exists() -> None:
    known = {option for name in cli.list_commands(click.Context(cli)) for option in options_of(name)}
    named = {option for page, line in code() if line.startswith("--") for option in re.findall(r"--[\w-]+", line)}
    assert {"--budget", "--kind", "--since"} <= named
    ours = {option for parameter in cli.params for option in parameter.opts}
    assert named <= known | ours | {"--help"}


def options_of(name: str) -> set[str]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return {option for parameter in command.params for option in parameter.opts}


def test_every_file_that_is_named_is_there() -> None:
    named = [name for text in PAGES.values() for name in re.findall(r"\{baseDir\}/([\w./-]+)", text)]
    assert len(set(named)) >= 3
    assert [name for name in named if not (SKILL / name).is_file()] == []


def test_every_citation_is_in_the_example() -> None:
    cited = [found for text in PAGES.values() for found in re.findall(r"((?:memory/)?[\w-]+\.md)#L(\d+)-L(\d+)", text)]
    assert cited
    for path, first, last in cited:
        assert int(first) <= int(last) <= len((EXAMPLE / path).read_text(encoding="utf-8").splitlines())


def test_no_package_but_ours_is_named() -> None:
    texts = dict(PAGES)
    texts["HOOK.md"] = (HOOK / "HOOK.md").read_text(encoding="utf-8")
    texts["docs/skill.md"] = (ROOT / "docs" / "skill.md").read_text(encoding="utf-8")
    for page, text in texts.items():
        for words in re.findall(r"(?:pip|pipx|uv tool|npm|clawhub|skills|plugins) install[ \t]+([^\n`#)]+)", text):
            what = words.split()[-1]
            assert what.startswith(("./", "../", "SOURCE", '"$source"', "git:…")) or words.startswith("with "), (
                f"{page}: {words}"
            )
    head, _body = frontmatter(SKILL / "SKILL.md")
    [offer] = head["metadata"]["openclaw"]["install"]
    assert (offer["kind"], offer["package"]) == ("uv", f"{PROJECT['name']}[prebuilt]")
    assert offer["bins"] == head["metadata"]["openclaw"]["requires"]["bins"]


# -- the script -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with what the script needs of a system, and no Python, no uv and no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "bash", "cat", "dirname", "grep", "ln", "mkdir", "readlink"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return folder


def program(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def source(folder: Path) -> Path:
    """A source tree with the skill in it; what the script looks at is there."""
    (folder / "openclaw_memory" / "embed").mkdir(parents=True)
    for name in ("__init__.py", "embed/llama-only.cmake"):
        (folder / "openclaw_memory" / name).touch()
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(SKILL, folder / "skill")
    (folder / ".ci").mkdir()
    (folder / ".ci" / "constraints.txt").touch()
    return folder


def install(script: Path, *arguments: str, tools: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    home = tools.parent / "home"
    home.mkdir(exist_ok=True)
    environ = {"PATH": str(tools), "HOME": str(home), **variables}
    return subprocess.run(
        [str(script), *arguments], env=environ, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_is_well_formed(shell: str) -> None:
    assert os.access(INSTALL, os.X_OK)
    subprocess.run([shell, "-n", str(INSTALL)], check=True)


def test_help_and_wrong_usage(tools: Path) -> None:
    assert "usage: install.sh" in install(INSTALL, "--help", tools=tools).stdout
    wrong = install(INSTALL, "--nonsense", tools=tools)
    assert (wrong.returncode, "usage: install.sh" in wrong.stderr) == (2, True)


def test_a_skill_alone_takes_the_package(tmp_path: Path, tools: Path) -> None:
    program(tools, "uv", UV)
    file = shutil.make_archive(str(tmp_path / "skill"), "zip", SKILL.parent, "skill")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "workspace")
    copy = tmp_path / "workspace" / "skill"
    (copy / "scripts" / "install.sh").chmod(0o755)  # a ZIP keeps no mode
    alone = install(copy / "scripts" / "install.sh", tools=tools)
    assert alone.returncode == 0, alone.stderr
    cmake, *words = (tmp_path / "home" / "called").read_text(encoding="utf-8").splitlines()
    assert (cmake, words[-1]) == ("", f"{PROJECT['name']}[prebuilt]")
    wrong = install(copy / "scripts" / "install.sh", str(tmp_path), tools=tools)
    assert (wrong.returncode, "not the source of openclaw-memory" in wrong.stderr) == (1, True)


UV = """
case "$*" in
    'tool dir --bin') echo "$HOME/tools" ;;
    *"[$NONE]" | *"[$NONE_EITHER]") exit 1 ;;
    *) mkdir -p "$HOME/tools"; printf '%s\\n' "$CMAKE_ARGS" "$@" > "$HOME/called"
       printf '#!/bin/sh\\necho version 9\\n' > "$HOME/tools/openclaw-memory"; /bin/chmod +x "$HOME/tools/openclaw-memory" ;;
esac
"""


def test_uv_gets_the_source_also_through_the_link_of_a_plugin_skill(tmp_path: Path, tools: Path) -> None:
    program(tools, "uv", UV)
    tree = source(tmp_path / "extensions" / "memory")
    (tmp_path / "plugin-skills").symlink_to(tree / "skill")
    done = install(tmp_path / "plugin-skills" / "scripts" / "install.sh", tools=tools)
    assert done.returncode == 0, done.stderr
    cmake, *words = (tmp_path / "home" / "called").read_text(encoding="utf-8").splitlines()
    assert words[:2] == ["tool", "install"]
    assert words[-3:] == ["--no-build-package", "xllamacpp", f"{tree.resolve()}[prebuilt]"]
    assert f"{tree.resolve()}/openclaw_memory/embed/llama-only.cmake" in cmake
    assert "version 9" in done.stdout and "to the PATH" in done.stdout
    assert "compiler" not in done.stderr, "it is not needed"


@pytest.mark.parametrize(
    ("variables", "compiler", "extra", "said"),
    [
        ({"NONE": "prebuilt"}, True, "[llama-cpp-python]", "no prebuilt llama.cpp for this machine"),
        ({"NONE": "prebuilt"}, False, "", "keywords only; install a C++ compiler"),
        ({"NONE": "prebuilt", "NONE_EITHER": "llama-cpp-python"}, True, "", "keywords only; install a C++ compiler"),
        ({"CMAKE_ARGS": "-DGGML_CUDA=on"}, True, "[llama-cpp-python]", ""),
    ],
)
def test_without_a_prebuilt_llama_it_is_compiled_or_left_out(
    tmp_path: Path, tools: Path, variables: dict[str, str], compiler: bool, extra: str, said: str
) -> None:
    program(tools, "uv", UV)
    if compiler:
        program(tools, "c++", "exit 0")
    tree = source(tmp_path / "source")
    done = install(INSTALL, str(tree), tools=tools, **variables)
    assert done.returncode == 0 and said in done.stderr, done.stderr
    called = (tmp_path / "home" / "called").read_text(encoding="utf-8").splitlines()
    assert called[-1] == f"{tree.resolve()}{extra}" and variables.get("CMAKE_ARGS", "") in called[0]


PYTHON = """
case "$1" in
    -c) exit 0 ;;
    *) /bin/mkdir -p "$3/bin"; printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@" > "$HOME/called"\\n' > "$3/bin/python"
       printf '#!/bin/sh\\necho version 9\\n' > "$3/bin/openclaw-memory"
       /bin/chmod +x "$3/bin/python" "$3/bin/openclaw-memory" ;;
esac
"""


def test_without_uv_an_environment_of_its_own_is_linked(tmp_path: Path, tools: Path) -> None:
    program(tools, "python3", "exit 1")  # too old
    program(tools, "python3.12", PYTHON)
    tree = source(tmp_path / "a source")
    for _ in range(2):  # again, as after an update
        done = install(INSTALL, str(tree), tools=tools)
        assert done.returncode == 0, done.stderr
    link = tmp_path / "home" / ".local" / "bin" / "openclaw-memory"
    assert (
        link.readlink() == tmp_path / "home" / ".local" / "share" / "openclaw-memory-venv" / "bin" / "openclaw-memory"
    )
    called = (tmp_path / "home" / "called").read_text(encoding="utf-8").splitlines()
    pinned = str(tree.resolve() / ".ci" / "constraints.txt")
    assert called == ["-m", "pip", "install", "-c", pinned, "--only-binary", "xllamacpp", f"{tree.resolve()}[prebuilt]"]


def test_what_is_not_ours_is_not_replaced(tmp_path: Path, tools: Path) -> None:
    program(tools, "python3", PYTHON)
    theirs = tmp_path / "home" / ".local" / "bin" / "openclaw-memory"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs", encoding="utf-8")
    done = install(INSTALL, str(source(tmp_path / "source")), tools=tools)
    assert (done.returncode, "not a link" in done.stderr) == (1, True)
    assert theirs.read_text(encoding="utf-8") == "theirs"


def test_without_a_suitable_python_the_script_says_what_is_needed(tmp_path: Path, tools: Path) -> None:
    program(tools, "python3", "exit 1")
    done = install(INSTALL, str(source(tmp_path / "source")), tools=tools)
    assert (done.returncode, "no Python 3.11 or newer" in done.stderr) == (1, True)
