"""For those who keep OpenClaw's own memory in the slot: the hook pack and the skill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from host import EXECUTABLE, ROOT, Host, running, wait_for
from model import ask
from probe import write

pytestmark = pytest.mark.e2e

PACK = "openclaw-memory-ingest"


@pytest.fixture(scope="module")
def host(new_host: Callable[[str], Host], tiny_gguf: Path) -> Iterator[Host]:
    host = new_host("beside")
    host.env["PATH"] = f"{host.folder / 'bin'}:{host.env['PATH']}"
    (host.folder / "bin" / EXECUTABLE.name).symlink_to(EXECUTABLE)
    entry = {"enabled": True, "env": {"OPENCLAW_MEMORY_EMBEDDING_MODEL": str(tiny_gguf)}}
    host.configure({"hooks": {"internal": {"entries": {PACK: entry}}}})
    write(host.workspace, "memory/2026-03-03.md", "- The deploy passphrase is blue bunny.\n")
    host.run("plugins", "install", str(ROOT / "hooks" / PACK), "--force", "--accept-capabilities")
    with running(host):
        yield host


def test_hook_pack_reads_the_notes_when_the_gateway_starts(host: Host) -> None:
    wait_for(lambda: f"[{PACK}] main: 1 files, " in host.events(), "the line of the first ingest")


def test_hook_pack_reads_the_notes_on_new(host: Host) -> None:
    host.client_turn("hello")
    write(host.workspace, "memory/2026-03-04.md", "- The ferry leaves at 06:40.\n")
    host.client_turn("/new")
    wait_for(lambda: f"[{PACK}] main: 2 files, " in host.events(), "the line of the ingest after /new")


def test_openclaws_own_memory_keeps_answering(host: Host) -> None:
    assert "blue bunny" in host.turn(ask("deploy passphrase"))


def test_skill_is_ready(host: Host) -> None:
    host.run("skills", "install", str(ROOT / "skill"))
    listed = host.run_json("skills", "list")["skills"]
    [skill] = [skill for skill in listed if skill["name"] == "openclaw-memory"]
    assert skill["eligible"], skill
