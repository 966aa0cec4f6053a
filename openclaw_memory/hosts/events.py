"""The events of hosts that the memory answers; imports nothing, as hooks wait for it.

Claude Code 2.1, Codex 0.171, Gemini CLI 0.61 and opencode 1.18 were run; Cursor and VS Code follow their documentation.
"""

from __future__ import annotations

#: What is done at an event: ``start`` gives the brief of a session, ``prompt`` the context of a message, ``turn``
#: captures what was said, ``cut`` captures what still waits before a conversation is compacted or ends.
_CLAUDE = {
    "SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn", "PreCompact": "cut", "SessionEnd": "cut",
}  # fmt: skip
ACTIONS: dict[str, dict[str, str]] = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE,
    "gemini": {
        "SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "turn", "PreCompress": "cut",
        "SessionEnd": "cut",
    },
    "cursor": {
        "sessionStart": "start", "beforeSubmitPrompt": "prompt", "afterAgentResponse": "turn", "preCompact": "cut",
        "sessionEnd": "cut",
    },
    "vscode": {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn", "PreCompact": "cut"},
    "opencode": {
        "session.created": "start", "chat.message": "prompt", "session.idle": "turn",
        "experimental.session.compacting": "cut",
    },
}  # fmt: skip
#: Hosts that take ``additional_context`` on top; the others want it in ``hookSpecificOutput``.
FLAT = {"cursor", "opencode"}
#: Seconds after which a host ends a hook that has not answered.
TIMEOUT = 10
