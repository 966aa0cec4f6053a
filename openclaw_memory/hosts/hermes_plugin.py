"""A ``MemoryProvider`` for Hermes (NousResearch/hermes-agent): context before a turn, capture after it, tools.

``setup hermes`` copies this file to where Hermes looks for providers, ``$HERMES_HOME/plugins/openclaw-memory``, with
``settings.json`` beside it: the ``command`` that asks the server, its ``subject``, the folder of turns that are
``waiting``, ``tools`` and ``instructions`` for the model.  It runs in Hermes' environment and imports the standard
library alone.  Hermes logs what a method raises.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

try:
    from agent import memory_provider as hermes  # type: ignore[import-not-found]
except ImportError:  # read outside of Hermes
    hermes = None

#: Seconds for context, the first time with the server's start, for a tool or a turn, and for a session's beginning.
_CONTEXT, _FIRST, _CALL, _START = 1.5, 5.0, 15.0, 120.0
#: Turns that wait to be captured at most, then the oldest goes; and their characters.
_MOST_WAITING, _MOST_CHARS = 200, 20_000


class OpenClawMemoryProvider(getattr(hermes, "MemoryProvider", object)):  # type: ignore[misc]
    """The memory of openclaw-memory."""

    name = "openclaw-memory"

    def __init__(self) -> None:
        self._settings = json.loads(Path(__file__).with_name("settings.json").read_text(encoding="utf-8"))
        self._message, self._recalled, self._missed = "", 0, 0  # of the turn that has begun
        self._part, self._briefed, self._compacted = 0, False, ""  # compactions so far; the id before the latest
        self._sending = threading.Lock()

    def is_available(self) -> bool:
        """Return true if the command is there."""
        return Path(self._settings["command"][0]).exists()

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session: start the server, read what changed, and capture the turns that are left."""
        self._session = session_id
        self._waiting = Path(self._settings["waiting"])
        self._writes = kwargs.get("agent_context", "primary") == "primary"
        # On these platforms of Hermes only the owner writes.
        self._origin = "owner" if kwargs.get("platform") in ("cli", "tui", "acp") else "untrusted"
        self._worker = _work(self._start)

    def system_prompt_block(self) -> str:
        """Return when to use which tool."""
        return f"# Long-term memory\n{self._settings['instructions']}"

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return what the notes say about a message, behind a brief as a session begins, or what was compacted."""
        self._message, self._recalled, self._missed = query, 0, self._missed + 1
        asked = {"message": query, "session": f"{self._session}/{self._part}", "missed": self._missed - 1}
        if self._compacted:
            asked["compacted"] = self._compacted
        result = self._ask("memory_context", _CONTEXT if self._briefed else _FIRST, **asked)
        self._missed, self._compacted = 0, ""
        parts, hits = [result["text"]], []
        if not self._briefed:
            since = (datetime.now() - timedelta(days=7)).date().isoformat()
            hits = self._ask("memory_timeline", _CONTEXT, since=since, budget=300)["results"]
            told = {source["id"] for source in result["sources"]}
            hits = [hit for hit in hits if hit["origin"] in ("owner", "agent") and hit["id"] not in told]
            hits = [hit for hit in hits if not hit.get("superseded")]
            parts = ["Noted lately:", *(hit["snippet"] for hit in hits), "", *parts] if hits else parts
            self._briefed = True
        self._recalled = len([*result["sources"], *result.get("facts", ()), *hits])
        return "\n".join(parts)

    def recall_status(self) -> Any:
        """Return how much the last prefetch gave, for Hermes' indicator; ``None`` if nothing."""
        return hermes.RecallStatus(self.name, self._recalled) if self._recalled else None

    def sync_turn(self, user_content: str, assistant_content: str, *, session_id: str = "", **kwargs: Any) -> None:
        """Journal a finished turn, and capture it in the background."""
        self._message = ""
        self._journal(user_content, assistant_content)

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        """Journal the turn under way, as earlier ones are; what was told may be told again after the compaction."""
        self._part, self._compacted = self._part + 1, self._session
        begun = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
        answers = (_text(message) for message in messages[begun + 1 :] if message.get("role") == "assistant")
        if self._message:
            self._journal(self._message, *answers)
        return ""

    def on_session_switch(self, new_session_id: str, *, reset: bool = False, **kwargs: Any) -> None:
        """Go on in another session; a new one begins as the first did."""
        self._session = new_session_id
        if reset:
            self._part, self._briefed, self._compacted = self._part + 1, False, ""
            self._worker = _work(self._start)

    def get_tool_schemas(self) -> Any:
        """Return the tools of the server for a model."""
        return self._settings["tools"]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Return the result of a tool as JSON."""
        return json.dumps(self._ask(tool_name, _CALL, **args), ensure_ascii=False)

    def shutdown(self) -> None:
        """Wait a moment for the last turns; the next session captures what is left."""
        self._worker.join(5.0)

    def backup_paths(self) -> list[str]:
        """Return the folder of the notes."""
        return [self._settings["subject"]["workspaceDir"]]

    def _ask(self, tool: str, seconds: float, /, **arguments: Any) -> Any:
        """Return the result of a tool; raises :class:`RuntimeError` with the reason if there is none."""
        command = [*self._settings["command"], "--deadline", str(seconds), tool, "-"]
        given = json.dumps(arguments).encode()
        done = subprocess.run(command, input=given, capture_output=True, timeout=seconds + 2.0, check=False)
        if not done.stdout.strip():
            raise RuntimeError(done.stderr.decode(errors="replace").strip() or "no answer")
        return json.loads(done.stdout)

    def _start(self) -> None:
        self._ask("memory_session_start", _START, sessionId=self._session, reason="start")
        self._send_turns()

    def _journal(self, asked: str, *answers: str) -> None:
        """Write a turn to a file of its own, durably, before anything else is done with it."""
        parts = [{"origin": self._origin, "messages": [{"role": "user", "text": asked[:_MOST_CHARS]}]}]
        if any(answers):  # nobody knows what the agent has read meanwhile
            messages = [{"role": "assistant", "text": text[:_MOST_CHARS]} for text in answers if text]
            parts.append({"origin": "untrusted", "messages": messages})
        if not self._writes:
            return
        self._waiting.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._waiting / f"{time.time_ns()}-{os.getpid()}.json"
        with open(os.open(file.with_suffix(".new"), os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as out:
            # As OpenClaw's plugin does, so that what is forgotten is taken out.
            turn = {"subject": self._settings["subject"], "parts": parts}
            json.dump({**turn, "sessionId": self._session, "at": time.time_ns() // 1_000_000}, out)
            out.flush()
            os.fsync(out.fileno())
        file.with_suffix(".new").replace(file)
        for old in sorted(self._waiting.glob("*.json"))[:-_MOST_WAITING]:
            old.unlink(missing_ok=True)
        self._worker = _work(self._send_turns)

    def _send_turns(self) -> None:
        """Have the turns in the journal captured, the oldest first; one that fails is left for the next time."""
        with self._sending:
            for file in sorted(self._waiting.glob("*.json")):
                with suppress(Exception):
                    turn = json.loads(file.read_bytes())
                    if turn["subject"] == self._settings["subject"]:
                        for part in turn["parts"]:
                            self._ask("memory_turn", _CALL, **part, sessionId=turn["sessionId"], at=turn["at"])
                        file.unlink(missing_ok=True)


def _text(message: dict[str, Any]) -> str:
    """Return the words of a message of Hermes, which are a text or parts."""
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(part["text"] for part in parts if part.get("text"))


def _work(step: Callable[[], None]) -> threading.Thread:
    """Do a step in the background, where its failure disturbs nobody."""

    def run() -> None:
        with suppress(Exception):
            step()

    thread = threading.Thread(target=run, name="openclaw-memory", daemon=True)
    thread.start()
    return thread
