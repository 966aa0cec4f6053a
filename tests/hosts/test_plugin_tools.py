"""The tools of the OpenClaw plugin are those of the registry: its file is made of it, its manifest lists them."""

from __future__ import annotations

import json

from docs.reference import plugin_tools
from openclaw_memory.hosts.plugin_files import plugin_source
from openclaw_memory.serve.registry import listed_tools

ROOT = plugin_source()


def test_the_plugins_file_is_what_the_registry_makes() -> None:
    made = plugin_tools()
    there = (ROOT / "hooks" / "tools.json").read_text(encoding="utf-8")
    assert there == made, "run: python docs/reference.py"
    described = {tool["name"]: tool for tool in json.loads(made)}
    for name, tool in listed_tools(for_host=False).items():
        parameters = described[name]["parameters"]
        ours = {key: value for key, value in parameters["properties"].items() if key not in tool.openclaw}
        assert {**parameters, "properties": ours} == tool.input_schema
        assert tool.reading_values.keys() <= tool.arguments.keys() and not (tool.reading_values and tool.read_only)


def test_the_plugins_manifest_lists_the_tools_of_the_registry() -> None:
    manifest = json.loads((ROOT / "openclaw.plugin.json").read_text(encoding="utf-8"))
    tools = listed_tools(for_host=False)
    assert manifest["contracts"]["tools"] == list(tools)
    assert manifest["toolMetadata"] == {
        name: {
            "profiles": ["coding", "messaging"],
            **({"replaySafe": True} if tool.read_only else {"sideEffecting": True}),
        }
        for name, tool in tools.items()
    }


def test_the_tools_in_front_of_the_model_take_little_of_each_request() -> None:
    tools = [tool for tool in json.loads(plugin_tools()) if tool["hint"]]
    functions = [{key: tool[key] for key in ("name", "description", "parameters")} for tool in tools]
    assert len(json.dumps([{"type": "function", "function": each} for each in functions])) <= 6_500
