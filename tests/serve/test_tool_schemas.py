"""The schemas of the MCP tools: they say exactly what is accepted and what is returned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from properties import examples
from tables import table

from docs.schema import json_schema
from openclaw_memory.errors import RequestError
from openclaw_memory.model import Check, ScanResult
from openclaw_memory.serve.registry import TOOLS, callable_tools, listed_tools
from openclaw_memory.serve.server import _describe_tool
from openclaw_memory.serve.tool import Tool, check_arguments
from openclaw_memory.system.serialize import camel, to_json

RESULTS = [
    *dict.fromkeys(kind for tool in TOOLS for kind in get_args(tool.result) or (tool.result,)),
    Check,
    ScanResult,
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the contract uses it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return JSON
    if origin in (Union, UnionType):
        return st.one_of([values(one) for one in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return st.builds(kind, **{f.name: values(hints[f.name]) for f in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    plain: Mapping[Any, st.SearchStrategy[Any]] = {
        str: st.text(), int: st.integers(), bool: st.booleans(), date: st.dates(), NoneType: st.none(),
        float: st.floats(allow_nan=False, allow_infinity=False),
    }  # fmt: skip
    return plain[kind]


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
@examples(20)
@given(data=st.data())
def test_what_is_returned_is_what_the_schema_says(kind: type, data: st.DataObject) -> None:
    made = to_json(data.draw(values(kind)))
    schema = json_schema(kind)
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    validator.validate(made)
    names = [camel(f.name) for f in fields(kind)]
    assert list(schema["properties"]) == names
    assert list(made) == [name for name in names if name in made]
    for name in schema["required"]:
        assert name in made
        assert not validator.is_valid({key: value for key, value in made.items() if key != name})
    assert not validator.is_valid({**made, "another": 1})


def test_a_type_outside_the_contract_is_refused() -> None:
    for kind in (bytes, object, list):
        with pytest.raises(TypeError, match="no JSON Schema"):
            json_schema(kind)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_complete(tool: Tool) -> None:
    for schema in (tool.input_schema, *map(json_schema, get_args(tool.result) or (tool.result,))):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object" and json.loads(json.dumps(schema)) == schema
    assert all(argument["description"].endswith(".") for argument in tool.arguments.values())
    assert tool.name.startswith(("memory_", "graph_")) and tool.description.endswith(".") and tool.title
    assert tool.deadline > 0 and set(tool.required) <= set(tool.arguments)
    assert not (tool.read_only and tool.long_running)


def test_the_tools_of_a_host_are_hidden_from_models() -> None:
    models = [
        "memory_search", "graph_recall", "memory_timeline", "memory_context", "memory_facts", "memory_feedback",
        "memory_capture", "memory_get",
    ]  # fmt: skip
    clients = ["memory_consolidate", "memory_ingest", "memory_map", "memory_status"]
    hosts = ["memory_session_start", "memory_heartbeat", "memory_turn", "memory_replied", "memory_page"]
    assert list(listed_tools(for_host=False)) == models
    assert list(listed_tools(for_host=False, apps=True)) == [*models, "memory_map"]
    assert callable_tools(for_host=False).keys() == {*models, *clients}
    assert listed_tools(for_host=True).keys() == callable_tools(for_host=True).keys() == {*models, *clients, *hosts}
    assert {tool.name for tool in TOOLS if tool.read_only} == {
        "memory_search", "graph_recall", "memory_timeline", "memory_context", "memory_get", "memory_map", "memory_status",
        "memory_page",
    }  # fmt: skip
    assert {tool.name for tool in TOOLS if tool.destructive} == {
        "memory_facts",
        "memory_consolidate",
        "memory_heartbeat",
    }


def test_the_list_of_tools_costs_a_model_little() -> None:
    listed = [_describe_tool(tool, False) for tool in listed_tools(for_host=False).values()]
    text = json.dumps([tool.model_dump(by_alias=True, exclude_unset=True, mode="json") for tool in listed])
    assert len(text) <= 8_000, "2,000 tokens of four characters"
    assert all(len(tool.arguments) + len(tool.openclaw) <= 9 for tool in listed_tools(for_host=False).values())


# -- arguments --------------------------------------------------------------------------------------

_LIKELY = st.sampled_from(
    [1, 0, -1, 50, 51, 0.5, 2.0, True, "a", "", "hybrid", "daily", "2026-02-13", "2026-13-01", ["a"], [1]]
)
_VALUES = _LIKELY | JSON


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@examples(20)
@given(data=st.data())
def test_what_is_accepted_is_what_the_schema_says(tool: Tool, data: st.DataObject) -> None:
    names = st.sampled_from([*tool.arguments, "another"])
    given_ = data.draw(st.dictionaries(names, _VALUES, max_size=4) | JSON.filter(lambda value: isinstance(value, dict)))
    present = {key: value for key, value in given_.items() if value is not None or key not in tool.arguments}
    validator = Draft202012Validator(tool.input_schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    valid = validator.is_valid(present)
    refused = None
    try:
        made = check_arguments(tool.name, tool.input_schema, given_)
    except RequestError as error:
        refused = str(error)
    if refused is None:
        assert valid and list(made) == list(present)
    else:
        assert not valid or any(isinstance(value, str) and not value.strip() for value in _leaves(present))
        assert "\n" not in refused and refused.startswith(f"{tool.name}: ")


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(("name", "given_", "message"), table("tool_arguments.tsv", "wrong arguments"))
def test_what_is_wrong_is_said_in_one_line(name: str, given_: str, message: str) -> None:
    tool = callable_tools(for_host=True)[name]
    with pytest.raises(RequestError) as caught:
        check_arguments(name, tool.input_schema, json.loads(given_))
    assert str(caught.value) == f"{name}: {message}"


def test_a_search_takes_what_openclaw_asks_of_its_own() -> None:
    """The search manager of ``hooks/capability.mjs`` wants words alone by ``mode``."""
    schema = callable_tools(for_host=True)["memory_search"].accepted_schema
    assert check_arguments("memory_search", schema, {"query": "bunny", "mode": "keyword"})["mode"] == "keyword"


def test_arguments_become_python_values() -> None:
    schema = listed_tools(for_host=False)["memory_search"].input_schema
    given_ = {"query": "a", "maxResults": 3.0, "since": "2026-02-13", "until": "2026-02-14T10:00", "budget": None}
    made = check_arguments("memory_search", schema, given_)
    assert made == {"query": "a", "maxResults": 3, "since": date(2026, 2, 13), "until": date(2026, 2, 14)}
    assert isinstance(made["maxResults"], int)
