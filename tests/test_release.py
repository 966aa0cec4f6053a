"""A release can be made by one tag: versions agree, workflows and forms are valid, claims are those that tests hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from openclaw_memory import __version__

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


def version(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / ".ci" / "version.py"), *options], capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that name the version, and the changelog, where they may be changed."""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        from version import PLACES  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    for name in (*PLACES, "CHANGELOG.md", "README.md", ".ci/version.py"):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    return tmp_path


def test_the_version_is_the_same_everywhere() -> None:
    done = version(ROOT)
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n"), done.stderr


def test_a_version_is_set_everywhere_at_once(copy: Path) -> None:
    assert version(copy, "--set", "9.8.7").stdout == "9.8.7\n"
    for name in ("package.json", "openclaw.plugin.json"):
        assert __version__ not in (copy / name).read_text(encoding="utf-8")
    assert '"relativePath": "openclaw-memory/venv-9.8.7-2"' in (copy / "openclaw.plugin.json").read_text(
        encoding="utf-8"
    )
    assert "npm-pack:openclaw-memory-9.8.7.tgz" in (copy / "docs/openclaw.md").read_text(encoding="utf-8")
    (copy / "package.json").write_text('{"version": "9.8.6"}', encoding="utf-8")
    done = version(copy)
    assert done.returncode == 1 and "package.json: 9.8.6" in done.stderr
    assert version(copy, "--set", "9.8").returncode == 2


def test_a_tag_is_refused_unless_it_is_the_version_with_a_day_and_an_account(copy: Path) -> None:
    log = copy / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## 9.8.6 (2026-11-30)\n", encoding="utf-8")
    assert "CHANGELOG.md does not begin with '## 9.8.7 " in version(copy, "--set", "9.8.7").stderr
    log.write_text("# Changelog\n\n## Unreleased\n\n- New.\n\n## 9.8.6 (2026-11-30)\n", encoding="utf-8")
    assert version(copy).returncode == 0
    assert "does not begin" in version(copy, "--tag", "v9.8.7").stderr
    version(copy, "--set", "9.8.7")
    assert "OWNER stands" in version(copy, "--tag", "v9.8.7").stderr
    for name in ("package.json", "server.json", "README.md"):
        (copy / name).write_text((copy / name).read_text(encoding="utf-8").replace("OWNER", "me"), encoding="utf-8")
    assert version(copy, "--tag", "v9.8.7").returncode == 0
    assert "the tag is v9.8.6" in version(copy, "--tag", "v9.8.6").stderr


