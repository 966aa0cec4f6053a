"""Write docs/python.md: how to use the memory from Python, with a reference made of the docstrings.

python docs/python.py
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from openclaw_memory import Embedder, Memory, SearchHit, SearchRequest, SearchResult, Section, Unit

OUT = Path(__file__).parent / "python.md"

_METHODS = (
    "ingest", "watch", "search", "recall", "timeline", "context", "get", "capture", "feedback", "forget",
    "consolidate", "sql", "export", "map", "status", "close",
)  # fmt: skip
_TYPES = (SearchResult, SearchHit, Unit, Section, Embedder)

_HEAD = """# Python

For programs that ask a memory directly, without a server or the command line. `python docs/python.py` writes this page;
a test runs the program below.

```python
from pathlib import Path
from tempfile import TemporaryDirectory

from openclaw_memory import Memory, Settings
from openclaw_memory.errors import RequestError

settings = Settings.load(overrides={"embedding.model": "none"})  # keywords alone need no model
with TemporaryDirectory() as folder:
    notes = Path(folder, "notes")
    notes.mkdir()
    Path(notes, "MEMORY.md").write_text("- The NAS is at 10.0.0.17\\n")
    Path(notes, "USER.md").write_text("- Berta lives in Utrecht\\n")
    with Memory(notes, settings=settings, db=notes / "index.duckdb", state=notes / "state.sqlite") as memory:
        print(memory.ingest().added, "units")
        for hit in memory.search("where is the NAS?", max_results=1).results:
            print(hit.citation, hit.snippet)
        try:
            memory.search("NAS", max_result=1)
        except RequestError as error:
            print(error.problem.what)
```

It prints:

```
2 units
MEMORY.md#L1 - The NAS is at 10.0.0.17
search: there is no argument max_result
```

Without `db` and `state` a program shares the memory of the command line. All names below come from `openclaw_memory`.
Errors derive from `openclaw_memory.errors.OpenClawMemoryError`. Results are frozen dataclasses with the fields of
[schema.json](schema.json) in snake_case. `hookspecs` documents the hooks of [plugins](plugins.md), and `hookimpl` marks
their implementations.

## Memory

`memory.facts` and `memory.concepts` state and query facts and concepts.
"""


def text() -> str:
    """The whole page."""
    parts = [_HEAD, "\n| method | |\n|---|---|\n"]
    for name in _METHODS:
        method = getattr(Memory, name)
        parts.append(f"| `{name}({_arguments(method)})` | {_sentence(method)} |\n")
    parts.append("\n## SearchRequest\n\n`search`, `recall` and `timeline` take its fields as named arguments, or one ")
    parts.append(f"`SearchRequest`.\n\n{_paragraphs(SearchRequest)}\n\n```python\n")
    for field in fields(SearchRequest):
        default = "" if field.default is MISSING else f" = {field.default!r}"
        parts.append(f"{field.name}: {field.type}{default}\n")
    parts.append("```\n\n## Types\n\n| type | |\n|---|---|\n")
    for each in _TYPES:
        parts.append(f"| `{each.__name__}` | {_sentence(each)} |\n")
    return "".join(parts)


def _arguments(method: Any) -> str:
    parameters = list(inspect.signature(method).parameters.values())[1:]
    names = [f"**{each.name}" if each.kind is each.VAR_KEYWORD else each.name for each in parameters]
    keywords = [at for at, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]
    if keywords:
        names.insert(keywords[0], "*")
    return ", ".join(names)


def _sentence(documented: Any) -> str:
    first = " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
    return _cell(_plain(first))


def _paragraphs(documented: Any) -> str:
    body = (inspect.getdoc(documented) or "").partition("\n\n")[2]
    return _plain(" ".join(body.split()))


def _plain(docstring: str) -> str:
    """Turn the markup of docstrings into Markdown."""
    named = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", docstring)
    return named.replace("``", "`")


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    OUT.write_text(text(), encoding="utf-8")
