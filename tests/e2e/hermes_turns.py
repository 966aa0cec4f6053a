"""Turns of the real Hermes agent, which runs this in its own environment: hermes_turns.py URL STEP…

A step is a message of the user, ``COMPACT``, or ``KILLED message``: a turn in which the agent compacts and is killed.
"""

import os
import sys

from run_agent import AIAgent

url, *steps = sys.argv[1:]
agent = AIAgent(base_url=url, api_key="none", provider="custom", model="scripted", quiet_mode=True, platform="cli")
[provider] = agent._memory_manager.providers
# A busy machine makes nothing late.
agent._memory_manager._external_prefetch_timeout = 120.0
vars(sys.modules[type(provider).__module__]).update(_CONTEXT=60.0, _FIRST=60.0, _CALL=60.0, _LAST_TURNS=60.0)
history = []
for step in steps:
    if step == "COMPACT":
        history, _ = agent._compress_context(history, "", force=True)
        provider._worker.join()  # a real model takes longer
    elif step.startswith("KILLED "):
        message = step.removeprefix("KILLED ")
        agent._memory_manager.prefetch_all(message)
        agent._compress_context([*history, {"role": "user", "content": message}], "", force=True)
        os._exit(9)
    else:
        history = agent.run_conversation(step, conversation_history=history)["messages"]
agent.shutdown_memory_provider(history)
