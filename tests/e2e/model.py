"""A scripted language model: an OpenAI-compatible chat server that does what the user's message says.

- ``CALL tool {json}`` in the user's latest message: a call of that tool, through ``tool_call`` when the host has deferred
  it; several of them are made one after the other
- after the last tool's result: ``FINAL:`` and the first snippet, or the whole result where there is none
- anything else: ``NO_REPLY`` to a heartbeat, ``OK`` to the rest

It keeps every request, so a test can look at what the host gave the model.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "scripted"
HOST_CONTEXT = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
COMMAND = re.compile(r"\bCALL (\w+) (?=\{)")
_call_ids = itertools.count(1)


def call(tool: str, **arguments: object) -> str:
    """The user's message that makes the model call a tool."""
    return f"CALL {tool} {json.dumps(arguments, ensure_ascii=False)}"


def ask(query: str) -> str:
    """The user's message that makes the model search its memory."""
    return call("memory_search", query=query)


@dataclass
class Request:
    """One request of the host, and when it came and was answered, in seconds of the monotonic clock."""

    body: dict[str, Any]
    arrived: float = field(default_factory=time.monotonic)
    answered: float = 0.0

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message, without the context that the host appends for itself."""
        pairs = [(m["role"], _text(m.get("content"))) for m in self.body.get("messages", [])]
        return [(role, text) for role, text in pairs if role != "user" or not text.startswith(HOST_CONTEXT)]

    @property
    def system(self) -> str:
        """The system prompt."""
        return "\n".join(text for role, text in self.messages if role in {"system", "developer"})

    @property
    def tools(self) -> set[str]:
        """Names of the tools that the model may call directly."""
        return {tool["function"]["name"] for tool in self.body.get("tools") or []}

    @property
    def tool_result(self) -> Any:
        """The result that the last message brings, parsed if it is JSON; None when there is none."""
        role, text = self.messages[-1] if self.messages else ("", "")
        return _unwrapped(text) if role == "tool" else None

    def reply(self) -> dict[str, Any]:
        """The assistant's message."""
        wish, results = "", 0
        for role, text in self.messages:
            if role == "user":
                wish, results = text, 0
            results += role == "tool"
        commands = [found for found in COMMAND.finditer(wish) if self.tools & {found[1], "tool_call"}]
        if results < len(commands):
            tool, start = commands[results][1], commands[results].end()
            arguments, _end = json.JSONDecoder().raw_decode(wish, start)
            return _calling(tool, arguments, deferred=tool not in self.tools)
        if results:
            return {"role": "assistant", "content": f"FINAL: {_gist(self.tool_result)}"}
        return {"role": "assistant", "content": "NO_REPLY" if "heartbeat" in wish.casefold() else "OK"}


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def _unwrapped(text: str) -> Any:
    """A tool's result without the envelopes of ``tool_call`` and of tool content."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    while isinstance(value, dict) and isinstance(inner := value.get("result", value.get("content")), (dict, list)):
        value = inner
        if isinstance(value, list):
            return _unwrapped(_text(value))
    return value


def _gist(result: Any) -> str:
    if isinstance(result, dict) and result.get("results"):
        return str(result["results"][0]["snippet"])
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _calling(tool: str, arguments: dict[str, Any], *, deferred: bool) -> dict[str, Any]:
    if deferred:
        tool, arguments = "tool_call", {"id": tool, "args": arguments}
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"index": 0, "id": f"call_{next(_call_ids)}", "type": "function", "function": function}],
    }


class ScriptedModel:
    """The running server: its address, and the requests that it had so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []

    @property
    def last(self) -> Request:
        """The latest request."""
        return self.requests[-1]

    def tool_results(self) -> list[Any]:
        """What the tools answered, in order."""
        return [result for request in self.requests if (result := request.tool_result) is not None]


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """Serve the model on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    model = server.model = ScriptedModel(f"http://127.0.0.1:{server.server_port}/v1")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(json.dumps({"object": "list", "data": [{"id": NAME, "object": "model"}]}).encode())

    def do_POST(self) -> None:
        request = Request(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.server.model.requests.append(request)  # type: ignore[attr-defined]
        message = request.reply()
        request.answered = time.monotonic()
        reason = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        head = {"id": "chatcmpl-1", "created": int(time.time()), "model": NAME}
        if not request.body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send(json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage}).encode())
            return
        head["object"] = "chat.completion.chunk"
        chunks = [
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**head, "choices": [], "usage": usage},
        ]
        lines = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
        self._send("".join(f"data: {line}\n\n" for line in lines).encode(), "text/event-stream")

    def _send(self, payload: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