def test_a_release_is_signed_by_who_may_on_main(tmp_path: Path) -> None:
    """`.ci/release verify`, in a repository of its own, with keys made for it."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    def verify(tag: str) -> str:
        command = [str(tmp_path / ".ci" / "release"), "verify", tag]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr

    for name in (".ci/release", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".ci/version.py").write_text("")  # has a test of its own
    allowed = tmp_path / ".github" / "allowed_signers"
    allowed.parent.mkdir()
    for key in ("ours", "theirs"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / key)], check=True)
    allowed.write_text(f"a@example.org {(tmp_path / 'ours.pub').read_text()}")
    git("init", "--quiet", "--initial-branch", "main")
    for name, value in {"user.name": "A", "user.email": "a@example.org", "gpg.format": "ssh"}.items():
        git("config", name, value)
    git("add", ".github")
    git("commit", "--quiet", "--message", "Allow a key")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    for key in ("ours", "theirs"):
        git("config", "user.signingKey", str(tmp_path / key))
        git("tag", "--sign", f"v-{key}", "--message", "x")
    git("tag", "--annotate", "v-unsigned", "--message", "x")
    assert verify("v-ours") == ""
    assert "No principal matched" in verify("v-theirs") and "no signature found" in verify("v-unsigned")
    git("config", "user.signingKey", str(tmp_path / "ours"))
    git("commit", "--quiet", "--allow-empty", "--message", "Beside main")
    git("tag", "--sign", "v-beside", "--message", "x")
    assert "is not on main" in verify("v-beside")


FORMS = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("dependabot", [GITHUB / "dependabot.yml"]),
    ],
)
def test_github_reads_the_files(schema: str, files: list[Path]) -> None:
    assert files
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_to_one_commit() -> None:
    used: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for name, pin in re.findall(r"^\s*(?:- )?uses: ([^@\s]+)(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            if name.startswith("./"):
                assert (ROOT / name).is_file()
                continue
            assert re.match(r"@[0-9a-f]{40}($| # v\d+\.\d+\.\d+$)", pin), (path.name, name, pin)
            used.setdefault(name, set()).add(pin)
    assert len(used) > 5 and [name for name, pins in used.items() if len(pins) > 1] == []


def test_the_workflows_run_what_is_here() -> None:
    for path in WORKFLOWS:
        for script in re.findall(r"(?<![\w/])\.ci/[\w./-]+", path.read_text(encoding="utf-8")):
            assert (ROOT / script).is_file(), (path.name, script)
            assert Path(script).suffix or os.access(ROOT / script, os.X_OK) or os.name == "nt"


def test_nobody_may_do_more_than_needed() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] in ({}, {"contents": "read"}), path.name
        for job in workflow["jobs"].values():
            steps = [step for step in job.get("steps", []) if "actions/checkout" in step.get("uses", "")]
            assert all(step["with"]["persist-credentials"] is False for step in steps)
            if "write" in str(job.get("permissions")):
                assert not steps, "what may publish runs no code of the repository"


def test_the_classifiers_say_no_more_than_what_is_tested() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        classifiers = tomllib.load(file)["project"]["classifiers"]
    workflow = yaml.safe_load((GITHUB / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    runs = workflow["jobs"]["tests"]["strategy"]["matrix"]["include"]
    versions = {sentence.rpartition(" ")[2] for sentence in classifiers if re.search(r"Python :: 3\.\d+$", sentence)}
    assert versions and versions <= {run["python"] for run in runs}
    tested = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for classifier in [
        sentence
        for sentence in classifiers
        if sentence.startswith(("Operating System", "Programming Language :: Python :: 3."))
    ]:
        assert f"`{classifier}`" in tested, classifier


def test_what_is_installed_by_name_is_ours() -> None:
    """``openclaw-memory`` on PyPI is somebody else's: what a page or a message advises to install must be ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*(ROOT / "openclaw_memory").rglob("*.py"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    installs = r"(?:pip install|pipx (?:install|run)|uv tool (?:install|run)|uvx|uv add)\s+'?(openclaw[\w-]*)(?:\[([\w,-]+)\])?"
    named = {match for file in texts for match in re.findall(installs, file.read_text(encoding="utf-8"))}
    assert {name for name, _ in named} == {project["name"]}
    assert {extra for _, extra in named} - {""} <= set(project["optional-dependencies"])
    assert project["name"] in project["scripts"], "uvx and pipx run the command that is called like the package"


def test_the_mcp_registry_finds_the_package_and_its_mark() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
    [package] = server["packages"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["identifier"] == project["name"] and len(server["description"]) <= 100


#: Each package with a hole that was published, and the first version without it.
HOLES = {
    "certifi": "2024.7.4", "cryptography": "46.0.5", "filelock": "3.20.3", "h11": "0.16", "idna": "3.7", "jinja2": "3.1.6",
    "llama-cpp-python": "0.2.72", "markdown-it-py": "2.2.0", "numpy": "1.22", "pip": "26.0", "pygments": "2.20",
    "pyjwt": "2.12", "python-multipart": "0.0.26", "pyyaml": "5.4", "requests": "2.32.4", "starlette": "0.49.1",
    "tqdm": "4.66.3", "urllib3": "2.6.3",
}  # fmt: skip


def test_no_dependency_may_be_a_version_with_a_known_hole_and_setup_installs_what_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["llama-cpp-python"]]
    allowed = {wanted.name.lower(): wanted.specifier for wanted in map(Requirement, texts)}
    for name, first in HOLES.items():
        bounds = [Version(each.version) for each in allowed[name] if each.operator in (">=", "==")]
        assert bounds and max(bounds) >= Version(first), name
    lines = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}
    unpinned = {name for name in allowed if name not in pinned} - {"pip", "tzdata"}
    assert not unpinned
    for name, version in pinned.items():
        assert name not in allowed or allowed[name].contains(version), name
