"""A build of llama.cpp that dies, in a gateway: the agent gets its answers by keywords, and nothing else ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from crashing import Bindings
from host import Host, running
from model import ask
from probe import write

from openclaw_memory.embed.bindings import BINDINGS

pytestmark = pytest.mark.e2e


@pytest.fixture
def bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bindings:
    bindings = Bindings(tmp_path / "bindings", monkeypatch)
    for binding in BINDINGS:
        bindings.signalled(binding.package, "SIGSEGV")
    return bindings


@pytest.fixture
def host(
    new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]], bindings: Bindings
) -> Iterator[Host]:
    host = new_host("crash")
    write(host.workspace, "memory/2026-03-03.md", "# 2026-03-03\n\n- The deploy passphrase is blue bunny.\n")
    host.configure(plugin())
    host.env["PYTHONPATH"] = str(bindings.folder)
    with running(host):
        yield host


def test_the_gateway_never_notices_and_the_result_names_the_signal(host: Host, bindings: Bindings) -> None:
    assert "blue bunny" in host.turn(ask("deploy passphrase"))
    [server] = host.servers()
    for _ in range(3):
        found = host.tool("memory_search", query="deploy passphrase")
        assert "blue bunny" in found["results"][0]["snippet"]
        assert "SIGSEGV" in found["fallback"]
        assert "openclaw memory doctor" in found["fallback"]
    assert [process.pid for process in host.servers()] == [server.pid]
    assert bindings.starts == [binding.package for binding in BINDINGS]
    [status] = host.run_json("memory", "status")
    assert "SIGSEGV" in status["fallback"]
