"""Changing a few values of a YAML text while every other character of it, comments too, stays as it is.

Reads the part of YAML that hand-written files of ours need: one document of mappings, lists and plain or quoted
texts, in block or flow style.  Every scalar is a text: ``no`` and ``2026-02-16`` are names like any other.  A library
that writes the whole tree again (ruamel.yaml) keeps comments, but changes indentation, blanks and line ends everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: A deeper nesting is nothing that a person wrote here.
_DEEPEST = 8
_TOO_DEEP = "this is nested too deep"
#: What the library says since its 6.0.4, which reads ahead of us, of more levels than it takes itself.
_LIBRARY_TOO_DEEP = "exceeded maximum nesting depth"
_NOTHING = ("", "~", "null", "Null", "NULL")
#: What stands without quotes, but for the words that YAML takes for something else.
_PLAIN = re.compile(r"(?!.* #)[^\W\d_](?:[\w ./@+#-]*\w)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_AMBIGUOUS = frozenset("y n yes no true false on off null nan inf".split())
#: What a YAML reader would take for a line break, refuse or drop; all of it is written as an escape.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


class YamlTextError(Exception):
    """What is wrong with a YAML text, and in which line of it."""

    def __init__(self, reason: str, line: int) -> None:
        """``line`` counts from 1."""
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: the characters ``start:end``, in ``line`` (from 1) at ``column`` (from 0).

    ``text`` is that of a scalar; ``items`` those of a list; ``pairs`` those of a mapping, in their order.
    """

    kind: Literal["scalar", "list", "map"]
    start: int
    end: int
    line: int
    column: int
    flow: bool = False
    plain: bool = False
    text: str = ""
    items: tuple[Node, ...] = ()
    pairs: tuple[tuple[Node, Node], ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there is no value here, or ``null``."""
        return self.kind == "scalar" and self.plain and self.text in _NOTHING

    def get(self, key: str) -> Node | None:
        """The value of ``key`` in a mapping."""
        return next((value for name, value in self.pairs if name.text == key), None)


def list_items(node: Node) -> list[Node]:
    """The texts of a list, or the single text in its place."""
    if node.kind == "list":
        return list(node.items)
    return [] if node.nothing else [node]


@dataclass(frozen=True, slots=True)
class Edit:
    """Put ``text`` in place of the characters ``start:end``."""

    start: int
    end: int
    text: str


def scalar(text: str) -> str:
    """``text`` as YAML in one line, in quotes where it needs them; right in block and in flow style."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _AMBIGUOUS:
        return text
    escaped = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
    return escaped if "\\" in escaped else "'" + text.replace("'", "''") + "'"


def flow_list(texts: Iterable[str]) -> str:
    """``texts`` as a YAML list in one line."""
    return f"[{', '.join(scalar(text) for text in texts)}]"


def flow_map(pairs: Iterable[tuple[str, str]]) -> str:
    """A mapping in one line; the values are YAML already."""
    return f"{{{', '.join(f'{scalar(key)}: {value}' for key, value in pairs)}}}"


def parse(text: str) -> Node | None:
    """The tree of a YAML text, ``None`` when there is nothing in it.

    Raises :class:`YamlTextError` for what is no YAML, and for what hand-written lists do not need: anchors,
    tags, several documents, keys that are no texts, the same key twice.
    """
    import yaml

    # The loader that builds trees in C recurses without a limit; its events do not.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _Builder(text, yaml.parse(text, Loader=loader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part) or "no YAML"
        if error.problem == _LIBRARY_TOO_DEEP:
            reason = _TOO_DEEP
        raise YamlTextError(reason, mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        raise YamlTextError(f"{error.reason} ({error.character!r})", text.count("\n", 0, at) + 1) from error


class _Builder:
    """Builds the tree from the events of a parser."""

    def __init__(self, text: str, events: Iterator[Any]) -> None:
        self.text = text
        self.events = events
        #: The end of the collection that was read last.
        self.last: Any = None

    def document(self) -> Node | None:
        import yaml

        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                mark: Any = event.start_mark
                if root is not None:
                    raise YamlTextError("a second document begins here", mark.line + 1)
            elif isinstance(event, yaml.NodeEvent):
                root = self.node(event, 0)
        return None if root is None or root.nothing else root

    def node(self, event: Any, depth: int) -> Node:
        import yaml

        mark: Any = event.start_mark
        if getattr(event, "anchor", None) is not None:
            raise YamlTextError("an anchor (& or *) cannot stand here; write the value out", mark.line + 1)
        if event.tag is not None and event.tag != "!":
            raise YamlTextError(f"a tag ({event.tag}) cannot stand here; leave it out", mark.line + 1)
        if depth > _DEEPEST:
            raise YamlTextError(_TOO_DEEP, mark.line + 1)
        at = {"start": mark.index, "line": mark.line + 1, "column": mark.column}
        if isinstance(event, yaml.ScalarEvent):
            # The end of a block scalar is that of its last line, not the beginning of what follows.
            after: Any = event.end_mark
            end = mark.index + len(self.text[mark.index : after.index].rstrip())
            return Node("scalar", end=end, plain=event.style in (None, ""), text=event.value, **at)
        flow = bool(event.flow_style)
        children = list(self.children(depth))
        end = self.last.end_mark.index if flow else max((child.end for child in children), default=mark.index)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node("list", end=end, flow=flow, items=tuple(children), **at)
        pairs = tuple(zip(children[::2], children[1::2], strict=True))
        seen = set()
        for key, _ in pairs:
            if key.kind != "scalar":
                raise YamlTextError("a list or mapping cannot be a key", key.line)
            if key.text in seen:
                raise YamlTextError(f"'{key.text}' stands here a second time", key.line)
            seen.add(key.text)
        return Node("map", end=end, flow=flow, pairs=pairs, **at)

    def children(self, depth: int) -> Iterator[Node]:
        import yaml

        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                self.last = event
                return
            yield self.node(event, depth + 1)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with all ``edits`` made; those at the same place follow each other in the order given."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += (text[at : edit.start], edit.text)
        at = max(at, edit.end)
    return "".join([*parts, text[at:]])


def insert_pairs(text: str, node: Node, pairs: Sequence[tuple[str, str]], indent: int, block: bool) -> list[Edit]:
    """Edits that add ``key: value`` pairs, the values being YAML, to the end of a mapping or in place of nothing.

    ``block`` writes a mapping that is empty as lines indented by ``indent``, else between braces.
    """
    if not pairs:
        return []
    written = [f"{scalar(key)}: {value}" for key, value in pairs]
    if node.kind == "map" and not node.flow:
        return [_lines(text, node.end, [" " * node.column + each for each in written])]
    if node.pairs:
        return [Edit(node.pairs[-1][1].end, node.pairs[-1][1].end, "".join(f", {each}" for each in written))]
    if block:
        start = len(text[: node.start].rstrip(" "))
        return [Edit(start, node.end, ""), _lines(text, node.end, [" " * indent + each for each in written])]
    return [Edit(node.start, node.end, ("" if node.flow else " ") + "{" + ", ".join(written) + "}")]


def insert_in_group(text: str, root: Node, group: str, pairs: Sequence[tuple[str, str]]) -> list[Edit]:
    """Edits that add ``key: value`` pairs, the values being YAML, to a mapping of the top level, made if need be."""
    node = root.get(group)
    if node is not None:
        return insert_pairs(text, node, pairs, indent=root.column + 2, block=not root.flow)
    lines = "".join(f"{line_break(text)}  {scalar(key)}: {value}" for key, value in pairs)
    made = [(group, flow_map(pairs) if root.flow else lines)] if pairs else []
    return insert_pairs(text, root, made, indent=0, block=True)


def change_items(text: str, node: Node, gone: Sequence[bool], more: Sequence[str]) -> list[Edit]:
    """Edits that take items out of a list and add ``more`` to its end; see :func:`list_items` for ``gone``."""
    kept = [item for item, out in zip(list_items(node), gone, strict=True) if not out]
    if not more:
        return delete(text, node, gone) if node.kind == "list" or not any(gone) else set_value(text, node, "[]")
    if not kept:
        if node.kind == "scalar" or node.flow:
            return set_value(text, node, flow_list(more))
        between = line_break(text) + " " * node.column
        return [Edit(node.start, node.end, between.join(f"- {scalar(each)}" for each in more))]
    if node.kind == "scalar":
        return set_value(text, node, f"[{', '.join([text[node.start : node.end], *map(scalar, more)])}]")
    end = kept[-1].end
    if node.flow:
        return [*delete(text, node, gone), Edit(end, end, "".join(f", {scalar(each)}" for each in more))]
    return [*delete(text, node, gone), _lines(text, end, [" " * node.column + f"- {scalar(each)}" for each in more])]


def set_value(text: str, node: Node, value: str) -> list[Edit]:
    """Edits that put ``value``, which is YAML in one line, in place of what stands there."""
    # A list in block style may begin in the column of its key, where no other value may.
    block = node.kind != "scalar" and not node.flow
    stuck = node.start == node.end and not text[node.start - 1 : node.start].isspace()
    return [Edit(node.start, node.end, f" {value}" if block or stuck else value)]


def delete(text: str, node: Node, gone: Sequence[bool]) -> list[Edit]:
    """Edits that take those items, or pairs, out of a list or mapping for which ``gone`` is true.

    In block style whole lines go, with the remark at their end; comments on lines of their own stay.
    """
    spans = [(each.start, each.end) for each in node.items] or [(key.start, value.end) for key, value in node.pairs]
    if not any(gone):
        return []
    if not node.flow:
        lines = [(_line_start(text, start), _line_end(text, end)) for start, end in spans]
        return [Edit(start, _after_break(text, end), "") for (start, end), out in zip(lines, gone, strict=True) if out]
    if all(gone):
        return [Edit(node.start + 1, node.end - 1, "")]
    edits = []
    first = gone.index(False)
    if first:
        edits.append(Edit(spans[0][0], spans[first][0], ""))
    for i in range(first + 1, len(spans)):
        if gone[i]:
            edits.append(Edit(spans[i - 1][1], spans[i][1], ""))
    return edits


def line_break(text: str) -> str:
    """How lines of ``text`` end."""
    return "\r\n" if "\r\n" in text else "\n"


def _lines(text: str, after: int, lines: Sequence[str]) -> Edit:
    """New lines below the one in which the character before ``after`` stands."""
    at = _line_end(text, after)
    return Edit(at, at, "".join(line_break(text) + line for line in lines))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Where the line of ``at`` ends, before its line break."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if text[end - 1 : end] == "\r" and end > at else end


def _after_break(text: str, at: int) -> int:
    return at + len("\r\n") if text.startswith("\r\n", at) else min(at + 1, len(text))
