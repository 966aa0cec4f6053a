"""What was said in conversations, and the owner's commands in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from host import PLUGIN, Host, running, wait_for

pytestmark = pytest.mark.e2e


def writes(host: Host, message: str) -> str:
    """The owner's client sends a message; the answer."""
    script, modules = Path(__file__).with_name("owner.mjs"), host.openclaw.parents[1]
    return host.execute(host.openclaw.parent / "node", str(script), str(modules), "agent:main:owner", message)


def test_conversations_are_searched_and_the_owner_commands_the_memory(
    new_host: Callable[[str], Host], plugin: Callable[..., Mapping[str, Any]]
) -> None:
    host = new_host("conversations")
    config = {"settings": {"ingest.session_days": 30}}
    host.configure(plugin(), {"plugins": {"entries": {PLUGIN: {"config": config}}}}, agents={"main": host.workspace})
    with running(host):
        rest = "\n\nIt rains over the harbour." * 60  # OpenClaw compresses what is long
        host.turn(f"Wren keeps the spare key in the blue tin.{rest}")
        asked = {"query": "spare key", "minScore": 0}

        def search() -> list[dict[str, Any]]:
            return host.tool("memory_search", corpus="sessions", **asked)["results"]

        [hit, *_] = wait_for(search, "the conversation to be read")
        assert "User: Wren keeps the spare key" in hit["snippet"] and hit["corpus"] == hit["source"] == "sessions"
        assert hit["provenance"]["originClass"] == "untrusted"
        assert host.tool("memory_search", **asked)["results"] == []
        assert "blue tin" in host.tool("memory_get", path=hit["path"])["text"]

        assert "Kept in memory/captures/" in writes(host, "/remember The ferry leaves at nine on Sundays.")
        assert "ferry leaves at nine" in writes(host, "/why When does the ferry leave?")
        assert "This would be forgotten" in writes(host, "/forget spare key")
        assert "Forgotten:" in writes(host, "/forget --yes spare key")
        assert not any("blue tin" in hit["snippet"] for hit in search())
